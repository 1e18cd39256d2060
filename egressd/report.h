/*
 * What policyd is told: refusals, before the client hears of them, and what
 * was let through, at its end.
 */
#ifndef EGRESSD_REPORT_H
#define EGRESSD_REPORT_H

#include <event2/event_struct.h>
#include <stdint.h>

#include "host.h"
#include "protocol.h"
#include "refusal.h"

#define DENIALS_KEPT	16

struct channel;
struct neuron;

struct denial {
	enum refusal	 why;
	enum egress_via	 via;
	uint16_t	 port;
	uint32_t	 times;		/* not told yet; 0: the place is free */
	char		 host[EGRESS_NAME_MAX + 1];
	char		 address[ADDRESS_TEXT_MAX];
	char		 rule[256];
	char		 detail[REFUSAL_DETAIL_MAX];
};

/*
 * Of one neuron.  Each refusal is told at once as long as there are not too
 * many in a second; then they are counted and told together.
 */
struct denials {
	struct neuron	*neuron;
	unsigned	 tokens;
	uint64_t	 filled;	/* ms */
	struct event	 timer;
	struct denial	*kept;		/* DENIALS_KEPT, or NULL */
	char		 dns[EGRESS_NAME_MAX + 1];	/* last of a query */
	uint64_t	 dns_until;
};

void	denials_init(struct denials *, struct neuron *);
void	denials_free(struct denials *);
/* A call begins. */
void	denials_begin(struct denials *);

/* The channel to policyd; NULL: there is none. */
void	report_channel(struct channel *);
/* 1 if policyd is behind: no new work for a moment. */
int	report_busy(void);

/* host, address, rule and detail may be NULL. */
void	report_denied(struct neuron *, enum refusal, enum egress_via,
	    const char *host, uint16_t port, const char *address,
	    const char *rule, const char *detail);

struct passed {
	enum egress_via	 via;
	enum egress_end	 end;
	uint16_t	 port;
	uint64_t	 up, down;	/* bytes */
	uint64_t	 began;		/* ms */
	const char	*host, *address, *rule;
};
void	report_passed(struct neuron *, const struct passed *);
void	report_spent(struct neuron *, const char *host, uint16_t port);
void	report_granted(struct neuron *, const char *host, uint16_t port,
	    unsigned what, unsigned flags);
void	report_ended(const char *call, unsigned cause, int code,
	    uint32_t us, const char *detail);

#endif
