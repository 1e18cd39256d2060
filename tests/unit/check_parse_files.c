/* The configuration in files: what is read, by whom, and how it prints. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "conf_fake.h"
#include "conf_said.h"
#include "conf_same.h"
#include "limit_text.h"
#include "unit.h"

static char tmp[] = "/tmp/check_parse.XXXXXX";

static void
write_file(const char *name, const char *text, size_t size, mode_t mode)
{
	int fd;

	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(write(fd, text, size), (ssize_t)size);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	ck_assert_int_eq(close(fd), 0);
}

static char *
read_file(const char *name, size_t *size)
{
	char *text;
	ssize_t n;
	int fd;

	if ((fd = open(name, O_RDONLY | O_CLOEXEC)) == -1)
		return (NULL);
	ck_assert_ptr_nonnull(text = calloc(1, SAID_MAX));
	n = read(fd, text, SAID_MAX - 1);
	ck_assert_int_ge(n, 0);
	*size = (size_t)n;
	ck_assert_int_eq(close(fd), 0);
	return (text);
}

/* Removes what is in the temporary directory, and it. */
static void
leave(void)
{
	struct dirent *e;
	DIR *d;

	ck_assert_ptr_nonnull(d = opendir(tmp));
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] != '.')
			(void)unlinkat(dirfd(d), e->d_name, 0);
	}
	(void)closedir(d);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(tmp), 0);
}

static struct conf *
load_file(const char *name)
{
	struct conf_opts opts = { .names = &fake_names, .report = hear };

	said[0] = '\0';
	return (conf_load(name, &opts));
}

/* GOLDEN_WRITE names a directory that .out files are written to. */
static void
golden_print(struct conf *conf, const char *name, int stem)
{
	const struct conf_opts opts = {
		.names = &fake_names, .no_include = 1, .report = hear
	};
	const char *to = getenv("GOLDEN_WRITE");
	char path[4096], *printed = same_print(conf), *text;
	size_t size;

	(void)snprintf(path, sizeof(path), "%s%s%.*s.out",
	    to == NULL ? "" : to, to == NULL ? "" : "/", stem, name);
	if (to != NULL)
		write_file(path, printed, strlen(printed), 0644);
	ck_assert_msg((text = read_file(path, &size)) != NULL, "no %s", path);
	ck_assert_str_eq(printed, text);
	free(text);
	free(printed);
	said[0] = '\0';
	ck_assert_msg(same_again(conf, &opts), "%s: %s", name, said);
}

/*
 * Each file of tests/config/DIR is read, from a copy that belongs to who runs
 * this: good ones must say nothing, and print what stands in .out, which must
 * read back as the same; bad ones say exactly what stands in .err.
 */
static void
golden(const char *dir, int want)
{
	char from[4096], err[512], *text;
	struct dirent *e;
	struct conf *conf;
	size_t size, stem, n = 0;
	DIR *d;

	(void)snprintf(from, sizeof(from), "%s/%s", TESTS_CONFIG, dir);
	ck_assert_ptr_nonnull(mkdtemp(tmp));
	ck_assert_ptr_nonnull(d = opendir(from));
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		(void)snprintf(from, sizeof(from), "%s/%s/%s", TESTS_CONFIG,
		    dir, e->d_name);
		ck_assert_ptr_nonnull(text = read_file(from, &size));
		ck_assert_int_eq(chdir(tmp), 0);
		write_file(e->d_name, text, size, 0600);
		free(text);
	}
	rewinddir(d);
	while ((e = readdir(d)) != NULL) {
		stem = size = strlen(e->d_name);
		stem -= 5;
		if (size < 5 || strcmp(e->d_name + size - 5, ".conf") != 0)
			continue;
		n++;
		conf = load_file(e->d_name);
		(void)snprintf(err, sizeof(err), "%.*s.err", (int)size - 5,
		    e->d_name);
		text = read_file(err, &size);
		if (getenv("GOLDEN_SHOW") != NULL)
			fprintf(stderr, "--- %s\n%s", err, said);
		else
			ck_assert_str_eq(said, text == NULL ? "" : text);
		ck_assert_msg((conf != NULL) == want, "%s", e->d_name);
		free(text);
		if (conf != NULL)
			golden_print(conf, e->d_name, (int)stem);
		conf_free(conf);
	}
	(void)closedir(d);
	ck_assert_uint_gt(n, 0);
	leave();
}

START_TEST(golden_good)
{
	golden("good", 1);
}
END_TEST

/* -p: what follows from the directory is printed as well. */
START_TEST(print_private)
{
	const struct conf_opts opts = {
		.private_dir = "/tmp/My Dir", .names = &fake_names,
		.no_include = 1, .report = hear
	};
	struct conf *conf = load_at("private no\nstate /s\n", "/tmp/My Dir");

	ck_assert_ptr_nonnull(conf);
	ck_assert_msg(same_again(conf, &opts), "%s", said);
	conf_free(conf);
	conf = load_at("", "/tmp/My Dir");
	ck_assert_ptr_nonnull(conf);
	ck_assert_msg(same_again(conf, &opts), "%s", said);
	conf_free(conf);
}
END_TEST

