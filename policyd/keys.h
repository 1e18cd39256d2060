/*
 * API keys: the list, what operators do with it, and look-ups by token.
 *
 * A key is a token's SHA-256, never the token, under an id and a name.  The
 * name is the principal ("key:NAME"), and has a number that is its own for
 * good: a new token of it, or a name that comes again, begins no new budget.
 */
#ifndef MYELIN_POLICYD_KEYS_H
#define MYELIN_POLICYD_KEYS_H

#include <stdint.h>
#include <sys/queue.h>

#include <jansson.h>

#include "api.h"
#include "query.h"
#include "store.h"

#define KEYS_MOST	1024	/* that are kept, those of no use included */
#define KEY_LIFE_MOST	315360000 /* s: ten years */
#define KEY_OVERLAP_MOST 2592000 /* s that a rotated one may go on */

struct key {
	TAILQ_ENTRY(key) entry;
	struct key_row	 row;
	uint32_t	 number;	/* of its principal */
	uint64_t	 used_kept;	/* us of the day: as the row has it */
};

/* Reads them from the database.  0, or -1 after saying why. */
int	keys_start(void);
void	keys_end(void);

/*
 * The key of a token, in whatever state, or NULL.  The work is the same for
 * every token of one length: a hash, and a comparison with every key there
 * is, all in constant time.
 */
struct key *key_find(const char *token, size_t n);
/* NULL if it may be used now; else "revoked" or "expired". */
const char *key_unusable(const struct key *);
/* Its last use is now. */
void	key_used(struct key *);

/* "uid:1000" or "key:NAME" of a principal's number. */
void	principal_text(uint32_t number, char *dst, size_t size);
/* The number of such a text.  0, or -1 if it has none. */
int	principal_number(const char *text, uint32_t *number);
json_t	*principal_json(uint32_t number);

/* Once a minute: what expired is let go. */
void	keys_chores(void);
/* KEY_SET: answers.  text: the name of a new key, or an id. */
void	keys_set(const struct reply_to *, const struct peer *, unsigned what,
	    uint32_t seconds, const char *text);
json_t	*query_keys(const struct query *, struct refusal *);

#endif
