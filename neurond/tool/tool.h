/*
 * neuron-tool: the bodies of the file tools, inside the neuron.
 *
 * A body is a function of one struct tool.  It takes its arguments (args.h),
 * opens what they name (path.h, replace.h), writes bytes for the reader to
 * standard output (out.h) and members into the result (result.h), and returns
 * 0, or -1 after tool_fail().
 */
#ifndef MYELIN_TOOL_TOOL_H
#define MYELIN_TOOL_TOOL_H

#include <stddef.h>
#include <stdint.h>
#include <jansson.h>

#include "result.h"

#define TOOL_ROOTS	2	/* home and workspace */

/* What the filter leaves to a body beyond files: see filter.h. */
#define BODY_EXEC	0x1	/* fork and exec (grep) */
#define BODY_STARTED	0x2	/* after them: files, and wait4(2) */

struct tool;

struct body {
	const char	*name;
	int		(*run)(struct tool *);
	unsigned	 flags;
};

/* A tree that paths may lead to. */
struct root {
	const char	*path;		/* absolute and clean */
	size_t		 len;
	int		 fd;		/* O_PATH, -1 once it could not be */
};

struct tool {
	const struct body *body;
	json_t		*args;		/* an object */
	json_t		*result;	/* an object */
	json_t		*error;		/* NULL, or code, message and more */
	enum tool_code	 code;		/* the error's */
	struct root	 root[TOOL_ROOTS];
	size_t		 nroots;
	char		*cwd;		/* absolute; NULL if it is gone */
};

extern const struct body tool_bodies[];
extern const size_t tool_nbodies;

const struct body *tool_find(const char *name);

/* The bodies; each in the file of its name. */
int	body_read(struct tool *);
int	body_write(struct tool *);
int	body_ls(struct tool *);
int	body_edit(struct tool *);
int	body_grep(struct tool *);
int	body_find(struct tool *);
int	body_memory_store(struct tool *);
int	body_memory_recall(struct tool *);
int	body_memory_list(struct tool *);
int	body_memory_delete(struct tool *);

#endif
