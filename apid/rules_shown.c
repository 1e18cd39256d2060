/*
 * The rules of sessions in answers.
 */
#include <string.h>

#include "json.h"
#include "rules_shown.h"

/* A quote inside of any text has a backslash in front: this is a member. */
#define MARK	"\"rules\":\"["

static void
unfold(json_t *session)
{
	json_t *text = json_object_get(session, "rules"), *rules;

	if (!json_is_string(text))
		return;
	rules = json_loadb(json_string_value(text), json_string_length(text),
	    0, NULL);
	if (rules != NULL)
		json_object_set_new(session, "rules", rules);
}

char *
rules_unfolded(const char *json, size_t n, size_t *size)
{
	json_t *j, *one;
	char *text;
	size_t i;

	if (n == 0 || memmem(json, n, MARK, strlen(MARK)) == NULL ||
	    (j = json_loadb(json, n, 0, NULL)) == NULL)
		return (NULL);
	unfold(j);
	json_array_foreach(json_object_get(j, "sessions"), i, one)
		unfold(one);
	text = json_text(j);
	json_decref(j);
	if (text != NULL)
		*size = strlen(text);
	return (text);
}
