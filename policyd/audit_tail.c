/* The audit log's reading end: search, and the check of its tail. */

#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sha2.h>

#include "audit.h"

#define HASH_HEAD	",\"hash\":\""
#define PREV_HEAD	",\"prev\":\""
#define HEAD_LEN	(sizeof(HASH_HEAD) - 1)
#define HASH_TAIL	(HEAD_LEN + 64 + 2)	/* ,"hash":"..."} */
#define PREV_TAIL	(HEAD_LEN + 64 + 1)	/* ,"prev":"..." */

void
audit_mark_init(struct audit_mark *mark)
{
	mark->sequence = 0;
	memset(mark->hash, '0', 64);
	mark->hash[64] = '\0';
}

const char *
audit_verdict_words(enum audit_verdict verdict)
{
	static const char *const words[] = {
		[AUDIT_WHOLE] = "whole",
		[AUDIT_CUT] = "records that were on the disk are gone",
		[AUDIT_CHANGED] = "the last marked record was changed",
		[AUDIT_DAMAGED] = "what follows the last good record is none",
		[AUDIT_UNMARKED] = "state.db has no mark of these records",
	};

	return (words[verdict]);
}

ssize_t
audit_line(int fd, off_t offset, char *buf)
{
	size_t size = 2048;	/* holds nearly all */
	ssize_t n;
	char *end;

	for (;;) {
		if ((n = pread(fd, buf, size, offset)) <= 0)
			return (n);
		if ((end = memchr(buf, '\n', (size_t)n)) != NULL)
			break;
		if ((size_t)n < size || size == AUDIT_LINE_MAX)
			return (0);
		size = AUDIT_LINE_MAX;
	}
	*end = '\0';
	return (end - buf);
}

uint64_t
audit_line_sequence(const char *line)
{
	static const char front[] = "{\"seq\":";
	uint64_t sequence = 0;
	const char *p;

	if (strncmp(line, front, sizeof(front) - 1) != 0)
		return (0);
	for (p = line + sizeof(front) - 1; *p >= '0' && *p <= '9'; p++) {
		if (sequence > UINT64_MAX / 10 - 1)
			return (0);
		sequence = sequence * 10 + (uint64_t)(*p - '0');
	}
	return (*p == ',' ? sequence : 0);
}

int
audit_line_is(const char *line, const char *event)
{
	static const char key[] = "\",\"event\":\"";
	const char *p = strchr(line, ',');	/* behind the sequence */
	size_t n = strlen(event);

	/* The time has neither a quote nor a comma in it. */
	if (p == NULL || (p = strstr(p, key)) == NULL)
		return (0);
	p += sizeof(key) - 1;
	return (strncmp(p, event, n) == 0 && p[n] == '"');
}

int
audit_line_check(const char *line, size_t len, uint64_t sequence,
    const char *prev, struct audit_mark *mark)
{
	uint8_t digest[32];
	char hash[SHA_HEX];
	const char *hashp, *prevp;
	SHA2_CTX sha;

	if (len < HASH_TAIL + PREV_TAIL ||
	    audit_line_sequence(line) != sequence)
		return (0);
	hashp = line + len - HASH_TAIL;
	prevp = hashp - PREV_TAIL;
	if (memcmp(hashp, HASH_HEAD, HEAD_LEN) != 0 ||
	    memcmp(hashp + HEAD_LEN + 64, "\"}", 2) != 0 ||
	    memcmp(prevp, PREV_HEAD, HEAD_LEN) != 0 ||
	    (prev != NULL && memcmp(prevp + HEAD_LEN, prev, 64) != 0))
		return (0);
	SHA256Init(&sha);
	SHA256Update(&sha, (const uint8_t *)line, (size_t)(hashp - line));
	SHA256Final(digest, &sha);
	hex_sha(digest, hash);
	if (memcmp(hash, hashp + HEAD_LEN, 64) != 0)
		return (0);
	mark->sequence = sequence;
	memcpy(mark->hash, hash, SHA_HEX);
	return (1);
}

/* The start of the first line at or after offset; size if there is none. */
static off_t
line_start(int fd, off_t offset, off_t size)
{
	char buf[4096];
	ssize_t n;
	char *nl;

	if (offset == 0)
		return (0);
	for (offset--; offset < size; offset += n) {
		if ((n = pread(fd, buf, sizeof(buf), offset)) <= 0)
			return (n == 0 ? size : -1);
		if ((nl = memchr(buf, '\n', (size_t)n)) != NULL)
			return (offset + (nl - buf) + 1);
	}
	return (size);
}

