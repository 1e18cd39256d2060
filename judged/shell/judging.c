/*
 * One judging: arena, bounds, findings.
 */
#include <sys/mman.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "judging_internal.h"
#include "resolver.h"
#include "without.h"

#define CHUNK_FIRST	(32 * 1024)	/* the next are twice as large ... */
#define CHUNK_MAPPED	(256 * 1024)	/* from here on mapped, all at once */
#define CHUNK_SMALL	(512 * 1024)	/* ... up to this; behind it come ... */
#define CHUNK_HUGE	(2048 * 1024)	/* ... those that are a huge page */
#define ALIGN		_Alignof(void *)	/* all that is made needs */

struct chunk {
	struct chunk	*next;
	size_t		 size;
	size_t		 used;
	void		*map;		/* what it lies in, or NULL: of malloc */
	size_t		 mapped;	/* bytes of that */
	_Alignas(ALIGN) char data[];
};

struct judging *
judging_new(const struct judge_context *context)
{
	struct judging *j = calloc(1, sizeof(*j));

	if (j != NULL)
		j->context = *context;
	return (j);
}

void
judging_free(struct judging *j)
{
	struct chunk *c, *next;

	if (j == NULL)
		return;
	for (c = j->chunks; c != NULL; c = next) {
		next = c->next;
		if (c->map != NULL)
			(void)munmap(c->map, c->mapped);
		else
			free(c);
	}
	free(j);
}

const struct judge_context *
judging_context(const struct judging *j)
{
	return (&j->context);
}

/* Out of memory or over the bound: back to judging_run, which asks. */
static _Noreturn void
out_of_memory(struct judging *j)
{
	if (!j->catches)
		abort();
	longjmp(j->caught, 1);
}

/*
 * A chunk, zeroed.  A large one has all its pages at once: to have them come
 * one by one as they are touched takes longer than all that is done in them.
 * Where the system has huge pages, the largest are one each, as even that
 * takes a third of the time for thousands of small ones.
 */
