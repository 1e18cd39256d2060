/*
 * Names to addresses, by c-ares in a libevent loop.
 *
 * c-ares is kept from all files but those it reads as it starts, before the
 * drop: every option that it would look up is given to it, lookups are "b"
 * (DNS alone), aliases and search lists are off.
 */
#include <event2/event.h>
#include <event2/event_struct.h>
#include <ares.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "log.h"
#include "resolve.h"

#define TRY_MS		2000	/* of one server, doubled with each round */
#define TRIES		3
#define SOCKETS_MAX	16	/* that c-ares has open at a time */

struct resolve {
	TAILQ_ENTRY(resolve) entry;
	resolve_cb	*cb;		/* NULL: nobody waits any more */
	void		*arg;
	struct event	 timer;
	int		 asked;		/* c-ares will call back */
	int		 again;		/* it was interrupted by new servers */
	int		 inside;	/* of ask(): no answer may come now */
	int		 failed;	/* one came; the timer tells */
	char		 name[];
};

struct watch {
	struct event	 ev;
	ares_socket_t	 fd;
	int		 used;
};

static ares_channel	 channel;
static struct event_base *base;
static struct event	 tick;
static struct watch	 watches[SOCKETS_MAX];
static TAILQ_HEAD(, resolve) all = TAILQ_HEAD_INITIALIZER(all);

static void	ask(struct resolve *);
static void	rearm(void);

/* ---- c-ares in the loop ---- */

static void
on_socket(evutil_socket_t fd, short what, void *arg)
{
	(void)arg;
	ares_process_fd(channel, (what & EV_READ) ? fd : ARES_SOCKET_BAD,
	    (what & EV_WRITE) ? fd : ARES_SOCKET_BAD);
	rearm();
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	rearm();
}

static void
rearm(void)
{
	struct timeval tv;

	if (ares_timeout(channel, NULL, &tv) != NULL)
		evtimer_add(&tick, &tv);
	else
		evtimer_del(&tick);
}

/* c-ares wants to know of this socket, or no longer. */
static void
on_state(void *arg, ares_socket_t fd, int readable, int writable)
{
	struct watch *w = NULL;
	size_t i;

	(void)arg;
	for (i = 0; i < SOCKETS_MAX; i++) {
		if (watches[i].used && watches[i].fd == fd) {
			w = &watches[i];
			event_del(&w->ev);
			w->used = 0;
			break;
		}
		if (!watches[i].used && w == NULL)
			w = &watches[i];
	}
	if (!readable && !writable)
		return;
	if (w == NULL) {
		/* Its answer is never seen: the time-out ends the lookup. */
		log_warnx("resolver: over %d sockets", SOCKETS_MAX);
		return;
	}
	w->used = 1;
	w->fd = fd;
	event_assign(&w->ev, base, fd, (short)(EV_PERSIST |
	    (readable ? EV_READ : 0) | (writable ? EV_WRITE : 0)),
	    on_socket, NULL);
	event_add(&w->ev, NULL);
}

int
resolve_preload(void)
{
	static char lookups[] = "b";
	struct ares_options o = {
		.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
		.timeout = TRY_MS, .tries = TRIES, .ndots = 1,
		.lookups = lookups, .sock_state_cb = on_state
	};
	int error;

	if ((error = ares_library_init(ARES_LIB_INIT_ALL)) != ARES_SUCCESS ||
	    (error = ares_init_options(&channel, &o, ARES_OPT_FLAGS |
	    ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS |
	    ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB | ARES_OPT_SERVERS |
	    ARES_OPT_DOMAINS | ARES_OPT_SORTLIST)) != ARES_SUCCESS) {
		log_warnx("resolver: %s", ares_strerror(error));
		return (-1);
	}
	return (0);
}

void
resolve_attach(struct event_base *b)
{
	base = b;
	evtimer_assign(&tick, base, on_tick, NULL);
}

