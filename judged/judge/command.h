/*
 * A command as the shell would run it, with what is known of its words, and
 * what the classification answers about it.  Made by the resolver
 * (judged/shell), judged by judged/judge.
 *
 * Everything here lives in the arena of a judging (shell/judging.h): nothing
 * is freed, and nothing is changed once it was handed over.
 */
#ifndef JUDGE_COMMAND_H
#define JUDGE_COMMAND_H

#include <stddef.h>
#include <stdint.h>

struct judging;

/*
 * A word after all expansions.  text is what is known of it, quotes removed:
 *
 *	flags 0			the word is exactly text
 *	WORD_PREFIX		text is its beginning; more follows, unknown
 *	text NULL		nothing is known (WORD_PREFIX is set too)
 *	WORD_GLOB		text holds an unquoted *, ? or [...]: the word
 *				is that pattern, or any paths that match it
 *	WORD_SPLITS		of an unknown, unquoted expansion: the word may
 *				be absent, or be several, each with any text
 *				(also options); text is then the first's
 *				beginning
 *	WORD_EMPTY		may as well be the empty word
 *	WORD_QUOTED		some of it was quoted: never a reserved word
 *	WORD_NETWORK		some of it came from the network
 *	WORD_WORKSPACE		unknown, but names of files that a pattern
 *				without "/" in front matched: stays in cwd
 *	WORD_FOUND		unknown, but what a search found by more than
 *				its type: not all that there is
 *
 * from and to are the bytes of the outermost text that it stands for.
 */
#define WORD_PREFIX	0x01
#define WORD_GLOB	0x02
#define WORD_SPLITS	0x04
#define WORD_EMPTY	0x08
#define WORD_QUOTED	0x10
#define WORD_NETWORK	0x20
#define WORD_WORKSPACE	0x40
#define WORD_FOUND	0x80

struct word {
	const char	*text;		/* NUL-terminated, or NULL */
	size_t		 len;
	unsigned	 flags;
	uint32_t	 from;
	uint32_t	 to;
	const char	*whole;		/* of what is not known to its end:
					 * NULL, or all of it as code, with
					 * WORD_HOLE where it is not known */
};
/* a variable that nobody sets, and no command of sed or awk */
#define WORD_HOLE	"${_0}"

/* Known to the last byte. */
#define WORD_IS_STATIC(w)	((w)->text != NULL && \
	((w)->flags & (WORD_PREFIX | WORD_GLOB | WORD_SPLITS)) == 0)

/* Bytes that a command reads or prints, or that a file holds. */
enum content_kind {
	CONTENT_NONE,		/* nothing: /dev/null, or no output */
	CONTENT_TEXT,		/* exactly text */
	CONTENT_UNKNOWN,	/* text is the known beginning, or NULL */
	CONTENT_NETWORK,	/* unknown, and from the network */
	CONTENT_INHERITED	/* as stdin only: what the call's stdin is */
};

struct content {
	enum content_kind	 kind;
	const char		*text;	/* may hold NUL bytes */
	size_t			 len;
	const char		*path;	/* of the file it is of, or NULL */
	unsigned		 names;	/* NAMES_*: its lines name files */
	const char		*whole;	/* as of a word */
};
#define NAMES_ALL	0x01	/* those of text, and all that lies below them */
#define NAMES_FOUND	0x02	/* what a search found by more than its type */
#define NAMES_INSIDE	0x04	/* all of them in home, a workspace or /tmp */

/* After the words of a redirect; here-documents are in the input instead. */
enum redirect_op {
	REDIRECT_READ,		/* <		*/
	REDIRECT_WRITE,		/* > >| &> >&	truncates */
	REDIRECT_APPEND,	/* >> &>>	*/
	REDIRECT_BOTH,		/* <>		*/
	REDIRECT_DUP		/* >&n <&n, n- and - : target is the word */
};

struct redirect {
	enum redirect_op	 op;
	int			 fd;	/* -1: {name}> or more than one */
	struct word		 target;
};

struct assignment {
	const char	*name;
	struct word	 value;
	int		 appends;	/* += */
};

/*
 * Shells whose text is read.  DIALECT_OTHER is zsh, ksh, fish and whatever
 * else calls itself a shell: read as bash, and at least ask.
 */
enum dialect { DIALECT_BASH, DIALECT_DASH, DIALECT_OTHER };

/*
 * A simple command, one alternative of each of its words.  argc may be 0: a
 * command of assignments and redirects alone.
 */
struct command {
	const struct word	*argv;
	size_t			 argc;
	const struct assignment	*assigns;	/* in front; also env's */
	size_t			 nassigns;
	const struct redirect	*redirects;
	size_t			 nredirects;
	struct content		 input;		/* its stdin */
	const char		*cwd;		/* absolute, folded; or NULL */
	const char		*home;		/* as HOME is now; or NULL */
	enum dialect		 dialect;
	unsigned		 flags;		/* COMMAND_* */
	uint32_t		 from;	/* bytes of the outermost text */
	uint32_t		 to;
};

#define COMMAND_BUILTIN	0x01	/* the resolver has done what argv[0] does in
				 * the shell itself (cd, eval, export, ...):
				 * any code in it was judged */
#define COMMAND_ASYNC	0x02	/* in the background */
#define COMMAND_PIPED	0x04	/* stdout is a pipe into another command */
#define COMMAND_FUNCTION 0x08	/* inside a function's body, judged with
				 * unknown arguments */
#define COMMAND_DEEP	0x20	/* beyond the bound of nesting: what it starts
				 * is judged, but no more ... */
#define COMMAND_DEEPEST	0x40	/* ... than that */
#define COMMAND_EXPANDS	0x10	/* a [[ ]], (( )), case, for: no program runs;
				 * argv is empty */

/* What the resolver is told about a command that was judged. */
struct outcome {
	struct content	 output;	/* its stdout */
};

/*
 * Judges one command: its program through all wrappers, its operands, its
 * redirects and assignments.  What it finds goes to judging_find
 * (shell/judging.h); an allow is a finding too.  Code in strings goes back
 * to shell_judge, files written to shell_file_set.  For output that it can't
 * tell better it asks shell_produce.  Called with the same command more than
 * once (loops, alternatives): findings that repeat are dropped there.
 */
void	judge_command(struct judging *, const struct command *,
	    struct outcome *);

/*
 * A variable gets a value: by itself, by export and the like, in front of a
 * command or through env.  Judges variables that later execute (GIT_PAGER,
 * LD_PRELOAD, ...).  The shell's own ones (PS4, PROMPT_COMMAND, BASH_ENV,
 * BASH_FUNC_*) were given to shell_variable by whoever calls this.
 */
void	judge_variable(struct judging *, const struct command *,
	    const char *name, const struct word *value);

/*
 * A function was defined that starts itself in a pipe or in the background
 * (a fork bomb), named so, at these bytes.
 */
void	judge_forkbomb(struct judging *, const char *name, uint32_t from,
	    uint32_t to);

/*
 * The next name of a program that a pattern in command position could mean:
 * i counts from 0, NULL ends the list.  The programs of the hard denies.
 */
const char *judge_dangerous(size_t i);

#endif
