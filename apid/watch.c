/*
 * GET /v1/events: the audit log as server-sent events.
 *
 * Nothing waits here for a reader that is slow: each reads the log itself, a
 * page at a time, behind the last record that it was sent, and policyd says
 * when there is more.  So it can leave and come back, also after a restart of
 * whichever process, and is told of every record, or that records are missing.
 * A record is an event once it is on the disk: its number is never another's.
 */
#include <sys/queue.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"
#include "log.h"
#include "policy.h"
#include "routes.h"
#include "stream.h"
#include "watch.h"
#include "without.h"

#define PAGE		200	/* records; policyd bounds their bytes */
#define PATIENCE	8	/* ticks that a reader may lie still: 2 min */
#define WATCHERS_MAX	32
#define FIELDS_MAX	256
#define FILTER_MAX	256
#define NAME_MAX_BYTES	64	/* of an event */
#define LATEST		(UINT64_MAX - 1)	/* behind any record */

struct watcher {
	TAILQ_ENTRY(watcher) entry;
	struct conn	*conn;		/* NULL: gone, its answer is not */
	uint64_t	 last;		/* the record it was sent, or passed */
	uint64_t	 synced;	/* when its page was read */
	uint64_t	 news;
	json_t		*page;		/* an answer of QUERY_AUDIT, or NULL */
	size_t		 at;
	int		 more;		/* behind this page */
	int		 pulling;
	char		 filter[FILTER_MAX];	/* "approval.,key.", "": all */
};

static TAILQ_HEAD(, watcher) watchers = TAILQ_HEAD_INITIALIZER(watchers);
static unsigned		 count;

static void	watcher_pump(struct watcher *);
static void	watcher_writable(struct conn *, void *);
static void	watcher_tick(struct conn *, void *);
static void	watcher_gone(struct conn *, void *);

static const struct conn_ops watcher_ops = {
	.writable = watcher_writable,
	.tick = watcher_tick,
	.gone = watcher_gone,
	.patience = PATIENCE
};

/* ---- lines ---- */

static uint64_t
line_sequence(const char *line)
{
	static const char front[] = "{\"seq\":";
	uint64_t n = 0;

	if (strncmp(line, front, sizeof(front) - 1) != 0 ||
	    sscanf(line + sizeof(front) - 1, "%20" SCNu64, &n) != 1)
		return (0);
	return (n);
}

/* The name of a record's event; "unknown" where a line has none. */
static void
line_event(const char *line, char name[NAME_MAX_BYTES])
{
	static const char key[] = "\",\"event\":\"";
	const char *p = strstr(line, key);
	size_t n;

	if (p != NULL) {
		p += sizeof(key) - 1;
		n = strspn(p, "abcdefghijklmnopqrstuvwxyz_.");
		if (n > 0 && n < NAME_MAX_BYTES && p[n] == '"') {
			memcpy(name, p, n);
			name[n] = '\0';
			return;
		}
	}
	memcpy(name, "unknown", sizeof("unknown"));
}

static int
filter_passes(const char *filter, const char *name)
{
	size_t n;

	if (*filter == '\0')
		return (1);
	for (; *filter != '\0'; filter += n + (filter[n] == ',')) {
		n = strcspn(filter, ",");
		if (n > 0 && strncmp(filter, name, n) == 0)
			return (1);
	}
	return (0);
}

/* Records from `from` on, up to, not including, `to` are not there. */
static void
put_gap(struct watcher *w, uint64_t to)
{
	char fields[FIELDS_MAX];
	size_t n;

	n = (size_t)snprintf(fields, sizeof(fields), "id: %" PRIu64
	    "\nevent: events.gap\ndata: {\"from\":%" PRIu64 ",\"to\":%" PRIu64
	    "}", to - 1, w->last + 1, to - 1);
	stream_put(w->conn, fields, n, NULL);
}

