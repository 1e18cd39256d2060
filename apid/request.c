/*
 * The JSON bodies of requests.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "labels.h"
#include "request.h"
#include "rule_json.h"
#include "shown.h"
#include "signals.h"
#include "text.h"

struct reading {
	struct request		*request;
	const struct limits	*limits;
	struct http_bad		*bad;
	json_t			*arguments;	/* {args, cwd, env} */
};

struct member {
	const char	*name;
	unsigned	 which;
	int		 (*fn)(struct reading *, const char *, json_t *);
};

static int	member_tool(struct reading *, const char *, json_t *);
static int	member_args(struct reading *, const char *, json_t *);
static int	member_cwd(struct reading *, const char *, json_t *);
static int	member_env(struct reading *, const char *, json_t *);
static int	member_stdin(struct reading *, const char *, json_t *);
static int	member_flow(struct reading *, const char *, json_t *);
static int	member_strip(struct reading *, const char *, json_t *);
static int	member_timeout(struct reading *, const char *, json_t *);
static int	member_wait(struct reading *, const char *, json_t *);
static int	member_pty(struct reading *, const char *, json_t *);
static int	member_key(struct reading *, const char *, json_t *);
static int	member_dry_run(struct reading *, const char *, json_t *);
static int	member_profile(struct reading *, const char *, json_t *);
static int	member_preset(struct reading *, const char *, json_t *);
static int	member_workspace(struct reading *, const char *, json_t *);
static int	member_read_only(struct reading *, const char *, json_t *);
static int	member_owner(struct reading *, const char *, json_t *);
static int	member_expires(struct reading *, const char *, json_t *);
static int	member_rules(struct reading *, const char *, json_t *);
static int	member_neuron(struct reading *, const char *, json_t *);
static int	member_name(struct reading *, const char *, json_t *);
static int	member_labels(struct reading *, const char *, json_t *);
static int	member_idle(struct reading *, const char *, json_t *);
static int	member_persistent(struct reading *, const char *, json_t *);

#define ANY_CALL	(REQUEST_CALL | REQUEST_ONCE)
#define ANY_NEURON	(REQUEST_SESSION | REQUEST_ONCE | REQUEST_NEURON)
#define ANY_PRESET	(REQUEST_SESSION | REQUEST_ONCE)

static const struct member members[] = {
	{ "tool",		ANY_CALL,	 member_tool },
	{ "args",		ANY_CALL,	 member_args },
	{ "cwd",		ANY_CALL,	 member_cwd },
	{ "env",		ANY_CALL,	 member_env },
	{ "stdin",		ANY_CALL,	 member_stdin },
	{ "flow",		ANY_CALL,	 member_flow },
	{ "strip",		ANY_CALL,	 member_strip },
	{ "timeout_ms",		ANY_CALL,	 member_timeout },
	{ "wait_ms",		ANY_CALL,	 member_wait },
	{ "pty",		ANY_CALL,	 member_pty },
	{ "idempotency_key",	ANY_CALL,	 member_key },
	{ "dry_run",		ANY_CALL,	 member_dry_run },
	{ "profile",		ANY_NEURON,	 member_profile },
	{ "preset",		ANY_PRESET,	 member_preset },
	{ "workspace",		ANY_NEURON,	 member_workspace },
	{ "read_only",		ANY_NEURON,	 member_read_only },
	{ "owner",		ANY_NEURON,	 member_owner },
	{ "expires",		REQUEST_SESSION, member_expires },
	{ "neuron",		REQUEST_SESSION, member_neuron },
	{ "persistent",		REQUEST_NEURON,	 member_persistent },
	{ "name",		REQUEST_NEURON,	 member_name },
	{ "labels",		REQUEST_NEURON,	 member_labels },
	{ "idle_expiry",	REQUEST_NEURON,	 member_idle },
	{ "rules",		REQUEST_SESSION, member_rules }
};

static int	refuse(struct reading *, enum api_error, const char *, ...)
		    __attribute__((__format__(__printf__, 3, 4)));

/* Says what was wrong; returns -1 for the caller to return. */
static int
refuse(struct reading *r, enum api_error code, const char *fmt, ...)
{
	va_list ap;

	r->bad->code = code;
	va_start(ap, fmt);
	(void)vsnprintf(r->bad->why, sizeof(r->bad->why), fmt, ap);
	va_end(ap);
	return (-1);
}

