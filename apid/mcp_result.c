/*
 * What a tools/call answers: the end of a call in words that a model reads,
 * and the same as data for programs.
 *
 * All output comes from what is kept of the call, so it is what /v1 shows.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "log.h"
#include "mcp_internal.h"

#define TEXT_MOST	(64 * 1024)	/* bytes of stdout in an answer */
#define TEXT_READ	(128 * 1024)	/* the same of tools with own results */
#define STDERR_MOST	(16 * 1024)
#define NOTE_MAX	256	/* bytes of the note that something is missing */
#define BLOB_MOST	(3 * 1024 * 1024)	/* bytes; 4 MiB as base64 */

struct making {
	struct mcp	*mcp;
	struct call	*call;
	json_t		*record;	/* policyd's, sealed */
	json_t		*content;
	json_t		*out[STREAMS];	/* text, or NULL */
	json_t		*error;		/* the tool's own, or NULL */
	int		 failed;
};

/* ---- text ---- */

struct text {
	char	*p;
	size_t	 n;
};

/* Bytes of a list from skip on; what is copied and skipped counts down. */
static void
copy(struct text *t, const struct seglist *l, uint64_t *skip, uint64_t *most)
{
	const struct seg *s;
	uint64_t n;

	TAILQ_FOREACH(s, &l->segs, entry) {
		if (*skip >= s->len) {
			*skip -= s->len;
			continue;
		}
		n = s->len - *skip < *most ? s->len - *skip : *most;
		memcpy(t->p + t->n, s->chunk->data + s->off + *skip, n);
		t->n += n;
		*most -= n;
		*skip = 0;
		if (*most == 0)
			break;
	}
}

/* The same of all that is kept. */
static void
copy_kept(struct text *t, const struct kept_stream *s, uint64_t skip,
    uint64_t most)
{
	copy(t, &s->head, &skip, &most);
	if (most > 0)
		copy(t, &s->tail, &skip, &most);
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return (a < b ? a : b);
}

/* Bytes that continue a character go from the front of a cut. */
static size_t
front_rest(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && i < 3 && ((unsigned char)p[i] & 0xc0) == 0x80)
		i++;
	return (i);
}

/* Bytes at the end that begin a character which the cut left incomplete. */
static size_t
back_rest(const char *p, size_t n)
{
	size_t i;
	unsigned char c;

	for (i = 1; i <= n && i <= 4; i++) {
		c = (unsigned char)p[n - i];
		if ((c & 0xc0) == 0x80)
			continue;
		if (c < 0x80)
			return (0);
		return (i < (c >= 0xf0 ? 4U : c >= 0xe0 ? 3U : 2U) ? i : 0);
	}
	return (0);
}

/* The two ends of a stream and a note between them. */
static void
take_ends(struct call *call, int stream, uint64_t most, struct text *t)
{
	struct kept_stream *s = &call->kept.stream[stream];
	uint64_t kept = s->head.bytes + s->tail.bytes, first, last;
	int gap = kept_dropped(&call->kept, stream) > 0;
	size_t begin, cut;

	first = least(most / 2, gap ? s->head.bytes : kept);
	last = least(most / 2, gap ? s->tail.bytes : kept - first);
	copy_kept(t, s, 0, first);
	t->n -= back_rest(t->p, t->n);
	t->n += (size_t)snprintf(t->p + t->n, NOTE_MAX, "\n[... %llu bytes "
	    "are left out here; \"myelinctl call show %s\" has what is kept "
	    "of them ...]\n", (unsigned long long)(s->total - t->n - last),
	    call->id);
	begin = t->n;
	copy_kept(t, s, kept - last, last);
	cut = front_rest(t->p + begin, t->n - begin);
	memmove(t->p + begin, t->p + begin + cut, t->n - begin - cut);
	t->n -= cut;
}

/*
 * The text of a stream, at most so much of it, or NULL for none.  What is kept
 * is text as a whole (result_seal), whatever it is cut at here.
 */
