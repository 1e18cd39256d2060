/*
 * Standard output and error, without blocking.
 */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sink.h"

/* What a pipe takes whole once poll(2) said it takes something: PIPE_BUF. */
#define PIECE	4096

void
sink_init(struct sink *sink, int fd)
{
	memset(sink, 0, sizeof(*sink));
	sink->fd = fd;
}

void
sink_free(struct sink *sink)
{
	if (sink->own)
		close(sink->fd);
	free(sink->p);
	memset(sink, 0, sizeof(*sink));
	sink->fd = -1;
}

/*
 * O_NONBLOCK belongs to the open file, which others share (our shell, the
 * other end of "2>&1").  A pipe can be opened once more; what can't is
 * written to in pieces.
 */
static void
look(struct sink *sink)
{
	char path[32];
	struct stat st;
	int fd;

	sink->looked = 1;
	if (fstat(sink->fd, &st) == -1 || S_ISREG(st.st_mode))
		return;
	sink->piecemeal = 1;
	if (!S_ISFIFO(st.st_mode))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", sink->fd);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd != -1) {
		sink->fd = fd;
		sink->own = 1;
		sink->piecemeal = 0;
	}
}

/* Bytes written, 0 if none can be now, -1 if none ever can. */
static ssize_t
write_some(struct sink *sink, const char *p, size_t len)
{
	struct pollfd pfd = { .fd = sink->fd, .events = POLLOUT };
	ssize_t n;

	if (!sink->looked)
		look(sink);
	if (sink->piecemeal) {
		if (poll(&pfd, 1, 0) <= 0)
			return (0);
		if (len > PIECE)
			len = PIECE;
	}
	n = write(sink->fd, p, len);
	if (n >= 0)
		return (n);
	if (errno == EAGAIN || errno == EINTR)
		return (0);
	sink->error = errno;
	return (-1);
}

static int
keep(struct sink *sink, const char *p, size_t len)
{
	size_t room = sink->room;
	char *grown;

	while (room < sink->len + len)
		room = room == 0 ? 64 * 1024 : room * 2;
	if (room != sink->room) {
		if ((grown = realloc(sink->p, room)) == NULL) {
			sink->error = ENOMEM;
			return (-1);
		}
		sink->p = grown;
		sink->room = room;
	}
	memcpy(sink->p + sink->len, p, len);
	sink->len += len;
	return (0);
}

int
sink_put(struct sink *sink, const void *bytes, size_t len)
{
	const char *p = bytes;
	ssize_t n;

	if (sink->error != 0)
		return (-1);
	while (!sink_pending(sink) && len > 0) {
		if ((n = write_some(sink, p, len)) == -1)
			return (-1);
		if (n == 0)
			break;
		p += n;
		len -= (size_t)n;
	}
	return (len == 0 ? 0 : keep(sink, p, len));
}

int
sink_flush(struct sink *sink)
{
	ssize_t n;

	while (sink_pending(sink)) {
		n = write_some(sink, sink->p + sink->off,
		    sink->len - sink->off);
		if (n <= 0)
			return ((int)n);
		sink->off += (size_t)n;
	}
	sink->off = sink->len = 0;
	return (0);
}

int
sink_pending(const struct sink *sink)
{
	return (sink->error == 0 && sink->off < sink->len);
}
