/*
 * egressd: the only way out of a neuron.
 *
 * It reads what agents and the network wrote, so it may do nothing else: no
 * files, no programs, no state but what policyd and its configuration say.
 */
#include <stdlib.h>

#include "log.h"
#include "proc.h"
#include "slice.h"

/* Beyond what every process may do (proc_filter.c). */
static const struct proc_syscall syscalls[] = {
	{ "socket",	0, 0xffffffff, 2 /* AF_INET */ },
	{ "socket",	0, 0xffffffff, 10 /* AF_INET6 */ }
};

static struct slice	*current;	/* in force */
static struct slice	*coming;	/* accepted, not yet in force */
static struct channel	*policyd;

static const struct channel_handler handlers[] = {
	{ MSG_NONE, NULL }
};

static int
config(struct slice *slice)
{
	coming = slice;
	return (0);
}

static void
commit(void)
{
	slice_free(current);
	current = coming;
	coming = NULL;
}

static void
forget(void)
{
	slice_free(coming);
	coming = NULL;
}

static void
on_dead(void *arg, const char *reason)
{
	(void)arg;
	log_debug("egress channel: %s", reason);
	channel_free(policyd);
	policyd = NULL;
	proc_channel_lost(CH_EGRESS);
}

static const struct channel_ops ops = {
	.handlers = handlers,
	.nhandlers = 0,
	.dead = on_dead
};

static void
plumb(enum channel_kind kind, int fd)
{
	(void)kind;
	channel_free(policyd);
	policyd = channel_new(fd, CH_EGRESS, END_B, &ops, NULL);
	if (policyd == NULL || channel_attach(policyd, proc_base()) == -1)
		fatalx("egress channel: out of memory");
}

static void
stop(void)
{
	channel_free(policyd);
	policyd = NULL;
	forget();
	slice_free(current);
	current = NULL;
}

static const struct proc_role role = {
	.name = "egressd",
	.channels = CH_EGRESS,
	.syscalls = syscalls,
	.nsyscalls = sizeof(syscalls) / sizeof(syscalls[0]),
	.config = config,
	.commit = commit,
	.abort = forget,
	.plumb = plumb,
	.stop = stop
};

int
main(int argc, char **argv)
{
	proc_main(&role, argc, argv);
}
