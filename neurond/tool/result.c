/*
 * The result of a body, and its errors.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out.h"
#include "tool.h"

#define MESSAGE_MAX	2048
#define QUOTE_MAX	512

static const char *const code_words[TOOL_CODE_COUNT] = {
#define ROW(sym, word)	[TOOL_##sym] = word,
	TOOL_CODES(ROW)
#undef ROW
};

static void
set(json_t *object, const char *name, json_t *stolen)
{
	/* Out of memory: what is left unsaid would be a wrong answer. */
	if (stolen == NULL || json_object_set_new(object, name, stolen) == -1)
		_exit(2);
}

void
tool_clear(struct tool *t)
{
	json_decref(t->error);
	t->error = NULL;
	t->code = TOOL_CODE_COUNT;
}

static void
fail_text(struct tool *t, enum tool_code code, const char *text)
{
	tool_clear(t);
	if ((t->error = json_object()) == NULL)
		_exit(2);
	t->code = code;
	set(t->error, "code", json_string(code_words[code]));
	result_bytes_into(t->error, "message", text, strlen(text));
}

int
tool_fail(struct tool *t, enum tool_code code, const char *fmt, ...)
{
	char text[MESSAGE_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fail_text(t, code, text);
	return (-1);
}

static const struct errno_row {
	int		 error;
	enum tool_code	 code;
	const char	*words;
} errno_rows[] = {
	{ ENOENT,	TOOL_NOT_FOUND,	"there is no such file or directory" },
	{ EXDEV,	TOOL_OUTSIDE,	"it leads out of the home and the "
	    "workspace" },
	{ ELOOP,	TOOL_OUTSIDE,	"too many links, or a link of /proc" },
	{ EACCES,	TOOL_PERMISSION, "permission denied" },
	{ EPERM,	TOOL_PERMISSION, "not permitted" },
	{ EROFS,	TOOL_PERMISSION, "it is read-only here" },
	{ ETXTBSY,	TOOL_BUSY,	"it is a program that runs" },
	{ EBUSY,	TOOL_PERMISSION, "it is protected (a mount point)" },
	{ EEXIST,	TOOL_EXISTS,	"it exists" },
	{ ENOTDIR,	TOOL_NOT_A_DIRECTORY, "not a directory" },
	{ EISDIR,	TOOL_IS_A_DIRECTORY, "it is a directory" },
	{ ENXIO,	TOOL_NOT_A_FILE, "not a regular file" },
	{ ENODEV,	TOOL_NOT_A_FILE, "not a regular file" },
	{ ENAMETOOLONG,	TOOL_BAD_PATH,	"a name in it has more than 255 "
	    "bytes" },
	{ ENOSPC,	TOOL_NO_SPACE,	"no space (or no inode) is left" },
	{ EDQUOT,	TOOL_NO_SPACE,	"the quota is used up" },
	{ EFBIG,	TOOL_TOO_LARGE,	"larger than the filesystem or the "
	    "neuron's file size limit allows" },
	{ EMFILE,	TOOL_BUSY,	"too many open files (the limit is "
	    "nofile)" },
	{ EAGAIN,	TOOL_BUSY,	"it is busy" },
};
#define NERRNOS		(sizeof(errno_rows) / sizeof(errno_rows[0]))

int
tool_fail_errno(struct tool *t, int error, const char *what)
{
	size_t i;

	for (i = 0; i < NERRNOS; i++)
		if (errno_rows[i].error == error)
			return (tool_fail(t, errno_rows[i].code, "%s: %s",
			    what, errno_rows[i].words));
	return (tool_fail(t, TOOL_IO, "%s: %s (error %d)", what,
	    strerrordesc_np(error) == NULL ? "unknown" :
	    strerrordesc_np(error), error));
}

void
tool_fail_more(struct tool *t, const char *name, json_t *value)
{
	if (t->error == NULL)
		json_decref(value);
	else
		set(t->error, name, value);
}

const char *
result_quote(const void *bytes, size_t len)
{
	static char ring[4][QUOTE_MAX * 4 + 4];
	static unsigned turn;
	char *text = ring[turn++ % 4];
	size_t n;

	n = name_escape(text, bytes, len > QUOTE_MAX ? QUOTE_MAX : len);
	if (len > QUOTE_MAX)
		memcpy(text + n, "...", 4);
	return (text);
}

void
result_int(struct tool *t, const char *name, int64_t value)
{
	set(t->result, name, json_integer(value));
}

void
result_bool(struct tool *t, const char *name, int value)
{
	set(t->result, name, json_boolean(value));
}

void
result_str(struct tool *t, const char *name, const char *utf8)
{
	set(t->result, name, json_string(utf8));
}

void
result_set(struct tool *t, const char *name, json_t *stolen)
{
	set(t->result, name, stolen);
}

void
result_bytes(struct tool *t, const char *name, const void *bytes, size_t len)
{
	result_bytes_into(t->result, name, bytes, len);
}

static json_t *
base64(const unsigned char *p, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text, *q;
	json_t *json;
	unsigned long v;

	if ((q = text = malloc((len + 2) / 3 * 4 + 1)) == NULL)
		return (NULL);
	for (; len > 0; p += 3, len = len > 3 ? len - 3 : 0) {
		v = (unsigned long)p[0] << 16;
		v |= len > 1 ? (unsigned long)p[1] << 8 : 0;
		v |= len > 2 ? (unsigned long)p[2] : 0;
		*q++ = digits[v >> 18];
		*q++ = digits[v >> 12 & 63];
		*q++ = len > 1 ? digits[v >> 6 & 63] : '=';
		*q++ = len > 2 ? digits[v & 63] : '=';
	}
	json = json_stringn(text, (size_t)(q - text));
	free(text);
	return (json);
}

/*
 * UTF-8 with U+FFFD for each byte that is none of it, and for NULs, which many
 * a reader of JSON takes for an end.
 */
static json_t *
replaced(const unsigned char *p, size_t len)
{
	char *text, *q;
	json_t *json;
	size_t i, n;

	if ((q = text = malloc(len * 3 + 1)) == NULL)
		return (NULL);
	for (i = 0; i < len; i += n) {
		n = utf8_length(p + i, len - i);
		if (n > 0 && p[i] != '\0') {
			memcpy(q, p + i, n);
			q += n;
		} else {
			memcpy(q, "\xef\xbf\xbd", 3);
			q += 3;
			n = 1;
		}
	}
	json = json_stringn(text, (size_t)(q - text));
	free(text);
	return (json);
}

void
result_bytes_into(json_t *object, const char *name, const void *bytes,
    size_t len)
{
	char other[64];
	json_t *plain = NULL;

	if (memchr(bytes, '\0', len) == NULL)
		plain = json_stringn(bytes, len);
	if (plain != NULL) {
		set(object, name, plain);
		return;
	}
	set(object, name, replaced(bytes, len));
	(void)snprintf(other, sizeof(other), "%s_base64", name);
	set(object, other, base64(bytes, len));
}

void
result_mode_into(json_t *object, const char *name, unsigned mode)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%04o", mode & 07777);
	set(object, name, json_string(text));
}

