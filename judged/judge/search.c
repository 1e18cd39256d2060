/*
 * Programs that start another one for each thing they find or read.
 */
#include <string.h>

#include "judge_int.h"
#include "options.h"
#include "zone.h"

/* What an inner command is given for "{}" or as last words. */
struct item {
	struct word	 word;
	int		 all;	/* and all that lies beneath it */
};

#define ROOT_COST	128	/* bytes of work that a root takes */

static const char *const deleters[] = {
	"rm", "unlink", "rmdir", "shred", "srm", "mv", "truncate", NULL
};
static const char *const mode_changers[] = {
	"chmod", "chown", "chgrp", "setfacl", "chattr", NULL
};

/*
 * A program is run for all that lies beneath a root: 1 if that is the same
 * harm as doing it to the root and all below.
 */
static int
harms_all(const struct subject *s, const struct word *program,
    const struct word *root)
{
	const char *name = base_name(word_start(program));

	if (!zone_wipes(s, root))
		return (0);
	if (in_list(name, deleters))
		class_findf(s, HARD_WIPE, "deletes all of %s", root);
	else if (in_list(name, mode_changers))
		class_findf(s, zone_of(s, root) == ZONE_WORK ? CLASS_DESTROY :
		    HARD_PERM, "changes all of %s", root);
	else
		return (0);
	return (1);
}

/* What fd and parallel replace; xargs is told by -I. */
const char any_mark[] = "{}";

/* Where a mark stands in a word, and how long it is; NULL: nowhere. */
static const char *
find_mark(const char *text, const char *mark, size_t *len)
{
	static const char *const marks[] = { "{}", "{/}", "{//}", "{.}",
		"{/.}", "{#}", "{%}", "{1}", "{2}", "{3}" };
	size_t i;

	*len = strlen(mark);
	if (mark != any_mark)
		return (*len == 0 ? NULL : strstr(text, mark));
	for (; (text = strchr(text, '{')) != NULL; text++)
		for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
			*len = strlen(marks[i]);
			if (strncmp(text, marks[i], *len) == 0)
				return (text);
		}
	return (NULL);
}

/* A word with an item in the place of each mark; NULL: too much. */
static const char *
replaced_by(const struct subject *s, const struct word *w, const char *mark,
    const struct word *item)
{
	const char *with = item != NULL && WORD_IS_STATIC(item) ? item->text :
	    WORD_HOLE, *p = w->text, *at;
	size_t n = strlen(with), mlen, len = w->len, most = 0;
	char *text, *to;

	while ((at = find_mark(p, mark, &mlen)) != NULL) {
		most += n;
		p = at + mlen;
	}
	if (len + most > JUDGE_TEXT_MAX || !judging_afford(s->j, len + most))
		return (NULL);
	to = text = judging_alloc(s->j, len + most + 1);
	for (p = w->text; (at = find_mark(p, mark, &mlen)) != NULL;
	    p = at + mlen) {
		memcpy(to, p, (size_t)(at - p));
		to += at - p;
		memcpy(to, with, n);
		to += n;
	}
	strcpy(to, p);
	return (text);
}

