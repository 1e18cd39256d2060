/*
 * Clients of databases: statements that delete what is not had back.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "class.h"
#include "judge_int.h"

/* The next word of a statement, in small letters. */
static const char *
next_word(const char *p, const char *end, char *word, size_t room)
{
	size_t n = 0;

	for (;;) {
		while (p < end && isspace((unsigned char)*p))
			p++;
		/* comments stand between words */
		if (end - p > 2 && p[0] == '/' && p[1] == '*') {
			for (p += 2; end - p > 1 && !(p[0] == '*' &&
			    p[1] == '/'); p++)
				continue;
			p = end - p > 1 ? p + 2 : end;
		} else if (end - p > 2 && p[0] == '-' && p[1] == '-') {
			while (p < end && *p != '\n')
				p++;
		} else
			break;
	}
	for (; p < end && (isalnum((unsigned char)*p) || *p == '_'); p++)
		if (n + 1 < room)
			word[n++] = (char)tolower((unsigned char)*p);
	word[n] = '\0';
	return (p);
}

/* The end of a statement: a semicolon outside of quotes. */
static const char *
statement_end(const char *p, const char *end)
{
	char quote = '\0';

	for (; p < end; p++) {
		if (quote != '\0') {
			if (*p == quote)
				quote = '\0';
		} else if (*p == '\'' || *p == '"' || *p == '`')
			quote = *p;
		else if (*p == ';')
			break;
	}
	return (p);
}

static int
sql_deletes(const char *p, const char *end)
{
	static const char *const kept[] = { "policy", "trigger", "constraint",
		"default", "column", "rule", "cast", NULL };
	const char *stop;
	char first[32], second[32];

	for (; p < end; p = stop + 1) {
		/* commands of the client itself: a line each */
		while (p < end && isspace((unsigned char)*p))
			p++;
		if (p < end && (*p == '.' || *p == '\\')) {
			for (stop = p; stop < end && *stop != '\n'; stop++)
				continue;
			continue;
		}
		stop = statement_end(p, end);
		p = next_word(p, stop, first, sizeof(first));
		p = next_word(p, stop, second, sizeof(second));
		if (strcmp(first, "truncate") == 0 ||
		    strcmp(first, "dropdb") == 0)
			return (1);
		if (strcmp(first, "drop") == 0 && second[0] != '\0' &&
		    !in_list(second, kept))
			return (1);
		if (strcmp(first, "delete") != 0 ||
		    strcmp(second, "from") != 0)
			continue;
		/* of all rows */
		while (p < stop && strncasecmp(p, "where", 5) != 0)
			p++;
		if (p == stop)
			return (1);
	}
	return (0);
}

static int
document_deletes(const char *p, const char *end)
{
	static const char *const calls[] = { ".dropDatabase(", ".drop(",
		".dropIndexes(", ".deleteMany({})", ".remove({})",
		".deleteMany()", ".remove()", NULL };
	size_t i;

	for (i = 0; calls[i] != NULL; i++)
		if (memmem(p, (size_t)(end - p), calls[i], strlen(calls[i])) !=
		    NULL)
			return (1);
	return (0);
}

/* Redis: the first word of a line. */
static int
key_deletes(const char *p, const char *end)
{
	char word[32];

	while (p < end) {
		(void)next_word(p, end, word, sizeof(word));
		if (strcmp(word, "flushall") == 0 ||
		    strcmp(word, "flushdb") == 0 ||
		    strcmp(word, "shutdown") == 0)
			return (1);
		while (p < end && *p != '\n')
			p++;
		p += p < end;
	}
	return (0);
}

static const struct database_row {
	const char	*name;
	int		(*deletes)(const char *, const char *);
} databases[] = {
	{ "psql", sql_deletes }, { "mysql", sql_deletes },
	{ "mariadb", sql_deletes }, { "sqlite3", sql_deletes },
	{ "sqlite", sql_deletes }, { "clickhouse-client", sql_deletes },
	{ "cqlsh", sql_deletes }, { "sqlcmd", sql_deletes },
	{ "snowsql", sql_deletes }, { "duckdb", sql_deletes },
	{ "influx", sql_deletes }, { "sqlplus", sql_deletes },
	{ "pgcli", sql_deletes }, { "mycli", sql_deletes },
	{ "litecli", sql_deletes }, { "cockroach", sql_deletes },
	{ "usql", sql_deletes }, { "trino", sql_deletes },
	{ "hive", sql_deletes }, { "beeline", sql_deletes },
	{ "mongosh", document_deletes }, { "mongo", document_deletes },
	{ "redis-cli", key_deletes }, { "valkey-cli", key_deletes },
	{ "keydb-cli", key_deletes }
};
static struct names by_name = NAMES(databases);

/* What such a client is told, in its words or on stdin. */
void
database_judge(const struct subject *s)
{
	const struct content *in = &s->c->input;
	const struct database_row *row = names_find(&by_name, s->name);
	int found = 0;
	size_t i;

	if (row == NULL)
		return;
	for (i = 1; i < s->argc && !found; i++) {
		const struct word *w = &s->argv[i];
		size_t skip = 0;

		if (w->text == NULL)
			continue;
		/* -c"..." and --command="..." */
		if (w->text[0] == '-' && w->text[1] != '-')
			skip = w->len > 2 ? 2 : 0;
		else if (w->text[0] == '-' && strchr(w->text, '=') != NULL)
			skip = (size_t)(strchr(w->text, '=') + 1 - w->text);
		found = row->deletes(w->text + skip, w->text + w->len);
	}
	if (!found && in->kind == CONTENT_TEXT && in->text != NULL)
		found = row->deletes(in->text, in->text + in->len);
	if (found)
		class_findf(s, CLASS_DESTROY, "%s deletes what a database "
		    "holds", &s->argv[0]);
}
