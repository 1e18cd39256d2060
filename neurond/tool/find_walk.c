/*
 * The walk of find.
 *
 * A frame for each directory on the way down.  Only the first and the lowest
 * WALK_OPEN are open; the others know their place in the directory and are
 * opened again by "..", which is believed only if it is the directory that was
 * left.
 */
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "find_ignore.h"
#include "find_walk.h"
#include "out.h"
#include "path_int.h"
#include "without.h"

#define NOFOLLOW	(WITHOUT(find_links) ? 0 : O_NOFOLLOW)
#define OPEN	(O_RDONLY | O_DIRECTORY | NOFOLLOW | O_NONBLOCK | O_NOCTTY | \
    O_CLOEXEC)
#define CLOCK_EVERY	256	/* entries between two looks at the clock */

struct frame {
	DIR		*dir;		/* NULL: closed meanwhile */
	long		 place;		/* in it, if closed */
	dev_t		 dev;
	ino_t		 ino;
	size_t		 start;		/* in the path: what is below begins */
	struct ignore	*rules;		/* NULL: none */
	int		 repository;	/* rules of what is above end here */
};

struct state {
	struct walk	*w;
	struct frame	*frame;
	size_t		 n, room;
	size_t		 first;		/* frame of the tree itself */
	char		*path;		/* from the root */
	size_t		 base;		/* in it: the tree's entries begin */
	int64_t		 deadline;
	unsigned	 turns;
};

static int64_t
now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

/* ---- rules ---- */

/* Adds the rules of a file; one that isn't there or can't be read has none. */
static int
add_rules(int dir, const char *name, struct ignore **rules)
{
	struct stat st;
	ssize_t n = 0;
	char *text;
	int fd, r = 0;

	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
	    O_CLOEXEC);
	if (fd == -1)
		return (0);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		r = -1;
		if ((text = malloc(IGNORE_BYTES_MAX)) != NULL) {
			n = fd_read(fd, text, IGNORE_BYTES_MAX);
			r = n > 0 ? ignore_add(rules, text, (size_t)n) : 0;
			free(text);
		}
	}
	(void)close(fd);
	return (r);
}

static int
read_rules(struct frame *f, int dir)
{
	struct stat st;
	int info;

	if (fstatat(dir, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode))) {
		f->repository = 1;
		info = open_beneath(dir, ".git/info", O_PATH | O_DIRECTORY,
		    RESOLVE_NO_SYMLINKS);
		if (info != -1) {
			if (add_rules(info, "exclude", &f->rules) == -1) {
				(void)close(info);
				return (-1);
			}
			(void)close(info);
		}
	}
	return (add_rules(dir, ".gitignore", &f->rules));
}

/* What the rules of this directory, or else of those above, say of a path. */
static enum ignore_word
ruled(const struct state *s, size_t len, size_t base, int directory)
{
	const struct frame *f;
	enum ignore_word word = IGNORE_NOTHING;
	size_t i;

	for (i = s->n; i > 0 && word == IGNORE_NOTHING; i--) {
		f = &s->frame[i - 1];
		word = ignore_match(f->rules, s->path + f->start,
		    len - f->start, base - f->start, directory);
		if (f->repository)
			break;
	}
	return (word);
}

/* ---- frames ---- */

static struct frame *
add_frame(struct state *s, size_t start)
{
	struct frame *more;
	size_t room;

	if (s->n == s->room) {
		room = s->room == 0 ? 32 : s->room * 2;
		more = realloc(s->frame, room * sizeof(*more));
		if (more == NULL)
			return (NULL);
		s->frame = more;
		s->room = room;
	}
	more = &s->frame[s->n++];
	memset(more, 0, sizeof(*more));
	more->start = start;
	return (more);
}

static void
pop(struct state *s)
{
	struct frame *f = &s->frame[--s->n];

	if (f->dir != NULL)
		(void)closedir(f->dir);
	ignore_free(f->rules);
}

/* Enters a directory; the fd is taken.  -1 when memory is out. */
static int
push(struct state *s, int fd, size_t start)
{
	struct frame *f, *far;
	struct stat st;

	if (fstat(fd, &st) == -1 || (f = add_frame(s, start)) == NULL) {
		(void)close(fd);
		return (-1);
	}
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	if ((f->dir = fdopendir(fd)) == NULL) {
		(void)close(fd);
		return (-1);
	}
	if (!s->w->ignored && read_rules(f, dirfd(f->dir)) == -1)
		return (-1);
	if (s->n - s->first > WALK_OPEN + 1) {
		far = &s->frame[s->n - 1 - WALK_OPEN];
		if (far->dir != NULL) {
			far->place = telldir(far->dir);
			(void)closedir(far->dir);
			far->dir = NULL;
		}
	}
	return (0);
}

/* Opens a directory of a name; -1 also if it is not the one that f knew. */
static int
open_same(const struct frame *f, int dir, const char *name)
{
	struct stat st;
	int fd = openat(dir, name, OPEN);

	if (fd != -1 && (fstat(fd, &st) == -1 || st.st_dev != f->dev ||
	    st.st_ino != f->ino)) {
		(void)close(fd);
		fd = -1;
	}
	return (fd);
}

/*
 * Leaves the lowest directory and opens the one above again if it had to be
 * closed.  If it is no longer above, it and all that are closed are given up.
 */
