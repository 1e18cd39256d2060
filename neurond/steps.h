/*
 * The steps by which a clone of the spawner becomes PID 1 of a neuron, in
 * order, and the places where a call can fail before its program runs.  PID 1
 * reports them as numbers; neurond has the words.
 */
#ifndef MYELIN_NEUROND_STEPS_H
#define MYELIN_NEUROND_STEPS_H

#define BUILD_STEPS(ROW)						\
ROW(SIGNALS,	"signals")						\
ROW(TASKS,	"joining the v1 cgroups")				\
ROW(CGROUP_NS,	"the cgroup namespace")					\
ROW(NET_NS,	"joining the network namespace")			\
ROW(UTS,	"the host name")					\
ROW(OWN_ROOT,	"a root of its own")					\
ROW(MOUNTS,	"proc, tmp, home and shm")				\
ROW(TERMINALS,	"terminals of its own")					\
ROW(WORKSPACE,	"mounting the workspace")				\
ROW(SHOWN,	"mounting what the profile names")			\
ROW(PROTECT,	"binding the workspace's protected names")		\
ROW(READ_ONLY,	"a read-only root")					\
ROW(MASKS,	"masking proc")						\
ROW(PIVOT,	"pivot_root")						\
ROW(FDS,	"closing file descriptors")				\
ROW(RLIMITS,	"rlimits")						\
ROW(USER_NS,	"joining the user namespace")				\
ROW(IDS,	"becoming the neuron's user")				\
ROW(KEYRING,	"a session keyring")					\
ROW(DEATH,	"the parent's death signal")				\
ROW(CAPS,	"dropping capabilities")				\
ROW(NO_NEW_PRIVS, "no_new_privs")					\
ROW(ASSERT_MOUNTS, "checking the mounts")				\
ROW(ASSERT_FDS,	"checking the file descriptors")			\
ROW(ASSERT_IDS,	"checking ids and capabilities")			\
ROW(APPARMOR,	"the AppArmor profile")					\
ROW(LANDLOCK,	"Landlock")						\
ROW(SECCOMP,	"the system call filter")

enum build_step {
#define ROW(sym, words)	STEP_##sym,
	BUILD_STEPS(ROW)
#undef ROW
	STEP_COUNT
};

#define RUN_WHERES(ROW)							\
ROW(BLOCK,	"the run block can't be read")				\
ROW(ENV,	"an environment entry is not allowed")			\
ROW(CWD,	"the working directory can't be entered")		\
ROW(CLONE,	"no process could be started")				\
ROW(STDIO,	"standard input and output could not be set up")	\
ROW(CONFINE,	"the call could not be confined")			\
ROW(EXEC,	"the program can't be executed")			\
ROW(BUSY,	"init knows no free run")				\
ROW(DIED,	"the process died before its program ran")		\
ROW(PTY,	"no terminal could be made")				\
ROW(APPARMOR,	"the AppArmor profile myelin-neuron can't be entered")

enum run_where {
#define ROW(sym, words)	RUN_AT_##sym,
	RUN_WHERES(ROW)
#undef ROW
	RUN_AT_COUNT
};

/* The neuron's user, inside. */
#define AGENT_UID	1000
#define AGENT_HOME	"/home/agent"

#endif
