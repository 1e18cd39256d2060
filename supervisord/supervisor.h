/*
 * The supervisor: the processes it keeps, and what it knows of each.
 *
 * children.c	the table: who they are, ids, programs
 * exec.c	fork and exec of one
 * feed.c	the files and the configuration that each gets
 * child.c	the life of one: START, CONFIG, COMMIT, READY, death, restart
 * plumb.c	the channels between them, and PROCS
 * supervisor.c	the whole: start, signals, heartbeat, stop
 * load.c	the configuration's file
 * reload.c	another configuration, for all or for none
 * reload_same.c	what it may not change
 * check.c	myelind -n
 */
#ifndef MYELIN_SUPERVISOR_H
#define MYELIN_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf.h"
#include "imsg.h"
#include "listener.h"
#include "restart.h"
#include "state.h"
#include "uids.h"
#include "why.h"

/* In the order in which they are stopped. */
enum child_id {
	CHILD_APID, CHILD_APID_OPERATOR, CHILD_POLICYD, CHILD_JUDGED,
	CHILD_EGRESSD, CHILD_NEUROND, CHILD_COUNT
};

#define LINK_COUNT	5	/* channels between children: plumb.c */

enum child_root { ROOT_NONE, ROOT_EMPTY, ROOT_POLICY };

/* Which files a child gets beside its slice. */
#define FILES_LISTEN	0x01	/* "listen" */
#define FILES_TOOLS	0x02	/* "tool/NAME", the declarations */
#define FILES_HELPERS	0x04	/* maker, spawner, neuron-tool; "uids" */
#define FILES_SEAL	0x08	/* "seal", from the credential store */
#define FILES_HOOKS	0x10	/* "hook/NAME", programs */
#define FILES_EGRESS	0x20	/* "resolv.conf", "ca-certificates" */

/* What one child is: a row of child_table. */
struct child_spec {
	const char	*name;		/* in status, logs and PROCS */
	const char	*dir;		/* of a build tree */
	const char	*program;
	const char	*user;		/* NULL: root */
	unsigned	 offset;	/* its id in a private block */
	enum child_root	 root;
	unsigned	 sections;	/* SLICE_* */
	enum cf_plane	 plane;		/* 0: it has no socket */
	unsigned	 files;		/* FILES_* */
	/* open files: always, a running call, a connection, a neuron */
	uint32_t	 nofile[4];
	int		 stop_ms;	/* from STOP_PROC to SIGKILL */
	bool		 tidies;	/* lives on to clean up after itself */
	const char	*serves;	/* what is off without it; NULL: all */
};

extern const struct child_spec child_table[CHILD_COUNT];

enum child_state {
	CHILD_ABSENT,		/* not in this configuration */
	CHILD_DOWN,		/* waits for its start */
	CHILD_STARTED,		/* has START and CONFIG, no answer yet */
	CHILD_AGREED,		/* said CONFIG_OK, waits for the others */
	CHILD_COMMITTED,	/* has COMMIT, not READY yet */
	CHILD_UP,
	CHILD_ENDING,		/* control channel gone, not reaped yet */
	CHILD_FAILED		/* died too often */
};

struct event;
struct event_base;
struct supervisor;

struct child {
	const struct child_spec	*spec;
	struct supervisor	*sv;
	enum child_state	 state;
	pid_t			 pid;		/* 0: none */
	struct channel		*control;
	struct event		*timer;		/* deadline, restart or retry */
	struct restart		 history;
	int64_t			 up_since;	/* ms; -1: not yet up */
	int64_t			 began;		/* ms: was started, or got COMMIT */
	uint64_t		 cpu;		/* ns that it had used then */
	uint32_t		 restarts;
	unsigned		 pings;		/* without an answer */
	uint32_t		 given[LINK_COUNT]; /* ends, since its start */
	bool			 stopping;	/* has STOP_PROC */
	bool			 planned;	/* to be started again at once */
	bool			 agreed;	/* to the reload under way */
	uint32_t		 nofile;	/* open files it may have */
	int			 program;	/* the executable, open */
	uid_t			 uid;
	gid_t			 gid;
	struct listener		 sockets[LISTENS_MAX]; /* a path's is the first */
	size_t			 nsockets;
};

struct tool {
	char		*name;		/* "bash" */
	char		*path;		/* of the declaration */
	bool		 own;		/* a "tool" line's */
	struct where	 where;		/* of that line; the configuration's */
	int		 fd;		/* a sealed memfd of its declaration */
};

