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
#include "log.h"
#include "probe.h"

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

static void
say(const char *line)
{
	log_warnx("%s", line);
}

int
checks_layers(char *why, size_t size)
{
	static struct probe probes[LAYER_COUNT];
	char names[512];

	probe_layers(probes, 0);
	if (probe_missing(probes, say, names, sizeof(names)) == 0)
		return (0);
	snprintf(why, size, "mandatory layers are missing: %s", names);
	return (-1);
}

int
checks_host(unsigned slots, unsigned neurons, char *why, size_t size)
{
	static const char *const kinds[] = { "user", "net" };
	unsigned long have, need = slots + neurons + SPARE_NAMESPACES;
	char path[64];
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		snprintf(path, sizeof(path),
		    "/proc/sys/user/max_%s_namespaces", kinds[i]);
		if (read_number(path, &have) == -1) {
			snprintf(why, size, "the layer %s-namespace is missing: "
			    "%s can't be read", i == 0 ? "user" : "network",
			    path);
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
		snprintf(why, size, "the layer cgroup-kill is missing: cgroup %s: "
		    "%s", base->path, layer_table[LAYER_CG_KILL].remedy);
	else if (cg_limit(base, &cg, &limits, &failed) == -1)
		snprintf(why, size, "cgroup limit %s: %s", failed,
		    strerrordesc_np(errno));
	else
		r = 0;
	cg_remove(base, &cg);
	return (r);
}
