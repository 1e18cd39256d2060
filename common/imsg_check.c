/*
 * What protocol.h says of a message, held against the message itself.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <fcntl.h>

#include "imsg_internal.h"
#include "without.h"

#define PIPEFS	0x50495045	/* PIPEFS_MAGIC, linux/magic.h */
#define SEALS	(F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

const char *
imsg_row_mismatch(const struct msg_row *row, const struct channel *ch,
    enum msg_dir dir, size_t size, unsigned nfds)
{
	size_t least = row->fixed + 4 * (size_t)row->strings;

	if ((row->channels & ch->kind) == 0 && !WITHOUT(imsg_channel))
		return ("not of this channel");
	if (row->dir != dir && !WITHOUT(imsg_direction))
		return ("in the wrong direction");
	if ((size < least || (row->strings == 0 && size != least)) &&
	    !WITHOUT(imsg_size))
		return ("of the wrong size");
	if ((nfds < row->fds_min || nfds > row->fds_max) &&
	    !WITHOUT(imsg_fds))
		return ("with the wrong number of fds");
	return (NULL);
}

static int
is_socket(int fd, int type)
{
	int domain, got;
	socklen_t len = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == -1 ||
	    domain != AF_UNIX)
		return (0);
	len = sizeof(int);
	return (getsockopt(fd, SOL_SOCKET, SO_TYPE, &got, &len) == 0 &&
	    got == type);
}

static int
is_listener(int fd)
{
	int on;
	socklen_t len = sizeof(on);

	return (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) == 0 &&
	    on == 1);
}

/*
 * A FIFO with a name in a filesystem is not a pipe of ours.  All pipes are of
 * one filesystem, which is asked for its type once.
 */
static int
on_pipefs(int fd, dev_t dev)
{
	static dev_t pipes;
	static int known;
	struct statfs fs;

	if (known && dev == pipes)
		return (1);
	if (fstatfs(fd, &fs) == -1 || fs.f_type != PIPEFS)
		return (0);
	pipes = dev;
	known = 1;
	return (1);
}

static int
is_pipe(int fd, const struct stat *st, int mode)
{
	return (S_ISFIFO(st->st_mode) && on_pipefs(fd, st->st_dev) &&
	    (fcntl(fd, F_GETFL) & O_ACCMODE) == mode);
}

static int
option_of(int fd, int option)
{
	int value = -1;
	socklen_t len = sizeof(value);

	if (getsockopt(fd, SOL_SOCKET, option, &value, &len) == -1)
		return (-1);
	return (value);
}

static int
is_inet(int fd)
{
	int type = option_of(fd, SO_TYPE);

	return (option_of(fd, SO_DOMAIN) == AF_INET && (type == SOCK_DGRAM ||
	    (type == SOCK_STREAM && option_of(fd, SO_ACCEPTCONN) == 1)));
}

/* Regular files in memory alone have seals. */
static int
is_memfd(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return (seals != -1 && ((seals & SEALS) == SEALS ||
	    WITHOUT(imsg_seals)));
}

static int
fd_is(int fd, enum fd_kind kind)
{
	struct stat st;

	if (kind == FD_MEMFD && !WITHOUT(imsg_seals))
		return (is_memfd(fd));
	if (fstat(fd, &st) == -1)
		return (0);
	switch (kind) {
	case FD_MEMFD:
		return (S_ISREG(st.st_mode) && is_memfd(fd));
	case FD_PIPE_R:
		return (is_pipe(fd, &st, O_RDONLY));
	case FD_PIPE_W:
		return (is_pipe(fd, &st, O_WRONLY));
	case FD_INPUT:
		return (fd_is(fd, FD_MEMFD) || fd_is(fd, FD_PIPE_R));
	case FD_STREAM:
		return (S_ISSOCK(st.st_mode) && is_socket(fd, SOCK_STREAM));
	case FD_SEQ:
		return (S_ISSOCK(st.st_mode) && is_socket(fd, SOCK_SEQPACKET));
	case FD_FILE:
		if (S_ISSOCK(st.st_mode))
			return (is_listener(fd));
		return (S_ISREG(st.st_mode) &&
		    (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY);
	case FD_INET:
		return (S_ISSOCK(st.st_mode) && is_inet(fd));
	case FD_DIR:
		return (S_ISDIR(st.st_mode));
	case FD_TREE:
		return (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode) ||
		    S_ISCHR(st.st_mode));
	case FD_NS:
		return (S_ISREG(st.st_mode));
	case FD_PROC:
	case FD_ANY:
		return (1);
	case FD_NONE:
	default:
		return (0);
	}
}

int
imsg_kinds_ok(const struct msg_row *row, const struct imsg *m)
{
	enum fd_kind kind = FD_NONE;
	unsigned i;

	for (i = 0; i < m->nfds; i++) {
		/* Kinds not listed repeat the last one listed. */
		if (row->kinds[i] != FD_NONE)
			kind = row->kinds[i];
		if (!fd_is(m->fds[i], kind))
			return (0);
	}
	return (1);
}
