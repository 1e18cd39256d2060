/*
 * Handlers of the routes of registered secrets: operators' alone.
 */
#include <jansson.h>
#include <string.h>

#include "json.h"
#include "policy.h"
#include "routes.h"
#include "value_hash.h"

/* A member that must be there, a string; NULL after answering. */
static const char *
member(struct conn *c, const json_t *j, const char *name)
{
	const char *s = json_string_value(json_object_get(j, name));

	if (s == NULL)
		conn_error(c, API_BAD_REQUEST, "%s: missing, or not a string",
		    name);
	return (s);
}

static void
add(struct conn *c, const json_t *j)
{
	const char *name, *value, *stray;
	json_t *v;
	size_t n;

	json_object_foreach((json_t *)(uintptr_t)j, stray, v)
		if (strcmp(stray, "name") != 0 &&
		    strcmp(stray, "value") != 0) {
			conn_error(c, API_BAD_REQUEST, "%.64s: there is no "
			    "such member here", stray);
			return;
		}
	if ((name = member(c, j, "name")) == NULL ||
	    (value = member(c, j, "value")) == NULL)
		return;
	n = json_string_length(json_object_get(j, "value"));
	/* policyd says the rest; what it can't be sent is refused here. */
	if (n > VALUE_MOST) {
		conn_error(c, API_BAD_REQUEST, "value: %zu bytes; the most "
		    "is %d", n, VALUE_MOST);
		return;
	}
	if (strlen(name) >= NAME_BYTES_MAX) {
		conn_error(c, API_BAD_REQUEST, "name: %zu bytes; the most is "
		    "%d", strlen(name), NAME_BYTES_MAX - 1);
		return;
	}
	policy_secret(c, SECRET_ADD, name, value, n);
}

void
route_secret_add(struct conn *c)
{
	struct http_bad bad;
	json_t *j;

	j = json_read(c->body, c->body_size, &bad);
	/* It is not to lie around until the next request. */
	explicit_bzero(c->body, c->body_size);
	if (j == NULL)
		conn_error(c, bad.code, "%s", bad.why);
	else
		add(c, j);
	json_decref(j);
}

void
route_secrets(struct conn *c)
{
	policy_query(c, QUERY_SECRETS, 0, 0, "", NULL, NULL);
}

void
route_secret_delete(struct conn *c)
{
	policy_secret(c, SECRET_DELETE, c->name, "", 0);
}
