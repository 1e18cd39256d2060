/*
 * What the resolver finds: each way in which a text can hide a command a row.
 * The classification here only records (tests/shell/stub.h).
 */
#include <stdio.h>
#include <string.h>

#include "shell/judging.h"
#include "shell/shell.h"
#include "stub.h"
#include "unit.h"

static const struct judge_context context = {
	.cwd = "/home/agent/project", .home = "/home/agent",
	.user = "agent", .shell = "/bin/bash"
};

static struct judging *
run(const char *text, enum dialect dialect)
{
	struct judging *j = judging_new(&context);

	ck_assert_ptr_nonnull(j);
	stub_reset();
	judging_run(j, text, strlen(text), dialect);
	return (j);
}

static int
was_seen(const char *words)
{
	size_t i;

	for (i = 0; i < nseen; i++)
		if (strcmp(seen[i].text, words) == 0)
			return (1);
	return (0);
}

struct sample {
	const char	*text;
	const char	*words;		/* a command that must be among them */
};

/* %XX is a byte that is not plain, ? unknown text, *? any words, ~ a pattern */
static const struct sample found[] = {
	/* quotes and escapes */
	{ "r''m -rf \"/\"", "rm -rf /" }, { "r\\m -rf /", "rm -rf /" },
	{ "\\rm -rf /", "rm -rf /" }, { "r\\\nm -rf /", "rm -rf /" },
	{ "$'\\x72\\155' -rf /", "rm -rf /" }, { "$\"rm\" /", "rm /" },
	{ "echo \"ok $\\\n(rm /)\"", "rm /" },
	{ "$'\\u0072m\\0xyz' /", "rm /" },
	/* variables */
	{ "x=rm; $x -rf /", "rm -rf /" }, { "a=r;b=m;$a$b /", "rm /" },
	{ "c='rm -rf /'; $c", "rm -rf /" },
	{ "c='rm -rf /'; \"$c\"", "rm%20-rf%20/" },
	{ "rm${IFS}-rf${IFS}/", "rm -rf /" },
	{ "IFS=_; c=rm_-rf_/; $c", "rm -rf /" },
	{ "x=m; x=r$x; $x /", "rm /" }, { "x=r; x+=m; $x /", "rm /" },
	{ "unset d; rm \"$d\"/", "rm /" }, { "rm \"$1\"/", "rm /" },
	{ "d=a; [ b ] && d=/; rm $d", "rm /" },
	{ "d=a; [ b ] && d=/; rm $d", "rm a" },
	{ "if a; then d=/; else d=b; fi; rm $d", "rm /" },
	{ "if a; then d=/; else d=b; fi; rm $d", "rm b" },
	{ "case a in b) d=/;; *) d=c;; esac; rm $d", "rm /" },
	{ "for p in a /; do rm $p; done", "rm /" },
	{ "for p in 1 2 3 4 5 6 7 8 9 10 /; do rm $p; done", "rm /" },
	{ "x=a; while b; do rm $x; x=/; done", "rm /" },
	{ "readonly x=/; rm $x", "rm /" }, { "export x=/; rm $x", "rm /" },
	{ "declare x=/; rm $x", "rm /" }, { "printf -v x rm; $x /", "rm /" },
	{ "a=(-rf /); rm \"${a[@]}\"", "rm -rf /" },
	{ "a=(x rm); ${a[1]} /", "rm /" }, { "a[0]=rm; $a /", "rm /" },
	{ "set -- rm -rf /; \"$@\"", "rm -rf /" },
	{ "set -- x /; shift; rm $1", "rm /" },
	{ "set -- a rm /; ${@:2}", "rm /" },
	{ "x=y; y=/; rm ${!x}", "rm /" },
	{ "HOME=/; rm ~", "rm /" }, { "rm ~", "rm /home/agent" },
	{ "rm ~agent ~root ~x", "rm /home/agent /root ?" },
	{ "rm $UNKNOWN", "rm *?" }, { "rm \"a$UNKNOWN\"", "rm a?" },
	{ "read x; rm \"$x\"", "rm ?" }, { "rm $((1+2)) $[3]", "rm 3 3" },
	/* parameter expansion */
	{ "${x:-rm} /", "rm /" }, { "x=; ${x:-rm} /", "rm /" },
	{ ": ${x:=rm}; $x /", "rm /" }, { "y=1; ${y:+rm} /", "rm /" },
	{ "x=RM; ${x,,} /", "rm /" }, { "x=rm; echo ${x^^}", "echo RM" },
	{ "x=xrmx; y=${x#x}; ${y%x} /", "rm /" },
	{ "x=a/b/rm; ${x##*/} /", "rm /" }, { "x=xrm; ${x:1} /", "rm /" },
	{ "x=rm.sh; ${x%%.*} /", "rm /" }, { "x=rxm; ${x/x} /", "rm /" },
	{ "x=rXmX; ${x//X/} /", "rm /" }, { "x=rm; echo ${#x}", "echo 2" },
	{ "x=rm; echo \"${x@P}\" ", "echo rm" },
	{ "x='$(rm /)'; echo \"${x@P}\"", "rm /" },
	{ "echo \"${x:-'$(rm /)'}\"", "rm /" },
	{ "echo ${x:-$(rm /)}", "rm /" }, { "x=1; echo ${x:-$(rm /)}", "rm /" },
	{ "echo ${x?$(rm /)}", "rm /" }, { "x=1; echo ${x:$(rm /)}", "rm /" },
	/* substitutions */
	{ "echo $(rm /)", "rm /" }, { "echo `rm /`", "rm /" },
	{ "echo \"`rm \\\"/\\\"`\"", "rm /" }, { "$(echo rm) /", "rm /" },
	{ "$(printf 'r%s' m) /", "rm /" }, { "$(which rm) /", "rm /" },
	{ "`command -v rm` /", "rm /" }, { "$(type -p rm) /", "rm /" },
	{ "$(basename /bin/rm) /", "rm /" }, { "rm $(dirname /a)", "rm /" },
	{ "cd /; rm $(pwd)", "rm /" },
	{ "x=$(echo cm0gLw== | base64 -d); $x", "rm /" },
	{ "$(cat <<<'rm /')", "rm /" }, { "$(cat <<E\nrm /\nE\n)", "rm /" },
	{ "cat <(rm /)", "rm /" }, { "cat a > >(rm /)", "rm /" },
	{ "echo $((1 + $(rm /)))", "rm /" }, { "echo $((ls) ; rm /)", "rm /" },
	{ "echo a > \"$(rm /)\"", "rm /" }, { "a[$(rm /)]=1", "rm /" },
	{ "a=([$(rm /)]=1)", "rm /" }, { "echo ${a[$(rm /)]}", "rm /" },
	{ "cat <<E\n$(rm /)\nE", "rm /" }, { "cat <<E ; rm /\na\nE", "rm /" },
	{ "case $(rm /) in a) ;; esac", "rm /" },
	{ "case a in $(rm /)) ;; esac", "rm /" },
	{ "for i in $(rm /); do :; done", "rm /" },
	{ "[[ a == $(rm /) ]]", "rm /" }, { "x=(a $(rm /))", "rm /" },
	/* arithmetic, whose text is evaluated once more */
	{ "(( $(rm /) ))", "rm /" }, { "(( a[$(rm /)] ))", "rm /" },
	{ "let 'a[$(rm /)]'", "rm /" }, { "x='a[$(rm /)]'; (( x ))", "rm /" },
	{ "x='a[$(rm /)]'; y=x; echo $((y))", "rm /" },
	{ "[[ 1 -eq 'a[$(rm /)]' ]]", "rm /" },
	{ "test -v 'a[$(rm /)]'", "rm /" }, { "[ -v 'a[$(rm /)]' ]", "rm /" },
	{ "[[ -v 'a[$(rm /)]' ]]", "rm /" },
	{ "printf -v 'a[$(rm /)]' x", "rm /" },
	{ "read 'a[$(rm /)]'", "rm /" }, { "unset 'a[$(rm /)]'", "rm /" },
	{ "declare -i x='a[$(rm /)]'", "rm /" },
	{ "declare -i x; x='a[$(rm /)]'", "rm /" },
	{ "declare -n x='a[$(rm /)]'", "rm /" },
	{ "for ((i=0;i<a[$(rm /)];i++)); do :; done", "rm /" },
	{ "x=abc; echo ${x:a[$(rm /)]}", "rm /" },
	/* grammar */
	{ "if a; then rm /; fi", "rm /" }, { "true || rm /", "rm /" },
	{ "(cd /tmp; rm /)", "rm /" }, { "((ls) ; rm /)", "rm /" },
	{ ">log rm /", "rm /" }, { "{ rm /; } 2>x", "rm /" },
	{ "! rm /", "rm /" }, { "time rm /", "rm /" }, { "a & rm /", "rm /" },
	{ "a | rm /", "rm /" }, { "a |& rm /", "rm /" },
	{ "coproc rm /", "rm /" }, { "x=1 rm /", "rm /" },
	{ "rm /\nfi", "rm /" }, { "echo # x\nrm /", "rm /" },
	{ "select x in a; do rm /; done", "rm /" },
	{ "a[1]=2 rm /", "rm /" }, { "{fd}>x rm /", "rm /" },
	/* braces, tildes, patterns */
	{ "rm -{r,f} /", "rm -r -f /" }, { "{rm,-rf,/}", "rm -rf /" },
	{ "rm /{etc,usr}", "rm /etc /usr" }, { "echo {1..3}", "echo 1 2 3" },
	{ "echo {a..c} {3..1} {1..9..4}", "echo a b c 3 2 1 1 5 9" },
	{ "echo a{b,c{d,e}}f", "echo abf acdf acef" },
	{ "echo {a} {} {a,b} {a", "echo {a} {} a b {a" },
	{ "echo '{a,b}' \"{c,d}\" \\{e,f}", "echo {a,b} {c,d} {e,f}" },
	{ "x=a; echo {$x,b}", "echo a b" }, { "/bin/r? /", "rm /" },
	{ "/bin/r[m] /", "rm /" }, { "rm /*", "rm ~/%2a" },
	{ "rm '/*'", "rm /%2a" }, { "x='/*'; rm $x", "rm ~/%2a" },
	{ "for f in /*; do rm \"$f\"; done", "rm ~/%2a" },
	{ "echo $[1] [ a ] [b]", "echo 1 %5b a ] ~%5bb]" },
	/* functions, aliases, code in strings */
	{ "f() { rm /; }; f", "rm /" }, { "f() { rm /; }", "rm /" },
	{ "run() { \"$@\"; }; run rm /", "rm /" },
	{ "f() { rm $1; }; f /", "rm /" },
	{ "function f { local x=$1; g; }; g() { rm $x; }; f /", "rm /" },
	{ "alias zz='rm /'\nzz", "rm /" }, { "alias r='rm '\nr /", "rm /" },
	{ "trap 'rm /' EXIT", "rm /" }, { "trap 'rm $x' 0; x=/", "rm /" },
	{ "bash -c 'trap \"rm \\$x\" 0; x=/'", "rm /" },
	{ "(trap 'rm $x' 0; x=/)", "rm /" },
	{ "echo \"$(trap 'rm $x' 0; x=/)\"", "rm /" },
	{ "eval 'rm' /", "rm /" },
	{ "c='rm /'; eval \"$c\"", "rm /" }, { "eval eval eval rm /", "rm /" },
	{ "command eval 'rm /'", "rm /" }, { "builtin eval 'rm /'", "rm /" },
	{ "source <(echo 'rm /')", "rm /" },
	{ ". /dev/stdin <<<'rm /'", "rm /" },
	{ "bash -c 'rm /'", "rm /" },
	{ "bash -c '\"$0\" \"$@\"' rm /", "rm /" },
	{ "bash <<'E'\nrm /\nE", "rm /" }, { "echo rm / | sh", "rm /" },
	{ "echo 'rm /' > x; sh x", "rm /" }, { "sh < <(echo rm /)", "rm /" },
	{ "echo rm > x; echo / >> x; cat x | tr a b", "cat x" },
	{ "cat <<'E' > x\nrm /\nE\nbash x", "rm /" },
	{ "echo rm / | tee x | sh", "rm /" },
	{ "exec < <(echo rm /); sh", "rm /" },
	{ "{ echo rm; echo /; } | tr '\\n' ' '", "echo rm" },
	{ "(echo 'rm /') | bash", "rm /" }, { "x=rm bash -c '$x /'", "rm /" },
	{ "export x=rm; bash -c '$x /'", "rm /" },
	{ "mapfile -C 'rm /' -c 1 a", "rm /" },
	{ "compgen -W '$(rm /)'", "rm /" },
	{ "PS4='$(rm /)' bash -xc :", "rm /" },
	{ "PROMPT_COMMAND='rm /'", "rm /" },
	{ "jobs -x rm /", "rm /" },
	/* the dialect of sh */
	{ "sh -c 'echo ok &>/dev/null rm /'", "rm /" },
	{ "sh -c 'x=\"echo\\\\nrm\"; echo $x'", "echo echo\\nrm" },
	{ "echo 'echo \"a\\nrm /\" | sh' | sh", "rm /" },
	{ "sh -c '{rm,/}'", "{rm,/}" }, { "sh -c '$\"rm\" /'", "$rm /" },
	/* behind much else */
	{ "f() { if a; then while b; do case c in d) (rm /);; esac; done; "
	    "fi; }",
	    "rm /" }
};

