/*
 * Starting a call's program.
 *
 * The child is cloned straight into the call's cgroup leaf, with CLONE_VFORK:
 * when the clone returns, the program runs or the child has said in the shared
 * page why not.  It shares our memory where it can, which saves a copy of its
 * tables and a fault for each page that either of us then writes.  Nothing but
 * this code runs meanwhile, and no memory is allocated; so a hook, whose
 * program is read by the child, has a copy.
 *
 * A program gets a Landlock domain and a filter of its own before it is
 * executed.  A body of neuron-tool gets neither of these two, but the AppArmor
 * profile like all others: it is our own program, from
 * an fd that no path leads to, it needs openat2, and its first act is to lock
 * itself up further than a filter that lets it start could.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apparmor.h"
#include "codec.h"
#include "env.h"
#include "fault.h"
#include "runblock.h"
#include "slice.h"
#include "../native/build.h"
#include "../native/filter.h"
#include "../native/landlock.h"
#include "../sys.h"
#include "hook.h"
#include "pty.h"
#include "run.h"
#include "without.h"

#define PATH_INSIDE							\
	"/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

#define CHILD_STACK	(64 * 1024)

#define BLOCK_FD	3	/* a body's run block; PID 1's channel there */
#define HOOK_FD		3	/* a hook's program */

static volatile struct run_failure *shared;
static uint8_t *stack;		/* the child's, above a page that faults */

/*
 * The rules of every call's domain, where they are kept for all.  A kernel
 * that knows none has /dev/null there: what is above belongs to a call.
 */
static int
prepare_rules(unsigned abi)
{
	int fd, r;

	if (landlock_call_rules(abi, &fd) == -1)
		return (-1);
	if (fd == RULES_FD)
		return (0);
	r = dup3(fd == -1 ? 0 : fd, RULES_FD, O_CLOEXEC);
	if (fd != -1)
		close(fd);
	return (r == -1 ? -1 : 0);
}

int
run_prepare(const struct native *native)
{
	void *page = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t guard = (size_t)sysconf(_SC_PAGESIZE);
	void *room;

	if (page == MAP_FAILED || prepare_rules(native->abi) == -1)
		return (-1);
	shared = page;
	if (!SYS_CLONE_SHARES)
		return (0);
	room = mmap(NULL, guard + CHILD_STACK, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (room == MAP_FAILED || mprotect(room, guard, PROT_NONE) == -1)
		return (-1);
	stack = (uint8_t *)room + guard;
	return (0);
}

/* ---- the environment ---- */

static const char *const pinned[] = {
	"HOME=" AGENT_HOME, "USER=agent", "LOGNAME=agent", "SHELL=/bin/bash",
	"PATH=" PATH_INSIDE, "LANG=C.UTF-8"
};
#define NPINNED	(sizeof(pinned) / sizeof(pinned[0]))

/*
 * Where a proxy listens.  What asks none of these is judged by the names that
 * it sends; Java, Node and most others read one of them.
 */
#define STR(a)		#a
#define XSTR(a)		STR(a)
#define PROXY		"http://" EGRESS_PROXY_ADDRESS ":" XSTR(EGRESS_PROXY_PORT)
#define JAVA(scheme)	"-D" scheme ".proxyHost=" EGRESS_PROXY_ADDRESS	\
	" -D" scheme ".proxyPort=" XSTR(EGRESS_PROXY_PORT)
#define DIRECT		"localhost,127.0.0.1,::1"

static const char *const proxied[] = {
	"http_proxy=" PROXY, "HTTP_PROXY=" PROXY, "https_proxy=" PROXY,
	"HTTPS_PROXY=" PROXY, "all_proxy=" PROXY, "ALL_PROXY=" PROXY,
	"no_proxy=" DIRECT, "NO_PROXY=" DIRECT, "NODE_USE_ENV_PROXY=1",
	"NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt",
	"JAVA_TOOL_OPTIONS=" JAVA("http") " " JAVA("https")
	    " -Dhttp.nonProxyHosts=localhost|127.0.0.1|[::1]"
};
#define NPROXIED (sizeof(proxied) / sizeof(proxied[0]))
#define NOWN	3

/* An entry of the block replaces one of ours of the same name (LANG). */
static int
same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return (strncmp(a, b, n + 1) == 0);
}

