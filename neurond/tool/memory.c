/*
 * memory_store, memory_recall, memory_list, memory_delete: named notes, files
 * of a private directory in the home.
 *
 * The neuron's programs may do with that directory what they like, so nothing
 * in it is trusted: no link is followed, and what is no note is not one.
 */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "names.h"
#include "out.h"
#include "replace.h"
#include "tool.h"
#include "without.h"

#define NOTES_DIR	".memory"
#define NOTES_MAX	1000
#define NOTE_NAME_MAX	100
#define NOTE_BYTES_MAX	(1024 * 1024)

#define LETTERS		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS		"0123456789"

static int
name_ok(const char *name)
{
	size_t n = strspn(name, LETTERS DIGITS "._-");

	return (WITHOUT(tool_note_names) || (name[n] == '\0' && n >= 1 &&
	    n <= NOTE_NAME_MAX && strchr("._-", name[0]) == NULL));
}

/* The name, and a path for messages.  0, or -1 after tool_fail(). */
static int
take_name(struct tool *t, const char **name, struct path *p)
{
	char text[NOTE_NAME_MAX + sizeof(NOTES_DIR) + 4096];
	size_t n;

	memset(p, 0, sizeof(*p));
	if (arg_str(t, "name", 1, name, &n) == -1)
		return (-1);
	if (strlen(*name) != n || !name_ok(*name))
		return (tool_fail(t, TOOL_BAD_ARGUMENT, "name is not 1 to %d "
		    "letters, digits, \"_\", \"-\" and \".\", the first a "
		    "letter or a digit: %s", NOTE_NAME_MAX,
		    result_quote(*name, n)));
	result_str(t, "name", *name);
	n = (size_t)snprintf(text, sizeof(text), "%s/" NOTES_DIR "/%s",
	    t->root[0].path, *name);
	if (n >= sizeof(text))
		return (tool_fail(t, TOOL_BAD_PATH, "the home's path is too "
		    "long"));
	return (path_make(t, text, n, p));
}

