/*
 * A neuron's cgroups: directories, limits, counters, kill.
 *
 * All files are reached by name from an open directory, so that the same code
 * runs on a directory that a test made.
 */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "without.h"

#define CPU_PERIOD	100000	/* us */

const char *const cg_controller_name[CG_CONTROLLERS] = {
	"memory", "pids", "cpu"
};

/* ---- the table of limits ---- */

enum value {
	VALUE_NONE,		/* written as "-1" */
	VALUE_ZERO,
	VALUE_MEMORY,
	VALUE_SWAP,
	VALUE_MEMORY_SWAP,	/* both together, as v1 counts */
	VALUE_PIDS,
	VALUE_CPU,		/* "quota period" */
	VALUE_CPU_QUOTA,
	VALUE_CPU_PERIOD
};

#define ON_V2		0x01	/* pure v2 */
#define ON_HYBRID	0x02
#define IF_THERE	0x04	/* a kernel may lack it */

struct limit_file {
	unsigned	 flags;
	enum cg_controller controller;
	const char	*file;
	enum value	 value;
};

/* In the order of writing: memsw may never be below the memory limit. */
static const struct limit_file limit_files[] = {
	{ ON_V2, CG_MEMORY, "memory.max", VALUE_MEMORY },
	{ ON_V2 | IF_THERE, CG_MEMORY, "memory.swap.max", VALUE_SWAP },
	/* 1 would kill PID 1 for a call's sake. */
	{ ON_V2, CG_MEMORY, "memory.oom.group", VALUE_ZERO },
	{ ON_V2, CG_PIDS, "pids.max", VALUE_PIDS },
	{ ON_V2, CG_CPU, "cpu.max", VALUE_CPU },
	{ ON_HYBRID | IF_THERE, CG_MEMORY, "memory.memsw.limit_in_bytes",
	    VALUE_NONE },
	{ ON_HYBRID, CG_MEMORY, "memory.limit_in_bytes", VALUE_MEMORY },
	{ ON_HYBRID | IF_THERE, CG_MEMORY, "memory.memsw.limit_in_bytes",
	    VALUE_MEMORY_SWAP },
	{ ON_HYBRID, CG_PIDS, "pids.max", VALUE_PIDS },
	{ ON_HYBRID, CG_CPU, "cpu.cfs_period_us", VALUE_CPU_PERIOD },
	{ ON_HYBRID, CG_CPU, "cpu.cfs_quota_us", VALUE_CPU_QUOTA }
};

static void
value_text(enum value value, const struct limits *l, char *out, size_t size)
{
	unsigned long long n = 0;

	switch (value) {
	case VALUE_NONE:
		snprintf(out, size, "-1");
		return;
	case VALUE_CPU:
		snprintf(out, size, "%llu %d",
		    (unsigned long long)l->v[LIMIT_CPU] * CPU_PERIOD / 1000,
		    CPU_PERIOD);
		return;
	case VALUE_MEMORY:
		n = l->v[LIMIT_MEMORY];
		break;
	case VALUE_SWAP:
		n = WITHOUT(swap_limit) ? INT64_MAX : l->v[LIMIT_SWAP];
		break;
	case VALUE_MEMORY_SWAP:
		n = WITHOUT(swap_limit) ? INT64_MAX :
		    l->v[LIMIT_MEMORY] + l->v[LIMIT_SWAP];
		break;
	case VALUE_PIDS:
		n = l->v[LIMIT_PIDS];
		break;
	case VALUE_CPU_QUOTA:
		n = l->v[LIMIT_CPU] * CPU_PERIOD / 1000;
		break;
	case VALUE_CPU_PERIOD:
		n = CPU_PERIOD;
		break;
	case VALUE_ZERO:
	default:
		break;
	}
	snprintf(out, size, "%llu", n);
}

