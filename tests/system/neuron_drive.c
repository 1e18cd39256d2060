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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "codec.h"
#include "ids.h"
#include "imsg.h"
#include "layers.h"
#include "neuron_drive.h"
#include "proc.h"
#include "runblock.h"
#include "slice.h"

#define OUTPUT_SHOWN	65536

struct options opt = {
	.build = ".", .instance = "drive", .timeout = 10000, .count = 1,
	.uid = 1000, .gid = 1000, .start = 1950000000, .at_once = 1
};

struct state st;

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6);
}

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
