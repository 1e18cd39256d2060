/* Transcripts: the files and their index. */

#include <sys/stat.h>
#include <sys/uio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf.h"
#include "log.h"
#include "recover.h"
#include "transcript.h"
#include "without.h"

#define NAME_SIZE	32

static int	 dir = -1;
static uint64_t	 total;		/* bytes that the index knows */
static int	 failing;
static int	 append_fd = -1;
static uint64_t	 append_block;

static void	append_close(void);

/* ---- files ---- */

static uint64_t
block_of(uint64_t serial)
{
	return (serial / TRANSCRIPT_BLOCK);
}

static void
block_name(uint64_t block, char name[NAME_SIZE])
{
	(void)snprintf(name, NAME_SIZE, "%012" PRIu64 ".jsonl", block);
}

/* The block of a file's name; 0 or -1. */
static int
name_block(const char *name, uint64_t *block)
{
	char again[NAME_SIZE], *end;

	errno = 0;
	*block = strtoull(name, &end, 10);
	if (errno != 0 || end == name)
		return (-1);
	block_name(*block, again);
	return (strcmp(again, name) == 0 ? 0 : -1);
}

static int
block_open(uint64_t block, int flags)
{
	char name[NAME_SIZE];

	block_name(block, name);
	return (openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW,
	    WITHOUT(transcript_modes) ? 0644 : 0600));
}

/* The file that was appended to last stays open, while it is one. */
static int
append_open(uint64_t block, struct stat *st)
{
	if (append_fd != -1 && append_block == block &&
	    fstat(append_fd, st) == 0 && st->st_nlink > 0)
		return (append_fd);
	append_close();
	append_fd = block_open(block, O_WRONLY | O_APPEND | O_CREAT);
	append_block = block;
	if (append_fd != -1 && fstat(append_fd, st) == -1)
		append_close();
	return (append_fd);
}

static void
append_close(void)
{
	if (append_fd != -1)
		close(append_fd);
	append_fd = -1;
}

/* Two lines at once; a part of them is none. */
static int
write_lines(int fd, const char *record, const uint8_t *bytes, size_t size)
{
	char newline[] = "\n";
	struct iovec iov[] = {
		{ (void *)(uintptr_t)record, strlen(record) },
		{ newline, 1 },
		{ (void *)(uintptr_t)bytes, size },
		{ newline, 1 },
	};
	size_t all = strlen(record) + size + 2;
	ssize_t n;

	if ((n = writev(fd, iov, 4)) == (ssize_t)all)
		return (0);
	if (n >= 0)
		errno = ENOSPC;
	return (-1);
}

/* Bytes that no row knows go: a hole, or zeros where there are no holes. */
static int
erase(int fd, uint64_t offset, uint64_t length)
{
	static const uint8_t zeros[65536];
	size_t n;

	if (WITHOUT(transcript_erase))
		return (0);
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	    (off_t)offset, (off_t)length) == 0)
		return (0);
	while (length > 0) {
		n = length < sizeof(zeros) ? (size_t)length : sizeof(zeros);
		if (pwrite(fd, zeros, n, (off_t)offset) != (ssize_t)n)
			return (-1);
		offset += n;
		length -= n;
	}
	return (0);
}

/* ---- agreeing ---- */

struct mending {
	uint64_t	 size;		/* of the file */
	uint64_t	 end;		/* of the rows so far */
	int		 fd;
	uint64_t	 lost[256];	/* rows without their bytes */
	size_t		 nlost;
};

static int
mend_row(void *arg, const struct transcript_row *row)
{
	struct mending *m = arg;

	if (row->offset < m->end || row->length > m->size ||
	    row->offset > m->size - row->length) {
		if (m->nlost == sizeof(m->lost) / sizeof(m->lost[0]))
			return (1);
		m->lost[m->nlost++] = row->serial;
		return (0);
	}
	if (row->offset > m->end)
		(void)erase(m->fd, m->end, row->offset - m->end);
	m->end = row->offset + row->length;
	return (0);
}

/* Where the line at an offset ends, its newline included; 0: it does not. */
static uint64_t
line_end(int fd, uint64_t at)
{
	static char buf[65536];
	ssize_t n;
	char *nl;

	for (; (n = pread(fd, buf, sizeof(buf), (off_t)at)) > 0;
	    at += (uint64_t)n) {
		if ((nl = memchr(buf, '\n', (size_t)n)) != NULL)
			return (at + (uint64_t)(nl - buf) + 1);
	}
	return (0);
}

/* The call whose record begins at an offset, if that was not in the index. */
static const struct call_row *
unknown_call(int fd, uint64_t at)
{
	static const char front[] = "{\"call\":\"";
	char buf[sizeof(front) - 1 + ID_SIZE], *end;

	if (pread(fd, buf, sizeof(buf), (off_t)at) != sizeof(buf) ||
	    memcmp(buf, front, sizeof(front) - 1) != 0 ||
	    (end = memchr(buf + sizeof(front) - 1, '"', ID_SIZE)) == NULL)
		return (NULL);
	*end = '\0';
	return (recover_ended(buf + sizeof(front) - 1));
}

