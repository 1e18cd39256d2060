/*
 * The pictures of "approvals watch".
 */
#include <err.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"
#include "words.h"

#define ROWS_LEAST	10
#define COLS_LEAST	40
#define MESSAGE_MAX	1024

void
watch_say(struct watch *w, const char *fmt, ...)
{
	char text[MESSAGE_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	free(w->message);
	w->message = words_plain(text, strlen(text));
}

/* ---- lines that fit ---- */

static void
wrap_line(struct lines *to, const struct line *line, size_t cols)
{
	const char *p = line->text;
	char *text;
	size_t hang = 0, n;

	do {
		n = lines_fit(p, cols - hang);
		if (hang == 0)
			text = strndup(p, n);
		else if (asprintf(&text, "%*s%c %.*s", (int)hang - 2, "",
		    line->mark != '\0' ? line->mark : ' ', (int)n, p) == -1)
			text = NULL;
		lines_add(to, text, 0, '\0');
		p += n;
		hang = line->hang;
	} while (*p != '\0');
}

/* The lines of the current one, as wide as the screen; made again when one of
 * both is another, or less of it is wanted, or more. */
static void
wrap(struct watch *w, const struct item *item, int brief)
{
	struct lines lines = { NULL, 0, 0 };
	size_t i;

	if (strcmp(w->lines_id, item->id) == 0 && w->lines.n > 0 &&
	    w->lines_cols == w->screen.cols && w->lines_brief == brief)
		return;
	lines_free(&w->lines);
	w->read = w->top = 0;
	w->lines_id[0] = '\0';
	if (item->whole == NULL)
		return;
	lines_of_approval(&lines, item->whole, brief);
	for (i = 0; i < lines.n; i++)
		wrap_line(&w->lines, &lines.v[i], w->screen.cols);
	lines_free(&lines);
	memcpy(w->lines_id, item->id, sizeof(w->lines_id));
	w->lines_cols = w->screen.cols;
	w->lines_brief = brief;
}

/* ---- the list ---- */

static void
draw_title(struct watch *w)
{
	char left[32] = "";
	const char *how;

	how = w->unreachable ? "no answer" : w->following &&
	    http_headed(&w->events.r) ? "live" : "each second";
	if (w->n > 0 && w->items[0].deadline != 0)
		approval_left(left, sizeof(left), w->items[0].deadline -
		    w->now);
	screen_line(&w->screen, 0, "myelin approvals: %zu waiting%s%s (%s)",
	    w->n, left[0] != '\0' ? ", the first for another " : "", left,
	    how);
}

static void
draw_row(struct watch *w, size_t row, const struct item *item)
{
	const char *effect = approval_text(item->row, "effect");
	const char *who = approval_text(item->row, "principal");
	char left[32] = "gone", *what, *safe_effect, *safe_who;

	if (!item->gone)
		approval_left(left, sizeof(left), item->deadline - w->now);
	what = approval_what(item->row);
	safe_effect = words_plain(effect, strlen(effect));
	safe_who = words_plain(who, strlen(who));
	screen_line(&w->screen, row, "%c %s %5s %s %s %s",
	    strcmp(item->id, w->current) == 0 ? '>' : ' ', item->id, left,
	    safe_who, safe_effect, what);
	free(what);
	free(safe_effect);
	free(safe_who);
}

/* A window of the list with the current one in it; how many rows it took. */
static size_t
draw_rows(struct watch *w, const struct item *item, size_t room)
{
	size_t at = (size_t)(item - w->items), first, i;

	if (room > w->n)
		room = w->n;
	first = at < room / 2 ? 0 : at - room / 2;
	if (first + room > w->n)
		first = w->n - room;
	for (i = 0; i < room; i++)
		draw_row(w, 1 + i, &w->items[first + i]);
	return (room);
}

/* ---- the one ---- */

static void
draw_lines(struct watch *w, struct item *item, size_t row, size_t room)
{
	size_t i;

	for (i = 0; i < room && w->top + i < w->lines.n; i++)
		screen_line(&w->screen, row + i, "%s",
		    w->lines.v[w->top + i].text);
	if (w->top <= w->read && w->top + i > w->read)
		w->read = w->top + i;
	if (w->read >= w->lines.n && w->lines.n > 0)
		item->seen = 1;
}

/* Below the list: from the top, and only so far. */
static void
draw_beside(struct watch *w, struct item *item, size_t row, size_t room)
{
	size_t left;

	w->top = 0;
	if (item->whole == NULL) {
		screen_line(&w->screen, row, "%s", item->failed ?
		    "(it can't be had)" : "...");
		return;
	}
	if (w->lines.n <= room) {
		draw_lines(w, item, row, room);
		return;
	}
	draw_lines(w, item, row, room - 1);
	left = w->lines.n - (room - 1);
	screen_line(&w->screen, row + room - 1, "--- %zu more lines: l looks "
	    "at all of it", left);
}

static void
draw_foot(struct watch *w, const struct item *item)
{
	static const char *const keys[] = {
		[WATCH_LIST] = "l look  a allow once  s for session  "
		    "r reject  n next  p previous  q quit",
		[WATCH_LOOK] = "space on  b back  a allow once  "
		    "s for session  r reject  n next  q list",
		[WATCH_REASON] = "Enter rejects with this reason; Esc does "
		    "not"
	};
	size_t rows = w->screen.rows, skip;
	char *safe;

	if (w->mode == WATCH_REASON) {
		safe = words_plain(w->reason, w->reason_len);
		/* What is typed now is at the end. */
		skip = strlen(safe) + 12 > w->screen.cols ? strlen(safe) + 12 -
		    w->screen.cols : 0;
		while (((unsigned char)safe[skip] & 0xc0) == 0x80)
			skip++;
		screen_line(&w->screen, rows - 2, "reason: %s_", safe + skip);
		free(safe);
	} else if (w->message != NULL)
		screen_line(&w->screen, rows - 2, "%s", w->message);
	else if (item != NULL && item->gone)
		screen_line(&w->screen, rows - 2, "it waits no longer%s%s",
		    item->end != NULL ? ": " : "",
		    item->end != NULL ? item->end : "");
	screen_line(&w->screen, rows - 1, "%s", keys[w->mode]);
}

static void
draw_rule(struct watch *w, size_t row)
{
	char dashes[] = "----------------------------------------"
	    "----------------------------------------";

	screen_line(&w->screen, row, "%s", dashes);
}

size_t
watch_page(const struct watch *w)
{
	return (w->screen.rows > 4 ? w->screen.rows - 4U : 1);
}

static void
draw_look(struct watch *w, struct item *item)
{
	size_t page = watch_page(w), last;
	char left[32] = "gone";

	if (w->top + page > w->lines.n)
		w->top = w->lines.n > page ? w->lines.n - page : 0;
	last = w->top + page < w->lines.n ? w->top + page : w->lines.n;
	if (!item->gone)
		approval_left(left, sizeof(left), item->deadline - w->now);
	screen_line(&w->screen, 0, "%s  %s  lines %zu to %zu of %zu", item->id,
	    left, w->top + 1, last, w->lines.n);
	draw_rule(w, 1);
	draw_lines(w, item, 2, page);
}

static void
draw_list(struct watch *w, struct item *item)
{
	size_t rows = w->screen.rows, n;

	draw_title(w);
	if (item == NULL) {
		screen_line(&w->screen, 2, "Nothing waits for a decision.");
		return;
	}
	n = draw_rows(w, item, (rows - 6) / 4 + 1);
	draw_rule(w, 1 + n);
	draw_beside(w, item, 2 + n, rows - 2 - (2 + n));
}

/* From now on a key may mean what stands there. */
static void
drawn(struct watch *w, const struct item *item)
{
	const char *id = item == NULL || item->whole == NULL ? "" : item->id;

	if (strcmp(w->drawn, id) == 0)
		return;
	snprintf(w->drawn, sizeof(w->drawn), "%s", id);
	w->drawn_since = w->now;
}

int
watch_draw(struct watch *w)
{
	struct item *item = watch_current(w);
	int ok, look;

	(void)screen_measure(&w->screen);
	/* The last picture is not out yet: this one would not be seen. */
	if (sink_pending(&w->screen.out))
		return (sink_flush(&w->screen.out));
	screen_begin(&w->screen);
	if (w->screen.rows < ROWS_LEAST || w->screen.cols < COLS_LEAST) {
		screen_line(&w->screen, 0, "at least %d columns x %d rows",
		    COLS_LEAST, ROWS_LEAST);
		item = NULL;
	} else {
		look = item != NULL && (w->mode == WATCH_LOOK ||
		    (w->mode == WATCH_REASON && w->back == WATCH_LOOK));
		if (item != NULL)
			wrap(w, item, !look);
		if (look)
			draw_look(w, item);
		else
			draw_list(w, item);
		draw_foot(w, item);
	}
	ok = screen_show(&w->screen);
	/* One that waits behind a slow terminal has not been seen. */
	if (sink_pending(&w->screen.out))
		item = NULL;
	drawn(w, item);
	return (ok);
}
