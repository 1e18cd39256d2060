/*
 * The one table of limits.  Every row is a keyword of the configuration and a
 * line of "myelinctl limits"; nothing else in Myelin states a limit's value.
 *
 * This file stands in front of the system's of the same name: no source
 * includes <limits.h>, whose numbers would then be wrong (PATH_BYTES_MAX here).
 */
#ifndef MYELIN_LIMITS_H
#define MYELIN_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sizes that are part of a format or of the kernel and so no keyword.
 */
#define MSG_MAX_SIZE		16384	/* bytes of one message, header too */
#define MSG_MAX_FDS		4	/* fds of one message, most channels */
#define MSG_MAX_FDS_NEURON	16	/* neurond, maker, spawner, PID 1 */
#define PATH_BYTES_MAX		4096	/* PATH_MAX, NUL included */
#define SOCKET_PATH_MAX		107	/* sun_path without its NUL, unix(7) */
#define NAME_BYTES_MAX		64	/* a profile, preset or tool, NUL too */
#define GROUPS_MAX		256	/* supplementary groups of a peer */
#define NEURON_RUNNING_MAX	16	/* most call leaves of one neuron */
#define PTY_SIZE_MAX		4096	/* rows or columns of a terminal */
#define PTY_TERM_MAX		64	/* name of its type, NUL included */

enum limit_unit {
	UNIT_COUNT, UNIT_BYTES, UNIT_MS, UNIT_SECONDS, UNIT_MILLI, UNIT_SWITCH
};

/*
 * Where a row may stand: any row at the top level of the configuration,
 * SCOPE_NEURON rows in a profile also, SCOPE_CALL rows in a profile also.
 * A profile's value is used for the neurons made from it.
 */
enum limit_scope { SCOPE_HOST, SCOPE_NEURON, SCOPE_CALL };

/*
 * ROW(symbol, keyword, scope, unit, default, minimum, maximum, words)
 *
 * UNIT_MILLI is written as a decimal number ("1.5") and kept times 1000,
 * UNIT_SWITCH as "yes" or "no" and kept as 1 or 0.
 */
#define KIB(n)	((uint64_t)(n) << 10)
#define MIB(n)	((uint64_t)(n) << 20)
#define GIB(n)	((uint64_t)(n) << 30)

#define LIMIT_TABLE(ROW)						\
ROW(MEMORY,	"memory",	SCOPE_NEURON, UNIT_BYTES,		\
    GIB(1), MIB(16), GIB(1024),						\
    "memory of a neuron, its /tmp and /dev/shm included")		\
ROW(SWAP,	"swap",		SCOPE_NEURON, UNIT_BYTES,		\
    0, 0, GIB(1024), "swap of a neuron")				\
ROW(CPU,	"cpu",		SCOPE_NEURON, UNIT_MILLI,		\
    1000, 50, 1024000, "processors of a neuron")			\
ROW(PIDS,	"pids",		SCOPE_NEURON, UNIT_COUNT,		\
    512, 16, 4194304, "processes and threads of a neuron")		\
ROW(HOME,	"home",		SCOPE_NEURON, UNIT_BYTES,		\
    GIB(1), MIB(1), GIB(1024), "size of a neuron's home")		\
ROW(TMP,	"tmp",		SCOPE_NEURON, UNIT_BYTES,		\
    GIB(1), MIB(1), GIB(1024), "size of a neuron's /tmp")		\
ROW(INODES,	"inodes",	SCOPE_NEURON, UNIT_COUNT,		\
    100000, 256, 100000000, "inodes of a home, and of a /tmp")		\
ROW(NOFILE,	"nofile",	SCOPE_NEURON, UNIT_COUNT,		\
    1024, 32, 1048576, "open files of a process in a neuron")		\
ROW(RUNNING,	"running-calls",	SCOPE_NEURON, UNIT_COUNT,	\
    4, 1, NEURON_RUNNING_MAX, "running calls of a neuron")		\
ROW(NEURONS,	"neurons",	SCOPE_HOST, UNIT_COUNT,			\
    32, 1, 4000, "neurons of the host")					\
ROW(NEURONS_PRINCIPAL, "neurons-principal", SCOPE_HOST, UNIT_COUNT,	\
    16, 1, 4000, "neurons of a principal")				\
ROW(NEURON_WAIT, "neuron-wait",	SCOPE_HOST, UNIT_MS,			\
    5000, 0, 60000, "wait for a neuron over the cap, before 429")	\
ROW(RUNNING_HOST, "running-calls-host", SCOPE_HOST, UNIT_COUNT,		\
    128, 1, 1000, "running calls of the host")				\
ROW(TIMEOUT,	"timeout",	SCOPE_CALL, UNIT_MS,			\
    60000, 1000, 3600000, "a call's time, where it names none")		\
