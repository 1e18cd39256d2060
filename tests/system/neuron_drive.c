/*
 * Drives neurond alone: plays supervisord and policyd, makes neurons, runs
 * calls in them and says how they ended.
 *
 *	neuron_drive [-L DIR] [-w DIR -u UID -g GID] [options] -- program args
 *
 * -h NEURON gives them a home that stays in -S STATE: -K asks for one that is
 * there, -D destroys it in the end, -l lists all.  The options are in usage().
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "codec.h"
#include "ids.h"
#include "imsg.h"
#include "layers.h"
#include "proc.h"
#include "runblock.h"
#include "slice.h"

#define OUTPUT_SHOWN	65536

static struct options {
	const char	*build;
	const char	*instance;
	const char	*parent;
	const char	*workspace;
	const char	*cwd;
	const char	*input;
	const char	*env[16];
	uint32_t	 nenv;
	uint32_t	 uid;
	uint32_t	 gid;
	uint32_t	 timeout;
	uint32_t	 start;
	unsigned	 count;
	unsigned	 pause;		/* ms between calls */
	unsigned	 cancel;	/* ms after the start, 0 never */
	int		 stream;
	int		 warm;
	int		 quiet;
	int		 at_once;	/* calls that run together, warm */
	const char	*kill;		/* maker, spawner, neurond */
	const char	*home;		/* id of a neuron whose home stays */
	const char	*state;		/* directory that stays, and its homes */
	int		 kept;		/* the home must be there */
	int		 list;		/* say which homes there are */
	int		 drop;		/* destroy the home, run nothing */
	struct limits	 limits;
	char		**argv;
} opt = {
	.build = ".", .instance = "drive", .timeout = 10000, .count = 1,
	.uid = 1000, .gid = 1000, .start = 1950000000, .at_once = 1
};

static struct state {
	pid_t		 neurond;
	struct channel	*control;
	struct channel	*launch;
	int		 ready;
	int		 dead;
	int		 up;
	int		 gone;
	int		 answered;	/* HOMES_ASK, HOME_DROP */
	unsigned	 gone_cause;
	char		 gone_why[1024];
	uint64_t	 layers;
	uint32_t	 up_us;
	unsigned	 started;
	unsigned	 ended;
	unsigned	 failures;
	pid_t		 helper[2];	/* maker, spawner */
	uint32_t	 restarts[2];
	unsigned	 helper_state[2];
	double		*step[5];	/* queue start run end up */
	unsigned	 steps;
	int		 last_code;
	int		 last_sig;
	unsigned	 last_cause;
} st;

static const char *const causes[] = {
	"?", "exited", "signalled", "timed_out", "oom", "pids",
	"output_limit", "cancelled", "session_ended", "interrupted",
	"exec_failed", "launch_failed", "neuron_lost"
};

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6);
}

static char ends[16384];	/* what is known of ends, not shown yet */

/* ---- what neurond says ---- */

static int
on_number(void *arg, struct imsg *m)
{
	(void)arg;
	(void)imsg_get_u32(m);
	if (imsg_type(m) == MSG_READY)
		st.ready = 1;
	return (imsg_end(m));
}

static int
on_lost(void *arg, struct imsg *m)
{
	(void)arg;
	(void)imsg_get_u32(m);
	(void)imsg_get_u32(m);
	return (imsg_end(m));
}

static int
on_config_bad(void *arg, struct imsg *m)
{
	char file[256], why[1024];
	uint32_t line;

	(void)arg;
	(void)imsg_get_u32(m);
	line = imsg_get_u32(m);
	imsg_get_str(m, file, sizeof(file));
	imsg_get_str(m, why, sizeof(why));
	fprintf(stderr, "CONFIG_BAD %s:%u: %s\n", file, line, why);
	exit(1);
}

static int
on_up(void *arg, struct imsg *m)
{
	char id[ID_SIZE];

	(void)arg;
	st.layers = imsg_get_u64(m);
	(void)imsg_get_u64(m);
	(void)imsg_get_u64(m);
	st.up_us = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	st.up = 1;
	return (imsg_end(m));
}

static int
on_gone(void *arg, struct imsg *m)
{
	char id[ID_SIZE];

	(void)arg;
	st.gone_cause = imsg_get_u8(m);
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, st.gone_why, sizeof(st.gone_why));
	st.gone = 1;
	return (imsg_end(m));
}

