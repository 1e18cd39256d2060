/*
 * From text to a tree, one complete command at a time, as a shell reads it:
 * what comes before a syntax error has run by then.
 */
#ifndef SHELL_PARSER_H
#define SHELL_PARSER_H

#include <stddef.h>
#include <stdint.h>

#include "ast.h"
#include "judge/command.h"

/* Levels of recursion: bounds the stack. */
#define PARSE_DEPTH_MAX	160

enum parse_error { PARSE_OK, PARSE_SYNTAX, PARSE_BOUND };

struct heredoc;

struct parser {
	struct judging	*j;
	const char	*s;
	size_t		 len;
	size_t		 pos;
	enum dialect	 dialect;
	int		 extglob;	/* shopt -s extglob was run */
	int		 fixed;		/* all places are from..to */
	uint32_t	 from;
	uint32_t	 to;

	enum parse_error error;
	size_t		 error_at;
	const char	*error_text;
	unsigned	 depth;
	int		 may_reserve;	/* a reserved word may stand here */
	int		 assignments;	/* behind declare, export, ... */
	int		 in_cond;	/* inside [[ ]] */
	struct heredoc	*heredocs;	/* whose bodies are to come */
	struct heredoc	**heredocs_end;
	char		*line;		/* room for here-documents */
	uint8_t		*tried;		/* where (( failed, a bit each */
	uint64_t	 steps;
};

/* Zeroes the parser and sets it to the text, which must stay. */
void	parser_init(struct parser *, struct judging *, const char *, size_t,
	    enum dialect);

/*
 * The next complete command: 1 and a list; 0 at the end; -1 on an error,
 * which ends it (error, error_at, error_text).
 */
int	parser_next(struct parser *, struct list **);

/*
 * The text as the inside of double quotes, as here-documents, prompts and
 * arithmetic are: 0 and its parts, or -1.
 */
int	parser_quoted(struct parser *, struct part **);
/* The text as one word (an alias, a value): 0 and the word, or -1. */
int	parser_words(struct parser *, struct ast_word **);

#endif
