/*
 * Fields of a word while they are made, for the files of expansion.
 */
#ifndef SHELL_FIELDS_H
#define SHELL_FIELDS_H

#include "resolver.h"

/* One alternative being built. */
struct build {
	struct word	*done;
	size_t		 ndone;
	size_t		 maxdone;
	char		*text;
	size_t		 len;
	size_t		 room;
	unsigned	 flags;
	char		*whole;		/* as of a word, or NULL */
	size_t		 wlen;
	size_t		 wroom;
	int		 open;		/* there is a field, if an empty one */
	int		 bracket;	/* an unquoted "[" is in it */
};

struct builds {
	struct resolver	*r;
	size_t		 n;
	struct build	 v[JUDGE_VALUES_MAX];
	unsigned	 flags;		/* EXPAND_* */
	struct word	 ifs;		/* text NULL: unknown */
};

void	builds_init(struct builds *, struct resolver *, unsigned flags);
/* The alternatives, and their fields, that there are in the end. */
void	builds_finish(struct builds *, struct expansion *);
/* Text that is not split, into one alternative. */
void	build_text(struct builds *, struct build *, const char *, size_t);
/* Unquoted text: 1 if it makes the field a pattern. */
int	makes_pattern(struct build *, const char *, size_t);
/* All alternatives of one expansion into all that there are. */
void	add_pieces(struct builds *, const struct pieces *, int quoted);

#endif
