/*
 * The control: the same attempts as root, without the drop.  Each has a
 * process of its own to attack.
 *
 *	control list
 *	control NAME
 */
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attempts.h"

#define VICTIM_US	10000	/* between two looks at the one attacked */
#define VICTIM_TRIES	3000	/* 30 s: it dies, or nothing was done to it */

static int
run(const struct attempt *a)
{
	struct targets t = { .n = 1 };
	char result[128];
	pid_t victim;
	int fd, i;

	if ((victim = fork()) == 0) {
		pause();
		_exit(0);
	}
	t.pid[0] = victim;
	/* Out of the way of SOCKET_FD. */
	t.pidfd = fcntl((int)syscall(SYS_pidfd_open, victim, 0), F_DUPFD, 10);
	if ((fd = socket(AF_UNIX, SOCK_DGRAM, 0)) == -1 || t.pidfd == -1)
		return (2);
	if (fd != SOCKET_FD && dup2(fd, SOCKET_FD) == -1)
		return (2);
	attempt_run(a, &t, NULL, NULL, result, sizeof(result));
	/* A signal that nobody hears of but the one who gets it. */
	for (i = 0; i < VICTIM_TRIES && strcmp(result, "WORKED") != 0; i++) {
		if (waitpid(victim, NULL, WNOHANG) == victim)
			snprintf(result, sizeof(result), "WORKED");
		else
			(void)usleep(VICTIM_US);
	}
	if (waitpid(victim, NULL, WNOHANG) == 0) {
		kill(victim, SIGKILL);
		waitpid(victim, NULL, 0);
	}
	printf("%s\n", result);
	return (0);
}

int
main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 2 && i < nattempts; i++) {
		if (strcmp(argv[1], "list") == 0)
			printf("%s\n", attempts[i].name);
		else if (strcmp(argv[1], attempts[i].name) == 0)
			return (run(&attempts[i]));
	}
	return (argc == 2 && strcmp(argv[1], "list") == 0 ? 0 : 2);
}
