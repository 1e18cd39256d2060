/* QUERY: sessions, calls. */

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "ids.h"
#include "query.h"
#include "session.h"
#include "transcript.h"
#include "without.h"

#define PAGE_BYTES	(4 * 1024 * 1024) /* then a page has enough */

/* A page that grows, and the serial where the next one begins. */
struct page {
	const struct query *q;
	json_t		*list;
	uint64_t	 last;
};

/* Newest first: a cursor is the serial that the next page stays under. */
static json_t *
page_json(const struct page *page, const char *name)
{
	json_t *next = json_null();

	if (json_array_size(page->list) >= page->q->most && page->last > 1)
		next = json_integer((json_int_t)page->last);
	return (json_pack("{s:o,s:o}", name, page->list, "next", next));
}

static uint64_t
before(const struct query *q)
{
	return (q->cursor != 0 ? q->cursor : UINT64_MAX);
}

static json_t *
missing(struct refusal *r, const char *what, const char *id)
{
	refuse(r, 404, "not_found", "there is no %s \"%s\" of yours", what,
	    id);
	return (NULL);
}

static json_t *
unreadable(struct refusal *r, json_t *list)
{
	json_decref(list);
	refuse_later(r, 503, "unavailable", 5, "the store can not be read");
	return (NULL);
}

/* ---- sessions ---- */

static int
session_add(void *arg, const struct session_row *row)
{
	const struct session *s = session_find(row->id);
	struct page *page = arg;

	json_array_append_new(page->list, s != NULL ? session_json(s) :
	    session_row_json(row, "ended"));
	page->last = row->serial;
	return (0);
}

static struct store_range
range_of(const struct query *q)
{
	struct store_range range = { .from = 0, .before = before(q),
	    .session = "", .most = q->most };

	range.any = q->api->plane == PLANE_OPERATOR;
	range.principal = (uint32_t)q->peer->ident->uid;
	return (range);
}

json_t *
query_sessions(const struct query *q, struct refusal *r)
{
	struct page page = { .q = q, .list = json_array() };
	struct store_range range = range_of(q);

	if (store_sessions(&range, session_add, &page) == -1)
		return (unreadable(r, page.list));
	return (page_json(&page, "sessions"));
}

/* A row that the asker may see, and nothing else of it. */
struct one {
	const struct query *q;
	json_t		*json;
	uint64_t	 first, last;
};

static int
session_one(void *arg, const struct session_row *row)
{
	const struct session *s = session_find(row->id);
	struct one *one = arg;

	if (!query_sees(one->q, row->principal))
		return (1);
	one->json = s != NULL ? session_json(s) :
	    session_row_json(row, "ended");
	one->first = row->first_call;
	one->last = s != NULL ? store_last_call() : row->last_call;
	return (1);
}

static int
session_look(const struct query *q, struct one *one, struct refusal *r)
{
	memset(one, 0, sizeof(*one));
	one->q = q;
	if (id_ok(ID_SESSION, q->id))
		(void)store_session(q->id, session_one, one);
	if (one->json != NULL)
		return (0);
	missing(r, "session", q->id);
	return (-1);
}

json_t *
query_session(const struct query *q, struct refusal *r)
{
	struct one one;

	return (session_look(q, &one, r) == -1 ? NULL : one.json);
}

/* ---- calls ---- */

static int
call_add(void *arg, const struct call_row *row)
{
	const struct call *c = call_find(row->id);
	struct page *page = arg;

	json_array_append_new(page->list, c != NULL ? call_live(c) :
	    call_row_json(row));
	page->last = row->serial;
	return (0);
}

/* All calls, or with an id those of a session. */
json_t *
query_calls(const struct query *q, struct refusal *r)
{
	struct page page = { .q = q };
	struct store_range range = range_of(q);
	struct one one;

	if (q->id[0] != '\0') {
		if (session_look(q, &one, r) == -1)
			return (NULL);
		json_decref(one.json);
		range.session = q->id;
		range.from = one.first;
		if (range.before > one.last)
			range.before = one.last + 1;
	}
	page.list = json_array();
	if (store_calls(&range, call_add, &page) == -1)
		return (unreadable(r, page.list));
	return (page_json(&page, "calls"));
}

