/*
 * The layers of a neuron: the one table.  It decides what a start and a neuron
 * are refused without, is what "myelinctl doctor" and SECURITY.md show, and
 * names what a call's record lists.
 */
#ifndef MYELIN_LAYERS_H
#define MYELIN_LAYERS_H

#include <stdint.h>

enum layer_need {
	LAYER_MANDATORY,	/* no neuron without it */
	LAYER_WORKSPACE,	/* no neuron with a workspace without it */
	LAYER_HOME,		/* no neuron with a home that is kept */
	LAYER_IMAGE,		/* no neuron with a root that a profile names */
	LAYER_STRICT,		/* no neuron of the strict variant without it */
	LAYER_IF_PRESENT,	/* the record says whether it is there */
	LAYER_UNUSED		/* known, and left alone on purpose */
};

/*
 * ROW(symbol, name, need, what it protects, what provides it, remedy)
 *
 * Where a row is not used, the remedy says why.
 */
#define LAYER_TABLE(ROW)						\
ROW(USER_NS,	"user-namespace",	LAYER_MANDATORY,		\
    "ids inside are worth nothing outside",				\
    "Linux 3.8, CONFIG_USER_NS",					\
    "raise user.max_user_namespaces")					\
ROW(MOUNT_NS,	"mount-namespace",	LAYER_MANDATORY,		\
    "the host's mounts are not there",					\
    "Linux 2.4.19",							\
    "raise user.max_mnt_namespaces; in a container grant CAP_SYS_ADMIN") \
ROW(PID_NS,	"pid-namespace",	LAYER_MANDATORY,		\
    "the host's processes are not there; all dies with PID 1",		\
    "Linux 3.8, CONFIG_PID_NS",						\
    "raise user.max_pid_namespaces")					\
ROW(NET_NS,	"network-namespace",	LAYER_MANDATORY,		\
    "no network but a loopback of its own",				\
    "Linux 3.0, CONFIG_NET_NS",						\
    "raise user.max_net_namespaces")					\
ROW(IPC_NS,	"ipc-namespace",	LAYER_MANDATORY,		\
    "the host's System V IPC and message queues are not there",		\
    "Linux 2.6.30, CONFIG_IPC_NS",					\
    "raise user.max_ipc_namespaces")					\
ROW(UTS_NS,	"uts-namespace",	LAYER_MANDATORY,		\
    "a host name of its own",						\
    "Linux 2.6.30, CONFIG_UTS_NS",					\
    "raise user.max_uts_namespaces")					\
ROW(CGROUP_NS,	"cgroup-namespace",	LAYER_MANDATORY,		\
    "does not show where the host keeps its cgroups",			\
    "Linux 4.6",							\
    "raise user.max_cgroup_namespaces")					\
ROW(TIME_NS,	"time-namespace",	LAYER_UNUSED,			\
    "a monotonic clock of its own",					\
    "Linux 5.6, CONFIG_TIME_NS",					\
    "the host's boot time is no secret, and making one costs a call time") \
ROW(NS_LIMITS,	"namespace-limits",	LAYER_MANDATORY,		\
    "no namespaces within, whatever the filter lets through",		\
    "Linux 4.9, user.max_*_namespaces",					\
    "mount /proc so that root may write /proc/sys/user")		\
ROW(ROOT,	"read-only-root",	LAYER_MANDATORY,		\
    "nothing of the system can be changed",				\
    "Linux 5.12, mount_setattr(2); 5.2, fsopen(2) and move_mount(2)",	\
    "boot Linux 6.1 or newer; in a container allow the mount calls")	\
ROW(PROC_MASKS,	"proc-masks",		LAYER_MANDATORY,		\
    "files of /proc that tell of the host or steer it are covered",	\
    "Linux 2.4, bind mounts",						\
    "in a container give Myelin a /proc that nothing covers")		\
ROW(HIDEPID,	"hidden-processes",	LAYER_MANDATORY,		\
    "/proc shows only what the reader may trace: not PID 1",		\
    "Linux 5.8, hidepid=invisible",					\
    "boot Linux 6.1 or newer")						\
