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

/*
 * The same for somebody who is to decide on the text: also what can't be seen,
 * what stands over another character, and what this locale's terminal can't
 * show.  Of what is left every character takes one column or two.
 */
char	*words_plain(const char *, size_t);

/*
 * Columns that a terminal gives to a text, at most: what is not ASCII counts
 * two, since not every terminal agrees which has one.
 */
size_t	words_columns(const char *);

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