int
cg_limit(const struct cg_base *base, const struct cg_neuron *cg,
    const struct limits *limits, const char **failed)
{
	const struct limit_file *f;
	char text[64];
	size_t i;
	int dir;

	for (i = 0; i < sizeof(limit_files) / sizeof(limit_files[0]); i++) {
		f = &limit_files[i];
		if ((f->flags & (base->hybrid ? ON_HYBRID : ON_V2)) == 0)
			continue;
		dir = base->hybrid ? cg->v1[f->controller] : cg->v2;
		if ((f->controller == CG_MEMORY && WITHOUT(memory_limit)) ||
		    (f->controller == CG_PIDS && WITHOUT(pids_limit)) ||
		    (f->controller == CG_CPU && WITHOUT(cpu_limit)))
			continue;
		value_text(f->value, limits, text, sizeof(text));
		if (cg_write(dir, f->file, text) == -1) {
			if (errno == ENOENT && (f->flags & IF_THERE))
				continue;
			*failed = f->file;
			return (-1);
		}
	}
	return (0);
}

/* ---- small files ---- */

int
cg_write(int dir, const char *file, const char *text)
{
	size_t size = strlen(text);
	ssize_t n;
	int fd, saved;

	if ((fd = openat(dir, file, O_WRONLY | O_CLOEXEC)) == -1)
		return (-1);
	do
		n = write(fd, text, size);
	while (n == -1 && errno == EINTR);
	saved = errno;
	close(fd);
	errno = n == -1 ? saved : EIO;
	return (n == (ssize_t)size ? 0 : -1);
}

ssize_t
cg_read(int dir, const char *file, char *buf, size_t size)
{
	size_t have = 0;
	ssize_t n;
	int fd, saved;

	if ((fd = openat(dir, file, O_RDONLY | O_CLOEXEC)) == -1)
		return (-1);
	while (have < size - 1 &&
	    (n = read(fd, buf + have, size - 1 - have)) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			saved = errno;
			close(fd);
			errno = saved;
			return (-1);
		}
		have += (size_t)n;
	}
	close(fd);
	buf[have] = '\0';
	return ((ssize_t)have);
}

/* The number after "key " at the start of a line; 0 if there is none. */
static uint64_t
value_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	while (text != NULL && *text != '\0') {
		if (strncmp(text, key, n) == 0 && text[n] == ' ')
			return (strtoull(text + n + 1, NULL, 10));
		if ((text = strchr(text, '\n')) != NULL)
			text++;
	}
	return (0);
}

/* Of a file of a few lines, which the kernel gives in one read. */
static ssize_t
read_short(int dir, const char *file, char *buf, size_t size)
{
	ssize_t n;
	int fd;

	if ((fd = openat(dir, file, O_RDONLY | O_CLOEXEC)) == -1)
		return (-1);
	n = read(fd, buf, size - 1);
	buf[n > 0 ? n : 0] = '\0';
	close(fd);
	return (n);
}

static uint64_t
read_value(int dir, const char *file, const char *key)
{
	char buf[2048];

	if (read_short(dir, file, buf, sizeof(buf)) == -1)
		return (0);
	return (value_of(buf, key));
}

int
cg_kill(int dir)
{
	return (cg_write(dir, "cgroup.kill", "1"));
}

int
cg_populated(int dir)
{
	char buf[256];

	if (read_short(dir, "cgroup.events", buf, sizeof(buf)) == -1)
		return (-1);
	return (value_of(buf, "populated") != 0);
}

int
cg_processes(int dir)
{
	char buf[65536];
	const char *p;
	int n = 0;

	if (cg_read(dir, "cgroup.procs", buf, sizeof(buf)) == -1)
		return (0);
	for (p = buf; *p != '\0'; p++)
		n += *p == '\n';
	return (n);
}

uint64_t
cg_cpu_us(int dir)
{
	return (read_value(dir, "cpu.stat", "usage_usec"));
}

int
cg_counters(const struct cg_base *base, const struct cg_neuron *cg,
    struct cg_counts *counts)
{
	if (base->hybrid) {
		counts->oom = read_value(cg->v1[CG_MEMORY],
		    "memory.oom_control", "oom_kill");
		counts->pids = read_value(cg->v1[CG_PIDS], "pids.events",
		    "max");
	} else {
		counts->oom = read_value(cg->v2, "memory.events", "oom_kill");
		counts->pids = read_value(cg->v2, "pids.events", "max");
	}
	return (0);
}

/* ---- directories ---- */

static int
make_dir(int parent, const char *name)
{
	if (mkdirat(parent, name, 0755) == -1 && errno != EEXIST)
		return (-1);
	return (openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC));
}