static struct chunk *
chunk_new(size_t room)
{
	size_t size = sizeof(struct chunk) + room, mapped = size;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	struct chunk *c;
	char *at;

	if (size < CHUNK_MAPPED)
		return (calloc(1, size));
	if (size >= CHUNK_HUGE)
		mapped += CHUNK_HUGE;	/* room to begin where one does */
	else
		flags |= MAP_POPULATE;
	at = mmap(NULL, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (at == MAP_FAILED)
		return (NULL);
	c = (struct chunk *)(void *)at;
	if (size >= CHUNK_HUGE) {
		c = (struct chunk *)(void *)(at + (-(uintptr_t)at &
		    (CHUNK_HUGE - 1)));
		/* Without them it is as good, and slower. */
		(void)madvise(c, size, MADV_HUGEPAGE);
		(void)madvise(c, size, MADV_POPULATE_WRITE);
	}
	c->map = at;
	c->mapped = mapped;
	return (c);
}

/* Room for so many bytes, in a chunk more. */
static struct chunk *
chunk_add(struct judging *j, size_t size)
{
	struct chunk *c = j->chunks;
	size_t room;

	room = c == NULL ? CHUNK_FIRST : c->size * 2;
	if (room > CHUNK_SMALL)
		room = CHUNK_HUGE - sizeof(struct chunk);
	if (room < size)
		room = size;
	if (j->allocated + room > JUDGE_ARENA_MAX ||
	    (j->fail_at != 0 && j->allocated + room > j->fail_at) ||
	    (c = chunk_new(room)) == NULL)
		out_of_memory(j);
	j->allocated += room;
	c->size = room;
	c->used = 0;
	c->next = j->chunks;
	j->chunks = c;
	return (c);
}

void *
judging_alloc(struct judging *j, size_t size)
{
	struct chunk *c = j->chunks;
	void *p;

	if (size > JUDGE_ARENA_MAX)
		out_of_memory(j);
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (c == NULL || c->size - c->used < size)
		c = chunk_add(j, size);
	p = c->data + c->used;
	c->used += size;
	return (p);		/* zeroed already */
}

int
judging_afford(struct judging *j, size_t bytes)
{
	if (bytes > JUDGE_GROWN_MAX || j->grown > JUDGE_GROWN_MAX - bytes)
		return (0);
	j->grown += bytes;
	return (1);
}

char *
judging_strndup(struct judging *j, const char *s, size_t len)
{
	char *copy = judging_alloc(j, len + 1);

	if (len > 0)
		memcpy(copy, s, len);
	copy[len] = '\0';
	return (copy);
}

void
judging_fail_at(struct judging *j, size_t bytes)
{
	j->fail_at = bytes;
}

static int
same(const struct finding *a, const struct finding *b)
{
	return (a->verdict == b->verdict && a->rank == b->rank &&
	    a->from == b->from && a->to == b->to && a->marks == b->marks &&
	    a->effect == b->effect && a->by == b->by &&
	    strcmp(a->class, b->class) == 0 && strcmp(a->rule, b->rule) == 0);
}

/*
 * The same command is judged again in loops and alternatives: of what has the
 * same place and says the same, one is kept.  The last few are looked at, as
 * repeats come close; so this stays linear.
 */
static int
repeats(const struct judging *j, const struct finding *f)
{
	size_t i, back;

	for (back = 1; back <= 16 && back <= j->nfindings; back++) {
		i = j->nfindings - back;
		if (same(&j->findings[i], f))
			return (1);
	}
	return (0);
}

void
judging_find(struct judging *j, const struct finding *found)
{
	struct finding ruled = *found, *more;
	const struct finding *f = &ruled;
	size_t max;

	if (j->context.found != NULL)
		j->context.found(j, &ruled);

	if (f->effect > j->effect)
		j->effect = f->effect;
	j->marks |= f->marks;
	if (j->decides.verdict == 0 || f->verdict > j->decides.verdict ||
	    (f->verdict == j->decides.verdict && f->rank > j->decides.rank))
		j->decides = *f;
	if (j->nfindings >= JUDGE_FINDINGS_MAX || repeats(j, f))
		return;
	if (j->nfindings == j->maxfindings) {
		max = j->maxfindings == 0 ? 16 : j->maxfindings * 2;
		more = judging_alloc(j, max * sizeof(*more));
		if (j->nfindings > 0)
			memcpy(more, j->findings,
			    j->nfindings * sizeof(*more));
		j->findings = more;
		j->maxfindings = max;
	}
	j->findings[j->nfindings++] = *f;
}

static void
ask(struct judging *j, const char *class, const char *rule,
    const struct command *c, unsigned flags)
{
	struct finding f = {
		.verdict = VERDICT_ASK,
		.class = class,
		/* what is not known may be more than reading */
		.effect = EFFECT_MUTATE_IRREVERSIBLE,
		.marks = MARK_OPAQUE,
		.rule = rule,
		.next = "write out what the shell would compute, or let an "
		    "operator approve the call",
		.command = c,
		.flags = flags
	};

	if (c != NULL) {
		f.from = c->from;
		f.to = c->to;
	} else
		f.to = j->length;
	judging_find(j, &f);
}

void
judging_ask(struct judging *j, const char *class, const char *rule,
    const struct command *c)
{
	ask(j, class, rule, c, strcmp(class, "unparsable") == 0 ?
	    FINDING_FIRM : 0);
}

void
judging_bound(struct judging *j, const char *rule, const struct command *c)
{
	j->bounded = rule;
	ask(j, "opaque", rule, c, FINDING_FIRM);
}

enum verdict
judging_probe(struct judging *j, void (*body)(void *), void *arg)
{
	struct finding decides = j->decides, kept = j->kept;
	struct scope *scope = j->resolver->scope;
	enum effect effect = j->effect;
	uint32_t marks = j->marks;
	size_t n = j->nfindings, mark = scope_mark(scope);
	const char *bounded = j->bounded;
	enum verdict worst;

	/* Should memory run out in it, what was found before stands. */
	if (decides.verdict > kept.verdict)
		j->kept = decides;
	memset(&j->decides, 0, sizeof(j->decides));
	body(arg);
	worst = j->decides.verdict;
	scope_rollback(scope, mark);
	j->decides = decides;
	j->kept = kept;
	j->effect = effect;
	j->marks = marks;
	j->nfindings = n;
	/* A bound that was hit stays hit. */
	if (bounded == NULL && j->bounded != NULL)
		ask(j, "opaque", j->bounded, NULL, FINDING_FIRM);
	return (worst);
}

const struct finding *
judging_decides(const struct judging *j)
{
	return (&j->decides);
}

enum effect
judging_effect(const struct judging *j)
{
	return (j->effect);
}

uint32_t
judging_marks(const struct judging *j)
{
	return (j->marks);
}

size_t
judging_count(const struct judging *j)
{
	return (j->nfindings);
}

const struct finding *
judging_at(const struct judging *j, size_t i)
{
	return (i < j->nfindings ? &j->findings[i] : NULL);
}

int
judging_step(struct judging *j)
{
	j->steps++;
	if (j->commands < JUDGE_COMMANDS_MAX) {
		j->commands++;
		return (1);
	}
	if (!j->over) {
		j->over = 1;
		judging_bound(j, "more commands than are judged", NULL);
	}
	return (0);
}

int
judging_words(struct judging *j, size_t n)
{
	j->words += n;
	if (j->words <= JUDGE_WORDS_MAX)
		return (1);
	if (!j->over) {
		j->over = 1;
		judging_bound(j, "more words than are judged", NULL);
	}
	return (0);
}

int
judging_over(const struct judging *j)
{
	return (j->over);
}

uint64_t
judging_steps(const struct judging *j)
{
	return (j->steps);
}

int
judging_enter(struct judging *j, const struct command *c)
{
	if (j->depth >= JUDGE_DEPTH_MAX) {
		judging_bound(j, "nested deeper than is judged", c);
		return (0);
	}
	j->depth++;
	return (1);
}

void
judging_leave(struct judging *j)
{
	j->depth--;
}

int
judging_again(struct judging *j, size_t len, const struct command *c)
{
	size_t max = (size_t)j->length * JUDGE_AGAIN_FACTOR;

	j->again_bytes += j->over ? len : 0;
	len += JUDGE_AGAIN_EACH;
	if (max < JUDGE_AGAIN_LEAST)
		max = JUDGE_AGAIN_LEAST;
	if (max > JUDGE_AGAIN_MAX)
		max = JUDGE_AGAIN_MAX;
	if (len > max || j->again > max - len ||
	    j->again_over > JUDGE_AGAIN_OVER ||
	    j->again_bytes > JUDGE_AGAIN_BYTES) {
		judging_bound(j,
		    "more text becomes code again than is judged", c);
		return (0);
	}
	j->again += len;
	return (1);
}

/* Runs what may run out of memory; a finding asks if it did. */
void
judging_guard(struct judging *j, void (*body)(struct judging *, void *),
    void *arg)
{
	struct finding *out = &j->exhausted;

	j->catches = 1;
	if (setjmp(j->caught) == 0) {
		body(j, arg);
		j->catches = 0;
		return;
	}
	j->catches = 0;
	/* No memory is asked for here: a place is kept for this one. */
	*out = (struct finding) {
		.verdict = VERDICT_ASK, .class = "opaque",
		.effect = EFFECT_READ, .marks = MARK_OPAQUE,
		.rule = "judging it takes more memory than is allowed",
		.next = "split the text into smaller calls",
		.to = j->length
	};
	j->marks |= out->marks;
	if (j->kept.verdict > j->decides.verdict)
		j->decides = j->kept;
	if (j->decides.verdict < VERDICT_ASK && !WITHOUT(shell_memory))
		j->decides = *out;
	if (j->nfindings < j->maxfindings)
		j->findings[j->nfindings++] = *out;
}

void
judging_run_with(struct judging *j, void (*body)(struct judging *, void *),
    void *arg)
{
	judging_guard(j, body, arg);
}
