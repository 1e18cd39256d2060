/*
 * Facts of the host: a row each, read where anybody may read them.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "apparmor.h"
#include "host.h"
#include "limits.h"
#include "probe.h"

#define KERNEL_MAJOR	6	/* the floor: Debian 12's */
#define KERNEL_MINOR	1
#define PIPE_PAGES_CALL	64u	/* as supervisord/preflight.c counts */
#define HEALTH_SECONDS	3

static json_t	*say(const char *, int, const char *, const char *, ...)
    __attribute__((__format__(__printf__, 4, 5)));

/* ok: 1, 0 for a warning with its remedy, -1 for unknown. */
static json_t *
say(const char *name, int ok, const char *remedy, const char *fmt, ...)
{
	char value[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	return (json_pack("{s:s,s:s,s:s,s:s}", "name", name,
	    "state", ok > 0 ? "ok" : ok == 0 ? "warning" : "unknown",
	    "value", value, "remedy", ok == 0 ? remedy : ""));
}

/* The first line of a small file; "" if it can't be read. */
static const char *
line_of(const char *path)
{
	static char text[512];
	ssize_t n = -1;
	int fd;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) != -1) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n < 0 ? 0 : n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return (text);
}

static json_t *
kernel(void)
{
	struct utsname un;

	if (uname(&un) == -1)
		return (say("kernel", -1, "", "?"));
	return (say("kernel", probe_kernel(KERNEL_MAJOR, KERNEL_MINOR),
	    "boot Linux 6.1 or newer", "Linux %s, the floor is %d.%d",
	    un.release, KERNEL_MAJOR, KERNEL_MINOR));
}

static json_t *
cgroups(void)
{
	const char *words;
	int v2;

	v2 = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
	words = v2 ? "v2 alone" :
	    access("/sys/fs/cgroup/unified/cgroup.procs", F_OK) == 0 ?
	    "hybrid: controllers in v1, processes in v2" : "v1 alone";
	return (say("cgroups", v2 || words[0] == 'h',
	    "mount cgroup2 at /sys/fs/cgroup, or at /sys/fs/cgroup/unified",
	    "%s", words));
}

/* One namespace of a kind for each neuron, those in stock and dying too. */
static json_t *
namespaces(void)
{
	static const char *const kinds[] = {
		"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"
	};
	unsigned long need = limit_table[LIMIT_NEURONS].initial + 128;
	unsigned long least = ~0UL, n;
	char path[64];
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		snprintf(path, sizeof(path),
		    "/proc/sys/user/max_%s_namespaces", kinds[i]);
		n = strtoul(line_of(path), NULL, 10);
		if (n < least)
			least = n;
	}
	return (say("namespaces", least >= need,
	    "raise the smallest of user.max_*_namespaces",
	    "the smallest of user.max_*_namespaces is %lu, %lu are needed",
	    least, need));
}

static json_t *
pipes(void)
{
	unsigned long soft, need = limit_table[LIMIT_RUNNING_HOST].initial *
	    PIPE_PAGES_CALL;

	soft = strtoul(line_of("/proc/sys/fs/pipe-user-pages-soft"), NULL,
	    10);
	return (say("pipe pages", soft == 0 || soft >= need,
	    "raise fs.pipe-user-pages-soft or lower running-calls-host",
	    "fs.pipe-user-pages-soft is %lu, running-calls-host's default "
	    "needs %lu", soft, need));
}

/* Of a mount that is covered in places the kernel grants no new one. */
static json_t *
proc(void)
{
	char line[4096], point[512];
	unsigned covers = 0;
	FILE *f;

	if ((f = fopen("/proc/self/mountinfo", "re")) == NULL)
		return (say("proc", 0, "mount /proc", "can't be read"));
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "%*s %*s %*s %*s %511s", point) == 1 &&
		    strncmp(point, "/proc/", 6) == 0 &&
		    strcmp(point, "/proc/sys/fs/binfmt_misc") != 0)
			covers++;
	fclose(f);
	return (say("proc", covers == 0,
	    "in a container give Myelin a /proc that nothing covers",
	    covers == 0 ? "nothing covers it" : "%u mounts cover parts of it",
	    covers));
}

