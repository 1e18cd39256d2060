/*
 * slice.h: sections survive the wire, broken bytes never become a slice, and
 * a workspace pattern matches what its writer meant.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "protocol.h"
#include "slice.h"
#include "trees.h"
#include "unit.h"

#define ALL	(SLICE_STATE | SLICE_NEURONS | SLICE_PROFILES |		\
    SLICE_PRINCIPALS | SLICE_OPERATORS | SLICE_PRESETS | SLICE_LISTENS | \
    SLICE_ENV | SLICE_RULES | SLICE_HOOKS)

static void
example_egress(struct cf_egress *e)
{
	struct cf_host *h;

	e->on = 1;
	e->hosts = calloc(2, sizeof(*e->hosts));
	e->nhosts = 2;
	h = &e->hosts[0];
	h->where.file = strdup("myelin.conf");
	h->where.line = 8;
	h->allow = h->suffix = 1;
	h->name = strdup("debian.org");
	h->ports[0] = 443;
	h->ports[1] = 65535;
	h->nports = 2;
	strings_add(&h->methods, "PUT");
	h->flags = HOST_F_OPAQUE | HOST_F_PRIVATE;
	e->hosts[1].name = strdup("2001:db8::1");
}

static void
example_trees(struct cf_trees *t)
{
	t->where.file = strdup("myelin.conf");
	t->where.line = 11;
	t->root = strdup("/var/lib/machines/dev");
	t->overlay = 1;
	t->mounts = calloc(2, sizeof(*t->mounts));
	t->nmounts = 2;
	t->mounts[0].where.line = 12;
	t->mounts[0].path = strdup("/srv/data");
	t->mounts[0].at = strdup("/data sets/x");
	t->mounts[1].path = strdup("/opt");
	t->mounts[1].at = strdup("/opt");
}

static struct slice *
example(void)
{
	struct slice *s = slice_new();

	s->instance = strdup("main");
	s->state = strdup("/var/lib/myelin");
	s->uids_start = 1900000000;
	s->uids_count = 4096;
	s->profiles = calloc(1, sizeof(*s->profiles));
	s->nprofiles = 1;
	strcpy(s->profiles[0].name, "default");
	s->profiles[0].mode = MODE_NATIVE;
	s->profiles[0].where.file = strdup("myelin.conf");
	s->profiles[0].where.line = 7;
	limits_init(&s->profiles[0].limits);
	s->profiles[0].limits.v[LIMIT_PIDS] = 99;
	s->profiles[0].variant = VARIANT_STRICT;
	s->profiles[0].sharing = SHARING_NONE;
	s->profiles[0].read_only = 1;
	example_trees(&s->profiles[0].trees);
	example_egress(&s->profiles[0].egress);
	s->principals = calloc(1, sizeof(*s->principals));
	s->nprincipals = 1;
	s->principals[0].who = WHO_GROUP;
	s->principals[0].id = 4711;
	s->principals[0].name = strdup("myelin");
	s->principals[0].owner = OWNER_PEER;
	strcpy(s->principals[0].preset, "standard");
	strings_add(&s->principals[0].workspaces, "/srv/src/*");
	s->listens = calloc(1, sizeof(*s->listens));
	s->nlistens = 1;
	s->listens[0].plane = PLANE_AGENT;
	s->listens[0].path = strdup("/run/myelin/api.sock");
	s->listens[0].mode = 0660;
	strings_add(&s->env_allow, "FOO");
	strings_add(&s->own, "/var/lib/myelin");
	s->rules = calloc(1, sizeof(*s->rules));
	s->nrules = 1;
	s->rules[0].where.file = strdup("myelin.conf");
	s->rules[0].where.line = 9;
	s->rules[0].verdict = VERDICT_DENY;
	strings_add(&s->rules[0].of[RULE_COMMAND], "git");
	strings_add(&s->rules[0].of[RULE_COMMAND], "push");
	strings_add(&s->rules[0].of[RULE_MARK], "network-write");
	s->rules[0].tests = calloc(1, sizeof(*s->rules[0].tests));
	s->rules[0].ntests = 1;
	s->rules[0].tests[0].where.line = 10;
	s->rules[0].tests[0].negative = 1;
	s->rules[0].tests[0].text = strdup("git pull");
	s->hooks = calloc(1, sizeof(*s->hooks));
	s->nhooks = 1;
	strcpy(s->hooks[0].name, "late");
	s->hooks[0].where.file = strdup("hooks.conf");
	s->hooks[0].where.line = 3;
	return (s);
}

static size_t
encoded(uint8_t *buf, size_t size, unsigned sections)
{
	struct slice *s = example();
	int fd = slice_encode(s, sections);
	ssize_t n;

	ck_assert_int_ne(fd, -1);
	n = pread(fd, buf, size, 0);
	ck_assert_int_gt(n, 0);
	close(fd);
	slice_free(s);
	return ((size_t)n);
}

START_TEST(all_sections_come_back)
{
	uint8_t buf[8192];
	size_t n = encoded(buf, sizeof(buf), ALL);
	const char *why = NULL;
	struct slice *s = slice_decode(buf, n, &why);
	char text[RULE_TEXT_MAX];

	ck_assert_msg(s != NULL, "%s", why);
	ck_assert_str_eq(s->instance, "main");
	ck_assert_uint_eq(slice_profile(s, "default")->limits.v[LIMIT_PIDS],
	    99);
	ck_assert_uint_eq(s->profiles[0].where.line, 7);
	ck_assert_uint_eq(s->principals[0].id, 4711);
	ck_assert_str_eq(s->principals[0].workspaces.v[0], "/srv/src/*");
	ck_assert_str_eq(s->listens[0].path, "/run/myelin/api.sock");
	ck_assert_int_eq(strings_has(&s->env_allow, "FOO"), 1);
	ck_assert_uint_eq(s->nrules, 1);
	(void)rule_text(&s->rules[0], text, sizeof(text));
	ck_assert_str_eq(text, "deny mark \"network-write\" command \"git\" "
	    "\"push\"");
	ck_assert_uint_eq(s->rules[0].where.line, 9);
	ck_assert_str_eq(s->rules[0].tests[0].text, "git pull");
	ck_assert_int_eq(s->rules[0].tests[0].negative, 1);
	ck_assert_uint_eq(s->rules[0].tests[0].where.line, 10);
	ck_assert_int_eq(strings_has(&s->own, "/var/lib/myelin"), 1);
	ck_assert_ptr_null(s->cgroup_parent);
	ck_assert_ptr_null(slice_profile(s, "other"));
	slice_free(s);
}
END_TEST

START_TEST(what_is_built_from_comes_back)
{
	uint8_t buf[8192];
	size_t n = encoded(buf, sizeof(buf), ALL);
	const char *why = NULL;
	struct slice *s = slice_decode(buf, n, &why), *same = example();
	const struct cf_profile *p;

	ck_assert_msg(s != NULL, "%s", why);
	p = slice_profile(s, "default");
	ck_assert_int_eq(p->variant, VARIANT_STRICT);
	ck_assert_int_eq(p->sharing, SHARING_NONE);
	ck_assert_int_eq(p->read_only, 1);
	ck_assert_str_eq(p->trees.root, "/var/lib/machines/dev");
	ck_assert_uint_eq(p->trees.where.line, 11);
	ck_assert_int_eq(p->trees.overlay, 1);
	ck_assert_uint_eq(p->trees.nmounts, 2);
	ck_assert_str_eq(p->trees.mounts[0].path, "/srv/data");
	ck_assert_str_eq(p->trees.mounts[0].at, "/data sets/x");
	ck_assert_uint_eq(p->trees.mounts[0].where.line, 12);
	ck_assert_int_eq(trees_same(&p->trees, &same->profiles[0].trees), 1);
	free(same->profiles[0].trees.mounts[1].at);
	same->profiles[0].trees.mounts[1].at = strdup("/other");
	ck_assert_int_eq(trees_same(&p->trees, &same->profiles[0].trees), 0);
	slice_free(same);
	slice_free(s);
}
END_TEST

/* What root opens or makes is absolute, clean and one line. */
START_TEST(no_other_path_gets_through)
{
	static const char *const bad[] = { "", "/", "srv", "/srv/", "/srv/..",
	    "/srv//x", "/srv/./x", "/srv\n/x" };
	char *path;
	uint8_t buf[8192];
	struct slice *s;
	const char *why;
	ssize_t n;
	int fd, which;

	which = _i % 3;
	s = example();
	path = strdup(bad[_i / 3]);
	if (which == 0) {
		free(s->profiles[0].trees.root);
		s->profiles[0].trees.root = path;
	} else if (which == 1) {
		free(s->profiles[0].trees.mounts[1].path);
		s->profiles[0].trees.mounts[1].path = path;
	} else {
		free(s->profiles[0].trees.mounts[1].at);
		s->profiles[0].trees.mounts[1].at = path;
	}
	fd = slice_encode(s, ALL);
	n = pread(fd, buf, sizeof(buf), 0);
	ck_assert_int_gt(n, 0);
	close(fd);
	slice_free(s);
	/* an overlay of no root is none either */
	ck_assert_ptr_null(slice_decode(buf, (size_t)n, &why));
}
END_TEST

