/*
 * The tool fetch: fetch.c says whom to reach and what to say there, here it
 * is judged, reached and said.  Each hop is a request of its own, with its own
 * verdict and its own line in the log.
 */
#include <event2/event.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "fetch.h"
#include "log.h"
#include "proc.h"
#include "reach.h"
#include "run_int.h"

#define CHUNK		65536
#define AHEAD		(256 * 1024)	/* bytes that wait for their reader */

/* A reload brings new ones; who began with the old ones keeps them. */
struct trust {
	struct fetch_trust *trust;	/* NULL: nobody is trusted */
	unsigned	 users;
};

struct fetching {
	struct run	*run;
	struct fetch	*fetch;
	struct trust	*trust;
	struct reach	*reach;
	int		 fd;		/* -1: none */
	struct event	 in, out;
	struct waiter	 waiter;
	/* The hop under way. */
	int		 passed;
	uint64_t	 let;		/* ms */
	uint64_t	 up, down;	/* bytes */
	uint16_t	 port;
	char		 host[EGRESS_NAME_MAX + 1];
	char		 address[ADDRESS_TEXT_MAX];
	char		 rule[RULE_NAME_MAX];
};

static struct trust	*newest;

static void	go(struct run *);

static void
trust_drop(struct trust *t)
{
	if (t == NULL || --t->users > 0)
		return;
	fetch_trust_free(t->trust);
	free(t);
}

void
run_trust(const char *pem, size_t size)
{
	trust_drop(newest);
	if ((newest = calloc(1, sizeof(*newest))) == NULL)
		return;
	newest->users = 1;
	if (pem == NULL)
		return;
	if ((newest->trust = fetch_trust_new(pem, size)) == NULL)
		log_warnx("fetch: no CA certificate can be read: https fails");
}

void
run_trust_free(void)
{
	trust_drop(newest);
	newest = NULL;
}

/* ---- a hop ---- */

static void
hop_end(struct run *r, enum egress_end end)
{
	struct fetching *f = r->fetching;
	struct passed p = {
		.via = EGRESS_VIA_FETCH, .end = end, .port = f->port,
		.up = f->up, .down = f->down, .began = f->let,
		.host = f->host, .address = f->address, .rule = f->rule
	};

	reach_cancel(f->reach);
	f->reach = NULL;
	neuron_wait_end(r->neuron, &f->waiter);
	if (f->fd != -1) {
		event_del(&f->in);
		event_del(&f->out);
		close(f->fd);
		f->fd = -1;
	}
	if (f->passed)
		report_passed(r->neuron, &p);
	f->passed = 0;
	f->up = f->down = 0;
	f->address[0] = '\0';
}

void
run_fetch_free(struct run *r)
{
	if (r->fetching == NULL)
		return;
	hop_end(r, EGRESS_END_CLOSED);
	fetch_free(r->fetching->fetch);
	trust_drop(r->fetching->trust);
	free(r->fetching);
	r->fetching = NULL;
}

/* The hop is refused or fails, and with it the call. */
static void
refuse(struct run *r, enum refusal why, const char *detail, const char *rule,
    const char *address)
{
	struct fetching *f = r->fetching;

	if (refusal_denial(why)) {
		report_denied(r->neuron, why, EGRESS_VIA_FETCH, f->host,
		    f->port, address, rule, detail);
		f->passed = 0;
	}
	hop_end(r, EGRESS_END_FAILED);
	fetch_refuse(f->fetch, why, detail, rule);
	go(r);
}

static void
on_event(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	go(arg);
}

static void
on_wake(void *arg)
{
	go(arg);
}

static void
on_reached(void *arg, const struct reached *reached)
{
	struct run *r = arg;
	struct fetching *f = r->fetching;

	f->reach = NULL;
	(void)strlcpy(f->address, reached->address, sizeof(f->address));
	if (reached->why != REFUSE_NOT) {
		refuse(r, reached->why, reached->detail, NULL,
		    reached->address);
		return;
	}
	f->fd = reached->fd;
	event_assign(&f->in, proc_base(), f->fd, EV_READ | EV_PERSIST,
	    on_event, r);
	event_assign(&f->out, proc_base(), f->fd, EV_WRITE, on_event, r);
	fetch_dialled(f->fetch);
	go(r);
}

/* Judges and reaches whom it wants.  0, or -1: it has been refused. */
static int
dial(struct run *r)
{
	struct fetching *f = r->fetching;
	const struct host *host = fetch_host(f->fetch);
	struct host_verdict v;
	enum refusal why;
	int once;

	hop_end(r, EGRESS_END_CLOSED);
	(void)strlcpy(f->host, host->name, sizeof(f->host));
	f->port = fetch_port(f->fetch);
	why = neuron_judge(r->neuron, host, f->port, fetch_is_tls(f->fetch) ?
	    NULL : fetch_method(f->fetch), &once, &v);
	if (why != REFUSE_NOT) {
		refuse(r, why, NULL, v.rule, NULL);
		return (-1);
	}
	(void)strlcpy(f->rule, v.rule, sizeof(f->rule));
	f->passed = 1;
	f->let = now_ms();
	f->reach = reach_start(r->neuron, host, f->port, v.flags, on_reached,
	    r);
	if (f->reach == NULL) {
		refuse(r, REFUSE_INTERNAL, NULL, NULL, NULL);
		return (-1);
	}
	return (0);
}

