/*
 * Replacing a file as a whole.
 */
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "out.h"
#include "replace.h"
#include "tool.h"

#define LOCK_MS		5000	/* how long writers wait for each other */
#define LOCK_STEP_MS	2
#define NAMES_MAX	16

static int
fail(struct tool *t, const struct path *p, int error)
{
	return (tool_fail_errno(t, error, result_quote(p->bytes, p->len)));
}

static int
lock(struct tool *t, const struct path *p, int dir)
{
	int waited;

	for (waited = 0; flock(dir, LOCK_EX | LOCK_NB) == -1;
	    waited += LOCK_STEP_MS) {
		if (errno != EWOULDBLOCK)
			return (fail(t, p, errno));
		if (waited >= LOCK_MS)
			return (tool_fail(t, TOOL_BUSY, "the directory of %s "
			    "has been locked by another program for %d ms",
			    result_quote(p->bytes, p->len), LOCK_MS));
		(void)poll(NULL, 0, LOCK_STEP_MS);
	}
	return (0);
}

static int
look(struct tool *t, const struct path *p, struct replace *r)
{
	if (fstatat(r->dir, r->name, &r->old, AT_SYMLINK_NOFOLLOW) == -1) {
		if (errno == ENOENT && (r->flags & REPLACE_OLD) == 0)
			return (0);
		return (fail(t, p, errno));
	}
	if (path_check_file(t, p, r->old.st_mode) == -1)
		return (-1);
	r->exists = 1;
	/* Who may rename need not have the right to write: both are asked. */
	if (faccessat(r->dir, r->name, W_OK, 0) == -1)
		return (fail(t, p, errno));
	if ((r->flags & REPLACE_READ) == 0)
		return (0);
	r->old_fd = openat(r->dir, r->name, O_RDONLY | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (r->old_fd == -1 || fstat(r->old_fd, &r->old) == -1)
		return (fail(t, p, errno == ELOOP ? EAGAIN : errno));
	return (path_check_file(t, p, r->old.st_mode));
}

static int
name_it(struct replace *r)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return (-1);
	(void)snprintf(r->temporary, sizeof(r->temporary), ".tmp-%016llx",
	    (unsigned long long)number);
	return (0);
}

/*
 * A file without a name leaves nothing behind, even if this program is killed
 * while it writes; not every filesystem has them.
 */
