/*
 * myelinctl cp and files: files of a session's neuron.
 */
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "conn.h"
#include "ids.h"
#include "limits.h"
#include "unpack.h"
#include "words.h"

#define ANSWER_WAIT	(3600 * 1000)	/* ms of silence */
#define TARGET_MAX	(3 * PATH_BYTES_MAX + 128)
#define PUT_MAX		((size_t)256 << 20)	/* what "body" may be at most */

/* A neuron's file: "s-...:PATH". */
struct place {
	char		 neuron[ID_SIZE];
	char		 session[ID_SIZE];
	const char	*path;
};

/* Where the bytes of a download go. */
struct taking {
	struct conn	 conn;
	struct api_body	 refusal;
	struct unpack	*unpack;	/* or: */
	int		 fd;
	int		 error;
};

/* ---- places ---- */

/* 1 if a word names a neuron's file, and *path is its path. */
static int
is_remote(const char *word, char id[ID_SIZE], const char **path)
{
	const char *colon = strchr(word, ':');
	size_t n;

	if (colon == NULL || (n = (size_t)(colon - word)) >= ID_SIZE)
		return (0);
	memcpy(id, word, n);
	id[n] = '\0';
	*path = colon + 1;
	return (id_ok(ID_SESSION, id) || id_ok(ID_NEURON, id));
}

/* The neuron of a session, or the session of a neuron.  0, or -1 said. */
static int
resolve(const struct options *o, const char *id, struct place *place)
{
	int session = id[0] == 's';
	const char *other;
	char target[96];
	json_t *json;

	snprintf(target, sizeof(target), "/v1/%s/%s",
	    session ? "sessions" : "neurons", id);
	if ((json = api_call(o, AGENT, "GET", target, NULL)) == NULL)
		return (-1);
	other = json_string_value(json_object_get(json,
	    session ? "neuron" : "session"));
	if (other == NULL || strlen(other) >= ID_SIZE) {
		complain(session ? "%s has no neuron any more" :
		    "%s has no live session", id);
		advise("myelinctl sessions lists them");
		json_decref(json);
		return (-1);
	}
	snprintf(place->session, ID_SIZE, "%s", session ? id : other);
	snprintf(place->neuron, ID_SIZE, "%s", session ? other : id);
	json_decref(json);
	return (0);
}

/* The route of a file; what is no plain character is escaped. */
static void
make_target(char target[TARGET_MAX], const struct place *place,
    const char *path, const char *query)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
	size_t n;

	n = (size_t)snprintf(target, TARGET_MAX, "/v1/neurons/%s/files/",
	    place->neuron);
	for (; *path != '\0' && n < TARGET_MAX - 64; path++) {
		if (strchr(plain, *path) != NULL)
			target[n++] = *path;
		else
			n += (size_t)sprintf(target + n, "%%%02X",
			    (unsigned)(unsigned char)*path);
	}
	snprintf(target + n, TARGET_MAX - n, "%s", query);
}

/* ---- requests ---- */

static int
take(void *arg, const uint8_t *p, size_t n)
{
	struct taking *t = arg;
	ssize_t wrote;

	if (t->conn.r.status >= 300)
		return (api_collect(&t->refusal, p, n));
	if (t->unpack != NULL)
		return (unpack_feed(t->unpack, p, n));
	while (n > 0) {
		wrote = write(t->fd, p, n);
		if (wrote == -1 && errno == EINTR)
			continue;
		if (wrote == -1) {
			t->error = errno;
			return (-1);
		}
		p += wrote;
		n -= (size_t)wrote;
	}
	return (0);
}

/* One request, its bytes taken.  0, or -1 after saying why. */
static int
request(const struct options *o, const struct conn_request *q,
    struct taking *t)
{
	const char *path = api_socket(o, AGENT);
	struct conn *conn = &t->conn;
	json_t *json;
	int r = -1;