static int
on_started(void *arg, struct imsg *m)
{
	char id[ID_SIZE];

	(void)arg;
	imsg_get_str(m, id, sizeof(id));
	st.started++;
	return (imsg_end(m));
}

static void	said(const char *, ...)
    __attribute__((__format__(__printf__, 1, 2)));

static void
said(const char *fmt, ...)
{
	size_t have = strlen(ends);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(ends + have, sizeof(ends) - have, fmt, ap);
	va_end(ap);
}

static void
show_ends(void)
{
	fputs(ends, stdout);
	ends[0] = '\0';
}

static int
on_ended(void *arg, struct imsg *m)
{
	char id[ID_SIZE], detail[1024];
	uint32_t leftovers, q, s, r, e;
	uint64_t cpu, peak;
	unsigned flags;

	(void)arg;
	st.last_cause = imsg_get_u8(m);
	st.last_code = imsg_get_i32(m);
	st.last_sig = imsg_get_i32(m);
	cpu = imsg_get_u64(m);
	peak = imsg_get_u64(m);
	leftovers = imsg_get_u32(m);
	flags = imsg_get_u8(m);
	q = imsg_get_u32(m);
	s = imsg_get_u32(m);
	r = imsg_get_u32(m);
	e = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, detail, sizeof(detail));
	st.ended++;
	if (st.steps < opt.count) {
		st.step[0][st.steps] = q;
		st.step[1][st.steps] = s;
		st.step[2][st.steps] = r;
		st.step[3][st.steps] = e;
		st.step[4][st.steps++] = st.up_us;
	}
	/* Behind what its program wrote, which may not have been read yet. */
	if (!opt.quiet)
		said("ENDED %s code %d sig %d cpu %llu us peak %llu kB "
		    "leftovers %u flags %u queue %u start %u run %u end %u us "
		    "\"%s\"\n", causes[st.last_cause], st.last_code,
		    st.last_sig, (unsigned long long)cpu,
		    (unsigned long long)peak >> 10, leftovers, flags, q, s, r,
		    e, detail);
	return (imsg_end(m));
}

static int
on_helper(void *arg, struct imsg *m)
{
	uint32_t restarts;
	char name[32];
	unsigned status;
	int32_t pid;
	int i;

	(void)arg;
	pid = imsg_get_i32(m);
	restarts = imsg_get_u32(m);
	status = imsg_get_u8(m);
	imsg_get_str(m, name, sizeof(name));
	i = strcmp(name, "spawner") == 0;
	st.helper[i] = pid;
	st.restarts[i] = restarts;
	st.helper_state[i] = status;
	return (imsg_end(m));
}

/* How much is ready is of no interest here. */
static int
on_pool(void *arg, struct imsg *m)
{
	(void)arg;
	(void)imsg_get_u32(m);
	(void)imsg_get_u32(m);
	(void)imsg_get_u64(m);
	(void)imsg_get_u64(m);
	return (imsg_end(m));
}

static int
on_home(void *arg, struct imsg *m)
{
	uint64_t bytes, made;
	char id[ID_SIZE];

	(void)arg;
	bytes = imsg_get_u64(m);
	made = imsg_get_u64(m);
	imsg_get_str(m, id, sizeof(id));
	printf("HOME %s %llu bytes made %llu\n", id,
	    (unsigned long long)bytes, (unsigned long long)made);
	return (imsg_end(m));
}

static int
on_homes_end(void *arg, struct imsg *m)
{
	(void)arg;
	printf("HOMES %u\n", imsg_get_u32(m));
	st.answered = 1;
	return (imsg_end(m));
}

static int
on_dropped(void *arg, struct imsg *m)
{
	char id[ID_SIZE], why[256];
	uint32_t error;

	(void)arg;
	error = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, why, sizeof(why));
	printf("DROPPED %s error %u \"%s\"\n", id, error, why);
	st.answered = 1;
	return (imsg_end(m));
}

static void
on_dead(void *arg, const char *reason)
{
	(void)arg;
	(void)reason;
	st.dead = 1;
}

static const struct channel_handler control_handlers[] = {
	{ MSG_CONFIG_OK, on_number }, { MSG_CONFIG_BAD, on_config_bad },
	{ MSG_READY, on_number }, { MSG_PONG, on_number },
	{ MSG_LOST, on_lost }
};

