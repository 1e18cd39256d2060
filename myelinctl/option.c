/*
 * The options of all commands.
 */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define SECONDS_MAX	3600000UL	/* what fits into timeout_ms */

/* ---- their values ---- */

enum { LONG_TIMEOUT = 'T', LONG_SESSION = 'S', LONG_JSON = 'j',
	LONG_PRESET = 'P', LONG_EXPIRES = 'X', LONG_STOP = 'Z',
	LONG_OLDER = 'O', LONG_DRY = 'D', LONG_EXPLAIN = 'E', LONG_ALL = 'A',
	LONG_REMEMBERED = 'R', LONG_FOR_SESSION = 'F', LONG_REASON = 'G',
	LONG_YES = 'Y', LONG_EXEC = 'x', LONG_DIGEST = 'd', LONG_SINCE = '1',
	LONG_UNTIL = '2', LONG_ANCHOR = '3', LONG_ANCHORS = '4',
	LONG_OVERLAP = 'V', LONG_NAME = 'N', LONG_LABEL = 'B',
	LONG_IDLE = 'I', LONG_NEURON = 'U', LONG_READ_ONLY = 'W' };

static int
set_env(struct options *o, const char *value)
{
	const char *equals = strchr(value, '=');
	json_t *text;
	char *name;
	int ok;

	if (equals == NULL || equals == value)
		return (usage_error(o, "-e %s: not NAME=VALUE", value));
	if (o->env == NULL)
		o->env = json_object();
	text = json_string(equals + 1);
	name = strndup(value, (size_t)(equals - value));
	if (text == NULL || name == NULL ||
	    json_object_set_new(o->env, name, text) == -1)
		ok = usage_error(o, "-e %s: not UTF-8", value);
	else
		ok = 0;
	free(name);
	return (ok);
}

/* Seconds with up to three decimals. */
static int
set_timeout(struct options *o, const char *value)
{
	unsigned long long ms;
	unsigned scale = 100;
	char *end;

	if (*value < '0' || *value > '9')
		goto bad;
	errno = 0;
	ms = strtoull(value, &end, 10);
	if (errno != 0 || ms > SECONDS_MAX)
		goto bad;
	ms *= 1000;
	if (*end == '.') {
		for (end++; *end >= '0' && *end <= '9' && scale > 0; end++) {
			ms += (unsigned)(*end - '0') * scale;
			scale /= 10;
		}
	}
	if (*end != '\0' || ms == 0 || ms > UINT32_MAX)
		goto bad;
	o->timeout_ms = (uint32_t)ms;
	return (0);
bad:
	return (usage_error(o, "--timeout %s: not a number of seconds, like "
	    "60 or 1.5", value));
}

static int
number(const struct options *o, const char *option, const char *value,
    uint32_t *to)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end != '\0' || errno != 0 ||
	    n == 0 || n > UINT32_MAX)
		return (usage_error(o, "%s %s: not a number above 0", option,
		    value));
	*to = (uint32_t)n;
	return (0);
}

static int
set_most(struct options *o, const char *value)
{
	return (number(o, "-n", value, &o->most));
}

/* A number of seconds, or of minutes, hours or days: 30d. */
static int
seconds(struct options *o, const char *option, const char *value,
    int64_t *to)
{
	static const struct { char letter; uint32_t seconds; } units[] = {
		{ 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 },
		{ '\0', 1 }
	};
	unsigned long n;
	size_t i;
	char *end;

	errno = 0;
	n = strtoul(value, &end, 10);
	for (i = 0; i < NITEMS(units); i++) {
		if (*end != units[i].letter)
			continue;
		if (*value < '0' || *value > '9' || errno != 0 ||
		    (*end != '\0' && end[1] != '\0') ||
		    n > UINT32_MAX / units[i].seconds)
			break;
		*to = (int64_t)n * units[i].seconds;
		return (0);
	}
	return (usage_error(o, "%s %s: not a time like 7d, 12h or 90s",
	    option, value));
}

static int
some_seconds(struct options *o, const char *option, const char *value,
    uint32_t *to)
{
	int64_t n;
	int r;

	if ((r = seconds(o, option, value, &n)) != 0)
		return (r);
	if (n == 0)
		return (usage_error(o, "%s %s: not a time above 0", option,
		    value));
	*to = (uint32_t)n;
	return (0);
}

