/*
 * A message on its way: held, sent, answered.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mcp.h"

#define IDLE_MS		45000	/* less than the service lets one lie */
#define AGAIN_MS	50	/* between attempts to connect */
#define NOTICE		"{\"jsonrpc\":\"2.0\",\"method\""

static const char	accepted[] = "application/json, text/event-stream";

int64_t
mcp_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

/* ---- connections ---- */

void
mcp_link_close(struct bridge *b, struct link *link)
{
	(void)b;
	conn_close(&link->conn);
	free(link);
}

/* An idle one that is still good, or a new one.  NULL and errno. */
static struct link *
link_get(struct bridge *b)
{
	struct link *link;
	struct pollfd pfd;
	int error;

	while ((link = TAILQ_FIRST(&b->idle)) != NULL) {
		TAILQ_REMOVE(&b->idle, link, entry);
		pfd.fd = link->conn.fd;
		pfd.events = POLLIN;
		if (mcp_now() - link->since < IDLE_MS &&
		    poll(&pfd, 1, 0) == 0)
			return (link);
		mcp_link_close(b, link);
	}
	if ((link = calloc(1, sizeof(*link))) == NULL)
		err(EXIT_FAILED, NULL);
	if ((error = conn_try(&link->conn, b->socket)) == 0)
		return (link);
	free(link);
	errno = error;
	return (NULL);
}

static void
link_put(struct bridge *b, struct link *link)
{
	if (conn_again(&link->conn) == -1) {
		mcp_link_close(b, link);
		return;
	}
	link->since = mcp_now();
	TAILQ_INSERT_HEAD(&b->idle, link, entry);
}

/* ---- posts ---- */

static struct post *
post_new(struct bridge *b, enum post_kind kind, char *body, size_t len)
{
	struct post *post;

	if ((post = calloc(1, sizeof(*post))) == NULL)
		err(EXIT_FAILED, NULL);
	post->bridge = b;
	post->kind = kind;
	post->body = body;
	post->len = len;
	post->method = "";
	post->begun = mcp_now();
	TAILQ_INSERT_TAIL(&b->posts, post, entry);
	b->nposts++;
	return (post);
}

void
mcp_post_free(struct bridge *b, struct post *post)
{
	if (post->state == POST_SENT)
		b->nsent--;
	if (post->link != NULL)
		mcp_link_close(b, post->link);
	if (post->initializes)
		b->initializing = 0;
	TAILQ_REMOVE(&b->posts, post, entry);
	b->nposts--;
	sse_free(&post->sse);
	json_decref(post->root);
	free(post->got.p);
	free(post->body);
	free(post);
}

/*
 * A cancel of what is under way.  In the modern era it is our closing the
 * request; in the other the service is told, and the answer that still comes
 * is not wanted.  1 if nothing is left to be sent.
 */
static int
cancel(struct bridge *b, const struct post *notice)
{
	const json_t *id = json_object_get(json_object_get(notice->root,
	    "params"), "requestId");
	struct post *post;

	TAILQ_FOREACH(post, &b->posts, entry)
		if (post->kind == POST_MESSAGE && post->id != NULL &&
		    json_equal(post->id, id))
			break;
	if (post == NULL)
		return (1);
	if (post->version != NULL || post->state != POST_SENT) {
		mcp_post_free(b, post);
		return (1);
	}
	post->dropped = 1;
	return (0);
}

void
mcp_line(struct bridge *b, char *line, size_t len)
{
	struct post *post = post_new(b, POST_MESSAGE, line, len);

	mcp_parse(post);
	if (post->initializes)
		b->initializing = 1;
	if (strcmp(post->method, "notifications/cancelled") == 0 &&
	    cancel(b, post))
		mcp_post_free(b, post);
}

/* ---- sending ---- */

static int	on_body(void *, const uint8_t *, size_t);
static int	on_event(void *, const struct sse_event *);