static const struct channel_handler launch_handlers[] = {
	{ MSG_NEURON_UP, on_up }, { MSG_NEURON_GONE, on_gone },
	{ MSG_STARTED, on_started }, { MSG_ENDED, on_ended },
	{ MSG_HELPER, on_helper }, { MSG_HOME, on_home },
	{ MSG_HOMES_END, on_homes_end }, { MSG_HOME_DROPPED, on_dropped },
	{ MSG_POOL, on_pool }
};

static const struct channel_ops control_ops = {
	control_handlers, 5, on_dead
};
static const struct channel_ops launch_ops = { launch_handlers, 9, on_dead };

/* ---- starting neurond ---- */

static void
pump(int ms)
{
	struct pollfd pfd[2] = {
		{ .fd = channel_fd(st.control), .events = POLLIN },
		{ .fd = channel_fd(st.launch), .events = POLLIN }
	};

	if (poll(pfd, 2, ms) <= 0)
		return;
	if (pfd[0].revents)
		channel_dispatch(st.control, 0);
	if (pfd[1].revents)
		channel_dispatch(st.launch, 0);
}

static char state[PATH_BYTES_MAX] = "/tmp/neuron-drive.XXXXXX";

static void
remove_state(void)
{
	char path[sizeof(state) + 16];

	snprintf(path, sizeof(path), "%s/neurons", state);
	(void)rmdir(path);
	(void)rmdir(state);
}

static void
make_state(void)
{
	char path[sizeof(state) + 16];

	if (opt.state != NULL)
		snprintf(state, sizeof(state), "%s", opt.state);
	else {
		if (mkdtemp(state) == NULL)
			err(1, "%s", state);
		atexit(remove_state);
	}
	snprintf(path, sizeof(path), "%s/neurons", state);
	if (mkdir(path, 0700) == -1 && errno != EEXIST)
		err(1, "%s", path);
}

static struct slice *
make_slice(void)
{
	struct slice *s = slice_new();

	s->instance = strdup(opt.instance);
	make_state();
	s->state = strdup(state);
	s->private = 1;
	s->uids_start = opt.start;
	s->uids_count = 4096;
	s->cgroup_parent = opt.parent == NULL ? NULL : strdup(opt.parent);
	s->limits = opt.limits;
	s->principals = calloc(1, sizeof(*s->principals));
	s->nprincipals = 1;
	s->principals[0].who = WHO_USER;
	s->principals[0].name = strdup("root");
	s->principals[0].where.file = strdup("drive");
	s->principals[0].owner = OWNER_ANY;
	strings_add(&s->principals[0].workspaces, "/*");
	return (s);
}

static void
send_file(const char *name, uint32_t i)
{
	struct imsg *m = imsg_new(MSG_CONFIG_FILE);
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/neurond/%s", opt.build, name);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		err(1, "%s", path);
	imsg_put_u32(m, 1);
	imsg_put_u32(m, i);
	imsg_put_str(m, name);
	imsg_put_fd(m, fd);
	channel_send(st.control, m);
}

static void
configure(void)
{
	struct imsg *m = imsg_new(MSG_START);

	imsg_put_u32(m, PROTOCOL_VERSION);
	imsg_put_u32(m, 0);
	imsg_put_u32(m, 0);
	imsg_put_u32(m, 1024);
	imsg_put_u32(m, getenv("TRACE") != NULL ? PROC_F_TRACE : 0);
	imsg_put_str(m, "");
	imsg_put_str(m, opt.instance);
	channel_send(st.control, m);
	m = imsg_new(MSG_CONFIG);
	imsg_put_u32(m, 1);
	imsg_put_u32(m, 3);
	imsg_put_fd(m, slice_encode(make_slice(), SLICE_STATE |
	    SLICE_NEURONS | SLICE_PROFILES | SLICE_PRINCIPALS));
	channel_send(st.control, m);
	send_file("maker", 0);
	send_file("spawner", 1);
	send_file("neuron-tool", 2);
	m = imsg_new(MSG_COMMIT);
	imsg_put_u32(m, 1);
	channel_send(st.control, m);
}