int
run_with(const struct subject *s, const struct word *argv, size_t argc,
    const char *mark, const struct word *items, size_t nitems)
{
	struct word *fresh;
	size_t i, n = 0, mlen;
	const char *at;
	int replaced = 0;

	if (argc == 0)
		return (1);
	if (!judging_afford(s->j, (argc + nitems) * sizeof(*fresh))) {
		class_find(s, CLASS_OPAQUE, "more words are put together than "
		    "is followed");
		subject_argv(s, argv, argc);
		return (0);
	}
	fresh = judging_alloc(s->j, (argc + nitems + 1) * sizeof(*fresh));
	for (i = 0; i < argc; i++) {
		fresh[n] = argv[i];
		at = i == 0 ? NULL : find_mark(word_start(&argv[i]), mark,
		    &mlen);
		if (at == NULL) {
			n++;
			continue;
		}
		replaced = 1;
		if (at == argv[i].text && at[mlen] == '\0' && nitems > 0)
			fresh[n] = items[0];
		else {
			/* within a word: its beginning is known */
			fresh[n].whole = replaced_by(s, &argv[i], mark,
			    nitems > 0 ? &items[0] : NULL);
			if (fresh[n].whole != NULL && nitems > 0 &&
			    WORD_IS_STATIC(&items[0])) {
				fresh[n].text = fresh[n].whole;
				fresh[n].len = strlen(fresh[n].text);
				n++;
				continue;
			}
			fresh[n].text = judging_strndup(s->j, argv[i].text,
			    (size_t)(at - argv[i].text));
			fresh[n].len = strlen(fresh[n].text);
			fresh[n].flags |= WORD_PREFIX;
			if (fresh[n].len == 0)
				fresh[n].text = NULL;
			/* "{}.bak" lies beside what it is named after */
			if (at == argv[i].text && nitems > 0 &&
			    strchr(at + mlen, '/') == NULL)
				fresh[n].flags |= items[0].flags &
				    WORD_WORKSPACE;
		}
		n++;
	}
	if (!replaced)
		for (i = 0; i < nitems; i++)
			fresh[n++] = items[i];
	subject_argv(s, fresh, n);
	return (1);
}

/* ---- find ---- */

/* Tests that leave nothing out, or nothing that matters. */
static const char *const no_filters[] = {
	"-type", "-depth", "-d", "-xdev", "-mount", "-print", "-print0",
	"-ls", "-maxdepth", "-mindepth", "-noleaf", "-follow", "-true",
	"-ignore_readdir_race", "-warn", "-nowarn", "-o", "-or", "-a", "-and",
	"-quit", "-prune", "(", ")", ",", "-exec", "-execdir", "-ok", "-okdir",
	"-delete", "-H", "-L", "-P", "-daystart", "-printf", "-readable",
	"-writable", "-fprint", "-fprint0", "-fprintf", "-fls", NULL
};

struct find {
	const struct subject	*s;
	const struct word	*roots;
	size_t			 nroots;
	size_t			 expression;	/* its index */
	int			 filtered;
};

static const char *const patterns[] = { "-name", "-iname", "-path", "-ipath",
	"-wholename", "-iwholename", "-regex", "-iregex", NULL };

static const struct word here = { .text = ".", .len = 1 };

static void
find_roots(struct find *f, const struct subject *s)
{
	const char *text;
	size_t i = 1, first;

	while (i < s->argc && (strcmp(text = word_start(&s->argv[i]), "-H") ==
	    0 || strcmp(text, "-L") == 0 || strcmp(text, "-P") == 0 ||
	    strncmp(text, "-O", 2) == 0))
		i++;
	if (i + 1 < s->argc && strcmp(word_start(&s->argv[i]), "-D") == 0)
		i += 2;
	first = i;
	for (; i < s->argc; i++) {
		text = word_start(&s->argv[i]);
		if ((text[0] == '-' && text[1] != '\0') || text[0] == '(' ||
		    text[0] == '!')
			break;
	}
	f->s = s;
	f->roots = i == first ? &here : &s->argv[first];
	f->nroots = i == first ? 1 : i - first;
	f->expression = i;
	f->filtered = 0;
	for (; i < s->argc; i++) {
		text = word_start(&s->argv[i]);
		/* a pattern that everything matches leaves nothing out */
		if (i + 1 < s->argc && in_list(text, patterns) &&
		    s->argv[i + 1].len > 0 && strspn(word_start(
		    &s->argv[i + 1]), "*.?") == s->argv[i + 1].len &&
		    strchr(s->argv[i + 1].text, '*') != NULL) {
			i++;
			continue;
		}
		if (s->argv[i].text == NULL ||
		    (text[0] == '-' && text[1] != '\0' &&
		    !in_list(text, no_filters)))
			f->filtered = 1;
		/* the inner command is no test */
		if (strncmp(text, "-exec", 5) == 0 ||
		    strncmp(text, "-ok", 3) == 0)
			while (i + 1 < s->argc && strcmp(word_start(
			    &s->argv[i + 1]), ";") != 0 && strcmp(word_start(
			    &s->argv[i + 1]), "+") != 0)
				i++;
	}
}

