/*
 * How every process but supervisord starts and ends.
 */
#include <event2/event.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "codec.h"
#include "ids.h"
#include "log.h"
#include "proc_internal.h"
#include "slice.h"

#define START_DEADLINE	10000		/* ms for START to come */
#define FILES_MAX	256
#define KINDS		9		/* bits of enum channel_kind */

static struct proc {
	const struct proc_role	*role;
	const char		*name;
	struct event_base	*base;
	struct channel		*control;
	char			 instance[NAME_BYTES_MAX];
	char			 root[PATH_BYTES_MAX];
	uint32_t		 uid;
	uint32_t		 gid;
	uint32_t		 nofile;
	uint32_t		 flags;
	int			 started;
	int			 status;
	/* A configuration on its way in. */
	struct slice		*slice;
	uint32_t		 generation;	/* of the one on its way */
	uint32_t		 expected;	/* files still to come */
	int			 accepted;	/* role has it, no COMMIT yet */
	int			 verbose;	/* it says; -1: it doesn't */
	int			 committed;
	unsigned		 plumbed;
	uint32_t		 ends[KINDS];	/* given so far, of each kind */
	int			 ready;
} proc;

struct event_base *
proc_base(void)
{
	return (proc.base);
}

const char *
proc_instance(void)
{
	return (proc.instance);
}

unsigned
proc_flags(void)
{
	return (proc.flags);
}

uint32_t
proc_nofile(void)
{
	return (proc.nofile);
}

void
proc_exit(int status)
{
	proc.status = status;
	event_base_loopbreak(proc.base);
}

void
proc_channel_lost(enum channel_kind kind)
{
	struct imsg *m;

	/* Before READY nothing is in order yet, and supervisord waits. */
	if (!proc.ready)
		return;
	m = imsg_new(MSG_LOST);
	imsg_put_u32(m, kind);
	imsg_put_u32(m, proc.ends[__builtin_ctz(kind)]);
	channel_send(proc.control, m);
}

void
proc_log_ask(int verbose)
{
	struct imsg *m;

	log_set_verbose(verbose);
	if (proc.control == NULL)
		return;
	m = imsg_new(MSG_LOG_ASK);
	imsg_put_u8(m, verbose != 0);
	channel_send(proc.control, m);
}

void
proc_check_ready(void)
{
	struct imsg *m;

	if (proc.ready || !proc.committed ||
	    (proc.plumbed & proc.role->channels) != proc.role->channels ||
	    (proc.role->ready != NULL && !proc.role->ready()))
		return;
	proc.ready = 1;
	m = imsg_new(MSG_READY);
	imsg_put_u32(m, PROTOCOL_VERSION);
	channel_send(proc.control, m);
}

static void
send_number(enum msg_type type, uint32_t v)
{
	struct imsg *m = imsg_new(type);

	imsg_put_u32(m, v);
	channel_send(proc.control, m);
}

static void
config_bad(uint32_t line, const char *file, const char *why)
{
	struct imsg *m = imsg_new(MSG_CONFIG_BAD);

	imsg_put_u32(m, proc.generation);
	imsg_put_u32(m, line);
	imsg_put_str(m, file);
	imsg_put_str(m, why);
	channel_send(proc.control, m);
}

/* All of the configuration is here: the role decides. */
static void
config_whole(void)
{
	struct slice *s = proc.slice;

	proc.slice = NULL;
	s->generation = proc.generation;
	if (proc.role->config(s) == -1) {
		config_bad(s->bad.line, s->bad.file == NULL ? "" : s->bad.file,
		    s->bad_why == NULL ? "refused" : s->bad_why);
		slice_free(s);
	} else {
		proc.accepted = 1;
		proc.verbose = s->verbose;
		send_number(MSG_CONFIG_OK, proc.generation);
	}
	if (proc.flags & PROC_F_CHECK) {
		channel_flush_wait(proc.control, 1000);
		exit(proc.accepted ? 0 : 1);
	}
}

/* ---- messages on the control channel ---- */

static int
on_start(void *arg, struct imsg *m)
{
	uint32_t version;

	(void)arg;
	version = imsg_get_u32(m);
	proc.uid = imsg_get_u32(m);
	proc.gid = imsg_get_u32(m);
	proc.nofile = imsg_get_u32(m);
	proc.flags = imsg_get_u32(m);
	imsg_get_str(m, proc.root, sizeof(proc.root));
	imsg_get_str(m, proc.instance, sizeof(proc.instance));
	if (imsg_end(m) == -1 || version != PROTOCOL_VERSION)
		return (-1);
	channel_set_state(proc.control, ST_UP);
	proc.started = 1;
	return (0);
}

