/*
 * neurond's pure parts: the plan of mounts, workspaces, maps, environments,
 * Landlock rights, the table of what is inside.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

#include "image.h"
#include "init/run.h"
#include "maker.h"
#include "native/inside.h"
#include "native/landlock.h"
#include "native/plan.h"
#include "protected.h"
#include "settings.h"
#include "sys.h"
#include "workspace.h"

/* ---- plan ---- */

static struct plan plan;

static void
make_plan(void)
{
	plan.n = 0;
	plan_add(&plan, "/", "tmpfs", IN_RO | IN_NOSUID);
	plan_add(&plan, "/usr", NULL, IN_RO);
	plan_add(&plan, "/srv/a b", NULL, IN_IDMAP | IN_NODEV);
}

#define ROOT_LINE	"1 0 0:1 / / ro,nosuid,relatime - tmpfs none rw\n"
#define USR_LINE	"2 1 8:1 /usr /usr ro,relatime - ext4 /dev/sda rw\n"
#define WS_LINE								\
	"3 1 8:1 /x /srv/a\\040b rw,nodev,idmapped - ext4 d rw\n"

static const struct {
	const char	*text;
	const char	*why;	/* NULL: it is the plan */
} plans[] = {
	{ ROOT_LINE USR_LINE WS_LINE, NULL },
	{ WS_LINE ROOT_LINE USR_LINE, NULL },
	{ ROOT_LINE USR_LINE, "a planned mount is missing" },
	{ ROOT_LINE USR_LINE WS_LINE USR_LINE,
	    "a mount that was not planned" },
	{ ROOT_LINE USR_LINE WS_LINE
	    "4 1 8:1 /home /home rw - ext4 d rw\n",
	    "a mount that was not planned" },
	{ "1 0 0:1 / / rw,nosuid - tmpfs none rw\n" USR_LINE WS_LINE,
	    "a mount with weaker flags than planned" },
	{ "1 0 0:1 / / ro,nosuid - ext4 none rw\n" USR_LINE WS_LINE,
	    "a mount of another type than planned" },
	{ ROOT_LINE "2 1 8:1 /usr /usr ro shared:4 - ext4 d rw\n" WS_LINE,
	    "a mount that is shared or a slave" },
	{ ROOT_LINE "2 1 8:1 /usr /usr ro master:4 - ext4 d rw\n" WS_LINE,
	    "a mount that is shared or a slave" },
	{ "1 0 0:1\n", "mountinfo: a line that is too short" },
	{ "1 0 0:1 / / ro,nosuid\n", "mountinfo: a line without a type" }
};

START_TEST(test_plan)
{
	char text[1024];
	const char *why = NULL;

	make_plan();
	snprintf(text, sizeof(text), "%s", plans[_i].text);
	if (plans[_i].why == NULL) {
		ck_assert_int_eq(plan_check(&plan, text, &why), 0);
		return;
	}
	ck_assert_int_eq(plan_check(&plan, text, &why), -1);
	ck_assert_str_eq(why, plans[_i].why);
}
END_TEST

START_TEST(test_plan_full)
{
	int i;

	plan.n = 0;
	for (i = 0; i < PLAN_MAX; i++)
		ck_assert_int_eq(plan_add(&plan, "/x", NULL, 0), 0);
	ck_assert_int_eq(plan_add(&plan, "/x", NULL, 0), -1);
	ck_assert_int_eq(errno, ENOSPC);
}
END_TEST

/* ---- workspaces ---- */

static struct cf_principal user_line, group_line, root_line, named_line;

static void
make_lines(void)
{
	user_line.who = named_line.who = root_line.who = WHO_USER;
	user_line.id = 1000;
	user_line.owner = OWNER_PEER;
	strings_add(&user_line.workspaces, "/srv/src/*");
	group_line.who = WHO_GROUP;
	group_line.id = 50;
	group_line.owner = OWNER_PEER;
	strings_add(&group_line.workspaces, "/*");
	root_line.owner = OWNER_ANY;
	strings_add(&root_line.workspaces, "/*");
	named_line.id = 7;
	named_line.owner = OWNER_NAMED;
	named_line.ids.uid = named_line.ids.gid = 33;
	strings_add(&named_line.workspaces, "/*");
}

