/* sd_notify(3)'s protocol. */
#include <sys/socket.h>
#include <sys/un.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "notify.h"

void
notify_send(const char *fmt, ...)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char text[512];
	socklen_t size;
	va_list ap;
	int fd, len;

	if (path == NULL || (path[0] != '/' && path[0] != '@') ||
	    strlcpy(sun.sun_path, path, sizeof(sun.sun_path)) >=
	    sizeof(sun.sun_path))
		return;
	size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
	    strlen(path));
	if (path[0] == '@')
		sun.sun_path[0] = '\0';
	else
		size++;
	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= sizeof(text))
		return;
	if ((fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) == -1) {
		log_warn("notify: socket");
		return;
	}
	/* A full queue must not hold us: the next one tells as much. */
	if (sendto(fd, text, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT,
	    (const struct sockaddr *)&sun, size) == -1)
		log_warn("notify: %s", path);
	(void)close(fd);
}

int
notify_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	long long us;

	if (usec == NULL || (pid != NULL && strtoll(pid, NULL, 10) != getpid()))
		return (0);
	us = strtoll(usec, NULL, 10);
	if (us < 2000 || us > 86400LL * 1000000)
		return (0);
	return ((int)(us / 2000));
}
