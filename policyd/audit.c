/* The audit log's writing end. */

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sha2.h>

#include "audit.h"
#include "audit_files.h"
#include "backup.h"
#include "metrics.h"
#include "redact.h"
#include "secrets.h"
#include "without.h"

#define PENDING_MAX	(4 * 1024 * 1024)
#define READ_BYTES_MAX	(2 * 1024 * 1024)	/* of one audit_read */

static int		 audit_fd = -1;
static off_t		 audit_size;	/* bytes written for certain */
static struct audit_mark head;
static unsigned		 gaps;
static char		*pending;
static size_t		 pending_len, pending_cap;
static struct text	 record;
static int		 weighs;
static uint64_t		 rotate_from;	/* bytes; after a failure */

/* What is worth an anchor at once, by how its events begin. */
static const char *const weighty[] = {
	"approval.", "audit.", "config.", "key.", "secret.", "service.",
	"session.killed", "neuron.destroyed",
};

static int	audit_set_aside(int, int, const struct audit_found *,
		    char[SHA_HEX]);
static int	pending_add(const char *, size_t);

/*
 * Copies what follows the chain to a file of its own and cuts it off, so that
 * nothing is lost and the next record can follow the last good one.
 */
static int
audit_set_aside(int fd, int dirfd, const struct audit_found *found,
    char hex[SHA_HEX])
{
	char name[48], buf[16384];
	uint8_t digest[32];
	SHA2_CTX sha;
	off_t at;
	ssize_t n = 0;
	int out;

	snprintf(name, sizeof(name), "audit.damaged.%llu",
	    (unsigned long long)found->head.sequence + 1);
	if ((out = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC |
	    O_CLOEXEC | O_NOFOLLOW, 0600)) == -1)
		return (-1);
	SHA256Init(&sha);
	for (at = found->good; at < found->size; at += n) {
		if ((n = pread(fd, buf, sizeof(buf), at)) <= 0 ||
		    write(out, buf, (size_t)n) != n)
			goto fail;
		SHA256Update(&sha, (uint8_t *)buf, (size_t)n);
	}
	SHA256Final(digest, &sha);
	hex_sha(digest, hex);
	if (fdatasync(out) == -1 || ftruncate(fd, found->good) == -1)
		goto fail;
	close(out);
	return (0);
fail:
	close(out);
	return (-1);
}

static int
audit_gap(int fd, int dirfd, const struct audit_mark *mark,
    const struct audit_found *found)
{
	const char *words = audit_verdict_words(found->verdict);
	char hex[SHA_HEX] = "";

	log_warnx("audit.jsonl: %s (marked %llu, last %llu)", words,
	    (unsigned long long)mark->sequence,
	    (unsigned long long)found->last);
	gaps++;
	if (found->good < found->size &&
	    audit_set_aside(fd, dirfd, found, hex) == -1) {
		log_warn("audit.jsonl: setting damaged records aside");
		return (-1);
	}
	audit_append("audit.gap", json_pack("{s:s,s:I,s:I,s:I,s:o}",
	    "why", words, "marked", (json_int_t)mark->sequence,
	    "last", (json_int_t)found->last,
	    "set_aside_bytes", (json_int_t)(found->size - found->good),
	    "set_aside_sha256", json_text_or_null(hex)));
	return (0);
}

static void
audit_rotated(uint64_t last)
{
	char name[AUDIT_FILE_NAME];

	audit_files_name(last, name);
	audit_append(AUDIT_ROTATED, json_pack("{s:s}", "before", name));
}

int
audit_open(int fd, int dirfd, const struct audit_mark *mark)
{
	struct audit_found found;

	audit_close();
	if (audit_files_open(dirfd) == -1 ||
	    audit_examine(fd, mark, &found) == -1) {
		log_warn("audit.jsonl");
		return (-1);
	}
	/* A death just after a new file was begun. */
	if (found.verdict == AUDIT_CUT && found.size == 0 &&
	    audit_files_ends(mark)) {
		audit_fd = fd;
		head = *mark;
		audit_rotated(mark->sequence);
		return (0);
	}
	audit_fd = fd;
	audit_size = found.good;
	head = found.head;
	if (found.verdict != AUDIT_WHOLE &&
	    audit_gap(fd, dirfd, mark, &found) == -1)
		return (-1);
	return (0);
}

