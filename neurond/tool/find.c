/*
 * find: entries of a tree by name and type, sorted by path.
 *
 * The whole tree is walked through in whatever order it comes, and the entries
 * that are first in order are kept in a heap: so an answer that is cut is
 * always the same one, and memory goes with the answer and not with the tree.
 * What .gitignore excludes is found by rules of our own (find_ignore.h): no
 * program is run, and directories and links are told as well.
 */
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "find_walk.h"
#include "globs.h"
#include "out.h"
#include "path.h"
#include "tool.h"

#define LIMIT_INITIAL	1000
#define LIMIT_MOST	10000
#define DEPTH_MOST	4096
#define TIME_MS		20000	/* for the walk; what was found is returned */
#define ENTRY_COST	96	/* of the result, beside the path */

struct hit {
	char		*path;		/* as the result has it, no NUL */
	size_t		 len;
	size_t		 cost;
	unsigned char	 type;		/* DT_... */
	int64_t		 size;
};

struct find {
	struct tool	*t;
	struct glob	*glob;		/* NULL: every name */
	int		 whole;		/* the glob is of the path */
	unsigned char	 type;		/* DT_..., DT_UNKNOWN: any */
	int		 other;		/* neither file, directory nor link */
	const char	*prefix;	/* path as it was given, or "" */
	size_t		 prefixlen;
	int		 slash;		/* one is needed behind it */

	struct hit	*hit;		/* heap, the last in order on top */
	size_t		 n, limit;
	size_t		 cost;
	int		 more;		/* some did not fit */
};

static const struct type_row {
	unsigned char	 type;
	const char	*word;		/* in the result */
	const char	*asked;		/* in the argument, NULL: "other" */
} types[] = {
	{ DT_REG, "file", "file" },
	{ DT_DIR, "directory", "directory" },
	{ DT_LNK, "link", "link" },
	{ DT_FIFO, "fifo", NULL },
	{ DT_SOCK, "socket", NULL },
	{ DT_CHR, "char_device", NULL },
	{ DT_BLK, "block_device", NULL }
};
#define NTYPES		(sizeof(types) / sizeof(types[0]))

/* ---- arguments ---- */

static int
take_type(struct find *f)
{
	const char *word;
	size_t len, i;

	if (arg_str(f->t, "type", 0, &word, &len) == -1)
		return (-1);
	f->type = DT_UNKNOWN;
	if (word == NULL)
		return (0);
	for (i = 0; i < NTYPES; i++) {
		if (types[i].asked != NULL &&
		    strcmp(types[i].asked, word) == 0) {
			f->type = types[i].type;
			return (0);
		}
	}
	f->other = strcmp(word, "other") == 0;
	return (f->other ? 0 : tool_fail(f->t, TOOL_BAD_ARGUMENT,
	    "type is none of file, directory, link and other"));
}

static int
take_name(struct find *f, int *hidden)
{
	const char *name, *why;
	size_t len;

	if (arg_str(f->t, "name", 0, &name, &len) == -1)
		return (-1);
	*hidden = 0;
	if (name == NULL)
		return (0);
	/* Who begins a name with a dot means hidden ones. */
	*hidden = len > 0 && name[0] == '.';
	f->whole = memchr(name, '/', len) != NULL;
	f->glob = glob_make(name, len, GLOB_BRACES, &why);
	if (f->glob == NULL)
		return (tool_fail(f->t, TOOL_BAD_ARGUMENT,
		    "the name %s can't be used: %s", result_quote(name, len),
		    why));
	return (0);
}

/* ---- the heap ---- */

static int
compare(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;
	size_t n = x->len < y->len ? x->len : y->len;
	int c = memcmp(x->path, y->path, n);

	return (c != 0 ? c : (x->len > y->len) - (x->len < y->len));
}

static void
swap(struct hit *a, struct hit *b)
{
	struct hit h = *a;

	*a = *b;
	*b = h;
}

static void
sift_up(struct find *f, size_t i)
{
	for (; i > 0 && compare(&f->hit[i], &f->hit[(i - 1) / 2]) > 0;
	    i = (i - 1) / 2)
		swap(&f->hit[i], &f->hit[(i - 1) / 2]);
}

static void
drop_last(struct find *f)
{
	size_t i = 0, child;

	f->more = 1;
	f->cost -= f->hit[0].cost;
	free(f->hit[0].path);
	f->hit[0] = f->hit[--f->n];
	while ((child = 2 * i + 1) < f->n) {
		if (child + 1 < f->n &&
		    compare(&f->hit[child + 1], &f->hit[child]) > 0)
			child++;
		if (compare(&f->hit[i], &f->hit[child]) >= 0)
			break;
		swap(&f->hit[i], &f->hit[child]);
		i = child;
	}
}

/* Bytes that the JSON of a path has at most. */
static size_t
json_cost(const char *path, size_t len)
{
	size_t i, n, cost = ENTRY_COST;
	const unsigned char *p = (const unsigned char *)path;

	for (i = 0; i < len; i += n == 0 ? 1 : n) {
		n = utf8_length(p + i, len - i);
		cost += n == 0 || p[i] < 0x20 || p[i] == '"' ||
		    p[i] == '\\' ? 8 : n;
	}
	return (cost);
}

