/*
 * A call's arguments as a person may read them later: secrets masked, long
 * texts cut.
 */
#ifndef APID_SHOWN_H
#define APID_SHOWN_H

#include <jansson.h>

#define SHOWN_TEXT	(32 * 1024)	/* bytes of one string */
#define SHOWN_MAX	(256 * 1024)	/* bytes of all of it, as JSON */

/*
 * The argument object {args, cwd, env} as compact JSON on one line; "null"
 * where it would still be over SHOWN_MAX.  The object is changed.  NULL when
 * memory is out.
 */
char	*shown_arguments(json_t *);

#endif
