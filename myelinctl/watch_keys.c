/*
 * The keys of "approvals watch".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

/* What the terminal sends more than one byte for. */
enum {
	KEY_UP = 0x100, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME,
	KEY_END, KEY_OTHER
};

#define CTRL(c)	((c) & 0x1f)
#define ESC	0x1b

/* ---- what may be decided ---- */

/*
 * The item that a decision is about, or NULL after a message: the one that
 * the last picture showed, and long enough for a person to have seen it.
 */
static struct item *
decidable(struct watch *w, int alone)
{
	struct item *item = watch_current(w);

	if (item == NULL)
		watch_say(w, "nothing waits for a decision");
	else if (w->decision != NULL)
		watch_say(w, "one moment: the last decision is on its way");
	else if (item->gone)
		watch_say(w, "%s waits no longer%s%s", item->id,
		    item->end != NULL ? ": " : "",
		    item->end != NULL ? item->end : "");
	else if (!alone || strcmp(w->drawn, item->id) != 0 ||
	    w->now - w->drawn_since < WATCH_GUARD)
		watch_say(w, "%s was only just displayed: look, and press "
		    "the key again", item->id);
	else
		return (item);
	return (NULL);
}

static void
allow(struct watch *w, int alone, const char *decision)
{
	struct item *item = decidable(w, alone);

	if (item == NULL)
		return;
	if (!item->seen)
		watch_say(w, "%s does not fit: l looks at it, and space goes "
		    "on to its end; then it can be allowed", item->id);
	else if (strcmp(decision, "allow_session") == 0 &&
	    !approval_rememberable(item->whole))
		watch_say(w, "%s can't be allowed for the session: a allows "
		    "it once", item->id);
	else
		watch_decide(w, item, decision, NULL);
}

static void
reject(struct watch *w, int alone)
{
	if (decidable(w, alone) == NULL)
		return;
	w->back = w->mode;
	w->mode = WATCH_REASON;
	w->reason_len = 0;
	w->reason[0] = '\0';
}

/* ---- the line of a reason ---- */

static void
reason_end(struct watch *w)
{
	struct item *item = watch_current(w);

	w->mode = w->back;
	if (w->reason_len == 0) {
		watch_say(w, "not rejected: the one who asked is told a "
		    "reason");
		return;
	}
	if (item == NULL || item->gone || item->whole == NULL) {
		watch_say(w, "not rejected: it waits no longer");
		return;
	}
	watch_decide(w, item, "reject_once", w->reason);
}

static void
reason_erase(struct watch *w)
{
	while (w->reason_len > 0) {
		if (((unsigned char)w->reason[--w->reason_len] & 0xc0) != 0x80)
			break;
	}
	w->reason[w->reason_len] = '\0';
}

static void
reason_key(struct watch *w, int c)
{
	if (c == '\r' || c == '\n')
		reason_end(w);
	else if (c == ESC || c == CTRL('g')) {
		w->mode = w->back;
		watch_say(w, "not rejected");
	} else if (c == 0x7f || c == '\b')
		reason_erase(w);
	else if (c == CTRL('u'))
		w->reason[w->reason_len = 0] = '\0';
	else if (c >= ' ' && c < 0x100) {
		if (w->reason_len >= APPROVAL_REASON_MAX) {
			watch_say(w, "a reason has at most %d bytes",
			    APPROVAL_REASON_MAX);
			return;
		}
		w->reason[w->reason_len++] = (char)c;
		w->reason[w->reason_len] = '\0';
	}
}

/* ---- looking ---- */

static void
scroll(struct watch *w, long by)
{
	size_t page = watch_page(w);
	size_t last = w->lines.n > page ? w->lines.n - page : 0;

	if (by < 0)
		w->top = w->top < (size_t)-by ? 0 : w->top - (size_t)-by;
	else
		w->top = w->top + (size_t)by > last ? last :
		    w->top + (size_t)by;
}

