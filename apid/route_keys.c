/*
 * Handlers of the routes of API keys: operators' alone.
 */
#include <jansson.h>
#include <string.h>

#include "json.h"
#include "policy.h"
#include "routes.h"

/*
 * A body with a number of seconds and, where name is not NULL, a name that
 * must be there (NAME_BYTES_MAX).  -1 after answering.
 */
static int
read_body(struct conn *c, const char *seconds_name, uint32_t *seconds,
    char *name)
{
	const char *member, *text;
	struct http_bad bad;
	json_t *j, *v;
	int ok = 0;

	*seconds = 0;
	if (c->body_size == 0 && name == NULL)
		return (0);
	if ((j = json_read(c->body, c->body_size, &bad)) == NULL) {
		conn_error(c, bad.code, "%s", bad.why);
		return (-1);
	}
	json_object_foreach(j, member, v) {
		if (name != NULL && strcmp(member, "name") == 0)
			continue;
		if (strcmp(member, seconds_name) == 0 && (json_is_null(v) ||
		    (json_is_integer(v) && json_integer_value(v) > 0 &&
		    json_integer_value(v) <= UINT32_MAX))) {
			*seconds = (uint32_t)json_integer_value(v);
			continue;
		}
		conn_error(c, API_BAD_REQUEST, "%.64s: no such member here, or "
		    "not of its type", member);
		ok = -1;
		break;
	}
	if (ok == 0 && name != NULL) {
		text = json_string_value(json_object_get(j, "name"));
		if (text == NULL || strlcpy(name, text, NAME_BYTES_MAX) >=
		    NAME_BYTES_MAX) {
			conn_error(c, API_BAD_REQUEST, "name: missing, not a "
			    "string, or over %d bytes", NAME_BYTES_MAX - 1);
			ok = -1;
		}
	}
	json_decref(j);
	return (ok);
}

void
route_keys(struct conn *c)
{
	policy_query(c, QUERY_KEYS, 0, 0, "", NULL, NULL);
}

void
route_key_add(struct conn *c)
{
	char name[NAME_BYTES_MAX];
	uint32_t seconds;

	if (read_body(c, "expires_s", &seconds, name) == 0)
		policy_key(c, KEY_ADD, seconds, name);
}

void
route_key_revoke(struct conn *c)
{
	policy_key(c, KEY_REVOKE, 0, c->id);
}

void
route_key_rotate(struct conn *c)
{
	uint32_t seconds;

	if (read_body(c, "overlap_s", &seconds, NULL) == 0)
		policy_key(c, KEY_ROTATE, seconds, c->id);
}