/*
 * The civil date of a day number: gmtime_r(3) would look for a time zone, and
 * read its file, first.
 */
void
time_text(char *text, size_t size, int64_t seconds)
{
	int64_t days = seconds / 86400, rest = seconds % 86400, era, year;
	int64_t of_era, year_of_era, day_of_year, month;

	if (rest < 0) {
		rest += 86400;
		days--;
	}
	/* Years of 400 that begin on the first of March of year 0. */
	days += 719468;
	era = (days >= 0 ? days : days - 146096) / 146097;
	of_era = days - era * 146097;
	year_of_era = (of_era - of_era / 1460 + of_era / 36524 -
	    of_era / 146096) / 365;
	day_of_year = of_era - (365 * year_of_era + year_of_era / 4 -
	    year_of_era / 100);
	month = (5 * day_of_year + 2) / 153;
	year = year_of_era + era * 400 + (month >= 10);
	(void)snprintf(text, size, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02dZ",
	    year, (int)(month < 10 ? month + 3 : month - 9),
	    (int)(day_of_year - (153 * month + 2) / 5 + 1),
	    (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60));
}

void
result_time_into(json_t *object, const char *name, int64_t seconds)
{
	char text[TIME_TEXT];

	time_text(text, sizeof(text), seconds);
	set(object, name, json_string(text));
}

/* An error keeps of the result only what says which file it is about. */
static json_t *
shown(const struct tool *t)
{
	static const char *const kept[] = { "path", "path_base64" };
	json_t *object, *member;
	size_t i;

	if (t->error == NULL)
		return (json_incref(t->result));
	if ((object = json_object()) == NULL)
		return (NULL);
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		member = json_object_get(t->result, kept[i]);
		if (member != NULL)
			(void)json_object_set(object, kept[i], member);
	}
	(void)json_object_set(object, "error", t->error);
	return (object);
}

int
result_write(const struct tool *t, int fd)
{
	json_t *object;
	char *text = NULL;
	int ok;

	errno = ENOMEM;
	if ((object = shown(t)) == NULL)
		return (-1);
	text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(object);
	if (text == NULL)
		return (-1);
	ok = fd_write(fd, text, strlen(text));
	free(text);
	return (ok);
}
