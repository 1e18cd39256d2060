/*
 * Redirects: what stdin becomes, and where stdout goes.
 */
#include <string.h>

#include "resolver.h"

static enum redirect_op
redirect_op(enum redir_op op)
{
	switch (op) {
	case REDIR_IN:
		return (REDIRECT_READ);
	case REDIR_APPEND:
	case REDIR_ALL_APPEND:
		return (REDIRECT_APPEND);
	case REDIR_BOTH:
		return (REDIRECT_BOTH);
	case REDIR_DUP_IN:
		return (REDIRECT_DUP);
	default:
		return (REDIRECT_WRITE);
	}
}

static int
default_fd(enum redir_op op)
{
	switch (op) {
	case REDIR_IN:
	case REDIR_BOTH:
	case REDIR_DUP_IN:
	case REDIR_HERE:
	case REDIR_HERE_TABS:
	case REDIR_HERE_STRING:
		return (0);
	case REDIR_ALL:
	case REDIR_ALL_APPEND:
		return (-1);
	default:
		return (1);
	}
}

/* A number, "-" or "n-": no file. */
static int
is_fd(const struct word *w)
{
	size_t i;

	if (w->text == NULL || (w->flags & WORD_PREFIX))
		return (0);
	for (i = 0; i < w->len; i++)
		if (!((w->text[i] >= '0' && w->text[i] <= '9') ||
		    (w->text[i] == '-' && i + 1 == w->len)))
			return (0);
	return (w->len > 0);
}

static struct stream *
stream_of_texts(struct resolver *r, const struct texts *t, int newline)
{
	struct stream *s = judging_alloc(r->j, sizeof(*s));
	size_t i;
	char *text;

	for (i = 0; i < t->n; i++) {
		const struct word *w = &t->v[i];
		struct content *c = &s->v[s->n++];

		c->kind = CONTENT_TEXT;
		if (w->flags & WORD_NETWORK)
			c->kind = CONTENT_NETWORK;
		else if ((w->flags & WORD_PREFIX) || w->text == NULL)
			c->kind = CONTENT_UNKNOWN;
		c->whole = w->whole;
		if (w->text == NULL)
			continue;
		text = judging_alloc(r->j, w->len + 2);
		memcpy(text, w->text, w->len);
		c->len = w->len;
		if (newline && !(w->flags & WORD_PREFIX))
			text[c->len++] = '\n';
		c->text = text;
	}
	return (s);
}

/* A here-document or a here-string as stdin. */
static struct stream *
here(struct resolver *r, const struct ast_redir *a)
{
	struct texts t;
	struct command *c;

	if (a->op == REDIR_HERE_STRING) {
		expand_text(r, a->target->parts, EXPAND_TILDE, &t);
		return (stream_of_texts(r, &t, 1));
	}
	t.n = 1;
	t.v[0] = word_text(a->body == NULL ? "" : a->body, a->body_len);
	if (!a->quoted && a->body != NULL) {
		c = command_here(r, a->target->from, a->target->to);
		expand_string(r, a->body, a->body_len, c, &t);
	}
	return (stream_of_texts(r, &t, 0));
}

/* What is read from a path: what was written there, or something unknown. */
static void
stream_of_file(struct resolver *r, const struct command *c,
    const struct word *path, struct stream *out)
{
	const struct stream *file;
	const char *full = NULL;
	size_t i;

	stream_set(out, CONTENT_UNKNOWN);
	if (!WORD_IS_STATIC(path) ||
	    (full = shell_path(r->j, c->cwd, path->text)) == NULL)
		return;
	if (strcmp(full, "/dev/null") == 0) {
		stream_none(out);
		return;
	}
	if ((strcmp(full, "/dev/stdin") == 0 ||
	    strcmp(full, "/dev/fd/0") == 0 ||
	    strcmp(full, "/proc/self/fd/0") == 0) && r->in != NULL) {
		*out = *r->in;
		return;
	}
	out->v[0].path = full;
	file = scope_get(r->scope, SLOT_FILE, full);
	if (file == NULL)
		return;
	*out = *file;
	for (i = 0; i < out->n; i++) {
		if (out->v[i].kind == CONTENT_INHERITED)
			out->v[i].kind = CONTENT_UNKNOWN;
		out->v[i].path = full;
	}
}

