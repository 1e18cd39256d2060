/*
 * The life of a connection: it is accepted, its bytes come and go, it is
 * refused or ends, and policyd hears of that.
 */
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "conn_int.h"
#include "hello.h"
#include "log.h"
#include "proc.h"
#include "socks.h"
#include "without.h"

#define ACCEPT_MAX	16	/* at a time */
#define SPARE		8	/* over the limit: accepted to be told */
#define LINGER_MS	2000	/* for a client to take its answer */
#define THROWN_MAX	(1024 * 1024)	/* bytes that it may send meanwhile */
#define PAUSE_MS	100
#define FULL_MS		1000	/* no fds, or no connections left */
#define FDS_OWN		256	/* of the process, beyond connections */

static size_t total;		/* connections of all neurons */

void
conn_timer(struct conn *c, uint64_t ms)
{
	struct timeval tv = {
		.tv_sec = (time_t)(ms / 1000),
		.tv_usec = (suseconds_t)(ms % 1000 * 1000)
	};

	evtimer_add(&c->timer, &tv);
}

void
conn_listen(struct conn *c, int on)
{
	if (!on)
		event_del(&c->ev);
	else if (!event_pending(&c->ev, EV_READ, NULL))
		event_add(&c->ev, NULL);
}

void
conn_passes(struct conn *c, const struct host_verdict *v)
{
	free(c->rule);
	c->rule = strdup(v->rule);
	c->flags = v->flags;
	c->let = now_ms();
	c->passed = 1;
}

void
conn_log(struct conn *c, enum egress_end end)
{
	struct passed p = {
		.via = c->via, .end = end, .port = c->port, .began = c->let,
		.host = c->host.name, .address = c->address, .rule = c->rule,
		.up = c->early_up, .down = c->early_down
	};

	if (!c->passed)
		return;
	if (c->relay != NULL) {
		p.up += relay_up(c->relay);
		p.down += relay_down(c->relay);
	} else if (c->http != NULL)
		http_bytes(c, &p.up, &p.down);
	report_passed(c->neuron, &p);
	c->passed = 0;
}

void
conn_end(struct conn *c, enum egress_end end)
{
	struct neuron *n = c->neuron;

	conn_log(c, end);
	reach_cancel(c->reach);
	relay_free(c->relay);
	http_free(c->http);
	event_del(&c->ev);
	event_del(&c->out_ev);
	event_del(&c->timer);
	event_del(&c->up_ev);
	close(c->client);
	if (c->up != -1)
		close(c->up);
	buf_free(&c->in);
	buf_free(&c->out);
	buf_free(&c->first);
	buf_free(&c->answer);
	free(c->rule);
	TAILQ_REMOVE(&n->conns, c, entry);
	n->nconns--;
	total--;
	free(c);
}

/* ---- what goes to the client ---- */

int
conn_flush(struct conn *c)
{
	while (buf_size(&c->out) > 0) {
		if (buf_send(&c->out, c->client) != -1)
			continue;
		if (errno == EAGAIN) {
			event_add(&c->out_ev, NULL);
			return (0);
		}
		conn_end(c, EGRESS_END_FAILED);
		return (-1);
	}
	if (c->flushed != NULL)
		c->flushed(c);
	return (0);
}

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)conn_flush(arg);
}

/*
 * The answer is out.  Closing now would reset the connection where the client
 * has sent more than was read, and it would never see the answer.
 */
static void
linger(struct conn *c)
{
	c->flushed = NULL;
	(void)shutdown(c->client, SHUT_WR);
	conn_listen(c, 1);
}

static void
linger_late(struct conn *c)
{
	conn_end(c, EGRESS_END_CLOSED);
}