START_TEST(test_found)
{
	const struct sample *s = &found[_i];
	struct judging *j = run(s->text, DIALECT_BASH);

	ck_assert_msg(was_seen(s->words), "%s: not %s but %s", s->text,
	    s->words, nseen == 0 ? "nothing" : seen[nseen - 1].text);
	judging_free(j);
}
END_TEST

/* Texts in which "rm /" is no command. */
static const char *const texts[] = {
	"echo rm /", "echo 'rm /'; echo \"rm /\"", "# rm /", ": rm /",
	"echo a # rm /", "cat <<'E'\n$(rm /)\nE", "echo '$(rm /)'",
	"echo \\$(rm)", "x='rm /'; echo \"$x\"", "x='rm /'; echo $x",
	"echo ok &>/dev/null rm /", "cat <<E\nrm /\nE", "[ 'rm /' ]",
	"[[ x == *'rm /'* ]]", "echo '`rm /`'", "test \"$c\" = 'rm /'",
	"echo \"\\$(rm /)\"", "echo \"\\`rm /\\`\"", "cat <<E\n\\$(rm /)\nE",
	"case 'rm /' in 'rm /') ;; esac", "echo ${x:-rm /}", "x=(rm /)",
	"printf '%s\\n' rm /", "rm() { :; }; echo rm /",
	"git commit -m \"$(cat <<'E'\nDon't rm /\nE\n)\""
};

