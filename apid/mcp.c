/*
 * POST /mcp: the order of the checks, and which method does what.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp_internal.h"
#include "policy.h"
#include "routes.h"

struct mcps mcps = TAILQ_HEAD_INITIALIZER(mcps);

static void	dressed_error(struct conn *, void *, enum api_error, unsigned,
		    const char *);
static void	dressed_end(void *);

static const struct conn_dress dress = {
	.error = dressed_error,
	.call = mcp_call_begun,
	.end = dressed_end
};

/* ---- one message ---- */

static void
dressed_end(void *arg)
{
	struct mcp *m = arg;

	mcp_leave(m);
	TAILQ_REMOVE(&mcps, m, entry);
	if (m->has_request)
		request_free(&m->request);
	json_decref(m->tool);
	json_decref(m->task);
	mcp_message_free(&m->message);
	free(m);
}

/*
 * What policyd or the connection refused.  Of a tool's call the model should
 * read it; of anything else it is the client's to know.
 */
static void
dressed_error(struct conn *c, void *arg, enum api_error e, unsigned retry,
    const char *why)
{
	struct mcp *m = arg;
	struct mcp_problem p;
	char seconds[16];

	if (m->has_request && e != API_INTERNAL && e != API_UNAUTHORIZED) {
		mcp_refused(m, e, retry, why);
		return;
	}
	if (retry > 0) {
		(void)snprintf(seconds, sizeof(seconds), "%u", retry);
		conn_header(c, "Retry-After", seconds);
	}
	(void)mcp_problem(&p, api_error_status(e), RPC_INTERNAL, "%s%s%s",
	    api_error_code(e), api_error_is_mute(e) ? "" : ": ",
	    api_error_is_mute(e) ? "" : why);
	mcp_fail(m, &p);
}

/* ---- methods ---- */

static void
do_ping(struct mcp *m)
{
	mcp_result(m, json_object());
}

static void
do_discover(struct mcp *m)
{
	json_t *result = json_object(), *versions = json_array();
	json_t *offered = mcp_capabilities();
	int i;

	for (i = 0; i < MCP_VERSIONS; i++)
		if (mcp_versions[i].era == MCP_MODERN)
			json_array_append_new(versions,
			    json_string(mcp_versions[i].name));
	json_object_set_new(result, "supportedVersions", versions);
	json_object_set_new(offered, "extensions", mcp_extensions());
	json_object_set_new(result, "capabilities", offered);
	json_object_set_new(result, "instructions",
	    json_string(mcp_instructions));
	json_object_set_new(result, "ttlMs", json_integer(60000));
	json_object_set_new(result, "cacheScope", json_string("private"));
	mcp_result(m, result);
}

#define IN_LEGACY	0x01
#define IN_MODERN	0x02
#define NO_SESSION	0x04	/* legacy: works without Mcp-Session-Id */

static const struct method {
	const char	*name;
	unsigned	 flags;
	void		(*fn)(struct mcp *);
} methods[] = {
	{ "initialize",		IN_LEGACY | NO_SESSION, mcp_initialize },
	{ "ping",		IN_LEGACY | NO_SESSION, do_ping },
	{ "server/discover",	IN_MODERN, do_discover },
	{ "tools/list",		IN_LEGACY | IN_MODERN, mcp_tools_list },
	{ "tools/call",		IN_LEGACY | IN_MODERN, mcp_tools_call },
	{ "tasks/get",		IN_MODERN, mcp_tasks_get },
	{ "tasks/cancel",	IN_MODERN, mcp_tasks_cancel },
	{ "tasks/update",	IN_MODERN, mcp_tasks_update }
};

static const struct method *
method_find(const struct mcp *m)
{
	unsigned flag = m->era == MCP_MODERN ? IN_MODERN : IN_LEGACY;
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if ((methods[i].flags & flag) != 0 &&
		    strcmp(methods[i].name, m->message.method) == 0)
			return (&methods[i]);
	return (NULL);
}

/* A notification, or an answer to nothing that we asked: heard. */
static void
hear(struct mcp *m)
{
	if (m->era == MCP_LEGACY && strcmp(m->message.method,
	    "notifications/cancelled") == 0)
		mcp_cancel(m);
	conn_empty(m->conn, 202);
}

static void
dispatch(struct mcp *m)
{
	const struct method *method = method_find(m);
	struct mcp_problem p;

	if (m->era == MCP_LEGACY && (method == NULL ||
	    method->fn != mcp_initialize) && mcp_session_read(m->conn,
	    &m->session, method != NULL && (method->flags & NO_SESSION) == 0,
	    &p) == -1) {
		mcp_fail(m, &p);
	} else if (m->message.kind != MCP_REQUEST) {
		hear(m);
	} else if (method == NULL) {
		(void)mcp_problem(&p, m->era == MCP_MODERN ? 404 : 200,
		    RPC_NO_METHOD, "Method not found: %.64s",
		    m->message.method);
		mcp_fail(m, &p);
	} else {
		method->fn(m);
	}
}

void
route_mcp_post(struct conn *c)
{
	struct mcp_problem p;
	struct mcp *m;

	if (c->head.type != HTTP_TYPE_JSON) {
		conn_error(c, API_MEDIA_TYPE,
		    "Content-Type: application/json is needed");
		return;
	}
	if ((m = calloc(1, sizeof(*m))) == NULL) {
		conn_error(c, API_INTERNAL, "memory for a message");
		return;
	}
	m->conn = c;
	TAILQ_INSERT_TAIL(&mcps, m, entry);
	conn_set_dress(c, &dress, m);
	if (mcp_read(&m->message, c->body, c->body_size, &p) == -1) {
		mcp_fail(m, &p);
		return;
	}
	m->era = mcp_era_of(&c->head, &m->message);
	if ((m->era == MCP_MODERN ? mcp_check_modern(&c->head, &m->message,
	    &p) : mcp_check_legacy(&c->head, &p)) == -1)
		mcp_fail(m, &p);
	else
		dispatch(m);
}

/* ---- the end of a session ---- */

static void
after_end(struct conn *c, int status, const char *json, size_t n, void *arg)
{
	struct mcp_problem p;
	struct seal s;

	(void)status;
	(void)json;
	(void)n;
	(void)arg;
	if (mcp_session_read(c, &s, 1, &p) == 0)
		mcp_session_over(s.name);
	conn_empty(c, 200);
}

void
route_mcp_delete(struct conn *c)
{
	struct mcp_problem p;
	struct seal s;

	if (mcp_names_modern(&c->head)) {
		conn_error(c, API_METHOD, "sessions ended with the protocol's "
		    "version 2025-11-25");
		return;
	}
	if (mcp_check_legacy(&c->head, &p) == -1 ||
	    mcp_session_read(c, &s, 1, &p) == -1)
		mcp_fail_conn(c, NULL, &p);
	else
		policy_end_named(c, s.name, after_end, NULL);
}

int
mcp_guard(struct conn *c)
{
	const char *wrong;

	/* There it was looked at already, whatever the path. */
	if ((listen_of(c)->flags & LISTEN_TCP) != 0)
		return (1);
	wrong = mcp_host_wrong(http_text(&c->head, TEXT_HOST),
	    http_text(&c->head, TEXT_ORIGIN));

	if (wrong != NULL)
		conn_error(c, API_FORBIDDEN, "%s", wrong);
	return (wrong == NULL);
}
