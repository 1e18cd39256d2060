/* The configuration's text: files, macros, words. */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sha2.h>

#include "conf_int.h"
#include "parse.h"
#include "trust.h"

/* A text being read: a file, and the one that includes it below. */
struct source {
	struct source	*below;
	const char	*name;
	char		*text;
	size_t		 size;
	size_t		 at;
	uint32_t	 line;
	unsigned	 level;		/* 1: the first file */
	unsigned	 depth;		/* of braces where it was included */
	bool		 fresh;		/* ends the line of its "include" */
	bool		 ended;		/* its last line has been ended */
};

struct macro {
	struct macro	*next;
	char		*name;
	char		*value;
};

struct keyword {
	const char	*word;
	int		 token;
	bool		 first;		/* of an entry, else a plain word */
};

static int	refused(struct parser *, struct pos, const char *, ...)
		    __printflike(3, 4);

/* In order, for bsearch(3); a test checks it. */
static const struct keyword keywords[] = {
	{ "allow",		ALLOW,		false },
	{ "any",		ANY,		false },
	{ "api",		API,		false },
	{ "ask",		ASK,		false },
	{ "authentication",	AUTHENTICATION,	false },
	{ "cap",		CAP,		false },
	{ "cgroup",		CGROUP,		false },
	{ "cleartext",		CLEARTEXT,	false },
	{ "command",		COMMAND,	false },
	{ "deny",		DENY,		false },
	{ "effect",		EFFECT,		false },
	{ "egress",		EGRESS,		false },
	{ "elevated",		ELEVATED,	false },
	{ "environment",	ENVIRONMENT,	false },
	{ "group",		GROUP,		false },
	{ "hook",		HOOK,		false },
	{ "host",		HOST,		false },
	{ "include",		INCLUDE,	false },
	{ "instance",		INSTANCE,	false },
	{ "key",		KEY,		false },
	{ "listen",		LISTEN,		false },
	{ "log",		LOG,		false },
	{ "mark",		MARK,		false },
	{ "match",		MATCH,		false },
	{ "may",		MAY,		false },
	{ "method",		METHOD,		false },
	{ "mode",		MODE,		false },
	{ "mount",		MOUNT,		true },
	{ "not",		NOT,		false },
	{ "opaque",		OPAQUE,		false },
	{ "operator",		OPERATOR,	false },
	{ "owner",		OWNER,		false },
	{ "parent",		PARENT,		false },
	{ "path",		PATH,		false },
	{ "port",		PORT,		false },
	{ "preset",		PRESET,		false },
	{ "principal",		PRINCIPAL,	false },
	{ "private",		PRIVATE,	false },
	{ "profile",		PROFILE,	false },
	{ "require",		REQUIRE,	false },
	{ "required",		REQUIRED,	false },
	{ "root",		ROOT,		true },
	{ "state",		STATE,		false },
	{ "tcp",		TCP,		false },
	{ "token",		TOKEN,		false },
	{ "tool",		TOOL,		false },
	{ "tool-input",		TOOL_INPUT,	false },
	{ "transparent",	TRANSPARENT,	false },
	{ "uids",		UIDS,		false },
	{ "user",		USER,		false },
	{ "variant",		VARIANT,	true },
	{ "workspace",		WORKSPACE,	false },
};

#define NKEYWORDS	(sizeof(keywords) / sizeof(keywords[0]))

const char *
conf_keyword(size_t i)
{
	return (i < NKEYWORDS ? keywords[i].word : NULL);
}

/* ---- files ---- */

/* File names outlive their sources: entries and messages name them. */
static const char *
intern(struct parser *ps, const char *name)
{
	size_t i;

	for (i = 0; i < ps->names.n; i++) {
		if (strcmp(ps->names.v[i], name) == 0)
			return (ps->names.v[i]);
	}
	if (strings_add(&ps->names, name) == -1)
		fatalx("out of memory");
	return (ps->names.v[ps->names.n - 1]);
}

/* Bounds and bytes are checked here, so that the lexer need not. */
static bool
text_ok(struct parser *ps, const char *name, const char *text, size_t size)
{
	struct pos pos = { name, 1 };
	unsigned errors = ps->errors;
	size_t i, begin = 0;

	for (i = 0; i <= size; i++) {
		if (i == size || text[i] == '\n') {
			if (i - begin > CONF_LINE_MAX)
				conf_error(ps, pos, "a line of %zu bytes; the "
				    "most is %d", i - begin, CONF_LINE_MAX);
			begin = i + 1;
			pos.line++;
		} else if (iscntrl((unsigned char)text[i]) && text[i] != '\t')
			conf_error(ps, pos, "control byte 0x%02x",
			    (unsigned char)text[i]);
		if (ps->ended)
			break;
	}
	return (ps->errors == errors);
}

