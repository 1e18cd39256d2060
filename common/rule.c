/*
 * Rules: their conditions and their text.
 */
#include <string.h>

#include "protocol.h"
#include "slice.h"

static const char *const names[RULE_LISTS] = {
	[RULE_TOOL] = "tool",
	[RULE_EFFECT] = "effect",
	[RULE_MARK] = "mark",
	[RULE_COMMAND] = "command",
	[RULE_PATH] = "path",
	[RULE_HOST] = "host",
	[RULE_PRINCIPAL] = "principal",
	[RULE_WORKSPACE] = "workspace"
};

const char *
rule_list_name(enum rule_list which)
{
	return (names[which]);
}

const char *
rule_word_bad(enum rule_list which, const char *word)
{
	if (word[0] == '\0')
		return ("an empty word fits nothing");
	if (strlen(word) >= RULE_WORD_MAX)
		return ("over the most bytes that a pattern has, which are "
		    "511");
	switch (which) {
	case RULE_EFFECT:
		return (effect_find(word) != 0 ? NULL : "there is no such "
		    "effect; they are read, mutate-reversible, "
		    "mutate-irreversible, destructive");
	case RULE_MARK:
		return (mark_find(word) != 0 ? NULL : "there is no such mark; "
		    "they are network-read, network-write, remote-code, "
		    "elevated, opaque, self");
	case RULE_PATH:
		/* A pattern may begin with anything that a path does. */
		if (strchr("/*?[", word[0]) == NULL)
			return ("a path's pattern begins with / or *");
		break;
	default:
		break;
	}
	/* Which characters a class has depends on who reads it. */
	if (strstr(word, "[:") != NULL)
		return ("classes of characters ([:...:]) are not understood");
	return (NULL);
}

/* ---- the normal form ---- */

struct text {
	char	*dst;
	size_t	 size;
	size_t	 used;
};

static void
add(struct text *t, const char *s)
{
	for (; *s != '\0'; s++, t->used++)
		if (t->used + 1 < t->size)
			t->dst[t->used] = *s;
}

static void
add_quoted(struct text *t, const char *s)
{
	char one[2] = { 0, 0 };

	add(t, "\"");
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			add(t, "\\");
		one[0] = *s;
		add(t, one);
	}
	add(t, "\"");
}

size_t
rule_text(const struct cf_rule *rule, char *dst, size_t size)
{
	struct text t = { .dst = dst, .size = size };
	const struct strings *list;
	size_t i, k;

	add(&t, verdict_name(rule->verdict));
	for (i = 0; i < RULE_LISTS; i++) {
		list = &rule->of[i];
		if (list->n == 0)
			continue;
		add(&t, " ");
		add(&t, names[i]);
		for (k = 0; k < list->n; k++) {
			add(&t, k > 0 && i != RULE_COMMAND ? ", " : " ");
			add_quoted(&t, list->v[k]);
		}
	}
	if (size > 0)
		dst[t.used < size ? t.used : size - 1] = '\0';
	return (t.used);
}
