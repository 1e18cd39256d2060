/*
 * The small redactor: masks key shapes that are certain by their prefix, and
 * the values of properties named like secrets, in one line of text.
 */
#ifndef MYELIN_REDACT_H
#define MYELIN_REDACT_H

#include <stddef.h>

/* Masks in place (a match becomes "***" at its front, closed up).  Returns
 * the number of matches; text stays NUL-terminated. */
size_t	redact_line(char *text);

/* The length of a key of a known shape that starts at text, or 0. */
size_t	redact_key_at(const char *text, size_t left);

/* 1 if any key of a known shape is inside the value. */
int	redact_has_key(const char *value);

/*
 * 1 if a property or variable of this name holds a secret: by the words it is
 * made of ("API_KEY", "clientSecret", "x-auth-token"), whatever their case.
 */
int	redact_secret_name(const char *name, size_t nlen);

#endif