/* What was kept just before the end and is not in the index comes into it. */
static uint64_t
adopt(int fd, uint64_t block, uint64_t at)
{
	struct transcript_row row;
	const struct call_row *call;
	uint64_t record, end;

	while ((record = line_end(fd, at)) != 0 &&
	    (end = line_end(fd, record)) != 0 &&
	    (call = unknown_call(fd, at)) != NULL &&
	    block_of(call->serial) == block) {
		memset(&row, 0, sizeof(row));
		row.serial = call->serial;
		strlcpy(row.call, call->id, sizeof(row.call));
		strlcpy(row.tool, call->tool, sizeof(row.tool));
		row.time = call->ended;
		row.offset = at;
		row.record = record - at;
		row.length = end - at;
		if (store_transcript_add(&row) == -1)
			break;
		at = end;
	}
	return (at);
}

/* A file is cut to what the index knows, and rows beyond it go. */
static int
mend_block(uint64_t block)
{
	struct mending m;
	struct stat st;
	int r;

	do {
		memset(&m, 0, sizeof(m));
		if ((m.fd = block_open(block, O_RDWR)) != -1 &&
		    fstat(m.fd, &st) == 0)
			m.size = (uint64_t)st.st_size;
		r = store_transcripts_placed(block * TRANSCRIPT_BLOCK,
		    (block + 1) * TRANSCRIPT_BLOCK, mend_row, &m);
		if (r == 0 && m.nlost > 0) {
			log_warnx("transcripts: %zu are in the index and not "
			    "on the disk", m.nlost);
			r = store_transcripts_delete(m.lost, m.nlost);
		} else if (r == 0 && m.fd != -1 && m.size > m.end)
			m.end = adopt(m.fd, block, m.end);
		if (r == 0 && m.nlost == 0 && m.fd != -1 && m.size > m.end &&
		    !WITHOUT(transcript_mend)) {
			log_info("transcripts: %" PRIu64 " bytes that were "
			    "being written are cut", m.size - m.end);
			r = ftruncate(m.fd, (off_t)m.end);
		}
		if (m.fd != -1)
			close(m.fd);
	} while (r == 0 && m.nlost > 0);
	return (r);
}

static int64_t
rows_of(uint64_t block)
{
	return (store_transcripts_within(block * TRANSCRIPT_BLOCK,
	    (block + 1) * TRANSCRIPT_BLOCK));
}

