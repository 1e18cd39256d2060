/*
 * What the files of the resolver share: one shell, as far as a text has been
 * followed.
 */
#ifndef SHELL_RESOLVER_H
#define SHELL_RESOLVER_H

#include "ast.h"
#include "judging_internal.h"
#include "parser.h"
#include "scope.h"
#include "shell/shell.h"

/* A function as it was defined; judged with unknown arguments if no call of
 * it was seen. */
struct defined {
	struct defined		*next;
	const struct function	*function;
	int			 called;
};

/* What a trap will run: judged again with what is known at the end. */
struct trapped {
	struct trapped		*next;
	const struct word	*code;
	const struct command	*command;
};

/* A function that runs now. */
struct call {
	struct call		*outer;
	const struct node	*body;
	unsigned		 spawned;	/* when it began */
	struct saved		*locals;	/* to be put back at its end */
};

struct saved {
	struct saved		*next;
	const char		*name;
	const void		*data;
};

/* Where commands run, as long as a scope is at that version. */
struct place {
	const struct scope	*scope;
	uint64_t		 version;
	const char		*cwd;
	const char		*home;
};

struct resolver {
	struct judging		*j;
	struct scope		*scope;
	struct place		 place;		/* of the last command */
	enum dialect		 dialect;
	const struct stream	*in;		/* stdin of what runs now */
	const struct stream	**exec_in;	/* where exec's stdin goes */
	struct call		*call;
	struct defined		*defined;
	struct trapped		*traps;
	unsigned		 spawned;	/* pipes and & around */
	unsigned		 loops;
	unsigned		 flags;		/* COMMAND_* for all in here */
	unsigned		 processes;	/* <( ) so far */
	int			 dead;		/* exit, return: not reached */
	int			 wants;		/* output is looked at */
	int			 extglob;
	int			 xtrace;
	int			 allexport;
	int			 fixed;		/* all is at from..to */
	uint32_t		 from;
	uint32_t		 to;
	const struct command	*starter;	/* of an inner text */
};

/* ---- run.c: trees ---- */
void	run_text(struct resolver *, const char *, size_t, struct stream *out);
void	run_list(struct resolver *, const struct list *, struct stream *out);
void	run_node(struct resolver *, const struct node *, struct stream *out);
/* In a subshell: what it changes is gone after it. */
void	run_subshell(struct resolver *, const struct list *,
	    struct stream *out);
void	run_simple(struct resolver *, const struct node *, struct stream *);
void	run_compound(struct resolver *, const struct node *,
	    struct stream *);
int	run_cond(struct resolver *, const struct cond *);
void	run_function(struct resolver *, const struct function *,
	    const struct command *, struct stream *out);
/* What is left to be judged at the end of a text. */
void	run_leftover(struct resolver *);

void	stream_none(struct stream *);
void	stream_copy(struct stream *, const struct stream *from);
void	stream_set(struct stream *, enum content_kind);
void	stream_append(struct resolver *, struct stream *,
	    const struct stream *);

/* ---- redirs.c ---- */
struct redirs {
	struct redirect	*v;		/* with the first of their targets */
	size_t		 n;
	const struct word *const *targets; /* alternatives of each */
	const size_t	*ntargets;
	const struct stream *in;	/* stdin, or NULL: not redirected */
};
void	redirs_expand(struct resolver *, const struct ast_redir *,
	    struct redirs *);
/* What stdout becomes: writes files, and takes away what doesn't come out. */
void	redirs_output(struct resolver *, const struct command *,
	    struct stream *out);

/* ---- expand.c: words ---- */
#define EXPAND_SPLIT	0x01	/* field splitting, "$@" is several */
#define EXPAND_GLOB	0x02	/* unquoted patterns count */
#define EXPAND_TILDE	0x04
#define EXPAND_ASSIGN	0x08	/* tilde behind "=" and ":" too */
#define EXPAND_QUOTED	0x10	/* as inside double quotes */
#define EXPAND_WORD	(EXPAND_SPLIT | EXPAND_GLOB | EXPAND_TILDE)

