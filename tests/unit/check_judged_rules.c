/*
 * Operators' rules as they are written, at work: what they deny, ask about
 * and allow, through wrappers and all, and that nothing lifts a hard deny.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "conf.h"
#include "conf_fake.h"
#include "judge.h"
#include "judge/class.h"
#include "protocol.h"
#include "rules.h"
#include "unit.h"

#define CONF	"listen api \"/run/x/api.sock\"\nstate \"/srv/ws/.myelin\"\n"

static char	said[4096];

static void
report(void *arg, const char *text)
{
	(void)arg;
	(void)strlcat(said, text, sizeof(said));
	(void)strlcat(said, "\n", sizeof(said));
}

static struct conf *
load(const char *rules)
{
	static const struct conf_opts opts = {
		.names = &fake_names, .no_include = 1, .report = report
	};
	struct conf *conf;
	char text[8192];

	said[0] = '\0';
	(void)snprintf(text, sizeof(text), CONF "%s", rules);
	conf = conf_load_text("rules.conf", text, strlen(text), &opts);
	ck_assert_msg(conf != NULL, "%s", said);
	return (conf);
}

/* ---- one judging ---- */

struct seen {
	unsigned	 verdict;
	char		 class[32];
	int		 by;		/* its line, or 0 */
};

static struct seen
look(const struct conf *conf, const char *command)
{
	static const char *const roots[] = { "/srv/ws" };
	struct rule_call call = {
		.tool = "bash", .principal = "uid:1000",
		.workspace = "/srv/ws", .rules = conf->slice->rules,
		.nrules = conf->slice->nrules
	};
	struct judge_context context = {
		.cwd = "/srv/ws", .home = "/home/agent", .user = "agent",
		.shell = "/bin/bash", .roots = roots, .nroots = 1,
		.found = rules_found, .rules = &call,
		.own = (const char *const *)conf->slice->own.v,
		.nown = conf->slice->own.n
	};
	struct judging *j = judging_new(&context);
	const struct finding *f;
	struct seen seen;

	ck_assert_ptr_nonnull(j);
	judging_run(j, command, strlen(command), DIALECT_BASH);
	f = judging_decides(j);
	seen.verdict = f->verdict;
	(void)strlcpy(seen.class, f->class, sizeof(seen.class));
	seen.by = f->by != NULL ? (int)f->by->where.line : 0;
	judging_free(j);
	return (seen);
}

