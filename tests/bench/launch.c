/*
 * Times ways to run one program, interleaved in one run: each round does
 * every way once, so that a noisy machine slows them alike.  Prints medians
 * and the ratio to a bare posix_spawn; nothing is judged by absolute times.
 *
 *	launch SOCKET SESSION WORKSPACE UID GID ROUNDS PAUSE_US PROGRAM [ARG...]
 *
 * bare		posix_spawn and waitpid
 * cold		POST /v1/calls: a neuron made, used and destroyed
 * cold+ws	the same with a workspace
 * warm		a call in a session that lives
 * bwrap	bubblewrap with comparable namespaces, if it is installed
 */
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <err.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST	5000

extern char **environ;

static int sock;
static char argv_json[8192];
static const char *session, *workspace, *uid, *gid;
static char **program;

static uint64_t
now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000);
}

static int
spawn_wait(char **argv)
{
	pid_t pid;
	int status;

	if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0)
		return (-1);
	if (waitpid(pid, &status, 0) == -1 || status != 0)
		return (-1);
	return (0);
}

static int
run_bare(void)
{
	return (spawn_wait(program));
}

/* NULL stands for the workspace. */
static const char *const bwrap[] = { "/usr/bin/bwrap", "--unshare-all",
    "--unshare-user", "--uid", "65534", "--gid", "65534", "--ro-bind", "/usr",
    "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
    "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev",
    "--tmpfs", "/tmp", "--bind", NULL, NULL, "--chdir", NULL, "--cap-drop",
    "ALL", "--die-with-parent", "--new-session", "--clearenv", "--setenv",
    "PATH", "/usr/bin:/bin" };
#define NBWRAP	(sizeof(bwrap) / sizeof(bwrap[0]))

static int
run_bwrap(void)
{
	static char *argv[NBWRAP + 16];
	size_t i;

	if (argv[0] == NULL) {
		for (i = 0; i < NBWRAP; i++)
			argv[i] = strdup(bwrap[i] == NULL ? workspace :
			    bwrap[i]);
		for (i = 0; i < 15 && program[i] != NULL; i++)
			argv[NBWRAP + i] = program[i];
	}
	return (spawn_wait(argv));
}

/* One request on the kept connection; 0 if the call completed with 0. */
static int
request(const char *path, const char *body)
{
	static char buf[65536];
	char *end, *p;
	size_t have = 0, need = 0;
	ssize_t n;
	int len;

	len = snprintf(buf, sizeof(buf), "POST %s HTTP/1.1\r\nHost: l\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	    path, strlen(body), body);
	if (write(sock, buf, (size_t)len) != len)
		return (-1);
	for (;;) {
		n = read(sock, buf + have, sizeof(buf) - 1 - have);
		if (n <= 0)
			return (-1);
		have += (size_t)n;
		buf[have] = '\0';
		if (need == 0 && (end = strstr(buf, "\r\n\r\n")) != NULL) {
			if ((p = strcasestr(buf, "content-length:")) == NULL)
				return (-1);
			need = (size_t)(end + 4 - buf) +
			    strtoul(p + 15, NULL, 10);
		}
		if (need != 0 && have >= need)
			break;
	}
	if (strstr(buf, "\"exit_code\":0") != NULL)
		return (0);
	fprintf(stderr, "%s\n", buf);
	return (-1);
}

static int
run_cold(void)
{
	char body[10000];

	snprintf(body, sizeof(body), "{\"tool\":\"exec\",\"args\":{\"argv\":%s},"
	    "\"wait_ms\":20000}", argv_json);
	return (request("/v1/calls", body));
}

static int
run_cold_ws(void)
{
	char body[16000];

	snprintf(body, sizeof(body), "{\"tool\":\"exec\",\"args\":{\"argv\":%s},"
	    "\"wait_ms\":20000,\"workspace\":\"%s\",\"owner\":{\"uid\":%s,"
	    "\"gid\":%s}}", argv_json, workspace, uid, gid);
	return (request("/v1/calls", body));
}

static int
run_warm(void)
{
	char body[10000], path[256];

	snprintf(path, sizeof(path), "/v1/sessions/%s/calls", session);
	snprintf(body, sizeof(body), "{\"tool\":\"exec\",\"args\":{\"argv\":%s},"
	    "\"wait_ms\":20000}", argv_json);
	return (request(path, body));
}

static struct way {
	const char	*name;
	int		(*run)(void);
	int		 off;
	uint64_t	 us[MOST];
} ways[] = {
	{ "bare",	run_bare,	0, { 0 } },
	{ "warm",	run_warm,	0, { 0 } },
	{ "cold",	run_cold,	0, { 0 } },
	{ "cold+ws",	run_cold_ws,	0, { 0 } },
	{ "bwrap",	run_bwrap,	0, { 0 } }
};
#define NWAYS	(sizeof(ways) / sizeof(ways[0]))

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y ? -1 : x > y);
}

int
main(int argc, char **argv)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	uint64_t begin, bare = 0;
	size_t w, used = 0;
	long rounds, pause, i;

	if (argc < 9)
		errx(1, "usage: see the head of launch.c");
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", argv[1]);
	session = argv[2];
	workspace = argv[3];
	uid = argv[4];
	gid = argv[5];
	rounds = strtol(argv[6], NULL, 10);
	pause = strtol(argv[7], NULL, 10);
	program = argv + 8;
	if (rounds < 1 || rounds > MOST)
		errx(1, "1 to %d rounds", MOST);
	used = (size_t)snprintf(argv_json, sizeof(argv_json), "[");
	for (i = 0; program[i] != NULL && used < sizeof(argv_json); i++)
		used += (size_t)snprintf(argv_json + used,
		    sizeof(argv_json) - used, "%s\"%s\"", i > 0 ? "," : "",
		    program[i]);
	snprintf(argv_json + used, sizeof(argv_json) - used, "]");
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(sock, (struct sockaddr *)&sun, sizeof(sun)) == -1)
		err(1, "%s", argv[1]);
	/* A program in the workspace is out of reach of a plain cold call. */
	if (strncmp(program[0], "/usr/", 5) != 0 &&
	    strncmp(program[0], "/bin/", 5) != 0)
		ways[2].off = 1;
	if (access("/usr/bin/bwrap", X_OK) == -1)
		ways[4].off = 1;
	for (i = -3; i < rounds; i++)
		for (w = 0; w < NWAYS; w++) {
			if (ways[w].off)
				continue;
			if (pause > 0)
				usleep((useconds_t)pause);
			begin = now_us();
			if (ways[w].run() == -1)
				errx(1, "%s failed", ways[w].name);
			if (i >= 0)
				ways[w].us[i] = now_us() - begin;
		}
	for (w = 0; w < NWAYS; w++) {
		if (ways[w].off)
			continue;
		qsort(ways[w].us, (size_t)rounds, sizeof(uint64_t), compare);
		if (w == 0)
			bare = ways[w].us[rounds / 2];
		printf("%-8s  p10 %7llu us  median %7llu us  p99 %7llu us  "
		    "%6.2f x bare\n", ways[w].name,
		    (unsigned long long)ways[w].us[rounds / 10],
		    (unsigned long long)ways[w].us[rounds / 2],
		    (unsigned long long)ways[w].us[rounds * 99 / 100],
		    (double)ways[w].us[rounds / 2] / (double)bare);
	}
	if (!ways[4].off)
		printf("bwrap / %s  %.2f\n", ways[2].off ? "cold+ws" : "cold",
		    (double)ways[4].us[rounds / 2] /
		    (double)ways[ways[2].off ? 3 : 2].us[rounds / 2]);
	return (0);
}
