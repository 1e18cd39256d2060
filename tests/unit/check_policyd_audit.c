/* The chain of the audit log: what shows when it is touched. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../policyd/audit.h"
#include "unit.h"

static char	dir[64], path[128];
static int	dirfd_;
static struct audit_mark mark;

static int
log_fd(void)
{
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	ck_assert_int_ne(fd, -1);
	return (fd);
}

static void
add(int n)
{
	for (; n > 0; n--)
		audit_append("test", json_pack("{s:i,s:s}", "n", n, "text",
		    "quote \" and\nnewline"));
	ck_assert_int_eq(audit_flush(), 0);
}

static void
set_up(void)
{
	snprintf(dir, sizeof(dir), "/tmp/check-audit.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/audit.jsonl", dir);
	dirfd_ = open(dir, O_RDONLY | O_DIRECTORY);
	audit_mark_init(&mark);
	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &mark), 0);
	add(10);
	ck_assert_int_eq(audit_sync(&mark), 0);
	ck_assert_uint_eq(mark.sequence, 10);
	add(5);
	audit_close();
}

static void
tear_down(void)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	(void)!system(command);
}

static enum audit_verdict
examined(struct audit_found *found)
{
	int fd = log_fd();

	ck_assert_int_eq(audit_examine(fd, &mark, found), 0);
	close(fd);
	return (found->verdict);
}

/* The file as one string, changed by the test and written back. */
static char *
contents(void)
{
	static char buf[65536];
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, buf, sizeof(buf) - 1);

	ck_assert_int_gt(n, 0);
	buf[n] = '\0';
	close(fd);
	return (buf);
}

static void
rewrite(const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	ck_assert_int_eq(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static char *
line_of(char *text, int sequence)
{
	char front[32];

	snprintf(front, sizeof(front), "{\"seq\":%d,", sequence);
	return (strstr(text, front));
}

START_TEST(whole)
{
	struct audit_found found;

	ck_assert_int_eq(examined(&found), AUDIT_WHOLE);
	ck_assert_uint_eq(found.head.sequence, 15);
	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &mark), 0);
	ck_assert_uint_eq(audit_gaps(), 0);
	add(1);
	audit_close();
	ck_assert_int_eq(examined(&found), AUDIT_WHOLE);
	ck_assert_uint_eq(found.head.sequence, 16);
}
END_TEST

/* From nothing the whole file is followed, so that a first look sees all. */
START_TEST(every_record_counts)
{
	struct audit_found found;
	char *text = contents(), *p;
	int i;

	for (i = 1; i <= 15; i++) {
		audit_mark_init(&mark);
		p = strstr(line_of(text, i), "newline");
		*p = 'N';
		rewrite(text);
		ck_assert_int_eq(examined(&found), AUDIT_DAMAGED);
		ck_assert_uint_eq(found.head.sequence, i - 1);
		*p = 'n';
	}
	rewrite(text);
	ck_assert_int_eq(examined(&found), AUDIT_UNMARKED);
}
END_TEST

START_TEST(removed)
{
	struct audit_found found;
	char *text = contents(), *p = line_of(text, 13), *q;

	q = line_of(text, 14);
	memmove(p, q, strlen(q) + 1);
	rewrite(text);
	ck_assert_int_eq(examined(&found), AUDIT_DAMAGED);
	ck_assert_uint_eq(found.head.sequence, 12);
}
END_TEST

static void
gap_in(const char *why)
{
	struct audit_found found;
	char *text;

	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &mark), 0);
	ck_assert_uint_eq(audit_gaps(), 1);
	add(1);
	audit_sync(&mark);
	audit_close();
	text = contents();
	ck_assert_ptr_nonnull(strstr(text, "\"event\":\"audit.gap\""));
	ck_assert_ptr_nonnull(strstr(text, why));
	ck_assert_int_eq(examined(&found), AUDIT_WHOLE);
}

START_TEST(cut)
{
	struct audit_found found;
	char *text = contents();

	*line_of(text, 8) = '\0';
	rewrite(text);
	ck_assert_int_eq(examined(&found), AUDIT_CUT);
	ck_assert_uint_eq(found.head.sequence, 10);
	gap_in("gone");
	/* the sequence jumps, so that a reader sees it, too */
	ck_assert_ptr_nonnull(line_of(contents(), 11));
	ck_assert_ptr_null(line_of(contents(), 9));
}
END_TEST

START_TEST(cut_to_nothing)
{
	struct audit_found found;

	rewrite("");
	ck_assert_int_eq(examined(&found), AUDIT_CUT);
	gap_in("gone");
}
END_TEST