static const struct row {
	const char	*rules;
	const char	*command;
	unsigned	 verdict;
	int		 by;		/* its line; 0: no rule */
} rows[] = {
#define DENY_PUSH	"deny command \"git\" \"push\"\n"
	{ DENY_PUSH, "git push -f", VERDICT_DENY, 3 },
	{ DENY_PUSH, "git pull", VERDICT_ALLOW, 0 },
	{ DENY_PUSH, "git stash push", VERDICT_ALLOW, 0 },
	{ DENY_PUSH, "git commit -m push", VERDICT_ALLOW, 0 },
	{ DENY_PUSH, "git --no-pager push", VERDICT_DENY, 3 },
	{ DENY_PUSH, "git -C /srv/ws/x push origin", VERDICT_DENY, 3 },
	{ DENY_PUSH, "/usr/bin/git push", VERDICT_DENY, 3 },
	{ DENY_PUSH, "./git push", VERDICT_DENY, 3 },
	{ DENY_PUSH, "g'i't p\"us\"h", VERDICT_DENY, 3 },
	{ DENY_PUSH, "echo git push", VERDICT_ALLOW, 0 },
	{ DENY_PUSH, "echo 'x' # git push", VERDICT_ALLOW, 0 },
	/* through whatever starts it */
	{ DENY_PUSH, "sudo git push", VERDICT_DENY, 3 },
	{ DENY_PUSH, "env A=b nice -n 5 git push", VERDICT_DENY, 3 },
	{ DENY_PUSH, "bash -c 'true && git push'", VERDICT_DENY, 3 },
	{ DENY_PUSH, "x=push; git $x", VERDICT_DENY, 3 },
	{ DENY_PUSH, "eval \"$(echo git push)\"", VERDICT_DENY, 3 },
	{ DENY_PUSH, "echo git push | sh", VERDICT_DENY, 3 },
	{ DENY_PUSH, "f() { git \"$@\"; }; f push", VERDICT_DENY, 3 },
	{ DENY_PUSH, "echo a | xargs git push", VERDICT_DENY, 3 },
	{ DENY_PUSH, "find . -name x -exec git push \\;", VERDICT_DENY, 3 },
	{ DENY_PUSH, "cat <(git push)", VERDICT_DENY, 3 },
	{ DENY_PUSH, "if false; then git push; fi", VERDICT_DENY, 3 },
	/* what is not known asks */
	{ DENY_PUSH, "git $UNKNOWN", VERDICT_ASK, 3 },
	{ DENY_PUSH, "read x; git \"$x\"", VERDICT_ASK, 3 },
	{ DENY_PUSH, "no-such-program git push", VERDICT_ASK, 0 },
	/* options stand anywhere, in clusters too */
	{ "deny command \"git\" \"push\" \"--force\"\n",
	    "git push origin main --force", VERDICT_DENY, 3 },
	{ "deny command \"git\" \"push\" \"--force\"\n",
	    "git push origin main", VERDICT_ASK, 0 },
	{ "deny command \"git\" \"push\" \"-f\"\n", "git push -uf x",
	    VERDICT_DENY, 3 },
	/* wrappers have no finding of their own */
	{ "deny command \"nohup\"\n", "nohup ls", VERDICT_DENY, 3 },
	{ "ask command \"eval\"\n", "eval ls", VERDICT_ASK, 3 },
	/* patterns */
	{ "deny command \"mkfs*\" \"*.img\"\n", "mkfs.ext4 disk.img",
	    VERDICT_DENY, 3 },
	{ "deny command \"/opt/*/bin/tool\"\n", "/opt/a/bin/tool x",
	    VERDICT_DENY, 3 },
	{ "deny command \"/opt/*/bin/tool\"\n", "tool x", VERDICT_DENY, 3 },
	{ "deny command \"/opt/*/bin/tool\"\n", "/usr/bin/tool x",
	    VERDICT_ALLOW, 0 },
	/* deny beats ask beats allow, whatever their order */
	{ "allow command \"git\"\nask command \"git\" \"push\"\n"
	    "deny command \"git\" \"push\" \"-f\"\n", "git push -f",
	    VERDICT_DENY, 5 },
	{ "deny command \"git\" \"push\" \"-f\"\nask command \"git\" \"push\"\n"
	    "allow command \"git\"\n", "git push -f", VERDICT_DENY, 3 },
	{ "allow command \"git\"\nask command \"git\" \"push\"\n",
	    "git push", VERDICT_ASK, 4 },
	/* what allows lifts the asking of each command that it fits */
	{ "", "git push", VERDICT_ASK, 0 },
	{ "allow command \"git\" \"push\"\n", "git push", VERDICT_ALLOW, 3 },
	{ "allow command \"git\" \"push\"\n", "git push; ls", VERDICT_ALLOW,
	    3 },
	{ "allow command \"git\" \"push\"\n", "git push && ssh h ls",
	    VERDICT_ASK, 0 },
	{ "allow command \"git\" \"push\"\n", "git -c a.b=c push",
	    VERDICT_ASK, 0 },
	{ "allow command \"git\" \"push\"\n", "./git push", VERDICT_ASK, 0 },
	{ "allow command \"git\" \"push\"\n", "/usr/bin/git push",
	    VERDICT_ALLOW, 3 },
	{ "allow command \"git\" \"push\"\n", "PATH=.; git push",
	    VERDICT_ASK, 0 },
	{ "allow command \"git\" \"push\"\n", "sudo git push", VERDICT_ASK,
	    0 },
	{ "allow command \"git\" \"push\"\n", "git push > /etc/x",
	    VERDICT_ASK, 0 },
	{ "allow command \"git\" \"push\"\n",
	    "GIT_SSH_COMMAND='curl -d x http://h' git push", VERDICT_ASK,
	    0 },
	{ "allow command \"git\" \"push\"\n", "git push (", VERDICT_ASK, 0 },
	{ "allow command \"git\" \"push\"\n", "git $x", VERDICT_ASK, 0 },
	{ "allow command \"rm\"\n", "rm -rf \"$x\"", VERDICT_ASK, 0 },
	{ "allow command \"rm\" mark opaque\n", "rm -rf \"$x\"",
	    VERDICT_ALLOW, 3 },
	/* nothing lifts a hard deny */
	{ "allow tool \"*\"\n", "rm -rf /", VERDICT_DENY, 0 },
	{ "allow command \"rm\"\n", "rm -rf ~", VERDICT_DENY, 0 },
	{ "allow path \"/etc/passwd\"\n", "echo x >> /etc/passwd",
	    VERDICT_DENY, 0 },
	/* effects and marks */
	{ "deny effect \"destructive\"\n", "git reset --hard", VERDICT_DENY,
	    3 },
	{ "deny effect \"destructive\"\n", "git status", VERDICT_ALLOW, 0 },
	{ "deny mark elevated\n", "sudo ls", VERDICT_DENY, 3 },
	{ "ask mark network-read\n", "curl http://h.example/", VERDICT_ASK,
	    3 },
	{ "allow mark network-read\n", "pip install x", VERDICT_ASK, 0 },
	{ "allow mark network-read, remote-code\n", "pip install x",
	    VERDICT_ALLOW, 3 },
	/* paths, as they are after the shell is done with them */
	{ "deny path \"/srv/ws/secret\"\n", "cat secret/key", VERDICT_DENY,
	    3 },
	{ "deny path \"/srv/ws/secret\"\n", "cat ./x/../secret/key",
	    VERDICT_DENY, 3 },
	{ "deny path \"/srv/ws/secret\"\n", "cat secrets", VERDICT_ALLOW, 0 },
	{ "deny path \"/srv/ws/secret\"\n", "cat < secret", VERDICT_DENY, 3 },
	{ "deny path \"/srv/ws/secret\"\n", "cat sec*/key", VERDICT_DENY, 3 },
	{ "deny path \"/srv/ws/secret\"\n", "grep --file=secret/k x",
	    VERDICT_DENY, 3 },
	{ "deny path \"/srv/ws/secret\"\n", "cd secret && cat key",
	    VERDICT_DENY, 3 },
	{ "deny path \"/srv/ws/a/*\"\n", "rm -r a", VERDICT_DENY, 3 },
	{ "deny path \"/srv/ws/a/b/*\"\n", "rm -r a", VERDICT_DENY, 3 },
	{ "deny path \"/srv/ws/a/b/*\"\n", "ls a", VERDICT_ALLOW, 0 },
	{ "deny path \"*.key\"\n", "cat x/y.key", VERDICT_DENY, 3 },
	{ "allow path \"/srv/other/*\"\n", "echo x > /srv/other/f",
	    VERDICT_ALLOW, 3 },
	{ "allow path \"/srv/other/*\"\n", "echo x > /srv/other/../f",
	    VERDICT_ASK, 0 },
	/* hosts */
	{ "deny host \"*.example\"\n", "curl https://a.EXAMPLE:1/x",
	    VERDICT_DENY, 3 },
	{ "deny host \"*.example\"\n", "curl u@b.test -x p http://a.example",
	    VERDICT_DENY, 3 },
	{ "deny host \"*.example\"\n", "curl https://a.test/b.example",
	    VERDICT_ALLOW, 0 },
	{ "deny host \"*.example\"\n", "git clone git@a.example:x",
	    VERDICT_DENY, 3 },
	{ "deny host \"*.example\"\n", "cat < /dev/tcp/a.example/80",
	    VERDICT_DENY, 3 },
	{ "allow mark network-write host \"*.example\"\n",
	    "curl -d x https://a.example/", VERDICT_ALLOW, 3 },
	{ "allow mark network-write host \"*.example\"\n",
	    "curl -d x https://a.example/ https://b.test", VERDICT_ASK, 0 },
	{ "allow mark network-write host \"*.example\"\n",
	    "curl -d x https://a.example@b.test/", VERDICT_ASK, 0 },
	{ "allow mark network-write host \"*.example\"\n",
	    "curl -d x --connect-to ::b.test https://a.example/",
	    VERDICT_ASK, 0 },
	{ "allow mark network-write host \"*.example\"\n",
	    "curl -d x \"$u\" https://a.example/", VERDICT_ASK, 0 },
	/* who and where */
	{ "deny command \"ls\" principal \"uid:1000\"\n", "ls", VERDICT_DENY,
	    3 },
	{ "deny command \"ls\" principal user \"alice\"\n", "ls",
	    VERDICT_DENY, 3 },
	{ "deny command \"ls\" principal user \"bob\"\n", "ls",
	    VERDICT_ALLOW, 0 },
	{ "deny command \"ls\" workspace \"/srv/*\"\n", "ls", VERDICT_DENY,
	    3 },
	{ "deny command \"ls\" workspace \"/srv/x*\"\n", "ls",
	    VERDICT_ALLOW, 0 },
	{ "deny tool \"bash\"\n", "ls", VERDICT_DENY, 3 },
	{ "deny tool \"exec\", \"python\"\n", "ls", VERDICT_ALLOW, 0 },
};

