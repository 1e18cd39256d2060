/* Metrics: counted by the records of the audit log, shown as text. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "metrics.h"
#include "query.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define LABELS		2
#define LABEL_MAX	32	/* bytes of a label's value, NUL too */
#define SERIES_MAX	160	/* of all counters: their labels are few */

/*
 * What is counted.  A label's value is the record's member of that name, or
 * the word behind its "=".  Rows of one name stand together.
 */
static const struct counter {
	const char	*event;
	const char	*name;
	const char	*help;
	const char	*labels[LABELS];	/* NULL: none */
	const char	*by;		/* the member to add; NULL: 1 */
} counters[] = {
	{ "call.finished", "myelin_calls_total", "calls that ended",
	    { "state", "reason" }, NULL },
	{ "call.refused", "myelin_calls_refused_total",
	    "calls that were refused before they were one",
	    { "code", NULL }, NULL },
	{ "call.judged", "myelin_verdicts_total", "verdicts of the judge",
	    { "verdict", NULL }, NULL },
	{ "call.denied", "myelin_calls_denied_inside_total",
	    "calls that were denied something inside their neuron",
	    { NULL, NULL }, NULL },
	{ "session.opened", "myelin_sessions_opened_total",
	    "sessions that were opened", { NULL, NULL }, NULL },
	{ "session.ended", "myelin_sessions_ended_total",
	    "sessions that ended", { "reason", NULL }, NULL },
	{ "neuron.made", "myelin_neurons_made_total",
	    "neurons that were made", { NULL, NULL }, NULL },
	{ "neuron.gone", "myelin_neurons_gone_total",
	    "neurons that are gone", { "cause", NULL }, NULL },
	{ "neuron.destroyed", "myelin_neurons_destroyed_total",
	    "persistent neurons that were destroyed, with their homes",
	    { NULL, NULL }, NULL },
	{ "approval.requested", "myelin_approvals_requested_total",
	    "approvals that were asked for", { NULL, NULL }, NULL },
	{ "approval.resolved", "myelin_approvals_total",
	    "approvals that are over", { "state", NULL }, NULL },
	{ "approval.expired", "myelin_approvals_total", NULL,
	    { "state=expired", NULL }, NULL },
	{ "egress.ended", "myelin_egress_connections_total",
	    "connections to hosts that were let through",
	    { "end", NULL }, NULL },
	{ "egress.denied", "myelin_egress_denied_total",
	    "connections to hosts that were refused", { NULL, NULL },
	    "times" },
	{ "key.refused", "myelin_keys_refused_total",
	    "tokens that were refused, as far as recorded",
	    { NULL, NULL }, NULL },
	{ "config.reloaded", "myelin_reloads_total",
	    "configurations that were tried while the service ran",
	    { "result=ok", NULL }, NULL },
	{ "config.refused", "myelin_reloads_total", NULL,
	    { "result=refused", NULL }, NULL },
};

/* A counter with the values of its labels. */
static struct series {
	const struct counter *counter;	/* of the first row of its name */
	char		 values[LABELS][LABEL_MAX];
	uint64_t	 n;
} series[SERIES_MAX];
static size_t		 nseries;
static uint64_t		 lost;		/* that had no series */

/* How things are: what the status has at a path. */
static const struct gauge {
	const char	*path;
	const char	*name;
	const char	*type;
	const char	*help;
} gauges[] = {
	{ "uptime_s", "myelin_uptime_seconds", "gauge",
	    "since policyd began, and these counters with it" },
	{ "neurons.live", "myelin_neurons", "gauge",
	    "neurons (sandboxes) that are there" },
	{ "neurons.limit", "myelin_neurons_limit", "gauge",
	    "the limit \"neurons\"" },
	{ "pool.ready", "myelin_pool_ready", "gauge",
	    "neurons that were made ahead and wait" },
	{ "pool.wanted", "myelin_pool_wanted", "gauge",
	    "neurons that are to be made ahead" },
	{ "pool.hits", "myelin_pool_hits_total", "counter",
	    "neurons that were taken ready made" },
	{ "pool.misses", "myelin_pool_misses_total", "counter",
	    "neurons that had to be made, though one could have been ready" },
	{ "homes.count", "myelin_persistent_neurons", "gauge",
	    "persistent neurons" },
	{ "homes.bytes", "myelin_homes_bytes", "gauge",
	    "bytes of their homes on the disk" },
	{ "homes.lost", "myelin_homes_lost", "gauge",
	    "persistent neurons whose home is not there" },
	{ "homes.unclaimed", "myelin_homes_unclaimed", "gauge",
	    "homes that are no neuron's" },
	{ "sessions.live", "myelin_sessions", "gauge",
	    "sessions that are live" },
	{ "calls.running", "myelin_calls_running", "gauge",
	    "calls that are not over, but for those that await an approval" },
	{ "calls.limit", "myelin_calls_running_limit", "gauge",
	    "the limit \"running-calls-host\"" },
	{ "calls.total", "myelin_calls_ever_total", "counter",
	    "calls since the state was made" },
	{ "approvals.pending", "myelin_approvals_pending", "gauge",
	    "approvals that wait for a person" },
	{ "approvals.oldest_s", "myelin_approvals_oldest_seconds", "gauge",
	    "for how long the oldest of them has waited" },
	{ "audit.sequence", "myelin_audit_sequence", "gauge",
	    "the last record of the audit log" },
	{ "audit.gap", "myelin_audit_gap", "gauge",
	    "1 if the audit log was found damaged at the start" },
	{ "store_full", "myelin_store_full", "gauge",
	    "1 while nothing can be recorded, and so nothing is run" },
	{ "draining", "myelin_draining", "gauge",
	    "1 while no new calls are taken" },
	{ "secrets.count", "myelin_secrets", "gauge",
	    "secrets that are registered" },
	{ "secrets.needs_reentry", "myelin_secrets_needing_reentry", "gauge",
	    "secrets that another key sealed" },
	{ "egress.neurons", "myelin_egress_neurons", "gauge",
	    "neurons that may reach hosts" },
	{ "egress.grants", "myelin_egress_grants", "gauge",
	    "hosts that a person granted" },
	{ "reload.generation", "myelin_config_generation", "gauge",
	    "the configuration that is in force" },
};