struct hook {
	char		*name;
	int		 fd;		/* a sealed memfd of its program */
};

/* What children get of one generation of the configuration. */
struct feed {
	uint32_t	 generation;
	struct tool	*tools;
	size_t		 ntools;
	struct hook	*hooks;
	size_t		 nhooks;
	int		 resolv_conf;	/* sealed memfds of the host's files */
	int		 authorities;
	int		 slices[CHILD_COUNT];	/* sealed memfds, or -1 */
};

/*
 * A reload waits until no child is on its way up or down, asks all of them
 * about the new generation, and then puts it in force in one after the other.
 * Until the first COMMIT anything that goes wrong is its end; after that
 * nothing is: a child that dies is started with the new generation.
 */
enum reload_phase {
	RELOAD_IDLE, RELOAD_WAITING, RELOAD_ASKING, RELOAD_COMMITTING
};

#define RELOAD_WORDS	1024

struct reload {
	enum reload_phase	 phase;
	char			*path;		/* of the file, absolute */
	bool			 more;		/* asked for once more */
	uint32_t		 tried;		/* generation tried last */
	struct conf		*conf;
	struct feed		 feed;
	bool			 other_tools;
	size_t			 turn;		/* whose COMMITTED is awaited */
	struct event		*timer;
	enum reload_result	 result;	/* of the last one */
	char			 words[RELOAD_WORDS];	/* why not */
};

enum phase { PHASE_START, PHASE_RUN, PHASE_STOP };

struct sv_opts {
	const char	*file;
	const char	*private_dir;	/* -p */
	const char	*tree;		/* -L */
	bool		 debug;
	bool		 parse;		/* -N */
	bool		 check;
	bool		 print;		/* -nn */
	bool		 verbose;
	bool		 trace;
};

/* A channel that died though its ends may live. */
struct relink {
	struct supervisor	*sv;
	size_t			 link;
	struct event		*timer;		/* NULL before the first */
};

struct supervisor {
	const struct sv_opts	*opts;
	struct conf		*conf;
	enum phase		 phase;
	int			 status;	/* exit status */
	bool			 done;		/* no child is left */
	unsigned		 signals;	/* SIGTERM and SIGINT */
	uid_t			 dir_owner;	/* of -p DIR, else -1 */
	uid_t			 tree_owner;	/* of -L DIR, else -1 */
	struct child		 children[CHILD_COUNT];
	struct feed		 feed;		/* in force */
	struct reload		 reload;
	uint64_t		 neurons;	/* the limit neurond started with */
	int			 maker;
	int			 seal;		/* a memfd; -1: none */
	int			 spawner;
	int			 neuron_tool;
	int			 journal;	/* -1: log to standard error */
	struct state		 state;
	struct uids		 uids;
	struct event_base	*base;
	struct relink		 relink[LINK_COUNT];
	struct event		*heartbeat;
	struct event		*watchdog;
};

/* ---- children.c ---- */

void	children_init(struct supervisor *);
/* Ids of all, from the block or the host's users.  0, or -1 and why. */
int	children_ids(struct supervisor *, char why[WHY_MAX]);
uint32_t child_nofile(const struct child *, const struct slice *);
/* Without what neurons want to inherit. */
uint32_t child_nofile_own(const struct child *, const struct slice *);
/* Its root directory, "" for none; size is PATH_BYTES_MAX. */
int	child_root(const struct child *, char *path, size_t size);

/* ---- sockets.c ---- */

/* Which ones a child has, by a configuration.  Nothing is bound. */
void	sockets_take(struct child *, const struct conf *);
/* Binds them all.  0, or -1 after saying why, with none bound. */
int	sockets_open(struct child *);
void	sockets_close(struct child *);

/* ---- exec.c ---- */

/*
 * Starts a child's program with its end of a new control channel.  Returns
 * our end, and the pid; or -1 with errno.  With as_user it becomes uid and
 * gid before it is executed, which is for checks alone.
 */
int	child_exec(const struct child *, bool as_user, uid_t, gid_t,
	    pid_t *);
void	child_send_start(const struct child *, struct channel *,
	    unsigned flags, const char *root);

/* ---- feed.c ---- */