START_TEST(a_rule_at_work)
{
	const struct row *row = &rows[_i];
	struct conf *conf = load(row->rules);
	struct seen seen = look(conf, row->command);

	ck_assert_msg(seen.verdict == row->verdict && seen.by == row->by,
	    "%s%s: %s of line %d (%s), not %s of line %d", row->rules,
	    row->command, verdict_name(seen.verdict), seen.by, seen.class,
	    verdict_name(row->verdict), row->by);
	conf_free(conf);
}
END_TEST

/*
 * Memory has a bound, and what is over it would ask: a command of very many
 * words under as many rules as there can be is still denied.
 */
START_TEST(many_words_and_rules)
{
	char rules[8192] = "", one[64], *text;
	struct conf *conf;
	struct seen seen;
	size_t i;

	for (i = 0; i < RULES_MAX - 1; i++) {
		(void)snprintf(one, sizeof(one), "ask path \"/x%zu\"\n", i);
		ck_assert_uint_lt(strlcat(rules, one, sizeof(rules)),
		    sizeof(rules));
	}
	(void)strlcat(rules, "deny command \"kept\"\n", sizeof(rules));
	conf = load(rules);
	ck_assert_uint_eq(conf->slice->nrules, RULES_MAX);
	ck_assert_ptr_nonnull(text = malloc(JUDGE_TEXT_MAX));
	for (i = 0; i + 2 < JUDGE_TEXT_MAX - 16; i += 2)
		memcpy(text + i, "x ", 2);
	(void)strlcpy(text + i, "; kept", 16);
	seen = look(conf, text);
	ck_assert_msg(seen.verdict == VERDICT_DENY, "%s, %s",
	    verdict_name(seen.verdict), seen.class);
	free(text);
	conf_free(conf);
}
END_TEST