/* One who changed the file must not be able to write events by it. */
static void
put_line(struct watcher *w, const char *line, uint64_t sequence)
{
	char fields[FIELDS_MAX], name[NAME_MAX_BYTES], *copy, *p;
	size_t n;

	if (sequence > w->last + 1)
		put_gap(w, sequence);
	line_event(line, name);
	if (!filter_passes(w->filter, name))
		return;
	if ((copy = strdup(line)) == NULL)
		fatal("event");
	for (p = copy; *p != '\0'; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	n = (size_t)snprintf(fields, sizeof(fields), "id: %" PRIu64
	    "\nevent: %s\ndata: ", sequence, name);
	stream_put(w->conn, fields, n, copy);
	free(copy);
}

/* ---- a watcher ---- */

static void
watcher_free(struct watcher *w)
{
	TAILQ_REMOVE(&watchers, w, entry);
	count--;
	json_decref(w->page);
	free(w);
}

/* Its stream ends; who is waited for goes with the answer. */
static void
watcher_end(struct watcher *w)
{
	struct conn *c = w->conn;

	w->conn = NULL;
	if (!w->pulling)
		watcher_free(w);
	if (c != NULL)
		conn_end(c);
}

static int
take_page(struct watcher *w, const char *json, size_t n)
{
	const json_t *synced, *next;
	json_t *page;

	page = json_loadb(json, n, 0, NULL);
	synced = json_object_get(json_object_get(page, "head"), "synced");
	next = json_object_get(page, "next");
	if (!json_is_array(json_object_get(page, "lines")) ||
	    !json_is_integer(synced)) {
		log_warnx("policyd's page of the audit log is none");
		json_decref(page);
		return (-1);
	}
	json_decref(w->page);
	w->page = page;
	w->at = 0;
	w->more = json_is_integer(next);
	w->synced = (uint64_t)json_integer_value(synced);
	return (0);
}

static void
pulled(void *arg, unsigned status, const char *json, size_t n)
{
	struct watcher *w = arg;

	w->pulling = 0;
	if (w->conn == NULL)
		watcher_free(w);
	else if (status != 200 || take_page(w, json, n) == -1)
		/* What it may and where it was is asked when it is back. */
		watcher_end(w);
	else
		watcher_pump(w);
}

/* The next record of the page, or 0 where it has no more to tell. */
static int
next_line(struct watcher *w)
{
	const json_t *lines = json_object_get(w->page, "lines");
	const char *line;
	uint64_t sequence;

	if (w->page == NULL)
		return (0);
	line = json_string_value(json_array_get(lines, w->at));
	if (line != NULL &&
	    (sequence = line_sequence(line)) > w->last) {
		/* Not on the disk yet: policyd will say when it is. */
		if (sequence > w->synced) {
			w->more = 0;
			line = NULL;
		} else {
			put_line(w, line, sequence);
			w->last = sequence;
		}
	}
	w->at++;
	if (line != NULL && w->at < json_array_size(lines))
		return (1);
	json_decref(w->page);
	w->page = NULL;
	return (line != NULL);
}

static void
watcher_pump(struct watcher *w)
{
	while (conn_room(w->conn)) {
		if (next_line(w))
			continue;
		if (w->pulling || (!w->more && w->news <= w->last))
			break;
		w->pulling = 1;
		w->more = 0;
		if (policy_audit(w->conn->handle, w->last, PAGE, pulled,
		    w) == -1) {
			w->pulling = 0;
			watcher_end(w);
		}
		break;
	}
}

static void
watcher_writable(struct conn *c, void *arg)
{
	(void)c;
	watcher_pump(arg);
}

static void
watcher_tick(struct conn *c, void *arg)
{
	const struct watcher *w = arg;
	char fields[FIELDS_MAX];
	size_t n;

	/* One that reads nothing is not given more. */
	if (evbuffer_get_length(conn_output(c)) > 0)
		return;
	/* The id spares one with a filter to look at all again. */
	n = (size_t)snprintf(fields, sizeof(fields), "id: %" PRIu64
	    "\nevent: ping\ndata: {\"seq\":%" PRIu64 "}", w->last, w->last);
	stream_put(c, fields, n, NULL);
}

static void
watcher_gone(struct conn *c, void *arg)
{
	struct watcher *w = arg;

	(void)c;
	w->conn = NULL;
	if (!w->pulling)
		watcher_free(w);
}

void
watch_news(uint64_t sequence)
{
	struct watcher *w, *next;

	for (w = TAILQ_FIRST(&watchers); w != NULL; w = next) {
		next = TAILQ_NEXT(w, entry);
		w->news = sequence;
		if (w->conn != NULL)
			watcher_pump(w);
	}
}

void
watch_over(void)
{
	struct watcher *w, *next;

	for (w = TAILQ_FIRST(&watchers); w != NULL; w = next) {
		next = TAILQ_NEXT(w, entry);
		if (w->conn != NULL)
			watcher_end(w);
	}
}

/* ---- the request ---- */

/* Where it begins, and what of it; 0, or -1 after answering. */
static int
wanted(struct conn *c, uint64_t *after, char filter[FILTER_MAX])
{
	*after = LATEST;
	filter[0] = '\0';
	if (http_query_number(&c->head, "after", after) == -1) {
		conn_error(c, API_BAD_REQUEST, "after: not a number");
		return (-1);
	}
	/* A reader that comes back asks with the address it began with. */
	if (c->head.has_last_id)
		*after = c->head.last_id;
	if (*after > LATEST)
		*after = LATEST;
	if (http_query_text(&c->head, "event", filter, FILTER_MAX) == -1 ||
	    strspn(filter, "abcdefghijklmnopqrstuvwxyz_.,") <
	    strlen(filter)) {
		conn_error(c, API_BAD_REQUEST, "event: not the beginning of "
		    "an event's name, or several with commas between");
		return (-1);
	}
	return (0);
}

static void
begin(struct conn *c, int status, const char *json, size_t n, void *arg)
{
	struct watcher *w;
	uint64_t after;

	(void)status;
	(void)arg;
	if ((w = calloc(1, sizeof(*w))) == NULL)
		fatal("events");
	if (wanted(c, &after, w->filter) == -1)
		goto refused;
	if (take_page(w, json, n) == -1) {
		conn_error(c, API_INTERNAL, "policyd's page of the audit log");
		goto refused;
	}
	if (after != LATEST && after > w->synced) {
		conn_error(c, API_BAD_REQUEST, "Last-Event-ID: the audit log "
		    "has only come to record %" PRIu64, w->synced);
		goto refused;
	}
	w->conn = c;
	w->last = after == LATEST ? w->synced :
	    WITHOUT(event_resume) ? 0 : after;
	TAILQ_INSERT_TAIL(&watchers, w, entry);
	count++;
	conn_hold(c, &watcher_ops, w);
	conn_begin(c, 200, "text/event-stream", -1);
	watcher_pump(w);
	return;
refused:
	json_decref(w->page);
	free(w);
}

void
route_events(struct conn *c)
{
	char filter[FILTER_MAX];
	uint64_t after;

	if (wanted(c, &after, filter) == -1)
		return;
	if (count >= WATCHERS_MAX) {
		conn_error_retry(c, API_TOO_MANY, 5, "%d follow the audit log "
		    "already, which is the most", WATCHERS_MAX);
		return;
	}
	/* The first page says whether it may, before an answer is begun. */
	policy_query(c, QUERY_AUDIT, after, PAGE, "", begin, NULL);
}
