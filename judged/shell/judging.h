/*
 * One judging of one text: its memory, its bounds and what was found.
 *
 * All memory is in an arena with a bound.  An allocation that fails, or one
 * over the bound, does not return: judging_run catches it, and what was found
 * so far stands, with a finding that asks beside it.  So no error path can
 * allow anything.
 */
#ifndef SHELL_JUDGING_H
#define SHELL_JUDGING_H

#include <stddef.h>
#include <stdint.h>

#include "judge/command.h"
#include "protocol.h"

/*
 * Of a large thing on the stack of which no more is looked at than was set: to
 * zero it for each of thousands of commands takes longer than to judge them.
 */
#define SET_BEFORE_USE	__attribute__((uninitialized))

#define JUDGE_TEXT_MAX		(64 * 1024)	/* bytes of a text */
#define JUDGE_AGAIN_MAX		(256 * 1024)	/* bytes re-parsed in all ... */
#define JUDGE_AGAIN_FACTOR	8		/* ... and times the text's */
#define JUDGE_AGAIN_LEAST	4096		/* of any text */
#define JUDGE_AGAIN_EACH	12		/* what beginning one counts */
#define JUDGE_AGAIN_OVER	(16 * 1024)	/* commands in it, once over
						 * the bound of commands ... */
#define JUDGE_AGAIN_BYTES	(32 * 1024)	/* ... and bytes of it */
#define JUDGE_DEPTH_MAX		32		/* of nesting */
#define JUDGE_VALUES_MAX	8		/* of a variable */
#define JUDGE_VARIABLES_MAX	256
#define JUDGE_BRACES_MAX	64		/* results of a word ... */
#define JUDGE_BRACES_ALL	(32 * 1024)	/* ... and of all words */
#define JUDGE_COMMANDS_MAX	4096		/* simple commands judged */
#define JUDGE_WORDS_MAX		(64 * 1024)	/* and words of them */
#define JUDGE_FINDINGS_MAX	4096		/* kept to be explained */
#define JUDGE_ARENA_MAX		(96 * 1024 * 1024)

/*
 * One thing found.  rank orders findings of one verdict (the greater one
 * decides); what has the same verdict and rank is decided by the first.
 */
struct cf_rule;

/* Hosts that a command reaches, as far as its words say. */
struct finding_hosts {
	const char	**v;
	size_t		 n;
	size_t		 room;		/* of v */
	int		 unsure;	/* there may be others */
	int		 proxied;	/* reached through something else */
};

struct finding {
	enum verdict		 verdict;	/* ALLOW, ASK or DENY */
	unsigned		 rank;
	const char		*class;		/* "read", "hard:wipe", ... */
	enum effect		 effect;
	uint32_t		 marks;
	const char		*rule;		/* what decided, in words */
	const char		*next;		/* what could be done, or "" */
	const struct command	*command;	/* or NULL: the text itself */
	uint32_t		 from;	/* bytes of the outermost text */
	uint32_t		 to;
	unsigned		 flags;		/* FINDING_* */
	const struct word	*path;		/* that is changed, or NULL */
	const struct finding_hosts *hosts;	/* NULL: no network */
	const struct cf_rule	*by;		/* the rule that decided */
};
#define FINDING_FIRM	0x01	/* no rule lifts it: a bound was hit, or the
				 * rest of the text was not read */
#define FINDING_SIDE	0x02	/* of a redirect or a variable, and not of what
				 * the program does */
#define FINDING_TREE	0x04	/* path and all that is below it */
#define FINDING_NETWORK	0x10	/* it certainly reaches the network */
#define FINDING_MAYBE	0x08	/* by may hold: a word is not known */

/* What is known before the text runs. */
struct judge_context {
	const char	*cwd;		/* absolute; NULL: unknown */
	const char	*home;		/* NULL: unknown */
	const char	*user;
	const char	*shell;
	const char	*const *roots;	/* of workspaces, judged as HOME */
	size_t		 nroots;
	int		 streamed;	/* its stdin comes from outside */
	/* Rules: called for each finding before it counts; may be NULL. */
	void		(*found)(struct judging *, struct finding *);
	void		*rules;		/* its own; not const */
	const char	*const *own;	/* paths of Myelin's own */
	size_t		 nown;
};

/* NULL when memory is out. */
struct judging *judging_new(const struct judge_context *);
void	judging_free(struct judging *);

/*
 * Judges the text of a call.  Always ends with a verdict; a text over its
 * bound, with a NUL or not in UTF-8 asks.
 */
void	judging_run(struct judging *, const char *text, size_t len,
	    enum dialect);
/*
 * Judges one command that no shell reads (exec): argv as it is.
 */
void	judging_run_argv(struct judging *, const char *const *argv,
	    size_t argc);

/*
 * Runs what finds by itself, of what is no command: when memory runs out in
 * it, a finding asks.
 */
void	judging_run_with(struct judging *, void (*)(struct judging *, void *),
	    void *);

const struct judge_context *judging_context(const struct judging *);

/* The answer: the finding that decides; never NULL after a run. */
const struct finding *judging_decides(const struct judging *);
/* The worst effect and all marks of what would run. */
enum effect judging_effect(const struct judging *);
uint32_t judging_marks(const struct judging *);
/* All findings, in the order in which they were made; repeats are dropped. */
size_t	judging_count(const struct judging *);
const struct finding *judging_at(const struct judging *, size_t);

/* Adds a finding; its strings must be static or in the arena. */
void	judging_find(struct judging *, const struct finding *);
/*
 * A finding that asks because something is not known or not understood:
 * class "opaque" (mark OPAQUE) or "unparsable".  c gives words and place.
 */
void	judging_ask(struct judging *, const char *class, const char *rule,
	    const struct command *c);

/*
 * The worst verdict of what body finds (0: nothing), of which nothing is kept:
 * for what would be denied if it ran.  Work and memory count all the same.
 */
enum verdict judging_probe(struct judging *, void (*body)(void *), void *);

/*
 * What a text makes of itself (values that double, lists that are copied,
 * patterns that are tried) may take so many bytes of work in all.  1 if these
 * are still within it; else the caller takes what it would make as unknown.
 */
#define JUDGE_GROWN_MAX	(2 * 1024 * 1024)
int	judging_afford(struct judging *, size_t bytes);
/* 1 once more commands or words were judged than the bounds allow: each
 * command that is left is judged once, and nothing over and over. */
int	judging_over(const struct judging *);

/* Memory of the judging; zeroed; never NULL (see above). */
void	*judging_alloc(struct judging *, size_t size)
	    __attribute__((__malloc__, __returns_nonnull__));
char	*judging_strndup(struct judging *, const char *, size_t)
	    __attribute__((__malloc__, __returns_nonnull__));

/*
 * Work is counted in steps, so that tests can bound it without a clock.
 * judging_step returns 0 once the bound of commands is used up.
 */
int	judging_step(struct judging *);
uint64_t judging_steps(const struct judging *);

/* One more level of nesting: 0 and an ask if there are too many. */
int	judging_enter(struct judging *, const struct command *);
void	judging_leave(struct judging *);

/* 1 if so many bytes may be parsed again, else 0 and an ask. */
int	judging_again(struct judging *, size_t, const struct command *);

#endif
