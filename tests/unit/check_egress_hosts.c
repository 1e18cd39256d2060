/*
 * The rules: deny wins, nothing is allowed that no line or grant allows; and
 * how refusals are told.
 */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "hosts.h"
#include "protocol.h"
#include "unit.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

static char file[] = "myelin.conf";
static char post[] = "POST", *methods[] = { post };

#define LINE(n, yes, below, host)					\
	.where = { file, n }, .allow = yes, .suffix = below,		\
	.name = (char []){ host }

static struct cf_host lines[] = {
	{ LINE(1, 1, 0, "ok.com") },
	{ LINE(2, 1, 1, "wild.org"), .flags = HOST_F_PRIVATE },
	{ LINE(3, 1, 0, "git.org"), .ports = { 22, 9418 }, .nports = 2,
	    .flags = HOST_F_OPAQUE },
	{ LINE(4, 1, 0, "post.com"), .methods = { methods, 1 } },
	{ LINE(5, 0, 0, "bad.wild.org") },
	{ LINE(6, 0, 1, "inner.wild.org"), .ports = { 80 }, .nports = 1 },
	{ LINE(7, 1, 0, "11.0.0.1") },
	{ LINE(8, 1, 0, "2001:4860:0:0::1"), .flags = HOST_F_OPAQUE },
	{ LINE(9, 0, 0, "part.wild.org"), .methods = { methods, 1 } },
	{ LINE(10, 1, 0, "a.wild.org"), .flags = HOST_F_OPAQUE },
	{ LINE(11, 0, 0, "11.0.0.9") }
};
static struct cf_egress egress = {
	.on = 1, .hosts = lines, .nhosts = NITEMS(lines)
};

static enum refusal
judge(const struct cf_egress *e, const struct grants *g, const char *name,
    uint16_t port, const char *method, uint64_t now, struct host_verdict *v)
{
	struct want w = { NULL, port, method, 0 };
	struct host h;
	const char *why;

	ck_assert_int_eq(host_read(name, strlen(name), &h, &why),
	    REFUSE_NOT);
	w.host = &h;
	hosts_judge(e, g, &w, now, v);
	return (v->why);
}

