/* What was granted to neurons: kept for an egressd that is started again. */

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "egress.h"
#include "egress_internal.h"
#include "neuron.h"
#include "sync.h"
#include "without.h"

static int
in_force(const struct egress_grant *g)
{
	return (g->what != EGRESS_GRANT_ONCE || now_us() < g->until);
}

static void
drop(struct egress *e, struct egress_grant *g)
{
	TAILQ_REMOVE(&e->grants, g, entry);
	e->ngrants--;
	free(g);
}

static void
sweep(struct egress *e)
{
	struct egress_grant *g, *next;

	TAILQ_FOREACH_SAFE(g, &e->grants, entry, next) {
		if (!in_force(g))
			drop(e, g);
	}
}

void
egress_grants_free(struct egress *e)
{
	struct egress_grant *g;

	while ((g = TAILQ_FIRST(&e->grants)) != NULL)
		drop(e, g);
}

int
egress_granted(const struct neuron *n)
{
	const struct egress_grant *g;

	if (n->egress == NULL)
		return (0);
	TAILQ_FOREACH(g, &n->egress->grants, entry) {
		if (in_force(g))
			return (1);
	}
	return (0);
}

static void
tell(const struct neuron *n, const struct egress_grant *g, unsigned what)
{
	struct imsg *m = egress_new(MSG_EGRESS_GRANT);

	imsg_put_u16(m, g->port);
	imsg_put_u8(m, (uint8_t)what);
	imsg_put_u8(m, (uint8_t)g->flags);
	imsg_put_str(m, n->id);
	imsg_put_str(m, g->host);
	(void)egress_send(m);
}

void
egress_tell_grants(const struct neuron *n)
{
	const struct egress_grant *g;

	sweep(n->egress);
	TAILQ_FOREACH(g, &n->egress->grants, entry)
		tell(n, g, g->what);
}

/* A name or an address as egressd writes them: nothing else is kept. */
static int
host_ok(const char *host)
{
	return (host[0] != '\0' && host[strspn(host,
	    "abcdefghijklmnopqrstuvwxyz0123456789-._:")] == '\0');
}

/* 1 if both let the same be reached, whoever allowed it. */
static int
same(const struct egress_grant *a, const struct egress_grant *b)
{
	return (a->port == b->port && a->what == b->what &&
	    a->flags == b->flags && strcmp(a->host, b->host) == 0);
}

/* Of this approval; NULL: of any. */
static struct egress_grant *
find(const struct egress *e, const struct egress_grant *like,
    const char *approval)
{
	struct egress_grant *g;

	TAILQ_FOREACH(g, &e->grants, entry) {
		if (same(g, like) && (approval == NULL ||
		    strcmp(g->approval, approval) == 0))
			return (g);
	}
	return (NULL);
}

static void
add(struct egress *e, const struct egress_grant *from)
{
	struct egress_grant *g;

	sweep(e);
	if ((g = find(e, from, from->approval)) != NULL)
		drop(e, g);
	else if (e->ngrants == GRANTS_MAX)
		drop(e, TAILQ_FIRST(&e->grants));
	if ((g = malloc(sizeof(*g))) == NULL)
		fatal("egress");
	*g = *from;
	TAILQ_INSERT_TAIL(&e->grants, g, entry);
	e->ngrants++;
}

static void
record(const struct call *c, const struct egress_grant *g)
{
	audit_append("egress.granted", json_pack(
	    "{s:s,s:s,s:s,s:s,s:s,s:i,s:s,s:b}", "neuron", c->row.neuron,
	    "session", c->row.session, "call", c->row.id,
	    "approval", c->approved, "host", g->host, "port", (int)g->port,
	    "scope", g->what == EGRESS_GRANT_ONCE ? "once" : "session",
	    "write", (g->flags & EGRESS_F_WRITES) != 0));
	sync_soon();
}

/*
 * Only what a person allowed to a call that runs now, and for as long as he
 * did: anything else can't be right.
 */
int
egress_on_granted(void *arg, struct imsg *m)
{
	struct egress_grant g;
	struct neuron *n;
	char id[ID_SIZE];
	const struct call *c;

	(void)arg;
	memset(&g, 0, sizeof(g));
	g.port = imsg_get_u16(m);
	g.what = imsg_get_u8(m);
	g.flags = imsg_get_u8(m);
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, g.host, sizeof(g.host));
	if (imsg_end(m) == -1 || !host_ok(g.host) ||
	    (g.flags & ~(unsigned)EGRESS_F_WRITES) != 0 ||
	    (g.what != EGRESS_GRANT_ONCE && g.what != EGRESS_GRANT_SESSION))
		return (-1);
	if ((n = neuron_find(id)) == NULL || n->egress == NULL)
		return (0);	/* it has gone meanwhile */
	c = egress_asker(n, g.what);
	if ((c == NULL || c->approved[0] == '\0') && !WITHOUT(egress_granted))
		return (-1);
	g.until = now_us() + EGRESS_ONCE_US;
	if (c != NULL)
		strlcpy(g.approval, c->approved, sizeof(g.approval));
	add(n->egress, &g);
	if (c != NULL)
		record(c, &g);
	return (0);
}

int
egress_on_spent(void *arg, struct imsg *m)
{
	struct egress_grant like = { .what = EGRESS_GRANT_ONCE }, *g;
	struct neuron *n;
	char id[ID_SIZE];

	(void)arg;
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, like.host, sizeof(like.host));
	like.port = imsg_get_u16(m);
	if (imsg_end(m) == -1)
		return (-1);
	if ((n = neuron_find(id)) == NULL || n->egress == NULL)
		return (0);
	/* of two for once, which one is not said: any is as good */
	if ((g = find(n->egress, &like, NULL)) == NULL) {
		like.flags = EGRESS_F_WRITES;
		g = find(n->egress, &like, NULL);
	}
	if (g != NULL)
		drop(n->egress, g);
	return (0);
}

/* What another approval gives as well stays. */
static void
take_back(struct neuron *n, struct egress_grant *g)
{
	struct egress_grant was = *g;

	drop(n->egress, g);
	if (find(n->egress, &was, NULL) == NULL && egress_has(n) &&
	    !WITHOUT(egress_revoke))
		tell(n, &was, EGRESS_GRANT_NONE);
}

void
egress_revoked(const char *approval)
{
	struct egress_grant *g, *next;
	struct neuron *n;

	TAILQ_FOREACH(n, neuron_all(), order) {
		if (n->egress == NULL)
			continue;
		TAILQ_FOREACH_SAFE(g, &n->egress->grants, entry, next) {
			if (strcmp(g->approval, approval) == 0)
				take_back(n, g);
		}
	}
}

json_t *
egress_grants_json(const struct egress *e)
{
	const struct egress_grant *g;
	json_t *list = json_array();

	TAILQ_FOREACH(g, &e->grants, entry) {
		if (!in_force(g))
			continue;
		json_array_append_new(list, json_pack(
		    "{s:s,s:o,s:s,s:b,s:s}", "host", g->host, "port",
		    g->port != 0 ? json_integer(g->port) : json_null(),
		    "scope", g->what == EGRESS_GRANT_ONCE ? "once" :
		    "session", "write", (g->flags & EGRESS_F_WRITES) != 0,
		    "approval", g->approval));
	}
	return (list);
}
