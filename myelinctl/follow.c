/*
 * Following a call.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api.h"
#include "follow.h"
#include "output.h"
#include "sse.h"

#define CANCEL_WAIT	5	/* s, from a cancel to the call's end */

static volatile sig_atomic_t caught;	/* the last signal */
static volatile sig_atomic_t times;

struct state {
	struct follow	*f;
	struct conn	 conn;
	struct api_body	 body;		/* of a refusal */
	struct sse	 sse;
	struct conn	 cancel;
	int		 cancelling;	/* a cancel is wanted */
	int		 cancelled;	/* and was sent */
	time_t		 deadline;
};

enum { P_CONN, P_OUT, P_ERR, P_STDIN, P_FEED, P_CANCEL, P_TERM, P_COUNT };

static void
on_signal(int signo)
{
	caught = signo;
	times++;
}

/* ---- events ---- */

/* The output can't be written: nobody wants the call's any more. */
static void
output_failed(struct state *s, const struct sink *sink)
{
	if (s->f->signal != 0)
		return;
	s->f->signal = SIGPIPE;
	s->cancelling = 1;
	if (sink->error != EPIPE)
		complain("writing output: %s", strerror(sink->error));
}

static int
on_output(struct state *s, const struct sse_event *event)
{
	struct output out;
	struct sink *sink;

	if (s->f->out == NULL)
		return (0);
	if (output_decode(event->data, event->len, &out) == -1)
		return (-1);
	sink = out.stream == 1 ? s->f->out : s->f->err;
	if (sink->error == 0 && sink_put(sink, out.bytes, out.len) == -1)
		output_failed(s, sink);
	return (0);
}

static int
on_gap(struct state *s, const json_t *data)
{
	json_int_t from, to;

	from = json_integer_value(json_object_get(data, "from"));
	to = json_integer_value(json_object_get(data, "to"));
	s->f->dropped += to >= from ? (unsigned long long)(to - from) + 1 : 1;
	return (0);
}

static int
on_started(struct state *s, const json_t *data)
{
	(void)data;
	if (s->f->term != NULL)
		term_start(s->f->term, s->f->call);
	if (s->f->feed != NULL)
		feed_start(s->f->feed, s->f->call);
	return (0);
}

/* Nobody here can decide: the one at the terminal is told who can, and how. */
static int
on_asking(struct state *s, const json_t *data)
{
	const char *id;

	id = json_string_value(json_object_get(data, "approval"));
	if (id == NULL || !id_ok(ID_APPROVAL, id) ||
	    strcmp(id, s->f->approval) == 0)
		return (0);
	snprintf(s->f->approval, sizeof(s->f->approval), "%s", id);
	complain("the call waits for an operator's decision: %s", id);
	advise("an operator, who is not the one who asked, types: myelinctl "
	    "approve %s", id);
	return (0);
}

static int
on_finished(struct state *s, const json_t *data)
{
	json_decref(s->f->finished);
	s->f->finished = json_incref((json_t *)(uintptr_t)data);
	return (0);
}

static const struct {
	const char	*name;
	int		(*fn)(struct state *, const json_t *);
} events[] = {
	{ "approval.requested",	on_asking },
	{ "call.started",	on_started },
	{ "call.gap",		on_gap },
	{ "call.finished",	on_finished },
};

static int
on_event(void *arg, const struct sse_event *event)
{
	struct state *s = arg;
	const char *call;
	json_t *data;
	size_t i;
	int ok = 0;

	if (strcmp(event->name, "call.output") == 0)
		return (on_output(s, event));
	data = json_loadb(event->data, event->len, JSON_ALLOW_NUL, NULL);
	if (data == NULL)
		return (-1);
	call = json_string_value(json_object_get(data, "call"));
	if (s->f->call[0] == '\0' && call != NULL && id_ok(ID_CALL, call))
		snprintf(s->f->call, sizeof(s->f->call), "%s", call);
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (strcmp(event->name, events[i].name) == 0)
			ok = events[i].fn(s, data);
	}
	json_decref(data);
	return (ok);
}

