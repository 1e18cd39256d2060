/*
 * Starting and restarting neurond's helpers.
 */
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <event2/event.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "helper.h"
#include "helper_main.h"
#include "home.h"
#include "launch.h"
#include "log.h"
#include "neuron.h"
#include "place.h"
#include "pool.h"
#include "proc.h"
#include "program.h"
#include "shown.h"
#include "slot.h"
#include "without.h"

#define DELAY_MAX	2000	/* ms before a helper that keeps dying */
#define STABLE		5000	/* ms after which it counts as healthy */

static int	on_helper_up(void *, struct imsg *);
static void	on_dead(void *, const char *);

static struct helper {
	const char	*name;
	enum channel_kind kind;
	const struct channel_ops *ops;
	int		 program;
	pid_t		 pid;		/* 0: not running */
	struct channel	*channel;
	uint32_t	 restarts;
	unsigned	 status;	/* enum proc_status */
	int64_t		 started;
	unsigned	 delay;		/* ms, doubled by each quick death */
	struct event	*again;
} helpers[HELPER_COUNT];

static const struct channel_handler maker_handlers[] = {
	{ MSG_HELPER_UP,	on_helper_up },
	{ MSG_NS_MADE,		slot_on_ns_made },
	{ MSG_LISTENING,	neuron_on_listening },
	{ MSG_TREES_MADE,	shown_on_trees },
	{ MSG_WALKED,		neuron_on_walked },
	{ MSG_PLACED,		place_on_placed },
	{ MSG_CLEARED,		place_on_cleared },
	{ MSG_HOME_OPENED,	home_on_opened },
	{ MSG_HOME_ERASED,	home_on_erased }
};

static const struct channel_handler spawner_handlers[] = {
	{ MSG_HELPER_UP,	on_helper_up },
	{ MSG_BUILT,		neuron_on_built }
};

static const struct channel_ops maker_ops = {
	.handlers = maker_handlers,
	.nhandlers = sizeof(maker_handlers) / sizeof(maker_handlers[0]),
	.dead = on_dead
};

static const struct channel_ops spawner_ops = {
	.handlers = spawner_handlers,
	.nhandlers = sizeof(spawner_handlers) / sizeof(spawner_handlers[0]),
	.dead = on_dead
};

static struct helper helpers[HELPER_COUNT] = {
	[HELPER_MAKER] = { .name = "maker", .kind = CH_MAKER,
	    .ops = &maker_ops, .program = -1 },
	[HELPER_SPAWNER] = { .name = "spawner", .kind = CH_SPAWNER,
	    .ops = &spawner_ops, .program = -1 }
};

static int	tool = -1;	/* neuron-tool, sealed */

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

static void
report(const struct helper *h)
{
	struct imsg *m = imsg_new(MSG_HELPER);

	imsg_put_i32(m, h->pid);
	imsg_put_u32(m, h->restarts);
	imsg_put_u8(m, (uint8_t)h->status);
	imsg_put_str(m, h->name);
	launch_send(m);
}

void
helpers_report(void)
{
	int i;

	for (i = 0; i < HELPER_COUNT; i++)
		report(&helpers[i]);
}

/* In the child: fds 3, 4 and 6 as helper_main.h says, nothing else. */
static _Noreturn void
execute(const struct helper *h, int channel)
{
	char *const argv[] = { (char *)(uintptr_t)h->name, NULL };
	char *const env[] = { NULL };
	sigset_t none;
	struct stat st;
	int program, log = -1, body, sig;

	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* Out of the way of 3 and 4, then into place. */
	channel = fcntl(channel, F_DUPFD_CLOEXEC, 10);
	program = fcntl(h->program, F_DUPFD_CLOEXEC, 10);
	body = fcntl(tool, F_DUPFD_CLOEXEC, 10);
	/* Without a log's socket the number is something of ours. */
	if (fstat(PROC_LOG_FD, &st) == 0 && S_ISSOCK(st.st_mode))
		log = fcntl(PROC_LOG_FD, F_DUPFD_CLOEXEC, 10);
	if (channel == -1 || program == -1 || body == -1 ||
	    dup2(channel, HELPER_CHANNEL_FD) == -1)
		_exit(1);
	if (log == -1)
		close(HELPER_LOG_FD);
	else if (dup2(log, HELPER_LOG_FD) == -1)
		_exit(1);
	if (h == &helpers[HELPER_SPAWNER] && dup2(body, HELPER_TOOL_FD) == -1)
		_exit(1);
#ifdef WITH_FAULTS
	if (dup2(fault_fd(), HELPER_FAULT_FD) == -1)
		_exit(1);
#endif
	execveat(program, "", argv,
	    WITHOUT(helper_environment) ? environ : env, AT_EMPTY_PATH);
	_exit(1);
}

static void
restart_later(struct helper *h)
{
	struct timeval tv;

	if (now_ms() - h->started > STABLE)
		h->delay = 0;
	tv.tv_sec = h->delay / 1000;
	tv.tv_usec = (suseconds_t)(h->delay % 1000) * 1000;
	h->delay = h->delay == 0 ? 50 : h->delay * 2;
	if (h->delay > DELAY_MAX)
		h->delay = DELAY_MAX;
	event_add(h->again, &tv);
}

/* What is short now need not be in a moment: neurons that are up go on. */
static void
start_failed(struct helper *h, const char *what)
{
	log_warn("%s: %s", h->name, what);
	h->status = PROC_ST_DOWN;
	report(h);
	restart_later(h);
}

