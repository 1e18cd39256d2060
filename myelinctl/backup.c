/*
 * "backup" and "restore": the state as a tar archive, of a service that runs
 * or of one that is stopped, and back where none runs.
 */
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api.h"
#include "audit.h"
#include "backup.h"
#include "conn.h"

#define STATE		"/var/lib/myelin"
#define COPY		"backup.db"
#define DEPTH_MAX	16
#define ASIDE_MAX	100	/* states put aside in one second */

/* ---- tar(1), which every Debian has ---- */

int
tar(const char *const *argv, int fd, int to)
{
	static const char *const env[] = { "LC_ALL=C.UTF-8",
	    "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	int status;
	pid_t pid;

	fflush(NULL);
	if ((pid = fork()) == 0) {
		if (dup2(fd, to) != -1)
			(void)execve("/bin/tar",
			    (char *const *)(uintptr_t)argv,
			    (char *const *)(uintptr_t)env);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return (127);
	return (pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

/* ---- the lock that a service holds as long as it runs ---- */

/* The lock, -1 after a complaint, -2 if there is no state. */
static int
lock_state(const char *state)
{
	int dir, fd;

	if ((dir = open(state, DIR_FLAGS)) == -1) {
		if (errno == ENOENT)
			return (-2);
		complain("%s: %s", state, strerror(errno));
		return (-1);
	}
	fd = openat(dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
	    0600);
	close(dir);
	if (fd != -1 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return (fd);
	if (fd != -1 && errno == EWOULDBLOCK) {
		complain("%s: an instance uses it", state);
		advise("systemctl stop myelin, or name the socket of the one "
		    "that runs with -s");
	} else
		complain("%s/lock: %s", state, strerror(errno));
	if (fd != -1)
		close(fd);
	return (-1);
}

static int
be_root(const char *command)
{
	if (geteuid() == 0)
		return (0);
	complain("%s: be root: the state is Myelin's own", command);
	return (-1);
}

/* ---- backup ---- */

static int
is_running(const struct options *o)
{
	struct conn conn;

	if (conn_try(&conn, api_socket(o, OPERATOR)) != 0)
		return (0);
	conn_close(&conn);
	return (1);
}

/* What the database knows is in the log by the time that it is copied. */
static int
write_running(const struct options *o, const char *state, int out,
    struct homes *homes)
{
	const char *const argv[] = { "tar", "--create", "--file=-",
	    "--directory", state, "--sparse", "--anchored",
	    "--exclude=policy/state.db", "--exclude=policy/state.db-*",
	    "--exclude=policy/" COPY ".new", "--warning=no-file-changed",
	    "--warning=no-file-removed",
	    "--transform=s,^policy/backup\\.db$,policy/state.db,", "policy",
	    NULL };
	char name[4096];
	json_t *json;
	int status;

	if ((size_t)snprintf(name, sizeof(name), "%s/policy/" COPY, state) >=
	    sizeof(name)) {
		complain("%s: the name is too long", state);
		return (-1);
	}
	json = api_call(o, OPERATOR, "POST", "/v1/backup", json_object());
	if (json == NULL)
		return (-1);
	json_decref(json);
	if (access(name, F_OK) == -1) {
		complain("%s: %s", name, strerror(errno));
		advise("name the state directory of the service that was "
		    "asked, behind the file");
		return (-1);
	}
	status = tar(argv, out, STDOUT_FILENO);
	(void)unlink(name);
	/* 1: a file grew or went meanwhile, as logs and transcripts do */
	return (status == 0 || status == 1 ? backup_homes(state, out, homes) :
	    -1);
}

static int
write_stopped(const char *state, int out)
{
	const char *const argv[] = { "tar", "--create", "--file=-",
	    "--directory", state, "--sparse", "--anchored",
	    "--exclude=policy/" COPY "*", "policy", "neurons", NULL };
	int lock, status;

	if ((lock = lock_state(state)) < 0) {
		if (lock == -2)
			complain("%s: there is no state", state);
		return (-1);
	}
	status = tar(argv, out, STDOUT_FILENO);
	close(lock);
	return (status == 0 ? 0 : -1);
}

int
cmd_backup(struct options *o, int argc, char **argv)
{
	const char *state = argc == 2 ? argv[1] : STATE;
	struct homes homes;
	int out, running, r;

	if (argc < 1 || argc > 2)
		return (usage_error(o, "backup: a file to write, and perhaps "
		    "the state directory"));
	if (be_root("backup") == -1)
		return (EXIT_FAILED);
	/* It holds keys: for its owner alone, and in nothing's place. */
	out = open(argv[0], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out == -1) {
		complain("%s: %s", argv[0], strerror(errno));
		return (EXIT_FAILED);
	}
	running = is_running(o);
	r = running ? write_running(o, state, out, &homes) :
	    write_stopped(state, out);
	if (r == 0 && fsync(out) == -1) {
		complain("%s: %s", argv[0], strerror(errno));
		r = -1;
	}
	close(out);
	if (r == -1) {
		(void)unlink(argv[0]);
		complain("no backup was made");
		return (EXIT_FAILED);
	}
	if (!running)
		printf("%s: the state and the homes of persistent neurons\n",
		    argv[0]);
	else
		printf("%s: the state, with %u of %u homes of persistent "
		    "neurons\n", argv[0], homes.copied,
		    homes.copied + homes.live);
	return (0);
}

/* ---- restore ---- */

/* Files and directories alone, each with one name: no way out of it. */
static int
check_tree(int dir, const char *name, int depth)
{
	struct dirent *e;
	struct stat st;
	DIR *d;
	int sub, r = 0;

	if ((d = fdopendir(dir)) == NULL) {
		close(dir);
		return (-1);
	}
	while (r == 0 && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (depth == 0 && strcmp(e->d_name, "policy") != 0 &&
		    strcmp(e->d_name, "neurons") != 0)
			r = -1;
		else if (fstatat(dir, e->d_name, &st,
		    AT_SYMLINK_NOFOLLOW) == -1 || depth == DEPTH_MAX)
			r = -1;
		else if (S_ISDIR(st.st_mode)) {
			sub = openat(dir, e->d_name, DIR_FLAGS);
			r = sub == -1 ? -1 : check_tree(sub, e->d_name,
			    depth + 1);
		} else if (!S_ISREG(st.st_mode) || st.st_nlink != 1 ||
		    (st.st_mode & 07000) != 0)
			r = -1;
		if (r == -1 && name != NULL)
			complain("%s: it does not belong into a backup",
			    e->d_name);
		if (r == -1)
			name = NULL;
	}
	closedir(d);
	return (r);
}

static int
remove_tree(const char *path)
{
	const char *const argv[] = { "rm", "-rf", "--one-file-system", "--",
	    path, NULL };
	static const char *const env[] = { NULL };
	int status = 0;
	pid_t pid;

	if ((pid = fork()) == 0) {
		(void)execve("/bin/rm", (char *const *)(uintptr_t)argv,
		    (char *const *)(uintptr_t)env);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	return (pid > 0 && status == 0 ? 0 : -1);
}

/* Into a new directory beside the state, and looked at there. */
static int
unpack(const struct options *o, const char *file, char *place)
{
	const char *const argv[] = { "tar", "--extract", "--file=-",
	    "--directory", place, "--preserve-permissions", "--same-owner",
	    NULL };
	char *verify[] = { place, NULL };
	struct options quiet = *o;
	int in, dir;

	if ((in = open(file, O_RDONLY | O_CLOEXEC)) == -1) {
		complain("%s: %s", file, strerror(errno));
		return (-1);
	}
	dir = tar(argv, in, STDIN_FILENO);
	close(in);
	if (dir != 0) {
		complain("%s: tar can not unpack it", file);
		return (-1);
	}
	if ((dir = open(place, DIR_FLAGS)) == -1 ||
	    check_tree(dir, "", 0) == -1) {
		complain("%s: it is no backup of Myelin's", file);
		return (-1);
	}
	quiet.json = 0;
	return (audit_verify(&quiet, 1, verify) == 0 ? 0 : -1);
}

/* The state goes to a directory beside it that nothing has the name of. */
static int
put_aside(char *name, size_t size, const char *state)
{
	char when[32];
	time_t now = time(NULL);
	struct tm tm;
	int i;

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	(void)snprintf(name, size, "%s.before-%s", state, when);
	for (i = 2; renameat2(AT_FDCWD, state, AT_FDCWD, name,
	    RENAME_NOREPLACE) == -1; i++) {
		if (errno != EEXIST || i == ASIDE_MAX)
			return (-1);
		(void)snprintf(name, size, "%s.before-%s.%d", state, when, i);
	}
	return (0);
}

/*
 * Homes that the backup does not have stay; all else that is there goes aside,
 * and nothing is destroyed.
 */
static int
exchange(const char *place, const char *state, int there)
{
	char before[4096];

	if (there && put_aside(before, sizeof(before), state) == -1) {
		complain("%s: %s", before, strerror(errno));
		return (-1);
	}
	if (chmod(place, 0711) == -1 || rename(place, state) == -1) {
		complain("%s: %s", state, strerror(errno));
		if (there && rename(before, state) == -1)
			advise("mv %s %s puts back what was there", before,
			    state);
		return (-1);
	}
	if (!there)
		return (0);
	(void)restore_homes(before, state);
	printf("What was in %s is now in %s.\n", state, before);
	return (0);
}

int
cmd_restore(struct options *o, int argc, char **argv)
{
	const char *state = argc == 2 ? argv[1] : STATE;
	char place[4096];
	int lock, r;

	if (argc < 1 || argc > 2)
		return (usage_error(o, "restore: a backup, and perhaps the "
		    "state directory"));
	if (be_root("restore") == -1 || (lock = lock_state(state)) == -1)
		return (EXIT_FAILED);
	if ((size_t)snprintf(place, sizeof(place), "%s.restore-XXXXXX",
	    state) >= sizeof(place) - 32 || mkdtemp(place) == NULL) {
		complain("%s: %s", place, strerror(errno));
		return (EXIT_FAILED);
	}
	r = unpack(o, argv[0], place);
	if (r == 0)
		r = exchange(place, state, lock != -2);
	if (r == -1) {
		(void)remove_tree(place);
		complain("nothing was restored");
	} else
		printf("%s is what was backed up; systemctl start myelin "
		    "uses it.\n", state);
	if (lock != -2)
		close(lock);
	return (r == -1 ? EXIT_FAILED : 0);
}
