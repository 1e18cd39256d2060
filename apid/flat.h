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

/*
 * All at once, of an object that may not be plain: 0 with the value of each
 * name (p NULL: it is not there), or -1 if it is not.  The first one counts.
 */
struct flat_value {
	const char	*p;
	size_t		 n;
};
int	flat_read(const char *json, size_t n, const char *const *names,
	    struct flat_value *, size_t count);

/* The same of a string, into dst, cut to fit; "" for anything else. */
void	flat_string(const char *json, size_t n, const char *name, char *dst,
	    size_t size);

#endif