static int
temporary(struct tool *t, const struct path *p, struct replace *r)
{
	int i;

	r->fd = openat(r->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (r->fd != -1)
		return (0);
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT &&
	    errno != EINVAL)
		return (fail(t, p, errno));
	for (i = 0; i < NAMES_MAX && r->fd == -1; i++) {
		if (name_it(r) == -1)
			break;
		r->fd = openat(r->dir, r->temporary, O_RDWR | O_CREAT |
		    O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (r->fd == -1 && errno != EEXIST)
			break;
	}
	if (r->fd != -1)
		return (0);
	r->temporary[0] = '\0';
	return (fail(t, p, errno));
}

static int
begin(struct tool *t, const struct path *p, unsigned flags,
    struct replace *r)
{
	r->flags = flags;
	if (r->dir == -1 || ((flags & REPLACE_LATER) == 0 &&
	    lock(t, p, r->dir) == -1) ||
	    look(t, p, r) == -1 || temporary(t, p, r) == -1) {
		replace_undo(t, p, r);
		return (-1);
	}
	return (0);
}

int
replace_begin(struct tool *t, const struct path *p, unsigned flags,
    struct replace *r)
{
	memset(r, 0, sizeof(*r));
	r->old_fd = r->fd = -1;
	r->dir = path_open_parent(t, p, (flags & REPLACE_PARENTS) != 0 ?
	    &r->made : NULL, &r->name);
	return (begin(t, p, flags, r));
}

int
replace_begin_at(struct tool *t, const struct path *p, int dir,
    const char *name, unsigned flags, struct replace *r)
{
	memset(r, 0, sizeof(*r));
	r->old_fd = r->fd = -1;
	r->dir = dir;
	if ((r->name = strdup(name)) == NULL) {
		(void)close(dir);
		return (tool_fail(t, TOOL_IO, "out of memory"));
	}
	return (begin(t, p, flags, r));
}

int
replace_lock(struct tool *t, const struct path *p, struct replace *r)
{
	if (lock(t, p, r->dir) == -1)
		return (-1);
	if (r->old_fd != -1)
		(void)close(r->old_fd);
	r->old_fd = -1;
	r->exists = 0;
	return (look(t, p, r));
}

int
replace_expect(struct tool *t, const struct path *p, struct replace *r,
    const char *expect)
{
	const char *name = result_quote(p->bytes, p->len);
	struct sha256_text digest;

	if (expect == NULL)
		return (0);
	if (strcmp(expect, "absent") == 0) {
		r->absent = 1;
		return (!r->exists ? 0 : tool_fail(t, TOOL_EXISTS,
		    "%s exists, and expect is \"absent\"", name));
	}
	if (strlen(expect) != DIGEST_TEXT - 1 ||
	    strspn(expect, "0123456789abcdefABCDEF") != DIGEST_TEXT - 1)
		return (tool_fail(t, TOOL_BAD_ARGUMENT, "expect is neither "
		    "\"absent\" nor 64 hexadecimal digits"));
	if (!r->exists)
		return (tool_fail(t, TOOL_CHANGED, "%s is gone, and expect "
		    "names a content", name));
	if (sha256_fd(r->old_fd, &digest) == -1)
		return (fail(t, p, errno));
	if (strcasecmp(digest.text, expect) == 0)
		return (0);
	(void)tool_fail(t, TOOL_CHANGED, "%s is not what expect says it was",
	    name);
	tool_fail_more(t, "sha256", json_string(digest.text));
	return (-1);
}

/*
 * A file of another owner that we may replace (the directory is ours) would
 * become ours: refused.  A group that we aren't in can't be given; our group
 * then gets no right that not everybody has.
 */
static int
keep_owner(struct tool *t, const struct path *p, struct replace *r,
    mode_t *mode)
{
	struct stat st;

	if (fstat(r->fd, &st) == -1)
		return (fail(t, p, errno));
	if (st.st_uid != r->old.st_uid)
		return (tool_fail(t, TOOL_PERMISSION, "%s has another owner, "
		    "which can't be kept", result_quote(p->bytes, p->len)));
	if (st.st_gid == r->old.st_gid ||
	    fchown(r->fd, (uid_t)-1, r->old.st_gid) == 0)
		return (0);
	*mode &= (mode_t)~070 | (*mode & 07) << 3;
	return (0);
}

/* Gives a nameless file a name, by the only way that needs no privilege. */
static int
link_it(struct replace *r)
{
	char from[32];
	int i;

	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", r->fd);
	for (i = 0; i < NAMES_MAX; i++) {
		if (name_it(r) == -1)
			break;
		if (linkat(AT_FDCWD, from, r->dir, r->temporary,
		    AT_SYMLINK_FOLLOW) == 0)
			return (0);
		if (errno != EEXIST)
			break;
	}
	r->temporary[0] = '\0';
	return (-1);
}

int
replace_commit(struct tool *t, const struct path *p, struct replace *r,
    mode_t mode)
{
	mode_t mask;

	if (r->exists) {
		/* The neuron's filter allows no set-id bits. */
		mode = r->old.st_mode & 01777;
		if (keep_owner(t, p, r, &mode) == -1)
			return (-1);
	} else {
		mask = umask(0);
		(void)umask(mask);
		mode &= ~mask;
	}
	if (fchmod(r->fd, mode) == -1)
		return (fail(t, p, errno));
	r->mode = mode;
	if (r->temporary[0] == '\0' && link_it(r) == -1)
		return (fail(t, p, errno));
	if (renameat2(r->dir, r->temporary, r->dir, r->name,
	    r->absent ? RENAME_NOREPLACE : 0) == -1)
		return (fail(t, p, errno));
	r->temporary[0] = '\0';
	r->made = 0;
	return (0);
}

void
replace_undo(struct tool *t, const struct path *p, struct replace *r)
{
	unsigned made = r->made;
	json_t *error = t->error;
	enum tool_code code = t->code;

	replace_end(r);
	if (made == 0)
		return;
	t->error = NULL;
	path_unmake(t, p, made);
	tool_clear(t);
	t->error = error;
	t->code = code;
}

void
replace_end(struct replace *r)
{
	if (r->temporary[0] != '\0')
		(void)unlinkat(r->dir, r->temporary, 0);
	if (r->fd != -1)
		(void)close(r->fd);
	if (r->old_fd != -1)
		(void)close(r->old_fd);
	if (r->dir != -1)
		(void)close(r->dir);
	free(r->name);
	memset(r, 0, sizeof(*r));
	r->fd = r->old_fd = r->dir = -1;
}
