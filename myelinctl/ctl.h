/*
 * What the commands of myelinctl share.
 */
#ifndef MYELINCTL_CTL_H
#define MYELINCTL_CTL_H

#include <jansson.h>
#include <stdint.h>

#define EXIT_FAILED	1
#define EXIT_USAGE	2
#define EXIT_DECIDED	3	/* an approval that waits no longer */
#define EXIT_NOT_YOURS	4	/* one that this operator may not decide */
#define EXIT_NOT_ALLOWED 123	/* "run": rejected, or nobody decided */
#define EXIT_TIMED_OUT	124
#define EXIT_MYELIN	125	/* "run": Myelin refused or failed */
#define EXIT_SIGNAL	128	/* and the signal's number */

#define API_SOCKET	"/run/myelin/api.sock"
#define OPERATOR_SOCKET	"/run/myelin/operator.sock"

struct options {
	const char	*socket;	/* -s */
	int		 operator;	/* -o */
	int		 json;
	int		 follow;
	int		 stop;
	int		 recursive;
	int		 explain;
	const char	*library;	/* where Myelin's programs are */
	const char	*workspace;
	int		 read_only;	/* it is */
	const char	*cwd;
	const char	*profile;
	const char	*preset;
	const char	*session;
	const char	*name;		/* of a neuron */
	const char	*neuron;	/* the name or id of one */
	json_t		*env;		/* NULL: none given */
	json_t		*labels;	/* the same; null: any value */
	uint32_t	 timeout_ms;	/* 0: none given */
	uint32_t	 expires;	/* seconds, 0: none given */
	uint32_t	 overlap;	/* the same */
	uint32_t	 idle;		/* the same */
	uint32_t	 most;		/* rows of a list, 0: the command's */
	int64_t		 older_than;	/* seconds, -1: none given */
	int		 dry_run;
	const char	*since;		/* of the audit log; NULL: none */
	const char	*until;
	const char	*anchors;	/* a file, or "-" */
	const char	*anchor[8];	/* SEQUENCE:HASH */
	unsigned	 nanchor;
	int		 all;
	int		 remembered;
	int		 for_session;
	int		 yes;
	const char	*reason;
	const char	*digest;	/* of what was shown elsewhere */
	const char	*exec;		/* the operator's notifier */
	int		 failure;	/* exit status where Myelin fails */
};

struct command {
	const char	*name;
	const char	*letters;	/* of the options it takes */
	int		 first_ends;	/* options end at the first operand */
	int		 failure;
	const char	*operands;
	const char	*words;
	int		(*fn)(struct options *, int argc, char **argv);
};

int	cmd_run(struct options *, int, char **);
int	cmd_call(struct options *, int, char **);
int	cmd_cp(struct options *, int, char **);
int	cmd_files(struct options *, int, char **);
int	cmd_shell(struct options *, int, char **);
int	cmd_log(struct options *, int, char **);
int	cmd_log_level(struct options *, int, char **);
int	cmd_backup(struct options *, int, char **);
int	cmd_restore(struct options *, int, char **);
int	cmd_metrics(struct options *, int, char **);
int	cmd_status(struct options *, int, char **);
int	cmd_neurons(struct options *, int, char **);
int	cmd_sessions(struct options *, int, char **);
int	cmd_calls(struct options *, int, char **);
int	cmd_tools(struct options *, int, char **);
int	cmd_whoami(struct options *, int, char **);
int	cmd_limits(struct options *, int, char **);
int	cmd_secrets(struct options *, int, char **);
int	cmd_keys(struct options *, int, char **);
int	cmd_drain(struct options *, int, char **);
int	cmd_prune(struct options *, int, char **);
int	cmd_audit(struct options *, int, char **);
int	cmd_mcp(struct options *, int, char **);
int	cmd_doctor(struct options *, int, char **);
int	cmd_judge(struct options *, int, char **);
int	cmd_approvals(struct options *, int, char **);
int	cmd_approve(struct options *, int, char **);
int	cmd_reject(struct options *, int, char **);
int	cmd_version(struct options *, int, char **);

/*
 * The id of a persistent neuron of one's own by its name, or an id as it is.
 * 0, or -1 after a complaint.
 */
int	neuron_id(const struct options *, const char *name, char *id,
	    size_t size);
/* "sessions show ID", "call explain ID" and so on: parts of commands. */
int	approvals_suggest(const struct options *);
int	approvals_watch(const struct options *, int argc, char **argv);
int	session_show(const struct options *, const char *id);
int	call_explain(const struct options *, const char *id);

/* "myelinctl: ..." on standard error; control characters are escaped. */
void	complain(const char *fmt, ...)
	    __attribute__((__format__(__printf__, 1, 2)));
/* The step that may help, on a line of its own below a complaint. */
void	advise(const char *fmt, ...)
	    __attribute__((__format__(__printf__, 1, 2)));
/* A complaint about the command line; returns EXIT_USAGE, or 125 for run. */
int	usage_error(const struct options *, const char *fmt, ...)
	    __attribute__((__format__(__printf__, 2, 3)));

#endif
