/*
 * cgroups: texts of /proc, and the files of both layouts on a fake tree.
 */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#include "cgroup.h"

static const char hybrid_mounts[] =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup "
    "rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
    "39 31 0:36 /docker/x /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

static const char hybrid_self[] =
    "9:name=systemd:/\n8:pids:/docker/x/y\n4:memory:/a/b\n"
    "1:cpu,cpuacct:/\n0::/\n";

static struct cg_host host;

static void
parse(const char *mounts, const char *self)
{
	memset(&host, 0, sizeof(host));
	ck_assert_int_eq(cg_parse_mounts(&host, mounts), 0);
	ck_assert_int_eq(cg_parse_self(&host, self), 0);
}

START_TEST(test_hybrid)
{
	char dir[256];

	parse(hybrid_mounts, hybrid_self);
	ck_assert_str_eq(host.v2.mount, "/sys/fs/cgroup/unified");
	ck_assert_str_eq(host.v2.own, "/");
	ck_assert_str_eq(host.v1[CG_CPU].mount, "/sys/fs/cgroup/cpu,cpuacct");
	ck_assert_str_eq(host.v1[CG_MEMORY].own, "/a/b");
	ck_assert_str_eq(host.v1[CG_PIDS].root, "/docker/x");
	ck_assert_int_eq(cg_directory(&host.v1[CG_PIDS],
	    host.v1[CG_PIDS].own, dir, sizeof(dir)), 0);
	ck_assert_str_eq(dir, "/sys/fs/cgroup/pids/y");
	ck_assert_int_eq(cg_directory(&host.v1[CG_MEMORY],
	    host.v1[CG_MEMORY].own, dir, sizeof(dir)), 0);
	ck_assert_str_eq(dir, "/sys/fs/cgroup/memory/a/b");
	ck_assert_int_eq(cg_directory(&host.v2, "/", dir, sizeof(dir)), 0);
	ck_assert_str_eq(dir, "/sys/fs/cgroup/unified");
	ck_assert_int_eq(cg_directory(&host.v2, "/x", dir, 8), -1);
	ck_assert_int_eq(errno, ENAMETOOLONG);
}
END_TEST

START_TEST(test_pure)
{
	parse("30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 "
	    "rw,nsdelegate\n", "0::/system.slice/myelin.service\n");
	ck_assert_str_eq(host.v2.mount, "/sys/fs/cgroup");
	ck_assert_str_eq(host.v2.own, "/system.slice/myelin.service");
	ck_assert_str_eq(host.v1[CG_MEMORY].mount, "");
}
END_TEST

START_TEST(test_strange_texts)
{
	parse("", "");
	parse("x\n - \n1 2 3 4 5 6 - cgroup\n", ":\n::\n0:\n0::x\n");
	ck_assert_str_eq(host.v2.mount, "");
	ck_assert_str_eq(host.v2.own, "");
}
END_TEST

START_TEST(test_listed)
{
	ck_assert_int_eq(cg_listed("cpuset cpu io memory pids\n", "cpu"), 1);
	ck_assert_int_eq(cg_listed("cpuset io memory pids\n", "cpu"), 0);
	ck_assert_int_eq(cg_listed("rw,cpu,cpuacct", "cpuacct"), 1);
	ck_assert_int_eq(cg_listed("", "cpu"), 0);
}
END_TEST

/* ---- the fake tree ---- */

static char top[] = "/tmp/check-neurond-XXXXXX";
static int tree;

static void
make_tree(void)
{
	ck_assert_ptr_nonnull(mkdtemp(top));
	tree = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ne(tree, -1);
}

static void
remove_tree(void)
{
	char command[64];

	close(tree);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	ck_assert_int_eq(system(command), 0);
}

static void
put(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
	    0600);

	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(write(fd, text, strlen(text)),
	    (ssize_t)strlen(text));
	close(fd);
}

static void
holds(int dir, const char *name, const char *want)
{
	char buf[256];

	ck_assert_int_ge(cg_read(dir, name, buf, sizeof(buf)), 0);
	ck_assert_str_eq(buf, want);
}

