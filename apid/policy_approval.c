/*
 * The channel to policyd: approvals.
 */
#include <stdlib.h>
#include <string.h>

#include "approval.h"
#include "call.h"
#include "conn.h"
#include "policy_internal.h"

/* ---- policyd's words ---- */

int
policy_on_call_asking(void *arg, struct imsg *m)
{
	char id[ID_SIZE], approval[ID_SIZE];
	const uint8_t *json;
	struct call *call;
	uint32_t ms;
	size_t n;

	(void)arg;
	ms = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, approval, sizeof(approval));
	json = imsg_get_bytes(m, &n);
	if (imsg_end(m) == -1 || !id_ok(ID_APPROVAL, approval))
		return (-1);
	if ((call = call_find(id)) != NULL)
		call_asking(call, approval, ms, (const char *)json, n);
	return (0);
}

int
policy_on_call_resolved(void *arg, struct imsg *m)
{
	char id[ID_SIZE], approval[ID_SIZE], reason[DECIDE_REASON_MAX + 1];
	struct call *call;
	unsigned outcome;

	(void)arg;
	outcome = imsg_get_u8(m);
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, approval, sizeof(approval));
	imsg_get_str(m, reason, sizeof(reason));
	if (imsg_end(m) == -1 || !id_ok(ID_APPROVAL, approval) ||
	    outcome < APPROVAL_ALLOWED || outcome > APPROVAL_CHANGED)
		return (-1);
	if ((call = call_find(id)) != NULL)
		call_resolved(call, outcome, approval, reason);
	return (0);
}

/* The parts of an approval, in the order of the flags; then its JSON. */
int
policy_on_approval_shown(void *arg, struct imsg *m)
{
	struct shown_part parts[SHOWN_PARTS];
	const uint8_t *json;
	struct pending *p;
	uint32_t request;
	unsigned flags, i, n = 0;
	size_t size;
	int bad = 0;

	(void)arg;
	memset(parts, 0, sizeof(parts));
	request = imsg_get_u32(m);
	flags = imsg_get_u8(m);
	json = imsg_get_bytes(m, &size);
	if (imsg_end(m) == -1 || (p = pending_find(request)) == NULL)
		return (imsg_end(m));
	parts[SHOWN_JSON].bytes = json;
	parts[SHOWN_JSON].size = size;
	for (i = 0; i < SHOWN_PARTS; i++)
		if (i == SHOWN_ARGUMENTS || (flags & shown_flags[i]) != 0)
			bad |= shown_map(&parts[i], imsg_claim_fd(m, n++));
	pending_done(p);
	if (p->conn != NULL && bad)
		conn_error(p->conn, API_INTERNAL, "an approval's parts");
	else if (p->conn != NULL)
		approval_show(p->conn, parts, (flags & SHOWN_F_CLEAN) != 0);
	for (i = 0; i < SHOWN_PARTS; i++)
		shown_unmap(&parts[i]);
	free(p);
	return (0);
}

/* ---- our words ---- */

void
policy_decide(struct conn *c, unsigned what, const uint8_t digest[32],
    const char *approval, const char *reason, policy_fn *fn, void *arg)
{
	struct pending *p;
	struct imsg *m;

	if ((p = pending_act(c, fn, arg)) == NULL)
		return;
	m = imsg_new(MSG_DECIDE);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->handle);
	imsg_put_u8(m, (uint8_t)what);
	imsg_put_raw(m, digest, 32);
	imsg_put_str(m, approval);
	imsg_put_str(m, reason);
	policy_send(m);
}
