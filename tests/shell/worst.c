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
	{ "extended patterns", "shopt -s extglob\necho ", "@(", "a", ")" }
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
