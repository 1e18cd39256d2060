/*
 * What "rg --json" prints, read as it comes.
 *
 * Lines of it may be of any length (a line of a file is in one, and each match
 * in it beside), so no more than the begin of one is ever held; of a line of a
 * file that does not fit its begin is told.
 */
#ifndef MYELIN_TOOL_GREP_JSON_H
#define MYELIN_TOOL_GREP_JSON_H

#include <stddef.h>
#include <stdint.h>

#define RG_HEAD_MAX	(256 * 1024)	/* bytes held of one line */
#define RG_TAIL_MAX	64		/* behind a line: its number */

enum rg_kind { RG_BEGIN, RG_MATCH, RG_CONTEXT, RG_END };

struct rg_event {
	enum rg_kind	 kind;
	const char	*path;		/* of the file; any bytes */
	size_t		 pathlen;
	const char	*text;		/* MATCH, CONTEXT: with its line end */
	size_t		 textlen;
	int		 cut;		/* text is only its begin */
	int64_t		 line;		/* its number, -1: not known */
	size_t		 start;		/* MATCH: of the first match in it */
	int64_t		 binary;	/* END: offset of a NUL, or -1 */
};

enum rg_state { RG_HEAD, RG_IN_STRING, RG_TAIL, RG_SKIP };

struct rg_reader {
	/* Called for each event; 0, or -1 to end. */
	int		(*event)(void *, const struct rg_event *);
	void		*arg;
	char		*head;		/* the caller's, room bytes */
	size_t		 room;		/* RG_HEAD_MAX, less in a test */

	enum rg_state	 state;
	size_t		 n;
	int		 escape;	/* the next byte is escaped */
	char		 tail[RG_TAIL_MAX + 1];
	size_t		 ntail;
	struct rg_event	 long_one;	/* waits for its number */
};

/*
 * Takes bytes.  0; 1 if event() said to end; -1 if they are not what rg
 * prints.
 */
int	rg_feed(struct rg_reader *, const char *, size_t);

#endif