ROW(TIMEOUT_MAX, "timeout-max",	SCOPE_CALL, UNIT_MS,			\
    3600000, 1000, 3600000, "the longest time a call may name")		\
ROW(OUTPUT_KEPT, "output-kept",	SCOPE_CALL, UNIT_BYTES,			\
    MIB(8), KIB(4), MIB(64), "head and tail kept of a call's output")	\
ROW(OUTPUT_KEPT_ALL, "output-kept-all", SCOPE_HOST, UNIT_BYTES,		\
    MIB(48), MIB(1), GIB(4), "output kept of all calls together")	\
ROW(OUTPUT_KILLED, "output-killed", SCOPE_CALL, UNIT_BYTES,		\
    GIB(1), KIB(4), GIB(1048576), "output at which a call is killed")	\
ROW(BASH_TEXT,	"bash-text",	SCOPE_HOST, UNIT_BYTES,			\
    KIB(64), 256, 131071, "a command of the tool bash")			\
ROW(ARGUMENT,	"argument",	SCOPE_HOST, UNIT_BYTES,			\
    131071, 1024, 131071, "one argument of a program (MAX_ARG_STRLEN)")	\
ROW(WAIT,	"wait",		SCOPE_HOST, UNIT_MS,			\
    50000, 0, 300000, "the longest wait_ms of a request")		\
ROW(BODY,	"body",		SCOPE_HOST, UNIT_BYTES,			\
    MIB(16), KIB(4), MIB(256), "body of a request")			\
ROW(CONNECTIONS, "connections",	SCOPE_HOST, UNIT_COUNT,			\
    512, 16, 8192, "connections of one socket")				\
ROW(CONNECTIONS_UID, "connections-uid", SCOPE_HOST, UNIT_COUNT,		\
    256, 4, 8192, "connections of one user to one socket")		\
ROW(CALLS_SESSION, "calls-session", SCOPE_HOST, UNIT_COUNT,		\
    1000, 1, 100000000, "calls of a session")				\
ROW(HOURLY,	"hourly",	SCOPE_HOST, UNIT_COUNT,			\
    3600, 1, 100000000,							\
    "sessions and sessionless calls of a principal in an hour")		\
ROW(SESSION_EXPIRES, "session-expires", SCOPE_HOST, UNIT_SECONDS,	\
    28800, 10, 2592000, "a session's life, where it names none")	\
ROW(RESULT_KEPT, "result-kept",	SCOPE_HOST, UNIT_SECONDS,		\
    600, 1, 86400, "how long a result is kept")				\
ROW(RESTART_WINDOW, "restart-window", SCOPE_HOST, UNIT_SECONDS,		\
    60, 1, 3600, "five deaths of one process within it are too many")	\
ROW(PTY,	"pty",		SCOPE_NEURON, UNIT_SWITCH,		\
    1, 0, 1, "whether a call in a neuron can have a terminal")		\
ROW(TRANSCRIPTS, "transcripts",	SCOPE_HOST, UNIT_SECONDS,		\
    2592000, 3600, 315360000, "how long the transcript of a call is kept") \
ROW(TRANSCRIPTS_SIZE, "transcripts-size", SCOPE_HOST, UNIT_BYTES,	\
    GIB(1), MIB(1), GIB(1024), "all transcripts together; the oldest go") \
ROW(TRANSCRIPT,	"transcript",	SCOPE_HOST, UNIT_BYTES,			\
    MIB(1), KIB(4), MIB(2), "head and tail of an output in a transcript") \
ROW(DRY_RUNS,	"dry-runs",	SCOPE_HOST, UNIT_COUNT,			\
    120, 1, 1000000, "dry runs of a principal in a minute")		\
ROW(APPROVAL_EXPIRY, "approval-expiry", SCOPE_HOST, UNIT_MS,		\
    300000, 10000, 3600000, "how long an approval waits for a decision") \
ROW(APPROVALS_SESSION, "approvals-session", SCOPE_HOST, UNIT_COUNT,	\
    8, 1, 1000, "approvals that wait in a session")			\
ROW(APPROVALS_PRINCIPAL, "approvals-principal", SCOPE_HOST, UNIT_COUNT,	\
    32, 1, 1000, "approvals of a principal that wait")			\
ROW(APPROVALS_HOST, "approvals-host", SCOPE_HOST, UNIT_COUNT,		\
    64, 1, 1000, "approvals of the host that wait")			\
ROW(APPROVAL_SIZE, "approval-size", SCOPE_HOST, UNIT_BYTES,		\
    MIB(1), KIB(4), MIB(4), "arguments and input that an approval shows") \
ROW(SELF_APPROVAL, "self-approval", SCOPE_HOST, UNIT_SWITCH,		\
    0, 0, 1, "whether who asked may decide")	\
