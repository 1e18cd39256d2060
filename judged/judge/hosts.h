/*
 * Which hosts a program reaches, as far as its words say so.
 */
#ifndef JUDGE_HOSTS_H
#define JUDGE_HOSTS_H

#include "options.h"
#include "subject.h"

/* What the operands of a program are. */
enum hosts_kind {
	HOSTS_URLS,		/* URLs, with or without a scheme */
	HOSTS_REMOTES,		/* files here, or HOST:PATH and URLs */
	HOSTS_REPOSITORIES,	/* git's: URLs, USER@HOST:PATH, and others */
	HOSTS_FIRST,		/* [USER@]HOST, then other things */
	HOSTS_ALL,		/* names of hosts */
	HOSTS_UNSURE		/* nothing that tells */
};

/*
 * The hosts that the operands behind argv[skip - 1] name; in the arena.
 * An operand that is not known leaves it unsure.
 */
struct finding_hosts *hosts_of(const struct subject *, size_t skip,
	    const struct optspec *, enum hosts_kind);
/* Adds the host of one word that is a URL. */
void	hosts_add(struct judging *, struct finding_hosts *,
	    const struct word *url);
/* The same of a text, which is in the arena or static. */
void	hosts_add_text(struct judging *, struct finding_hosts *,
	    const char *host);

/*
 * 1 if one of them is certainly another machine: a name with a dot or an
 * address, that is not this machine's own.
 */
int	hosts_elsewhere(const struct finding_hosts *);

#endif