/* Every limit, at its ends and beside them, for the host and a profile. */
START_TEST(print_limits)
{
	const struct conf_opts opts = {
		.names = &fake_names, .no_include = 1, .report = hear
	};
	char text[512], value[LIMIT_TEXT_MAX];
	const struct limit_row *row;
	struct conf *conf;
	uint64_t v[4];
	size_t i, j;

	for (i = 0; i < LIMIT_COUNT; i++) {
		row = &limit_table[i];
		v[0] = row->min;
		v[1] = row->min + 1;
		v[2] = row->max - 1;
		v[3] = row->max;
		for (j = 0; j < 4; j++) {
			(void)limit_text(row->unit, v[j], value);
			(void)snprintf(text, sizeof(text), API "%s %s\n"
			    "%sprofile p { %s %s }\n", row->keyword, value,
			    row->scope == SCOPE_HOST ? "#" : "",
			    row->keyword, value);
			said[0] = '\0';
			conf = conf_load_text("t", text, strlen(text), &opts);
			if (conf == NULL)	/* two limits that disagree */
				continue;
			ck_assert_uint_eq(conf->slice->limits.v[i], v[j]);
			ck_assert_msg(same_again(conf, &opts), "%s%s", text,
			    said);
			conf_free(conf);
		}
	}
}
END_TEST

START_TEST(golden_bad)
{
	golden("bad", 0);
}
END_TEST

START_TEST(file_modes)
{
	ck_assert_ptr_nonnull(mkdtemp(tmp));
	ck_assert_int_eq(chdir(tmp), 0);
	write_file("c", API, strlen(API), 0644);
	conf_free(load_file("c"));
	ck_assert_str_eq(said, "");
	ck_assert_int_eq(chmod("c", 0664), 0);
	ck_assert_ptr_null(load_file("c"));
	ck_assert_str_eq(said, "c: mode 0664 lets group or others write it; "
	    "chmod go-w\n");
	ck_assert_int_eq(chmod("c", 0606), 0);
	ck_assert_ptr_null(load_file("c"));
	if (geteuid() == 0) {
		ck_assert_int_eq(chmod("c", 0600), 0);
		ck_assert_int_eq(chown("c", 1234, 0), 0);
		ck_assert_ptr_null(load_file("c"));
		ck_assert_str_eq(said, "c: belongs to uid 1234; it must "
		    "belong to root or to uid 0, who runs this\n");
	}
	ck_assert_ptr_null(load_file("nosuch"));
	ck_assert_str_eq(said, "nosuch: No such file or directory\n");
	ck_assert_ptr_null(load_file("."));
	ck_assert_str_eq(said, ".: is not a regular file\n");
	ck_assert_int_eq(mkfifo("f", 0600), 0);
	ck_assert_ptr_null(load_file("f"));
	ck_assert_str_eq(said, "f: is not a regular file\n");
	leave();
}
END_TEST

/* An included file is held to the same rule, and named. */
START_TEST(include_modes)
{
	static const char text[] = "include \"d\"\n" API;

	ck_assert_ptr_nonnull(mkdtemp(tmp));
	ck_assert_int_eq(chdir(tmp), 0);
	write_file("c", text, strlen(text), 0600);
	write_file("d", "\n", 1, 0666);
	ck_assert_ptr_null(load_file("c"));
	ck_assert_str_eq(said, "c:1: include \"d\": mode 0666 lets group or "
	    "others write it; chmod go-w\n");
	leave();
}
END_TEST

START_TEST(include_itself)
{
	static const char text[] = "include \"c\"\n" API;

	ck_assert_ptr_nonnull(mkdtemp(tmp));
	ck_assert_int_eq(chdir(tmp), 0);
	write_file("c", text, strlen(text), 0600);
	ck_assert_ptr_null(load_file("c"));
	ck_assert_ptr_nonnull(strstr(said,
	    "c:1: include: more than 16 files deep\n"));
	leave();
}
END_TEST

/* The files that say what is built in: under another name, the same. */
START_TEST(shipped_presets)
{
	static const char *const names[] = { "readonly", "strict",
		"standard" };
	char path[512], text[4096], quoted[32], *at;
	const struct cf_preset *ours, *theirs;
	struct conf *conf;
	size_t n;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s.conf", PRESETS, names[_i]);
	ck_assert_msg((f = fopen(path, "r")) != NULL, "%s", path);
	n = fread(text, 1, sizeof(text) - 64, f);
	fclose(f);
	text[n] = '\0';
	(void)snprintf(quoted, sizeof(quoted), "preset \"%s\" {", names[_i]);
	ck_assert_ptr_nonnull(at = strstr(text, quoted));
	/* as long a name, so that nothing moves */
	at[strlen("preset \"")] = 'x';
	(void)strlcat(text, API, sizeof(text));
	conf = good(text);
	quoted[strlen("preset \"")] = 'x';
	quoted[strlen(quoted) - strlen("\" {")] = '\0';
	ours = slice_preset(conf->slice, names[_i]);
	theirs = slice_preset(conf->slice, quoted + strlen("preset \""));
	ck_assert_ptr_nonnull(theirs);
	ck_assert_uint_eq(theirs->cap, ours->cap);
	ck_assert_uint_eq(theirs->elevated, ours->elevated);
	ck_assert_uint_eq(ours->elevated, ELEVATED_OFF);
	ck_assert_uint_eq(theirs->allow.n + theirs->deny.n +
	    theirs->deny_groups.n, 0);
	ck_assert_uint_eq(ours->allow.n + ours->deny.n + ours->deny_groups.n,
	    0);
	conf_free(conf);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("parse_files");
	TCase *t = tcase_create("files");

	tcase_add_test(t, golden_good);
	tcase_add_test(t, golden_bad);
	tcase_add_test(t, print_private);
	tcase_add_test(t, print_limits);
	tcase_add_test(t, file_modes);
	tcase_add_test(t, include_modes);
	tcase_add_test(t, include_itself);
	tcase_add_loop_test(t, shipped_presets, 0, 3);
	suite_add_tcase(s, t);
	return (unit_main(s));
}