ROW(AUDIT_FILE,	"audit-file",	SCOPE_HOST, UNIT_BYTES,			\
    MIB(256), KIB(64), GIB(64), "a file of the audit log; then a new one") \
ROW(HOOK_TIMEOUT, "hook-timeout", SCOPE_HOST, UNIT_MS,			\
    15000, 1000, 60000, "a hook's time; then the call is denied")		\
ROW(REQUESTS,	"requests-minute", SCOPE_HOST, UNIT_COUNT,		\
    60000, 1, 100000000, "requests of a principal in a minute")		\
ROW(AUTH_FAILURES, "auth-failures", SCOPE_HOST, UNIT_COUNT,		\
    600, 1, 100000000, "wrong tokens of an address in a minute") \
ROW(EGRESS_CONNECTIONS, "egress-connections", SCOPE_NEURON, UNIT_COUNT,	\
    128, 1, 8192, "connections of a neuron to hosts, at a time")		\
ROW(EGRESS_BANDWIDTH, "egress-bandwidth", SCOPE_NEURON, UNIT_BYTES,	\
    0, 0, GIB(64), "bytes a second of a neuron's connections; 0: any")	\
ROW(EGRESS_CALL, "egress-call",	SCOPE_NEURON, UNIT_BYTES,		\
    GIB(4), KIB(4), GIB(1048576), "bytes both ways while a call runs")	\
ROW(EGRESS_SESSION, "egress-session", SCOPE_NEURON, UNIT_BYTES,		\
    GIB(64), KIB(4), GIB(1048576), "bytes both ways of a session")	\
ROW(EGRESS_IDLE, "egress-idle",	SCOPE_NEURON, UNIT_MS,			\
    300000, 1000, 3600000, "a connection that carries nothing")		\
ROW(EGRESS_TOTAL, "egress-total", SCOPE_NEURON, UNIT_MS,			\
    3600000, 1000, 86400000, "a connection to a host, whatever it carries") \
ROW(EGRESS_CONNECT, "egress-connect", SCOPE_NEURON, UNIT_MS,		\
    10000, 500, 60000, "finding a host's address and reaching it")	\
ROW(EGRESS_FETCH, "egress-fetch", SCOPE_NEURON, UNIT_BYTES,		\
    MIB(8), KIB(4), MIB(64), "what the tool fetch brings")		\
ROW(POOL,	"pool",		SCOPE_NEURON, UNIT_COUNT,		\
    4, 0, 16,							\
    "neurons of a profile that are ready before they are asked for")	\
ROW(HOMES,	"homes",	SCOPE_HOST, UNIT_COUNT,			\
    128, 0, 4000, "persistent neurons of the host")			\
ROW(HOMES_PRINCIPAL, "homes-principal", SCOPE_HOST, UNIT_COUNT,		\
    16, 0, 4000, "persistent neurons of a principal")			\
ROW(IDLE_EXPIRY, "idle-expiry",	SCOPE_HOST, UNIT_SECONDS,		\
    2592000, 1, 315360000,						\
    "a persistent neuron goes when unused so long, where it names none")	\
ROW(APPARMOR,	"apparmor-required", SCOPE_HOST, UNIT_SWITCH,		\
    0, 0, 1, "no neuron without the AppArmor profile myelin-neuron")

enum limit {
#define ROW(sym, ...)	LIMIT_##sym,
	LIMIT_TABLE(ROW)
#undef ROW
	LIMIT_COUNT
};

struct limit_row {
	const char	*keyword;
	enum limit_scope scope;
	enum limit_unit	 unit;
	uint64_t	 initial;
	uint64_t	 min;
	uint64_t	 max;
	const char	*words;
};

extern const struct limit_row limit_table[LIMIT_COUNT];

struct limits {
	uint64_t	v[LIMIT_COUNT];
};

/* Sets every limit to its default. */
void	limits_init(struct limits *);

/* 1 if it bounds a neuron or a call, which is then not the same without it. */
int	limit_of_neuron(size_t limit);

/* The limit a keyword names, or -1. */
int	limit_find(const char *keyword);

/* The word of a unit in JSON and in help: "bytes", "ms", "s", "count". */
const char *limit_unit_name(enum limit_unit);

/*
 * Reads a limit's value as the configuration writes it: a number with, for
 * bytes, K, M or G; for times, ms, s, m or h (a bare number counts seconds);
 * for UNIT_MILLI up to three decimals; for UNIT_SWITCH yes or no.  Returns 0,
 * or -1 and sets *why to a sentence in static storage.  Does not check the
 * row's range.
 */
int	limit_parse(enum limit, const char *text, uint64_t *value,
	    const char **why);

#endif
