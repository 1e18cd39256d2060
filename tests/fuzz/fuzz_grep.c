/*
 * Any bytes as the output of "rg --json": whatever they are cut into, the same
 * events come of them; and those fill an answer that keeps its bounds.
 *
 * Input: a byte for the room of a line, a byte for the size of the pieces,
 * then the output.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "grep_hits.h"
#include "grep_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

struct sum {
	uint64_t	 hash;
	struct hits	 hits;
};

static void
require(int what)
{
	if (!what)
		abort();
}

static void
add(struct sum *s, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	for (; len > 0; len--)
		s->hash = (s->hash ^ *p++) * 0x100000001b3U;
	s->hash = s->hash * 31 + 1;
}

static int
event(void *arg, const struct rg_event *e)
{
	struct sum *s = arg;

	add(s, &e->kind, sizeof(e->kind));
	add(s, e->path, e->pathlen);
	add(s, e->text, e->textlen);
	add(s, &e->cut, sizeof(e->cut));
	add(s, &e->line, sizeof(e->line));
	add(s, &e->start, sizeof(e->start));
	add(s, &e->binary, sizeof(e->binary));
	return (hits_event(&s->hits, e));
}

static int
wanted(void *arg, const char *path, size_t len)
{
	(void)arg;
	(void)path;
	return (len != 3);
}

static int
feed(struct sum *s, size_t room, size_t piece, const uint8_t *data,
    size_t size)
{
	struct rg_reader r = { .event = event, .arg = s, .room = room };
	size_t i, n, j;
	int error = 0;

	memset(s, 0, sizeof(*s));
	s->hits.limit = 5;
	s->hits.context = 1;
	s->hits.wanted = wanted;
	r.head = malloc(room);
	require(r.head != NULL);
	for (i = 0; i < size && error == 0; i += n) {
		n = size - i < piece ? size - i : piece;
		error = rg_feed(&r, (const char *)data + i, n);
	}
	free(r.head);
	hits_sort(&s->hits);
	require(s->hits.matches <= s->hits.limit && !s->hits.no_memory);
	for (i = 0; i < s->hits.n; i++) {
		for (j = 0; j < s->hits.file[i].n; j++)
			require(s->hits.file[i].line[j].len <= HIT_TEXT_MAX);
	}
	hits_free(&s->hits);
	return (error);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sum whole, pieces;
	size_t room;
	int a, b;

	if (size < 2)
		return (0);
	room = data[0] == 255 ? 65536 : 64 + (size_t)data[0] * 2;
	a = feed(&whole, room, size, data + 2, size - 2);
	b = feed(&pieces, room, 1 + data[1] % 64, data + 2, size - 2);
	require(a == b && whole.hash == pieces.hash);
	return (0);
}
