/*
 * What is shell text and what is not, by dialect: each trick of the grammar a
 * row.  tests/system/test_shell_syntax.py holds the same against bash itself.
 */
#include <string.h>

#include "shell/judging_internal.h"
#include "shell/parser.h"
#include "unit.h"

#define OK	PARSE_OK
#define BAD	PARSE_SYNTAX
#define LONG	PARSE_BOUND

struct sample {
	const char		*text;
	enum parse_error	 bash;
	enum parse_error	 dash;
};

static const struct sample samples[] = {
	{ "", OK, OK }, { "\n\n", OK, OK }, { "# only", OK, OK },
	{ "a b c", OK, OK }, { "a;", OK, OK }, { "a&", OK, OK },
	{ ";", BAD, BAD }, { "a;;", BAD, BAD }, { "a & & b", BAD, BAD },
	{ "a &&", BAD, BAD }, { "a &&\n\nb", OK, OK }, { "&& a", BAD, BAD },
	{ "a | b |& c", OK, BAD }, { "a |\n# c\nb", OK, OK },
	{ "|", BAD, BAD }, { "a | | b", BAD, BAD },
	/* quotes */
	{ "echo 'a", BAD, BAD }, { "echo \"a", BAD, BAD },
	{ "echo `a", BAD, BAD }, { "echo \\", OK, OK },
	{ "echo 'a\\'", OK, OK }, { "echo \"a\\\"\"", OK, OK },
	{ "echo $'a\\'b'", OK, BAD }, { "echo $\"a\"", OK, OK },
	{ "ec\\\nho", OK, OK }, { "echo \"$\\\n(a)\"", OK, OK },
	{ "echo a#b '", BAD, BAD }, { "echo a #b '", OK, OK },
	{ "echo # \\\n'", BAD, BAD },
	/* substitutions */
	{ "echo $(a; b)", OK, OK }, { "echo $(a", BAD, BAD },
	{ "echo $()", OK, OK }, { "echo $(if)", BAD, BAD },
	{ "echo \"$(echo \")\")\"", OK, OK },
	{ "echo $(case x in a) b;; esac)", OK, OK },
	{ "echo `if`", OK, OK }, { "cat <(a) >(b)", OK, BAD },
	{ "echo $((1+2))", OK, OK }, { "echo $((a) ; b)", OK, OK },
	{ "echo $((1", BAD, BAD }, { "echo $[1+2]", OK, OK },
	/* parameters */
	{ "echo ${x} ${x:-a} ${#x} ${x%%y}", OK, OK },
	{ "echo ${x", BAD, BAD }, { "echo ${x y}", OK, OK },
	{ "echo \"${x:-'$(c)'}\"", OK, OK },
	{ "echo \"${x:-it's}\"", BAD, BAD },
	{ "echo ${x:-\"}\"}", OK, OK }, { "echo ${!x} ${x@P}", OK, OK },
	{ "echo ${x[1]} ${x[@]:1:2} ${x/a/b}", OK, OK },
	{ "echo ${x[}", OK, OK }, { "echo ${$(a)}", OK, OK },
	/* ( and (( */
	{ "(a; b)", OK, OK }, { "()", BAD, BAD }, { "(a", BAD, BAD },
	{ "a)", BAD, BAD }, { "((1+2))", OK, OK },
	{ "((a) ; b)", OK, OK }, { "((a); (b))", OK, OK },
	{ "((((1))))", OK, OK }, { "((a", BAD, BAD },
	/* reserved words, only where they may stand */
	{ "{ a; }", OK, OK }, { "{ a }", BAD, BAD }, { "{a; }", BAD, BAD },
	{ "echo }", OK, OK }, { "}", BAD, BAD }, { "{ }", BAD, BAD },
	{ "! a", OK, OK }, { "! ! a", OK, BAD }, { "!", OK, BAD },
	{ "a | ! b", BAD, BAD }, { "time a", OK, OK },
	{ "time -p a | b", OK, OK }, { "a | time b", OK, OK },
	{ "in a", BAD, BAD }, { "echo in do done", OK, OK },
	{ "if a; then b; elif c; then d; else e; fi", OK, OK },
	{ "if a; then fi", BAD, BAD }, { "if a\nthen b\nfi", OK, OK },
	{ "fi", BAD, BAD }, { "rm -rf /\nfi", BAD, BAD },
	{ "while a; do b; done", OK, OK }, { "until a; do b", BAD, BAD },
	{ "for x in a b; do c; done", OK, OK },
	{ "for x; do c; done", OK, OK }, { "for x do c; done", OK, OK },
	{ "for x in a { c; }", BAD, BAD },
	{ "for x in a; { c; }", OK, BAD },
	{ "for ((i=0;i<3;i++)); do c; done", OK, BAD },
	{ "for ((i=0;i<3)); do c; done", BAD, BAD },
	{ "select x in a; do b; done", OK, BAD },
	{ "case x in esac", OK, OK },
	{ "case x in (a|b) c;; *) d; esac", OK, OK },
	{ "case x in a) b;& c) d;;& esac", OK, BAD },
	{ "case x in a b) c;; esac", BAD, BAD },
	{ "f() { a; }", OK, OK }, { "f() a", BAD, OK },
	{ "f()\n\n(a)", OK, OK }, { "f ( ) { a; }", OK, OK },
	{ "function f { a; }", OK, BAD }, { "function f() (a)", OK, BAD },
	{ "a b() { c; }", BAD, BAD }, { "coproc a b", OK, OK },
	{ "coproc X { a; }", OK, BAD },
	/* redirects */
	{ ">f a", OK, OK }, { "a > f 2>&1 <g", OK, OK }, { "a >", BAD, BAD },
	{ "a &>f", OK, OK }, { "{fd}>f a", OK, OK }, { "a 2>&-", OK, OK },
	{ "a <<<b", OK, BAD }, { "a >|b <>c", OK, OK },
	{ "{ a; } >f 2>g", OK, OK }, { "{ { a; } >f }", BAD, BAD },
	/* assignments */
	{ "a=1 b=2 c", OK, OK }, { "a=(1 2\n3)", OK, BAD },
	{ "a[1 + 2]=3 c", OK, OK }, { "a+=(b)", OK, BAD },
	{ "echo a=(b)", BAD, BAD }, { "declare a=(b)", OK, BAD },
	{ "a=(b", BAD, BAD }, { "a=1(b)", BAD, BAD },
	/* here-documents */
	{ "cat <<E\n$(if\nE", OK, OK }, { "cat <<E\nx", OK, OK },
	{ "cat <<'E' ; b\n'\nE\nc", OK, OK },
	{ "cat <<-E\n\t'\n\tE\nc", OK, OK }, { "cat <<", BAD, BAD },
	{ "cat <<A <<B\n'\nA\n\"\nB\nc", OK, OK },
	{ "cat <<E |\n'\nE\nb", OK, OK },
	/* [[ ]] */
	{ "[[ a ]]", OK, OK }, { "[[ a == b && ! -f c ]]", OK, OK },
	{ "[[ a", BAD, OK }, { "[[ ]]", BAD, OK }, { "[[ a b ]]", BAD, OK },
	{ "[[ a =~ ^(b|c)$ ]]", OK, BAD }, { "[[ a < b ]]", OK, OK },
	{ "[[ (a || b) && c ]]", OK, BAD }, { "]]", BAD, OK },
	/* extended patterns are off until a line turns them on */
	{ "echo @(a|b)", BAD, BAD }, { "[[ a == @(a|b) ]]", OK, BAD }
};

