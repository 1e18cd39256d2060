/*
 * edit: exact replacement in a file.
 *
 * The file is read and written under the lock of its directory; all edits are
 * done in memory before a byte is written, so they happen together or not at
 * all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "diff.h"
#include "edit.h"
#include "edit_text.h"
#include "out.h"
#include "path.h"
#include "replace.h"
#include "tool.h"

struct edits {
	struct edit_one	*one;
	size_t		 n;
	int		 numbered;	/* they came as an array */
};

/* What is known of a file's line ends. */
enum eol { EOL_NONE, EOL_LF, EOL_CRLF, EOL_MIXED };

static const char *const eol_words[] = {
	[EOL_NONE] = "none",
	[EOL_LF] = "lf",
	[EOL_CRLF] = "crlf",
	[EOL_MIXED] = "mixed"
};

static int
take_edit(struct tool *t, const json_t *object, size_t number,
    struct edit_one *e)
{
	if (!json_is_object(object))
		return (tool_fail(t, TOOL_BAD_ARGUMENT,
		    "edit %zu is not an object", number));
	if (arg_str_of(t, object, "old", 1, &e->old, &e->oldlen) == -1 ||
	    arg_str_of(t, object, "new", 1, &e->new, &e->newlen) == -1 ||
	    arg_bool_of(t, object, "all", &e->all) == -1)
		return (-1);
	if (e->oldlen == 0)
		return (tool_fail(t, TOOL_BAD_ARGUMENT, "old is empty, which "
		    "would match everywhere: write makes or replaces a whole "
		    "file"));
	return (0);
}

/* old and new, or the array edits. */
static int
take_edits(struct tool *t, struct edits *edits)
{
	const json_t *array = json_object_get(t->args, "edits");
	size_t i, n = 1;

	edits->numbered = array != NULL;
	if (array != NULL) {
		n = json_array_size(array);
		if (n == 0 || n > EDITS_MAX || arg_has(t, "old") ||
		    arg_has(t, "new") || arg_has(t, "all"))
			return (tool_fail(t, TOOL_BAD_ARGUMENT, "edits has to "
			    "be an array of 1 to %d edits, without old, new "
			    "and all beside it", EDITS_MAX));
	}
	if ((edits->one = calloc(n, sizeof(*edits->one))) == NULL)
		return (tool_fail_errno(t, ENOMEM, "the edits"));
	edits->n = n;
	if (array == NULL)
		return (take_edit(t, t->args, 1, &edits->one[0]));
	for (i = 0; i < n; i++) {
		if (take_edit(t, json_array_get(array, i), i + 1,
		    &edits->one[i]) == -1)
			return (-1);
	}
	return (0);
}

static int
too_large(struct tool *t, const struct path *p, const char *what)
{
	(void)tool_fail(t, TOOL_TOO_LARGE, "%s %s larger than %zu bytes, the "
	    "most that edit takes (edit-bytes)",
	    result_quote(p->bytes, p->len), what, EDIT_BYTES_MAX);
	tool_fail_more(t, "limit", json_string("edit-bytes"));
	tool_fail_more(t, "value", json_integer((json_int_t)EDIT_BYTES_MAX));
	return (-1);
}

/* Reads the file that is to be edited; *text is the caller's to free. */
static int
load(struct tool *t, const struct path *p, const struct replace *r,
    char **text, size_t *len)
{
	const char *name = result_quote(p->bytes, p->len);
	size_t room = (size_t)r->old.st_size;
	ssize_t n;

	if (r->old.st_size > (off_t)EDIT_BYTES_MAX)
		return (too_large(t, p, "is"));
	if ((*text = malloc(room + 1)) == NULL)
		return (tool_fail_errno(t, ENOMEM, name));
	/* one byte more than there was shows that it grew meanwhile */
	n = fd_read(r->old_fd, *text, room + 1);
	if (n == -1)
		return (tool_fail_errno(t, errno, name));
	if ((size_t)n > room)
		return (tool_fail(t, TOOL_CHANGED, "%s grew while it was "
		    "read", name));
	*len = (size_t)n;
	return (0);
}

static enum eol
find_eol(const char *text, size_t len)
{
	const char *p = text, *nl;
	int lf = 0, crlf = 0;

	while (!(lf && crlf) && (nl = memchr(p, '\n',
	    (size_t)(text + len - p))) != NULL) {
		if (nl > text && nl[-1] == '\r')
			crlf = 1;
		else
			lf = 1;
		p = nl + 1;
	}
	return (lf && crlf ? EOL_MIXED : crlf ? EOL_CRLF : lf ? EOL_LF :
	    EOL_NONE);
}

/* The lines that a text was found on, as "lines 2, 5 and 9". */
static void
tell_lines(const struct edit_out *out, char *text, size_t size)
{
	size_t i, len;

	len = (size_t)snprintf(text, size, "line%s ",
	    out->nlines == 1 ? "" : "s");
	for (i = 0; i < out->nlines && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%zu",
		    i == 0 ? "" : i + 1 < out->nlines ||
		    out->count > out->nlines ? ", " : " and ", out->line[i]);
	if (out->count > out->nlines && len < size)
		(void)snprintf(text + len, size - len, " and further ones");
}

