/*
 * ls, archives and notes: in order, page by page, bounded.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "names.h"
#include "result.h"
#include "tool_rig.h"
#include "unit.h"

#define MANY	20000

static void
assert_ok(const struct answer *a)
{
	ck_assert_str_eq(rig_code(a), "");
}

static const json_t *
entry_of(const struct answer *a, size_t i)
{
	const json_t *entry = json_array_get(json_object_get(a->result,
	    "entries"), i);

	ck_assert_msg(entry != NULL, "no entry %zu", i);
	return (entry);
}

static const char *
text_of(const json_t *object, const char *member)
{
	const char *text = json_string_value(json_object_get(object, member));

	return (text == NULL ? "(none)" : text);
}

static void
assert_names(const struct answer *a, const char *const *names)
{
	size_t i;

	for (i = 0; names[i] != NULL; i++)
		ck_assert_str_eq(text_of(entry_of(a, i), "name"), names[i]);
	ck_assert_uint_eq(json_array_size(json_object_get(a->result,
	    "entries")), i);
}

START_TEST(ls_entries)
{
	static const char *const names[] = { ".hidden", "B", "a", "dir",
	    "fifo", "link", "\xc3\xa9", NULL };
	static const char *const shown[] = { "B", "a", "dir", "fifo", "link",
	    "\xc3\xa9", NULL };
	struct timeval times[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
	struct answer *a;

	rig_put_text(".hidden", "");
	rig_put_text("a", "12345");
	rig_put_text("B", "");
	rig_put_text("\xc3\xa9", "");
	ck_assert_int_eq(mkdir("dir", 0750), 0);
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	ck_assert_int_eq(symlink("/nowhere/\n", "link"), 0);
	ck_assert_int_eq(utimes("a", times), 0);
	a = rig_run("ls", "{}");
	assert_ok(a);
	assert_names(a, names);
	ck_assert_int_eq(rig_int(a, "total"), 7);
	ck_assert_int_eq(rig_true(a, "more"), 0);
	ck_assert_str_eq(text_of(entry_of(a, 2), "type"), "file");
	ck_assert_str_eq(text_of(entry_of(a, 2), "mode"), "0644");
	ck_assert_str_eq(text_of(entry_of(a, 2), "mtime"),
	    "2001-09-09T01:46:40Z");
	ck_assert_int_eq(json_integer_value(json_object_get(entry_of(a, 2),
	    "size")), 5);
	ck_assert_str_eq(text_of(entry_of(a, 3), "type"), "directory");
	ck_assert_str_eq(text_of(entry_of(a, 3), "mode"), "0750");
	ck_assert_str_eq(text_of(entry_of(a, 4), "type"), "fifo");
	ck_assert_str_eq(text_of(entry_of(a, 5), "type"), "link");
	ck_assert_str_eq(text_of(entry_of(a, 5), "target"), "/nowhere/\n");
	ck_assert_ptr_nonnull(strstr(a->out, "-rw-r--r--          5 "
	    "2001-09-09T01:46:40Z a\n"));
	ck_assert_ptr_nonnull(strstr(a->out, " link -> /nowhere/\\n\n"));
	a = rig_run("ls", "{sssb}", "path", rig.work, "all", 0);
	assert_names(a, shown);
}
END_TEST

/* Directories that can't be opened for want of fds are not left out. */
START_TEST(too_few_descriptors)
{
	struct answer *a;
	int i;

	for (i = 0; i < 30; i++) {
		ck_assert_int_eq(mkdir("d", 0755), 0);
		ck_assert_int_eq(chdir("d"), 0);
	}
	ck_assert_int_eq(chdir(rig.work), 0);
	rig.files = 16;
	a = rig_run("ls", "{si}", "depth", 32);
	ck_assert_str_eq(rig_code(a), "busy");
	a = rig_run("read", "{sssb}", "path", ".", "tar", 1);
	ck_assert_str_eq(rig_code(a), "busy");
	a = rig_run("ls", "{si}", "depth", 8);
	assert_ok(a);
}
END_TEST

/* As the C library has it, over all the years that a file may say. */
START_TEST(times)
{
	char text[TIME_TEXT], want[TIME_TEXT];
	int64_t when;
	struct tm tm;
	time_t t;

	for (when = -99999999999; when < 300000000000; when += 12345678901 /
	    137) {
		t = (time_t)when;
		ck_assert_ptr_nonnull(gmtime_r(&t, &tm));
		if (tm.tm_year < -900)
			continue;
		strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%SZ", &tm);
		time_text(text, sizeof(text), when);
		ck_assert_str_eq(text, want);
	}
	time_text(text, sizeof(text), INT64_MAX);
	time_text(text, sizeof(text), INT64_MIN + 1);
}
END_TEST

