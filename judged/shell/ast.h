/*
 * The syntax tree of shell text.  Everything is in the arena of the judging.
 * from and to are bytes of the outermost text: what was parsed out of a
 * string has the place of that string.
 */
#ifndef SHELL_AST_H
#define SHELL_AST_H

#include <stddef.h>
#include <stdint.h>

struct list;
struct node;
struct param;

enum part_kind {
	PART_TEXT,	/* unquoted */
	PART_QUOTED,	/* '...', $'...', \c */
	PART_DOUBLE,	/* "...", $"...": parts */
	PART_PARAM,	/* $x, ${...} */
	PART_COMMAND,	/* $(...), ${ ...; }: list */
	PART_BACKTICK,	/* `...`: text, one level of \ taken away; not parsed:
			 * an error in it is found only when it is reached */
	PART_PROCESS,	/* <(...), >(...): list, sign */
	PART_ARITH	/* $((...)), $[...]: parts */
};

struct part {
	enum part_kind	 kind;
	char		 sign;		/* PART_PROCESS: '<' or '>' */
	struct part	*next;
	const char	*text;
	size_t		 len;
	struct part	*parts;
	struct list	*list;
	struct param	*param;
	uint32_t	 from;
	uint32_t	 to;
};

/*
 * ${...}.  op is what stands behind the name, '\0' for nothing:
 *
 *	'-' '=' '?' '+'		with colon set or not; word
 *	'#' '%' '^' ',' '~'	doubled or not; word
 *	'/'			doubled: //; anchor '#' or '%' or 0; word, with
 *	':'			offset in word, length in with
 *	'@'			word is one letter: Q E P A K a u U L k
 *	'!'			not understood: bad substitution; word is all
 */
struct param {
	const char	*name;		/* a name, digits, or one of @*#?-$! */
	size_t		 nlen;
	int		 length;	/* ${#x} */
	int		 indirect;	/* ${!x} */
	int		 names;		/* ${!x*} ${!x@}: '*' or '@' */
	struct part	*subscript;	/* of ${x[...]}, or NULL */
	int		 has_subscript;
	char		 op;
	int		 colon;
	int		 doubled;
	char		 anchor;
	struct part	*word;
	struct part	*with;
	int		 has_with;
};

/* A word, or an assignment in front of a command. */
struct ast_word {
	struct ast_word	*next;
	struct part	*parts;
	uint32_t	 from;
	uint32_t	 to;
	/* name[subscript]=value, name+=value, name=(elements) */
	const char	*name;		/* NULL: a plain word */
	size_t		 nlen;
	struct part	*subscript;
	int		 has_subscript;
	int		 appends;
	int		 is_array;
	struct ast_word	*elements;
	struct part	*value;		/* the parts behind "=" */
};

enum redir_op {
	REDIR_IN, REDIR_OUT, REDIR_APPEND, REDIR_CLOBBER, REDIR_BOTH,
	REDIR_DUP_IN, REDIR_DUP_OUT, REDIR_ALL, REDIR_ALL_APPEND,
	REDIR_HERE, REDIR_HERE_TABS, REDIR_HERE_STRING
};

struct ast_redir {
	struct ast_redir *next;
	enum redir_op	 op;
	int		 fd;		/* -1: by the operator */
	const char	*fd_name;	/* {name}>, or NULL */
	struct ast_word	*target;	/* or the delimiter */
	int		 quoted;	/* here-document: nothing expands */
	const char	*body;		/* here-document, or NULL */
	size_t		 body_len;
};

enum node_kind {
	NODE_SIMPLE, NODE_PIPE, NODE_AND, NODE_OR, NODE_SUBSHELL, NODE_GROUP,
	NODE_IF, NODE_WHILE, NODE_UNTIL, NODE_FOR, NODE_CFOR, NODE_SELECT,
	NODE_CASE, NODE_FUNCTION, NODE_ARITH, NODE_COND, NODE_COPROC
};

struct case_item {
	struct case_item *next;
	struct ast_word	*patterns;
	struct list	*body;		/* may be NULL */
	char		 end;		/* '.' ;;  '&' ;&  '*' ;;& */
};

/* [[ ]]: a tree of its own. */
enum cond_kind {
	COND_WORD, COND_UNARY, COND_BINARY, COND_NOT, COND_AND, COND_OR
};

struct cond {
	enum cond_kind	 kind;
	const char	*op;		/* "-f", "==", "-eq", "=~" ... */
	struct ast_word	*left;
	struct ast_word	*right;
	struct cond	*a;
	struct cond	*b;
};

struct node {
	enum node_kind	 kind;
	struct node	*next;		/* of a pipe's stages */
	int		 negated;	/* ! (an odd number) */
	int		 timed;		/* time */
	int		 piped_stderr;	/* |& behind it */
	int		 truth_only;	/* no command: "!", "time" alone */
	struct ast_word	*assigns;
	struct ast_word	*words;
	struct ast_redir *redirs;
	uint32_t	 from;
	uint32_t	 to;
	/* A NODE_SIMPLE ends here: there are thousands of them. */
	struct node	*left;		/* AND, OR; PIPE: the first stage */
	struct node	*right;
	struct list	*cond;		/* IF, WHILE, UNTIL */
	struct list	*body;
	struct node	*otherwise;	/* IF: elif (a NODE_IF) */
	struct list	*other;		/* IF: else */
	struct node	*function;	/* FUNCTION: its body; COPROC */
	const char	*name;		/* FOR, SELECT, FUNCTION, COPROC */
	int		 has_in;	/* FOR, SELECT: "in" was there */
	struct ast_word	*subject;	/* CASE */
	struct case_item *items;
	struct part	*arith[3];	/* ARITH: [0]; CFOR */
	struct cond	*test;		/* COND */
};

/* Commands one after another. */
struct list {
	struct item {
		struct item	*next;
		struct node	*node;
		int		 async;	/* & */
	} *first;
};

#endif
