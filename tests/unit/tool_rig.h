/*
 * Runs the program neuron-tool as PID 1 of a neuron does: a sealed run block
 * at fd 3, nothing else, and not as root.  Home, workspace and a directory
 * that is neither lie side by side in a throwaway directory.
 */
#ifndef MYELIN_TOOL_RIG_H
#define MYELIN_TOOL_RIG_H

#include <sys/types.h>
#include <sys/resource.h>
#include <stddef.h>
#include <jansson.h>

#define RIG_SECONDS	100	/* a body that takes longer is killed */

struct rig {
	char	base[64];
	char	home[96];
	char	work[96];
	char	outside[96];
	int	program;
	rlim_t	file_size;	/* of the body; 0: no limit */
	rlim_t	files;		/* it may open; 0: no limit */
	int	named;		/* the filesystem has no nameless files */
};
extern struct rig rig;

/* A fixture for each test: the working directory is then the workspace. */
void	rig_setup(void);
void	rig_teardown(void);

struct answer {
	int	 status;	/* of exit(3); -1: killed */
	json_t	*result;
	char	*out;		/* a NUL follows */
	size_t	 nout;
};

/*
 * Runs a body with arguments made by json_pack(3) (it takes no reference).
 * The answer is valid until the next one.
 */
struct answer *rig_run(const char *body, const char *fmt, ...);

/* The same with a working directory, roots, input and a whole block. */
struct how {
	const char	*cwd;		/* NULL: the workspace */
	const char	*home;		/* NULL: that of the rig */
	const char	*work;
	const void	*input;
	size_t		 ninput;
	const void	*args;		/* bytes, not json */
	size_t		 nargs;
};
struct answer *rig_run_how(const char *body, const struct how *);

/* Starts a body with input from a pipe: its pid, *in is to be closed. */
pid_t	rig_start(const char *body, const char *args, int *in);

/* error.code, or "" after success; fails on what is neither. */
const char *rig_code(const struct answer *);
const char *rig_string(const struct answer *, const char *member);
long long rig_int(const struct answer *, const char *member);
int	rig_true(const struct answer *, const char *member);

/* Files below the workspace, or anywhere with an absolute path. */
void	rig_put(const char *path, const void *, size_t);
void	rig_put_text(const char *path, const char *);
/* 1 if the file holds exactly that. */
int	rig_holds(const char *path, const void *, size_t);
int	rig_holds_text(const char *path, const char *);
/* How many entries the directory has. */
size_t	rig_entries(const char *path);

#endif
