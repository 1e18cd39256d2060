/*
 * The filter of neuron-tool: what a body can't do, tried in a process that
 * loaded it, and that the program loads it before it does anything else.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "filter.h"
#include "tool.h"
#include "tool_rig.h"
#include "unit.h"

static const struct try {
	const char	*name;
	long		 nr;
	long		 args[4];
	int		 files;		/* errno with a filter for files */
	int		 exec;		/* with one that may exec, 0: any */
} tries[] = {
	{ "socket", SYS_socket, { 1, 1 }, EPERM, EPERM },
	{ "socket, inet", SYS_socket, { 2, 1 }, EPERM, EPERM },
	{ "socketpair", SYS_socketpair, { 1, 1 }, EPERM, EPERM },
	{ "connect", SYS_connect, { 0 }, EPERM, EPERM },
	{ "sendmsg", SYS_sendmsg, { 0 }, EPERM, EPERM },
	{ "io_uring", SYS_io_uring_setup, { 1 }, EPERM, EPERM },
	{ "ptrace", SYS_ptrace, { PTRACE_TRACEME }, EPERM, EPERM },
	{ "clone3", SYS_clone3, { 0 }, ENOSYS, ENOSYS },
	{ "execve", SYS_execve, { 0 }, EPERM, EFAULT },
	{ "execveat", SYS_execveat, { 0, 0, 0, 0 }, EPERM, EFAULT },
	{ "clone", SYS_clone, { SIGCHLD }, EPERM, 0 },
	{ "kill", SYS_kill, { 1, 0 }, EPERM, 0 },
	{ "mount", SYS_mount, { 0 }, ENOSYS, 0 },
	{ "unshare", SYS_unshare, { 0 }, ENOSYS, 0 },
	{ "symlinkat", SYS_symlinkat, { 0 }, ENOSYS, 0 },
	{ "mknodat", SYS_mknodat, { 0 }, ENOSYS, 0 },
	{ "pipe2", SYS_pipe2, { 0 }, ENOSYS, 0 },
	{ "memfd_create", SYS_memfd_create, { 0 }, ENOSYS, 0 },
	{ "personality", SYS_personality, { 0xffffffff }, ENOSYS, 0 },
	{ "mmap", SYS_mmap, { 0, 4096, PROT_READ | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS }, EPERM, 0 },
};
#define NTRIES	(int)(sizeof(tries) / sizeof(tries[0]))

static int
errno_under(unsigned flags, const struct try *try)
{
	int status;
	pid_t pid;

	if ((pid = fork()) == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
		    tool_filter(flags) == -1)
			_exit(200);
		if (syscall(try->nr, try->args[0], try->args[1],
		    try->args[2], try->args[3], -1, 0) != -1)
			_exit(0);
		_exit(errno);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_ne(WEXITSTATUS(status), 200);
	return (WEXITSTATUS(status));
}

START_TEST(refused)
{
	const struct try *try = &tries[_i];
	int error = errno_under(0, try);

	ck_assert_msg(error == try->files, "%s: %d", try->name, error);
	if (try->exec != 0) {
		error = errno_under(BODY_EXEC, try);
		ck_assert_msg(error == try->exec, "%s, with exec: %d",
		    try->name, error);
	}
}
END_TEST

/* Without the filter each of them does something else. */
START_TEST(control)
{
	static const char *const works[] = { "socket", "socketpair", "mmap",
	    "pipe2", "personality", "unshare" };
	size_t i;
	int k, status;
	pid_t pid;

	for (i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		for (k = 0; k < NTRIES; k++) {
			if (strcmp(tries[k].name, works[i]) != 0)
				continue;
			if ((pid = fork()) == 0) {
				if (syscall(tries[k].nr, tries[k].args[0],
				    tries[k].args[1], tries[k].args[2],
				    tries[k].args[3], -1, 0) != -1)
					_exit(0);
				_exit(errno == ENOSYS || errno == EPERM);
			}
			ck_assert_int_eq(waitpid(pid, &status, 0), pid);
			ck_assert_msg(status == 0, "%s", works[i]);
		}
}
END_TEST

START_TEST(a_foreign_abi_kills)
{
#ifdef __x86_64__
	int status;
	pid_t pid;

	if ((pid = fork()) == 0) {
		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (tool_filter(0) == -1)
			_exit(200);
		(void)syscall(0x40000000 | SYS_read, 0, 0, 0);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
#endif
}
END_TEST

/* A body that waits for its input: what the kernel says about it. */
START_TEST(the_program_loads_it)
{
	static const char *const want[] = { "Seccomp:\t2\n",
	    "NoNewPrivs:\t1\n" };
	char path[64], text[8192];
	ssize_t n;
	int in, fd, i;
	pid_t pid;

	pid = rig_start("write", "{\"path\":\"f\"}", &in);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	for (i = 0; i < 5000; i++) {
		ck_assert_int_ne(fd = open(path, O_RDONLY | O_CLOEXEC), -1);
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		ck_assert_int_gt(n, 0);
		text[n] = '\0';
		if (strstr(text, want[0]) != NULL)
			break;
		(void)poll(NULL, 0, 1);
	}
	ck_assert_ptr_nonnull(strstr(text, want[0]));
	ck_assert_ptr_nonnull(strstr(text, want[1]));
	/* Not dumpable: its memory is nobody else's, not even its own user's
	 * (who we are). */
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	ck_assert_int_eq(open(path, O_RDONLY | O_CLOEXEC), -1);
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	ck_assert_int_eq(open(path, O_RDONLY | O_CLOEXEC), -1);
	close(in);
	ck_assert_int_eq(waitpid(pid, &i, 0), pid);
	ck_assert_int_eq(i, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("neuron-tool, its filter");
	TCase *tc = tcase_create("filter");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_loop_test(tc, refused, 0, NTRIES);
	tcase_add_test(tc, control);
	tcase_add_test(tc, a_foreign_abi_kills);
	tcase_add_test(tc, the_program_loads_it);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
