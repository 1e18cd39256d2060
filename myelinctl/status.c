/*
 * "status": what a person has to know first, then the rest.  "metrics": the
 * same for programs that watch.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "conn.h"
#include "words.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- what needs somebody ---- */

static const json_t *
at(const json_t *json, const char *object, const char *member)
{
	return (json_object_get(object == NULL ? json :
	    json_object_get(json, object), member));
}

static json_int_t
number(const json_t *json, const char *object, const char *member)
{
	return (json_integer_value(at(json, object, member)));
}

static int
is(const json_t *json, const char *object, const char *member,
    const char *text)
{
	const char *s = json_string_value(at(json, object, member));

	return (s != NULL && strcmp(s, text) == 0);
}

/* Each prints its lines and returns how many things it told of. */
static unsigned
tell_processes(const json_t *s)
{
	const json_t *row;
	unsigned n = 0;
	char *name, *state;
	size_t i;

	json_array_foreach(json_object_get(s, "processes"), i, row) {
		if (is(row, NULL, "state", "up"))
			continue;
		name = words_value(json_object_get(row, "name"));
		state = words_value(json_object_get(row, "state"));
		printf("! %s is %s\n  next: journalctl -u myelin -e\n", name,
		    state);
		free(name);
		free(state);
		n++;
	}
	return (n);
}

static unsigned
tell_store(const json_t *s)
{
	if (!json_is_true(json_object_get(s, "store_full")))
		return (0);
	printf("! the disk under the state is full, or can not be written: "
	    "no call is run\n  next: make room; it goes on by itself\n");
	return (1);
}

static unsigned
tell_audit(const json_t *s)
{
	if (!json_is_true(at(s, "audit", "gap")))
		return (0);
	printf("! the audit log was found damaged when policyd began\n"
	    "  next: myelinctl audit verify\n");
	return (1);
}

static unsigned
tell_egress(const json_t *s)
{
	if (is(s, "egress", "state", "up"))
		return (0);
	printf("! egress is %s: no connection to a host is let through\n"
	    "  next: journalctl -u myelin -e\n", is(s, "egress", "state",
	    "off") ? "off, as egressd died too often" : "down for the moment");
	return (1);
}

static unsigned
tell_reload(const json_t *s)
{
	char *why;

	if (!is(s, "reload", "result", "refused"))
		return (0);
	why = words_value(at(s, "reload", "error"));
	printf("! the last reload was refused, the configuration before is in "
	    "force:\n  %s\n  next: myelind -n shows what is wrong\n", why);
	free(why);
	return (1);
}

static unsigned
tell_secrets(const json_t *s)
{
	json_int_t n = number(s, "secrets", "needs_reentry");

	if (n == 0)
		return (0);
	printf("! %" JSON_INTEGER_FORMAT " registered %s sealed with another "
	    "key: %s not masked\n  next: myelinctl secrets shows which; "
	    "myelinctl secrets add NAME enters one again\n", n, n == 1 ?
	    "secret is" : "secrets are", n == 1 ? "it is" : "they are");
	return (1);
}

static unsigned
tell_homes(const json_t *s)
{
	json_int_t lost = number(s, "homes", "lost");
	json_int_t unclaimed = number(s, "homes", "unclaimed");

	if (lost > 0)
		printf("! persistent neurons whose home is not there any "
		    "more: %" JSON_INTEGER_FORMAT "\n  next: put the homes "
		    "back under neurons in the state directory, or myelinctl "
		    "neurons -o\n", lost);
	if (unclaimed > 0)
		printf("! homes that are no neuron's: %" JSON_INTEGER_FORMAT
		    "\n  next: myelinctl status --json has their ids; nobody "
		    "removes them but you\n", unclaimed);
	return ((unsigned)(lost > 0) + (unsigned)(unclaimed > 0));
}

static unsigned
tell_draining(const json_t *s)
{
	if (!json_is_true(json_object_get(s, "draining")))
		return (0);
	printf("! it is draining: no new calls are taken\n"
	    "  next: myelinctl drain --stop\n");
	return (1);
}

static unsigned
tell_approvals(const json_t *s)
{
	json_int_t n = number(s, "approvals", "pending");

	if (n == 0)
		return (0);
	printf("! %" JSON_INTEGER_FORMAT " %s for a decision, the oldest for "
	    "%" JSON_INTEGER_FORMAT " s\n  next: myelinctl approvals\n", n,
	    n == 1 ? "approval waits" : "approvals wait",
	    number(s, "approvals", "oldest_s"));
	return (1);
}