START_TEST(changed_mark)
{
	struct audit_found found;
	char *text = contents();

	*strstr(line_of(text, 10), "newline") = 'N';
	rewrite(text);
	ck_assert_int_eq(examined(&found), AUDIT_CHANGED);
	gap_in("changed");
}
END_TEST

/* What a power cut leaves: half a record after the mark. */
START_TEST(torn)
{
	struct audit_found found;
	char *text = contents(), name[160];


	line_of(text, 12)[40] = '\0';
	rewrite(text);
	ck_assert_int_eq(examined(&found), AUDIT_DAMAGED);
	gap_in("none");
	snprintf(name, sizeof(name), "%s/audit.damaged.12", dir);
	ck_assert_int_eq(access(name, R_OK), 0);
}
END_TEST

START_TEST(found_by_sequence)
{
	json_t *lines = json_array();
	uint64_t next, after = 0, i;

	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &mark), 0);
	add(985);
	for (i = 0; i < 1000; i++) {
		json_array_clear(lines);
		ck_assert_int_eq(audit_read(i, 1, lines, &next), 0);
		ck_assert_uint_eq(json_array_size(lines), 1);
		ck_assert_uint_eq(audit_line_sequence(json_string_value(
		    json_array_get(lines, 0))), i + 1);
		ck_assert_uint_eq(next, i + 1 == 1000 ? 0 : i + 1);
	}
	i = 0;
	do {
		json_array_clear(lines);
		ck_assert_int_eq(audit_read(after, 300, lines, &next), 0);
		i += json_array_size(lines);
		after = next;
	} while (next != 0);
	ck_assert_uint_eq(i, 1000);
	json_array_clear(lines);
	ck_assert_int_eq(audit_read(1000, 5, lines, &next), 0);
	ck_assert_int_eq(audit_read(UINT64_MAX - 1, 5, lines, &next), 0);
	ck_assert_uint_eq(json_array_size(lines), 0);
	json_decref(lines);
}
END_TEST

/* A full disk: nothing is lost, nothing is written in half. */
START_TEST(full_disk)
{
	struct audit_found found;
	int fd;

	fd = memfd_create("full", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	audit_mark_init(&mark);
	ck_assert_int_eq(audit_open(fd, -1, &mark), 0);
	add(2);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
	audit_append("test", NULL);
	ck_assert_int_eq(audit_flush(), -1);
	audit_append("test", NULL);
	ck_assert_int_eq(audit_flush(), -1);
	ck_assert_int_eq(audit_examine(fd, &mark, &found), 0);
	ck_assert_uint_eq(found.head.sequence, 2);
}
END_TEST

/* ---- files ---- */

static int
exists(const char *name)
{
	return (faccessat(dirfd_, name, F_OK, 0) == 0);
}

/* Three files: to 15, to 26 (with its own first record), and the last. */
static void
three_files(void)
{
	int i;

	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &mark), 0);
	ck_assert_int_eq(audit_rotate(1 << 20), 0);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(audit_sync(&mark), 0);
		ck_assert_int_eq(audit_rotate(100), 1);
		add(10);
	}
	ck_assert_int_eq(audit_sync(&mark), 0);
	ck_assert(exists("audit.15.jsonl"));
	ck_assert(exists("audit.26.jsonl"));
	ck_assert(!exists("audit.coming"));
	ck_assert_uint_eq(mark.sequence, 37);
}

/* Sequences from `first` to `last`, a page at a time. */
static void
read_all(unsigned most, uint64_t first, uint64_t last)
{
	json_t *lines = json_array();
	uint64_t after = 0, next, want = first;
	const json_t *text;
	size_t i;

	do {
		json_array_clear(lines);
		ck_assert_int_eq(audit_read(after, most, lines, &next), 0);
		ck_assert_uint_le(json_array_size(lines), most);
		json_array_foreach(lines, i, text)
			ck_assert_uint_eq(audit_line_sequence(
			    json_string_value(text)), want++);
		ck_assert(next == 0 || next == want - 1);
		after = next;
	} while (next != 0);
	ck_assert_uint_eq(want, last + 1);
	json_decref(lines);
}

START_TEST(files_are_one_chain)
{
	struct audit_found found;
	struct audit_mark at;
	char *text;

	three_files();
	read_all(500, 1, 37);
	read_all(1, 1, 37);
	read_all(7, 1, 37);
	audit_head(&at);
	audit_close();
	text = contents();
	ck_assert_ptr_nonnull(strstr(text, "{\"seq\":27,"));
	ck_assert(audit_line_is(text, AUDIT_ROTATED));
	ck_assert(!audit_line_is(text, "audit.rotate"));
	ck_assert_ptr_nonnull(strstr(text, "\"before\":\"audit.26.jsonl\""));
	ck_assert_int_eq(examined(&found), AUDIT_WHOLE);
	/* the files are found again by another process */
	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &mark), 0);
	ck_assert_uint_eq(audit_gaps(), 0);
	add(1);
	read_all(500, 1, 38);
	audit_close();
}
END_TEST