int
lex_push_text(struct parser *ps, const char *name, char *text, size_t size)
{
	struct source *src;

	name = intern(ps, name);
	if (!text_ok(ps, name, text, size)) {
		free(text);
		return (-1);
	}
	if ((src = calloc(1, sizeof(*src))) == NULL)
		fatalx("out of memory");
	src->below = ps->top;
	src->name = name;
	src->text = text;
	src->size = size;
	src->line = 1;
	src->level = ps->top == NULL ? 1 : ps->top->level + 1;
	src->depth = ps->depth;
	src->fresh = ps->top != NULL;
	ps->top = src;
	return (0);
}

/* What is in force is to be known later, when the file is another. */
static void
add_source(struct parser *ps, const char *path, const char *text,
    size_t size)
{
	char entry[SHA256_DIGEST_STRING_LENGTH + 1 + PATH_BYTES_MAX];
	size_t n;

	(void)SHA256Data((const uint8_t *)text, size, entry);
	n = strlen(entry);
	if (strlen(path) > PATH_BYTES_MAX - n - 2)
		return;		/* longer than a path can be told */
	(void)snprintf(entry + n, sizeof(entry) - n, " %s", path);
	if (strings_add(&ps->conf->slice->sources, entry) == -1)
		fatalx("out of memory");
}

int
lex_push_file(struct parser *ps, struct pos pos, const char *path)
{
	char why[WHY_MAX], *text;
	size_t size;

	if (++ps->nfiles > CONF_FILES_MAX) {
		conf_error(ps, pos, "more than %d files", CONF_FILES_MAX);
		ps->ended = true;
		return (-1);
	}
	text = trust_read(path, (uid_t)-1, CONF_FILE_MAX, &size, why);
	if (text == NULL) {
		if (pos.file == NULL)
			conf_error(ps, (struct pos){ path, 0 }, "%s", why);
		else
			conf_error(ps, pos, "include \"%s\": %s", path, why);
		return (-1);
	}
	add_source(ps, path, text, size);
	return (lex_push_text(ps, path, text, size));
}

static void
pop(struct parser *ps)
{
	struct source *src = ps->top;

	ps->top = src->below;
	free(src->text);
	free(src);
}

/* A relative name is relative to the file that says it. */
static bool
include_path(struct pos pos, const char *pattern, char *path, size_t size)
{
	const char *slash = strrchr(pos.file, '/');
	int n;

	if (pattern[0] == '/' || slash == NULL)
		n = snprintf(path, size, "%s", pattern);
	else
		n = snprintf(path, size, "%.*s/%s", (int)(slash - pos.file),
		    pos.file, pattern);
	return (n >= 0 && (size_t)n < size);
}

/* A directory that is not there holds nothing; one that can't be read might. */
static int
list_failed(const char *path, int error)
{
	(void)path;
	return (error != ENOENT && error != ENOTDIR);
}

void
lex_include(struct parser *ps, struct pos pos, const char *pattern)
{
	char path[PATH_BYTES_MAX];
	struct source *from = ps->top;
	glob_t g;
	size_t i;

	if (ps->opts->no_include) {
		conf_error(ps, pos, "include: no files here");
		return;
	}
	if (from->level >= CONF_DEPTH_MAX) {
		conf_error(ps, pos, "include: more than %d files deep",
		    CONF_DEPTH_MAX);
		return;
	}
	if (!include_path(pos, pattern, path, sizeof(path))) {
		conf_error(ps, pos, "include: a path over %d bytes",
		    PATH_BYTES_MAX - 1);
		return;
	}
	if (strpbrk(path, "*?[") == NULL) {
		(void)lex_push_file(ps, pos, path);
		return;
	}
	switch (glob(path, 0, list_failed, &g)) {
	case 0:
		break;
	case GLOB_NOMATCH:
		return;
	default:
		conf_error(ps, pos, "include \"%s\": can't be listed", path);
		return;
	}
	/* Backwards, so that the first one is read first. */
	for (i = g.gl_pathc; i > 0 && !ps->ended; i--) {
		if (lex_push_file(ps, pos, g.gl_pathv[i - 1]) == 0)
			ps->top->level = from->level + 1;
	}
	globfree(&g);
}

/* ---- macros ---- */

