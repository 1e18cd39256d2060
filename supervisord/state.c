/* The state directory. */
#include <sys/file.h>
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "state.h"
#include "without.h"

#define REOWN_DEPTH	8

#define DIR_FLAGS	(O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

int
state_open(struct state *s, char why[WHY_MAX])
{
	struct stat st;
	int made;

	s->fd = s->lock = -1;
	s->policy_owner = (uid_t)-1;
	made = mkdir(s->path, 0711) == 0;
	if (!made && errno != EEXIST)
		return (why_say(why, "mkdir: %s", strerror(errno)));
	if ((s->fd = open(s->path, DIR_FLAGS)) == -1 ||
	    fstat(s->fd, &st) == -1) {
		why_say(why, "%s", strerror(errno));
		goto fail;
	}
	if (st.st_uid != geteuid() || (st.st_mode & 022) != 0) {
		why_say(why, "must belong to root and be writable by it alone; "
		    "it has uid %u, mode %04o", st.st_uid,
		    (unsigned)(st.st_mode & 07777));
		goto fail;
	}
	/* The umask is not the layout's. */
	if (made && fchmod(s->fd, 0711) == -1) {
		why_say(why, "%s", strerror(errno));
		goto fail;
	}
	s->lock = openat(s->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW |
	    O_CLOEXEC, 0600);
	if (s->lock == -1) {
		why_say(why, "lock: %s", strerror(errno));
		goto fail;
	}
	if (flock(s->lock, LOCK_EX | LOCK_NB) == -1) {
		why_say(why, errno == EWOULDBLOCK ? "another instance uses it" :
		    "lock: flock failed");
		goto fail;
	}
	if (fstatat(s->fd, "policy", &st, AT_SYMLINK_NOFOLLOW) == 0)
		s->policy_owner = st.st_uid;
	return (0);
fail:
	state_close(s);
	return (-1);
}

/* One directory of the layout: made, or as it should be.  Its fd, or -1. */
static int
part(struct state *s, const char *name, uid_t uid, gid_t gid, mode_t mode,
    char *why)
{
	struct stat st;
	int fd, made;

	made = mkdirat(s->fd, name, 0700) == 0;
	if (!made && errno != EEXIST)
		return (why_say(why, "mkdir %s: %s", name, strerror(errno)));
	if ((fd = openat(s->fd, name, DIR_FLAGS)) == -1 ||
	    fstat(fd, &st) == -1) {
		why_say(why, "%s: %s", name, strerror(errno));
		goto fail;
	}
	if (made) {
		if (fchown(fd, uid, gid) == -1 || fchmod(fd, mode) == -1) {
			why_say(why, "%s: %s", name, strerror(errno));
			goto fail;
		}
	} else if (st.st_uid != uid || (st.st_mode & 07777) != mode) {
		why_say(why, "%s has uid %u, mode %04o; it must have uid %u, "
		    "mode %04o", name, st.st_uid,
		    (unsigned)(st.st_mode & 07777), uid, mode);
		goto fail;
	}
	return (fd);
fail:
	if (fd != -1)
		(void)close(fd);
	return (-1);
}

static int
is_empty(int fd)
{
	struct dirent *e;
	DIR *d;
	int empty = 1;

	if ((d = fdopendir(fd)) == NULL) {
		(void)close(fd);
		return (0);
	}
	while ((e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0)
			empty = 0;
	}
	(void)closedir(d);
	return (empty);
}

/*
 * Gives files and directories to the new uid: no link is followed, what is
 * root's or has a second name stays.  Takes dir over.
 */
static int
reown_tree(int dir, uid_t uid, gid_t gid, int depth)
{
	struct dirent *e;
	struct stat st;
	DIR *d;
	int sub, result = 0;

	if ((d = fdopendir(dir)) == NULL) {
		(void)close(dir);
		return (-1);
	}
	while (result == 0 && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == -1)
			result = -1;
		else if (st.st_uid == 0)
			continue;
		else if (S_ISDIR(st.st_mode)) {
			sub = openat(dir, e->d_name, DIR_FLAGS);
			if (sub == -1 || depth == REOWN_DEPTH)
				result = -1;
			else
				result = reown_tree(sub, uid, gid, depth + 1);
		} else if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
			continue;
		else
			result = fchownat(dir, e->d_name, uid, gid,
			    AT_SYMLINK_NOFOLLOW);
	}
	if (result == 0)
		result = fchown(dir, uid, gid);
	(void)closedir(d);
	return (result);
}

static int
reown(struct state *s, uid_t uid, gid_t gid, char *why)
{
	int dir;

	log_info("state: policy goes from uid %u to %u", s->policy_owner, uid);
	if ((dir = openat(s->fd, "policy", DIR_FLAGS)) == -1 ||
	    reown_tree(dir, uid, gid, 0) == -1)
		return (why_say(why, "policy: from uid %u to %u: %s",
		    s->policy_owner, uid, strerror(errno)));
	s->policy_owner = uid;
	return (0);
}

int
state_fill(struct state *s, uid_t uid, gid_t gid, int may_reown,
    char why[WHY_MAX])
{
	int fd;

	if (may_reown && s->policy_owner != (uid_t)-1 &&
	    s->policy_owner != uid && reown(s, uid, gid, why) == -1)
		return (-1);
	if ((fd = part(s, "policy", uid, gid,
	    WITHOUT(state_modes) ? 0755 : 0700, why)) == -1)
		return (-1);
	(void)close(fd);
	if ((fd = part(s, "policy/transcripts", uid, gid,
	    WITHOUT(state_modes) ? 0755 : 0700, why)) == -1)
		return (-1);
	(void)close(fd);
	if ((fd = part(s, "neurons", geteuid(), getegid(), 0700, why)) == -1)
		return (-1);
	(void)close(fd);
	if ((fd = part(s, "empty", geteuid(), getegid(), 0755, why)) == -1)
		return (-1);
	if (!is_empty(fd))
		return (why_say(why, "empty is not empty"));
	return (0);
}

void
state_close(struct state *s)
{
	if (s->lock != -1)
		(void)close(s->lock);
	if (s->fd != -1)
		(void)close(s->fd);
	s->lock = s->fd = -1;
}