void
audit_close(void)
{
	if (audit_fd != -1)
		close(audit_fd);
	audit_fd = -1;
	audit_size = 0;
	audit_mark_init(&head);
	free(pending);
	pending = NULL;
	pending_len = pending_cap = 0;
	gaps = 0;
	weighs = 0;
	rotate_from = 0;
	audit_files_close();
}

static int
pending_add(const char *bytes, size_t len)
{
	size_t cap = pending_cap;
	char *p;

	while (cap - pending_len < len)
		cap = cap == 0 ? 16384 : cap * 2;
	if (cap > PENDING_MAX)
		return (-1);
	if (cap != pending_cap) {
		if ((p = realloc(pending, cap)) == NULL)
			return (-1);
		pending = p;
		pending_cap = cap;
	}
	memcpy(pending + pending_len, bytes, len);
	pending_len += len;
	return (0);
}

/*
 * Reasons and names come from requests, by way of judged: no secret in them
 * is to be kept for ever.
 */
static void
clean(char *words)
{
	if (WITHOUT(audit_clean))
		return;
	redact_line(words);
	secrets_mask(words, 0);
}

struct text *
audit_begin(const char *event)
{
	char when[TIME_TEXT];

	text_clear(&record);
	record.clean = clean;
	text_open(&record, NULL);
	text_int(&record, "seq", (int64_t)head.sequence + 1);
	text_word(&record, "time", time_text(wall_us(), when));
	text_word(&record, "event", event);
	return (&record);
}

static void
weigh(const char *event)
{
	size_t i;

	for (i = 0; i < sizeof(weighty) / sizeof(weighty[0]); i++)
		weighs |= strncmp(event, weighty[i], strlen(weighty[i])) == 0;
}

void
audit_end(struct text *t)
{
	char hash[SHA_HEX];
	uint8_t digest[32];
	SHA2_CTX sha;

	text_word(t, "prev", WITHOUT(audit_chain) ? "" : head.hash);
	SHA256Init(&sha);
	SHA256Update(&sha, (uint8_t *)t->p, t->len);
	SHA256Final(digest, &sha);
	hex_sha(digest, hash);
	text_word(t, "hash", hash);
	text_close(t);
	text_bytes(t, "\n", 1);
	if (t->len > AUDIT_LINE_MAX)
		fatalx("audit: a record of %zu bytes", t->len);
	/*
	 * Records wait here while the disk is full.  New calls are refused
	 * then, so only those that were running still end; without room even
	 * for them the truth can't be kept, and nothing may go on.
	 */
	if (pending_add(t->p, t->len) == -1)
		fatalx("audit: %zu bytes of records can not be written",
		    pending_len);
	head.sequence++;
	memcpy(head.hash, hash, SHA_HEX);
}

/* A string at the first level is cleaned; what is within others is ours. */
static void
member(struct text *t, const char *name, const json_t *value)
{
	char *json;

	if (json_is_string(value)) {
		text_string(t, name, json_string_value(value));
		return;
	}
	if ((json = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY)) == NULL)
		fatal("audit");
	text_json(t, name, json);
	free(json);
}

void
audit_append(const char *event, json_t *members)
{
	struct text *t;
	const char *name;
	json_t *value;

	metrics_event(event, members);
	t = audit_begin(event);
	json_object_foreach(members, name, value)
		member(t, name, value);
	json_decref(members);
	audit_end(t);
	weigh(event);
}

int
audit_weighs(void)
{
	int since = weighs;

	weighs = 0;
	return (since);
}

