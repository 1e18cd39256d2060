/*
 * The route table.
 */
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "mcp.h"
#include "routes.h"
#include "without.h"

static const char *const page[] = { "cursor", "limit", NULL };
static const char *const neuron_page[] = {
	"name", "label", "cursor", "limit", NULL
};
static const char *const after_page[] = { "after", "limit", NULL };
static const char *const state_page[] = {
	"state", "cursor", "limit", NULL
};
static const char *const waiting[] = { "wait_ms", NULL };
static const char *const fetching[] = { "format", "timeout_ms", NULL };
static const char *const putting[] = {
	"expect", "parents", "timeout_ms", NULL
};
static const char *const feeding[] = { "eof", NULL };
static const char *const watching[] = { "after", "event", NULL };

static const struct route routes[] = {
	{ "GET", "/healthz", ON_BOTH, BODY_NONE, 1, NULL, route_health },
	{ "GET", "/openapi.json", ON_BOTH, BODY_NONE, 0, NULL, route_openapi },
	{ "GET", "/metrics", ON_OPERATOR, BODY_NONE, 0, NULL, route_metrics },
	{ "GET", "/v1/whoami", ON_BOTH, BODY_NONE, 0, NULL, route_whoami },
	{ "GET", "/v1/limits", ON_BOTH, BODY_NONE, 0, NULL, route_limits },
	{ "GET", "/v1/tools", ON_AGENT, BODY_NONE, 0, NULL, route_tools },
	{ "GET", "/v1/status", ON_OPERATOR, BODY_NONE, 0, NULL,
	    route_status },
	{ "GET", "/v1/audit", ON_OPERATOR, BODY_NONE, 0, after_page,
	    route_audit },
	{ "POST", "/v1/drain", ON_OPERATOR, BODY_EMPTY, 0, NULL,
	    route_drain },
	{ "DELETE", "/v1/drain", ON_OPERATOR, BODY_NONE, 0, NULL,
	    route_drain_end },
	{ "POST", "/v1/log", ON_OPERATOR, BODY_JSON, 0, NULL,
	    route_log_level },
	{ "POST", "/v1/backup", ON_OPERATOR, BODY_EMPTY, 0, NULL,
	    route_backup },
	{ "POST", "/v1/prune", ON_OPERATOR, BODY_EMPTY, 0, NULL,
	    route_prune },
	{ "GET", "/v1/secrets", ON_OPERATOR, BODY_NONE, 0, NULL,
	    route_secrets },
	{ "POST", "/v1/secrets", ON_OPERATOR, BODY_JSON, 0, NULL,
	    route_secret_add },
	{ "DELETE", "/v1/secrets/{name}", ON_OPERATOR, BODY_NONE, 0, NULL,
	    route_secret_delete },
	{ "GET", "/v1/approvals", ON_OPERATOR, BODY_NONE, 0, state_page,
	    route_approvals },
	{ "GET", "/v1/approvals/{a}", ON_OPERATOR, BODY_NONE, 0, NULL,
	    route_approval_get },
	{ "POST", "/v1/approvals/{a}", ON_OPERATOR, BODY_JSON, 0, NULL,
	    route_approval_decide },
	{ "DELETE", "/v1/approvals/{a}", ON_OPERATOR, BODY_NONE, 0, NULL,
	    route_approval_revoke },
	{ "GET", "/v1/keys", ON_OPERATOR, BODY_NONE, 0, NULL, route_keys },
	{ "POST", "/v1/keys", ON_OPERATOR, BODY_JSON, 0, NULL,
	    route_key_add },
	{ "DELETE", "/v1/keys/{k}", ON_OPERATOR, BODY_NONE, 0, NULL,
	    route_key_revoke },
	{ "POST", "/v1/keys/{k}/rotate", ON_OPERATOR, BODY_EMPTY, 0, NULL,
	    route_key_rotate },
	{ "GET", "/v1/neurons", ON_BOTH, BODY_NONE, 0, neuron_page,
	    route_neurons },
	{ "POST", "/v1/neurons", ON_AGENT, BODY_JSON, 0, NULL,
	    route_neuron_make },
	{ "GET", "/v1/neurons/{n}", ON_BOTH, BODY_NONE, 0, NULL,
	    route_neuron_get },
	{ "DELETE", "/v1/neurons/{n}", ON_BOTH, BODY_NONE, 0, NULL,
	    route_neuron_end },
	{ "GET", "/v1/neurons/{n}/files/{*}", ON_AGENT, BODY_NONE, 0,
	    fetching, route_file_get },
	{ "PUT", "/v1/neurons/{n}/files/{*}", ON_AGENT, BODY_ANY, 0,
	    putting, route_file_put },
	{ "GET", "/v1/sessions", ON_BOTH, BODY_NONE, 0, page,
	    route_sessions },
	{ "POST", "/v1/sessions", ON_AGENT, BODY_JSON, 0, NULL,
	    route_session_open },
	{ "GET", "/v1/sessions/{s}", ON_BOTH, BODY_NONE, 0, NULL,
	    route_session_get },
	{ "DELETE", "/v1/sessions/{s}", ON_BOTH, BODY_NONE, 0, NULL,
	    route_session_end },
	{ "GET", "/v1/sessions/{s}/events", ON_AGENT, BODY_NONE, 0, NULL,
	    route_session_events },
	{ "GET", "/v1/sessions/{s}/calls", ON_BOTH, BODY_NONE, 0, page,
	    route_session_calls },
	{ "GET", "/v1/sessions/{s}/transcript", ON_BOTH, BODY_NONE, 0,
	    after_page, route_session_transcript },
	{ "POST", "/v1/sessions/{s}/calls", ON_AGENT, BODY_JSON, 0, NULL,
	    route_call_session },
	{ "GET", "/v1/calls", ON_BOTH, BODY_NONE, 0, page, route_calls },
	{ "POST", "/v1/calls", ON_AGENT, BODY_JSON, 0, NULL,
	    route_call_once },
	{ "GET", "/v1/calls/{c}", ON_AGENT, BODY_NONE, 0, waiting,
	    route_call_get },
	{ "GET", "/v1/calls/{c}", ON_OPERATOR, BODY_NONE, 0, NULL,
	    route_call_look },
	{ "GET", "/v1/calls/{c}/events", ON_AGENT, BODY_NONE, 0, NULL,
	    route_call_events },
	{ "POST", "/v1/calls/{c}/cancel", ON_AGENT, BODY_EMPTY, 0, NULL,
	    route_call_cancel },
	{ "POST", "/v1/calls/{c}/stdin", ON_AGENT, BODY_RAW, 0, feeding,
	    route_call_stdin },
	{ "POST", "/v1/calls/{c}/signal", ON_AGENT, BODY_JSON, 0, NULL,
	    route_call_signal },
	{ "POST", "/v1/calls/{c}/resize", ON_AGENT, BODY_JSON, 0, NULL,
	    route_call_resize },
	{ "POST", "/mcp", ON_AGENT, BODY_ANY, 0, NULL, route_mcp_post },
	{ "DELETE", "/mcp", ON_AGENT, BODY_NONE, 0, NULL, route_mcp_delete },
	{ "GET", "/v1/events", ON_OPERATOR, BODY_NONE, 0, watching,
	    route_events }
};
#define NROUTES	(sizeof(routes) / sizeof(routes[0]))