static int
on_config(void *arg, struct imsg *m)
{
	const uint8_t *data;
	const char *why = "the slice can't be read";
	size_t size;
	int fd;

	(void)arg;
	proc.generation = imsg_get_u32(m);
	proc.expected = imsg_get_u32(m);
	if (imsg_end(m) == -1 || proc.expected > FILES_MAX ||
	    proc.accepted)
		return (-1);
	slice_free(proc.slice);
	proc.slice = NULL;
	fd = imsg_claim_fd(m, 0);
	if ((data = memfd_map(fd, SLICE_MAX, &size)) != NULL) {
		proc.slice = slice_decode(data, size, &why);
		memfd_unmap(data, size);
	}
	close(fd);
	if (proc.slice == NULL) {
		log_warnx("configuration: %s", why);
		config_bad(0, "", why);
		return (0);
	}
	if (proc.expected == 0)
		config_whole();
	return (0);
}

static int
on_config_file(void *arg, struct imsg *m)
{
	char name[NAME_BYTES_MAX * 2];
	uint32_t generation, i;
	struct cf_file *files;

	(void)arg;
	generation = imsg_get_u32(m);
	i = imsg_get_u32(m);
	imsg_get_str(m, name, sizeof(name));
	if (imsg_end(m) == -1)
		return (-1);
	/* Of a slice that was refused already: not wanted, not wrong. */
	if (proc.slice == NULL || generation != proc.generation)
		return (0);
	if (i != proc.slice->nfiles || i >= proc.expected)
		return (-1);
	files = reallocarray(proc.slice->files, i + 1, sizeof(*files));
	if (files == NULL)
		fatal("configuration file");
	proc.slice->files = files;
	if ((files[i].name = strdup(name)) == NULL)
		fatal("configuration file");
	files[i].fd = imsg_claim_fd(m, 0);
	if (++proc.slice->nfiles == proc.expected)
		config_whole();
	return (0);
}

static int
on_commit(void *arg, struct imsg *m)
{
	uint32_t generation = imsg_get_u32(m);
	int again;

	(void)arg;
	if (imsg_end(m) == -1 || !proc.accepted ||
	    generation != proc.generation)
		return (-1);
	again = proc.committed;
	proc.accepted = 0;
	proc.committed = 1;
	if (proc.verbose != -1)
		log_set_verbose(proc.verbose);
	proc.role->commit();
	if (again)
		send_number(MSG_COMMITTED, generation);
	proc_check_ready();
	return (0);
}

static int
on_abort(void *arg, struct imsg *m)
{
	uint32_t generation = imsg_get_u32(m);

	(void)arg;
	(void)generation;
	if (imsg_end(m) == -1)
		return (-1);
	if (proc.accepted)
		proc.role->abort();
	proc.accepted = 0;
	slice_free(proc.slice);
	proc.slice = NULL;
	return (0);
}

static int
on_plumb(void *arg, struct imsg *m)
{
	uint32_t kind = imsg_get_u32(m);

	(void)arg;
	if (imsg_end(m) == -1 || (kind & proc.role->channels) != kind ||
	    __builtin_popcount(kind) != 1)
		return (-1);
	proc.ends[__builtin_ctz(kind)]++;
	proc.role->plumb(kind, imsg_claim_fd(m, 0));
	proc.plumbed |= kind;
	proc_check_ready();
	return (0);
}

static int
on_stop(void *arg, struct imsg *m)
{
	(void)arg;
	if (imsg_end(m) == -1)
		return (-1);
	proc_exit(0);
	return (0);
}

static int
on_ping(void *arg, struct imsg *m)
{
	uint32_t seq = imsg_get_u32(m);

	(void)arg;
	if (imsg_end(m) == -1)
		return (-1);
	send_number(MSG_PONG, seq);
	return (0);
}

static int
on_log_level(void *arg, struct imsg *m)
{
	unsigned level = imsg_get_u8(m);

	(void)arg;
	if (imsg_end(m) == -1 || level > 1)
		return (-1);
	log_set_verbose((int)level);
	return (0);
}

static int
on_procs(void *arg, struct imsg *m)
{
	char name[NAME_BYTES_MAX];
	int32_t pid;
	uint32_t restarts;
	unsigned status;

	(void)arg;
	pid = imsg_get_i32(m);
	restarts = imsg_get_u32(m);
	status = imsg_get_u8(m);
	imsg_get_str(m, name, sizeof(name));
	if (imsg_end(m) == -1 || proc.role->procs == NULL)
		return (-1);
	proc.role->procs(name, pid, restarts, status);
	return (0);
}

