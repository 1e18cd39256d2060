/*
 * Calls: the table, their events, their end.
 */
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "body.h"
#include "call_internal.h"
#include "clean.h"
#include "conn.h"
#include "feed.h"
#include "flat.h"
#include "json.h"
#include "log.h"
#include "mcp.h"
#include "output.h"
#include "policy.h"
#include "proc.h"
#include "result.h"
#include "stream.h"
#include "transcript.h"
#include "without.h"

#define BUCKETS		1024
#define DRAIN_MS	500	/* for the pipes, once the program is gone */
#define SENDING_MS	5	/* behind the answer, for the transcript */
#define WATCHING_MS	2	/* until the loop looks at a call's pipes */
#define OVERHEAD	4096	/* what a finished call costs beside output */

TAILQ_HEAD(calls, call);

static LIST_HEAD(, call) table[BUCKETS];
static struct calls	 live = TAILQ_HEAD_INITIALIZER(live);
static struct calls	 finished = TAILQ_HEAD_INITIALIZER(finished);
static struct calls	 unsent = TAILQ_HEAD_INITIALIZER(unsent);
static struct calls	 unwatched = TAILQ_HEAD_INITIALIZER(unwatched);
static struct limits	 limits;
static struct event	*expiry;
static struct event	*sending;
static struct event	*watching;
static uint64_t		 charged;	/* bytes, of all calls */

int64_t
call_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

const char *
call_state_name(const struct call *call)
{
	if (call->state == CALL_FINISHED)
		return (call->final);
	return (call->state >= CALL_RUNNING ? "running" :
	    call->state == CALL_AWAITING ? "awaiting_approval" : "queued");
}

/* ---- the table ---- */

/* Ids are random already; their letters are 5 bits each. */
static unsigned
bucket(const char *id)
{
	unsigned h = 5381;

	for (; *id != '\0'; id++)
		h = h * 33 + (unsigned char)*id;
	return (h % BUCKETS);
}

struct call *
call_find(const char *id)
{
	struct call *call;

	LIST_FOREACH(call, &table[bucket(id)], hashed)
		if (strcmp(call->id, id) == 0)
			return (call);
	return (NULL);
}

struct call *
call_of(const struct conn *c, const char *id)
{
	struct call *call = call_find(id);

	if (call == NULL)
		return (NULL);
	/* A policyd that was started again numbers principals anew. */
	if (WITHOUT(apid_owner))
		return (call);
	if (call->generation == policy_generation() ?
	    call->principal != c->principal : strcmp(call->who, c->who) != 0)
		return (NULL);
	return (call);
}

static void
watch_no_more(struct call *call)
{
	if (call->is_unwatched)
		TAILQ_REMOVE(&unwatched, call, unwatched);
	call->is_unwatched = 0;
}

void
call_free(struct call *call)
{
	int i;

	watch_no_more(call);
	for (i = 0; i < STREAMS; i++)
		output_free(&call->out[i]);
	feed_free(call->feed);
	body_free(call->body);
	kept_free(&call->kept);
	ring_free(&call->ring);
	if (call->drain != NULL)
		event_free(call->drain);
	if (call->ended != NULL)
		json_decref(call->ended);
	if (call->result != NULL)
		json_decref(call->result);
	mcp_held_free(call);
	free(call->plain);
	free(call->record);
	free(call->shown);
	free(call->denied);
	free(call->who);
	free(call);
}

/* Those whose client has its answer first. */
static void
send_transcript(struct call *call)
{
	TAILQ_REMOVE(&unsent, call, unsent);
	call->is_unsent = 0;
	transcript_send(call);
}

void
calls_send(void)
{
	struct call *call;

	while ((call = TAILQ_FIRST(&unsent)) != NULL)
		send_transcript(call);
}

static void
on_sending(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	calls_send();
}

static void
send_soon(struct call *call)
{
	struct timeval tv = { .tv_usec = SENDING_MS * 1000 };

	call->is_unsent = 1;
	TAILQ_INSERT_TAIL(&unsent, call, unsent);
	if (!evtimer_pending(sending, NULL))
		evtimer_add(sending, &tv);
}

/*
 * Most calls whose end is waited for are over before anybody could have read
 * of them: their pipes are then read once, at the end, and the loop never
 * hears of them.
 */
