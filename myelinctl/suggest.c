/*
 * approvals suggest: rules for what operators allow again and again.  They are
 * printed, to be read and taken over by a person, and never written.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "approval.h"
#include "words.h"

#define DECIDED_MOST	5000	/* approvals that are looked at */
#define OFTEN		3	/* times allowed, from which on it is worth it */
#define MATCHES_MOST	8	/* match lines of a rule */
#define WORDS_MOST	32	/* of a command in a rule */

/*
 * A kind of command: a program and the word behind it, which mostly is a
 * command of that program's own.  Its rule is what all of them begin with.
 */
struct kind {
	char		*words[WORDS_MOST];
	size_t		 nwords;	/* that all have in common */
	unsigned	 allowed;
	unsigned	 rejected;
	json_t		*examples;	/* command: true */
	json_t		*principals;
	json_t		*effects;
};

struct kinds {
	struct kind	*v;
	size_t		 n;
};

/*
 * What stands in a rule without an escape: no blank, no quote, and none of
 * what a pattern or the configuration reads in its own way.
 */
static int
is_simple(const char *text, const char *more)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./~^-";

	for (; *text != '\0'; text++) {
		if (strchr(letters, *text) == NULL &&
		    strchr(more, *text) == NULL)
			return (0);
	}
	return (1);
}

/* ---- words ---- */

static void
words_free(char **words, size_t n)
{
	while (n > 0)
		free(words[--n]);
}

/* How many words there are, up to the first that can't be in a rule. */
static size_t
words_split(const char *command, char *words[WORDS_MOST])
{
	size_t n = 0, len;

	for (; *command != '\0' && n < WORDS_MOST; command += len) {
		command += strspn(command, " ");
		len = strcspn(command, " ");
		if (len == 0)
			break;
		if ((words[n] = strndup(command, len)) == NULL)
			err(EXIT_FAILED, NULL);
		if (!is_simple(words[n], "")) {
			free(words[n]);
			break;
		}
		n++;
	}
	return (n);
}

/* ---- kinds ---- */

static struct kind *
kind_find(struct kinds *k, char **words)
{
	size_t i;

	for (i = 0; i < k->n; i++) {
		if (strcmp(k->v[i].words[0], words[0]) == 0 &&
		    strcmp(k->v[i].words[1], words[1]) == 0)
			return (&k->v[i]);
	}
	return (NULL);
}

/* Takes the words over. */
static struct kind *
kind_add(struct kinds *k, char **words, size_t n)
{
	struct kind *grown, *one;

	grown = reallocarray(k->v, k->n + 1, sizeof(*grown));
	if (grown == NULL)
		err(EXIT_FAILED, NULL);
	k->v = grown;
	one = &k->v[k->n++];
	memset(one, 0, sizeof(*one));
	memcpy(one->words, words, n * sizeof(*words));
	one->nwords = n;
	one->examples = json_object();
	one->principals = json_object();
	one->effects = json_object();
	return (one);
}

/* What is left that both begin with. */
static void
kind_narrow(struct kind *kind, char **words, size_t n)
{
	size_t i;

	for (i = 0; i < kind->nwords && i < n; i++) {
		if (strcmp(kind->words[i], words[i]) != 0)
			break;
	}
	words_free(kind->words + i, kind->nwords - i);
	kind->nwords = i;
}

/* One word alone would allow all that a program can do: that is no kind. */
static void
take(struct kinds *k, const json_t *a)
{
	const char *command = approval_text(a, "command");
	const char *state = approval_text(a, "state");
	char *words[WORDS_MOST];
	struct kind *kind;
	int allowed, fresh;
	size_t n;

	allowed = strcmp(state, "allowed") == 0;
	if (!allowed && strcmp(state, "rejected") != 0)
		return;
	n = words_split(command, words);
	if (n < 2) {
		words_free(words, n);
		return;
	}
	kind = kind_find(k, words);
	fresh = kind == NULL;
	if (fresh)
		kind = kind_add(k, words, n);
	if (!allowed) {
		kind->rejected++;
	} else {
		kind->allowed++;
		json_object_set_new(kind->examples, command, json_true());
		json_object_set_new(kind->principals,
		    approval_text(a, "principal"), json_true());
		json_object_set_new(kind->effects,
		    approval_text(a, "effect"), json_true());
	}
	if (!fresh) {
		kind_narrow(kind, words, n);
		words_free(words, n);
	}
}