/* ---- counting ---- */

/* The labels' values are words of ours; what is none is not passed on. */
static void
label_value(const char *label, const char *s, char value[LABEL_MAX])
{
	const char *word = strchr(label, '=');

	if (word != NULL)
		s = word + 1;
	if (s == NULL)
		s = "none";
	if (strlen(s) >= LABEL_MAX || *s == '\0' || strspn(s,
	    "abcdefghijklmnopqrstuvwxyz0123456789_-.") != strlen(s))
		s = "other";
	strlcpy(value, s, LABEL_MAX);
}

static const struct counter *
first_of_name(const struct counter *c)
{
	while (c > counters && strcmp(c[-1].name, c->name) == 0)
		c--;
	return (c);
}

static struct series *
series_of(const struct counter *c, const char *const words[LABELS])
{
	char values[LABELS][LABEL_MAX];
	struct series *s;
	size_t i;

	memset(values, 0, sizeof(values));
	for (i = 0; i < LABELS && c->labels[i] != NULL; i++)
		label_value(c->labels[i], words[i], values[i]);
	c = first_of_name(c);
	for (i = 0; i < nseries; i++) {
		s = &series[i];
		if (s->counter == c &&
		    memcmp(s->values, values, sizeof(values)) == 0)
			return (s);
	}
	if (nseries == SERIES_MAX)
		return (NULL);
	s = &series[nseries++];
	s->counter = c;
	memcpy(s->values, values, sizeof(values));
	return (s);
}

static void
count(const struct counter *c, const char *const words[LABELS], uint64_t n)
{
	struct series *s;

	if ((s = series_of(c, words)) != NULL)
		s->n += n;
	else
		lost++;
}

void
metrics_event(const char *event, const json_t *members)
{
	const char *words[LABELS];
	const struct counter *c;
	json_int_t n;
	size_t i, k;

	for (i = 0; i < NITEMS(counters); i++) {
		c = &counters[i];
		if (strcmp(c->event, event) != 0)
			continue;
		n = c->by == NULL ? 1 :
		    json_integer_value(json_object_get(members, c->by));
		for (k = 0; k < LABELS; k++)
			words[k] = c->labels[k] == NULL ? NULL :
			    json_string_value(json_object_get(members,
			    c->labels[k]));
		if (n > 0)
			count(c, words, (uint64_t)n);
	}
}

void
metrics_words(const char *event, const char *first, const char *second)
{
	const char *const words[LABELS] = { first, second };
	size_t i;

	for (i = 0; i < NITEMS(counters); i++)
		if (strcmp(counters[i].event, event) == 0)
			count(&counters[i], words, 1);
}

/* Of a call's time, in ms: each counts what took that long at most. */
static const unsigned bounds[] = {
	5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000,
	300000, 1800000,
};
static uint64_t		 below[NITEMS(bounds)];
static uint64_t		 durations, duration_us;

void
metrics_duration(uint64_t us)
{
	size_t i;

	durations++;
	duration_us += us;
	for (i = 0; i < NITEMS(bounds); i++)
		below[i] += us <= bounds[i] * UINT64_C(1000);
}

/* ---- as text ---- */

