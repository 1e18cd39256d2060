/*
 * A sentence that says what was wrong, where, and which limit it broke.
 */
#ifndef JUDGED_WHY_H
#define JUDGED_WHY_H

#include <stddef.h>

struct why {
	char	text[1024];
};

/* Sets the sentence; cut at the end of its room, never inside a character. */
void	why_set(struct why *, const char *fmt, ...)
	    __attribute__((__format__(__printf__, 2, 3)));
/* Appends to it. */
void	why_add(struct why *, const char *fmt, ...)
	    __attribute__((__format__(__printf__, 2, 3)));

/*
 * Copies a name that came from outside so that it can stand in a sentence:
 * quotes, backslashes and control characters escaped, at most 64 bytes of it.
 */
#define WHY_NAME_SIZE	272
const char *why_name(const char *name, size_t nlen, char buf[WHY_NAME_SIZE]);

#endif
