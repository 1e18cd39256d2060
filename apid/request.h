/*
 * The JSON bodies of requests, decoded: every member is known, of its type
 * and within its bound, or the request is refused by the member's name.
 */
#ifndef APID_REQUEST_H
#define APID_REQUEST_H

#include <jansson.h>
#include <stdint.h>

#include "http.h"
#include "ids.h"
#include "limits.h"
#include "protocol.h"

#define OWNER_PEER_ID	UINT32_MAX	/* no owner named: the peer's own */

struct request {
	char		 tool[NAME_BYTES_MAX];
	char		 profile[NAME_BYTES_MAX];	/* "": the default */
	char		 preset[NAME_BYTES_MAX];
	char		 workspace[PATH_BYTES_MAX];
	uint32_t	 owner_uid;
	uint32_t	 owner_gid;
	int		 read_only;	/* the workspace is to be */
	char		*rules;		/* the session's own, JSON; or NULL */
	char		 neuron[ID_SIZE];	/* a persistent one, or "" */
	char		 name[NAME_BYTES_MAX];	/* of one that is made, or "" */
	char		*labels;	/* its labels' text, or NULL */
	uint32_t	 idle;		/* s; 0: the default */
	uint32_t	 expires;	/* s; 0: the default */
	uint32_t	 timeout_ms;	/* 0: the default, or TIMEOUT_MOST */
	uint32_t	 wait_ms;
	int		 block;		/* flow "block" */
	int		 with_asker;	/* the call ends when its asker leaves */
	int		 asks_with_asker; /* waits for a person only while its
					   * asker is there */
	int		 strip;		/* terminal noise out of the output */
	int		 input;		/* STDIN_* */
	int		 pty;		/* it is to have a terminal */
	int		 dry_run;	/* its verdict alone */
	char		 key[IDEMPOTENCY_MAX + 1];	/* "" for none */
	uint8_t		*text;		/* STDIN_INLINE */
	size_t		 text_size;
	char		*arguments;	/* the argument bytes */
	size_t		 arguments_size;
	char		*shown;		/* of them, for the transcript */
};

/* Which body: the members that it may have. */
#define REQUEST_SESSION	0x01	/* POST /v1/sessions */
#define REQUEST_CALL	0x02	/* POST /v1/sessions/{s}/calls */
#define REQUEST_ONCE	0x04	/* POST /v1/calls */
#define REQUEST_NEURON	0x08	/* POST /v1/neurons */

/*
 * Decodes a body.  Returns 0, or -1 after filling bad; free with request_free
 * in either case.
 */
int	request_read(struct request *, unsigned which, const char *body,
	    size_t size, const struct limits *, struct http_bad *);
/* The same of a body that was read already: a JSON object. */
int	request_take(struct request *, unsigned which, json_t *body,
	    const struct limits *, struct http_bad *);
void	request_free(struct request *);

/* {"signal": "INT"} and {"rows": 24, "cols": 80}: the number of each, or -1
 * after filling bad. */
int	request_signal(const char *body, size_t size, uint32_t *signal,
	    struct http_bad *);
int	request_resize(const char *body, size_t size, uint32_t *pty_size,
	    struct http_bad *);

#endif
