/*
 * Text that is not a program's output, but may hold what a program or a
 * request said: records, reasons, error words.  The same scanner, all at once.
 */
#ifndef APID_CLEAN_H
#define APID_CLEAN_H

#include <jansson.h>
#include <stddef.h>

/* Secrets in the strings inside are replaced, in place. */
void	clean_values(json_t *);
/*
 * Whether JSON text is as clean as its values would be by clean_values: all of
 * it is looked at once, so where it has escapes, what they stand for is not
 * known and the answer is 0.  Its names must be our own.
 */
int	clean_is(const char *, size_t);
/*
 * JSON text of policyd's.  NULL if there is nothing to take out, else fresh
 * text of *n bytes.
 */
char	*clean_json(const char *, size_t, size_t *n);
/* In place, cut to fit; the text ends with a NUL. */
void	clean_words(char *text, size_t size);

#endif
