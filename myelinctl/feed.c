/*
 * Passing standard input on.
 *
 * One piece is on its way at a time: the service answers when the program's
 * pipe has taken it, which is all the back-pressure there is.
 */
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "feed.h"

/* ---- inline ---- */

static char *
base64_encode(const unsigned char *p, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	char *out, *w;
	uint32_t v;

	if ((out = w = malloc((len + 2) / 3 * 4 + 1)) == NULL)
		return (NULL);
	for (; len > 2; len -= 3, p += 3) {
		v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
		*w++ = digits[v >> 18];
		*w++ = digits[v >> 12 & 63];
		*w++ = digits[v >> 6 & 63];
		*w++ = digits[v & 63];
	}
	if (len > 0) {
		v = (uint32_t)p[0] << 16 | (len == 2 ? (uint32_t)p[1] << 8 : 0);
		*w++ = digits[v >> 18];
		*w++ = digits[v >> 12 & 63];
		*w++ = len == 2 ? digits[v >> 6 & 63] : '=';
		*w++ = '=';
	}
	*w = '\0';
	return (out);
}

/* All of a file from where it stands; NULL if it can't be read. */
static unsigned char *
read_all(size_t most, size_t *len)
{
	unsigned char *p;
	ssize_t n;

	if ((p = malloc(most + 1)) == NULL)
		return (NULL);
	*len = 0;
	do {
		n = read(STDIN_FILENO, p + *len, most + 1 - *len);
		if (n > 0)
			*len += (size_t)n;
	} while ((n > 0 && *len <= most) || (n == -1 && errno == EINTR));
	/* It grew meanwhile: what was read must still go first. */
	if (n == -1 || *len > most) {
		free(p);
		return (NULL);
	}
	return (p);
}

static int
take_inline(struct feed *feed, off_t at, off_t size)
{
	unsigned char *bytes;
	char *text = NULL;
	size_t len;

	bytes = read_all((size_t)(size - at), &len);
	if (bytes != NULL)
		text = base64_encode(bytes, len);
	free(bytes);
	if (text == NULL) {
		/* Back to where it stood, and streamed. */
		if (lseek(STDIN_FILENO, at, SEEK_SET) == -1) {
			complain("standard input: %s", strerror(errno));
			return (-1);
		}
		feed->kind = FEED_STREAM;
		return (0);
	}
	feed->kind = FEED_INLINE;
	feed->inline_text = json_pack("{s:s}", "base64", text);
	free(text);
	if (feed->inline_text == NULL) {
		complain("standard input: out of memory");
		return (-1);
	}
	return (0);
}

/* ---- what fd 0 is ---- */

int
feed_init(struct feed *feed, const char *socket)
{
	struct stat st;
	off_t at;

	memset(feed, 0, offsetof(struct feed, piece));
	feed->socket = socket;
	feed->conn.fd = -1;
	if (fstat(STDIN_FILENO, &st) == -1 || (S_ISCHR(st.st_mode) &&
	    st.st_rdev == makedev(1, 3))) {
		feed->kind = FEED_NONE;
		return (0);
	}
	feed->kind = FEED_STREAM;
	if (!S_ISREG(st.st_mode))
		return (0);
	feed->always = 1;
	if ((at = lseek(STDIN_FILENO, 0, SEEK_CUR)) == -1)
		return (0);
	feed->at = at;
	if (at >= st.st_size)
		feed->kind = FEED_NONE;
	else if (st.st_size - at <= FEED_INLINE_MAX)
		return (take_inline(feed, at, st.st_size));
	return (0);
}

int
feed_stream(struct feed *feed)
{
	if (feed->kind != FEED_INLINE || lseek(STDIN_FILENO,
	    feed->at, SEEK_SET) == -1)
		return (-1);
	json_decref(feed->inline_text);
	feed->inline_text = NULL;
	feed->kind = FEED_STREAM;
	return (0);
}

void
feed_free(struct feed *feed)
{
	json_decref(feed->inline_text);
	feed->inline_text = NULL;
	if (feed->connected)
		conn_close(&feed->conn);
	feed->connected = 0;
}