static void
watch_soon(struct call *call)
{
	struct timeval tv = { .tv_usec = WATCHING_MS * 1000 };

	call->is_unwatched = 1;
	TAILQ_INSERT_TAIL(&unwatched, call, unwatched);
	if (!evtimer_pending(watching, NULL))
		evtimer_add(watching, &tv);
}

static void
on_watching(evutil_socket_t fd, short what, void *arg)
{
	struct call *call;

	(void)fd;
	(void)what;
	(void)arg;
	while ((call = TAILQ_FIRST(&unwatched)) != NULL) {
		watch_no_more(call);
		output_watch(call);
	}
}

static void
forget(struct call *call)
{
	if (call->is_unsent)
		send_transcript(call);
	TAILQ_REMOVE(&finished, call, entry);
	LIST_REMOVE(call, hashed);
	session_leave(call);
	charged -= call->charge;
	call_free(call);
}

/* ---- what all calls keep ---- */

/* 1 if the oldest finished call that nobody reads was forgotten. */
static int
forget_oldest(const struct call *but)
{
	struct call *call;

	TAILQ_FOREACH(call, &finished, entry)
		if (call != but && TAILQ_EMPTY(&call->readers))
			break;
	if (call == NULL)
		return (0);
	forget(call);
	return (1);
}

/* Takes from the running call that keeps most.  1 if there was any. */
static int
shed_largest(uint64_t n)
{
	struct call *call, *largest = NULL;
	uint64_t most = 0, tails, shed;

	TAILQ_FOREACH(call, &live, entry) {
		tails = call->kept.stream[0].tail.bytes +
		    call->kept.stream[1].tail.bytes;
		if (tails > most) {
			most = tails;
			largest = call;
		}
	}
	if (largest == NULL)
		return (0);
	shed = kept_shed(&largest->kept, n);
	largest->charge -= shed;
	charged -= shed;
	return (1);
}

static int
make_room(uint64_t n, const struct call *but)
{
	uint64_t most = limits.v[LIMIT_OUTPUT_KEPT_ALL];

	while (charged + n > most)
		if (!forget_oldest(but) && !shed_largest(charged + n - most))
			return (0);
	return (1);
}

static void
recharge(struct call *call, uint64_t charge)
{
	charged = charged - call->charge + charge;
	call->charge = charge;
}

/* What a running call costs: its output, and the result that comes in. */
static uint64_t
cost(const struct call *call)
{
	return (kept_bytes(&call->kept) +
	    (call->body != NULL ? call->body->size : 0));
}

int
call_keep_result(struct call *call)
{
	uint64_t now = cost(call);

	if (now > call->charge && !make_room(now - call->charge, call))
		return (0);
	recharge(call, cost(call));
	return (1);
}

void
call_keep(struct call *call, int stream, struct chunk *c, uint32_t off,
    uint32_t len)
{
	if (make_room(len, call))
		kept_add(&call->kept, stream, c, off, len);
	else
		kept_skip(&call->kept, stream, len);
	recharge(call, cost(call));
}

static void
on_expiry(evutil_socket_t fd, short what, void *arg)
{
	int64_t kept = (int64_t)limits.v[LIMIT_RESULT_KEPT] * 1000;
	int64_t now = call_now();
	struct timeval tv = { .tv_sec = 1 };
	struct call *call, *next;

	(void)fd;
	(void)what;
	(void)arg;
	for (call = TAILQ_FIRST(&finished); call != NULL; call = next) {
		next = TAILQ_NEXT(call, entry);
		if (call->since + kept > now)
			break;
		if (TAILQ_EMPTY(&call->readers))
			forget(call);
	}
	if (!TAILQ_EMPTY(&finished))
		evtimer_add(expiry, &tv);
}

void
calls_config(const struct limits *l)
{
	limits = *l;
	if (expiry == NULL && (expiry = evtimer_new(proc_base(), on_expiry,
	    NULL)) == NULL)
		fatalx("memory");
	if (sending == NULL && (sending = evtimer_new(proc_base(), on_sending,
	    NULL)) == NULL)
		fatalx("memory");
	if (watching == NULL && (watching = evtimer_new(proc_base(),
	    on_watching, NULL)) == NULL)
		fatalx("memory");
}

/* ---- events ---- */

