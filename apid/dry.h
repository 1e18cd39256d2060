/*
 * Dry runs: the answer, of policyd's words and judged's explanation.
 */
#ifndef APID_DRY_H
#define APID_DRY_H

#include <stddef.h>

/*
 * policyd's JSON with "explanation" added: what the sealed memfd holds, or
 * null for none (fd -1) or one that can't be read.  Fresh text, or NULL where
 * policyd's is no object.
 */
char	*dry_answer(const char *json, size_t n, int fd);

#endif
