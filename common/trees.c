/*
 * The directories that neurons are built from, in a slice: encoding, decoding,
 * freeing.
 */
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "slice.h"
#include "trees.h"

void
trees_free(struct cf_trees *t)
{
	size_t i;

	for (i = 0; i < t->nmounts; i++) {
		free(t->mounts[i].where.file);
		free(t->mounts[i].path);
		free(t->mounts[i].at);
	}
	free(t->mounts);
	free(t->where.file);
	free(t->root);
	memset(t, 0, sizeof(*t));
}

int
trees_same(const struct cf_trees *a, const struct cf_trees *b)
{
	size_t i;

	if (a->overlay != b->overlay || a->nmounts != b->nmounts ||
	    (a->root == NULL) != (b->root == NULL) ||
	    (a->root != NULL && strcmp(a->root, b->root) != 0))
		return (0);
	for (i = 0; i < a->nmounts; i++)
		if (strcmp(a->mounts[i].path, b->mounts[i].path) != 0 ||
		    strcmp(a->mounts[i].at, b->mounts[i].at) != 0)
			return (0);
	return (1);
}

static void
put_where(struct enc *e, const struct where *w)
{
	enc_str(e, w->file);
	enc_u32(e, w->line);
}

void
trees_put(struct enc *e, const struct cf_trees *t)
{
	size_t i;

	enc_u8(e, t->overlay != 0);
	put_where(e, &t->where);
	enc_str(e, t->root);
	enc_u32(e, (uint32_t)t->nmounts);
	for (i = 0; i < t->nmounts; i++) {
		put_where(e, &t->mounts[i].where);
		enc_str(e, t->mounts[i].path);
		enc_str(e, t->mounts[i].at);
	}
}

static void
get_where(struct dec *d, struct where *w)
{
	w->file = dec_strdup(d, PATH_BYTES_MAX);
	w->line = dec_u32(d);
}

/* Messages end a path with a newline. */
static int
path_ok(const char *path)
{
	return (path_clean(path) && path[1] != '\0' &&
	    strlen(path) < TREE_PATH_MAX && strchr(path, '\n') == NULL);
}

/* What root opens, or puts there: nothing else gets through. */
static char *
get_path(struct dec *d)
{
	char *path = dec_strdup(d, PATH_BYTES_MAX);

	if (path == NULL || !path_ok(path))
		d->error = 1;
	return (path);
}

static void
get_root(struct dec *d, struct cf_trees *t)
{
	get_where(d, &t->where);
	t->root = dec_strdup(d, PATH_BYTES_MAX);
	if (t->root != NULL && t->root[0] == '\0') {
		free(t->root);
		t->root = NULL;
	} else if (t->root == NULL || !path_ok(t->root))
		d->error = 1;
	if (t->root == NULL && t->overlay)
		d->error = 1;
}

void
trees_get(struct dec *d, struct cf_trees *t)
{
	uint32_t n, i;

	t->overlay = dec_u8(d) != 0;
	get_root(d, t);
	n = dec_u32(d);
	if (n > MOUNTS_MAX)
		d->error = 1;
	if (d->error || n == 0)
		return;
	if ((t->mounts = calloc(n, sizeof(*t->mounts))) == NULL) {
		d->error = 1;
		return;
	}
	t->nmounts = n;
	for (i = 0; i < n && !d->error; i++) {
		get_where(d, &t->mounts[i].where);
		t->mounts[i].path = get_path(d);
		t->mounts[i].at = get_path(d);
	}
}
