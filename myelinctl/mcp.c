/*
 * myelinctl mcp: the loop, and how it ends.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcp.h"

#define READ_SIZE	(64 * 1024)
#define GRACE_MS	1000	/* for what is under way when input ends */
#define END_MS		2000	/* for our session's end to be heard */
#define OUT_PENDING_MAX	(1024 * 1024)	/* bytes that a client left unread */

struct input {
	char	*p;
	size_t	 len;
	size_t	 room;
	int	 skipping;	/* the rest of a line that was too long */
	int	 ended;
};

static volatile sig_atomic_t caught;

static void
on_signal(int signo)
{
	caught = signo;
}

/* ---- standard input ---- */

static void
take_line(struct bridge *b, const char *p, size_t len)
{
	static const char too_long[] = "{\"jsonrpc\":\"2.0\",\"error\":{"
	    "\"code\":-32600,\"message\":\"Invalid Request: a message of "
	    "over 16777216 bytes\"}}";
	char *line;

	if (len > 0 && p[len - 1] == '\r')
		len--;
	if (len == 0)
		return;
	if (len > MCP_LINE_MAX) {
		mcp_put(b, too_long, strlen(too_long));
		return;
	}
	if ((line = malloc(len)) == NULL)
		err(EXIT_FAILED, NULL);
	memcpy(line, p, len);
	mcp_line(b, line, len);
}

/* The lines that are whole; the rest moves to the front. */
static void
take_lines(struct bridge *b, struct input *in, size_t fresh)
{
	char *p = in->p, *end = in->p + in->len, *lf;
	size_t looked = in->len - fresh;

	while ((lf = memchr(p + looked, '\n',
	    (size_t)(end - p) - looked)) != NULL) {
		if (!in->skipping)
			take_line(b, p, (size_t)(lf - p));
		in->skipping = 0;
		p = lf + 1;
		looked = 0;
	}
	in->len = (size_t)(end - p);
	if (in->len > MCP_LINE_MAX) {
		/* Its end is waited for, and nothing of it kept. */
		if (!in->skipping)
			take_line(b, p, in->len);
		in->skipping = 1;
		in->len = 0;
	}
	memmove(in->p, p, in->len);
}

static void
read_input(struct bridge *b, struct input *in)
{
	ssize_t n;

	if (in->room - in->len < READ_SIZE) {
		in->room = in->room == 0 ? READ_SIZE : 2 * in->room;
		if ((in->p = realloc(in->p, in->room)) == NULL)
			err(EXIT_FAILED, NULL);
	}
	n = read(STDIN_FILENO, in->p + in->len, in->room - in->len);
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		in->ended = 1;
		if (in->len > 0 && !in->skipping)
			take_line(b, in->p, in->len);
		in->len = 0;
		return;
	}
	in->len += (size_t)n;
	take_lines(b, in, (size_t)n);
}

/* ---- the loop ---- */

enum { P_IN, P_OUT, P_POSTS };

struct polled {
	struct pollfd	 fds[P_POSTS + MCP_POSTS_MAX];
	struct post	*posts[P_POSTS + MCP_POSTS_MAX];
	nfds_t		 n;
};

static void
collect(struct bridge *b, const struct input *in, struct polled *p)
{
	int full = b->out.len - b->out.off > OUT_PENDING_MAX;
	struct post *post;

	p->fds[P_IN].fd = in->ended || full || b->nposts >= MCP_HELD_MAX ?
	    -1 : STDIN_FILENO;
	p->fds[P_IN].events = POLLIN;
	p->fds[P_OUT].fd = b->out.fd;
	/* Without events: that its reader left is told all the same. */
	p->fds[P_OUT].events = sink_pending(&b->out) ? POLLOUT : 0;
	p->n = P_POSTS;
	TAILQ_FOREACH(post, &b->posts, entry) {
		if (post->state != POST_SENT)
			continue;
		p->posts[p->n] = post;
		p->fds[p->n].fd = post->link->conn.fd;
		p->fds[p->n].events = conn_events(&post->link->conn, !full);
		p->n++;
	}
}

