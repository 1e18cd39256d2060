/*
 * What waits for a decision, as "approvals watch" knows it.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"
#include "words.h"

struct item *
watch_find(struct watch *w, const char *id)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		if (strcmp(w->items[i].id, id) == 0)
			return (&w->items[i]);
	}
	return (NULL);
}

struct item *
watch_current(struct watch *w)
{
	return (w->current[0] == '\0' ? NULL : watch_find(w, w->current));
}

static void
select_item(struct watch *w, const struct item *item)
{
	if (item == NULL)
		w->current[0] = '\0';
	else
		memcpy(w->current, item->id, sizeof(w->current));
	w->top = 0;
	w->read = 0;
}

static void
item_free(struct item *item)
{
	json_decref(item->row);
	json_decref(item->whole);
	free(item->end);
}

void
watch_items_free(struct watch *w)
{
	while (w->n > 0)
		item_free(&w->items[--w->n]);
	free(w->items);
	w->items = NULL;
}

/* The one that stood behind it, or else before it, is the current one then. */
void
watch_remove(struct watch *w, const char *id)
{
	struct item *item = watch_find(w, id);
	int was = strcmp(w->current, id) == 0;
	size_t at;

	if (item == NULL)
		return;
	at = (size_t)(item - w->items);
	item_free(item);
	w->n--;
	memmove(item, item + 1, (w->n - at) * sizeof(*item));
	if (was)
		select_item(w, w->n == 0 ? NULL :
		    &w->items[at < w->n ? at : w->n - 1]);
	if (w->n == 0 && w->mode != WATCH_LIST)
		w->mode = WATCH_LIST;
}

void
watch_move(struct watch *w, int by)
{
	struct item *item = watch_current(w);
	char leaving[ID_SIZE];
	size_t at;

	if (item == NULL)
		return;
	memcpy(leaving, item->id, sizeof(leaving));
	at = (size_t)(item - w->items);
	select_item(w, &w->items[(at + w->n + (size_t)(by < 0 ?
	    w->n - 1 : 1)) % w->n]);
	/* It stayed only because it was being looked at. */
	item = watch_find(w, leaving);
	if (item->gone)
		watch_remove(w, leaving);
}

/* ---- lists ---- */

static void
announce(struct watch *w, const struct item *item)
{
	char *text, *line, *who, *what, *effect, left[32];

	/* A line: many of them in one file are still to be told apart. */
	if ((text = json_dumps(item->row, JSON_COMPACT)) == NULL ||
	    asprintf(&line, "%s\n", text) == -1)
		err(EXIT_FAILED, NULL);
	notify_push(&w->notify, line);
	if (!w->terminal && w->o->json)
		fputs(line, stdout);
	else if (!w->terminal) {
		who = approval_principal(approval_text(item->row,
		    "principal"));
		what = approval_what(item->row);
		effect = words_plain(approval_text(item->row, "effect"),
		    strlen(approval_text(item->row, "effect")));
		approval_left(left, sizeof(left), item->deadline - w->now);
		printf("%s  %s  %s  %s  %s\n", item->id, left, who, effect,
		    what);
		free(who);
		free(what);
		free(effect);
	}
	free(text);
	free(line);
}

/* -1: it is none, or there is no room. */
static int
take(struct watch *w, json_t *row)
{
	const char *id = approval_text(row, "approval");
	const json_t *left = json_object_get(row, "expires_in_ms");
	struct item *item, *grown;
	int fresh = 0;

	if (!id_ok(ID_APPROVAL, id))
		return (-1);
	if ((item = watch_find(w, id)) == NULL) {
		if (w->n >= WATCH_ITEMS_MAX)
			return (-1);
		grown = reallocarray(w->items, w->n + 1, sizeof(*grown));
		if (grown == NULL)
			err(EXIT_FAILED, NULL);
		w->items = grown;
		item = &w->items[w->n++];
		memset(item, 0, sizeof(*item));
		snprintf(item->id, sizeof(item->id), "%s", id);
		fresh = 1;
	}
	json_decref(item->row);
	item->row = json_incref(row);
	item->gone = item->failed = 0;
	item->deadline = json_is_integer(left) ? w->now +
	    json_integer_value(left) : 0;
	if (fresh)
		announce(w, item);
	return (0);
}

static int
is_listed(const json_t *rows, const char *id)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		if (strcmp(approval_text(row, "approval"), id) == 0)
			return (1);
	}
	return (0);
}

/* Who looks at one is not led to another by its end. */
static void
drop_others(struct watch *w, const json_t *rows)
{
	size_t i = 0;

	while (i < w->n) {
		if (is_listed(rows, w->items[i].id)) {
			i++;
			continue;
		}
		if (!w->terminal)
			printf("%s  waits no longer\n", w->items[i].id);
		if (w->terminal && strcmp(w->items[i].id, w->current) == 0) {
			w->items[i].gone = 1;
			i++;
		} else
			watch_remove(w, w->items[i].id);
	}
}

static int
by_deadline(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->deadline != y->deadline)
		return (x->deadline < y->deadline ? -1 : 1);
	return (strcmp(x->id, y->id));
}

void
watch_list(struct watch *w, json_t *rows)
{
	json_t *row;
	size_t i;

	drop_others(w, rows);
	json_array_foreach(rows, i, row)
		(void)take(w, row);
	json_decref(rows);
	if (w->n > 0)
		qsort(w->items, w->n, sizeof(*w->items), by_deadline);
	if (watch_current(w) == NULL)
		select_item(w, w->n > 0 ? &w->items[0] : NULL);
	if (!w->terminal && fflush(stdout) == EOF) {
		w->over = 1;
		w->status = EXIT_FAILED;
	}
}
