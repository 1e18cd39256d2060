/*
 * Rules of a .gitignore: parsed line by line, asked from the last one on.
 */
#include <stdlib.h>
#include <string.h>

#include "find_ignore.h"
#include "globs.h"

struct rule {
	struct glob	*glob;
	unsigned char	 not;		/* ! in front */
	unsigned char	 directory;	/* / behind: directories alone */
	unsigned char	 whole;		/* / in it: the path, not a name */
};

struct ignore {
	struct rule	*rule;
	size_t		 n;
};

/* Blanks at the end are none of the rule, unless a backslash says so. */
static size_t
without_blanks(const char *line, size_t len)
{
	size_t slashes;

	while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t')) {
		slashes = 0;
		while (slashes < len - 1 && line[len - 2 - slashes] == '\\')
			slashes++;
		if (slashes % 2 == 1)
			break;
		len--;
	}
	return (len);
}

/* 1 and a rule, 0 if the line is none, -1 when memory is out. */
static int
parse(const char *line, size_t len, struct rule *rule)
{
	const char *why;

	memset(rule, 0, sizeof(*rule));
	if (len > 0 && line[len - 1] == '\r')
		len--;
	len = without_blanks(line, len);
	if (len == 0 || line[0] == '#')
		return (0);
	if (line[0] == '!') {
		rule->not = 1;
		line++;
		len--;
	}
	if (len > 0 && line[len - 1] == '/') {
		rule->directory = 1;
		len--;
	}
	rule->whole = memchr(line, '/', len) != NULL;
	if (len > 0 && line[0] == '/') {
		line++;
		len--;
	}
	if (len == 0 || len > GLOB_BYTES_MAX)
		return (0);
	rule->glob = glob_make(line, len, 0, &why);
	return (rule->glob == NULL ? -1 : 1);
}

int
ignore_add(struct ignore **rules, const char *text, size_t len)
{
	const char *end, *nl;
	struct rule rule, *more;
	struct ignore *g = *rules;
	int r;

	if (g == NULL && (g = *rules = calloc(1, sizeof(*g))) == NULL)
		return (-1);
	if (len > IGNORE_BYTES_MAX)
		len = IGNORE_BYTES_MAX;
	end = text + len;
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	for (; text < end && g->n < IGNORE_RULES_MAX; text = nl + 1) {
		if ((nl = memchr(text, '\n', (size_t)(end - text))) == NULL)
			nl = end;
		if ((r = parse(text, (size_t)(nl - text), &rule)) == 0)
			continue;
		if (r == -1)
			return (-1);
		if ((g->n & (g->n - 1)) == 0) {
			more = realloc(g->rule, (g->n == 0 ? 1 : g->n * 2) *
			    sizeof(*more));
			if (more == NULL) {
				glob_free(rule.glob);
				return (-1);
			}
			g->rule = more;
		}
		g->rule[g->n++] = rule;
	}
	return (0);
}

void
ignore_free(struct ignore *g)
{
	size_t i;

	if (g == NULL)
		return;
	for (i = 0; i < g->n; i++)
		glob_free(g->rule[i].glob);
	free(g->rule);
	free(g);
}

enum ignore_word
ignore_match(const struct ignore *g, const char *path, size_t len, size_t base,
    int directory)
{
	const struct rule *r;
	size_t i, from;

	for (i = g == NULL ? 0 : g->n; i > 0; i--) {
		r = &g->rule[i - 1];
		if (r->directory && !directory)
			continue;
		from = r->whole ? 0 : base;
		if (glob_match(r->glob, path + from, len - from))
			return (r->not ? IGNORE_NOT : IGNORE_IT);
	}
	return (IGNORE_NOTHING);
}