static int
look_key(struct watch *w, int c)
{
	const long page = (long)watch_page(w);

	switch (c) {
	case 'j': case KEY_DOWN: case '\r': case '\n':
		scroll(w, 1);
		return (1);
	case 'k': case KEY_UP:
		scroll(w, -1);
		return (1);
	case ' ': case 'f': case KEY_PAGE_DOWN:
		scroll(w, page);
		return (1);
	case 'b': case KEY_PAGE_UP:
		scroll(w, -page);
		return (1);
	case 'g': case KEY_HOME:
		w->top = 0;
		return (1);
	case 'G': case KEY_END:
		scroll(w, (long)w->lines.n);
		return (1);
	case 'q': case 'l': case 'h': case ESC:
		w->mode = WATCH_LIST;
		return (1);
	default:
		return (0);
	}
}

static int
list_key(struct watch *w, int c)
{
	switch (c) {
	case 'j': case KEY_DOWN:
		watch_move(w, 1);
		return (1);
	case 'k': case KEY_UP:
		watch_move(w, -1);
		return (1);
	case 'l': case '\r': case '\n':
		if (watch_current(w) != NULL)
			w->mode = WATCH_LOOK;
		return (1);
	case 'q':
		w->over = 1;
		return (1);
	default:
		return (0);
	}
}

/* alone: no other key came with it, so that it was not typed ahead. */
static void
key(struct watch *w, int c, int alone)
{
	if (w->mode == WATCH_REASON) {
		reason_key(w, c);
		return;
	}
	free(w->message);
	w->message = NULL;
	if (w->mode == WATCH_LOOK ? look_key(w, c) : list_key(w, c))
		return;
	switch (c) {
	case 'a':
		allow(w, alone, "allow_once");
		break;
	case 's':
		allow(w, alone, "allow_session");
		break;
	case 'r':
		reject(w, alone);
		break;
	case 'n': case '\t':
		watch_move(w, 1);
		break;
	case 'p':
		watch_move(w, -1);
		break;
	case CTRL('l'):
		w->screen.stale = 1;
		break;
	default:
		if (c != KEY_OTHER && c > ' ' && c < 0x7f)
			watch_say(w, "%c is no key here", c);
		break;
	}
}

/* ---- bytes ---- */

static const struct {
	const char	*bytes;		/* behind the escape */
	int		 key;
} sequences[] = {
	{ "[A", KEY_UP }, { "OA", KEY_UP },
	{ "[B", KEY_DOWN }, { "OB", KEY_DOWN },
	{ "[5~", KEY_PAGE_UP }, { "[6~", KEY_PAGE_DOWN },
	{ "[H", KEY_HOME }, { "OH", KEY_HOME }, { "[1~", KEY_HOME },
	{ "[F", KEY_END }, { "OF", KEY_END }, { "[4~", KEY_END },
};

/* How many bytes behind the escape belong to it; its key. */
static size_t
sequence(const char *p, size_t len, int *c)
{
	size_t i, n;

	*c = ESC;
	if (len == 0 || (p[0] != '[' && p[0] != 'O'))
		return (0);
	/* Up to the letter that ends it. */
	for (n = 1; n < len && (unsigned char)p[n] < 0x40; n++)
		;
	n = n < len ? n + 1 : len;
	*c = KEY_OTHER;
	for (i = 0; i < NITEMS(sequences); i++) {
		if (strlen(sequences[i].bytes) == n &&
		    memcmp(sequences[i].bytes, p, n) == 0)
			*c = sequences[i].key;
	}
	return (n);
}

void
watch_keys(struct watch *w, const char *p, size_t len)
{
	const int alone = len == 1;
	size_t i, n;
	int c;

	for (i = 0; i < len && !w->over; i++) {
		c = (unsigned char)p[i];
		if (c == ESC) {
			n = sequence(p + i + 1, len - i - 1, &c);
			i += n;
		}
		key(w, c, alone);
	}
}
