/*
 * Approvals: what is shown to whoever decides.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "approval.h"
#include "clean.h"
#include "codec.h"
#include "conn.h"
#include "json.h"
#include "log.h"
#include "protocol.h"
#include "text.h"
#include "tools.h"
#include "visible.h"
#include "without.h"

#define PART_MAX	(16 * 1024 * 1024)	/* bytes of one part */

const unsigned shown_flags[SHOWN_PARTS] = {
	[SHOWN_EXPLANATION] = SHOWN_F_EXPLANATION,
	[SHOWN_INPUT] = SHOWN_F_INPUT,
	[SHOWN_JSON] = SHOWN_F_JSON
};

/* ---- parts ---- */

int
shown_map(struct shown_part *part, int fd)
{
	if (fd == -1)
		return (-1);
	part->bytes = memfd_map(fd, PART_MAX, &part->size);
	close(fd);
	part->mapped = part->bytes != NULL;
	return (part->mapped ? 0 : -1);
}

void
shown_unmap(struct shown_part *part)
{
	if (part->mapped)
		memfd_unmap(part->bytes, part->size);
	part->bytes = NULL;
	part->mapped = 0;
}

/* ---- nothing hidden ---- */

static json_t	*visible_value(json_t *);

static json_t *
visible_string(const char *bytes, size_t size)
{
	char *text;
	json_t *j;
	size_t n;

	if (WITHOUT(approval_visible))
		return (json_stringn(bytes, size));
	if ((text = visible_text(bytes, size, &n)) == NULL)
		fatalx("memory for an approval");
	j = json_stringn(text, n);
	free(text);
	return (j);
}

static void
set_visible(json_t *to, const char *name, json_t *v)
{
	json_t *text = visible_string(name, strlen(name));

	if (text == NULL || json_object_set_new(to, json_string_value(text),
	    visible_value(v)) == -1)
		fatalx("memory for an approval");
	json_decref(text);
}

static json_t *
visible_value(json_t *v)
{
	json_t *fresh, *one;
	const char *name;
	size_t i;

	switch (json_typeof(v)) {
	case JSON_STRING:
		return (visible_string(json_string_value(v),
		    json_string_length(v)));
	case JSON_ARRAY:
		fresh = json_array();
		json_array_foreach(v, i, one)
			json_array_append_new(fresh, visible_value(one));
		return (fresh);
	case JSON_OBJECT:
		fresh = json_object();
		json_object_foreach(v, name, one)
			set_visible(fresh, name, one);
		return (fresh);
	default:
		return (json_incref(v));
	}
}

json_t *
approval_visible(json_t *j)
{
	json_t *fresh = visible_value(j);

	json_decref(j);
	return (fresh);
}

/* ---- the text that runs ---- */

/* Words as a shell would want them, so that one can be told from two. */
static void
put_word(struct enc *text, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
	const char *p;

	if (enc_size(text) > 0)
		enc_u8(text, ' ');
	if (*word != '\0' && word[strspn(word, plain)] == '\0') {
		enc_raw(text, word, strlen(word));
		return;
	}
	enc_u8(text, '\'');
	for (p = word; *p != '\0'; p++) {
		if (*p == '\'')
			enc_raw(text, "'\\''", 4);
		else
			enc_u8(text, (uint8_t)*p);
	}
	enc_u8(text, '\'');
}

static json_t *
joined(const json_t *list)
{
	struct enc *text = enc_new(2 * PART_MAX);
	const json_t *word;
	json_t *j = NULL;
	size_t i;

	if (text == NULL)
		fatalx("memory for an approval");
	json_array_foreach((json_t *)(uintptr_t)list, i, word)
		if (json_is_string(word))
			put_word(text, json_string_value(word));
	if (enc_error(text) == 0)
		j = visible_string((const char *)enc_data(text),
		    enc_size(text));
	enc_free(text);
	return (j);
}

/* The argument that the tool's declaration says is judged, or NULL. */
static const json_t *
judged(const char *tool, const json_t *args)
{
	const json_t *judge = json_object_get(tools_find(tool), "judge");
	const char *kind, *v;
	json_t *name;

	json_object_foreach((json_t *)(uintptr_t)judge, kind, name) {
		v = json_string_value(name);
		return (v == NULL ? NULL : json_object_get(args, v));
	}
	return (NULL);
}

