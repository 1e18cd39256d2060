/*
 * Requests to Myelin and what its refusals mean.
 */
#ifndef MYELINCTL_API_H
#define MYELINCTL_API_H

#include <jansson.h>

#include "ctl.h"
#include "http.h"

enum plane { AGENT, OPERATOR };

/* The socket a command speaks to: -s, the environment, the default. */
const char *api_socket(const struct options *, enum plane);

/* A body that is collected, at most as large as the largest answer. */
struct api_body {
	char	*p;
	size_t	 len;
	size_t	 room;
};
http_body_fn api_collect;		/* arg: struct api_body */

/*
 * One request and its whole answer.  body is taken over and may be NULL.
 * Returns the answer's JSON if its status was below 300, else NULL after
 * saying what was refused and what may help.
 */
json_t	*api_call(const struct options *, enum plane, const char *method,
	    const char *target, json_t *body);

/* A GET whose answer is text: 0 and the body, to be freed, or -1. */
int	api_text(const struct options *, enum plane, const char *target,
	    struct api_body *);

/* DELETE of a target: the exit status; prints the answer with --json. */
int	api_delete(const struct options *, enum plane, const char *target);

/*
 * As api_call(), but a refusal is the caller's: returns the JSON of any answer,
 * *r has its status; NULL after a complaint where there was none.
 */
json_t	*api_ask(const struct options *, enum plane, const char *method,
	    const char *target, json_t *body, struct http_response *r);

/* A GET without a word about what failed, within so many ms: JSON, or NULL. */
json_t	*api_quiet(const char *socket, const char *target, int ms);

/* Says what a refusal means; json may be NULL. */
void	api_complain(const struct http_response *, const json_t *json);

/*
 * A list (target may have a query), by pages, at most most rows:
 * {"key": [...], "next": ...}.
 */
json_t	*api_list(const struct options *, enum plane, const char *target,
	    const char *key, size_t most);

/*
 * The "next" of a page as "&cursor=..." behind the next one's target.  It is
 * an opaque string or a number, and goes back as it came.  1, or 0: no more.
 */
int	api_cursor(char *buf, size_t size, const json_t *next);

/* The text of a call's or session's request that -w, -C, -e, -p, --preset
 * and --timeout ask for: 0, or -1 after a complaint. */
int	api_put_place(const struct options *, json_t *body);
int	api_put_call(const struct options *, json_t *body);

#endif