START_TEST(egress_comes_back)
{
	uint8_t buf[8192];
	size_t n = encoded(buf, sizeof(buf), SLICE_PROFILES);
	const char *why = NULL;
	struct slice *s = slice_decode(buf, n, &why);
	const struct cf_egress *e;

	ck_assert_msg(s != NULL, "%s", why);
	e = &s->profiles[0].egress;
	ck_assert_int_eq(e->on, 1);
	ck_assert_int_eq(e->transparent, 0);
	ck_assert_uint_eq(egress_listeners(e), LISTENER_PROXY);
	ck_assert_int_eq(egress_allows(e), 1);
	ck_assert_uint_eq(e->nhosts, 2);
	ck_assert_uint_eq(e->hosts[0].where.line, 8);
	ck_assert_str_eq(e->hosts[0].name, "debian.org");
	ck_assert_int_eq(e->hosts[0].suffix, 1);
	ck_assert_uint_eq(e->hosts[0].nports, 2);
	ck_assert_uint_eq(e->hosts[0].ports[1], 65535);
	ck_assert_uint_eq(e->hosts[0].methods.n, 1);
	ck_assert_str_eq(e->hosts[0].methods.v[0], "PUT");
	ck_assert_uint_eq(e->hosts[0].flags, HOST_F_OPAQUE | HOST_F_PRIVATE);
	ck_assert_int_eq(e->hosts[1].allow, 0);
	ck_assert_str_eq(e->hosts[1].name, "2001:db8::1");
	slice_free(s);
}
END_TEST

