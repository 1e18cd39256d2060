/*
 * The channel to policyd: what it says of who is connected.
 */
#include "conn.h"
#include "policy_internal.h"

#define WORDS_MAX	1024

/* What is said of a connection that has left meanwhile. */
int
policy_on_peer_ok(void *arg, struct imsg *m)
{
	char who[WORDS_MAX];
	uint32_t number, principal;
	uint64_t handle;
	struct conn *c;

	(void)arg;
	number = imsg_get_u32(m);
	handle = imsg_get_u64(m);
	principal = imsg_get_u32(m);
	imsg_get_str(m, who, sizeof(who));
	if (imsg_end(m) == -1)
		return (-1);
	if ((c = conn_find(number)) == NULL)
		policy_peer_gone(handle);
	else
		conn_peer_known(c, handle, principal, who);
	return (0);
}

int
policy_on_peer_no(void *arg, struct imsg *m)
{
	char who[WORDS_MAX], missing[WORDS_MAX];
	uint32_t number;
	struct conn *c;

	(void)arg;
	number = imsg_get_u32(m);
	imsg_get_str(m, who, sizeof(who));
	imsg_get_str(m, missing, sizeof(missing));
	if (imsg_end(m) == -1)
		return (-1);
	if ((c = conn_find(number)) != NULL)
		conn_peer_refused(c, who, missing);
	return (0);
}

int
policy_on_auth_no(void *arg, struct imsg *m)
{
	char who[WORDS_MAX], missing[WORDS_MAX];
	uint32_t number, retry;
	struct conn *c;
	unsigned status;

	(void)arg;
	number = imsg_get_u32(m);
	status = imsg_get_u16(m);
	retry = imsg_get_u32(m);
	imsg_get_str(m, who, sizeof(who));
	imsg_get_str(m, missing, sizeof(missing));
	if (imsg_end(m) == -1 ||
	    (status != 401 && status != 403 && status != 429))
		return (-1);
	if ((c = conn_find(number)) != NULL)
		conn_auth_refused(c, (int)status, retry, who, missing);
	return (0);
}
