/*
 * Bounds: work against size, counted in steps and not in time; what happens
 * at a bound; and what happens when there is no memory.
 */
#include <stdio.h>
#include <string.h>

#include "shell/judging_internal.h"
#include "shell/resolver.h"
#include "stub.h"
#include "unit.h"
#include "worst.h"

#define SMALL	(16 * 1024)
#define LARGE	(64 * 1024)
/* A step is a few instructions; this is what any text may take. */
#define STEPS_PER_BYTE	64

static const struct judge_context context = {
	.cwd = "/home/agent/project", .home = "/home/agent",
	.user = "agent", .shell = "/bin/bash"
};

static uint64_t
steps(const struct worst *w, size_t bytes, size_t *len, size_t *memory)
{
	char *text = worst_text(w, bytes, len);
	struct judging *j = judging_new(&context);
	uint64_t n;

	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(j);
	stub_reset();
	judging_run(j, text, *len, DIALECT_BASH);
	ck_assert_int_ne(judging_decides(j)->verdict, 0);
	n = judging_steps(j);
	*memory = j->allocated;
	judging_free(j);
	free(text);
	return (n);
}

START_TEST(test_linear)
{
	const struct worst *w = &worst[_i];
	size_t small, large, memory;
	uint64_t a = steps(w, SMALL, &small, &memory);
	uint64_t b = steps(w, LARGE, &large, &memory);

	ck_assert_msg(b <= (uint64_t)large * STEPS_PER_BYTE,
	    "%s: %llu steps for %zu bytes", w->name, (unsigned long long)b,
	    large);
	/* Four times the text: no more than eight times the work. */
	ck_assert_msg(b <= a * 8 + 65536, "%s: %llu, then %llu steps",
	    w->name, (unsigned long long)a, (unsigned long long)b);
	ck_assert_msg(memory <= JUDGE_ARENA_MAX, "%s", w->name);
}
END_TEST

static const struct finding *
decides(struct judging *j, const char *text, size_t len)
{
	stub_reset();
	judging_run(j, text, len, DIALECT_BASH);
	return (judging_decides(j));
}

/* repeat, then the end: its verdict must be want. */
static void
expect(const char *head, const char *repeat, size_t times, const char *end,
    enum verdict want)
{
	size_t n = strlen(head) + strlen(repeat) * times + strlen(end), i;
	char *text = malloc(n + 1), *p;
	struct judging *j = judging_new(&context);
	const struct finding *f;

	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(j);
	p = stpcpy(text, head);
	for (i = 0; i < times; i++)
		p = stpcpy(p, repeat);
	stpcpy(p, end);
	f = decides(j, text, n);
	ck_assert_msg(f->verdict == want, "%s%s x %zu %s: %s (%s)", head,
	    repeat, times, end, verdict_name(f->verdict), f->rule);
	judging_free(j);
	free(text);
}

/* A bound may turn allow into ask, and never hides what comes behind it. */
START_TEST(test_over_bounds)
{
	expect("", "ls;", 5000, "ls", VERDICT_ASK);
	expect("", "ls;", 5000, "rm /", VERDICT_DENY);
	expect("", "true && ", 100, "ls", VERDICT_ALLOW);
	expect("", "true && ", 5000, "rm /", VERDICT_DENY);
	expect("", "( ", 40, "ls;ls", VERDICT_ASK);
	expect("( ( ( ls", " )", 3, "", VERDICT_ALLOW);
	expect("", "(", 1000, " rm /", VERDICT_ASK);	/* not closed */
	expect("", "$(", 1000, "rm /", VERDICT_ASK);
	expect("echo ", "{a,b}", 7, "", VERDICT_ASK);
	expect("echo ", "{a,b}", 7, "; rm /", VERDICT_DENY);
	expect("x=", "{a,b}", 7, "", VERDICT_ALLOW);
	expect("x=abcdefgh;", "x=$x$x;", 40, "rm /", VERDICT_DENY);
	expect("f() { f; f; f; }; ", "f;", 100, "rm /", VERDICT_DENY);
	expect("x='eval \"$x\"';", "eval \"$x\";", 1, "rm /", VERDICT_DENY);
	expect("x='eval \"$x\"';", "eval \"$x\";", 1, "", VERDICT_ASK);
	expect("", "bash -c 'bash -c \"ls\"';", 2000, "rm /", VERDICT_DENY);
	expect("# ", "a", JUDGE_TEXT_MAX, "", VERDICT_ASK);
	expect("rm /\n# ", "a", JUDGE_TEXT_MAX, "", VERDICT_DENY);
	expect("", "ls \\\n", 10000, "", VERDICT_ALLOW);
}
END_TEST

/* What is nested too deep asks, and what stands behind it is still found. */
START_TEST(test_too_deep)
{
	static const char *const pairs[][2] = {
		{ "( ", " )" }, { "{ ", "; }" }, { "if a; then ", "; fi" },
		{ "while a; do ", "; done" }, { "echo $(", ")" }
	};
	static const size_t depths[] = { 40, 100, 200, 1000 };
	char head[16 * 1024], *p;
	size_t i, k, n;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		for (k = 0; k < sizeof(depths) / sizeof(depths[0]); k++) {
			p = head;
			*p = '\0';
			for (n = 0; n < depths[k]; n++)
				p = stpcpy(p, pairs[i][0]);
			stpcpy(p, "ls");
			expect(head, pairs[i][1], depths[k], "", VERDICT_ASK);
			expect(head, pairs[i][1], depths[k], "; rm /",
			    VERDICT_DENY);
		}
}
END_TEST