static struct macro *
macro_find(struct parser *ps, const char *name)
{
	struct macro *m;

	for (m = ps->macros; m != NULL; m = m->next) {
		if (strcmp(m->name, name) == 0)
			return (m);
	}
	return (NULL);
}

void
lex_define(struct parser *ps, struct pos pos, const char *name,
    const char *value)
{
	struct macro *m;
	size_t i;

	for (i = 0; name[i] != '\0'; i++) {
		if (!isalnum((unsigned char)name[i]) && name[i] != '_') {
			conf_error(ps, pos, "a macro's name is of letters, "
			    "digits and _, not \"%s\"", name);
			return;
		}
	}
	if ((m = macro_find(ps, name)) == NULL) {
		if ((m = calloc(1, sizeof(*m))) == NULL)
			fatalx("out of memory");
		m->name = conf_copy(name);
		m->next = ps->macros;
		ps->macros = m;
	}
	free(m->value);
	m->value = conf_copy(value);
}

/* ---- characters ---- */

static int
peek(const struct parser *ps)
{
	const struct source *src = ps->top;

	return (src->at < src->size ? (unsigned char)src->text[src->at] : EOF);
}

static int
word_char(int c)
{
	return (c != EOF && (isalnum(c) || c >= 0x80 ||
	    strchr("_-./*?[]:@%+!~^", c) != NULL) && c != '\0');
}

static void
blanks(struct parser *ps)
{
	struct source *src = ps->top;
	int c;

	for (;;) {
		c = peek(ps);
		if (c == ' ' || c == '\t')
			src->at++;
		else if (c == '\\' && src->at + 1 < src->size &&
		    src->text[src->at + 1] == '\n') {
			src->at += 2;
			src->line++;
		} else if (c == '#') {
			while ((c = peek(ps)) != EOF && c != '\n')
				src->at++;
		} else
			return;
	}
}

static void
remember(struct parser *ps, const char *text)
{
	(void)snprintf(ps->last, sizeof(ps->last), "%s", text);
}

/* What the lexer refuses, the grammar need not name once more. */
static int
refused(struct parser *ps, struct pos pos, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!ps->skip)
		conf_verror(ps, pos, fmt, ap);
	va_end(ap);
	ps->reported = true;
	return (CONF_YYUNDEF);
}

/* ---- tokens ---- */

static char *
slice_of(const struct source *src, size_t from)
{
	char *text;

	if ((text = strndup(src->text + from, src->at - from)) == NULL)
		fatalx("out of memory");
	return (text);
}

/* A word or string, bounded: what it becomes has no longer field. */
static int
string(struct parser *ps, struct pos pos, char *text, char **str)
{
	remember(ps, text);
	if (strlen(text) >= PATH_BYTES_MAX) {
		free(text);
		return (refused(ps, pos, "a word over %d bytes",
		    PATH_BYTES_MAX - 1));
	}
	*str = text;
	return (STRING);
}

static int
lex_quoted(struct parser *ps, struct pos pos, char **str)
{
	struct source *src = ps->top;
	size_t from = ++src->at, i, n = 0;
	char *text;
	int c;

	while ((c = peek(ps)) != EOF && c != '\n' && c != '"') {
		src->at++;
		if (c == '\\' && ((c = peek(ps)) == '"' || c == '\\'))
			src->at++;
	}
	if (c != '"')
		return (refused(ps, pos, "a string without its closing "
		    "quote"));
	text = slice_of(src, from);
	src->at++;
	for (i = 0; text[i] != '\0'; i++) {
		if (text[i] == '\\' &&
		    (text[i + 1] == '"' || text[i + 1] == '\\'))
			i++;
		text[n++] = text[i];
	}
	text[n] = '\0';
	return (string(ps, pos, text, str));
}

/* "$name" is one string, never read again as keywords. */
static int
lex_macro(struct parser *ps, struct pos pos, char **str)
{
	struct source *src = ps->top;
	size_t from = ++src->at;
	struct macro *m;
	char *name;
	int c, token = STRING;

	while ((c = peek(ps)) != EOF && (isalnum(c) || c == '_'))
		src->at++;
	name = slice_of(src, from);
	if ((m = macro_find(ps, name)) == NULL)
		token = refused(ps, pos, "macro \"$%s\" is not defined", name);
	else {
		remember(ps, m->value);
		*str = conf_copy(m->value);
	}
	free(name);
	return (token);
}

static int
keyword_cmp(const void *word, const void *row)
{
	return (strcmp(word, ((const struct keyword *)row)->word));
}

