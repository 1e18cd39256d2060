/*
 * See worst.h.
 */
#include <stdlib.h>
#include <string.h>

#include "worst.h"

const struct worst worst[] = {
	{ "commands", "", "ls a;", "", "" },
	{ "and", "true", "&&true", "", "" },
	{ "or assignments", "x=1", "||x=2", "", "" },
	{ "pipes", "a", "|a", "", "" },
	{ "words", "echo", " a", "", "" },
	{ "quotes", "echo ", "'a'\"b\"\\c", "", "" },
	{ "subshells", "", "(", "ls", ")" },
	{ "double parens", "", "((", "ls", ") )" },
	{ "arithmetic", "echo ", "$((", "1", "))" },
	{ "old arithmetic", "echo ", "$[", "1", "]" },
	{ "groups", "", "{ ", "ls", ";}" },
	{ "substitutions", "echo ", "$(echo ", "x", ")" },
	{ "quoted substitutions", "echo ", "\"$(echo ", "x", ")\"" },
	{ "backticks", "echo ", "`echo x`", "", "" },
	{ "escaped backticks", "echo ", "`\\`", "x", "" },
	{ "processes", "cat ", "<(cat ", "x", ")" },
	{ "many substitutions", "echo ", "$(a)", "", "" },
	{ "parameters", "echo ", "${x:-", "y", "}" },
	{ "quoted parameters", "echo \"", "${x:-\"", "y", "\"}" },
	{ "subscripts", "", "a[", "1", "]" },
	{ "subscript assignments", "", "a[1]=2;", "", "" },
	{ "braces", "echo ", "{a,b}", "", "" },
	{ "nested braces", "echo ", "{a,", "b", "}" },
	{ "open braces", "echo ", "{a,b", "", "" },
	{ "sequences", "echo ", "{1..9}", "", "" },
	{ "single sequences", "echo ", "{1..1}", "", "" },
	{ "ifs", "", "if a;then ", "b", ";fi" },
	{ "many ifs", "", "if a;then x=1;else x=2;fi;", "", "" },
	{ "whiles", "", "while a;do ", "b", ";done" },
	{ "many loops", "", "for i in a b;do x=$x$i;done;", "", "" },
	{ "nested loops", "", "for i in a b;do ", "x=$x$i", ";done" },
	{ "cases", "", "case x in y)", "b", ";;esac" },
	{ "functions", "", "f(){ ", "b", ";}" },
	{ "calls", "f(){ f;f; };g(){ f;f; };", "g;f;", "", "" },
	{ "here-documents", "", "cat <<a\nx\na\n", "", "" },
	{ "queued here-documents", "cat", " <<a", "\n", "a\n" },
	{ "doubling", "x=abcdefgh;", "x=$x$x;", "", "" },
	{ "appending", "x=a;", "x+=$x;", "", "" },
	{ "arrays", "a=(", "x ", ");b=(\"${a[@]}\")", "" },
	{ "array appends", "", "a+=(x);", "", "" },
	{ "alternatives", "[ x ]&&a=1||a=2;echo ", "$a", "", "" },
	{ "alternative words", "[ x ]&&a=1||a=2;echo", " $a", "", "" },
	{ "evals", "", "eval a;", "", "" },
	{ "nested evals", "x='eval \"$x\"';", "eval \"$x\";", "", "" },
	{ "children", "", "bash -c a;", "", "" },
	{ "trims", "x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;",
	    "y=${x##*b};", "", "" },
	{ "stars", "x=${y##", "*a", "}", "" },
	{ "variables", "", "v$x=1;", "", "" },
	{ "redirects", "cat", " >a", "", "" },
	{ "conditions", "[[ ", "a&&", "b ]]", "" },
	{ "nested conditions", "[[ ", "( ", "b", ") " },
	{ "continuations", "echo ", "\\\n", "", "" },
	{ "dollars", "echo ", "$", "", "" },
	{ "quoted backslashes", "echo \"", "\\\\", "\"", "" },
	{ "extended patterns", "shopt -s extglob\necho ", "@(", "a", ")" },
	/* what the tables of programs make much of */
	{ "removals", "", "rm a;", "", "" },
	{ "unknown programs", "", "a rm b;", "", "" },
	{ "unknown tails", "a", " rm", "", "" },
	{ "env", "", "env ", "ls", "" },
	{ "env assignments", "env", " a=1", " ls", "" },
	{ "sudo", "", "sudo ", "ls", "" },
	{ "timeouts", "", "timeout 1 ", "ls", "" },
	{ "commands of command", "", "command ", "ls", "" },
	{ "busyboxes", "", "busybox ", "ls", "" },
	{ "xargs", "", "xargs ", "ls", "" },
	{ "xargs words", "echo", " a", "|xargs rm", "" },
	{ "xargs many", "", "echo a|xargs rm;", "", "" },
	{ "find exec", "find .", " -exec a \\;", "", "" },
	{ "find tests", "find .", " -name a", " -delete", "" },
	{ "operands", "rm -r", " a", "", "" },
	{ "options", "rm", " -r", " a", "" },
	{ "long options", "git commit", " --a", "", "" },
	{ "clusters", "rm -", "r", " a", "" },
	{ "globs", "rm", " *a", "", "" },
	{ "slashes", "rm /", "/", "", "" },
	{ "dots", "rm a", "/..", "", "" },
	{ "deep directory", "cd /", "a", ";", "" },
	{ "long directory", "cd ", "aaaaaaa/", ";", "rm aaaaaa;" },
	{ "seds", "sed '", "s/a/b/;", "'", "" },
	{ "awk", "awk '", "{system(\"a\")}", "'", "" },
	{ "interpreters", "python3 -c '", "os.system(\"a\");", "'", "" },
	{ "many interpreters", "", "perl -e a;", "", "" },
	{ "gits", "", "git a;", "", "" },
	{ "git options", "git", " -c a=b", " log", "" },
	{ "curls", "", "curl a;", "", "" },
	{ "curl words", "curl", " a", "", "" },
	{ "tars", "tar", " -I a", "", "" },
	{ "ssh words", "ssh a", " b", "", "" },
	{ "parallel", "parallel a :::", " b", "", "" },
	{ "assignments", "", "a=1;", "", "" },
	{ "prefix assignments", "", "a=1 b;", "", "" },
	{ "pagers", "", "PAGER=a b;", "", "" },
	{ "writes", "", ">a;", "", "" },
	{ "files", "", "a>b;b<b;", "", "" },
	{ "pipes into shells", "", "echo a|sh;", "", "" },
	{ "printfs", "", "$(printf a);", "", "" },
	{ "aliases", "alias a=b;", "a;", "", "" },
	{ "long alias", "alias a='", "b;", "';a", "" },
	{ "trapped", "", "trap a EXIT;", "", "" },
	{ "sources", "echo a>b;", ". b;", "", "" },
	{ "patterns in front", "", "/bin/r? a;", "", "" },
	{ "long words", "a=\"", "b", "\"", ";a $a" },
	{ "growing words", "a=bbbbbbbbbbbbbbbb;", "a=$a$a;rm $a;", "", "" },
	{ "joins", "", "x=1||y=2&&z=3||", "a", "" },
	{ "case items", "case x in ", "a)b=1;;", "esac", "" },
	{ "elifs", "if a;then b=1;", "elif c;then d=2;", "fi", "" },
	{ "arguments", "f(){ rm \"$@\"; };f", " a", "", "" },
	{ "eval of much", "eval '", "ls;", "'", "" },
	{ "dollar quotes", "echo ", "$'\\x41'", "", "" }
};
const size_t nworst = sizeof(worst) / sizeof(worst[0]);

char *
worst_text(const struct worst *w, size_t bytes, size_t *len)
{
	size_t pair = strlen(w->open) + strlen(w->close), n, i;
	size_t rest = strlen(w->head) + strlen(w->middle);
	char *text, *p;

	n = bytes > rest ? (bytes - rest) / pair : 0;
	if ((text = malloc(rest + n * pair + 1)) == NULL)
		return (NULL);
	p = stpcpy(text, w->head);
	for (i = 0; i < n; i++)
		p = stpcpy(p, w->open);
	p = stpcpy(p, w->middle);
	for (i = 0; i < n; i++)
		p = stpcpy(p, w->close);
	*len = (size_t)(p - text);
	return (text);
}
