/*
 * The arguments of neuron-tool's bodies: the end of a run block, the typed
 * getters, the clean-up of paths, and what becomes of their bytes in results.
 * No file is touched.
 *
 * The first byte says what the rest is: a whole run block, or the arguments
 * alone, and which of several working directories and roots there are.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "block.h"
#include "out.h"
#include "path.h"
#include "path_int.h"
#include "text.h"
#include "tool.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

#define CHECK(x)	do { if (!(x)) abort(); } while (0)

static const struct place {
	const char	*home, *work, *cwd;
} places[] = {
	{ "/home/agent", "/srv/src/p", "/srv/src/p" },
	{ "/home/agent", "", "/home/agent/a/b" },
	{ "/home/agent", "/home/agent/p", "/home/agent/p/q" },
	{ "/srv/src/p/home", "/srv/src/p", "/usr" },
	{ "/home/agent", "/srv/src/p", NULL },
};
#define NPLACES	(sizeof(places) / sizeof(places[0]))

static void
root(struct tool *t, const char *path)
{
	if (path[0] == '\0')
		return;
	t->root[t->nroots++] = (struct root){ path, strlen(path), -1 };
}

/* What the rest of the program takes for granted of a path. */
static void
check_path(const struct tool *t, const struct path *p)
{
	const struct root *r = &t->root[p->root];
	size_t i, n = 0;

	CHECK(strlen(p->bytes) == p->len && p->bytes[0] == '/');
	CHECK(p->len == 1 || p->bytes[p->len - 1] != '/');
	CHECK(strstr(p->bytes, "//") == NULL);
	CHECK(strstr(p->bytes, "/./") == NULL);
	CHECK(strncmp(p->bytes, r->path, r->len) == 0);
	CHECK(p->bytes[r->len] == '\0' || p->bytes[r->len] == '/');
	CHECK(p->bytes[r->len] == '\0' ? strcmp(p->below, ".") == 0 :
	    p->below == p->bytes + r->len + 1 && p->below[0] != '\0');
	CHECK(p->below[0] != '/');
	/* No other root is a better one. */
	for (i = 0; i < t->nroots; i++)
		n += t->root[i].len > r->len && root_of(t, p->bytes,
		    p->len) == (int)i;
	CHECK(n == 0);
}

static void
check_names(const uint8_t *data, size_t size)
{
	struct text_scan whole = { .lf = 0 }, parts = { .lf = 0 };
	char *text;
	size_t i, n;

	CHECK((text = malloc(4 * size + 1)) != NULL);
	n = name_escape(text, data, size);
	CHECK(n <= 4 * size && text[n] == '\0' && strlen(text) == n);
	for (i = 0; i < n; i++)
		CHECK((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
	text_scan(&parts, (const uint8_t *)text, n);
	CHECK(text_is(&parts));
	free(text);
	/* Looked through in pieces or as a whole: the same. */
	memset(&parts, 0, sizeof(parts));
	text_scan(&whole, data, size);
	for (i = 0; i < size; i += n) {
		n = 1 + data[i] % 7;
		n = n > size - i ? size - i : n;
		text_scan(&parts, data + i, n);
	}
	CHECK(text_is(&whole) == text_is(&parts));
	CHECK(whole.lf == parts.lf && whole.crlf == parts.crlf);
	(void)text_eol(&whole);
	(void)media_type(data, size, text_is(&whole));
}

static void
check_result(struct tool *t)
{
	json_t *object = t->error != NULL ? t->error : t->result, *again;
	char *text = json_dumps(object, JSON_COMPACT);

	CHECK(text != NULL);
	again = json_loads(text, 0, NULL);
	CHECK(again != NULL && json_equal(again, object));
	json_decref(again);
	free(text);
}

static void
use(struct tool *t)
{
	static const char *const strings[] = { "name", "expect", "pattern" };
	static const char *const numbers[] = { "offset", "limit", "depth" };
	const char *s;
	struct path p;
	char *freed;
	int64_t v;
	size_t i, n;
	int flag;

	for (i = 0; i < 3; i++) {
		if (arg_str(t, strings[i], 0, &s, &n) == 0 && s != NULL) {
			check_names((const uint8_t *)s, n);
			(void)result_quote(s, n);
		}
		if (arg_int(t, numbers[i], 5, 1, 100, &v) == 0)
			CHECK(v >= 1 && v <= 100);
		(void)arg_bool(t, "all", &flag);
	}
	if (arg_bytes(t, "content", &s, &n, &freed) == 0 && s != NULL)
		check_names((const uint8_t *)s, n);
	free(freed);
	tool_clear(t);
	if (path_arg(t, ".", &p) == 0) {
		CHECK(t->error == NULL);
		check_path(t, &p);
	} else
		CHECK(t->error != NULL);
	check_result(t);
	path_free(&p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct place *place;
	struct tool t = { .body = NULL, .code = TOOL_CODE_COUNT };
	const char *why;

	if (size == 0)
		return (0);
	place = &places[(data[0] & 0x7f) % NPLACES];
	if ((data[0] & 0x80) != 0)
		t.args = block_decode(data + 1, size - 1, &why);
	else
		t.args = json_loadb((const char *)data + 1, size - 1,
		    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	check_names(data + 1, size - 1);
	if (!json_is_object(t.args)) {
		json_decref(t.args);
		return (0);
	}
	root(&t, place->home);
	root(&t, place->work);
	t.cwd = (char *)(uintptr_t)place->cwd;
	CHECK((t.result = json_object()) != NULL);
	use(&t);
	json_decref(t.args);
	json_decref(t.result);
	json_decref(t.error);
	return (0);
}