/* A name as the configuration writes it, without its quotes. */
static int
read_name(struct reading *r, const char *name, json_t *v,
    char dst[NAME_BYTES_MAX])
{
	const char *s = json_string_value(v);
	size_t n;

	if (s == NULL)
		return (refuse(r, API_BAD_REQUEST, "%s: not a string", name));
	n = strlen(s);
	if (n == 0 || n >= NAME_BYTES_MAX || strspn(s,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_.-") != n)
		return (refuse(r, API_BAD_REQUEST, "%s: not a name of 1 to %d "
		    "letters, digits, \"_\", \".\" and \"-\"", name,
		    NAME_BYTES_MAX - 1));
	memcpy(dst, s, n + 1);
	return (0);
}

static int
read_number(struct reading *r, const char *name, json_t *v, uint64_t min,
    uint64_t max, uint32_t *dst)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || n < 0 || (uint64_t)n < min ||
	    (uint64_t)n > max)
		return (refuse(r, API_BAD_REQUEST,
		    "%s: not a whole number from %llu to %llu", name,
		    (unsigned long long)min, (unsigned long long)max));
	*dst = (uint32_t)n;
	return (0);
}

static int
keep_argument(struct reading *r, const char *name, json_t *v)
{
	if (json_object_set(r->arguments, name, v) == -1)
		return (refuse(r, API_INTERNAL, "memory"));
	return (0);
}

/* ---- members ---- */

static int
member_tool(struct reading *r, const char *name, json_t *v)
{
	return (read_name(r, name, v, r->request->tool));
}

static int
member_args(struct reading *r, const char *name, json_t *v)
{
	if (!json_is_object(v))
		return (refuse(r, API_BAD_REQUEST, "%s: not an object", name));
	return (keep_argument(r, name, v));
}

static int
member_cwd(struct reading *r, const char *name, json_t *v)
{
	if (!json_is_string(v) || json_string_length(v) == 0 ||
	    json_string_length(v) >= PATH_BYTES_MAX)
		return (refuse(r, API_BAD_REQUEST,
		    "%s: not a string of 1 to %d bytes", name,
		    PATH_BYTES_MAX - 1));
	return (keep_argument(r, name, v));
}

static int
member_env(struct reading *r, const char *name, json_t *v)
{
	const char *key;
	json_t *value;

	if (!json_is_object(v))
		return (refuse(r, API_BAD_REQUEST, "%s: not an object", name));
	json_object_foreach(v, key, value)
		if (!json_is_string(value))
			return (refuse(r, API_BAD_REQUEST,
			    "%s: the value of %.64s is not a string", name,
			    key));
	return (keep_argument(r, name, v));
}

static int
stdin_text(struct reading *r, json_t *v)
{
	size_t n = json_string_length(v);

	if ((r->request->text = malloc(n + 1)) == NULL)
		return (refuse(r, API_INTERNAL, "memory"));
	memcpy(r->request->text, json_string_value(v), n);
	r->request->text_size = n;
	r->request->input = STDIN_INLINE;
	return (0);
}

static int
stdin_base64(struct reading *r, json_t *v)
{
	size_t n = json_string_length(v);

	if ((r->request->text = malloc(n / 4 * 3 + 1)) == NULL)
		return (refuse(r, API_INTERNAL, "memory"));
	if (base64_read(r->request->text, json_string_value(v), n,
	    &r->request->text_size) == -1)
		return (refuse(r, API_BAD_REQUEST,
		    "stdin: not base64 with its padding"));
	r->request->input = STDIN_INLINE;
	return (0);
}

static int
member_stdin(struct reading *r, const char *name, json_t *v)
{
	json_t *text = json_object_get(v, "text");
	json_t *base64 = json_object_get(v, "base64");
	json_t *stream = json_object_get(v, "stream");

	if (json_is_string(v))
		return (stdin_text(r, v));
	if (json_object_size(v) == 1 && json_is_string(text))
		return (stdin_text(r, text));
	if (json_object_size(v) == 1 && json_is_string(base64))
		return (stdin_base64(r, base64));
	if (json_object_size(v) == 1 && json_is_true(stream)) {
		r->request->input = STDIN_STREAM;
		return (0);
	}
	return (refuse(r, API_BAD_REQUEST, "%s: neither a string nor one of "
	    "{\"text\": ...}, {\"base64\": ...}, {\"stream\": true}", name));
}

