/*
 * Approvals among fakes: calls whose verdict is ask, operators that look and
 * decide.
 */
#ifndef MYELIN_POLICYD_RIG_APPROVALS_H
#define MYELIN_POLICYD_RIG_APPROVALS_H

#include "policyd_rig.h"

#define RIG_SECOND	2000001005	/* an operator who approves, too */

/* A call as it is asked, and what judged says of it. */
struct rig_asks {
	const char	*tool;		/* NULL: "exec" */
	const char	*args;		/* NULL: some */
	size_t		 args_size;	/* 0: up to the NUL */
	const char	*input;		/* NULL: none */
	const char	*workspace;	/* of a sessionless one */
	int		 streamed;
	uint32_t	 timeout;
	unsigned	 verdict;	/* 0: VERDICT_ASK */
	unsigned	 effect;	/* 0: EFFECT_DESTRUCTIVE */
	uint32_t	 marks;
	unsigned	 flags;		/* VERDICT_F_* */
	const char	*run;		/* NULL: "block" */
};

/* RIG_SECOND and RIG_USER as operators that approve. */
void	rig_operators(struct rig *);
/* Their handles. */
uint64_t rig_operator(struct rig *, uid_t);

/* ASK or ASK_ONCE and JUDGE. */
void	rig_asks(struct rig *, uint64_t handle, const char *session,
	    const struct rig_asks *, struct rig_call *);
/* VERDICT as it says. */
void	rig_says(struct rig *, struct rig_call *, const struct rig_asks *);
/* CALL_JUDGED and CALL_ASKING: the approval's id. */
void	rig_pending(struct rig *, struct rig_call *, char approval[ID_SIZE]);
/* All three. */
void	rig_waits(struct rig *, uint64_t handle, const char *session,
	    const struct rig_asks *, struct rig_call *,
	    char approval[ID_SIZE]);

/* QUERY_APPROVAL: the JSON, of whichever answer. */
json_t	*rig_look(struct rig *, uint64_t operator, const char *approval,
	    unsigned *status);
/* DECIDE; digest in hexadecimal, NULL: as it is. */
uint32_t rig_decide(struct rig *, uint64_t operator, unsigned what,
	    const char *approval, const char *digest, const char *reason);
/* The same and its answer: 200, or the status that is wanted and a word. */
void	rig_decides(struct rig *, uint64_t operator, unsigned what,
	    const char *approval, unsigned status, const char *word);
/* CALL_RESOLVED. */
void	rig_resolved(struct rig *, const char *approval, unsigned outcome);
/* The second JUDGE of a call, whose sequence is another. */
void	rig_again(struct rig *, struct rig_call *);
/* An approval's state by the operator's list. */
void	rig_state(struct rig *, const char *approval, const char *state);

#endif
