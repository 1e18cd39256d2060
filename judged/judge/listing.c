/*
 * Programs whose output names files: whether all of them lie in home, a
 * workspace or /tmp, so that what is done with each is done there.
 */
#include <string.h>

#include "judge_int.h"
#include "options.h"
#include "zone.h"

int
listing_inside(const struct subject *s, const struct word *w)
{
	enum zone z;

	if (w->text == NULL || (w->flags & WORD_PREFIX) != 0)
		return ((w->flags & WORD_WORKSPACE) != 0);
	z = zone_of(s, w);
	return (z == ZONE_WORK || z == ZONE_TMP);
}

/* All operands from one on lie inside; without any, the directory does. */
static int
operands_inside(const struct subject *s, const struct optspec *spec,
    size_t skip)
{
	static const struct word here = { .text = ".", .len = 1 };
	struct optscan o;
	struct opt opt;
	size_t n = 0;

	opt_begin(&o, s, 1, spec);
	while (opt_next(&o, &opt))
		if (opt.kind == OPT_OPERAND && n++ >= skip &&
		    !listing_inside(s, opt.word))
			return (0);
	return (n > skip || listing_inside(s, &here));
}

/* Prints lines of its input, perhaps not all, and none that it makes up. */
static int
is_filter(const struct subject *s)
{
	static const char *const filters[] = { "sort", "uniq", "tac", "head",
		"tail", "shuf", "cat", NULL };
	static const struct optspec spec = { "efmABC", "regexp file "
	    "max-count", 0 };

	if (in_list(s->name, filters))
		return (1);
	return ((same_name(s->name, "grep") ||
	    same_name(s->name, "egrep")) &&
	    !opt_has(s, 1, &spec, 'o', "only-matching") &&
	    !opt_has(s, 1, &spec, 'c', "count"));
}

/*
 * Numbers, dates and names without a slash in front: a file that is called
 * so, or partly so, stays where it is.  mktemp makes files in /tmp.
 */
static int
is_plain(const struct subject *s)
{
	static const char *const plain[] = { "seq", "date", "nproc", "uname",
		"whoami", "hostname", "arch", "uuidgen", "logname", NULL };
	static const struct optspec temporary = { "p", "tmpdir suffix", 0 };
	size_t i;

	if (same_name(s->name, "mktemp"))
		return (!opt_has(s, 1, &temporary, 'p', "tmpdir") &&
		    operands_inside(s, NULL, 0));
	if (!in_list(s->name, plain))
		return (0);
	/* their words are part of what they print */
	for (i = 1; i < s->argc; i++)
		if (s->argv[i].text == NULL || strchr(s->argv[i].text, '/') !=
		    NULL || strstr(s->argv[i].text, "..") != NULL)
			return (0);
	return (1);
}

void
listing_output(const struct subject *s)
{
	static const struct optspec grep = { "efmABCdD", "regexp file "
	    "max-count include exclude exclude-dir color", 0 };
	static const struct optspec rg = { "eftgABCmjMdrET", "pre regexp file "
	    "type glob max-count max-depth", 0 };
	static const char *const greps[] = { "grep", "egrep", "fgrep", "rg",
		"ag", "ack", NULL };
	const struct optspec *spec = same_name(s->name, "rg") ? &rg : &grep;
	struct content *out = &s->out->output;
	int pattern;

	if (out->names != 0 || out->kind != CONTENT_UNKNOWN)
		return;
	if ((s->c->input.names & NAMES_INSIDE) != 0 && is_filter(s)) {
		out->names = s->c->input.names & (NAMES_INSIDE | NAMES_FOUND);
		return;
	}
	if (is_plain(s)) {
		out->names = NAMES_INSIDE;
		return;
	}
	if (same_name(s->name, "ls")) {
		if (operands_inside(s, NULL, 0))
			out->names = NAMES_INSIDE;
		return;
	}
	if (!in_list(s->name, greps))
		return;
	pattern = !opt_has(s, 1, spec, 'e', "regexp") &&
	    !opt_has(s, 1, spec, 'f', "file");
	if (same_name(s->name, "rg") && opt_has(s, 1, spec, 0, "files"))
		pattern = 0;
	else if (!opt_has(s, 1, spec, 'l', "files-with-matches") &&
	    !opt_has(s, 1, spec, 'L', "files-without-match"))
		return;
	if (operands_inside(s, spec, (size_t)pattern))
		out->names = NAMES_INSIDE;
}