struct parse {
	const char	*text;
	enum dialect	 dialect;
	enum parse_error got;
};

static void
body(struct judging *j, void *arg)
{
	struct parse *a = arg;
	struct parser p;
	struct list *list;
	int got;

	parser_init(&p, j, a->text, strlen(a->text), a->dialect);
	while ((got = parser_next(&p, &list)) == 1)
		;
	a->got = got == 0 ? PARSE_OK : p.error;
}

static enum parse_error
parse(const char *text, enum dialect dialect)
{
	static const struct judge_context none;
	struct judging *j = judging_new(&none);
	struct parse a = { text, dialect, PARSE_OK };

	ck_assert_ptr_nonnull(j);
	judging_guard(j, body, &a);
	judging_free(j);
	return (a.got);
}

START_TEST(test_bash)
{
	const struct sample *s = &samples[_i];

	ck_assert_msg(parse(s->text, DIALECT_BASH) == s->bash, "%s", s->text);
}
END_TEST

START_TEST(test_dash)
{
	const struct sample *s = &samples[_i];

	ck_assert_msg(parse(s->text, DIALECT_DASH) == s->dash, "%s", s->text);
}
END_TEST

/* Every beginning of a text ends, and so does the text without its start. */
START_TEST(test_cut)
{
	const char *text = samples[_i].text;
	char *copy;
	size_t i;

	for (i = 0; i < strlen(text); i++) {
		copy = strndup(text, i);
		ck_assert_ptr_nonnull(copy);
		parse(copy, DIALECT_BASH);
		free(copy);
		parse(text + i, DIALECT_DASH);
	}
}
END_TEST

START_TEST(test_too_deep)
{
	char text[4096];
	size_t i;

	for (i = 0; i < 1000; i++)
		memcpy(text + i * 2, "( ", 2);
	strcpy(text + i * 2, "a");
	ck_assert_int_eq(parse(text, DIALECT_BASH), PARSE_BOUND);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("check_shell_parse");
	TCase *tc = tcase_create("parse");
	int n = (int)(sizeof(samples) / sizeof(samples[0]));

	tcase_add_loop_test(tc, test_bash, 0, n);
	tcase_add_loop_test(tc, test_dash, 0, n);
	tcase_add_loop_test(tc, test_cut, 0, n);
	tcase_add_test(tc, test_too_deep);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