static void
one_redirect(struct resolver *r, const struct ast_redir *a,
    struct redirect *to, struct texts *t)
{
	struct expansion e;
	size_t i;

	to->fd = a->fd_name != NULL ? -1 : a->fd >= 0 ? a->fd :
	    default_fd(a->op);
	to->op = redirect_op(a->op);
	expand_word(r, a->target, &e);
	t->n = 0;
	for (i = 0; i < e.n; i++)
		t->v[t->n++] = e.alt[i].n == 1 ? e.alt[i].v[0] :
		    word_unknown(0);
	if (a->op == REDIR_DUP_IN)
		return;
	if (a->op == REDIR_DUP_OUT) {
		/* >&word is &>word, unless the word is a number */
		if (t->n == 1 && is_fd(&t->v[0]))
			to->op = REDIRECT_DUP;
		else if (a->fd < 0)
			to->fd = -1;
	}
}

void
redirs_expand(struct resolver *r, const struct ast_redir *a,
    struct redirs *out)
{
	const struct command *c;
	const struct word **targets;
	const struct ast_redir *at;
	struct stream *in;
	size_t n = 0, *ntargets, i;
	struct word *v;
	struct texts t;

	memset(out, 0, sizeof(*out));
	if (a == NULL)
		return;
	c = command_here(r, a->target->from, a->target->to);
	for (at = a; at != NULL; at = at->next)
		n++;
	out->v = judging_alloc(r->j, (n + 1) * sizeof(*out->v));
	targets = judging_alloc(r->j, (n + 1) * sizeof(*targets));
	ntargets = judging_alloc(r->j, (n + 1) * sizeof(*ntargets));
	for (at = a; at != NULL; at = at->next) {
		if (at->op == REDIR_HERE || at->op == REDIR_HERE_TABS ||
		    at->op == REDIR_HERE_STRING) {
			in = here(r, at);
			if (at->fd <= 0)
				out->in = in;
			continue;
		}
		one_redirect(r, at, &out->v[out->n], &t);
		v = judging_alloc(r->j, t.n * sizeof(*v) + 1);
		memcpy(v, t.v, t.n * sizeof(*v));
		out->v[out->n].target = v[0];
		targets[out->n] = v;
		ntargets[out->n] = t.n;
		if (out->v[out->n].fd == 0) {
			in = judging_alloc(r->j, sizeof(*in));
			*in = (struct stream){ .n = 1 };
			if (out->v[out->n].op == REDIRECT_DUP)
				stream_set(in, CONTENT_UNKNOWN);
			else
				for (i = 0, in->n = 0; i < t.n; i++) {
					struct stream one;

					stream_of_file(r, c, &v[i], &one);
					in->v[in->n++] = one.v[0];
				}
			out->in = in;
		}
		out->n++;
	}
	out->targets = targets;
	out->ntargets = ntargets;
}

void
redirs_output(struct resolver *r, const struct command *c,
    struct stream *out)
{
	const struct redirect *to;
	struct stream *file;
	struct content content;
	size_t i;

	for (i = 0; i < c->nredirects; i++) {
		to = &c->redirects[i];
		if (to->op == REDIRECT_READ || (to->fd != 1 && to->fd != -1))
			continue;
		if (to->op == REDIRECT_DUP) {
			/* stdout becomes stderr, and does not come out */
			stream_none(out);
			continue;
		}
		content = out->v[0];
		if (out->n > 1)
			content.kind = CONTENT_UNKNOWN;
		if (WORD_IS_STATIC(&to->target)) {
			if (to->op == REDIRECT_APPEND) {
				struct content old;

				shell_file_get(r->j, c, &to->target, &old);
				file = judging_alloc(r->j, sizeof(*file));
				file->n = 1;
				file->v[0] = old;
				if (old.kind == CONTENT_INHERITED) {
					/* Ours alone are known of it. */
					file->v[0].kind = CONTENT_NONE;
				}
				r->wants++;
				stream_append(r, file, out);
				r->wants--;
				content = file->v[0];
			}
			shell_file_set(r->j, c, &to->target, &content);
		}
		stream_none(out);
	}
}