static json_t *
stream_text(struct call *call, int stream, uint64_t most)
{
	struct kept_stream *s = &call->kept.stream[stream];
	uint64_t kept = s->head.bytes + s->tail.bytes;
	struct text t = { NULL, 0 };
	json_t *j;

	if (s->total == 0)
		return (NULL);
	if ((t.p = malloc(least(kept, most) + NOTE_MAX)) == NULL)
		fatal("a result");
	if (kept <= most && kept_dropped(&call->kept, stream) == 0)
		copy_kept(&t, s, 0, kept);
	else
		take_ends(call, stream, most, &t);
	j = json_stringn(t.p, t.n);
	free(t.p);
	return (j);
}

/* ---- content ---- */

static void
put_text(struct making *k, json_t *text)
{
	json_t *item = json_object();

	json_object_set_new(item, "type", json_string("text"));
	json_object_set_new(item, "text", text);
	json_array_append_new(k->content, item);
}

static void	put_words(struct making *, const char *, ...)
		    __attribute__((__format__(__printf__, 2, 3)));

static void
put_words(struct making *k, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) == -1)
		fatal("a result");
	va_end(ap);
	put_text(k, json_string(s));
	free(s);
}

static const char *
text_of(const json_t *object, const char *name)
{
	const char *s = json_string_value(json_object_get(object, name));

	return (s != NULL ? s : "");
}

/* The rule, the reason, the next step: what a model can go on with. */
static void
put_denials(struct making *k)
{
	json_t *list = json_object_get(k->record, "denials"), *denial;
	const char *rule, *next;
	size_t i;

	json_array_foreach(list, i, denial) {
		rule = text_of(denial, "rule");
		next = text_of(denial, "next");
		put_words(k, "Denied by %s: %s%s%s%s%s",
		    text_of(denial, "layer"), text_of(denial, "what"),
		    rule[0] != '\0' ? "\nRule: " : "", rule,
		    next[0] != '\0' ? "\nNext step: " : "", next);
	}
}

/* How it ended, where that is not plainly well. */
static void
put_end(struct making *k)
{
	json_t *error = json_object_get(k->record, "error");
	json_t *code = json_object_get(k->record, "exit_code");
	const char *state = text_of(k->record, "state");
	const char *reason = text_of(k->record, "reason");
	const char *why = text_of(error, "message");
	const char *name = text_of(k->record, "signal");

	if (strcmp(state, "completed") == 0) {
		if (k->error != NULL)
			put_words(k, "%s [%s]", text_of(k->error, "message"),
			    text_of(k->error, "code"));
		else if (json_integer_value(code) != 0)
			put_words(k, "[exit status %lld]",
			    (long long)json_integer_value(code));
		return;
	}
	/* What a denial says is said better above. */
	if (json_array_size(json_object_get(k->record, "denials")) > 0)
		why = "";
	put_words(k, "[%s%s%s%s%s%s%s]", state,
	    reason[0] != '\0' ? ": " : "", reason,
	    name[0] != '\0' ? ", signal " : "", name,
	    why[0] != '\0' ? ": " : "", why);
}

static void
put_leftover(struct making *k)
{
	json_int_t n = json_integer_value(json_object_get(k->record,
	    "leftover_processes"));

	if (n > 0)
		put_words(k, "[%lld processes were still running and were "
		    "killed]", (long long)n);
}

/* ---- bytes that are no text ---- */

static const struct {
	const char	*type;
	size_t		 at;
	const char	*magic;
	size_t		 n;
} images[] = {
	{ "image/png", 0, "\x89PNG\r\n\x1a\n", 8 },
	{ "image/jpeg", 0, "\xff\xd8\xff", 3 },
	{ "image/gif", 0, "GIF8", 4 },
	{ "image/webp", 8, "WEBP", 4 }
};

/* The tool's word, or the first bytes'. */
static const char *
media_type(struct making *k)
{
	const char *said = text_of(json_object_get(k->record, "result"),
	    "media_type");
	struct kept_stream *s = &k->call->kept.stream[STREAM_STDOUT];
	struct text t;
	char first[12];
	size_t i;

	if (said[0] != '\0')
		return (said);
	t.p = first;
	t.n = 0;
	copy_kept(&t, s, 0, sizeof(first));
	for (i = 0; i < sizeof(images) / sizeof(images[0]); i++)
		if (t.n >= images[i].at + images[i].n &&
		    memcmp(first + images[i].at, images[i].magic,
		    images[i].n) == 0)
			return (images[i].type);
	return ("application/octet-stream");
}

