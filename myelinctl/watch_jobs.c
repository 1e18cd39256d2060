/*
 * What "approvals watch" asks the service, while keys are still heard.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

#define JOB_PATIENCE	10000	/* ms */
#define EACH		1000	/* between lists, where nobody tells */
#define EACH_FOLLOWED	10000	/* where events do */
#define FOLLOW_AGAIN	5000	/* after events that ended */
#define FOLLOW_REFUSED	60000	/* after events that were refused */
#define PAGE		500

/* ---- events ---- */

static int
on_event(void *arg, const struct sse_event *event)
{
	struct watch *w = arg;

	if (strncmp(event->name, "approval.", 9) == 0 ||
	    strcmp(event->name, "events.gap") == 0)
		w->list_at = w->now;
	return (0);
}

static int
is_stream(const struct http_response *r)
{
	return (http_headed(r) && r->status == 200 &&
	    strcmp(r->type, "text/event-stream") == 0);
}

static int
on_events(void *arg, const uint8_t *bytes, size_t len)
{
	struct watch *w = arg;

	return (is_stream(&w->events.r) ? sse_feed(&w->sse, bytes, len) : 0);
}

static void
follow(struct watch *w)
{
	static const struct conn_request q = { .method = "GET",
	    .target = "/v1/events?event=approval.",
	    .accept = "text/event-stream" };

	if (w->following || w->now < w->follow_at)
		return;
	w->follow_at = w->now + FOLLOW_AGAIN;
	if (conn_try(&w->events, w->socket) != 0) {
		conn_close(&w->events);
		return;
	}
	w->following = 1;
	sse_init(&w->sse, on_event, w);
	conn_send(&w->events, &q, on_events, w);
}

static void
unfollow(struct watch *w)
{
	w->follow_at = w->now + (http_headed(&w->events.r) &&
	    !is_stream(&w->events.r) ? FOLLOW_REFUSED : FOLLOW_AGAIN);
	w->following = 0;
	sse_free(&w->sse);
	conn_close(&w->events);
	/* What it would have told may be missed. */
	w->list_at = w->now;
}

static int
is_told(const struct watch *w)
{
	return (w->following && is_stream(&w->events.r));
}

/* ---- starting a job ---- */

static void
begin(struct watch *w, enum watch_job job, const char *method,
    const char *target, json_t *body)
{
	struct conn_request q = { .method = method, .target = target,
	    .accept = "application/json" };
	char *text = NULL;

	if (body != NULL) {
		if ((text = json_dumps(body, JSON_COMPACT)) == NULL)
			err(EXIT_FAILED, NULL);
		q.type = "application/json";
		q.body = text;
		q.len = strlen(text);
	}
	w->job = job;
	w->job_deadline = w->now + JOB_PATIENCE;
	w->answer.len = 0;
	if ((errno = conn_try(&w->work, w->socket)) != 0) {
		w->work.state = CONN_FAILED;
		w->work.why = strerror(errno);
	} else
		conn_send(&w->work, &q, api_collect, &w->answer);
	free(text);
}

static void
begin_list(struct watch *w)
{
	char target[320];

	snprintf(target, sizeof(target), "/v1/approvals?state=pending&limit="
	    "%d%s", PAGE, w->cursor);
	w->list_at = w->now + (is_told(w) ? EACH_FOLLOWED : EACH);
	begin(w, JOB_LIST, "GET", target, NULL);
}

static void
begin_one(struct watch *w, enum watch_job job, const char *method,
    const char *id, json_t *body)
{
	char target[96];

	snprintf(target, sizeof(target), "/v1/approvals/%s", id);
	memmove(w->job_id, id, sizeof(w->job_id));
	begin(w, job, method, target, body);
}

static int
wants_whole(const struct item *item)
{
	if (item == NULL || item->failed)
		return (0);
	return (item->gone ? item->end == NULL : item->whole == NULL);
}

/* ---- answers ---- */

static const char *
refusal(const struct watch *w, const json_t *json)
{
	const char *words;

	if (w->work.state != CONN_DONE)
		return (w->work.why);
	words = approval_text(json_object_get(json, "error"), "message");
	if (*words == '\0')
		words = approval_text(json_object_get(json, "error"), "code");
	return (*words != '\0' ? words : "the service's answer can't be "
	    "understood");
}

static void
list_failed(struct watch *w, const char *why)
{
	/* Said once: the head shows that it goes on, and a key's outcome must
	 * stay in sight. */
	if (!w->unreachable) {
		if (!w->terminal)
			complain("the list can't be had: %s", why);
		watch_say(w, "the list can't be had: %s", why);
	}
	w->unreachable = 1;
	json_decref(w->rows);
	w->rows = NULL;
	w->cursor[0] = '\0';
}