static void
handle(struct bridge *b, struct input *in, const struct polled *p)
{
	nfds_t i;

	/* First, since a line may cancel a post. */
	for (i = P_POSTS; i < p->n; i++)
		if (p->fds[i].revents != 0)
			mcp_post_io(b, p->posts[i], p->fds[i].revents);
	if (p->fds[P_OUT].revents != 0)
		(void)sink_flush(&b->out);
	if (p->fds[P_OUT].revents & (POLLERR | POLLHUP | POLLNVAL))
		b->out.error = EPIPE;
	if (p->fds[P_IN].revents != 0)
		read_input(b, in);
}

static int
sooner(int a, int b)
{
	return (a == -1 || (b != -1 && b < a) ? b : a);
}

/*
 * Until the client has left: its input ended and what it asked for is
 * answered, or takes too long; it reads no more; a signal says so.
 */
static void
loop(struct bridge *b, const sigset_t *unblocked)
{
	struct input in = { NULL, 0, 0, 0, 0 };
	static struct polled p;
	struct timespec ts;
	int64_t ended = 0;
	int wait;

	while (caught == 0 && b->out.error == 0) {
		wait = mcp_start(b);
		if (in.ended) {
			if (ended == 0)
				ended = mcp_now();
			if ((TAILQ_EMPTY(&b->posts) &&
			    !sink_pending(&b->out)) ||
			    mcp_now() - ended > GRACE_MS)
				break;
			wait = sooner(wait, (int)(ended + GRACE_MS + 1 -
			    mcp_now()));
		}
		collect(b, &in, &p);
		ts.tv_sec = wait / 1000;
		ts.tv_nsec = (long)(wait % 1000) * 1000000;
		if (ppoll(p.fds, p.n, wait == -1 ? NULL : &ts,
		    unblocked) == -1) {
			if (errno == EINTR)
				continue;
			err(EXIT_FAILED, "poll");
		}
		handle(b, &in, &p);
	}
	free(in.p);
}

/* Ends our session and all that it runs, if the service is there. */
static void
end_session(struct bridge *b)
{
	struct conn_request q = { .method = "DELETE",
	    .accept = "application/json" };
	struct api_body got = { NULL, 0, 0 };
	struct conn conn;
	char target[64];

	if (b->session != SESSION_OPEN)
		return;
	snprintf(target, sizeof(target), "/v1/sessions/%s", b->id);
	q.target = target;
	if (conn_try(&conn, b->socket) != 0)
		return;
	conn_send(&conn, &q, api_collect, &got);
	conn_finish(&conn, END_MS);
	conn_close(&conn);
	free(got.p);
}

static void
catch_signals(sigset_t *unblocked)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t blocked;
	size_t i;

	sigemptyset(&sa.sa_mask);
	sigemptyset(&blocked);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaddset(&blocked, signals[i]);
		sigaction(signals[i], &sa, NULL);
	}
	sigprocmask(SIG_BLOCK, &blocked, unblocked);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigdelset(unblocked, signals[i]);
}

/* What can't be asked for is said now, where a person sees it. */
static int
check_place(const struct options *o)
{
	json_t *body = json_object();
	int ok = api_put_place(o, body);

	json_decref(body);
	return (ok);
}

int
cmd_mcp(struct options *o, int argc, char **argv)
{
	struct bridge b = { .options = o };
	struct post *post;
	struct link *link;
	sigset_t unblocked;

	(void)argv;
	if (argc != 0)
		return (usage_error(o, "mcp takes no operands"));
	if (check_place(o) == -1)
		return (EXIT_FAILED);
	b.socket = api_socket(o, AGENT);
	sink_init(&b.out, STDOUT_FILENO);
	TAILQ_INIT(&b.posts);
	TAILQ_INIT(&b.idle);
	catch_signals(&unblocked);
	loop(&b, &unblocked);
	end_session(&b);
	while ((post = TAILQ_FIRST(&b.posts)) != NULL)
		mcp_post_free(&b, post);
	while ((link = TAILQ_FIRST(&b.idle)) != NULL) {
		TAILQ_REMOVE(&b.idle, link, entry);
		mcp_link_close(&b, link);
	}
	sink_free(&b.out);
	return (0);
}
