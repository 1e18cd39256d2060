/* QUERY: neurons, sessions, calls. */

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "ids.h"
#include "query.h"
#include "session.h"

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

/* ---- neurons ---- */

static json_t *
neuron_json(const struct neuron *n)
{
	static const char *const states[] = {
		[NEURON_NEW] = "new",
		[NEURON_MAKING] = "making",
		[NEURON_UP] = "up",
		[NEURON_GOING] = "going",
	};

	return (json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:s,s:i,s:o}",
	    "neuron", n->id, "kind", "ephemeral",
	    "principal", json_sprintf("uid:%u", (unsigned)n->ident->uid),
	    "session", json_text_or_null(n->session != NULL ?
	    n->session->row.id : NULL),
	    "profile", json_text(n->build.profile),
	    "workspace", json_text_or_null(n->build.workspace),
	    "state", states[n->state], "calls", (int)n->calls,
	    "created", json_when(n->created)));
}

json_t *
query_neurons(const struct query *q, struct refusal *r)
{
	struct page page = { .q = q, .list = json_array() };
	const struct neuron *n;

	(void)r;
	TAILQ_FOREACH(n, neuron_all(), order) {
		if (n->serial >= before(q) ||
		    !query_sees(q, (uint32_t)n->ident->uid))
			continue;
		json_array_append_new(page.list, neuron_json(n));
		page.last = n->serial;
		if (json_array_size(page.list) >= q->most)
			break;
	}
	return (page_json(&page, "neurons"));
}

json_t *
query_neuron(const struct query *q, struct refusal *r)
{
	const struct neuron *n;

	n = id_ok(ID_NEURON, q->id) ? neuron_find(q->id) : NULL;
	if (n == NULL || !query_sees(q, (uint32_t)n->ident->uid))
		return (missing(r, "neuron", q->id));
	return (neuron_json(n));
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

static int
call_one(void *arg, const struct call_row *row)
{
	struct one *one = arg;

	if (query_sees(one->q, row->principal))
		one->json = call_row_json(row);
	return (1);
}

/* A live call, a kept result, or what the database still knows. */
json_t *
query_call(const struct query *q, struct refusal *r)
{
	struct one one = { .q = q };
	const struct call *c;
	uint32_t principal;
	const json_t *kept;

	if (!id_ok(ID_CALL, q->id))
		return (missing(r, "call", q->id));
	if ((c = call_find(q->id)) != NULL)
		return (query_sees(q, c->row.principal) ? call_live(c) :
		    missing(r, "call", q->id));
	if ((kept = kept_find(q->id, &principal)) != NULL &&
	    query_sees(q, principal))
		return (json_deep_copy(kept));
	(void)store_call(q->id, call_one, &one);
	return (one.json != NULL ? one.json : missing(r, "call", q->id));
}
