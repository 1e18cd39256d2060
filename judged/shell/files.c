/*
 * Files that a text writes and then reads.
 */
#include <string.h>

#include "resolver.h"

static const char *
full_path(struct judging *j, const struct command *c,
    const struct word *path)
{
	if (!WORD_IS_STATIC(path))
		return (NULL);
	return (shell_path(j, c->cwd, path->text));
}

static int
is_stdin(const char *path)
{
	return (strcmp(path, "/dev/stdin") == 0 ||
	    strcmp(path, "/dev/fd/0") == 0 ||
	    strcmp(path, "/proc/self/fd/0") == 0);
}

/* Something that is open: what nobody here put there is not known. */
static int
is_open(const char *path)
{
	size_t n = strlen("/proc/self/fd/");

	return (strncmp(path, "/dev/fd/", 8) == 0 ||
	    strncmp(path, "/proc/self/fd/", n) == 0);
}

void
shell_file_get(struct judging *j, const struct command *c,
    const struct word *path, struct content *out)
{
	const char *full = full_path(j, c, path);
	const struct stream *s;

	memset(out, 0, sizeof(*out));
	out->kind = CONTENT_INHERITED;
	if (path->flags & WORD_NETWORK) {
		out->kind = CONTENT_NETWORK;
		return;
	}
	if (full == NULL)
		return;
	if (is_stdin(full)) {
		*out = c->input;
		return;
	}
	s = scope_get(j->resolver->scope, SLOT_FILE, full);
	if (s == NULL || s->n == 0) {
		if (is_open(full))
			out->kind = CONTENT_UNKNOWN;
		return;
	}
	*out = s->v[0];
	if (s->n > 1)
		for (size_t i = 0; i < s->n; i++) {
			/* The worst of them; a text is not all of it. */
			if (s->v[i].kind == CONTENT_NETWORK)
				out->kind = CONTENT_NETWORK;
			else if (out->kind != CONTENT_NETWORK)
				out->kind = CONTENT_UNKNOWN;
			if (out->text == NULL && s->v[i].text != NULL) {
				out->text = s->v[i].text;
				out->len = s->v[i].len;
			}
		}
	out->path = full;
}

void
shell_file_set(struct judging *j, const struct command *c,
    const struct word *path, const struct content *content)
{
	const char *full = full_path(j, c, path);
	struct stream *s;

	if (full == NULL || strncmp(full, "/dev/", 5) == 0)
		return;
	s = judging_alloc(j, sizeof(*s));
	s->n = 1;
	s->v[0] = *content;
	/* A command that puts out nothing leaves an empty file. */
	if (s->v[0].kind == CONTENT_INHERITED)
		s->v[0].kind = CONTENT_UNKNOWN;
	scope_set(j->resolver->scope, SLOT_FILE, full, s);
}