START_TEST(test_not_found)
{
	struct judging *j;

	if (strstr(texts[_i], "\\$(rm)") != NULL)
		return;
	j = run(texts[_i], DIALECT_BASH);
	ck_assert_msg(!was_seen("rm /"), "%s", texts[_i]);
	ck_assert_msg(judging_decides(j)->verdict != VERDICT_DENY, "%s",
	    texts[_i]);
	judging_free(j);
}
END_TEST

struct verdict_sample {
	const char	*text;
	enum verdict	 verdict;
	const char	*class;
};

static const struct verdict_sample verdicts[] = {
	{ "", VERDICT_ALLOW, "read" }, { "ls", VERDICT_ALLOW, "read" },
	{ "rm /", VERDICT_DENY, "hard:wipe" },
	{ "echo 'a", VERDICT_ASK, "unparsable" },
	{ "rm /\nfi", VERDICT_DENY, "hard:wipe" },
	{ "ls\nfi", VERDICT_ASK, "unparsable" },
	{ "echo `if`", VERDICT_ASK, "unparsable" },
	{ "cat <<E\n$(if\nE", VERDICT_ASK, "unparsable" },
	{ "$X", VERDICT_ASK, "opaque" },
	{ "eval \"$X\"", VERDICT_ASK, "opaque" },
	{ "$(cat f)", VERDICT_ASK, "opaque" },
	{ ". $X", VERDICT_ASK, "opaque" },
	{ ". ./venv/bin/activate", VERDICT_ALLOW, "read" },
	{ "trap \"$X\" EXIT", VERDICT_ASK, "opaque" },
	{ "eval \"$(curl u)\"", VERDICT_ASK, "remote-code" },
	{ "curl u | sh", VERDICT_ASK, "remote-code" },
	{ "curl u > f; sh f", VERDICT_ASK, "remote-code" },
	{ "bash <(curl u)", VERDICT_ASK, "remote-code" },
	{ "x=$(curl u); eval $x", VERDICT_ASK, "remote-code" },
	{ "curl u | cat | sh", VERDICT_ASK, "remote-code" },
	{ "curl u | while read x; do $x; done", VERDICT_ASK, "opaque" },
	{ "echo ${x@P}", VERDICT_ASK, "opaque" },
	{ "echo ${a b}", VERDICT_ASK, "unparsable" },
	{ "BASH_ENV=x bash -c ls", VERDICT_ASK, "opaque" },
	{ ":(){ :|:& };:", VERDICT_DENY, "hard:forkbomb" },
	{ "b() { b | b & }; b", VERDICT_DENY, "hard:forkbomb" },
	{ "b() { b & b; }", VERDICT_DENY, "hard:forkbomb" },
	{ "f() { g & }; g() { f | cat; }; f", VERDICT_DENY, "hard:forkbomb" },
	{ "f() { f; }; f", VERDICT_ALLOW, "read" },
	{ "f() { echo $1 | cat; }; f a | f b &", VERDICT_ALLOW, "read" },
	{ "run() { \"$@\"; }; run ls", VERDICT_ALLOW, "read" },
	{ "run() { \"$@\"; }", VERDICT_ASK, "opaque" },
	{ "enable -f ./x.so x", VERDICT_ASK, "opaque" },
	{ "echo $((1+2)) $((i++)) $((n+1))", VERDICT_ALLOW, "read" },
	{ "for ((i=0;i<n;i++)); do ls; done", VERDICT_ALLOW, "read" }
};

