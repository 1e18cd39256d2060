/*
 * parallel: a line of shell for each item.
 */
#include <string.h>

#include "class.h"
#include "judge_int.h"
#include "options.h"

#define LINES_MAX	64	/* items that are looked at one by one */

/* Behind "{" of a replacement string: its length, or 0 if it is none. */
static size_t
replacement(const char *text)
{
	static const char *const kinds[] = { "{}", "{.}", "{/}", "{//}", "{/.}",
		"{#}", "{%}", NULL };
	size_t i, n;

	for (i = 0; kinds[i] != NULL; i++) {
		n = strlen(kinds[i]);
		if (strncmp(text, kinds[i], n) == 0)
			return (n);
	}
	/* {1}, {2.} */
	n = 1 + strspn(text + 1, "0123456789");
	if (n == 1)
		return (0);
	n += strspn(text + n, "./");
	return (text[n] == '}' ? n + 1 : 0);
}

/* An item between quotes; what is not known is a parameter nobody knows. */
static char *
quote(struct judging *j, const struct word *item)
{
	const char *p;
	char *text, *to;

	if (word_static(item) == NULL)
		return (judging_strndup(j, "\"$1\"", 4));
	to = text = judging_alloc(j, item->len * 4 + 3);
	*to++ = '\'';
	for (p = item->text; *p != '\0'; p++) {
		if (*p == '\'') {
			memcpy(to, "'\\''", 4);
			to += 4;
		} else
			*to++ = *p;
	}
	*to = '\'';
	return (text);
}

/*
 * The line that is run for an item.  count becomes 0 once the words are too
 * many to be judged for one item more.
 */
static void
run_line(const struct subject *s, const char *line, const struct word *argv,
    size_t *count, const struct word *item)
{
	struct shell_start start = { .who = SHELL_CHILD, .command = s->c };
	char *quoted = quote(s->j, item), *text, *to;
	size_t n, len = strlen(quoted), room = strlen(line) + len + 2;
	const char *p;
	int replaced = 0;

	for (p = line; *p != '\0'; p++)
		room += *p == '{' ? len : 0;
	to = text = judging_alloc(s->j, room);
	for (p = line; *p != '\0'; p += n) {
		if (*p == '{' && (n = replacement(p)) > 0) {
			memcpy(to, quoted, len);
			to += len;
			replaced = 1;
			continue;
		}
		n = 1;
		*to++ = *p;
	}
	if (!replaced) {
		*to++ = ' ';
		memcpy(to, quoted, len);
		to += len;
	}
	n = (size_t)(to - text);
	/* with -q, or where a word holds no blank, they are words as they
	 * stand; else what the shell makes of the line */
	if (*count > 1 && !run_with(s, argv, *count, any_mark, item, 1))
		*count = 0;
	if (judging_again(s->j, n, s->c))
		shell_judge(s->j, text, n, DIALECT_BASH, &start, s->out);
}

/* All words up to the items, as one line; what is not known is "$1". */
static char *
line_of(const struct subject *s, size_t from, size_t to)
{
	size_t i, len = 1, used = 0;
	char *text;

	for (i = from; i < to; i++)
		len += s->argv[i].len + 8;
	text = judging_alloc(s->j, len);
	for (i = from; i < to; i++) {
		if (i > from)
			text[used++] = ' ';
		if (s->argv[i].text != NULL) {
			memcpy(text + used, s->argv[i].text, s->argv[i].len);
			used += s->argv[i].len;
		}
		if (word_static(&s->argv[i]) == NULL) {
			memcpy(text + used, "\"$1\"", 4);
			used += 4;
		}
	}
	return (text);
}

/* Lines of stdin or of a file. */
static void
run_input(const struct subject *s, const char *line, const struct word *argv,
    size_t words, const struct content *in)
{
	struct word item;
	const char *p = in->text, *end;
	size_t n, count = 0;

	memset(&item, 0, sizeof(item));
	if (in->kind == CONTENT_TEXT || in->kind == CONTENT_UNKNOWN) {
		for (end = p == NULL ? p : p + in->len; p < end; p += n + 1) {
			n = strcspn(p, "\n");
			if (n > (size_t)(end - p))
				n = (size_t)(end - p);
			if (++count > LINES_MAX)
				break;
			item.text = judging_strndup(s->j, p, n);
			item.len = n;
			run_line(s, line, argv, &words, &item);
		}
		if (in->kind == CONTENT_TEXT && count <= LINES_MAX)
			return;
	}
	item.text = NULL;
	item.len = 0;
	item.flags = WORD_PREFIX;
	run_line(s, line, argv, &words, &item);
}

/* Without a command the items are commands. */
static void
run_items(const struct subject *s, size_t at, const struct content *in)
{
	struct shell_start start = {
		.who = SHELL_CHILD, .command = s->c, .code_on_stdin = 1
	};

	if (at < s->argc) {
		/* lines of files */
		if (strncmp(word_start(&s->argv[at]), "::::", 4) == 0) {
			class_find(s, CLASS_OPAQUE, "the commands are not "
			    "known");
			return;
		}
		while (++at < s->argc)
			subject_code(s, DIALECT_BASH, SHELL_CHILD,
			    &s->argv[at]);
	} else if (in->kind == CONTENT_INHERITED)
		class_find(s, CLASS_OPAQUE, "the commands are not known");
	else
		shell_judge_content(s->j, in, DIALECT_BASH, &start, s->out);
}

/* parallel CMD ::: items, or items on stdin, or commands on stdin. */
void
handle_parallel(const struct subject *s)
{
	static const struct optspec spec = { "jnNaILSEsdC", "jobs max-args "
	    "max-replace-args arg-file delimiter sshlogin sshloginfile "
	    "joblog results timeout delay retries tmpdir workdir colsep "
	    "load memfree halt halt-on-error tag! tagstring block recend "
	    "recstart", OPT_STOPS };
	struct content in = s->c->input;
	struct optscan o;
	struct opt opt;
	size_t at = s->argc, sep, words, i;
	char *line;

	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND) {
			at = opt.at;
			break;
		}
		if (opt_is(&opt, 'S', "sshlogin"))
			class_find(s, CLASS_NET_WRITE, "runs commands on "
			    "other hosts");
		if (opt.value != NULL && opt_is(&opt, 'a', "arg-file"))
			shell_file_get(s->j, s->c, opt.value, &in);
	}
	class_find(s, CLASS_READ, "starts a command for what it reads");
	for (sep = at; sep < s->argc; sep++)
		if (strncmp(word_start(&s->argv[sep]), ":::", 3) == 0)
			break;
	if (sep == at) {
		run_items(s, at, &in);
		return;
	}
	line = line_of(s, at, sep);
	words = sep - at;
	if (sep == s->argc || strncmp(s->argv[sep].text, "::::", 4) == 0) {
		if (sep < s->argc)
			in = (struct content){ .kind = CONTENT_UNKNOWN };
		run_input(s, line, s->argv + at, words, &in);
		return;
	}
	for (i = sep + 1; i < s->argc && i - sep <= LINES_MAX; i++)
		if (strncmp(word_start(&s->argv[i]), ":::", 3) != 0)
			run_line(s, line, s->argv + at, &words, &s->argv[i]);
	if (i == s->argc)
		return;
	/* The others as any, and as what they are, all at once. */
	run_line(s, line, s->argv + at, &words,
	    &(struct word){ .flags = WORD_PREFIX });
	(void)run_with(s, s->argv + at, sep - at, any_mark, s->argv + i,
	    s->argc - i);
}