static void
start_neurond(void)
{
	int control[2], launch[2];
	struct imsg *m;
	char path[4096];
	double t = now();

	if (channel_pair(control) == -1 || channel_pair(launch) == -1)
		err(1, "socketpair");
	snprintf(path, sizeof(path), "%s/neurond/neurond", opt.build);
	if ((st.neurond = fork()) == 0) {
		dup2(control[1], PROC_CONTROL_FD);
		close(PROC_LOG_FD);
		execl(path, "neurond", (char *)NULL);
		err(1, "%s", path);
	}
	close(control[1]);
	st.control = channel_new(control[0], CH_CONTROL, END_A, &control_ops,
	    NULL);
	st.launch = channel_new(launch[0], CH_LAUNCH, END_A, &launch_ops,
	    NULL);
	configure();
	m = imsg_new(MSG_PLUMB);
	imsg_put_u32(m, CH_LAUNCH);
	imsg_put_fd(m, launch[1]);
	channel_send(st.control, m);
	while (!st.ready && !st.dead && now() - t < 15000)
		pump(100);
	if (!st.ready)
		errx(1, "neurond is not ready");
	if (!opt.quiet)
		printf("READY after %.1f ms\n", now() - t);
}

/* ---- neurons and calls ---- */

static void
neuron_make(char id[ID_SIZE])
{
	struct imsg *m = imsg_new(MSG_NEURON_MAKE);

	if (opt.home != NULL)
		snprintf(id, ID_SIZE, "%s", opt.home);
	else
		id_make(ID_NEURON, id);
	st.up = st.gone = 0;
	imsg_put_u32(m, 1);
	imsg_put_u32(m, (opt.home != NULL ? MAKE_F_PERSISTENT : 0) |
	    (opt.kept ? MAKE_F_KEPT : 0));
	imsg_put_u32(m, opt.uid);
	imsg_put_u32(m, opt.gid);
	imsg_put_bytes(m, NULL, 0);
	imsg_put_str(m, id);
	imsg_put_str(m, "default");
	imsg_put_str(m, opt.workspace == NULL ? "" : opt.workspace);
	channel_send(st.launch, m);
}

/* One message of policyd about homes, and what is said of it. */
static void
ask_homes(enum msg_type type)
{
	struct imsg *m = imsg_new(type);
	double t = now();

	if (type == MSG_HOME_DROP)
		imsg_put_str(m, opt.home);
	channel_send(st.launch, m);
	for (st.answered = 0; !st.answered && !st.dead &&
	    now() - t < 10000;)
		pump(10);
}

static void
neuron_drop(const char *id)
{
	struct imsg *m = imsg_new(MSG_NEURON_DROP);

	imsg_put_str(m, id);
	channel_send(st.launch, m);
}

static int
run_block(void)
{
	struct runblock rb = { 0 };
	int fd;

	rb.cwd = strdup(opt.cwd == NULL ? "" : opt.cwd);
	rb.argv = opt.argv;
	while (opt.argv[rb.argc] != NULL)
		rb.argc++;
	rb.env = (char **)(uintptr_t)opt.env;
	rb.envc = opt.nenv;
	fd = runblock_encode(&rb);
	free(rb.cwd);
	return (fd);
}

static int
input_fd(unsigned *kind, int *feed)
{
	int p[2];

	*feed = -1;
	*kind = STDIN_NONE;
	if (opt.input == NULL)
		return (-1);
	if (!opt.stream) {
		*kind = STDIN_INLINE;
		return (memfd_sealed("input", opt.input, strlen(opt.input)));
	}
	*kind = STDIN_STREAM;
	if (pipe2(p, O_CLOEXEC) == -1)
		err(1, "pipe");
	*feed = p[1];
	return (p[0]);
}

struct output {
	int	fd[2];
};

static void
launch(const char *neuron, char call[ID_SIZE], struct output *out)
{
	int p[2][2], in, feed;
	struct imsg *m = imsg_new(MSG_LAUNCH);
	unsigned kind;

	if (pipe2(p[0], O_CLOEXEC) == -1 || pipe2(p[1], O_CLOEXEC) == -1)
		err(1, "pipe");
	in = input_fd(&kind, &feed);
	id_make(ID_CALL, call);
	imsg_put_u32(m, opt.timeout);
	imsg_put_u8(m, (uint8_t)kind);
	imsg_put_str(m, neuron);
	imsg_put_str(m, call);
	imsg_put_str(m, "");
	imsg_put_fd(m, run_block());
	imsg_put_fd(m, p[0][1]);
	imsg_put_fd(m, p[1][1]);
	if (in != -1)
		imsg_put_fd(m, in);
	channel_send(st.launch, m);
	out->fd[0] = p[0][0];
	out->fd[1] = p[1][0];
	if (feed != -1) {
		if (write(feed, opt.input, strlen(opt.input)) == -1)
			warn("write");
		close(feed);
	}
}