static const struct {
	const char	*host;
	uint16_t	 port;
	const char	*method;
	enum refusal	 why;
	unsigned	 flags;
	const char	*rule;
} cases[] = {
	{ "ok.com", 443, NULL, REFUSE_NOT, 0, "myelin.conf:1" },
	{ "ok.com", 80, "GET", REFUSE_NOT, 0, "myelin.conf:1" },
	{ "ok.com", 80, "HEAD", REFUSE_NOT, 0, "myelin.conf:1" },
	{ "ok.com", 80, "OPTIONS", REFUSE_NOT, 0, "myelin.conf:1" },
	{ "ok.com", 80, "POST", REFUSE_METHOD, 0, "method" },
	{ "ok.com", 80, "get", REFUSE_METHOD, 0, "method" },
	{ "ok.com", 22, NULL, REFUSE_PORT, 0, "port" },
	{ "ok.com", 25, NULL, REFUSE_PORT, 0, "port" },
	{ "ok.com", 6379, NULL, REFUSE_PORT, 0, "port" },
	{ "OK.com.", 443, NULL, REFUSE_NOT, 0, "myelin.conf:1" },
	{ "ok.com.evil.com", 443, NULL, REFUSE_NOT_LISTED, 0, "not_listed" },
	{ "evil-ok.com", 443, NULL, REFUSE_NOT_LISTED, 0, "not_listed" },
	{ "x.ok.com", 443, NULL, REFUSE_NOT_LISTED, 0, "not_listed" },
	{ "com", 443, NULL, REFUSE_NOT_LISTED, 0, "not_listed" },
	{ "x.wild.org", 443, NULL, REFUSE_NOT, HOST_F_PRIVATE,
	    "myelin.conf:2" },
	{ "x.y.wild.org", 80, "GET", REFUSE_NOT, HOST_F_PRIVATE,
	    "myelin.conf:2" },
	{ "wild.org", 443, NULL, REFUSE_NOT_LISTED, 0, "not_listed" },
	{ "xwild.org", 443, NULL, REFUSE_NOT_LISTED, 0, "not_listed" },
	{ "a.wild.org", 443, NULL, REFUSE_NOT, HOST_F_PRIVATE |
	    HOST_F_OPAQUE, "myelin.conf:2" },
	{ "git.org", 22, NULL, REFUSE_NOT, HOST_F_OPAQUE, "myelin.conf:3" },
	{ "git.org", 443, NULL, REFUSE_PORT, 0, "port" },
	{ "post.com", 80, "POST", REFUSE_NOT, 0, "myelin.conf:4" },
	{ "post.com", 80, "GET", REFUSE_NOT, 0, "myelin.conf:4" },
	{ "post.com", 80, "PUT", REFUSE_METHOD, 0, "method" },
	{ "bad.wild.org", 443, NULL, REFUSE_DENIED, 0, "myelin.conf:5" },
	{ "bad.wild.org", 22, NULL, REFUSE_DENIED, 0, "myelin.conf:5" },
	{ "a.inner.wild.org", 80, "GET", REFUSE_DENIED, 0, "myelin.conf:6" },
	{ "a.inner.wild.org", 443, NULL, REFUSE_NOT, HOST_F_PRIVATE,
	    "myelin.conf:2" },
	{ "part.wild.org", 80, "POST", REFUSE_DENIED, 0, "myelin.conf:9" },
	{ "part.wild.org", 80, "GET", REFUSE_NOT, HOST_F_PRIVATE,
	    "myelin.conf:2" },
	{ "part.wild.org", 443, NULL, REFUSE_DENIED, 0, "myelin.conf:9" },
	{ "11.0.0.1", 443, NULL, REFUSE_NOT, 0, "myelin.conf:7" },
	{ "11.0.0.2", 443, NULL, REFUSE_LITERAL, 0, "address_literal" },
	{ "11.0.0.9", 443, NULL, REFUSE_DENIED, 0, "myelin.conf:11" },
	{ "127.0.0.1", 80, "GET", REFUSE_LITERAL, 0, "address_literal" },
	{ "[2001:4860::1]", 443, NULL, REFUSE_NOT, HOST_F_OPAQUE,
	    "myelin.conf:8" },
	{ "[2001:4860::2]", 443, NULL, REFUSE_LITERAL, 0,
	    "address_literal" }
};

START_TEST(lines_decide)
{
	struct host_verdict v;
	size_t i;

	for (i = 0; i < NITEMS(cases); i++) {
		(void)judge(&egress, NULL, cases[i].host, cases[i].port,
		    cases[i].method, 0, &v);
		ck_assert_msg(v.why == cases[i].why, "%s:%u %s: %s",
		    cases[i].host, cases[i].port, cases[i].method,
		    refusal_word(v.why));
		ck_assert_str_eq(v.rule, cases[i].rule);
		if (v.why == REFUSE_NOT)
			ck_assert_uint_eq(v.flags, cases[i].flags);
	}
}
END_TEST

/* An empty list denies all, and so does what is not there. */
START_TEST(nothing_allows_nothing)
{
	struct cf_egress empty = { .on = 1 }, off = { .on = 0,
	    .hosts = lines, .nhosts = NITEMS(lines) };
	struct host_verdict v;
	struct host h;
	const char *why;

	ck_assert_int_eq(judge(&empty, NULL, "ok.com", 443, NULL, 0, &v),
	    REFUSE_NOT_LISTED);
	ck_assert_int_eq(judge(&off, NULL, "ok.com", 443, NULL, 0, &v),
	    REFUSE_NO_PROFILE);
	ck_assert_int_eq(judge(NULL, NULL, "ok.com", 443, NULL, 0, &v),
	    REFUSE_NO_PROFILE);
	ck_assert_str_eq(v.rule, "no_profile");
	ck_assert_int_eq(host_read("ok.com", 6, &h, &why), REFUSE_NOT);
	hosts_judge_name(NULL, NULL, &h, 0, &v);
	ck_assert_int_eq(v.why, REFUSE_NO_PROFILE);
	hosts_judge_name(&empty, NULL, &h, 0, &v);
	ck_assert_int_eq(v.why, REFUSE_NOT_LISTED);
}
END_TEST

