/*
 * The rules: what a profile's lines and a neuron's grants say to a host.
 * Deny wins; what nothing allows is denied.
 *
 * An allow line without ports is for 443 and 80, a deny line without ports for
 * every port.  "*.SUFFIX" is for the names below SUFFIX, not for SUFFIX itself
 * and for no address.  A deny line with methods denies them alone where the
 * method can be seen, and everything where it can't.
 */
#ifndef EGRESSD_HOSTS_H
#define EGRESSD_HOSTS_H

#include <stddef.h>
#include <stdint.h>

#include "host.h"

#define GRANTS_MAX	256		/* of a neuron */
#define GRANT_ONCE_MS	600000		/* how long one for once can be used */

struct grants;				/* of one neuron */

struct grant {
	char		 name[EGRESS_NAME_MAX + 1];
	uint16_t	 port;		/* 0: 443 and 80 */
	unsigned	 what;		/* EGRESS_GRANT_ONCE or _SESSION */
	unsigned	 flags;		/* EGRESS_F_* */
	uint64_t	 until;		/* ms; 0: the session's end */
};

struct grants *grants_new(void);	/* NULL when memory is out */
void	grants_free(struct grants *);	/* NULL is fine */
/*
 * Adds one; the same again replaces it.  now is in ms, of any clock that only
 * goes forward.  Returns 0, or -1 when there are GRANTS_MAX.
 */
int	grants_add(struct grants *, const struct host *, uint16_t port,
	    unsigned what, unsigned flags, uint64_t now);
/* Takes one back that was for the session; there may be none. */
void	grants_remove(struct grants *, const struct host *, uint16_t port,
	    unsigned flags);
/*
 * Uses up the grant that a verdict stands on.  Returns 1 if it was one for
 * once and is gone now (EGRESS_SPENT), else 0.
 */
int	grants_use(struct grants *, const struct grant *);
size_t	grants_count(const struct grants *, uint64_t now);

struct want {
	const struct host *host;
	uint16_t	 port;
	const char	*method;	/* of plain HTTP; NULL: can't be seen */
	int		 writes;	/* a call that may write runs */
};

/* Bytes of a rule's name, NUL included. */
#define RULE_NAME_MAX	256

struct host_verdict {
	enum refusal	 why;		/* REFUSE_NOT: it may */
	unsigned	 flags;		/* HOST_F_* of lines that allow it */
	const struct cf_host *line;	/* that decided, or NULL */
	const struct grant *grant;	/* it stands on this one, or NULL:
					   valid until the grants change */
	char		 rule[RULE_NAME_MAX];	/* "FILE:LINE", "grant", or
						   the refusal's word */
};

/*
 * Judges.  The profile's egress may be NULL (it is gone: REFUSE_NO_PROFILE),
 * grants may be NULL.  Resolving and what comes of it is not judged here.
 */
void	hosts_judge(const struct cf_egress *, const struct grants *,
	    const struct want *, uint64_t now, struct host_verdict *);

/*
 * The same of a name alone, for a resolver: may it be reached on any port.
 */
void	hosts_judge_name(const struct cf_egress *, const struct grants *,
	    const struct host *, uint64_t now, struct host_verdict *);

/* 1 for the methods that read: GET, HEAD, OPTIONS. */
int	method_reads(const char *);

#endif