void
call_announce(struct call *call, struct event_row *row)
{
	row->number = session_number(call);
	if (ring_add(&call->ring, row) == NULL) {
		log_warnx_of(&(struct log_about){ .call = call->id },
		    "call %s: memory for an event", call->id);
		return;
	}
	stream_wake(call);
}

void
call_event(struct call *call, enum event_kind kind, char *json)
{
	struct event_row row;

	if (json == NULL)
		fatalx("call %s: memory for an event", call->id);
	memset(&row, 0, sizeof(row));
	row.kind = (uint8_t)kind;
	row.json = json;
	call_announce(call, &row);
}

void
call_judged(struct call *call, json_t *verdict)
{
	if (call->state >= CALL_ENDED)
		return;
	/* it has words of the call's own command */
	clean_values(verdict);
	json_object_set_new(verdict, "call", json_string(call->id));
	call_event(call, EVENT_JUDGED, json_text(verdict));
}

int
call_judged_plain(struct call *call, const char *json, size_t n)
{
	char *text;

	if (n < 3 || !flat_ok(json, n) || !clean_is(json, n))
		return (0);
	if (call->state >= CALL_ENDED)
		return (1);
	if (asprintf(&text, "%.*s,\"call\":\"%s\"}", (int)(n - 1), json,
	    call->id) == -1)
		text = NULL;
	call_event(call, EVENT_JUDGED, text);
	return (1);
}

void
call_asking(struct call *call, const char *approval, uint32_t ms,
    const char *json, size_t n)
{
	json_t *j;

	if (call->state != CALL_QUEUED)
		return;
	if (!json_is_object(j = json_loadb(json, n, 0, NULL))) {
		log_warnx_of(&(struct log_about){ .call = call->id },
		    "call %s: an approval that is not JSON", call->id);
		json_decref(j);
		return;
	}
	call->state = CALL_AWAITING;
	memcpy(call->approval, approval, sizeof(call->approval));
	call->asked_until = call_now() + ms;
	clean_values(j);
	call_event(call, EVENT_ASKING, json_text(j));
	json_decref(j);
	/* Who would have to come back for it never learns of it. */
	if (call->deserted && !WITHOUT(mcp_deserted))
		policy_stop(call->handle, STOP_READER_GONE, call->id);
	else if (call->mcp != NULL)
		mcp_call_asking(call);
}

void
call_resolved(struct call *call, unsigned outcome, const char *approval,
    const char *reason)
{
	json_t *j;

	if (call->state >= CALL_ENDED)
		return;
	if (call->state == CALL_AWAITING && outcome == APPROVAL_ALLOWED)
		call->state = CALL_QUEUED;
	j = json_object();
	json_object_set_new(j, "call", json_string(call->id));
	json_object_set_new(j, "approval", json_string(approval));
	json_object_set_new(j, "state",
	    json_string(approval_state_name(outcome)));
	json_object_set_new(j, "reason", reason[0] == '\0' ? json_null() :
	    json_string(reason));
	clean_values(j);
	call_event(call, EVENT_RESOLVED, json_text(j));
	json_decref(j);
}

void
call_started(struct call *call)
{
	json_t *j;

	if (call->state != CALL_QUEUED)
		return;
	call->state = CALL_RUNNING;
	output_started(call);
	j = json_object();
	json_object_set_new(j, "call", json_string(call->id));
	call_event(call, EVENT_STARTED, json_text(j));
	json_decref(j);
}

/* ---- the beginning ---- */

void
call_refused(struct call *call)
{
	call_free(call);
}

void
call_asked(struct call *call, const struct call_terms *t, struct conn *c)
{
	memcpy(call->id, t->id, sizeof(call->id));
	memcpy(call->session_id, t->session, sizeof(call->session_id));
	call->principal = t->principal;
	call->killed = t->killed;
	/* What goes to a sink as it comes is kept by whoever is behind it. */
	call->kept.limit = call->sink != NULL && call->sink->bytes != NULL ?
	    0 : t->kept;
	call->state = CALL_QUEUED;
	TAILQ_INSERT_TAIL(&live, call, entry);
	LIST_INSERT_HEAD(&table[bucket(call->id)], call, hashed);
	if (call->session_id[0] != '\0')
		call->session = session_join(call);
	if (call->patient)
		watch_soon(call);
	else
		output_watch(call);
	if (c == NULL) {
		/* The one that would have taken the output is gone. */
		if (call->wants_events || call->sink != NULL)
			call->consumer_state = CONSUMER_LEFT;
		/* Its handle is, too: so not as the principal's own wish. */
		if (call->with_asker)
			policy_stop(call->handle, STOP_READER_GONE, call->id);
		call->deserted = call->asks_with_asker;
		return;
	}
	if (call->sink != NULL)
		stream_sink(c, call, call->sink);
	else if (c->dress != NULL)
		c->dress->call(c, c->dress_arg, call);
	else if (call->wants_events)
		stream_call(c, call, 0);
	else
		result_wait(c, call, call->wait_ms);
}