static int
set_older_than(struct options *o, const char *value)
{
	return (seconds(o, "--older-than", value, &o->older_than));
}

static int
set_expires(struct options *o, const char *value)
{
	return (some_seconds(o, "--expires", value, &o->expires));
}

static int
set_overlap(struct options *o, const char *value)
{
	return (some_seconds(o, "--overlap", value, &o->overlap));
}

static int
set_idle(struct options *o, const char *value)
{
	return (some_seconds(o, "--idle-expiry", value, &o->idle));
}

/* "KEY=VALUE"; "KEY" alone is good for looking for it. */
static int
set_label(struct options *o, const char *value)
{
	const char *equals = strchr(value, '=');
	size_t n = equals != NULL ? (size_t)(equals - value) : strlen(value);
	char key[64];

	if (n == 0 || n >= sizeof(key))
		return (usage_error(o, "--label: \"%s\" is not KEY=VALUE",
		    value));
	snprintf(key, sizeof(key), "%.*s", (int)n, value);
	if (o->labels == NULL && (o->labels = json_object()) == NULL)
		return (usage_error(o, "out of memory"));
	if (json_object_set_new(o->labels, key, equals != NULL ?
	    json_string(equals + 1) : json_null()) == -1)
		return (usage_error(o, "--label: \"%s\" is not UTF-8", value));
	return (0);
}

static int
set_anchor(struct options *o, const char *value)
{
	if (o->nanchor == NITEMS(o->anchor))
		return (usage_error(o, "--anchor: more than %zu; --anchors "
		    "reads any number", NITEMS(o->anchor)));
	o->anchor[o->nanchor++] = value;
	return (0);
}

/* ---- the table ---- */

/* A flag that is set, or a text that is kept: where. */
#define AT(member)	NULL, offsetof(struct options, member)

static const struct option_row option_rows[] = {
	{ 's', 1, "socket", "PATH", "use this socket", AT(socket) },
	{ 'o', 1, "operator", NULL, "ask the operator socket, which shows "
	    "everybody's", AT(operator) },
	{ LONG_JSON, 0, "json", NULL, "print JSON, for programs", AT(json) },
	{ 'w', 1, "workspace", "DIR", "mount this directory, read and write, "
	    "and start in it", AT(workspace) },
	{ LONG_READ_ONLY, 0, "read-only", NULL, "nothing can be written to "
	    "the workspace", AT(read_only) },
	{ 'C', 1, "cwd", "DIR", "start in this directory inside", AT(cwd) },
	{ 'e', 1, "env", "NAME=VALUE", "add to the environment", set_env, 0 },
	{ 'p', 1, "profile", "NAME", "the profile of the neuron (sandbox)",
	    AT(profile) },
	{ LONG_PRESET, 0, "preset", "NAME", "the preset, which says what is "
	    "allowed", AT(preset) },
	{ LONG_TIMEOUT, 0, "timeout", "SECONDS", "end the call, or the wait, "
	    "after so long", set_timeout, 0 },
	{ LONG_STOP, 0, "stop", NULL, "take calls again", AT(stop) },
	{ LONG_SESSION, 0, "session", "ID", "in this session", AT(session) },
	{ LONG_EXPIRES, 0, "expires", "TIME", "end the session or key after so "
	    "long, like 8h", set_expires, 0 },
	{ LONG_OVERLAP, 0, "overlap", "TIME", "let the token before go on for "
	    "so long, like 1h", set_overlap, 0 },
	{ LONG_NAME, 0, "name", "NAME", "what you call it, yours alone",
	    AT(name) },
	{ LONG_LABEL, 0, "label", "KEY=VALUE", "with this label; KEY alone "
	    "looks for any value", set_label, 0 },
	{ LONG_IDLE, 0, "idle-expiry", "TIME", "destroy it when unused so "
	    "long, like 7d", set_idle, 0 },
	{ LONG_NEURON, 0, "neuron", "NEURON", "in this persistent neuron, by "
	    "its name or id", AT(neuron) },
	{ LONG_OLDER, 0, "older-than", "TIME", "what is older than that, "
	    "like 7d; the default is the limit transcripts",
	    set_older_than, 0 },
	{ LONG_DRY, 0, "dry-run", NULL, "say what would be done, and do "
	    "nothing", AT(dry_run) },
	{ 'n', 1, "lines", "N", "at most N rows", set_most, 0 },
	{ LONG_EXPLAIN, 0, "explain", NULL, "show all that was found",
	    AT(explain) },
	{ 'L', 1, "library", "DIR", "use judged of this directory",
	    AT(library) },
	{ 'f', 1, "follow", NULL, "go on with what comes", AT(follow) },
	{ 'r', 1, "recursive", NULL, "a directory and what is below it",
	    AT(recursive) },
	{ LONG_SINCE, 0, "since", "WHEN", "from this record, or time, on",
	    AT(since) },
	{ LONG_UNTIL, 0, "until", "WHEN", "up to this record, or time",
	    AT(until) },
	{ LONG_ANCHOR, 0, "anchor", "N:HASH", "record N must have this hash",
	    set_anchor, 0 },
	{ LONG_ANCHORS, 0, "anchors", "FILE", "the same of all anchors in "
	    "the journal's lines", AT(anchors) },
	{ LONG_ALL, 0, "all", NULL, "also those that were decided", AT(all) },
	{ LONG_REMEMBERED, 0, "remembered", NULL, "those that hold for the "
	    "rest of a session", AT(remembered) },
	{ LONG_FOR_SESSION, 0, "session", NULL, "also the very same again, "
	    "in this session", AT(for_session) },
	{ LONG_REASON, 0, "reason", "WORDS", "why, for the one who asked",
	    AT(reason) },
	{ LONG_YES, 0, "yes", NULL, "a long one was read", AT(yes) },
	{ LONG_DIGEST, 0, "digest", "HEX", "only if it is the one with this "
	    "digest", AT(digest) },
	{ LONG_EXEC, 0, "exec", "PROGRAM", "hand each new approval to this "
	    "program, as JSON", AT(exec) },
};

