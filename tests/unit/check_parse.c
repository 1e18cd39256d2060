/* The configuration: what its text becomes, and what is said of errors. */
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
#include "conf_same.h"
#include "limit_text.h"
#include "log.h"
#include "protocol.h"
#include "unit.h"

#define SAID_MAX	65536

static char said[SAID_MAX];

static void
hear(void *arg, const char *text)
{
	size_t used = strlen(said);

	(void)arg;
	(void)snprintf(said + used, sizeof(said) - used, "%s\n", text);
}

static struct conf *
load_at(const char *text, const char *private_dir)
{
	struct conf_opts opts = {
		.private_dir = private_dir,
		.names = &fake_names,
		.no_include = 1,
		.report = hear
	};

	said[0] = '\0';
	return (conf_load_text("t", text, strlen(text), &opts));
}

#define API	"listen api \"/r/a\"\n"

/* Reads a text that must be right. */
static struct conf *
good(const char *text)
{
	struct conf *conf = load_at(text, NULL);

	ck_assert_msg(conf != NULL, "%s", said);
	return (conf);
}

static void
bad(const char *text, const char *expected)
{
	struct conf *conf = load_at(text, NULL);

	ck_assert_msg(conf == NULL, "accepted: %s", text);
	ck_assert_str_eq(said, expected);
}

/* ---- what the text becomes ---- */

START_TEST(defaults)
{
	struct conf *conf = good(API);
	struct slice *s = conf->slice;

	ck_assert_str_eq(s->instance, "main");
	ck_assert_str_eq(s->state, MYELIN_STATEDIR);
	ck_assert_int_eq(s->private, 0);
	ck_assert_uint_eq(s->uids_start, 1900000000u);
	ck_assert_uint_eq(s->uids_count, 65536u);
	ck_assert_ptr_null(s->cgroup_parent);
	ck_assert_uint_eq(s->nprofiles, 1);
	ck_assert_str_eq(s->profiles[0].name, "default");
	ck_assert_uint_eq(s->profiles[0].limits.v[LIMIT_MEMORY], GIB(1));
	ck_assert_uint_eq(s->npresets, 3);
	ck_assert_uint_eq(slice_preset(s, "readonly")->cap, EFFECT_READ);
	ck_assert_uint_eq(slice_preset(s, "strict")->cap,
	    EFFECT_MUTATE_REVERSIBLE);
	ck_assert_uint_eq(slice_preset(s, "standard")->cap,
	    EFFECT_MUTATE_IRREVERSIBLE);
	ck_assert_uint_eq(s->nlistens, 1);
	ck_assert_uint_eq(s->listens[0].mode, 0660);
	ck_assert(s->listens[0].gid == (gid_t)-1);
	conf_free(conf);
}
END_TEST

START_TEST(private_instance)
{
	struct conf *conf = load_at("", "/tmp/My Dir");
	struct slice *s;

	ck_assert_msg(conf != NULL, "%s", said);
	s = conf->slice;
	ck_assert_int_eq(s->private, 1);
	ck_assert_int_eq(conf->uids_given, 0);
	ck_assert_uint_eq(s->uids_count, 4096);
	ck_assert_str_eq(s->state, "/tmp/My Dir/state");
	ck_assert_uint_eq(s->nlistens, 2);
	ck_assert_str_eq(s->listens[0].path, "/tmp/My Dir/api.sock");
	ck_assert_int_eq(s->listens[1].plane, PLANE_OPERATOR);
	ck_assert_str_eq(s->listens[1].path, "/tmp/My Dir/operator.sock");
	ck_assert_int_eq(strncmp(s->instance, "my-dir-", 7), 0);
	ck_assert_uint_lt(strlen(s->instance), INSTANCE_BYTES_MAX);
	conf_free(conf);
}
END_TEST

START_TEST(private_says_otherwise)
{
	struct conf *conf = load_at("listen operator /o\nstate /s\n"
	    "private no\ninstance x\n", "/d");

	ck_assert_msg(conf != NULL, "%s", said);
	ck_assert_int_eq(conf->slice->private, 0);
	ck_assert_str_eq(conf->slice->state, "/s");
	ck_assert_str_eq(conf->slice->instance, "x");
	ck_assert_uint_eq(conf->slice->nlistens, 2);
	ck_assert_str_eq(conf->slice->listens[0].path, "/o");
	ck_assert_str_eq(conf->slice->listens[1].path, "/d/api.sock");
	conf_free(conf);
}
END_TEST

