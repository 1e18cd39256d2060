/*
 * Whether a rule's conditions hold for a finding.
 *
 * Denying and asking look for any reading of the words under which they hold;
 * allowing for one that leaves no other.
 */
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "judge/subject.h"
#include "rules_glob.h"
#include "rules_int.h"

/* ---- words ---- */

static enum rule_fit
least(enum rule_fit a, enum rule_fit b)
{
	return (a < b ? a : b);
}

static enum rule_fit
word_fits(const char *pattern, const struct word *w)
{
	if (w->text == NULL)
		return (FIT_MAYBE);
	if ((w->flags & (WORD_PREFIX | WORD_SPLITS)) != 0)
		return (glob_overlaps(pattern, w->text, (w->flags &
		    WORD_GLOB) != 0, 1) ? FIT_MAYBE : FIT_NO);
	if (shell_match(pattern, w->text))
		return (FIT_YES);
	return ((w->flags & WORD_GLOB) != 0 && glob_overlaps(pattern, w->text,
	    1, 0) ? FIT_MAYBE : FIT_NO);
}

/* A pattern with a slash is a path, one without any program of that name. */
static enum rule_fit
program_fits(struct judging *j, struct rules_ready *r, const char *pattern,
    const struct command *c)
{
	const struct word *w = &c->argv[0];
	struct word as;
	const char *path;

	if (w->text == NULL)
		return (FIT_MAYBE);
	as = *w;
	if (strchr(pattern, '/') == NULL || strchr(w->text, '/') == NULL) {
		/* by a bare name PATH may find that path */
		as.text = base_name(w->text);
		as.len = strlen(as.text);
		return (word_fits(base_name(pattern), &as));
	}
	if ((path = rules_program(j, r, c)) == NULL)
		return (word_fits(base_name(pattern), &as));
	as.text = path;
	as.len = strlen(path);
	return (word_fits(pattern, &as));
}

/* "-f" is in "-uf", "--force" is "--force=yes" and "--forc". */
static int
option_fits(const char *pattern, const char *text)
{
	size_t n = strcspn(text, "=");

	if (shell_match(pattern, text))
		return (1);
	if (pattern[1] != '-' && pattern[1] != '\0' && pattern[2] == '\0')
		return (text[1] != '-' && strchr(text + 1, pattern[1]) !=
		    NULL);
	return (n > 2 && strncmp(text, "--", 2) == 0 &&
	    strncmp(pattern, text, n) == 0);
}

/*
 * The words behind the program, as states: bit s says that the first s of the
 * rule's operands were found.  Operands follow each other; a word behind an
 * option may be its value, so it is passed over as well.  Options fit
 * anywhere.
 */
struct states {
	const char	*operands[RULE_LIST_MAX];
	const char	*options[RULE_LIST_MAX];
	enum rule_fit	 found[RULE_LIST_MAX];	/* of the options */
	size_t		 noperands, noptions;
	uint64_t	 yes, maybe;
	int		 value;		/* this may be an option's value */
	int		 ended;		/* behind "--" */
};

static void
unknown_word(struct states *s, const struct word *w)
{
	uint64_t any = s->yes | s->maybe;
	size_t i;

	for (i = 0; i < s->noptions; i++)
		if (s->found[i] == FIT_NO && (w->text == NULL ||
		    w->text[0] == '\0' || w->text[0] == '-'))
			s->found[i] = FIT_MAYBE;
	s->value = 1;
	if (any == 0)
		return;
	/* an option, an operand, or several */
	s->maybe |= any | any << 1;
	if ((w->flags & WORD_SPLITS) != 0)
		while (any < (uint64_t)1 << s->noperands)
			s->maybe |= any <<= 1;
}

