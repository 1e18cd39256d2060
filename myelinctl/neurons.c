/*
 * Neurons: what there is, and persistent ones, which stay until they are
 * destroyed or nobody has used them for long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "ids.h"
#include "words.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define ROWS_DEFAULT	100
#define TARGET_SIZE	2048

static enum plane
plane_of(const struct options *o)
{
	return (o->operator ? OPERATOR : AGENT);
}

/* ---- targets ---- */

static void
put_escaped(char *dst, size_t size, const char *text)
{
	size_t n = strlen(dst);

	for (; *text != '\0' && n + 4 < size; text++)
		n += (size_t)snprintf(dst + n, size - n, "%%%02X",
		    (unsigned)(unsigned char)*text);
}

/* "/v1/neurons", those of a name, those with a label.  -1: said. */
static int
list_target(const struct options *o, const char *name, char *dst, size_t size)
{
	const char *key, *before = "?";
	json_t *value;

	snprintf(dst, size, "/v1/neurons");
	if (name != NULL) {
		strncat(dst, "?name=", size - strlen(dst) - 1);
		put_escaped(dst, size, name);
		before = "&";
	}
	if (json_object_size(o->labels) > 1)
		return (usage_error(o, "neurons: one --label can be looked "
		    "for"));
	json_object_foreach(o->labels, key, value) {
		strncat(dst, before, size - strlen(dst) - 1);
		strncat(dst, "label=", size - strlen(dst) - 1);
		put_escaped(dst, size, key);
		if (!json_is_string(value))
			continue;
		put_escaped(dst, size, "=");
		put_escaped(dst, size, json_string_value(value));
	}
	return (0);
}

int
neuron_id(const struct options *o, const char *name, char *id, size_t size)
{
	char target[TARGET_SIZE];
	json_t *json;
	const char *found;

	if (id_ok(ID_NEURON, name)) {
		snprintf(id, size, "%s", name);
		return (0);
	}
	snprintf(target, sizeof(target), "/v1/neurons?name=");
	put_escaped(target, sizeof(target), name);
	if ((json = api_call(o, plane_of(o), "GET", target, NULL)) == NULL)
		return (-1);
	found = json_string_value(json_object_get(json_array_get(
	    json_object_get(json, "neurons"), 0), "neuron"));
	if (json_array_size(json_object_get(json, "neurons")) > 1)
		complain("%s: several principals have a neuron of that name; "
		    "give the id (myelinctl neurons -o)", name);
	else if (found == NULL || !id_ok(ID_NEURON, found))
		complain("%s: there is no persistent neuron of that name",
		    name);
	else {
		snprintf(id, size, "%s", found);
		json_decref(json);
		return (0);
	}
	json_decref(json);
	return (-1);
}

/* ---- list ---- */

static const struct column list_columns[] = {
	{ "NEURON", "neuron", 0 },
	{ "KIND", "kind", 0 },
	{ "STATE", "state", 0 },
	{ "NAME", "name", 0 },
	{ "PROFILE", "profile", 0 },
	{ "PRINCIPAL", "principal", 0 },
	{ "SESSION", "session", 0 },
	{ "EXPIRES", "expires", 0 },
	{ "WORKSPACE", "workspace", 0 },
};

