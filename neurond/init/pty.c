/*
 * Terminals of calls.
 */
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "protocol.h"
#include "../sys.h"
#include "pty.h"

#ifndef TIOCGPTPEER
#define TIOCGPTPEER	_IO('T', 0x41)
#endif

/*
 * What the kernel may still hold of a program that is gone: some 12 KiB (its
 * buffers of a pty).  More comes from what it left behind, which could go on
 * for ever.
 */
#define LAST_BYTES	(64 * 1024)

/* ms between looks at whether what was typed is read */
#define EOF_WAIT	20
#define EOF_WAIT_MAX	250

/* ---- making one ---- */

/* Erasing a character takes all its bytes: the locale is UTF-8. */
static int
set_mode(int slave)
{
	struct termios t;

	if (tcgetattr(slave, &t) == -1)
		return (-1);
	t.c_iflag |= IUTF8;
	return (tcsetattr(slave, TCSANOW, &t));
}

static int
set_size(int fd, uint32_t size)
{
	struct winsize ws = {
		.ws_row = (unsigned short)PTY_ROWS(size),
		.ws_col = (unsigned short)PTY_COLS(size)
	};

	return (ioctl(fd, TIOCSWINSZ, &ws));
}

int
pty_make(struct pty *pty, uint32_t size)
{
	int locked = 0, fds[2];

	pty->master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC |
	    O_NONBLOCK);
	if (pty->master == -1 ||
	    ioctl(pty->master, TIOCSPTLCK, &locked) == -1)
		return (-1);
	/* By the master, not by a name: it is this one for sure. */
	pty->slave = ioctl(pty->master, TIOCGPTPEER,
	    O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (pty->slave == -1 || set_mode(pty->slave) == -1 ||
	    set_size(pty->slave, size) == -1 ||
	    pipe2(fds, O_CLOEXEC | O_NONBLOCK) == -1)
		return (-1);
	pty->said = fds[0];
	pty->orders = fds[1];
	return (0);
}

void
pty_close(struct pty *pty)
{
	int *const fds[] = { &pty->master, &pty->slave, &pty->orders,
	    &pty->said };
	size_t i;

	for (i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] != -1)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

int
pty_enter(const struct pty *pty)
{
	if (dup2(pty->slave, 0) == -1 || dup2(pty->slave, 1) == -1 ||
	    dup2(pty->slave, 2) == -1)
		return (-1);
	return (ioctl(0, TIOCSCTTY, 0));
}

void
pty_order(int orders, enum pty_order order, uint32_t value)
{
	const uint32_t words[2] = { order, value };

	/* Eight bytes go into a pipe whole or not at all. */
	(void)!write(orders, words, sizeof(words));
}

/* ---- the relay ---- */

struct buffer {
	char	 bytes[16 * 1024];
	size_t	 off;
	size_t	 len;
};

struct relay {
	int		 in;		/* -1: none, or at its end */
	int		 out;
	int		 master;
	int		 slave;		/* open: so the master never ends */
	int		 said;		/* -1: the leader is gone */
	int		 ended;		/* nothing more comes in */
	int		 wait;		/* ms, with that, and when it is over */
	int64_t		 when;
	size_t		 left;		/* that is read, with the leader gone */
	struct buffer	 to_program;
	struct buffer	 to_reader;
};

enum { P_SAID, P_IN, P_OUT, P_MASTER, P_COUNT };

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

/* Bytes that were read, 0 for none now, -1 at the end. */
static ssize_t
fill(int fd, struct buffer *b)
{
	ssize_t n = read(fd, b->bytes, sizeof(b->bytes));

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return (0);
	if (n <= 0)
		return (-1);
	b->off = 0;
	b->len = (size_t)n;
	return (n);
}

/* 0, or -1 if nobody takes it any more. */
static int
drain(int fd, struct buffer *b)
{
	ssize_t n = write(fd, b->bytes + b->off, b->len - b->off);

	if (n == -1)
		return (errno == EAGAIN || errno == EINTR ? 0 : -1);
	b->off += (size_t)n;
	if (b->off == b->len)
		b->off = b->len = 0;
	return (0);
}

/*
 * The group in the foreground, else all of the session's leader's: one that
 * has gone meanwhile gets nothing.
 */
static void
signal_foreground(const struct relay *r, int sig)
{
	pid_t group = tcgetpgrp(r->master);

	if (group > 1 && kill(-group, sig) == 0)
		return;
	group = tcgetsid(r->master);
	if (group > 1)
		(void)kill(-group, sig);
}

static void
take_order(struct relay *r)
{
	uint32_t words[2];
	ssize_t n = read(r->said, words, sizeof(words));

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != (ssize_t)sizeof(words)) {
		close(r->said);
		r->said = -1;
		r->left = LAST_BYTES;
	} else if (words[0] == PTY_RESIZE) {
		/* The kernel sends SIGWINCH, if the size is another. */
		(void)set_size(r->master, words[1]);
	} else if (words[0] == PTY_SIGNAL) {
		signal_foreground(r, (int)words[1]);
	}
}

/*
 * The end of the input is typed, as ^D is, whenever nothing that was typed is
 * unread: it pushes a line that was not ended, it ends what reads lines, and
 * an editor of lines knows it.  A terminal forgets its end once it was read,
 * and loses it when the mode changes; so it is typed again, and whoever reads
 * meets it, as in a pipe.  Where it would be echoed into the output, by a mode
 * that is neither of lines nor an editor's, it is not.
 */
