/*
 * Secrets that operators registered, so that apid takes them out of what
 * programs print.  Values stay here: apid gets lengths and keyed hashes.
 *
 * At rest they are sealed (seal.h); without a key they live in memory alone
 * and say so.  What another host's key sealed is kept until it is entered
 * again or deleted.
 */
#ifndef MYELIN_POLICYD_SECRETS_H
#define MYELIN_POLICYD_SECRETS_H

#include "api.h"
#include "query.h"

/* Before the drop: the keys of the hashes.  0, or -1 after saying why. */
int	secrets_preload(void);
/* Reads what is kept.  0, or -1 after saying why. */
int	secrets_start(void);
void	secrets_end(void);

/* Tells an apid all of them: its channel is new, or they changed. */
void	secrets_tell(struct api *);

/* SECRET_SET of an operator who may manage: adds or deletes, answers. */
void	secrets_set(const struct reply_to *, const struct peer *,
	    unsigned what, const char *name, const uint8_t *value, size_t n);
/* QUERY_SECRETS: names, lengths and states. */
json_t	*query_secrets(const struct query *, struct refusal *);
/*
 * Values that are registered become "***" in a text, which gets no longer:
 * for the log and the audit log, which apid does not see.
 */
void	secrets_mask(char *text, size_t size);

/* For status: {count, needs_reentry, store}. */
json_t	*secrets_status(void);

#endif
