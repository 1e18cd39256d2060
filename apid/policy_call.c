/*
 * The channel to policyd: what it says of calls.
 */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "policy_internal.h"
#include "routes.h"

int
policy_on_asked(void *arg, struct imsg *m)
{
	struct call_terms t;
	struct pending *p;
	uint32_t request;

	(void)arg;
	memset(&t, 0, sizeof(t));
	request = imsg_get_u32(m);
	t.principal = imsg_get_u32(m);
	t.kept = imsg_get_u64(m);
	t.killed = imsg_get_u64(m);
	imsg_get_str(m, t.id, sizeof(t.id));
	imsg_get_str(m, t.session, sizeof(t.session));
	if (imsg_end(m) == -1 || !id_ok(ID_CALL, t.id) ||
	    (t.session[0] != '\0' && !id_ok(ID_SESSION, t.session)))
		return (-1);
	if ((p = pending_find(request)) == NULL)
		return (0);
	if (p->call == NULL || call_find(t.id) != NULL)
		return (-1);
	pending_done(p);
	call_asked(p->call, &t, p->conn);
	free(p);
	return (0);
}

/*
 * What was made ready for a call of its own goes; the answer is the other
 * call's, wherever it was asked.
 */
int
policy_on_call_same(void *arg, struct imsg *m)
{
	char id[ID_SIZE];
	struct pending *p;
	uint32_t request;
	struct conn *c;

	(void)arg;
	request = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1 || !id_ok(ID_CALL, id))
		return (-1);
	if ((p = pending_find(request)) == NULL)
		return (0);
	if (p->call == NULL)
		return (-1);
	pending_done(p);
	if ((c = p->conn) != NULL)
		route_call_same(c, id, p->call->wants_events,
		    p->call->wait_ms);
	call_refused(p->call);
	free(p);
	return (0);
}

int
policy_on_call_judged(void *arg, struct imsg *m)
{
	char id[ID_SIZE];
	const uint8_t *json;
	struct call *call;
	json_t *verdict;
	size_t n;

	(void)arg;
	imsg_get_str(m, id, sizeof(id));
	json = imsg_get_bytes(m, &n);
	if (imsg_end(m) == -1)
		return (-1);
	call = call_find(id);
	if (call != NULL && call_judged_plain(call, (const char *)json, n))
		return (0);
	if ((verdict = json_loadb((const char *)json, n, 0, NULL)) == NULL)
		return (-1);
	if (json_is_object(verdict) && call != NULL)
		call_judged(call, verdict);
	json_decref(verdict);
	return (0);
}

int
policy_on_call_started(void *arg, struct imsg *m)
{
	char id[ID_SIZE];
	struct call *call;

	(void)arg;
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1)
		return (-1);
	if ((call = call_find(id)) != NULL)
		call_started(call);
	return (0);
}

int
policy_on_call_finished(void *arg, struct imsg *m)
{
	char id[ID_SIZE];
	const uint8_t *json;
	struct call *call;
	size_t n;

	(void)arg;
	imsg_get_str(m, id, sizeof(id));
	json = imsg_get_bytes(m, &n);
	if (imsg_end(m) == -1)
		return (-1);
	if ((call = call_find(id)) != NULL)
		call_ended(call, (const char *)json, n);
	return (0);
}

int
policy_on_transcribed(void *arg, struct imsg *m)
{
	char id[ID_SIZE];
	struct call *call;
	unsigned kept;

	(void)arg;
	kept = imsg_get_u8(m);
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1 || kept > 1)
		return (-1);
	if ((call = call_find(id)) != NULL)
		call_transcribed(call, (int)kept);
	return (0);
}
