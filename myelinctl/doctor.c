/*
 * "doctor": what this host has of what Myelin needs, asked of no service.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "host.h"
#include "probe.h"
#include "words.h"

static const char *const state_names[] = {
	[PROBE_PRESENT] = "present",
	[PROBE_MISSING] = "missing",
	[PROBE_UNKNOWN] = "unknown"
};

static json_t *
layer_json(unsigned i, const struct probe *p)
{
	const struct layer_row *row = &layer_table[i];

	return (json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s}",
	    "name", row->name, "need", layer_need_name(row->need),
	    "state", state_names[p->state], "protects", row->protects,
	    "provider", row->provider, "remedy", row->remedy,
	    "detail", p->detail));
}

/* Mandatory ones in this state. */
static unsigned
count(const struct probe *probes, enum probe_state state)
{
	unsigned i, n = 0;

	for (i = 0; i < LAYER_COUNT; i++)
		n += probe_mandatory((enum layer)i) &&
		    probes[i].state == state;
	return (n);
}

static void
print_json(const struct probe *probes, json_t *host)
{
	json_t *layers = json_array(), *json;
	unsigned i;

	for (i = 0; i < LAYER_COUNT; i++)
		json_array_append_new(layers, layer_json(i, &probes[i]));
	json = json_pack("{s:o,s:O,s:i,s:i,s:i}", "layers", layers,
	    "host", host, "landlock_abi", (int)probe_landlock_abi(),
	    "mandatory_missing", (int)count(probes, PROBE_MISSING),
	    "mandatory_unknown", (int)count(probes, PROBE_UNKNOWN));
	if (json == NULL) {
		complain("out of memory");
		return;
	}
	words_json(json);
	json_decref(json);
}

static void
print_layer(const struct layer_row *row, const struct probe *p)
{
	printf("%-21s %-18s %s\n", row->name, layer_need_name(row->need),
	    state_names[p->state]);
	if (p->state == PROBE_PRESENT || row->need == LAYER_UNUSED)
		return;
	if (p->detail[0] != '\0')
		printf("    %s\n", p->detail);
	if (p->state == PROBE_MISSING)
		printf("    protects: %s\n    remedy: %s\n", row->protects,
		    row->remedy);
}

static void
print_fact(const json_t *fact)
{
	const char *state = json_string_value(json_object_get(fact, "state"));
	const char *name = json_string_value(json_object_get(fact, "name"));
	const char *value = json_string_value(json_object_get(fact, "value"));
	const char *remedy = json_string_value(json_object_get(fact,
	    "remedy"));

	printf("%-21s %-18s ", name, state);
	words_put(stdout, value, strlen(value));
	putchar('\n');
	if (remedy[0] != '\0')
		printf("    remedy: %s\n", remedy);
}

static void
print_words(const struct probe *probes, const json_t *host)
{
	unsigned missing = count(probes, PROBE_MISSING);
	unsigned unknown = count(probes, PROBE_UNKNOWN);
	const json_t *fact;
	size_t i;

	printf("%-21s %-18s %s\n", "LAYER", "NEED", "STATE");
	for (i = 0; i < LAYER_COUNT; i++)
		print_layer(&layer_table[i], &probes[i]);
	printf("\n%-21s %-18s %s\n", "HOST", "STATE", "VALUE");
	json_array_foreach(host, i, fact)
		print_fact(fact);
	putchar('\n');
	if (missing > 0)
		printf("%u mandatory layers are missing: Myelin refuses to "
		    "start here\n", missing);
	else if (unknown == 0)
		printf("all mandatory layers are there\n");
	else
		printf("no mandatory layer is missing; of %u only root can "
		    "tell\n", unknown);
}

/* All that is known of the layers that are named. */
static void
print_explained(unsigned i, const struct probe *p)
{
	const struct layer_row *row = &layer_table[i];

	printf("%s\n    need: %s\n    state: %s%s%s\n    protects: %s\n"
	    "    provided by: %s\n    %s: %s\n", row->name,
	    layer_need_name(row->need), state_names[p->state],
	    p->detail[0] != '\0' ? ", " : "", p->detail, row->protects,
	    row->provider, row->need == LAYER_UNUSED ? "not used as" :
	    "remedy", row->remedy);
}

static int
explain(const struct options *o, const struct probe *probes, int argc,
    char **argv)
{
	json_t *list = json_array();
	unsigned i;
	int n, missing = 0, r;

	for (n = 0; n < argc; n++) {
		for (i = 0; i < LAYER_COUNT; i++)
			if (strcmp(layer_table[i].name, argv[n]) == 0)
				break;
		if (i == LAYER_COUNT) {
			json_decref(list);
			return (usage_error(o, "%s: there is no such layer",
			    argv[n]));
		}
		missing |= probes[i].state == PROBE_MISSING;
		if (o->json)
			json_array_append_new(list, layer_json(i, &probes[i]));
		else
			print_explained(i, &probes[i]);
	}
	r = missing ? EXIT_FAILED : 0;
	if (o->json)
		words_json(list);
	json_decref(list);
	return (r);
}

int
cmd_doctor(struct options *o, int argc, char **argv)
{
	static struct probe probes[LAYER_COUNT];
	json_t *host;

	/* A buffer that is not empty would be written by each child. */
	fflush(NULL);
	probe_layers(probes, PROBE_CGROUPS);
	if (argc > 0)
		return (explain(o, probes, argc, argv));
	host = host_facts(o);
	if (o->json)
		print_json(probes, host);
	else
		print_words(probes, host);
	json_decref(host);
	return (count(probes, PROBE_MISSING) > 0 ? EXIT_FAILED : 0);
}