static void
type_end(struct relay *r)
{
	struct pollfd pfd = { .fd = r->slave, .events = POLLIN };
	struct termios t;

	r->wait = r->wait * 2 < EOF_WAIT_MAX ? r->wait * 2 : EOF_WAIT_MAX;
	r->when = now_ms() + r->wait;
	if (poll(&pfd, 1, 0) != 0 || tcgetattr(r->slave, &t) == -1 ||
	    t.c_cc[VEOF] == _POSIX_VDISABLE ||
	    (t.c_lflag & (ICANON | ECHO)) == ECHO)
		return;
	r->to_program.bytes[0] = (char)t.c_cc[VEOF];
	r->to_program.len = 1;
}

static void
input_ended(struct relay *r)
{
	if (r->in != -1)
		close(r->in);
	r->in = -1;
	r->ended = 1;
	r->wait = EOF_WAIT;
	r->when = now_ms() + r->wait;
}

/* What poll(2) may wait: until the end of the input is to be typed, or -1. */
static int
patience(const struct relay *r)
{
	int64_t left;

	if (!r->ended || r->to_program.len > 0)
		return (-1);
	left = r->when - now_ms();
	return (left > 0 ? (int)left : 0);
}

static void
watch(const struct relay *r, struct pollfd pfd[P_COUNT])
{
	const struct {
		int	fd;
		short	events;
	} want[P_COUNT] = {
		[P_SAID] = { r->said, POLLIN },
		[P_IN] = { r->to_program.len == 0 ? r->in : -1, POLLIN },
		/* Without events still: that nobody reads any more shows. */
		[P_OUT] = { r->out, r->to_reader.len > 0 ? POLLOUT : 0 },
		[P_MASTER] = { r->master,
		    (short)((r->to_reader.len == 0 ? POLLIN : 0) |
		    (r->to_program.len > 0 ? POLLOUT : 0)) }
	};
	size_t i;

	for (i = 0; i < P_COUNT; i++) {
		pfd[i].fd = want[i].events == 0 && i == P_MASTER ? -1 :
		    want[i].fd;
		pfd[i].events = want[i].events;
		pfd[i].revents = 0;
	}
}

/* 0, or -1 when the relay is done. */
static int
move(struct relay *r, const struct pollfd pfd[P_COUNT])
{
	if (pfd[P_SAID].revents != 0)
		take_order(r);
	if (pfd[P_IN].revents != 0 && fill(r->in, &r->to_program) == -1)
		input_ended(r);
	if (r->to_program.len > 0 && drain(r->master, &r->to_program) == -1)
		return (-1);
	if ((pfd[P_MASTER].revents & POLLIN) &&
	    fill(r->master, &r->to_reader) == -1)
		return (-1);
	if ((r->to_reader.len > 0 || pfd[P_OUT].revents != 0) &&
	    ((pfd[P_OUT].revents & POLLERR) ||
	    drain(r->out, &r->to_reader) == -1))
		return (-1);
	return (0);
}

/*
 * What the leader wrote before it ended is in the kernel's buffers: a read of
 * the master finds it there even if no poll has said so yet.
 */
static void
last_words(struct relay *r)
{
	struct pollfd pfd = { .fd = r->out, .events = POLLOUT };
	ssize_t n = 1;
	size_t used;

	while (n > 0 || r->to_reader.len > 0) {
		if (r->to_reader.len > 0) {
			if (drain(r->out, &r->to_reader) == -1)
				return;
			if (r->to_reader.len > 0)
				(void)poll(&pfd, 1, -1);
		} else if (r->left > 0) {
			n = fill(r->master, &r->to_reader);
			used = n > 0 ? (size_t)n : 0;
			r->left -= used < r->left ? used : r->left;
		} else {
			n = 0;
		}
	}
}

static _Noreturn void
relay_main(struct relay *r)
{
	struct pollfd pfd[P_COUNT];

	if (r->in == -1)
		input_ended(r);
	while (r->said != -1) {
		watch(r, pfd);
		if (poll(pfd, P_COUNT, patience(r)) == -1)
			continue;
		if (move(r, pfd) == -1)
			_exit(0);
		if (patience(r) == 0)
			type_end(r);
	}
	last_words(r);
	_exit(0);
}

/* 0 to 2 are PID 1's, then what the relay has, and nothing else. */
static int
keep_fds(struct relay *r)
{
	int *const fds[] = { &r->master, &r->slave, &r->said, &r->out, &r->in };
	const int first = 3, n = sizeof(fds) / sizeof(fds[0]);
	int i;

	/* Out of the way of each other first. */
	for (i = 0; i < n; i++)
		if (*fds[i] != -1 &&
		    (*fds[i] = fcntl(*fds[i], F_DUPFD, first + n)) == -1)
			return (-1);
	for (i = 0; i < n; i++) {
		if (*fds[i] == -1)
			(void)close(first + i);
		else if ((*fds[i] = dup2(*fds[i], first + i)) == -1)
			return (-1);
	}
	return (close_range((unsigned)(first + n), ~0U, 0));
}

pid_t
pty_relay(const struct pty *pty, int in, int out, int leaf)
{
	static struct relay r;
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP | CLONE_CLEAR_SIGHAND,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)leaf
	};
	sigset_t all;
	pid_t pid;

	if ((pid = sys_clone3(&args)) != 0)
		return (pid);
	(void)prctl(PR_SET_NAME, "neuron-pty", 0, 0, 0);
	/* A program's signals are not for us where the kernel lets them by. */
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	r.master = pty->master;
	r.slave = pty->slave;
	r.said = pty->said;
	r.out = out;
	r.in = in;
	if (keep_fds(&r) == -1 || fcntl(r.out, F_SETFL, O_NONBLOCK) == -1 ||
	    (r.in != -1 && fcntl(r.in, F_SETFL, O_NONBLOCK) == -1))
		_exit(1);
	relay_main(&r);
}