START_TEST(ls_pages)
{
	char name[16];
	struct answer *a;
	int i, seen = 0;

	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "f%03d", (i * 37) % 100);
		rig_put_text(name, "");
	}
	for (;;) {
		a = rig_run("ls", "{sisi}", "offset", seen, "limit", 7);
		assert_ok(a);
		ck_assert_int_eq(rig_int(a, "total"), 100);
		for (i = 0; i < (int)json_array_size(json_object_get(
		    a->result, "entries")); i++) {
			snprintf(name, sizeof(name), "f%03d", seen++);
			ck_assert_str_eq(text_of(entry_of(a, (size_t)i),
			    "name"), name);
		}
		if (!rig_true(a, "more"))
			break;
		ck_assert_int_eq(rig_int(a, "next_offset"), seen);
	}
	ck_assert_int_eq(seen, 100);
	a = rig_run("ls", "{si}", "offset", 100);
	assert_ok(a);
	ck_assert_int_eq(rig_true(a, "more"), 0);
	a = rig_run("ls", "{si}", "limit", 0);
	ck_assert_str_eq(rig_code(a), "bad_argument");
}
END_TEST

START_TEST(ls_depth)
{
	static const char *const two[] = { "a", "a/f", "a/sub", "a-b", "z",
	    NULL };
	static const char *const part[] = { "a/sub", "a/sub/g", "a-b", NULL };
	struct answer *a;

	ck_assert_int_eq(mkdir("a", 0755), 0);
	ck_assert_int_eq(mkdir("a/sub", 0755), 0);
	rig_put_text("a/sub/g", "");
	rig_put_text("a/f", "");
	rig_put_text("a-b", "");
	ck_assert_int_eq(symlink("a", "z"), 0);
	a = rig_run("ls", "{si}", "depth", 2);
	assert_ok(a);
	assert_names(a, two);
	a = rig_run("ls", "{sisisi}", "depth", 3, "offset", 2, "limit", 3);
	assert_names(a, part);
	ck_assert_int_eq(rig_int(a, "total"), 6);
	ck_assert_int_eq(rig_int(a, "next_offset"), 5);
}
END_TEST

START_TEST(ls_of_many)
{
	static const int offsets[] = { 0, MANY / 2, MANY - 3 };
	struct rusage usage;
	struct answer *a;
	time_t begin = 0;
	char name[32];
	int i, k, fd;

	for (i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "name-%06d",
		    (int)((long)i * 7919 % MANY));
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0644);
		ck_assert_int_ne(fd, -1);
		close(fd);
	}
	for (k = 0; k < 3; k++) {
		a = rig_run("ls", "{sisi}", "offset", offsets[k], "limit",
		    1000);
		assert_ok(a);
		ck_assert_int_eq(rig_int(a, "total"), MANY);
		snprintf(name, sizeof(name), "name-%06d", offsets[k]);
		ck_assert_str_eq(text_of(entry_of(a, 0), "name"), name);
		/* of a processor, of which others take none */
		ck_assert_int_eq(getrusage(RUSAGE_CHILDREN, &usage), 0);
		ck_assert_int_lt(usage.ru_utime.tv_sec +
		    usage.ru_stime.tv_sec - begin, 5);
		begin = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
	}
#ifndef __SANITIZE_ADDRESS__
	ck_assert_int_lt(usage.ru_maxrss, 24 * 1024);
#endif
}
END_TEST

/* A directory in pieces of three: each name once, in order. */
START_TEST(names_in_pieces)
{
	struct names names;
	char after[256] = "", name[16];
	DIR *dir;
	size_t i, seen = 0;
	int more = 1;

	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "f%03zu", (i * 37) % 100);
		rig_put_text(name, "");
	}
	dir = names_open(open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	ck_assert_ptr_nonnull(dir);
	while (more) {
		ck_assert_int_eq(names_next(dir, after, 3, NULL, &names), 0);
		ck_assert_uint_eq(names.seen, 100);
		ck_assert_uint_le(names.n, 3);
		for (i = 0; i < names.n; i++) {
			snprintf(name, sizeof(name), "f%03zu", seen++);
			ck_assert_str_eq(names.v[i]->text, name);
		}
		ck_assert_int_eq(names.more, seen < 100);
		more = names.more;
		snprintf(after, sizeof(after), "%s",
		    names.v[names.n - 1]->text);
		names_free(&names);
	}
	ck_assert_uint_eq(seen, 100);
	closedir(dir);
}
END_TEST

/* ---- archives ---- */