/* A row that the asker may see. */
struct call_look {
	const struct query *q;
	struct call_row	 row;		/* serial 0: none */
};

static int
call_one(void *arg, const struct call_row *row)
{
	struct call_look *look = arg;

	if (query_sees(look->q, row->principal))
		look->row = *row;
	return (1);
}

/* What a call wrote is private: an operator needs the right to the audit. */
static int
sees_content(const struct query *q)
{
	return (q->api->plane == PLANE_AGENT ||
	    (q->rights & RIGHT_AUDIT) != 0 || WITHOUT(operator_rights));
}

/*
 * The two lines of a call's; 0 if there is no transcript.  The first says how
 * things stand now.
 */
static int
call_lines(const struct query *q, const struct call_row *row,
    const char *kept)
{
	return (transcript_read(row->serial, kept, !sees_content(q),
	    q->lines));
}

static json_t *
kept_json(const char *kept)
{
	json_t *json = json_loads(kept, 0, NULL);

	if (json == NULL)
		fatalx("a record can not be read");
	return (json);
}

/* A live call, a stored or kept result, or what the database still knows. */
json_t *
query_call(const struct query *q, struct refusal *r)
{
	struct call_look look = { .q = q };
	const struct call *c;
	uint32_t principal;
	const char *kept;

	if (!id_ok(ID_CALL, q->id))
		return (missing(r, "call", q->id));
	if ((c = call_find(q->id)) != NULL)
		return (query_sees(q, c->row.principal) ? call_live(c) :
		    missing(r, "call", q->id));
	(void)store_call(q->id, call_one, &look);
	kept = kept_find(q->id, &principal);
	if (kept != NULL && !query_sees(q, principal))
		kept = NULL;
	if (look.row.serial != 0 && call_lines(q, &look.row, kept))
		return (NULL);
	if (kept != NULL)
		return (kept_json(kept));
	return (look.row.serial != 0 ? call_row_json(&look.row) :
	    missing(r, "call", q->id));
}

/* ---- a session's transcript ---- */

struct session_lines {
	const struct query *q;
	struct enc	*body;
	uint64_t	 last;
	unsigned	 n;
	int		 full;
};

static void
put_line(struct enc *to, json_t *json)
{
	char *text;

	if (json == NULL || (text = json_dumps(json, JSON_COMPACT)) == NULL)
		fatalx("an answer can not be made");
	json_decref(json);
	enc_raw(to, text, strlen(text));
	enc_u8(to, '\n');
	free(text);
}

static int
session_line(void *arg, const struct call_row *row)
{
	const struct call *c = call_find(row->id);
	struct session_lines *s = arg;
	struct query one = *s->q;
	const char *kept;
	uint32_t principal;

	if (s->n > 0 && enc_size(s->body) > PAGE_BYTES) {
		s->full = 1;
		return (1);
	}
	one.lines = s->body;
	kept = c == NULL ? kept_find(row->id, &principal) : NULL;
	if (c != NULL || !call_lines(&one, row, kept)) {
		put_line(s->body, c != NULL ? call_live(c) :
		    kept != NULL ? kept_json(kept) : call_row_json(row));
		enc_u8(s->body, '\n');
	}
	s->last = row->serial;
	s->n++;
	return (0);
}

json_t *
query_transcript(const struct query *q, struct refusal *r)
{
	struct session_lines s = { .q = q };
	struct one one;

	if (session_look(q, &one, r) == -1)
		return (NULL);
	json_decref(one.json);
	if ((s.body = enc_new(REPLY_LINES_MAX - 1024)) == NULL)
		fatal("transcript");
	if (store_calls_after(q->id, q->cursor >= one.first ? q->cursor :
	    one.first - 1, one.last, q->most, session_line, &s) == -1 ||
	    enc_error(s.body) != 0) {
		enc_free(s.body);
		refuse_later(r, 503, "unavailable", 5,
		    "the store can not be read");
		return (NULL);
	}
	put_line(q->lines, json_pack("{s:s,s:o}", "session", q->id,
	    "next", s.n > 0 && (s.full || s.n >= q->most) ?
	    json_integer((json_int_t)s.last) : json_null()));
	enc_raw(q->lines, enc_data(s.body), enc_size(s.body));
	enc_free(s.body);
	return (NULL);
}
