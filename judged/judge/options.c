/*
 * Options and operands.
 */
#include <string.h>

#include "options.h"

static const struct optspec none = { NULL, NULL, 0 };

void
opt_begin(struct optscan *o, const struct subject *s, size_t skip,
    const struct optspec *spec)
{
	o->s = s;
	o->spec = spec == NULL ? &none : spec;
	o->next = skip;
	o->cluster = 0;
	o->ended = 0;
	o->uncertain = 0;
}

/* The number of values that a long option, perhaps abbreviated, takes. */
static int
long_takes_value(const char *list, const char *name, size_t len)
{
	size_t n;
	int values = 0;

	if (list == NULL || len == 0)
		return (0);
	for (; *list != '\0'; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (len > n || strncmp(list, name, len) != 0)
			continue;
		if (n == len + 1 && list[len] == '!')
			return (0);
		if (n == len || (n == len + 1 && list[len] == '+') ||
		    values == 0)
			values = list[n - 1] == '+' ? 2 : 1;
	}
	return (values);
}

static const struct word *
follows(struct optscan *o)
{
	return (o->next < o->s->argc ? &o->s->argv[o->next++] : NULL);
}

static int
next_long(struct optscan *o, struct opt *opt, const char *text)
{
	const char *eq = strchr(text, '=');
	size_t len = eq == NULL ? strlen(text) : (size_t)(eq - text);
	int values = long_takes_value(o->spec->longs, text, len);

	opt->kind = OPT_LONG;
	opt->name = eq == NULL ? text : judging_strndup(o->s->j, text, len);
	if (eq != NULL)
		opt->value = word_rest(o->s->j, opt->word,
		    (size_t)(eq + 1 - opt->word->text));
	else if (values > 0)
		opt->value = follows(o);
	if (eq == NULL && values > 1)
		(void)follows(o);
	return (1);
}

static int
next_short(struct optscan *o, struct opt *opt)
{
	const struct word *w = opt->word;
	char c = w->text[o->cluster];

	opt->kind = OPT_SHORT;
	opt->letter = c;
	o->cluster++;
	if (o->spec->shorts != NULL && strchr(o->spec->shorts, c) != NULL) {
		if (w->text[o->cluster] != '\0' ||
		    (w->flags & WORD_PREFIX) != 0)
			opt->value = word_rest(o->s->j, w, o->cluster);
		else
			opt->value = follows(o);
		o->cluster = 0;
	} else if (w->text[o->cluster] == '\0')
		o->cluster = 0;
	return (1);
}

int
opt_next(struct optscan *o, struct opt *opt)
{
	const struct word *w;

	memset(opt, 0, sizeof(*opt));
	if (o->cluster > 0) {
		opt->at = o->next - 1;
		opt->word = &o->s->argv[opt->at];
		return (next_short(o, opt));
	}
	while (o->next < o->s->argc) {
		opt->at = o->next;
		opt->word = w = &o->s->argv[o->next++];
		if (w->text == NULL && (w->flags & WORD_SPLITS) != 0 &&
		    (w->flags & WORD_WORKSPACE) == 0)
			o->uncertain = 1;
		if (o->ended || w->text == NULL || w->text[0] != '-' ||
		    w->text[1] == '\0') {
			opt->kind = OPT_OPERAND;
			if ((o->spec->flags & OPT_STOPS) != 0)
				o->ended = 1;
			return (1);
		}
		if (strcmp(w->text, "--") == 0 &&
		    (w->flags & WORD_PREFIX) == 0) {
			o->ended = 1;
			continue;
		}
		if (w->text[1] == '-')
			return (next_long(o, opt, w->text + 2));
		if ((o->spec->flags & OPT_ONE_DASH) != 0)
			return (next_long(o, opt, w->text + 1));
		o->cluster = 1;
		return (next_short(o, opt));
	}
	opt->kind = OPT_END;
	return (0);
}

int
opt_is(const struct opt *opt, char letter, const char *name)
{
	if (opt->kind == OPT_SHORT)
		return (letter != 0 && opt->letter == letter);
	return (opt->kind == OPT_LONG && name != NULL &&
	    opt->name[0] != '\0' &&
	    strncmp(opt->name, name, strlen(opt->name)) == 0);
}

const struct word *
opt_operand(const struct subject *s, size_t skip, const struct optspec *spec,
    size_t index)
{
	struct optscan o;
	struct opt opt;

	opt_begin(&o, s, skip, spec);
	while (opt_next(&o, &opt))
		if (opt.kind == OPT_OPERAND && index-- == 0)
			return (opt.word);
	return (NULL);
}

int
opt_has(const struct subject *s, size_t skip, const struct optspec *spec,
    char letter, const char *name)
{
	struct optscan o;
	struct opt opt;

	opt_begin(&o, s, skip, spec);
	while (opt_next(&o, &opt))
		if (opt_is(&opt, letter, name))
			return (1);
	return (0);
}
