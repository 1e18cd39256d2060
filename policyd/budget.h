/*
 * What is counted per identity: its neurons, and its sessions and sessionless
 * calls within a sliding hour.  An identity is a uid, whatever line of the
 * configuration matched it and whatever connection it comes by, so that a new
 * connection, session or line resets nothing.
 */
#ifndef MYELIN_POLICYD_BUDGET_H
#define MYELIN_POLICYD_BUDGET_H

#include <stdint.h>
#include <sys/types.h>

#include <sys/tree.h>

#define HOUR_SECONDS	3600

/* A sliding hour, counted by the second. */
struct hour {
	uint64_t	 last;		/* the second counted last */
	uint64_t	 total;
	uint32_t	 slots[HOUR_SECONDS];
};

/* count more at second `now`.  A clock that went back counts as standing. */
void	 hour_add(struct hour *, uint64_t now, uint32_t count);
uint64_t hour_total(struct hour *, uint64_t now);
/* Seconds until fewer than limit are left: 0 if they are now. */
uint32_t hour_wait(struct hour *, uint64_t now, uint64_t limit);

struct ident {
	RB_ENTRY(ident)	 entry;
	uid_t		 uid;
	unsigned	 refs;
	unsigned	 neurons;	/* made, being made, or going */
	struct hour	*hour;		/* NULL: nothing in it */
	uint64_t	 minute;	/* of the refusals counted here */
	uint32_t	 refused;
	uint64_t	 dry_minute;	/* of the dry runs counted here */
	uint64_t	 dry;
};

/* The identity of a uid, made where it is new; NULL when memory is out. */
struct ident *ident_get(uid_t);
/* Forgotten once nobody holds it and its hour is empty. */
void	ident_put(struct ident *);
/* A start that counts against the hour. */
int	ident_spend(struct ident *, uint64_t second, uint32_t count);
/* 0, or the seconds after which another start fits within the limit. */
uint32_t ident_wait(struct ident *, uint64_t limit);
/* Starts in the hour up to now. */
uint64_t ident_spent(struct ident *);
/*
 * Counts a refusal; 1 if it is among the first of its minute and worth a
 * record.  Refusals cost nothing, so that they could fill a disk.
 */
int	 ident_refused(struct ident *);
/*
 * Counts a dry run; 0, or the seconds until the next one fits within the
 * limit of a minute.
 */
uint32_t ident_dry(struct ident *, uint64_t limit);
/* Forgets identities whose hour has run empty: called now and then. */
void	ident_sweep(void);

#endif