ROW(PROC_PIDS,	"processes-alone",	LAYER_STRICT,			\
    "/proc holds processes alone: no file of it tells of the machine",	\
    "Linux 5.8, subset=pid",						\
    "boot Linux 6.1 or newer")						\
ROW(TERMINALS,	"own-terminals",	LAYER_IF_PRESENT,		\
    "terminals of its own alone: no other neuron's or the host's is seen", \
    "Linux 4.7, CONFIG_UNIX98_PTYS",					\
    "boot a kernel with CONFIG_UNIX98_PTYS; until then no call has one") \
ROW(CAPS,	"no-capabilities",	LAYER_MANDATORY,		\
    "no power that root is made of, not even within",			\
    "Linux 2.6.25, capset(2)",						\
    "in a container allow capset(2)")					\
ROW(BOUNDING,	"bounding-set",		LAYER_MANDATORY,		\
    "no program brings a capability back",				\
    "Linux 2.6.25, PR_CAPBSET_DROP",					\
    "start it with CAP_SETPCAP")					\
ROW(SECUREBITS,	"securebits",		LAYER_MANDATORY,		\
    "uid 0 means nothing by itself, and stays so",			\
    "Linux 2.6.26, PR_SET_SECUREBITS",					\
    "start it with CAP_SETPCAP")					\
ROW(NO_NEW_PRIVS, "no-new-privs",	LAYER_MANDATORY,		\
    "set-id bits and file capabilities give nothing",			\
    "Linux 3.5, PR_SET_NO_NEW_PRIVS",					\
    "boot Linux 6.1 or newer")						\
ROW(RLIMITS,	"rlimits",		LAYER_MANDATORY,		\
    "bounds on open files, locked memory, queues, priority, signals",	\
    "Linux 2.6.36, prlimit64(2)",					\
    "in a container allow prlimit64(2)")				\
ROW(CORE,	"no-core-dumps",	LAYER_MANDATORY,		\
    "a crash starts no core handler of the host's, and leaves no dump",	\
    "Linux 2.6.32, RLIMIT_CORE of 1",					\
    "start it with a core limit of at least 1 (LimitCORE=)")		\
ROW(KEYRING,	"session-keyring",	LAYER_MANDATORY,		\
    "an empty keyring instead of the service's",			\
    "Linux 2.6.10, CONFIG_KEYS",					\
    "in a container allow keyctl(2)")					\
ROW(SECCOMP,	"seccomp",		LAYER_MANDATORY,		\
    "only listed system calls reach the kernel",			\
    "Linux 3.17, CONFIG_SECCOMP_FILTER",				\
    "boot a kernel with CONFIG_SECCOMP_FILTER")				\
ROW(WATCHES,	"no-watches",		LAYER_STRICT,			\
    "no inotify(7): what the host does with shared files is not told",	\
    "Linux 3.17, CONFIG_SECCOMP_FILTER",				\
    "boot a kernel with CONFIG_SECCOMP_FILTER")				\
ROW(LANDLOCK,	"landlock-files",	LAYER_MANDATORY,		\
    "only listed directories, whatever the mounts show",		\
    "Linux 5.13, Landlock ABI 1",					\
    "boot with landlock in lsm=, or a kernel with CONFIG_SECURITY_LANDLOCK") \
ROW(LANDLOCK_REFER, "landlock-refer",	LAYER_IF_PRESENT,		\
    "links and renames between directories are checked; else none work", \
    "Linux 5.19, Landlock ABI 2",					\
    "boot Linux 6.1 or newer")						\
ROW(LANDLOCK_TRUNCATE, "landlock-truncate", LAYER_IF_PRESENT,		\
    "a file that may not be written may not be cut off",		\
    "Linux 6.2, Landlock ABI 3",					\
    "boot Linux 6.2 or newer; until then read-only mounts do it")	\
