/*
 * Handlers of routes that change how the service runs: operators' alone.
 */
#include <jansson.h>
#include <string.h>

#include "json.h"
#include "policy.h"
#include "routes.h"

#define DRAIN_WAIT	30000	/* ms, where the request says nothing */

/* timeout_ms of the body, the only member there is; -1 after answering. */
static int
read_timeout(struct conn *c, uint32_t *ms)
{
	struct http_bad bad;
	const char *name;
	json_t *j, *v;
	int ok = 0;

	*ms = DRAIN_WAIT;
	if (c->body_size == 0)
		return (0);
	if ((j = json_read(c->body, c->body_size, &bad)) == NULL) {
		conn_error(c, bad.code, "%s", bad.why);
		return (-1);
	}
	json_object_foreach(j, name, v) {
		if (strcmp(name, "timeout_ms") != 0) {
			conn_error(c, API_BAD_REQUEST, "%s: no such member "
			    "here", name);
			ok = -1;
			break;
		}
		if (!json_is_integer(v) || json_integer_value(v) < 0 ||
		    json_integer_value(v) > UINT32_MAX) {
			conn_error(c, API_BAD_REQUEST, "timeout_ms: not a "
			    "number of milliseconds");
			ok = -1;
			break;
		}
		*ms = (uint32_t)json_integer_value(v);
	}
	json_decref(j);
	return (ok);
}

/* What a body of prune's may say. */
static int
read_prune(struct conn *c, uint32_t *seconds, int *look)
{
	struct http_bad bad;
	const char *name;
	json_t *j, *v;
	int ok = 0;

	*seconds = (uint32_t)conns_limits()->v[LIMIT_TRANSCRIPTS];
	*look = 0;
	if (c->body_size == 0)
		return (0);
	if ((j = json_read(c->body, c->body_size, &bad)) == NULL) {
		conn_error(c, bad.code, "%s", bad.why);
		return (-1);
	}
	json_object_foreach(j, name, v) {
		if (strcmp(name, "dry_run") == 0 && json_is_boolean(v))
			*look = json_is_true(v);
		else if (strcmp(name, "older_than_s") == 0 &&
		    json_is_integer(v) && json_integer_value(v) >= 0 &&
		    json_integer_value(v) <= UINT32_MAX)
			*seconds = (uint32_t)json_integer_value(v);
		else {
			conn_error(c, API_BAD_REQUEST, "%.64s: no such member "
			    "here, or not of its type", name);
			ok = -1;
			break;
		}
	}
	json_decref(j);
	return (ok);
}

void
route_prune(struct conn *c)
{
	uint32_t seconds;
	int look;

	if (read_prune(c, &seconds, &look) == 0)
		policy_manage(c, look ? MANAGE_PRUNE_LOOK : MANAGE_PRUNE,
		    seconds);
}

/* {} or nothing; else -1 after answering. */
static int
no_members(struct conn *c)
{
	struct http_bad bad;
	json_t *j;
	size_t n;

	if (c->body_size == 0)
		return (0);
	if ((j = json_read(c->body, c->body_size, &bad)) == NULL) {
		conn_error(c, bad.code, "%s", bad.why);
		return (-1);
	}
	n = json_object_size(j);
	json_decref(j);
	if (n == 0)
		return (0);
	conn_error(c, API_BAD_REQUEST, "%s takes no members", c->route->path);
	return (-1);
}

void
route_backup(struct conn *c)
{
	if (no_members(c) == 0)
		policy_manage(c, MANAGE_BACKUP, 0);
}

void
route_log_level(struct conn *c)
{
	struct http_bad bad;
	const char *level;
	json_t *j;
	int verbose;

	if ((j = json_read(c->body, c->body_size, &bad)) == NULL) {
		conn_error(c, bad.code, "%s", bad.why);
		return;
	}
	level = json_string_value(json_object_get(j, "level"));
	verbose = level != NULL && strcmp(level, "verbose") == 0;
	if (json_object_size(j) != 1 || level == NULL ||
	    (!verbose && strcmp(level, "brief") != 0))
		conn_error(c, API_BAD_REQUEST, "level: neither \"verbose\" nor "
		    "\"brief\", or another member");
	else
		policy_manage(c, verbose ? MANAGE_LOG_VERBOSE :
		    MANAGE_LOG_BRIEF, 0);
	json_decref(j);
}

void
route_drain(struct conn *c)
{
	uint32_t ms;

	if (read_timeout(c, &ms) == 0)
		policy_manage(c, MANAGE_DRAIN, ms);
}

void
route_drain_end(struct conn *c)
{
	policy_manage(c, MANAGE_RESUME, 0);
}