static void
start(struct helper *h)
{
	int fds[2], saved;
	pid_t pid;

	h->started = now_ms();
	if (channel_pair(fds) == -1) {
		start_failed(h, "channel");
		return;
	}
	if ((pid = fork()) == -1) {
		saved = errno;
		close(fds[0]);
		close(fds[1]);
		errno = saved;
		start_failed(h, "fork");
		return;
	}
	if (pid == 0)
		execute(h, fds[1]);
	close(fds[1]);
	h->pid = pid;
	h->status = PROC_ST_STARTING;
	h->channel = channel_new(fds[0], h->kind, END_A, h->ops, h);
	if (h->channel == NULL || channel_attach(h->channel, proc_base()) == -1)
		fatal("%s: channel", h->name);
	report(h);
}

static void
on_again(evutil_socket_t fd, short what, void *arg)
{
	struct helper *h = arg;

	(void)fd;
	(void)what;
	if (h->pid == 0) {
		h->restarts++;
		start(h);
	}
}

/* Whichever comes first: the channel's end, or SIGCHLD. */
static void
down(struct helper *h)
{
	char fields[64];

	if (h->status == PROC_ST_DOWN)
		return;
	h->status = PROC_ST_DOWN;
	channel_free(h->channel);
	h->channel = NULL;
	snprintf(fields, sizeof(fields), "MYELIN_CHILD=%s\n", h->name);
	log_alarm(LOG_PROCESS_DIED, fields, "%s is gone and is started again",
	    h->name);
	report(h);
	if (h == &helpers[HELPER_MAKER]) {
		slots_maker_down();
		places_maker_down();
		homes_maker_down();
	}
	neurons_helper_down(h == &helpers[HELPER_MAKER] ? HELPER_MAKER :
	    HELPER_SPAWNER);
}

static void
on_dead(void *arg, const char *reason)
{
	struct helper *h = arg;

	(void)reason;
	down(h);
	if (h->pid > 0)
		kill(h->pid, SIGKILL);
}

int
helper_reaped(pid_t pid)
{
	struct helper *h;
	int i;

	for (i = 0; i < HELPER_COUNT; i++) {
		h = &helpers[i];
		if (h->pid != pid)
			continue;
		/* Its last words may explain why it never came up. */
		if (h->channel != NULL)
			channel_dispatch(h->channel, 0);
		down(h);
		h->pid = 0;
		restart_later(h);
		return (1);
	}
	return (0);
}

static int
on_helper_up(void *arg, struct imsg *m)
{
	struct helper *h = arg;
	uint32_t abi, error;
	char step[128];

	abi = imsg_get_u32(m);
	error = imsg_get_u32(m);
	imsg_get_str(m, step, sizeof(step));
	if (imsg_end(m) == -1 || h->status != PROC_ST_STARTING)
		return (-1);
	if (error != 0) {
		errno = (int)error;
		/* Nothing runs weaker: without this there are no neurons. */
		fatal("%s: %s", h->name, step);
	}
	if (h == &helpers[HELPER_SPAWNER])
		log_debug("Landlock ABI %u", abi);
	h->status = PROC_ST_UP;
	report(h);
	slots_poke();
	places_poke();
	neurons_poke();
	pool_poke();
	proc_check_ready();
	return (0);
}

void
helper_tool(int fd)
{
	int sealed;

	if (fd == -1) {
		if (tool == -1)
			fatalx("neuron-tool: no program");
		return;
	}
	if ((sealed = program_memfd(fd, "neuron-tool")) == -1)
		fatal("neuron-tool");
	close(fd);
	if (tool != -1)
		close(tool);
	tool = sealed;
}

void
helper_program(enum helper_which which, int fd)
{
	struct helper *h = &helpers[which];

	if (fd == -1) {
		if (h->program == -1)
			fatalx("%s: no program", h->name);
		return;
	}
	if (h->program != -1)
		close(h->program);
	h->program = fd;
	if (h->again == NULL) {
		h->again = evtimer_new(proc_base(), on_again, h);
		if (h->again == NULL)
			fatalx("%s: timer", h->name);
		start(h);
	}
}

int
helper_is_up(enum helper_which which)
{
	return (helpers[which].status == PROC_ST_UP &&
	    helpers[which].channel != NULL);
}

void
helper_hangs(enum helper_which which)
{
	struct helper *h = &helpers[which];

	if (!helper_is_up(which))
		return;
	log_warnx("%s (pid %d) does not answer: killed", h->name, (int)h->pid);
	kill(h->pid, SIGKILL);
}

int
helpers_up(void)
{
	return (helper_is_up(HELPER_MAKER) && helper_is_up(HELPER_SPAWNER));
}

int
helper_send(enum helper_which which, struct imsg *m)
{
	return (channel_send(helpers[which].channel, m));
}

/* No restart any more; the closed channel ends them. */
void
helpers_stop(void)
{
	int i;

	for (i = 0; i < HELPER_COUNT; i++) {
		if (helpers[i].again != NULL)
			event_del(helpers[i].again);
		helpers[i].status = PROC_ST_DOWN;
		channel_free(helpers[i].channel);
		helpers[i].channel = NULL;
	}
	for (i = 0; i < HELPER_COUNT; i++)
		if (helpers[i].pid > 0) {
			kill(helpers[i].pid, SIGKILL);
			waitpid(helpers[i].pid, NULL, 0);
		}
}