static json_t *
apparmor(void)
{
	const char *on = line_of("/sys/module/apparmor/parameters/enabled");
	int restricts;

	if (on[0] != 'Y')
		return (say("apparmor", 1, "", "off"));
	if (apparmor_test(APPARMOR_PROFILE) == -1)
		return (say("apparmor", 0, "apparmor_parser -r "
		    "/etc/apparmor.d/" APPARMOR_PROFILE ", then start Myelin "
		    "again", "on, the profile %s can't be entered: %s",
		    APPARMOR_PROFILE, strerrordesc_np(errno)));
	/* Only of users: whoever is root makes user namespaces all the same. */
	restricts = line_of("/proc/sys/kernel/"
	    "apparmor_restrict_unprivileged_userns")[0] == '1';
	return (say("apparmor", 1, "", "on, the profile %s is loaded%s",
	    APPARMOR_PROFILE, restricts ?
	    ", and keeps users from making user namespaces" : ""));
}

static json_t *
core_pattern(void)
{
	const char *pattern = line_of("/proc/sys/kernel/core_pattern");

	if (pattern[0] == '\0')
		return (say("core pattern", -1, "", "?"));
	return (say("core pattern", 1, "", "%s%s", pattern,
	    pattern[0] != '|' ? "" : " (a program of the host's, which "
	    "RLIMIT_CORE 1 keeps from being started for a neuron)"));
}

static json_t *
setting(const char *name, const char *path, const char *want,
    const char *remedy)
{
	const char *value = line_of(path);

	if (value[0] == '\0')
		return (say(name, -1, "", "%s can't be read", path));
	return (say(name, strcmp(value, want) == 0, remedy, "%s", value));
}

static json_t *
symlinks(void)
{
	return (setting("protected symlinks",
	    "/proc/sys/fs/protected_symlinks", "1",
	    "sysctl fs.protected_symlinks=1"));
}

/* Where it can't be read the kernel is older, and always allows it. */
static json_t *
tiocsti(void)
{
	const char *value = line_of("/proc/sys/dev/tty/legacy_tiocsti");

	return (say("TIOCSTI", value[0] == '0',
	    value[0] == '\0' ? "Linux 6.2 can turn it off; a neuron is "
	    "refused it" : "sysctl dev.tty.legacy_tiocsti=0; a neuron is "
	    "refused it", "%s", value[0] == '0' ? "off" : "on"));
}

static json_t *
systemd(void)
{
	int there = access("/run/systemd/system", F_OK) == 0;

	return (say("systemd", 1, "", "%s", there ? "runs" :
	    "does not run: start myelind(8) by other means"));
}

/* Whom egressd asks, and whom it believes, where a profile has egress. */
static json_t *
name_servers(void)
{
	static const char path[] = "/etc/resolv.conf";
	char line[512], server[64];
	unsigned n = 0;
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		return (say("name servers", 0, "write one to it, then "
		    "systemctl reload myelin", "%s: %s", path,
		    strerror(errno)));
	while (fgets(line, sizeof(line), f) != NULL)
		n += sscanf(line, "nameserver %63s", server) == 1;
	fclose(f);
	/* resolv.conf(5): without one it is this host's own */
	if (n == 0)
		return (say("name servers", 0, "name one in it, then systemctl "
		    "reload myelin, if a profile has egress", "%s names none: "
		    "127.0.0.1 is asked", path));
	return (say("name servers", 1, "", "%u in %s", n, path));
}

static json_t *
authorities(void)
{
	static const char path[] = "/etc/ssl/certs/ca-certificates.crt";
	static const char remedy[] = "install ca-certificates, or see to it "
	    "that root alone may write the file; until then the tool fetch "
	    "has no https";
	struct stat st;

	if (stat(path, &st) == -1)
		return (say("authorities", 0, remedy, "%s: %s", path,
		    strerror(errno)));
	return (say("authorities", st.st_uid == 0 && (st.st_mode & 022) == 0 &&
	    st.st_size > 0, remedy, "%s: uid %u, mode %04o, %lld bytes", path,
	    (unsigned)st.st_uid, (unsigned)st.st_mode & 07777,
	    (long long)st.st_size));
}

/* ---- the service ---- */