/* The same of hosts: the last of very many is found. */
START_TEST(many_hosts)
{
	static const char *const programs[] = { "curl", "wget" };
	struct conf *conf = load("deny host \"*.example\"\n");
	struct seen seen;
	char *text;
	size_t i, k;

	ck_assert_ptr_nonnull(text = malloc(JUDGE_TEXT_MAX));
	for (k = 0; k < sizeof(programs) / sizeof(programs[0]); k++) {
		i = strlcpy(text, programs[k], JUDGE_TEXT_MAX);
		for (; i + 2 < JUDGE_TEXT_MAX - 16; i += 2)
			memcpy(text + i, " a", 2);
		(void)strlcpy(text + i, " b.example", 16);
		seen = look(conf, text);
		ck_assert_msg(seen.verdict == VERDICT_DENY, "%s: %s, %s",
		    programs[k], verdict_name(seen.verdict), seen.class);
	}
	free(text);
	conf_free(conf);
}
END_TEST

/*
 * Texts of which looking at all words for each finding, or for each command
 * in them, would take their square: minutes.
 */
static const struct square {
	const char	*rules;
	const char	*head, *each, *tail;
	unsigned	 verdict;
} squares[] = {
#define DENY_KEPT	"deny path \"/srv/ws/kept\"\n"
#define MANY_SUDO	"deny command \"sudo\" \"a\" \"-x\"\n" \
			"deny command \"sudo\" \"b\" \"-x\"\n"
	{ DENY_KEPT, "rm", " a", " kept/x", VERDICT_DENY },
	{ DENY_KEPT, "rm", " a", "", VERDICT_ALLOW },
	{ DENY_KEPT, "rm kept", " a", "", VERDICT_DENY },
	{ DENY_KEPT, "cat", " >a", " >kept", VERDICT_DENY },
	{ DENY_KEPT, "cat", " >a", "", VERDICT_ALLOW },
	{ DENY_KEPT, "cat >kept", " >a", "", VERDICT_DENY },
	{ DENY_KEPT, "", "env ", "ls kept", VERDICT_DENY },
	{ DENY_KEPT, "", "env ", "ls", VERDICT_ALLOW },
	{ DENY_PUSH, "", "env ", "git push", VERDICT_DENY },
	/* the bound asks, and hides no command behind it */
	{ MANY_SUDO, "", "sudo ", "ls", VERDICT_ASK },
	{ MANY_SUDO, "", "sudo ", "ls; sudo -x a", VERDICT_DENY },
};

