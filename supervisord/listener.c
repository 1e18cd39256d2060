/* The sockets that clients connect to. */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "listener.h"
#include "log.h"
#include "trust.h"

#define BACKLOG		512
#define PROBES		10	/* of 100 ms: a predecessor that just ends */

static int
address(const char *path, struct sockaddr_un *sun, char *why)
{
	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	if (strlen(path) > SOCKET_PATH_MAX)
		return (why_say(why, "a socket path of %zu bytes; the most "
		    "is %d", strlen(path), SOCKET_PATH_MAX));
	(void)strlcpy(sun->sun_path, path, sizeof(sun->sun_path));
	return (0);
}

/* The directory is there, or made, and only trusted users change it. */
static int
directory(const struct listener *l, char *why)
{
	char dir[SOCKET_PATH_MAX + 1], words[WHY_MAX];
	char *slash;

	(void)strlcpy(dir, l->conf->path, sizeof(dir));
	slash = strrchr(dir, '/');
	if (slash == dir)
		slash++;
	*slash = '\0';
	if (mkdir(dir, 0755) == -1 && errno != EEXIST)
		return (why_say(why, "mkdir %s: %s", dir, strerror(errno)));
	if (trust_dir(dir, l->also, words) == -1)
		return (why_say(why, "its directory %.60s %.180s", dir, words));
	return (0);
}

/* 1 if somebody accepts there, 0 if not, -1 if that can't be known. */
static int
answers(const struct sockaddr_un *sun)
{
	int fd, result = 1;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return (-1);
	if (connect(fd, (const struct sockaddr *)sun, sizeof(*sun)) == -1) {
		if (errno == ECONNREFUSED || errno == ENOENT)
			result = 0;
		else if (errno != EAGAIN)	/* a full queue is alive */
			result = -1;
	}
	(void)close(fd);
	return (result);
}

/* Makes way for our own socket. */
static int
probe(const struct sockaddr_un *sun, char *why)
{
	const struct timespec pause = { 0, 100000000 };
	struct stat st;
	int i, alive = 1;

	if (lstat(sun->sun_path, &st) == -1) {
		if (errno == ENOENT)
			return (0);
		return (why_say(why, "%s", strerror(errno)));
	}
	if (!S_ISSOCK(st.st_mode))
		return (why_say(why, "is there and is not a socket"));
	for (i = 0; i < PROBES && (alive = answers(sun)) == 1; i++)
		(void)nanosleep(&pause, NULL);
	if (alive == 1)
		return (why_say(why, "another instance listens on it"));
	if (alive == -1)
		return (why_say(why, "probe: %s", strerror(errno)));
	if (unlink(sun->sun_path) == -1 && errno != ENOENT)
		return (why_say(why, "unlink: %s", strerror(errno)));
	return (0);
}

/*
 * Group and mode go onto the file that was bound, by an O_PATH descriptor:
 * whoever owns the directory may have put a link in its place.
 */
static int
dress(struct listener *l, char *why)
{
	char self[64];
	struct stat st;
	int fd, result = -1;

	fd = open(l->conf->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 || fstat(fd, &st) == -1) {
		why_say(why, "%s", strerror(errno));
		goto done;
	}
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid()) {
		why_say(why, "was replaced while it was made");
		goto done;
	}
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	if (l->conf->gid != (gid_t)-1 &&
	    fchownat(fd, "", (uid_t)-1, l->conf->gid, AT_EMPTY_PATH) == -1) {
		why_say(why, "group %u: %s", l->conf->gid, strerror(errno));
		goto done;
	}
	/* fchmod(2) refuses O_PATH; its link in /proc leads to the inode. */
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (chmod(self, l->conf->mode) == -1) {
		why_say(why, "mode %04o: %s", l->conf->mode, strerror(errno));
		goto done;
	}
	result = 0;
done:
	if (fd != -1)
		(void)close(fd);
	return (result);
}