static int
member_flow(struct reading *r, const char *name, json_t *v)
{
	const char *s = json_string_value(v);

	if (s == NULL || (strcmp(s, "drop") != 0 && strcmp(s, "block") != 0))
		return (refuse(r, API_BAD_REQUEST,
		    "%s: neither \"drop\" nor \"block\"", name));
	r->request->block = strcmp(s, "block") == 0;
	return (0);
}

static int
member_strip(struct reading *r, const char *name, json_t *v)
{
	if (!json_is_boolean(v))
		return (refuse(r, API_BAD_REQUEST,
		    "%s: neither true nor false", name));
	r->request->strip = json_is_true(v);
	return (0);
}

static int
member_timeout(struct reading *r, const char *name, json_t *v)
{
	const char *word = json_string_value(v);

	if (word != NULL && strcmp(word, "max") == 0) {
		r->request->timeout_ms = TIMEOUT_MOST;
		return (0);
	}
	if (word != NULL)
		return (refuse(r, API_BAD_REQUEST, "%s: neither a number nor "
		    "\"max\"", name));
	/* Whose range it is, a profile says; policyd knows it. */
	return (read_number(r, name, v, 1, TIMEOUT_MOST - 1,
	    &r->request->timeout_ms));
}

static int
member_wait(struct reading *r, const char *name, json_t *v)
{
	uint64_t max = r->limits->v[LIMIT_WAIT];
	json_int_t n = json_integer_value(v);

	if (json_is_integer(v) && n > 0 && (uint64_t)n > max)
		return (refuse(r, API_BAD_REQUEST, "%s: over the limit "
		    "\"%s\", %llu ms", name, limit_table[LIMIT_WAIT].keyword,
		    (unsigned long long)max));
	return (read_number(r, name, v, 0, max, &r->request->wait_ms));
}

static int
read_size(struct reading *r, const char *before, json_t *v, uint32_t *size)
{
	uint32_t rows, cols;
	char name[16];

	(void)snprintf(name, sizeof(name), "%srows", before);
	if (read_number(r, name, json_object_get(v, "rows"), 1, PTY_SIZE_MAX,
	    &rows) == -1)
		return (-1);
	(void)snprintf(name, sizeof(name), "%scols", before);
	if (read_number(r, name, json_object_get(v, "cols"), 1, PTY_SIZE_MAX,
	    &cols) == -1)
		return (-1);
	*size = PTY_SIZE(rows, cols);
	return (0);
}

/* Among what is judged: the argument bytes say what the program meets. */
static int
member_pty(struct reading *r, const char *name, json_t *v)
{
	const char *key;
	uint32_t size;
	json_t *value;

	if (!json_is_object(v))
		return (refuse(r, API_BAD_REQUEST, "%s: not an object", name));
	json_object_foreach(v, key, value)
		if (strcmp(key, "rows") != 0 && strcmp(key, "cols") != 0 &&
		    strcmp(key, "term") != 0)
			return (refuse(r, API_BAD_REQUEST, "%s.%.64s: there "
			    "is no such member here", name, key));
	if (read_size(r, "pty.", v, &size) == -1)
		return (-1);
	value = json_object_get(v, "term");
	if (value != NULL && (!json_is_string(value) ||
	    json_string_length(value) >= PTY_TERM_MAX))
		return (refuse(r, API_BAD_REQUEST, "%s.term: not a string of "
		    "at most %d bytes", name, PTY_TERM_MAX - 1));
	r->request->pty = 1;
	return (keep_argument(r, name, v));
}

static int
member_key(struct reading *r, const char *name, json_t *v)
{
	size_t n = json_string_length(v), i;
	const char *s = json_string_value(v);

	if (s == NULL || n == 0 || n > IDEMPOTENCY_MAX)
		return (refuse(r, API_BAD_REQUEST,
		    "%s: not a string of 1 to %d bytes", name,
		    IDEMPOTENCY_MAX));
	for (i = 0; i < n; i++)
		if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
			return (refuse(r, API_BAD_REQUEST,
			    "%s: it has a control character", name));
	memcpy(r->request->key, s, n + 1);
	return (0);
}

static int
member_dry_run(struct reading *r, const char *name, json_t *v)
{
	if (!json_is_boolean(v))
		return (refuse(r, API_BAD_REQUEST,
		    "%s: neither true nor false", name));
	r->request->dry_run = json_is_true(v);
	return (0);
}

static int
member_profile(struct reading *r, const char *name, json_t *v)
{
	return (read_name(r, name, v, r->request->profile));
}