json_t *
feed_member(const struct feed *feed)
{
	switch (feed->kind) {
	case FEED_INLINE:
		return (json_incref(feed->inline_text));
	case FEED_STREAM:
		return (json_pack("{s:b}", "stream", 1));
	case FEED_NONE:
		break;
	}
	return (NULL);
}

/* ---- streaming ---- */

static int
discard(void *arg, const uint8_t *bytes, size_t len)
{
	(void)arg;
	(void)bytes;
	(void)len;
	return (0);
}

static void
stop(struct feed *feed)
{
	feed->ended = 1;
	if (feed->connected)
		conn_close(&feed->conn);
	feed->connected = 0;
}

void
feed_start(struct feed *feed, const char *call)
{
	if (feed->kind != FEED_STREAM || feed->started)
		return;
	feed->started = 1;
	snprintf(feed->target, sizeof(feed->target), "/v1/calls/%s/stdin",
	    call);
}

/* Sends the piece; one that is empty only closes the program's input. */
static void
send_piece(struct feed *feed)
{
	char target[128];
	struct conn_request q = { .method = "POST", .accept = "*/*",
	    .type = "application/octet-stream", .body = feed->piece };

	/* The service closes a connection on which nothing was asked for a
	 * minute. */
	if (feed->connected && conn_stale(&feed->conn)) {
		conn_close(&feed->conn);
		feed->connected = 0;
	}
	if (!feed->connected) {
		if (conn_open(&feed->conn, feed->socket) == -1) {
			feed->ended = 1;
			return;
		}
		feed->connected = 1;
	}
	snprintf(target, sizeof(target), "%s%s", feed->target,
	    feed->eof ? "?eof=1" : "");
	q.target = target;
	q.len = feed->len;
	conn_send(&feed->conn, &q, discard, NULL);
}

static void
read_piece(struct feed *feed)
{
	static char typed[FEED_PIECE - 1];
	ssize_t n;

	if (feed->typed != NULL)
		n = read(STDIN_FILENO, typed, sizeof(typed));
	else
		n = read(STDIN_FILENO, feed->piece, sizeof(feed->piece));
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n == -1)
		complain("standard input: %s", strerror(errno));
	feed->len = n > 0 ? (size_t)n : 0;
	feed->eof = n <= 0;
	if (feed->typed != NULL && n > 0) {
		feed->len = feed->typed(feed->typed_arg, typed, (size_t)n,
		    feed->piece);
		if (feed->len == 0)
			return;
	}
	send_piece(feed);
}

static int
idle(const struct feed *feed)
{
	return (!feed->connected || feed->conn.state == CONN_IDLE);
}

int
feed_poll(struct feed *feed, struct pollfd pfd[2])
{
	pfd[0].fd = pfd[1].fd = -1;
	pfd[0].events = pfd[1].events = 0;
	pfd[0].revents = pfd[1].revents = 0;
	if (!feed->started || feed->ended)
		return (0);
	if (!idle(feed)) {
		pfd[1].fd = feed->conn.fd;
		pfd[1].events = conn_events(&feed->conn, 1);
		return (0);
	}
	if (feed->always)
		return (1);
	pfd[0].fd = STDIN_FILENO;
	pfd[0].events = POLLIN;
	return (0);
}

/*
 * An answer that is no success means that the program has closed its input or
 * ended: nothing that it wants to hear of.
 */
static void
answered(struct feed *feed)
{
	if (feed->conn.state == CONN_FAILED || feed->conn.r.status >= 300 ||
	    feed->eof) {
		stop(feed);
		return;
	}
	if (conn_again(&feed->conn) == -1) {
		conn_close(&feed->conn);
		feed->connected = 0;
	}
}

void
feed_io(struct feed *feed, const struct pollfd pfd[2])
{
	if (!feed->started || feed->ended)
		return;
	if (idle(feed)) {
		if (feed->always || pfd[0].revents != 0)
			read_piece(feed);
	} else if (pfd[1].revents != 0)
		conn_io(&feed->conn, pfd[1].revents);
	if (feed->connected && (feed->conn.state == CONN_DONE ||
	    feed->conn.state == CONN_FAILED))
		answered(feed);
}
