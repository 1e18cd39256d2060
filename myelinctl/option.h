/*
 * The options of all commands: one table, of which each command takes some.
 */
#ifndef MYELINCTL_OPTION_H
#define MYELINCTL_OPTION_H

#include <stddef.h>

#include "ctl.h"

struct option_row {
	int		 letter;
	int		 is_short;	/* the letter is an option by itself */
	const char	*name;
	const char	*value;		/* NULL: it takes none */
	const char	*words;
	/* 0, or not after a complaint; NULL: the member of options at at is an
	 * int that becomes 1, or, of a row with a value, a text that points to
	 * it. */
	int		(*set)(struct options *, const char *);
	size_t		 at;
};

/* The row of a letter of a command's list; NULL if there is none. */
const struct option_row *option_find(int letter);
/*
 * Reads the options of letters from argv, and leaves optind behind them; with
 * first_ends they end at the first operand.  0 to go on, 1 for help, -1 after
 * a complaint.
 */
int	options_read(struct options *, const char *letters, int first_ends,
	    int argc, char **argv);

#endif
