/*
 * Rules in a slice: encoding, decoding, freeing.
 */
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "protocol.h"
#include "slice.h"

/* ---- freeing ---- */

void
rule_free(struct cf_rule *rule)
{
	size_t i;

	free(rule->where.file);
	for (i = 0; i < RULE_LISTS; i++)
		strings_free(&rule->of[i]);
	for (i = 0; i < rule->ntests; i++) {
		free(rule->tests[i].where.file);
		free(rule->tests[i].text);
	}
	free(rule->tests);
}

void
rules_free(struct slice *s)
{
	size_t i;

	for (i = 0; i < s->nrules; i++)
		rule_free(&s->rules[i]);
	free(s->rules);
	strings_free(&s->own);
}

/* ---- the section ---- */

static void
put_where(struct enc *e, const struct where *w)
{
	enc_str(e, w->file);
	enc_u32(e, w->line);
}

static void
put_list(struct enc *e, const struct strings *l)
{
	size_t i;

	enc_u32(e, (uint32_t)l->n);
	for (i = 0; i < l->n; i++)
		enc_str(e, l->v[i]);
}

void
rules_put(struct enc *e, const struct slice *s)
{
	const struct cf_rule *r;
	size_t i, k;

	put_list(e, &s->own);
	enc_u32(e, (uint32_t)s->nrules);
	for (i = 0; i < s->nrules; i++) {
		r = &s->rules[i];
		put_where(e, &r->where);
		enc_u8(e, (uint8_t)r->verdict);
		for (k = 0; k < RULE_LISTS; k++)
			put_list(e, &r->of[k]);
		enc_u32(e, (uint32_t)r->ntests);
		for (k = 0; k < r->ntests; k++) {
			put_where(e, &r->tests[k].where);
			enc_u8(e, r->tests[k].negative != 0);
			enc_str(e, r->tests[k].text);
		}
	}
}

static void
get_where(struct dec *d, struct where *w)
{
	w->file = dec_strdup(d, PATH_BYTES_MAX);
	w->line = dec_u32(d);
}

static void
get_list(struct dec *d, struct strings *l, size_t most)
{
	uint32_t n = dec_u32(d), i;
	char *s;

	if (n > most)
		d->error = 1;
	for (i = 0; i < n && !d->error; i++) {
		if ((s = dec_strdup(d, PATH_BYTES_MAX)) == NULL ||
		    strings_add(l, s) == -1)
			d->error = 1;
		free(s);
	}
}

static size_t
get_number(struct dec *d, size_t most)
{
	uint32_t n = dec_u32(d);

	if (n > most)
		d->error = 1;
	return (d->error ? 0 : n);
}

static void
get_words(struct dec *d, enum rule_list which, struct strings *l)
{
	size_t i;

	get_list(d, l, RULE_LIST_MAX);
	for (i = 0; i < l->n && !d->error; i++)
		if (rule_word_bad(which, l->v[i]) != NULL)
			d->error = 1;
}

static void
get_rule(struct dec *d, struct cf_rule *r)
{
	size_t i, n;

	get_where(d, &r->where);
	r->verdict = dec_u8(d);
	if (r->verdict < VERDICT_ALLOW || r->verdict > VERDICT_DENY)
		d->error = 1;
	for (i = 0; i < RULE_LISTS && !d->error; i++)
		get_words(d, (enum rule_list)i, &r->of[i]);
	if ((n = get_number(d, RULE_TESTS_MAX)) == 0)
		return;
	if ((r->tests = calloc(n, sizeof(*r->tests))) == NULL) {
		d->error = 1;
		return;
	}
	r->ntests = n;
	for (i = 0; i < n && !d->error; i++) {
		get_where(d, &r->tests[i].where);
		r->tests[i].negative = dec_u8(d) != 0;
		r->tests[i].text = dec_strdup(d, PATH_BYTES_MAX);
	}
}

void
rules_get(struct dec *d, struct slice *s)
{
	size_t i, n;

	get_list(d, &s->own, RULES_OWN_MAX);
	if ((n = get_number(d, RULES_MAX)) == 0)
		return;
	if ((s->rules = calloc(n, sizeof(*s->rules))) == NULL) {
		d->error = 1;
		return;
	}
	s->nrules = n;
	for (i = 0; i < n && !d->error; i++)
		get_rule(d, &s->rules[i]);
}
