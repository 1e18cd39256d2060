/*
 * The eras of the protocol, and what each requires of the HTTP fields.
 *
 * Both speak on one endpoint: a message is modern if it or its header says
 * so, and nothing else is remembered of a client.
 */
#include <stdlib.h>
#include <string.h>

#include "mcp_read.h"
#include "text.h"
#include "without.h"

#define META		"io.modelcontextprotocol/"
#define MODERN_FROM	"2026-07-28"
#define OFFERED		"2025-11-25"	/* to who wants one that we lack */
#define SENTINEL	"=?base64?"
#define SENTINEL_END	"?="

const struct mcp_version mcp_versions[MCP_VERSIONS] = {
	{ "2026-07-28", MCP_MODERN },
	{ "2025-11-25", MCP_LEGACY },
	{ "2025-06-18", MCP_LEGACY },
	{ "2025-03-26", MCP_LEGACY }
};

int
mcp_version_find(const char *name)
{
	int i;

	for (i = 0; i < MCP_VERSIONS; i++)
		if (strcmp(mcp_versions[i].name, name) == 0)
			return (i);
	return (-1);
}

unsigned
mcp_version_for(const char *wanted)
{
	int i = mcp_version_find(wanted);

	if (i == -1 || mcp_versions[i].era != MCP_LEGACY)
		i = mcp_version_find(OFFERED);
	return ((unsigned)i);
}

/* "2026-07-28": digits where they belong. */
static int
is_date(const char *s)
{
	static const char form[] = "0000-00-00";
	size_t i;

	if (strlen(s) != sizeof(form) - 1)
		return (0);
	for (i = 0; form[i] != '\0'; i++)
		if (form[i] == '0' ? s[i] < '0' || s[i] > '9' :
		    s[i] != form[i])
			return (0);
	return (1);
}

int
mcp_names_modern(const struct http_head *h)
{
	const char *version = http_text(h, TEXT_MCP_VERSION);

	return (version != NULL && is_date(version) &&
	    strcmp(version, MODERN_FROM) >= 0);
}

enum mcp_era
mcp_era_of(const struct http_head *h, const struct mcp_message *m)
{
	if (json_object_get(m->meta, META "protocolVersion") != NULL ||
	    mcp_names_modern(h))
		return (MCP_MODERN);
	return (MCP_LEGACY);
}

/* ---- headers that repeat the body ---- */

static int
mismatch(struct mcp_problem *p, const char *header, const char *what)
{
	return (mcp_problem(p, 400, RPC_HEADERS, "Header mismatch: %s %s",
	    header, what));
}

/* 1 if the field, decoded, is the body's value; 0; -1 for bad base64. */
static int
header_is(const char *field, const char *value)
{
	size_t n = strlen(field), used, skip = strlen(SENTINEL);
	size_t end = strlen(SENTINEL_END);
	uint8_t decoded[HTTP_TEXT_MAX];

	if (n < skip + end || strncmp(field, SENTINEL, skip) != 0 ||
	    strcmp(field + n - end, SENTINEL_END) != 0)
		return (strcmp(field, value) == 0);
	if (base64_read(decoded, field + skip, n - skip - end, &used) == -1)
		return (-1);
	return (used == strlen(value) && memcmp(decoded, value, used) == 0);
}

static int
check_header(const struct http_head *h, enum http_text which,
    const char *name, const char *value, struct mcp_problem *p)
{
	const char *field = http_text(h, which);

	if (WITHOUT(mcp_headers))
		return (0);
	if (field == NULL)
		return (mismatch(p, name, "is missing"));
	switch (header_is(field, value)) {
	case 1:
		return (0);
	case 0:
		return (mismatch(p, name, "is not what the body says"));
	default:
		return (mismatch(p, name, "is no base64 where it says so"));
	}
}

/* The member of params that Mcp-Name repeats, or NULL. */
static const char *
named_by(const struct mcp_message *m)
{
	static const struct {
		const char	*method;
		const char	*member;
	} rows[] = {
		{ "tools/call", "name" },
		{ "prompts/get", "name" },
		{ "resources/read", "uri" },
		{ "tasks/get", "taskId" },
		{ "tasks/cancel", "taskId" },
		{ "tasks/update", "taskId" }
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(m->method, rows[i].method) == 0)
			return (json_string_value(json_object_get(m->params,
			    rows[i].member)));
	return (NULL);
}

/* ---- the checks ---- */

static int
check_meta(const struct mcp_message *m, struct mcp_problem *p)
{
	if (m->meta == NULL)
		return (mcp_problem(p, 400, RPC_BAD_PARAMS,
		    "Invalid params: _meta is missing"));
	if (!json_is_string(json_object_get(m->meta,
	    META "protocolVersion")))
		return (mcp_problem(p, 400, RPC_BAD_PARAMS, "Invalid params: "
		    "_meta has no \"" META "protocolVersion\""));
	if (!json_is_object(json_object_get(m->meta,
	    META "clientCapabilities")))
		return (mcp_problem(p, 400, RPC_BAD_PARAMS, "Invalid params: "
		    "_meta has no \"" META "clientCapabilities\""));
	return (0);
}

static int
check_version(const char *version, struct mcp_problem *p)
{
	json_t *supported;
	int i;

	i = mcp_version_find(version);
	if (i != -1 && mcp_versions[i].era == MCP_MODERN)
		return (0);
	(void)mcp_problem(p, 400, RPC_VERSION,
	    "Unsupported protocol version");
	supported = json_array();
	for (i = 0; i < MCP_VERSIONS; i++)
		if (mcp_versions[i].era == MCP_MODERN)
			json_array_append_new(supported,
			    json_string(mcp_versions[i].name));
	p->data = json_object();
	json_object_set_new(p->data, "supported", supported);
	json_object_set_new(p->data, "requested", json_string(version));
	return (-1);
}

int
mcp_check_modern(const struct http_head *h, const struct mcp_message *m,
    struct mcp_problem *p)
{
	const char *version, *name;

	/* What is no request has nothing that a header could repeat. */
	if (m->kind == MCP_RESPONSE)
		return (mcp_problem(p, 400, RPC_INVALID, "Invalid Request: "
		    "an answer to what was never asked"));
	if (m->kind == MCP_NOTIFICATION)
		return (0);
	if (check_meta(m, p) == -1)
		return (-1);
	version = json_string_value(json_object_get(m->meta,
	    META "protocolVersion"));
	if (check_header(h, TEXT_MCP_VERSION, "MCP-Protocol-Version", version,
	    p) == -1 ||
	    check_header(h, TEXT_MCP_METHOD, "Mcp-Method", m->method, p) == -1)
		return (-1);
	name = named_by(m);
	if (name != NULL &&
	    check_header(h, TEXT_MCP_NAME, "Mcp-Name", name, p) == -1)
		return (-1);
	return (check_version(version, p));
}

int
mcp_check_legacy(const struct http_head *h, struct mcp_problem *p)
{
	const char *version = http_text(h, TEXT_MCP_VERSION);

	/* Who sends none speaks 2025-03-26, which had no such field. */
	if (version == NULL || mcp_version_find(version) != -1)
		return (0);
	return (mcp_problem(p, 400, RPC_INVALID, "Invalid Request: "
	    "MCP-Protocol-Version: \"%.32s\" is not supported", version));
}