/* What the path has where the pattern has an id, or "{name}". */
struct found {
	char	 id[ID_SIZE];
	char	 name[NAME_BYTES_MAX];
	const char	*rest;	/* what "{*}" stands for */
};

/* A name as the configuration has them; returns its length, or 0. */
static size_t
path_name(const char *path, size_t n, char name[NAME_BYTES_MAX])
{
	if (n >= NAME_BYTES_MAX || strspn(path,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_.-") < n)
		return (0);
	memcpy(name, path, n);
	name[n] = '\0';
	return (n);
}

/*
 * Matches a path segment by segment.  What stands where the pattern has an id
 * must be one in form, else no route matches: it is not found.
 */
static int
path_matches(const char *pattern, const char *path, struct found *f)
{
	static const char name[] = "{name}";
	size_t n;

	f->id[0] = f->name[0] = '\0';
	f->rest = "";
	while (*pattern != '\0') {
		if (*pattern != '{') {
			if (*pattern++ != *path++)
				return (0);
			continue;
		}
		if (pattern[1] == '*') {
			f->rest = path;
			return (1);
		}
		n = strcspn(path, "/");
		if (strncmp(pattern, name, sizeof(name) - 1) == 0) {
			if (path_name(path, n, f->name) == 0)
				return (0);
			path += n;
			pattern += sizeof(name) - 1;
			continue;
		}
		if (n >= ID_SIZE)
			return (0);
		memcpy(f->id, path, n);
		f->id[n] = '\0';
		if (!id_ok(pattern[1], f->id))
			return (0);
		path += n;
		pattern += 3;
	}
	return (*path == '\0');
}

static int
here(const struct route *r)
{
	return (WITHOUT(apid_planes) || (r->planes &
	    (conns_plane() == PLANE_AGENT ? ON_AGENT : ON_OPERATOR)) != 0);
}

const char *
route_allow(const struct conn *c)
{
	static char allow[64];
	struct found f;
	size_t i, n = 0;

	allow[0] = '\0';
	for (i = 0; i < NROUTES; i++)
		if (here(&routes[i]) &&
		    path_matches(routes[i].path, c->head.path, &f))
			n += (size_t)snprintf(allow + n, sizeof(allow) - n,
			    "%s%s", n > 0 ? ", " : "", routes[i].method);
	return (allow);
}

/* What the head says of the body, against what the route takes. */
static int
check_body(struct conn *c)
{
	const struct http_head *h = &c->head;
	uint64_t most = conns_limits()->v[LIMIT_BODY];

	if (c->route->body == BODY_EMPTY && h->length == 0)
		return (0);
	if (c->route->body == BODY_NONE) {
		if (h->length == 0)
			return (0);
		conn_error(c, API_BAD_REQUEST, "%s %s takes no body",
		    h->method, c->route->path);
		return (-1);
	}
	if (!h->has_length) {
		conn_error(c, API_LENGTH,
		    "a body with its Content-Length is needed");
		return (-1);
	}
	if (h->length > most) {
		conn_error(c, API_TOO_LARGE, "the body is over the limit "
		    "\"%s\", %llu bytes", limit_table[LIMIT_BODY].keyword,
		    (unsigned long long)most);
		return (-1);
	}
	if (c->route->body != BODY_RAW && c->route->body != BODY_ANY &&
	    h->type != HTTP_TYPE_JSON) {
		conn_error(c, API_BAD_REQUEST,
		    "Content-Type: application/json is needed");
		return (-1);
	}
	return (0);
}

int
route_find(struct conn *c)
{
	const struct route *r = NULL;
	const char *stray;
	struct found f;
	char name[64];
	int known = 0;
	size_t i;

	for (i = 0; i < NROUTES && r == NULL; i++) {
		if (!here(&routes[i]) ||
		    !path_matches(routes[i].path, c->head.path, &f))
			continue;
		known = 1;
		if (strcmp(routes[i].method, c->head.method) == 0)
			r = &routes[i];
	}
	c->route = r;
	if (known && strcmp(c->head.path, "/mcp") == 0 && !mcp_guard(c))
		return (-1);
	if (r == NULL) {
		/* Only now: what the path has no route for has no body. */
		if (known)
			conn_error(c, API_METHOD, "%s has no %s",
			    c->head.path, c->head.method);
		else
			conn_error(c, API_NOT_FOUND, "no such thing: %s",
			    c->head.path);
		return (-1);
	}
	memcpy(c->id, f.id, sizeof(c->id));
	memcpy(c->name, f.name, sizeof(c->name));
	c->rest = f.rest;
	stray = http_query_stray(&c->head, r->query, name, sizeof(name));
	if (stray != NULL) {
		conn_error(c, API_BAD_REQUEST, "the query's \"%s\" is unknown "
		    "here, or comes twice", stray);
		return (-1);
	}
	return (check_body(c));
}
