/*
 * A verdict in JSON: {verdict, class, effect, marks, rule, where, command,
 * from, to, reason, next}.  What was not said is null.
 */
#ifndef MYELIN_POLICYD_VERDICT_H
#define MYELIN_POLICYD_VERDICT_H

#include "text.h"

struct call;
struct judgement;

/* Marks as words. */
json_t	*marks_json(uint32_t marks);
/* null before there is one. */
void	judgement_text(struct text *, const char *key,
	    const struct judgement *);
/*
 * As a call's record has it: that object as "judged", and its members verdict,
 * class, effect, marks, rule and why (the reason) beside it.
 */
void	verdict_text(struct text *, const struct judgement *);
/*
 * The record call.judged of the audit log.  again: it was judged once more,
 * after it was allowed.
 */
void	verdict_record(const struct call *, const struct judgement *,
	    int again);

#endif
