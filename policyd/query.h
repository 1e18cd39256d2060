/*
 * QUERY: what a principal or an operator may see, as JSON.
 */
#ifndef MYELIN_POLICYD_QUERY_H
#define MYELIN_POLICYD_QUERY_H

#include <jansson.h>

#include "api.h"
#include "codec.h"
#include "decide.h"
#include "ids.h"

#define LIST_DEFAULT	100	/* rows of a page */
#define LIST_MAX	500
#define REPLY_LINES_MAX	(15 * 1024 * 1024) /* bytes of transcripts, an answer */

struct query {
	struct api	*api;
	struct peer	*peer;		/* NULL for QUERY_HEALTH alone */
	const struct cf_principal *line; /* agent plane */
	unsigned	 rights;	/* operator plane */
	uint64_t	 cursor;
	uint32_t	 most;		/* 1 to LIST_MAX */
	char		 id[ID_SIZE];	/* "" for none */
	struct enc	*lines;		/* an answer with transcripts: see below */
	const char	*name, *label;	/* of neurons; NULL: all kinds */
	struct reply_to	 to;
	int		*answered;	/* set where it was sent already */
};

/* Both planes' handler (arg is the struct api). */
int	query_on_query(void *, struct imsg *);

/* Each makes its JSON, or NULL and a refusal (query_list.c, home_list.c,
 * query_status.c). */
json_t	*query_neurons(const struct query *, struct refusal *);
json_t	*query_neuron(const struct query *, struct refusal *);
json_t	*query_sessions(const struct query *, struct refusal *);
json_t	*query_session(const struct query *, struct refusal *);
json_t	*query_calls(const struct query *, struct refusal *);
json_t	*query_call(const struct query *, struct refusal *);
json_t	*query_status(const struct query *, struct refusal *);
json_t	*query_audit(const struct query *, struct refusal *);
/* Answers itself, with text (metrics.c). */
json_t	*query_metrics(const struct query *, struct refusal *);
/*
 * The same; where a transcript belongs to the answer, it is in q->lines
 * instead, and NULL is returned.  Each call is two lines, its record and what
 * apid sent or nothing; a session's answer begins with a line of its own.
 */
json_t	*query_transcript(const struct query *, struct refusal *);

/* The tools that the line's own preset and another ("": none) leave. */
json_t	*query_tools_for(const char *own, const char *preset,
	    struct refusal *);

/* Looks at who asks, and what; the JSON, or NULL and a refusal. */
json_t	*query_ask(struct query *, unsigned what, uint64_t handle,
	    struct refusal *);

/* 0 if an operator has these rights, which are looked up; or -1. */
int	operator_may(struct peer *, unsigned need, unsigned *rights,
	    struct refusal *);

/* 1 if a thing of this principal exists for the asker. */
int	query_sees(const struct query *, uint32_t principal);

#endif