/* ---- the end ---- */

static void
on_drained(evutil_socket_t fd, short what, void *arg)
{
	struct call *call = arg;
	int i;

	(void)fd;
	(void)what;
	for (i = 0; i < STREAMS; i++) {
		if (call->out[i].fd != -1)
			log_debug("call %s: a pipe is still open", call->id);
		output_finish(&call->out[i]);
	}
	call_finish(call);
}

void
call_ended(struct call *call, const char *json, size_t n)
{
	struct timeval tv = { .tv_usec = DRAIN_MS * 1000 };

	if (call->state >= CALL_ENDED)
		return;
	/* A body's result, of any words, is added to it. */
	call->is_clean = call->body == NULL && clean_is(json, n);
	if (call->is_clean && result_is_plain(json, n))
		call->plain = strndup(json, n);
	else
		call->ended = json_loadb(json, n, 0, NULL);
	if (call->plain == NULL && !json_is_object(call->ended)) {
		log_warnx_of(&(struct log_about){ .call = call->id },
		    "call %s: policyd's record is not JSON", call->id);
		json_decref(call->ended);
		call->ended = call_failure(call, "interrupted", "");
		call->is_clean = 0;
	}
	call->state = CALL_ENDED;
	feed_free(call->feed);
	call->feed = NULL;
	watch_no_more(call);
	output_ended(call);
	output_resume(call);
	call->drain = evtimer_new(proc_base(), on_drained, call);
	if (call->drain == NULL)
		fatalx("memory");
	/* Pipes at their end already: still from the loop. */
	if (call->out[0].fd == -1 && call->out[1].fd == -1)
		event_active(call->drain, EV_TIMEOUT, 0);
	else
		evtimer_add(call->drain, &tv);
}

void
call_output_end(struct call *call)
{
	if (call->state == CALL_ENDED && call->out[0].fd == -1 &&
	    call->out[1].fd == -1)
		call_finish(call);
}

void
call_finish(struct call *call)
{
	struct timeval tv = { .tv_sec = 1 };
	char reason[32];
	int over;

	event_free(call->drain);
	call->drain = NULL;
	result_seal(call, reason, sizeof(reason));
	over = strcmp(reason, "session_ended") == 0;
	call->state = CALL_FINISHED;
	call->since = call_now();
	TAILQ_REMOVE(&live, call, entry);
	TAILQ_INSERT_TAIL(&finished, call, entry);
	if (!evtimer_pending(expiry, NULL))
		evtimer_add(expiry, &tv);
	/* The record is there twice: the last event is the same. */
	recharge(call, kept_bytes(&call->kept) + call->ring.bytes + OVERHEAD +
	    2 * strlen(call->record));
	call_event(call, EVENT_FINISHED, strdup(call->record));
	result_wake(call);
	send_soon(call);
	if (call->mcp != NULL)
		mcp_call_finished(call);
	if (over && call->session != NULL)
		session_ended(call->session_id, "ended");
	(void)make_room(0, call);
}

void
call_transcribed(struct call *call, int kept)
{
	call->transcript = kept;
	/* policyd has them now */
	free(call->shown);
	call->shown = NULL;
}

void
calls_interrupt(void)
{
	struct call *call, *next;
	char *text;

	for (call = TAILQ_FIRST(&live); call != NULL; call = next) {
		next = TAILQ_NEXT(call, entry);
		if (call->state >= CALL_ENDED)
			continue;
		text = call_failure_text(call, "interrupted", "policyd went "
		    "away while the call was under way, and it was ended");
		call_ended(call, text, strlen(text));
		free(text);
	}
}
