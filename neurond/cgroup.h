/*
 * cgroups: one plan for pure v2 and for hybrid hosts.
 *
 * On both a neuron has a directory in v2, where it is cloned into, killed and
 * watched, with a leaf for each running call.  Its limits are in the same
 * directory on pure v2, in directories of the v1 hierarchies on a hybrid.
 */
#ifndef MYELIN_NEUROND_CGROUP_H
#define MYELIN_NEUROND_CGROUP_H

#include <sys/types.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

enum cg_controller { CG_MEMORY, CG_PIDS, CG_CPU, CG_CONTROLLERS };

/* Names in mountinfo and in cgroup.controllers. */
extern const char *const cg_controller_name[CG_CONTROLLERS];

/* One hierarchy: where it is mounted, and our place in it. */
struct cg_place {
	char		 mount[PATH_BYTES_MAX];	/* "" if there is none */
	char		 root[PATH_BYTES_MAX];	/* what of it is mounted */
	char		 own[PATH_BYTES_MAX];	/* our cgroup in it */
};

struct cg_host {
	struct cg_place	 v2;
	struct cg_place	 v1[CG_CONTROLLERS];
};

/* Our directories, made at start. */
struct cg_base {
	int		 hybrid;
	int		 swap;			/* a swap limit is there */
	char		 path[PATH_BYTES_MAX];	/* in v2 */
	int		 v2;
	int		 v1[CG_CONTROLLERS];	/* -1 on pure v2 */
};

struct cg_neuron {
	char		 name[32];	/* "" if it is not made */
	int		 v2;
	int		 v1[CG_CONTROLLERS];
	unsigned	 nleaves;
	int		 leaf[NEURON_RUNNING_MAX];
};

struct cg_counts {
	uint64_t	 oom;
	uint64_t	 pids;
};

/* ---- finding a place (cgroup_find.c) ---- */

/* Texts of /proc/self/mountinfo and /proc/self/cgroup.  0, or -1. */
int	cg_parse_mounts(struct cg_host *, const char *mountinfo);
int	cg_parse_self(struct cg_host *, const char *cgroup);
/* The directory of a path of that hierarchy, or -1 with ENAMETOOLONG. */
int	cg_directory(const struct cg_place *, const char *cgroup, char *out,
	    size_t size);
/* 1 if the word is in a list separated by spaces. */
int	cg_listed(const char *list, const char *word);

/*
 * Chooses the parent, makes our directory below it in each hierarchy and
 * opens it.  configured may be NULL.  0, or -1 and why.
 */
int	cg_open(struct cg_base *, const char *instance,
	    const char *configured, char *why, size_t size);

/* The same on a host that was looked at already; moves host's own place. */
int	cg_open_on(struct cg_base *, struct cg_host *, const char *instance,
	    const char *configured, char *why, size_t size);

/* ---- a neuron's directories (cgroup.c) ---- */

/* kuid gets cgroup.procs of the neuron and its leaves.  0, or -1, undone. */
int	cg_make(const struct cg_base *, struct cg_neuron *, const char *name,
	    uint32_t kuid, unsigned leaves);
/* More leaves for one that has fewer.  0, or -1 with those that it has. */
int	cg_leaves(struct cg_neuron *, uint32_t kuid, unsigned leaves);
/*
 * Another directory in the place of an empty leaf that was killed.  A program
 * that is cloned into one that ever was dies at once on Linux 6.15 and later:
 * the clone is held against the kills of the wrong cgroup.  0, or -1.
 */
int	cg_leaf_again(struct cg_neuron *, uint32_t kuid, unsigned leaf);
/* Writes the limits of a profile.  *failed names the file. */
int	cg_limit(const struct cg_base *, const struct cg_neuron *,
	    const struct limits *, const char **failed);
/* Fills fds with the v1 tasks files to join; their number, or -1. */
int	cg_tasks(const struct cg_base *, const struct cg_neuron *, int *fds);
int	cg_counters(const struct cg_base *, const struct cg_neuron *,
	    struct cg_counts *);
/* 0 when everything is gone, else -1 with errno: EBUSY, try again. */
int	cg_remove(const struct cg_base *, struct cg_neuron *);

int	cg_kill(int dir);
/* 1 if a process is in dir or below, 0 if not, -1 with errno. */
int	cg_populated(int dir);
/* Processes in dir itself. */
int	cg_processes(int dir);
uint64_t cg_cpu_us(int dir);

/* One small file, whole.  0, or -1 with errno. */
int	cg_write(int dir, const char *file, const char *text);
/* What fits, NUL-terminated.  The length, or -1 with errno. */
ssize_t	cg_read(int dir, const char *file, char *buf, size_t size);

/* ---- sweeping (cgroup_sweep.c) ---- */

/* Kills and removes all below our directories; waits at most ms. */
int	cg_sweep(const struct cg_base *, int ms);
/* The same, and our directories too. */
void	cg_close(struct cg_base *, int ms);

#endif
