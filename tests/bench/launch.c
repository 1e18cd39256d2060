/*
 * Times ways to run one program, interleaved in one run: each round does
 * every way once, so that a noisy machine slows them alike.  Nothing is judged
 * by absolute times.
 *
 *	launch [-j] [-c COLD] [-f PEERS] [-n ROUNDS] [-p PAUSE_US] [-r FILE]
 *	    [-t SECONDS] -s SOCKET -S SESSION... -w WORKSPACE -o UID:GID
 *	    PROGRAM [ARG...]
 *
 * bare		posix_spawn and waitpid
 * warm		a call in a session that lives
 * pooled	POST /v1/calls: a neuron that is ready, used and destroyed
 * cold		the same in the profile COLD, which has none ready: one made
 * cold+ws	the same with a workspace, which none has ahead of time
 * ping, read	with -r: a request that needs apid alone, and a call of read
 * PEERS	other sandboxes: a line each of name, how many rounds between two
 *		of its turns, and the words of the command, between \037
 *
 * -p waits before each; -t counts instead how many run in so many seconds, by
 * as many workers as there are sessions; -j prints a line of JSON for each.
 */
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST	5000	/* rounds */
#define WAYS	24
#define WORDS	128	/* of a command */
#define WARMING	3	/* rounds that don't count */

extern char **environ;

/* The parts of a call's record that say what took how long. */
static const char *const steps[] = { "wait_us", "judge_us", "neuron_us",
    "queue_us", "start_us", "run_us", "end_us", "total_us" };
#define NSTEPS	(sizeof(steps) / sizeof(steps[0]))

static struct way {
	const char	*name;
	char		**argv;		/* of a program, or NULL */
	char		*message;	/* of a request, or NULL */
	long		 every;		/* a turn in so many rounds */
	size_t		 n;
	int		 has_steps;
	uint64_t	 us[MOST];
	uint64_t	 step[NSTEPS][MOST];
} ways[WAYS];

static size_t nways;
static int sock;
static const char *socket_path;
static const char *cold;		/* its profile */

static uint64_t
now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000);
}

/* What is said is nobody's business here, but why something failed is. */
static int
spawn_wait(char **argv)
{
	static posix_spawn_file_actions_t quiet;
	static int ready;
	pid_t pid;
	int status;

	if (!ready) {
		posix_spawn_file_actions_init(&quiet);
		posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null",
		    O_RDONLY, 0);
		posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null",
		    O_WRONLY, 0);
		ready = 1;
	}
	if (posix_spawnp(&pid, argv[0], &quiet, NULL, argv, environ) != 0)
		return (-1);
	if (waitpid(pid, &status, 0) == -1 || status != 0)
		return (-1);
	return (0);
}

static void
connect_api(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", socket_path);
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(sock, (struct sockaddr *)&sun, sizeof(sun)) == -1)
		err(1, "%s", socket_path);
}

static char *
message(const char *method, const char *path, const char *body)
{
	char *text;

	if (asprintf(&text, "%s %s HTTP/1.1\r\nHost: l\r\nContent-Type: "
	    "application/json\r\nContent-Length: %zu\r\n\r\n%s", method, path,
	    strlen(body), body) == -1)
		err(1, NULL);
	return (text);
}

/* A whole answer, or NULL. */
static const char *
answer(void)
{
	static char buf[65536];
	char *end, *p;
	size_t have = 0, need = 0;
	ssize_t n;

	while (need == 0 || have < need) {
		n = read(sock, buf + have, sizeof(buf) - 1 - have);
		if (n <= 0)
			return (NULL);
		have += (size_t)n;
		buf[have] = '\0';
		if (need == 0 && (end = strstr(buf, "\r\n\r\n")) != NULL) {
			if ((p = strcasestr(buf, "content-length:")) == NULL)
				return (NULL);
			need = (size_t)(end + 4 - buf) +
			    strtoul(p + 15, NULL, 10);
		}
	}
	return (buf);
}

/* One request on the kept connection; its answer if it is a good one. */
static const char *
request(const struct way *way)
{
	size_t size = strlen(way->message);
	const char *text;

	if (write(sock, way->message, size) != (ssize_t)size)
		return (NULL);
	if ((text = answer()) == NULL)
		return (NULL);
	if (strncmp(text, "HTTP/1.1 200", 12) == 0 &&
	    (!way->has_steps || strstr(text, "\"exit_code\":0") != NULL))
		return (text);
	fprintf(stderr, "%s\n", text);
	return (NULL);
}