START_TEST(nothing_takes_the_square)
{
	const struct square *q = &squares[_i];
	struct conf *conf = load(q->rules);
	size_t at, n = strlen(q->each);
	struct seen seen;
	char *text;

	ck_assert_ptr_nonnull(text = malloc(JUDGE_TEXT_MAX));
	at = strlcpy(text, q->head, JUDGE_TEXT_MAX);
	for (; at + n + strlen(q->tail) < JUDGE_TEXT_MAX; at += n)
		memcpy(text + at, q->each, n);
	(void)strlcpy(text + at, q->tail, JUDGE_TEXT_MAX - at);
	seen = look(conf, text);
	ck_assert_msg(seen.verdict == q->verdict, "%s%s...%s: %s, %s", q->head,
	    q->each, q->tail, verdict_name(seen.verdict), seen.class);
	ck_assert_int_eq(seen.by != 0, q->verdict != VERDICT_ALLOW);
	free(text);
	conf_free(conf);
}
END_TEST

/* ---- Myelin's own, whatever the policy ---- */

static const char *const own[] = {
	"rm -rf /var/lib/myelin", "echo x > /etc/myelin/myelin.conf",
	"sudo tee -a /etc/myelin/conf.d/a.conf < x",
	"rm /run/myelin/api.sock", "mv /var/lib/myelin /tmp/x",
	"cp evil /usr/libexec/myelin/judged",
	"sed -i s/a/b/ /etc/myelin/myelin.conf",
	"truncate -s 0 /var/lib/myelin/policy/audit.jsonl",
	"chmod 777 /run/myelin", "ln -sf x /run/myelin/operator.sock",
	"dd if=/dev/zero of=/var/lib/myelin/policy/state.db",
	"systemctl stop myelin", "sudo systemctl disable --now myelin.service",
	"systemctl mask 'myelin*'", "systemctl kill -s KILL myelin",
	"service myelin stop", "rc-service myelin stop",
	"apt remove myelin", "apt-get -y purge myelin", "dpkg -r myelin",
	"dpkg --purge myelin", "apt-get install myelin-", "pkill myelind",
	"pkill -9 -f judged", "killall neurond", "pkill -f myelin",
	"kill $(pidof myelind)", "kill -9 `pgrep policyd`",
	"pgrep myelind | xargs kill",
	"bash -c 'rm -rf /var/lib/myelin'",
	"curl --unix-socket /run/myelin/operator.sock http://x/v1/approvals",
	"nc -U /run/myelin/api.sock",
	"socat - UNIX-CONNECT:/run/myelin/operator.sock",
	/* this instance's own, which lie in the workspace */
	"rm -rf /srv/ws/.myelin", "rm -rf .myelin", "rm .myelin/policy/x",
	"echo x > .myelin/policy/state.db", "rm -r .my*", "mv .myelin x",
	"rm -f /run/x/api.sock", "rm -rf /run/x",
};

START_TEST(nothing_touches_what_is_ours)
{
	struct conf *conf = load("allow tool \"*\"\nallow mark opaque\n");
	struct seen seen = look(conf, own[_i]);

	ck_assert_msg(seen.verdict == VERDICT_DENY &&
	    strcmp(seen.class, class_name(HARD_SELF)) == 0, "%s: %s, %s",
	    own[_i], verdict_name(seen.verdict), seen.class);
	conf_free(conf);
}
END_TEST

