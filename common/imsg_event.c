/*
 * Channels in a libevent loop.
 */
#include <event2/event.h>
#include <stdlib.h>

#include "imsg_internal.h"
#include "log.h"

struct glue {
	struct event	*read;
	struct event	*write;		/* the socket was full */
	struct event	*later;		/* retries a send; tells of a death */
};

/*
 * Too many fds in flight leave the socket writable: only time helps then, and
 * waiting for the socket would spin.
 */
static const struct timeval retry = { .tv_sec = 0, .tv_usec = 2000 };

static void
glue_wait(struct channel *ch)
{
	struct glue *g = ch->glue;

	if (ch->starved)
		event_add(g->later, &retry);
	else
		event_add(g->write, NULL);
}

static void
on_read(evutil_socket_t fd, short what, void *arg)
{
	struct channel *ch = arg;

	(void)fd;
	(void)what;
	channel_hold(ch);
	channel_dispatch(ch, 0);
	/* An owner that keeps a dead channel must not be woken for ever. */
	if (ch->dead && ch->glue != NULL)
		event_del(((struct glue *)ch->glue)->read);
	channel_release(ch);
}

static void
on_write(evutil_socket_t fd, short what, void *arg)
{
	struct channel *ch = arg;

	(void)fd;
	(void)what;
	channel_hold(ch);
	if (!ch->dead && channel_flush(ch) == 0)
		glue_wait(ch);
	channel_tell(ch);
	channel_release(ch);
}

static void
glue_wake(struct channel *ch)
{
	struct glue *g = ch->glue;

	if (ch->dead)
		event_active(g->later, EV_TIMEOUT, 0);
	else if (!event_pending(g->write, EV_WRITE, NULL) &&
	    !evtimer_pending(g->later, NULL))
		glue_wait(ch);
}

static void
glue_soon(struct channel *ch, unsigned us)
{
	const struct timeval tv = {
		.tv_sec = us / 1000000, .tv_usec = us % 1000000
	};
	struct glue *g = ch->glue;

	if (us == 0)
		event_active(g->later, EV_TIMEOUT, 0);
	else if (!evtimer_pending(g->later, NULL))
		evtimer_add(g->later, &tv);
}

static void
glue_calm(struct channel *ch)
{
	event_del(((struct glue *)ch->glue)->later);
}

static void
glue_free(struct glue *g)
{
	struct event *all[] = { g->read, g->write, g->later };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] != NULL)
			event_free(all[i]);
	free(g);
}

static void
glue_detach(struct channel *ch)
{
	struct glue *g = ch->glue;

	ch->wake = NULL;
	ch->soon = NULL;
	ch->calm = NULL;
	ch->detach = NULL;
	ch->glue = NULL;
	glue_free(g);
}

int
channel_attach(struct channel *ch, struct event_base *base)
{
	struct glue *g;

	if ((g = calloc(1, sizeof(*g))) == NULL)
		return (-1);
	g->read = event_new(base, ch->fd, EV_READ | EV_PERSIST, on_read, ch);
	g->write = event_new(base, ch->fd, EV_WRITE, on_write, ch);
	g->later = evtimer_new(base, on_write, ch);
	if (g->read == NULL || g->write == NULL || g->later == NULL ||
	    event_add(g->read, NULL) == -1) {
		glue_free(g);
		return (-1);
	}
	ch->glue = g;
	ch->wake = glue_wake;
	ch->soon = glue_soon;
	ch->calm = glue_calm;
	ch->detach = glue_detach;
	if (ch->dead || !TAILQ_EMPTY(&ch->queue))
		glue_wake(ch);
	return (0);
}