static int
entry_allowed(const char *entry)
{
	const char *eq = strchr(entry, '=');

	return (eq != NULL && (WITHOUT(init_environment) ||
	    env_check(entry, (size_t)(eq - entry), eq + 1) == ENV_OK));
}

static size_t
own_entries(const struct run_request *req, char **env, char *text)
{
	size_t n = 0;
	const char *const ids[NOWN][2] = {
		{ "MYELIN_NEURON", req->neuron },
		{ "MYELIN_SESSION", req->session },
		{ "MYELIN_CALL", req->call }
	};
	size_t i;

	for (i = 0; i < NOWN; i++) {
		if (ids[i][1][0] == '\0')
			continue;
		snprintf(text, 64, "%s=%s", ids[i][0], ids[i][1]);
		env[n++] = text;
		text += 64;
	}
	return (n);
}

/* Those that the call doesn't set itself. */
static size_t
add_unset(char **env, const char *const *ours, size_t nours,
    char *const *extra, uint32_t nextra)
{
	size_t n = 0, i, j;

	for (i = 0; i < nours; i++) {
		for (j = 0; j < nextra; j++)
			if (same_name(ours[i], extra[j]))
				break;
		if (j == nextra)
			env[n++] = (char *)(uintptr_t)ours[i];
	}
	return (n);
}

char **
run_environment(const struct run_request *req, char *const *extra,
    uint32_t nextra)
{
	size_t slots = NPINNED + NPROXIED + NOWN + nextra + 1, n, i;
	char **env;

	for (i = 0; i < nextra; i++) {
		if (!entry_allowed(extra[i])) {
			errno = EPERM;
			return (NULL);
		}
	}
	env = malloc(slots * sizeof(*env) + (size_t)NOWN * 64);
	if (env == NULL)
		return (NULL);
	n = own_entries(req, env, (char *)(env + slots));
	if (!WITHOUT(pinned_environment))
		n += add_unset(env + n, pinned, NPINNED, extra, nextra);
	if (req->egress && !WITHOUT(proxy_environment))
		n += add_unset(env + n, proxied, NPROXIED, extra, nextra);
	for (i = 0; i < nextra; i++)
		env[n++] = extra[i];
	env[n] = NULL;
	return (env);
}

/* ---- the child ---- */

static _Noreturn void
fail(enum run_where where, int error)
{
	shared->where = where;
	shared->error = (uint32_t)error;
	_exit(127);
}

static void
stdio(const struct run_request *req, const struct pty *pty)
{
	if (pty->slave != -1) {
		if (pty_enter(pty) == -1)
			fail(RUN_AT_PTY, errno);
		if (close_range(3, ~0U, 0) == -1)
			fail(RUN_AT_STDIO, errno);
		return;
	}
	/* 0 to 2 are PID 1's /dev/null, so what came is above them. */
	if ((req->in != -1 && dup2(req->in, 0) == -1) ||
	    dup2(req->out, 1) == -1 || dup2(req->err, 2) == -1)
		fail(RUN_AT_STDIO, errno);
}

/*
 * A program has these three alone, a body the block as well; a hook has its
 * own bytes there, which an interpreter is to read if it is a script.
 */
static void
close_others(const struct run_request *req, uint32_t flags)
{
	unsigned from = BLOCK_FD;
	int program;

	if (flags & RUNBLOCK_F_BODY) {
		if (dup2(req->block, BLOCK_FD) == -1)
			fail(RUN_AT_STDIO, errno);
		/* TOOL_FD, which is to be executed, is closed by that. */
		from = TOOL_FD + 1;
	} else if (flags & RUNBLOCK_F_HOOK) {
		if ((program = run_hook_program(req->block)) == -1)
			fail(RUN_AT_BLOCK, errno);
		if (dup2(program, HOOK_FD) == -1)
			fail(RUN_AT_STDIO, errno);
		from = HOOK_FD + 1;
	}
	if (close_range(from, ~0U, 0) == -1)
		fail(RUN_AT_STDIO, errno);
}

