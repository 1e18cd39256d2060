/*
 * Programs whose input or options hold a line that a shell is given: clients
 * of databases, calculators, pagers, schedules.
 */
#include <string.h>

#include "../shell/names.h"
#include "class.h"
#include "judge_int.h"
#include "options.h"
#include "zone.h"

#define LINE_COST	8	/* bytes of work, of one of a line */

/* Text behind a mark, up to the end of its line, is a command. */
static void
escape_at(const struct subject *s, const char *text, size_t len,
    const struct word *from)
{
	const char *end = memchr(text, '\n', len);
	size_t n = end == NULL ? len : (size_t)(end - text);

	/* Of each of many marks the rest of the line is code. */
	if (n > 0 && subject_affords(s, n * LINE_COST))
		subject_hidden_code(s, word_make(s->j, judging_strndup(s->j,
		    text, n), from));
}

/*
 * Marks that begin a command: at the beginning of a line, or with "*" in
 * front anywhere.
 */
static const struct client_row {
	const char	*name;
	const char	*marks[5];
} rows[] = {
	{ "mysql", { "*\\!", "system ", NULL } },
	{ "mariadb", { "*\\!", "system ", NULL } },
	{ "psql", { "*\\!", "*\\copy ", NULL } },
	{ "sqlite3", { ".shell ", ".system ", ".sh ", ".sy ", NULL } },
	{ "sqlite", { ".shell ", ".system ", NULL } },
	{ "sqlplus", { "!", "host ", "HOST ", NULL } },
	{ "bc", { "!", NULL } }, { "dc", { "!", NULL } },
	{ "ftp", { "!", NULL } }, { "sftp", { "!", NULL } },
	{ "lftp", { "!", "*;!", NULL } },
	{ "less", { "!", "+!", NULL } }, { "more", { "!", "+!", NULL } },
	{ "most", { "!", NULL } },
	{ "gnuplot", { "!", "system ", "*;!", "shell", NULL } },
	{ "octave", { "!", NULL } },
	{ "mail", { "~!", "!", NULL } }, { "mailx", { "~!", "!", NULL } },
	{ "telnet", { "!", NULL } }, { "ghci", { ":!", NULL } },
	{ "smbclient", { "!", "*;!", NULL } },
	{ "ed", { "!", "r !", "w !", NULL } }
};
static struct names by_name = NAMES(rows);

static void
look_for(const struct subject *s, const struct client_row *row,
    const char *text, size_t len, const struct word *from)
{
	const char *p, *mark, *end = text + len;
	size_t i, n;

	for (i = 0; row->marks[i] != NULL; i++) {
		mark = row->marks[i];
		n = strlen(mark + (mark[0] == '*'));
		for (p = text; p != NULL && p + n <= end; ) {
			if (mark[0] == '*') {
				if ((p = memmem(p, (size_t)(end - p), mark + 1,
				    n)) == NULL)
					break;
			} else
				p += strspn(p, " \t");
			if (p + n <= end && strncmp(p, mark + (mark[0] ==
			    '*'), n) == 0)
				escape_at(s, p + n, (size_t)(end - p) - n,
				    from);
			p = mark[0] == '*' ? p + n : memchr(p, '\n',
			    (size_t)(end - p));
			if (p != NULL && mark[0] != '*')
				p++;
		}
	}
}

/* COPY ... FROM PROGRAM 'command', and TO. */
static void
copy_program(const struct subject *s, const char *text,
    const struct word *from)
{
	const char *p, *end;

	for (p = text; (p = strcasestr(p, "program")) != NULL; p++) {
		end = p + 7 + strspn(p + 7, " \t");
		if (*end == '\'' && strchr(end + 1, '\'') != NULL)
			escape_at(s, end + 1, strcspn(end + 1, "'"), from);
	}
}

/*
 * 1 if the program is such a client: what escapes in its words and in its
 * stdin was judged.  What it is besides is for others to say.
 */
int
client_escapes(const struct subject *s)
{
	const struct client_row *row = names_find(&by_name, s->name);
	const struct content *in = &s->c->input;
	const struct word *w;
	size_t i;

	if (row == NULL)
		return (0);
	for (i = 1; i < s->argc; i++) {
		w = &s->argv[i];
		if (w->text == NULL)
			continue;
		/* a name of a history, no escape */
		if (!same_name(s->name, "ed"))
			look_for(s, row, w->text, w->len, w);
		if (same_name(s->name, "dc") && strncmp(w->text, "-e", 2) ==
		    0)
			look_for(s, row, w->text + 2, w->len - 2, w);
		if (same_name(s->name, "psql"))
			copy_program(s, w->text, w);
	}
	if (in->kind == CONTENT_TEXT && in->text != NULL) {
		look_for(s, row, in->text, in->len, NULL);
		if (same_name(s->name, "psql"))
			copy_program(s, judging_strndup(s->j, in->text,
			    in->len), NULL);
	}
	return (1);
}

/* ---- crontab ---- */

