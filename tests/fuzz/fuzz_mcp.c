/*
 * A whole request of MCP's, head and body: whatever comes, it is decoded, held
 * against its headers and answered within bounds.  And the decoders of single
 * fields, on all fields that came.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp_internal.h"
#include "text.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_problem(struct mcp_problem *p)
{
	json_t *text;

	if (p->status < 200 || p->status > 599 || p->code >= 0 ||
	    memchr(p->why, '\0', sizeof(p->why)) == NULL)
		abort();
	if (p->data != NULL) {
		text = json_object_get(p->data, "requested");
		if (!json_is_string(text))
			abort();
		json_decref(p->data);
	}
}

/* Nobody has the key, so that none is good. */
static void
check_state(const char *state)
{
	static const uint8_t subject[SEAL_SUBJECT];
	struct seal_state s;

	if (seal_state_read(&s, state, "uid:1000", subject) == 0)
		abort();
}

static void
check_message(const struct http_head *h, const char *body, size_t size)
{
	struct mcp_problem p = { 0 };
	struct mcp_message m;
	const char *state;
	int error;

	if (mcp_read(&m, body, size, &p) == -1) {
		check_problem(&p);
	} else {
		if (m.method == NULL || (m.kind == MCP_REQUEST) !=
		    (m.id != NULL && m.kind != MCP_RESPONSE))
			abort();
		error = mcp_era_of(h, &m) == MCP_MODERN ?
		    mcp_check_modern(h, &m, &p) : mcp_check_legacy(h, &p);
		if (error == -1)
			check_problem(&p);
		state = json_string_value(json_object_get(m.params,
		    "requestState"));
		if (state != NULL)
			check_state(state);
	}
	mcp_message_free(&m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int ready;
	const char *session, *host;
	size_t scanned = 0, used = 0;
	struct http_head h;
	struct http_bad bad;
	struct seal seal;
	json_t *page;

	if (!ready) {
		text_init();
		ready = 1;
	}
	if (http_head_read(data, size, &scanned, &h, &used, &bad) != HTTP_OK)
		return (0);
	check_message(&h, (const char *)data + used, size - used);
	host = http_text(&h, TEXT_HOST);
	(void)mcp_host_wrong(host, http_text(&h, TEXT_ORIGIN));
	if ((session = http_text(&h, TEXT_MCP_SESSION)) != NULL) {
		/* Nobody has the key, so that none of these is good. */
		if (seal_read(&seal, session, "uid:1000", 1) == 0)
			abort();
		check_state(session);
		page = mcp_tools_page(NULL, session, 3);
		json_decref(page);
	}
	return (0);
}