static int
remove_dir(int parent, const char *name, int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
	if (unlinkat(parent, name, AT_REMOVEDIR) == -1 && errno != ENOENT)
		return (-1);
	return (0);
}

static void
clear(struct cg_neuron *cg)
{
	int i;

	cg->v2 = -1;
	cg->nleaves = 0;
	for (i = 0; i < CG_CONTROLLERS; i++)
		cg->v1[i] = -1;
	for (i = 0; i < NEURON_RUNNING_MAX; i++)
		cg->leaf[i] = -1;
}

static void
leaf_name(unsigned i, char name[16])
{
	snprintf(name, 16, "c%u", i % 1000);
}

static int
make_leaf(struct cg_neuron *cg, uint32_t kuid, unsigned i)
{
	char name[16];
	int fd, saved;

	leaf_name(i, name);
	if ((fd = make_dir(cg->v2, name)) == -1)
		return (-1);
	cg->leaf[i] = fd;
	if (fchownat(fd, "cgroup.procs", kuid, kuid, 0) == 0)
		return (0);
	saved = errno;
	(void)remove_dir(cg->v2, name, &cg->leaf[i]);
	errno = saved;
	return (-1);
}

int
cg_leaves(struct cg_neuron *cg, uint32_t kuid, unsigned leaves)
{
	for (; cg->nleaves < leaves; cg->nleaves++)
		if (make_leaf(cg, kuid, cg->nleaves) == -1)
			return (-1);
	return (0);
}

int
cg_leaf_again(struct cg_neuron *cg, uint32_t kuid, unsigned leaf)
{
	char name[16];

	leaf_name(leaf, name);
	if (remove_dir(cg->v2, name, &cg->leaf[leaf]) == -1)
		return (-1);
	return (make_leaf(cg, kuid, leaf));
}

int
cg_make(const struct cg_base *base, struct cg_neuron *cg, const char *name,
    uint32_t kuid, unsigned leaves)
{
	char most[16];
	int i;

	clear(cg);
	snprintf(cg->name, sizeof(cg->name), "%s", name);
	if ((cg->v2 = make_dir(base->v2, name)) == -1)
		goto fail;
	/* PID 1 clones calls from here into the leaves: it needs both. */
	if (fchownat(cg->v2, "cgroup.procs", kuid, kuid, 0) == -1)
		goto fail;
	snprintf(most, sizeof(most), "%d", NEURON_RUNNING_MAX);
	if (cg_write(cg->v2, "cgroup.max.descendants", most) == -1)
		goto fail;
	if (cg_leaves(cg, kuid, leaves) == -1)
		goto fail;
	for (i = 0; base->hybrid && i < CG_CONTROLLERS; i++)
		if ((cg->v1[i] = make_dir(base->v1[i], name)) == -1)
			goto fail;
	return (0);
fail:
	i = errno;
	cg_remove(base, cg);
	errno = i;
	return (-1);
}

int
cg_tasks(const struct cg_base *base, const struct cg_neuron *cg, int *fds)
{
	int i, n = 0;

	for (i = 0; base->hybrid && i < CG_CONTROLLERS; i++) {
		fds[n] = openat(cg->v1[i], "tasks", O_WRONLY | O_CLOEXEC);
		if (fds[n] == -1) {
			while (n > 0)
				close(fds[--n]);
			return (-1);
		}
		n++;
	}
	return (n);
}

/* May be called again after EBUSY: what is gone is no error. */
int
cg_remove(const struct cg_base *base, struct cg_neuron *cg)
{
	char name[16];
	unsigned i;
	int r = 0, v2;

	if (cg->name[0] == '\0')
		return (0);
	v2 = openat(base->v2, cg->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (i = 0; v2 != -1 && i < NEURON_RUNNING_MAX; i++) {
		leaf_name(i, name);
		if (i < cg->nleaves || cg->leaf[i] != -1)
			r |= remove_dir(v2, name, &cg->leaf[i]);
	}
	if (v2 != -1)
		close(v2);
	if (r == 0)
		r |= remove_dir(base->v2, cg->name, &cg->v2);
	for (i = 0; base->hybrid && i < CG_CONTROLLERS; i++)
		r |= remove_dir(base->v1[i], cg->name, &cg->v1[i]);
	if (r == 0)
		cg->name[0] = '\0';
	return (r);
}
