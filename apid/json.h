/*
 * JSON that somebody untrusted sent, and JSON that we answer.
 */
#ifndef APID_JSON_H
#define APID_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "http.h"

#define JSON_DEPTH_MAX	32	/* arrays and objects inside each other */
#define JSON_VALUES_MAX	65536	/* what 16 MiB could hold would take GBs */

/*
 * Reads one JSON object: no duplicate member anywhere, bounded in depth and
 * in the number of its values.  NULL after filling bad.
 */
json_t	*json_read(const char *, size_t, struct http_bad *);
/* The same of any value. */
json_t	*json_read_any(const char *, size_t, struct http_bad *);

/*
 * 1 if a text has no more levels and values than that; 0 if it has.  What is
 * not JSON is the parser's to say.
 */
int	json_within(const char *, size_t size, size_t levels, size_t values);

/*
 * One object that an apid wrote, maybe another one: bounded as what it was
 * made of, and quiet.  NULL if it is none.
 */
json_t	*json_read_kept(const char *, size_t);

/* Compact, with a NUL; NULL when memory is out (or text is not UTF-8). */
char	*json_text(const json_t *);

#endif
