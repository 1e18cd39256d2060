/*
 * The argument bytes of a call: {"args": {...}, "cwd": "...", "env": {...},
 * "pty": {...}}.
 * The one place where bytes that an agent wrote are read as JSON.
 */
#ifndef JUDGED_ARGUMENTS_H
#define JUDGED_ARGUMENTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "why.h"

#define ARGUMENTS_DEPTH_MAX	32	/* of nested arrays and objects */

struct arguments {
	json_t		*root;
	const json_t	*args;		/* an object */
	const char	*cwd;		/* "" if none was given */
	char		**env;		/* "NAME=VALUE", NULL-terminated */
	uint32_t	 nenv;
	uint32_t	 pty;		/* PTY_SIZE; 0: no terminal */
};

/*
 * Reads them: at most max bytes, no duplicate member, no NUL in a string, no
 * member but the four, a working directory that leads nowhere sly, and an
 * environment by guarantee C1.  0, or -1 and why not; free in both cases.
 */
int	arguments_parse(struct arguments *, const uint8_t *, size_t size,
	    size_t max, struct why *);
void	arguments_free(struct arguments *);

/*
 * JSON from outside this process, bounded: for declarations as well.  On
 * failure why begins with what, and *line is the line or 0.
 */
json_t	*json_parse(const char *what, const uint8_t *, size_t size,
	    size_t max, int *line, struct why *);

#endif