static void
operand(struct states *s, const struct word *w)
{
	uint64_t done = (uint64_t)1 << s->noperands, bit;
	uint64_t yes = s->yes & done, maybe = s->maybe & done;
	enum rule_fit fit;
	size_t i;

	if (s->value) {
		yes |= s->yes;
		maybe |= s->maybe;
	}
	for (i = 0; i < s->noperands; i++) {
		bit = (uint64_t)1 << i;
		if (((s->yes | s->maybe) & bit) == 0)
			continue;
		fit = word_fits(s->operands[i], w);
		if (fit == FIT_YES && (s->yes & bit) != 0)
			yes |= bit << 1;
		else if (fit != FIT_NO)
			maybe |= bit << 1;
	}
	s->yes = yes;
	s->maybe = maybe;
	s->value = 0;
}

static void
step(struct states *s, const struct word *w)
{
	size_t i;

	if (w->text == NULL || (w->flags & WORD_SPLITS) != 0 ||
	    ((w->flags & WORD_PREFIX) != 0 && (w->text[0] == '\0' ||
	    w->text[0] == '-'))) {
		unknown_word(s, w);
		return;
	}
	if (s->ended || w->text[0] != '-' || w->text[1] == '\0') {
		operand(s, w);
		return;
	}
	if (strcmp(w->text, "--") == 0) {
		s->ended = 1;
		s->value = 0;
		return;
	}
	for (i = 0; i < s->noptions; i++)
		if (option_fits(s->options[i], w->text))
			s->found[i] = FIT_YES;
	s->value = strchr(w->text, '=') == NULL;
}

static enum rule_fit
words_fit(struct judging *j, struct rules_ready *r,
    const struct strings *list, const struct command *c)
{
	struct states s = { .yes = 1 };
	enum rule_fit fit = program_fits(j, r, list->v[0], c);
	uint64_t done;
	size_t i;

	if (fit == FIT_NO)
		return (FIT_NO);
	for (i = 1; i < list->n; i++) {
		if (list->v[i][0] == '-' && list->v[i][1] != '\0')
			s.options[s.noptions++] = list->v[i];
		else
			s.operands[s.noperands++] = list->v[i];
	}
	if (list->n > 1 && !rules_afford(r, c->argc, RULES_WORK_WORD))
		return (FIT_MAYBE);
	for (i = 1; list->n > 1 && i < c->argc; i++)
		step(&s, &c->argv[i]);
	done = (uint64_t)1 << s.noperands;
	fit = least(fit, (s.yes & done) != 0 ? FIT_YES :
	    (s.maybe & done) != 0 ? FIT_MAYBE : FIT_NO);
	for (i = 0; i < s.noptions; i++)
		fit = least(fit, s.found[i]);
	return (fit);
}

/* The very words, one behind the other, of a program that the system has. */
static enum rule_fit
words_allow(const struct rule_call *call, const struct strings *list,
    const struct command *c)
{
	static const char *const dirs[] = { "/bin/", "/usr/bin/", "/sbin/",
		"/usr/sbin/", "/usr/local/bin/" };
	const char *program = c->argc > 0 ? word_static(&c->argv[0]) : NULL;
	size_t i, n;

	if (program == NULL || c->argc < list->n)
		return (FIT_NO);
	if (strchr(program, '/') == NULL) {
		if (call->path_changed || strchr(list->v[0], '/') != NULL)
			return (FIT_NO);
	} else if (strchr(list->v[0], '/') == NULL) {
		for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
			n = strlen(dirs[i]);
			if (strncmp(program, dirs[i], n) == 0 &&
			    strchr(program + n, '/') == NULL)
				break;
		}
		if (i == sizeof(dirs) / sizeof(dirs[0]))
			return (FIT_NO);
		program = base_name(program);
	}
	if (!shell_match(list->v[0], program))
		return (FIT_NO);
	for (i = 1; i < list->n; i++)
		if (word_static(&c->argv[i]) == NULL ||
		    !shell_match(list->v[i], c->argv[i].text))
			return (FIT_NO);
	return (FIT_YES);
}

/* ---- hosts ---- */

