/*
 * Where in the audit log something begins.
 *
 * What the service still knows says when: that is looked for by halves.  All
 * else is looked for from the newest record back, so that a log of gigabytes
 * takes no longer than the way to what is asked for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "log.h"

#define BACK_MOST	200000	/* records, unless --since says how far */

/* ---- reading ---- */

int
log_may_belong(const struct found *f, const json_t *line)
{
	const char *text = json_string_value(line);
	size_t i;

	for (i = 0; text != NULL && i < f->n; i++)
		if (strstr(text, f->ids[i]) != NULL)
			return (1);
	return (0);
}

int
log_read(const struct options *o, uint64_t after, uint64_t upto,
    log_line_fn *fn, void *arg)
{
	struct page page = { .more = 1 };
	uint64_t sequence;
	const json_t *one;
	size_t i;

	while (page.more) {
		if (audit_page(o, after, AUDIT_PAGE, &page) == -1)
			return (-1);
		json_array_foreach(page.lines, i, one) {
			sequence = audit_line_sequence(one);
			if (sequence > upto || fn(arg, one, sequence)) {
				page.more = 0;
				break;
			}
		}
		if (page.next <= after || page.next >= upto)
			page.more = 0;
		after = page.next;
		json_decref(page.json);
	}
	return (0);
}

/* The first record behind after; 0 where there is none. */
static int
first_behind(const struct options *o, uint64_t after, uint64_t *sequence,
    char when[AUDIT_TIME], uint64_t *head)
{
	const json_t *one;
	struct page page;

	if (audit_page(o, after, 1, &page) == -1)
		return (-1);
	one = json_array_get(page.lines, 0);
	*sequence = one == NULL ? 0 : audit_line_sequence(one);
	when[0] = '\0';
	if (json_is_string(one))
		audit_line_time(json_string_value(one), when);
	if (head != NULL)
		*head = page.head;
	json_decref(page.json);
	return (0);
}

/* *after: just before the first record from a limit on. */
static int
by_halves(const struct options *o, const struct audit_limit *limit,
    uint64_t floor, uint64_t head, uint64_t *after)
{
	uint64_t low = floor, high = head, mid, sequence;
	char when[AUDIT_TIME];

	if (limit->sequence != 0) {
		*after = limit->sequence - 1;
		return (0);
	}
	while (low < high) {
		mid = low + (high - low) / 2;
		if (first_behind(o, mid, &sequence, when, NULL) == -1)
			return (-1);
		if (sequence != 0 && audit_limit_compare(limit, sequence,
		    when) < 0)
			low = sequence > mid ? sequence : mid + 1;
		else
			high = mid;
	}
	*after = low;
	return (0);
}

/* ---- where it begins ---- */

/* What a look at some records saw of it. */
struct seen {
	struct found	*f;
	int		 begins;	/* its first record */
	int		 any;		/* some record of it */
	int		 made;		/* its neuron's, or a session's in it */
	int		 opened;
};

static const char *
text_of(const json_t *record, const char *member)
{
	return (json_string_value(json_object_get(record, member)));
}

/*
 * A neuron begins where it is created; one that is not kept, with the call
 * that it is made for, or before the session that it is.
 */
static void
look_neuron(struct seen *seen, const json_t *record, const char *event)
{
	if (!log_has(seen->f, text_of(record, "neuron")))
		return;
	if (strcmp(event, "neuron.created") == 0 ||
	    (strcmp(event, "call.asked") == 0 &&
	    text_of(record, "session") == NULL))
		seen->begins = 1;
	if (strcmp(event, "session.opened") == 0)
		seen->opened = 1;
	if (strcmp(event, "neuron.made") == 0)
		seen->made = strcmp(text_of(record, "kind") == NULL ? "" :
		    text_of(record, "kind"), "ephemeral") == 0;
}

static void
look_record(struct seen *seen, const json_t *record)
{
	const char *event = text_of(record, "event");
	struct found *f = seen->f;

	if (event == NULL)
		return;
	seen->any = 1;
	switch (f->root) {
	case 'r':
		seen->begins |= log_has(f, text_of(record, "request_id"));
		break;
	case ID_CALL:
		if (log_has(f, text_of(record, "approval")))
			log_add(f, ID_CALL, text_of(record, "call"));
		seen->begins |= strcmp(event, "call.asked") == 0 &&
		    log_has(f, text_of(record, "call"));
		break;
	case ID_SESSION:
		seen->begins |= strcmp(event, "session.opened") == 0 &&
		    log_has(f, text_of(record, "session"));
		break;
	case ID_NEURON:
		look_neuron(seen, record, event);
		break;
	default:
		seen->begins |= strcmp(event, "key.added") == 0 &&
		    log_has(f, text_of(record, "key"));
		break;
	}
}

