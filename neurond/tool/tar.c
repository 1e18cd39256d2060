/*
 * A directory as a tar archive: ustar, with a pax header where a name is long
 * or a file large.
 */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"
#include "out.h"
#include "path.h"
#include "tar.h"
#include "tool.h"

#define BLOCK		512
#define SIZE_MAX_USTAR	UINT64_C(077777777777)

struct tar {
	struct tool	*t;
	char		 name[TAR_NAME_MAX + 2];
	size_t		 nname;
	uint64_t	 entries;
	uint64_t	 left_out;
	uint64_t	 bytes;
	int		 depth;
};

struct header {
	char	name[100], mode[8], uid[8], gid[8], size[12], mtime[12],
		sum[8], type, link[100], magic[8], uname[32], gname[32],
		major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

static int
send(struct tar *a, const void *bytes, size_t n)
{
	a->bytes += n;
	return (out_bytes(a->t, bytes, n));
}

static int
pad(struct tar *a, uint64_t n)
{
	static const char zeros[BLOCK];

	return (send(a, zeros, (BLOCK - n % BLOCK) % BLOCK));
}

static void
octal(char *field, size_t size, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%0*" PRIo64, (int)size - 1,
	    value);
	memcpy(field, text, size);
}

static int
header(struct tar *a, char type, const char *name, uint64_t size,
    unsigned mode, int64_t mtime)
{
	struct header h;
	unsigned sum = 0;
	size_t i, len = strlen(name);

	memset(&h, 0, sizeof(h));
	memcpy(h.name, name, len < sizeof(h.name) ? len : sizeof(h.name));
	octal(h.mode, sizeof(h.mode), mode);
	octal(h.uid, sizeof(h.uid), 0);
	octal(h.gid, sizeof(h.gid), 0);
	octal(h.size, sizeof(h.size), size > SIZE_MAX_USTAR ? 0 : size);
	octal(h.mtime, sizeof(h.mtime), mtime < 0 ? 0 : (uint64_t)mtime &
	    SIZE_MAX_USTAR);
	memset(h.sum, ' ', sizeof(h.sum));
	h.type = type;
	memcpy(h.magic, "ustar\00000", sizeof(h.magic));
	for (i = 0; i < sizeof(h); i++)
		sum += ((const unsigned char *)&h)[i];
	octal(h.sum, 7, sum);
	return (send(a, &h, sizeof(h)));
}

/* "LENGTH key=value\n", where LENGTH counts its own digits. */
static size_t
pax(char *dst, const char *key, const char *value)
{
	size_t body = strlen(key) + strlen(value) + 3, n = body, digits;
	int i;

	for (i = 0; i < 3; i++) {
		digits = (size_t)snprintf(NULL, 0, "%zu", n);
		n = body + digits;
	}
	return ((size_t)sprintf(dst, "%zu %s=%s\n", n, key, value));
}

static int
entry(struct tar *a, char type, const struct stat *st)
{
	char records[TAR_NAME_MAX + 160], number[24];
	uint64_t size = type == '5' ? 0 : (uint64_t)st->st_size;
	unsigned mode = type == '5' || (st->st_mode & 0100) != 0 ? 0755 :
	    0644;
	size_t n = 0;

	if (a->nname > 100)
		n += pax(records + n, "path", a->name);
	if (size > SIZE_MAX_USTAR) {
		(void)snprintf(number, sizeof(number), "%" PRIu64, size);
		n += pax(records + n, "size", number);
	}
	if (n > 0 && (header(a, 'x', "pax_header", n, 0644, 0) == -1 ||
	    send(a, records, n) == -1 || pad(a, n) == -1))
		return (-1);
	return (header(a, type, a->name, size, mode, st->st_mtim.tv_sec));
}

/* The header has promised size bytes: so many there will be. */
static int
content(struct tar *a, int fd, uint64_t size)
{
	uint64_t left = size;
	char *block;
	ssize_t n;
	size_t want;
	int ok = 0;

	if ((block = malloc(OUT_BLOCK)) == NULL)
		return (tool_fail(a->t, TOOL_IO, "out of memory"));
	while (ok == 0 && left > 0) {
		want = left < OUT_BLOCK ? (size_t)left : OUT_BLOCK;
		if ((n = fd_read(fd, block, want)) == -1)
			ok = tool_fail_errno(a->t, errno, result_quote(
			    a->name, a->nname));
		else if ((size_t)n < want)
			/* It shrank meanwhile. */
			memset(block + n, 0, want - (size_t)n);
		if (ok == 0)
			ok = send(a, block, want);
		left -= want;
	}
	free(block);
	return (ok == 0 ? pad(a, size) : -1);
}