static struct limits
some_limits(void)
{
	struct limits l;

	limits_init(&l);
	l.v[LIMIT_MEMORY] = 268435456;
	l.v[LIMIT_SWAP] = 1048576;
	l.v[LIMIT_PIDS] = 77;
	l.v[LIMIT_CPU] = 1500;
	return (l);
}

START_TEST(test_v2_limits)
{
	static const char *const files[] = { "memory.max", "memory.swap.max",
	    "memory.oom.group", "pids.max", "cpu.max" };
	struct cg_base base = { .hybrid = 0 };
	struct cg_neuron cg = { .v2 = tree };
	struct limits l = some_limits();
	const char *failed = NULL;
	size_t i;

	for (i = 0; i < 5; i++)
		put(tree, files[i], "");
	ck_assert_int_eq(cg_limit(&base, &cg, &l, &failed), 0);
	holds(tree, "memory.max", "268435456");
	holds(tree, "memory.swap.max", "1048576");
	holds(tree, "memory.oom.group", "0");
	holds(tree, "pids.max", "77");
	holds(tree, "cpu.max", "150000 100000");
	/* A kernel without swap accounting is no reason to refuse. */
	unlinkat(tree, "memory.swap.max", 0);
	ck_assert_int_eq(cg_limit(&base, &cg, &l, &failed), 0);
	unlinkat(tree, "pids.max", 0);
	ck_assert_int_eq(cg_limit(&base, &cg, &l, &failed), -1);
	ck_assert_str_eq(failed, "pids.max");
}
END_TEST

START_TEST(test_v1_limits)
{
	static const char *const files[] = { "memory.limit_in_bytes",
	    "memory.memsw.limit_in_bytes", "pids.max", "cpu.cfs_period_us",
	    "cpu.cfs_quota_us" };
	struct cg_base base = { .hybrid = 1 };
	struct cg_neuron cg = { .v2 = -1, .v1 = { tree, tree, tree } };
	struct limits l = some_limits();
	const char *failed = NULL;
	size_t i;

	/* Plain files keep what a shorter write left: empty them first. */
	for (i = 0; i < 5; i++)
		put(tree, files[i], "");
	ck_assert_int_eq(cg_limit(&base, &cg, &l, &failed), 0);
	holds(tree, "memory.limit_in_bytes", "268435456");
	holds(tree, "memory.memsw.limit_in_bytes", "269484032");
	holds(tree, "pids.max", "77");
	holds(tree, "cpu.cfs_period_us", "100000");
	holds(tree, "cpu.cfs_quota_us", "150000");
}
END_TEST

START_TEST(test_counters)
{
	struct cg_base v2 = { .hybrid = 0 }, v1 = { .hybrid = 1 };
	struct cg_neuron cg = { .v2 = tree, .v1 = { tree, tree, tree } };
	struct cg_counts n;

	put(tree, "memory.events", "low 0\nhigh 0\nmax 9\noom 4\n"
	    "oom_kill 3\noom_group_kill 0\n");
	put(tree, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n"
	    "oom_kill 7\n");
	put(tree, "pids.events", "max 12\n");
	ck_assert_int_eq(cg_counters(&v2, &cg, &n), 0);
	ck_assert_uint_eq(n.oom, 3);
	ck_assert_uint_eq(n.pids, 12);
	ck_assert_int_eq(cg_counters(&v1, &cg, &n), 0);
	ck_assert_uint_eq(n.oom, 7);
	put(tree, "cgroup.events", "populated 1\nfrozen 0\n");
	ck_assert_int_eq(cg_populated(tree), 1);
	put(tree, "cgroup.events", "populated 0\nfrozen 0\n");
	ck_assert_int_eq(cg_populated(tree), 0);
	put(tree, "cpu.stat", "usage_usec 4711\nuser_usec 1\n");
	ck_assert_uint_eq(cg_cpu_us(tree), 4711);
	put(tree, "cgroup.procs", "1\n22\n333\n");
	ck_assert_int_eq(cg_processes(tree), 3);
	put(tree, "cgroup.kill", "");
	ck_assert_int_eq(cg_kill(tree), 0);
	holds(tree, "cgroup.kill", "1");
}
END_TEST