/* Before RULES_FD is closed with the others. */
static void
enter_domain(const struct native *native)
{
	if (landlock_call_enter(native->abi, RULES_FD) == -1)
		fail(RUN_AT_CONFINE, errno);
}

static void
load_filter(const struct native *native)
{
	if (!WITHOUT(call_filter) &&
	    filter_load(native->call_filter, native->ncall_filter) == -1)
		fail(RUN_AT_CONFINE, errno);
}

/* execvpe(3) by hand: no shell for a file without a format, and the error
 * that tells most: EACCES of a file that is there before ENOENT. */
static void
execute(char *const *argv, char *const *env)
{
	static const char path[] = PATH_INSIDE;
	char file[PATH_BYTES_MAX];
	const char *dir = path;
	size_t len, name = strlen(argv[0]);
	int error = ENOENT;

	if (argv[0][0] == '\0')
		fail(RUN_AT_EXEC, ENOENT);
	/* From here on an end is the program's, unless fail() says else. */
	shared->where = RUN_AT_COUNT;
	if (strchr(argv[0], '/') != NULL) {
		execve(argv[0], argv, env);
		fail(RUN_AT_EXEC, errno);
	}
	for (;;) {
		len = strcspn(dir, ":");
		if (len + name + 2 > sizeof(file))
			fail(RUN_AT_EXEC, ENAMETOOLONG);
		memcpy(file, dir, len);
		file[len] = '/';
		memcpy(file + len + 1, argv[0], name + 1);
		execve(file, argv, env);
		if (errno == EACCES)
			error = EACCES;
		else if (errno != ENOENT && errno != ENOTDIR)
			fail(RUN_AT_EXEC, errno);
		if (dir[len] == '\0')
			break;
		dir += len + 1;
	}
	fail(RUN_AT_EXEC, error);
}

static void
execute_body(const char *body, const char *workspace, char *const *env)
{
	const char *argv[] = {
		"neuron-tool", body, AGENT_HOME, workspace, NULL
	};

	shared->where = RUN_AT_COUNT;
	execveat(TOOL_FD, "", (char **)(uintptr_t)argv, env, AT_EMPTY_PATH);
	fail(RUN_AT_EXEC, errno);
}

static void
execute_hook(char *const *argv, char *const *env)
{
	shared->where = RUN_AT_COUNT;
	execveat(HOOK_FD, "", argv, env, AT_EMPTY_PATH);
	fail(RUN_AT_EXEC, errno);
}

struct child {
	const struct native		*native;
	const struct run_request	*req;
	const struct runblock		*rb;
	char *const			*env;
	const char			*workspace;
	const struct pty		*pty;
};

static void
child(void *arg)
{
	const struct child *c = arg;
	const struct run_request *req = c->req;
	const struct runblock *rb = c->rb;
	const char *home = c->workspace[0] != '\0' ? c->workspace : AGENT_HOME;
	int body = (rb->flags & RUNBLOCK_F_BODY) != 0;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setsid();
	(void)umask(022);
	FAULT("child.start");
	if (!body)
		enter_domain(c->native);
	stdio(req, c->pty);
	close_others(req, rb->flags);
	/* A relative one starts at the default directory. */
	if (chdir(home) == -1 || (rb->cwd[0] != '\0' && chdir(rb->cwd) == -1))
		fail(RUN_AT_CWD, errno);
	if (req->apparmor != NULL && apparmor_exec(req->apparmor) == -1)
		fail(RUN_AT_APPARMOR, errno);
	if (!body)
		load_filter(c->native);
	FAULT("child.confined");
	if (body)
		execute_body(rb->argv[0], c->workspace, c->env);
	else if (rb->flags & RUNBLOCK_F_HOOK)
		execute_hook(rb->argv, c->env);
	else
		execute(rb->argv, c->env);
	_exit(127);
}

/* ---- PID 1 ---- */

