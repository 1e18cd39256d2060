/*
 * What was found in a judged call, for the person who is asked about it:
 * protocol.h's explanation.
 */
#ifndef JUDGED_EXPLAIN_H
#define JUDGED_EXPLAIN_H

#include "arguments.h"
#include "shell/judging.h"

/*
 * A sealed memfd with the explanation: the commands that were judged, each
 * with the worst that was found of it, and the paths that they and the
 * arguments name, absolute from cwd where that is known.  The judging may be
 * NULL: of a tool without a command.  -1 when it can't be made; the verdict
 * stands without it.
 */
int	explain_memfd(const struct judging *, const struct arguments *,
	    const char *cwd);

/*
 * The words of a command in one line, as far as they are known; "[...]"
 * stands for what is not, "[N bytes]" for a long word, and " ..." for words
 * that do not fit.  size is more than 8.
 */
void	explain_words(const struct command *, char *dst, size_t size);

/* 1 if a word of any command is not known before it runs. */
int	explain_unresolved(const struct judging *);

#endif
