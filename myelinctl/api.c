/*
 * Requests to Myelin.
 */
#include <sys/stat.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "conn.h"
#include "limits.h"
#include "words.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define ANSWER_MAX	(128 * 1024 * 1024)
#define ANSWER_WAIT	(90 * 1000)	/* ms of silence */
#define PAGE		500

/* ---- sockets ---- */

static const struct {
	const char	*variable;
	const char	*path;
} sockets[] = {
	[AGENT] = { "MYELIN_SOCKET", API_SOCKET },
	[OPERATOR] = { "MYELIN_OPERATOR_SOCKET", OPERATOR_SOCKET },
};

const char *
api_socket(const struct options *o, enum plane plane)
{
	const char *path;

	if (o->socket != NULL)
		return (o->socket);
	path = getenv(sockets[plane].variable);
	return (path != NULL && *path != '\0' ? path : sockets[plane].path);
}

/* ---- refusals ---- */

/* What may help, by the code of an error. */
static const struct {
	const char	*code;
	const char	*words;
} steps[] = {
	{ "bad_request", "myelinctl limits shows what values may be" },
	{ "not_found", "myelinctl sessions and myelinctl calls list what "
	    "there is" },
	{ "body_too_large", "send less, or raise the limit \"body\" in "
	    "myelin.conf" },
	{ "unauthorized", "this socket wants a token" },
	{ "forbidden", "myelinctl whoami says what you may do here; a "
	    "principal or operator line in myelin.conf grants more" },
	{ "conflict", "myelinctl call show ID says what became of it" },
	{ "neuron_busy", "end the session that uses the neuron (myelinctl "
	    "sessions)" },
	{ "budget_exhausted", "the budget comes back within the hour; "
	    "myelinctl limits shows its size" },
	{ "internal", "myelinctl log and the request's id show what there is "
	    "of it" },
};

static void
advise_code(const struct http_response *r, const char *code)
{
	size_t i;

	if (r->retry_after > 0) {
		advise("try again in %" PRIu32 " s", r->retry_after);
		return;
	}
	for (i = 0; i < NITEMS(steps); i++) {
		if (strcmp(steps[i].code, code) == 0)
			advise("%s", steps[i].words);
	}
}

void
api_complain(const struct http_response *r, const json_t *json)
{
	const json_t *error = json_object_get(json, "error");
	const char *code, *message, *id;

	code = json_string_value(json_object_get(error, "code"));
	message = json_string_value(json_object_get(error, "message"));
	id = json_string_value(json_object_get(error, "request_id"));
	if (code == NULL) {
		complain("the service answered %d and nothing that can be "
		    "understood", r->status);
		advise("is it Myelin that listens on that socket?");
		return;
	}
	if (message != NULL && *message != '\0')
		complain("%s (%d %s)", message, r->status, code);
	else if (id != NULL)
		complain("%s (%d), request %s", code, r->status, id);
	else
		complain("%s (%d)", code, r->status);
	advise_code(r, code);
}

/* ---- requests ---- */

int
api_collect(void *arg, const uint8_t *bytes, size_t len)
{
	struct api_body *body = arg;
	size_t room = body->room;
	char *grown;

	if (len > ANSWER_MAX - body->len)
		return (-1);
	while (room < body->len + len)
		room = room == 0 ? 16 * 1024 : room * 2;
	if (room != body->room) {
		if ((grown = realloc(body->p, room)) == NULL)
			return (-1);
		body->p = grown;
		body->room = room;
	}
	memcpy(body->p + body->len, bytes, len);
	body->len += len;
	return (0);
}

