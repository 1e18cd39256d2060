/*
 * The layers of a neuron: one table, which says for each whether a neuron
 * without it is refused.  NEURON_UP carries those in force as bits, a call's
 * record their names.
 */
#ifndef MYELIN_LAYERS_H
#define MYELIN_LAYERS_H

#include <stddef.h>
#include <stdint.h>

enum layer_need { LAYER_MANDATORY, LAYER_IF_PRESENT };

#define LAYER_TABLE(ROW)						\
ROW(USER_NS,	"user-namespace",	LAYER_MANDATORY)		\
ROW(MOUNT_NS,	"mount-namespace",	LAYER_MANDATORY)		\
ROW(PID_NS,	"pid-namespace",	LAYER_MANDATORY)		\
ROW(NET_NS,	"network-namespace",	LAYER_MANDATORY)		\
ROW(IPC_NS,	"ipc-namespace",	LAYER_MANDATORY)		\
ROW(UTS_NS,	"uts-namespace",	LAYER_MANDATORY)		\
ROW(CGROUP_NS,	"cgroup-namespace",	LAYER_MANDATORY)		\
ROW(NS_LIMITS,	"namespace-limits",	LAYER_MANDATORY)		\
ROW(ROOT,	"read-only-root",	LAYER_MANDATORY)		\
ROW(PROC_MASKS,	"proc-masks",		LAYER_MANDATORY)		\
ROW(CAPS,	"no-capabilities",	LAYER_MANDATORY)		\
ROW(SECUREBITS,	"securebits",		LAYER_MANDATORY)		\
ROW(NO_NEW_PRIVS, "no-new-privs",	LAYER_MANDATORY)		\
ROW(RLIMITS,	"rlimits",		LAYER_MANDATORY)		\
ROW(KEYRING,	"session-keyring",	LAYER_MANDATORY)		\
ROW(SECCOMP,	"seccomp",		LAYER_MANDATORY)		\
ROW(LANDLOCK,	"landlock-files",	LAYER_MANDATORY)		\
ROW(LANDLOCK_REFER, "landlock-refer",	LAYER_IF_PRESENT)		\
ROW(LANDLOCK_TRUNCATE, "landlock-truncate", LAYER_IF_PRESENT)		\
ROW(LANDLOCK_IOCTL, "landlock-ioctl",	LAYER_IF_PRESENT)		\
ROW(LANDLOCK_SCOPES, "landlock-scopes",	LAYER_IF_PRESENT)		\
ROW(CG_MEMORY,	"cgroup-memory",	LAYER_MANDATORY)		\
ROW(CG_SWAP,	"cgroup-swap",		LAYER_IF_PRESENT)		\
ROW(CG_PIDS,	"cgroup-pids",		LAYER_MANDATORY)		\
ROW(CG_CPU,	"cgroup-cpu",		LAYER_MANDATORY)		\
ROW(CG_KILL,	"cgroup-kill",		LAYER_MANDATORY)		\
ROW(IDMAP,	"idmapped-workspace",	LAYER_IF_PRESENT)

enum layer {
#define ROW(sym, name, need)	LAYER_##sym,
	LAYER_TABLE(ROW)
#undef ROW
	LAYER_COUNT
};

#define LAYER_BIT(sym)	(UINT64_C(1) << LAYER_##sym)

/* All layers without which a neuron is refused. */
#define ROW(sym, name, need)						\
	| ((need) == LAYER_MANDATORY ? LAYER_BIT(sym) : 0)
static const uint64_t layers_mandatory = 0 LAYER_TABLE(ROW);
#undef ROW

/* The name of layer i, counted from 0; NULL past the last. */
static inline const char *
layer_name(unsigned i)
{
	static const char *const names[] = {
#define ROW(sym, name, need)	name,
		LAYER_TABLE(ROW)
#undef ROW
	};

	(void)layers_mandatory;
	return (i < LAYER_COUNT ? names[i] : NULL);
}

#endif
