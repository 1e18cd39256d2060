/*
 * A screen of lines: what changed since the last time is written, and nothing
 * that moves the cursor comes from the text.  No colours, no other attributes.
 */
#ifndef MYELINCTL_SCREEN_H
#define MYELINCTL_SCREEN_H

#include <stddef.h>

#include "sink.h"

#define SCREEN_ENTER	"\033[?1049h\033[?25l\033[?7l\033[H\033[2J"
#define SCREEN_LEAVE	"\033[?7h\033[?25h\033[?1049l"

struct screen {
	unsigned short	 rows;
	unsigned short	 cols;
	char		**now;		/* a line each, or NULL for none */
	char		**before;	/* what the terminal has */
	struct sink	 out;
	int		 stale;		/* the terminal has nobody knows what */
};

void	screen_init(struct screen *);
void	screen_free(struct screen *);
/* Asks the terminal for its size; 1 if it is another one. */
int	screen_measure(struct screen *);
/* Begins a picture of empty lines. */
void	screen_begin(struct screen *);
/* The text of a line, from 0 on; safe text, cut off where the line ends. */
void	screen_line(struct screen *, size_t row, const char *fmt, ...)
	    __attribute__((__format__(__printf__, 3, 4)));
/* Writes what changed, if the last picture is out.  0, or -1: it is gone. */
int	screen_show(struct screen *);

#endif
