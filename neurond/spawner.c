/*
 * The spawner: lives in the template mount namespace and clones itself for
 * each neuron.  Small, without secrets and without any neuron's data, as
 * every PID 1 starts as a copy of it.
 */
#include <sys/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "apparmor.h"
#include "fault.h"
#include "helper_main.h"
#include "imsg.h"
#include "log.h"
#include "native/build.h"
#include "native/filter.h"
#include "native/landlock.h"
#include "native/template.h"
#include "program.h"
#include "slice.h"
#include "sys.h"
#include "without.h"

#define NEW_NS	(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |		\
	CLONE_NEWUTS | CLONE_NEWCGROUP)

static struct sock_filter filter[2][FILTER_MAX];
static struct sock_filter call_filter[16];
static struct native native = {
	.filter = { filter[0], filter[1] },
	.call_filter = call_filter,
	.tool = HELPER_TOOL_FD
};
static struct channel *channel;

static void
built(const struct build_request *req, pid_t pid, int pidfd, int error)
{
	struct imsg *m = imsg_new(MSG_BUILT);

	imsg_put_u32(m, req->slot);
	imsg_put_u32(m, req->generation);
	imsg_put_i32(m, pid);
	imsg_put_u32(m, (uint32_t)error);
	if (pidfd != -1)
		imsg_put_fd(m, pidfd);
	channel_send(channel, m);
}

/*
 * The parent of the clone is neurond: it reaps it, and outlives us for it.
 * The user namespace is joined by the clone itself, last.
 */
static void
spawn(struct build_request *req)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_PARENT | CLONE_CLEAR_SIGHAND |
		    CLONE_INTO_CGROUP | (NEW_NS &
		    ~(WITHOUT(pid_ns) ? (uint64_t)CLONE_NEWPID : 0) &
		    ~(WITHOUT(ipc_ns) ? (uint64_t)CLONE_NEWIPC : 0) &
		    ~(WITHOUT(uts_ns) ? (uint64_t)CLONE_NEWUTS : 0) &
		    ~(WITHOUT(cgroup_ns) ? (uint64_t)CLONE_NEWCGROUP : 0)),
		.pidfd = (uint64_t)(uintptr_t)&pidfd,
		.cgroup = (uint64_t)req->cgroup
	};
	pid_t pid;
	int error;

	FAULT("spawner.asked");
	pid = sys_clone3(&args);
	if (pid == 0)
		build_child(&native, req);
	error = pid == -1 ? errno : 0;
	FAULT("spawner.cloned");
	/* The kernel may have written a number before it gave up. */
	built(req, pid, pid == -1 ? -1 : pidfd, error);
	FAULT("spawner.answered");
}

/* Cuts the paths at their newlines; 0 if there are as many as mounts. */
static int
cut_paths(struct build_request *req, char *paths)
{
	char *end;
	int n = 0;

	for (; (end = strchr(paths, '\n')) != NULL; paths = end + 1) {
		*end = '\0';
		if (n == req->nmounts || paths[0] != '/')
			return (-1);
		req->mount_at[n++] = paths;
	}
	return (*paths == '\0' && n == req->nmounts ? 0 : -1);
}

static int
get_request(struct imsg *m, struct build_request *req)
{
	static char paths[BUILD_MOUNTS_MAX * TREE_PATH_MAX];
	uint32_t flags;

	memset(req, 0, sizeof(*req));
	req->slot = imsg_get_u32(m);
	req->generation = imsg_get_u32(m);
	req->kuid = imsg_get_u32(m);
	req->home_bytes = imsg_get_u64(m);
	req->tmp_bytes = imsg_get_u64(m);
	req->inodes = imsg_get_u64(m);
	req->nofile = imsg_get_u32(m);
	req->flags = flags = imsg_get_u32(m);
	req->pty = (flags & BUILD_F_NO_PTY) == 0;
	req->egress = (flags & BUILD_F_EGRESS) != 0;
	req->read_only = (flags & BUILD_F_READ_ONLY) != 0;
	req->strict = (flags & BUILD_F_STRICT) != 0;
	req->overlay = (flags & BUILD_F_OVERLAY) != 0;
	req->ntasks = imsg_get_u8(m);
	req->nmounts = imsg_get_u8(m);
	imsg_get_str(m, req->workspace, sizeof(req->workspace));
	imsg_get_str(m, paths, sizeof(paths));
	if (imsg_end(m) == -1 || req->ntasks > TASKS_MAX ||
	    req->nmounts > BUILD_MOUNTS_MAX || cut_paths(req, paths) == -1 ||
	    (flags & ~(uint32_t)(BUILD_F_NO_PTY | BUILD_F_EGRESS |
	    BUILD_F_STRICT | BUILD_F_HOME | BUILD_F_ROOT |
	    BUILD_F_READ_ONLY | BUILD_F_OVERLAY)) != 0)
		return (-1);
	return (imsg_fds(m) == 4U + (unsigned)req->ntasks +
	    (unsigned)req->nmounts + (req->workspace[0] != '\0') +
	    ((flags & BUILD_F_HOME) != 0) + ((flags & BUILD_F_ROOT) != 0) ? 0 : -1);
}

