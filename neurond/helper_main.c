/*
 * The start of a helper of neurond.
 */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fault.h"
#include "helper_main.h"
#include "log.h"
#include "sanitize.h"

static int
is_socket(int fd)
{
	struct stat st;

	return (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode));
}

struct channel *
helper_start(int argc, char **argv, const char *name, enum channel_kind kind,
    const struct channel_ops *ops)
{
	struct channel *ch;

	(void)argv;
	sanitize_options();
	if (!is_socket(HELPER_CHANNEL_FD) || argc != 1) {
		fprintf(stderr, "%s: started by neurond, not by hand\n", name);
		exit(1);
	}
	log_init(name, is_socket(HELPER_LOG_FD) ? HELPER_LOG_FD : -1, 0);
	(void)prctl(PR_SET_NAME, name, 0, 0, 0);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		fatal("dumpable");
#ifdef WITH_FAULTS
	fault_map(HELPER_FAULT_FD);
	close(HELPER_FAULT_FD);
#endif
	(void)fcntl(HELPER_CHANNEL_FD, F_SETFD, FD_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	/* An end between neurond's fork and this shows as a closed channel. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1)
		fatal("the parent's death signal");
	ch = channel_new(HELPER_CHANNEL_FD, kind, END_B, ops, NULL);
	if (ch == NULL)
		fatal("channel");
	return (ch);
}

void
helper_up(struct channel *ch, unsigned abi, int error, const char *failed)
{
	struct imsg *m = imsg_new(MSG_HELPER_UP);

	imsg_put_u32(m, abi);
	imsg_put_u32(m, (uint32_t)error);
	imsg_put_str(m, failed == NULL ? "" : failed);
	channel_send(ch, m);
	if (failed == NULL)
		return;
	channel_flush_wait(ch, 1000);
	exit(1);
}