void	feed_init(struct feed *);
void	feed_close(struct feed *);
/* Opens the programs.  0, or -1 after saying why. */
int	feed_programs(struct supervisor *);
int	feed_seal(struct supervisor *);
/* Copies the declarations.  0, or -1 after saying why. */
/* Those that come with Myelin, then those of the configuration's lines. */
int	feed_tools(struct supervisor *, const struct conf *, struct feed *);
bool	feed_tool_name(const char *file, char name[NAME_BYTES_MAX]);
/* where: the line that names it, NULL for what comes with Myelin. */
int	feed_add_tool(struct supervisor *, struct feed *, const char *path,
	    const char *name, const struct where *where);
int	feed_own_tools(struct supervisor *, const struct conf *,
	    struct feed *);
/* A declaration's file for "tool/bash"; any other name is itself. */
const char *feed_tool_path(const struct feed *, const char *name);
bool	feed_same_tools(const struct feed *, const struct feed *);
/* Encodes every child's slice.  0, or -1 after saying why. */
/* The programs of the hooks; -1 after complaining (feed_hook.c). */
int	feed_hooks(struct supervisor *, const struct conf *, struct feed *);
/* The host's files that egressd needs (feed_egress.c). */
int	feed_egress(struct supervisor *, struct feed *);
int	feed_encode(struct supervisor *, const struct conf *, struct feed *);
/* Sends CONFIG and its files. */
int	feed_send(const struct child *, const struct feed *,
	    struct channel *);

/* ---- load.c ---- */

/* The file that the options name, as they name it: 0, or -1. */
int	load_path(const struct sv_opts *, char *path, size_t size);
/* Reads it, and the declarations that it may name.  NULL after saying why. */
/* -N: reads the configuration alone, and says that it reads, or what is wrong
 * with it.  Returns the exit status. */
int	load_check(struct supervisor *, const char *path);
struct conf *load(struct supervisor *, const char *path, struct feed *);

/* ---- reload.c ---- */

/* While the working directory is still the one that we were started in. */
void	reload_init(struct supervisor *);
void	reload_end(struct supervisor *);
/* SIGHUP. */
void	reload_ask(struct supervisor *);
/* A child came up, or failed for good: a reload may wait for that. */
void	reload_poke(struct supervisor *);
/* What children say; -1 for what they may not say now. */
int	reload_agreed(struct child *, uint32_t generation);
int	reload_refused(struct child *, uint32_t generation, const char *words);
int	reload_committed(struct child *, uint32_t generation);
/* A child is gone. */
void	reload_lost(struct child *);
/* 1 from the first question to the last answer: starts have to wait. */
bool	reload_asks(const struct supervisor *);
/* Tells policyd, if it is there, how the last one went. */
void	reload_tell(struct supervisor *, bool news);
/* An error: goes to the log and, of a reload, to its result. */
void	complain(struct supervisor *, const char *, ...) __printflike(2, 3);

/* ---- reload_same.c ---- */

/* 0, or -1 after saying what only a start can change. */
int	reload_same(struct supervisor *, struct conf *);

/* ---- child.c ---- */

int	child_start(struct child *);
void	child_commit(struct child *);
/* Sends a number on its control channel.  0, or -1. */
int	child_send(struct child *, enum msg_type, uint32_t);
/* The pid was reaped with that status. */
void	child_reaped(struct child *, int status);
void	child_stop(struct child *, int ms);
void	child_kill(struct child *);
enum proc_status child_status(const struct child *);
bool	child_committed(const struct child *);

/* ---- plumb.c ---- */

/* New channels between one child and its neighbours; all if NULL. */
void	plumb(struct supervisor *, struct child *);
/*
 * A child says that the channel of that kind is dead, after so many ends of
 * it.  0, or -1 if it can't have had one.
 */
int	plumb_lost(struct supervisor *, const struct child *, uint32_t kind,
	    uint32_t ends);
/* Frees what plumb_lost made. */
void	plumb_end(struct supervisor *);
void	procs_changed(struct child *);
void	procs_all(struct supervisor *);

/* ---- supervisor.c ---- */

/* Runs the service.  Returns the exit status. */
int	supervisor_run(struct supervisor *);
/* Events of a child that concern the whole. */
void	supervisor_agreed(struct supervisor *);
void	supervisor_up(struct supervisor *, struct child *);
/* Tells all how much they are to log: log_verbose(). */
void	supervisor_log_level(struct supervisor *);
void	supervisor_gone(struct supervisor *);
void	supervisor_fail(struct supervisor *, const char *, ...)
	    __printflike(2, 3);

/* ---- check.c ---- */

/* Lets every child read its slice.  Returns the exit status. */
int	supervisor_check(struct supervisor *);

#endif
