/*
 * API keys: what clients of TCP say who they are by.  The token of one is
 * shown once, alone on standard output, so that it can go into a file.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "words.h"

#define ID_BYTES	22	/* "k-" and 20 characters */
#define NAME_BYTES	63

static const struct column columns[] = {
	{ "KEY", "key", 0 },
	{ "NAME", "name", 0 },
	{ "STATE", "state", 0 },
	{ "CREATED", "created", 0 },
	{ "EXPIRES", "expires", 0 },
	{ "LAST USED", "last_used", 0 },
};

static json_t *
fetch(const struct options *o)
{
	return (api_call(o, OPERATOR, "GET", "/v1/keys", NULL));
}

/* Keys whose line was taken out of the configuration do nothing. */
static void
say_without_line(const json_t *keys)
{
	const char *name, *state;
	const json_t *key;
	size_t i;

	json_array_foreach(keys, i, key) {
		name = json_string_value(json_object_get(key, "name"));
		state = json_string_value(json_object_get(key, "state"));
		if (name != NULL && state != NULL &&
		    strcmp(state, "active") == 0 &&
		    json_is_false(json_object_get(key, "has_line")))
			printf("%s: no principal line is for this key: it is "
			    "refused.\n", name);
	}
}

static int
list(const struct options *o)
{
	json_t *json;

	if ((json = fetch(o)) == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	else {
		words_table(json_object_get(json, "keys"), columns,
		    sizeof(columns) / sizeof(columns[0]),
		    "There are no keys.");
		say_without_line(json_object_get(json, "keys"));
	}
	json_decref(json);
	return (0);
}

/* What is no name or id would be another path. */
static int
is_plain(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return (n > 0 && n <= NAME_BYTES && text[n] == '\0');
}

static int
is_id(const char *text)
{
	return (strncmp(text, "k-", 2) == 0 && strlen(text) == ID_BYTES);
}

/* The id of the key that is in use under a name.  -1 after a complaint. */
static int
find(const struct options *o, const char *name, char id[ID_BYTES + 1])
{
	const char *text, *state;
	json_t *json, *key;
	int found = -1;
	size_t i;

	if (is_id(name)) {
		memcpy(id, name, ID_BYTES + 1);
		return (0);
	}
	if ((json = fetch(o)) == NULL)
		return (-1);
	json_array_foreach(json_object_get(json, "keys"), i, key) {
		text = json_string_value(json_object_get(key, "name"));
		state = json_string_value(json_object_get(key, "state"));
		if (text == NULL || state == NULL || strcmp(text, name) != 0 ||
		    strcmp(state, "active") != 0)
			continue;
		text = json_string_value(json_object_get(key, "key"));
		if (text == NULL || !is_plain(text) || !is_id(text))
			continue;
		/* Of two, while one is being replaced, an id has to say it. */
		if (found == 0) {
			complain("%s: there are two keys of that name; give "
			    "the id (myelinctl keys list)", name);
			json_decref(json);
			return (-1);
		}
		memcpy(id, text, ID_BYTES + 1);
		found = 0;
	}
	json_decref(json);
	if (found == -1)
		complain("%s: no key of that name is in use", name);
	return (found);
}

static int
show_token(const struct options *o, json_t *json)
{
	const char *token, *id;

	if (json == NULL)
		return (EXIT_FAILED);
	token = json_string_value(json_object_get(json, "token"));
	id = json_string_value(json_object_get(json, "key"));
	if (o->json)
		words_json(json);
	else if (token != NULL) {
		if (isatty(STDOUT_FILENO))
			fprintf(stderr, "Key %s.  Its token is shown this "
			    "once; keep it where only its user reads:\n",
			    id != NULL ? id : "?");
		printf("%s\n", token);
	}
	json_decref(json);
	return (0);
}

static int
add(const struct options *o, const char *name)
{
	json_t *body = json_pack("{s:s}", "name", name);

	if (o->expires != 0)
		json_object_set_new(body, "expires_s",
		    json_integer(o->expires));
	return (show_token(o, api_call(o, OPERATOR, "POST", "/v1/keys",
	    body)));
}

static int
rotate(const struct options *o, const char *name)
{
	char target[64], id[ID_BYTES + 1];
	json_t *body;

	if (find(o, name, id) == -1)
		return (EXIT_FAILED);
	(void)snprintf(target, sizeof(target), "/v1/keys/%s/rotate", id);
	body = json_object();
	if (o->overlap != 0)
		json_object_set_new(body, "overlap_s",
		    json_integer(o->overlap));
	return (show_token(o, api_call(o, OPERATOR, "POST", target, body)));
}

static int
end_key(const struct options *o, const char *name)
{
	char target[64], id[ID_BYTES + 1];

	if (find(o, name, id) == -1)
		return (EXIT_FAILED);
	(void)snprintf(target, sizeof(target), "/v1/keys/%s", id);
	return (api_delete(o, OPERATOR, target));
}

static const struct {
	const char	*word;
	int		(*fn)(const struct options *, const char *);
} words[] = {
	{ "add",	add },
	{ "rotate",	rotate },
	{ "revoke",	end_key }
};

int
cmd_keys(struct options *o, int argc, char **argv)
{
	size_t i;

	if (argc == 0 || (argc == 1 && strcmp(argv[0], "list") == 0))
		return (list(o));
	for (i = 0; i < sizeof(words) / sizeof(words[0]) && argc == 2; i++) {
		if (strcmp(argv[0], words[i].word) != 0)
			continue;
		if (!is_plain(argv[1]))
			return (usage_error(o, "keys %s %s: not a key's name "
			    "or id", argv[0], argv[1]));
		return (words[i].fn(o, argv[1]));
	}
	return (usage_error(o, "keys: [list | add NAME | rotate KEY | "
	    "revoke KEY]"));
}
