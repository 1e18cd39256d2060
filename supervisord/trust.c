/* Files that root believes: who may have written them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "trust.h"

/* 0 if nobody but root, the caller and "also" can have changed it. */
static int
owner_ok(const struct stat *st, uid_t also, int shared, char *why)
{
	if (st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != also) {
		why_say(why, "belongs to uid %u; it must belong to root or to "
		    "uid %u, who runs this", st->st_uid, geteuid());
		return (-1);
	}
	if ((st->st_mode & 022) != 0 && !shared) {
		why_say(why, "mode %04o lets group or others write it; "
		    "chmod go-w", (unsigned)(st->st_mode & 07777));
		return (-1);
	}
	return (0);
}

int
trust_open(const char *path, uid_t also, struct stat *st,
    char why[WHY_MAX])
{
	int fd;

	/* Non-blocking, so that a FIFO of that name can't hold us. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd == -1) {
		why_say(why, "%s", strerror(errno));
		return (-1);
	}
	if (fstat(fd, st) == -1) {
		why_say(why, "fstat: %s", strerror(errno));
		goto fail;
	}
	if (!S_ISREG(st->st_mode)) {
		why_say(why, "is not a regular file");
		goto fail;
	}
	if (owner_ok(st, also, 0, why) == -1)
		goto fail;
	return (fd);
fail:
	(void)close(fd);
	return (-1);
}

int
trust_dir(const char *path, uid_t also, char why[WHY_MAX])
{
	struct stat st;

	if (stat(path, &st) == -1) {
		why_say(why, "%s", strerror(errno));
		return (-1);
	}
	if (!S_ISDIR(st.st_mode)) {
		why_say(why, "is not a directory");
		return (-1);
	}
	return (owner_ok(&st, also, (st.st_mode & S_ISVTX) != 0, why));
}

char *
trust_read(const char *path, uid_t also, size_t max, size_t *size,
    char why[WHY_MAX])
{
	struct stat st;
	char *text = NULL;
	size_t used = 0;
	ssize_t n;
	int fd;

	if ((fd = trust_open(path, also, &st, why)) == -1)
		return (NULL);
	if (st.st_size < 0 || (size_t)st.st_size > max) {
		why_say(why, "is longer than %zu bytes", max);
		goto fail;
	}
	if ((text = malloc((size_t)st.st_size + 2)) == NULL) {
		why_say(why, "out of memory");
		goto fail;
	}
	/* One byte more than it had: a file that grows meanwhile shows. */
	while (used < (size_t)st.st_size + 1) {
		n = read(fd, text + used, (size_t)st.st_size + 1 - used);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			why_say(why, "read: %s", strerror(errno));
			goto fail;
		}
		if (n == 0)
			break;
		used += (size_t)n;
	}
	if (used > (size_t)st.st_size) {
		why_say(why, "changed while it was read");
		goto fail;
	}
	text[used] = '\0';
	*size = used;
	(void)close(fd);
	return (text);
fail:
	free(text);
	(void)close(fd);
	return (NULL);
}
