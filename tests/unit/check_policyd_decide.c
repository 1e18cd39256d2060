/* Which line matches, and what it lets a principal ask for. */

#include <stdio.h>
#include <string.h>

#include "../../policyd/decide.h"
#include "protocol.h"
#include "unit.h"

static struct slice	*slice;
static struct refusal	 r;
static struct peer_ids	 ids;
static struct build	 build;
static struct wanted	 wanted;

static struct cf_principal *
principal(enum cf_who who, uint32_t id)
{
	struct cf_principal *p;

	slice->principals = reallocarray(slice->principals,
	    slice->nprincipals + 1, sizeof(*p));
	p = &slice->principals[slice->nprincipals++];
	memset(p, 0, sizeof(*p));
	p->where.file = strdup("test.conf");
	p->where.line = (uint32_t)slice->nprincipals;
	p->who = who;
	p->id = id;
	p->name = strdup("name");
	snprintf(p->preset, sizeof(p->preset), "standard");
	p->owner = OWNER_PEER;
	strings_add(&p->workspaces, "/srv/src/*");
	return (p);
}

static void
operator(enum cf_who who, uint32_t id, unsigned rights)
{
	struct cf_operator *o;

	slice->operators = reallocarray(slice->operators,
	    slice->noperators + 1, sizeof(*o));
	o = &slice->operators[slice->noperators++];
	memset(o, 0, sizeof(*o));
	o->who = who;
	o->id = id;
	o->rights = rights;
}

static struct cf_preset *
preset(const char *name, unsigned cap)
{
	struct cf_preset *p;

	slice->presets = reallocarray(slice->presets, slice->npresets + 1,
	    sizeof(*p));
	p = &slice->presets[slice->npresets++];
	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "%s", name);
	p->cap = cap;
	return (p);
}

static void
set_up(void)
{
	slice = slice_new();
	conf_set(slice);
	ids.uid = 1000;
	ids.gid = 1000;
	ids.ngroups = 2;
	ids.groups[0] = 27;
	ids.groups[1] = 500;
	wanted.owner_uid = wanted.owner_gid = OWNER_UNSAID;
}

START_TEST(lines)
{
	principal(WHO_GROUP, 500);
	principal(WHO_GROUP, 1000);
	principal(WHO_USER, 1001);
	ck_assert_ptr_eq(peer_principal(slice, &ids), &slice->principals[0]);
	/* user lines come before group lines, whatever the order */
	principal(WHO_USER, 1000);
	ck_assert_ptr_eq(peer_principal(slice, &ids), &slice->principals[3]);
	principal(WHO_USER, 1000);
	ck_assert_ptr_eq(peer_principal(slice, &ids), &slice->principals[3]);
	ids.uid = 7;
	ids.ngroups = 0;
	/* the primary group counts */
	ck_assert_ptr_eq(peer_principal(slice, &ids), &slice->principals[1]);
	ids.gid = 7;
	ck_assert_ptr_null(peer_principal(slice, &ids));
}
END_TEST

START_TEST(rights)
{
	int known;

	ck_assert_uint_eq(peer_rights(slice, &ids, &known), 0);
	ck_assert(!known);
	operator(WHO_GROUP, 500, RIGHT_APPROVE);
	operator(WHO_GROUP, 27, RIGHT_AUDIT);
	operator(WHO_GROUP, 99, RIGHT_MANAGE);
	ck_assert_uint_eq(peer_rights(slice, &ids, &known),
	    RIGHT_APPROVE | RIGHT_AUDIT);
	/* a user line narrows, too */
	operator(WHO_USER, 1000, 0);
	ck_assert_uint_eq(peer_rights(slice, &ids, &known), 0);
	ck_assert(known);
}
END_TEST

START_TEST(missing_words)
{
	struct cf_principal *p = principal(WHO_GROUP, 4000);
	char words[512];

	free(p->name);
	p->name = strdup("myelin");
	peer_missing(slice, PLANE_AGENT, &ids, words, sizeof(words));
	ck_assert_ptr_nonnull(strstr(words, "uid 1000"));
	ck_assert_ptr_nonnull(strstr(words, "group \"myelin\""));
	peer_missing(slice, PLANE_OPERATOR, &ids, words, sizeof(words));
	ck_assert_ptr_nonnull(strstr(words, "operator user 1000"));
}
END_TEST

