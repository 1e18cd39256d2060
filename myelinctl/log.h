/*
 * What the parts of "myelinctl log" share: log.c follows ids, log_search.c
 * finds where it begins.
 */
#ifndef MYELINCTL_LOG_H
#define MYELINCTL_LOG_H

#include <jansson.h>
#include <stdint.h>

#include "audit.h"
#include "ids.h"

#define LOG_IDS_MAX	512	/* that one id leads to */

/* What was found so far: the ids that belong to the one that was asked. */
struct found {
	char		 root;			/* its type; 'r': a request */
	char		 ids[LOG_IDS_MAX][ID_SIZE];
	size_t		 n;
	size_t		 records;
	int		 more;			/* there were too many */
	int		 open;			/* that have not ended */
	int		 neurons;		/* the same */
	int		 lasting;		/* that may get more records */
	struct audit_limit since;		/* as far back as that */
	uint64_t	 searched;		/* its beginning was not found
						   from here on; 0: it was */
	char		 searched_time[AUDIT_TIME];
};

int	log_has(const struct found *, const char *id);
/* Adds an id of that type; what is none, or is there, is not. */
void	log_add(struct found *, char type, const char *id);
/* 0 if no id stands anywhere in a line. */
int	log_may_belong(const struct found *, const json_t *line);

/* Records from after + 1 to upto, until fn returns 1.  0, or -1. */
typedef int	log_line_fn(void *, const json_t *line, uint64_t sequence);
int	log_read(const struct options *, uint64_t after, uint64_t upto,
	    log_line_fn *, void *);

/*
 * *after is then a little before the record where it begins; else `searched`
 * says how far was looked.  0, or -1 after complaining.
 */
int	log_begin(const struct options *, struct found *, uint64_t *after);

#endif