START_TEST(private_path_too_long)
{
	char dir[120];

	memset(dir, 'd', sizeof(dir));
	dir[0] = '/';
	dir[100] = '\0';
	ck_assert_ptr_null(load_at("", dir));
	ck_assert_ptr_nonnull(strstr(said,
	    "a socket path of 109 bytes; the most is 107"));
}
END_TEST

START_TEST(instance_names)
{
	static const char *const dirs[] = {
		"/", "/a", "/a/b", "/c/b", "/tmp/.hidden", "/x/UPPER lower",
		"/x/0123456789012345678901234567890123456789", "/---", "/\xc3"
	};
	char name[sizeof(dirs) / sizeof(dirs[0])][INSTANCE_BYTES_MAX];
	size_t i, j, n;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		conf_instance_name(dirs[i], name[i]);
		n = strspn(name[i], "abcdefghijklmnopqrstuvwxyz0123456789-");
		ck_assert_uint_eq(n, strlen(name[i]));
		ck_assert_int_ne(name[i][0], '-');
		for (j = 0; j < i; j++)
			ck_assert_str_ne(name[i], name[j]);
	}
}
END_TEST

START_TEST(limits)
{
	struct conf *conf = good(API
	    "memory 2G\ncpu 1.5\ntimeout 90s\n"
	    "profile \"web\" { memory 512M; pids 64 }\n");
	const struct cf_profile *p = slice_profile(conf->slice, "web");

	ck_assert_uint_eq(p->limits.v[LIMIT_MEMORY], MIB(512));
	ck_assert_uint_eq(p->limits.v[LIMIT_PIDS], 64);
	ck_assert_uint_eq(p->limits.v[LIMIT_CPU], 1500);
	ck_assert_uint_eq(p->limits.v[LIMIT_TIMEOUT], 90000);
	p = slice_profile(conf->slice, "default");
	ck_assert_uint_eq(p->limits.v[LIMIT_MEMORY], GIB(2));
	ck_assert_uint_eq(p->limits.v[LIMIT_PIDS], 512);
	conf_free(conf);
}
END_TEST

/* A limit given behind a profile holds for it too: order does not count. */
START_TEST(limits_later)
{
	struct conf *conf = good(API "profile web { }\nmemory 2G\n");

	ck_assert_uint_eq(slice_profile(conf->slice, "web")->
	    limits.v[LIMIT_MEMORY], GIB(2));
	conf_free(conf);
}
END_TEST

START_TEST(every_limit)
{
	const struct limit_row *row;
	char text[256];
	int i;

	for (i = 0; i < LIMIT_COUNT; i++) {
		row = &limit_table[i];
		(void)snprintf(text, sizeof(text), API "%s %s\n", row->keyword,
		    "99999999999999999999");
		ck_assert_ptr_null(load_at(text, NULL));
		ck_assert_ptr_nonnull(strstr(said, row->keyword));
	}
}
END_TEST

START_TEST(principals)
{
	struct conf *conf = good(API
	    "preset reviewer { cap read; allow tool bash, python\n"
	    "  deny tool exec; calls-session 100; hourly 50 }\n"
	    "profile web { }\n"
	    "principal user root { preset standard; workspace \"/*\"\n"
	    "  owner any }\n"
	    "principal user 1000 { preset reviewer; profile web, default;\n"
	    "  workspace \"/a/*\", \n  \"/b\"; workspace /c }\n"
	    "principal group myelin { preset strict; owner bob }\n"
	    "operator group myelin-operator may approve, audit, manage\n"
	    "operator user alice may audit\n");
	struct slice *s = conf->slice;

	ck_assert_uint_eq(s->nprincipals, 3);
	ck_assert_int_eq(s->principals[0].owner, OWNER_ANY);
	ck_assert_str_eq(s->principals[0].profiles.v[0], "default");
	ck_assert_uint_eq(s->principals[1].id, 1000);
	ck_assert_uint_eq(s->principals[1].profiles.n, 2);
	ck_assert_str_eq(s->principals[1].profiles.v[0], "web");
	ck_assert_uint_eq(s->principals[1].workspaces.n, 3);
	ck_assert_uint_eq(s->principals[1].where.line, 7);
	ck_assert_int_eq(s->principals[2].who, WHO_GROUP);
	ck_assert_uint_eq(s->principals[2].id, 2001);
	ck_assert_int_eq(s->principals[2].owner, OWNER_NAMED);
	ck_assert_uint_eq(s->principals[2].ids.uid, 1001);
	ck_assert_uint_eq(s->principals[2].ids.ngroups, 2);
	ck_assert_uint_eq(s->noperators, 2);
	ck_assert_uint_eq(s->operators[0].rights,
	    RIGHT_APPROVE | RIGHT_AUDIT | RIGHT_MANAGE);
	ck_assert_uint_eq(s->operators[1].rights, RIGHT_AUDIT);
	ck_assert_uint_eq(slice_preset(s, "reviewer")->allow.n, 2);
	ck_assert_uint_eq(slice_preset(s, "reviewer")->hourly, 50);
	conf_free(conf);
}
END_TEST

