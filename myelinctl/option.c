/*
 * The options of all commands.
 */
#include <errno.h>
#include <getopt.h>
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
set_socket(struct options *o, const char *value)
{
	o->socket = value;
	return (0);
}

static int
set_operator(struct options *o, const char *value)
{
	(void)value;
	o->operator = 1;
	return (0);
}

static int
set_json(struct options *o, const char *value)
{
	(void)value;
	o->json = 1;
	return (0);
}

static int
set_follow(struct options *o, const char *value)
{
	(void)value;
	o->follow = 1;
	return (0);
}

static int
set_recursive(struct options *o, const char *value)
{
	(void)value;
	o->recursive = 1;
	return (0);
}

static int
set_workspace(struct options *o, const char *value)
{
	o->workspace = value;
	return (0);
}

static int
set_read_only(struct options *o, const char *value)
{
	(void)value;
	o->read_only = 1;
	return (0);
}

static int
set_cwd(struct options *o, const char *value)
{
	o->cwd = value;
	return (0);
}

static int
set_profile(struct options *o, const char *value)
{
	o->profile = value;
	return (0);
}

static int
set_preset(struct options *o, const char *value)
{
	o->preset = value;
	return (0);
}

static int
set_session(struct options *o, const char *value)
{
	o->session = value;
	return (0);
}

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

static int
set_stop(struct options *o, const char *value)
{
	(void)value;
	o->stop = 1;
	return (0);
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

static int
set_name(struct options *o, const char *value)
{
	o->name = value;
	return (0);
}

static int
set_neuron(struct options *o, const char *value)
{
	o->neuron = value;
	return (0);
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
set_dry_run(struct options *o, const char *value)
{
	(void)value;
	o->dry_run = 1;
	return (0);
}

static int
set_explain(struct options *o, const char *value)
{
	(void)value;
	o->explain = 1;
	return (0);
}

static int
set_library(struct options *o, const char *value)
{
	o->library = value;
	return (0);
}

static int
set_since(struct options *o, const char *value)
{
	o->since = value;
	return (0);
}

static int
set_until(struct options *o, const char *value)
{
	o->until = value;
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

static int
set_anchors(struct options *o, const char *value)
{
	o->anchors = value;
	return (0);
}

static int
set_all(struct options *o, const char *value)
{
	(void)value;
	o->all = 1;
	return (0);
}

static int
set_remembered(struct options *o, const char *value)
{
	(void)value;
	o->remembered = 1;
	return (0);
}

static int
set_for_session(struct options *o, const char *value)
{
	(void)value;
	o->for_session = 1;
	return (0);
}

static int
set_reason(struct options *o, const char *value)
{
	o->reason = value;
	return (0);
}

static int
set_yes(struct options *o, const char *value)
{
	(void)value;
	o->yes = 1;
	return (0);
}

static int
set_exec(struct options *o, const char *value)
{
	o->exec = value;
	return (0);
}

static int
set_digest(struct options *o, const char *value)
{
	o->digest = value;
	return (0);
}

/* ---- the table ---- */

static const struct option_row option_rows[] = {
	{ 's', 1, "socket", "PATH", "use this socket", set_socket },
	{ 'o', 1, "operator", NULL, "ask the operator socket, which shows "
	    "everybody's", set_operator },
	{ LONG_JSON, 0, "json", NULL, "print JSON, for programs", set_json },
	{ 'w', 1, "workspace", "DIR", "mount this directory, read and write, "
	    "and start in it", set_workspace },
	{ LONG_READ_ONLY, 0, "read-only", NULL, "nothing can be written to the "
	    "workspace", set_read_only },
	{ 'C', 1, "cwd", "DIR", "start in this directory inside", set_cwd },
	{ 'e', 1, "env", "NAME=VALUE", "add to the environment", set_env },
	{ 'p', 1, "profile", "NAME", "the profile of the neuron (sandbox)",
	    set_profile },
	{ LONG_PRESET, 0, "preset", "NAME", "the preset, which says what is "
	    "allowed", set_preset },
	{ LONG_TIMEOUT, 0, "timeout", "SECONDS", "end the call, or the wait, "
	    "after so long", set_timeout },
	{ LONG_STOP, 0, "stop", NULL, "take calls again", set_stop },
	{ LONG_SESSION, 0, "session", "ID", "in this session", set_session },
	{ LONG_EXPIRES, 0, "expires", "TIME", "end the session or key after so "
	    "long, like 8h", set_expires },
	{ LONG_OVERLAP, 0, "overlap", "TIME", "let the token before go on for "
	    "so long, like 1h", set_overlap },
	{ LONG_NAME, 0, "name", "NAME", "what you call it, yours alone",
	    set_name },
	{ LONG_LABEL, 0, "label", "KEY=VALUE", "with this label; KEY alone "
	    "looks for any value", set_label },
	{ LONG_IDLE, 0, "idle-expiry", "TIME", "destroy it when unused so "
	    "long, like 7d", set_idle },
	{ LONG_NEURON, 0, "neuron", "NEURON", "in this persistent neuron, by "
	    "its name or id", set_neuron },
	{ LONG_OLDER, 0, "older-than", "TIME", "what is older than that, "
	    "like 7d; the default is the limit transcripts", set_older_than },
	{ LONG_DRY, 0, "dry-run", NULL, "say what would be done, and do "
	    "nothing", set_dry_run },
	{ 'n', 1, "lines", "N", "at most N rows", set_most },
	{ LONG_EXPLAIN, 0, "explain", NULL, "show all that was found",
	    set_explain },
	{ 'L', 1, "library", "DIR", "use judged of this directory",
	    set_library },
	{ 'f', 1, "follow", NULL, "go on with what comes", set_follow },
	{ 'r', 1, "recursive", NULL, "a directory and what is below it",
	    set_recursive },
	{ LONG_SINCE, 0, "since", "WHEN", "from this record, or time, on",
	    set_since },
	{ LONG_UNTIL, 0, "until", "WHEN", "up to this record, or time",
	    set_until },
	{ LONG_ANCHOR, 0, "anchor", "N:HASH", "record N must have this hash",
	    set_anchor },
	{ LONG_ANCHORS, 0, "anchors", "FILE", "the same of all anchors in "
	    "the journal's lines", set_anchors },
	{ LONG_ALL, 0, "all", NULL, "also those that were decided", set_all },
	{ LONG_REMEMBERED, 0, "remembered", NULL, "those that hold for the "
	    "rest of a session", set_remembered },
	{ LONG_FOR_SESSION, 0, "session", NULL, "also the very same again, "
	    "in this session", set_for_session },
	{ LONG_REASON, 0, "reason", "WORDS", "why, for the one who asked",
	    set_reason },
	{ LONG_YES, 0, "yes", NULL, "a long one was read", set_yes },
	{ LONG_DIGEST, 0, "digest", "HEX", "only if it is the one with this "
	    "digest", set_digest },
	{ LONG_EXEC, 0, "exec", "PROGRAM", "hand each new approval to this "
	    "program, as JSON", set_exec },
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
		if (option_find(c)->set(o, optarg) != 0)
			return (-1);
	}
	return (0);
}
