/*
 * The configuration in force, and what is built in beside it.
 */
#ifndef MYELIN_POLICYD_CONF_H
#define MYELIN_POLICYD_CONF_H

#include "slice.h"

/* 0, or -1 after slice_bad() said which entry cannot stand. */
int	conf_check(struct slice *);
/* From now on it is this one, which stays its owner's. */
void	conf_set(const struct slice *);
const struct slice *conf(void);

/* A limit of the host. */
uint64_t conf_limit(enum limit);
/* The limits of a profile, "default" being there always; NULL if unknown. */
const struct limits *conf_profile(const char *name);
/* A preset, configured or built in; NULL if unknown. */
const struct cf_preset *conf_preset(const char *name);
/* What a preset allows of calls in a session, of starts in an hour. */
uint64_t conf_calls_session(const struct cf_preset *);
uint64_t conf_hourly(const struct cf_preset *);

#endif
