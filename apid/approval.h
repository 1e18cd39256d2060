/*
 * Approvals as an operator sees them: what policyd knows, and the call's own
 * parts, which it passed on unread.
 */
#ifndef APID_APPROVAL_H
#define APID_APPROVAL_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct conn;

enum shown_which {
	SHOWN_ARGUMENTS, SHOWN_EXPLANATION, SHOWN_INPUT, SHOWN_JSON,
	SHOWN_PARTS
};

/* Bytes of one; NULL: it did not come. */
struct shown_part {
	const uint8_t	*bytes;
	size_t		 size;
	int		 mapped;
};

/* The flag of APPROVAL_SHOWN that says that a part comes. */
extern const unsigned shown_flags[SHOWN_PARTS];

/* Takes fd over.  0, or -1. */
int	shown_map(struct shown_part *, int fd);
void	shown_unmap(struct shown_part *);

/*
 * The answer: what policyd said, with "arguments", "shown", "input",
 * "commands", "paths" and "commands_cut".  clean: secrets are taken out.
 * NULL where policyd's part is not JSON, or memory is out.
 */
json_t	*approval_parts_json(const struct shown_part[SHOWN_PARTS],
	    int clean);
/* Answers with it. */
void	approval_show(struct conn *, const struct shown_part[SHOWN_PARTS],
	    int clean);

/*
 * A copy in which every string is visible (visible.h), names of members too;
 * the other is let go.
 */
json_t	*approval_visible(json_t *);
/* Answers with JSON of policyd's, made visible. */
void	approval_answer(struct conn *, int status, const char *json, size_t n,
	    void *);

#endif