static const struct {
	const struct cf_principal *line;
	uid_t		 uid;
	gid_t		 gid;
	const char	*path;
	int		 allowed;
} places[] = {
	{ &user_line, 1000, 1000, "/srv/src/a", 1 },
	{ &user_line, 1000, 1000, "/srv/src/a/b", 1 },
	{ &user_line, 1000, 1000, "/srv/srcx/a", 0 },
	{ &user_line, 1000, 1000, "/srv/src/../x", 0 },
	{ &user_line, 1000, 1000, "srv/src/a", 0 },
	{ &user_line, 1001, 1000, "/srv/src/a", 0 },
	{ &user_line, 0, 0, "/srv/src/a", 0 },
	{ &group_line, 1000, 50, "/srv/x", 1 },
	{ &group_line, 1000, 51, "/srv/x", 0 },
	{ &group_line, 0, 50, "/srv/x", 0 },
	{ &root_line, 1234, 1234, "/srv/x", 1 },
	{ &root_line, 0, 1234, "/srv/x", 0 },
	{ &root_line, 1234, 0, "/srv/x", 0 },
	{ &named_line, 33, 33, "/srv/x", 1 },
	{ &named_line, 34, 33, "/srv/x", 0 },
	{ &root_line, 1, 1, "/", 0 },
	{ &root_line, 1, 1, "/usr", 0 },
	{ &root_line, 1, 1, "/usr/src/x", 0 },
	{ &root_line, 1, 1, "/etc/x", 0 },
	{ &root_line, 1, 1, "/proc/self/cwd", 0 },
	{ &root_line, 1, 1, "/dev/shm/x", 0 },
	{ &root_line, 1, 1, "/sys/x", 0 },
	{ &root_line, 1, 1, "/run/x", 0 },
	{ &root_line, 1, 1, "/var/lib/x", 0 },
	{ &root_line, 1, 1, "/var/tmp/x", 0 },
	{ &root_line, 1, 1, "/var/www/x", 1 },
	{ &root_line, 1, 1, "/home", 0 },
	{ &root_line, 1, 1, "/home/agent", 0 },
	{ &root_line, 1, 1, "/home/agent/x", 0 },
	{ &root_line, 1, 1, "/home/agents", 1 },
	{ &root_line, 1, 1, "/tmp", 0 },
	{ &root_line, 1, 1, "/tmp/x", 1 },
	{ &root_line, 1, 1, "/srv/state", 0 },
	{ &root_line, 1, 1, "/srv/state/policy", 0 },
	{ &root_line, 1, 1, "/srv/state2", 1 },
	{ &root_line, 1, 1, "/usrlocal", 1 }
};

START_TEST(test_workspace)
{
	struct owner o = { .uid = places[_i].uid, .gid = places[_i].gid };
	const char *why;

	make_lines();
	why = workspace_refused(places[_i].line, &o, places[_i].path,
	    "/srv/state");
	ck_assert_msg((why == NULL) == places[_i].allowed, "%s: %s",
	    places[_i].path, why == NULL ? "allowed" : why);
}
END_TEST

START_TEST(test_gid_map)
{
	char map[160];

	ck_assert_int_eq(walk_gid_map(map, sizeof(map), 1000, 1900000016), 0);
	ck_assert_str_eq(map, "0 1890000000 1000\n1000 1900000016 1\n"
	    "1001 1890001001 64535\n");
	ck_assert_int_eq(walk_gid_map(map, sizeof(map), 0, 1900000016), 0);
	ck_assert_str_eq(map, "0 1900000016 1\n1 1890000001 65535\n");
	ck_assert_int_eq(walk_gid_map(map, sizeof(map), 65535, 19), 0);
	ck_assert_str_eq(map, "0 1890000000 65535\n65535 19 1\n");
	ck_assert_int_eq(walk_gid_map(map, sizeof(map), 70000, 19), 0);
	ck_assert_str_eq(map, "70000 19 1\n0 1890000000 65536\n");
	ck_assert_int_eq(walk_gid_map(map, 8, 70000, 19), -1);
}
END_TEST

/* ---- the environment of a call ---- */

static int
has(char *const *env, const char *entry)
{
	int n = 0;

	for (; *env != NULL; env++)
		n += strcmp(*env, entry) == 0;
	return (n);
}

START_TEST(test_environment)
{
	static const struct run_request req = {
		.neuron = "n-aaaaaaaaaaaaaaaaaaaa",
		.call = "c-aaaaaaaaaaaaaaaaaaaa"
	};
	char foo[] = "FOO=bar", lang[] = "LANG=de_DE.UTF-8";
	char *const extra[] = { foo, lang };
	char **env;
	int n;

	env = run_environment(&req, extra, 2);
	ck_assert_ptr_nonnull(env);
	for (n = 0; env[n] != NULL; n++)
		continue;
	ck_assert_int_eq(n, 9);
	ck_assert_int_eq(has(env, "HOME=/home/agent"), 1);
	ck_assert_int_eq(has(env, "USER=agent"), 1);
	ck_assert_int_eq(has(env, "FOO=bar"), 1);
	ck_assert_int_eq(has(env, "LANG=de_DE.UTF-8"), 1);
	ck_assert_int_eq(has(env, "LANG=C.UTF-8"), 0);
	ck_assert_int_eq(has(env, "MYELIN_NEURON=n-aaaaaaaaaaaaaaaaaaaa"), 1);
	ck_assert_int_eq(has(env, "MYELIN_CALL=c-aaaaaaaaaaaaaaaaaaaa"), 1);
	free(env);
}
END_TEST

