/*
 * A bucket for each principal: it holds as many requests as the limit says,
 * and is full again after a minute.  One that is full is as good as none, so
 * only those who asked within the last minute are remembered.
 */
#include <sys/tree.h>
#include <stdlib.h>
#include <time.h>

#include "conn.h"
#include "log.h"
#include "rate.h"
#include "without.h"

#define MINUTE		UINT64_C(60000000)	/* us */
#define SWEEP_EVERY	1024			/* requests */

struct bucket {
	RB_ENTRY(bucket) entry;
	uint32_t	 principal;
	uint64_t	 spent;		/* requests, times MINUTE */
	uint64_t	 last;		/* us */
};
RB_HEAD(bucket_tree, bucket);

static int bucket_cmp(const struct bucket *, const struct bucket *);

RB_PROTOTYPE(bucket_tree, bucket, entry, bucket_cmp)
RB_GENERATE(bucket_tree, bucket, entry, bucket_cmp)

static struct bucket_tree buckets = RB_INITIALIZER(&buckets);
static unsigned	 count, until_sweep = SWEEP_EVERY;

static int
bucket_cmp(const struct bucket *a, const struct bucket *b)
{
	return (a->principal < b->principal ? -1 :
	    a->principal > b->principal);
}

static void
sweep(uint64_t now)
{
	struct bucket *b, *next;

	if (--until_sweep > 0)
		return;
	until_sweep = SWEEP_EVERY;
	RB_FOREACH_SAFE(b, bucket_tree, &buckets, next) {
		if (now - b->last < MINUTE)
			continue;
		RB_REMOVE(bucket_tree, &buckets, b);
		free(b);
		count--;
	}
}

static struct bucket *
bucket_of(uint32_t principal)
{
	struct bucket key, *b;

	key.principal = principal;
	if ((b = RB_FIND(bucket_tree, &buckets, &key)) != NULL)
		return (b);
	if ((b = calloc(1, sizeof(*b))) == NULL)
		fatal("rate");
	b->principal = principal;
	RB_INSERT(bucket_tree, &buckets, b);
	count++;
	return (b);
}

unsigned
rate_take(uint32_t principal, uint64_t limit, uint64_t now)
{
	uint64_t back, most = limit * MINUTE, over;
	struct bucket *b;

	sweep(now);
	b = bucket_of(principal);
	back = now - b->last < MINUTE ? (now - b->last) * limit : b->spent;
	b->spent = b->spent > back ? b->spent - back : 0;
	b->last = now;
	if (b->spent + MINUTE <= most) {
		b->spent += MINUTE;
		return (0);
	}
	over = b->spent + MINUTE - most;
	return ((unsigned)((over + limit * 1000000 - 1) / (limit * 1000000)));
}

unsigned
rate_count(void)
{
	return (count);
}

int
rate_ok(struct conn *c)
{
	uint64_t limit = conns_limits()->v[LIMIT_REQUESTS];
	struct timespec ts;
	unsigned wait;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	wait = rate_take(c->principal, limit, (uint64_t)ts.tv_sec * 1000000 +
	    (uint64_t)ts.tv_nsec / 1000);
	if (wait == 0 || WITHOUT(request_rate))
		return (1);
	conn_error_retry(c, API_TOO_MANY, wait, "%s is over the limit \"%s\", "
	    "%llu", c->who, limit_table[LIMIT_REQUESTS].keyword,
	    (unsigned long long)limit);
	return (0);
}
