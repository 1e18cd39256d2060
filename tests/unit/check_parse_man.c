/* myelin.conf(5) documents every keyword, and no limit that is not there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "limit_text.h"
#include "unit.h"

static char *
page(void)
{
	char *text;
	size_t n;
	FILE *f;

	ck_assert_ptr_nonnull(f = fopen(MAN_PAGE, "re"));
	ck_assert_ptr_nonnull(text = calloc(1, 1024 * 1024));
	n = fread(text, 1, 1024 * 1024 - 1, f);
	ck_assert_uint_gt(n, 0);
	(void)fclose(f);
	return (text);
}

/* "Ic word" as a macro's whole argument. */
static int
documented(const char *text, const char *word)
{
	char macro[128];
	const char *p;
	size_t len;

	len = (size_t)snprintf(macro, sizeof(macro), "Ic %s", word);
	for (p = text; (p = strstr(p, macro)) != NULL; p += len) {
		if (p[len] == '\n' || p[len] == ' ')
			return (1);
	}
	return (0);
}

START_TEST(keywords)
{
	char *text = page();
	size_t i;

	for (i = 0; conf_keyword(i) != NULL; i++)
		ck_assert_msg(documented(text, conf_keyword(i)),
		    "keyword %s is not in the manual", conf_keyword(i));
	free(text);
}
END_TEST

/* Each limit stands with its default and range: ".It Ic memory Ta 1G Ta ..." */
START_TEST(limits)
{
	const struct limit_row *row;
	char line[256], initial[LIMIT_TEXT_MAX], min[LIMIT_TEXT_MAX];
	char max[LIMIT_TEXT_MAX], *text = page();
	size_t i;

	for (i = 0; i < LIMIT_COUNT; i++) {
		row = &limit_table[i];
		(void)snprintf(line, sizeof(line),
		    ".It Ic %s Ta %s Ta %s to %s Ta\n", row->keyword,
		    limit_text(row->unit, row->initial, initial),
		    limit_text(row->unit, row->min, min),
		    limit_text(row->unit, row->max, max));
		ck_assert_msg(strstr(text, line) != NULL,
		    "the manual lacks %s", line);
	}
	free(text);
}
END_TEST

/* What the manual calls a keyword is one. */
START_TEST(no_more)
{
	char *text = page(), *line, *save = NULL, word[64];
	size_t i;

	for (line = strtok_r(text, "\n", &save); line != NULL;
	    line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, ".It Ic %63s", word) != 1)
			continue;
		if (limit_find(word) != -1)
			continue;
		for (i = 0; conf_keyword(i) != NULL; i++) {
			if (strcmp(conf_keyword(i), word) == 0)
				break;
		}
		ck_assert_msg(conf_keyword(i) != NULL,
		    "the manual has %s, the grammar has not", word);
	}
	free(text);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("parse_man");
	TCase *t = tcase_create("manual");

	tcase_add_test(t, keywords);
	tcase_add_test(t, limits);
	tcase_add_test(t, no_more);
	suite_add_tcase(s, t);
	return (unit_main(s));
}
