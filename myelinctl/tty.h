/*
 * The terminal on standard input and output: another mode while it is ours, as
 * it was before at every end, also by a signal that is a fault.
 */
#ifndef MYELINCTL_TTY_H
#define MYELINCTL_TTY_H

#include <signal.h>

enum tty_mode {
	TTY_RAW,	/* every key is the program's, ^C too */
	TTY_KEYS	/* keys as they are typed; ^C and ^Z are signals */
};

/*
 * Keeps the modes, and sees to it that they come back.  enter and leave are
 * written when the terminal becomes ours and when it is given back; NULL for
 * none, else they live as long as the process.  0, or -1: not a terminal.
 */
int	tty_init(const char *enter, const char *leave);
void	tty_set(enum tty_mode);
/* As it was; may come at any time and more than once. */
void	tty_restore(void);
int	tty_is_set(void);

/* 0: unknown. */
void	tty_size(unsigned short *rows, unsigned short *cols);

#endif