static int
lex_word(struct parser *ps, struct pos pos, bool start, CONF_YYSTYPE *value)
{
	struct source *src = ps->top;
	const struct keyword *k;
	size_t from = src->at;
	char *text;
	int limit;

	while (word_char(peek(ps)))
		src->at++;
	text = slice_of(src, from);
	remember(ps, text);
	ps->began = start;
	if (start) {
		blanks(ps);
		if (peek(ps) == '=') {
			value->str = text;
			return (MACRO);
		}
	}
	k = bsearch(text, keywords, NKEYWORDS, sizeof(keywords[0]),
	    keyword_cmp);
	if (k != NULL && (start || !k->first)) {
		free(text);
		return (k->token);
	}
	if ((limit = limit_find(text)) != -1) {
		free(text);
		value->num = limit;
		return (LIMIT);
	}
	ps->unknown = start;
	return (string(ps, pos, text, &value->str));
}

/* The end of a text: its last line ends, then the text below goes on. */
static bool
lex_eof(struct parser *ps, int *token)
{
	struct source *src = ps->top;

	if (!src->ended) {
		src->ended = true;
		if (ps->depth > src->depth) {
			conf_error(ps, ps->brace, "this \"{\" is not closed "
			    "at the end of the file");
			ps->ended = true;
		}
		remember(ps, "the end of the file");
		*token = NL;
		return (true);
	}
	pop(ps);
	return (false);
}

static int
lex_punctuation(struct parser *ps, struct pos pos, int c)
{
	char text[2] = { (char)c, '\0' };

	ps->top->at++;
	remember(ps, text);
	switch (c) {
	case '{':
		if (ps->depth++ == ps->top->depth)
			ps->brace = pos;
		return (c);
	case '}':
		if (ps->depth > ps->top->depth)
			ps->depth--;
		return (c);
	case ';':
	case ',':
	case '=':
		return (c);
	default:
		return (refused(ps, pos, "'%s' outside of quotes", text));
	}
}

static int
lex_one(struct parser *ps, CONF_YYSTYPE *value, struct pos *pos)
{
	struct source *src;
	bool start = ps->start;
	int c, token;

	while (!ps->ended && (src = ps->top) != NULL) {
		if (src->fresh) {
			src->fresh = false;
			*pos = (struct pos){ src->name, src->line };
			return (NL);
		}
		blanks(ps);
		*pos = (struct pos){ src->name, src->line };
		switch (c = peek(ps)) {
		case EOF:
			if (lex_eof(ps, &token))
				return (token);
			continue;
		case '\n':
			src->at++;
			src->line++;
			remember(ps, "the end of the line");
			return (NL);
		case '"':
			return (lex_quoted(ps, *pos, &value->str));
		case '$':
			return (lex_macro(ps, *pos, &value->str));
		default:
			if (word_char(c))
				return (lex_word(ps, *pos, start, value));
			return (lex_punctuation(ps, *pos, c));
		}
	}
	return (0);
}

/* One token, dropped ones left out, with what stands around it noted. */
static int
lex_next(struct parser *ps, CONF_YYSTYPE *value, struct pos *pos)
{
	int token;

	ps->unknown = ps->began = false;
	ps->reported = false;
	token = lex_one(ps, value, pos);
	ps->start = token == NL || token == ';' || token == '{' ||
	    token == '}';
	return (token);
}

void
lex_skip_entry(struct parser *ps, bool brace)
{
	ps->skip = true;
	ps->skip_depth = brace ? 1 : 0;
}

/* Drops tokens; true if this one ends the entry that is dropped. */
static bool
skipped(struct parser *ps, int token)
{
	if (token == 0)
		return (true);
	if (token == '{')
		ps->skip_depth++;
	else if (ps->skip_depth == 0)
		return (token == NL || token == ';' || token == '}');
	else if (token == '}')
		ps->skip_depth--;
	return (false);
}

int
conf_yylex(CONF_YYSTYPE *value, struct pos *pos, struct parser *ps)
{
	int token;

	token = lex_next(ps, value, pos);
	while (ps->skip) {
		if (skipped(ps, token)) {
			ps->skip = false;
			break;
		}
		if (token == STRING || token == MACRO)
			free(value->str);
		token = lex_next(ps, value, pos);
	}
	return (token);
}

void
lex_end(struct parser *ps)
{
	struct macro *m;

	while (ps->top != NULL)
		pop(ps);
	while ((m = ps->macros) != NULL) {
		ps->macros = m->next;
		free(m->name);
		free(m->value);
		free(m);
	}
	strings_free(&ps->names);
}
