/*
 * Patterns of the shell, by length.
 */
#ifndef SHELL_PATTERN_H
#define SHELL_PATTERN_H

#include <stddef.h>

#include "shell/shell.h"

/* 1 if all of the text matches; a class ([:alpha:]) is taken for any. */
int	pattern_match(const char *pattern, size_t, const char *text, size_t);
/* 1 if a character in it is special to patterns. */
int	pattern_is(const char *, size_t);

#endif