void
conn_finish(struct conn *c)
{
	conn_log(c, EGRESS_END_CLOSED);
	reach_cancel(c->reach);
	c->reach = NULL;
	http_free(c->http);
	c->http = NULL;
	event_del(&c->up_ev);
	if (c->up != -1)
		close(c->up);
	c->up = -1;
	buf_free(&c->in);
	c->closing = c->deaf = 1;
	c->flushed = linger;
	c->late = linger_late;
	conn_timer(c, LINGER_MS);
	(void)conn_flush(c);
}

/* ---- refusals ---- */

static void
denied(struct conn *c, enum refusal why, const char *detail, const char *rule,
    const char *address)
{
	if (refusal_denial(why)) {
		report_denied(c->neuron, why, c->via, c->host.name, c->port,
		    address, rule, detail);
		c->passed = 0;
	} else
		conn_log(c, EGRESS_END_FAILED);
}

void
conn_refuse_http(struct conn *c, enum refusal why, const char *detail,
    const char *rule, const char *address, int head)
{
	char *text;
	size_t size;

	denied(c, why, detail, rule, address);
	text = refusal_answer(why, detail, c->host.name[0] == '\0' ? NULL :
	    c->host.name, rule, head, &size);
	if (text == NULL || buf_add(&c->out, text, size) == -1) {
		free(text);
		conn_end(c, EGRESS_END_FAILED);
		return;
	}
	free(text);
	conn_finish(c);
}

static void
refuse_socks(struct conn *c, enum refusal why)
{
	uint8_t reply[SOCKS_REPLY_SIZE];

	socks_reply(refusal_socks(why), reply);
	(void)buf_add(&c->out, reply, sizeof(reply));
	conn_finish(c);
}

static void
refuse_tls(struct conn *c, enum refusal why)
{
	uint8_t alert[HELLO_ALERT_SIZE];

	/* What is no TLS would not know what it is told. */
	if (why != REFUSE_NOT_TLS) {
		hello_alert(why, alert);
		(void)buf_add(&c->out, alert, sizeof(alert));
	}
	conn_finish(c);
}

void
conn_refuse(struct conn *c, enum refusal why, const char *detail,
    const char *rule, const char *address)
{
	/* In a tunnel that is open already nothing but TLS is expected. */
	int tls = c->which == LISTENER_TLS || c->up != -1;

	if (!tls && c->via != EGRESS_VIA_SOCKS) {
		conn_refuse_http(c, why, detail, rule, address, 0);
		return;
	}
	denied(c, why, detail, rule, address);
	if (tls)
		refuse_tls(c, why);
	else
		refuse_socks(c, why);
}

/* ---- what comes from the client ---- */

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	uint8_t thrown[READ_SIZE];
	struct conn *c = arg;
	ssize_t n;

	(void)what;
	if (c->deaf) {
		n = recv(fd, thrown, sizeof(thrown), 0);
		if (n > 0 && (c->thrown += (size_t)n) > THROWN_MAX)
			n = 0;
		if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
			conn_end(c, EGRESS_END_CLOSED);
		return;
	}
	n = buf_read(&c->in, fd, c->http != NULL ? http_read_size(c) :
	    READ_SIZE);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		conn_end(c, n == 0 ? EGRESS_END_CLOSED : EGRESS_END_FAILED);
		return;
	}
	c->readable(c);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;

	(void)fd;
	(void)what;
	c->late(c);
}

static void
head_late(struct conn *c)
{
	conn_end(c, EGRESS_END_IDLE);
}

/* ---- connections of a neuron ---- */

static struct conn *
conn_new(struct neuron *n, unsigned which, int fd)
{
	struct conn *c;
	int on = 1;

	if ((c = calloc(1, sizeof(*c))) == NULL)
		return (NULL);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c->neuron = n;
	c->which = which;
	c->client = fd;
	c->up = -1;
	c->began = now_ms();
	c->late = head_late;
	event_assign(&c->ev, proc_base(), fd, EV_READ | EV_PERSIST,
	    on_readable, c);
	event_assign(&c->out_ev, proc_base(), fd, EV_WRITE, on_writable, c);
	evtimer_assign(&c->timer, proc_base(), on_timer, c);
	/* Assigned, so that it can be deleted. */
	evtimer_assign(&c->up_ev, proc_base(), on_timer, c);
	conn_timer(c, HEAD_MS);
	TAILQ_INSERT_TAIL(&n->conns, c, entry);
	n->nconns++;
	total++;
	return (c);
}