static const char *const others[] = {
	"ls /etc/myelin", "grep -rn /var/lib/myelin src",
	"systemctl status myelin",
	"apt show myelin", "dpkg -l myelin", "pgrep myelind",
	"echo x > .myelin2", "rm -rf .myelin2", "cat myelin.conf",
	"git commit -m 'systemctl stop myelin'", "pkill node",
	"journalctl -u myelin", "kill %1", "kill $(pidof node)",
};

START_TEST(what_is_not_ours_is_not_denied)
{
	struct conf *conf = load("");
	struct seen seen = look(conf, others[_i]);

	ck_assert_msg(seen.verdict != VERDICT_DENY, "%s: %s", others[_i],
	    seen.class);
	conf_free(conf);
}
END_TEST

/* A workspace is judged as HOME is. */
static const char *const wipes[] = {
	"rm -rf /srv/ws", "rm -rf /srv/ws/", "rm -rf /srv/ws/*",
	"cd / && rm -rf srv/ws", "rm -rf ../ws", "rm -rf /srv",
	"find /srv/ws -delete", "mv /srv/ws /tmp/x", "rm -rf \"$PWD\"",
	"cd .. && rm -rf ws",
};

START_TEST(a_workspace_is_wiped_as_little_as_home)
{
	struct conf *conf = load("allow tool \"*\"\n");
	struct seen seen = look(conf, wipes[_i]);

	ck_assert_msg(seen.verdict == VERDICT_DENY &&
	    strcmp(seen.class, class_name(HARD_WIPE)) == 0, "%s: %s, %s",
	    wipes[_i], verdict_name(seen.verdict), seen.class);
	conf_free(conf);
}
END_TEST

/* ---- tests of rules ---- */

static const struct {
	const char	*rule;
	unsigned	 line;		/* of the test that fails; 0: none */
} tests[] = {
	{ "deny command \"git\" \"push\" {\nmatch \"git push -f\"\n"
	    "not match \"git pull\"\n}\n", 0 },
	{ "deny command \"git\" \"push\" {\nmatch \"git pull\"\n}\n", 4 },
	{ "deny command \"git\" \"push\" {\nmatch \"git push\"\n"
	    "not match \"sudo git push\"\n}\n", 5 },
	{ "deny command \"git\" \"push\" {\nnot match \"git $x\"\n}\n", 4 },
	{ "allow command \"git\" \"push\" {\nnot match \"git $x\"\n"
	    "match \"git push\"; not match \"./git push\" }\n", 0 },
	{ "deny path \"/srv/*/conf\" {\nmatch \"cat /srv/a/conf/x\"\n}\n",
	    0 },
	{ "deny command \"ls\" principal \"uid:7\" workspace \"/x\" {\n"
	    "match \"ls -l\"\n}\n", 0 },
};

START_TEST(a_rule_tests_itself)
{
	struct conf *conf = load(tests[_i].rule);
	struct tools none = { .n = 0 };
	const struct where *where = NULL;
	struct why why;
	int bad;

	bad = rule_tests_run(&conf->slice->rules[0], &none, &where, &why);
	ck_assert_int_eq(bad, tests[_i].line == 0 ? 0 : -1);
	if (bad == -1) {
		ck_assert_str_eq(where->file, "rules.conf");
		ck_assert_uint_eq(where->line, tests[_i].line);
	}
	conf_free(conf);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("rules");
	TCase *tc = tcase_create("rules");

	tcase_add_loop_test(tc, a_rule_at_work, 0,
	    sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tc, many_words_and_rules);
	tcase_add_test(tc, many_hosts);
	tcase_add_loop_test(tc, nothing_takes_the_square, 0,
	    sizeof(squares) / sizeof(squares[0]));
	tcase_add_loop_test(tc, nothing_touches_what_is_ours, 0,
	    sizeof(own) / sizeof(own[0]));
	tcase_add_loop_test(tc, what_is_not_ours_is_not_denied, 0,
	    sizeof(others) / sizeof(others[0]));
	tcase_add_loop_test(tc, a_workspace_is_wiped_as_little_as_home, 0,
	    sizeof(wipes) / sizeof(wipes[0]));
	tcase_add_loop_test(tc, a_rule_tests_itself, 0,
	    sizeof(tests) / sizeof(tests[0]));
	suite_add_tcase(s, tc);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
