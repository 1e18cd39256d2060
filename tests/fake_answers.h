/*
 * What the policyd of fake_policyd.c answers to all but calls.
 */
#ifndef FAKE_ANSWERS_H
#define FAKE_ANSWERS_H

#include <stdint.h>

#include "imsg.h"

/* apid's uid, and that one less is refused. */
#define UNPRIVILEGED	65534

/* To apid; NULL while there is none. */
extern struct channel *fake_api;

/* MSG_REPLY: what an answer of that status holds. */
void	fake_reply(uint32_t request, unsigned status, uint32_t retry,
	    const char *json);

/* Handlers of apid's messages, as channel_ops has them. */
typedef int fake_handler(void *arg, struct imsg *);

fake_handler	fake_on_peer, fake_on_query, fake_on_open,
		fake_on_open_ruled, fake_on_home_make,
		fake_on_neurons_for, fake_on_open_named, fake_on_end_named,
		fake_on_tools_for, fake_on_end, fake_on_transcript;

#endif