/* One too many: it is told so, if it has said how it wants to hear it. */
static void
over_limit(struct conn *c)
{
	static const uint8_t socks[] = { SOCKS_VERSION, 0xff };
	uint8_t first = 0;

	(void)recv(c->client, &first, 1, MSG_PEEK);
	c->via = c->which == LISTENER_TLS ? EGRESS_VIA_TLS : c->which ==
	    LISTENER_PLAIN ? EGRESS_VIA_PLAIN : first == SOCKS_VERSION ?
	    EGRESS_VIA_SOCKS : EGRESS_VIA_HTTP;
	if (c->via != EGRESS_VIA_SOCKS) {
		conn_refuse(c, REFUSE_CONNECTIONS, NULL, NULL, NULL);
		return;
	}
	denied(c, REFUSE_CONNECTIONS, NULL, NULL, NULL);
	(void)buf_add(&c->out, socks, sizeof(socks));
	conn_finish(c);
}

static int
fds_left(void)
{
	size_t most = proc_nofile() > FDS_OWN * 2 ?
	    (proc_nofile() - FDS_OWN) / 2 : FDS_OWN / 2;

	return (total < most);
}

void
conns_accept(struct neuron *n, unsigned which, int fd)
{
	uint64_t most = neuron_limit(n, LIMIT_EGRESS_CONNECTIONS);
	struct conn *c;
	int i, client;

	for (i = 0; i < ACCEPT_MAX; i++) {
		if (report_busy()) {
			neuron_pause(n, PAUSE_MS);
			return;
		}
		if (!fds_left() || (n->nconns >= most + SPARE &&
		    !WITHOUT(egress_connections))) {
			neuron_pause(n, n->nconns >= most ? PAUSE_MS :
			    FULL_MS);
			return;
		}
		client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (client == -1) {
			if (errno != EAGAIN && errno != EINTR &&
			    errno != ECONNABORTED) {
				log_warnx_of(&(struct log_about){
				    .neuron = n->id }, "neuron %s: accept: %s",
				    n->id, strerrordesc_np(errno));
				neuron_pause(n, FULL_MS);
			}
			return;
		}
		if ((c = conn_new(n, which, client)) == NULL) {
			close(client);
			neuron_pause(n, FULL_MS);
			return;
		}
		if (n->nconns > most && !WITHOUT(egress_connections))
			over_limit(c);
		else
			front_start(c);
	}
}

void
conns_close(struct neuron *n, enum egress_end end)
{
	struct conn *c;

	while ((c = TAILQ_FIRST(&n->conns)) != NULL)
		conn_end(c, end);
}

/* 1 if a tunnel may not go on. */
static int
tunnel_cut(struct conn *c)
{
	struct host_verdict v;

	(void)neuron_judge(c->neuron, &c->host, c->port, NULL, NULL, &v);
	if (v.why == REFUSE_NOT || v.why == REFUSE_BYTES)
		return (0);
	/* What was granted once had no line, and still has none. */
	return (!c->once || v.why == REFUSE_DENIED ||
	    v.why == REFUSE_NO_PROFILE);
}

void
conns_judge_again(struct neuron *n)
{
	struct conn *c, *next;

	if (WITHOUT(egress_cut))
		return;
	TAILQ_FOREACH_SAFE(c, &n->conns, entry, next) {
		if (c->closing || (!c->passed && (c->http == NULL ||
		    !c->fixed)))
			continue;
		if (c->http != NULL ? http_cut(c) : tunnel_cut(c))
			conn_end(c, EGRESS_END_REVOKED);
	}
}
