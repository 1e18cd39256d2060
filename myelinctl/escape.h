/*
 * The escape of "shell": a tilde at the beginning of a line is ours.
 *
 *	~.	leave
 *	~?	show this
 *	~~	one tilde
 *
 * Any other character after the tilde goes where it was typed, the tilde with
 * it.
 */
#ifndef MYELINCTL_ESCAPE_H
#define MYELINCTL_ESCAPE_H

#include <stddef.h>

enum escape_state { ESCAPE_LINE, ESCAPE_TILDE, ESCAPE_TEXT };

struct escape {
	enum escape_state state;	/* ESCAPE_LINE at first */
	int		 left;		/* ~. was typed */
	int		 help;		/* ~? was; the caller's to clear */
};

/*
 * Takes len typed bytes, puts what goes on into out, which has room for
 * len + 1, and returns how many.  Behind ~. nothing is taken.
 */
size_t	escape_filter(struct escape *, const char *, size_t len, char *out);

#endif