/* ---- TCP ---- */

static socklen_t
tcp_address(const struct cf_listen *conf, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *four = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	if (inet_pton(AF_INET, conf->path, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons((uint16_t)conf->port);
		return (sizeof(*four));
	}
	if (inet_pton(AF_INET6, conf->path, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)conf->port);
		return (sizeof(*six));
	}
	return (0);
}

static int
set_option(int fd, int level, int option)
{
	int on = 1;

	return (setsockopt(fd, level, option, &on, sizeof(on)));
}

/*
 * What is accepted inherits the options.  A client that vanished without a
 * word is noticed by keep-alives.
 */
static int
tcp_options(int fd, int family)
{
	if (set_option(fd, SOL_SOCKET, SO_REUSEADDR) == -1 ||
	    set_option(fd, SOL_SOCKET, SO_KEEPALIVE) == -1 ||
	    set_option(fd, IPPROTO_TCP, TCP_NODELAY) == -1)
		return (-1);
	return (family == AF_INET6 ? set_option(fd, IPPROTO_IPV6,
	    IPV6_V6ONLY) : 0);
}

static int
tcp_open(struct listener *l, char why[WHY_MAX])
{
	struct sockaddr_storage ss;
	socklen_t len;

	if ((len = tcp_address(l->conf, &ss)) == 0)
		return (why_say(why, "no numeric address"));
	l->fd = socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0);
	if (l->fd == -1)
		return (why_say(why, "socket: %s", strerror(errno)));
	if (tcp_options(l->fd, ss.ss_family) == -1)
		why_say(why, "options: %s", strerror(errno));
	else if (bind(l->fd, (const struct sockaddr *)&ss, len) == -1)
		why_say(why, "port %u: bind: %s", l->conf->port,
		    strerror(errno));
	else if (listen(l->fd, BACKLOG) == -1)
		why_say(why, "port %u: listen: %s", l->conf->port,
		    strerror(errno));
	else
		return (0);
	listener_close(l);
	return (-1);
}

int
listener_open(struct listener *l, char why[WHY_MAX])
{
	struct sockaddr_un sun;
	mode_t mask;
	int bound;

	l->fd = -1;
	l->dev = 0;
	l->ino = 0;
	if ((l->conf->flags & LISTEN_TCP) != 0)
		return (tcp_open(l, why));
	if (address(l->conf->path, &sun, why) == -1 ||
	    directory(l, why) == -1 || probe(&sun, why) == -1)
		return (-1);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd == -1)
		return (why_say(why, "socket: %s", strerror(errno)));
	/* Nobody but us until it has its group; nobody before listen(2). */
	mask = umask(0177);
	bound = bind(l->fd, (const struct sockaddr *)&sun, sizeof(sun));
	(void)umask(mask);
	if (bound == -1) {
		why_say(why, "bind: %s", strerror(errno));
		goto fail;
	}
	if (dress(l, why) == -1)
		goto fail;
	if (listen(l->fd, BACKLOG) == -1) {
		why_say(why, "listen: %s", strerror(errno));
		goto fail;
	}
	return (0);
fail:
	listener_close(l);
	return (-1);
}

void
listener_close(struct listener *l)
{
	struct stat st;

	if (l->fd == -1)
		return;
	if ((l->conf->flags & LISTEN_TCP) == 0 &&
	    lstat(l->conf->path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	    st.st_dev == l->dev && st.st_ino == l->ino)
		(void)unlink(l->conf->path);
	(void)close(l->fd);
	l->fd = -1;
}

int
listener_nowhere(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return (-1);
	/* The family alone: the kernel picks an abstract name, unix(7). */
	if (bind(fd, (const struct sockaddr *)&sun,
	    sizeof(sun.sun_family)) == -1 || listen(fd, 1) == -1) {
		(void)close(fd);
		return (-1);
	}
	return (fd);
}