static int
member_preset(struct reading *r, const char *name, json_t *v)
{
	return (read_name(r, name, v, r->request->preset));
}

static int
member_workspace(struct reading *r, const char *name, json_t *v)
{
	const char *s = json_string_value(v);

	if (s == NULL || s[0] != '/' || strlen(s) >= PATH_BYTES_MAX)
		return (refuse(r, API_BAD_REQUEST, "%s: not an absolute path "
		    "of at most %d bytes", name, PATH_BYTES_MAX - 1));
	memcpy(r->request->workspace, s, strlen(s) + 1);
	return (0);
}

static int
member_read_only(struct reading *r, const char *name, json_t *v)
{
	if (!json_is_boolean(v))
		return (refuse(r, API_BAD_REQUEST,
		    "%s: neither true nor false", name));
	r->request->read_only = json_is_true(v);
	return (0);
}

static int
member_owner(struct reading *r, const char *name, json_t *v)
{
	json_t *uid = json_object_get(v, "uid");
	json_t *gid = json_object_get(v, "gid");

	if (json_object_size(v) != 2 || uid == NULL || gid == NULL)
		return (refuse(r, API_BAD_REQUEST,
		    "%s: not {\"uid\": ..., \"gid\": ...}", name));
	/* Never root, and never the number that means nobody was named. */
	if (read_number(r, "owner.uid", uid, 1, UINT32_MAX - 1,
	    &r->request->owner_uid) == -1)
		return (-1);
	return (read_number(r, "owner.gid", gid, 1, UINT32_MAX - 1,
	    &r->request->owner_gid));
}

static int
member_expires(struct reading *r, const char *name, json_t *v)
{
	return (read_number(r, name, v, 1, UINT32_MAX,
	    &r->request->expires));
}

/* Rules that only tighten: read here, and carried on as they were. */
static int
member_rules(struct reading *r, const char *name, json_t *v)
{
	struct cf_rule *rules;
	char why[256], *text;
	size_t n;

	(void)name;
	if (rule_json_read(v, &rules, &n, why, sizeof(why)) == -1)
		return (refuse(r, API_BAD_REQUEST, "%s", why));
	rule_json_free(rules, n);
	if (n == 0)
		return (0);
	if ((text = json_dumps(v, JSON_COMPACT | JSON_SORT_KEYS)) == NULL)
		return (refuse(r, API_UNAVAILABLE, "rules: out of memory"));
	free(r->request->rules);
	r->request->rules = text;
	return (0);
}

static int
member_neuron(struct reading *r, const char *name, json_t *v)
{
	const char *s = json_string_value(v);

	if (s == NULL || !id_ok(ID_NEURON, s))
		return (refuse(r, API_BAD_REQUEST, "%s: not the id of a "
		    "persistent neuron (n-...)", name));
	memcpy(r->request->neuron, s, ID_SIZE);
	return (0);
}

static int
member_name(struct reading *r, const char *name, json_t *v)
{
	if (read_name(r, name, v, r->request->name) == -1)
		return (-1);
	if (id_ok(ID_NEURON, r->request->name))
		return (refuse(r, API_BAD_REQUEST, "%s: it looks like an id",
		    name));
	return (0);
}

static int
member_labels(struct reading *r, const char *name, json_t *v)
{
	char labels[LABELS_SIZE], why[256];

	(void)name;
	if (labels_read(v, labels, why, sizeof(why)) == -1)
		return (refuse(r, API_BAD_REQUEST, "%s", why));
	free(r->request->labels);
	if ((r->request->labels = strdup(labels)) == NULL)
		return (refuse(r, API_INTERNAL, "memory"));
	return (0);
}

static int
member_idle(struct reading *r, const char *name, json_t *v)
{
	const struct limit_row *row = &limit_table[LIMIT_IDLE_EXPIRY];

	return (read_number(r, name, v, row->min, row->max,
	    &r->request->idle));
}

/* What goes with its session is made by that. */
static int
member_persistent(struct reading *r, const char *name, json_t *v)
{
	if (!json_is_boolean(v))
		return (refuse(r, API_BAD_REQUEST,
		    "%s: neither true nor false", name));
	if (json_is_false(v))
		return (refuse(r, API_BAD_REQUEST, "%s: an ephemeral neuron "
		    "is made by opening a session", name));
	return (0);
}

/* ---- a body ---- */

