/* The configuration: what its text becomes, and what is said of errors. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "conf_fake.h"
#include "conf_said.h"
#include "protocol.h"
#include "unit.h"

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

static Suite *
suite(void)
{
	Suite *s = suite_create("parse");
	TCase *t = tcase_create("text");

	tcase_add_test(t, defaults);
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
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
