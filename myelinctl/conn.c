/*
 * Connections to a Unix socket.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conn.h"
#include "ctl.h"
#include "limits.h"

#define CONNECT_SECONDS	10
#define READ_SIZE	(256 * 1024)

/* ---- what is wrong with a socket ---- */

static void
say_denied(const char *path)
{
	struct group *group;
	struct stat st;

	complain("%s: permission denied", path);
	if (stat(path, &st) == -1) {
		advise("its directory is closed to you; ask who runs Myelin "
		    "here");
		return;
	}
	if ((st.st_mode & S_IWGRP) == 0) {
		advise("only its owner, uid %u, may use it", st.st_uid);
		return;
	}
	group = getgrgid(st.st_gid);
	if (group != NULL)
		advise("you are not in the group \"%s\" (usermod -aG %s USER, "
		    "then log in again)", group->gr_name, group->gr_name);
	else
		advise("you are not in the group %u", st.st_gid);
}

/* connect(2) calls a file that is no socket a refusal. */
static int
no_socket(const char *path)
{
	struct stat st;

	return (stat(path, &st) == 0 && !S_ISSOCK(st.st_mode));
}

static void
say_why(const char *path, int error)
{
	if (error == ECONNREFUSED && no_socket(path))
		error = ENOTSOCK;
	switch (error) {
	case ENOENT:
		complain("%s: there is no such socket", path);
		advise("is the service running (systemctl status myelin)? "
		    "-s, MYELIN_SOCKET and MYELIN_OPERATOR_SOCKET name "
		    "another one");
		break;
	case EACCES:
	case EPERM:
		say_denied(path);
		break;
	case ECONNREFUSED:
		complain("%s: nobody listens there", path);
		advise("the service was stopped, or is just starting "
		    "(systemctl status myelin)");
		break;
	case ENOTSOCK:
		complain("%s: not a socket", path);
		advise("-s takes the path of Myelin's socket");
		break;
	case EAGAIN:
		complain("%s: no connection within %d s", path,
		    CONNECT_SECONDS);
		advise("the service is overloaded or stuck (myelinctl "
		    "status)");
		break;
	default:
		complain("%s: %s", path, strerror(error));
		advise("-s takes the path of Myelin's socket");
		break;
	}
}

/* ---- opening and closing ---- */