ROW(LANDLOCK_NET, "landlock-network",	LAYER_UNUSED,			\
    "TCP ports that may be bound and connected to",			\
    "Linux 6.7, Landlock ABI 4",					\
    "the network namespace holds nothing to keep a program from")	\
ROW(LANDLOCK_IOCTL, "landlock-ioctl",	LAYER_IF_PRESENT,		\
    "ioctl(2) of devices only below /dev",				\
    "Linux 6.10, Landlock ABI 5",					\
    "boot Linux 6.10 or newer; until then there are no other devices")	\
ROW(LANDLOCK_SCOPES, "landlock-scopes",	LAYER_IF_PRESENT,		\
    "no signals and abstract sockets from one call to another",		\
    "Linux 6.12, Landlock ABI 6",					\
    "boot Linux 6.12 or newer; until then calls of one neuron share them") \
ROW(CGROUP_V2,	"cgroup-v2",		LAYER_MANDATORY,		\
    "what runs in a neuron is known, counted and can't leave",		\
    "Linux 4.5, a cgroup2 mount",					\
    "mount cgroup2 at /sys/fs/cgroup, or at /sys/fs/cgroup/unified")	\
ROW(INTO_CGROUP, "clone-into-cgroup",	LAYER_MANDATORY,		\
    "no process lives for a moment outside its cgroup",			\
    "Linux 5.7, CLONE_INTO_CGROUP of clone3(2)",			\
    "boot Linux 6.1 or newer; in a container allow clone3(2)")		\
ROW(CG_MEMORY,	"cgroup-memory",	LAYER_MANDATORY,		\
    "a bound on memory",						\
    "the memory controller of cgroup v1 or v2",				\
    "boot without cgroup_disable=memory; run it with Delegate=yes")	\
ROW(CG_SWAP,	"cgroup-swap",		LAYER_IF_PRESENT,		\
    "a bound on swap",							\
    "the memory controller with swap accounting",			\
    "boot with swapaccount=1, or without swap")				\
ROW(CG_PIDS,	"cgroup-pids",		LAYER_MANDATORY,		\
    "a bound on processes and threads",					\
    "the pids controller of cgroup v1 or v2",				\
    "boot without cgroup_disable=pids; run it with Delegate=yes")	\
ROW(CG_CPU,	"cgroup-cpu",		LAYER_MANDATORY,		\
    "a bound on processor time",					\
    "the cpu controller of cgroup v1 or v2, CONFIG_CFS_BANDWIDTH",	\
    "boot without cgroup_disable=cpu; run it with Delegate=yes")	\
ROW(CG_KILL,	"cgroup-kill",		LAYER_MANDATORY,		\
    "the end of a call or neuron takes the whole tree at once",		\
    "Linux 5.14, cgroup.kill",						\
    "boot Linux 6.1 or newer")						\
ROW(PIDFD,	"pidfd",		LAYER_MANDATORY,		\
    "signals reach a neuron's PID 1, never a number used again",	\
    "Linux 5.2, CLONE_PIDFD; 5.1, pidfd_send_signal(2)",		\
    "boot Linux 6.1 or newer; in a container allow pidfd_send_signal(2)") \
ROW(CLOSED_FDS,	"closed-descriptors",	LAYER_MANDATORY,		\
    "no descriptor of the service is left open inside",			\
    "Linux 5.9, close_range(2)",					\
    "boot Linux 6.1 or newer; in a container allow close_range(2)")	\
ROW(SEALS,	"sealed-memory",	LAYER_MANDATORY,		\
    "what was judged is what runs: its bytes can't change on the way",	\
    "Linux 3.17, memfd_create(2) and F_ADD_SEALS",			\
    "in a container allow memfd_create(2)")				\
ROW(WALK,	"workspace-walk",	LAYER_WORKSPACE,		\
    "no link on the way to a workspace leads elsewhere",		\
    "Linux 5.6, openat2(2)",						\
    "boot Linux 6.1 or newer; in a container allow openat2(2)")		\
