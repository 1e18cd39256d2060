/* Tokens and TCP, for the played policyd. */
#ifndef TESTS_FAKE_AUTH_H
#define TESTS_FAKE_AUTH_H

#include <stdint.h>

#include "imsg.h"

int	fake_on_auth(struct channel *, struct imsg *);
int	fake_listen_tcp(uint16_t port);

#endif