static const char *const refused[] = {
	"LD_PRELOAD=/tmp/x", "BASH_ENV=/tmp/x", "PATH=/tmp", "HOME=/",
	"AWS_SECRET_ACCESS_KEY=x", "MYELIN_NEURON=n", "=x", "novalue",
	"A B=c", "GITHUB_TOKEN=x"
};

START_TEST(test_environment_refused)
{
	static const struct run_request req = { .neuron = "" };
	char entry[64];
	char *const extra[] = { entry };

	snprintf(entry, sizeof(entry), "%s", refused[_i]);
	ck_assert_ptr_null(run_environment(&req, extra, 1));
	ck_assert_int_eq(errno, EPERM);
}
END_TEST

/* ---- tables ---- */

START_TEST(test_landlock_rights)
{
	ck_assert_uint_eq(landlock_rights(1) & LL_REFER, 0);
	ck_assert_uint_ne(landlock_rights(2) & LL_REFER, 0);
	ck_assert_uint_eq(landlock_rights(2) & LL_TRUNCATE, 0);
	ck_assert_uint_ne(landlock_rights(3) & LL_TRUNCATE, 0);
	ck_assert_uint_eq(landlock_rights(4) & LL_IOCTL_DEV, 0);
	ck_assert_uint_ne(landlock_rights(5) & LL_IOCTL_DEV, 0);
	ck_assert_uint_eq(landlock_rights(7), landlock_rights(5));
}
END_TEST

static const struct inside_row *
inside(const char *path)
{
	size_t i;

	for (i = 0; i < inside_nrows; i++)
		if (strcmp(inside_rows[i].path, path) == 0)
			return (&inside_rows[i]);
	return (NULL);
}

