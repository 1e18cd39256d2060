/* Egress in what the API shows: neurons, status, denials of a call. */

#include <string.h>

#include "call.h"
#include "egress.h"
#include "egress_internal.h"
#include "neuron.h"
#include "policyd.h"

/* Of a call's record as JSON, which goes in one message with its id. */
#define RECORD_ROOM	(MSG_MAX_SIZE - 128)

static json_t *
listeners_json(unsigned which)
{
	static const struct {
		unsigned	 bit;
		const char	*name;
	} names[] = {
		{ LISTENER_PROXY,	"proxy" },
		{ LISTENER_TLS,		"tls" },
		{ LISTENER_PLAIN,	"plain" },
		{ LISTENER_DNS,		"dns" },
	};
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if ((which & names[i].bit) != 0)
			json_array_append_new(list,
			    json_string(names[i].name));
	}
	return (list);
}

json_t *
egress_json(const struct neuron *n)
{
	if (n->egress == NULL)
		return (json_null());
	return (json_pack("{s:o,s:b,s:o}",
	    "listeners", listeners_json(n->egress->which),
	    "served", egress_has(n),
	    "grants", egress_grants_json(n->egress)));
}

/* As supervisord says, who also knows of one that is not started again. */
const char *
egress_state(void)
{
	const struct process_row *row;
	size_t i;

	for (i = 0; (row = processes_row(i)) != NULL; i++) {
		if (strcmp(row->name, "egressd") == 0 &&
		    row->state == PROC_ST_FAILED)
			return ("off");
	}
	return (egress_up() ? "up" : "down");
}

json_t *
egress_status(void)
{
	json_int_t neurons = 0, grants = 0;
	const struct neuron *n;

	TAILQ_FOREACH(n, neuron_all(), order) {
		if (n->egress == NULL)
			continue;
		neurons++;
		grants += n->egress->ngrants;
	}
	return (json_pack("{s:s,s:I,s:I}", "state", egress_state(),
	    "neurons", neurons, "grants", grants));
}

static size_t
size_of(const json_t *json)
{
	return (json_dumpb(json, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) + 1);
}

static void
denials_add(const struct call *c, json_t *record)
{
	json_t *list = json_object_get(record, "denials"), *one;
	size_t i, n, room, used;
	uint64_t more;

	used = size_of(record) + 128;
	more = c->out->more;
	room = used < RECORD_ROOM ? RECORD_ROOM - used : 0;
	json_array_foreach(c->out->denials, i, one) {
		if ((n = size_of(one)) > room) {
			more += (uint64_t)json_integer_value(
			    json_object_get(one, "times"));
			continue;
		}
		room -= n;
		json_array_append(list, one);
	}
	if (more == 0 || room == 0)
		return;
	json_array_append_new(list, json_pack("{s:s,s:s,s:n,s:s,s:I}",
	    "layer", "egress", "what", "more was refused", "rule", "next",
	    "the audit log has it all", "times", (json_int_t)more));
}

void
egress_denials_put(const struct call *c, struct text *record)
{
	json_t *tree;
	char *text;

	if (c->out == NULL || c->out->denials == NULL)
		return;
	tree = text_tree(record);
	denials_add(c, tree);
	if ((text = json_dumps(tree, JSON_COMPACT)) == NULL)
		fatalx("a record can not be made");
	json_decref(tree);
	text_clear(record);
	text_bytes(record, text, strlen(text));
	free(text);
}