/* The bytes of stdout as the first item.  1, or 0 if they are too many. */
static int
make_blob(struct making *k, struct mcp_blob *blob)
{
	struct kept_stream *s = &k->call->kept.stream[STREAM_STDOUT];
	const char *type = media_type(k);
	json_t *quoted;
	char *text;
	int n;

	if (kept_dropped(&k->call->kept, STREAM_STDOUT) > 0 ||
	    s->total > BLOB_MOST) {
		put_words(k, "[stdout is %llu bytes that are not text: over "
		    "the %d that an answer can have; write them to a file]",
		    (unsigned long long)s->total, BLOB_MOST);
		return (0);
	}
	quoted = json_string(type);
	text = json_dumps(quoted, JSON_COMPACT | JSON_ENCODE_ANY);
	json_decref(quoted);
	if (text == NULL)
		fatalx("memory for a result");
	if (strncmp(type, "image/", 6) == 0) {
		n = asprintf(&blob->head, "{\"type\":\"image\",\"mimeType\":"
		    "%s,\"data\":\"", text);
		blob->tail = "\"}";
	} else {
		n = asprintf(&blob->head, "{\"type\":\"resource\","
		    "\"resource\":{\"uri\":\"myelin:///calls/%s/stdout\","
		    "\"mimeType\":%s,\"blob\":\"", k->call->id, text);
		blob->tail = "\"}}";
	}
	free(text);
	seglist_init(&blob->bytes);
	if (n == -1 || seglist_copy(&blob->bytes, &s->head) == -1 ||
	    seglist_copy(&blob->bytes, &s->tail) == -1)
		fatal("a result");
	return (1);
}

/* ---- data ---- */

static void
put_member(json_t *j, const json_t *from, const char *name)
{
	json_t *v = json_object_get(from, name);

	if (v != NULL)
		json_object_set(j, name, v);
}

/* Of a tool that has no result of its own. */
static json_t *
end_as_data(struct making *k)
{
	static const char *const members[] = {
		"call", "session", "tool", "state", "reason", "exit_code",
		"signal", "error", "denials", "bytes", "dropped", "encoding",
		"duration_ms", "leftover_processes"
	};
	json_t *j = json_object();
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		put_member(j, k->record, members[i]);
	/* what was judged, where that is why it did not run */
	if (json_array_size(json_object_get(k->record, "denials")) > 0)
		put_member(j, k->record, "judged");
	for (i = 0; i < STREAMS; i++)
		if (!k->call->base64[i])
			json_object_set_new(j, i == STREAM_STDOUT ? "stdout" :
			    "stderr", k->out[i] != NULL ?
			    json_incref(k->out[i]) : json_string(""));
	return (j);
}

/*
 * What goes with the content, or NULL.  A client holds it against the tool's
 * own schema, so that of a failure there is none.
 */
static json_t *
as_data(struct making *k)
{
	json_t *result = json_object_get(k->record, "result");

	if (json_object_get(k->mcp->tool, "output_schema") == NULL)
		return (end_as_data(k));
	if (k->failed || !json_is_object(result))
		return (NULL);
	result = json_deep_copy(result);
	if (k->out[STREAM_STDOUT] != NULL &&
	    json_object_get(result, "stdout") == NULL)
		json_object_set(result, "stdout", k->out[STREAM_STDOUT]);
	return (result);
}

/*
 * What a client may want to know and a model need not read: which call it was,
 * and the layers that were in force.
 */
static json_t *
about(const struct making *k)
{
	static const char *const members[][2] = {
		{ "myelin/call", "call" }, { "myelin/layers", "layers" },
		{ "myelin/landlock_abi", "landlock_abi" }
	};
	json_t *meta = json_object(), *v;
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if ((v = json_object_get(k->record, members[i][1])) != NULL)
			json_object_set(meta, members[i][0], v);
	return (meta);
}

/* ---- all of it ---- */

