/*
 * What of the host a neuron is shown beside its workspace: the directory that
 * is its root, and the mounts of its profile.  The maker opens them.
 */
#ifndef MYELIN_NEUROND_SHOWN_H
#define MYELIN_NEUROND_SHOWN_H

#include "slice.h"

struct imsg;
struct neuron;

#define SHOWN_MAX	(1 + MOUNTS_MAX)

struct shown {
	int		 root;		/* the first is its root */
	int		 overlay;	/* which it may change for itself */
	unsigned	 wanted;	/* directories */
	unsigned	 have;
	int		 fd[SHOWN_MAX];	/* detached mounts */
	char		*paths;		/* on the host, each with a newline */
	char		*at;		/* the mounts' inside, the same */
};

/* From a profile, or NULL for one that shows nothing. */
void	shown_init(struct shown *, const struct cf_trees *);
void	shown_close(struct shown *);
/* 1 if there is something to be asked for. */
int	shown_wanting(const struct shown *);
/* Asks the maker; -1 if it is gone. */
int	shown_ask(const struct neuron *);
/* Hands all over to a BUILD, which owns it then. */
void	shown_give(struct shown *, struct imsg *);

/* Message handler: what the maker opened. */
int	shown_on_trees(void *, struct imsg *);

#endif
