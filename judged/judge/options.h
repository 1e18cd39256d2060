/*
 * The words of a program read as its options and operands, as getopt_long(3)
 * does: clusters, values that stick or follow, "--", abbreviated long options,
 * operands in between.
 */
#ifndef JUDGE_OPTIONS_H
#define JUDGE_OPTIONS_H

#include <stddef.h>

#include "command.h"
#include "subject.h"

/* Which options of a program take a value; others are taken for flags. */
struct optspec {
	const char	*shorts;	/* letters, NULL: none */
	const char	*longs;		/* "name name ...", NULL: none; "name+"
					 * takes two, "name!" none: it is no
					 * abbreviation of another */
	unsigned	 flags;
};
#define OPT_STOPS	0x01	/* the first operand ends the options */
#define OPT_ONE_DASH	0x02	/* "-name" is a long option: no clusters */

enum opt_kind { OPT_END, OPT_SHORT, OPT_LONG, OPT_OPERAND };

struct opt {
	enum opt_kind		 kind;
	char			 letter;	/* OPT_SHORT */
	const char		*name;		/* OPT_LONG, as it was typed */
	const struct word	*value;		/* of the option, or NULL */
	const struct word	*word;		/* where it stood; the operand */
	size_t			 at;		/* its index in argv */
};

struct optscan {
	const struct subject	*s;
	const struct optspec	*spec;
	size_t			 next;		/* of argv */
	size_t			 cluster;	/* in the word before next */
	int			 ended;		/* no options any more */
	int			 uncertain;	/* an unknown word may be some */
};

/* Begins behind argv[skip - 1]; spec may be NULL. */
void	opt_begin(struct optscan *, const struct subject *, size_t skip,
	    const struct optspec *);
/* The next option or operand; 0 at the end. */
int	opt_next(struct optscan *, struct opt *);
/*
 * 1 if it is that option: the letter (0: none), or a long one that is typed
 * in full or abbreviated (NULL: none).
 */
int	opt_is(const struct opt *, char letter, const char *name);

/* The first operand, the number of operands, and whether an option is there. */
const struct word *opt_operand(const struct subject *, size_t skip,
	    const struct optspec *, size_t index);
int	opt_has(const struct subject *, size_t skip, const struct optspec *,
	    char letter, const char *name);

#endif