START_TEST(words)
{
	struct conf *conf = good("# a comment\n\n;;\n"
	    "group = \"myelin\"   # $group\n"
	    "listen api \"/r/a#b \\\"q\\\\\" \\\n  group $group mode 0666;"
	    "log verbose; private yes\nuids 1900000000 4096 ; cgroup parent "
	    "/myelin\nenvironment allow FOO, \"BAR\"");

	ck_assert_str_eq(conf->slice->listens[0].path, "/r/a#b \"q\\");
	ck_assert_uint_eq(conf->slice->listens[0].gid, 2001);
	ck_assert_uint_eq(conf->slice->listens[0].mode, 0666);
	ck_assert_int_eq(conf->verbose, 1);
	ck_assert_int_eq(conf->uids_given, 1);
	ck_assert_str_eq(conf->slice->cgroup_parent, "/myelin");
	ck_assert_uint_eq(conf->slice->env_allow.n, 2);
	conf_free(conf);
}
END_TEST

/* A macro is a word: its text never becomes keywords or more of them. */
START_TEST(macro_is_one_word)
{
	struct conf *conf = good("x = \"/r/a group nosuch\"\nlisten api $x\n"
	    "x = \"/o\"\nlisten operator $x\n");

	ck_assert_str_eq(conf->slice->listens[0].path, "/r/a group nosuch");
	ck_assert_str_eq(conf->slice->listens[1].path, "/o");
	conf_free(conf);
}
END_TEST

/* Guarantee C1: dropped and said, even where the configuration lists it. */
START_TEST(environment_credentials)
{
	struct conf *conf = good(API
	    "environment allow AWS_PROFILE, LD_PRELOAD, FOO, MY_API_KEY\n");

	ck_assert_uint_eq(conf->slice->env_allow.n, 1);
	ck_assert_str_eq(conf->slice->env_allow.v[0], "FOO");
	ck_assert_ptr_nonnull(strstr(said,
	    "t:2: warning: environment: AWS_PROFILE"));
	ck_assert_ptr_nonnull(strstr(said, "LD_PRELOAD"));
	ck_assert_ptr_nonnull(strstr(said, "MY_API_KEY"));
	conf_free(conf);
}
END_TEST

/* Guarantee C8: nothing that a network reaches. */
START_TEST(no_network)
{
	bad("listen api \"127.0.0.1:8080\"\n",
	    "t:1: listen \"127.0.0.1:8080\": a Unix socket's absolute path "
	    "is needed, or tcp \"ADDRESS\" port \"NUMBER\" { authentication "
	    "required }\n");
}
END_TEST

/* What supervisord sends is what the children read. */
START_TEST(round_trip)
{
	struct conf *conf = good(API "principal user alice { preset strict\n"
	    "workspace \"/srv/*\" }\n");
	struct slice *s;
	const uint8_t *data;
	const char *why = "";
	uint8_t bytes[65536];
	ssize_t n;
	int fd;

	fd = slice_encode(conf->slice, 0xfff);
	ck_assert_int_ne(fd, -1);
	n = pread(fd, bytes, sizeof(bytes), 0);
	ck_assert_int_gt(n, 0);
	data = bytes;
	s = slice_decode(data, (size_t)n, &why);
	ck_assert_msg(s != NULL, "%s", why);
	ck_assert_str_eq(s->principals[0].preset, "strict");
	ck_assert_str_eq(s->principals[0].where.file, "t");
	ck_assert_uint_eq(s->npresets, 3);
	slice_free(s);
	(void)close(fd);
	conf_free(conf);
}
END_TEST

/* ---- errors ---- */

