/*
 * The life of a connection.
 */
#include <event2/event.h>
#include <sys/socket.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conn_internal.h"
#include "log.h"
#include "policy.h"
#include "proc.h"

#define IDLE_TIME	60	/* s between requests */
#define LINGER_TIME	2	/* s for a client to read why we closed */
#define LINGER_TICKS	15	/* of them while it goes on sending */
#define STALL_TICKS	4	/* CONN_TICKs that an answer may lie unread */
#define INPUT_MAX	(128 * 1024)

static TAILQ_HEAD(, conn) conns = TAILQ_HEAD_INITIALIZER(conns);
static struct limits	 limits;
static enum cf_plane	 plane;
static uint32_t		 last_number;

const struct limits *
conns_limits(void)
{
	return (&limits);
}

enum cf_plane
conns_plane(void)
{
	return (plane);
}

struct event_base *
conns_base(void)
{
	return (proc_base());
}

unsigned
conns_from(unsigned listener, const char *source)
{
	struct conn *c;
	unsigned n = 0;

	TAILQ_FOREACH(c, &conns, entry)
		n += c->listener == listener && strcmp(c->source, source) == 0;
	return (n);
}

void
conn_renumber(struct conn *c)
{
	do
		last_number++;
	while (conn_find(last_number) != NULL);
	c->number = last_number;
}

/*
 * Its requests' ids: no two of this process are the same, and another's begin
 * elsewhere.
 */
static uint64_t
next_rid(void)
{
	static uint64_t last;

	if (last == 0)
		last = id_random64();
	if (++last == 0)
		last++;
	return (last);
}

void
conn_soon(struct conn *c)
{
	event_active(c->next, EV_TIMEOUT, 0);
}

void
conn_set_timer(struct conn *c, long seconds)
{
	struct timeval tv = { .tv_sec = seconds };

	evtimer_add(c->timer, &tv);
}

/* ---- ends ---- */

static void
undress(struct conn *c)
{
	const struct conn_dress *dress = c->dress;

	c->dress = NULL;
	c->extra[0] = '\0';
	if (dress != NULL)
		dress->end(c->dress_arg);
}

void
conn_free(struct conn *c)
{
	const struct conn_ops *ops = c->ops;

	c->ops = NULL;
	if (ops != NULL)
		ops->gone(c, c->arg);
	undress(c);
	if (c->peer == PEER_KNOWN || c->peer == PEER_OVER)
		policy_peer_gone(c->handle);
	conn_body_done(c);
	event_free(c->closed);
	event_free(c->timer);
	event_free(c->next);
	event_free(c->push);
	bufferevent_free(c->bev);
	TAILQ_REMOVE(&conns, c, entry);
	free(c->who);
	free(c->missing);
	explicit_bzero(c->head.token, sizeof(c->head.token));
	listen_room(c->listener);
	free(c);
}

static void
linger(struct conn *c)
{
	c->state = CONN_LINGER;
	(void)shutdown(bufferevent_getfd(c->bev), SHUT_WR);
	evbuffer_drain(bufferevent_get_input(c->bev), SIZE_MAX);
	conn_set_timer(c, LINGER_TIME);
}

/* ---- answers ---- */

void
conn_hold(struct conn *c, const struct conn_ops *ops, void *arg)
{
	c->ops = ops;
	c->arg = arg;
}

void
conn_release(struct conn *c)
{
	c->ops = NULL;
	c->arg = NULL;
}

void
conn_set_dress(struct conn *c, const struct conn_dress *dress, void *arg)
{
	c->dress = dress;
	c->dress_arg = arg;
}

void
conn_answered(struct conn *c)
{
	conn_release(c);
	undress(c);
	conn_body_done(c);
	c->state = CONN_FLUSH;
	c->stalled = 0;
	conn_set_timer(c, CONN_TICK);
}

void
conn_cut(struct conn *c)
{
	c->close = 1;
	conn_answered(c);
	if (evbuffer_get_length(conn_output(c)) == 0)
		linger(c);
}

/* The client has read the whole answer. */
static void
next_request(struct conn *c)
{
	static const struct timeval now;

	if (c->close) {
		linger(c);
		return;
	}
	c->state = CONN_HEAD;
	c->rid = next_rid();
	conn_set_timer(c, IDLE_TIME);
	/* One that came along with it: others have their turn first. */
	if (evbuffer_get_length(bufferevent_get_input(c->bev)) > 0)
		evtimer_add(c->next, &now);
}

/* ---- events ---- */

static void
on_read(struct bufferevent *bev, void *arg)
{
	struct conn *c = arg;

	if (c->state == CONN_LINGER) {
		c->still = 1;
		evbuffer_drain(bufferevent_get_input(bev), SIZE_MAX);
	} else if (c->state == CONN_BUSY && c->ops != NULL &&
	    c->ops->input != NULL)
		c->ops->input(c, c->arg);
	else
		conn_step(c);
}

