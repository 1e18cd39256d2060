/*
 * A judging in JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "protocol.h"
#include "report.h"

json_t *
report_text(const char *text, size_t len)
{
	json_t *j = json_stringn(text, len);
	size_t i;
	char *plain;

	if (j != NULL || (plain = strndup(text, len)) == NULL)
		return (j);
	for (i = 0; i < len; i++)
		if ((unsigned char)plain[i] >= 0x80)
			plain[i] = '?';
	j = json_stringn(plain, len);
	free(plain);
	return (j);
}

static json_t *
word_json(const struct word *w)
{
	static const struct {
		unsigned	 bit;
		const char	*name;
	} flags[] = {
		{ WORD_PREFIX, "unknown" }, { WORD_GLOB, "pattern" },
		{ WORD_SPLITS, "splits" }, { WORD_NETWORK, "network" },
		{ WORD_WORKSPACE, "workspace" }
	};
	json_t *j = json_object();
	size_t i;

	json_object_set_new(j, "text", w->text == NULL ? json_null() :
	    report_text(w->text, w->len));
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if ((w->flags & flags[i].bit) != 0)
			json_object_set_new(j, flags[i].name, json_true());
	return (j);
}

static json_t *
command_json(const struct command *c)
{
	json_t *list = json_array();
	size_t i;

	if (c == NULL)
		return (list);
	for (i = 0; i < c->argc; i++)
		json_array_append_new(list, word_json(&c->argv[i]));
	return (list);
}

json_t *
report_marks(uint32_t marks)
{
	json_t *list = json_array();
	uint32_t bit;

	for (bit = 1; bit != 0 && bit <= MARK_SELF; bit <<= 1)
		if ((marks & bit) != 0 && mark_name(bit) != NULL)
			json_array_append_new(list, json_string(
			    mark_name(bit)));
	return (list);
}

static json_t *
finding_json(const struct finding *f, enum effect effect, uint32_t marks)
{
	return (json_pack("{s:s,s:s,s:s,s:o,s:o,s:s,s:o,s:[II]}",
	    "verdict", verdict_name(f->verdict), "class", f->class,
	    "effect", effect_name(effect), "marks", report_marks(marks),
	    "rule", report_text(f->rule, strlen(f->rule)),
	    "next", f->next == NULL ? "" : f->next,
	    "command", command_json(f->command),
	    "bytes", (json_int_t)f->from, (json_int_t)f->to));
}

json_t *
report_judging(const struct judging *j, int explain)
{
	const struct finding *f = judging_decides(j);
	json_t *out, *list;
	size_t i;

	out = finding_json(f, judging_effect(j), judging_marks(j));
	if (out == NULL || !explain)
		return (out);
	list = json_array();
	for (i = 0; i < judging_count(j); i++) {
		f = judging_at(j, i);
		json_array_append_new(list, finding_json(f, f->effect,
		    f->marks));
	}
	json_object_set_new(out, "findings", list);
	return (out);
}