static void
keep_steps(struct way *way, const char *text)
{
	char name[32];
	const char *p;
	size_t i;

	for (i = 0; i < NSTEPS; i++) {
		snprintf(name, sizeof(name), "\"%s\":", steps[i]);
		if ((p = strstr(text, name)) != NULL)
			way->step[i][way->n] = strtoull(p + strlen(name), NULL,
			    10);
	}
}

/* One turn; us is NULL if it doesn't count. */
static void
turn(struct way *way, int counts)
{
	const char *text = NULL;
	uint64_t begin = now_us(), spent;

	if (way->argv != NULL ? spawn_wait(way->argv) == -1 :
	    (text = request(way)) == NULL)
		errx(1, "%s failed", way->name);
	spent = now_us() - begin;
	if (!counts || way->n == MOST)
		return;
	if (way->has_steps)
		keep_steps(way, text);
	way->us[way->n++] = spent;
}

/* ---- the ways ---- */

static struct way *
add(const char *name)
{
	if (nways == WAYS)
		errx(1, "at most %d ways", WAYS);
	ways[nways].name = name;
	ways[nways].every = 1;
	return (&ways[nways++]);
}

static void
add_call(const char *name, const char *session, const char *body)
{
	struct way *way = add(name);
	char path[256];

	if (session == NULL)
		snprintf(path, sizeof(path), "/v1/calls");
	else
		snprintf(path, sizeof(path), "/v1/sessions/%s/calls", session);
	way->message = message("POST", path, body);
	way->has_steps = 1;
}

static void
add_own(char **program, const char *session, const char *workspace,
    const char *uid, const char *gid, const char *file)
{
	static char argv[8192], body[20000];
	size_t used;
	int i;

	used = (size_t)snprintf(argv, sizeof(argv), "{\"tool\":\"exec\","
	    "\"wait_ms\":20000,\"args\":{\"argv\":[");
	for (i = 0; program[i] != NULL && used < sizeof(argv); i++)
		used += (size_t)snprintf(argv + used, sizeof(argv) - used,
		    "%s\"%s\"", i > 0 ? "," : "", program[i]);
	add("bare")->argv = program;
	snprintf(body, sizeof(body), "%s]}}", argv);
	add_call("warm", session, body);
	/* A program in the workspace is out of reach of a plain cold call. */
	if (strncmp(program[0], "/usr/", 5) == 0 ||
	    strncmp(program[0], "/bin/", 5) == 0) {
		add_call("pooled", NULL, body);
		if (cold != NULL) {
			snprintf(body, sizeof(body), "%s]},\"profile\":"
			    "\"%s\"}", argv, cold);
			add_call("cold", NULL, body);
		}
	}
	snprintf(body, sizeof(body), "%s]},\"workspace\":\"%s\",\"owner\":"
	    "{\"uid\":%s,\"gid\":%s}}", argv, workspace, uid, gid);
	add_call("cold+ws", NULL, body);
	if (file != NULL) {
		add("ping")->message = message("GET", "/v1/whoami", "");
		snprintf(body, sizeof(body), "{\"tool\":\"read\",\"wait_ms\":"
		    "20000,\"args\":{\"path\":\"%s\"}}", file);
		add_call("read", session, body);
	}
}

static void
add_peers(const char *path)
{
	char *line = NULL, *rest, *word, **argv;
	size_t size = 0, n;
	struct way *way;
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		err(1, "%s", path);
	while (getline(&line, &size, f) > 0) {
		rest = strdup(line);
		rest[strcspn(rest, "\n")] = '\0';
		way = add(strsep(&rest, "\037"));
		if ((word = strsep(&rest, "\037")) == NULL ||
		    (way->every = strtol(word, NULL, 10)) < 1)
			errx(1, "%s: %s", path, line);
		argv = calloc(WORDS + 1, sizeof(*argv));
		for (n = 0; n < WORDS && rest != NULL; n++)
			argv[n] = strsep(&rest, "\037");
		if (n == 0 || rest != NULL)
			errx(1, "%s: no command, or too long", path);
		way->argv = argv;
	}
	free(line);
	fclose(f);
}

/* ---- what comes out ---- */

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y ? -1 : x > y);
}

