/*
 * Modes of the terminal, and giving them back.
 */
#include <sys/ioctl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "tty.h"

static struct termios before;
static volatile sig_atomic_t set;	/* before is to be set again */
static const char *entering;
static const char *leaving;

/* Of what is written here nothing can be done about a failure. */
static void
say(const char *text)
{
	if (text != NULL)
		(void)!write(STDOUT_FILENO, text, strlen(text));
}

void
tty_set(enum tty_mode mode)
{
	struct termios t = before;

	if (mode == TTY_RAW)
		cfmakeraw(&t);
	else {
		t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		t.c_iflag &= ~(tcflag_t)(IXON | INLCR | ICRNL | ISTRIP);
		t.c_cc[VMIN] = 1;
		t.c_cc[VTIME] = 0;
	}
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &t) == -1)
		return;
	if (!set)
		say(entering);
	set = 1;
}

void
tty_restore(void)
{
	if (!set)
		return;
	set = 0;
	say(leaving);
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

int
tty_is_set(void)
{
	return (set != 0);
}

/* A fault of ours: tcsetattr(3) and write(2) may be called from here. */
static void
on_fault(int signo)
{
	if (set) {
		say(leaving);
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
	}
	(void)raise(signo);
}

int
tty_init(const char *enter, const char *leave)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL,
	    SIGABRT, SIGALRM, SIGUSR1, SIGUSR2 };
	struct sigaction fault = { .sa_handler = on_fault,
	    .sa_flags = (int)SA_RESETHAND };
	size_t i;

	if (tcgetattr(STDIN_FILENO, &before) == -1 ||
	    isatty(STDOUT_FILENO) == 0)
		return (-1);
	entering = enter;
	leaving = leave;
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigaction(faults[i], &fault, NULL);
	(void)atexit(tty_restore);
	return (0);
}

void
tty_size(unsigned short *rows, unsigned short *cols)
{
	struct winsize ws = { 0 };

	(void)ioctl(STDIN_FILENO, TIOCGWINSZ, &ws);
	*rows = ws.ws_row;
	*cols = ws.ws_col;
}
