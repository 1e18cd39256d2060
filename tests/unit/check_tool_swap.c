/*
 * A swapping attacker: while bodies read and write, a thread exchanges a
 * directory with a link that leads out, and a file with another, as fast as
 * it can.  Nothing outside is read or written; a program that opens by name
 * is caught within moments.
 */
#include "config.h"

#include <sys/stat.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool_rig.h"
#include "unit.h"

#ifdef WITH_SANITIZERS
#define RUNS	100		/* a start takes thirty times as long */
#else
#define RUNS	1000		/* reads, and as many writes */
#endif
#define NAIVE	2000000		/* at most */

static atomic_int stop;
static char secret[256];

static void *
swap(void *arg)
{
	(void)arg;
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		(void)renameat2(AT_FDCWD, "dir", AT_FDCWD, "link",
		    RENAME_EXCHANGE);
		(void)renameat2(AT_FDCWD, "file", AT_FDCWD, "flink",
		    RENAME_EXCHANGE);
	}
	return (NULL);
}

static pthread_t
begin(void)
{
	pthread_t thread;

	snprintf(secret, sizeof(secret), "%s/s", rig.outside);
	rig_put_text(secret, "SECRET");
	ck_assert_int_eq(mkdir("dir", 0755), 0);
	rig_put_text("dir/s", "inside");
	rig_put_text("file", "inside");
	ck_assert_int_eq(symlink(rig.outside, "link"), 0);
	ck_assert_int_eq(symlink(secret, "flink"), 0);
	atomic_store(&stop, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, swap, NULL), 0);
	return (thread);
}

static void
end(pthread_t thread)
{
	atomic_store(&stop, 1);
	pthread_join(thread, NULL);
}

static int
read_once(int i)
{
	static const char *const paths[] = { "dir/s", "file", "link/s",
	    "flink", "link/../dir/s" };
	struct answer *a;

	a = rig_run("read", "{ss}", "path", paths[i % 5]);
	(void)rig_code(a);
	ck_assert_msg(strstr(a->out, "SECRET") == NULL, "%s", paths[i % 5]);
	return (a->status == 0);
}

static int
write_once(int i)
{
	static const char *const paths[] = { "dir/w", "file", "link/s",
	    "dir/deep/er/w", "flink" };
	struct answer *a;

	a = rig_run("write", "{sssssb}", "path", paths[i % 5], "content",
	    "PWNED", "parents", i % 5 == 3);
	(void)rig_code(a);
	return (a->status == 0);
}

START_TEST(nothing_outside)
{
	pthread_t thread = begin();
	int i, reads = 0, writes = 0;

	for (i = 0; i < RUNS; i++) {
		reads += read_once(i);
		writes += write_once(i);
	}
	end(thread);
	ck_assert(rig_holds_text(secret, "SECRET"));
	ck_assert_uint_eq(rig_entries(rig.outside), 1);
	/* It was no refusal of everything. */
	ck_assert_int_gt(reads, RUNS / 20);
	ck_assert_int_gt(writes, RUNS / 20);
}
END_TEST

/* The control: the same files, opened by their names after a look. */
START_TEST(a_naive_open_is_caught)
{
	pthread_t thread = begin();
	char text[16] = "", target[256];
	int i, fd, caught = 0, wrote = 0;

	for (i = 0; i < NAIVE && (caught == 0 || wrote == 0); i++) {
		if (readlink("dir", target, sizeof(target)) != -1)
			continue;	/* a link: refused */
		if ((fd = open("dir/s", O_RDONLY | O_CLOEXEC)) != -1) {
			if (read(fd, text, sizeof(text) - 1) > 0)
				caught += strcmp(text, "SECRET") == 0;
			close(fd);
		}
		if (readlink("dir", target, sizeof(target)) != -1)
			continue;
		fd = open("dir/w", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd != -1)
			close(fd);
		wrote = rig_entries(rig.outside) > 1;
	}
	end(thread);
	ck_assert_int_gt(caught, 0);
	ck_assert_int_gt(wrote, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("neuron-tool, a swapping attacker");
	TCase *tc = tcase_create("swap");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, nothing_outside);
	tcase_add_test(tc, a_naive_open_is_caught);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
