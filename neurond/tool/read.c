/*
 * read: lines of text, the bytes of what is no text, a byte range, or an
 * archive of a directory (tar.c).
 *
 * A file is looked through first (is it text, where do the lines begin, its
 * digest) and its bytes are sent after that: a digest never is newer than the
 * bytes, so that expect finds every change.
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
#include "path.h"
#include "tar.h"
#include "text.h"
#include "tool.h"

#define SEND_MAX	(2 * 1024 * 1024)	/* lines, or no text */
#define WHOLE_MAX	SEND_MAX		/* read once, kept */
#define DIGEST_MAX	(64 * 1024 * 1024)	/* looked through as a whole */
#define GUESS_MAX	(64 * 1024)		/* of larger files */
#define LINES_INITIAL	2000
#define LINES_MAX	1000000
#define NUMBER_MAX	((INT64_C(1) << 53) - 1)

struct file {
	int		 fd;
	struct stat	 st;
	uint8_t		*whole;		/* all of a small file, else NULL */
	uint64_t	 size;
	uint8_t		 head[512];
	size_t		 nhead;
};

/* The lines that are asked for, found while the bytes go by. */
struct lines {
	uint64_t	 first;
	uint64_t	 most;
	uint64_t	 at;		/* bytes that went by */
	uint64_t	 line;		/* the number of the current one */
	uint64_t	 begin;		/* of the current line */
	uint64_t	 start;		/* what is sent */
	uint64_t	 end;
	uint64_t	 found;		/* lines of it */
	int		 started;
	int		 done;		/* no more will be taken */
};

static int
fail(struct tool *t, const struct path *p, int error)
{
	return (tool_fail_errno(t, error, result_quote(p->bytes, p->len)));
}

/* At most n bytes at an offset; fewer only at the end.  -1 with errno. */
static ssize_t
get(const struct file *f, void *bytes, size_t n, uint64_t at)
{
	size_t got = 0;
	ssize_t r;

	if (f->whole != NULL) {
		if (at >= f->size)
			return (0);
		if (n > f->size - at)
			n = (size_t)(f->size - at);
		memcpy(bytes, f->whole + at, n);
		return ((ssize_t)n);
	}
	while (got < n) {
		r = pread(f->fd, (char *)bytes + got, n - got,
		    (off_t)(at + got));
		if (r == 0)
			break;
		if (r > 0)
			got += (size_t)r;
		else if (errno != EINTR)
			return (-1);
	}
	return ((ssize_t)got);
}

/*
 * The same without a copy where the file is in memory; else it is read into
 * block, of OUT_BLOCK bytes, which is made at the first use.
 */
static ssize_t
view(const struct file *f, uint8_t **block, size_t n, uint64_t at,
    const uint8_t **bytes)
{
	if (n > OUT_BLOCK)
		n = OUT_BLOCK;
	if (f->whole != NULL) {
		*bytes = f->whole + at;
		return ((ssize_t)(n < f->size - at ? n : f->size - at));
	}
	if (*block == NULL && (*block = malloc(OUT_BLOCK)) == NULL)
		return (-1);
	*bytes = *block;
	return (get(f, *block, n, at));
}

static int
open_it(struct tool *t, const struct path *p, struct file *f)
{
	ssize_t n;

	if ((f->fd = path_open_file(t, p, &f->st)) == -1)
		return (-1);
	f->size = (uint64_t)f->st.st_size;
	if (f->size > WHOLE_MAX) {
		n = get(f, f->head, sizeof(f->head), 0);
	} else {
		if ((f->whole = malloc(f->size + 1)) == NULL)
			return (tool_fail(t, TOOL_IO, "out of memory"));
		n = fd_read(f->fd, f->whole, f->size);
		f->size = n == -1 ? 0 : (uint64_t)n;
	}
	if (n == -1)
		return (fail(t, p, errno));
	f->nhead = (size_t)n < sizeof(f->head) ? (size_t)n : sizeof(f->head);
	if (f->whole != NULL)
		memcpy(f->head, f->whole, f->nhead);
	return (0);
}

static void
close_it(struct file *f)
{
	if (f->fd != -1)
		(void)close(f->fd);
	free(f->whole);
}

/* ---- looking through ---- */

static void
end_line(struct lines *l, uint64_t end)
{
	if (l->line >= l->first && !l->done) {
		if (!l->started) {
			l->started = 1;
			l->start = l->end = l->begin;
		}
		if (l->found == l->most || end - l->start > SEND_MAX)
			l->done = 1;
		else {
			l->end = end;
			l->found++;
			l->done = l->found == l->most;
		}
	}
	l->line++;
	l->begin = end;
}

