/*
 * The handshake era: initialize, and the sessions that it begins.
 *
 * A session of MCP is a sealed id and nothing else here.  The Myelin session
 * behind it is opened by its first tools/call, since many clients only look
 * what there is, and policyd knows it by the name in the id.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <string.h>
#include <time.h>

#include "mcp_internal.h"
#include "without.h"

#define LIFE		(30ULL * 24 * 3600)	/* s, of an id */
#define OVER_MAX	1024	/* ended ones that we remember */

const char mcp_instructions[] =
	"Tools run in a neuron (sandbox) on this host, never on the host "
	"itself. Files that one call leaves in the workspace or in "
	"/home/agent are there for the next call of the same session; "
	"variables and a changed directory are not. There is no network "
	"unless it was granted. A refused call says which rule refused it, "
	"why, and what may be done instead: repeating it unchanged will not "
	"help. A call that waits for a person's approval says that: then the "
	"same call, made again, waits on. Output that is too long is cut in its "
	"middle.";

/*
 * What was ended here.  policyd, which would open no other of that name, says
 * so too, but it is asked by calls alone.
 */
static char	over[OVER_MAX][SEAL_NAME_SIZE];
static unsigned	over_next;

void
mcp_session_over(const char *name)
{
	memcpy(over[over_next], name, SEAL_NAME_SIZE);
	over_next = (over_next + 1) % OVER_MAX;
}

static int
is_over(const char *name)
{
	unsigned i;

	for (i = 0; i < OVER_MAX; i++)
		if (strcmp(over[i], name) == 0)
			return (1);
	return (0);
}

static uint64_t
day_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ((uint64_t)ts.tv_sec);
}

int
mcp_session_read(struct conn *c, struct seal *s, int needed,
    struct mcp_problem *p)
{
	const char *id = http_text(&c->head, TEXT_MCP_SESSION);

	memset(s, 0, sizeof(*s));
	if (id == NULL && needed)
		return (mcp_problem(p, 400, RPC_INVALID, "Invalid Request: "
		    "Mcp-Session-Id is missing; initialize gives one"));
	if (id == NULL)
		return (0);
	/* One answer for what never was, is another's or is over. */
	if (seal_read(s, id, c->who, day_clock()) == -1 || is_over(s->name))
		return (mcp_problem(p, 404, RPC_INVALID, "Session not found; "
		    "send initialize to begin another"));
	return (0);
}

json_t *
mcp_server_info(void)
{
	json_t *j = json_object();

	json_object_set_new(j, "name", json_string("myelin"));
	json_object_set_new(j, "title", json_string("Myelin"));
	json_object_set_new(j, "version",
	    json_string(PACKAGE_VERSION WITHOUT_VERSION));
	return (j);
}

json_t *
mcp_capabilities(void)
{
	json_t *j = json_object();

	json_object_set_new(j, "tools", json_object());
	return (j);
}

void
mcp_initialize(struct mcp *m)
{
	const char *wanted = json_string_value(json_object_get(
	    m->message.params, "protocolVersion"));
	char id[SEAL_ID_SIZE];
	struct mcp_problem p;
	json_t *result;
	struct seal s;

	if (wanted == NULL) {
		(void)mcp_problem(&p, 200, RPC_BAD_PARAMS,
		    "Invalid params: protocolVersion is not a string");
		mcp_fail(m, &p);
		return;
	}
	s.version = mcp_version_for(wanted);
	s.expires = day_clock() + LIFE;
	seal_name(s.name);
	seal_make(&s, m->conn->who, id);
	conn_header(m->conn, "Mcp-Session-Id", id);
	result = json_object();
	json_object_set_new(result, "protocolVersion",
	    json_string(mcp_versions[s.version].name));
	json_object_set_new(result, "capabilities", mcp_capabilities());
	json_object_set_new(result, "serverInfo", mcp_server_info());
	json_object_set_new(result, "instructions",
	    json_string(mcp_instructions));
	mcp_result(m, result);
}
