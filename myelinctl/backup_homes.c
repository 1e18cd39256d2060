/*
 * The homes of persistent neurons, in a backup of a service that runs.
 *
 * Whoever has a home holds its directory's lock, so that one whose lock is
 * free is nobody's, and stays so while the lock is held here.  What is in an
 * image is not looked at.
 */
#include <sys/file.h>
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backup.h"
#include "ctl.h"
#include "ids.h"
#include "loop.h"

#define IMAGE		"home.img"
#define LET_GO_MS	1500	/* for the mount of whoever had it to go */

/* ---- whether somebody has it ---- */

/* Its directory, locked; -1 if it is in use, -2 if it is no home. */
static int
take(int homes, const char *id)
{
	struct stat st;
	int dir, image, loop;

	if ((dir = openat(homes, id, DIR_FLAGS)) == -1)
		return (-2);
	if (flock(dir, LOCK_EX | LOCK_NB) == -1) {
		close(dir);
		return (-1);
	}
	image = openat(dir, IMAGE, O_RDONLY | O_NONBLOCK | O_NOFOLLOW |
	    O_CLOEXEC);
	if (image == -1 || fstat(image, &st) == -1 || !S_ISREG(st.st_mode)) {
		if (image != -1)
			close(image);
		close(dir);
		return (-2);
	}
	loop = loop_of(image, LET_GO_MS);
	close(image);
	if (loop != -1) {
		close(dir);
		return (-1);
	}
	return (dir);
}

/* ---- copying ---- */

static int
append(const char *state, const char *id, int out)
{
	char dir[300], image[320];
	const char *const argv[] = { "tar", "--append",
	    "--file=/proc/self/fd/1", "--directory", state, "--sparse",
	    "--no-recursion", "neurons", dir, image, NULL };

	(void)snprintf(dir, sizeof(dir), "neurons/%s", id);
	(void)snprintf(image, sizeof(image), "neurons/%s/" IMAGE, id);
	if (tar(argv, out, STDOUT_FILENO) == 0)
		return (0);
	complain("the home of neuron %s can not be copied", id);
	return (-1);
}

static int
copy(const char *state, int homes, const char *id, int out, struct homes *n)
{
	int lock, r;

	if ((lock = take(homes, id)) == -2)
		return (0);
	if (lock == -1) {
		complain("the home of neuron %s is in use: it is not in the "
		    "backup", id);
		n->live++;
		return (0);
	}
	r = append(state, id, out);
	close(lock);
	n->copied++;
	return (r);
}

static DIR *
open_homes(const char *state)
{
	char path[4096];
	DIR *list;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/neurons", state);
	if ((fd = open(path, DIR_FLAGS)) == -1)
		return (NULL);
	if ((list = fdopendir(fd)) == NULL)
		close(fd);
	return (list);
}

int
backup_homes(const char *state, int out, struct homes *n)
{
	struct dirent *d;
	DIR *list;
	int r = 0;

	memset(n, 0, sizeof(*n));
	if ((list = open_homes(state)) == NULL) {
		if (errno == ENOENT)
			return (0);
		complain("%s/neurons: %s", state, strerror(errno));
		return (-1);
	}
	while (r == 0 && (d = readdir(list)) != NULL)
		if (id_ok(ID_NEURON, d->d_name))
			r = copy(state, dirfd(list), d->d_name, out, n);
	closedir(list);
	return (r);
}

/* ---- and back ---- */

int
restore_homes(const char *from, const char *to)
{
	DIR *list, *have;
	struct dirent *d;
	char path[4096];
	int r = 0;

	(void)snprintf(path, sizeof(path), "%s/neurons", to);
	if ((list = open_homes(from)) == NULL)
		return (errno == ENOENT ? 0 : -1);
	if ((mkdir(path, 0700) == -1 && errno != EEXIST) ||
	    (have = open_homes(to)) == NULL) {
		complain("%s: %s", path, strerror(errno));
		closedir(list);
		return (-1);
	}
	while ((d = readdir(list)) != NULL) {
		if (!id_ok(ID_NEURON, d->d_name) ||
		    renameat2(dirfd(list), d->d_name, dirfd(have), d->d_name,
		    RENAME_NOREPLACE) == 0 || errno == EEXIST)
			continue;
		complain("%s/neurons/%s: %s; the home is still there", from,
		    d->d_name, strerror(errno));
		r = -1;
	}
	closedir(list);
	closedir(have);
	return (r);
}