static int
read_member(struct reading *r, unsigned which, const char *name, json_t *v)
{
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if ((members[i].which & which) &&
		    strcmp(members[i].name, name) == 0)
			return (members[i].fn(r, name, v));
	return (refuse(r, API_BAD_REQUEST, "%.64s: there is no such member "
	    "here", name));
}

/* With a key only what can be asked again, and be told to be the same. */
static int
check_key(struct reading *r)
{
	const struct request *q = r->request;

	if (q->key[0] == '\0')
		return (0);
	if (q->input == STDIN_STREAM)
		return (refuse(r, API_BAD_REQUEST, "idempotency_key: not with "
		    "streamed stdin, whose bytes can't be compared"));
	if (q->dry_run)
		return (refuse(r, API_BAD_REQUEST, "idempotency_key: not with "
		    "dry_run, which makes no call"));
	return (0);
}

/* The bytes that are judged, hashed, approved and run. */
static int
make_arguments(struct reading *r)
{
	struct request *q = r->request;

	if (q->tool[0] == '\0')
		return (refuse(r, API_BAD_REQUEST, "tool: missing"));
	if (json_object_get(r->arguments, "args") == NULL)
		return (refuse(r, API_BAD_REQUEST, "args: missing"));
	q->arguments = json_dumps(r->arguments,
	    JSON_COMPACT | JSON_SORT_KEYS);
	if (q->arguments == NULL)
		return (refuse(r, API_INTERNAL, "memory"));
	q->arguments_size = strlen(q->arguments);
	if ((q->shown = shown_arguments(r->arguments)) == NULL)
		return (refuse(r, API_INTERNAL, "memory"));
	return (0);
}

int
request_take(struct request *q, unsigned which, json_t *j,
    const struct limits *limits, struct http_bad *bad)
{
	struct reading r = { q, limits, bad, NULL };
	const char *name;
	json_t *v;
	int error = -1;

	memset(q, 0, sizeof(*q));
	q->owner_uid = q->owner_gid = OWNER_PEER_ID;
	q->input = STDIN_NONE;
	if ((r.arguments = json_object()) == NULL) {
		refuse(&r, API_INTERNAL, "memory");
		goto done;
	}
	json_object_foreach(j, name, v)
		if (read_member(&r, which, name, v) == -1)
			goto done;
	if ((which & ANY_CALL) != 0 && (check_key(&r) == -1 ||
	    make_arguments(&r) == -1))
		goto done;
	error = 0;
done:
	json_decref(r.arguments);
	return (error);
}

int
request_read(struct request *q, unsigned which, const char *body, size_t size,
    const struct limits *limits, struct http_bad *bad)
{
	json_t *j;
	int error;

	memset(q, 0, sizeof(*q));
	if ((j = json_read(body, size, bad)) == NULL)
		return (-1);
	error = request_take(q, which, j, limits, bad);
	json_decref(j);
	return (error);
}

/* ---- small bodies ---- */

int
request_signal(const char *body, size_t size, uint32_t *sig,
    struct http_bad *bad)
{
	struct reading r = { .bad = bad };
	json_t *j = json_read(body, size, bad);
	const char *name;
	int error = 0;

	if (j == NULL)
		return (-1);
	name = json_string_value(json_object_get(j, "signal"));
	*sig = name == NULL ? 0 : signal_find(name);
	if (json_object_size(j) != 1 || name == NULL)
		error = refuse(&r, API_BAD_REQUEST,
		    "not {\"signal\": \"INT\"}, or another name");
	else if (*sig == 0)
		error = refuse(&r, API_BAD_REQUEST, "signal: %.16s is none of "
		    "%s", name, signal_names());
	json_decref(j);
	return (error);
}

int
request_resize(const char *body, size_t size, uint32_t *pty_size,
    struct http_bad *bad)
{
	struct reading r = { .bad = bad };
	json_t *j = json_read(body, size, bad);
	int error;

	if (j == NULL)
		return (-1);
	if (json_object_size(j) != 2)
		error = refuse(&r, API_BAD_REQUEST,
		    "not {\"rows\": 24, \"cols\": 80}, or other numbers");
	else
		error = read_size(&r, "", j, pty_size);
	json_decref(j);
	return (error);
}

void
request_free(struct request *q)
{
	free(q->text);
	free(q->arguments);
	free(q->shown);
	free(q->rules);
	free(q->labels);
	q->rules = q->labels = NULL;
	q->text = NULL;
	q->arguments = NULL;
	q->shown = NULL;
}
