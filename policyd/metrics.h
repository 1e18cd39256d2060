/*
 * Numbers for who watches the service: what is counted since this process
 * began, and how things are now.  As text in the format that Prometheus reads,
 * version 0.0.4.
 */
#ifndef MYELIN_POLICYD_METRICS_H
#define MYELIN_POLICYD_METRICS_H

#include <stdint.h>

#include <jansson.h>

/* A record of the audit log (members may be NULL): what counts of it. */
void	metrics_event(const char *event, const json_t *members);
/* The same of a record whose labels these two are, as far as it has them. */
void	metrics_words(const char *event, const char *first,
	    const char *second);
/* How long a call took that ended, from its asking, in us. */
void	metrics_duration(uint64_t us);
/* All of it, beside the status as query_status() has it.  To be freed. */
char	*metrics_text(const json_t *status);

#endif