static void
kinds_free(struct kinds *k)
{
	size_t i;

	for (i = 0; i < k->n; i++) {
		words_free(k->v[i].words, k->v[i].nwords);
		json_decref(k->v[i].examples);
		json_decref(k->v[i].principals);
		json_decref(k->v[i].effects);
	}
	free(k->v);
}

/* "rm -rf" says nothing of what it is done to; "git push" does. */
static int
says_enough(const struct kind *kind)
{
	size_t i;

	for (i = 1; i < kind->nwords; i++) {
		if (kind->words[i][0] != '-')
			return (1);
	}
	return (0);
}

/* ---- printing ---- */

static void
print_keys(const char *title, const json_t *object)
{
	const char *key;
	json_t *value;
	int first = 1;
	char *safe;

	printf("#   %s: ", title);
	json_object_foreach((json_t *)(uintptr_t)object, key, value) {
		safe = words_plain(key, strlen(key));
		printf("%s%s", first ? "" : ", ", safe);
		free(safe);
		first = 0;
	}
	putchar('\n');
}

static void
print_words(const struct kind *kind)
{
	size_t i;

	for (i = 0; i < kind->nwords; i++)
		printf(" \"%s\"", kind->words[i]);
}

static void
print_rule(const struct kind *kind)
{
	const char *key;
	json_t *value;
	unsigned n = 0;

	printf("# allowed %u times, and whatever words follow these\n",
	    kind->allowed);
	print_keys("asked by", kind->principals);
	print_keys("effect", kind->effects);
	printf("allow command");
	print_words(kind);
	printf(" {\n");
	json_object_foreach(kind->examples, key, value) {
		if (n < MATCHES_MOST && is_simple(key, " ")) {
			printf("\tmatch \"%s\"\n", key);
			n++;
		}
	}
	printf("}\n\n");
}

static json_t *
keys_of(const json_t *object)
{
	json_t *list = json_array(), *value;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)object, key, value)
		json_array_append_new(list, json_string(key));
	return (list);
}

static json_t *
kind_json(const struct kind *kind)
{
	json_t *words = json_array();
	size_t i;

	for (i = 0; i < kind->nwords; i++)
		json_array_append_new(words, json_string(kind->words[i]));
	return (json_pack("{s:o,s:i,s:o,s:o,s:o}", "command", words, "allowed",
	    (int)kind->allowed, "examples", keys_of(kind->examples),
	    "principals", keys_of(kind->principals), "effects",
	    keys_of(kind->effects)));
}

/* What people disagree about, or what a rule can't tell, is theirs to say. */
static int
is_suggested(const struct kind *kind)
{
	return (kind->allowed >= OFTEN && kind->rejected == 0 &&
	    says_enough(kind));
}

static void
print_all(const struct kinds *k)
{
	size_t i, n = 0;

	for (i = 0; i < k->n; i++) {
		if (is_suggested(&k->v[i])) {
			if (n++ == 0)
				printf("# Read each rule before you take it "
				    "over into myelin.conf: nothing was\n"
				    "# changed.  myelind -n checks it.\n\n");
			print_rule(&k->v[i]);
		}
	}
	for (i = 0; i < k->n; i++) {
		if (k->v[i].allowed < OFTEN || is_suggested(&k->v[i]))
			continue;
		printf("# no rule for");
		print_words(&k->v[i]);
		if (k->v[i].rejected > 0)
			printf(": allowed %u times, rejected %u times\n",
			    k->v[i].allowed, k->v[i].rejected);
		else
			printf(": allowed %u times, and never for the same "
			    "thing\n", k->v[i].allowed);
	}
	if (n == 0)
		printf("# No kind of command was allowed %d times and never "
		    "rejected: no rule to suggest.\n", OFTEN);
}

int
approvals_suggest(const struct options *o)
{
	struct kinds k = { NULL, 0 };
	json_t *json, *a, *list;
	size_t i;

	json = api_list(o, OPERATOR, "/v1/approvals?state=decided",
	    "approvals", o->most != 0 ? o->most : DECIDED_MOST);
	if (json == NULL)
		return (EXIT_FAILED);
	json_array_foreach(json_object_get(json, "approvals"), i, a)
		take(&k, a);
	json_decref(json);
	if (o->json) {
		list = json_array();
		for (i = 0; i < k.n; i++) {
			if (is_suggested(&k.v[i]))
				json_array_append_new(list,
				    kind_json(&k.v[i]));
		}
		json = json_pack("{s:o}", "suggestions", list);
		words_json(json);
		json_decref(json);
	} else
		print_all(&k);
	kinds_free(&k);
	return (0);
}
