/*
 * tools/call while a person is asked for longer than its client would wait.
 *
 * The request is answered, and the call is held: it waits on until it is
 * decided or its approval expires, runs if it is allowed, and what came of it
 * is given, once, to whoever comes back for it and can show that it is theirs:
 * in the modern era by the state that the answer gave, good for one request
 * alone, or as a task (mcp_tasks.c); in the handshake era by asking for the
 * same in the same session.
 * Nothing that a client sends decides anything.
 */
#include <sys/types.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "log.h"
#include "mcp_internal.h"
#include "without.h"

/* Oldest first. */
static TAILQ_HEAD(, mcp_held) held_list = TAILQ_HEAD_INITIALIZER(held_list);

/* ---- what a request is about ---- */

/* Its length first, so that no two lists of fields have the same bytes. */
static void
field(SHA2_CTX *sha, const void *bytes, size_t len)
{
	uint8_t prefix[8];
	size_t i;

	for (i = 0; i < sizeof(prefix); i++)
		prefix[i] = (uint8_t)((uint64_t)len >> (8 * i));
	SHA256Update(sha, prefix, sizeof(prefix));
	SHA256Update(sha, bytes, len);
}

void
mcp_held_subject(struct mcp *m)
{
	const struct request *q = &m->request;
	SHA2_CTX sha;

	SHA256Init(&sha);
	field(&sha, m->in, strlen(m->in));
	field(&sha, q->tool, strlen(q->tool));
	field(&sha, q->profile, strlen(q->profile));
	field(&sha, q->preset, strlen(q->preset));
	field(&sha, q->workspace, strlen(q->workspace));
	field(&sha, &q->read_only, sizeof(q->read_only));
	field(&sha, &q->timeout_ms, sizeof(q->timeout_ms));
	field(&sha, q->arguments, q->arguments_size);
	SHA256Final(m->subject, &sha);
}

/* ---- holding ---- */

void
mcp_held_free(struct call *call)
{
	struct mcp_held *held = call->held;

	if (held == NULL)
		return;
	call->held = NULL;
	TAILQ_REMOVE(&held_list, held, entry);
	free(held);
}

static struct mcp_held *
hold(const struct mcp *m, struct call *call)
{
	struct mcp_held *held = call->held;

	if (held != NULL)
		return (held);
	if ((held = calloc(1, sizeof(*held))) == NULL)
		fatal("a call");
	held->call = call;
	held->era = m->era;
	held->since = call_now();
	memcpy(held->session, m->session.name, sizeof(held->session));
	memcpy(held->subject, m->subject, sizeof(held->subject));
	TAILQ_INSERT_TAIL(&held_list, held, entry);
	call->held = held;
	return (held);
}

/* ---- the answer ---- */

static json_t *
with_state(const struct mcp *m, struct mcp_held *held)
{
	struct seal_state s = { .round = ++held->round };
	char state[SEAL_STATE_SIZE];
	json_t *result = json_object();

	memcpy(s.call, held->call->id, sizeof(s.call));
	seal_state_make(&s, m->conn->who, held->subject, state);
	json_object_set_new(result, "resultType",
	    json_string("input_required"));
	json_object_set_new(result, "requestState", json_string(state));
	return (result);
}

static json_t *
as_task(struct mcp_held *held)
{
	json_t *result = mcp_task(held->call);

	held->task = 1;
	json_object_set_new(result, "resultType", json_string("task"));
	return (result);
}

static json_t *
in_words(const struct mcp *m, const struct call *call)
{
	static const char how[] = "call the tool again with the same "
	    "arguments in this session: that waits on for the decision, and "
	    "gives the result once. Who decides is an operator of this host; "
	    "nothing that is called here can";
	int64_t left = call->asked_until - call_now();
	json_t *result = json_object(), *content = json_array();
	json_t *item = json_object(), *data;
	char words[512];

	if (left < 0)
		left = 0;
	(void)snprintf(words, sizeof(words), "[approval_required] This call "
	    "waits for a person's approval, %s, and has not run. It can be "
	    "decided for %lld s more.\nNext step: %s.", call->approval,
	    (long long)(left + 999) / 1000, how);
	json_object_set_new(item, "type", json_string("text"));
	json_object_set_new(item, "text", json_string(words));
	json_array_append_new(content, item);
	json_object_set_new(result, "content", content);
	/* A client holds it against the tool's own schema. */
	if (json_object_get(m->tool, "output_schema") == NULL) {
		data = json_object();
		json_object_set_new(data, "status",
		    json_string("approval_required"));
		json_object_set_new(data, "approval",
		    json_string(call->approval));
		json_object_set_new(data, "call", json_string(call->id));
		json_object_set_new(data, "expires_in_ms",
		    json_integer(left));
		json_object_set_new(data, "how", json_string(how));
		json_object_set_new(result, "structuredContent", data);
	}
	json_object_set_new(result, "isError", json_true());
	return (result);
}

void
mcp_hand_out(struct mcp *m)
{
	struct call *call = m->call;
	struct mcp_held *held = hold(m, call);

	mcp_leave(m);
	conn_release(m->conn);
	mcp_result(m, m->era == MCP_LEGACY ? in_words(m, call) :
	    mcp_knows_tasks(m) ? as_task(held) : with_state(m, held));
}

/* ---- coming back ---- */

static int
no_state(struct mcp_problem *p)
{
	/* One answer: what was made up learns nothing by it. */
	return (mcp_problem(p, 200, RPC_BAD_PARAMS, "Invalid params: "
	    "requestState is not good: it is none of ours, or somebody "
	    "else's, or of other arguments, was used before, or its call is "
	    "over; without it the call is asked for anew"));
}

static int
by_state(struct mcp *m, const json_t *v, struct call **call,
    struct mcp_problem *p)
{
	const char *text = json_string_value(v);
	struct seal_state s;

	if (text == NULL || strlen(text) != json_string_length(v) ||
	    seal_state_read(&s, text, m->conn->who, m->subject) == -1 ||
	    (*call = call_of(m->conn, s.call)) == NULL ||
	    (*call)->held == NULL || (*call)->held->task ||
	    (*call)->mcp != NULL ||
	    ((*call)->held->round != s.round && !WITHOUT(mcp_state_once)))
		return (no_state(p));
	/* From here on it is used. */
	(*call)->held->round++;
	return (0);
}

/*
 * The oldest that nobody waits for; or else one that is not decided, whose
 * other request is told to come back in its turn, as its client may be gone
 * unseen.
 */
static struct call *
by_session(const struct mcp *m)
{
	struct mcp_held *held, *busy = NULL;

	TAILQ_FOREACH(held, &held_list, entry) {
		if (held->era != MCP_LEGACY ||
		    strcmp(held->session, m->session.name) != 0 ||
		    (memcmp(held->subject, m->subject,
		    sizeof(held->subject)) != 0 && !WITHOUT(mcp_subject)) ||
		    call_of(m->conn, held->call->id) == NULL)
			continue;
		if (held->call->mcp == NULL)
			return (held->call);
		if (busy == NULL && held->call->state == CALL_AWAITING)
			busy = held;
	}
	if (busy == NULL)
		return (NULL);
	mcp_hand_out(busy->call->mcp);
	return (busy->call);
}

int
mcp_held_find(struct mcp *m, struct call **call, struct mcp_problem *p)
{
	json_t *state = json_object_get(m->message.params, "requestState");

	*call = NULL;
	if (m->era == MCP_MODERN && state != NULL)
		return (by_state(m, state, call, p));
	if (m->era == MCP_LEGACY && !WITHOUT(mcp_join))
		*call = by_session(m);
	return (0);
}