static void
pass_lines(struct lines *l, const uint8_t *p, size_t n)
{
	const uint8_t *at = p, *end = p + n;

	while (!l->done &&
	    (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		at++;
		end_line(l, l->at + (size_t)(at - p));
	}
	l->at += n;
	/* A line without an end in sight need not be waited for. */
	if (!l->done && l->line >= l->first && l->at - l->begin > SEND_MAX)
		end_line(l, l->at);
}

/*
 * Lets the file go by, all of it or until the lines are found.  hash: its
 * digest as well.
 */
static int
look(struct tool *t, const struct path *p, const struct file *f, int all,
    struct text_scan *scan, struct lines *l, struct sha256_text *digest)
{
	const uint8_t *bytes;
	uint8_t *block = NULL;
	uint64_t at = 0;
	ssize_t n = 0;
	struct hash hash;

	if (digest != NULL)
		hash_begin(&hash);
	while ((all || !l->done) && at < f->size) {
		if ((n = view(f, &block, OUT_BLOCK, at, &bytes)) <= 0)
			break;
		if (digest != NULL)
			hash_add(&hash, bytes, (size_t)n);
		if (scan != NULL)
			text_scan(scan, bytes, (size_t)n);
		pass_lines(l, bytes, (size_t)n);
		at += (size_t)n;
	}
	if (l->at > l->begin && !l->done && n != -1)
		end_line(l, l->at);
	free(block);
	if (digest != NULL)
		hash_end(&hash, digest);
	return (n == -1 ? fail(t, p, errno) : 0);
}

/* ---- sending ---- */

struct sender {
	struct tool	*t;
	int		 numbers;
	uint64_t	 line;
	int		 fresh;		/* at the begin of a line */
};

static int
send_numbered(struct sender *s, const char *p, size_t n)
{
	const char *end;
	char number[32];
	size_t k;

	for (; n > 0; p += k, n -= k) {
		if (s->fresh) {
			(void)snprintf(number, sizeof(number), "%" PRIu64
			    "\t", s->line++);
			if (out_str(s->t, number) == -1)
				return (-1);
		}
		end = memchr(p, '\n', n);
		k = end == NULL ? n : (size_t)(end - p) + 1;
		s->fresh = end != NULL;
		if (out_bytes(s->t, p, k) == -1)
			return (-1);
	}
	return (0);
}

/* Sends start to end.  *sent is what there was of it. */
static int
send_bytes(struct sender *s, const struct path *p, const struct file *f,
    uint64_t start, uint64_t end, uint64_t *sent)
{
	const uint8_t *bytes;
	uint8_t *block = NULL;
	ssize_t n = 0;
	int ok = 0;

	*sent = 0;
	while (ok == 0 && start < end) {
		if ((n = view(f, &block, (size_t)(end - start), start,
		    &bytes)) <= 0)
			break;
		ok = s->numbers ? send_numbered(s, (const char *)bytes,
		    (size_t)n) : out_bytes(s->t, bytes, (size_t)n);
		start += (size_t)n;
		*sent += (size_t)n;
	}
	free(block);
	return (n == -1 ? fail(s->t, p, errno) : ok);
}

/* ---- the kinds ---- */

static void
describe(struct tool *t, const struct file *f, const char *kind,
    const char *type)
{
	result_str(t, "kind", kind);
	result_str(t, "media_type", type);
	result_int(t, "size", (int64_t)f->size);
	result_mode_into(t->result, "mode", f->st.st_mode);
	result_time_into(t->result, "mtime", f->st.st_mtim.tv_sec);
}

static int
read_range(struct tool *t, const struct path *p, const struct file *f,
    const char *kind, uint64_t from, uint64_t most)
{
	struct sender s = { .t = t };
	uint64_t sent, end = f->size;

	if (from > f->size)
		from = f->size;
	if (most < end - from)
		end = from + most;
	if (send_bytes(&s, p, f, from, end, &sent) == -1)
		return (-1);
	describe(t, f, kind, media_type(f->head, f->nhead, 0));
	result_int(t, "byte_offset", (int64_t)from);
	result_int(t, "bytes", (int64_t)sent);
	/* A file that shrank meanwhile has no more. */
	result_bool(t, "more", end < f->size && sent == end - from);
	if (end < f->size && sent == end - from)
		result_int(t, "next_byte_offset", (int64_t)end);
	return (0);
}

/* The first line is too long to be sent: its begin, in whole characters. */
static void
cut_line(const struct file *f, struct lines *l)
{
	uint8_t byte;

	l->end = l->start + SEND_MAX;
	while (l->end > l->start + 1 && get(f, &byte, 1, l->end) == 1 &&
	    (byte & 0xc0) == 0x80)
		l->end--;
}

static int
read_text(struct tool *t, const struct path *p, const struct file *f,
    const struct text_scan *scan, struct lines *l, int numbers, int counted)
{
	struct sender s = { .t = t, .numbers = numbers, .line = l->first,
	    .fresh = 1 };
	uint64_t sent;
	int bom, cut, more;

	bom = f->nhead >= 3 && memcmp(f->head, "\xef\xbb\xbf", 3) == 0;
	cut = l->started && l->found == 0;
	if (cut)
		cut_line(f, l);
	if (bom && l->started && l->start == 0)
		l->start = 3;
	if (send_bytes(&s, p, f, l->start, l->end, &sent) == -1)
		return (-1);
	describe(t, f, "text", media_type(f->head, f->nhead, 1));
	result_str(t, "encoding", "utf-8");
	result_str(t, "eol", text_eol(scan));
	result_bool(t, "bom", bom);
	result_int(t, "first_line", (int64_t)l->first);
	result_int(t, "lines", (int64_t)(cut ? 1 : l->found));
	if (counted)
		result_int(t, "total_lines", (int64_t)(scan->lf +
		    (f->size > 0 && scan->last != '\n')));
	more = l->started && l->end < f->size;
	result_int(t, "bytes", (int64_t)sent);
	result_bool(t, "more", more);
	if (more && cut)
		result_int(t, "next_byte_offset", (int64_t)l->end);
	else if (more)
		result_int(t, "next_offset", (int64_t)(l->first + l->found));
	return (0);
}

static int
read_lines(struct tool *t, const struct path *p, struct file *f,
    struct lines *l, int numbers)
{
	struct sha256_text digest;
	struct text_scan scan = { .lf = 0 };
	uint8_t *guess;
	ssize_t n;
	int all = f->size <= DIGEST_MAX, text;

	if (!all) {
		if ((guess = malloc(GUESS_MAX)) == NULL)
			return (tool_fail(t, TOOL_IO, "out of memory"));
		n = get(f, guess, GUESS_MAX, 0);
		if (n > 0)
			text_scan(&scan, guess, (size_t)n);
		free(guess);
		if (n == -1)
			return (fail(t, p, errno));
	}
	/* A guess may end within a character. */
	text = !scan.bad;
	if ((all || text) && look(t, p, f, all, all ? &scan : NULL, l,
	    all ? &digest : NULL) == -1)
		return (-1);
	if (all) {
		text = text_is(&scan);
		result_str(t, "sha256", digest.text);
	}
	if (text)
		return (read_text(t, p, f, &scan, l, numbers, all));
	if (l->first > 1)
		return (tool_fail(t, TOOL_NOT_TEXT, "%s is not text (%s) and "
		    "has no lines; byte_offset reads on in it",
		    result_quote(p->bytes, p->len),
		    media_type(f->head, f->nhead, 0)));
	result_str(t, "encoding", "binary");
	return (read_range(t, p, f, "binary", 0, SEND_MAX));
}

static int
exclusive(struct tool *t, const char *const *names, const char *than)
{
	for (; *names != NULL; names++)
		if (arg_has(t, *names))
			return (tool_fail(t, TOOL_BAD_ARGUMENT,
			    "%s goes not with %s", *names, than));
	return (0);
}

static int
read_file(struct tool *t, const struct path *p)
{
	static const char *const of_lines[] = { "offset", "limit", "numbers",
	    NULL };
	struct file f = { .fd = -1 };
	struct lines l = { .line = 1 };
	struct sha256_text digest;
	int64_t first, most, from, bytes;
	int numbers, range, ok = -1;

	range = arg_has(t, "byte_offset") || arg_has(t, "byte_limit");
	if (arg_int(t, "offset", 1, 1, NUMBER_MAX, &first) == -1 ||
	    arg_int(t, "limit", LINES_INITIAL, 1, LINES_MAX, &most) == -1 ||
	    arg_int(t, "byte_offset", 0, 0, NUMBER_MAX, &from) == -1 ||
	    arg_int(t, "byte_limit", NUMBER_MAX, 1, NUMBER_MAX,
	    &bytes) == -1 || arg_bool(t, "numbers", &numbers) == -1)
		return (-1);
	if (range && exclusive(t, of_lines, "a byte range") == -1)
		return (-1);
	l.first = (uint64_t)first;
	l.most = (uint64_t)most;
	if (open_it(t, p, &f) == -1)
		goto out;
	if (!range)
		ok = read_lines(t, p, &f, &l, numbers);
	else {
		/* Who reads piece by piece doesn't pay for it each time. */
		if (f.whole != NULL) {
			sha256_bytes(f.whole, f.size, &digest);
			result_str(t, "sha256", digest.text);
		}
		ok = read_range(t, p, &f, "range", (uint64_t)from,
		    (uint64_t)bytes);
	}
out:
	close_it(&f);
	return (ok);
}

int
body_read(struct tool *t)
{
	static const char *const others[] = { "offset", "limit", "numbers",
	    "byte_offset", "byte_limit", NULL };
	struct path p;
	int tar, ok = -1;

	if (path_arg(t, NULL, &p) == -1 || arg_bool(t, "tar", &tar) == -1)
		goto out;
	if (!tar)
		ok = read_file(t, &p);
	else if (exclusive(t, others, "tar") == 0)
		ok = tar_send(t, &p);
out:
	path_free(&p);
	return (ok);
}
