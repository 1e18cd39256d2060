/*
 * Accepting: paused at the cap on connections and while there are no fds.
 */
#include <event2/event.h>
#include <sys/socket.h>
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "conn_internal.h"
#include "log.h"

#define ACCEPT_BURST	16	/* before other events get their turn */
#define SAY_EVERY	10	/* s between lines on a full socket */

static const struct timeval fd_pause = { .tv_sec = 1 };

static struct event	*accepting;
static struct event	*resume;
static int		 listen_fd = -1;
static int		 paused;

static void
pause_accept(const struct timeval *tv)
{
	if (!paused)
		event_del(accepting);
	paused = 1;
	if (tv != NULL)
		evtimer_add(resume, tv);
}

static void
resume_accept(void)
{
	if (paused && accepting != NULL)
		event_add(accepting, NULL);
	paused = 0;
}

static void
on_resume(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	resume_accept();
}

/* Whoever fills the socket is not to fill the log. */
static void
say_full(void)
{
	static time_t said;
	time_t now = time(NULL);

	if (said != 0 && now - said < SAY_EVERY)
		return;
	said = now;
	log_warnx("paused accepting: limit \"%s\" (%u) is reached",
	    limit_table[LIMIT_CONNECTIONS].keyword, conns_count());
}

static void
on_accept(evutil_socket_t fd, short what, void *arg)
{
	int i, c;

	(void)what;
	(void)arg;
	for (i = 0; i < ACCEPT_BURST; i++) {
		if (conns_count() >= conns_limits()->v[LIMIT_CONNECTIONS]) {
			say_full();
			pause_accept(NULL);
			return;
		}
		c = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (c == -1 && (errno == EMFILE || errno == ENFILE ||
		    errno == ENOBUFS || errno == ENOMEM)) {
			log_warn("paused accepting for a second");
			pause_accept(&fd_pause);
			return;
		}
		if (c == -1)
			return;
		if (conn_new(c) == NULL)
			log_warnx("a connection was dropped: memory");
	}
}

void
listen_config(int fd)
{
	listen_stop();
	listen_fd = fd;
	accepting = event_new(conns_base(), fd, EV_READ | EV_PERSIST,
	    on_accept, NULL);
	resume = evtimer_new(conns_base(), on_resume, NULL);
	if (accepting == NULL || resume == NULL ||
	    event_add(accepting, NULL) == -1)
		fatalx("listening socket: memory");
}

void
listen_room(void)
{
	if (paused && resume != NULL && !evtimer_pending(resume, NULL))
		resume_accept();
}

void
listen_stop(void)
{
	if (accepting != NULL)
		event_free(accepting);
	if (resume != NULL)
		event_free(resume);
	if (listen_fd != -1)
		close(listen_fd);
	accepting = resume = NULL;
	listen_fd = -1;
	paused = 0;
}