static unsigned
tell_limits(const json_t *s)
{
	static const struct { const char *object, *now, *limit; } full[] = {
		{ "neurons", "live", "neurons" },
		{ "calls", "running", "running-calls-host" },
	};
	unsigned n = 0;
	size_t i;

	for (i = 0; i < NITEMS(full); i++) {
		if (number(s, full[i].object, full[i].now) <
		    number(s, full[i].object, "limit"))
			continue;
		printf("! the limit %s is reached: new ones wait, or are told "
		    "429\n  next: myelinctl sessions -o, myelinctl calls "
		    "-o\n", full[i].limit);
		n++;
	}
	return (n);
}

static unsigned	(*const tellers[])(const json_t *) = {
	tell_processes, tell_store, tell_audit, tell_egress, tell_reload,
	tell_secrets, tell_homes, tell_draining, tell_limits, tell_approvals,
};

static void
print_span(json_int_t s)
{
	if (s < 120)
		printf("%" JSON_INTEGER_FORMAT " s", s);
	else if (s < 7200)
		printf("%" JSON_INTEGER_FORMAT " min", s / 60);
	else if (s < 172800)
		printf("%" JSON_INTEGER_FORMAT " h", s / 3600);
	else
		printf("%" JSON_INTEGER_FORMAT " days", s / 86400);
}

static void
print_first(const json_t *s)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < NITEMS(tellers); i++)
		n += tellers[i](s);
	if (n == 0)
		printf("Nothing needs you.");
	else
		printf("That %s.", n == 1 ? "is all" : "is all that needs "
		    "somebody");
	printf("  Up for ");
	print_span(number(s, NULL, "uptime_s"));
	printf("; calls running: %" JSON_INTEGER_FORMAT ", sessions: %"
	    JSON_INTEGER_FORMAT ", neurons: %" JSON_INTEGER_FORMAT ".\n\n",
	    number(s, "calls", "running"), number(s, "sessions", "live"),
	    number(s, "neurons", "live"));
}

/* ---- all of it ---- */

static const struct column status_columns[] = {
	{ "version", "version", 0 },
	{ "instance", "instance", 0 },
	{ "up for (s)", "uptime_s", 0 },
	{ "supervisor", "supervisor.pid", 0 },
	{ "neurons", "neurons.live", 0 },
	{ "neurons, most", "neurons.limit", 0 },
	{ "neurons ready", "pool.ready", 0 },
	{ "wanted ready", "pool.wanted", 0 },
	{ "met by one ready", "pool.hits", 0 },
	{ "none was ready", "pool.misses", 0 },
	{ "persistent neurons", "homes.count", 0 },
	{ "of them, lost", "homes.lost", 0 },
	{ "homes of no neuron", "homes.unclaimed", 0 },
	{ "their ids", "homes.unclaimed_ids", 0 },
	{ "their homes (bytes)", "homes.bytes", 0 },
	{ "sessions", "sessions.live", 0 },
	{ "calls running", "calls.running", 0 },
	{ "calls, most", "calls.limit", 0 },
	{ "calls so far", "calls.total", 0 },
	{ "draining", "draining", 0 },
	{ "audit records", "audit.sequence", 0 },
	{ "approvals waiting", "approvals.pending", 0 },
	{ "the oldest (s)", "approvals.oldest_s", 0 },
	{ "self-approval", "self_approval", 0 },
	{ "secrets registered", "secrets.count", 0 },
	{ "secrets to enter again", "secrets.needs_reentry", 0 },
	{ "secrets kept by", "secrets.store", 0 },
	{ "egress", "egress.state", 0 },
	{ "neurons with egress", "egress.neurons", 0 },
	{ "hosts granted", "egress.grants", 0 },
	{ "configuration", "reload.generation", 0 },
	{ "last reload", "reload.result", 0 },
	{ "its error", "reload.error", 0 },
};

static const struct column process_columns[] = {
	{ "PROCESS", "name", 0 },
	{ "PID", "pid", 1 },
	{ "STATE", "state", 0 },
	{ "RESTARTS", "restarts", 1 },
};

int
cmd_status(struct options *o, int argc, char **argv)
{
	json_t *json;

	(void)argv;
	if (argc != 0)
		return (usage_error(o, "status takes no operand"));
	json = api_call(o, OPERATOR, "GET", "/v1/status", NULL);
	if (json == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	else {
		print_first(json);
		words_lines(json, status_columns, NITEMS(status_columns));
		putchar('\n');
		words_table(json_object_get(json, "processes"),
		    process_columns, NITEMS(process_columns),
		    "It says nothing of its processes.");
	}
	json_decref(json);
	return (0);
}

/* ---- metrics ---- */

int
cmd_metrics(struct options *o, int argc, char **argv)
{
	struct api_body body;

	(void)argv;
	if (argc != 0)
		return (usage_error(o, "metrics takes no operand"));
	if (api_text(o, OPERATOR, "/metrics", &body) == -1)
		return (EXIT_FAILED);
	fwrite(body.p, 1, body.len, stdout);
	free(body.p);
	return (0);
}