/* In lower case and without a last dot, or NULL: no name is that long. */
static const char *
lower(const char *text, char *dst, size_t size)
{
	size_t i;

	for (i = 0; text[i] != '\0' && i + 1 < size; i++)
		dst[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ?
		    text[i] | 0x20 : text[i]);
	if (i > 1 && text[i] == '\0' && dst[i - 1] == '.' &&
	    dst[i - 2] != '.')
		dst[i - 1] = '\0';
	dst[i] = '\0';
	return (text[i] == '\0' ? dst : NULL);
}

static int
host_listed(const struct strings *list, const char *host)
{
	char a[RULE_WORD_MAX], b[RULE_WORD_MAX];
	size_t i;

	if (lower(host, a, sizeof(a)) == NULL)
		return (0);
	for (i = 0; i < list->n; i++)
		if (lower(list->v[i], b, sizeof(b)) != NULL &&
		    shell_match(b, a))
			return (1);
	return (0);
}

static enum rule_fit
hosts_fit(const struct strings *list, const struct finding *f, int all)
{
	const struct finding_hosts *h = f->hosts;
	size_t i, n = 0;

	if (h == NULL)
		return (FIT_NO);
	for (i = 0; i < h->n; i++)
		n += (size_t)host_listed(list, h->v[i]);
	if (all)
		return (h->n > 0 && n == h->n && !h->unsure ? FIT_YES :
		    FIT_NO);
	return (n > 0 ? FIT_YES : h->unsure ? FIT_MAYBE : FIT_NO);
}

/* ---- a rule ---- */

static int
text_fits(const struct strings *list, const char *text)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (shell_match(list->v[i], text))
			return (1);
	return (0);
}

int
rules_call_fits(const struct rule_call *call, const struct cf_rule *rule)
{
	const char *const texts[] = { call->tool, call->principal,
		call->workspace };
	static const enum rule_list lists[] = { RULE_TOOL, RULE_PRINCIPAL,
		RULE_WORKSPACE };
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]) && !call->testing;
	    i++)
		if (rule->of[lists[i]].n > 0 &&
		    !text_fits(&rule->of[lists[i]], texts[i]))
			return (0);
	return (1);
}

/* What is allowed has all of its marks listed, and opaque by its name. */
static int
marks_fit(const struct rule_ready *rule, uint32_t marks)
{
	int lists = rule->rule->of[RULE_MARK].n > 0;

	if (lists && (marks & rule->marks) == 0)
		return (0);
	if (!rule->allows)
		return (1);
	return (lists ? (marks & ~rule->marks) == 0 :
	    (marks & MARK_OPAQUE) == 0);
}

static enum rule_fit
command_fits(struct judging *j, struct rules_ready *r,
    const struct rule_call *call, size_t i, const struct finding *f)
{
	const struct strings *list = &r->v[i].rule->of[RULE_COMMAND];

	if (list->n == 0)
		return (FIT_YES);
	if (f->command == NULL || f->command->argc == 0)
		return (FIT_NO);
	if (r->v[i].allows && (f->flags & FINDING_SIDE) != 0)
		return (FIT_NO);
	if (r->command_fit[i] == FIT_UNKNOWN)
		r->command_fit[i] = (uint8_t)(r->v[i].allows ?
		    words_allow(call, list, f->command) :
		    words_fit(j, r, list, f->command));
	return (r->command_fit[i]);
}

enum rule_fit
rules_fit(struct judging *j, struct rules_ready *r,
    const struct rule_call *call, size_t i, const struct finding *f)
{
	const struct rule_ready *rule = &r->v[i];
	enum rule_fit fit;

	if (rule->allows && (f->flags & FINDING_FIRM) != 0)
		return (FIT_NO);
	if ((rule->effects >> f->effect & 1) == 0 ||
	    !marks_fit(rule, f->marks))
		return (FIT_NO);
	fit = command_fits(j, r, call, i, f);
	if (fit != FIT_NO && rule->rule->of[RULE_HOST].n > 0)
		fit = least(fit, hosts_fit(&rule->rule->of[RULE_HOST], f,
		    rule->allows));
	if (fit != FIT_NO && rule->rule->of[RULE_PATH].n > 0)
		fit = least(fit, rules_paths(j, r, i, f));
	return (fit);
}