/* Encoded, and decoded again, if it is a slice. */
static int
is_slice(const struct slice *s)
{
	static uint8_t buf[8192];
	struct slice *back;
	const char *why;
	ssize_t n;
	int fd;

	ck_assert_int_ne(fd = slice_encode(s, SLICE_PROFILES), -1);
	ck_assert_int_gt(n = pread(fd, buf, sizeof(buf), 0), 0);
	close(fd);
	back = slice_decode(buf, (size_t)n, &why);
	slice_free(back);
	return (back != NULL);
}

/* More than a profile may have, and options that are none. */
START_TEST(egress_is_bounded)
{
	struct slice *s = example();
	struct cf_host *h = &s->profiles[0].egress.hosts[0];

	ck_assert(is_slice(s));
	h->flags = HOST_FLAGS + 1;
	ck_assert(!is_slice(s));
	h->flags = HOST_FLAGS;
	while (h->methods.n < EGRESS_METHODS_MAX)
		strings_add(&h->methods, "PUT");
	ck_assert(is_slice(s));
	strings_add(&h->methods, "PUT");
	ck_assert(!is_slice(s));
	strings_free(&h->methods);
	free(h->name);
	h->name = calloc(1, EGRESS_NAME_MAX + 2);
	memset(h->name, 'a', EGRESS_NAME_MAX + 1);
	ck_assert(!is_slice(s));
	h->name[EGRESS_NAME_MAX] = '\0';
	ck_assert(is_slice(s));
	slice_free(s);
}
END_TEST

