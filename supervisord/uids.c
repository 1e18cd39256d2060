/* Blocks of uids, one owner each. */
#include <sys/file.h>
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conf.h"
#include "log.h"
#include "uids.h"

#define BLOCKS_MAX	1024
#define DIR_TRIES	50		/* of 100 ms */
#define LAST_UID	4294901759u	/* see set_uids() */

/* How long a neurond may outlive its supervisor (PROC_GRACE), and some. */
#define LEAVING_MS	7000

/* A block that somebody holds. */
struct block {
	uint32_t	 start;
	uint32_t	 count;
	long		 pid;
	char		 instance[INSTANCE_BYTES_MAX];
};

struct blocks {
	struct block	 v[BLOCKS_MAX];
	size_t		 n;
};

static int
lock(int fd)
{
	const struct timespec pause = { 0, 100000000 };
	int i;

	for (i = 0; i < DIR_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return (0);
		if (errno != EWOULDBLOCK && errno != EINTR)
			return (-1);
		(void)nanosleep(&pause, NULL);
	}
	errno = ETIMEDOUT;
	return (-1);
}

static int
open_dir(const char *dir, char *why)
{
	struct stat st;
	int fd;

	if (mkdir(dir, 0700) == -1 && errno != EEXIST)
		return (why_say(why, "mkdir %s: %s", dir, strerror(errno)));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 || fstat(fd, &st) == -1) {
		why_say(why, "%s: %s", dir, strerror(errno));
	} else if (st.st_uid != geteuid() || (st.st_mode & 077) != 0) {
		why_say(why, "%s must belong to root with mode 0700; it has "
		    "uid %u, mode %04o", dir, st.st_uid,
		    (unsigned)(st.st_mode & 07777));
	} else if (lock(fd) == -1) {
		why_say(why, "%s: lock: %s", dir, strerror(errno));
	} else
		return (fd);
	if (fd != -1)
		(void)close(fd);
	return (-1);
}

/* One file of the directory: a held block is noted, a stale one removed. */
static int
look(int dir, const char *name, struct blocks *all)
{
	struct block *b = &all->v[all->n];
	char text[128];
	ssize_t n;
	int fd;

	fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd == -1)
		return (errno == ENOENT ? 0 : -1);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		(void)unlinkat(dir, name, 0);
		(void)close(fd);
		return (0);
	}
	n = pread(fd, text, sizeof(text) - 1, 0);
	(void)close(fd);
	if (n < 0 || all->n == BLOCKS_MAX)
		return (-1);
	text[n] = '\0';
	memset(b, 0, sizeof(*b));
	b->start = (uint32_t)strtoul(name, NULL, 10);
	/* Held and without a word: as large as a block can be. */
	b->count = CONF_UIDS_COUNT;
	(void)sscanf(text, "%u %32s %ld", &b->count, b->instance, &b->pid);
	all->n++;
	return (0);
}

static int
look_around(int dir, struct blocks *all, char *why)
{
	struct dirent *e;
	int copy, result = 0;
	DIR *d;

	all->n = 0;
	copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (copy == -1 || (d = fdopendir(copy)) == NULL) {
		if (copy != -1)
			(void)close(copy);
		return (why_say(why, "the lock directory: %s",
		    strerror(errno)));
	}
	while (result == 0 && (e = readdir(d)) != NULL) {
		if (strspn(e->d_name, "0123456789") != strlen(e->d_name))
			continue;
		if ((result = look(dir, e->d_name, all)) == -1)
			why_say(why, "block %s can't be read", e->d_name);
	}
	(void)closedir(d);
	return (result);
}

static const struct block *
overlap(const struct blocks *all, uint32_t start, uint32_t count)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		if (start < (uint64_t)all->v[i].start + all->v[i].count &&
		    all->v[i].start < (uint64_t)start + count)
			return (&all->v[i]);
	}
	return (NULL);
}

static int
choose(struct uids *u, const struct blocks *all, char *why)
{
	const struct block *b;
	uint64_t at;

	if (u->start != 0) {
		if ((b = overlap(all, u->start, u->count)) == NULL)
			return (0);
		return (why_say(why, "uids %u to %u are in use by instance "
		    "\"%s\" (pid %ld), which has %u to %u", u->start,
		    u->start + u->count - 1, b->instance, b->pid, b->start,
		    b->start + b->count - 1));
	}
	if (u->wish != 0 && overlap(all, u->wish, u->count) == NULL) {
		u->start = u->wish;
		return (0);
	}
	for (at = CONF_PRIVATE_START; at + u->count - 1 <= LAST_UID;
	    at += CONF_PRIVATE_COUNT) {
		if (overlap(all, (uint32_t)at, u->count) == NULL) {
			u->start = (uint32_t)at;
			return (0);
		}
	}
	return (why_say(why, "no block of %u uids is free", u->count));
}

static int
take(struct uids *u, int dir, char *why)
{
	char name[16];
	int text = -1, said = -1;

	(void)snprintf(name, sizeof(name), "%u", u->start);
	/* neurond holds this as well, and is to read it at most. */
	u->fd = openat(dir, name, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
	    O_CLOEXEC, 0600);
	if (u->fd != -1 && flock(u->fd, LOCK_EX | LOCK_NB) == 0 &&
	    (text = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)) !=
	    -1)
		said = dprintf(text, "%u %s %ld\n", u->count, u->instance,
		    (long)getpid());
	if (said <= 0)
		why_say(why, "%s/%s: %s", u->dir, name, strerror(errno));
	if (text != -1)
		(void)close(text);
	if (said > 0)
		return (0);
	if (u->fd != -1)
		(void)close(u->fd);
	u->fd = -1;
	return (-1);
}

/* 0, -1 and why, or 1 if our own instance's neurond is still about to end. */
static int
try_lock(struct uids *u, struct blocks *all, char *why)
{
	int dir, result = -1;
	size_t i;

	memset(all, 0, sizeof(*all));
	if ((dir = open_dir(u->dir, why)) == -1)
		goto done;
	if (look_around(dir, all, why) == -1)
		goto done;
	/* neurond removes what carries its instance's name: only one may. */
	for (i = 0; i < all->n; i++) {
		if (strcmp(all->v[i].instance, u->instance) == 0) {
			why_say(why, "instance \"%s\" runs already (pid %ld); "
			    "give this one another name", u->instance,
			    all->v[i].pid);
			/* Its supervisor was killed; what else it had goes. */
			if (kill((pid_t)all->v[i].pid, 0) == -1 &&
			    errno == ESRCH)
				result = 1;
			goto done;
		}
	}
	if (choose(u, all, why) == 0)
		result = take(u, dir, why);
done:
	if (dir != -1)
		(void)close(dir);
	return (result);
}

int
uids_lock(struct uids *u, char why[WHY_MAX])
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct blocks *all;
	int result, ms = LEAVING_MS;

	u->fd = -1;
	if ((all = calloc(1, sizeof(*all))) == NULL)
		return (why_say(why, "out of memory"));
	while ((result = try_lock(u, all, why)) == 1 && ms > 0) {
		(void)nanosleep(&pause, NULL);
		ms -= 20;
	}
	free(all);
	return (result == 0 ? 0 : -1);
}

void
uids_unlock(struct uids *u)
{
	char why[WHY_MAX], name[16];
	int dir;

	if (u->fd == -1)
		return;
	(void)snprintf(name, sizeof(name), "%u", u->start);
	if ((dir = open_dir(u->dir, why)) != -1) {
		(void)unlinkat(dir, name, 0);
		(void)close(dir);
	}
	(void)close(u->fd);
	u->fd = -1;
}
