/*
 * ls: a directory's entries in order, a page of them at a time.
 *
 * The names come piece by piece (names.h), so that a million of them needs
 * neither much memory nor a look at each file.
 */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "limits.h"
#include "names.h"
#include "out.h"
#include "path.h"
#include "tool.h"

#define LIMIT_INITIAL	1000
#define LIMIT_MOST	10000
#define DEPTH_MAX	32
#define NUMBER_MAX	((INT64_C(1) << 53) - 1)
#define BELOW_MAX	16384		/* bytes of a name with depth */
#define COUNTED_MAX	2000000		/* entries walked with depth */
/* A result may not be larger; what an entry takes in it, at most, beside its
 * strings, whose bytes may need six each. */
#define ENTRY_COST	160

struct listing {
	struct tool	*t;
	json_t		*entries;
	uint64_t	 skip;		/* entries still to leave out */
	uint64_t	 limit;		/* entries still to give */
	uint64_t	 given;
	uint64_t	 total;
	size_t		 cost;		/* of the result, estimated */
	int		 full;
	int		 depth;
	names_filter	*filter;
	char		 name[BELOW_MAX];
	size_t		 nname;
};

static const struct type {
	mode_t		 mode;
	char		 letter;
	const char	*word;
} types[] = {
	{ S_IFREG, '-', "file" },
	{ S_IFDIR, 'd', "directory" },
	{ S_IFLNK, 'l', "link" },
	{ S_IFIFO, 'p', "fifo" },
	{ S_IFSOCK, 's', "socket" },
	{ S_IFCHR, 'c', "char_device" },
	{ S_IFBLK, 'b', "block_device" },
};
#define NTYPES		(sizeof(types) / sizeof(types[0]))

static int
not_hidden(const char *name)
{
	return (name[0] != '.');
}

static const struct type *
type_of(mode_t mode)
{
	size_t i;

	for (i = 0; i < NTYPES; i++)
		if (types[i].mode == (mode & S_IFMT))
			return (&types[i]);
	return (&types[0]);
}

/* ---- one entry ---- */

static int
line(struct listing *l, const struct stat *st, const char *target, size_t n)
{
	static const char bits[] = "rwxrwxrwx";
	char text[128], when[TIME_TEXT], mode[11];
	int i;

	mode[0] = type_of(st->st_mode)->letter;
	for (i = 0; i < 9; i++)
		mode[i + 1] = (st->st_mode & (0400U >> i)) != 0 ? bits[i] :
		    '-';
	mode[10] = '\0';
	time_text(when, sizeof(when), st->st_mtim.tv_sec);
	(void)snprintf(text, sizeof(text), "%s %10" PRId64 " %s ", mode,
	    (int64_t)st->st_size, when);
	if (out_str(l->t, text) == -1 ||
	    out_name(l->t, l->name, l->nname) == -1)
		return (-1);
	if (S_ISLNK(st->st_mode) && (out_str(l->t, " -> ") == -1 ||
	    out_name(l->t, target, n) == -1))
		return (-1);
	return (out_str(l->t, "\n"));
}

static int
give(struct listing *l, int dir, const struct name *listed)
{
	char target[PATH_BYTES_MAX];
	const char *name = listed->text;
	ssize_t n = 0;
	struct stat st;
	json_t *entry;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1) {
		if (errno == ENOENT) {
			l->total--;	/* gone since it was listed */
			return (0);
		}
		/* A directory that may be read but not searched. */
		memset(&st, 0, sizeof(st));
		st.st_mode = DTTOIF(listed->type);
	}
	if (S_ISLNK(st.st_mode) &&
	    (n = readlinkat(dir, name, target, sizeof(target))) == -1)
		n = 0;
	l->cost += ENTRY_COST + 6 * (l->nname + (size_t)n);
	if (l->cost > RESULT_BYTES_MAX && l->given > 0) {
		l->full = 1;
		return (0);
	}
	if ((entry = json_object()) == NULL ||
	    json_array_append_new(l->entries, entry) == -1)
		return (tool_fail(l->t, TOOL_IO, "out of memory"));
	result_bytes_into(entry, "name", l->name, l->nname);
	(void)json_object_set_new(entry, "type",
	    json_string(type_of(st.st_mode)->word));
	if (S_ISREG(st.st_mode))
		(void)json_object_set_new(entry, "size",
		    json_integer(st.st_size));
	result_mode_into(entry, "mode", st.st_mode);
	result_time_into(entry, "mtime", st.st_mtim.tv_sec);
	if (S_ISLNK(st.st_mode))
		result_bytes_into(entry, "target", target, (size_t)n);
	l->given++;
	l->limit--;
	return (line(l, &st, target, (size_t)n));
}

/* ---- a directory ---- */