static json_t *
answer(const struct conn *conn, const struct api_body *body,
    const char *path)
{
	json_error_t error;
	json_t *json;

	if (conn->state != CONN_DONE) {
		complain("%s: %s", path, conn->why);
		advise("the service may be restarting; try again, then look "
		    "at its log");
		return (NULL);
	}
	if (body->len == 0)
		json = json_object();
	else
		json = json_loadb(body->p, body->len,
		    JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
	if (json == NULL)
		api_complain(&conn->r, NULL);
	return (json);
}

json_t *
api_ask(const struct options *o, enum plane plane, const char *method,
    const char *target, json_t *body, struct http_response *r)
{
	const char *path = api_socket(o, plane);
	struct conn_request q = { .method = method, .target = target,
	    .accept = "application/json" };
	struct api_body got = { NULL, 0, 0 };
	struct conn conn;
	json_t *json = NULL;
	char *text = NULL;

	if (body != NULL) {
		if ((text = json_dumps(body, JSON_COMPACT)) == NULL)
			errx(o->failure, "out of memory");
		q.type = "application/json";
		q.body = text;
		q.len = strlen(text);
	}
	if (conn_open(&conn, path) == 0) {
		conn_send(&conn, &q, api_collect, &got);
		conn_finish(&conn, ANSWER_WAIT);
		json = answer(&conn, &got, path);
		*r = conn.r;
		conn_close(&conn);
	}
	free(got.p);
	free(text);
	json_decref(body);
	return (json);
}

json_t *
api_call(const struct options *o, enum plane plane, const char *method,
    const char *target, json_t *body)
{
	struct http_response r;
	json_t *json;

	json = api_ask(o, plane, method, target, body, &r);
	if (json == NULL || r.status < 300)
		return (json);
	api_complain(&r, json);
	json_decref(json);
	return (NULL);
}

int
api_text(const struct options *o, enum plane plane, const char *target,
    struct api_body *got)
{
	const char *path = api_socket(o, plane);
	struct conn_request q = { .method = "GET", .target = target,
	    .accept = "text/plain" };
	struct conn conn;
	json_t *json;
	int ok = 0;

	memset(got, 0, sizeof(*got));
	if (conn_open(&conn, path) == -1)
		return (-1);
	conn_send(&conn, &q, api_collect, got);
	conn_finish(&conn, ANSWER_WAIT);
	if (conn.state == CONN_DONE && conn.r.status < 300)
		ok = 1;
	else if ((json = answer(&conn, got, path)) != NULL) {
		api_complain(&conn.r, json);
		json_decref(json);
	}
	conn_close(&conn);
	if (ok)
		return (0);
	free(got->p);
	return (-1);
}

int
api_delete(const struct options *o, enum plane plane, const char *target)
{
	json_t *json = api_call(o, plane, "DELETE", target, NULL);

	if (json == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	json_decref(json);
	return (0);
}

json_t *
api_quiet(const char *socket, const char *target, int ms)
{
	struct conn_request q = { .method = "GET", .target = target,
	    .accept = "application/json" };
	struct api_body got = { NULL, 0, 0 };
	struct conn conn;
	json_t *json = NULL;

	if (conn_try(&conn, socket) == 0) {
		conn_send(&conn, &q, api_collect, &got);
		conn_finish(&conn, ms);
		if (conn.state == CONN_DONE && conn.r.status == 200)
			json = json_loadb(got.p, got.len, JSON_ALLOW_NUL |
			    JSON_REJECT_DUPLICATES, NULL);
	}
	conn_close(&conn);
	free(got.p);
	return (json);
}

int
api_cursor(char *buf, size_t size, const json_t *next)
{
	const char *text = json_string_value(next), *p;

	if (json_is_integer(next)) {
		snprintf(buf, size, "&cursor=%" JSON_INTEGER_FORMAT,
		    json_integer_value(next));
		return (1);
	}
	if (text == NULL)
		return (0);
	for (p = text; *p != '\0'; p++) {
		if (strchr("&=?#% ", *p) != NULL || (unsigned char)*p <= ' ')
			return (0);
	}
	return ((size_t)snprintf(buf, size, "&cursor=%s", text) < size);
}

json_t *
api_list(const struct options *o, enum plane plane, const char *target,
    const char *key, size_t most)
{
	json_t *rows = json_array(), *page, *next = NULL;
	char cursor[256] = "", url[512];
	size_t want;
	int more = 1;

	while (more && json_array_size(rows) < most) {
		want = most - json_array_size(rows);
		snprintf(url, sizeof(url), "%s%climit=%zu%s", target,
		    strchr(target, '?') == NULL ? '?' : '&',
		    want > PAGE ? (size_t)PAGE : want, cursor);
		page = api_call(o, plane, "GET", url, NULL);
		if (page == NULL) {
			json_decref(next);
			json_decref(rows);
			return (NULL);
		}
		json_array_extend(rows, json_object_get(page, key));
		json_decref(next);
		next = json_incref(json_object_get(page, "next"));
		/* A page without rows ends the list whatever it says. */
		more = json_array_size(json_object_get(page, key)) > 0 &&
		    api_cursor(cursor, sizeof(cursor), next);
		json_decref(page);
	}
	return (json_pack("{s:o,s:o?}", key, rows, "next", next));
}

/* ---- bodies ---- */

/*
 * The group of new files: the directory's, but never root's.  A directory that
 * was given away by "chown USER" alone still has that one.
 */
static gid_t
owner_group(const struct stat *st)
{
	const struct passwd *pw;

	if (st->st_gid != 0)
		return (st->st_gid);
	pw = getpwuid(st->st_uid);
	return (pw != NULL && pw->pw_gid != 0 ? pw->pw_gid :
	    (gid_t)st->st_uid);
}

/*
 * A root who may name any owner names the directory's, so that files in it
 * stay its owner's.  Others may not name one, and need not.
 */
static int
put_owner(const char *path, json_t *body)
{
	struct stat st;

	if (geteuid() != 0)
		return (0);
	if (stat(path, &st) == -1) {
		complain("%s: %s", path, strerror(errno));
		return (-1);
	}
	if (st.st_uid == 0) {
		complain("%s belongs to root, and files in a workspace belong "
		    "to its owner", path);
		advise("use a directory of an ordinary user (chown it)");
		return (-1);
	}
	json_object_set_new(body, "owner", json_pack("{s:I,s:I}", "uid",
	    (json_int_t)st.st_uid, "gid", (json_int_t)owner_group(&st)));
	return (0);
}

static int
put_workspace(const struct options *o, json_t *body)
{
	char path[PATH_BYTES_MAX];
	struct stat st;
	json_t *text;

	if (realpath(o->workspace, path) == NULL || stat(path, &st) == -1) {
		complain("workspace %s: %s", o->workspace, strerror(errno));
		advise("-w takes a directory that is there");
		return (-1);
	}
	if (!S_ISDIR(st.st_mode)) {
		complain("workspace %s: not a directory", o->workspace);
		advise("-w takes a directory");
		return (-1);
	}
	if ((text = json_string(path)) == NULL) {
		complain("workspace %s: its name is not UTF-8", o->workspace);
		advise("rename it, or use a symbolic link");
		return (-1);
	}
	json_object_set_new(body, "workspace", text);
	return (put_owner(path, body));
}

static int
put_text(json_t *body, const char *key, const char *text)
{
	json_t *json;

	if (text == NULL)
		return (0);
	if ((json = json_string(text)) == NULL) {
		complain("%s: not UTF-8", key);
		return (-1);
	}
	return (json_object_set_new(body, key, json));
}

int
api_put_place(const struct options *o, json_t *body)
{
	if (o->workspace != NULL && put_workspace(o, body) == -1)
		return (-1);
	if (o->read_only)
		json_object_set_new(body, "read_only", json_true());
	return (put_text(body, "profile", o->profile) == -1 ||
	    put_text(body, "preset", o->preset) == -1 ? -1 : 0);
}

int
api_put_call(const struct options *o, json_t *body)
{
	if (o->env != NULL)
		json_object_set(body, "env", o->env);
	if (o->timeout_ms != 0)
		json_object_set_new(body, "timeout_ms",
		    json_integer(o->timeout_ms));
	return (put_text(body, "cwd", o->cwd));
}
