/* Verdicts, as answers, events and the audit log show them. */

#include "audit.h"
#include "call.h"
#include "metrics.h"
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

json_t *
marks_json(uint32_t marks)
{
	json_t *list = json_array();
	unsigned bit;

	for (bit = 1; bit != 0 && bit <= marks; bit <<= 1) {
		if ((marks & bit) != 0 && mark_name(bit) != NULL)
			json_array_append_new(list,
			    json_string(mark_name(bit)));
	}
	return (list);
}

static void
text_byte(struct text *t, const char *key, const struct judgement *j,
    uint32_t at)
{
	if (j->to == 0 || !has_place(j))
		text_null(t, key);
	else
		text_int(t, key, at);
}

static void
text_effect(struct text *t, const struct judgement *j)
{
	text_word_or_null(t, "effect", j->effect == 0 ? NULL :
	    effect_name(j->effect));
}

static void
text_marks(struct text *t, uint32_t marks)
{
	unsigned bit;

	text_list(t, "marks");
	for (bit = 1; bit != 0 && bit <= marks; bit <<= 1)
		if ((marks & bit) != 0 && mark_name(bit) != NULL)
			text_word(t, NULL, mark_name(bit));
	text_list_end(t);
}

/* The members of the object. */
static void
members(struct text *t, const struct judgement *j)
{
	text_word(t, "verdict", verdict_name(j->verdict));
	if (WITHOUT(verdict_place))
		return;
	text_string_or_null(t, "class", j->class);
	text_effect(t, j);
	text_marks(t, j->marks);
	text_string_or_null(t, "rule", j->rule);
	text_string_or_null(t, "where", j->where);
	text_string_or_null(t, "command", has_place(j) ? j->command : "");
	text_byte(t, "from", j, j->from);
	text_byte(t, "to", j, j->to);
	text_string_or_null(t, "reason", j->reason);
	text_string_or_null(t, "next", j->next);
}

void
judgement_text(struct text *t, const char *key, const struct judgement *j)
{
	if (j->verdict == 0) {
		text_null(t, key);
		return;
	}
	text_open(t, key);
	members(t, j);
	text_close(t);
}

void
verdict_text(struct text *t, const struct judgement *j)
{
	judgement_text(t, "judged", j);
	text_word_or_null(t, "verdict", j->verdict == 0 ? NULL :
	    verdict_name(j->verdict));
	text_string_or_null(t, "class", j->class);
	text_effect(t, j);
	text_marks(t, j->marks);
	text_string_or_null(t, "rule", j->rule);
	text_string_or_null(t, "why", j->reason);
}

void
verdict_record(const struct call *c, const struct judgement *j, int again)
{
	struct text *t = audit_begin("call.judged");

	text_word(t, "call", c->row.id);
	members(t, j);
	if (c->dry_run)
		text_bool(t, "dry_run", 1);
	if (again)
		text_bool(t, "again", 1);
	audit_end(t);
	metrics_words("call.judged", verdict_name(j->verdict), NULL);
}