/* Takes the path of a hit. */
static int
keep(struct find *f, struct hit *hit)
{
	hit->cost = json_cost(hit->path, hit->len);
	if (f->n == f->limit)
		drop_last(f);
	f->hit[f->n] = *hit;
	f->cost += hit->cost;
	sift_up(f, f->n++);
	while (f->cost > RESULT_BYTES_MAX - ENTRY_COST && f->n > 1)
		drop_last(f);
	return (0);
}

static int
wanted(const struct find *f, const struct walk_entry *e)
{
	size_t n = strlen(e->name);

	if (f->type != DT_UNKNOWN && e->type != f->type)
		return (0);
	if (f->other && (e->type == DT_REG || e->type == DT_DIR ||
	    e->type == DT_LNK))
		return (0);
	return (f->glob == NULL || (f->whole ?
	    glob_match(f->glob, e->path, e->len) :
	    glob_match(f->glob, e->name, n)));
}

static int
visit(void *arg, const struct walk_entry *e)
{
	struct find *f = arg;
	struct hit hit;
	struct stat st;

	if (!wanted(f, e))
		return (0);
	hit.len = f->prefixlen + (size_t)f->slash + e->len;
	hit.type = e->type;
	hit.size = -1;
	if ((hit.path = malloc(hit.len + 1)) == NULL)
		return (-1);
	memcpy(hit.path, f->prefix, f->prefixlen);
	if (f->slash)
		hit.path[f->prefixlen] = '/';
	memcpy(hit.path + hit.len - e->len, e->path, e->len);
	if (f->n == f->limit && compare(&hit, &f->hit[0]) > 0) {
		f->more = 1;
		free(hit.path);
		return (0);
	}
	if (e->type == DT_REG && fstatat(e->dir, e->name, &st,
	    AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
		hit.size = st.st_size;
	return (keep(f, &hit));
}

/* ---- the answer ---- */

static const char *
word_of(unsigned char type)
{
	size_t i;

	for (i = 0; i < NTYPES; i++) {
		if (types[i].type == type)
			return (types[i].word);
	}
	return ("file");
}

static int
tell(struct find *f, const struct walk *w)
{
	json_t *entries = json_array(), *entry;
	const struct hit *h;
	size_t i;

	if (entries == NULL)
		return (tool_fail_errno(f->t, ENOMEM, "the answer"));
	qsort(f->hit, f->n, sizeof(f->hit[0]), compare);
	for (i = 0; i < f->n; i++) {
		h = &f->hit[i];
		if ((entry = json_object()) == NULL ||
		    json_array_append_new(entries, entry) == -1) {
			json_decref(entries);
			return (tool_fail_errno(f->t, ENOMEM, "the answer"));
		}
		result_bytes_into(entry, "path", h->path, h->len);
		json_object_set_new(entry, "type",
		    json_string(word_of(h->type)));
		if (h->size >= 0)
			json_object_set_new(entry, "size",
			    json_integer(h->size));
		if (out_name(f->t, h->path, h->len) == -1 ||
		    out_str(f->t, h->type == DT_DIR ? "/\n" : "\n") == -1) {
			json_decref(entries);
			return (-1);
		}
	}
	result_set(f->t, "entries", entries);
	result_int(f->t, "count", (int64_t)f->n);
	result_bool(f->t, "more", f->more || w->late);
	if (w->late)
		result_int(f->t, "stopped_ms", TIME_MS);
	if (w->unread > 0)
		result_int(f->t, "unread", (int64_t)w->unread);
	return (0);
}

static int
find(struct find *f, struct walk *w, const struct path *p)
{
	int64_t limit;
	int dir;

	if (take_type(f) == -1 || take_name(f, &w->hidden) == -1 ||
	    arg_bool(f->t, "ignored", &w->ignored) == -1 ||
	    arg_int(f->t, "depth", 0, 1, DEPTH_MOST, &w->depth) == -1 ||
	    arg_int(f->t, "limit", LIMIT_INITIAL, 1, LIMIT_MOST,
	    &limit) == -1)
		return (-1);
	f->limit = (size_t)limit;
	if ((f->hit = calloc(f->limit, sizeof(f->hit[0]))) == NULL)
		return (tool_fail_errno(f->t, ENOMEM, "the answer"));
	if ((dir = path_open_dir(f->t, p)) == -1)
		return (-1);
	w->root = f->t->root[p->root].fd;
	w->below = p->below;
	w->milliseconds = TIME_MS;
	w->visit = visit;
	w->arg = f;
	if (walk_tree(w, dir) == -1)
		return (tool_fail_errno(f->t, ENOMEM, "the search"));
	return (tell(f, w));
}

int
body_find(struct tool *t)
{
	struct find f = { .t = t };
	struct walk w = { .depth = 0 };
	struct path p = { .bytes = NULL };
	char *freed = NULL;
	size_t i;
	int error = -1;

	if (path_arg(t, ".", &p) == 0 && arg_bytes(t, "path", &f.prefix,
	    &f.prefixlen, &freed) == 0) {
		if (f.prefix == NULL || strcmp(f.prefix, ".") == 0) {
			f.prefix = "";
			f.prefixlen = 0;
		}
		f.slash = f.prefixlen > 0 && f.prefix[f.prefixlen - 1] != '/';
		error = find(&f, &w, &p);
	}
	for (i = 0; i < f.n; i++)
		free(f.hit[i].path);
	free(f.hit);
	free(freed);
	glob_free(f.glob);
	path_free(&p);
	return (error);
}
