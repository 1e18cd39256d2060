/*
 * Window size, and what was typed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "limits.h"
#include "term.h"
#include "tty.h"

#define HELP								\
	"\r\nAt the beginning of a line: ~. leaves, and ends the call; "	\
	"~~ is one tilde; ~? is this.\r\n"

static volatile sig_atomic_t winch;	/* the size may be another */
static volatile sig_atomic_t continued;	/* somebody else had the terminal */

/* ---- signals ---- */

static void
on_change(int signo)
{
	if (signo == SIGCONT)
		continued = 1;
	winch = 1;
}

static void
catch_signals(void)
{
	struct sigaction change = { .sa_handler = on_change,
	    .sa_flags = SA_RESTART };

	sigaction(SIGWINCH, &change, NULL);
	sigaction(SIGCONT, &change, NULL);
	/* Only others could send it, and stopped we would leave it raw. */
	signal(SIGTSTP, SIG_IGN);
}

/* ---- size ---- */

static unsigned short
side(unsigned short have, unsigned short unsaid)
{
	if (have == 0)
		return (unsaid);	/* a serial line, which does not know */
	return (have > PTY_SIZE_MAX ? PTY_SIZE_MAX : have);
}

static void
get_size(unsigned short *rows, unsigned short *cols)
{
	tty_size(rows, cols);
	*rows = side(*rows, 24);
	*cols = side(*cols, 80);
}

static int
discard(void *arg, const uint8_t *bytes, size_t len)
{
	(void)arg;
	(void)bytes;
	(void)len;
	return (0);
}

static void
hang_up(struct term *t)
{
	if (t->connected)
		conn_close(&t->conn);
	t->connected = 0;
}

/* A size that is on its way is followed by the next one if it is another. */
static void
send_size(struct term *t)
{
	struct conn_request q = { .method = "POST", .target = t->target,
	    .accept = "*/*", .type = "application/json", .body = t->text };
	unsigned short rows, cols;

	get_size(&rows, &cols);
	if (rows == t->rows && cols == t->cols)
		return;
	t->rows = rows;
	t->cols = cols;
	snprintf(t->text, sizeof(t->text), "{\"rows\":%u,\"cols\":%u}", rows,
	    cols);
	q.len = strlen(t->text);
	if (conn_open(&t->conn, t->socket) == -1)
		return;
	t->connected = 1;
	conn_send(&t->conn, &q, discard, NULL);
}

/* ---- the parts in order ---- */

int
term_init(struct term *t, const char *socket)
{
	memset(t, 0, offsetof(struct term, conn));
	t->connected = 0;
	t->socket = socket;
	if (tty_init(NULL, NULL) == -1) {
		complain("shell: standard %s is not a terminal",
		    isatty(STDIN_FILENO) ? "output" : "input");
		advise("myelinctl run passes pipes and files on; over ssh, "
		    "ssh -t makes a terminal");
		return (-1);
	}
	get_size(&t->rows, &t->cols);
	catch_signals();
	return (0);
}

/* What the service would refuse is not worth a shell that does not start. */
static int
is_term(const char *s)
{
	return (s != NULL && *s != '\0' && *s != '.' &&
	    strlen(s) < PTY_TERM_MAX && s[strspn(s,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789+-._")] == '\0');
}

json_t *
term_member(const struct term *t)
{
	const char *type = getenv("TERM");

	return (json_pack("{s:i,s:i,s:s*}", "rows", (int)t->rows, "cols",
	    (int)t->cols, "term", is_term(type) ? type : NULL));
}

void
term_start(struct term *t, const char *call)
{
	if (t->started)
		return;
	t->started = 1;
	snprintf(t->target, sizeof(t->target), "/v1/calls/%s/resize", call);
	tty_set(TTY_RAW);
	winch = 1;	/* it may have changed since the request */
}

void
term_free(struct term *t)
{
	tty_restore();
	hang_up(t);
}

size_t
term_typed(void *arg, const char *p, size_t len, char *out)
{
	struct term *t = arg;
	size_t n = escape_filter(&t->escape, p, len, out);

	if (t->escape.help)
		(void)!write(STDOUT_FILENO, HELP, sizeof(HELP) - 1);
	t->escape.help = 0;
	return (n);
}

void
term_poll(struct term *t, struct pollfd *pfd)
{
	if (continued && tty_is_set())
		tty_set(TTY_RAW);
	continued = 0;
	if (winch && t->started && !t->connected) {
		winch = 0;
		send_size(t);
	}
	if (!t->connected)
		return;
	pfd->fd = t->conn.fd;
	pfd->events = conn_events(&t->conn, 1);
}

/* What comes of it nobody can do much about: the program may have ended. */
void
term_io(struct term *t, const struct pollfd *pfd)
{
	if (!t->connected)
		return;
	if (pfd->revents != 0)
		conn_io(&t->conn, pfd->revents);
	if (t->conn.state != CONN_BUSY)
		hang_up(t);
}
