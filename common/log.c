/*
 * Log lines to standard error or to the journal's native socket.
 */
#include <sys/socket.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ids.h"
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
	for (; *s != '\0' && !WITHOUT(log_fields); s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
}

/*
 * The message as the journal's protocol has what may hold anything: its name,
 * its length in eight bytes, least first, and its bytes.  So it ends where it
 * does, whatever is in it.
 */
static size_t
put_message(char *packet, size_t at, size_t size, const char *line)
{
	static const char name[] = "MESSAGE\n";
	uint64_t len = strlen(line);
	int i;

	if (WITHOUT(log_fields))
		return (at + (size_t)snprintf(packet + at, size - at,
		    "MESSAGE=%s\n", line));

	if (at + sizeof(name) + 8 + len + 1 > size)
		return (0);
	memcpy(packet + at, name, sizeof(name) - 1);
	at += sizeof(name) - 1;
	for (i = 0; i < 8; i++)
		packet[at++] = (char)(len >> (8 * i) & 0xff);
	memcpy(packet + at, line, len);
	at += len;
	packet[at++] = '\n';
	return (at);
}

static void
emit(int pri, const char *fields, const char *line)
{
	char packet[LINE_MAX_BYTES + 1024];
	size_t n;
	int len;

	if (log_fd == -1) {
		dprintf(STDERR_FILENO, "%s: %s\n", process, line);
		return;
	}
	len = snprintf(packet, sizeof(packet), "PRIORITY=%d\n"
	    "SYSLOG_IDENTIFIER=myelin-%s\nMYELIN_PROCESS=%s\n%s", pri, process,
	    process, fields);
	if (len <= 0 || (size_t)len >= sizeof(packet))
		return;
	if ((n = put_message(packet, (size_t)len, sizeof(packet), line)) > 0)
		(void)send(log_fd, packet, n, MSG_DONTWAIT | MSG_NOSIGNAL);
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

/* ---- with what it is about ---- */

static void
put_id(char *fields, size_t size, const char *name, char type, const char *id)
{
	size_t n = strlen(fields);

	if (id != NULL && id_ok(type, id))
		(void)snprintf(fields + n, size - n, "%s=%s\n", name, id);
}

static void
about_fields(const struct log_about *a, char *fields, size_t size)
{
	char id[REQUEST_ID_SIZE];

	fields[0] = '\0';
	if (a->request != 0)
		(void)snprintf(fields, size, "MYELIN_REQUEST_ID=%s\n",
		    request_id(a->request, id));
	put_id(fields, size, "MYELIN_CALL", ID_CALL, a->call);
	put_id(fields, size, "MYELIN_SESSION", ID_SESSION, a->session);
	put_id(fields, size, "MYELIN_NEURON", ID_NEURON, a->neuron);
	put_id(fields, size, "MYELIN_APPROVAL", ID_APPROVAL, a->approval);
}

#define VLOG_OF(pri, about, fmt) do {					\
	char all[320];							\
	va_list ap;							\
	about_fields(about, all, sizeof(all));				\
	va_start(ap, fmt);						\
	vlog(pri, 0, all, fmt, ap);					\
	va_end(ap);							\
} while (0)

void
log_warnx_of(const struct log_about *about, const char *fmt, ...)
{
	VLOG_OF(PRI_WARNING, about, fmt);
}

void
log_info_of(const struct log_about *about, const char *fmt, ...)
{
	VLOG_OF(PRI_INFO, about, fmt);
}

void
log_debug_of(const struct log_about *about, const char *fmt, ...)
{
	if (verbose)
		VLOG_OF(PRI_DEBUG, about, fmt);
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