START_TEST(a_call_that_may_write)
{
	struct host h;
	const char *why;
	struct want w = { &h, 80, "POST", 1 };
	struct host_verdict v;

	ck_assert_int_eq(host_read("ok.com", 6, &h, &why), REFUSE_NOT);
	hosts_judge(&egress, NULL, &w, 0, &v);
	ck_assert_int_eq(v.why, REFUSE_NOT);
	ck_assert_int_eq(host_read("evil.com", 8, &h, &why), REFUSE_NOT);
	hosts_judge(&egress, NULL, &w, 0, &v);
	ck_assert_int_eq(v.why, REFUSE_NOT_LISTED);
	/* A line that denies a method does so whoever asks. */
	ck_assert_int_eq(host_read("part.wild.org", 13, &h, &why),
	    REFUSE_NOT);
	hosts_judge(&egress, NULL, &w, 0, &v);
	ck_assert_int_eq(v.why, REFUSE_DENIED);
}
END_TEST

static void
grant(struct grants *g, const char *name, uint16_t port, unsigned what,
    unsigned flags, uint64_t now)
{
	struct host h;
	const char *why;

	ck_assert_int_eq(host_read(name, strlen(name), &h, &why),
	    REFUSE_NOT);
	ck_assert_int_eq(grants_add(g, &h, port, what, flags, now), 0);
}

START_TEST(grants_allow)
{
	struct grants *g = grants_new();
	struct host_verdict v;

	ck_assert_ptr_nonnull(g);
	grant(g, "new.net", 443, EGRESS_GRANT_SESSION, 0, 5);
	grant(g, "rw.net", 0, EGRESS_GRANT_SESSION, EGRESS_F_WRITES, 5);
	grant(g, "bad.wild.org", 443, EGRESS_GRANT_SESSION, 0, 5);
	grant(g, "11.0.0.2", 80, EGRESS_GRANT_SESSION, 0, 5);
	ck_assert_int_eq(judge(&egress, g, "new.net", 443, NULL, 9, &v),
	    REFUSE_NOT);
	ck_assert_str_eq(v.rule, "grant");
	ck_assert_uint_eq(v.flags, 0);
	ck_assert_int_eq(grants_use(g, v.grant), 0);
	ck_assert_int_eq(judge(&egress, g, "new.net", 80, "GET", 9, &v),
	    REFUSE_PORT);
	ck_assert_int_eq(judge(&egress, g, "x.new.net", 443, NULL, 9, &v),
	    REFUSE_NOT_LISTED);
	ck_assert_int_eq(judge(&egress, g, "rw.net", 80, "PUT", 9, &v),
	    REFUSE_NOT);
	ck_assert_int_eq(judge(&egress, g, "rw.net", 443, NULL, 9, &v),
	    REFUSE_NOT);
	ck_assert_int_eq(judge(&egress, g, "rw.net", 22, NULL, 9, &v),
	    REFUSE_PORT);
	ck_assert_int_eq(judge(&egress, g, "11.0.0.2", 80, "GET", 9, &v),
	    REFUSE_NOT);
	ck_assert_int_eq(judge(&egress, g, "11.0.0.2", 80, "PUT", 9, &v),
	    REFUSE_METHOD);
	/* Deny wins over what a person granted, and so does no profile. */
	ck_assert_int_eq(judge(&egress, g, "bad.wild.org", 443, NULL, 9, &v),
	    REFUSE_DENIED);
	ck_assert_int_eq(judge(NULL, g, "new.net", 443, NULL, 9, &v),
	    REFUSE_NO_PROFILE);
	/* What a line allows to read, a grant lets write. */
	grant(g, "ok.com", 80, EGRESS_GRANT_SESSION, EGRESS_F_WRITES, 9);
	ck_assert_int_eq(judge(&egress, g, "ok.com", 80, "POST", 9, &v),
	    REFUSE_NOT);
	ck_assert_str_eq(v.rule, "grant");
	grants_free(g);
}
END_TEST

