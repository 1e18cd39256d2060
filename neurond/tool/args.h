/*
 * A body's arguments.  judged has checked them against the declaration's
 * schema; these check again what a body relies on, since what they got wrong
 * there must not become a fault here.
 *
 * Each returns 0, or -1 after tool_fail(TOOL_BAD_ARGUMENT).
 */
#ifndef MYELIN_TOOL_ARGS_H
#define MYELIN_TOOL_ARGS_H

#include <stddef.h>
#include <stdint.h>
#include <jansson.h>

struct tool;

/* 1 if the member is there. */
int	arg_has(const struct tool *, const char *name);

/* A whole number of min to max; initial if it isn't there. */
int	arg_int(struct tool *, const char *name, int64_t initial, int64_t min,
	    int64_t max, int64_t *value);
int	arg_bool(struct tool *, const char *name, int *value);

/*
 * A string, which may hold NULs; it lives as long as the arguments.  NULL and
 * length 0 if it isn't there (an error if required).
 */
int	arg_str(struct tool *, const char *name, int required,
	    const char **value, size_t *len);

/* The same of any object, for members of arrays. */
int	arg_str_of(struct tool *, const json_t *object, const char *name,
	    int required, const char **value, size_t *len);
int	arg_bool_of(struct tool *, const json_t *object, const char *name,
	    int *value);

/*
 * Bytes: the member name, or NAME_base64 decoded; both is an error.  *value is
 * NULL if neither is there.  *freed is what to free(3), or NULL.
 */
int	arg_bytes(struct tool *, const char *name, const char **value,
	    size_t *len, char **freed);

#endif
