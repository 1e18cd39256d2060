/*
 * The parts of "approvals watch".
 *
 * A key counts for what is displayed and for nothing else: the item that the
 * last picture showed, with its digest, and not before a person could have
 * seen it.  What is to be allowed has to have been displayed to its end.
 */
#ifndef MYELINCTL_WATCH_H
#define MYELINCTL_WATCH_H

#include <jansson.h>
#include <poll.h>
#include <stdint.h>

#include "api.h"
#include "approval.h"
#include "conn.h"
#include "ids.h"
#include "notify.h"
#include "screen.h"
#include "sse.h"

#define WATCH_ITEMS_MAX	1000
#define WATCH_GUARD	500	/* ms from a picture to a key that counts */

enum watch_mode { WATCH_LIST, WATCH_LOOK, WATCH_REASON };
enum watch_job { JOB_NONE, JOB_LIST, JOB_WHOLE, JOB_DECIDE };

struct item {
	char		 id[ID_SIZE];
	json_t		*row;		/* as the list has it */
	json_t		*whole;		/* NULL until it came */
	char		*end;		/* how it ended, or NULL */
	int64_t		 deadline;	/* ms; 0: none */
	int		 gone;		/* it waits no longer */
	int		 failed;	/* the whole of it could not be had */
	int		 seen;		/* it was displayed to its end */
};

struct watch {
	const struct options *o;
	const char	*socket;
	int64_t		 now;		/* ms, monotonic */
	int		 over;		/* leave, with this status */
	int		 status;

	struct item	*items;		/* the next to expire first */
	size_t		 n;
	char		 current[ID_SIZE];	/* "": none */

	/* requests: one at a time, and the events beside them */
	enum watch_job	 job;
	char		 job_id[ID_SIZE];
	struct conn	 work;
	struct api_body	 answer;
	int64_t		 job_deadline;
	int64_t		 list_at;	/* when it is asked for next */
	json_t		*rows;		/* of a list that comes in pages */
	char		 cursor[256];
	int		 unreachable;	/* the last list failed */
	json_t		*decision;	/* to be sent, or NULL */
	char		 decision_id[ID_SIZE];
	struct conn	 events;
	struct sse	 sse;
	int		 following;	/* events: a connection is there */
	int64_t		 follow_at;

	/* the person */
	int		 terminal;
	enum watch_mode	 mode;
	enum watch_mode	 back;		/* after the reason */
	size_t		 top;		/* of the lines in WATCH_LOOK */
	size_t		 read;		/* lines displayed without a gap */
	char		 reason[APPROVAL_REASON_MAX + 1];
	size_t		 reason_len;
	char		*message;
	struct screen	 screen;
	struct lines	 lines;		/* of the current one, wrapped */
	char		 lines_id[ID_SIZE];	/* for which */
	size_t		 lines_cols;
	int		 lines_brief;
	char		 drawn[ID_SIZE];	/* in the last picture */
	int64_t		 drawn_since;

	struct notify	 notify;
};

/* ---- watch_items.c ---- */

struct item *watch_find(struct watch *, const char *id);
struct item *watch_current(struct watch *);
/* The list as it is now; takes rows over. */
void	watch_list(struct watch *, json_t *rows);
/* It waits no longer: leaves the list, and another becomes the current one. */
void	watch_remove(struct watch *, const char *id);
void	watch_move(struct watch *, int by);
void	watch_items_free(struct watch *);

/* ---- watch_jobs.c ---- */

/* What poll(2) should wait for, and what to do after it. */
void	watch_jobs_poll(struct watch *, struct pollfd *work,
	    struct pollfd *events);
void	watch_jobs_io(struct watch *, const struct pollfd *work,
	    const struct pollfd *events);
/* Starts what is due, and gives up what takes too long. */
void	watch_jobs_run(struct watch *);
/* To be sent as soon as it can be. */
void	watch_decide(struct watch *, struct item *, const char *decision,
	    const char *reason);
void	watch_jobs_free(struct watch *);

/* ---- watch_screen.c ---- */

/* Draws; -1: the terminal is gone. */
int	watch_draw(struct watch *);
/* How many of the current one's lines a page of WATCH_LOOK has. */
size_t	watch_page(const struct watch *);
/* For the line of messages; text that came from elsewhere is made safe. */
void	watch_say(struct watch *, const char *fmt, ...)
	    __attribute__((__format__(__printf__, 2, 3)));

/* ---- watch_keys.c ---- */

/* What was read of the terminal at once. */
void	watch_keys(struct watch *, const char *, size_t);

#endif
