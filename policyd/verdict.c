/* Verdicts, as answers, events and the audit log show them. */

#include "call.h"
#include "verdict.h"
#include "without.h"

/*
 * The command that decided, and its bytes.  Of what is allowed there is none:
 * a record is read by more people than a transcript, which has the arguments.
 */
static int
has_place(const struct judgement *j)
{
	return (j->verdict != VERDICT_ALLOW);
}

static json_t *
byte_json(const struct judgement *j, uint32_t at)
{
	return (j->to == 0 || !has_place(j) ? json_null() :
	    json_integer((json_int_t)at));
}

static json_t *
effect_json(const struct judgement *j)
{
	return (j->effect == 0 ? json_null() :
	    json_string(effect_name(j->effect)));
}

json_t *
judgement_json(const struct judgement *j)
{
	if (j->verdict == 0)
		return (json_null());
	if (WITHOUT(verdict_place))
		return (json_pack("{s:s}", "verdict",
		    verdict_name(j->verdict)));
	return (json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
	    "verdict", verdict_name(j->verdict),
	    "class", json_text_or_null(j->class),
	    "effect", effect_json(j),
	    "marks", marks_json(j->marks),
	    "rule", json_text_or_null(j->rule),
	    "where", json_text_or_null(j->where),
	    "command", json_text_or_null(has_place(j) ? j->command : ""),
	    "from", byte_json(j, j->from), "to", byte_json(j, j->to),
	    "reason", json_text_or_null(j->reason),
	    "next", json_text_or_null(j->next)));
}

static void
put(json_t *json, const char *name, json_t *value)
{
	(void)json_object_set_new(json, name, value);
}

void
verdict_put(json_t *json, const struct judgement *j)
{
	put(json, "judged", judgement_json(j));
	put(json, "verdict", j->verdict == 0 ? json_null() :
	    json_string(verdict_name(j->verdict)));
	put(json, "class", json_text_or_null(j->class));
	put(json, "effect", effect_json(j));
	put(json, "marks", marks_json(j->marks));
	put(json, "rule", json_text_or_null(j->rule));
	put(json, "why", json_text_or_null(j->reason));
}

json_t *
judgement_record(const struct call *c, const struct judgement *j)
{
	json_t *record = json_pack("{s:s}", "call", c->row.id);

	if (record == NULL || json_object_update_new(record,
	    judgement_json(j)) == -1)
		fatal("verdict");
	if (c->dry_run)
		put(record, "dry_run", json_true());
	return (record);
}
