/*
 * The schema validator: patterns, by PCRE2.
 *
 * A declaration's author chose the pattern and a caller the text, so the
 * work of a match is bounded.  Nothing is compiled to machine code: this
 * process may not make memory executable.
 */
#include <stdlib.h>
#define PCRE2_CODE_UNIT_WIDTH	8
#include <pcre2.h>
#include <string.h>

#include "schema_int.h"

#define MATCH_LIMIT	200000		/* steps of a match */
#define MATCH_EASY	2000		/* what most need */
#define HEAP_LIMIT	4096		/* KiB */
#define DEPTH_LIMIT	10000
#define PARENS_LIMIT	32		/* groups inside each other */

/* As ECMA-262 has it: \d is ASCII, $ is the end, \u00e4 a character. */
static pcre2_code *
compile(const char *pattern, int *error, size_t *at)
{
	pcre2_compile_context *context;
	pcre2_code *code;

	*error = 0;
	if ((context = pcre2_compile_context_create(NULL)) == NULL)
		return (NULL);
	pcre2_set_parens_nest_limit(context, PARENS_LIMIT);
	code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
	    PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX |
	    PCRE2_NEVER_BACKSLASH_C | PCRE2_MATCH_UNSET_BACKREF, error, at,
	    context);
	pcre2_compile_context_free(context);
	return (code);
}

int
schema_pattern_check(struct walk *w, const char *key, const char *pattern)
{
	PCRE2_UCHAR words[128] = "out of memory";
	pcre2_code *code;
	size_t at = 0;
	int error;

	if (strlen(pattern) > SCHEMA_PATTERN_MAX) {
		why_set(w->place.why, "%s.%s: a pattern of %zu bytes, at most "
		    "%d", w->place.path, key, strlen(pattern),
		    SCHEMA_PATTERN_MAX);
		return (-1);
	}
	if ((code = compile(pattern, &error, &at)) != NULL) {
		pcre2_code_free(code);
		return (0);
	}
	if (error != 0)
		(void)pcre2_get_error_message(error, words, sizeof(words));
	why_set(w->place.why, "%s.%s: not a pattern: %s, at character %zu",
	    w->place.path, key, (const char *)words, at);
	return (-1);
}

static int
match(const pcre2_code *code, const char *text, size_t len, uint32_t limit)
{
	pcre2_match_context *context = pcre2_match_context_create(NULL);
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	int n = PCRE2_ERROR_NOMEMORY;

	if (context != NULL && data != NULL) {
		pcre2_set_match_limit(context, limit);
		pcre2_set_heap_limit(context, HEAP_LIMIT);
		pcre2_set_depth_limit(context, DEPTH_LIMIT);
		n = pcre2_match(code, (PCRE2_SPTR)text, len, 0, 0, data,
		    context);
	}
	pcre2_match_data_free(data);
	pcre2_match_context_free(context);
	return (n);
}

int
schema_pattern_match(struct walk *w, const char *pattern, const char *text,
    size_t len)
{
	pcre2_code *code;
	size_t at;
	int error, n;

	/*
	 * PCRE2 does not say what a match took.  A hard one is paid for as
	 * such, so that a list of them is bounded as well.
	 */
	if (schema_step(w, MATCH_EASY / 20) == -1)
		return (-1);
	if ((code = compile(pattern, &error, &at)) == NULL)
		n = PCRE2_ERROR_NOMEMORY;
	else
		n = match(code, text, len, MATCH_EASY);
	if (n == PCRE2_ERROR_MATCHLIMIT) {
		if (schema_step(w, MATCH_LIMIT / 4) == -1) {
			pcre2_code_free(code);
			return (-1);
		}
		n = match(code, text, len, MATCH_LIMIT);
	}
	pcre2_code_free(code);
	if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
		return (n >= 0);
	w->out = 1;
	why_set(w->place.why, "%s: the pattern %s takes more than %d steps on "
	    "it", w->place.path, pattern, MATCH_LIMIT);
	return (-1);
}