static int	directory(struct tar *, int fd);

static int
member(struct tar *a, int dir, const char *name, size_t n)
{
	size_t before = a->nname;
	struct stat st;
	int fd = -1, ok = 0;

	errno = 0;
	memcpy(a->name + a->nname, name, n + 1);
	a->nname += n;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
		    O_NOCTTY | O_CLOEXEC);
	if (fd == -1 && (errno == EMFILE || errno == ENFILE))
		return (tool_fail_errno(a->t, errno, result_quote(a->name,
		    a->nname)));
	if (fd != -1 && fstat(fd, &st) == -1) {
		(void)close(fd);
		fd = -1;
	}
	if (fd == -1)
		a->left_out++;
	else if (S_ISREG(st.st_mode)) {
		ok = entry(a, '0', &st);
		if (ok == 0)
			ok = content(a, fd, (uint64_t)st.st_size);
		(void)close(fd);
	} else if (S_ISDIR(st.st_mode)) {
		a->name[a->nname++] = '/';
		a->name[a->nname] = '\0';
		if (entry(a, '5', &st) == -1) {
			(void)close(fd);
			ok = -1;
		} else
			ok = directory(a, fd);
	} else {
		a->left_out++;
		(void)close(fd);
	}
	a->nname = before;
	a->name[before] = '\0';
	return (ok);
}

static int
members(struct tar *a, int fd, const struct names *names)
{
	size_t i, n;

	for (i = 0; i < names->n; i++) {
		n = strlen(names->v[i]->text);
		if (++a->entries > TAR_ENTRIES_MAX)
			return (tool_fail(a->t, TOOL_TOO_LARGE, "the directory "
			    "has more than %d entries, the limit of an "
			    "archive", TAR_ENTRIES_MAX));
		if (a->nname + n > TAR_NAME_MAX)
			return (tool_fail(a->t, TOOL_TOO_LARGE, "a name of "
			    "%zu bytes: the limit of an archive is %d",
			    a->nname + n, TAR_NAME_MAX));
		if (member(a, fd, names->v[i]->text, n) == -1)
			return (-1);
	}
	return (0);
}

/* Takes the fd. */
static int
directory(struct tar *a, int fd)
{
	char after[256] = "";
	struct names names;
	DIR *dir;
	int ok = 0, more = 1;

	if ((dir = names_open(fd)) == NULL)
		return (tool_fail_errno(a->t, errno, "a directory"));
	if (++a->depth > TAR_DEPTH_MAX)
		ok = tool_fail(a->t, TOOL_TOO_LARGE, "directories are more "
		    "than %d deep, the limit of an archive", TAR_DEPTH_MAX);
	while (ok == 0 && more) {
		if (names_next(dir, after, TAR_ENTRIES_MAX, NULL,
		    &names) == -1)
			ok = tool_fail_errno(a->t, errno, "a directory can't "
			    "be read");
		more = names.more && names.n > 0;
		if (more)
			(void)snprintf(after, sizeof(after), "%s",
			    names.v[names.n - 1]->text);
		if (ok == 0)
			ok = members(a, dirfd(dir), &names);
		names_free(&names);
	}
	a->depth--;
	(void)closedir(dir);
	return (ok);
}

int
tar_send(struct tool *t, const struct path *p)
{
	static const char end[2 * BLOCK];
	struct tar a = { .t = t };
	int fd;

	if ((fd = path_open_dir(t, p)) == -1 || directory(&a, fd) == -1 ||
	    send(&a, end, sizeof(end)) == -1)
		return (-1);
	result_str(t, "kind", "tar");
	result_str(t, "media_type", "application/x-tar");
	result_int(t, "bytes", (int64_t)a.bytes);
	result_int(t, "entries", (int64_t)a.entries);
	result_int(t, "left_out", (int64_t)a.left_out);
	result_bool(t, "more", 0);
	return (0);
}
