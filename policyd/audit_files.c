/* The audit log's files: which there are, and a new one. */

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit_files.h"

#define CURRENT		"audit.jsonl"
#define COMING		"audit.coming"

static int		 dir = -1;
static uint64_t		*lasts;		/* ascending */
static size_t		 nlasts;

void
audit_files_name(uint64_t last, char name[AUDIT_FILE_NAME])
{
	snprintf(name, AUDIT_FILE_NAME, "audit.%" PRIu64 ".jsonl", last);
}

static int
lasts_add(uint64_t last)
{
	uint64_t *more;
	size_t i;

	more = reallocarray(lasts, nlasts + 1, sizeof(*lasts));
	if (more == NULL)
		return (-1);
	lasts = more;
	for (i = nlasts; i > 0 && lasts[i - 1] > last; i--)
		lasts[i] = lasts[i - 1];
	lasts[i] = last;
	nlasts++;
	return (0);
}

static void
lasts_remove(size_t i)
{
	nlasts--;
	memmove(&lasts[i], &lasts[i + 1], (nlasts - i) * sizeof(*lasts));
}

/* The number in a name that audit_files_name() made, or 0. */
static uint64_t
name_last(const char *name)
{
	char again[AUDIT_FILE_NAME];
	uint64_t last;

	if (sscanf(name, "audit.%20" SCNu64 ".jsonl", &last) != 1)
		return (0);
	audit_files_name(last, again);
	return (strcmp(name, again) == 0 ? last : 0);
}

static int
look(void)
{
	struct dirent *entry;
	uint64_t last;
	int fd, r = 0;
	DIR *d;

	if ((fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return (-1);
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return (-1);
	}
	while (r == 0 && (entry = readdir(d)) != NULL) {
		if ((last = name_last(entry->d_name)) != 0)
			r = lasts_add(last);
	}
	closedir(d);
	return (r);
}

int
audit_files_open(int dirfd)
{
	audit_files_close();
	if (dirfd == -1)
		return (0);
	if ((dir = fcntl(dirfd, F_DUPFD_CLOEXEC, 3)) == -1)
		return (-1);
	return (look());
}

void
audit_files_close(void)
{
	if (dir != -1)
		close(dir);
	dir = -1;
	free(lasts);
	lasts = NULL;
	nlasts = 0;
}

static int
open_old(uint64_t last)
{
	char name[AUDIT_FILE_NAME];

	audit_files_name(last, name);
	return (openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
}

int
audit_files_find(uint64_t sequence, uint64_t *last)
{
	size_t i = 0;
	int fd;

	while (i < nlasts) {
		if (lasts[i] < sequence) {
			i++;
			continue;
		}
		*last = lasts[i];
		if ((fd = open_old(lasts[i])) != -1)
			return (fd);
		if (errno != ENOENT) {
			log_warn("audit.%" PRIu64 ".jsonl", lasts[i]);
			i++;
		} else
			lasts_remove(i);	/* taken away */
	}
	return (-1);
}

int
audit_files_ends(const struct audit_mark *mark)
{
	struct audit_mark got;
	struct stat st;
	ssize_t len;
	char *buf;
	off_t at;
	int fd, ends = 0;

	if (dir == -1 || (fd = open_old(mark->sequence)) == -1)
		return (0);
	if ((buf = malloc(AUDIT_LINE_MAX + 1)) == NULL)
		fatal("audit");
	if (fstat(fd, &st) == 0 &&
	    (at = audit_seek(fd, st.st_size, mark->sequence)) != -1 &&
	    (len = audit_line(fd, at, buf)) > 0)
		ends = at + len + 1 == st.st_size &&
		    audit_line_check(buf, (size_t)len, mark->sequence, NULL,
		    &got) && strcmp(got.hash, mark->hash) == 0;
	free(buf);
	close(fd);
	return (ends);
}

/*
 * The new file is there before the old one goes.  A death between the two
 * renames leaves no audit.jsonl, which the next start makes.
 */
int
audit_files_next(uint64_t last)
{
	char name[AUDIT_FILE_NAME];
	int fd, saved;

	if (dir == -1) {
		errno = ENOTDIR;
		return (-1);
	}
	audit_files_name(last, name);
	(void)unlinkat(dir, COMING, 0);
	fd = openat(dir, COMING, O_RDWR | O_APPEND | O_CREAT | O_EXCL |
	    O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd == -1)
		return (-1);
	if (lasts_add(last) == -1 || renameat2(dir, CURRENT, dir, name,
	    RENAME_NOREPLACE) == -1)
		goto fail;
	if (renameat2(dir, COMING, dir, CURRENT, RENAME_NOREPLACE) == -1) {
		saved = errno;
		if (renameat2(dir, name, dir, CURRENT, RENAME_NOREPLACE) == -1)
			fatal(CURRENT " can not be put back");
		errno = saved;
		goto fail;
	}
	/* Later records are nothing without the names. */
	if (fsync(dir) == -1)
		log_warn("audit: the directory");
	return (fd);
fail:
	saved = errno;
	close(fd);
	(void)unlinkat(dir, COMING, 0);
	if (nlasts > 0 && lasts[nlasts - 1] == last)
		nlasts--;
	errno = saved;
	return (-1);
}