START_TEST(all_errors)
{
	bad(API "private maybe\nnonsense 1 { 2\n3 }\nmemory 1\n"
	    "profile p { what ever { x; y }; pids 1\n egress { allow host \"*\""
	    " }\n } ; log loud\n",
	    "t:2: private is yes or no, not \"maybe\"\n"
	    "t:3: unknown keyword \"nonsense\"\n"
	    "t:5: memory 1 is outside its range, 16M to 1024G\n"
	    "t:6: unknown keyword \"what\"\n"
	    "t:6: pids 1 is outside its range, 16 to 4194304\n"
	    "t:7: host \"*\": a * stands for whole labels, at the beginning: "
	    "*.example.org\n"
	    "t:8: log is verbose or brief, not \"loud\"\n");
}
END_TEST

START_TEST(bytes)
{
	static const char nul[] = "log \0 verbose\n";
	struct conf_opts opts = {
		.names = &fake_names, .no_include = 1, .report = hear
	};
	char *line;

	said[0] = '\0';
	ck_assert_ptr_null(conf_load_text("t", nul, sizeof(nul) - 1, &opts));
	ck_assert_str_eq(said, "t:1: control byte 0x00\n");
	ck_assert_ptr_nonnull(line = malloc(9001));
	memset(line, 'a', 9000);
	line[9000] = '\0';
	bad(line, "t:1: a line of 9000 bytes; the most is 8191\n");
	line[5000] = '\0';
	bad(line, "t:1: a word over 4095 bytes\n"
	    "t: no socket to ask on: say listen api "
	    "\"/run/myelin/api.sock\"\n");
	free(line);
}
END_TEST

START_TEST(too_many_errors)
{
	char text[4096];
	size_t i;

	text[0] = '\0';
	for (i = 0; i < 200; i++)
		(void)strlcat(text, "nonsense\n", sizeof(text));
	ck_assert_ptr_null(load_at(text, NULL));
	ck_assert_ptr_nonnull(strstr(said, "t:100: "));
	ck_assert_ptr_null(strstr(said, "t:101: "));
	ck_assert_ptr_nonnull(strstr(said, "too many errors"));
}
END_TEST

START_TEST(tools)
{
	struct conf_opts opts = { .names = &fake_names, .report = hear };
	struct conf *conf = good(API "preset p { allow tool bash\n"
	    "deny tool bsh }\n");
	struct strings names = { NULL, 0 };

	ck_assert_int_eq(strings_add(&names, "bash"), 0);
	said[0] = '\0';
	ck_assert_int_eq(conf_check_tools(conf, &names, &opts), -1);
	ck_assert_str_eq(said,
	    "t:2: preset \"p\": there is no tool \"bsh\"\n");
	strings_free(&names);
	conf_free(conf);
}
END_TEST

START_TEST(keywords_in_order)
{
	size_t i;

	for (i = 1; conf_keyword(i) != NULL; i++)
		ck_assert_int_lt(strcmp(conf_keyword(i - 1), conf_keyword(i)),
		    0);
}
END_TEST

/* ---- files ---- */

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

static Suite *
suite(void)
{
	Suite *s = suite_create("parse");
	TCase *t = tcase_create("text");

	tcase_add_test(t, defaults);
	tcase_add_loop_test(t, shipped_presets, 0, 3);
	tcase_add_test(t, private_instance);
	tcase_add_test(t, private_says_otherwise);
	tcase_add_test(t, private_path_too_long);
	tcase_add_test(t, instance_names);
	tcase_add_test(t, limits);
	tcase_add_test(t, limits_later);
	tcase_add_test(t, every_limit);
	tcase_add_test(t, principals);
	tcase_add_test(t, words);
	tcase_add_test(t, macro_is_one_word);
	tcase_add_test(t, environment_credentials);
	tcase_add_test(t, no_network);
	tcase_add_test(t, round_trip);
	tcase_add_test(t, all_errors);
	tcase_add_test(t, bytes);
	tcase_add_test(t, too_many_errors);
	tcase_add_test(t, tools);
	tcase_add_test(t, keywords_in_order);
	suite_add_tcase(s, t);
	t = tcase_create("files");
	tcase_add_test(t, golden_good);
	tcase_add_test(t, golden_bad);
	tcase_add_test(t, print_private);
	tcase_add_test(t, print_limits);
	tcase_add_test(t, file_modes);
	tcase_add_test(t, include_modes);
	tcase_add_test(t, include_itself);
	suite_add_tcase(s, t);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