static void
put_streams(struct making *k)
{
	json_t *result = json_object_get(k->record, "result");
	uint64_t most;
	char *text;

	most = json_object_get(k->mcp->tool, "output_schema") != NULL ?
	    TEXT_READ : TEXT_MOST;
	if (!k->call->base64[STREAM_STDOUT])
		k->out[STREAM_STDOUT] = stream_text(k->call, STREAM_STDOUT,
		    most);
	if (!k->call->base64[STREAM_STDERR])
		k->out[STREAM_STDERR] = stream_text(k->call, STREAM_STDERR,
		    STDERR_MOST);
	else
		put_words(k, "[stderr is %llu bytes that are not text]",
		    (unsigned long long)
		    k->call->kept.stream[STREAM_STDERR].total);
	if (k->out[STREAM_STDOUT] != NULL) {
		put_text(k, json_incref(k->out[STREAM_STDOUT]));
	} else if (json_is_object(result) && !k->failed &&
	    !k->call->base64[STREAM_STDOUT]) {
		/* All that it has to say is its result. */
		if ((text = json_dumps(result, JSON_COMPACT)) == NULL)
			fatalx("memory for a result");
		put_text(k, json_string(text));
		free(text);
	}
	/* A tool's own error is all that there is to say. */
	if (k->out[STREAM_STDERR] != NULL && k->error == NULL)
		put_words(k, "stderr:\n%s",
		    json_string_value(k->out[STREAM_STDERR]));
}

void
mcp_call_result(struct mcp *m, struct call *call)
{
	struct making k = { .mcp = m, .call = call };
	struct mcp_blob blob;
	json_t *result = json_object(), *data;
	int has_blob = 0;

	k.record = json_loads(call->record, JSON_ALLOW_NUL, NULL);
	k.content = json_array();
	k.failed = strcmp(text_of(k.record, "state"), "completed") != 0 ||
	    json_integer_value(json_object_get(k.record, "exit_code")) != 0;
	k.error = json_object_get(json_object_get(k.record, "result"),
	    "error");
	if (call->base64[STREAM_STDOUT])
		has_blob = make_blob(&k, &blob);
	put_streams(&k);
	put_denials(&k);
	put_end(&k);
	put_leftover(&k);
	if (json_array_size(k.content) == 0 && !has_blob)
		put_words(&k, "[no output]");
	json_object_set_new(result, "content", k.content);
	if ((data = as_data(&k)) != NULL)
		json_object_set_new(result, "structuredContent", data);
	json_object_set_new(result, "isError", json_boolean(k.failed));
	json_object_set_new(result, "_meta", about(&k));
	json_decref(k.out[STREAM_STDOUT]);
	json_decref(k.out[STREAM_STDERR]);
	json_decref(k.record);
	if (has_blob)
		mcp_result_blob(m, result, &blob);
	else
		mcp_result(m, result);
}

/* ---- never a call ---- */

/* The MCP session is over, and with it all that it could do. */
static int
is_over(struct mcp *m, enum api_error e)
{
	struct mcp_problem p;

	if (e != API_NOT_FOUND && e != API_CONFLICT)
		return (0);
	if (http_text(&m->conn->head, TEXT_SESSION) != NULL) {
		/* Whoever opened it can open another. */
		conn_header(m->conn, "Myelin-Session-Ended", m->in);
		return (0);
	}
	if (m->era != MCP_LEGACY || e != API_NOT_FOUND)
		return (0);
	mcp_session_over(m->session.name);
	(void)mcp_problem(&p, 404, RPC_INVALID,
	    "Session not found; send initialize to begin another");
	mcp_fail(m, &p);
	return (1);
}

void
mcp_refused(struct mcp *m, enum api_error e, unsigned retry, const char *why)
{
	struct making k = { .mcp = m };
	json_t *result, *data, *error;
	char again[64] = "";

	if (is_over(m, e))
		return;
	if (retry > 0)
		(void)snprintf(again, sizeof(again),
		    "\nNext step: try again in %u s", retry);
	k.content = json_array();
	put_words(&k, "[%s] %s%s", api_error_code(e), why, again);
	result = json_object();
	json_object_set_new(result, "content", k.content);
	if (json_object_get(m->tool, "output_schema") == NULL) {
		data = json_object();
		error = json_object();
		json_object_set_new(error, "code",
		    json_string(api_error_code(e)));
		json_object_set_new(error, "message", json_string(why));
		json_object_set_new(data, "state", json_string("failed"));
		json_object_set_new(data, "error", error);
		if (retry > 0)
			json_object_set_new(data, "retry_after_s",
			    json_integer(retry));
		json_object_set_new(result, "structuredContent", data);
	}
	json_object_set_new(result, "isError", json_true());
	mcp_result(m, result);
}
