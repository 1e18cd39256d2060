/*
 * What the files probe*.c share; nobody else includes it.
 */
#ifndef MYELIN_PROBE_INTERNAL_H
#define MYELIN_PROBE_INTERNAL_H

#include "probe.h"

#define PROBE_NO_FD	1000000		/* above any limit on open files */

/*
 * A probe runs in a child of probe_layers() alone, which it may change as it
 * likes.  NULL, or the step that failed with errno set.
 */
typedef const char *layer_probe(void);

layer_probe	probe_user_ns, probe_mount_ns, probe_pid_ns, probe_net_ns,
		probe_ipc_ns, probe_uts_ns, probe_cgroup_ns, probe_time_ns,
		probe_ns_limits;
layer_probe	probe_read_only_root, probe_proc_masks, probe_hidepid,
		probe_proc_pids, probe_terminals, probe_idmap,
		probe_idmap_tmpfs, probe_bind_self, probe_walk, probe_listmount,
		probe_home_image, probe_overlay;
layer_probe	probe_no_caps, probe_bounding, probe_securebits,
		probe_no_new_privs, probe_rlimits, probe_core, probe_keyring,
		probe_seccomp, probe_apparmor, probe_yama, probe_into_cgroup,
		probe_pidfd, probe_closed_fds, probe_seals, probe_peer_pidfd;
layer_probe	probe_landlock, probe_landlock_2, probe_landlock_3,
		probe_landlock_4, probe_landlock_5, probe_landlock_6;

/* The same, of the layers that have no row in the table of the others. */
const char *probe_cgroup(enum layer);

/* What needs a capability is tried by others in a user namespace. */
int	probe_privileged(void);
/* A mount namespace whose mounts nobody else sees.  0 or -1 with errno. */
int	probe_own_mounts(void);
/* -1, and the errno of a layer that is there and does nothing. */
int	probe_failed(void);

#endif
