/*
 * The rules: what a profile's lines and a neuron's grants say to a host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "hosts.h"
#include "protocol.h"
#include "without.h"

struct grants {
	struct grant	 v[GRANTS_MAX];
	size_t		 n;
};

int
method_reads(const char *method)
{
	return (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
	    strcmp(method, "OPTIONS") == 0);
}

static int
usual_port(uint16_t port)
{
	return (port == 443 || port == 80);
}

/*
 * Grants
 */

struct grants *
grants_new(void)
{
	return (calloc(1, sizeof(struct grants)));
}

void
grants_free(struct grants *g)
{
	free(g);
}

static int
alive(const struct grant *g, uint64_t now)
{
	return (g->until == 0 || now < g->until);
}

static void
forget(struct grants *all, size_t i)
{
	all->n--;
	memmove(&all->v[i], &all->v[i + 1], (all->n - i) *
	    sizeof(all->v[0]));
}

static void
forget_dead(struct grants *all, uint64_t now)
{
	size_t i;

	for (i = all->n; i > 0; i--)
		if (!alive(&all->v[i - 1], now))
			forget(all, i - 1);
}

int
grants_add(struct grants *all, const struct host *host, uint16_t port,
    unsigned what, unsigned flags, uint64_t now)
{
	struct grant *g;
	size_t i;

	forget_dead(all, now);
	for (i = 0; i < all->n; i++) {
		g = &all->v[i];
		if (g->port == port && g->what == what && g->flags == flags &&
		    strcmp(g->name, host->name) == 0)
			break;
	}
	if (i == GRANTS_MAX)
		return (-1);
	if (i == all->n)
		all->n++;
	g = &all->v[i];
	memset(g, 0, sizeof(*g));
	memcpy(g->name, host->name, strlen(host->name) + 1);
	g->port = port;
	g->what = what;
	g->flags = flags;
	g->until = what == EGRESS_GRANT_ONCE ? now + GRANT_ONCE_MS : 0;
	return (0);
}

void
grants_remove(struct grants *all, const struct host *host, uint16_t port,
    unsigned flags)
{
	const struct grant *g;
	size_t i;

	for (i = all->n; i > 0; i--) {
		g = &all->v[i - 1];
		if (g->port == port && g->what == EGRESS_GRANT_SESSION &&
		    g->flags == flags && strcmp(g->name, host->name) == 0)
			forget(all, i - 1);
	}
}

int
grants_use(struct grants *all, const struct grant *g)
{
	if (all == NULL || g < all->v || g >= all->v + all->n ||
	    g->what != EGRESS_GRANT_ONCE)
		return (0);
	forget(all, (size_t)(g - all->v));
	return (1);
}

size_t
grants_count(const struct grants *all, uint64_t now)
{
	size_t i, n = 0;

	for (i = 0; all != NULL && i < all->n; i++)
		n += (size_t)alive(&all->v[i], now);
	return (n);
}

/*
 * The first for that host and port: one for the session before one for once,
 * so that this is not used up for nothing.  *near is one for the host that
 * lacks the port or the right to write.
 */
static const struct grant *
granted(const struct grants *all, const struct want *w, uint64_t now,
    enum refusal *near)
{
	const struct grant *g, *found = NULL;
	size_t i;

	for (i = 0; all != NULL && i < all->n; i++) {
		g = &all->v[i];
		if (!alive(g, now) || strcmp(g->name, w->host->name) != 0)
			continue;
		if (g->port == 0 ? !usual_port(w->port) : g->port != w->port) {
			if (*near == REFUSE_NOT_LISTED)
				*near = REFUSE_PORT;
			continue;
		}
		if (w->method != NULL && !method_reads(w->method) &&
		    !w->writes && !(g->flags & EGRESS_F_WRITES)) {
			*near = REFUSE_METHOD;
			continue;
		}
		if (found == NULL || (found->what == EGRESS_GRANT_ONCE &&
		    g->what != EGRESS_GRANT_ONCE))
			found = g;
	}
	return (found);
}

/*
 * Lines
 */

static int
line_host(const struct cf_host *line, const struct host *host)
{
	struct address a;
	size_t n, suffix;

	if (host->is_address)
		return (!line->suffix && address_read(line->name,
		    strlen(line->name), &a) == 0 &&
		    address_same(&a, &host->address));
	if (!line->suffix)
		return (strcasecmp(line->name, host->name) == 0);
	n = strlen(host->name);
	suffix = strlen(line->name);
	return (n > suffix + 1 && host->name[n - suffix - 1] == '.' &&
	    strcasecmp(host->name + n - suffix, line->name) == 0);
}