static void
take_list(struct watch *w, const json_t *json, int ok)
{
	const json_t *page = json_object_get(json, "approvals");
	json_t *rows;

	if (!ok || !json_is_array(page)) {
		list_failed(w, refusal(w, json));
		return;
	}
	if (w->rows == NULL && (w->rows = json_array()) == NULL)
		err(EXIT_FAILED, NULL);
	json_array_extend(w->rows, (json_t *)(uintptr_t)page);
	if (json_array_size(page) > 0 &&
	    json_array_size(w->rows) < WATCH_ITEMS_MAX &&
	    api_cursor(w->cursor, sizeof(w->cursor),
	    json_object_get(json, "next"))) {
		w->list_at = w->now;
		return;
	}
	if (w->unreachable)
		watch_say(w, "the service answers again");
	w->unreachable = 0;
	w->cursor[0] = '\0';
	rows = w->rows;
	w->rows = NULL;
	watch_list(w, rows);
}

/* What is displayed stays as it is; only how it ended is added. */
static void
take_whole(struct watch *w, json_t *json, int ok)
{
	struct item *item = watch_find(w, w->job_id);

	if (item == NULL)
		return;
	if (!ok || strcmp(approval_text(json, "approval"), item->id) != 0) {
		item->failed = 1;
		watch_say(w, "%s: %s", item->id, refusal(w, json));
		return;
	}
	item->gone = !approval_pending(json);
	if (item->gone) {
		free(item->end);
		item->end = approval_outcome(json);
	}
	if (item->whole == NULL)
		item->whole = json_incref(json);
}

static void
take_decision(struct watch *w, const json_t *json, int ok)
{
	struct item *item = watch_find(w, w->job_id);
	char *words;

	json_decref(w->decision);
	w->decision = NULL;
	if (ok) {
		words = approval_outcome(json);
		watch_say(w, "%s: %s", w->job_id, words);
		free(words);
		watch_remove(w, w->job_id);
		if (w->mode == WATCH_LOOK)
			w->mode = WATCH_LIST;
	} else {
		watch_say(w, "%s: not done: %s", w->job_id,
		    refusal(w, json));
		if (item != NULL)
			item->failed = 0;
	}
	w->list_at = w->now;
}

static void
finish(struct watch *w)
{
	enum watch_job job = w->job;
	json_t *json = NULL;
	int ok;

	if (w->work.state == CONN_DONE && w->answer.len > 0)
		json = json_loadb(w->answer.p, w->answer.len, JSON_ALLOW_NUL |
		    JSON_REJECT_DUPLICATES, NULL);
	ok = json != NULL && w->work.r.status < 300;
	w->job = JOB_NONE;
	switch (job) {
	case JOB_LIST:
		take_list(w, json, ok);
		break;
	case JOB_WHOLE:
		take_whole(w, json, ok);
		break;
	case JOB_DECIDE:
		take_decision(w, json, ok);
		break;
	case JOB_NONE:
		break;
	}
	json_decref(json);
	conn_close(&w->work);
}

/* ---- the loop's side ---- */

void
watch_decide(struct watch *w, struct item *item, const char *decision,
    const char *reason)
{
	w->decision = approval_decision(decision, item->whole, reason);
	if (w->decision == NULL) {
		watch_say(w, "the reason is not UTF-8");
		return;
	}
	memcpy(w->decision_id, item->id, sizeof(w->decision_id));
	watch_say(w, "%s: one moment", item->id);
}

void
watch_jobs_run(struct watch *w)
{
	const struct item *item;

	if (w->job != JOB_NONE && w->now >= w->job_deadline &&
	    w->work.state == CONN_BUSY) {
		w->work.state = CONN_FAILED;
		w->work.why = "no answer in time";
	}
	if (w->job != JOB_NONE && w->work.state != CONN_BUSY)
		finish(w);
	follow(w);
	if (w->job != JOB_NONE)
		return;
	item = w->terminal ? watch_current(w) : NULL;
	if (w->decision != NULL)
		begin_one(w, JOB_DECIDE, "POST", w->decision_id, w->decision);
	else if (wants_whole(item))
		begin_one(w, JOB_WHOLE, "GET", item->id, NULL);
	else if (w->now >= w->list_at)
		begin_list(w);
}

static void
watch_fd(struct pollfd *pfd, const struct conn *conn, int there)
{
	pfd->fd = -1;
	pfd->events = pfd->revents = 0;
	if (there && conn->state == CONN_BUSY) {
		pfd->fd = conn->fd;
		pfd->events = conn_events(conn, 1);
	}
}

void
watch_jobs_poll(struct watch *w, struct pollfd *work, struct pollfd *events)
{
	watch_fd(work, &w->work, w->job != JOB_NONE);
	watch_fd(events, &w->events, w->following);
}

void
watch_jobs_io(struct watch *w, const struct pollfd *work,
    const struct pollfd *events)
{
	if (work->revents != 0)
		conn_io(&w->work, work->revents);
	if (events->revents != 0)
		conn_io(&w->events, events->revents);
	if (w->following && w->events.state != CONN_BUSY)
		unfollow(w);
}

void
watch_jobs_free(struct watch *w)
{
	if (w->job != JOB_NONE)
		conn_close(&w->work);
	if (w->following) {
		sse_free(&w->sse);
		conn_close(&w->events);
	}
	json_decref(w->rows);
	json_decref(w->decision);
	free(w->answer.p);
}
