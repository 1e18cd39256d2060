/*
 * What the parts of "myelinctl audit" share.
 */
#ifndef MYELINCTL_AUDIT_H
#define MYELINCTL_AUDIT_H

#include <jansson.h>
#include <stdint.h>

#include "ctl.h"

#define AUDIT_PAGE	500	/* records of a page */

/* A page of a running instance's log. */
struct page {
	json_t		*json;
	const json_t	*lines;
	uint64_t	 head;		/* sequence of the last record */
	const char	*head_hash;
	int		 more;
	uint64_t	 next;
};

/* Records behind `after`.  0, and json to be freed; or -1 after complaining. */
int	audit_page(const struct options *, uint64_t after, unsigned most,
	    struct page *);
/* The sequence at the front of a line; 0 if there is none. */
uint64_t audit_line_sequence(const json_t *line);

/* A line as "audit tail" shows it. */
void	audit_print(const struct options *, const json_t *line);

/* The time of a line, which stands at its front; "" if there is none. */
#define AUDIT_TIME	32
void	audit_line_time(const char *line, char when[AUDIT_TIME]);

/* A record's number, or the beginning of its time. */
struct audit_limit {
	const char	*text;		/* NULL: none */
	uint64_t	 sequence;	/* 0: it is a time */
};

/* 0, or the exit status after complaining; text NULL is no limit. */
int	audit_limit_read(const struct options *, const char *option,
	    const char *text, struct audit_limit *);
/* Below 0, 0 or above 0: a record before, at or after a limit. */
int	audit_limit_compare(const struct audit_limit *, uint64_t sequence,
	    const char *when);

/* Each returns the exit status. */
int	audit_verify(const struct options *, int argc, char **argv);
/* name "-" is standard output. */
int	audit_export(const struct options *, const char *name);

#endif
