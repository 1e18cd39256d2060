/* Results of finished calls, for as long as result-kept says. */

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "conf.h"

#define KEPT_MAX	4096	/* results; the oldest goes first */

struct kept {
	RB_ENTRY(kept)	 entry;
	TAILQ_ENTRY(kept) order;
	char		 id[ID_SIZE];
	uint32_t	 principal;
	uint64_t	 until;		/* on the steady clock */
	json_t		*json;
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
	return (strcmp(a->id, b->id));
}

static void
kept_free(struct kept *k)
{
	RB_REMOVE(kept_tree, &tree, k);
	TAILQ_REMOVE(&ordered, k, order);
	count--;
	json_decref(k->json);
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

void
kept_add(const char *id, uint32_t principal, json_t *json)
{
	struct kept *k;

	if ((k = calloc(1, sizeof(*k))) == NULL)
		fatal("result");
	strlcpy(k->id, id, sizeof(k->id));
	k->principal = principal;
	k->until = now_us() + conf_limit(LIMIT_RESULT_KEPT) * 1000000;
	k->json = json;
	RB_INSERT(kept_tree, &tree, k);
	TAILQ_INSERT_TAIL(&ordered, k, order);
	count++;
	kept_expire();
}

const json_t *
kept_find(const char *id, uint32_t *principal)
{
	struct kept key, *k;

	kept_expire();
	strlcpy(key.id, id, sizeof(key.id));
	if ((k = RB_FIND(kept_tree, &tree, &key)) == NULL)
		return (NULL);
	*principal = k->principal;
	return (k->json);
}

void
kept_clear(void)
{
	struct kept *k;

	while ((k = TAILQ_FIRST(&ordered)) != NULL)
		kept_free(k);
}