START_TEST(test_missing_files)
{
	struct cg_base v2 = { .hybrid = 0 };
	struct cg_neuron cg = { .v2 = tree };
	struct cg_counts n;

	ck_assert_int_eq(cg_counters(&v2, &cg, &n), 0);
	ck_assert_uint_eq(n.oom, 0);
	ck_assert_int_eq(cg_populated(tree), -1);
	ck_assert_int_eq(cg_kill(tree), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(test_sweep)
{
	struct cg_base base = { .v2 = tree, .v1 = { -1, -1, -1 } };

	ck_assert_int_eq(mkdirat(tree, "n-1-1", 0755), 0);
	ck_assert_int_eq(mkdirat(tree, "n-1-1/c0", 0755), 0);
	ck_assert_int_eq(mkdirat(tree, "n-2-1", 0755), 0);
	ck_assert_int_eq(cg_sweep(&base, 100), 0);
	ck_assert_int_eq(faccessat(tree, "n-1-1", F_OK, 0), -1);
	ck_assert_int_eq(faccessat(tree, "n-2-1", F_OK, 0), -1);
}
END_TEST

/* A leaf that is there before its neuron asks for it, as the kernel makes it. */
static void
fake_leaf(const char *name)
{
	char path[64];

	ck_assert_int_eq(mkdirat(tree, name, 0755), 0);
	snprintf(path, sizeof(path), "%s/cgroup.procs", name);
	put(tree, path, "");
}

START_TEST(test_leaves)
{
	struct cg_neuron cg = { .v2 = tree, .v1 = { -1, -1, -1 } };
	unsigned i;

	for (i = 0; i < NEURON_RUNNING_MAX; i++)
		cg.leaf[i] = -1;
	fake_leaf("c0");
	fake_leaf("c1");
	ck_assert_int_eq(cg_leaves(&cg, geteuid(), 2), 0);
	ck_assert_int_eq(cg.nleaves, 2);
	ck_assert_int_ne(cg.leaf[1], -1);
	/* Those that are there stay as they are. */
	ck_assert_int_eq(cg_leaves(&cg, geteuid(), 1), 0);
	ck_assert_int_eq(cg.nleaves, 2);
	/* This one has no file that could be given away. */
	ck_assert_int_eq(cg_leaves(&cg, geteuid(), 3), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(cg.nleaves, 2);
	ck_assert_int_eq(cg.leaf[2], -1);
	ck_assert_int_eq(faccessat(tree, "c2", F_OK, 0), -1);
	/* The next time it has. */
	fake_leaf("c2");
	ck_assert_int_eq(cg_leaves(&cg, geteuid(), 3), 0);
	ck_assert_int_eq(cg.nleaves, 3);
	for (i = 0; i < 3; i++)
		close(cg.leaf[i]);
}
END_TEST

/* ---- where we go on pure v2, as files of a fake tree ---- */

#define ALL	"cpuset cpu io memory pids\n"

static void
place(const char *dir, const char *controllers, const char *subtree,
    const char *procs)
{
	char path[128];

	if (dir[0] != '\0')
		ck_assert_int_eq(mkdirat(tree, dir, 0755), 0);
	snprintf(path, sizeof(path), "./%s/cgroup.controllers", dir);
	put(tree, path, controllers);
	snprintf(path, sizeof(path), "./%s/cgroup.subtree_control", dir);
	put(tree, path, subtree);
	snprintf(path, sizeof(path), "./%s/cgroup.procs", dir);
	put(tree, path, procs);
}

static int
open_at(const char *own, const char *configured, struct cg_base *base,
    char why[256])
{
	memset(&host, 0, sizeof(host));
	snprintf(host.v2.mount, sizeof(host.v2.mount), "%s", top);
	snprintf(host.v2.root, sizeof(host.v2.root), "/");
	snprintf(host.v2.own, sizeof(host.v2.own), "%s", own);
	why[0] = '\0';
	return (cg_open_on(base, &host, "x", configured, why, 256));
}

static void
goes_to(const struct cg_base *base, const char *path)
{
	ck_assert_str_eq(base->path + strlen(top), path);
	ck_assert_int_eq(base->hybrid, 0);
	ck_assert_int_ne(base->v2, -1);
	close(base->v2);
}

START_TEST(test_own_is_empty)
{
	struct cg_base base;
	char why[256];

	place("", ALL, ALL, "");
	place("svc", ALL, "", "");
	place("svc/myelin-x", ALL, "", "");
	ck_assert_int_eq(open_at("/svc", NULL, &base, why), 0);
	goes_to(&base, "/svc/myelin-x");
	holds(tree, "svc/cgroup.subtree_control", "+memory +pids +cpu");
	holds(tree, "svc/myelin-x/cgroup.subtree_control",
	    "+memory +pids +cpu");
}
END_TEST

/* Another's process in it: not ours to move, so the root's child. */
START_TEST(test_own_is_shared)
{
	struct cg_base base;
	char why[256];

	place("", ALL, ALL, "");
	place("session", ALL, "", "1\n");
	place("myelin-x", ALL, "", "");
	ck_assert_int_eq(open_at("/session", NULL, &base, why), 0);
	goes_to(&base, "/myelin-x");
	holds(tree, "session/cgroup.subtree_control", "");
}
END_TEST

START_TEST(test_at_the_root)
{
	struct cg_base base;
	char why[256];

	place("", ALL, ALL, "1\n");
	place("myelin-x", ALL, "", "");
	ck_assert_int_eq(open_at("/", NULL, &base, why), 0);
	goes_to(&base, "/myelin-x");
}
END_TEST

START_TEST(test_refused)
{
	struct cg_base base;
	char why[256];

	place("", ALL, "memory pids\n", "");
	place("session", ALL, "", "1\n");
	ck_assert_int_eq(open_at("/session", NULL, &base, why), -1);
	ck_assert_ptr_nonnull(strstr(why, "Delegate=yes"));
	ck_assert_int_eq(open_at("", NULL, &base, why), -1);
	ck_assert_str_eq(why, "the layer cgroup-v2 is missing: "
	    "no cgroup2 is mounted");
}
END_TEST

START_TEST(test_hybrid_without_controller)
{
	struct cg_base base;
	char why[256];

	place("", "hugetlb\n", "", "");
	ck_assert_int_eq(open_at("/", NULL, &base, why), -1);
	ck_assert_str_eq(why, "the layer cgroup-memory is missing: "
	    "no hierarchy has the controller");
	close(base.v2);
}
END_TEST

START_TEST(test_configured)
{
	struct cg_base base;
	char why[256];

	place("", ALL, ALL, "");
	place("par", ALL, "", "");
	place("par/ent", ALL, "", "");
	place("par/ent/myelin-x", ALL, "", "");
	ck_assert_int_eq(open_at("/", "/par/ent", &base, why), 0);
	goes_to(&base, "/par/ent/myelin-x");
	holds(tree, "par/ent/cgroup.subtree_control", "+memory +pids +cpu");
}
END_TEST

/* The neurond before moved all processes to main: not one level deeper. */
START_TEST(test_started_again)
{
	struct cg_base base;
	char why[256];

	place("", ALL, ALL, "");
	place("svc", ALL, ALL, "");
	place("svc/main", ALL, "", "");
	place("svc/myelin-x", ALL, ALL, "");
	ck_assert_int_eq(open_at("/svc/main", NULL, &base, why), 0);
	goes_to(&base, "/svc/myelin-x");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("neurond cgroup");
	TCase *text = tcase_create("text");
	TCase *fake = tcase_create("fake tree");

	tcase_add_test(text, test_hybrid);
	tcase_add_test(text, test_pure);
	tcase_add_test(text, test_strange_texts);
	tcase_add_test(text, test_listed);
	tcase_add_checked_fixture(fake, make_tree, remove_tree);
	tcase_add_test(fake, test_v2_limits);
	tcase_add_test(fake, test_v1_limits);
	tcase_add_test(fake, test_counters);
	tcase_add_test(fake, test_missing_files);
	tcase_add_test(fake, test_sweep);
	tcase_add_test(fake, test_leaves);
	tcase_add_test(fake, test_own_is_empty);
	tcase_add_test(fake, test_own_is_shared);
	tcase_add_test(fake, test_at_the_root);
	tcase_add_test(fake, test_refused);
	tcase_add_test(fake, test_hybrid_without_controller);
	tcase_add_test(fake, test_configured);
	tcase_add_test(fake, test_started_again);
	suite_add_tcase(s, text);
	suite_add_tcase(s, fake);
	return (unit_main(s));
}