/* The client took some, and there is room again. */
static void
written(struct conn *c)
{
	if (c->state == CONN_BUSY && c->ops != NULL &&
	    c->ops->writable != NULL)
		c->ops->writable(c, c->arg);
	if (c->state == CONN_FLUSH &&
	    evbuffer_get_length(conn_output(c)) == 0)
		next_request(c);
}

static void
on_write(struct bufferevent *bev, void *arg)
{
	struct conn *c = arg;

	written(c);
	if (evbuffer_get_length(conn_output(c)) == 0)
		bufferevent_disable(bev, EV_WRITE);
}

/*
 * What was put in this turn of the loop.  Most clients have room for all of
 * it: the bufferevent, which would have to ask first, has what they have not.
 */
static void
on_push(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;
	struct evbuffer *out = conn_output(c);
	int n, saved;

	(void)what;
	(void)fd;
	if ((bufferevent_get_enabled(c->bev) & EV_WRITE) != 0 ||
	    evbuffer_get_length(out) == 0)
		return;
	evbuffer_unfreeze(out, 1);
	n = evbuffer_write(out, bufferevent_getfd(c->bev));
	saved = errno;
	evbuffer_freeze(out, 1);
	if (n == -1 && saved != EAGAIN && saved != EINTR) {
		conn_free(c);
		return;
	}
	if (evbuffer_get_length(out) > 0)
		bufferevent_enable(c->bev, EV_WRITE);
	if (evbuffer_get_length(out) <= CONN_PENDING_MAX / 2)
		written(c);
}

static void
on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	(void)what;
	conn_free(arg);
}

/*
 * The client closed its socket, or its half.  The bufferevent would not see it
 * while it does not read.
 */
static void
on_closed(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	conn_free(arg);
}

static void
on_next(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;

	(void)fd;
	(void)what;
	if (c->ended)
		conn_free(c);
	else
		conn_step(c);
}

/* 1 if the client has left its answer unread for too long. */
static int
is_stalled(struct conn *c)
{
	unsigned most = STALL_TICKS;

	if (c->ops != NULL && c->ops->patience != 0)
		most = c->ops->patience;
	if (evbuffer_get_length(conn_output(c)) == 0 ||
	    c->sent != c->sent_before)
		c->stalled = 0;
	else
		c->stalled++;
	c->sent_before = c->sent;
	return (c->stalled >= most);
}

static void
on_tick(struct conn *c)
{
	if (is_stalled(c)) {
		log_debug("connection %u: dropped: its client reads nothing",
		    c->number);
		conn_free(c);
		return;
	}
	conn_set_timer(c, CONN_TICK);
	if (c->state == CONN_BUSY && c->ops != NULL && c->ops->tick != NULL)
		c->ops->tick(c, c->arg);
}

/*
 * A client that sends its body before it reads would find a broken pipe in
 * the place of our answer.  So it may send on for a while, to nobody.
 */
static void
on_linger(struct conn *c)
{
	if (!c->still || ++c->lingered >= LINGER_TICKS) {
		conn_free(c);
		return;
	}
	c->still = 0;
	conn_set_timer(c, LINGER_TIME);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;

	(void)fd;
	(void)what;
	switch (c->state) {
	case CONN_HEAD:
		if (c->scanned == 0) {
			conn_free(c);
			break;
		}
		c->close = 1;
		memset(&c->head, 0, sizeof(c->head));
		conn_error(c, API_BAD_REQUEST,
		    "the head took over %d s to come", HEAD_TIME);
		break;
	case CONN_BODY:
		conn_error(c, API_BAD_REQUEST,
		    "no byte of the body came for %d s", BODY_TIME);
		break;
	case CONN_AUTH:
	case CONN_PEER:
		conn_error_retry(c, API_UNAVAILABLE, 1,
		    "policyd does not answer");
		break;
	case CONN_BUSY:
	case CONN_FLUSH:
		on_tick(c);
		break;
	case CONN_LINGER:
		on_linger(c);
		break;
	}
}

static void
on_output(struct evbuffer *buf, const struct evbuffer_cb_info *info,
    void *arg)
{
	struct conn *c = arg;

	(void)buf;
	c->sent += info->n_deleted;
	if (info->n_added > 0 &&
	    (bufferevent_get_enabled(c->bev) & EV_WRITE) == 0)
		event_active(c->push, EV_TIMEOUT, 0);
}

/* ---- beginnings ---- */