/* ---- bytes ---- */

static void
moved(struct run *r, size_t n)
{
	/* It goes to its end: fetch has a bound of its own. */
	(void)neuron_moved(r->neuron, n);
}

static void
send_out(struct run *r)
{
	struct fetching *f = r->fetching;
	const uint8_t *bytes;
	size_t size;
	ssize_t n;

	while ((bytes = fetch_output(f->fetch, &size)) != NULL && size > 0) {
		n = send(f->fd, bytes, size, MSG_NOSIGNAL);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			/* A host that closed may have answered before. */
			if (errno == EAGAIN)
				event_add(&f->out, NULL);
			return;
		}
		f->up += (uint64_t)n;
		moved(r, (size_t)n);
		fetch_sent(f->fetch, (size_t)n);
	}
}

/* 1 if something came, 0 if nothing can now. */
static int
read_in(struct run *r)
{
	static uint8_t shared[CHUNK];
	struct fetching *f = r->fetching;
	size_t most = neuron_allowance(r->neuron, sizeof(shared));
	ssize_t n;

	if (most == 0) {
		event_del(&f->in);
		neuron_wait(r->neuron, &f->waiter);
		return (0);
	}
	n = recv(f->fd, shared, most, 0);
	if (n == -1 && (errno == EAGAIN || errno == EINTR)) {
		if (!event_pending(&f->in, EV_READ, NULL))
			event_add(&f->in, NULL);
		return (0);
	}
	if (n <= 0) {
		event_del(&f->in);
		fetch_eof(f->fetch);
		return (1);
	}
	f->down += (uint64_t)n;
	moved(r, (size_t)n);
	fetch_input(f->fetch, shared, (size_t)n);
	return (1);
}

/* One round of both; 1 if there may be more to do at once. */
static int
talk(struct run *r)
{
	struct fetching *f = r->fetching;

	send_out(r);
	if (buf_size(&r->text) >= AHEAD) {
		event_del(&f->in);
		return (0);
	}
	return (read_in(r));
}

/* ---- its life ---- */

static void
sink(void *arg, const uint8_t *bytes, size_t size)
{
	struct run *r = arg;

	if (buf_add(&r->text, bytes, size) == -1)
		log_warnx_of(&(struct log_about){ .call = r->call,
		    .neuron = r->neuron->id }, "call %s: out of memory",
		    r->call);
}

static void
finish(struct run *r)
{
	char *json;
	int failed = 1;

	hop_end(r, fetch_state(r->fetching->fetch) == FETCH_DONE ?
	    EGRESS_END_CLOSED : EGRESS_END_FAILED);
	if ((json = fetch_result(r->fetching->fetch, &failed)) == NULL) {
		run_end(r, END_LAUNCH_FAILED, 0, "out of memory");
		return;
	}
	run_result(r, json, failed);
	free(json);
}

/* Goes on as far as it can. */
static void
go(struct run *r)
{
	struct fetching *f = r->fetching;
	int more = 1;

	while (more) {
		switch (fetch_state(f->fetch)) {
		case FETCH_DIAL:
			if (f->reach != NULL)
				return;
			(void)dial(r);
			return;
		case FETCH_TALK:
			more = talk(r);
			break;
		case FETCH_DONE:
		case FETCH_FAILED:
			/* The reader has all of it before the call ends. */
			run_write(r);
			return;
		}
	}
	run_write(r);
}

/* All that had come is written. */
void
run_fetch_written(struct run *r)
{
	struct fetching *f = r->fetching;
	enum fetch_state state = fetch_state(f->fetch);

	if (state == FETCH_DONE || state == FETCH_FAILED)
		finish(r);
	else if (state == FETCH_TALK && f->fd != -1 && !f->waiter.waits &&
	    !event_pending(&f->in, EV_READ, NULL))
		event_add(&f->in, NULL);
}

void
run_fetch(struct run *r, const char *arguments, size_t size)
{
	uint64_t most = neuron_limit(r->neuron, LIMIT_EGRESS_FETCH);
	struct fetching *f;

	if ((f = calloc(1, sizeof(*f))) == NULL) {
		run_end(r, END_LAUNCH_FAILED, 0, "out of memory");
		return;
	}
	f->run = r;
	f->fd = -1;
	f->waiter.wake = on_wake;
	f->waiter.arg = r;
	r->fetching = f;
	if ((f->trust = newest) != NULL)
		f->trust->users++;
	f->fetch = fetch_new(arguments, size, r->most < most ? r->most : most,
	    f->trust == NULL ? NULL : f->trust->trust, sink, r);
	if (f->fetch == NULL)
		run_end(r, END_LAUNCH_FAILED, 0, "out of memory");
	else
		go(r);
}
