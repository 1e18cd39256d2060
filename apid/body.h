/*
 * The result of a tool whose body is neuron-tool's: what it writes to stderr
 * is one JSON object, which goes into the call's record instead of its output.
 */
#ifndef APID_BODY_H
#define APID_BODY_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define BODY_RESULT_MAX		(8 * 1024 * 1024)	/* bytes of JSON */
#define BODY_VALUES_MAX		262144	/* of its values: some 60 bytes each */
#define BODY_MESSAGE_MAX	4096	/* bytes of an error's message */

struct body {
	uint8_t		*text;
	size_t		 size;
	size_t		 room;
	uint64_t	 total;		/* bytes that came */
	int		 no_room;
	json_t		*result;	/* once they ended; or NULL */
	char		 why[200];	/* why there is none */
};

struct body *body_new(void);
void	body_free(struct body *);	/* NULL is nothing */
/*
 * Reads once from the pipe.  1 if there may be more, 0 if not now, -1 at the
 * end.  What is over the bound is counted and dropped.
 */
int	body_read(struct body *, int fd);
/* There is no room for it: what came is dropped, and what will come. */
void	body_drop(struct body *);
/*
 * There is no more: result or why is set.  Returns the words for stderr, to
 * be freed: the message of the result's error and a newline; or NULL.
 */
char	*body_end(struct body *, size_t *size);
/* Puts it into the record of a call. */
void	body_seal(struct body *, json_t *record);

#endif
