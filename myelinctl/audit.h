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

/* Each returns the exit status. */
int	audit_verify(const struct options *, int argc, char **argv);
/* name "-" is standard output. */
int	audit_export(const struct options *, const char *name);

#endif