static json_t *
socket_file(const char *name, const char *path)
{
	struct group *gr;
	struct stat st;
	char group[64];

	if (stat(path, &st) == -1)
		return (say(name, errno == EACCES ? -1 : 0,
		    "start the service, or name its socket with -s, "
		    "MYELIN_SOCKET or MYELIN_OPERATOR_SOCKET", "%s: %s", path,
		    strerror(errno)));
	if ((gr = getgrgid(st.st_gid)) != NULL)
		snprintf(group, sizeof(group), "%s", gr->gr_name);
	else
		snprintf(group, sizeof(group), "%u", (unsigned)st.st_gid);
	return (say(name, 1, "", "%s: uid %u, group %s, mode %04o; you may "
	    "%s", path, (unsigned)st.st_uid, group,
	    (unsigned)st.st_mode & 07777,
	    access(path, W_OK) == 0 ? "connect" : "not connect"));
}

/* The status line of GET /healthz, 0 if nobody answers. */
static int
health(const char *path)
{
	static const char ask[] = "GET /healthz HTTP/1.1\r\nHost: l\r\n"
	    "Connection: close\r\n\r\n";
	const struct timeval patience = { .tv_sec = HEALTH_SECONDS };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char answer[32] = "";
	int fd, status = 0;

	if (strlen(path) >= sizeof(sun.sun_path))
		return (0);
	memcpy(sun.sun_path, path, strlen(path) + 1);
	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		return (0);
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
	    sizeof(patience)) == 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO,
	    &patience, sizeof(patience)) == 0 &&
	    connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0 &&
	    write(fd, ask, sizeof(ask) - 1) == (ssize_t)sizeof(ask) - 1 &&
	    recv(fd, answer, sizeof(answer) - 1, MSG_WAITALL) > 0 &&
	    sscanf(answer, "HTTP/1.1 %d", &status) != 1)
		status = 0;
	close(fd);
	return (status);
}

static json_t *
service(const char *path)
{
	int status;

	if (access(path, F_OK) == 0 && access(path, W_OK) == -1)
		return (say("service", -1, "", "you may not ask"));
	status = health(path);
	if (status == 200)
		return (say("service", 1, "", "up"));
	if (status == 0)
		return (say("service", 0, "systemctl start myelin",
		    "nobody answers on %s", path));
	return (say("service", 0, "systemctl status myelin, and the log of "
	    "the service", "answers with status %d", status));
}

/* Operators alone are told. */
static json_t *
self_approval(const char *path)
{
	json_t *status = api_quiet(path, "/v1/status", HEALTH_SECONDS * 1000);
	const json_t *self = json_object_get(status, "self_approval");
	json_t *fact;

	if (!json_is_boolean(self))
		fact = say("self-approval", -1, "", "the operator socket "
		    "tells, to operators");
	else if (json_is_true(self))
		fact = say("self-approval", 0, "\"self-approval no\" in "
		    "myelin.conf, and a second account that decides: "
		    "myelinctl(1)", "who asks may allow their own calls");
	else
		fact = say("self-approval", 1, "", "off");
	json_decref(status);
	return (fact);
}

/* Neurons that are ready before somebody asks. */
static json_t *
pool(const char *path)
{
	json_t *status = api_quiet(path, "/v1/status", HEALTH_SECONDS * 1000);
	json_int_t wanted, ready, hits, misses;
	json_t *fact;

	if (json_unpack(status, "{s:{s:I,s:I,s:I,s:I}}", "pool", "wanted",
	    &wanted, "ready", &ready, "hits", &hits, "misses", &misses) == -1)
		fact = say("pool", -1, "", "the operator socket tells, to "
		    "operators");
	else
		fact = say("pool", ready > 0 || wanted == 0, "the log of the "
		    "service says why, unless they were all taken just now: "
		    "pool in myelin.conf(5)", "%lld of %lld neurons are ready; "
		    "%lld requests were met by one, %lld found none",
		    (long long)ready, (long long)wanted, (long long)hits,
		    (long long)misses);
	json_decref(status);
	return (fact);
}

json_t *
host_facts(const struct options *o)
{
	static json_t *(*const rows[])(void) = {
		kernel, cgroups, namespaces, pipes, proc, apparmor,
		core_pattern, symlinks, tiocsti, systemd, name_servers,
		authorities
	};
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		json_array_append_new(list, rows[i]());
	json_array_append_new(list, socket_file("agent socket",
	    api_socket(o, AGENT)));
	json_array_append_new(list, socket_file("operator socket",
	    api_socket(o, OPERATOR)));
	json_array_append_new(list, service(api_socket(o, AGENT)));
	json_array_append_new(list, self_approval(api_socket(o, OPERATOR)));
	json_array_append_new(list, pool(api_socket(o, OPERATOR)));
	return (list);
}
