/*
 * Shell text: read, resolved without running it, and each command in it given
 * to judge_command (judge/command.h).
 */
#ifndef SHELL_SHELL_H
#define SHELL_SHELL_H

#include <stddef.h>
#include <stdint.h>

#include "judge/command.h"

/*
 * Who runs a text.
 *
 *	SHELL_SAME	this shell: eval, trap, source.  It sees and changes its
 *			variables, functions and directory
 *	SHELL_CHILD	a program that it starts: bash -c.  It sees the exported
 *			variables (others may be unset) and changes nothing here
 *	SHELL_ELSEWHERE	another host or user: ssh, su -.  Nothing is known but
 *			the text, and that it begins in a home
 */
enum shell_who { SHELL_SAME, SHELL_CHILD, SHELL_ELSEWHERE };

/* How a text is started; all zero but command is fine. */
struct shell_start {
	enum shell_who		 who;
	const struct command	*command; /* whose cwd, input, assignments
					   * and bytes count; not NULL */
	const struct word	*argv;		/* $0, $1, ...; NULL: unknown */
	size_t			 argc;
	int			 code_on_stdin;	/* the text is the input: what
						 * it starts has none */
};

/*
 * Judges a text as code, now.  Whatever bound or error there is ends as a
 * finding that asks.  out (may be NULL) says what it prints.  Re-parsed text
 * counts against the bounds.
 */
void	shell_judge(struct judging *, const char *text, size_t len,
	    enum dialect, const struct shell_start *, struct outcome *);

/*
 * The same for a word: NULL or unknown text asks as opaque, a known
 * beginning is judged too, what came from the network asks as remote code.
 */
void	shell_judge_word(struct judging *, const struct word *, enum dialect,
	    const struct shell_start *, struct outcome *);

/*
 * And for what a shell reads from stdin or from a file.  CONTENT_INHERITED
 * and CONTENT_NONE judge nothing: whether that asks is the caller's.
 */
void	shell_judge_content(struct judging *, const struct content *,
	    enum dialect, const struct shell_start *, struct outcome *);

/*
 * The output of a pure producer (echo, printf, cat, base64 -d, tee, which,
 * pwd, basename, dirname, true): text, or CONTENT_UNKNOWN for other programs.
 */
void	shell_produce(struct judging *, const struct command *,
	    struct content *out);

/*
 * What a file holds by what this text did to it; CONTENT_INHERITED if it was
 * not touched.  A relative path counts from the command's cwd.
 */
void	shell_file_get(struct judging *, const struct command *,
	    const struct word *path, struct content *);
void	shell_file_set(struct judging *, const struct command *,
	    const struct word *path, const struct content *);

/*
 * A variable of the environment that a shell itself executes or expands
 * (PS4, BASH_ENV, ENV, PROMPT_COMMAND, BASH_FUNC_x%%): judges its value.
 * To be called before judge_variable for variables that env and the like
 * set; for others nothing happens.  The resolver does it for its own.
 */
void	shell_variable(struct judging *, const struct command *,
	    const char *name, const struct word *value);

/*
 * text is absolute or relative to cwd; the answer is absolute, without ".",
 * "//" and "..".  NULL if cwd is needed and is NULL.  In the arena.
 */
const char *shell_path(struct judging *, const char *cwd, const char *text);

/*
 * The words with spaces between, as code: WORD_HOLE stands where they are not
 * known.  NULL if that is more than is followed.  In the arena.
 */
const char *shell_whole(struct judging *, const struct word *, size_t n);

/* 1 if the text matches the pattern (*, ?, [...]); linear in both. */
int	shell_match(const char *pattern, const char *text);

#endif