/* Files without any row go as a whole. */
static int
mend_files(void)
{
	struct dirent *entry;
	uint64_t block;
	int64_t n;
	DIR *d;
	int fd;

	if ((fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1 ||
	    (d = fdopendir(fd)) == NULL) {
		log_warn("transcripts");
		return (-1);
	}
	while ((entry = readdir(d)) != NULL) {
		if (name_block(entry->d_name, &block) == -1)
			continue;
		n = rows_of(block);
		if (n == 0 && mend_block(block) == 0)
			n = rows_of(block);
		if (n == 0 && unlinkat(dir, entry->d_name, 0) == -1)
			log_warn("transcripts/%s", entry->d_name);
	}
	closedir(d);
	return (0);
}

/* The blocks that rows are in, in turn. */
static int
next_row(void *arg, const struct transcript_row *row)
{
	*(uint64_t *)arg = row->serial;
	return (1);
}

static int
mend_rows(void)
{
	uint64_t after = 0, serial;

	for (;;) {
		serial = 0;
		if (store_transcripts(after, 1, next_row, &serial) == -1)
			return (-1);
		if (serial == 0)
			return (0);
		if (mend_block(block_of(serial)) == -1)
			return (-1);
		after = (block_of(serial) + 1) * TRANSCRIPT_BLOCK - 1;
	}
}

int
transcript_open(int dirfd)
{
	uint64_t count;

	transcript_close();
	if (dirfd == -1)
		return (0);
	/* myelind has made it: directories are not for this process to make */
	if ((dir = openat(dirfd, "transcripts", O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC | O_NOFOLLOW)) == -1) {
		log_warn("transcripts");
		return (-1);
	}
	if (mend_rows() == -1 || mend_files() == -1 ||
	    store_transcripts_sum(&count, &total) == -1) {
		log_warnx("transcripts: files and index can not be compared");
		return (-1);
	}
	return (0);
}

void
transcript_close(void)
{
	append_close();
	if (dir != -1)
		close(dir);
	dir = -1;
	total = 0;
	failing = 0;
}

uint64_t
transcript_bytes(void)
{
	return (total);
}

/* ---- keeping ---- */

/* Appends at the end, or leaves the file as it was. */
static int
append(int fd, off_t end, const char *record, const uint8_t *bytes,
    size_t size, struct transcript_row *row)
{
	int saved;

	row->offset = (uint64_t)end;
	row->record = strlen(record) + 1;
	row->length = row->record + size + 1;
	if (write_lines(fd, record, bytes, size) == 0 &&
	    store_transcript_add(row) == 0)
		return (0);
	saved = errno;
	if (ftruncate(fd, end) == -1)
		log_warn("transcripts: cutting");
	errno = saved;
	return (-1);
}

/* Once, and not for each call of a full disk's. */
static void
failed(const char *why)
{
	if (!failing)
		log_warnx("transcripts can not be written (%s); calls go on "
		    "without", why);
	failing = 1;
}

int
transcript_store(const struct call_row *call, const char *record,
    const uint8_t *bytes, size_t size)
{
	struct transcript_row row = { .serial = call->serial };
	struct stat st;
	int fd, r;

	if (dir == -1 || call->serial == 0 || WITHOUT(transcript_kept))
		return (-1);
	if (bytes != NULL && (memchr(bytes, '\n', size) != NULL ||
	    memchr(bytes, '\0', size) != NULL))
		return (-1);
	strlcpy(row.call, call->id, sizeof(row.call));
	strlcpy(row.tool, call->tool, sizeof(row.tool));
	row.time = wall_us();
	if ((fd = append_open(block_of(call->serial), &st)) == -1) {
		failed(strerror(errno));
		return (-1);
	}
	if ((r = append(fd, st.st_size, record, bytes, bytes != NULL ? size :
	    0, &row)) == -1)
		failed(strerror(errno));
	if (r == -1) {
		append_close();
		return (-1);
	}
	if (failing)
		log_info("transcripts can be written again");
	failing = 0;
	total += row.length;
	return (0);
}

/* ---- reading ---- */

/* The bytes of a row, or NULL; a power cut may have left others there. */
static char *
row_read(const struct transcript_row *row)
{
	char *text = NULL;
	int fd;

	if (row->length > TRANSCRIPT_MAX + AUDIT_LINE_MAX ||
	    row->record == 0 || row->record >= row->length ||
	    (fd = block_open(block_of(row->serial), O_RDONLY)) == -1)
		return (NULL);
	if ((text = malloc((size_t)row->length)) == NULL ||
	    pread(fd, text, (size_t)row->length, (off_t)row->offset) !=
	    (ssize_t)row->length || text[0] != '{' ||
	    text[row->record - 1] != '\n' || text[row->length - 1] != '\n' ||
	    memchr(text, '\0', (size_t)row->length) != NULL) {
		log_warnx("transcripts: that of call %s is damaged",
		    row->call);
		free(text);
		text = NULL;
	}
	close(fd);
	return (text);
}

int
transcript_read(uint64_t serial, const char *record, int alone,
    struct enc *to)
{
	struct transcript_row row;
	char *text;

	if (dir == -1 || store_transcript(serial, &row) != 1 ||
	    (text = row_read(&row)) == NULL)
		return (0);
	if (record != NULL) {
		enc_raw(to, record, strlen(record));
		enc_u8(to, '\n');
	} else
		enc_raw(to, text, (size_t)row.record);
	if (alone)
		enc_u8(to, '\n');
	else
		enc_raw(to, text + row.record,
		    (size_t)(row.length - row.record));
	free(text);
	return (1);
}

/* ---- removing ---- */

/* The rows have gone; what is left of them are bytes nobody finds. */
static void
block_clear(uint64_t block, const struct transcript_row *rows, size_t n)
{
	char name[NAME_SIZE];
	size_t i;
	int fd;

	block_name(block, name);
	if (rows_of(block) == 0) {
		if (append_block == block)
			append_close();
		if (unlinkat(dir, name, 0) == -1 && errno != ENOENT)
			log_warn("transcripts/%s", name);
		return;
	}
	if ((fd = block_open(block, O_RDWR)) == -1)
		return;
	for (i = 0; i < n; i++) {
		if (erase(fd, rows[i].offset, rows[i].length) == -1)
			log_warn("transcripts/%s", name);
	}
	close(fd);
}

int
transcript_remove(const struct transcript_row *rows, size_t n)
{
	uint64_t *serials;
	size_t i, k;
	int r;

	if ((serials = calloc(n, sizeof(*serials))) == NULL)
		fatal("transcripts");
	for (i = 0; i < n; i++)
		serials[i] = rows[i].serial;
	r = store_transcripts_delete(serials, n);
	free(serials);
	if (r == -1)
		return (-1);
	for (i = 0; i < n; i = k) {
		for (k = i; k < n && block_of(rows[k].serial) ==
		    block_of(rows[i].serial); k++)
			total -= rows[k].length;
		block_clear(block_of(rows[i].serial), rows + i, k - i);
	}
	return (0);
}
