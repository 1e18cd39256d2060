/* Verdicts, as answers, events and the audit log show them. */

#include "call.h"
#include "verdict.h"

/* A byte of the judged text; both ends are 0 where no part of it decided. */
static json_t *
byte_json(const struct judgement *j, uint32_t at)
{
	return (j->to == 0 ? json_null() : json_integer((json_int_t)at));
}

json_t *
judgement_json(const struct judgement *j)
{
	if (j->verdict == 0)
		return (json_null());
	return (json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
	    "verdict", verdict_name(j->verdict),
	    "class", json_text_or_null(j->class),
	    "effect", j->effect == 0 ? json_null() :
	    json_string(effect_name(j->effect)),
	    "marks", marks_json(j->marks),
	    "rule", json_text_or_null(j->rule),
	    "where", json_text_or_null(j->where),
	    "command", json_text_or_null(j->command),
	    "from", byte_json(j, j->from), "to", byte_json(j, j->to),
	    "reason", json_text_or_null(j->reason),
	    "next", json_text_or_null(j->next)));
}

json_t *
judgement_record(const struct call *c, const struct judgement *j)
{
	json_t *record = json_pack("{s:s}", "call", c->row.id);

	if (record == NULL || json_object_update_new(record,
	    judgement_json(j)) == -1)
		fatal("verdict");
	return (record);
}
