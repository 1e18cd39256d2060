/* What egressd says that it denied and let through: audit log and calls. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "call.h"
#include "egress.h"
#include "egress_internal.h"
#include "neuron.h"
#include "redact.h"
#include "secrets.h"
#include "session.h"
#include "sync.h"
#include "without.h"

/* Records of a neuron in its own right: so many at once, then one in each. */
#define BURST		200
#define EACH_US		50000

/*
 * Names that a program in the neuron chose: masked as all is that others than
 * its caller read.
 */
static void
get_masked(struct imsg *m, char *dst, size_t size)
{
	get_words(m, dst, size);
	if (WITHOUT(egress_mask))
		return;
	redact_line(dst);
	secrets_mask(dst, 0);
}

static void
get_subject(struct imsg *m, struct egress_news *news)
{
	imsg_get_str(m, news->neuron, sizeof(news->neuron));
	get_masked(m, news->host, sizeof(news->host));
	get_words(m, news->address, sizeof(news->address));
	get_words(m, news->rule, sizeof(news->rule));
}

static int
subject_ok(const struct egress_news *news)
{
	return (news->via >= EGRESS_VIA_CONNECT &&
	    news->via <= EGRESS_VIA_FETCH && id_ok(ID_NEURON, news->neuron));
}

static json_t *
subject_json(const struct egress_news *news)
{
	const struct neuron *n = neuron_find(news->neuron);

	return (json_pack("{s:s,s:o,s:o,s:i,s:s,s:o,s:o}",
	    "neuron", news->neuron, "session", json_text_or_null(n != NULL &&
	    n->session != NULL ? n->session->row.id : NULL),
	    "host", json_text_or_null(news->host), "port", (int)news->port,
	    "via", egress_via_name(news->via),
	    "address", json_text_or_null(news->address),
	    "rule", json_text_or_null(news->rule)));
}

/* ---- too many of a neuron's ---- */

/* 1 if a record may be written for itself. */
static int
affordable(struct egress_held *h)
{
	uint64_t now = now_us();

	if (WITHOUT(egress_flood))
		return (1);
	h->tokens = h->when == 0 ? (uint64_t)BURST * EACH_US :
	    h->tokens + (now - h->when);
	if (h->tokens > (uint64_t)BURST * EACH_US)
		h->tokens = (uint64_t)BURST * EACH_US;
	h->when = now;
	if (h->tokens < EACH_US)
		return (0);
	h->tokens -= EACH_US;
	return (1);
}

static void
hold(struct egress_held *h, const struct egress_news *news)
{
	size_t i;

	h->times++;
	h->up += news->up;
	h->down += news->down;
	for (i = 0; i < h->nhosts; i++) {
		if (strncmp(h->hosts[i], news->host, EGRESS_NAME_MAX) == 0)
			return;
	}
	if (i == HELD_HOSTS) {
		h->more = 1;
		return;
	}
	strlcpy(h->hosts[i], news->host, sizeof(h->hosts[i]));
	h->nhosts++;
}

void
egress_held_end(const char *neuron, struct egress *e)
{
	struct egress_held *h = &e->held;
	json_t *hosts;
	size_t i;

	if (h->times == 0)
		return;
	hosts = json_array();
	for (i = 0; i < h->nhosts; i++)
		json_array_append_new(hosts, json_text(h->hosts[i]));
	audit_append("egress.summed", json_pack(
	    "{s:s,s:I,s:o,s:b,s:I,s:I}", "neuron", neuron,
	    "times", (json_int_t)h->times, "hosts", hosts,
	    "more_hosts", h->more, "up", (json_int_t)h->up,
	    "down", (json_int_t)h->down));
	sync_soon();
	h->times = h->up = h->down = 0;
	h->nhosts = 0;
	h->more = 0;
}

void
egress_chores(void)
{
	struct neuron *n;

	TAILQ_FOREACH(n, neuron_all(), order) {
		if (n->egress != NULL)
			egress_held_end(n->id, n->egress);
	}
}

/* ---- what was let through ---- */

