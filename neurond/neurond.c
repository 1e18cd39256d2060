/*
 * neurond: builds, feeds and kills neurons.  The one process beside
 * supervisord that is root, and the one that hears policyd alone.
 */
#include <sys/capability.h>
#include <sys/wait.h>
#include <event2/event.h>
#include <signal.h>
#include <string.h>

#include "cgroup.h"
#include "checks.h"
#include "fault.h"
#include "helper.h"
#include "home.h"
#include "launch.h"
#include "log.h"
#include "neuron.h"
#include "place.h"
#include "pool.h"
#include "proc.h"
#include "settings.h"
#include "slot.h"

#define SWEEP_TIME	5000	/* ms for what a neurond before us left */
#define STOP_TIME	2000	/* ms for cgroups, then for placeholders */
#define BEFORE_TIME	10	/* s that policyd may count in the one before */

static struct {
	struct slice	*next;		/* accepted, not in force */
	struct cg_base	 base;
	struct event	*child;
	struct event	*forget;
	int		 started;
} self;

static void
on_child(evutil_socket_t fd, short what, void *arg)
{
	int status;
	pid_t pid;

	(void)fd;
	(void)what;
	(void)arg;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (!helper_reaped(pid))
			(void)neuron_reaped(pid);
}

static int
role_config(struct slice *s)
{
	if (settings_check(s, settings()) == -1)
		return (-1);
	if (self.next != NULL)
		slice_free(self.next);
	self.next = s;
	return (0);
}

static void
role_abort(void)
{
	slice_free(self.next);
	self.next = NULL;
}

static void
on_forget(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	settings_forget();
}

/* Whatever is missing is named, and no neuron is made without it. */
static void
first_start(void)
{
	const struct slice *s = settings();
	char why[640];

	if (checks_layers(why, sizeof(why)) == -1 ||
	    checks_host(settings_slots(),
	    (unsigned)s->limits.v[LIMIT_NEURONS], why, sizeof(why)) == -1 ||
	    cg_open(&self.base, s->instance, s->cgroup_parent, why,
	    sizeof(why)) == -1)
		fatalx("%s", why);
	if (cg_sweep(&self.base, SWEEP_TIME) == -1)
		fatalx("neurons of a former neurond are still there");
	if (checks_cgroups(&self.base, why, sizeof(why)) == -1)
		fatalx("%s", why);
	self.forget = evtimer_new(proc_base(), on_forget, NULL);
	if (self.forget == NULL)
		fatalx("timer");
	self.child = evsignal_new(proc_base(), SIGCHLD, on_child, NULL);
	if (self.child == NULL || event_add(self.child, NULL) == -1)
		fatalx("SIGCHLD");
	places_load(s->state);
	homes_load(s->state);
	slots_init(&self.base, settings_slots());
	pool_init();
	self.started = 1;
}

static void
role_commit(void)
{
	static const struct timeval tv = { .tv_sec = BEFORE_TIME };
	struct slice *s = self.next;

	self.next = NULL;
	settings_set(s);
	if (!self.started)
		first_start();
#ifdef WITH_FAULTS
	if (fault_open(s->state) == -1)
		fatal("fault points");
#endif
	event_add(self.forget, &tv);
	helper_tool(slice_claim(s, "neuron-tool"));
	helper_program(HELPER_MAKER, slice_claim(s, "maker"));
	helper_program(HELPER_SPAWNER, slice_claim(s, "spawner"));
	pool_reload();
}

static void
role_plumb(enum channel_kind kind, int fd)
{
	(void)kind;
	launch_plumb(fd);
}

/* With stock, so that the first call is as fast as the next. */
static int
role_ready(void)
{
	return (helpers_up() && slots_ready() > 0);
}

static void
role_stop(void)
{
	if (!self.started)
		return;
	neurons_end_all("the service stops");
	helpers_stop();
	cg_close(&self.base, STOP_TIME);
	places_stop(STOP_TIME);
}

static const int caps[] = {
	CAP_SYS_ADMIN,		/* mounts, namespaces */
	CAP_SETUID, CAP_SETGID,	/* uid and gid maps, the walk's ids */
	CAP_SETPCAP,		/* bounding sets of neurons */
	CAP_CHOWN, CAP_FOWNER,	/* pipes, cgroup.procs */
	CAP_DAC_OVERRIDE,	/* cgroup files, a memfd of apid's */
	CAP_KILL,
	CAP_NET_ADMIN,		/* loopback */
	CAP_NET_BIND_SERVICE,	/* listeners of neurons with egress */
	CAP_SYS_CHROOT,		/* setns of a mount namespace, pivot_root */
	CAP_MKNOD,		/* /dev of the template */
	CAP_SYS_RESOURCE,	/* limits of namespaces, where it is held */
	-1
};

static const struct proc_role role = {
	.name = "neurond",
	.flags = PROC_ROOT | PROC_FILES | PROC_FORK,
	.channels = CH_LAUNCH,
	.caps = caps,
	/* A filter would be inherited by every neuron's PID 1. */
	.syscalls = NULL,
	.config = role_config,
	.commit = role_commit,
	.abort = role_abort,
	.plumb = role_plumb,
	.ready = role_ready,
	.stop = role_stop
};

int
main(int argc, char **argv)
{
	proc_main(&role, argc, argv);
}
