/*
 * Killing and removing what a neurond before us, or we, left behind: all that
 * is below the directories with our instance's name.
 */
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "log.h"

/* v1 has no cgroup.kill: by number, until the directory is empty. */
static void
kill_listed(int dir)
{
	char buf[65536];
	char *line, *last = NULL;
	pid_t pid;

	if (cg_read(dir, "cgroup.procs", buf, sizeof(buf)) <= 0)
		return;
	for (line = strtok_r(buf, "\n", &last); line != NULL;
	    line = strtok_r(NULL, "\n", &last))
		if ((pid = (pid_t)atoi(line)) > 1 && pid != getpid())
			kill(pid, SIGKILL);
}

/* Returns the number of directories left. */
static int
sweep_below(int dir, int depth)
{
	struct dirent *d;
	DIR *list;
	int fd, left = 0;

	if (depth > 8 || (fd = dup(dir)) == -1)
		return (1);
	lseek(fd, 0, SEEK_SET);
	if ((list = fdopendir(fd)) == NULL) {
		close(fd);
		return (1);
	}
	while ((d = readdir(list)) != NULL) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		fd = openat(dir, d->d_name, O_RDONLY | O_DIRECTORY |
		    O_NOFOLLOW | O_CLOEXEC);
		if (fd == -1)
			continue;
		if (cg_kill(fd) == -1)
			kill_listed(fd);
		left += sweep_below(fd, depth + 1);
		close(fd);
		if (unlinkat(dir, d->d_name, AT_REMOVEDIR) == -1 &&
		    errno != ENOENT)
			left++;
	}
	closedir(list);
	return (left);
}

static int
sweep_all(const struct cg_base *base)
{
	int i, left = 0;

	if (base->v2 != -1)
		left += sweep_below(base->v2, 0);
	for (i = 0; i < CG_CONTROLLERS; i++)
		if (base->v1[i] != -1)
			left += sweep_below(base->v1[i], 0);
	return (left);
}

int
cg_sweep(const struct cg_base *base, int ms)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	int left;

	while ((left = sweep_all(base)) > 0 && ms > 0) {
		nanosleep(&pause, NULL);
		ms -= 5;
	}
	if (left > 0)
		log_warnx("%d cgroups would not go away", left);
	return (left == 0 ? 0 : -1);
}

static void
remove_own(int dir)
{
	char path[PATH_BYTES_MAX], link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = readlink(link, path, sizeof(path) - 1);
	if (n > 0) {
		path[n] = '\0';
		(void)rmdir(path);
	}
	close(dir);
}

void
cg_close(struct cg_base *base, int ms)
{
	int i;

	cg_sweep(base, ms);
	if (base->v2 != -1)
		remove_own(base->v2);
	base->v2 = -1;
	for (i = 0; i < CG_CONTROLLERS; i++) {
		if (base->v1[i] != -1)
			remove_own(base->v1[i]);
		base->v1[i] = -1;
	}
}