/* A file beneath a root: its beginning is known. */
static struct word
beneath_root(const struct subject *s, const struct word *root)
{
	struct word w = *root;
	const char *text = word_start(root);
	char *path;
	size_t n;

	w.flags |= WORD_PREFIX;
	w.flags &= ~(unsigned)WORD_GLOB;
	if (root->text == NULL || (root->flags & WORD_GLOB) != 0)
		return (w);
	n = strlen(text);
	path = judging_alloc(s->j, n + 2);
	memcpy(path, text, n);
	if (n == 0 || path[n - 1] != '/')
		path[n] = '/';
	w.text = path;
	w.len = strlen(path);
	return (w);
}

static void
find_delete(const struct find *f)
{
	const struct subject *s = f->s;
	struct word w;
	size_t i;
	enum zone z;

	for (i = 0; i < f->nroots; i++) {
		if (!f->filtered) {
			zone_delete(s, &f->roots[i], 1);
			continue;
		}
		w = beneath_root(s, &f->roots[i]);
		z = zone_of(s, &w);
		if (z == ZONE_WORK || z == ZONE_TMP)
			class_find(s, CLASS_LOSE, "deletes what it finds");
		else
			zone_delete(s, &w, 0);
	}
}

static void
find_exec(const struct find *f, const struct word *argv, size_t argc,
    int directory)
{
	const struct subject *s = f->s;
	const char *name = argc == 0 ? "" : base_name(word_start(&argv[0]));
	struct word w;
	size_t i;

	if (argc == 0)
		return;
	for (i = 0; i < f->nroots; i++) {
		/* Each of many roots, for each of many commands: no. */
		if (i > 0 && judging_over(s->j) &&
		    !judging_afford(s->j, ROOT_COST))
			return;
		if (!f->filtered && harms_all(s, &argv[0], &f->roots[i]))
			continue;
		if (i > 0 && judging_over(s->j))
			continue;
		/* the root itself is found as well */
		if (!f->filtered)
			w = f->roots[i];
		else
			w = beneath_root(s, &f->roots[i]);
		if (f->filtered || in_list(name, deleters))
			w = beneath_root(s, &f->roots[i]);
		if (f->filtered)
			w.flags |= WORD_FOUND;
		if (directory) {
			w.text = NULL;
			w.len = 0;
			w.flags = WORD_PREFIX | WORD_WORKSPACE;
		}
		run_with(s, argv, argc, "{}", &w, 1);
	}
}

/* What it prints begins with its first root; the others are there, too. */
static void
find_output(const struct find *f, int zero)
{
	const struct subject *s = f->s;
	const char *text;
	struct word w;
	char *out;
	size_t i, len = 0;
	int inside = 1;

	s->out->output.kind = CONTENT_UNKNOWN;
	if (word_static(&f->roots[0]) == NULL)
		return;
	for (i = 0; i < f->nroots; i++)
		inside &= listing_inside(s, &f->roots[i]);
	s->out->output.names = inside ? NAMES_INSIDE : 0;
	if (f->filtered) {
		w = beneath_root(s, &f->roots[0]);
		s->out->output.text = w.text;
		s->out->output.len = w.len;
		s->out->output.names |= NAMES_FOUND;
		return;
	}
	for (i = 0; i < f->nroots; i++)
		len += f->roots[i].len + 1;
	out = judging_alloc(s->j, len + 1);
	for (i = len = 0; i < f->nroots; i++) {
		if ((text = word_static(&f->roots[i])) == NULL)
			continue;
		memcpy(out + len, text, f->roots[i].len);
		len += f->roots[i].len;
		out[len++] = zero ? '\0' : '\n';
	}
	s->out->output.text = out;
	s->out->output.len = len;
	s->out->output.names |= NAMES_ALL;
}

