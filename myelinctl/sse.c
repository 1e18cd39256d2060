/*
 * The decoder of server-sent events.
 */
#include <stdlib.h>
#include <string.h>

#include "sse.h"

#define TEXT_FIRST	4096

void
sse_init(struct sse *sse, sse_fn *fn, void *arg)
{
	memset(sse, 0, sizeof(*sse));
	sse->fn = fn;
	sse->arg = arg;
}

void
sse_free(struct sse *sse)
{
	free(sse->line.p);
	free(sse->data.p);
	memset(sse, 0, sizeof(*sse));
}

static int
append(struct sse_text *text, const char *p, size_t len)
{
	size_t room = text->room;
	char *grown;

	if (len > SSE_EVENT_MAX - text->len)
		return (-1);
	while (room < text->len + len + 1)
		room = room == 0 ? TEXT_FIRST : room * 2;
	if (room != text->room) {
		if ((grown = realloc(text->p, room)) == NULL)
			return (-1);
		text->p = grown;
		text->room = room;
	}
	memcpy(text->p + text->len, p, len);
	text->len += len;
	text->p[text->len] = '\0';
	return (0);
}

static int
dispatch(struct sse *sse)
{
	struct sse_event event = { sse->name, sse->id, sse->data.p,
	    sse->data.len };
	int ok = 0;

	if (sse->has_data)
		ok = sse->fn(sse->arg, &event);
	sse->name[0] = '\0';
	sse->data.len = 0;
	sse->has_data = 0;
	return (ok);
}

static int
take_id(struct sse *sse, const char *p, size_t len)
{
	uint64_t id = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		if (p[i] < '0' || p[i] > '9' || id > UINT64_MAX / 10 - 1)
			return (-1);
		id = id * 10 + (uint64_t)(p[i] - '0');
	}
	sse->id = id;
	return (0);
}

static int
take_field(struct sse *sse, const char *name, size_t nlen, const char *p,
    size_t len)
{
	if (nlen == 4 && memcmp(name, "data", 4) == 0) {
		if (sse->has_data && append(&sse->data, "\n", 1) == -1)
			return (-1);
		sse->has_data = 1;
		return (append(&sse->data, p, len));
	}
	if (nlen == 5 && memcmp(name, "event", 5) == 0) {
		if (len >= sizeof(sse->name))
			return (-1);
		memcpy(sse->name, p, len);
		sse->name[len] = '\0';
	} else if (nlen == 2 && memcmp(name, "id", 2) == 0)
		return (take_id(sse, p, len));
	return (0);
}

/* One line without its end. */
static int
take_line(struct sse *sse, const char *p, size_t len)
{
	const char *colon;
	size_t nlen, skip;

	if (len > 0 && p[len - 1] == '\r')
		len--;
	if (len == 0)
		return (dispatch(sse));
	if ((colon = memchr(p, ':', len)) == NULL)
		return (take_field(sse, p, len, "", 0));
	nlen = (size_t)(colon - p);
	if (nlen == 0)
		return (0);		/* a comment */
	skip = nlen + 1;
	if (skip < len && p[skip] == ' ')
		skip++;
	return (take_field(sse, p, nlen, p + skip, len - skip));
}

int
sse_feed(struct sse *sse, const uint8_t *bytes, size_t size)
{
	const char *p = (const char *)bytes, *end = p + size, *lf;

	while (p < end) {
		if ((lf = memchr(p, '\n', (size_t)(end - p))) == NULL)
			return (append(&sse->line, p, (size_t)(end - p)));
		if (sse->line.len == 0) {
			if (take_line(sse, p, (size_t)(lf - p)) == -1)
				return (-1);
		} else {
			if (append(&sse->line, p, (size_t)(lf - p)) == -1 ||
			    take_line(sse, sse->line.p, sse->line.len) == -1)
				return (-1);
			sse->line.len = 0;
		}
		p = lf + 1;
	}
	return (0);
}