START_TEST(grants_for_once)
{
	struct grants *g = grants_new();
	struct host_verdict v;

	ck_assert_ptr_nonnull(g);
	grant(g, "one.net", 443, EGRESS_GRANT_ONCE, 0, 1000);
	ck_assert_uint_eq(grants_count(g, 1000), 1);
	ck_assert_int_eq(judge(&egress, g, "one.net", 443, NULL, 1000 +
	    GRANT_ONCE_MS - 1, &v), REFUSE_NOT);
	ck_assert_int_eq(grants_use(g, v.grant), 1);
	ck_assert_int_eq(judge(&egress, g, "one.net", 443, NULL, 1001, &v),
	    REFUSE_NOT_LISTED);
	grant(g, "one.net", 443, EGRESS_GRANT_ONCE, 0, 1000);
	ck_assert_int_eq(judge(&egress, g, "one.net", 443, NULL, 1000 +
	    GRANT_ONCE_MS, &v), REFUSE_NOT_LISTED);
	/* What the session has is used before what is for once. */
	grant(g, "one.net", 443, EGRESS_GRANT_SESSION, 0, 1000);
	ck_assert_int_eq(judge(&egress, g, "one.net", 443, NULL, 1001, &v),
	    REFUSE_NOT);
	ck_assert_int_eq(grants_use(g, v.grant), 0);
	ck_assert_int_eq(grants_use(g, NULL), 0);
	ck_assert_int_eq(grants_use(NULL, NULL), 0);
	grants_free(g);
}
END_TEST

/* What was for the session, and with these flags alone. */
START_TEST(grants_taken_back)
{
	struct grants *g = grants_new();
	struct host_verdict v;
	struct host h;
	const char *why;

	ck_assert_ptr_nonnull(g);
	ck_assert_int_eq(host_read("one.net", 7, &h, &why), REFUSE_NOT);
	grants_remove(g, &h, 443, 0);
	grant(g, "one.net", 443, EGRESS_GRANT_SESSION, 0, 1);
	grant(g, "one.net", 443, EGRESS_GRANT_SESSION, EGRESS_F_WRITES, 1);
	grant(g, "one.net", 443, EGRESS_GRANT_ONCE, 0, 1);
	grant(g, "two.net", 443, EGRESS_GRANT_SESSION, 0, 1);
	grants_remove(g, &h, 80, 0);
	ck_assert_uint_eq(grants_count(g, 1), 4);
	grants_remove(g, &h, 443, 0);
	ck_assert_uint_eq(grants_count(g, 1), 3);
	grants_remove(g, &h, 443, EGRESS_F_WRITES);
	ck_assert_uint_eq(grants_count(g, 1), 2);
	ck_assert_int_eq(judge(&egress, g, "one.net", 443, NULL, 1, &v),
	    REFUSE_NOT);
	ck_assert_int_eq(grants_use(g, v.grant), 1);
	ck_assert_int_eq(judge(&egress, g, "one.net", 443, NULL, 1, &v),
	    REFUSE_NOT_LISTED);
	ck_assert_int_eq(judge(&egress, g, "two.net", 443, NULL, 1, &v),
	    REFUSE_NOT);
	grants_free(g);
}
END_TEST

START_TEST(grants_have_a_bound)
{
	struct grants *g = grants_new();
	struct host h;
	char name[32];
	const char *why;
	unsigned i;

	ck_assert_ptr_nonnull(g);
	for (i = 0; i < GRANTS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "h%u.net", i);
		grant(g, name, 443, EGRESS_GRANT_ONCE, 0, 1);
	}
	ck_assert_int_eq(host_read("more.net", 8, &h, &why), REFUSE_NOT);
	ck_assert_int_eq(grants_add(g, &h, 1, EGRESS_GRANT_ONCE, 0, 1), -1);
	grant(g, "h7.net", 443, EGRESS_GRANT_ONCE, 0, 1);
	ck_assert_uint_eq(grants_count(g, 1), GRANTS_MAX);
	/* Those that are over make room. */
	ck_assert_int_eq(grants_add(g, &h, 1, EGRESS_GRANT_ONCE, 0,
	    GRANT_ONCE_MS + 1), 0);
	ck_assert_uint_eq(grants_count(g, GRANT_ONCE_MS + 1), 1);
	grants_free(g);
}
END_TEST