/* A line of a crontab: five fields or @word, then a command. */
static void
cron_line(const struct subject *s, const char *p, size_t len)
{
	const char *end = p + len;
	int fields = 5;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p == end || *p == '#')
		return;
	if (*p == '@')
		fields = 1;
	else if (strchr("0123456789*", *p) == NULL)
		return;		/* a variable */
	for (; fields > 0; fields--) {
		p += strcspn(p, " \t\n");
		p += strspn(p, " \t");
	}
	if (p < end)
		subject_code(s, DIALECT_DASH, SHELL_CHILD, word_make(s->j,
		    judging_strndup(s->j, p, (size_t)(end - p)), NULL));
}

/* crontab FILE, crontab -: what it will run. */
void
handle_crontab(const struct subject *s)
{
	static const struct optspec spec = { "u", NULL, 0 };
	struct content in = s->c->input;
	const struct word *file = opt_operand(s, 1, &spec, 0);
	const char *p, *end;
	size_t n;

	if (opt_has(s, 1, &spec, 'l', NULL)) {
		class_find(s, CLASS_READ, "shows what will run");
		return;
	}
	class_find(s, CLASS_ELEVATED, "changes what runs later, outside of "
	    "the call");
	if (file != NULL && !word_is(file, "-"))
		shell_file_get(s->j, s->c, file, &in);
	if (in.kind == CONTENT_NETWORK)
		class_find(s, CLASS_REMOTE, "what will run comes from the "
		    "network");
	if (in.kind != CONTENT_TEXT && in.kind != CONTENT_UNKNOWN)
		return;
	if (in.kind != CONTENT_TEXT && in.whole != NULL) {
		in.text = in.whole;
		in.len = strlen(in.whole);
	}
	if (in.text == NULL)
		return;
	for (p = in.text, end = p + in.len; p < end; p += n + 1) {
		n = strcspn(p, "\n");
		if (n > (size_t)(end - p))
			n = (size_t)(end - p);
		cron_line(s, p, n);
	}
}

/* ---- make ---- */

/*
 * A recipe or a $(shell ) of a makefile that is known: make's variables are
 * not followed, so only what is certain counts.
 */
static void
recipe(const struct subject *s, const char *text, size_t len)
{
	char *line = judging_strndup(s->j, text, len), *to, *p;
	const struct shell_start start = {
		.who = SHELL_CHILD, .command = s->c
	};

	for (p = line; *p != '\0' && strchr("@-+ \t", *p) != NULL; p++)
		continue;
	for (to = line; *p != '\0'; p++) {
		*to++ = *p;
		if (p[0] == '$' && p[1] == '$')
			p++;
	}
	*to = '\0';
	len = (size_t)(to - line);
	if (len > 0 && judging_again(s->j, len, s->c) &&
	    subject_code_verdict(s, line, len) == VERDICT_DENY)
		shell_judge(s->j, line, len, DIALECT_DASH, &start, NULL);
}

void
makefile_text(const struct subject *s, const char *text, size_t len)
{
	const char *p = text, *end = text + len, *at, *close;
	size_t n;

	for (; p < end; p += n + 1) {
		n = strcspn(p, "\n");
		if (n > (size_t)(end - p))
			n = (size_t)(end - p);
		if (*p == '\t')
			recipe(s, p + 1, n - 1);
		else if ((at = memchr(p, ';', n)) != NULL &&
		    memchr(p, ':', (size_t)(at - p)) != NULL)
			recipe(s, at + 1, n - (size_t)(at + 1 - p));
		else if ((at = memmem(p, n, "!=", 2)) != NULL)
			recipe(s, at + 2, n - (size_t)(at + 2 - p));
		if ((at = memmem(p, n, "$(shell ", 8)) != NULL) {
			at += 8;
			close = memrchr(at, ')', n - (size_t)(at - p));
			if (close != NULL)
				recipe(s, at, (size_t)(close - at));
		}
	}
}

/* ---- options and operands that execute, of programs of other classes ---- */

/* socat EXEC:..., SYSTEM:...; tcpdump -z COMMAND */
void
handle_reach(const struct subject *s)
{
	static const char *const kinds[] = { "EXEC:", "SYSTEM:", "SHELL:",
		NULL };
	const char *text;
	size_t i, k, n;

	for (i = 1; i < s->argc; i++) {
		text = word_start(&s->argv[i]);
		for (k = 0; kinds[k] != NULL; k++) {
			n = strlen(kinds[k]);
			if (strncasecmp(text, kinds[k], n) == 0)
				subject_hidden_code(s, word_rest(s->j,
				    &s->argv[i], n));
		}
	}
	handle_net_write(s);
}

void
handle_capture(const struct subject *s)
{
	static const struct optspec spec = { "BcCDEFGijMrsTVwWyzZ",
	    "interface postrotate-command", 0 };
	struct optscan o;
	struct opt opt;

	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt))
		if (opt.value != NULL && opt_is(&opt, 'z',
		    "postrotate-command"))
			subject_hidden_code(s, opt.value);
	if (opt_has(s, 1, &spec, 'r', NULL))
		class_find(s, CLASS_READ, "reads a capture");
	else
		class_findf(s, CLASS_ELEVATED, "%s listens to the network",
		    &s->argv[0]);
}