static int
look(void *arg, const json_t *text, uint64_t sequence)
{
	struct seen *seen = arg;
	json_t *record;

	(void)sequence;
	if (!log_may_belong(seen->f, text))
		return (0);
	record = json_loadb(json_string_value(text), json_string_length(text),
	    JSON_ALLOW_NUL, NULL);
	if (json_is_object(record))
		look_record(seen, record);
	json_decref(record);
	return (0);
}

/* 1 if it begins behind after, up to upto. */
static int
begins_in(const struct options *o, struct seen *seen, uint64_t after,
    uint64_t upto)
{
	seen->any = 0;
	if (log_read(o, after, upto, look, seen) == -1)
		return (-1);
	return (seen->begins || (seen->made && seen->opened));
}

static uint64_t
less(uint64_t a, uint64_t b, uint64_t least)
{
	return (a < least + b ? least : a - b);
}

/* The window before is taken with it: what one request did is in a few. */
static int
search_back(const struct options *o, struct found *f, uint64_t floor,
    uint64_t head, uint64_t *after)
{
	struct seen seen = { .f = f };
	uint64_t high = head, low;
	int r;

	do {
		low = less(high, AUDIT_PAGE, floor);
		if ((r = begins_in(o, &seen, low, high)) == -1)
			return (-1);
		if (r == 1) {
			*after = less(low, AUDIT_PAGE, floor);
			return (1);
		}
		high = low;
	} while (high > floor);
	*after = floor;
	return (0);
}

/* The first of the ids that is of its own type; NULL if there is none. */
static const char *
root_id(const struct found *f)
{
	size_t i;

	for (i = 0; f->root != 'r' && i < f->n; i++)
		if (id_ok(f->root, f->ids[i]))
			return (f->ids[i]);
	return (NULL);
}

/* When the service says that it began; 0 if it does not know. */
static int
ask_when(const struct options *o, const struct found *f, char when[AUDIT_TIME])
{
	static const struct row {
		char		 type;
		const char	*path, *member;
	} rows[] = {
		{ ID_CALL, "/v1/calls/", "asked" },
		{ ID_SESSION, "/v1/sessions/", "created" },
		{ ID_NEURON, "/v1/neurons/", "created" },
	};
	const struct row *row = NULL;
	const char *id = root_id(f), *text = NULL;
	struct http_response r;
	char target[64];
	json_t *json;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].type == f->root)
			row = &rows[i];
	if (id == NULL || row == NULL)
		return (0);
	(void)snprintf(target, sizeof(target), "%s%s", row->path, id);
	json = api_ask(o, OPERATOR, "GET", target, NULL, &r);
	if (json != NULL && r.status == 200)
		text = text_of(json, row->member);
	if (text != NULL)
		(void)snprintf(when, AUDIT_TIME, "%s", text);
	json_decref(json);
	return (text != NULL);
}

/* 1 if it was there: a clock that was set can have made the time another. */
static int
search_when(const struct options *o, struct found *f, uint64_t floor,
    uint64_t head, uint64_t *after)
{
	struct seen seen = { .f = f };
	struct audit_limit limit = { 0 };
	char when[AUDIT_TIME];
	uint64_t at;

	if (!ask_when(o, f, when))
		return (0);
	limit.text = when;
	if (by_halves(o, &limit, floor, head, &at) == -1)
		return (-1);
	*after = less(at, AUDIT_PAGE, floor);
	return (begins_in(o, &seen, *after, at + AUDIT_PAGE));
}

int
log_begin(const struct options *o, struct found *f, uint64_t *after)
{
	uint64_t first, head, floor;
	char when[AUDIT_TIME];
	int r;

	if (first_behind(o, 0, &first, when, &head) == -1)
		return (-1);
	floor = first == 0 ? 0 : first - 1;
	if ((r = search_when(o, f, floor, head, after)) != 0)
		return (r == -1 ? -1 : 0);
	if (f->since.text != NULL && by_halves(o, &f->since, floor, head,
	    &floor) == -1)
		return (-1);
	if (f->since.text == NULL)
		floor = less(head, BACK_MOST, floor);
	if ((r = search_back(o, f, floor, head, after)) == -1)
		return (-1);
	if (r == 1 || floor < first)
		return (0);
	if (first_behind(o, floor, &f->searched, f->searched_time, NULL) == -1)
		return (-1);
	if (f->searched == 0)
		f->searched = head + 1;
	return (0);
}