/* Sequences rise with offsets, so the file is its own index. */
off_t
audit_seek(int fd, off_t size, uint64_t sequence)
{
	off_t low = 0, high = size, mid, at;
	char front[64];
	ssize_t n;

	while (low < high) {
		mid = low + (high - low) / 2;
		if ((at = line_start(fd, mid, size)) == -1)
			return (-1);
		if (at >= high) {
			high = mid;
			continue;
		}
		if ((n = pread(fd, front, sizeof(front) - 1, at)) == -1)
			return (-1);
		front[n] = '\0';
		if (audit_line_sequence(front) < sequence)
			low = at + 1;
		else
			high = mid;
	}
	return (line_start(fd, low, size));
}

/* The sequence of the last whole line, 0 if there is none. */
static uint64_t
last_sequence(int fd, off_t size, char *buf)
{
	off_t at, back = 4096;
	uint64_t last = 0;
	ssize_t len;

	for (; last == 0 && back < 4 * AUDIT_LINE_MAX; back *= 2) {
		at = line_start(fd, size > back ? size - back : 0, size);
		while (at >= 0 && at < size &&
		    (len = audit_line(fd, at, buf)) > 0) {
			if (audit_line_sequence(buf) != 0)
				last = audit_line_sequence(buf);
			at += len + 1;
		}
		if (size <= back)
			break;
	}
	return (last);
}

/* Follows the chain from found->good on as far as it holds. */
static int
chain_follow(int fd, char *buf, struct audit_found *found)
{
	struct audit_mark next;
	ssize_t len;

	while (found->good < found->size) {
		if ((len = audit_line(fd, found->good, buf)) == -1)
			return (-1);
		if (len == 0 || !audit_line_check(buf, (size_t)len,
		    found->head.sequence + 1, found->head.hash, &next)) {
			found->verdict = AUDIT_DAMAGED;
			return (0);
		}
		found->head = next;
		found->good += len + 1;
	}
	return (0);
}

/* Where the file's whole lines end. */
static off_t
whole_end(int fd, char *buf, off_t size)
{
	off_t at = size > AUDIT_LINE_MAX ? size - AUDIT_LINE_MAX : 0;
	ssize_t n;
	char *nl;

	if ((n = pread(fd, buf, AUDIT_LINE_MAX, at)) <= 0 ||
	    (nl = memrchr(buf, '\n', (size_t)n)) == NULL)
		return (at);
	return (at + (nl - buf) + 1);
}

/*
 * Where the marked record is gone or another one, the chain goes on from the
 * mark, after all there is: whoever follows the file sees the jump.
 */
static void
chain_broken(int fd, char *buf, const struct audit_mark *mark,
    enum audit_verdict verdict, struct audit_found *found)
{
	found->verdict = verdict;
	found->head = *mark;
	if (found->last > mark->sequence)
		found->head.sequence = found->last;
	found->good = whole_end(fd, buf, found->size);
}

static int
examine(int fd, const struct audit_mark *mark, char *buf,
    struct audit_found *found)
{
	struct audit_mark got;
	ssize_t len;

	found->verdict = AUDIT_WHOLE;
	found->head = *mark;
	found->good = 0;
	found->last = last_sequence(fd, found->size, buf);
	if (mark->sequence != 0) {
		found->good = audit_seek(fd, found->size, mark->sequence);
		if (found->good == -1 ||
		    (len = audit_line(fd, found->good, buf)) == -1)
			return (-1);
		/* A new file was begun when the mark had been written. */
		if (len != 0 && found->good == 0 &&
		    audit_line_sequence(buf) == mark->sequence + 1 &&
		    audit_line_is(buf, AUDIT_ROTATED))
			return (chain_follow(fd, buf, found));
		if (len == 0 || audit_line_sequence(buf) != mark->sequence) {
			chain_broken(fd, buf, mark,
			    found->last < mark->sequence ? AUDIT_CUT :
			    AUDIT_CHANGED, found);
			return (0);
		}
		if (!audit_line_check(buf, (size_t)len, mark->sequence, NULL,
		    &got) || strcmp(got.hash, mark->hash) != 0) {
			chain_broken(fd, buf, mark, AUDIT_CHANGED, found);
			return (0);
		}
		found->good += len + 1;
	}
	if (chain_follow(fd, buf, found) == -1)
		return (-1);
	if (found->verdict == AUDIT_WHOLE && mark->sequence == 0 &&
	    found->size > 0)
		found->verdict = AUDIT_UNMARKED;
	return (0);
}

int
audit_examine(int fd, const struct audit_mark *mark, struct audit_found *found)
{
	struct stat st;
	char *buf;
	int r;

	memset(found, 0, sizeof(*found));
	if (fstat(fd, &st) == -1)
		return (-1);
	if ((buf = malloc(AUDIT_LINE_MAX + 1)) == NULL)
		return (-1);
	found->size = st.st_size;
	r = examine(fd, mark, buf, found);
	free(buf);
	return (r);
}