	if (conn_open(conn, path) == -1)
		return (-1);
	conn_send(conn, q, take, t);
	conn_finish(conn, ANSWER_WAIT);
	if (conn->state == CONN_DONE && conn->r.status < 300)
		r = 0;
	else if (conn->state == CONN_DONE) {
		json = json_loadb(t->refusal.p == NULL ? "" : t->refusal.p,
		    t->refusal.len, 0, NULL);
		api_complain(&conn->r, json);
		json_decref(json);
	} else if (t->error != 0)
		complain("writing: %s", strerror(t->error));
	else if (t->unpack != NULL && t->unpack->error != 0)
		complain("%s: %s", t->unpack->what,
		    strerror(t->unpack->error));
	else if (t->unpack != NULL && t->unpack->tar.state == TAR_BAD)
		complain("the archive holds %s", t->unpack->tar.why);
	else {
		complain("%s: %s", path, conn->why);
		advise("the file may have come in part: try again");
	}
	free(t->refusal.p);
	conn_close(conn);
	return (r);
}

/* ---- down ---- */

/* LOCAL, or its entry of the same name where it is a directory. */
static int
local_name(const char *local, const char *remote, char name[PATH_BYTES_MAX])
{
	char copy[PATH_BYTES_MAX];
	struct stat st;
	int n;

	if (stat(local, &st) == -1 || !S_ISDIR(st.st_mode)) {
		n = snprintf(name, PATH_BYTES_MAX, "%s", local);
	} else {
		snprintf(copy, sizeof(copy), "%s", remote);
		remote = basename(copy);
		if (strcmp(remote, ".") == 0 || strcmp(remote, "..") == 0 ||
		    strcmp(remote, "/") == 0)
			remote = "files";
		n = snprintf(name, PATH_BYTES_MAX, "%s/%s", local, remote);
	}
	if (n < 0 || n >= PATH_BYTES_MAX) {
		complain("%s: %s", local, strerror(ENAMETOOLONG));
		return (-1);
	}
	return (0);
}

static int
get_directory(const struct options *o, const struct place *place,
    const char *local)
{
	char target[TARGET_MAX], name[PATH_BYTES_MAX];
	struct conn_request q = { .method = "GET", .target = target,
	    .accept = "*/*" };
	struct unpack u;
	struct taking t = { .unpack = &u };
	int r;

	if (local_name(local, place->path, name) == -1)
		return (EXIT_FAILED);
	if (unpack_open(&u, name) == -1) {
		complain("%s: %s", name, strerror(errno));
		advise("a directory is copied to a new one");
		return (EXIT_FAILED);
	}
	make_target(target, place, place->path, "?format=tar");
	r = request(o, &q, &t);
	if (r == 0 && unpack_end(&u) == -1) {
		complain("the archive holds %s", u.tar.why);
		r = -1;
	}
	unpack_close(&u);
	/* Of a refusal nothing is left; rmdir(2) takes nothing that came. */
	if (r == -1)
		(void)rmdir(name);
	return (r == 0 ? 0 : EXIT_FAILED);
}

/* Into a name of its own beside it, so that no half file stands there. */
static int
get_file(const struct options *o, const struct place *place,
    const char *local)
{
	char target[TARGET_MAX], name[PATH_BYTES_MAX];
	char temporary[PATH_BYTES_MAX + 16];
	struct conn_request q = { .method = "GET", .target = target,
	    .accept = "*/*" };
	struct taking t = { .fd = STDOUT_FILENO };
	mode_t mask = umask(077);
	int r;

	(void)umask(mask);
	make_target(target, place, place->path, "");
	if (strcmp(local, "-") == 0)
		return (request(o, &q, &t) == 0 ? 0 : EXIT_FAILED);
	if (local_name(local, place->path, name) == -1)
		return (EXIT_FAILED);
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", name);
	if ((t.fd = mkostemp(temporary, O_CLOEXEC)) == -1) {
		complain("%s: %s", name, strerror(errno));
		return (EXIT_FAILED);
	}
	r = request(o, &q, &t);
	if (r == 0 && (fchmod(t.fd, 0666 & ~mask) == -1 ||
	    rename(temporary, name) == -1)) {
		complain("%s: %s", name, strerror(errno));
		r = -1;
	}
	close(t.fd);
	if (r == -1)
		unlink(temporary);
	return (r == 0 ? 0 : EXIT_FAILED);
}