static int
fail_not_unique(struct tool *t, const char *which, const struct edit_out *out)
{
	json_t *lines = json_array();
	char text[512];
	size_t i;

	tell_lines(out, text, sizeof(text));
	(void)tool_fail(t, TOOL_NOT_UNIQUE, "%sold is there %zu times, on %s: "
	    "give more of what is around it, or set all", which, out->count,
	    text);
	for (i = 0; i < out->nlines; i++)
		json_array_append_new(lines,
		    json_integer((json_int_t)out->line[i]));
	tool_fail_more(t, "count", json_integer((json_int_t)out->count));
	tool_fail_more(t, "lines", lines);
	return (-1);
}

/* Says why the edits could not be done. */
static int
fail_edit(struct tool *t, const struct path *p, enum edit_end end,
    const struct edits *edits, const struct edit_out *out)
{
	char which[48] = "";

	if (edits->numbered)
		(void)snprintf(which, sizeof(which), "edit %zu of %zu: ",
		    out->which + 1, edits->n);
	switch (end) {
	case EDIT_NO_MATCH:
		(void)tool_fail(t, TOOL_NO_MATCH, "%sold is not in %s%s%s",
		    which, result_quote(p->bytes, p->len),
		    out->hint[0] == '\0' ? "" : "; ", out->hint);
		break;
	case EDIT_NOT_UNIQUE:
		(void)fail_not_unique(t, which, out);
		break;
	case EDIT_TOO_LARGE:
		(void)too_large(t, p, "would become");
		break;
	case EDIT_NO_MEMORY:
	case EDIT_DONE:
		return (tool_fail_errno(t, ENOMEM,
		    result_quote(p->bytes, p->len)));
	}
	if (edits->numbered)
		tool_fail_more(t, "edit",
		    json_integer((json_int_t)out->which + 1));
	return (-1);
}

/* The diff, to be read and as a member. */
static int
tell_diff(struct tool *t, const struct path *p, const char *old,
    size_t oldlen, const struct edit_out *new)
{
	struct diff_text diff;
	int r;

	if (diff_unified(old, oldlen, new->text, new->len, p->below,
	    strlen(p->below), EDIT_DIFF_MAX, &diff) == -1)
		return (tool_fail_errno(t, ENOMEM, "the diff"));
	result_bytes(t, "diff", diff.text, diff.len);
	result_bool(t, "diff_cut", diff.cut);
	r = out_bytes(t, diff.text, diff.len);
	free(diff.text);
	return (r);
}

static int
tell(struct tool *t, const struct path *p, const struct edits *edits,
    const char *old, size_t oldlen, const struct edit_out *new)
{
	struct sha256_text digest;

	result_int(t, "edits", (int64_t)edits->n);
	result_int(t, "replacements", (int64_t)new->replacements);
	result_int(t, "bytes", (int64_t)new->len);
	sha256_bytes(old, oldlen, &digest);
	result_str(t, "old_sha256", digest.text);
	sha256_bytes(new->text, new->len, &digest);
	result_str(t, "sha256", digest.text);
	result_str(t, "eol", eol_words[find_eol(new->text, new->len)]);
	result_bool(t, "bom", new->len >= 3 &&
	    memcmp(new->text, "\xef\xbb\xbf", 3) == 0);
	return (tell_diff(t, p, old, oldlen, new));
}

/* Everything between the opened file and the one that takes its place. */
static int
edit_file(struct tool *t, const struct path *p, struct replace *r,
    const struct edits *edits)
{
	struct edit_out new = { .text = NULL };
	enum edit_end end;
	char *old = NULL;
	size_t len = 0;
	int error = -1;

	if (load(t, p, r, &old, &len) == -1)
		goto out;
	end = edit_text(old, len, edits->one, edits->n, EDIT_BYTES_MAX, &new);
	if (end != EDIT_DONE) {
		error = fail_edit(t, p, end, edits, &new);
		goto out;
	}
	/* An edit that changes nothing leaves the file as it is. */
	if (new.len != len || memcmp(new.text, old, len) != 0) {
		if (fd_write(r->fd, new.text, new.len) == -1) {
			error = tool_fail_errno(t, errno,
			    result_quote(p->bytes, p->len));
			goto out;
		}
		if (replace_commit(t, p, r, 0) == -1)
			goto out;
	}
	error = tell(t, p, edits, old, len, &new);
out:
	free(new.text);
	free(old);
	return (error);
}

int
body_edit(struct tool *t)
{
	struct edits edits = { .one = NULL };
	struct path p = { .bytes = NULL };
	const char *expect;
	struct replace r;
	size_t len;
	int error = -1;

	if (path_arg(t, NULL, &p) == 0 && take_edits(t, &edits) == 0 &&
	    arg_str(t, "expect", 0, &expect, &len) == 0 &&
	    replace_begin(t, &p, REPLACE_OLD | REPLACE_READ, &r) == 0) {
		if (replace_expect(t, &p, &r, expect) == 0)
			error = edit_file(t, &p, &r, &edits);
		replace_end(&r);
	}
	free(edits.one);
	path_free(&p);
	return (error);
}