/* Any number of variables, and the 257th asks. */
START_TEST(test_variables)
{
	char *text = malloc(400 * 16), *p = text;
	struct judging *j;
	int i;

	ck_assert_ptr_nonnull(text);
	for (i = 0; i < 200; i++)
		p += sprintf(p, "v%d=1\n", i);
	j = judging_new(&context);
	ck_assert_int_eq(decides(j, text, (size_t)(p - text))->verdict,
	    VERDICT_ALLOW);
	judging_free(j);
	for (; i < 300; i++)
		p += sprintf(p, "v%d=1\n", i);
	j = judging_new(&context);
	ck_assert_int_eq(decides(j, text, (size_t)(p - text))->verdict,
	    VERDICT_ASK);
	judging_free(j);
	p += sprintf(p, "rm /\n");
	j = judging_new(&context);
	ck_assert_int_eq(decides(j, text, (size_t)(p - text))->verdict,
	    VERDICT_DENY);
	judging_free(j);
	free(text);
}
END_TEST

START_TEST(test_admission)
{
	struct judging *j = judging_new(&context);

	ck_assert_int_eq(decides(j, "ls\0 a", 5)->verdict, VERDICT_ASK);
	judging_free(j);
	j = judging_new(&context);
	ck_assert_int_eq(decides(j, "ls \xff", 4)->verdict, VERDICT_ASK);
	judging_free(j);
	j = judging_new(&context);
	ck_assert_int_eq(decides(j, "ls \xc3\xa4", 5)->verdict,
	    VERDICT_ALLOW);
	judging_free(j);
	j = judging_new(&context);
	ck_assert_int_eq(decides(j, "rm / \xed\xa0\x80", 8)->verdict,
	    VERDICT_DENY);
	judging_free(j);
}
END_TEST

/*
 * Without memory at any point: never allow, and a deny that was found before
 * stands.
 */
START_TEST(test_memory)
{
	const char *text = "x=1; echo $x{a,b} `ls`; f() { ls | cat; }; f\n"
	    "rm /\nfor i in 1 2; do echo $i; done; cat <<E\n$x\nE\n";
	enum verdict verdict;
	struct judging *j;
	size_t bytes, denied = 0, asked = 0;

	for (bytes = 1; bytes < 2 * 1024 * 1024; bytes += 16 * 1024) {
		j = judging_new(&context);
		ck_assert_ptr_nonnull(j);
		judging_fail_at(j, bytes);
		verdict = decides(j, text, strlen(text))->verdict;
		ck_assert(verdict == VERDICT_ASK || verdict == VERDICT_DENY);
		asked += verdict == VERDICT_ASK;
		denied += verdict == VERDICT_DENY;
		judging_free(j);
	}
	ck_assert(asked > 0 && denied > 0);
}
END_TEST

static void
no_memory(void *arg)
{
	struct judging *j = arg;

	judging_alloc(j, JUDGE_ARENA_MAX + 1);
}

struct probe {
	struct judging	*j;
	enum verdict	 inner;
};

static void
find_deny(void *arg)
{
	struct probe *p = arg;
	struct finding f = { .verdict = VERDICT_DENY, .class = "hard:wipe",
	    .rule = "x", .next = "" };

	judging_find(p->j, &f);
}

static void
probes(struct judging *j, void *arg)
{
	struct finding f = { .verdict = VERDICT_DENY, .class = "hard:disk",
	    .rule = "before", .next = "" };
	struct finding allow = { .verdict = VERDICT_ALLOW, .class = "read",
	    .rule = "before", .next = "" };
	struct probe p = { j, 0 };

	j->resolver = resolver_new(j);
	judging_find(j, &allow);
	p.inner = judging_probe(j, find_deny, &p);
	ck_assert_int_eq(p.inner, VERDICT_DENY);
	/* nothing of it is kept */
	ck_assert_int_eq(judging_decides(j)->verdict, VERDICT_ALLOW);
	ck_assert_uint_eq(judging_count(j), 1);
	judging_find(j, &f);
	if (arg != NULL)
		judging_probe(j, no_memory, j);
}

/* A probe keeps nothing, and loses nothing when memory runs out in it. */
START_TEST(test_probe)
{
	struct judging *j = judging_new(&context);
	int yes = 1;

	judging_guard(j, probes, NULL);
	ck_assert_str_eq(judging_decides(j)->rule, "before");
	judging_free(j);
	j = judging_new(&context);
	judging_guard(j, probes, &yes);
	ck_assert_int_eq(judging_decides(j)->verdict, VERDICT_DENY);
	ck_assert_str_eq(judging_decides(j)->rule, "before");
	judging_free(j);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("check_shell_bounds");
	TCase *tc = tcase_create("bounds");

	tcase_add_loop_test(tc, test_linear, 0, (int)nworst);
	tcase_add_test(tc, test_over_bounds);
	tcase_add_test(tc, test_too_deep);
	tcase_add_test(tc, test_variables);
	tcase_add_test(tc, test_admission);
	tcase_add_test(tc, test_memory);
	tcase_add_test(tc, test_probe);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