static int
connect_to(const struct sockaddr_un *sun)
{
	const struct timeval patience = { .tv_sec = CONNECT_SECONDS };
	int fd, error;

	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		return (-1);
	/* Bounds connect(2), which waits while the backlog is full. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
	    sizeof(patience)) == -1 ||
	    connect(fd, (const struct sockaddr *)sun, sizeof(*sun)) == -1 ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) == -1) {
		error = errno;
		close(fd);
		errno = error;
		return (-1);
	}
	return (fd);
}

int
conn_try(struct conn *conn, const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	size_t len = strlen(path);

	memset(conn, 0, offsetof(struct conn, r));
	conn->fd = -1;
	if (len > SOCKET_PATH_MAX)
		return (ENAMETOOLONG);
	memcpy(sun.sun_path, path, len + 1);
	conn->fd = connect_to(&sun);
	return (conn->fd == -1 ? errno : 0);
}

int
conn_open(struct conn *conn, const char *path)
{
	size_t len = strlen(path);
	int error;

	if (len > SOCKET_PATH_MAX) {
		conn->fd = -1;
		conn->out = NULL;
		complain("%s: a socket's path may have at most %d bytes, this "
		    "one has %zu", path, SOCKET_PATH_MAX, len);
		advise("use a shorter directory, or a symbolic link to it");
		return (-1);
	}
	if ((error = conn_try(conn, path)) != 0) {
		say_why(path, error);
		return (-1);
	}
	return (0);
}

void
conn_close(struct conn *conn)
{
	if (conn->fd != -1)
		close(conn->fd);
	conn->fd = -1;
	free(conn->out);
	conn->out = NULL;
}

/* ---- a request ---- */

void
conn_send(struct conn *conn, const struct conn_request *q,
    http_body_fn *body_fn, void *arg)
{
	char head[HTTP_HEAD_MAX];
	int n;

	n = snprintf(head, sizeof(head), "%s %s HTTP/1.1\r\nHost: localhost\r\n"
	    "Accept: %s\r\n%s", q->method, q->target, q->accept,
	    q->headers != NULL ? q->headers : "");
	if (q->type != NULL && (size_t)n < sizeof(head))
		n += snprintf(head + n, sizeof(head) - (size_t)n,
		    "Content-Type: %s\r\nContent-Length: %zu\r\n", q->type,
		    q->len);
	if ((size_t)n < sizeof(head))
		n += snprintf(head + n, sizeof(head) - (size_t)n, "\r\n");
	if ((size_t)n >= sizeof(head))
		errx(EXIT_FAILED, "a request's head is over %zu bytes",
		    sizeof(head));
	free(conn->out);
	conn->out_len = (size_t)n + q->len;
	conn->out_off = 0;
	if ((conn->out = malloc(conn->out_len)) == NULL)
		err(EXIT_FAILED, NULL);
	memcpy(conn->out, head, (size_t)n);
	if (q->len > 0)
		memcpy(conn->out + n, q->body, q->len);
	http_init(&conn->r, body_fn, arg);
	conn->state = CONN_BUSY;
	/* It fits into the socket's buffer more often than not. */
	conn_io(conn, POLLOUT);
}

short
conn_events(const struct conn *conn, int may_read)
{
	short events = 0;

	if (conn->state != CONN_BUSY)
		return (0);
	if (conn->out_off < conn->out_len)
		events |= POLLOUT;
	if (may_read)
		events |= POLLIN;
	return (events);
}

static void
failed(struct conn *conn, const char *why)
{
	conn->state = CONN_FAILED;
	conn->why = why;
}

static void
write_some(struct conn *conn)
{
	ssize_t n;

	while (conn->out_off < conn->out_len) {
		n = send(conn->fd, conn->out + conn->out_off,
		    conn->out_len - conn->out_off, MSG_NOSIGNAL);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return;
		if (n == -1) {
			/* A refusal may have come before all was sent. */
			conn->out_off = conn->out_len;
			return;
		}
		conn->out_off += (size_t)n;
	}
}

static void
read_some(struct conn *conn)
{
	static uint8_t bytes[READ_SIZE];
	size_t used;
	ssize_t n;
	int done;

	do
		n = recv(conn->fd, bytes, sizeof(bytes), 0);
	while (n == -1 && errno == EINTR);
	if (n == -1 && errno == EAGAIN)
		return;
	if (n <= 0) {
		if (http_end(&conn->r) == 1)
			conn->state = CONN_DONE;
		else
			failed(conn, conn->r.why);
		return;
	}
	done = http_feed(&conn->r, bytes, (size_t)n, &used);
	if (done == -1)
		failed(conn, conn->r.why);
	else if (done == 1 && used == (size_t)n)
		conn->state = CONN_DONE;
	else if (done == 1)
		failed(conn, "bytes after the answer");
}

void
conn_io(struct conn *conn, short revents)
{
	if (conn->state != CONN_BUSY)
		return;
	if (revents & (POLLOUT | POLLERR | POLLHUP))
		write_some(conn);
	if (revents & (POLLIN | POLLERR | POLLHUP))
		read_some(conn);
}

void
conn_finish(struct conn *conn, int ms)
{
	struct pollfd pfd = { .fd = conn->fd };
	int n;

	while (conn->state == CONN_BUSY) {
		pfd.events = conn_events(conn, 1);
		n = poll(&pfd, 1, ms);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0) {
			failed(conn, "no answer in time");
			return;
		}
		conn_io(conn, pfd.revents);
	}
}

int
conn_again(struct conn *conn)
{
	if (conn->state != CONN_DONE || !conn->r.keep_alive)
		return (-1);
	conn->state = CONN_IDLE;
	return (0);
}

int
conn_stale(const struct conn *conn)
{
	char byte;

	return (recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != -1 ||
	    (errno != EAGAIN && errno != EINTR));
}
