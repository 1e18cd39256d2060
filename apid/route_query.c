/*
 * Handlers of routes that policyd answers.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>
#include <string.h>

#include "policy.h"
#include "routes.h"
#include "tools.h"
#include "transcript.h"
#include "without.h"

#define PAGE_DEFAULT	100
#define PAGE_MAX	500

void
route_health(struct conn *c)
{
	char text[100];
	int up = policy_up(), n;

	/* It needs no identity, so it is answered without one. */
	if (up && c->peer == PEER_KNOWN) {
		policy_query(c, QUERY_HEALTH, 0, 0, "", NULL, NULL);
		return;
	}
	if (up)
		n = snprintf(text, sizeof(text),
		    "{\"status\":\"ok\",\"version\":\"%s\"}",
		    PACKAGE_VERSION WITHOUT_VERSION);
	else
		n = snprintf(text, sizeof(text),
		    "{\"status\":\"unavailable\"}");
	conn_json(c, up ? 200 : 503, text, (size_t)n);
}

void
route_whoami(struct conn *c)
{
	policy_query(c, QUERY_WHOAMI, 0, 0, "", NULL, NULL);
}

void
route_limits(struct conn *c)
{
	policy_query(c, QUERY_LIMITS, 0, 0, "", NULL, NULL);
}

void
route_status(struct conn *c)
{
	policy_query(c, QUERY_STATUS, 0, 0, "", NULL, NULL);
}

/* Text, which Prometheus reads. */
static void
answer_metrics(struct conn *c, int status, const char *text, size_t n,
    void *arg)
{
	(void)arg;
	conn_begin(c, status, "text/plain; version=0.0.4; charset=utf-8",
	    (int64_t)n);
	evbuffer_add(conn_output(c), text, n);
	conn_end(c);
}

void
route_metrics(struct conn *c)
{
	policy_query(c, QUERY_METRICS, 0, 0, "", answer_metrics, NULL);
}

static void
merge_tools(struct conn *c, int status, const char *json, size_t n, void *arg)
{
	size_t size;
	char *text;

	(void)arg;
	if ((text = tools_merge(json, n, &size)) == NULL) {
		conn_error(c, API_INTERNAL, "policyd's list of tools");
		return;
	}
	conn_json(c, status, text, size);
	tools_free_text(text);
}

void
route_tools(struct conn *c)
{
	policy_query(c, QUERY_TOOLS, 0, 0, "", merge_tools, NULL);
}

/* ---- lists ---- */

static void
query_page(struct conn *c, enum query_what what, const char *cursor_name,
    const char *id, policy_fn *fn)
{
	uint64_t cursor = 0, most = PAGE_DEFAULT;

	if (http_query_number(&c->head, cursor_name, &cursor) == -1)
		conn_error(c, API_BAD_REQUEST, "%s: not a number",
		    cursor_name);
	else if (http_query_number(&c->head, "limit", &most) == -1 ||
	    most < 1 || most > PAGE_MAX)
		conn_error(c, API_BAD_REQUEST,
		    "limit: not a number from 1 to %d", PAGE_MAX);
	else
		policy_query(c, what, cursor, (uint32_t)most, id, fn, NULL);
}

void
route_audit(struct conn *c)
{
	query_page(c, QUERY_AUDIT, "after", "", NULL);
}

void
route_sessions(struct conn *c)
{
	query_page(c, QUERY_SESSIONS, "cursor", "", NULL);
}

void
route_calls(struct conn *c)
{
	query_page(c, QUERY_CALLS, "cursor", "", NULL);
}

void
route_session_calls(struct conn *c)
{
	query_page(c, QUERY_CALLS, "cursor", c->id, NULL);
}

static void
merge_session(struct conn *c, int status, const char *json, size_t n,
    void *arg)
{
	(void)arg;
	transcript_answer(c, status, json, n, c);
}

void
route_session_transcript(struct conn *c)
{
	query_page(c, QUERY_TRANSCRIPT, "after", c->id, merge_session);
}

/* ---- single ones ---- */

void
route_session_get(struct conn *c)
{
	policy_query(c, QUERY_SESSION, 0, 0, c->id, NULL, NULL);
}

/* An operator's apid has no calls of its own. */
void
route_call_look(struct conn *c)
{
	policy_query(c, QUERY_CALL, 0, 0, c->id, transcript_answer, NULL);
}
