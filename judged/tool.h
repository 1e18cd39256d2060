/*
 * Tool declarations: what a tool is called, takes, does and starts.
 */
#ifndef JUDGED_TOOL_H
#define JUDGED_TOOL_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"
#include "slice.h"
#include "why.h"

#define DECLARATION_MAX	(256 * 1024)	/* bytes of a declaration */
#define TOOL_SHA256	32
#define TOOL_ENV_MAX	64	/* fixed pairs of a declaration */

/* "judge": what kind of command an argument is. */
enum tool_judges {
	JUDGES_NOTHING,
	JUDGES_SHELL,		/* text for bash */
	JUDGES_VECTOR,		/* a program and its arguments */
	JUDGES_PYTHON		/* text for python3 */
};

struct tool {
	char		 name[NAME_BYTES_MAX];
	char		 group[NAME_BYTES_MAX];	/* "" for none */
	unsigned	 effect;	/* enum effect */
	uint32_t	 marks;
	int		 asks;
	int		 pty;		/* a call may have a terminal */
	int		 strict;	/* "input": whatever tool-input says */
	uint32_t	 timeout_ms;	/* 0: the limit's */
	uint8_t		 sha256[TOOL_SHA256];	/* of the bytes */
	json_t		*root;		/* the declaration */
	const json_t	*schema;
	const json_t	*exactly_one;	/* groups.h; NULL for none */
	const json_t	*at_most_one;
	/* One of the two: a program's template, or a body: of neuron-tool, or
	 * of egressd. */
	const json_t	*argv;
	const char	*body;
	unsigned	 egress;	/* EGRESS_* of a body of egressd's, or 0 */
	const json_t	*env;		/* fixed pairs, or NULL */
	enum tool_judges judges;
	const char	*judged_argument;
};

struct tools {
	struct tool	*v;
	size_t		 n;
	int		 coerce;	/* tool-input coerce */
	/* Of the configuration: names, and the host's "TZ=..."; or NULL. */
	const struct strings *env_allow;
	/* The operator's rules, and the paths that are Myelin's own. */
	const struct cf_rule *rules;
	size_t		 nrules;
	const struct strings *own;
};

/*
 * Reads a declaration of a file of that name (without ".json").  0; or -1,
 * why not, and the line if one can be named, else 0.
 */
int	tool_parse(struct tool *, const char *name, const uint8_t *,
	    size_t size, int *line, struct why *);
void	tool_free(struct tool *);

/* 0, or -1 when memory is out.  Takes the tool over. */
int	tools_add(struct tools *, struct tool *);
const struct tool *tools_find(const struct tools *, const char *name);
void	tools_free(struct tools *);

#endif