void
handle_find(const struct subject *s)
{
	struct find f;
	const char *text;
	size_t i, end;
	int zero = 0;

	find_roots(&f, s);
	class_find(s, CLASS_READ, "looks for files");
	for (i = 0; i < f.nroots; i++)
		if (f.roots[i].text == NULL &&
		    (f.roots[i].flags & WORD_SPLITS) != 0 &&
		    (f.roots[i].flags & WORD_WORKSPACE) == 0)
			class_findf(s, CLASS_OPAQUE, "find may be told to "
			    "execute or delete by %s", &f.roots[i]);
	for (i = f.expression; i < s->argc; i++) {
		text = word_start(&s->argv[i]);
		if (strcmp(text, "-delete") == 0)
			find_delete(&f);
		else if (strcmp(text, "-print0") == 0)
			zero = 1;
		else if (strncmp(text, "-exec", 5) == 0 ||
		    strncmp(text, "-ok", 3) == 0) {
			for (end = i + 1; end < s->argc; end++)
				if (strcmp(word_start(&s->argv[end]), ";") ==
				    0 || strcmp(word_start(&s->argv[end]),
				    "+") == 0)
					break;
			find_exec(&f, &s->argv[i + 1], end - i - 1,
			    strstr(text, "dir") != NULL);
			i = end;
		} else if (strncmp(text, "-fprint", 7) == 0 ||
		    strcmp(text, "-fls") == 0) {
			if (i + 1 < s->argc)
				zone_write(s, &s->argv[++i], CLASS_MUTATE,
				    "writes what it finds");
		} else if (s->argv[i].text == NULL &&
		    (s->argv[i].flags & WORD_SPLITS) != 0)
			class_findf(s, CLASS_OPAQUE, "find may be told to "
			    "execute or delete by %s", &s->argv[i]);
	}
	find_output(&f, zero);
}

/* ---- fd ---- */

void
handle_fd(const struct subject *s)
{
	static const struct optspec spec = { "dtecESjo", "max-depth "
	    "min-depth exact-depth type extension color exclude size "
	    "changed-within changed-before max-results base-directory "
	    "search-path threads owner path-separator ignore-file", 0 };
	struct word any = { .flags = WORD_PREFIX };
	const struct word *root = NULL;
	struct optscan o;
	struct opt opt;
	size_t n = 0;
	int all = 0;

	class_find(s, CLASS_READ, "looks for files");
	s->out->output.kind = CONTENT_UNKNOWN;
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		/* a pattern, then where: "." and the like match all */
		if (opt.kind == OPT_OPERAND && n++ == 0)
			all = opt.word->text != NULL && strspn(opt.word->text,
			    ".*^$") == opt.word->len;
		else if (opt.kind == OPT_OPERAND && root == NULL)
			root = opt.word;
		if (opt.value != NULL && (opt_is(&opt, 'e', "extension") ||
		    opt_is(&opt, 'S', "size")))
			all = 0;
		if (!opt_is(&opt, 'x', "exec") &&
		    !opt_is(&opt, 'X', "exec-batch"))
			continue;
		if (all && root != NULL && o.next < s->argc && harms_all(s,
		    &s->argv[o.next], root))
			return;
		run_with(s, s->argv + o.next, s->argc - o.next, any_mark,
		    &any, 1);
		return;
	}
}

/* ---- xargs ---- */

static const struct optspec xargs_spec = { "adEILnPsl", "arg-file delimiter "
    "max-lines max-args max-procs max-chars process-slot-var", OPT_STOPS };

#define ITEMS_MAX	256

/* The items of a known text; the last one of a beginning may go on. */
static size_t
split_items(const struct subject *s, const struct content *in,
    const char *separators, struct word *items)
{
	const char *p = in->text, *end;
	size_t n = 0, len;

	if (in->text == NULL)
		return (0);
	end = in->text + in->len;
	while (p < end && n < ITEMS_MAX) {
		if (separators[0] == '\0') {
			len = strnlen(p, (size_t)(end - p));
		} else {
			while (p < end && strchr(separators, *p) != NULL)
				p++;
			for (len = 0; p + len < end &&
			    strchr(separators, p[len]) == NULL; len++)
				continue;
		}
		if (len == 0 && p >= end)
			break;
		items[n] = *word_make(s->j, judging_strndup(s->j, p, len),
		    NULL);
		if (in->kind != CONTENT_TEXT && p + len >= end)
			items[n].flags |= WORD_PREFIX;
		/* what the shell in front made of it: echo /etc/x* */
		if (len > 0 && *p == '/' && memchr(p, '*', len) != NULL)
			items[n].flags |= WORD_GLOB;
		n++;
		p += len + 1;
	}
	return (n);
}