int
audit_flush(void)
{
	ssize_t n;
	int saved;

	if (pending_len == 0)
		return (0);
	if (audit_fd == -1) {
		errno = EBADF;
		return (-1);
	}
	n = write(audit_fd, pending, pending_len);
	if (n == (ssize_t)pending_len) {
		audit_size += n;
		pending_len = 0;
		return (0);
	}
	saved = n == -1 ? errno : ENOSPC;
	/* Half a record must not stay: the next try writes it whole. */
	if (n > 0 && ftruncate(audit_fd, audit_size) == -1)
		fatal("audit.jsonl: half a record can not be taken back");
	errno = saved;
	return (-1);
}

int
audit_sync(struct audit_mark *mark)
{
	if (audit_flush() == -1 || fdatasync(audit_fd) == -1)
		return (-1);
	*mark = head;
	return (0);
}

void
audit_head(struct audit_mark *mark)
{
	*mark = head;
}

unsigned
audit_gaps(void)
{
	return (gaps);
}

int
audit_rotate(uint64_t size)
{
	int fd;

	if ((uint64_t)audit_size < size || (uint64_t)audit_size < rotate_from ||
	    pending_len > 0 || backup_copies())
		return (0);
	if ((fd = audit_files_next(head.sequence)) == -1) {
		log_warn("audit.jsonl: no new file can be begun; this one is "
		    "written on");
		rotate_from = (uint64_t)audit_size + size / 4;
		return (0);
	}
	close(audit_fd);
	audit_fd = fd;
	audit_size = 0;
	rotate_from = 0;
	audit_rotated(head.sequence);
	log_info("audit.jsonl: a new file, from record %llu on",
	    (unsigned long long)head.sequence);
	return (1);
}

/* ---- reading ---- */

struct page {
	json_t		*lines;
	unsigned	 most;
	size_t		 bytes;
	uint64_t	 after;		/* the last one that is on it */
};

/* 0 at the file's end, 1 where the page is full, -1 with errno. */
static int
page_read(struct page *page, int fd, off_t size)
{
	static char buf[AUDIT_LINE_MAX + 1];
	ssize_t len;
	off_t at;

	if ((at = audit_seek(fd, size, page->after + 1)) == -1)
		return (-1);
	for (; at < size; at += len + 1) {
		if ((len = audit_line(fd, at, buf)) <= 0)
			return ((int)len);
		if (json_array_size(page->lines) >= page->most ||
		    page->bytes > READ_BYTES_MAX)
			return (1);
		if (json_array_append_new(page->lines, json_text(buf)) == -1)
			return (-1);
		page->bytes += (size_t)len;
		page->after = audit_line_sequence(buf);
	}
	return (0);
}

int
audit_read(uint64_t after, unsigned most, json_t *lines, uint64_t *next)
{
	struct page page = { .lines = lines, .most = most, .after = after };
	struct stat st;
	uint64_t last;
	int fd, r = 0;

	*next = 0;
	if (audit_flush() == -1)
		log_warn("audit.jsonl");
	while (r == 0 && (fd = audit_files_find(page.after + 1, &last)) != -1) {
		r = fstat(fd, &st) == -1 ? -1 : page_read(&page, fd,
		    st.st_size);
		close(fd);
		/* Whatever is in it: the next one is another. */
		if (r == 0 && page.after < last)
			page.after = last;
	}
	if (r == 0)
		r = page_read(&page, audit_fd, audit_size);
	if (r == 1)
		*next = page.after;
	return (r == -1 ? -1 : 0);
}

int
audit_since(const struct audit_mark *mark, int (*fn)(void *, const char *,
    size_t), void *arg)
{
	static char buf[AUDIT_LINE_MAX + 1];
	struct audit_mark at = *mark;
	off_t offset;
	ssize_t len;
	int r;

	offset = audit_seek(audit_fd, audit_size, at.sequence + 1);
	for (; offset != -1 && offset < audit_size; offset += len + 1) {
		if ((len = audit_line(audit_fd, offset, buf)) == -1)
			return (-1);
		if (len == 0 || !audit_line_check(buf, (size_t)len,
		    at.sequence + 1, at.hash, &at))
			return (0);
		if ((r = fn(arg, buf, (size_t)len)) != 0)
			return (r);
	}
	return (offset == -1 ? -1 : 0);
}