static json_t *
shown_text(const char *tool, const json_t *arguments)
{
	const json_t *args = json_object_get(arguments, "args");
	const json_t *v = tool == NULL ? NULL : judged(tool, args);
	json_t *j;
	char *text;

	if (json_is_string(v))
		return (visible_string(json_string_value(v),
		    json_string_length(v)));
	if (json_is_array(v))
		return (joined(v));
	text = json_dumps(args, JSON_INDENT(2) | JSON_SORT_KEYS |
	    JSON_ENCODE_ANY);
	if (text == NULL)
		return (NULL);
	j = visible_string(text, strlen(text));
	free(text);
	return (j);
}

/* ---- the answer ---- */

static json_t *
input_json(const struct shown_part *part)
{
	json_t *j, *text;
	char *buf, *end;

	if (part->bytes == NULL)
		return (json_null());
	j = json_pack("{s:I,s:b}", "bytes", (json_int_t)part->size,
	    "cut", 0);
	text = json_stringn((const char *)part->bytes, part->size);
	if (text != NULL) {
		json_object_set_new(j, "text", visible_value(text));
		json_decref(text);
		return (j);
	}
	if ((buf = malloc(base64_size(part->size) + 1)) == NULL)
		fatalx("memory for an approval");
	end = base64_write(buf, part->bytes, part->size);
	json_object_set_new(j, "base64", json_stringn(buf,
	    (size_t)(end - buf)));
	free(buf);
	return (j);
}

static json_t *
read_part(const struct shown_part *part)
{
	return (part->bytes == NULL ? NULL :
	    json_read_kept((const char *)part->bytes, part->size));
}

/* What judged wrote of it; a list that it did not is null. */
static void
put_explanation(json_t *to, const struct shown_part *part)
{
	static const char *const lists[] = { "commands", "paths" };
	json_t *j = read_part(part), *v;
	size_t i;

	if (j != NULL)
		j = approval_visible(j);
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		v = json_object_get(j, lists[i]);
		json_object_set(to, lists[i], json_is_array(v) ? v :
		    json_null());
	}
	json_object_set_new(to, "commands_cut",
	    json_boolean(json_is_true(json_object_get(j, "cut"))));
	json_decref(j);
}

json_t *
approval_parts_json(const struct shown_part parts[SHOWN_PARTS], int clean)
{
	json_t *j = read_part(&parts[SHOWN_JSON]), *arguments;
	char *tool = NULL;

	arguments = read_part(&parts[SHOWN_ARGUMENTS]);
	if (j == NULL || arguments == NULL) {
		json_decref(j);
		json_decref(arguments);
		return (NULL);
	}
	if (clean) {
		clean_values(j);
		clean_values(arguments);
	}
	if (json_is_string(json_object_get(j, "tool")) && (tool = strdup(
	    json_string_value(json_object_get(j, "tool")))) == NULL)
		fatalx("memory for an approval");
	j = approval_visible(j);
	json_object_set_new(j, "shown", shown_text(tool, arguments));
	json_object_set_new(j, "arguments", arguments);
	json_object_set_new(j, "input", input_json(&parts[SHOWN_INPUT]));
	put_explanation(j, &parts[SHOWN_EXPLANATION]);
	if (clean)
		clean_values(j);
	free(tool);
	return (j);
}

/* ASCII alone: whatever shows it as it came hides nothing. */
static void
answer(struct conn *c, int status, json_t *j)
{
	char *text;

	if ((text = json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII)) == NULL)
		fatalx("memory for an approval");
	json_decref(j);
	conn_json(c, status, text, strlen(text));
	free(text);
}

void
approval_show(struct conn *c, const struct shown_part parts[SHOWN_PARTS],
    int clean)
{
	json_t *j = approval_parts_json(parts, clean);

	if (j != NULL)
		answer(c, 200, j);
	else
		conn_error(c, API_INTERNAL, "an approval that is not JSON");
}

void
approval_answer(struct conn *c, int status, const char *json, size_t n,
    void *arg)
{
	json_t *j = json_read_kept(json, n);

	(void)arg;
	if (j != NULL)
		answer(c, status, approval_visible(j));
	else
		conn_error(c, API_INTERNAL, "an approval that is not JSON");
}