/* The directory of the notes.  -1: see errno, ENOENT if there is none. */
static int
open_notes(struct tool *t, int make)
{
	struct stat st;
	int fd, saved;

	if (make && mkdirat(t->root[0].fd, NOTES_DIR, 0700) == -1 &&
	    errno != EEXIST)
		return (-1);
	fd = openat(t->root[0].fd, NOTES_DIR, O_RDONLY | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return (-1);
	/* One that is there may have been made by hand. */
	if (make && fstat(fd, &st) == 0 && (st.st_mode & 077) != 0 &&
	    fchmod(fd, 0700) == -1) {
		saved = errno;
		(void)close(fd);
		errno = saved;
		return (-1);
	}
	return (fd);
}

static int
fail_notes(struct tool *t)
{
	if (errno == ELOOP || errno == ENOTDIR)
		return (tool_fail(t, TOOL_NOT_A_DIRECTORY, NOTES_DIR " in the "
		    "home is not a directory"));
	return (tool_fail_errno(t, errno, NOTES_DIR " in the home"));
}

static int
no_note(struct tool *t, const char *name)
{
	return (tool_fail(t, TOOL_NOT_FOUND, "there is no note %s", name));
}

/* ---- store ---- */

static int
count(struct tool *t, int fd, const char *name)
{
	struct names names;
	DIR *dir;
	int again, ok = 0;

	if ((again = openat(fd, ".", O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC)) == -1 || (dir = names_open(again)) == NULL)
		return (fail_notes(t));
	if (names_next(dir, "", 1, name_ok, &names) == -1)
		ok = fail_notes(t);
	else if (names.seen >= NOTES_MAX &&
	    faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == -1)
		ok = tool_fail(t, TOOL_TOO_LARGE, "there are %llu notes; the "
		    "limit is %d", (unsigned long long)names.seen, NOTES_MAX);
	names_free(&names);
	(void)closedir(dir);
	return (ok);
}

int
body_memory_store(struct tool *t)
{
	struct sha256_text digest;
	const char *name, *content;
	struct replace r;
	struct path p;
	size_t n;
	int fd, ok = -1;

	if (take_name(t, &name, &p) == -1 ||
	    arg_str(t, "content", 1, &content, &n) == -1)
		goto out;
	if (n > NOTE_BYTES_MAX) {
		(void)tool_fail(t, TOOL_TOO_LARGE, "the note has %zu bytes; "
		    "the limit is %d", n, NOTE_BYTES_MAX);
		goto out;
	}
	if ((fd = open_notes(t, 1)) == -1) {
		(void)fail_notes(t);
		goto out;
	}
	if (replace_begin_at(t, &p, fd, name, 0, &r) == -1)
		goto out;
	if (count(t, r.dir, name) == 0) {
		if (fd_write(r.fd, content, n) == -1)
			(void)tool_fail_errno(t, errno, name);
		else
			ok = replace_commit(t, &p, &r, 0600);
	}
	if (ok == 0) {
		sha256_bytes(content, n, &digest);
		result_int(t, "bytes", (int64_t)n);
		result_str(t, "sha256", digest.text);
		result_bool(t, "created", !r.exists);
	}
	replace_end(&r);
	if (ok == 0)
		ok = out_str(t, "stored\n");
out:
	path_free(&p);
	return (ok);
}

/* ---- recall, list, delete ---- */

/* A note that is there, for reading; -1 after tool_fail(). */
static int
open_note(struct tool *t, const char *name, const struct path *p,
    struct stat *st)
{
	int dir, fd;

	if ((dir = open_notes(t, 0)) == -1)
		return (errno == ENOENT ? no_note(t, name) : fail_notes(t));
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		(void)(errno == ENOENT ? no_note(t, name) :
		    tool_fail_errno(t, errno == ELOOP ? ENXIO : errno, name));
	(void)close(dir);
	if (fd == -1)
		return (-1);
	if (fstat(fd, st) == 0 && path_check_file(t, p, st->st_mode) == 0) {
		if (st->st_size <= NOTE_BYTES_MAX)
			return (fd);
		(void)tool_fail(t, TOOL_TOO_LARGE, "the note has %lld bytes; "
		    "the limit is %d", (long long)st->st_size,
		    NOTE_BYTES_MAX);
	}
	(void)close(fd);
	return (-1);
}

int
body_memory_recall(struct tool *t)
{
	struct sha256_text digest;
	const char *name;
	char *bytes = NULL;
	struct stat st;
	struct path p;
	ssize_t n;
	int fd = -1, ok = -1;

	if (take_name(t, &name, &p) == -1 ||
	    (fd = open_note(t, name, &p, &st)) == -1)
		goto out;
	if ((bytes = malloc(NOTE_BYTES_MAX)) == NULL ||
	    (n = fd_read(fd, bytes, NOTE_BYTES_MAX)) == -1) {
		(void)tool_fail_errno(t, errno, name);
		goto out;
	}
	sha256_bytes(bytes, (size_t)n, &digest);
	result_int(t, "bytes", n);
	result_str(t, "sha256", digest.text);
	result_time_into(t->result, "mtime", st.st_mtim.tv_sec);
	ok = out_bytes(t, bytes, (size_t)n);
out:
	free(bytes);
	if (fd != -1)
		(void)close(fd);
	path_free(&p);
	return (ok);
}

static int
list(struct tool *t, DIR *dir, json_t *notes)
{
	struct names names;
	struct stat st;
	json_t *note;
	char text[64];
	size_t i;
	int ok = 0;

	if (names_next(dir, "", NOTES_MAX, name_ok, &names) == -1)
		ok = fail_notes(t);
	for (i = 0; ok == 0 && i < names.n; i++) {
		if (fstatat(dirfd(dir), names.v[i]->text, &st,
		    AT_SYMLINK_NOFOLLOW) == -1 || !S_ISREG(st.st_mode))
			continue;
		if ((note = json_object()) == NULL ||
		    json_array_append_new(notes, note) == -1) {
			ok = tool_fail(t, TOOL_IO, "out of memory");
			break;
		}
		(void)json_object_set_new(note, "name",
		    json_string(names.v[i]->text));
		(void)json_object_set_new(note, "bytes",
		    json_integer(st.st_size));
		result_time_into(note, "mtime", st.st_mtim.tv_sec);
		(void)snprintf(text, sizeof(text), "%10lld ",
		    (long long)st.st_size);
		if (out_str(t, text) == -1 ||
		    out_str(t, names.v[i]->text) == -1 ||
		    out_str(t, "\n") == -1)
			ok = -1;
	}
	if (ok == 0)
		result_bool(t, "more", names.more);
	names_free(&names);
	return (ok);
}

int
body_memory_list(struct tool *t)
{
	json_t *notes;
	DIR *dir;
	int fd, ok = 0;

	if ((notes = json_array()) == NULL)
		return (tool_fail(t, TOOL_IO, "out of memory"));
	result_set(t, "notes", notes);
	if ((fd = open_notes(t, 0)) == -1)
		return (errno == ENOENT ? 0 : fail_notes(t));
	if ((dir = names_open(fd)) == NULL)
		return (fail_notes(t));
	ok = list(t, dir, notes);
	(void)closedir(dir);
	return (ok);
}

int
body_memory_delete(struct tool *t)
{
	const char *name;
	struct stat st;
	struct path p;
	int dir = -1, ok = -1;

	if (take_name(t, &name, &p) == -1)
		goto out;
	if ((dir = open_notes(t, 0)) == -1)
		ok = errno == ENOENT ? no_note(t, name) : fail_notes(t);
	else if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		ok = errno == ENOENT ? no_note(t, name) :
		    tool_fail_errno(t, errno, name);
	else if (S_ISDIR(st.st_mode))
		ok = path_check_file(t, &p, st.st_mode);
	else if (unlinkat(dir, name, 0) == -1)
		ok = tool_fail_errno(t, errno, name);
	else
		ok = out_str(t, "deleted\n");
	if (ok == 0)
		result_bool(t, "deleted", 1);
	if (dir != -1)
		(void)close(dir);
out:
	path_free(&p);
	return (ok);
}
