/*
 * What is judged: one program with its words, all wrappers taken off.
 */
#ifndef JUDGE_SUBJECT_H
#define JUDGE_SUBJECT_H

#include <stddef.h>

#include "command.h"
#include "../shell/names.h"
#include "../shell/judging.h"
#include "../shell/shell.h"

struct subject {
	struct judging		*j;
	const struct command	*c;	/* the whole: its places, stdin, cwd */
	const struct word	*argv;	/* the program and its words */
	size_t			 argc;	/* at least 1 */
	const char		*name;	/* argv[0] without directories */
	struct outcome		*out;
	unsigned		 flags;	/* FINDING_* of what is found */
	const struct word	*path;	/* what is changed, or NULL */
	const struct finding_hosts *hosts; /* what is reached, or NULL */
};

/* text if every byte of it is known, else NULL. */
const char *word_static(const struct word *);
/* What it certainly begins with; never NULL. */
const char *word_start(const struct word *);
/* The same of code: WORD_HOLE stands where it is not known. */
const char *word_code(const struct word *);
/* 1 if it is text, or may become it. */
int	word_is(const struct word *, const char *text);
/* 1 if the whole is known; a pattern counts as known. */
int	word_known(const struct word *);

/* A word of the arena that is text and came from where w did. */
struct word *word_make(struct judging *, const char *text,
	    const struct word *w);
/* The end of w behind its first n bytes. */
struct word *word_rest(struct judging *, const struct word *w, size_t n);

/* What stands behind the last slash. */
const char *base_name(const char *);

/* 1 if name is one of a NULL-terminated list. */
int	in_list(const char *name, const char *const *list);

/*
 * Judges argv as a command of its own: what a wrapper starts.  Its stdin,
 * place and directory are those of s; redirects were judged already.
 */
void	subject_argv(const struct subject *s, const struct word *argv,
	    size_t argc);
/* The same from another directory (NULL: unknown), or with another stdin. */
void	subject_argv_at(const struct subject *s, const char *cwd,
	    const struct word *argv, size_t argc);

/* The command that a wrapper starts, of the arena. */
struct command *subject_command(const struct subject *, const char *cwd,
	    const struct word *argv, size_t argc);

/* The words from that one on as the one line that a shell will read. */
const struct word *subject_join(const struct subject *, size_t from);

/* Judges code that a shell started by s reads from a word. */
void	subject_code(const struct subject *s, enum dialect,
	    enum shell_who, const struct word *code);

/* 1 if so much code may be read, once more perhaps; else that asks. */
int	subject_affords(const struct subject *, size_t len);

/*
 * Judges code that stands where one would not look for it (an option, a
 * script): more than reading asks.
 */
void	subject_hidden_code(const struct subject *s, const struct word *code);

/*
 * 1 if argv would be a hard deny.  Finds nothing.
 */
int	subject_would_deny(const struct subject *s, const struct word *argv,
	    size_t argc);
/* What code would be, by default.  Finds nothing. */
enum verdict	subject_code_verdict(const struct subject *s, const char *text,
	    size_t len);

#endif
