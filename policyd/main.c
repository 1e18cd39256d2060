/* policyd: who may ask what.  The role, as one table. */

#include <sys/random.h>

#include <stdlib.h>
#include <unistd.h>

#include "api.h"
#include "conf.h"
#include "egress.h"
#include "hook.h"
#include "judge.h"
#include "launch.h"
#include "policyd.h"
#include "seal.h"
#include "secrets.h"
#include "store.h"

static struct slice	*accepted, *current;

/* Ends that came before there was a configuration to serve them by. */
static struct early {
	enum channel_kind kind;
	int		 fd;
} early[5];
static size_t		 nearly;

static void	plumb(enum channel_kind, int);

static int
preload(void)
{
	size_t seed;

	/* Hash tables of names that strangers choose; 0 would mean "later". */
	do {
		if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) {
			log_warn("getrandom");
			return (-1);
		}
	} while (seed == 0);
	json_object_seed(seed);
	processes_supervisor(getppid());
	if (store_preload() == -1 || secrets_preload() == -1)
		return (-1);
	log_set_mask(secrets_mask);
	return (0);
}

static int
config(struct slice *s)
{
	if (conf_check(s) == -1 || hooks_config(s) == -1)
		return (-1);
	accepted = s;
	return (0);
}

static void
commit(void)
{
	struct slice *old = current;

	current = accepted;
	accepted = NULL;
	conf_set(current);
	hooks_commit();
	slice_free(old);
	if (old != NULL) {
		policyd_reloaded();
		return;
	}
	/* A key that can't be used is as good as none: it was said. */
	(void)seal_key(slice_claim(current, "seal"));
	if (policyd_start(proc_base(), "/") == -1)
		fatalx("the state can not be used");
	while (nearly > 0) {
		nearly--;
		plumb(early[nearly].kind, early[nearly].fd);
	}
}

static void
forget(void)
{
	hooks_abort();
	slice_free(accepted);
	accepted = NULL;
}

/* A second end of a kind, before there is a configuration, is a mistake. */
static void
plumb_early(enum channel_kind kind, int fd)
{
	if (nearly == sizeof(early) / sizeof(early[0]))
		fatalx("too many channels before a configuration");
	early[nearly].kind = kind;
	early[nearly++].fd = fd;
}

static void
plumb(enum channel_kind kind, int fd)
{
	if (current == NULL) {
		plumb_early(kind, fd);
		return;
	}
	switch (kind) {
	case CH_AGENT:
		api_plumb(&api_agent, fd, proc_base());
		break;
	case CH_OPERATOR:
		api_plumb(&api_operator, fd, proc_base());
		break;
	case CH_JUDGE:
		judge_plumb(fd, proc_base());
		break;
	case CH_LAUNCH:
		launch_plumb(fd, proc_base());
		break;
	case CH_EGRESS:
		egress_plumb(fd, proc_base());
		break;
	default:
		close(fd);
	}
}

static const struct proc_role role = {
	.name = "policyd",
	.flags = PROC_FILES,
	.channels = CH_AGENT | CH_OPERATOR | CH_JUDGE | CH_LAUNCH | CH_EGRESS,
	.syscalls = policyd_syscalls,
	.preload = preload,
	.config = config,
	.commit = commit,
	.abort = forget,
	.plumb = plumb,
	.procs = processes_set,
	.reload = reload_set,
	.stop = policyd_stop,
};

int
main(int argc, char **argv)
{
	struct proc_role full = role;

	full.nsyscalls = policyd_nsyscalls;
	proc_main(&full, argc, argv);
}
