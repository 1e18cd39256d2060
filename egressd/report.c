/*
 * What policyd is told, and no more of it than it can take: its channel dies
 * of a queue that is too long, and a neuron may refuse itself as often as it
 * likes.
 */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "imsg.h"
#include "log.h"
#include "neuron.h"
#include "proc.h"
#include "report.h"
#include "run_int.h"

#define DENIALS_BURST	64	/* told at once */
#define DENIALS_SECOND	16	/* told in a second, after that */
#define DENIALS_CALL	8	/* told at once at least, of each call */
#define FLUSH_MS	1000
#define DNS_SAME_MS	2000	/* a client asks for A, then for AAAA */
#define BUSY_BYTES	(256 * 1024)

static struct channel *policyd;

void
report_channel(struct channel *ch)
{
	policyd = ch;
}

int
report_busy(void)
{
	return (policyd == NULL || channel_queued(policyd) > BUSY_BYTES);
}

/* Of a neuron that runs one call alone it is known whose this is. */
static struct log_about
about(const struct neuron *n)
{
	const struct run *r = TAILQ_FIRST(&n->runs);
	struct log_about a = { .neuron = n->id };

	if (n->ncalls == 1 && r == NULL)
		a.call = n->calls[0].id;
	else if (n->ncalls == 0 && r != NULL && TAILQ_NEXT(r, entry) == NULL)
		a.call = r->call;
	return (a);
}

static void
tell(struct neuron *n, const struct denial *d)
{
	struct log_about a = about(n);
	char next[512];
	struct imsg *m;

	log_debug_of(&a, "neuron %s: %s:%u is refused, %u times: %s", n->id,
	    d->host, (unsigned)d->port, (unsigned)d->times, d->rule);
	if (policyd == NULL)
		return;
	refusal_next(d->why, d->host, d->port, next, sizeof(next));
	m = imsg_new(MSG_EGRESS_DENIED);
	imsg_put_u16(m, d->port);
	imsg_put_u8(m, (uint8_t)d->via);
	imsg_put_u32(m, d->times);
	imsg_put_str(m, n->id);
	imsg_put_str(m, d->host);
	imsg_put_str(m, d->address);
	imsg_put_str(m, d->rule);
	imsg_put_str(m, d->detail);
	imsg_put_str(m, next);
	channel_send(policyd, m);
}

/* ---- refusals of a neuron ---- */

static void
refill(struct denials *ds)
{
	uint64_t now = now_ms(), more;

	more = (now - ds->filled) * DENIALS_SECOND / 1000;
	if (more == 0)
		return;
	ds->filled = now;
	ds->tokens = more + ds->tokens > DENIALS_BURST ? DENIALS_BURST :
	    (unsigned)more + ds->tokens;
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct timeval tv = { FLUSH_MS / 1000, FLUSH_MS % 1000 * 1000 };
	struct denials *ds = arg;
	int left = 0;
	size_t i;

	(void)fd;
	(void)what;
	refill(ds);
	for (i = 0; i < DENIALS_KEPT; i++) {
		if (ds->kept[i].times == 0)
			continue;
		if (ds->tokens == 0 || report_busy()) {
			left = 1;
			continue;
		}
		ds->tokens--;
		tell(ds->neuron, &ds->kept[i]);
		ds->kept[i].times = 0;
	}
	if (left) {
		evtimer_add(&ds->timer, &tv);
		return;
	}
	free(ds->kept);
	ds->kept = NULL;
}

void
denials_init(struct denials *ds, struct neuron *n)
{
	ds->neuron = n;
	ds->tokens = DENIALS_BURST;
	ds->filled = now_ms();
	evtimer_assign(&ds->timer, proc_base(), on_timer, ds);
}

void
denials_free(struct denials *ds)
{
	size_t i;

	event_del(&ds->timer);
	for (i = 0; ds->kept != NULL && i < DENIALS_KEPT; i++)
		if (ds->kept[i].times > 0)
			tell(ds->neuron, &ds->kept[i]);
	free(ds->kept);
	ds->kept = NULL;
}

void
denials_begin(struct denials *ds)
{
	ds->dns[0] = '\0';
	if (ds->tokens < DENIALS_CALL)
		ds->tokens = DENIALS_CALL;
}

static int
same(const struct denial *a, const struct denial *b)
{
	return (a->why == b->why && a->via == b->via && a->port == b->port &&
	    strcmp(a->host, b->host) == 0);
}

