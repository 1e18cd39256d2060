/*
 * What a call without a command touches.
 */
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "judge/class.h"
#include "judge/hosts.h"
#include "judge/zone.h"
#include "limits.h"
#include "runblock.h"
#include "target.h"
#include "without.h"

struct target {
	const struct tool	*tool;
	const struct arguments	*arguments;
	const struct runblock	*block;		/* of a template, or NULL */
};

/* ---- base64 ---- */

static int
digit(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *p = c == '\0' ? NULL : strchr(digits, c);

	return (p == NULL ? -1 : (int)(p - digits));
}

/* What is no base64 the body refuses. */
static const char *
decoded(struct judging *j, const char *text)
{
	char *out = judging_alloc(j, strlen(text) + 1);
	unsigned bits = 0, have = 0;
	size_t n = 0;
	int d;

	for (; (d = digit(*text)) != -1; text++) {
		bits = bits << 6 | (unsigned)d;
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[n++] = (char)(bits >> have & 0xff);
		}
	}
	out[n] = '\0';
	return (strlen(out) == n ? out : NULL);
}

/* ---- paths ---- */

/* The path that is meant: where none is given, the working directory. */
static const char *
path_of(struct judging *j, const struct target *t)
{
	const json_t *properties = json_object_get(t->tool->schema,
	    "properties"), *value;

	if (json_object_get(properties, "path") == NULL)
		return (NULL);
	value = json_object_get(t->arguments->args, "path");
	if (json_is_string(value))
		return (json_string_value(value));
	value = json_object_get(t->arguments->args, "path_base64");
	if (json_is_string(value))
		return (decoded(j, json_string_value(value)));
	return (".");
}

/*
 * Home and workspace are the roots of all files (guarantee C4), whatever the
 * tool.  Bodies see to it themselves, where links are known; of any other
 * program the path that it is given is looked at.
 */
static void
keep_in_roots(const struct target *t, const struct subject *s,
    const struct word *w, struct finding *f)
{
	if (t->tool->body != NULL || zone_in_roots(s, w) ||
	    WITHOUT(judged_roots))
		return;
	f->verdict = VERDICT_DENY;
	f->class = "outside";
	f->rule = "home and workspace are the roots of all files";
}

static void
find_path(struct judging *j, const struct target *t, struct subject *s,
    struct finding *f)
{
	const char *path = path_of(j, t);
	const struct word *w;

	if (path != NULL) {
		f->path = w = word_make(j, judging_strndup(j, path,
		    strlen(path)), NULL);
		if (zone_is_own(s, w) && !WITHOUT(self_paths))
			class_findf(s, HARD_SELF, "Myelin's own: %s", w);
		keep_in_roots(t, s, w, f);
	}
	judging_find(j, f);
}

/*
 * Whom egressd would ask, for the rules: it decides itself, of the name as it
 * is canonical.
 */
static void
find_host(struct judging *j, const struct target *t, struct finding *f)
{
	struct finding_hosts *h = judging_alloc(j, sizeof(*h));
	int fetches = t->tool->egress == EGRESS_FETCH;
	const char *text;
	size_t n;

	text = json_string_value(json_object_get(t->arguments->args,
	    fetches ? "url" : "host"));
	if (text == NULL)
		h->unsure = 1;
	else if (fetches)
		hosts_add(j, h, word_make(j, judging_strndup(j, text,
		    strlen(text)), NULL));
	else {
		n = strlen(text);
		n -= n > 0 && text[n - 1] == '.';
		hosts_add_text(j, h, judging_strndup(j, text, n));
	}
	f->hosts = h;
	if (fetches)
		f->flags |= FINDING_NETWORK;
	else
		f->marks |= json_is_true(json_object_get(
		    t->arguments->args, "write")) ? MARK_NETWORK_WRITE :
		    MARK_NETWORK_READ;
	f->class = (f->marks & MARK_NETWORK_WRITE) != 0 ? "network-write" :
	    "network-read";
}

static void
find_argv(struct judging *j, const struct runblock *block,
    struct command *c)
{
	struct word *argv = judging_alloc(j, (block->argc + 1) *
	    sizeof(*argv));
	uint32_t i;

	for (i = 0; i < block->argc; i++)
		argv[i] = *word_make(j, judging_strndup(j, block->argv[i],
		    strlen(block->argv[i])), NULL);
	c->argv = argv;
	c->argc = block->argc;
}

static void
find(struct judging *j, void *arg)
{
	const struct judge_context *x = judging_context(j);
	const struct target *t = arg;
	struct command *c = judging_alloc(j, sizeof(*c));
	struct outcome out = { .output = { .kind = CONTENT_NONE } };
	struct subject s = { .j = j, .c = c, .name = "", .out = &out };
	struct finding f = {
		.verdict = VERDICT_ALLOW,
		.class = effect_name(t->tool->effect),
		.effect = (enum effect)t->tool->effect,
		.marks = t->tool->marks, .rule = "the tool's declaration",
		.next = "", .command = c
	};

	c->cwd = x->cwd;
	c->home = x->home;
	if (t->block != NULL)
		find_argv(j, t->block, c);
	if (t->tool->egress != 0)
		find_host(j, t, &f);
	find_path(j, t, &s, &f);
}

void
target_run(struct judging *j, const struct tool *tool,
    const struct arguments *arguments, int run_fd)
{
	struct target t = { .tool = tool, .arguments = arguments };
	struct runblock *block = NULL;
	const uint8_t *bytes = NULL;
	const char *why;
	size_t size;

	if (tool->body == NULL && run_fd != -1 &&
	    (bytes = memfd_map(run_fd, RUNBLOCK_MAX, &size)) != NULL)
		block = runblock_decode(bytes, size, &why);
	t.block = block;
	judging_run_with(j, find, &t);
	if (block != NULL)
		runblock_free(block);
	if (bytes != NULL)
		memfd_unmap(bytes, size);
}