static int
on_reload(void *arg, struct imsg *m)
{
	char why[MSG_MAX_SIZE];
	uint32_t generation;
	unsigned result;
	int news;

	(void)arg;
	generation = imsg_get_u32(m);
	result = imsg_get_u8(m);
	news = imsg_get_u8(m);
	imsg_get_str(m, why, sizeof(why));
	if (imsg_end(m) == -1 || result > RELOAD_REFUSED ||
	    proc.role->reload == NULL)
		return (-1);
	proc.role->reload(generation, result, news, why);
	return (0);
}

static void
on_control_dead(void *arg, const char *reason)
{
	(void)arg;
	log_debug("control channel: %s", reason);
	if (proc.base != NULL)
		proc_exit(0);
}

static const struct channel_handler handlers[] = {
	{ MSG_START,		on_start },
	{ MSG_CONFIG,		on_config },
	{ MSG_CONFIG_FILE,	on_config_file },
	{ MSG_COMMIT,		on_commit },
	{ MSG_ABORT,		on_abort },
	{ MSG_PLUMB,		on_plumb },
	{ MSG_STOP_PROC,	on_stop },
	{ MSG_PING,		on_ping },
	{ MSG_LOG_LEVEL,	on_log_level },
	{ MSG_PROCS,		on_procs },
	{ MSG_RELOAD,		on_reload }
};

static const struct channel_ops control_ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0]),
	.dead = on_control_dead
};

/* ---- start ---- */

static int
fd_is_socket(int fd)
{
	struct stat st;

	return (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode));
}

/* 0, 1 and 2 exist, so that nothing opened later becomes one of them. */
static void
hold_stdio(void)
{
	int fd;

	do {
		if ((fd = open("/dev/null", O_RDWR)) == -1)
			fatal("/dev/null");
	} while (fd <= STDERR_FILENO);
	close(fd);
}

static void
wait_for_start(void)
{
	while (!proc.started)
		if (channel_dispatch_wait(proc.control, START_DEADLINE) != 1)
			exit(1);
}

static void
drop(const struct proc_role *role)
{
	struct proc_drop d = {
		.name = role->name,
		.flags = role->flags,
		.root = proc.root,
		.uid = proc.uid,
		.gid = proc.gid,
		.nofile = proc.nofile,
		.caps = role->caps,
		.syscalls = role->syscalls,
		.nsyscalls = role->nsyscalls,
		.keep_fd = PROC_LOG_FD
	};

	if (!(proc.flags & PROC_F_CHECK))
		proc_drop(&d);
	else if (role->syscalls != NULL)
		proc_confine(role->syscalls, role->nsyscalls);
}

_Noreturn void
proc_main(const struct proc_role *role, int argc, char **argv)
{
	proc.role = role;
	proc.name = argc > 0 && argv[0][0] != '\0' ? argv[0] : role->name;
	if (strrchr(proc.name, '/') != NULL)
		proc.name = strrchr(proc.name, '/') + 1;
	if (!fd_is_socket(PROC_CONTROL_FD) || argc != 1) {
		fprintf(stderr, "%s: started by myelind(8), not by hand\n",
		    proc.name);
		exit(1);
	}
	hold_stdio();
	log_init(proc.name, fd_is_socket(PROC_LOG_FD) ? PROC_LOG_FD : -1, 0);
	proc_title(proc.name);
	signal(SIGPIPE, SIG_IGN);
	setenv("TZ", "UTC0", 1);
	tzset();
	(void)fcntl(PROC_CONTROL_FD, F_SETFD, FD_CLOEXEC);
	(void)fcntl(PROC_LOG_FD, F_SETFD, FD_CLOEXEC);
	proc.control = channel_new(PROC_CONTROL_FD, CH_CONTROL, END_B,
	    &control_ops, NULL);
	if (proc.control == NULL)
		fatal("control channel");
	channel_set_state(proc.control, ST_NEW);
	wait_for_start();
	log_set_verbose((proc.flags & PROC_F_VERBOSE) != 0);
	channel_trace((proc.flags & PROC_F_TRACE) != 0);
	if (role->preload != NULL && role->preload() == -1)
		fatalx("what it needs before the drop is missing");
	drop(role);
	if ((proc.base = event_base_new()) == NULL ||
	    channel_attach(proc.control, proc.base) == -1)
		fatalx("event loop");
	event_base_dispatch(proc.base);
	if (role->stop != NULL)
		role->stop();
	exit(proc.status);
}