/* The mark is of the file before: a death just behind the new one. */
START_TEST(death_at_a_new_file)
{
	struct audit_mark before;

	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &mark), 0);
	ck_assert_int_eq(audit_sync(&mark), 0);
	before = mark;
	/* its record is not written */
	ck_assert_int_eq(audit_rotate(100), 1);
	audit_close();
	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &before), 0);
	ck_assert_uint_eq(audit_gaps(), 0);
	/* it is, but the mark is not */
	add(2);
	audit_close();
	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &before), 0);
	ck_assert_uint_eq(audit_gaps(), 0);
	read_all(500, 1, 18);
	audit_close();
	/* the new file was not there yet */
	ck_assert_int_eq(unlinkat(dirfd_, "audit.jsonl", 0), 0);
	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &before), 0);
	ck_assert_uint_eq(audit_gaps(), 0);
	add(1);
	audit_close();
}
END_TEST

/* An empty audit.jsonl is one that was cut, if no file ends with the mark. */
START_TEST(new_file_is_no_excuse)
{
	three_files();
	audit_close();
	rewrite("");
	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &mark), 0);
	ck_assert_uint_eq(audit_gaps(), 1);
	audit_close();
}
END_TEST

START_TEST(new_file_after_a_changed_one)
{
	struct audit_mark before;
	int fd;

	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &mark), 0);
	ck_assert_int_eq(audit_sync(&mark), 0);
	before = mark;
	ck_assert_int_eq(audit_rotate(100), 1);
	audit_close();
	fd = openat(dirfd_, "audit.15.jsonl", O_WRONLY | O_APPEND);
	ck_assert_int_eq(write(fd, "x", 1), 1);
	close(fd);
	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &before), 0);
	ck_assert_uint_eq(audit_gaps(), 1);
	audit_close();
}
END_TEST

START_TEST(old_files_may_go)
{
	three_files();
	ck_assert_int_eq(unlinkat(dirfd_, "audit.15.jsonl", 0), 0);
	read_all(500, 16, 37);
	read_all(3, 16, 37);
	ck_assert_int_eq(unlinkat(dirfd_, "audit.26.jsonl", 0), 0);
	read_all(500, 27, 37);
	audit_close();
	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &mark), 0);
	ck_assert_uint_eq(audit_gaps(), 0);
	audit_close();
}
END_TEST

/* Nothing is overwritten; what can't be renamed is written on. */
START_TEST(name_is_taken)
{
	int fd;

	fd = openat(dirfd_, "audit.15.jsonl", O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, "other", 5), 5);
	close(fd);
	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &mark), 0);
	ck_assert_int_eq(audit_sync(&mark), 0);
	ck_assert_int_eq(audit_rotate(100), 0);
	ck_assert(!exists("audit.coming"));
	add(5);
	ck_assert_int_eq(audit_sync(&mark), 0);
	ck_assert_ptr_nonnull(line_of(contents(), 1));
	ck_assert_ptr_nonnull(line_of(contents(), 20));
	/* and tried again once there is another name for it */
	add(5);
	ck_assert_int_eq(audit_rotate(100), 1);
	ck_assert(exists("audit.25.jsonl"));
	audit_close();
}
END_TEST

START_TEST(what_weighs)
{
	ck_assert_int_eq(audit_open(log_fd(), dirfd_, &mark), 0);
	(void)audit_weighs();
	audit_append("call.asked", NULL);
	ck_assert_int_eq(audit_weighs(), 0);
	audit_append("approval.resolved", NULL);
	audit_append("call.asked", NULL);
	ck_assert_int_eq(audit_weighs(), 1);
	ck_assert_int_eq(audit_weighs(), 0);
	audit_close();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_audit");
	TCase *tc = tcase_create("audit");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, whole);
	tcase_add_test(tc, every_record_counts);
	tcase_add_test(tc, removed);
	tcase_add_test(tc, cut);
	tcase_add_test(tc, cut_to_nothing);
	tcase_add_test(tc, changed_mark);
	tcase_add_test(tc, torn);
	tcase_add_test(tc, found_by_sequence);
	tcase_add_test(tc, full_disk);
	tcase_add_test(tc, files_are_one_chain);
	tcase_add_test(tc, death_at_a_new_file);
	tcase_add_test(tc, new_file_is_no_excuse);
	tcase_add_test(tc, new_file_after_a_changed_one);
	tcase_add_test(tc, old_files_may_go);
	tcase_add_test(tc, name_is_taken);
	tcase_add_test(tc, what_weighs);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