static void
leave(struct state *s)
{
	struct frame *up;
	int below, fd;

	up = s->n - s->first > 1 ? &s->frame[s->n - 2] : NULL;
	if (up == NULL || up->dir != NULL) {
		pop(s);
		return;
	}
	below = dirfd(s->frame[s->n - 1].dir);
	fd = open_same(up, below, "..");
	if (fd != -1 && (up->dir = fdopendir(fd)) == NULL)
		(void)close(fd);
	pop(s);
	if (up->dir != NULL) {
		seekdir(up->dir, up->place);
		return;
	}
	while (s->n > s->first && s->frame[s->n - 1].dir == NULL) {
		s->w->unread++;
		pop(s);
	}
}

/* ---- entries ---- */

static int
dots(const char *name)
{
	return (name[0] == '.' && (name[1] == '\0' ||
	    (name[1] == '.' && name[2] == '\0')));
}

static unsigned char
type_of(int dir, const struct dirent *d)
{
	struct stat st;

	if (d->d_type != DT_UNKNOWN)
		return (d->d_type);
	if (fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return (DT_UNKNOWN);
	return ((unsigned char)IFTODT(st.st_mode));
}

/* Goes into a directory, if it may and can. */
static int
enter(struct state *s, const struct walk_entry *e, size_t len)
{
	int fd;

	if ((e->type != DT_DIR && !WITHOUT(find_links)) || (s->w->depth > 0 &&
	    (int64_t)(s->n - s->first) >= s->w->depth))
		return (0);
	fd = openat(e->dir, e->name, OPEN);
	if (fd == -1 || len + 1 > WALK_PATH_MAX) {
		if (fd == -1 && (errno == ENOENT || errno == ENOTDIR ||
		    errno == ELOOP))
			return (0);	/* gone, or another thing by now */
		if (fd != -1)
			(void)close(fd);
		s->w->unread++;
		return (0);
	}
	s->path[len] = '/';
	return (push(s, fd, len + 1));
}

static int
entry(struct state *s, const struct dirent *d)
{
	struct frame *f = &s->frame[s->n - 1];
	size_t n = strlen(d->d_name), len = f->start + n;
	int hidden = d->d_name[0] == '.' && !s->w->ignored;
	enum ignore_word word;
	struct walk_entry e;

	if (dots(d->d_name))
		return (0);
	if (len > WALK_PATH_MAX) {
		s->w->unread++;
		return (0);
	}
	e.dir = dirfd(f->dir);
	if ((e.type = type_of(e.dir, d)) == DT_UNKNOWN)
		return (0);
	memcpy(s->path + f->start, d->d_name, n);
	if (!s->w->ignored) {
		word = ruled(s, len, f->start, e.type == DT_DIR);
		if (word == IGNORE_IT || (word == IGNORE_NOTHING && hidden &&
		    !s->w->hidden))
			return (0);
		/* what a rule names with "!" is wanted, hidden or not */
		hidden = hidden && word == IGNORE_NOTHING;
	}
	e.path = s->path + s->base;
	e.len = len - s->base;
	e.name = d->d_name;
	if (s->w->visit(s->w->arg, &e) == -1)
		return (-1);
	return (hidden ? 0 : enter(s, &e, len));
}

/*
 * The rules of the directories above the tree, within its root.  Where a link
 * is on the way, what stands above in the path is not what is above.
 */
static int
above(struct state *s)
{
	const char *below = s->w->below, *slash;
	struct frame *f;
	size_t len = 0;
	int fd, r;

	if (strcmp(below, ".") == 0 || s->w->ignored)
		return (0);
	for (;;) {
		s->path[len] = '\0';
		fd = open_beneath(s->w->root, len == 0 ? "." : s->path,
		    O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
		if (fd == -1) {
			while (s->n > 0)
				pop(s);
			return (0);
		}
		f = add_frame(s, len == 0 ? 0 : len + 1);
		r = f == NULL ? -1 : read_rules(f, fd);
		(void)close(fd);
		if (r == -1)
			return (-1);
		if (len > 0)
			s->path[len++] = '/';
		if ((slash = strchr(below + len, '/')) == NULL)
			return (0);
		memcpy(s->path + len, below + len,
		    (size_t)(slash - below) - len);
		len = (size_t)(slash - below);
	}
}

static int
walk(struct state *s)
{
	const struct dirent *d;

	while (s->n > s->first) {
		if (++s->turns % CLOCK_EVERY == 0 && now() > s->deadline) {
			s->w->late = 1;
			break;
		}
		errno = 0;
		if ((d = readdir(s->frame[s->n - 1].dir)) == NULL) {
			s->w->unread += errno != 0;
			leave(s);
		} else if (entry(s, d) == -1)
			return (-1);
	}
	return (0);
}

int
walk_tree(struct walk *w, int dir)
{
	struct state s = { .w = w };
	size_t len = strcmp(w->below, ".") == 0 ? 0 : strlen(w->below);
	int r = -1;

	w->unread = 0;
	w->late = 0;
	s.deadline = now() + w->milliseconds;
	if (len > WALK_PATH_MAX - 1 ||
	    (s.path = malloc(WALK_PATH_MAX + 2)) == NULL || above(&s) == -1) {
		(void)close(dir);
		goto out;
	}
	if (len > 0) {
		memcpy(s.path, w->below, len);
		s.path[len++] = '/';
	}
	s.first = s.n;
	s.base = len;
	if (push(&s, dir, len) == 0)
		r = walk(&s);
out:
	while (s.n > 0)
		pop(&s);
	free(s.frame);
	free(s.path);
	return (r);
}
