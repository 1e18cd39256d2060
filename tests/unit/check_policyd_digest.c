/* The digest of an approval: each part of a call counts, and where it ends. */

#include <stdlib.h>
#include <string.h>

#include <sha2.h>

#include "../../policyd/approval.h"
#include "unit.h"

static const uint8_t declaration[APPROVAL_DIGEST] = { 1, 2, 3 };
static struct limits limits;

static struct approval_subject
subject(void)
{
	limits_init(&limits);
	return ((struct approval_subject){
		.principal = "uid:1000", .session = "s-1", .neuron = "n-1",
		.tool = "bash", .declaration = declaration,
		.arguments = (const uint8_t *)"{\"args\":{}}",
		.arguments_size = 11, .run = (const uint8_t *)"block",
		.run_size = 5, .input = (const uint8_t *)"in",
		.input_size = 2, .device = 7, .inode = 8, .timeout = 60000,
		.limits = &limits,
	});
}

/* 1 if both have the same digest. */
static int
same(const struct approval_subject *a, const struct approval_subject *b,
    int with_limits)
{
	uint8_t x[APPROVAL_DIGEST], y[APPROVAL_DIGEST];

	approval_digest(a, with_limits, x);
	approval_digest(b, with_limits, y);
	return (memcmp(x, y, sizeof(x)) == 0);
}

static void
counts(const struct approval_subject *other)
{
	struct approval_subject s = subject();

	ck_assert(!same(&s, other, 1));
	ck_assert(!same(&s, other, 0));
}

#define CHANGED(...) do {						\
	struct approval_subject s_ = subject();				\
	__VA_ARGS__;							\
	counts(&s_);							\
} while (0)

START_TEST(each_field)
{
	static const uint8_t other[APPROVAL_DIGEST] = { 1, 2, 4 };

	CHANGED(s_.principal = "uid:1001");
	CHANGED(s_.session = "");
	CHANGED(s_.session = "s-2");
	CHANGED(s_.neuron = "n-2");
	CHANGED(s_.tool = "exec");
	CHANGED(s_.declaration = other);
	CHANGED(s_.arguments = (const uint8_t *)"{\"args\":[]}");
	CHANGED(s_.arguments_size = 10);
	CHANGED(s_.run = (const uint8_t *)"blocK");
	CHANGED(s_.run_size = 4);
	CHANGED(s_.input = (const uint8_t *)"on");
	CHANGED(s_.input_size = 1);
	CHANGED(s_.device = 8);
	CHANGED(s_.inode = 9);
	/* the same bytes, put together in another way */
	CHANGED(s_.session = "s-1n", s_.neuron = "-1");
	CHANGED(s_.arguments_size = 9, s_.run = (const uint8_t *)"}}block",
	    s_.run_size = 7);
	CHANGED(s_.device = 8, s_.inode = 7);
}
END_TEST

START_TEST(no_input_is_not_an_empty_one)
{
	struct approval_subject none = subject(), empty = subject();

	none.input = NULL;
	none.input_size = 0;
	empty.input_size = 0;
	ck_assert(!same(&none, &empty, 1));
	ck_assert(!same(&none, &empty, 0));
}
END_TEST

/* Every limit of a neuron and of a call, and the call's own time. */
START_TEST(limits_count_once)
{
	struct approval_subject a = subject(), b = subject();
	struct limits other;
	size_t i;

	b.timeout = 60001;
	ck_assert(!same(&a, &b, 1));
	ck_assert(same(&a, &b, 0));
	for (i = 0; i < LIMIT_COUNT; i++) {
		b = subject();
		other = limits;
		other.v[i]++;
		b.limits = &other;
		ck_assert_int_eq(same(&a, &b, 1),
		    limit_table[i].scope == SCOPE_HOST || i == LIMIT_POOL);
		ck_assert(same(&a, &b, 0));
	}
}
END_TEST

/* What is remembered is never the digest that somebody decided on. */
START_TEST(two_kinds)
{
	uint8_t x[APPROVAL_DIGEST], y[APPROVAL_DIGEST];
	struct approval_subject s = subject();

	approval_digest(&s, 1, x);
	approval_digest(&s, 0, y);
	ck_assert(memcmp(x, y, sizeof(x)) != 0);
}
END_TEST

static void
put(SHA2_CTX *sha, const void *bytes, uint64_t n)
{
	uint8_t length[8];
	size_t i;

	for (i = 0; i < 8; i++)
		length[i] = (uint8_t)(n >> (8 * i));
	SHA256Update(sha, length, 8);
	SHA256Update(sha, bytes, n);
}

/* The stream of bytes is as the page of the API says. */
START_TEST(as_documented)
{
	static const uint8_t seven[8] = { 7 }, eight[8] = { 8 };
	struct approval_subject s = subject();
	uint8_t x[APPROVAL_DIGEST], y[APPROVAL_DIGEST];
	static const char version[] = "myelin approval 1, any limits";
	SHA2_CTX sha;

	SHA256Init(&sha);
	put(&sha, version, sizeof(version) - 1);
	put(&sha, "uid:1000", 8);
	put(&sha, "s-1", 3);
	put(&sha, "n-1", 3);
	put(&sha, "bash", 4);
	put(&sha, declaration, sizeof(declaration));
	put(&sha, "{\"args\":{}}", 11);
	put(&sha, "block", 5);
	put(&sha, "in", 2);
	put(&sha, seven, 8);
	put(&sha, eight, 8);
	SHA256Final(x, &sha);
	approval_digest(&s, 0, y);
	ck_assert_int_eq(memcmp(x, y, sizeof(x)), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_digest");
	TCase *t = tcase_create("digest");

	tcase_add_test(t, each_field);
	tcase_add_test(t, no_input_is_not_an_empty_one);
	tcase_add_test(t, limits_count_once);
	tcase_add_test(t, two_kinds);
	tcase_add_test(t, as_documented);
	suite_add_tcase(s, t);
	return (unit_main(s));
}
