/*
 * Accepting, on each listener for itself: paused at its cap on connections
 * and while there are no fds.
 */
#include <sys/socket.h>
#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conn_internal.h"
#include "log.h"

#define ACCEPT_BURST	16	/* before other events get their turn */
#define SAY_EVERY	10	/* s between lines on a full socket */

static const struct timeval fd_pause = { .tv_sec = 1 };

struct listener {
	struct conn_listen pub;
	struct event	*accepting;
	struct event	*resume;
	int		 fd;
	int		 paused;
	time_t		 said;		/* on the steady clock */
};

static struct listener	listeners[LISTENS_MAX];
static size_t		nlisteners;

const struct conn_listen *
listen_of(const struct conn *c)
{
	return (&listeners[c->listener].pub);
}

static void
pause_accept(struct listener *l, const struct timeval *tv)
{
	if (!l->paused)
		event_del(l->accepting);
	l->paused = 1;
	if (tv != NULL)
		evtimer_add(l->resume, tv);
}

static void
resume_accept(struct listener *l)
{
	if (l->paused && l->accepting != NULL)
		event_add(l->accepting, NULL);
	l->paused = 0;
}

static void
on_resume(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	resume_accept(arg);
}

/* Whoever fills the socket is not to fill the log. */
static void
say_full(struct listener *l)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (l->said != 0 && now.tv_sec - l->said < SAY_EVERY)
		return;
	l->said = now.tv_sec;
	log_warnx("paused accepting: limit \"%s\" (%u) is reached",
	    limit_table[LIMIT_CONNECTIONS].keyword, l->pub.count);
}

/* ---- where it comes from ---- */

union address {
	struct sockaddr		 any;
	struct sockaddr_in	 four;
	struct sockaddr_in6	 six;
};

/* A network of IPv6 has as many addresses as anybody wants: it is one. */
static void
source_six(struct in6_addr six, char source[CONN_SOURCE])
{
	char text[INET6_ADDRSTRLEN] = "?";

	if (IN6_IS_ADDR_LOOPBACK(&six)) {
		(void)strlcpy(source, "::1", CONN_SOURCE);
		return;
	}
	memset(&six.s6_addr[8], 0, 8);
	(void)inet_ntop(AF_INET6, &six, text, sizeof(text));
	(void)snprintf(source, CONN_SOURCE, "%s/64", text);
}

static void
source_text(const struct listener *l, const union address *a,
    char source[CONN_SOURCE])
{
	(void)strlcpy(source, "socket", CONN_SOURCE);
	if ((l->pub.flags & LISTEN_TCP) == 0)
		return;
	if (a->any.sa_family == AF_INET6)
		source_six(a->six.sin6_addr, source);
	else if (a->any.sa_family == AF_INET)
		(void)inet_ntop(AF_INET, &a->four.sin_addr, source,
		    CONN_SOURCE);
}

/* One host alone is not to keep all others away; a proxy is on this one. */
static int
too_many(const struct listener *l, const char *source)
{
	if ((l->pub.flags & LISTEN_TCP) == 0 || strcmp(source, "::1") == 0 ||
	    strncmp(source, "127.", 4) == 0)
		return (0);
	return (conns_from((unsigned)(l - listeners), source) >=
	    conns_limits()->v[LIMIT_CONNECTIONS_UID]);
}

/* ---- accepting ---- */

static void
accepted(struct listener *l, int fd, const union address *a)
{
	char source[CONN_SOURCE];

	source_text(l, a, source);
	if (too_many(l, source)) {
		log_debug("%s has as many connections as one may", source);
		close(fd);
	} else if (conn_new(fd, (unsigned)(l - listeners), source) == NULL)
		log_warnx("a connection was dropped: memory");
	else
		l->pub.count++;
}

static void
on_accept(evutil_socket_t fd, short what, void *arg)
{
	struct listener *l = arg;
	union address a;
	socklen_t len;
	int i, c;

	(void)what;
	for (i = 0; i < ACCEPT_BURST; i++) {
		if (l->pub.count >= conns_limits()->v[LIMIT_CONNECTIONS]) {
			say_full(l);
			pause_accept(l, NULL);
			return;
		}
		memset(&a, 0, sizeof(a));
		len = sizeof(a);
		c = accept4(fd, (l->pub.flags & LISTEN_TCP) != 0 ? &a.any :
		    NULL, (l->pub.flags & LISTEN_TCP) != 0 ? &len : NULL,
		    SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (c == -1 && (errno == EMFILE || errno == ENFILE ||
		    errno == ENOBUFS || errno == ENOMEM)) {
			log_warn("paused accepting for a second");
			pause_accept(l, &fd_pause);
			return;
		}
		if (c == -1)
			return;
		accepted(l, c, &a);
	}
}

/* ---- the configuration ---- */

static void
listener_stop(struct listener *l)
{
	if (l->accepting != NULL)
		event_free(l->accepting);
	if (l->resume != NULL)
		event_free(l->resume);
	if (l->fd != -1)
		close(l->fd);
	l->accepting = l->resume = NULL;
	l->fd = -1;
	l->paused = 0;
	free(l->pub.address);
	l->pub.address = NULL;
	strings_free(&l->pub.hosts);
}

/* Connections that there are stay what they are: the lines are the same. */
static void
listener_start(struct listener *l, const struct cf_listen *conf, int fd)
{
	size_t i;

	l->fd = fd;
	l->pub.flags = conf->flags;
	if ((conf->flags & LISTEN_TCP) != 0 &&
	    (l->pub.address = strdup(conf->path)) == NULL)
		fatal("listening socket");
	for (i = 0; i < conf->hosts.n; i++)
		if (strings_add(&l->pub.hosts, conf->hosts.v[i]) == -1)
			fatal("listening socket");
	l->accepting = event_new(conns_base(), fd, EV_READ | EV_PERSIST,
	    on_accept, l);
	l->resume = evtimer_new(conns_base(), on_resume, l);
	if (l->accepting == NULL || l->resume == NULL ||
	    event_add(l->accepting, NULL) == -1)
		fatalx("listening socket: memory");
}

void
listen_config(const struct slice *s, const int *fds)
{
	size_t i;

	listen_stop();
	nlisteners = s->nlistens;
	for (i = 0; i < nlisteners; i++)
		listener_start(&listeners[i], &s->listens[i], fds[i]);
}

void
listen_room(unsigned i)
{
	struct listener *l = &listeners[i];

	l->pub.count--;
	if (l->paused && l->resume != NULL && !evtimer_pending(l->resume, NULL))
		resume_accept(l);
}

void
listen_stop(void)
{
	size_t i;

	for (i = 0; i < nlisteners; i++)
		listener_stop(&listeners[i]);
	nlisteners = 0;
}