/* ---- up ---- */

/* All of it: a request says its size first.  NULL after saying why. */
static char *
read_all(int fd, const char *name, size_t *size)
{
	struct api_body body = { NULL, 0, 0 };
	static uint8_t piece[65536];
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) > 0) {
		if (body.len + (size_t)n > PUT_MAX ||
		    api_collect(&body, piece, (size_t)n) == -1) {
			complain("%s: more than Myelin ever takes", name);
			free(body.p);
			return (NULL);
		}
	}
	if (n == -1) {
		complain("%s: %s", name, strerror(errno));
		free(body.p);
		return (NULL);
	}
	*size = body.len;
	return (body.p != NULL ? body.p : strdup(""));
}

static int
put_fd(const struct options *o, int fd, const char *name,
    const struct place *place, const char *path, int parents)
{
	char target[TARGET_MAX];
	struct conn_request q = { .method = "PUT", .target = target,
	    .accept = "application/json",
	    .type = "application/octet-stream" };
	struct taking t = { .fd = -1 };
	char *bytes;
	int null, r;

	if ((bytes = read_all(fd, name, &q.len)) == NULL)
		return (-1);
	q.body = bytes;
	make_target(target, place, path, parents ? "?parents=1" : "");
	/* What the answer says is known already. */
	if ((null = open("/dev/null", O_WRONLY | O_CLOEXEC)) == -1) {
		complain("/dev/null: %s", strerror(errno));
		free(bytes);
		return (-1);
	}
	t.fd = null;
	r = request(o, &q, &t);
	close(null);
	free(bytes);
	return (r);
}

static int	put_at(const struct options *, int, const char *, const char *,
		    const struct place *, const char *);

static int
put_entries(const struct options *o, int dir, const char *shown,
    const struct place *place, const char *path)
{
	char name[PATH_BYTES_MAX], to[PATH_BYTES_MAX];
	struct dirent *d;
	DIR *list;
	int r = 0;

	if ((list = fdopendir(dir)) == NULL) {
		complain("%s: %s", shown, strerror(errno));
		close(dir);
		return (-1);
	}
	while (r == 0 && (d = readdir(list)) != NULL) {
		if (strcmp(d->d_name, ".") == 0 ||
		    strcmp(d->d_name, "..") == 0)
			continue;
		if ((size_t)snprintf(name, sizeof(name), "%s/%s", shown,
		    d->d_name) >= sizeof(name) ||
		    (size_t)snprintf(to, sizeof(to), "%s/%s", path,
		    d->d_name) >= sizeof(to)) {
			complain("%s: %s", shown, strerror(ENAMETOOLONG));
			r = -1;
			break;
		}
		r = put_at(o, dirfd(list), d->d_name, name, place, to);
	}
	closedir(list);
	return (r);
}

/* An entry of a directory, and what is below it.  Links are passed over. */
static int
put_at(const struct options *o, int dir, const char *entry,
    const char *shown, const struct place *place, const char *path)
{
	struct stat st;
	int fd, r;

	fd = openat(dir, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC);
	if (fd == -1 && errno == ELOOP) {
		complain("%s: a symbolic link, which is passed over", shown);
		return (0);
	}
	if (fd == -1 || fstat(fd, &st) == -1) {
		complain("%s: %s", shown, strerror(errno));
		if (fd != -1)
			close(fd);
		return (-1);
	}
	if (S_ISDIR(st.st_mode))
		return (put_entries(o, fd, shown, place, path));
	if (S_ISREG(st.st_mode))
		r = put_fd(o, fd, shown, place, path, 1);
	else {
		complain("%s: no file, and passed over", shown);
		r = 0;
	}
	close(fd);
	return (r);
}