static void
close_fds(const struct build_request *req)
{
	int i;

	close(req->control);
	close(req->user_ns);
	close(req->net_ns);
	close(req->cgroup);
	for (i = 0; i < req->ntasks; i++)
		close(req->tasks[i]);
	if (req->tree != -1)
		close(req->tree);
	if (req->home != -1)
		close(req->home);
	if (req->root != -1)
		close(req->root);
	for (i = 0; i < req->nmounts; i++)
		close(req->mounts[i]);
}

static int
on_build(void *arg, struct imsg *m)
{
	static struct build_request req;
	unsigned n = 0;
	int i;

	(void)arg;
	if (get_request(m, &req) == -1)
		return (-1);
	req.control = imsg_claim_fd(m, n++);
	req.user_ns = imsg_claim_fd(m, n++);
	req.net_ns = imsg_claim_fd(m, n++);
	req.cgroup = imsg_claim_fd(m, n++);
	for (i = 0; i < req.ntasks; i++)
		req.tasks[i] = imsg_claim_fd(m, n++);
	req.tree = req.workspace[0] != '\0' ? imsg_claim_fd(m, n++) : -1;
	req.home = req.flags & BUILD_F_HOME ? imsg_claim_fd(m, n++) : -1;
	req.root = req.flags & BUILD_F_ROOT ? imsg_claim_fd(m, n++) : -1;
	for (i = 0; i < req.nmounts; i++)
		req.mounts[i] = imsg_claim_fd(m, n++);
	spawn(&req);
	close_fds(&req);
	return (0);
}

static const struct channel_handler handlers[] = {
	{ MSG_BUILD, on_build }
};

static const struct channel_ops ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0])
};

static const char *
prepare(void)
{
	const char *step = "";

	if (program_check(native.tool) == -1 ||
	    fcntl(native.tool, F_SETFD, FD_CLOEXEC) == -1)
		return ("neuron-tool");
	/* Asked here: the template has no /proc. */
	native.apparmor = apparmor_on() && apparmor_test(APPARMOR_PROFILE) == 0 &&
	    !WITHOUT(apparmor);
	errno = 0;
	native.abi = landlock_abi();
	if (native.abi == 0)
		return ("Landlock");
	native.nfilter[0] = filter_build(filter[0], FILTER_MAX, 0);
	native.nfilter[1] = filter_build(filter[1], FILTER_MAX, 1);
	native.ncall_filter = filter_build_call(call_filter, 16);
	if (native.nfilter[0] == 0 || native.nfilter[1] == 0 ||
	    native.ncall_filter == 0)
		return ("compiling the system call filter");
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == -1)
		return ("seccomp");
	if (template_build(&native.plan, &step) == -1)
		return (step);
	return (NULL);
}

int
main(int argc, char **argv)
{
	const char *failed;
	int error;

	channel = helper_start(argc, argv, "spawner", CH_SPAWNER, &ops);
	FAULT("spawner.start");
	errno = 0;
	failed = prepare();
	error = failed == NULL ? 0 : errno != 0 ? errno : EOPNOTSUPP;
	FAULT("spawner.prepared");
	helper_up(channel, native.abi, error, failed);
	while (channel_dispatch_wait(channel, -1) != -1)
		(void)channel_flush_wait(channel, -1);
	return (0);
}
