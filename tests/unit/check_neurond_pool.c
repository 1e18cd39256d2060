/*
 * The books of neurond's pool.
 */
#include <stdio.h>
#include <string.h>

#include "unit.h"

#include "neuron.h"
#include "pool_list.h"
#include "settings.h"

/* Profiles of a configuration, each with its pool. */
static struct slice *
slice_of(const char *const *names, const unsigned *pools, size_t n)
{
	struct slice *s = slice_new();
	size_t i;

	ck_assert_ptr_nonnull(s);
	s->uids_start = 1900000000;
	s->uids_count = 4096;
	s->profiles = calloc(n, sizeof(*s->profiles));
	s->nprofiles = n;
	for (i = 0; i < n; i++) {
		snprintf(s->profiles[i].name, sizeof(s->profiles[i].name),
		    "%s", names[i]);
		s->profiles[i].mode = MODE_NATIVE;
		s->profiles[i].where.file = strdup("conf");
		s->profiles[i].where.line = (uint32_t)i + 1;
		s->profiles[i].limits = s->limits;
		s->profiles[i].limits.v[LIMIT_POOL] = pools[i];
	}
	return (s);
}

static const char *const two_names[] = { "default", "other" };
static const unsigned two_pools[] = { 2, 1 };

static void
make_ready(struct neuron *n, const struct cf_profile *p)
{
	memset(n, 0, sizeof(*n));
	pool_add(&n->pooled, n, p);
	pool_mark_ready(&n->pooled);
}

START_TEST(filled_to_its_number)
{
	struct slice *s = slice_of(two_names, two_pools, 2);
	struct neuron n[3];
	unsigned i;

	ck_assert_uint_eq(pool_wanted(s), 3);
	memset(n, 0, sizeof(n));
	for (i = 0; i < 3; i++) {
		ck_assert_ptr_nonnull(pool_lacks(s));
		pool_add(&n[i].pooled, &n[i], pool_lacks(s));
		ck_assert_uint_eq(pool_coming(), 1);
		/* On its way it is nobody's yet. */
		ck_assert_uint_eq(pool_ready(), i);
		pool_mark_ready(&n[i].pooled);
		pool_mark_ready(&n[i].pooled);
		ck_assert_uint_eq(pool_coming(), 0);
	}
	ck_assert_ptr_null(pool_lacks(s));
	ck_assert_ptr_null(pool_unwanted(s));
	/* One that ends makes room, once. */
	pool_remove(&n[1].pooled);
	pool_remove(&n[1].pooled);
	ck_assert_uint_eq(pool_ready(), 2);
	ck_assert_ptr_nonnull(pool_lacks(s));
	slice_free(s);
}
END_TEST

START_TEST(the_emptiest_first)
{
	static const char *const names[] = { "default", "a", "b" };
	static const unsigned pools[] = { 4, 2, 0 };
	struct slice *s = slice_of(names, pools, 3);
	struct neuron n[3];

	make_ready(&n[0], &s->profiles[0]);
	ck_assert_str_eq(pool_lacks(s)->name, "a");
	make_ready(&n[1], &s->profiles[1]);
	ck_assert_str_eq(pool_lacks(s)->name, "default");
	make_ready(&n[2], &s->profiles[1]);
	ck_assert_str_eq(pool_lacks(s)->name, "default");
	slice_free(s);
}
END_TEST

START_TEST(taken_once)
{
	struct slice *s = slice_of(two_names, two_pools, 2);
	const struct limits *l = &s->profiles[0].limits;
	struct neuron n[2];

	ck_assert_ptr_null(pool_find("default", l));
	make_ready(&n[0], &s->profiles[0]);
	make_ready(&n[1], &s->profiles[0]);
	ck_assert_ptr_eq(pool_find("default", l), &n[0]);
	ck_assert_ptr_null(n[0].pooled.neuron);
	ck_assert_ptr_eq(pool_find("default", l), &n[1]);
	ck_assert_ptr_null(pool_find("default", l));
	ck_assert_uint_eq(pool_ready(), 0);
	/* What was taken and then ends is in the books no more. */
	pool_remove(&n[0].pooled);
	ck_assert_uint_eq(pool_ready(), 0);
	slice_free(s);
}
END_TEST

START_TEST(not_before_it_is_up)
{
	struct slice *s = slice_of(two_names, two_pools, 2);
	struct neuron n = { 0 };

	pool_add(&n.pooled, &n, &s->profiles[0]);
	ck_assert_ptr_null(pool_find("default", &s->profiles[0].limits));
	pool_remove(&n.pooled);
	ck_assert_uint_eq(pool_coming(), 0);
	slice_free(s);
}
END_TEST

