/*
 * Where our cgroups go.
 *
 * Pure v2: the configured parent; else our own cgroup if it is delegated to
 * us or holds only processes of ours; else, or at the root, a child of the
 * root if that hands out memory, pids and cpu; else refused.  On a hybrid a
 * child of our own cgroup in each hierarchy: v1 lets processes stay above.
 */
#include <sys/stat.h>
#include <sys/xattr.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "log.h"

#define CONTROLLERS	"+memory +pids +cpu"

static int __printflike(3, 4)
refused(char *why, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return (-1);
}

/* ---- texts of /proc ---- */

int
cg_listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	while (*list != '\0') {
		list += strspn(list, " ,\n");
		if (strncmp(list, word, n) == 0 &&
		    strchr(" ,\n", list[n]) != NULL)
			return (1);
		list += strcspn(list, " ,\n");
	}
	return (0);
}

static void
mount_line(struct cg_host *host, const char *line)
{
	char root[PATH_BYTES_MAX], point[PATH_BYTES_MAX], type[32];
	char options[256];
	const char *rest;
	int i;

	if (sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2 ||
	    (rest = strstr(line, " - ")) == NULL ||
	    sscanf(rest, " - %31s %*s %255s", type, options) != 2)
		return;
	if (strcmp(type, "cgroup2") == 0 && host->v2.mount[0] == '\0') {
		snprintf(host->v2.mount, PATH_BYTES_MAX, "%s", point);
		snprintf(host->v2.root, PATH_BYTES_MAX, "%s", root);
	}
	if (strcmp(type, "cgroup") != 0)
		return;
	for (i = 0; i < CG_CONTROLLERS; i++) {
		if (!cg_listed(options, cg_controller_name[i]) ||
		    host->v1[i].mount[0] != '\0')
			continue;
		snprintf(host->v1[i].mount, PATH_BYTES_MAX, "%s", point);
		snprintf(host->v1[i].root, PATH_BYTES_MAX, "%s", root);
	}
}

/* Calls fn with each line of text, without its newline. */
static int
each_line(struct cg_host *host, const char *text,
    void (*fn)(struct cg_host *, const char *))
{
	char *copy, *line, *last = NULL;

	if ((copy = strdup(text)) == NULL)
		return (-1);
	for (line = strtok_r(copy, "\n", &last); line != NULL;
	    line = strtok_r(NULL, "\n", &last))
		fn(host, line);
	free(copy);
	return (0);
}

int
cg_parse_mounts(struct cg_host *host, const char *mountinfo)
{
	return (each_line(host, mountinfo, mount_line));
}

/* "4:memory:/path", "0::/path" */
static void
self_line(struct cg_host *host, const char *line)
{
	char list[256] = "";
	const char *a, *b;
	int i;

	if ((a = strchr(line, ':')) == NULL ||
	    (b = strchr(a + 1, ':')) == NULL || b[1] != '/' ||
	    (size_t)(b - a) > sizeof(list) ||
	    strlen(b + 1) >= PATH_BYTES_MAX)
		return;
	memcpy(list, a + 1, (size_t)(b - a - 1));
	list[b - a - 1] = '\0';
	if (list[0] == '\0')
		snprintf(host->v2.own, PATH_BYTES_MAX, "%s", b + 1);
	for (i = 0; i < CG_CONTROLLERS; i++)
		if (cg_listed(list, cg_controller_name[i]))
			snprintf(host->v1[i].own, PATH_BYTES_MAX, "%s", b + 1);
}

int
cg_parse_self(struct cg_host *host, const char *cgroup)
{
	return (each_line(host, cgroup, self_line));
}

int
cg_directory(const struct cg_place *place, const char *cgroup, char *out,
    size_t size)
{
	size_t n = strlen(place->root);
	int len;

	/* A mount that shows a part of the hierarchy shows it as its top. */
	if (n > 1 && strncmp(cgroup, place->root, n) == 0 &&
	    (cgroup[n] == '/' || cgroup[n] == '\0'))
		cgroup += n;
	while (*cgroup == '/')
		cgroup++;
	len = snprintf(out, size, "%s%s%s", place->mount,
	    *cgroup == '\0' ? "" : "/", cgroup);
	if (len < 0 || (size_t)len >= size) {
		errno = ENAMETOOLONG;
		return (-1);
	}
	return (0);
}

/* ---- the host ---- */

static char *
read_proc(const char *path)
{
	char *buf;
	ssize_t n;

	if ((buf = malloc(256 * 1024)) == NULL)
		return (NULL);
	if ((n = cg_read(AT_FDCWD, path, buf, 256 * 1024)) == -1) {
		free(buf);
		return (NULL);
	}
	return (buf);
}

static int
look(struct cg_host *host)
{
	char *mounts = read_proc("/proc/self/mountinfo");
	char *self = read_proc("/proc/self/cgroup");
	int r = -1;

	memset(host, 0, sizeof(*host));
	if (mounts != NULL && self != NULL &&
	    cg_parse_mounts(host, mounts) == 0)
		r = cg_parse_self(host, self);
	free(mounts);
	free(self);
	return (r);
}

