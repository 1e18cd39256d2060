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
 * JSON text of policyd's.  NULL if there is nothing to take out, else fresh
 * text of *n bytes.
 */
char	*clean_json(const char *, size_t, size_t *n);
/* In place, cut to fit; the text ends with a NUL. */
void	clean_words(char *text, size_t size);

#endif