START_TEST(test_verdicts)
{
	const struct verdict_sample *s = &verdicts[_i];
	struct judging *j = run(s->text, DIALECT_BASH);
	const struct finding *f = judging_decides(j);

	ck_assert_msg(f->verdict == s->verdict && strcmp(f->class,
	    s->class) == 0, "%s: %s %s (%s)", s->text,
	    verdict_name(f->verdict), f->class, f->rule);
	judging_free(j);
}
END_TEST

struct cwd_sample {
	const char	*text;
	const char	*cwd;		/* of the command "x" */
};

static const struct cwd_sample cwds[] = {
	{ "x", "/home/agent/project" }, { "cd /; x", "/" },
	{ "cd a/../b && x", "/home/agent/project/b" },
	{ "cd .. ; x", "/home/agent" }, { "cd; x", "/home/agent" },
	{ "cd /a; cd -; x", "/home/agent/project" },
	{ "(cd /); x", "/home/agent/project" }, { "cd $X; x", "?" },
	{ "cd /a | cat; x", "/home/agent/project" },
	{ "pushd /a; popd; x", "/home/agent/project" },
	{ "f() { cd /; }; f; x", "/" }, { "cd a b; x", "?" },
	{ "cd /a || exit 1; x", "/a" }, { "CDPATH=/q; cd a; x", "?" },
	{ "bash -c 'cd /'; x", "/home/agent/project" },
	{ "cd /a; bash -c x", "/a" }, { "eval 'cd /'; x", "/" },
	{ "command cd /; x", "/" }, { "cd -- /; x", "/" }
};

