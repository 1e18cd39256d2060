/*
 * What egressd gets of the host: where names are asked for, and which
 * authorities are believed.
 *
 * Both are the host's own and may be missing: then names don't resolve, and
 * https is not fetched, which egressd says where it matters.
 */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "supervisor.h"
#include "trust.h"

#define RESOLV_CONF	"/etc/resolv.conf"
#define RESOLV_MAX	(64 * 1024)
#define AUTHORITIES	"/etc/ssl/certs/ca-certificates.crt"
#define AUTHORITIES_MAX	(8 * 1024 * 1024)

static int
keep(const char *path, const char *name, const char *text, size_t size)
{
	int fd;

	if ((fd = memfd_sealed(name, text, size)) == -1)
		log_warn("%s", path);
	return (fd);
}

/*
 * What every program of the host asks, whoever manages it: its owner is often
 * a resolver's own user.  It is decoded by egressd, not here.
 */
static int
read_resolv_conf(void)
{
	static char text[RESOLV_MAX + 1];
	struct stat st;
	size_t used = 0;
	ssize_t n = 0;
	int fd;

	fd = open(RESOLV_CONF, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd == -1 || fstat(fd, &st) == -1)
		log_warn("%s", RESOLV_CONF);
	else if (!S_ISREG(st.st_mode))
		log_warnx("%s: is not a regular file", RESOLV_CONF);
	else
		while (used < sizeof(text) &&
		    (n = read(fd, text + used, sizeof(text) - used)) > 0)
			used += (size_t)n;
	if (n == -1 || used > RESOLV_MAX) {
		log_warnx("%s: %s", RESOLV_CONF, n == -1 ? strerror(errno) :
		    "is longer than 64 KiB");
		used = 0;
	}
	if (fd != -1)
		(void)close(fd);
	return (keep(RESOLV_CONF, "resolv.conf", text, used));
}

/* Who may write it decides whom to believe: so root alone. */
static int
read_authorities(const struct supervisor *sv)
{
	char why[WHY_MAX], *text;
	size_t size = 0;
	int fd;

	text = trust_read(AUTHORITIES, sv->tree_owner, AUTHORITIES_MAX, &size,
	    why);
	if (text == NULL)
		log_info("%s: %s: the tool fetch has no https", AUTHORITIES,
		    why);
	fd = keep(AUTHORITIES, "ca-certificates", text == NULL ? "" : text,
	    size);
	free(text);
	return (fd);
}

int
feed_egress(struct supervisor *sv, struct feed *f)
{
	f->resolv_conf = read_resolv_conf();
	f->authorities = read_authorities(sv);
	if (f->resolv_conf != -1 && f->authorities != -1)
		return (0);
	complain(sv, "egressd's files can't be kept: %s", strerror(errno));
	return (-1);
}