static void
do_kill(const char *call)
{
	struct imsg *m;

	if (opt.kill == NULL && opt.cancel == 0)
		return;
	usleep((opt.cancel == 0 ? 300 : opt.cancel) * 1000);
	if (opt.kill == NULL) {
		m = imsg_new(MSG_KILL);
		imsg_put_u8(m, END_CANCELLED);
		imsg_put_str(m, call);
		channel_send(st.launch, m);
	} else if (strcmp(opt.kill, "neurond") == 0)
		kill(st.neurond, SIGKILL);
	else
		kill(st.helper[strcmp(opt.kill, "spawner") == 0], SIGKILL);
}

static void
show_output(struct output *out)
{
	static char buf[OUTPUT_SHOWN];
	ssize_t n;
	int i;

	for (i = 0; i < 2; i++) {
		(void)fcntl(out->fd[i], F_SETFL, O_NONBLOCK);
		while ((n = read(out->fd[i], buf, sizeof(buf))) > 0)
			if (!opt.quiet)
				fwrite(buf, 1, (size_t)n, stdout);
	}
}

/* Shows output until both ends are closed or the call ended. */
static void
follow(struct output *out, unsigned ended, const char *call)
{
	unsigned started = st.started;
	double end = now() + opt.timeout + 5000;
	int killed = 0;

	while (!st.dead && now() < end) {
		show_output(out);
		if (st.ended > ended)
			break;
		pump(1);
		if (!killed && st.started > started) {
			killed = 1;
			fflush(stdout);
			do_kill(call);
		}
	}
	show_output(out);
	show_ends();
	close(out->fd[0]);
	close(out->fd[1]);
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return ((x > y) - (x < y));
}

static void
one_call(const char *neuron)
{
	char call[ID_SIZE];
	struct output out[16];
	unsigned ended = st.ended;
	int i;

	for (i = 0; i < opt.at_once; i++)
		launch(neuron, call, &out[i]);
	for (i = 0; i < opt.at_once; i++)
		follow(&out[i], ended + (unsigned)i, call);
}

static void
show_layers(void)
{
	unsigned i;

	printf("UP in %u us; layers", st.up_us);
	for (i = 0; i < LAYER_COUNT; i++)
		if (st.layers & (UINT64_C(1) << i))
			printf(" %s", layer_name(i));
	printf("\n");
}

static void
show_steps(void)
{
	static const char *const names[] = { "queue", "start", "run", "end",
	    "up" };
	int i;

	printf("median us:");
	for (i = 0; i < 5 && st.steps > 0; i++) {
		qsort(st.step[i], st.steps, sizeof(double), compare);
		printf(" %s %.0f", names[i], st.step[i][st.steps / 2]);
	}
	printf("\n");
}

static void
run_all(void)
{
	double *took = calloc(opt.count, sizeof(double)), t;
	char neuron[ID_SIZE] = "";
	unsigned i;

	for (i = 0; i < 5; i++)
		st.step[i] = calloc(opt.count, sizeof(double));
	for (i = 0; i < opt.count && !st.dead; i++) {
		t = now();
		if (!opt.warm || i == 0)
			neuron_make(neuron);
		one_call(neuron);
		took[i] = now() - t;
		if (i == 0 && st.up && !opt.quiet)
			show_layers();
		if (opt.drop && i == 0)
			ask_homes(MSG_HOME_DROP);	/* it is live */
		if (!opt.warm || i + 1 == opt.count) {
			neuron_drop(neuron);
			t = now();
			while (!st.gone && !st.dead && now() - t < 6000)
				pump(10);
			if (!opt.quiet)
				printf("GONE cause %u after %.1f ms \"%s\"\n",
				    st.gone_cause, now() - t, st.gone_why);
		}
		if (opt.pause > 0)
			usleep(opt.pause * 1000);
	}
	if (opt.count > 1) {
		qsort(took, opt.count, sizeof(double), compare);
		printf("%u calls: median %.3f ms, p10 %.3f, p90 %.3f, "
		    "p99 %.3f\n", opt.count, took[opt.count / 2],
		    took[opt.count / 10], took[opt.count * 9 / 10],
		    took[opt.count * 99 / 100]);
		show_steps();
	}
	free(took);
}