/* Opens the session that calls need. */
static void
open_session(struct bridge *b)
{
	json_t *body = json_object();
	char *text;

	b->session = SESSION_OPENING;
	if (api_put_place(b->options, body) == -1 ||
	    (text = json_dumps(body, JSON_COMPACT)) == NULL)
		errx(EXIT_FAILED, "no session can be asked for");
	json_decref(body);
	(void)post_new(b, POST_OPEN, text, strlen(text));
}

static int
must_wait(struct bridge *b, const struct post *post)
{
	if (post->kind == POST_OPEN)
		return (0);
	/* Later messages of that era carry what its answer says. */
	if (b->initializing && post->version == NULL && !post->initializes)
		return (1);
	if (!post->calls)
		return (0);
	if (b->session == SESSION_NONE)
		open_session(b);
	return (b->session != SESSION_OPEN);
}

static void
post_send(struct bridge *b, struct post *post)
{
	struct conn_request q = { .method = "POST", .target = "/mcp",
	    .accept = accepted, .type = "application/json" };

	if (post->kind == POST_OPEN)
		q.target = "/v1/sessions";
	else
		q.headers = mcp_headers(b, post);
	q.body = post->body;
	q.len = post->len;
	post->state = POST_SENT;
	b->nsent++;
	sse_init(&post->sse, on_event, post);
	conn_send(&post->link->conn, &q, on_body, post);
}

/* The service can't be reached. */
static void
unreachable(struct bridge *b, struct post *post, int error)
{
	struct post *other, *next;

	if (post->kind == POST_MESSAGE) {
		mcp_put_failure(b, post, "Myelin is not reachable: %s: %s; "
		    "is the service running (systemctl status myelin)?",
		    b->socket, strerror(error));
		mcp_post_free(b, post);
		return;
	}
	b->session = SESSION_NONE;
	for (other = TAILQ_FIRST(&b->posts); other != NULL; other = next) {
		next = TAILQ_NEXT(other, entry);
		if (other != post && other->calls &&
		    other->state != POST_SENT)
			unreachable(b, other, error);
	}
	mcp_post_free(b, post);
}

int
mcp_start(struct bridge *b)
{
	struct post *post, *next;
	int wait = -1;

	/* What must_wait adds comes behind, and has its turn here too. */
	for (post = TAILQ_FIRST(&b->posts); post != NULL; post = next) {
		if (post->state != POST_SENT && post->not_before > mcp_now()) {
			wait = AGAIN_MS;
			next = TAILQ_NEXT(post, entry);
			continue;
		}
		if (post->state == POST_SENT || b->nsent >= MCP_POSTS_MAX ||
		    must_wait(b, post)) {
			next = TAILQ_NEXT(post, entry);
			continue;
		}
		post->link = link_get(b);
		next = TAILQ_NEXT(post, entry);
		if (post->link != NULL)
			post_send(b, post);
		else if (mcp_now() - post->begun < MCP_RETRY_MS)
			wait = AGAIN_MS;
		else {
			unreachable(b, post, errno);
			/* It may have taken others with it. */
			next = TAILQ_FIRST(&b->posts);
		}
	}
	return (wait);
}

/* ---- answers ---- */

static int
on_event(void *arg, const struct sse_event *event)
{
	struct post *post = arg;

	if (post->dropped)
		return (0);
	mcp_put(post->bridge, event->data, event->len);
	/* What has a method is a notification; the answer is the last. */
	if (event->len < strlen(NOTICE) ||
	    memcmp(event->data, NOTICE, strlen(NOTICE)) != 0)
		post->answered = 1;
	return (0);
}

static int
on_body(void *arg, const uint8_t *bytes, size_t len)
{
	struct post *post = arg;

	if (strcmp(post->link->conn.r.type, "text/event-stream") == 0)
		return (sse_feed(&post->sse, bytes, len));
	return (api_collect(&post->got, bytes, len));
}