static int
put_file(const struct options *o, const char *local,
    const struct place *place)
{
	struct stat st;
	int fd, r;

	if (strcmp(local, "-") == 0)
		return (put_fd(o, STDIN_FILENO, local, place, place->path,
		    0) == 0 ? 0 : EXIT_FAILED);
	if ((fd = open(local, O_RDONLY | O_CLOEXEC)) == -1 ||
	    fstat(fd, &st) == -1) {
		complain("%s: %s", local, strerror(errno));
		if (fd != -1)
			close(fd);
		return (EXIT_FAILED);
	}
	if (S_ISDIR(st.st_mode)) {
		complain("%s: a directory", local);
		advise("-r copies directories");
		close(fd);
		return (EXIT_FAILED);
	}
	r = put_fd(o, fd, local, place, place->path, 0);
	close(fd);
	return (r == 0 ? 0 : EXIT_FAILED);
}

/* ---- the commands ---- */

int
cmd_cp(struct options *o, int argc, char **argv)
{
	struct place place = { .path = "" };
	char id[ID_SIZE], other[ID_SIZE];
	const char *path;
	int from, to;

	if (argc != 2)
		return (usage_error(o, "cp: from where, and to where"));
	from = is_remote(argv[0], id, &place.path);
	to = is_remote(argv[1], from ? other : id, from ? &path :
	    &place.path);
	if (from == to)
		return (usage_error(o, "cp: one of the two is a file of a "
		    "session, SESSION:PATH"));
	if (place.path[0] == '\0')
		return (usage_error(o, "cp: which file of %s?", id));
	if (strlen(place.path) >= PATH_BYTES_MAX)
		return (usage_error(o, "cp: the path has over %d bytes",
		    PATH_BYTES_MAX - 1));
	if (resolve(o, id, &place) == -1)
		return (EXIT_FAILED);
	if (from)
		return (o->recursive ? get_directory(o, &place, argv[1]) :
		    get_file(o, &place, argv[1]));
	if (o->recursive)
		return (put_at(o, AT_FDCWD, argv[0], argv[0], &place,
		    place.path) == 0 ? 0 : EXIT_FAILED);
	return (put_file(o, argv[0], &place));
}

static const struct column file_columns[] = {
	{ "MODE", "mode", 0 },
	{ "TYPE", "type", 0 },
	{ "SIZE", "size", 1 },
	{ "CHANGED", "mtime", 0 },
	{ "NAME", "name", 0 },
	{ "POINTS TO", "target", 0 },
};

static int
show_files(const struct options *o, const json_t *record)
{
	const json_t *result = json_object_get(record, "result");
	const json_t *error = json_object_get(result, "error");
	const char *why;

	if (!json_is_object(error))
		error = json_object_get(record, "error");
	if (json_is_object(error) || !json_is_object(result)) {
		why = json_string_value(json_object_get(error, "message"));
		complain("%s", why != NULL ? why : "the call failed");
		return (EXIT_FAILED);
	}
	if (o->json) {
		words_json(result);
		return (0);
	}
	words_table(json_object_get(result, "entries"), file_columns,
	    sizeof(file_columns) / sizeof(file_columns[0]),
	    "There is nothing in it.");
	if (json_is_true(json_object_get(result, "more")))
		printf("There are more.\n");
	return (0);
}

int
cmd_files(struct options *o, int argc, char **argv)
{
	struct place place;
	json_t *body, *record, *path;
	char target[96];
	int status;

	if (argc < 1 || argc > 2 || (!id_ok(ID_SESSION, argv[0]) &&
	    !id_ok(ID_NEURON, argv[0])))
		return (usage_error(o, "files: the id of a session (s-...), "
		    "and a directory"));
	path = json_string(argc == 2 ? argv[1] : ".");
	if (path == NULL)
		return (usage_error(o, "files: the path is not UTF-8"));
	if (resolve(o, argv[0], &place) == -1) {
		json_decref(path);
		return (EXIT_FAILED);
	}
	body = json_pack("{s:s,s:i,s:{s:o,s:I}}", "tool", "ls", "wait_ms",
	    50000, "args", "path", path, "limit",
	    (json_int_t)(o->most != 0 ? o->most : 1000));
	snprintf(target, sizeof(target), "/v1/sessions/%s/calls",
	    place.session);
	record = api_call(o, AGENT, "POST", target, body);
	if (record == NULL)
		return (EXIT_FAILED);
	status = show_files(o, record);
	json_decref(record);
	return (status);
}
