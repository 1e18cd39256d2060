/*
 * Among the files of egress.
 */
#ifndef MYELIN_POLICYD_EGRESS_INTERNAL_H
#define MYELIN_POLICYD_EGRESS_INTERNAL_H

#include <stdint.h>
#include <sys/queue.h>

#include "egress.h"
#include "ids.h"
#include "slice.h"

#define GRANTS_MAX	256	/* of a neuron */
#define DENIALS_MAX	32	/* different ones that a call keeps */
#define HELD_HOSTS	8	/* that are named where records are summed up */

/* One host and port that a person let a neuron reach. */
struct egress_grant {
	TAILQ_ENTRY(egress_grant) entry;
	char		 host[EGRESS_NAME_MAX + 1];
	uint16_t	 port;		/* 0: those of a rule without ports */
	unsigned	 what;		/* EGRESS_GRANT_ONCE or _SESSION */
	unsigned	 flags;		/* EGRESS_F_* */
	char		 approval[ID_SIZE];
	uint64_t	 until;		/* of one that is for once */
};

/* Records of a neuron that come too fast, summed up. */
struct egress_held {
	uint64_t	 times, up, down;
	char		 hosts[HELD_HOSTS][EGRESS_NAME_MAX + 1];
	size_t		 nhosts;
	int		 more;		/* hosts that are not named */
	uint64_t	 tokens;	/* us of the clock that may be spent */
	uint64_t	 when;		/* they were counted last */
};

/* A neuron whose listeners are there. */
struct egress {
	unsigned	 which;		/* LISTENER_* */
	unsigned	 generation;	/* of the channel that has them */
	TAILQ_HEAD(, egress_grant) grants;
	unsigned	 ngrants;
	struct egress_held held;
};

/* What a call has of egress. */
struct egress_call {
	unsigned	 told;	/* generation of EGRESS_CALL; 0: none */
	unsigned	 sent;	/* generation of EGRESS_RUN; 0: not yet */
	uint64_t	 since;
	struct event	*timer;
	json_t		*denials;	/* array, or NULL */
	uint64_t	 more;		/* denials that are not in it */
};

/* Something that was denied, or let through and over. */
struct egress_news {
	char		 neuron[ID_SIZE];
	uint16_t	 port;
	unsigned	 via;
	char		 host[512];
	char		 address[64];
	char		 rule[256];
	/* EGRESS_DENIED */
	uint32_t	 times;
	char		 detail[512];
	char		 next[512];
	/* EGRESS_LOG */
	unsigned	 end;
	uint64_t	 up, down;
	uint32_t	 ms;
};

/* ---- egress.c ---- */

unsigned egress_generation(void);	/* of the channel; 0: there is none */
struct imsg *egress_new(enum msg_type);
int	egress_send(struct imsg *);
/* 1 if egressd has this neuron's listeners. */
int	egress_has(const struct neuron *);

/* ---- egress_run.c ---- */

struct egress_call *egress_call(struct call *);
/* EGRESS_CALL of all that runs in it: egressd knows it from now on. */
void	egress_tell_calls(struct neuron *);
/* Those that this egressd carried out end. */
void	egress_runs_lost(void);
int	egress_on_ended(void *, struct imsg *);
/* The call of request_egress that runs in it for this scope, or NULL. */
struct call *egress_asker(const struct neuron *, unsigned what);

/* ---- egress_grant.c ---- */

void	egress_tell_grants(const struct neuron *);
/* 1 if something that was granted to it is in force. */
int	egress_granted(const struct neuron *);
void	egress_grants_free(struct egress *);
int	egress_on_granted(void *, struct imsg *);
int	egress_on_spent(void *, struct imsg *);
json_t	*egress_grants_json(const struct egress *);

/* ---- egress_show.c ---- */

const char *egress_state(void);		/* "up", "down" or "off" */

/* ---- egress_log.c ---- */

int	egress_on_denied(void *, struct imsg *);
int	egress_on_log(void *, struct imsg *);
/* What is summed up of a neuron is written down: it goes. */
void	egress_held_end(const char *neuron, struct egress *);

#endif
