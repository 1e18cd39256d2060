/*
 * A call from its request to its end: events, output, input, cancelling.
 */
#ifndef MYELINCTL_FOLLOW_H
#define MYELINCTL_FOLLOW_H

#include <jansson.h>

#include "ctl.h"
#include "feed.h"
#include "ids.h"
#include "sink.h"
#include "term.h"

struct follow {
	/* Set by the caller. */
	const char	*socket;
	struct feed	*feed;		/* NULL: no standard input */
	struct term	*term;		/* NULL: the call has none */
	struct sink	*out;		/* NULL: output is not wanted */
	struct sink	*err;

	/* Results. */
	char		 call[ID_SIZE];	/* "" if it never was one */
	char		 approval[ID_SIZE]; /* the last it waited for, or "" */
	json_t		*finished;	/* data of call.finished, or NULL */
	json_t		*refused;	/* the refusal's JSON */
	struct http_response *response;	/* of the refusal, or NULL */
	int		 signal;	/* that ended it, SIGPIPE for output */
	const char	*why;		/* the connection failed */
	unsigned long long dropped;	/* events that never came */
};

/*
 * Sends the request and stays until the call has finished, was refused or
 * can't be followed.  SIGINT, SIGTERM, SIGHUP and a closed output cancel the
 * call, as the escape of a terminal does (signal is SIGHUP then); a second
 * signal, or 5 s without an answer to that, end the wait.
 */
void	follow_call(struct follow *, const char *target, const json_t *body);
void	follow_free(struct follow *);

#endif