/* Quotes and backslashes of the input are xargs's own. */
static void
unquote_items(struct judging *j, struct word *items, size_t n)
{
	size_t i;
	char *text, *to;
	const char *from;

	for (i = 0; i < n; i++) {
		if (strpbrk(items[i].text, "'\"\\") == NULL)
			continue;
		text = judging_strndup(j, items[i].text, items[i].len);
		for (from = to = text; *from != '\0'; from++) {
			if (*from == '\\' && from[1] != '\0')
				*to++ = *++from;
			else if (*from != '\'' && *from != '"')
				*to++ = *from;
		}
		*to = '\0';
		items[i].text = text;
		items[i].len = strlen(text);
	}
}

static size_t
read_items(const struct subject *s, const struct content *in,
    const char *separators, int quotes, struct word *items)
{
	size_t n = split_items(s, in, separators, items);

	if (quotes)
		unquote_items(s->j, items, n);
	/* the last one stands for all that follow */
	if ((in->names & NAMES_INSIDE) != 0) {
		n -= n > 0 && (in->names & NAMES_ALL) == 0;
		items[n].text = NULL;
		items[n].flags = WORD_PREFIX | WORD_WORKSPACE |
		    ((in->names & NAMES_FOUND) != 0 ? WORD_FOUND : 0);
		return (n + 1);
	}
	if (in->kind == CONTENT_UNKNOWN || in->kind == CONTENT_NETWORK ||
	    in->kind == CONTENT_INHERITED || n == ITEMS_MAX) {
		items[n].text = NULL;
		items[n].len = 0;
		items[n].flags = WORD_PREFIX | WORD_SPLITS |
		    (in->kind == CONTENT_NETWORK ? WORD_NETWORK : 0);
		n++;
	}
	return (n);
}

void
handle_xargs(const struct subject *s)
{
	static const struct word echo = { .text = "echo", .len = 4 };
	const char *mark = "", *separators = " \t\n";
	struct content in = s->c->input;
	struct word *items;
	struct optscan o;
	struct opt opt;
	size_t at = s->argc, n;
	int quotes = 1;

	opt_begin(&o, s, 1, &xargs_spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND) {
			at = opt.at;
			break;
		}
		if (opt_is(&opt, '0', "null")) {
			separators = "";
			quotes = 0;
		} else if (opt_is(&opt, 'd', "delimiter")) {
			separators = "\n";
			quotes = 0;
		} else if (opt_is(&opt, 'I', NULL)) {
			mark = word_start(opt.value);
			separators = "\n";
		} else if (opt_is(&opt, 'i', "replace")) {
			mark = opt.value != NULL ? word_start(opt.value) :
			    "{}";
			separators = "\n";
		} else if (opt_is(&opt, 'a', "arg-file") &&
		    opt.value != NULL)
			shell_file_get(s->j, s->c, opt.value, &in);
	}
	/* An item is at least a byte; what is not known comes behind. */
	n = in.text == NULL ? 0 : in.len < ITEMS_MAX ? in.len : ITEMS_MAX;
	items = judging_alloc(s->j, (n + 1) * sizeof(*items));
	n = read_items(s, &in, separators, quotes, items);
	class_find(s, CLASS_READ, "starts a command for what it reads");
	if ((in.names & NAMES_ALL) != 0 && at < s->argc)
		for (size_t i = 0; i < n; i++) {
			if (harms_all(s, &s->argv[at], &items[i]))
				return;
			if (in_list(base_name(word_start(&s->argv[at])),
			    deleters) && items[i].text != NULL)
				zone_delete(s, &items[i], 1);
		}
	if (mark[0] != '\0' && n > 1) {
		/* once for each */
		for (size_t i = 0; i < n; i++)
			if (!run_with(s, s->argv + at, s->argc - at, mark,
			    &items[i], 1))
				break;
	} else if (at < s->argc)
		run_with(s, s->argv + at, s->argc - at, mark, items, n);
	else
		run_with(s, &echo, 1, mark, items, n);
}
