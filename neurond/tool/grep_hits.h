/*
 * What a search found, as far as the answer has room for it.
 */
#ifndef MYELIN_TOOL_GREP_HITS_H
#define MYELIN_TOOL_GREP_HITS_H

#include <stddef.h>
#include <stdint.h>

#include "grep_json.h"

#define HIT_TEXT_MAX	2000	/* bytes told of a line */

struct tool;

struct hit_line {
	char		*text;		/* without its line end */
	size_t		 len;
	size_t		 skipped;	/* bytes of the line before the text */
	int64_t		 line;
	int		 cut;		/* the line is longer at the end */
	int		 context;
};

struct hit_file {
	char		*path;		/* below the search, as rg has it */
	size_t		 len;
	struct hit_line	*line;
	size_t		 n;
	size_t		 matches;
	int64_t		 binary;	/* where a NUL was, -1: nowhere */
};

struct hits {
	struct hit_file	*file;
	size_t		 n, room;
	size_t		 matches;	/* lines, or with files_only files */
	size_t		 limit;
	int64_t		 context;
	size_t		 cost;		/* bytes of the answer, about */
	size_t		 path_cost;	/* of what stands before each path */
	int		 more;		/* there was no room for some */
	int		 no_memory;
	int64_t		 last;		/* line of the file's last match */
	/* 1 if results of this file are wanted */
	int		(*wanted)(void *, const char *path, size_t len);
	void		*arg;
	int		 skip;		/* the file at hand is not */
};

/*
 * Takes an event of rg (grep_json.h); 0, or -1 if no more is wanted.
 */
int	hits_event(void *hits, const struct rg_event *);

/* Takes a path of "rg -l"; the same. */
int	hits_path(struct hits *, const char *path, size_t len);

/* By path; lines are in order already. */
void	hits_sort(struct hits *);
void	hits_free(struct hits *);

#endif
