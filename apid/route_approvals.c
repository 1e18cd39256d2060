/*
 * Handlers of the routes of approvals: operators' alone.
 */
#include <jansson.h>
#include <string.h>

#include "approval.h"
#include "json.h"
#include "policy.h"
#include "routes.h"

#define PAGE_DEFAULT	100
#define PAGE_MAX	500
#define DIGEST_SIZE	32	/* bytes of a SHA-256 */

static const struct {
	const char	*name;
	unsigned	 what;
} decisions[] = {
	{ "allow_once",		DECIDE_ALLOW_ONCE },
	{ "allow_session",	DECIDE_ALLOW_SESSION },
	{ "reject_once",	DECIDE_REJECT_ONCE }
};

void
route_approvals(struct conn *c)
{
	uint64_t cursor = 0, most = PAGE_DEFAULT;
	char state[16] = "";

	if (http_query_text(&c->head, "state", state, sizeof(state)) == -1)
		conn_error(c, API_BAD_REQUEST, "state: pending, decided, "
		    "remembered or all");
	else if (http_query_number(&c->head, "cursor", &cursor) == -1)
		conn_error(c, API_BAD_REQUEST, "cursor: not a number");
	else if (http_query_number(&c->head, "limit", &most) == -1 ||
	    most < 1 || most > PAGE_MAX)
		conn_error(c, API_BAD_REQUEST,
		    "limit: not a number from 1 to %d", PAGE_MAX);
	else
		policy_query(c, QUERY_APPROVALS, cursor, (uint32_t)most,
		    state, approval_answer, NULL);
}

void
route_approval_get(struct conn *c)
{
	policy_query(c, QUERY_APPROVAL, 0, 0, c->id, approval_answer, NULL);
}

/* ---- a decision ---- */

struct decision {
	unsigned	 what;		/* 0: none was named */
	uint8_t		 digest[DIGEST_SIZE];
	int		 has_digest;
	const char	*reason;
};

static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	return (c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1);
}

/* 64 hexadecimal digits as the API writes them: lower case. */
static int
read_digest(const json_t *v, uint8_t digest[DIGEST_SIZE])
{
	const char *hex = json_string_value(v);
	int i, high, low;

	if (hex == NULL || json_string_length(v) != 2 * DIGEST_SIZE)
		return (-1);
	for (i = 0; i < DIGEST_SIZE; i++) {
		high = digit(hex[2 * i]);
		low = digit(hex[2 * i + 1]);
		if (high == -1 || low == -1)
			return (-1);
		digest[i] = (uint8_t)(high << 4 | low);
	}
	return (0);
}

static int
read_what(struct conn *c, const json_t *v, struct decision *d)
{
	const char *name = json_string_value(v);
	size_t i;

	for (i = 0; i < sizeof(decisions) / sizeof(decisions[0]); i++)
		if (name != NULL && strcmp(decisions[i].name, name) == 0)
			d->what = decisions[i].what;
	if (d->what != 0)
		return (0);
	conn_error(c, API_BAD_REQUEST, "decision: allow_once, allow_session "
	    "or reject_once");
	return (-1);
}

/* One member of the body; -1 after answering. */
static int
read_member(struct conn *c, const char *name, const json_t *v,
    struct decision *d)
{
	if (strcmp(name, "decision") == 0)
		return (read_what(c, v, d));
	if (strcmp(name, "digest") == 0) {
		d->has_digest = 1;
		if (read_digest(v, d->digest) == 0)
			return (0);
		conn_error(c, API_BAD_REQUEST, "digest: not the 64 lower-case "
		    "hexadecimal digits of an approval's");
		return (-1);
	}
	if (strcmp(name, "reason") == 0) {
		if (json_is_null(v))
			return (0);
		if (json_is_string(v) && json_string_length(v) <=
		    DECIDE_REASON_MAX) {
			d->reason = json_string_value(v);
			return (0);
		}
		conn_error(c, API_BAD_REQUEST, "reason: not a string of at "
		    "most %d bytes", DECIDE_REASON_MAX);
		return (-1);
	}
	conn_error(c, API_BAD_REQUEST, "%.64s: there is no such member here",
	    name);
	return (-1);
}

void
route_approval_decide(struct conn *c)
{
	struct decision d = { .reason = "" };
	struct http_bad bad;
	const char *name;
	json_t *j, *v;
	int ok = 0;

	if ((j = json_read(c->body, c->body_size, &bad)) == NULL) {
		conn_error(c, bad.code, "%s", bad.why);
		return;
	}
	json_object_foreach(j, name, v)
		if ((ok = read_member(c, name, v, &d)) == -1)
			break;
	if (ok == 0 && (d.what == 0 || !d.has_digest))
		conn_error(c, API_BAD_REQUEST, "%s: missing", d.what == 0 ?
		    "decision" : "digest");
	else if (ok == 0)
		policy_decide(c, d.what, d.digest, c->id, d.reason,
		    approval_answer, NULL);
	json_decref(j);
}

void
route_approval_revoke(struct conn *c)
{
	struct decision d = { .what = DECIDE_REVOKE };

	policy_decide(c, d.what, d.digest, c->id, "", approval_answer, NULL);
}