static int
neurons_list(const struct options *o)
{
	size_t most = o->most != 0 ? o->most : ROWS_DEFAULT;
	char target[TARGET_SIZE];
	json_t *json;
	int bad;

	if ((bad = list_target(o, o->name, target, sizeof(target))) != 0)
		return (bad);
	json = api_list(o, plane_of(o), target, "neurons", most);
	if (json == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	else {
		words_table(json_object_get(json, "neurons"), list_columns,
		    NITEMS(list_columns), "There is no neuron (sandbox).");
		if (json_is_integer(json_object_get(json, "next")))
			printf("There are more: -n %zu shows them.\n",
			    most * 10);
	}
	json_decref(json);
	return (0);
}

/* ---- one ---- */

static const struct column show_columns[] = {
	{ "neuron", "neuron", 0 },
	{ "name", "name", 0 },
	{ "kind", "kind", 0 },
	{ "state", "state", 0 },
	{ "principal", "principal", 0 },
	{ "profile", "profile", 0 },
	{ "workspace", "workspace", 0 },
	{ "session", "session", 0 },
	{ "calls that run", "calls", 0 },
	{ "bytes on the disk", "size", 0 },
	{ "made", "created", 0 },
	{ "last used", "used", 0 },
	{ "unused, destroyed at", "expires", 0 },
};

static int
neurons_show(const struct options *o, const char *name)
{
	char target[64], id[ID_SIZE];
	const char *key;
	json_t *json, *value;

	if (neuron_id(o, name, id, sizeof(id)) == -1)
		return (EXIT_FAILED);
	snprintf(target, sizeof(target), "/v1/neurons/%s", id);
	if ((json = api_call(o, plane_of(o), "GET", target, NULL)) == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	else {
		words_lines(json, show_columns, NITEMS(show_columns));
		json_object_foreach(json_object_get(json, "labels"), key,
		    value) {
			fputs("label ", stdout);
			words_put(stdout, key, strlen(key));
			putchar('=');
			words_put(stdout, json_string_value(value),
			    json_string_length(value));
			putchar('\n');
		}
	}
	json_decref(json);
	return (0);
}

static int
neurons_create(const struct options *o)
{
	json_t *body = json_pack("{s:b}", "persistent", 1), *json, *value;
	const char *id, *key;

	if (api_put_place(o, body) == -1) {
		json_decref(body);
		return (EXIT_FAILED);
	}
	json_object_foreach(o->labels, key, value) {
		if (json_is_string(value))
			continue;
		json_decref(body);
		return (usage_error(o, "--label: \"%s\" has no value", key));
	}
	if (o->name != NULL && json_object_set_new(body, "name",
	    json_string(o->name)) == -1) {
		json_decref(body);
		return (usage_error(o, "--name: not UTF-8"));
	}
	if (o->labels != NULL)
		json_object_set(body, "labels", o->labels);
	if (o->idle != 0)
		json_object_set_new(body, "idle_expiry",
		    json_integer(o->idle));
	if ((json = api_call(o, AGENT, "POST", "/v1/neurons", body)) == NULL)
		return (EXIT_FAILED);
	id = json_string_value(json_object_get(json, "neuron"));
	if (o->json)
		words_json(json);
	else if (id != NULL && id_ok(ID_NEURON, id))
		printf("%s\n", id);
	json_decref(json);
	return (0);
}

static int
neurons_destroy(const struct options *o, int argc, char **argv)
{
	char target[64], id[ID_SIZE];
	int i, status, worst = 0;

	for (i = 0; i < argc; i++) {
		if (neuron_id(o, argv[i], id, sizeof(id)) == -1) {
			worst = EXIT_FAILED;
			continue;
		}
		snprintf(target, sizeof(target), "/v1/neurons/%s", id);
		status = api_delete(o, plane_of(o), target);
		if (status != 0)
			worst = status;
	}
	return (worst);
}

int
cmd_neurons(struct options *o, int argc, char **argv)
{
	if (argc == 0 || (argc == 1 && strcmp(argv[0], "list") == 0))
		return (neurons_list(o));
	if (argc == 1 && strcmp(argv[0], "create") == 0)
		return (neurons_create(o));
	if (argc == 2 && strcmp(argv[0], "show") == 0)
		return (neurons_show(o, argv[1]));
	if (argc >= 2 && strcmp(argv[0], "destroy") == 0)
		return (neurons_destroy(o, argc - 1, argv + 1));
	return (usage_error(o, "neurons: nothing, \"list\" or \"create\", or "
	    "\"show\" or \"destroy\" and a name or id"));
}