static void
introduce(struct conn *c)
{
	/* Its requests say themselves whose they are. */
	if ((listen_of(c)->flags & LISTEN_TOKEN) != 0) {
		c->peer = PEER_UNASKED;
		return;
	}
	if (policy_up() &&
	    policy_peer(c, bufferevent_getfd(c->bev)) == 0)
		c->peer = PEER_WAITING;
	else
		c->peer = PEER_UNASKED;
}

struct conn *
conn_new(int fd, unsigned listener, const char *source)
{
	struct conn *c;

	if ((c = calloc(1, sizeof(*c))) == NULL) {
		close(fd);
		return (NULL);
	}
	c->bev = bufferevent_socket_new(proc_base(), fd,
	    BEV_OPT_CLOSE_ON_FREE);
	c->closed = event_new(proc_base(), fd, EV_CLOSED | EV_PERSIST,
	    on_closed, c);
	c->timer = evtimer_new(proc_base(), on_timer, c);
	c->next = evtimer_new(proc_base(), on_next, c);
	c->push = evtimer_new(proc_base(), on_push, c);
	if (c->bev == NULL || c->closed == NULL || c->timer == NULL ||
	    c->next == NULL || c->push == NULL ||
	    event_add(c->closed, NULL) == -1)
		goto fail;
	c->listener = listener;
	c->rid = next_rid();
	(void)strlcpy(c->source, source, sizeof(c->source));
	conn_renumber(c);
	TAILQ_INSERT_TAIL(&conns, c, entry);
	bufferevent_setcb(c->bev, on_read, on_write, on_event, c);
	bufferevent_setwatermark(c->bev, EV_READ, 0, INPUT_MAX);
	bufferevent_setwatermark(c->bev, EV_WRITE, CONN_PENDING_MAX / 2, 0);
	bufferevent_set_max_single_read(c->bev, INPUT_MAX);
	bufferevent_set_max_single_write(c->bev, CONN_PENDING_MAX);
	evbuffer_add_cb(conn_output(c), on_output, c);
	introduce(c);
	conn_set_timer(c, HEAD_TIME);
	bufferevent_disable(c->bev, EV_WRITE);
	bufferevent_enable(c->bev, EV_READ);
	return (c);
fail:
	if (c->closed != NULL)
		event_free(c->closed);
	if (c->timer != NULL)
		event_free(c->timer);
	if (c->next != NULL)
		event_free(c->next);
	if (c->push != NULL)
		event_free(c->push);
	if (c->bev != NULL)
		bufferevent_free(c->bev);
	else
		close(fd);
	free(c);
	return (NULL);
}

/* ---- who they are ---- */

struct conn *
conn_find(uint32_t number)
{
	struct conn *c;

	TAILQ_FOREACH(c, &conns, entry)
		if (c->number == number)
			return (c);
	return (NULL);
}

static void
set_who(struct conn *c, const char *who, const char *missing)
{
	free(c->who);
	free(c->missing);
	c->missing = NULL;
	if ((c->who = strdup(who)) == NULL || (missing != NULL &&
	    (c->missing = strdup(missing)) == NULL))
		fatal("a peer's name");
	/* Not from here: this runs inside the channel's handler. */
	conn_soon(c);
}

void
conn_peer_known(struct conn *c, uint64_t handle, uint32_t principal,
    const char *who)
{
	struct conn *other;
	uint64_t n = 0;

	TAILQ_FOREACH(other, &conns, entry)
		n += other->peer == PEER_KNOWN &&
		    other->principal == principal;
	c->handle = handle;
	c->principal = principal;
	c->peer = n < limits.v[LIMIT_CONNECTIONS_UID] ? PEER_KNOWN :
	    PEER_OVER;
	set_who(c, who, NULL);
}

void
conn_peer_refused(struct conn *c, const char *who, const char *missing)
{
	c->peer = PEER_REFUSED;
	set_who(c, who, missing);
}

void
conn_auth_refused(struct conn *c, int status, unsigned retry,
    const char *who, const char *missing)
{
	if (c->peer != PEER_WAITING) {
		/* policyd has forgotten its handle. */
		c->peer = PEER_UNASKED;
		c->ended = 1;
		conn_soon(c);
		return;
	}
	c->refused = status;
	c->retry = retry;
	conn_peer_refused(c, who, missing);
}

void
conns_introduce(void)
{
	struct conn *c;

	TAILQ_FOREACH(c, &conns, entry)
		introduce(c);
}

void
conns_forget(void)
{
	struct conn *c;

	TAILQ_FOREACH(c, &conns, entry) {
		c->peer = PEER_UNASKED;
		conn_soon(c);
	}
}

void
conns_config(const struct slice *s, const int *fds)
{
	limits = s->limits;
	plane = s->listens[0].plane;
	listen_config(s, fds);
}

void
conns_stop(void)
{
	struct conn *c;

	listen_stop();
	while ((c = TAILQ_FIRST(&conns)) != NULL)
		conn_free(c);
}
