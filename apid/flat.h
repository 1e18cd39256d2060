/*
 * JSON that is plain: compact, ASCII, without escapes.  What a string in it
 * holds is what stands there, so it is read where it lies; of any other, the
 * answer is that it is not plain.
 */
#ifndef APID_FLAT_H
#define APID_FLAT_H

#include <stddef.h>

/* Levels of objects and arrays. */
#define FLAT_DEPTH	16

/* Whether it is an object, whole and plain. */
int	flat_ok(const char *json, size_t n);

/*
 * The value of a member of a plain object: where it begins, and its bytes; or
 * NULL.  The first one counts.
 */
const char *flat_member(const char *json, size_t n, const char *name,
	    size_t *size);

/* The same of a string, into dst, cut to fit; "" for anything else. */
void	flat_string(const char *json, size_t n, const char *name, char *dst,
	    size_t size);

#endif