ROW(IDMAP,	"idmapped-workspace",	LAYER_WORKSPACE,		\
    "a workspace's files belong to its owner alone, inside and outside", \
    "Linux 5.12, MOUNT_ATTR_IDMAP; ext4, xfs or btrfs",			\
    "boot Linux 6.1 or newer; keep workspaces on ext4, xfs or btrfs")	\
ROW(PROTECTED,	"protected-names",	LAYER_WORKSPACE,		\
    "hooks and settings that others trust can't be made or changed",	\
    "Linux 5.12, open_tree(2), mount_setattr(2) and move_mount(2)",	\
    "boot Linux 6.1 or newer; in a container allow the mount calls")	\
ROW(IDMAP_TMPFS, "idmapped-tmpfs",	LAYER_UNUSED,			\
    "the same for a workspace, home or /tmp on tmpfs",			\
    "Linux 6.3",							\
    "home and /tmp are mounted with the neuron's own ids")		\
ROW(APPARMOR,	"apparmor-profile",	LAYER_IF_PRESENT,		\
    "programs, apart from PID 1, by a list of their own of what they may", \
    "AppArmor 3, the profile myelin-neuron",				\
    "boot with apparmor in lsm=; apparmor_parser -r "			\
    "/etc/apparmor.d/myelin-neuron, then start Myelin again")		\
ROW(YAMA,	"yama",			LAYER_UNUSED,			\
    "processes of one user may not trace each other",			\
    "Yama, kernel.yama.ptrace_scope",					\
    "the filter of a neuron knows no ptrace(2)")			\
ROW(LISTMOUNT,	"listmount",		LAYER_UNUSED,			\
    "a list of mounts that no path can garble",				\
    "Linux 6.8, listmount(2)",						\
    "PID 1 reads /proc/self/mountinfo, and refuses what it doesn't expect") \
ROW(PEER_PIDFD,	"peer-pidfd",		LAYER_UNUSED,			\
    "a handle on the process that connected",				\
    "Linux 6.5, SO_PEERPIDFD",						\
    "who asks is a uid and groups; no decision looks at a process")	\
ROW(HOME_IMAGE,	"home-image",		LAYER_HOME,			\
    "a home that is kept is a file of its size: no more, no other's",	\
    "loop devices and ext4, mke2fs of e2fsprogs",			\
    "modprobe loop; install e2fsprogs; in a container allow /dev/loop*") \
ROW(OVERLAY,	"overlay-root",		LAYER_IMAGE,			\
    "nothing is written to the directory that is a neuron's root",	\
    "Linux 5.19, CONFIG_OVERLAY_FS",					\
    "modprobe overlay")

enum layer {
#define ROW(sym, ...)	LAYER_##sym,
	LAYER_TABLE(ROW)
#undef ROW
	LAYER_COUNT
};

struct layer_row {
	const char	*name;
	enum layer_need	 need;
	const char	*protects;
	const char	*provider;
	const char	*remedy;
};

extern const struct layer_row layer_table[LAYER_COUNT];

/*
 * The layers in force of a neuron travel as a number: a bit for each, and in
 * the highest byte the version of Landlock's ABI that its rules use.
 */
#define LAYER_BIT(sym)		(UINT64_C(1) << LAYER_##sym)
#define LAYERS_ABI_SHIFT	56
#define LAYERS_ABI(layers)	((unsigned)((layers) >> LAYERS_ABI_SHIFT))

_Static_assert(LAYER_COUNT <= LAYERS_ABI_SHIFT, "too many layers");

/* The layers without which a neuron is refused: what it is, LAYERS_OF_*. */
#define LAYERS_OF_WORKSPACE	0x01
#define LAYERS_OF_STRICT	0x02
#define LAYERS_OF_HOME		0x04
#define LAYERS_OF_IMAGE		0x08
uint64_t layers_needed(unsigned kind);

/* The name of layer i, counted from 0; NULL past the last. */
const char *layer_name(unsigned i);

/* "mandatory", "with a workspace", "with a kept home", "with a named root",
 * "strict", "used when present", "not used" */
const char *layer_need_name(enum layer_need);

#endif