START_TEST(its_own_profile_first)
{
	struct slice *s = slice_of(two_names, two_pools, 2);
	struct neuron n[2];

	make_ready(&n[0], &s->profiles[0]);
	make_ready(&n[1], &s->profiles[1]);
	ck_assert_ptr_eq(pool_find("other", &s->profiles[1].limits), &n[1]);
	/* Another's that is built alike will do. */
	ck_assert_ptr_eq(pool_find("other", &s->profiles[1].limits), &n[0]);
	slice_free(s);
}
END_TEST

/* A row for each limit: is a neuron with another value another neuron? */
START_TEST(what_is_built_in)
{
	static const enum limit in[] = {
		LIMIT_HOME, LIMIT_TMP, LIMIT_INODES, LIMIT_NOFILE, LIMIT_PTY
	};
	struct slice *s = slice_of(two_names, two_pools, 2);
	struct limits other;
	struct neuron n;
	size_t i, j;
	int built;

	for (i = 0; i < LIMIT_COUNT; i++) {
		built = 0;
		for (j = 0; j < sizeof(in) / sizeof(in[0]); j++)
			built |= i == in[j];
		other = s->profiles[0].limits;
		other.v[i]++;
		make_ready(&n, &s->profiles[0]);
		if (built) {
			ck_assert_ptr_null(pool_find("default", &other));
			ck_assert_ptr_null(pool_unwanted(s));
			s->profiles[0].limits = other;
			ck_assert_ptr_eq(pool_unwanted(s), &n);
			s->profiles[0].limits.v[i]--;
			pool_remove(&n.pooled);
		} else
			ck_assert_msg(pool_find("default", &other) == &n,
			    "%s", limit_table[i].keyword);
	}
	slice_free(s);
}
END_TEST

START_TEST(unwanted)
{
	static const char *const names[] = { "default" };
	static const unsigned fewer[] = { 1 };
	struct slice *s = slice_of(two_names, two_pools, 2);
	struct slice *after = slice_of(names, fewer, 1);
	struct neuron n[3], *first;

	make_ready(&n[0], &s->profiles[0]);
	make_ready(&n[1], &s->profiles[0]);
	make_ready(&n[2], &s->profiles[1]);
	ck_assert_ptr_null(pool_unwanted(s));
	first = pool_unwanted(after);
	ck_assert_ptr_nonnull(first);
	pool_remove(&first->pooled);
	ck_assert_ptr_eq(pool_unwanted(after), &n[2]);
	pool_remove(&n[2].pooled);
	ck_assert_ptr_null(pool_unwanted(after));
	ck_assert_uint_eq(pool_ready(), 1);
	slice_free(s);
	slice_free(after);
}
END_TEST

START_TEST(egress_has_none)
{
	struct slice *s = slice_of(two_names, two_pools, 2);

	s->profiles[0].egress.on = 1;
	ck_assert_int_eq(settings_plain(s, "default", 0), 0);
	ck_assert_int_eq(settings_plain(s, "default", 1), 1);
	ck_assert_int_eq(settings_plain(s, "other", 0), 1);
	ck_assert_uint_eq(pool_wanted(s), 1);
	ck_assert_int_eq(settings_check(s, NULL), 0);
	s->profiles[1].egress.on = 1;
	ck_assert_int_eq(settings_check(s, NULL), -1);
	ck_assert_ptr_nonnull(strstr(s->bad_why, "\"other\": pool 1"));
	slice_free(s);
}
END_TEST

START_TEST(all_together)
{
	static const unsigned most[] = { 10, 6 }, over[] = { 10, 7 };
	struct slice *s = slice_of(two_names, most, 2);

	ck_assert_int_eq(settings_check(s, NULL), 0);
	slice_free(s);
	s = slice_of(two_names, over, 2);
	ck_assert_int_eq(settings_check(s, NULL), -1);
	ck_assert_uint_eq(s->bad.line, 2);
	slice_free(s);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("neurond");
	TCase *t = tcase_create("pool");

	tcase_add_test(t, filled_to_its_number);
	tcase_add_test(t, the_emptiest_first);
	tcase_add_test(t, taken_once);
	tcase_add_test(t, not_before_it_is_up);
	tcase_add_test(t, its_own_profile_first);
	tcase_add_test(t, what_is_built_in);
	tcase_add_test(t, unwanted);
	tcase_add_test(t, egress_has_none);
	tcase_add_test(t, all_together);
	suite_add_tcase(s, t);
	return (unit_main(s));
}