START_TEST(a_section_not_asked_for_is_not_there)
{
	uint8_t buf[8192];
	size_t n = encoded(buf, sizeof(buf), SLICE_ENV);
	const char *why = NULL;
	struct slice *s = slice_decode(buf, n, &why);

	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(s->nprincipals, 0);
	ck_assert_ptr_null(s->state);
	slice_free(s);
}
END_TEST

START_TEST(a_cut_slice_is_refused)
{
	uint8_t buf[8192];
	size_t n = encoded(buf, sizeof(buf), ALL), cut;
	const char *why;

	for (cut = 0; cut < n; cut++) {
		why = NULL;
		ck_assert_ptr_null(slice_decode(buf, cut, &why));
		ck_assert_ptr_nonnull(why);
	}
}
END_TEST

START_TEST(a_damaged_slice_never_crashes)
{
	uint8_t buf[8192], copy[8192];
	size_t n = encoded(buf, sizeof(buf), ALL), i;
	const char *why;

	for (i = 0; i < n; i++) {
		memcpy(copy, buf, n);
		copy[i] ^= 0xff;
		slice_free(slice_decode(copy, n, &why));
	}
}
END_TEST

static const struct {
	const char	*pattern;
	const char	*path;
	int		 allowed;
} paths[] = {
	{ "/*",		"/srv",			1 },
	{ "/*",		"/srv/a/b",		1 },
	{ "/srv/src/*",	"/srv/src/app",		1 },
	{ "/srv/src/*",	"/srv/src/app/deep",	1 },
	{ "/srv/src/*",	"/srv/src",		0 },
	{ "/srv/src/*",	"/srv/src-evil/app",	0 },
	{ "/srv/app",	"/srv/app",		1 },
	{ "/srv/app",	"/srv/app-evil",	0 },
	{ "/srv/src/*",	"/srv/src/../../etc",	0 },
	{ "/srv/src/*",	"/srv/src/./app",	0 },
	{ "/srv/src/*",	"/srv/src//app",	0 },
	{ "/srv/src/*",	"/srv/src/app/",	0 },
	{ "/*",		"srv",			0 },
	{ "/*",		"",			0 }
};

START_TEST(a_workspace_matches_its_pattern)
{
	struct strings l = { 0 };

	strings_add(&l, paths[_i].pattern);
	ck_assert_msg(path_allowed(&l, paths[_i].path) == paths[_i].allowed,
	    "%s in %s", paths[_i].path, paths[_i].pattern);
	strings_free(&l);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("slice");
	TCase *tc = tcase_create("slice");

	tcase_add_test(tc, all_sections_come_back);
	tcase_add_test(tc, what_is_built_from_comes_back);
	tcase_add_loop_test(tc, no_other_path_gets_through, 0, 24);
	tcase_add_test(tc, egress_comes_back);
	tcase_add_test(tc, egress_is_bounded);
	tcase_add_test(tc, a_section_not_asked_for_is_not_there);
	tcase_add_test(tc, a_cut_slice_is_refused);
	tcase_add_test(tc, a_damaged_slice_never_crashes);
	tcase_add_loop_test(tc, a_workspace_matches_its_pattern, 0,
	    sizeof(paths) / sizeof(paths[0]));
	suite_add_tcase(s, tc);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
