/*
 * Words for a person: text made safe for a terminal, tables, times.
 */
#ifndef MYELINCTL_WORDS_H
#define MYELINCTL_WORDS_H

#include <jansson.h>
#include <stdio.h>

/*
 * Prints text so that it can't drive a terminal: control characters, also
 * those of 8 bits, marks that turn the direction of writing, and bytes that
 * are not UTF-8 are shown as escapes.
 */
void	words_put(FILE *, const char *, size_t);

/* The same into fresh memory; never NULL. */
char	*words_escape(const char *, size_t);

struct column {
	const char	*title;
	const char	*path;		/* "calls.used": a member of a member */
	int		 right;		/* numbers stand to the right */
};

/* A list of objects as a table, or a sentence if there are none. */
void	words_table(const json_t *rows, const struct column *, size_t,
	    const char *none);

/* "  title   value" lines of one object. */
void	words_lines(const json_t *object, const struct column *, size_t);

/* A value as it stands in a cell; fresh memory, never NULL. */
char	*words_value(const json_t *);

/* JSON on standard output; escaped and indented where a person reads it. */
void	words_json(const json_t *);

#endif