void
resolve_servers(const struct resolvconf *conf)
{
	struct ares_addr_port_node nodes[RESOLVCONF_SERVERS];
	struct resolve *r;
	size_t i;
	int error;

	memset(nodes, 0, sizeof(nodes));
	for (i = 0; i < conf->nservers; i++) {
		nodes[i].family = conf->servers[i].family;
		memcpy(&nodes[i].addr, conf->servers[i].bytes,
		    conf->servers[i].family == AF_INET ? 4 : 16);
		if (i > 0)
			nodes[i - 1].next = &nodes[i];
	}
	/* It takes no others while it asks: who waits is asked again. */
	TAILQ_FOREACH(r, &all, entry)
		r->again = r->asked && r->cb != NULL;
	ares_cancel(channel);
	error = ares_set_servers_ports(channel, conf->nservers == 0 ? NULL :
	    nodes);
	if (error != ARES_SUCCESS)
		log_warnx("resolver: servers: %s", ares_strerror(error));
	TAILQ_FOREACH(r, &all, entry) {
		if (!r->again)
			continue;
		r->again = 0;
		ask(r);
	}
	rearm();
}

/* ---- one lookup ---- */

static void
release(struct resolve *r)
{
	TAILQ_REMOVE(&all, r, entry);
	event_del(&r->timer);
	free(r);
}

static void
tell(struct resolve *r, enum refusal why, const struct address *v, size_t n,
    uint32_t ttl)
{
	resolve_cb *cb = r->cb;

	r->cb = NULL;
	event_del(&r->timer);
	cb(r->arg, why, v, n, ttl);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct resolve *r = arg;

	(void)fd;
	(void)what;
	if (r->cb != NULL)
		tell(r, r->failed ? REFUSE_UNRESOLVED : REFUSE_TIMEOUT, NULL,
		    0, 0);
	/* c-ares still holds it otherwise. */
	if (!r->asked)
		release(r);
}

static size_t
collect(const struct ares_addrinfo *ai, struct address *v, uint32_t *ttl)
{
	const struct ares_addrinfo_node *node;
	size_t n = 0;
	uint16_t port;

	*ttl = UINT32_MAX;
	for (node = ai->nodes; node != NULL; node = node->ai_next) {
		if (n == RESOLVE_MAX)
			return (0);
		if (address_of_sockaddr(node->ai_addr, &v[n], &port) == -1)
			continue;
		n++;
		if (node->ai_ttl >= 0 && (uint32_t)node->ai_ttl < *ttl)
			*ttl = (uint32_t)node->ai_ttl;
	}
	return (n);
}

static void
on_answer(void *arg, int status, int timeouts, struct ares_addrinfo *ai)
{
	struct address v[RESOLVE_MAX];
	struct resolve *r = arg;
	uint32_t ttl = 0;
	size_t n = 0;

	(void)timeouts;
	r->asked = 0;
	if (status == ARES_SUCCESS && ai != NULL)
		n = collect(ai, v, &ttl);
	if (ai != NULL)
		ares_freeaddrinfo(ai);
	if (r->again || r->inside)
		return;
	if (r->cb != NULL && n > 0)
		tell(r, REFUSE_NOT, v, n, ttl);
	else if (r->cb != NULL)
		tell(r, status == ARES_ETIMEOUT ? REFUSE_TIMEOUT :
		    REFUSE_UNRESOLVED, NULL, 0, 0);
	release(r);
}

static void
ask(struct resolve *r)
{
	static const struct ares_addrinfo_hints hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
		.ai_flags = ARES_AI_NOSORT
	};
	static const struct timeval now = { 0, 0 };

	r->asked = r->inside = 1;
	ares_getaddrinfo(channel, r->name, NULL, &hints, on_answer, r);
	r->inside = 0;
	if (!r->asked) {
		r->failed = 1;
		evtimer_add(&r->timer, &now);
	}
}

struct resolve *
resolve_start(const char *name, uint64_t ms, resolve_cb *cb, void *arg)
{
	struct timeval tv = {
		.tv_sec = (time_t)(ms / 1000),
		.tv_usec = (suseconds_t)(ms % 1000 * 1000)
	};
	size_t size = strlen(name) + 1;
	struct resolve *r;

	if ((r = calloc(1, sizeof(*r) + size)) == NULL)
		return (NULL);
	memcpy(r->name, name, size);
	r->cb = cb;
	r->arg = arg;
	evtimer_assign(&r->timer, base, on_timer, r);
	evtimer_add(&r->timer, &tv);
	TAILQ_INSERT_TAIL(&all, r, entry);
	ask(r);
	rearm();
	return (r);
}

void
resolve_cancel(struct resolve *r)
{
	if (r == NULL)
		return;
	r->cb = NULL;
	if (!r->asked)
		release(r);
}

void
resolve_stop(void)
{
	struct resolve *r;

	TAILQ_FOREACH(r, &all, entry)
		r->cb = NULL;
	ares_destroy(channel);
	ares_library_cleanup();
}