/* The answer is a stream of events, or a refusal to be collected. */
static int
on_body(void *arg, const uint8_t *bytes, size_t len)
{
	struct state *s = arg;

	if (s->conn.r.status == 200 &&
	    strcmp(s->conn.r.type, "text/event-stream") == 0)
		return (sse_feed(&s->sse, bytes, len));
	return (api_collect(&s->body, bytes, len));
}

/* ---- cancelling ---- */

static int
discard(void *arg, const uint8_t *bytes, size_t len)
{
	(void)arg;
	(void)bytes;
	(void)len;
	return (0);
}

static time_t
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (ts.tv_sec);
}

/*
 * Closing the connection would not end the call: it is asked to end.  Before
 * its id is known that must wait.
 */
static void
cancel(struct state *s)
{
	char target[96];
	struct conn_request q = { .method = "POST", .target = target,
	    .accept = "*/*" };

	if (s->deadline == 0)
		s->deadline = now() + CANCEL_WAIT;
	if (s->cancelled || s->f->call[0] == '\0')
		return;
	s->cancelled = 1;
	snprintf(target, sizeof(target), "/v1/calls/%s/cancel", s->f->call);
	if (conn_open(&s->cancel, s->f->socket) == 0)
		conn_send(&s->cancel, &q, discard, NULL);
}

/* ---- the loop ---- */

static int
blocked(const struct state *s)
{
	return (s->f->out != NULL &&
	    (sink_pending(s->f->out) || sink_pending(s->f->err)));
}

static void
watch_sink(struct pollfd *pfd, const struct sink *sink)
{
	if (sink == NULL || !sink_pending(sink))
		return;
	pfd->fd = sink->fd;
	pfd->events = POLLOUT;
}

/* Returns 1 if there is something to do without waiting. */
static int
watch(struct state *s, struct pollfd pfd[P_COUNT])
{
	size_t i;

	for (i = 0; i < P_COUNT; i++) {
		pfd[i].fd = -1;
		pfd[i].events = pfd[i].revents = 0;
	}
	pfd[P_CONN].events = conn_events(&s->conn, !blocked(s));
	if (pfd[P_CONN].events != 0)
		pfd[P_CONN].fd = s->conn.fd;
	watch_sink(&pfd[P_OUT], s->f->out);
	watch_sink(&pfd[P_ERR], s->f->err);
	if (s->cancelled && s->cancel.state == CONN_BUSY) {
		pfd[P_CANCEL].fd = s->cancel.fd;
		pfd[P_CANCEL].events = conn_events(&s->cancel, 1);
	}
	if (s->f->term != NULL)
		term_poll(s->f->term, &pfd[P_TERM]);
	return (s->f->feed != NULL && feed_poll(s->f->feed, &pfd[P_STDIN]));
}

static void
flush_sink(struct state *s, struct sink *sink)
{
	if (sink != NULL && sink_pending(sink) && sink_flush(sink) == -1)
		output_failed(s, sink);
}

/* The escape was typed: that is a terminal that hangs up. */
static void
left(struct state *s)
{
	if (!s->f->term->escape.left || s->f->signal != 0)
		return;
	s->f->signal = SIGHUP;
	s->cancelling = 1;
}

static void
handle(struct state *s, const struct pollfd pfd[P_COUNT])
{
	if (pfd[P_OUT].revents != 0)
		flush_sink(s, s->f->out);
	if (pfd[P_ERR].revents != 0)
		flush_sink(s, s->f->err);
	if (pfd[P_CONN].revents != 0 && !blocked(s))
		conn_io(&s->conn, pfd[P_CONN].revents);
	if (pfd[P_CANCEL].revents != 0)
		conn_io(&s->cancel, pfd[P_CANCEL].revents);
	if (s->f->feed != NULL)
		feed_io(s->f->feed, &pfd[P_STDIN]);
	if (s->f->term != NULL) {
		term_io(s->f->term, &pfd[P_TERM]);
		left(s);
	}
}