/* Our session is there, or is refused to all that wait for it. */
static void
session_done(struct bridge *b, struct post *post)
{
	json_t *json = json_loadb(post->got.p != NULL ? post->got.p : "",
	    post->got.len, 0, NULL);
	const char *id = json_string_value(json_object_get(json, "session"));
	const json_t *error = json_object_get(json, "error");
	const char *code = json_string_value(json_object_get(error, "code"));
	const char *why = json_string_value(json_object_get(error,
	    "message"));
	struct post *other, *next;

	if (post->link->conn.r.status < 300 && id != NULL &&
	    id_ok(ID_SESSION, id)) {
		memcpy(b->id, id, sizeof(b->id));
		b->session = SESSION_OPEN;
		b->lost = 0;
		json_decref(json);
		return;
	}
	b->session = SESSION_NONE;
	for (other = TAILQ_FIRST(&b->posts); other != NULL; other = next) {
		next = TAILQ_NEXT(other, entry);
		if (!other->calls || other->state == POST_SENT)
			continue;
		mcp_put_failure(b, other, "no session could be opened: %s%s"
		    "%s", why != NULL ? why : "the service said nothing that "
		    "can be understood", code != NULL ? "; " : "",
		    code != NULL ? code : "");
		mcp_post_free(b, other);
	}
	json_decref(json);
}

static void
ready_again(struct bridge *b, struct post *post)
{
	post->state = POST_READY;
	post->got.len = 0;
	b->nsent--;
}

/* A part of the service is being started: nothing of it was done. */
static int
too_soon(struct bridge *b, struct post *post)
{
	if (post->link->conn.r.status != 503 || mcp_is_answer(post) ||
	    mcp_now() - post->begun >= MCP_RETRY_MS)
		return (0);
	ready_again(b, post);
	post->not_before = mcp_now() + AGAIN_MS;
	return (1);
}

/*
 * The session that the call was for is over, and the call did not run.  After
 * a restart of the service that is nobody's doing, and the call goes to a new
 * one; else the model is told.
 */
static int
session_over(struct bridge *b, struct post *post)
{
	if (!post->link->conn.r.over)
		return (0);
	if (b->session == SESSION_OPEN)
		b->session = SESSION_NONE;
	if (b->lost && !post->again) {
		complain("session %s went with a restart of the service; "
		    "the next one begins", b->id);
		post->again = 1;
		post->begun = mcp_now();
		ready_again(b, post);
		return (1);
	}
	mcp_put_failure(b, post, "The session %s is over: it was ended, or "
	    "its time was up. This call did not run. The next one runs in a "
	    "new session: what was in /home/agent is gone, a workspace is as "
	    "it was.", b->id);
	return (0);
}

static void
post_done(struct bridge *b, struct post *post)
{
	struct link *link = post->link;

	if (too_soon(b, post) ||
	    (post->kind == POST_MESSAGE && session_over(b, post))) {
		post->link = NULL;
		link_put(b, link);
		return;
	}
	if (post->kind == POST_OPEN) {
		session_done(b, post);
	} else if (!post->answered && !post->dropped) {
		mcp_put_answer(b, post);
	}
	post->link = NULL;
	link_put(b, link);
	mcp_post_free(b, post);
}

/* It may have run or not: nobody knows any more. */
static void
post_lost(struct bridge *b, struct post *post)
{
	const char *why = post->link->conn.why;
	struct link *link;

	b->lost = 1;
	/* Those that lie idle lead to the same process, as good as gone. */
	while ((link = TAILQ_FIRST(&b->idle)) != NULL) {
		TAILQ_REMOVE(&b->idle, link, entry);
		mcp_link_close(b, link);
	}
	if (post->kind == POST_OPEN) {
		mcp_link_close(b, post->link);
		post->link = NULL;
		post->begun = mcp_now();
		ready_again(b, post);
		return;
	}
	if (!post->answered)
		mcp_put_failure(b, post, "The connection to Myelin was lost "
		    "while this was under way (%s): the service was "
		    "restarted or stopped. It may have run in part; look "
		    "before it is repeated.", why);
	mcp_post_free(b, post);
}

void
mcp_post_io(struct bridge *b, struct post *post, short revents)
{
	conn_io(&post->link->conn, revents);
	if (post->link->conn.state == CONN_DONE)
		post_done(b, post);
	else if (post->link->conn.state == CONN_FAILED)
		post_lost(b, post);
}
