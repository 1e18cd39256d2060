/*
 * A clone of the spawner becomes PID 1 of a neuron: the steps of steps.h.
 */
#ifndef MYELIN_NATIVE_BUILD_H
#define MYELIN_NATIVE_BUILD_H

#include <linux/filter.h>
#include <stdint.h>

#include "limits.h"
#include "plan.h"
#include "protocol.h"

#define TASKS_MAX	4

/*
 * What PID 1 has open beside 0 to 2: its channel, neuron-tool and the Landlock
 * rules of a call, or /dev/null where the kernel knows none.
 */
#define CONTROL_FD	3
#define TOOL_FD		4
#define RULES_FD	5

/* Made once by the spawner, read by each clone. */
struct native {
	struct plan		 plan;
	unsigned		 abi;		/* Landlock */
	struct sock_filter	*filter[2];	/* standard, strict */
	size_t			 nfilter[2];
	struct sock_filter	*call_filter;
	size_t			 ncall_filter;
	int			 tool;	/* neuron-tool, the spawner's fd */
	int			 apparmor;	/* the profile is there */
};

struct build_request {
	uint32_t	 slot;
	uint32_t	 generation;
	uint32_t	 kuid;
	uint64_t	 home_bytes;
	uint64_t	 tmp_bytes;
	uint64_t	 inodes;
	uint32_t	 nofile;
	uint32_t	 flags;		/* BUILD_F_* */
	int		 pty;		/* terminals may be made */
	int		 egress;	/* a proxy listens inside */
	int		 strict;	/* the strict variant, 0 or 1 */
	char		 workspace[PATH_BYTES_MAX];
	int		 control;
	int		 user_ns;
	int		 net_ns;
	int		 cgroup;
	int		 ntasks;
	int		 tasks[TASKS_MAX];
	int		 tree;		/* -1 without a workspace */
	int		 home;		/* its mount, -1 for a tmpfs */
	int		 read_only;	/* the workspace is */
	int		 root;		/* an image, -1: the template's */
	int		 overlay;	/* which the neuron may change */
	int		 nmounts;	/* beside the workspace, read-only */
	int		 mounts[BUILD_MOUNTS_MAX];
	char		*mount_at[BUILD_MOUNTS_MAX];
};

/* The AppArmor profile of its programs, or NULL. */
const char	*build_apparmor(const struct native *,
		    const struct build_request *);

/* In the clone; ends as PID 1's exit. */
_Noreturn void	build_child(struct native *, struct build_request *);

#endif