static int
line_port(const struct cf_host *line, uint16_t port)
{
	size_t i;

	if (line->nports == 0)
		return (!line->allow || usual_port(port));
	for (i = 0; i < line->nports; i++)
		if (line->ports[i] == port)
			return (1);
	return (0);
}

static int
line_method(const struct cf_host *line, const struct want *w)
{
	if (!line->allow)
		return (w->method == NULL || line->methods.n == 0 ||
		    strings_has(&line->methods, w->method));
	return (w->method == NULL || w->writes || method_reads(w->method) ||
	    strings_has(&line->methods, w->method));
}

static void
name_rule(struct host_verdict *v)
{
	if (v->line != NULL && v->line->where.file != NULL)
		(void)snprintf(v->rule, sizeof(v->rule), "%s:%u",
		    v->line->where.file, v->line->where.line);
	else if (v->grant != NULL)
		(void)snprintf(v->rule, sizeof(v->rule), "grant");
	else
		(void)snprintf(v->rule, sizeof(v->rule), "%s",
		    refusal_word(v->why));
}

/* The first deny line for it, or NULL. */
static const struct cf_host *
denied(const struct cf_egress *e, const struct want *w)
{
	const struct cf_host *line;
	size_t i;

	for (i = 0; i < e->nhosts; i++) {
		line = &e->hosts[i];
		if (!line->allow && line_host(line, w->host) &&
		    line_port(line, w->port) && line_method(line, w))
			return (line);
	}
	return (NULL);
}

/* Every allow line for it gives its flags; the first one's is the name. */
static void
allowed(const struct cf_egress *e, const struct want *w, struct host_verdict *v)
{
	const struct cf_host *line;
	size_t i;

	for (i = 0; i < e->nhosts; i++) {
		line = &e->hosts[i];
		if (!line->allow || !line_host(line, w->host))
			continue;
		if (!line_port(line, w->port)) {
			if (v->why == REFUSE_NOT_LISTED)
				v->why = REFUSE_PORT;
			continue;
		}
		if (!line_method(line, w)) {
			if (v->why != REFUSE_NOT)
				v->why = REFUSE_METHOD;
			continue;
		}
		v->flags |= line->flags;
		if (v->line == NULL)
			v->line = line;
		v->why = REFUSE_NOT;
	}
}

void
hosts_judge(const struct cf_egress *e, const struct grants *grants,
    const struct want *w, uint64_t now, struct host_verdict *v)
{
	memset(v, 0, sizeof(*v));
	v->why = REFUSE_NOT_LISTED;
	if (e == NULL || !e->on)
		v->why = REFUSE_NO_PROFILE;
	else if ((v->line = denied(e, w)) != NULL)
		v->why = REFUSE_DENIED;
	else {
		allowed(e, w, v);
		if (v->why != REFUSE_NOT && (v->grant = granted(grants, w,
		    now, &v->why)) != NULL)
			v->why = REFUSE_NOT;
		if (v->why == REFUSE_NOT_LISTED && w->host->is_address)
			v->why = REFUSE_LITERAL;
	}
	if (WITHOUT(egress_rules) && e != NULL)
		v->why = REFUSE_NOT;
	name_rule(v);
}

void
hosts_judge_name(const struct cf_egress *e, const struct grants *grants,
    const struct host *host, uint64_t now, struct host_verdict *v)
{
	const struct cf_host *line;
	size_t i;

	memset(v, 0, sizeof(*v));
	v->why = REFUSE_NOT_LISTED;
	if (e == NULL || !e->on)
		v->why = REFUSE_NO_PROFILE;
	for (i = 0; v->why != REFUSE_NO_PROFILE && i < e->nhosts; i++) {
		line = &e->hosts[i];
		if (!line_host(line, host))
			continue;
		if (line->allow && v->line == NULL) {
			v->line = line;
			v->why = REFUSE_NOT;
		} else if (!line->allow && line->nports == 0 &&
		    line->methods.n == 0) {
			v->line = line;
			v->why = REFUSE_DENIED;
			break;
		}
	}
	for (i = 0; v->why == REFUSE_NOT_LISTED && grants != NULL &&
	    i < grants->n; i++)
		if (alive(&grants->v[i], now) &&
		    strcmp(grants->v[i].name, host->name) == 0) {
			v->grant = &grants->v[i];
			v->why = REFUSE_NOT;
		}
	name_rule(v);
}