/* What must be there, and that nothing of the host's own is. */
START_TEST(test_inside)
{
	static const char *const wanted[] = { "usr", "bin", "lib", "proc",
	    "tmp", "run", "home/agent", "var/tmp", "dev/null", "dev/zero",
	    "dev/full", "dev/random", "dev/urandom", "dev/shm", "dev/fd",
	    "dev/tty", "dev/pts", "dev/ptmx",
	    "etc/passwd", "etc/group", "etc/hosts", "etc/hostname",
	    "etc/nsswitch.conf", "etc/resolv.conf", "etc/alternatives",
	    "etc/ssl/certs", "etc/ca-certificates", "etc/ld.so.cache",
	    "etc/localtime", "etc/mime.types" };
	static const char *const unwanted[] = { "root", "sys", "boot", "opt",
	    "srv", "var/lib", "etc/shadow", "etc/ssh", "dev/console",
	    "run/myelin" };
	unsigned nodes = 0;
	size_t i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		ck_assert_msg(inside(wanted[i]) != NULL, "%s", wanted[i]);
	for (i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
		ck_assert_msg(inside(unwanted[i]) == NULL, "%s", unwanted[i]);
	for (i = 0; i < inside_nrows; i++) {
		nodes += inside_rows[i].kind == IN_NODE;
		/* Whatever is mounted is read-only and nosuid. */
		if (inside_rows[i].kind == IN_MOUNT)
			ck_assert_uint_eq(inside_rows[i].flags &
			    (IN_RO | IN_NOSUID), IN_RO | IN_NOSUID);
	}
	ck_assert_uint_eq(nodes, 6);
}
END_TEST

/* ---- protected names ---- */

static size_t
depth_of(const char *path)
{
	size_t n = 0;

	for (; *path != '\0'; path++)
		n += *path == '/';
	return (n);
}

/* Names fit where they are kept, and with what is above them in the plan. */
START_TEST(test_protected)
{
	size_t i, j, mounts = 0;
	const char *path;

	for (i = 0; i < protected_nnames; i++) {
		path = protected_names[i].path;
		ck_assert_uint_lt(strlen(path), PROTECTED_NAME_MAX);
		ck_assert_uint_le(depth_of(path), PROTECTED_DEPTH);
		ck_assert(path[0] == '.' && path[1] != '.' && path[1] != '/');
		ck_assert_ptr_null(strstr(path, "//"));
		ck_assert_ptr_null(strstr(path, "/."));
		ck_assert_int_ne(path[strlen(path) - 1], '/');
		ck_assert_int_eq(protected_names[i].git,
		    strncmp(path, ".git", 4) == 0);
		for (j = 0; j < i; j++)
			ck_assert_str_ne(path, protected_names[j].path);
		mounts += 1 + depth_of(path);
	}
	ck_assert_uint_le(mounts, PROTECTED_MOUNTS);
}
END_TEST

START_TEST(test_settings)
{
	struct slice *s = slice_new();

	s->uids_start = 1900000000;
	s->uids_count = 4096;
	ck_assert_int_eq(settings_check(s, NULL), 0);
	s->uids_count = 40;
	ck_assert_int_eq(settings_check(s, NULL), -1);
	s->uids_count = 4096;
	s->uids_start = 1890000000 - 100;
	ck_assert_int_eq(settings_check(s, NULL), -1);
	s->uids_start = 0;
	ck_assert_int_eq(settings_check(s, NULL), -1);
	slice_free(s);
}
END_TEST

static struct slice *
generation(uint32_t n, uint64_t neurons)
{
	struct slice *s = slice_new();

	ck_assert_ptr_nonnull(s);
	s->generation = n;
	s->uids_start = 1900000000;
	s->uids_count = 4096;
	s->limits.v[LIMIT_NEURONS] = neurons;
	return (s);
}

/* The one before is there until it is forgotten, and no other. */
START_TEST(test_generations)
{
	struct slice *s;

	ck_assert_ptr_null(settings_of(1));
	settings_set(generation(1, 32));
	ck_assert_ptr_eq(settings_of(1), settings());
	settings_set(generation(2, 10));
	ck_assert_uint_eq(settings()->generation, 2);
	ck_assert_uint_eq(settings_of(1)->limits.v[LIMIT_NEURONS], 32);
	settings_set(generation(4, 20));
	ck_assert_ptr_null(settings_of(1));
	ck_assert_ptr_nonnull(settings_of(2));
	settings_forget();
	ck_assert_ptr_null(settings_of(2));
	ck_assert_ptr_null(settings_of(3));
	ck_assert_ptr_eq(settings_of(4), settings());
	/* slots are made once */
	ck_assert_uint_eq(settings_slots(), 32 + SLOTS_STOCK + SLOTS_DYING +
	    SLOTS_POOL);
	s = generation(5, 32);
	ck_assert_int_eq(settings_check(s, settings()), 0);
	s->limits.v[LIMIT_NEURONS] = 33;
	ck_assert_int_eq(settings_check(s, settings()), -1);
	ck_assert_str_eq(s->bad_why, "neurons: more than at the start of "
	    "neurond");
	s->limits.v[LIMIT_NEURONS] = 32;
	s->uids_start++;
	ck_assert_int_eq(settings_check(s, settings()), -1);
	slice_free(s);
}
END_TEST

/* ---- images of homes ---- */

static const struct {
	uint64_t	 bytes, inodes;
	struct image_plan plan;
} images[] = {
	/* never more for files than asked for, and ext4's ten */
	{ MIB(8), 256, { 1024, 1, 264 } },
	{ MIB(8), 100000, { 1024, 1, 2056 } },
	{ MIB(64), 1000, { 4096, 4, 1008 } },
	{ MIB(256), 1000, { 4096, 16, 992 } },
	{ GIB(1), 256, { 4096, 16, 256 } },
	{ GIB(1), 100000, { 4096, 16, 99968 } },
	/* an ext4 has no fewer */
	{ GIB(1024), 256, { 4096, 16, 131072 } }
};

START_TEST(test_image)
{
	struct image_plan p;

	image_plan(images[_i].bytes, images[_i].inodes, &p);
	ck_assert_uint_eq(p.block, images[_i].plan.block);
	ck_assert_uint_eq(p.journal, images[_i].plan.journal);
	ck_assert_uint_eq(p.inodes, images[_i].plan.inodes);
}
END_TEST

#define LOOP(tc, fn, table)						\
	tcase_add_loop_test(tc, fn, 0, sizeof(table) / sizeof((table)[0]))

int
main(void)
{
	Suite *s = suite_create("neurond");
	TCase *tc = tcase_create("pure parts");

	LOOP(tc, test_plan, plans);
	tcase_add_test(tc, test_plan_full);
	LOOP(tc, test_workspace, places);
	tcase_add_test(tc, test_gid_map);
	tcase_add_test(tc, test_environment);
	LOOP(tc, test_environment_refused, refused);
	tcase_add_test(tc, test_landlock_rights);
	tcase_add_test(tc, test_inside);
	tcase_add_test(tc, test_protected);
	tcase_add_test(tc, test_settings);
	tcase_add_test(tc, test_generations);
	LOOP(tc, test_image, images);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
