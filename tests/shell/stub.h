/*
 * A classification for tests of the resolver alone: it records each command,
 * follows shells and nothing else, and denies rm of "/".
 */
#ifndef TESTS_SHELL_STUB_H
#define TESTS_SHELL_STUB_H

#include <stddef.h>

struct seen {
	char	 text[8192];	/* the words, as below, cut at the end */
	char	 input[256];	/* "?" unknown, "-" inherited, "!" network */
	char	 cwd[256];
	unsigned from;
	unsigned to;
	int	 argc;
};

#define SEEN_MAX	8192
extern struct seen seen[SEEN_MAX];
extern size_t nseen;
extern size_t nforkbombs;

/*
 * Words are apart by one space; in them %XX stands for what is not plain,
 * "?" for unknown text, "*?" for an unknown that splits, and a "~" in front
 * for a pattern.
 */
void	stub_reset(void);

#endif