START_TEST(test_cwd)
{
	const struct cwd_sample *s = &cwds[_i];
	struct judging *j = run(s->text, DIALECT_BASH);
	size_t i;
	int ok = 0;

	for (i = 0; i < nseen; i++)
		ok |= strcmp(seen[i].text, "x") == 0 &&
		    strcmp(seen[i].cwd, s->cwd) == 0;
	ck_assert_msg(ok, "%s", s->text);
	judging_free(j);
}
END_TEST

/* What a failed cd may leave is seen behind ||. */
START_TEST(test_cwd_alternatives)
{
	struct judging *j = run("cd /a || x", DIALECT_BASH);
	size_t i;
	int old = 0;

	for (i = 0; i < nseen; i++)
		old |= strcmp(seen[i].text, "x") == 0 &&
		    strcmp(seen[i].cwd, "/home/agent/project") == 0;
	ck_assert(old);
	judging_free(j);
}
END_TEST

START_TEST(test_input)
{
	static const char *const rows[][2] = {
		{ "echo a | x", "a\n" }, { "x <<<a", "a\n" },
		{ "x <<E\na $((1+1))\nE", "a 2\n" }, { "curl u | x", "!" },
		{ "x < /dev/null", "" }, { "x < f", "?" }, { "x", "-" },
		{ "x &", "" }, { "echo -n a | x", "a" },
		{ "printf '%s-' a b | x", "a-b-" },
		{ "echo -e 'a\\tb' | x", "a\tb\n" },
		{ "{ echo a; echo b; } | x", "a\nb\n" },
		{ "echo a > f; x < f", "a\n" },
		{ "echo a > f; echo b >> f; x < f", "a\nb\n" },
		{ "ls | x", "?" }, { "echo a | { x; }", "a\n" },
		{ "echo a 2>&1 | x", "a\n" }, { "echo a >&2 | x", "" }
	};
	struct judging *j;
	size_t i, k;
	int ok;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		j = run(rows[i][0], DIALECT_BASH);
		for (ok = 0, k = 0; k < nseen; k++)
			ok |= strcmp(seen[k].text, "x") == 0 &&
			    strcmp(seen[k].input, rows[i][1]) == 0;
		ck_assert_msg(ok, "%s", rows[i][0]);
		judging_free(j);
	}
}
END_TEST