static int
tar_lists(const struct answer *a, const char *const *want)
{
	char line[512];
	FILE *f;
	int i = 0;

	rig_put("../t.tar", a->out, a->nout);
	f = popen("tar -tf ../t.tar --quoting-style=escape 2>&1", "r");
	while (fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (want[i] == NULL || strcmp(line, want[i]) != 0)
			printf("# %s\n", line);
		i += want[i] != NULL && strcmp(line, want[i]) == 0;
	}
	return (pclose(f) == 0 && want[i] == NULL);
}

START_TEST(archive)
{
	static char name[256], content[512 * 1024 + 5];
	static const char *want[8];
	char deep[600], link_to[700];
	struct answer *a;
	struct stat st;

	memset(name, 'n', 200);
	memset(content, 'c', sizeof(content));
	rig_put_text("-rf", "x");
	rig_put("big", content, sizeof(content));
	rig_put_text("\xff\n", "odd");
	ck_assert_int_eq(mkdir("d", 0700), 0);
	snprintf(deep, sizeof(deep), "d/%s", name);
	rig_put_text(deep, "long");
	rig_put_text("d/run", "#!/bin/sh\n");
	ck_assert_int_eq(chmod("d/run", 04711), 0);
	ck_assert_int_eq(symlink("/etc/passwd", "l"), 0);
	ck_assert_int_eq(mkfifo("p", 0644), 0);
	ck_assert_int_eq(link("big", "hard"), 0);
	a = rig_run("read", "{sssb}", "path", ".", "tar", 1);
	assert_ok(a);
	ck_assert_int_eq(rig_int(a, "left_out"), 2);
	ck_assert_int_eq(rig_int(a, "bytes"), (long long)a->nout);
	ck_assert_uint_eq(a->nout % 512, 0);
	want[0] = "-rf";
	want[1] = "big";
	want[2] = "d/";
	want[3] = deep;
	want[4] = "d/run";
	want[5] = "hard";
	want[6] = "\\377\\n";
	ck_assert(tar_lists(a, want));
	ck_assert_int_eq(mkdir("out", 0755), 0);
	ck_assert_int_eq(system("tar -xf ../t.tar -C out"), 0);
	ck_assert(rig_holds("out/big", content, sizeof(content)));
	ck_assert(rig_holds("out/hard", content, sizeof(content)));
	ck_assert(rig_holds_text("out/\xff\n", "odd"));
	snprintf(link_to, sizeof(link_to), "out/%s", deep);
	ck_assert(rig_holds_text(link_to, "long"));
	ck_assert_int_eq(stat("out/d/run", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
	ck_assert_int_eq(stat("out/hard", &st), 0);
	ck_assert_uint_eq(st.st_nlink, 1);
	ck_assert_uint_eq(rig_entries("out"), 5);
}
END_TEST

/* ---- notes ---- */

START_TEST(notes)
{
	char path[256];
	struct answer *a;
	struct stat st;

	a = rig_run("memory_list", "{}");
	assert_ok(a);
	ck_assert_uint_eq(json_array_size(json_object_get(a->result,
	    "notes")), 0);
	a = rig_run("memory_recall", "{ss}", "name", "x");
	ck_assert_str_eq(rig_code(a), "not_found");
	a = rig_run("memory_store", "{ssss}", "name", "plan", "content",
	    "one\ntwo\xc3\xa9");
	assert_ok(a);
	ck_assert_int_eq(rig_true(a, "created"), 1);
	a = rig_run("memory_store", "{ssss}", "name", "a.b-c_9", "content",
	    "");
	assert_ok(a);
	a = rig_run("memory_recall", "{ss}", "name", "plan");
	assert_ok(a);
	ck_assert_str_eq(a->out, "one\ntwo\xc3\xa9");
	ck_assert_int_eq(rig_int(a, "bytes"), 9);
	a = rig_run("memory_store", "{ssss}", "name", "plan", "content", "3");
	ck_assert_int_eq(rig_true(a, "created"), 0);
	snprintf(path, sizeof(path), "%s/.memory", rig.home);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	strcat(path, "/plan");
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	a = rig_run("memory_list", "{}");
	ck_assert_str_eq(text_of(json_array_get(json_object_get(a->result,
	    "notes"), 0), "name"), "a.b-c_9");
	ck_assert_uint_eq(json_array_size(json_object_get(a->result,
	    "notes")), 2);
	a = rig_run("memory_delete", "{ss}", "name", "plan");
	assert_ok(a);
	a = rig_run("memory_delete", "{ss}", "name", "plan");
	ck_assert_str_eq(rig_code(a), "not_found");
}
END_TEST

START_TEST(note_names)
{
	static const char *const names[] = { "", ".", "..", ".x", "-x", "_x",
	    "a/b", "../x", "a b", "a\nb", "\xc3\xa9", "a\x1b" };
	static const char *const tools[] = { "memory_store", "memory_recall",
	    "memory_delete" };
	char longest[128];
	struct answer *a;
	size_t i, k;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (k = 0; k < 3; k++) {
			a = rig_run(tools[k], "{ssss}", "name", names[i],
			    "content", "x");
			ck_assert_msg(a->status == 1, "%s %s", tools[k],
			    names[i]);
			ck_assert_str_eq(rig_code(a), "bad_argument");
		}
	a = rig_run("memory_store", "{ss#ss}", "name", "a\0b", 3, "content",
	    "x");
	ck_assert_str_eq(rig_code(a), "bad_argument");
	memset(longest, 'n', 101);
	longest[101] = '\0';
	a = rig_run("memory_store", "{ssss}", "name", longest, "content", "");
	ck_assert_str_eq(rig_code(a), "bad_argument");
	longest[100] = '\0';
	a = rig_run("memory_store", "{ssss}", "name", longest, "content", "");
	assert_ok(a);
	ck_assert_uint_eq(rig_entries(rig.home), 1);
}
END_TEST

/* The neuron's programs can do with the directory what they like. */
START_TEST(note_traps)
{
	char dir[256], path[300], secret[256];
	struct answer *a;

	snprintf(dir, sizeof(dir), "%s/.memory", rig.home);
	snprintf(secret, sizeof(secret), "%s/s", rig.outside);
	rig_put_text(secret, "SECRET");
	ck_assert_int_eq(symlink(rig.outside, dir), 0);
	a = rig_run("memory_store", "{ssss}", "name", "s", "content", "x");
	ck_assert_str_eq(rig_code(a), "not_a_directory");
	a = rig_run("memory_recall", "{ss}", "name", "s");
	ck_assert_str_eq(rig_code(a), "not_a_directory");
	a = rig_run("memory_list", "{}");
	ck_assert_str_eq(rig_code(a), "not_a_directory");
	a = rig_run("memory_delete", "{ss}", "name", "s");
	ck_assert_str_eq(rig_code(a), "not_a_directory");
	ck_assert_int_eq(unlink(dir), 0);
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	snprintf(path, sizeof(path), "%s/s", dir);
	ck_assert_int_eq(symlink(secret, path), 0);
	a = rig_run("memory_recall", "{ss}", "name", "s");
	ck_assert_str_eq(rig_code(a), "not_a_file");
	a = rig_run("memory_store", "{ssss}", "name", "s", "content", "x");
	ck_assert_str_eq(rig_code(a), "not_a_file");
	a = rig_run("memory_delete", "{ss}", "name", "s");
	assert_ok(a);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	a = rig_run("memory_recall", "{ss}", "name", "s");
	ck_assert_str_eq(rig_code(a), "not_a_file");
	ck_assert(rig_holds_text(secret, "SECRET"));
}
END_TEST

START_TEST(note_limits)
{
	char *big = malloc(1024 * 1024 + 2), path[300];
	struct answer *a;
	int i;

	memset(big, 'x', 1024 * 1024 + 1);
	big[1024 * 1024 + 1] = '\0';
	a = rig_run("memory_store", "{ssss}", "name", "n", "content", big);
	ck_assert_str_eq(rig_code(a), "too_large");
	ck_assert_ptr_nonnull(strstr(text_of(json_object_get(a->result,
	    "error"), "message"), "1048576"));
	big[1024 * 1024] = '\0';
	a = rig_run("memory_store", "{ssss}", "name", "n", "content", big);
	assert_ok(a);
	free(big);
	for (i = 0; i < 999; i++) {
		snprintf(path, sizeof(path), "%s/.memory/n%d", rig.home, i);
		rig_put_text(path, "");
	}
	a = rig_run("memory_store", "{ssss}", "name", "one", "content", "x");
	ck_assert_str_eq(rig_code(a), "too_large");
	a = rig_run("memory_store", "{ssss}", "name", "n5", "content", "x");
	assert_ok(a);
	a = rig_run("memory_list", "{}");
	ck_assert_uint_eq(json_array_size(json_object_get(a->result,
	    "notes")), 1000);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("neuron-tool, ls, archives and notes");
	TCase *tc = tcase_create("lists");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, ls_entries);
	tcase_add_test(tc, too_few_descriptors);
	tcase_add_test(tc, times);
	tcase_add_test(tc, ls_pages);
	tcase_add_test(tc, ls_depth);
	tcase_add_test(tc, ls_of_many);
	tcase_add_test(tc, names_in_pieces);
	tcase_add_test(tc, archive);
	tcase_add_test(tc, notes);
	tcase_add_test(tc, note_names);
	tcase_add_test(tc, note_traps);
	tcase_add_test(tc, note_limits);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
