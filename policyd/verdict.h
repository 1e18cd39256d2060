/*
 * A verdict in JSON: {verdict, class, effect, marks, rule, where, command,
 * from, to, reason, next}.  What was not said is null.
 */
#ifndef MYELIN_POLICYD_VERDICT_H
#define MYELIN_POLICYD_VERDICT_H

#include <jansson.h>

struct call;
struct judgement;

/* null before there is one. */
json_t	*judgement_json(const struct judgement *);
/*
 * As a call's record has it: that object as "judged", and its members verdict,
 * class, effect, marks, rule and why (the reason) beside it.
 */
void	 verdict_put(json_t *json, const struct judgement *);
/* The same as members of the call's record in the audit log. */
json_t	*judgement_record(const struct call *, const struct judgement *);

#endif
