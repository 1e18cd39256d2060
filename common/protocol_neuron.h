/*
 * The rows of protocol.h that stay inside neurond: neurond with its two
 * helpers, and with PID 1 of each neuron.  Included by protocol.h alone.
 *
 * What comes from PID 1 is of fixed size: it lives inside the neuron, and
 * neurond never parses text from there.
 */
#ifndef MYELIN_PROTOCOL_NEURON_H
#define MYELIN_PROTOCOL_NEURON_H

#define PROTOCOL_NEURON(ROW)						\
/* HELPER_UP u32 Landlock ABI (spawner), u32 error (0: none), S step:	\
 *   the helper can work, or why it never will */			\
ROW(HELPER_UP,	CH_MAKER | CH_SPAWNER, DIR_UP, 8, 1, 0, 0, FDS(FD_NONE), ST_ANY) \
/* NS_MAKE u32 slot, u32 generation, u32 kuid, u32 uid, u32 gid: the	\
 *   owner whom a workspace will have, uid 0 if nobody knows */		\
ROW(NS_MAKE,	CH_MAKER, DIR_DOWN, 20, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* NS_MADE u32 slot, u32 generation, u32 error (errno, 0 for none),	\
 *   S step; user namespace, network namespace[, user namespace for the	\
 *   idmap of that owner's workspace] */				\
ROW(NS_MADE,	CH_MAKER, DIR_UP, 12, 1, 0, 3, FDS(FD_NS), ST_ANY)	\
/* WALK u32 slot, u32 generation, u32 kuid, u32 uid, u32 gid, u32 number	\
 *   and u32 ticket of a PLACE that is asked for with it (0: none),	\
 *   u8 1 if the namespace for the idmap is there, B groups (u32s),	\
 *   S workspace[; the PLACE's record] */				\
ROW(WALK,	CH_MAKER, DIR_DOWN, 29, 2, 0, 1, FDS(FD_ANY), ST_ANY)	\
/* WALKED u32 slot, u32 generation, u32 error (errno, 0 for none),	\
 *   S why; the directory (O_PATH)[, user namespace for its idmap] */	\
ROW(WALKED,	CH_MAKER, DIR_UP, 12, 1, 0, 2, FDS(FD_TREE, FD_NS), ST_ANY) \
/* BUILD u32 slot, u32 generation, u32 kuid, u64 home bytes, u64 /tmp	\
 *   bytes, u64 inodes, u32 open files, u32 BUILD_F_*, u8 v1 tasks files,	\
 *   u8 mounts, S workspace ("" for none), S where the mounts go, each with	\
 *   a newline; control channel, user namespace, network namespace, cgroup,	\
 *   v1 tasks files..., then trees: the workspace if there is one, the home	\
 *   and the root if flags say so, the mounts... */			\
ROW(BUILD,	CH_SPAWNER, DIR_DOWN, 46, 2, 4, 16,			\
    FDS(FD_SEQ, FD_NS, FD_NS, FD_DIR, FD_ANY), ST_ANY)			\
/* BUILT u32 slot, u32 generation, i32 pid, u32 error; pidfd */		\
ROW(BUILT,	CH_SPAWNER, DIR_UP, 16, 0, 0, 1, FDS(FD_PROC), ST_ANY)	\
/* INIT_READY u64 layers in force (layers.h) */					\
ROW(INIT_READY,	CH_INIT, DIR_UP, 8, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* INIT_BAD u32 step (enum build_step), u32 error */			\
ROW(INIT_BAD,	CH_INIT, DIR_UP, 8, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* RUN u32 run, S neuron, S session, S call; run block, stdout, stderr,	\
 *   the call's leaf[, input] */					\
ROW(RUN,	CH_INIT, DIR_DOWN, 4, 3, 4, 5,				\
    FDS(FD_MEMFD, FD_PIPE_W, FD_PIPE_W, FD_DIR, FD_INPUT), ST_ANY)	\
/* RUN_SIGNAL u32 run, u32 signal */					\
ROW(RUN_SIGNAL,	CH_INIT, DIR_DOWN, 8, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* RUN_STARTED u32 run: the program was executed */			\
ROW(RUN_STARTED, CH_INIT, DIR_UP, 4, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* RUN_FAILED u32 run, u32 where (enum run_where), u32 error */		\
ROW(RUN_FAILED,	CH_INIT, DIR_UP, 12, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* RUN_ENDED u32 run, i32 exit code, i32 signal, u64 peak bytes */	\
ROW(RUN_ENDED,	CH_INIT, DIR_UP, 20, 0, 0, 0, FDS(FD_NONE), ST_ANY)

#endif