static struct runblock *
read_block(int fd, struct run_failure *failure)
{
	struct runblock *rb = NULL;
	const uint8_t *data;
	const char *why;
	size_t size;

	failure->where = RUN_AT_BLOCK;
	failure->error = EPROTO;
	if ((data = memfd_map(fd, RUNBLOCK_BODY_MAX, &size)) == NULL)
		failure->error = (uint32_t)errno;
	else {
		rb = runblock_decode(data, size, &why);
		memfd_unmap(data, size);
		/* The arguments are the body's to read. */
		if (rb != NULL)
			rb->args = NULL;
	}
	return (rb);
}

/* With as few open files as a neuron may have, a terminal needs its place. */
static void
close_block(struct run_request *req, const struct runblock *rb)
{
	if (rb->flags & (RUNBLOCK_F_BODY | RUNBLOCK_F_HOOK))
		return;
	close(req->block);
	req->block = -1;
}

/* The terminal and its relay, if the block asks for one.  0 or -1. */
static int
start_relay(struct run_request *req, const struct runblock *rb,
    struct pty *pty, struct run_failure *failure)
{
	if ((rb->flags & RUNBLOCK_F_PTY) == 0)
		return (0);
	if (pty_make(pty, rb->pty) == 0) {
		req->relay = pty_relay(pty, req->in, req->out, req->leaf);
		if (req->relay != -1) {
			req->orders = pty->orders;
			pty->orders = -1;
			return (0);
		}
	}
	failure->where = RUN_AT_PTY;
	failure->error = (uint32_t)errno;
	req->relay = 0;
	return (-1);
}

void
run_no_relay(struct run_request *req)
{
	if (req->orders != -1)
		close(req->orders);
	req->orders = -1;
	if (req->relay <= 0)
		return;
	(void)kill(req->relay, SIGKILL);
	while (waitpid(req->relay, NULL, 0) == -1 && errno == EINTR)
		continue;
	req->relay = 0;
}

/* The pid of a child that has executed or failed, or -1 with errno. */
static pid_t
start_child(struct child *c)
{
	struct clone_args args = {
		.flags = CLONE_VFORK | CLONE_INTO_CGROUP | CLONE_CLEAR_SIGHAND,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)c->req->leaf
	};
	pid_t pid;

#if SYS_CLONE_SHARES
	if ((c->rb->flags & RUNBLOCK_F_HOOK) == 0) {
		args.flags |= CLONE_VM;
		args.stack = (uint64_t)(uintptr_t)stack;
		args.stack_size = CHILD_STACK;
		return (sys_clone3_shared(&args, child, c));
	}
#endif
	if ((pid = sys_clone3(&args)) == 0)
		child(c);
	return (pid);
}

pid_t
run_start(const struct native *native, struct run_request *req,
    const char *workspace, struct run_failure *failure)
{
	struct pty pty = PTY_NONE;
	struct child c = {
		.native = native, .req = req, .workspace = workspace,
		.pty = &pty
	};
	struct runblock *rb;
	char **env;
	pid_t pid = -1;

	req->relay = 0;
	req->orders = -1;
	if ((rb = read_block(req->block, failure)) == NULL)
		return (-1);
	close_block(req, rb);
	failure->where = RUN_AT_ENV;
	env = run_environment(req, rb->env, rb->envc);
	failure->error = (uint32_t)errno;
	if (env != NULL && start_relay(req, rb, &pty, failure) == 0) {
		shared->where = RUN_AT_DIED;
		shared->error = ECHILD;
		failure->where = RUN_AT_CLONE;
		c.rb = rb;
		c.env = WITHOUT(call_environment) ? environ : env;
		pid = start_child(&c);
		failure->error = (uint32_t)errno;
	}
	free(env);
	runblock_free(rb);
	pty_close(&pty);
	if (pid > 0 && shared->where != RUN_AT_COUNT) {
		failure->where = shared->where;
		failure->error = shared->error;
		while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
			continue;
		pid = -1;
	}
	if (pid == -1)
		run_no_relay(req);
	return (pid);
}
