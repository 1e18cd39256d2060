/*
 * The values that operators registered, as policyd tells of them: lengths and
 * keyed hashes, never a value (value_hash.h).
 */
#ifndef APID_VALUES_H
#define APID_VALUES_H

#include "secret.h"
#include "value_hash.h"

#define VALUES_WINDOW	VALUE_WINDOW

/* 1 if there are any. */
int	values_any(void);
/*
 * The first place at or after `from` where one may begin, all of its first
 * VALUES_WINDOW bytes there; size if there is none.
 */
size_t	values_next(const uint8_t *, size_t size, size_t from);
/* Whether one stands there; YES sets its length. */
enum secret_answer values_at(const uint8_t *, size_t left, int final,
	    size_t *length);

/*
 * A new table takes the old one's place whole, at values_end.  -1: a form
 * that can't be one, or more than there may be.
 */
void	values_begin(const struct value_key *);
int	values_add(const struct value_form *);
int	values_end(uint32_t forms);
/* policyd is gone, and the table half told. */
void	values_abort(void);

#endif
