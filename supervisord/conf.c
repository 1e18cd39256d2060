/* Reading a configuration: from a file, or from memory. */
#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf_int.h"
#include "parse.h"

/* ---- reports ---- */

static void	report(struct parser *, struct pos, const char *,
		    const char *, va_list)
		    __attribute__((__format__(__printf__, 4, 0)));

static void
report(struct parser *ps, struct pos pos, const char *kind, const char *fmt,
    va_list ap)
{
	char words[1024], line[PATH_BYTES_MAX + 1100];

	(void)vsnprintf(words, sizeof(words), fmt, ap);
	if (pos.file == NULL)
		(void)snprintf(line, sizeof(line), "%s%s", kind, words);
	else if (pos.line == 0)
		(void)snprintf(line, sizeof(line), "%s: %s%s", pos.file, kind,
		    words);
	else
		(void)snprintf(line, sizeof(line), "%s:%u: %s%s", pos.file,
		    pos.line, kind, words);
	ps->opts->report(ps->opts->arg, line);
}

void
conf_verror(struct parser *ps, struct pos pos, const char *fmt, va_list ap)
{
	if (ps->errors >= CONF_ERRORS_MAX)
		return;
	report(ps, pos, "", fmt, ap);
	if (++ps->errors == CONF_ERRORS_MAX) {
		ps->ended = true;
		ps->opts->report(ps->opts->arg,
		    "too many errors; the rest is not read");
	}
}

void
conf_error(struct parser *ps, struct pos pos, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	conf_verror(ps, pos, fmt, ap);
	va_end(ap);
}

void
conf_warn(struct parser *ps, struct pos pos, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(ps, pos, "warning: ", fmt, ap);
	va_end(ap);
}

/* ---- reading ---- */

char *
conf_copy(const char *text)
{
	char *p;

	if ((p = strdup(text)) == NULL)
		fatalx("out of memory");
	return (p);
}

static void
parser_init(struct parser *ps, const struct conf_opts *opts)
{
	memset(ps, 0, sizeof(*ps));
	ps->opts = opts;
	ps->start = true;
	if ((ps->conf = calloc(1, sizeof(*ps->conf))) == NULL ||
	    (ps->conf->slice = slice_new()) == NULL)
		fatalx("out of memory");
	ps->conf->slice->generation = 1;
}

static void
keep_where(struct where *to, const struct pos *from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (from[i].file != NULL)
			set_where(&to[i], from[i]);
	}
}

/* The result, or NULL if there were errors; nothing else stays. */
static struct conf *
parser_end(struct parser *ps)
{
	struct conf *conf = ps->conf;

	if (ps->names.n > 0)
		conf->name = conf_copy(ps->names.v[0]);
	keep_where(conf->once, ps->once, ONCE_COUNT);
	keep_where(conf->limit, ps->limit, LIMIT_COUNT);

	if (ps->errors != 0) {
		conf_free(conf);
		conf = NULL;
	}
	free(ps->given);
	set_host_drop(ps);
	lex_end(ps);
	return (conf);
}

static struct conf *
parse(struct parser *ps)
{
	if (conf_yyparse(ps) != 0 && ps->errors == 0)
		conf_error(ps, (struct pos){ ps->names.v[0], 0 },
		    "can't be read");
	/* Half a configuration has no cross references to speak of. */
	if (!ps->ended)
		conf_finish(ps);
	return (parser_end(ps));
}

struct conf *
conf_load(const char *path, const struct conf_opts *opts)
{
	struct parser ps;

	parser_init(&ps, opts);
	if (lex_push_file(&ps, (struct pos){ NULL, 0 }, path) == -1)
		return (parser_end(&ps));
	return (parse(&ps));
}

struct conf *
conf_load_text(const char *name, const char *text, size_t size,
    const struct conf_opts *opts)
{
	struct parser ps;
	char *copy;

	parser_init(&ps, opts);
	if ((copy = malloc(size + 1)) == NULL)
		fatalx("out of memory");
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (lex_push_text(&ps, name, copy, size) == -1)
		return (parser_end(&ps));
	return (parse(&ps));
}

void
conf_free(struct conf *conf)
{
	size_t i;

	if (conf == NULL)
		return;
	for (i = 0; i < ONCE_COUNT; i++)
		free(conf->once[i].file);
	for (i = 0; i < LIMIT_COUNT; i++)
		free(conf->limit[i].file);
	for (i = 0; i < conf->ntools; i++) {
		free(conf->tools[i].where.file);
		free(conf->tools[i].path);
	}
	free(conf->tools);
	free(conf->name);
	slice_free(conf->slice);
	free(conf);
}

const struct cf_listen *
conf_listen(const struct conf *conf, enum cf_plane plane)
{
	const struct slice *s = conf->slice;
	size_t i;

	for (i = 0; i < s->nlistens; i++) {
		if (s->listens[i].plane == plane &&
		    (s->listens[i].flags & LISTEN_TCP) == 0)
			return (&s->listens[i]);
	}
	return (NULL);
}

const struct cf_listen *
conf_listen_n(const struct conf *conf, enum cf_plane plane, size_t n)
{
	const struct slice *s = conf->slice;
	size_t i;

	if (n == 0)
		return (conf_listen(conf, plane));
	for (i = 0; i < s->nlistens; i++) {
		if (s->listens[i].plane == plane &&
		    (s->listens[i].flags & LISTEN_TCP) != 0 && --n == 0)
			return (&s->listens[i]);
	}
	return (NULL);
}

int
conf_check_tools(const struct conf *conf, const struct strings *tools,
    const struct conf_opts *opts)
{
	const struct strings *lists[2];
	const struct cf_preset *p;
	char line[PATH_BYTES_MAX + 256];
	size_t i, j, k;
	int result = 0;

	for (i = 0; i < conf->slice->npresets; i++) {
		p = &conf->slice->presets[i];
		lists[0] = &p->allow;
		lists[1] = &p->deny;
		for (j = 0; j < 2; j++) {
			for (k = 0; k < lists[j]->n; k++) {
				if (strings_has(tools, lists[j]->v[k]))
					continue;
				(void)snprintf(line, sizeof(line), "%s:%u: "
				    "preset \"%s\": there is no tool \"%s\"",
				    p->where.file, p->where.line, p->name,
				    lists[j]->v[k]);
				opts->report(opts->arg, line);
				result = -1;
			}
		}
	}
	return (result);
}

/*
 * The directory's own name, as far as it fits an instance's, and a hash of
 * the whole path (FNV-1a): two directories of one name are two instances.
 */
void
conf_instance_name(const char *dir, char name[INSTANCE_BYTES_MAX])
{
	const char *p = strrchr(dir, '/');
	uint64_t hash = 0xcbf29ce484222325ULL;
	size_t n = 0;

	for (p = p == NULL ? dir : p + 1; *p != '\0' && n < 15; p++) {
		if (isalnum((unsigned char)*p) && (unsigned char)*p < 0x80)
			name[n++] = (char)tolower((unsigned char)*p);
		else if (n > 0 && name[n - 1] != '-')
			name[n++] = '-';
	}
	if (n == 0 || name[n - 1] != '-') {
		if (n == 0)
			name[n++] = 'p';
		name[n++] = '-';
	}
	for (p = dir; *p != '\0'; p++)
		hash = (hash ^ (unsigned char)*p) * 0x100000001b3ULL;
	(void)snprintf(name + n, INSTANCE_BYTES_MAX - n, "%012llx",
	    (unsigned long long)(hash & 0xffffffffffffULL));
}
