/*
 * The extension io.modelcontextprotocol/tasks of the modern era, for calls
 * that wait for a person: a client that says that it knows tasks is given one
 * where another would be told to come back (mcp_held.c).
 *
 * A task is its call and is named by the call's id, so that it is its
 * principal's alone and lasts as long as the call is known here.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "call.h"
#include "mcp_internal.h"
#include "policy.h"
#include "tools.h"

#define EXTENSION	"io.modelcontextprotocol/tasks"
#define CAPABILITIES	"io.modelcontextprotocol/clientCapabilities"
#define POLL_MS		5000
#define DATE_SIZE	40

int
mcp_knows_tasks(const struct mcp *m)
{
	const json_t *said = json_object_get(m->message.meta, CAPABILITIES);

	return (m->era == MCP_MODERN && json_is_object(json_object_get(
	    json_object_get(said, "extensions"), EXTENSION)));
}

json_t *
mcp_extensions(void)
{
	json_t *j = json_object();

	json_object_set_new(j, EXTENSION, json_object());
	return (j);
}

/* ---- a task ---- */

/* A time of call_now() as a date. */
static json_t *
date(int64_t at)
{
	char text[DATE_SIZE];
	struct timespec ts;
	struct tm tm;
	int64_t ms;
	time_t t;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &ts);
	ms = (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000 -
	    (call_now() - at);
	t = (time_t)(ms / 1000);
	if (gmtime_r(&t, &tm) == NULL ||
	    (n = strftime(text, sizeof(text) - 8, "%Y-%m-%dT%H:%M:%S",
	    &tm)) == 0)
		return (json_string("1970-01-01T00:00:00Z"));
	(void)snprintf(text + n, 8, ".%03uZ", (unsigned)(ms % 1000));
	return (json_string(text));
}

static const char *
status(const struct call *call)
{
	if (call->state != CALL_FINISHED)
		return ("working");
	return (strcmp(call->final, "cancelled") == 0 ? "cancelled" :
	    "completed");
}

/* ms from its beginning until it may be forgotten. */
static int64_t
life(const struct call *call)
{
	int64_t kept = (int64_t)conns_limits()->v[LIMIT_RESULT_KEPT] * 1000;
	int64_t end = call_now();

	if (call->state == CALL_FINISHED)
		end = call->since;
	else if (call->state == CALL_AWAITING && call->asked_until > end)
		end = call->asked_until;
	return (end - call->held->since + kept);
}

json_t *
mcp_task(const struct call *call)
{
	json_t *j = json_object();
	char words[64 + ID_SIZE];

	if (call->state == CALL_AWAITING)
		(void)snprintf(words, sizeof(words), "waiting for approval "
		    "%s", call->approval);
	else
		(void)snprintf(words, sizeof(words), "%s",
		    call_state_name(call));
	json_object_set_new(j, "taskId", json_string(call->id));
	json_object_set_new(j, "status", json_string(status(call)));
	json_object_set_new(j, "statusMessage", json_string(words));
	json_object_set_new(j, "createdAt", date(call->held->since));
	json_object_set_new(j, "lastUpdatedAt", date(call->state ==
	    CALL_FINISHED ? call->since : call->held->since));
	json_object_set_new(j, "ttlMs", json_integer(life(call)));
	json_object_set_new(j, "pollIntervalMs", json_integer(POLL_MS));
	return (j);
}

/* ---- methods ---- */

/* The task that is meant; NULL after answering. */
static struct call *
find(struct mcp *m)
{
	const json_t *v = json_object_get(m->message.params, "taskId");
	const char *id = json_string_value(v);
	struct call *call = NULL;
	struct mcp_problem p;
	json_t *needed;

	if (!mcp_knows_tasks(m)) {
		(void)mcp_problem(&p, 400, RPC_CAPABILITY, "Missing required "
		    "client capability: the extension " EXTENSION);
		needed = json_object();
		json_object_set_new(needed, "extensions", mcp_extensions());
		p.data = json_object();
		json_object_set_new(p.data, "requiredCapabilities", needed);
		mcp_fail(m, &p);
		return (NULL);
	}
	if (id != NULL && strlen(id) == json_string_length(v))
		call = call_of(m->conn, id);
	if (call == NULL || call->held == NULL || !call->held->task) {
		(void)mcp_problem(&p, 200, RPC_BAD_PARAMS, "Invalid params: "
		    "taskId is no task of yours that is known here");
		mcp_fail(m, &p);
		return (NULL);
	}
	return (call);
}

void
mcp_tasks_get(struct mcp *m)
{
	struct call *call = find(m);

	if (call == NULL)
		return;
	if (strcmp(status(call), "completed") != 0) {
		mcp_result(m, mcp_task(call));
		return;
	}
	/* A reload may have taken it away; then its result has no schema. */
	m->tool = json_incref(tools_find(call->tool));
	m->task = mcp_task(call);
	mcp_call_result(m, call);
}

/* One that is over stays as it is. */
void
mcp_tasks_cancel(struct mcp *m)
{
	struct call *call = find(m);

	if (call == NULL)
		return;
	if (call->state < CALL_ENDED)
		policy_stop(m->conn->handle, STOP_CANCELLED, call->id);
	mcp_result(m, json_object());
}

/* No task of ours asks its client for anything: heard, and that is all. */
void
mcp_tasks_update(struct mcp *m)
{
	if (find(m) != NULL)
		mcp_result(m, json_object());
}