/* One alternative of a word: its fields. */
struct fields {
	const struct word	*v;
	size_t			 n;
};
struct expansion {
	size_t		 n;
	struct fields	 alt[JUDGE_VALUES_MAX];
};
/* One alternative each, no splitting. */
struct texts {
	size_t		 n;
	struct word	 v[JUDGE_VALUES_MAX];
};

void	expand_word(struct resolver *, const struct ast_word *,
	    struct expansion *);
/* 1 and the word if it is one literal, as most are: it stands for itself. */
int	expand_literal(struct resolver *, const struct ast_word *,
	    struct word *);
void	expand_parts(struct resolver *, const struct part *, unsigned flags,
	    struct expansion *);
void	expand_text(struct resolver *, const struct part *, unsigned flags,
	    struct texts *);
/* A here-document's body, a prompt: text as inside double quotes. */
void	expand_string(struct resolver *, const char *, size_t,
	    const struct command *, struct texts *);
/* Brace expansion: lists of parts, at least one. */
size_t	brace_expand(struct resolver *, const struct part *,
	    struct part **out, size_t max);
int	brace_possible(const struct part *);

/* Fields of an unknown that are looked at. */
#define LOOKED_MAX	256

/* ---- param.c ---- */
/* Alternatives of a parameter: lists of words, n words as fields. */
struct pieces {
	size_t		 n;
	struct fields	 alt[JUDGE_VALUES_MAX];
};
void	expand_param(struct resolver *, const struct param *, int quoted,
	    struct pieces *);
void	pieces_add(struct resolver *, struct pieces *, const struct word *,
	    size_t n);
void	pieces_word(struct resolver *, struct pieces *, struct word);
/* ${x#p} and the like on one word. */
struct word param_change(struct resolver *, const struct param *,
	    const struct word *);

/* ---- arith.c ---- */
/* The value of an expression, and 1, or 0 if it is not known. */
int	arith_eval(struct resolver *, const char *, size_t, int64_t *);
/*
 * A text that is evaluated as arithmetic, or as a name with a subscript:
 * judges the substitutions that this runs, also in variables it names.
 */
void	arith_judge(struct resolver *, const struct word *,
	    const struct command *);
void	arith_parts(struct resolver *, const struct part *, struct texts *);

/* ---- vars.c ---- */
const struct value *var_get(struct resolver *, const char *name);
void	var_set(struct resolver *, const char *name, const struct value *,
	    const struct command *);
const struct value *var_args(struct resolver *);	/* "$@" */
void	var_set_args(struct resolver *, const struct word *, size_t n,
	    int more);
void	var_set_state(struct resolver *, const char *, const struct word *);
/* The one text that a value certainly is, or NULL. */
const char *value_static(const struct value *);
int	is_identifier(const char *, size_t);
/* Bytes that begin it and are a name; 0: none. */
size_t	identifier_length(const char *, size_t);
void	assign_word(struct resolver *, const struct ast_word *,
	    const struct command *, unsigned attr);

/* ---- builtin.c ---- */
typedef void builtin_fn(struct resolver *, const struct command *,
	    struct stream *out);
/* The builtin of that name whose doing is followed, or NULL. */
builtin_fn *builtin_find(const struct resolver *, const char *name);
/* 1: its arguments that look like assignments are assignments. */
int	builtin_assigns(const char *name);

builtin_fn builtin_eval, builtin_source, builtin_trap, builtin_alias,
    builtin_unalias, builtin_mapfile, builtin_printf, builtin_read,
    builtin_let, builtin_test, builtin_unset, builtin_set, builtin_shift,
    builtin_cd, builtin_pushd, builtin_popd, builtin_shopt, builtin_exit,
    builtin_declare, builtin_local, builtin_getopts, builtin_exec,
    builtin_complete, builtin_jobs, builtin_enable;

/* ---- start.c ---- */
void	nothing_found(struct judging *);
struct resolver *resolver_new(struct judging *);
struct command *command_here(struct resolver *, uint32_t from, uint32_t to);
void	judge_code(struct resolver *, const struct word *,
	    const struct command *, struct stream *out);

#endif
