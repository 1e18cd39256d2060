/*
 * Log lines to standard error or to the journal's native socket.
 */
#include <sys/socket.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "redact.h"
#include "without.h"

/* Priorities of syslog(3), which the journal uses too. */
enum { PRI_CRIT = 2, PRI_WARNING = 4, PRI_INFO = 6, PRI_DEBUG = 7 };

#define LINE_MAX_BYTES	4096

static const char *process = "myelin";
static int log_fd = -1;
static int verbose;
static void (*mask)(char *, size_t);

void
log_init(const char *name, int fd, int v)
{
	process = name;
	log_fd = fd;
	verbose = v;
}

void
log_set_mask(void (*fn)(char *, size_t))
{
	mask = fn;
}

void
log_set_verbose(int v)
{
	verbose = v;
}

int
log_verbose(void)
{
	return (verbose);
}

/*
 * One line, whatever the message holds: a newline from outside must not
 * start a field of the journal's protocol or a line of its own.
 */
static void
flatten(char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
}

static void
emit(int pri, const char *fields, const char *line)
{
	char packet[LINE_MAX_BYTES + 512];
	int len;

	if (log_fd == -1) {
		dprintf(STDERR_FILENO, "%s: %s\n", process, line);
		return;
	}
	len = snprintf(packet, sizeof(packet), "PRIORITY=%d\n"
	    "SYSLOG_IDENTIFIER=myelin-%s\nMYELIN_PROCESS=%s\n%sMESSAGE=%s\n",
	    pri, process, process, fields, line);
	if (len > 0 && (size_t)len < sizeof(packet))
		(void)send(log_fd, packet, (size_t)len,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* What masks may fail itself, and say so. */
static void
mask_line(char *line, size_t size)
{
	static int within;

	if (mask == NULL || within)
		return;
	within = 1;
	mask(line, size);
	within = 0;
}

static void __attribute__((__format__(__printf__, 4, 0)))
vlog(int pri, int with_errno, const char *fields, const char *fmt, va_list ap)
{
	char line[LINE_MAX_BYTES];
	int saved = errno;
	size_t len;
	int n;

	n = vsnprintf(line, sizeof(line), fmt, ap);
	if (n < 0)
		line[0] = '\0';
	if (with_errno) {
		len = strlen(line);
		snprintf(line + len, sizeof(line) - len, ": %s",
		    strerrordesc_np(saved) != NULL ? strerrordesc_np(saved) :
		    "unknown error");
	}
	flatten(line);
	if (!WITHOUT(log_redact)) {
		redact_line(line);
		mask_line(line, sizeof(line));
	}
	emit(pri, fields, line);
	errno = saved;
}

#define VLOG(pri, with_errno, fmt) do {					\
	va_list ap;							\
	va_start(ap, fmt);						\
	vlog(pri, with_errno, "", fmt, ap);				\
	va_end(ap);							\
} while (0)

void
log_warn(const char *fmt, ...)
{
	VLOG(PRI_WARNING, 1, fmt);
}

void
log_warnx(const char *fmt, ...)
{
	VLOG(PRI_WARNING, 0, fmt);
}

void
log_info(const char *fmt, ...)
{
	VLOG(PRI_INFO, 0, fmt);
}

void
log_debug(const char *fmt, ...)
{
	if (verbose)
		VLOG(PRI_DEBUG, 0, fmt);
}

#define VLOG_ID(pri, id, fields, fmt) do {				\
	char all[256];							\
	va_list ap;							\
	(void)snprintf(all, sizeof(all), "MESSAGE_ID=%s\n%s", id,	\
	    fields);							\
	va_start(ap, fmt);						\
	vlog(pri, 0, all, fmt, ap);					\
	va_end(ap);							\
} while (0)

void
log_event(const char *id, const char *fields, const char *fmt, ...)
{
	VLOG_ID(PRI_INFO, id, fields, fmt);
}

void
log_alarm(const char *id, const char *fields, const char *fmt, ...)
{
	VLOG_ID(PRI_WARNING, id, fields, fmt);
}

_Noreturn void
fatal(const char *fmt, ...)
{
	VLOG(PRI_CRIT, 1, fmt);
	_exit(1);
}

_Noreturn void
fatalx(const char *fmt, ...)
{
	VLOG(PRI_CRIT, 0, fmt);
	_exit(1);
}
