/*
 * Lines on a terminal.
 */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "approval.h"
#include "ctl.h"
#include "screen.h"
#include "tty.h"

#define SIDE_MOST	1000	/* rows, columns */

void
screen_init(struct screen *s)
{
	memset(s, 0, sizeof(*s));
	sink_init(&s->out, STDOUT_FILENO);
	s->stale = 1;
}

static void
forget(struct screen *s)
{
	size_t i;

	for (i = 0; i < s->rows; i++) {
		free(s->now[i]);
		free(s->before[i]);
	}
	free(s->now);
	free(s->before);
	s->now = s->before = NULL;
}

void
screen_free(struct screen *s)
{
	forget(s);
	s->rows = 0;
	sink_free(&s->out);
}

static unsigned short
side(unsigned short have, unsigned short unsaid)
{
	return (have == 0 ? unsaid : have > SIDE_MOST ? SIDE_MOST : have);
}

int
screen_measure(struct screen *s)
{
	unsigned short rows, cols;

	tty_size(&rows, &cols);
	rows = side(rows, 24);
	cols = side(cols, 80);
	if (rows == s->rows && cols == s->cols)
		return (0);
	forget(s);
	s->rows = rows;
	s->cols = cols;
	s->now = calloc(rows, sizeof(*s->now));
	s->before = calloc(rows, sizeof(*s->before));
	if (s->now == NULL || s->before == NULL)
		err(EXIT_FAILED, NULL);
	s->stale = 1;
	return (1);
}

void
screen_begin(struct screen *s)
{
	size_t i;

	for (i = 0; i < s->rows; i++) {
		free(s->now[i]);
		s->now[i] = NULL;
	}
}

void
screen_line(struct screen *s, size_t row, const char *fmt, ...)
{
	va_list ap;
	char *text;
	size_t fit;
	int n;

	if (row >= s->rows)
		return;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n == -1)
		err(EXIT_FAILED, NULL);
	/* One character fits always, and a wide one may not. */
	fit = lines_fit(text, s->cols);
	text[fit] = '\0';
	free(s->now[row]);
	s->now[row] = text;
}

static const char *
text_of(const char *line)
{
	return (line != NULL ? line : "");
}

int
screen_show(struct screen *s)
{
	char *all = NULL;
	size_t len = 0, i;
	FILE *f;
	int ok;

	/* A terminal that is slow, or held by ^S, gets the next one. */
	if (sink_pending(&s->out))
		return (sink_flush(&s->out) == -1 ? -1 : 0);
	if ((f = open_memstream(&all, &len)) == NULL)
		err(EXIT_FAILED, NULL);
	if (s->stale)
		fputs("\033[H\033[2J", f);
	for (i = 0; i < s->rows; i++) {
		if (s->stale ? text_of(s->now[i])[0] == '\0' :
		    strcmp(text_of(s->now[i]), text_of(s->before[i])) == 0)
			continue;
		fprintf(f, "\033[%zu;1H\033[K%s", i + 1, text_of(s->now[i]));
	}
	if (fclose(f) == EOF)
		err(EXIT_FAILED, NULL);
	s->stale = 0;
	for (i = 0; i < s->rows; i++) {
		free(s->before[i]);
		s->before[i] = s->now[i];
		s->now[i] = NULL;
	}
	ok = len == 0 ? 0 : sink_put(&s->out, all, len);
	free(all);
	return (ok);
}
