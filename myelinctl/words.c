/*
 * Words for a person.
 */
#include <err.h>
#include <langinfo.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "ctl.h"
#include "visible.h"
#include "without.h"
#include "words.h"

/* ---- safe text ---- */

/*
 * The character of UTF-8 at p: its length, or 0 if the bytes are none.
 */
static size_t
character(const unsigned char *p, size_t left, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n, i;

	if (p[0] < 0x80) {
		*c = p[0];
		return (1);
	}
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc0 ? 2 : 0;
	if (n == 0 || n > left || p[0] > 0xf4)
		return (0);
	*c = p[0] & (0xffU >> (n + 1));
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return (0);
		*c = *c << 6 | (p[i] & 0x3f);
	}
	if (*c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c <= 0xdfff))
		return (0);
	return (n);
}

static int
drives(uint32_t c)
{
	return (c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x061c ||
	    (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	    (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f));
}

/* Seen for what it is, and nothing over it, below it or in its place. */
static int
hides(uint32_t c)
{
	static int utf8 = -1;
	int columns;

	if (c < 0x80)
		return (0);
	if (visible_hides(c))
		return (1);
	if (utf8 == -1)
		utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	columns = utf8 ? wcwidth((wchar_t)c) : 0;
	return (columns < 1 || columns > 2);
}

static char *
escaped(const char *text, size_t len, int plain)
{
	const unsigned char *p = (const unsigned char *)text;
	char *out, *w;
	uint32_t c;
	size_t n;

	/* At most "\u{10ffff}" for 4 bytes, "\xff" for one. */
	if ((out = w = malloc(len * 6 + 1)) == NULL)
		err(EXIT_FAILED, NULL);
	for (; len > 0; p += n, len -= n) {
		if ((n = character(p, len, &c)) == 0) {
			n = 1;
			w += sprintf(w, "\\x%02x", p[0]);
		} else if (WITHOUT(terminal_escapes)) {
			memcpy(w, p, n);
			w += n;
		} else if (c == '\n')
			w += sprintf(w, "\\n");
		else if (c == '\t')
			w += sprintf(w, "\\t");
		else if (c < 0x80 && drives(c))
			w += sprintf(w, "\\x%02x", c);
		else if (drives(c) || (plain && hides(c)))
			w += sprintf(w, "\\u{%x}", c);
		else {
			memcpy(w, p, n);
			w += n;
		}
	}
	*w = '\0';
	return (out);
}

char *
words_escape(const char *text, size_t len)
{
	return (escaped(text, len, 0));
}

char *
words_plain(const char *text, size_t len)
{
	return (escaped(text, len, 1));
}

size_t
words_columns(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += (unsigned char)*text < 0x80 ? 1 :
		    ((unsigned char)*text & 0xc0) != 0x80 ? 2 : 0;
	return (n);
}

void
words_put(FILE *f, const char *text, size_t len)
{
	char *safe = words_escape(text, len);

	fputs(safe, f);
	free(safe);
}

/* ---- values ---- */

static char *
copy(const char *text)
{
	char *s = strdup(text);

	if (s == NULL)
		err(EXIT_FAILED, NULL);
	return (s);
}

/* ["a", "b"] as "a, b". */
static char *
list_value(const json_t *list)
{
	char *all = copy(""), *one, *grown;
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		one = words_value(item);
		if (asprintf(&grown, "%s%s%s", all, i == 0 ? "" : ", ",
		    one) == -1)
			err(EXIT_FAILED, NULL);
		free(all);
		free(one);
		all = grown;
	}
	if (*all == '\0') {
		free(all);
		all = copy("-");
	}
	return (all);
}

char *
words_value(const json_t *value)
{
	char *text = NULL;

	if (value == NULL || json_is_null(value))
		return (copy("-"));
	if (json_is_string(value))
		return (words_escape(json_string_value(value),
		    json_string_length(value)));
	if (json_is_array(value))
		return (list_value(value));
	if (json_is_boolean(value))
		return (copy(json_is_true(value) ? "yes" : "no"));
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
	    JSON_ENSURE_ASCII);
	return (text == NULL ? copy("?") : text);
}

static const json_t *
member(const json_t *object, const char *path)
{
	char key[64];
	size_t len;

	while (object != NULL && *path != '\0') {
		len = strcspn(path, ".");
		snprintf(key, sizeof(key), "%.*s", (int)len, path);
		object = json_object_get(object, key);
		path += len + (path[len] == '.');
	}
	return (object);
}

/* Columns that a terminal gives it: one for each character. */
static size_t
width(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return (n);
}

/* ---- tables ---- */

static void
pad(size_t n)
{
	printf("%*s", (int)n, "");
}

static void
cell(const char *text, size_t room, int right, int last)
{
	size_t w = width(text), spare = room > w ? room - w : 0;

	if (right)
		pad(spare);
	fputs(text, stdout);
	if (!right && !last)
		pad(spare);
	fputs(last ? "\n" : "  ", stdout);
}

void
words_table(const json_t *rows, const struct column *columns, size_t n,
    const char *none)
{
	size_t count = json_array_size(rows), i, k, *room;
	char **cells;

	if (count == 0) {
		printf("%s\n", none);
		return;
	}
	if ((cells = calloc(count * n, sizeof(*cells))) == NULL ||
	    (room = calloc(n, sizeof(*room))) == NULL)
		err(EXIT_FAILED, NULL);
	for (k = 0; k < n; k++)
		room[k] = width(columns[k].title);
	for (i = 0; i < count * n; i++) {
		k = i % n;
		cells[i] = words_value(member(json_array_get(rows, i / n),
		    columns[k].path));
		if (width(cells[i]) > room[k])
			room[k] = width(cells[i]);
	}
	for (k = 0; k < n; k++)
		cell(columns[k].title, room[k], columns[k].right, k == n - 1);
	for (i = 0; i < count * n; i++) {
		k = i % n;
		cell(cells[i], room[k], columns[k].right, k == n - 1);
		free(cells[i]);
	}
	free(cells);
	free(room);
}

void
words_lines(const json_t *object, const struct column *columns, size_t n)
{
	size_t k, room = 0;
	char *text;

	for (k = 0; k < n; k++) {
		if (width(columns[k].title) > room)
			room = width(columns[k].title);
	}
	for (k = 0; k < n; k++) {
		text = words_value(member(object, columns[k].path));
		cell(columns[k].title, room, 0, 0);
		cell(text, 0, 0, 1);
		free(text);
	}
}

void
words_json(const json_t *json)
{
	size_t flags = JSON_ENCODE_ANY;

	/* A terminal must not be driven by what a call printed. */
	if (isatty(STDOUT_FILENO))
		flags |= JSON_INDENT(2) | JSON_ENSURE_ASCII;
	else
		flags |= JSON_COMPACT;
	json_dumpf(json, stdout, flags);
	putchar('\n');
}
