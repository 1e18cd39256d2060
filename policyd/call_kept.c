/* Results of finished calls, for as long as result-kept says. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "conf.h"
#include "transcript.h"
#include "without.h"

#define KEPT_MAX	4096	/* results; the oldest goes first */
#define LAST		"\"transcript\":"	/* a record's last member */
#define LAST_MOST	sizeof(LAST "false}")

enum transcript { TRANSCRIPT_AWAITED, TRANSCRIPT_KEPT, TRANSCRIPT_LOST };

struct kept {
	RB_ENTRY(kept)	 entry;
	TAILQ_ENTRY(kept) order;
	struct call_row	 row;
	unsigned	 generation;	/* of the channel it was asked on */
	uint64_t	 handle;
	enum transcript	 transcript;
	uint64_t	 until;		/* on the steady clock */
	char		*text;		/* JSON, compact, ... */
	size_t		 end;		/* with LAST and what it is from here */
};

RB_HEAD(kept_tree, kept);

static int kept_cmp(const struct kept *, const struct kept *);

RB_PROTOTYPE(kept_tree, kept, entry, kept_cmp)
RB_GENERATE(kept_tree, kept, entry, kept_cmp)

static struct kept_tree		tree = RB_INITIALIZER(&tree);
static TAILQ_HEAD(, kept)	ordered = TAILQ_HEAD_INITIALIZER(ordered);
static unsigned			count;

static int
kept_cmp(const struct kept *a, const struct kept *b)
{
	return (strcmp(a->row.id, b->row.id));
}

static void
kept_free(struct kept *k)
{
	RB_REMOVE(kept_tree, &tree, k);
	TAILQ_REMOVE(&ordered, k, order);
	count--;
	free(k->text);
	free(k);
}

void
kept_expire(void)
{
	uint64_t now = now_us();
	struct kept *k;

	while ((k = TAILQ_FIRST(&ordered)) != NULL &&
	    (k->until <= now || count > KEPT_MAX))
		kept_free(k);
}

static void
set_last(struct kept *k, const char *value)
{
	snprintf(k->text + k->end, LAST_MOST, LAST "%s}", value);
}

/* Says in the record whether there is a transcript, and keeps both. */
static void
kept_store(struct kept *k, const uint8_t *bytes, size_t size)
{
	int ok;

	set_last(k, "true");
	ok = transcript_store(&k->row, k->text, bytes, size) == 0;
	k->transcript = ok ? TRANSCRIPT_KEPT : TRANSCRIPT_LOST;
	if (transcript_bytes() > conf_limit(LIMIT_TRANSCRIPTS_SIZE))
		prune_chores();
	if (!ok)
		set_last(k, "false");
}

/* The record, which call_result() has made, without its last member. */
static void
keep_text(struct kept *k, const char *json)
{
	static const char last[] = LAST "null}";
	size_t n = strlen(json);

	if (n < sizeof(last) || strcmp(json + n - (sizeof(last) - 1), last) !=
	    0)
		fatalx("a record does not end as they do");
	k->end = n - (sizeof(last) - 1);
	if ((k->text = malloc(k->end + LAST_MOST)) == NULL)
		fatal("result");
	memcpy(k->text, json, n + 1);
}

void
kept_add(const struct call *c, const char *json)
{
	struct kept *k;

	if ((k = calloc(1, sizeof(*k))) == NULL)
		fatal("result");
	k->row = c->row;
	k->generation = c->to.generation;
	k->handle = c->handle;
	k->until = now_us() + conf_limit(LIMIT_RESULT_KEPT) * 1000000;
	keep_text(k, json);
	RB_INSERT(kept_tree, &tree, k);
	TAILQ_INSERT_TAIL(&ordered, k, order);
	count++;
	if (!c->told || !reply_possible(&c->to))
		kept_store(k, NULL, 0);
	kept_expire();
}

void
kept_reader_lost(void)
{
	struct kept *k;

	TAILQ_FOREACH(k, &ordered, order) {
		if (k->transcript == TRANSCRIPT_AWAITED)
			kept_store(k, NULL, 0);
	}
}

int
kept_transcript(const char *id, unsigned generation, uint64_t handle,
    const uint8_t *bytes, size_t size)
{
	struct kept key = { .generation = 0 }, *k;

	strlcpy(key.row.id, id, sizeof(key.row.id));
	k = RB_FIND(kept_tree, &tree, &key);
	/* forgotten meanwhile, or of the apid before, or not its own */
	if (k == NULL || ((k->generation != generation ||
	    k->handle != handle) && !WITHOUT(transcript_owner)))
		return (0);
	if (k->transcript != TRANSCRIPT_AWAITED && !WITHOUT(transcript_once))
		return (-1);
	if (bytes == NULL) {
		k->transcript = TRANSCRIPT_LOST;
		set_last(k, "false");
		return (0);
	}
	kept_store(k, bytes, size);
	return (k->transcript == TRANSCRIPT_KEPT);
}

const char *
kept_find(const char *id, uint32_t *principal)
{
	struct kept key = { .generation = 0 }, *k;

	kept_expire();
	strlcpy(key.row.id, id, sizeof(key.row.id));
	if ((k = RB_FIND(kept_tree, &tree, &key)) == NULL)
		return (NULL);
	*principal = k->row.principal;
	return (k->text);
}

void
kept_clear(void)
{
	struct kept *k;

	while ((k = TAILQ_FIRST(&ordered)) != NULL)
		kept_free(k);
}