/* Guarantee C6: the caps of the built-in presets. */
START_TEST(builtin_presets)
{
	static const struct { const char *preset; unsigned effect; int ok; }
	rows[] = {
		{ "readonly", EFFECT_READ, 1 },
		{ "readonly", EFFECT_MUTATE_REVERSIBLE, 0 },
		{ "strict", EFFECT_MUTATE_REVERSIBLE, 1 },
		{ "strict", EFFECT_MUTATE_IRREVERSIBLE, 0 },
		{ "standard", EFFECT_MUTATE_IRREVERSIBLE, 1 },
		{ "standard", EFFECT_DESTRUCTIVE, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_int_eq(decide_tool(rows[i].preset, rows[i].preset,
		    "tool", "", rows[i].effect, &r) == 0, rows[i].ok);
	ck_assert_int_eq(decide_tool("strict", "strict", "bash", "",
	    EFFECT_MUTATE_IRREVERSIBLE, &r), -1);
	ck_assert_uint_eq(r.status, 403);
	ck_assert_ptr_nonnull(strstr(r.words, "\"strict\""));
	ck_assert_ptr_nonnull(strstr(r.words, "\"bash\""));
	ck_assert_int_eq(decide_tool("gone", "gone", "bash", "",
	    EFFECT_READ, &r), -1);
}
END_TEST

START_TEST(allow_and_deny)
{
	struct cf_preset *p = preset("reviewer", EFFECT_READ);

	strings_add(&p->allow, "bash");
	strings_add(&p->deny, "python");
	strings_add(&p->allow, "python");
	strings_add(&p->deny, "ls");
	ck_assert(preset_allows(p, "bash", "", EFFECT_MUTATE_IRREVERSIBLE));
	ck_assert(!preset_allows(p, "exec", "", EFFECT_MUTATE_IRREVERSIBLE));
	/* deny wins over allow, and over the cap */
	ck_assert(!preset_allows(p, "python", "", EFFECT_READ));
	ck_assert(!preset_allows(p, "ls", "", EFFECT_READ));
	ck_assert(preset_allows(p, "grep", "", EFFECT_READ));
}
END_TEST

/* A group that is denied wins over everything. */
START_TEST(groups)
{
	struct cf_preset *p = preset("grouped", EFFECT_DESTRUCTIVE);

	strings_add(&p->deny_groups, "mcp");
	strings_add(&p->allow, "far__tool");
	ck_assert(!preset_allows(p, "far__tool", "mcp", EFFECT_READ));
	ck_assert(!preset_allows(p, "other", "mcp", EFFECT_READ));
	ck_assert(preset_allows(p, "far__tool", "mcp2", EFFECT_READ));
	ck_assert(preset_allows(p, "far__tool", "", EFFECT_READ));
	ck_assert_int_eq(decide_tool("standard", "grouped", "far__tool",
	    "mcp", EFFECT_READ, &r), -1);
	ck_assert_ptr_nonnull(strstr(r.words, "denies the group \"mcp\""));
}
END_TEST

/* Guarantee C6: off where nothing else is said, and in what is shipped. */
START_TEST(elevated)
{
	struct cf_preset *p = preset("careful", EFFECT_READ);
	const char *off;

	ck_assert_int_eq(decide_elevated("careful", "careful", &off),
	    ELEVATED_OFF);
	ck_assert_int_eq(decide_elevated("readonly", "readonly", &off),
	    ELEVATED_OFF);
	ck_assert_int_eq(decide_elevated("standard", "standard", &off),
	    ELEVATED_OFF);
	p->elevated = ELEVATED_ASK;
	ck_assert_int_eq(decide_elevated("careful", "careful", &off),
	    ELEVATED_ASK);
	ck_assert_int_eq(decide_elevated("careful", "standard", &off),
	    ELEVATED_OFF);
	ck_assert_str_eq(off, "standard");
	ck_assert_int_eq(decide_elevated("strict", "careful", &off),
	    ELEVATED_OFF);
	ck_assert_str_eq(off, "strict");
	ck_assert_int_eq(decide_elevated("careful", "gone", &off),
	    ELEVATED_OFF);
}
END_TEST

/* A preset that is asked for can only take away. */
START_TEST(presets_narrow)
{
	ck_assert_int_eq(decide_tool("strict", "standard", "bash", "",
	    EFFECT_MUTATE_IRREVERSIBLE, &r), -1);
	ck_assert_int_eq(decide_tool("standard", "readonly", "bash", "",
	    EFFECT_MUTATE_IRREVERSIBLE, &r), -1);
	ck_assert_int_eq(decide_tool("standard", "strict", "edit", "",
	    EFFECT_MUTATE_REVERSIBLE, &r), 0);
}
END_TEST

static int
ask(const struct cf_principal *line)
{
	return (decide_build(line, &ids, &wanted, &build, &r));
}

START_TEST(profiles)
{
	struct cf_principal *p = principal(WHO_USER, 1000);

	ck_assert_int_eq(ask(p), 0);
	ck_assert_str_eq(build.profile, "default");
	snprintf(wanted.profile, sizeof(wanted.profile), "web");
	ck_assert_int_eq(ask(p), -1);
	ck_assert_ptr_nonnull(strstr(r.words, "test.conf:1"));
	slice->profiles = calloc(1, sizeof(*slice->profiles));
	slice->nprofiles = 1;
	snprintf(slice->profiles[0].name, NAME_BYTES_MAX, "web");
	strings_add(&p->profiles, "web");
	ck_assert_int_eq(ask(p), 0);
	/* the first one listed is the default, and "default" no more */
	wanted.profile[0] = '\0';
	ck_assert_int_eq(ask(p), 0);
	ck_assert_str_eq(build.profile, "web");
	snprintf(wanted.profile, sizeof(wanted.profile), "default");
	ck_assert_int_eq(ask(p), -1);
}
END_TEST

static int
workspace(const struct cf_principal *p, const char *path)
{
	snprintf(wanted.workspace, sizeof(wanted.workspace), "%s", path);
	return (ask(p));
}

START_TEST(workspaces)
{
	static const char *const bad[] = { "/srv/src/../../etc", "/srv/src/.",
	    "srv/src/a", "/etc", "/srv/src//a", "/srv/srca", "/" };
	struct cf_principal *p = principal(WHO_USER, 1000);
	size_t i;

	ck_assert_int_eq(workspace(p, "/srv/src/a"), 0);
	ck_assert_str_eq(build.workspace, "/srv/src/a");
	ck_assert_uint_eq(build.owner.uid, 1000);
	ck_assert_uint_eq(build.owner.ngroups, 2);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(workspace(p, bad[i]), -1);
		ck_assert_uint_eq(r.status, 403);
		ck_assert_ptr_nonnull(strstr(r.words, bad[i]));
	}
}
END_TEST

START_TEST(workspaces_of_a_profile)
{
	static const char *const meets[] = { "/srv/src/data",
	    "/srv/src/data/a", "/srv/src" };
	struct cf_principal *p = principal(WHO_USER, 1000);
	struct cf_profile *profile;
	size_t i;

	strings_add(&p->workspaces, "/srv/src");
	slice->profiles = profile = calloc(1, sizeof(*slice->profiles));
	slice->nprofiles = 1;
	snprintf(profile->name, NAME_BYTES_MAX, "default");
	profile->trees.mounts = calloc(1, sizeof(*profile->trees.mounts));
	profile->trees.nmounts = 1;
	profile->trees.mounts[0].path = strdup("/opt");
	profile->trees.mounts[0].at = strdup("/srv/src/data");
	ck_assert_int_eq(workspace(p, "/srv/src/data2"), 0);
	for (i = 0; i < sizeof(meets) / sizeof(meets[0]); i++) {
		ck_assert_int_eq(workspace(p, meets[i]), -1);
		ck_assert_uint_eq(r.status, 403);
		ck_assert_ptr_nonnull(strstr(r.words, "/srv/src/data"));
	}
	/* a request tightens, and can't undo what the profile says */
	ck_assert_int_eq(workspace(p, "/srv/src/a"), 0);
	ck_assert_int_eq(build.read_only, 0);
	wanted.read_only = 1;
	ck_assert_int_eq(ask(p), 0);
	ck_assert_int_eq(build.read_only, 1);
	profile->read_only = 1;
	wanted.read_only = 0;
	ck_assert_int_eq(ask(p), 0);
	ck_assert_int_eq(build.read_only, 1);
	profile->read_only = 0;
	wanted.read_only = 1;
	ck_assert_int_eq(ask(p), 0);
	/* nor does a new configuration undo what was asked for */
	build.generation--;
	ck_assert_int_eq(decide_again(&build, &r), 0);
	ck_assert_int_eq(build.read_only, 1);
}
END_TEST

START_TEST(owners)
{
	struct cf_principal *p = principal(WHO_USER, 1000);

	snprintf(wanted.workspace, sizeof(wanted.workspace), "/srv/src/a");
	wanted.owner_uid = 1000;
	wanted.owner_gid = 500;
	ck_assert_int_eq(ask(p), 0);
	wanted.owner_gid = 501;		/* not a group of his */
	ck_assert_int_eq(ask(p), -1);
	wanted.owner_gid = OWNER_UNSAID;
	wanted.owner_uid = 1001;
	ck_assert_int_eq(ask(p), -1);
	p->owner = OWNER_NAMED;
	p->ids.uid = 1001;
	p->ids.gid = 1001;
	ck_assert_int_eq(ask(p), 0);
	ck_assert_uint_eq(build.owner.uid, 1001);
	ck_assert_uint_eq(build.owner.ngroups, 0);
	p->owner = OWNER_ANY;		/* for root alone */
	ck_assert_int_eq(ask(p), -1);
}
END_TEST

START_TEST(owners_of_root)
{
	struct cf_principal *p = principal(WHO_USER, 0);

	ids.uid = ids.gid = 0;
	ids.ngroups = 0;
	ck_assert_int_eq(ask(p), 0);	/* nothing is owned without one */
	snprintf(wanted.workspace, sizeof(wanted.workspace), "/srv/src/a");
	ck_assert_int_eq(ask(p), -1);
	ck_assert_ptr_nonnull(strstr(r.words, "owner any"));
	p->owner = OWNER_ANY;
	ck_assert_int_eq(ask(p), -1);
	ck_assert_uint_eq(r.status, 400);
	wanted.owner_uid = 0;
	wanted.owner_gid = 0;
	ck_assert_int_eq(ask(p), -1);
	ck_assert_uint_eq(r.status, 403);
	wanted.owner_uid = 1000;
	ck_assert_int_eq(ask(p), -1);
	wanted.owner_gid = 1000;
	ck_assert_int_eq(ask(p), 0);
	ck_assert_uint_eq(build.owner.uid, 1000);
}
END_TEST

START_TEST(timeouts)
{
	struct limits limits;
	uint32_t ms;

	limits_init(&limits);
	ck_assert_int_eq(decide_timeout(&limits, 0, 0, &ms, &r), 0);
	ck_assert_uint_eq(ms, 60000);
	ck_assert_int_eq(decide_timeout(&limits, 0, 5000, &ms, &r), 0);
	ck_assert_uint_eq(ms, 5000);
	ck_assert_int_eq(decide_timeout(&limits, 3600001, 0, &ms, &r), -1);
	ck_assert_ptr_nonnull(strstr(r.words, "3600000"));
	ck_assert_int_eq(decide_timeout(&limits, 999, 0, &ms, &r), -1);
	limits.v[LIMIT_TIMEOUT_MAX] = 10000;
	ck_assert_int_eq(decide_timeout(&limits, 0, 0, &ms, &r), 0);
	ck_assert_uint_eq(ms, 10000);
}
END_TEST

START_TEST(bad_configurations)
{
	struct cf_principal *p = principal(WHO_USER, 1000);

	ck_assert_int_eq(conf_check(slice), 0);
	p->owner = OWNER_ANY;
	ck_assert_int_eq(conf_check(slice), -1);
	ck_assert_str_eq(slice->bad.file, "test.conf");
	p->owner = OWNER_PEER;
	snprintf(p->preset, sizeof(p->preset), "nosuch");
	ck_assert_int_eq(conf_check(slice), -1);
	ck_assert_ptr_nonnull(strstr(slice->bad_why, "nosuch"));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_decide");
	TCase *tc = tcase_create("decide");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, lines);
	tcase_add_test(tc, rights);
	tcase_add_test(tc, missing_words);
	tcase_add_test(tc, builtin_presets);
	tcase_add_test(tc, allow_and_deny);
	tcase_add_test(tc, groups);
	tcase_add_test(tc, elevated);
	tcase_add_test(tc, presets_narrow);
	tcase_add_test(tc, profiles);
	tcase_add_test(tc, workspaces);
	tcase_add_test(tc, workspaces_of_a_profile);
	tcase_add_test(tc, owners);
	tcase_add_test(tc, owners_of_root);
	tcase_add_test(tc, timeouts);
	tcase_add_test(tc, bad_configurations);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