/* 1 if the file of that directory lists all controllers. */
static int
lists_all(const char *dir, const char *file)
{
	char path[PATH_BYTES_MAX + 32], buf[1024];
	int i;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (cg_read(AT_FDCWD, path, buf, sizeof(buf)) == -1)
		return (0);
	for (i = 0; i < CG_CONTROLLERS; i++)
		if (!cg_listed(buf, cg_controller_name[i]))
			return (0);
	return (1);
}

/*
 * Our directory in one hierarchy: parent plus "myelin-" and the instance.
 * The parent itself is never made: what was asked for has to be there, and
 * what we make we also remove.
 */
static int
own_dir(const struct cg_place *place, const char *parent,
    const char *instance, char *path)
{
	size_t n;

	if (cg_directory(place, parent, path, PATH_BYTES_MAX) == -1)
		return (-1);
	n = strlen(path);
	if ((size_t)snprintf(path + n, PATH_BYTES_MAX - n, "/myelin-%s",
	    instance) >= PATH_BYTES_MAX - n) {
		errno = ENAMETOOLONG;
		return (-1);
	}
	if (mkdir(path, 0755) == -1 && errno != EEXIST)
		return (-1);
	return (open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/* ---- processes that stand in the way of subtree_control ---- */

static pid_t
parent_of(pid_t pid)
{
	char path[32], buf[1024];
	const char *p;
	int ppid = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (cg_read(AT_FDCWD, path, buf, sizeof(buf)) == -1 ||
	    (p = strrchr(buf, ')')) == NULL ||
	    sscanf(p + 1, " %*c %d", &ppid) != 1)
		return (0);
	return (ppid);
}

/* supervisord, us, and children of either. */
static int
is_ours(pid_t pid)
{
	pid_t up = getppid(), parent = parent_of(pid);

	return (pid == up || pid == getpid() || parent == up ||
	    parent == getpid());
}

static int
all_ours(const char *dir)
{
	char path[PATH_BYTES_MAX + 32], buf[65536];
	char *line, *last = NULL;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	if (cg_read(AT_FDCWD, path, buf, sizeof(buf)) == -1)
		return (0);
	for (line = strtok_r(buf, "\n", &last); line != NULL;
	    line = strtok_r(NULL, "\n", &last))
		if (!is_ours((pid_t)atoi(line)))
			return (0);
	return (1);
}

/* Into a child, as no process may stay where controllers are handed out. */
static int
move_processes(const char *dir)
{
	char from[PATH_BYTES_MAX + 32], to[PATH_BYTES_MAX + 32];
	char buf[65536], *line, *last = NULL;
	int tries;

	snprintf(to, sizeof(to), "%s/main", dir);
	if (mkdir(to, 0755) == -1 && errno != EEXIST)
		return (-1);
	snprintf(to, sizeof(to), "%s/main/cgroup.procs", dir);
	snprintf(from, sizeof(from), "%s/cgroup.procs", dir);
	for (tries = 0; tries < 20; tries++) {
		if (cg_read(AT_FDCWD, from, buf, sizeof(buf)) <= 0)
			return (0);
		for (line = strtok_r(buf, "\n", &last); line != NULL;
		    line = strtok_r(NULL, "\n", &last))
			(void)cg_write(AT_FDCWD, to, line);
	}
	errno = EBUSY;
	return (-1);
}

static int
delegated(const char *dir)
{
	char c;

	return ((getxattr(dir, "trusted.delegate", &c, 1) == 1 && c == '1') ||
	    (getxattr(dir, "user.delegate", &c, 1) == 1 && c == '1'));
}

static int
hand_out(const char *dir)
{
	char path[PATH_BYTES_MAX + 32];

	if (lists_all(dir, "cgroup.subtree_control"))
		return (0);
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
	return (cg_write(AT_FDCWD, path, CONTROLLERS));
}

/* ---- the two layouts ---- */

/*
 * A neurond that is started again finds itself where the one before it moved
 * the service's processes to: its place is still one above.
 */
static void
leave_main(struct cg_place *place, const char *instance)
{
	char dir[PATH_BYTES_MAX], ours[PATH_BYTES_MAX + 64];
	char up[PATH_BYTES_MAX];
	char *slash;

	snprintf(up, sizeof(up), "%s", place->own);
	slash = strrchr(up, '/');
	if (slash == NULL || strcmp(slash, "/main") != 0)
		return;
	*slash = '\0';
	if (cg_directory(place, up, dir, sizeof(dir)) == -1)
		return;
	snprintf(ours, sizeof(ours), "%s/myelin-%s", dir, instance);
	if (access(ours, F_OK) == 0 || delegated(dir))
		snprintf(place->own, sizeof(place->own), "%s",
		    up[0] == '\0' ? "/" : up);
}

/* Fills parent, a cgroup path, whose subtree_control is ready. */
static int
v2_parent(const struct cg_host *host, const char *configured,
    const char **parent, char *why, size_t size)
{
	char dir[PATH_BYTES_MAX];

	*parent = configured != NULL ? configured : host->v2.own;
	if (cg_directory(&host->v2, *parent, dir, sizeof(dir)) == -1)
		return (refused(why, size, "cgroup parent %s: too long",
		    *parent));
	if (configured != NULL) {
		if (hand_out(dir) == -1)
			return (refused(why, size, "cgroup parent %s: %s",
			    dir, strerrordesc_np(errno)));
		return (0);
	}
	if (strcmp(dir, host->v2.mount) != 0 &&
	    lists_all(dir, "cgroup.controllers") &&
	    (delegated(dir) || all_ours(dir)) &&
	    (lists_all(dir, "cgroup.subtree_control") ||
	    (move_processes(dir) == 0 && hand_out(dir) == 0)))
		return (0);
	*parent = "/";
	if (lists_all(host->v2.mount, "cgroup.subtree_control"))
		return (0);
	return (refused(why, size, "cgroups: %s is not delegated to Myelin, "
	    "and the root hands out not all of memory, pids and cpu: start it "
	    "as a service with Delegate=yes, or name a \"cgroup parent\"",
	    dir));
}

static int
open_v2(struct cg_base *base, const struct cg_host *host,
    const char *instance, const char *configured, char *why, size_t size)
{
	const char *parent;

	if (v2_parent(host, configured, &parent, why, size) == -1)
		return (-1);
	base->v2 = own_dir(&host->v2, parent, instance, base->path);
	if (base->v2 == -1 || hand_out(base->path) == -1)
		return (refused(why, size, "cgroup %s: %s", base->path,
		    strerrordesc_np(errno)));
	base->swap = faccessat(base->v2, "memory.swap.max", F_OK, 0) == 0;
	return (0);
}

/* A hierarchy lacks the place: the directories in the others go again. */
static void
remove_dirs(const struct cg_host *host, const char *configured,
    const char *instance)
{
	const struct cg_place *p;
	char path[PATH_BYTES_MAX];
	size_t n;
	int i;

	for (i = -1; i < CG_CONTROLLERS; i++) {
		p = i == -1 ? &host->v2 : &host->v1[i];
		if (p->mount[0] == '\0' || cg_directory(p, configured != NULL ?
		    configured : p->own, path, sizeof(path)) == -1)
			continue;
		n = strlen(path);
		snprintf(path + n, sizeof(path) - n, "/myelin-%s", instance);
		(void)rmdir(path);
	}
}

static int
open_hybrid(struct cg_base *base, const struct cg_host *host,
    const char *instance, const char *configured, char *why, size_t size)
{
	char path[PATH_BYTES_MAX];
	const struct cg_place *p;
	int i;

	base->hybrid = 1;
	base->v2 = own_dir(&host->v2, configured != NULL ? configured :
	    host->v2.own, instance, base->path);
	if (base->v2 == -1)
		return (refused(why, size, "cgroup %s: %s", base->path,
		    strerrordesc_np(errno)));
	for (i = 0; i < CG_CONTROLLERS; i++) {
		p = &host->v1[i];
		if (p->mount[0] == '\0') {
			remove_dirs(host, configured, instance);
			return (refused(why, size, "the layer cgroup-%s is "
			    "missing: no hierarchy has the controller",
			    cg_controller_name[i]));
		}
		base->v1[i] = own_dir(p, configured != NULL ? configured :
		    p->own, instance, path);
		if (base->v1[i] == -1) {
			refused(why, size, "cgroup %s: %s", path,
			    strerrordesc_np(errno));
			remove_dirs(host, configured, instance);
			return (-1);
		}
	}
	base->swap = faccessat(base->v1[CG_MEMORY],
	    "memory.memsw.limit_in_bytes", F_OK, 0) == 0;
	return (0);
}

int
cg_open_on(struct cg_base *base, struct cg_host *host, const char *instance,
    const char *configured, char *why, size_t size)
{
	int i;

	memset(base, 0, sizeof(*base));
	base->v2 = -1;
	for (i = 0; i < CG_CONTROLLERS; i++)
		base->v1[i] = -1;
	if (host->v2.mount[0] == '\0' || host->v2.own[0] == '\0')
		return (refused(why, size, "the layer cgroup-v2 is missing: "
		    "no cgroup2 is mounted"));
	leave_main(&host->v2, instance);
	if (lists_all(host->v2.mount, "cgroup.controllers"))
		return (open_v2(base, host, instance, configured, why, size));
	return (open_hybrid(base, host, instance, configured, why, size));
}

int
cg_open(struct cg_base *base, const char *instance, const char *configured,
    char *why, size_t size)
{
	static struct cg_host host;

	if (look(&host) == -1)
		return (refused(why, size, "cgroups: /proc can't be read"));
	return (cg_open_on(base, &host, instance, configured, why, size));
}