static void
usage(void)
{
	fprintf(stderr, "usage: neuron_drive [-L DIR] [-w DIR -u UID -g GID] "
	    "[-C DIR] [-e N=V] [-i TEXT [-s]] [-t MS] [-c COUNT] [-p MS] "
	    "[-Wq] [-j N] [-m BYTES] [-P PIDS] [-k maker|spawner|neurond] "
	    "[-x MS] [-b UID] [-I INSTANCE] [-G CGROUP] [-S STATE] "
	    "[-h NEURON [-K] [-D]] [-l] [-N INODES] -- program args\n");
	exit(2);
}

static void
options(int argc, char **argv)
{
	int ch;

	limits_init(&opt.limits);
	while ((ch = getopt(argc, argv, "+L:w:u:g:C:e:i:st:c:p:Wqj:m:P:k:x:b:"
	    "I:G:H:S:h:KDlN:")) != -1) {
		switch (ch) {
		case 'L': opt.build = optarg; break;
		case 'w': opt.workspace = optarg; break;
		case 'u': opt.uid = (uint32_t)atoi(optarg); break;
		case 'g': opt.gid = (uint32_t)atoi(optarg); break;
		case 'C': opt.cwd = optarg; break;
		case 'e':
			if (opt.nenv < 16)
				opt.env[opt.nenv++] = optarg;
			break;
		case 'i': opt.input = optarg; break;
		case 's': opt.stream = 1; break;
		case 't': opt.timeout = (uint32_t)atoi(optarg); break;
		case 'c': opt.count = (unsigned)atoi(optarg); break;
		case 'p': opt.pause = (unsigned)atoi(optarg); break;
		case 'W': opt.warm = 1; break;
		case 'q': opt.quiet = 1; break;
		case 'j': opt.at_once = atoi(optarg); break;
		case 'm': opt.limits.v[LIMIT_MEMORY] =
		    strtoull(optarg, NULL, 10); break;
		case 'P': opt.limits.v[LIMIT_PIDS] =
		    strtoull(optarg, NULL, 10); break;
		case 'H': opt.limits.v[LIMIT_HOME] =
		    opt.limits.v[LIMIT_TMP] = strtoull(optarg, NULL, 10);
			break;
		case 'N': opt.limits.v[LIMIT_INODES] =
		    strtoull(optarg, NULL, 10); break;
		case 'S': opt.state = optarg; break;
		case 'h': opt.home = optarg; break;
		case 'K': opt.kept = 1; break;
		case 'D': opt.drop = 1; break;
		case 'l': opt.list = 1; break;
		case 'k': opt.kill = optarg; break;
		case 'x': opt.cancel = (unsigned)atoi(optarg); break;
		case 'b': opt.start = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'I': opt.instance = optarg; break;
		case 'G': opt.parent = optarg; break;
		default: usage();
		}
	}
	if (optind == argc || opt.at_once < 1 || opt.at_once > 16)
		usage();
	opt.argv = argv + optind;
}

int
main(int argc, char **argv)
{
	struct imsg *m;
	double t;
	int status;

	options(argc, argv);
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	start_neurond();
	run_all();
	if (opt.drop)
		ask_homes(MSG_HOME_DROP);
	if (opt.list)
		ask_homes(MSG_HOMES_ASK);
	if (opt.kill != NULL && !st.dead) {
		t = now();
		while (now() - t < 500)
			pump(50);
		printf("maker pid %d restarts %u state %u; spawner pid %d "
		    "restarts %u state %u\n", st.helper[0], st.restarts[0],
		    st.helper_state[0], st.helper[1], st.restarts[1],
		    st.helper_state[1]);
	}
	m = imsg_new(MSG_STOP_PROC);
	channel_send(st.control, m);
	t = now();
	while (waitpid(st.neurond, &status, 0) == -1 && errno == EINTR)
		continue;
	if (!opt.quiet)
		printf("STOPPED in %.1f ms, status %#x\n", now() - t, status);
	return (st.last_cause == END_EXITED ? st.last_code : 1);
}