const struct option_row *
option_find(int letter)
{
	size_t i;

	for (i = 0; i < NITEMS(option_rows); i++) {
		if (option_rows[i].letter == letter)
			return (&option_rows[i]);
	}
	return (NULL);
}

/* ---- reading the command line ---- */

#define SHORT_ROOM	(2 * NITEMS(option_rows) + 4)

static void
getopt_tables(const char *letters, int first_ends, char *shorts,
    struct option *longs)
{
	const struct option_row *row;

	if (first_ends)
		*shorts++ = '+';
	*shorts++ = ':';
	*shorts++ = 'h';
	for (; *letters != '\0'; letters++) {
		row = option_find(*letters);
		if (row->is_short) {
			*shorts++ = (char)row->letter;
			if (row->value != NULL)
				*shorts++ = ':';
		}
		longs->name = row->name;
		longs->has_arg = row->value != NULL ? required_argument :
		    no_argument;
		longs->flag = NULL;
		longs->val = row->letter;
		longs++;
	}
	*shorts = '\0';
	*longs++ = (struct option){ "help", no_argument, NULL, 'h' };
	memset(longs, 0, sizeof(*longs));
}

static int
option_set(const struct option_row *row, struct options *o, const char *value)
{
	char *at = (char *)o + row->at;

	if (row->set != NULL)
		return (row->set(o, value));
	if (row->value == NULL)
		*(int *)(void *)at = 1;
	else
		*(const char **)(void *)at = value;
	return (0);
}

int
options_read(struct options *o, const char *letters, int first_ends,
    int argc, char **argv)
{
	struct option longs[NITEMS(option_rows) + 2];
	char shorts[SHORT_ROOM];
	int c;

	getopt_tables(letters, first_ends, shorts, longs);
	optind = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (c == 'h')
			return (1);
		if (c == ':') {
			usage_error(o, "%s needs a value", argv[optind - 1]);
			return (-1);
		}
		if (c == '?') {
			usage_error(o, "%s: no such option here",
			    argv[optind - 1]);
			return (-1);
		}
		if (option_set(option_find(c), o, optarg) != 0)
			return (-1);
	}
	return (0);
}