static int
going(const struct state *s)
{
	return ((s->conn.state == CONN_BUSY && s->f->finished == NULL) ||
	    blocked(s));
}

static void
loop(struct state *s, const sigset_t *unblocked)
{
	const struct timespec none = { 0, 0 }, second = { 1, 0 };
	struct pollfd pfd[P_COUNT];
	int busy;

	while (going(s)) {
		if (times > 0) {
			if (s->f->signal == 0)
				s->f->signal = caught;
			s->cancelling = 1;
			if (s->f->finished != NULL)
				return;
		}
		if (s->cancelling)
			cancel(s);
		if (times > 1 || (s->deadline != 0 && now() >= s->deadline)) {
			s->f->why = "the call did not end in time";
			return;
		}
		busy = watch(s, pfd);
		if (ppoll(pfd, P_COUNT, busy ? &none : s->deadline != 0 ?
		    &second : NULL, unblocked) == -1) {
			if (errno != EINTR)
				err(EXIT_FAILED, "ppoll");
			continue;
		}
		handle(s, pfd);
	}
}

/* Signals arrive in ppoll(2) alone; *unblocked is the mask for it. */
static void
catch_signals(sigset_t *unblocked, int terminal)
{
	/* The last two where there is a terminal: it must not stay raw, and
	 * term.c has a handler for its size. */
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
	    SIGWINCH };
	const size_t n = terminal ? 5 : 3;
	struct sigaction act = { .sa_handler = on_signal }, old;
	sigset_t block;
	size_t i;

	sigemptyset(&block);
	for (i = 0; i < n; i++) {
		/* nohup(1) and background jobs of sh(1) ignore some. */
		if (sigaction(signals[i], NULL, &old) == 0 &&
		    old.sa_handler == SIG_IGN)
			continue;
		if (signals[i] != SIGWINCH)
			sigaction(signals[i], &act, NULL);
		sigaddset(&block, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &block, unblocked);
	for (i = 0; i < n; i++)
		sigdelset(unblocked, signals[i]);
}

/* What came of the request, once the loop has ended. */
static void
conclude(struct state *s)
{
	struct follow *f = s->f;

	if (f->finished != NULL)
		return;
	if (s->conn.state == CONN_DONE && s->body.len > 0)
		f->refused = json_loadb(s->body.p, s->body.len, 0, NULL);
	if (s->conn.state == CONN_DONE && (s->conn.r.status != 200 ||
	    f->refused != NULL)) {
		if ((f->response = malloc(sizeof(*f->response))) == NULL)
			err(EXIT_FAILED, NULL);
		*f->response = s->conn.r;
	} else if (f->why == NULL)
		f->why = s->conn.state == CONN_FAILED ? s->conn.why :
		    "the events ended without the call's end";
}

void
follow_call(struct follow *f, const char *target, const json_t *body)
{
	struct state s = { .f = f, .cancel = { .fd = -1 } };
	struct conn_request q = { .method = "POST", .target = target,
	    .accept = "text/event-stream", .type = "application/json" };
	sigset_t unblocked;
	char *text;

	if ((text = json_dumps(body, JSON_COMPACT)) == NULL)
		errx(EXIT_FAILED, "out of memory");
	q.body = text;
	q.len = strlen(text);
	f->why = NULL;
	if (conn_open(&s.conn, f->socket) == -1) {
		free(text);
		f->why = "";		/* was said already */
		return;
	}
	catch_signals(&unblocked, f->term != NULL);
	sse_init(&s.sse, on_event, &s);
	conn_send(&s.conn, &q, on_body, &s);
	free(text);
	loop(&s, &unblocked);
	conclude(&s);
	sse_free(&s.sse);
	free(s.body.p);
	conn_close(&s.conn);
	conn_close(&s.cancel);
}

void
follow_free(struct follow *f)
{
	json_decref(f->finished);
	json_decref(f->refused);
	free(f->response);
	f->finished = f->refused = NULL;
	f->response = NULL;
}