int
egress_on_log(void *arg, struct imsg *m)
{
	struct egress_news news;
	struct neuron *n;
	json_t *json;

	(void)arg;
	memset(&news, 0, sizeof(news));
	news.port = imsg_get_u16(m);
	news.via = imsg_get_u8(m);
	news.end = imsg_get_u8(m);
	news.up = imsg_get_u64(m);
	news.down = imsg_get_u64(m);
	news.ms = imsg_get_u32(m);
	get_subject(m, &news);
	if (imsg_end(m) == -1 || !subject_ok(&news) ||
	    news.end < EGRESS_END_CLOSED || news.end > EGRESS_END_FAILED ||
	    news.up > INT64_MAX / 2 || news.down > INT64_MAX / 2)
		return (-1);
	n = neuron_find(news.neuron);
	if (n != NULL && n->egress != NULL && !affordable(&n->egress->held)) {
		hold(&n->egress->held, &news);
		return (0);
	}
	if (n != NULL && n->egress != NULL)
		egress_held_end(n->id, n->egress);
	if (WITHOUT(egress_records))
		return (0);
	json = subject_json(&news);
	if (json == NULL || json_object_update_new(json, json_pack(
	    "{s:s,s:I,s:I,s:I}", "end", egress_end_name(news.end),
	    "up", (json_int_t)news.up, "down", (json_int_t)news.down,
	    "ms", (json_int_t)news.ms)) == -1)
		fatal("egress");
	audit_append("egress.ended", json);
	sync_soon();
	return (0);
}

/* ---- what was denied ---- */

struct denial {
	const struct egress_news *news;
	json_t		*calls;		/* their ids */
	char		 what[1200];
};

/* The same once more is counted where it stands. */
static int
again(json_t *list, const struct denial *d)
{
	json_t *one, *times;
	size_t i;

	json_array_foreach(list, i, one) {
		if (strcmp(json_string_value(json_object_get(one, "what")),
		    d->what) != 0)
			continue;
		times = json_object_get(one, "times");
		json_integer_set(times, json_integer_value(times) +
		    d->news->times);
		return (1);
	}
	return (0);
}

static void
deny_one(struct call *c, void *arg)
{
	struct denial *d = arg;
	struct egress_call *o;

	if (c->step != STEP_LAUNCHED && c->step != STEP_RUNNING)
		return;
	json_array_append_new(d->calls, json_string(c->row.id));
	o = egress_call(c);
	if (o->denials == NULL && (o->denials = json_array()) == NULL)
		fatal("egress");
	if (again(o->denials, d))
		return;
	if (json_array_size(o->denials) == DENIALS_MAX) {
		o->more += d->news->times;
		return;
	}
	json_array_append_new(o->denials, json_pack(
	    "{s:s,s:o,s:o,s:o,s:I}", "layer", "egress",
	    "what", json_text(d->what),
	    "rule", json_text_or_null(d->news->rule),
	    "next", json_text_or_null(d->news->next),
	    "times", (json_int_t)d->news->times));
}

static void
deny_calls(struct neuron *n, struct denial *d)
{
	const struct egress_news *news = d->news;
	char place[sizeof(news->host) + 8];

	if (news->host[0] != '\0')
		snprintf(place, sizeof(place), "%s:%u", news->host,
		    (unsigned)news->port);
	else
		snprintf(place, sizeof(place), "a request to port %u",
		    (unsigned)news->port);
	snprintf(d->what, sizeof(d->what), "%s%s%s%s was refused%s%s", place,
	    news->address[0] != '\0' ? " (" : "", news->address,
	    news->address[0] != '\0' ? ")" : "",
	    news->detail[0] != '\0' ? ": " : "", news->detail);
	if (n != NULL && !WITHOUT(egress_denials))
		call_each_in(n, deny_one, d);
}

int
egress_on_denied(void *arg, struct imsg *m)
{
	struct egress_news news;
	struct denial d = { .news = &news, .calls = json_array() };
	json_t *json;

	(void)arg;
	memset(&news, 0, sizeof(news));
	news.port = imsg_get_u16(m);
	news.via = imsg_get_u8(m);
	news.times = imsg_get_u32(m);
	get_subject(m, &news);
	get_masked(m, news.detail, sizeof(news.detail));
	get_masked(m, news.next, sizeof(news.next));
	if (imsg_end(m) == -1 || !subject_ok(&news) || news.times == 0) {
		json_decref(d.calls);
		return (-1);
	}
	deny_calls(neuron_find(news.neuron), &d);
	json = subject_json(&news);
	if (json == NULL || json_object_update_new(json, json_pack(
	    "{s:o,s:I,s:o}", "detail", json_text_or_null(news.detail),
	    "times", (json_int_t)news.times, "calls", d.calls)) == -1)
		fatal("egress");
	audit_append("egress.denied", json);
	sync_soon();
	return (0);
}
