/*
 * Commands that were judged by people, beside what the judge says: every row
 * of tests/data/judge-cases.tsv, in one process.
 *
 * A row is verdict, class, command and why, with tabs between; in the command
 * \n, \t and \\ stand for what they do in C.  They run as a neuron's: home
 * /home/agent is the workspace, the directory /home/agent/project.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell/judging.h"
#include "unit.h"

#define LINE_MAX_BYTES	8192
#define WRONG_MAX	40	/* that are shown */

static const struct judge_context context = {
	.cwd = "/home/agent/project", .home = "/home/agent",
	.user = "agent", .shell = "/bin/bash"
};

static const char *const verdicts[] = {
	[VERDICT_ALLOW] = "allow", [VERDICT_ASK] = "ask",
	[VERDICT_DENY] = "deny"
};

/* What each class does, beside its verdict. */
static const struct kind {
	const char	*class;
	enum effect	 effect;
	uint32_t	 marks;
} kinds[] = {
	{ "read", EFFECT_READ, 0 },
	{ "mutate-reversible", EFFECT_MUTATE_REVERSIBLE, 0 },
	{ "mutate-irreversible", EFFECT_MUTATE_IRREVERSIBLE, 0 },
	{ "destructive", EFFECT_DESTRUCTIVE, 0 },
	{ "network-read", EFFECT_READ, MARK_NETWORK_READ },
	{ "network-write", EFFECT_MUTATE_IRREVERSIBLE, MARK_NETWORK_WRITE },
	{ "remote-code", EFFECT_MUTATE_IRREVERSIBLE, MARK_REMOTE_CODE },
	{ "elevated", EFFECT_MUTATE_IRREVERSIBLE, MARK_ELEVATED },
	{ "opaque", EFFECT_MUTATE_IRREVERSIBLE, MARK_OPAQUE },
	{ "unparsable", EFFECT_MUTATE_IRREVERSIBLE, MARK_OPAQUE },
	{ "hard:", EFFECT_DESTRUCTIVE, 0 }
};

/* The next field of a line, which it cuts off. */
static char *
field(char **line)
{
	char *text = *line, *tab = text == NULL ? NULL : strchr(text, '\t');

	if (tab != NULL)
		*tab++ = '\0';
	*line = tab;
	return (text);
}

static size_t
decode(char *text)
{
	char *to = text;
	const char *p;

	for (p = text; *p != '\0'; p++) {
		if (*p == '\\' && p[1] != '\0' && strchr("nt\\", p[1]) !=
		    NULL) {
			p++;
			*to++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : '\\';
		} else
			*to++ = *p;
	}
	*to = '\0';
	return ((size_t)(to - text));
}

/* NULL, or what does not go together in the answer. */
static const char *
odd(const struct judging *j, const struct finding *f, size_t len)
{
	const struct kind *k = NULL;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(f->class, kinds[i].class,
		    strlen(kinds[i].class)) == 0)
			k = &kinds[i];
	if (k == NULL)
		return ("no such class");
	if (f->effect != k->effect || judging_effect(j) < k->effect)
		return ("its effect");
	if ((f->marks & k->marks) != k->marks ||
	    (judging_marks(j) & f->marks) != f->marks)
		return ("its marks");
	if (f->from > f->to || f->to > len)
		return ("where it stands");
	if (f->rule == NULL || f->rule[0] == '\0')
		return ("no rule");
	if ((f->verdict == VERDICT_ASK) != (f->next[0] != '\0'))
		return ("what could be done");
	return (NULL);
}

/* 1 if the row is as it should be. */
static int
row(char *line, int number, int shown)
{
	const char *verdict = field(&line), *class = field(&line), *why;
	char *command = field(&line);
	const struct finding *f;
	struct judging *j;
	size_t len;
	int good;

	ck_assert_msg(command != NULL, "line %d has too few fields", number);
	len = decode(command);
	ck_assert_ptr_nonnull(j = judging_new(&context));
	judging_run(j, command, len, DIALECT_BASH);
	f = judging_decides(j);
	why = odd(j, f, len);
	good = strcmp(verdicts[f->verdict], verdict) == 0 &&
	    strcmp(f->class, class) == 0 && why == NULL;
	if (!good && shown)
		printf("# line %d: %s %s, not %s %s%s%s: %s\n", number,
		    verdicts[f->verdict], f->class, verdict, class,
		    why == NULL ? "" : "; ", why == NULL ? "" : why, command);
	judging_free(j);
	return (good);
}

START_TEST(test_cases)
{
	const char *srcdir = getenv("srcdir");
	static char line[LINE_MAX_BYTES];
	char path[4096];
	int number = 0, rows = 0, wrong = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/judge-cases.tsv",
	    srcdir == NULL ? TEST_SRCDIR : srcdir);
	ck_assert_msg((f = fopen(path, "r")) != NULL, "%s", path);
	while (fgets(line, sizeof(line), f) != NULL) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '\0' || strncmp(line, "# ", 2) == 0)
			continue;
		rows++;
		wrong += !row(line, number, wrong < WRONG_MAX);
	}
	fclose(f);
	printf("# %d of %d rows exact\n", rows - wrong, rows);
	fflush(stdout);
	ck_assert_int_gt(rows, 1000);
	ck_assert_int_eq(wrong, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("cases");
	TCase *tc = tcase_create("cases");

	tcase_add_test(tc, test_cases);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
