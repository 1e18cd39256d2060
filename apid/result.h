/*
 * The results of calls, and those who wait for one.
 */
#ifndef APID_RESULT_H
#define APID_RESULT_H

#include <stddef.h>
#include <stdint.h>

struct call;
struct conn;

/* Whether policyd's record can be used as it stands (flat.h). */
int	result_is_plain(const char *json, size_t);
/*
 * Decides text or base64, and makes the record; once, at the end.  reason: the
 * record's, "" for none, cut to size.
 */
void	result_seal(struct call *, char *reason, size_t size);
/* Answers with the whole result, as fast as the client reads. */
void	result_send(struct conn *, struct call *);
/* Answers with call, session and state. */
void	result_send_state(struct conn *, const struct call *, int status);
/* Answers with the result, or after ms with 202 and the state. */
void	result_wait(struct conn *, struct call *, uint32_t ms);
/* The call is finished: those who wait get its result. */
void	result_wake(struct call *);

#endif