/* Counts it; where all places are taken, as one more of the last of them. */
static void
keep(struct denials *ds, const struct denial *d)
{
	struct timeval tv = { FLUSH_MS / 1000, FLUSH_MS % 1000 * 1000 };
	size_t i;

	if (ds->kept == NULL) {
		ds->kept = calloc(DENIALS_KEPT, sizeof(*ds->kept));
		if (ds->kept == NULL) {
			tell(ds->neuron, d);
			return;
		}
		evtimer_add(&ds->timer, &tv);
	}
	for (i = 0; i < DENIALS_KEPT - 1; i++)
		if (ds->kept[i].times == 0 || same(&ds->kept[i], d))
			break;
	if (ds->kept[i].times == 0)
		ds->kept[i] = *d;
	else
		ds->kept[i].times++;
}

static void
copy(char *dst, const char *src, size_t size)
{
	(void)strlcpy(dst, src == NULL ? "" : src, size);
}

void
report_denied(struct neuron *n, enum refusal why, enum egress_via via,
    const char *host, uint16_t port, const char *address, const char *rule,
    const char *detail)
{
	struct denials *ds = &n->denials;
	struct denial d = {
		.why = why, .via = via, .port = port, .times = 1
	};

	copy(d.host, host, sizeof(d.host));
	copy(d.address, address, sizeof(d.address));
	copy(d.rule, rule == NULL || rule[0] == '\0' ? refusal_word(why) :
	    rule, sizeof(d.rule));
	copy(d.detail, detail == NULL || detail[0] == '\0' ?
	    refusal_sentence(why) : detail, sizeof(d.detail));
	if (via == EGRESS_VIA_DNS) {
		if (strcmp(ds->dns, d.host) == 0 && now_ms() < ds->dns_until)
			return;
		copy(ds->dns, d.host, sizeof(ds->dns));
		ds->dns_until = now_ms() + DNS_SAME_MS;
	}
	refill(ds);
	if (ds->tokens == 0) {
		keep(ds, &d);
		return;
	}
	ds->tokens--;
	tell(n, &d);
}

/* ---- all else ---- */

void
report_passed(struct neuron *n, const struct passed *p)
{
	uint64_t ms = now_ms() - p->began;
	struct log_about a = about(n);
	struct imsg *m;

	log_debug_of(&a, "neuron %s: %s:%u had %llu bytes and gave %llu",
	    n->id, p->host, (unsigned)p->port, (unsigned long long)p->up,
	    (unsigned long long)p->down);
	if (policyd == NULL)
		return;
	m = imsg_new(MSG_EGRESS_LOG);
	imsg_put_u16(m, p->port);
	imsg_put_u8(m, (uint8_t)p->via);
	imsg_put_u8(m, (uint8_t)p->end);
	imsg_put_u64(m, p->up);
	imsg_put_u64(m, p->down);
	imsg_put_u32(m, ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms);
	imsg_put_str(m, n->id);
	imsg_put_str(m, p->host);
	imsg_put_str(m, p->address);
	imsg_put_str(m, p->rule == NULL ? "" : p->rule);
	channel_send(policyd, m);
}

void
report_spent(struct neuron *n, const char *host, uint16_t port)
{
	struct imsg *m;

	if (policyd == NULL)
		return;
	m = imsg_new(MSG_EGRESS_SPENT);
	imsg_put_str(m, n->id);
	imsg_put_str(m, host);
	imsg_put_u16(m, port);
	channel_send(policyd, m);
}

void
report_granted(struct neuron *n, const char *host, uint16_t port,
    unsigned what, unsigned flags)
{
	struct imsg *m;

	if (policyd == NULL)
		return;
	m = imsg_new(MSG_EGRESS_GRANTED);
	imsg_put_u16(m, port);
	imsg_put_u8(m, (uint8_t)what);
	imsg_put_u8(m, (uint8_t)flags);
	imsg_put_str(m, n->id);
	imsg_put_str(m, host);
	channel_send(policyd, m);
}

void
report_ended(const char *call, unsigned cause, int code, uint32_t us,
    const char *detail)
{
	struct imsg *m;

	if (policyd == NULL)
		return;
	m = imsg_new(MSG_EGRESS_ENDED);
	imsg_put_u8(m, (uint8_t)cause);
	imsg_put_i32(m, code);
	imsg_put_u32(m, us);
	imsg_put_str(m, call);
	imsg_put_str(m, detail);
	channel_send(policyd, m);
}
