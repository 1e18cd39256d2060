/*
 * Bytes for the reader, digests, and names made fit to be looked at.
 */
#include <sys/types.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hash.h"
#include "out.h"
#include "tool.h"

static char	 pending[16384];
static size_t	 npending;

int
fd_write(int fd, const void *bytes, size_t size)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	const char *p = bytes;
	ssize_t n;

	while (size > 0) {
		if ((n = write(fd, p, size)) > 0) {
			p += n;
			size -= (size_t)n;
		} else if (n == -1 && errno == EAGAIN) {
			/* The reader's pipe may be one that doesn't block. */
			if (poll(&pfd, 1, -1) == -1 && errno != EINTR)
				return (-1);
		} else if (n == 0 || errno != EINTR)
			return (-1);
	}
	return (0);
}

ssize_t
fd_read(int fd, void *bytes, size_t size)
{
	char *p = bytes;
	size_t got = 0;
	ssize_t n;

	while (got < size) {
		n = read(fd, p + got, size - got);
		if (n == 0)
			break;
		if (n > 0)
			got += (size_t)n;
		else if (errno != EINTR)
			return (-1);
	}
	return ((ssize_t)got);
}

static int
out_raw(struct tool *t, const void *bytes, size_t size)
{
	if (fd_write(STDOUT_FILENO, bytes, size) == -1)
		return (tool_fail_errno(t, errno,
		    "standard output can't be written"));
	return (0);
}

int
out_flush(struct tool *t)
{
	size_t n = npending;

	npending = 0;
	return (out_raw(t, pending, n));
}

int
out_bytes(struct tool *t, const void *bytes, size_t size)
{
	if (size > sizeof(pending) - npending && out_flush(t) == -1)
		return (-1);
	if (size >= sizeof(pending) / 2 && npending == 0)
		return (out_raw(t, bytes, size));
	if (size > sizeof(pending) - npending)
		return (-1);	/* not reached: it was flushed */
	memcpy(pending + npending, bytes, size);
	npending += size;
	return (0);
}

int
out_str(struct tool *t, const char *text)
{
	return (out_bytes(t, text, strlen(text)));
}

int
out_name(struct tool *t, const void *bytes, size_t len)
{
	const char *p = bytes;
	char text[256 * 4 + 1];
	size_t n;

	for (; len > 0; p += n, len -= n) {
		n = len > 256 ? 256 : len;
		/* Not through the middle of a character. */
		while (n < len && n > 252 && (p[n] & 0xc0) == 0x80)
			n--;
		if (out_bytes(t, text, name_escape(text, p, n)) == -1)
			return (-1);
	}
	return (0);
}

size_t
utf8_length(const unsigned char *p, size_t len)
{
	static const struct { unsigned char from, to, low, high; size_t n; }
	    rows[] = {
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	size_t i, k;

	if (len == 0)
		return (0);
	if (p[0] < 0x80)
		return (1);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (p[0] < rows[i].from || p[0] > rows[i].to)
			continue;
		if (len < rows[i].n || p[1] < rows[i].low ||
		    p[1] > rows[i].high)
			return (0);
		for (k = 2; k < rows[i].n; k++)
			if ((p[k] & 0xc0) != 0x80)
				return (0);
		return (rows[i].n);
	}
	return (0);
}

/*
 * C1 controls, and the marks that turn the direction of text around or are
 * not seen at all, are written as bytes too: a name must look like what it is.
 */
static int
printable(const unsigned char *p, size_t n)
{
	if (n == 1)
		return (p[0] >= 0x20 && p[0] != 0x7f);
	if (n == 2)
		return (!(p[0] == 0xc2 && p[1] < 0xa0) &&
		    !(p[0] == 0xd8 && p[1] == 0x9c));
	if (n == 3 && p[0] == 0xe2 && p[1] == 0x80)
		return (!(p[2] >= 0x8b && p[2] <= 0x8f) &&
		    !(p[2] >= 0xa8 && p[2] <= 0xae));
	if (n == 3 && p[0] == 0xe2 && p[1] == 0x81)
		return (p[2] < 0xa0 || p[2] > 0xaf);
	if (n == 3 && p[0] == 0xef && p[1] == 0xbb)
		return (p[2] != 0xbf);
	return (1);
}

size_t
name_escape(char *dst, const void *bytes, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	static const char from[] = "\n\t\r\\", to[] = "ntr\\";
	const unsigned char *p = bytes;
	const char *known;
	char *q = dst;
	size_t i, n;

	for (i = 0; i < len; i += n) {
		n = utf8_length(p + i, len - i);
		if (n == 1 && p[i] != '\0' &&
		    (known = strchr(from, p[i])) != NULL) {
			*q++ = '\\';
			*q++ = to[known - from];
		} else if (n > 0 && printable(p + i, n)) {
			memcpy(q, p + i, n);
			q += n;
		} else {
			/* The rest of a character comes out the same way. */
			n = 1;
			*q++ = '\\';
			*q++ = 'x';
			*q++ = hex[p[i] >> 4];
			*q++ = hex[p[i] & 15];
		}
	}
	*q = '\0';
	return ((size_t)(q - dst));
}

/* ---- digests ---- */

void
sha256_bytes(const void *bytes, size_t size, struct sha256_text *digest)
{
	struct hash hash;

	hash_begin(&hash);
	hash_add(&hash, bytes, size);
	hash_end(&hash, digest);
}

int
sha256_fd(int fd, struct sha256_text *digest)
{
	struct hash hash;
	uint8_t *block;
	off_t at = 0;
	ssize_t n;

	if ((block = malloc(OUT_BLOCK)) == NULL)
		return (-1);
	hash_begin(&hash);
	while ((n = pread(fd, block, OUT_BLOCK, at)) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			break;
		hash_add(&hash, block, (size_t)n);
		at += n;
	}
	free(block);
	hash_end(&hash, digest);
	return (n == 0 ? 0 : -1);
}