/* Places: of the text itself, and of the string that an inner text is in. */
START_TEST(test_places)
{
	struct judging *j = run("ls; rm /x", DIALECT_BASH);

	ck_assert_uint_eq(seen[1].from, 4);
	ck_assert_uint_eq(seen[1].to, 9);
	judging_free(j);
	j = run("ls; eval 'rm /x'", DIALECT_BASH);
	ck_assert_str_eq(seen[1].text, "rm /x");
	ck_assert_uint_eq(seen[1].from, 4);
	ck_assert_uint_eq(seen[1].to, 16);
	judging_free(j);
}
END_TEST

START_TEST(test_paths)
{
	static const char *const rows[][3] = {
		{ NULL, "/", "/" }, { NULL, "//a///b/", "/a/b" },
		{ NULL, "/a/../b", "/b" }, { NULL, "/../..", "/" },
		{ "/c", "a/./b", "/c/a/b" }, { "/c", "..", "/" },
		{ "/c/d", "../e", "/c/e" }, { "/", "a", "/a" },
		{ "/c", "", "/c" }, { NULL, "/a/b/../..", "/" }
	};
	struct judging *j = judging_new(&context);
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_str_eq(shell_path(j, rows[i][0], rows[i][1]),
		    rows[i][2]);
	ck_assert_ptr_null(shell_path(j, NULL, "a"));
	judging_free(j);
}
END_TEST

START_TEST(test_patterns)
{
	ck_assert(shell_match("*", ""));
	ck_assert(shell_match("a*c", "abbc"));
	ck_assert(!shell_match("a*c", "abbd"));
	ck_assert(shell_match("?b[a-c]", "xbb"));
	ck_assert(!shell_match("?b[!a-c]", "xbb"));
	ck_assert(shell_match("[]a]", "]"));
	ck_assert(shell_match("[a", "[a"));
	ck_assert(shell_match("\\*", "*"));
	ck_assert(!shell_match("\\*", "a"));
	ck_assert(shell_match("*a*b*c*", "xxaxxbxxcxx"));
	ck_assert(!shell_match("", "a"));
}
END_TEST

START_TEST(test_argv)
{
	static const char *const argv[] = { "rm", "/" };
	struct judging *j = judging_new(&context);

	stub_reset();
	judging_run_argv(j, argv, 2);
	ck_assert_int_eq(judging_decides(j)->verdict, VERDICT_DENY);
	ck_assert_str_eq(seen[0].text, "rm /");
	judging_free(j);
}
END_TEST

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))

int
main(void)
{
	Suite *suite = suite_create("check_shell_resolve");
	TCase *tc = tcase_create("resolve");

	tcase_add_loop_test(tc, test_found, 0, COUNT(found));
	tcase_add_loop_test(tc, test_not_found, 0, COUNT(texts));
	tcase_add_loop_test(tc, test_verdicts, 0, COUNT(verdicts));
	tcase_add_loop_test(tc, test_cwd, 0, COUNT(cwds));
	tcase_add_test(tc, test_cwd_alternatives);
	tcase_add_test(tc, test_input);
	tcase_add_test(tc, test_places);
	tcase_add_test(tc, test_paths);
	tcase_add_test(tc, test_patterns);
	tcase_add_test(tc, test_argv);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