static const struct {
	const char	*host;
	enum refusal	 why;
} named[] = {
	{ "ok.com", REFUSE_NOT },
	{ "git.org", REFUSE_NOT },
	{ "x.wild.org", REFUSE_NOT },
	{ "a.inner.wild.org", REFUSE_NOT },
	{ "part.wild.org", REFUSE_NOT },
	{ "bad.wild.org", REFUSE_DENIED },
	{ "wild.org", REFUSE_NOT_LISTED },
	{ "granted.net", REFUSE_NOT },
	{ "secret.evil.com", REFUSE_NOT_LISTED }
};

START_TEST(names_for_a_resolver)
{
	struct grants *g = grants_new();
	struct host_verdict v;
	struct host h;
	const char *why;
	size_t i;

	ck_assert_ptr_nonnull(g);
	grant(g, "granted.net", 9999, EGRESS_GRANT_SESSION, 0, 1);
	grant(g, "bad.wild.org", 443, EGRESS_GRANT_SESSION, 0, 1);
	for (i = 0; i < NITEMS(named); i++) {
		ck_assert_int_eq(host_read(named[i].host,
		    strlen(named[i].host), &h, &why), REFUSE_NOT);
		hosts_judge_name(&egress, g, &h, 1, &v);
		ck_assert_msg(v.why == named[i].why, "%s", named[i].host);
	}
	grants_free(g);
}
END_TEST

START_TEST(refusals_are_told)
{
	char *text, next[256];
	json_t *body;
	enum refusal why;
	size_t n;
	int i;

	for (i = REFUSE_NOT + 1; i < REFUSE_COUNT; i++) {
		why = (enum refusal)i;
		ck_assert_int_eq(refusal_find(refusal_word(why)), why);
		ck_assert(refusal_status(why) >= 400 &&
		    refusal_status(why) < 600);
		ck_assert_int_eq(refusal_denial(why),
		    refusal_status(why) < 500);
	}
	ck_assert_str_eq(refusal_word(REFUSE_NOT), "?");
	ck_assert_str_eq(refusal_word(REFUSE_COUNT), "?");
	ck_assert_int_eq(refusal_find("nothing"), REFUSE_NOT);
	text = refusal_answer(REFUSE_NOT_LISTED, NULL, "e\"vil\r\n\xff.com",
	    "not_listed", 0, &n);
	ck_assert_ptr_nonnull(text);
	ck_assert_uint_eq(n, strlen(text));
	ck_assert(strncmp(text, "HTTP/1.1 403 Forbidden\r\n", 24) == 0);
	body = json_loads(strstr(text, "\r\n\r\n"), 0, NULL);
	ck_assert_ptr_nonnull(body);
	ck_assert_str_eq(json_string_value(json_object_get(body, "error")),
	    "not_listed");
	ck_assert_str_eq(json_string_value(json_object_get(body, "detail")),
	    refusal_sentence(REFUSE_NOT_LISTED));
	ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(body,
	    "host")), "<FF>.com"));
	json_decref(body);
	free(text);
	text = refusal_answer(REFUSE_TIMEOUT, "x", NULL, NULL, 1, &n);
	ck_assert_ptr_nonnull(text);
	ck_assert_str_eq(text + n - 4, "\r\n\r\n");
	free(text);
	refusal_next(REFUSE_NOT_LISTED, "ok.com", 443, next, sizeof(next));
	ck_assert_str_eq(next,
	    "request_egress {\"host\":\"ok.com\",\"port\":443}");
	refusal_next(REFUSE_METHOD, "ok.com", 80, next, sizeof(next));
	ck_assert_ptr_nonnull(strstr(next, "\"write\":true"));
	refusal_next(REFUSE_DENIED, "ok.com", 80, next, sizeof(next));
	ck_assert_str_eq(next, "");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("egress_hosts");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, lines_decide);
	tcase_add_test(tc, nothing_allows_nothing);
	tcase_add_test(tc, a_call_that_may_write);
	tcase_add_test(tc, grants_allow);
	tcase_add_test(tc, grants_for_once);
	tcase_add_test(tc, grants_taken_back);
	tcase_add_test(tc, grants_have_a_bound);
	tcase_add_test(tc, names_for_a_resolver);
	tcase_add_test(tc, refusals_are_told);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