static void
put_head(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A label's value from elsewhere, which may have anything in it. */
static void
put_quoted(FILE *f, const char *s)
{
	putc('"', f);
	for (; *s != '\0'; s++) {
		if (*s == '\n')
			fputs("\\n", f);
		else if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else
			putc(*s, f);
	}
	putc('"', f);
}

static const json_t *
at(const json_t *json, const char *path)
{
	char name[32];
	size_t n;

	while (json != NULL && *path != '\0') {
		n = strcspn(path, ".");
		if (n >= sizeof(name))
			return (NULL);
		memcpy(name, path, n);
		name[n] = '\0';
		json = json_object_get(json, name);
		path += n + (path[n] == '.');
	}
	return (json);
}

static void
put_gauges(FILE *f, const json_t *status)
{
	const struct gauge *g;
	const json_t *v;

	for (g = gauges; g < gauges + NITEMS(gauges); g++) {
		v = at(status, g->path);
		if (!json_is_integer(v) && !json_is_boolean(v))
			continue;
		put_head(f, g->name, g->type, g->help);
		fprintf(f, "%s %" JSON_INTEGER_FORMAT "\n", g->name,
		    json_is_boolean(v) ? (json_int_t)json_is_true(v) :
		    json_integer_value(v));
	}
}

static const char *
text_at(const json_t *json, const char *path)
{
	const char *s = json_string_value(at(json, path));

	return (s != NULL ? s : "");
}

static void
put_service(FILE *f, const json_t *status)
{
	put_head(f, "myelin_info", "gauge", "which service this is");
	fputs("myelin_info{version=", f);
	put_quoted(f, text_at(status, "version"));
	fputs(",instance=", f);
	put_quoted(f, text_at(status, "instance"));
	fputs("} 1\n", f);
	put_head(f, "myelin_egress_up", "gauge",
	    "0 while no connection to a host is let through");
	fprintf(f, "myelin_egress_up %d\n",
	    strcmp(text_at(status, "egress.state"), "up") == 0);
	put_head(f, "myelin_reload_refused", "gauge",
	    "1 if the last reload was refused");
	fprintf(f, "myelin_reload_refused %d\n",
	    strcmp(text_at(status, "reload.result"), "refused") == 0);
}

static void
put_processes(FILE *f, const json_t *status)
{
	static const struct {
		const char *name, *type, *help;
	} families[] = {
		{ "myelin_process_up", "gauge", "1 if the process is up" },
		{ "myelin_process_restarts_total", "counter",
		    "times that a process was started again" },
	};
	const json_t *list = json_object_get(status, "processes"), *row;
	size_t i, k;

	for (k = 0; k < NITEMS(families); k++) {
		put_head(f, families[k].name, families[k].type,
		    families[k].help);
		json_array_foreach(list, i, row) {
			fprintf(f, "%s{process=", families[k].name);
			put_quoted(f, text_at(row, "name"));
			fprintf(f, "} %" JSON_INTEGER_FORMAT "\n", k == 0 ?
			    (json_int_t)(strcmp(text_at(row, "state"), "up") ==
			    0) : json_integer_value(json_object_get(row,
			    "restarts")));
		}
	}
}

static void
put_one(FILE *f, const struct series *s)
{
	const struct counter *c = s->counter;
	size_t i;

	fputs(c->name, f);
	for (i = 0; i < LABELS && c->labels[i] != NULL; i++)
		fprintf(f, "%c%.*s=\"%s\"", i == 0 ? '{' : ',',
		    (int)strcspn(c->labels[i], "="), c->labels[i],
		    s->values[i]);
	fprintf(f, "%s %llu\n", i > 0 ? "}" : "", (unsigned long long)s->n);
}

static void
put_counters(FILE *f)
{
	const struct counter *c;
	size_t i, n;

	for (c = counters; c < counters + NITEMS(counters); c++) {
		if (first_of_name(c) != c)
			continue;
		put_head(f, c->name, "counter", c->help);
		for (i = n = 0; i < nseries; i++) {
			if (series[i].counter != c)
				continue;
			put_one(f, &series[i]);
			n++;
		}
		/* what is alone is there from the beginning */
		if (n == 0 && c->labels[0] == NULL)
			fprintf(f, "%s 0\n", c->name);
	}
	put_head(f, "myelin_metrics_lost_total", "counter",
	    "events that were not counted, as there are too many kinds");
	fprintf(f, "myelin_metrics_lost_total %llu\n",
	    (unsigned long long)lost);
}

static void
put_durations(FILE *f)
{
	static const char name[] = "myelin_call_duration_seconds";
	size_t i;

	put_head(f, name, "histogram", "calls, from their asking to their "
	    "end, an approval's wait included");
	for (i = 0; i < NITEMS(bounds); i++)
		fprintf(f, "%s_bucket{le=\"%g\"} %llu\n", name,
		    bounds[i] / 1000.0,
		    (unsigned long long)below[i]);
	fprintf(f, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %llu.%06llu\n"
	    "%s_count %llu\n", name, (unsigned long long)durations, name,
	    (unsigned long long)duration_us / 1000000,
	    (unsigned long long)duration_us % 1000000, name,
	    (unsigned long long)durations);
}

char *
metrics_text(const json_t *status)
{
	char *text = NULL;
	size_t n;
	FILE *f;

	if ((f = open_memstream(&text, &n)) == NULL)
		fatal("metrics");
	put_service(f, status);
	put_gauges(f, status);
	put_processes(f, status);
	put_counters(f);
	put_durations(f);
	if (fclose(f) != 0)
		fatal("metrics");
	return (text);
}

json_t *
query_metrics(const struct query *q, struct refusal *r)
{
	json_t *status = query_status(q, r);
	char *text;

	if (status == NULL)
		return (NULL);
	text = metrics_text(status);
	json_decref(status);
	reply_lines(&q->to, text, strlen(text));
	*q->answered = 1;
	free(text);
	return (NULL);
}