static int	walk(struct listing *, int fd, int depth);

static int
deeper(struct listing *l, int dir, const struct name *name, int depth)
{
	struct stat st;
	int fd;

	if (name->type != DT_DIR && (name->type != DT_UNKNOWN || fstatat(dir,
	    name->text, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    !S_ISDIR(st.st_mode)))
		return (0);
	fd = openat(dir, name->text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (fd == -1 && (errno == EMFILE || errno == ENFILE))
		return (tool_fail_errno(l->t, errno,
		    result_quote(l->name, l->nname)));
	/* What else can't be read was listed and has nothing below it. */
	if (fd == -1 || l->nname + 1 >= sizeof(l->name)) {
		if (fd != -1)
			(void)close(fd);
		return (0);
	}
	l->name[l->nname++] = '/';
	return (walk(l, fd, depth + 1));
}

static int
visit(struct listing *l, int dir, const struct name *name, int depth)
{
	size_t before = l->nname, n = strlen(name->text);
	int ok = 0;

	if (l->nname + n + 2 > sizeof(l->name))
		return (tool_fail(l->t, TOOL_TOO_LARGE, "a name with its "
		    "directories has more than %d bytes", BELOW_MAX - 2));
	memcpy(l->name + l->nname, name->text, n);
	l->nname += n;
	if (l->skip > 0)
		l->skip--;
	else if (l->limit > 0 && !l->full)
		ok = give(l, dir, name);
	if (ok == 0 && depth < l->depth) {
		if (l->total > COUNTED_MAX)
			return (tool_fail(l->t, TOOL_TOO_LARGE, "there are "
			    "more than %d entries, the limit with depth",
			    COUNTED_MAX));
		ok = deeper(l, dir, name, depth);
	}
	l->nname = before;
	return (ok);
}

/* How many names are worth keeping. */
static size_t
wanted(const struct listing *l)
{
	/* With depth, each is looked into. */
	if (l->depth > 1 || l->skip > SIZE_MAX / 4)
		return (SIZE_MAX / 4);
	return ((size_t)(l->skip + l->limit));
}

/* Takes the fd. */
static int
walk(struct listing *l, int fd, int depth)
{
	char after[256] = "";
	struct names names;
	DIR *dir;
	size_t i;
	int ok = 0, more = 1, first = 1;

	if ((dir = names_open(fd)) == NULL)
		return (tool_fail_errno(l->t, errno, "the directory can't be "
		    "read"));
	while (ok == 0 && more) {
		if (names_next(dir, after, wanted(l), l->filter,
		    &names) == -1)
			ok = tool_fail_errno(l->t, errno, "the directory "
			    "can't be read");
		if (first)
			l->total += names.seen;
		first = 0;
		for (i = 0; ok == 0 && i < names.n; i++)
			ok = visit(l, dirfd(dir), names.v[i], depth);
		more = names.more && names.n > 0 && (depth < l->depth ||
		    (l->limit > 0 && !l->full));
		if (more)
			(void)snprintf(after, sizeof(after), "%s",
			    names.v[names.n - 1]->text);
		names_free(&names);
	}
	(void)closedir(dir);
	return (ok);
}

int
body_ls(struct tool *t)
{
	static struct listing l;
	int64_t offset, limit, depth;
	struct path p;
	int all = 1, fd, ok = -1;

	l.t = t;
	if (path_arg(t, ".", &p) == -1 ||
	    arg_int(t, "offset", 0, 0, NUMBER_MAX, &offset) == -1 ||
	    arg_int(t, "limit", LIMIT_INITIAL, 1, LIMIT_MOST,
	    &limit) == -1 ||
	    arg_int(t, "depth", 1, 1, DEPTH_MAX, &depth) == -1 ||
	    (arg_has(t, "all") && arg_bool(t, "all", &all) == -1))
		goto out;
	l.skip = (uint64_t)offset;
	l.limit = (uint64_t)limit;
	l.depth = (int)depth;
	l.filter = all ? NULL : not_hidden;
	if ((l.entries = json_array()) == NULL) {
		(void)tool_fail(t, TOOL_IO, "out of memory");
		goto out;
	}
	if ((fd = path_open_dir(t, &p)) == -1 || walk(&l, fd, 1) == -1)
		goto out;
	result_set(t, "entries", l.entries);
	l.entries = NULL;
	result_int(t, "total", (int64_t)l.total);
	/* Those that were left out may be fewer than asked for. */
	offset -= (int64_t)l.skip;
	result_bool(t, "more", (uint64_t)offset + l.given < l.total);
	if ((uint64_t)offset + l.given < l.total)
		result_int(t, "next_offset", offset + (int64_t)l.given);
	ok = 0;
out:
	json_decref(l.entries);
	path_free(&p);
	return (ok);
}
