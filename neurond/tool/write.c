/*
 * write: a file's whole content, at once.
 */
#include <sys/stat.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "hash.h"
#include "out.h"
#include "replace.h"
#include "tool.h"

struct content {
	const char	*bytes;		/* NULL: from standard input */
	size_t		 len;
	char		*freed;
	uint64_t	 size;		/* what was written */
	struct sha256_text digest;
};

static int
fail(struct tool *t, const struct path *p, int error)
{
	return (tool_fail_errno(t, error, result_quote(p->bytes, p->len)));
}

static int
from_stdin(struct tool *t, const struct path *p, int fd, struct content *c)
{
	char *block;
	struct hash hash;
	ssize_t n;
	int ok = 0;

	if ((block = malloc(OUT_BLOCK)) == NULL)
		return (tool_fail(t, TOOL_IO, "out of memory"));
	hash_begin(&hash);
	while (ok == 0 && (n = fd_read(STDIN_FILENO, block,
	    OUT_BLOCK)) != 0) {
		if (n == -1)
			ok = tool_fail_errno(t, errno, "standard input can't "
			    "be read");
		else if (fd_write(fd, block, (size_t)n) == -1)
			ok = fail(t, p, errno);
		else {
			hash_add(&hash, block, (size_t)n);
			c->size += (uint64_t)n;
		}
	}
	hash_end(&hash, &c->digest);
	free(block);
	return (ok);
}

/* Nothing was given at all: what was forgotten is no wish to empty a file. */
static int
check_stdin(struct tool *t)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) == 0 && !S_ISCHR(st.st_mode))
		return (0);
	return (tool_fail(t, TOOL_BAD_ARGUMENT, "there is no content: give "
	    "content, content_base64 or standard input"));
}

static int
fill(struct tool *t, const struct path *p, int fd, struct content *c)
{
	if (c->bytes == NULL)
		return (from_stdin(t, p, fd, c));
	if (fd_write(fd, c->bytes, c->len) == -1)
		return (fail(t, p, errno));
	c->size = c->len;
	sha256_bytes(c->bytes, c->len, &c->digest);
	return (0);
}

static int
write_file(struct tool *t, const struct path *p, struct content *c,
    const char *expect, unsigned flags)
{
	struct replace r;

	if (replace_begin(t, p, flags, &r) == -1)
		return (-1);
	if (fill(t, p, r.fd, c) == -1 || replace_lock(t, p, &r) == -1 ||
	    replace_expect(t, p, &r, expect) == -1 ||
	    replace_commit(t, p, &r, 0666) == -1) {
		replace_undo(t, p, &r);
		return (-1);
	}
	result_int(t, "bytes", (int64_t)c->size);
	result_str(t, "sha256", c->digest.text);
	result_bool(t, "created", !r.exists);
	result_mode_into(t->result, "mode", r.mode);
	replace_end(&r);
	return (0);
}

/* What a person reads; the result says it to programs. */
static int
say(struct tool *t, const struct path *p)
{
	char number[32];

	(void)snprintf(number, sizeof(number), "%" PRIu64, (uint64_t)
	    json_integer_value(json_object_get(t->result, "bytes")));
	if (out_str(t, json_is_true(json_object_get(t->result, "created")) ?
	    "created " : "replaced ") == -1 ||
	    out_name(t, p->bytes, p->len) == -1 ||
	    out_str(t, ", ") == -1 || out_str(t, number) == -1)
		return (-1);
	return (out_str(t, " bytes\n"));
}

int
body_write(struct tool *t)
{
	struct content c = { .bytes = NULL };
	const char *expect;
	struct path p;
	size_t nexpect;
	int parents, ok = -1;
	unsigned flags;

	if (path_arg(t, NULL, &p) == -1 ||
	    arg_bytes(t, "content", &c.bytes, &c.len, &c.freed) == -1 ||
	    arg_bool(t, "parents", &parents) == -1 ||
	    arg_str(t, "expect", 0, &expect, &nexpect) == -1 ||
	    (c.bytes == NULL && check_stdin(t) == -1))
		goto out;
	flags = (parents ? REPLACE_PARENTS : 0U) |
	    (expect != NULL ? REPLACE_READ : 0U) | REPLACE_LATER;
	ok = write_file(t, &p, &c, expect, flags);
	if (ok == 0)
		ok = say(t, &p);
out:
	free(c.freed);
	path_free(&p);
	return (ok);
}
