/*
 * Checks at start: a missing layer is refused by name, never left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "checks.h"
#include "sys.h"

#define SPARE_NAMESPACES	64

static int
read_number(const char *path, unsigned long *n)
{
	char buf[64];

	if (cg_read(AT_FDCWD, path, buf, sizeof(buf)) <= 0)
		return (-1);
	*n = strtoul(buf, NULL, 10);
	return (0);
}

int
checks_host(unsigned slots, unsigned neurons, char *why, size_t size)
{
	static const char *const kinds[] = { "user", "net" };
	struct open_how how = { .flags = O_PATH | O_CLOEXEC };
	unsigned long have, need = slots + neurons + SPARE_NAMESPACES;
	char path[64];
	size_t i;
	int fd;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		snprintf(path, sizeof(path),
		    "/proc/sys/user/max_%s_namespaces", kinds[i]);
		if (read_number(path, &have) == -1) {
			snprintf(why, size, "%s can't be read: this kernel "
			    "has no %s namespaces", path, kinds[i]);
			return (-1);
		}
		if (have < need) {
			snprintf(why, size, "user.max_%s_namespaces is %lu; "
			    "%u neurons need %lu: sysctl "
			    "user.max_%s_namespaces=%lu", kinds[i], have,
			    neurons, need, kinds[i], need);
			return (-1);
		}
	}
	if ((fd = sys_openat2(AT_FDCWD, "/", &how)) == -1) {
		snprintf(why, size, "openat2 is missing: %s",
		    strerrordesc_np(errno));
		return (-1);
	}
	close(fd);
	return (0);
}

int
checks_cgroups(const struct cg_base *base, char *why, size_t size)
{
	struct cg_neuron cg = { .v2 = -1 };
	struct limits limits;
	const char *failed = "";
	int r = -1;

	limits_init(&limits);
	if (cg_make(base, &cg, "check", 0, 1) == -1)
		snprintf(why, size, "cgroup %s: %s", base->path,
		    strerrordesc_np(errno));
	else if (faccessat(cg.v2, "cgroup.kill", F_OK, 0) == -1)
		snprintf(why, size, "cgroup %s: no cgroup.kill: the kernel is "
		    "older than 5.14", base->path);
	else if (cg_limit(base, &cg, &limits, &failed) == -1)
		snprintf(why, size, "cgroup limit %s: %s", failed,
		    strerrordesc_np(errno));
	else
		r = 0;
	cg_remove(base, &cg);
	return (r);
}