static void
print(struct way *way, double bare, int json)
{
	uint64_t *us = way->us;
	size_t i, n = way->n;

	if (!json) {
		printf("%-12s p10 %7llu us  median %7llu us  p99 %7llu us  "
		    "%7.2f x bare\n", way->name,
		    (unsigned long long)us[n / 10],
		    (unsigned long long)us[n / 2],
		    (unsigned long long)us[n * 99 / 100],
		    (double)us[n / 2] / bare);
		return;
	}
	printf("{\"way\": \"%s\", \"n\": %zu, \"p10\": %llu, \"median\": %llu, "
	    "\"p99\": %llu", way->name, n, (unsigned long long)us[n / 10],
	    (unsigned long long)us[n / 2],
	    (unsigned long long)us[n * 99 / 100]);
	for (i = 0; way->has_steps && i < NSTEPS; i++) {
		qsort(way->step[i], n, sizeof(uint64_t), compare);
		printf(", \"%s\": %llu, \"%s_p10\": %llu", steps[i],
		    (unsigned long long)way->step[i][n / 2], steps[i],
		    (unsigned long long)way->step[i][n / 10]);
	}
	printf("}\n");
}

/* ---- how many at once ---- */

static uint64_t
runs(struct way *way, uint64_t until)
{
	uint64_t n = 0;

	do {
		turn(way, 0);
		n++;
	} while (now_us() < until);
	return (n);
}

/* Runs a second, of as many workers as there are sessions. */
static double
throughput(size_t w, size_t workers, char **sessions, char **program,
    const char *file, double seconds)
{
	uint64_t begin, n, all = 0;
	size_t i;
	int pipes[2];

	if (pipe(pipes) == -1)
		err(1, NULL);
	fflush(stdout);
	begin = now_us();
	for (i = 0; i < workers; i++) {
		if (fork() != 0)
			continue;
		if (ways[w].message != NULL) {
			connect_api();
			if (strcmp(ways[w].name, "warm") == 0) {
				nways = 0;
				add_own(program, sessions[i], "", "0", "0",
				    file);
			}
		}
		n = runs(&ways[w], begin + (uint64_t)(seconds * 1e6));
		_exit(write(pipes[1], &n, sizeof(n)) != sizeof(n));
	}
	close(pipes[1]);
	for (i = 0; i < workers; i++) {
		if (read(pipes[0], &n, sizeof(n)) != sizeof(n))
			errx(1, "%s failed", ways[w].name);
		all += n;
	}
	close(pipes[0]);
	begin = now_us() - begin;
	while (wait(NULL) > 0)
		;
	return ((double)all * 1e6 / (double)begin);
}

int
main(int argc, char **argv)
{
	const char *workspace = NULL, *owner = NULL, *peers = NULL;
	const char *file = NULL;
	char *sessions[16], *uid, *gid;
	size_t w, nsessions = 0;
	long rounds = 300, i;
	double seconds = 0;
	useconds_t pause = 0;
	int ch, json = 0;

	while ((ch = getopt(argc, argv, "+c:f:jn:o:p:r:S:s:t:w:")) != -1)
		switch (ch) {
		case 'c':	cold = optarg; break;
		case 'f':	peers = optarg; break;
		case 'j':	json = 1; break;
		case 'n':	rounds = strtol(optarg, NULL, 10); break;
		case 'o':	owner = optarg; break;
		case 'p':	pause = (useconds_t)strtoul(optarg, NULL, 10);
				break;
		case 'r':	file = optarg; break;
		case 'S':	if (nsessions < 16)
					sessions[nsessions++] = optarg;
				break;
		case 's':	socket_path = optarg; break;
		case 't':	seconds = strtod(optarg, NULL); break;
		case 'w':	workspace = optarg; break;
		default:	errx(1, "usage: see the head of launch.c");
		}
	if (optind == argc || nsessions == 0 || socket_path == NULL ||
	    workspace == NULL || owner == NULL || rounds < 1 || rounds > MOST)
		errx(1, "usage: see the head of launch.c; at most %d rounds",
		    MOST);
	gid = strdup(owner);
	uid = strsep(&gid, ":");
	connect_api();
	add_own(argv + optind, sessions[0], workspace, uid,
	    gid == NULL ? uid : gid, file);
	if (peers != NULL)
		add_peers(peers);
	for (w = 0; seconds > 0 && w < nways; w++)
		printf("{\"way\": \"%s\", \"workers\": %zu, \"per_second\": "
		    "%.1f}\n", ways[w].name, nsessions, throughput(w,
		    nsessions, sessions, argv + optind, file, seconds));
	for (i = -WARMING; seconds == 0 && i < rounds; i++)
		for (w = 0; w < nways; w++) {
			if (i >= 0 && i % ways[w].every != 0)
				continue;
			if (pause > 0)
				usleep(pause);
			turn(&ways[w], i >= 0);
		}
	for (w = 0; w < nways; w++)
		qsort(ways[w].us, ways[w].n, sizeof(uint64_t), compare);
	for (w = 0; seconds == 0 && w < nways; w++)
		print(&ways[w], (double)ways[0].us[ways[0].n / 2], json);
	return (0);
}
