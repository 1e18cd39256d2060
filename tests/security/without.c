/*
 * Runs a program on a kernel that seems to lack something.
 *
 *	without WHAT... -- program [argument ...]
 *
 * WHAT is a system call, which fails with ENOSYS from then on; a call with an
 * argument, prctl:0=38 (the first argument is 38) or unshare:0&0x40000000 (it
 * has that bit); or landlock-abi=N, an older version of Landlock's ABI.  All
 * that the program starts inherits it.
 */
#include <sys/socket.h>
#include <errno.h>
#include <poll.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned landlock_abi;

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "without: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* "prctl:0=38", "unshare:0&0x40000000" or "openat2" */
static void
take_away(scmp_filter_ctx ctx, char *what)
{
	struct scmp_arg_cmp cmp = { 0 };
	char *colon, *end;
	unsigned long long value;
	int nr;

	if ((colon = strchr(what, ':')) != NULL)
		*colon++ = '\0';
	errno = EINVAL;
	if ((nr = seccomp_syscall_resolve_name(what)) < 0)
		die(what);
	if (colon != NULL) {
		cmp.arg = (unsigned)strtoul(colon, &end, 10);
		if (*end != '=' && *end != '&')
			die(colon);
		value = strtoull(end + 1, NULL, 0);
		cmp.op = SCMP_CMP_MASKED_EQ;
		cmp.datum_a = *end == '=' ? 0xffffffffULL : value;
		cmp.datum_b = value;
	}
	errno = -seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO(ENOSYS), nr,
	    colon != NULL, &cmp);
	if (errno != 0)
		die(what);
}

/* Answers for the kernel until nobody is left who could ask. */
static _Noreturn void
answer(int from)
{
	union {
		struct cmsghdr	head;
		char		room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = { .msg_control = &control,
	    .msg_controllen = sizeof(control) };
	struct seccomp_notif *req;
	struct seccomp_notif_resp *resp;
	struct pollfd pfd = { .events = POLLIN };

	if (recvmsg(from, &msg, MSG_CMSG_CLOEXEC) == -1 ||
	    CMSG_FIRSTHDR(&msg) == NULL)
		exit(1);
	memcpy(&pfd.fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	close(from);
	if (seccomp_notify_alloc(&req, &resp) != 0)
		exit(1);
	while (poll(&pfd, 1, -1) != -1 && (pfd.revents & POLLIN) != 0) {
		memset(req, 0, sizeof(*req));
		if (seccomp_notify_receive(pfd.fd, req) != 0)
			continue;
		memset(resp, 0, sizeof(*resp));
		resp->id = req->id;
		resp->val = landlock_abi;
		(void)seccomp_notify_respond(pfd.fd, resp);
	}
	exit(0);
}

/* Whoever answers is nobody's child here: the program knows only its own. */
static int
start_answering(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == -1)
		die("socketpair");
	switch (fork()) {
	case -1:
		die("fork");
	case 0:
		close(fds[0]);
		if (fork() == 0) {
			setsid();
			answer(fds[1]);
		}
		_exit(0);
	default:
		close(fds[1]);
		return (fds[0]);
	}
}

static void
hand_over(int to, int fd)
{
	union {
		struct cmsghdr	head;
		char		room[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_level = SOL_SOCKET,
	    .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) } };
	struct msghdr msg = { .msg_control = &control,
	    .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (sendmsg(to, &msg, 0) == -1)
		die("sendmsg");
	close(fd);
	close(to);
}

int
main(int argc, char **argv)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	struct scmp_arg_cmp version = { .arg = 2, .op = SCMP_CMP_EQ,
	    .datum_a = 1 };
	int answerer = -1, i;

	if (ctx == NULL)
		die("seccomp_init");
	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strncmp(argv[i], "landlock-abi=", 13) != 0) {
			take_away(ctx, argv[i]);
			continue;
		}
		landlock_abi = (unsigned)atoi(argv[i] + 13);
		if (seccomp_rule_add_array(ctx, SCMP_ACT_NOTIFY,
		    SCMP_SYS(landlock_create_ruleset), 1, &version) != 0)
			die(argv[i]);
		answerer = start_answering();
	}
	if (i + 1 >= argc) {
		fprintf(stderr, "usage: without WHAT... -- program ...\n");
		return (125);
	}
	/* As root no_new_privs can wait: it may be what is taken away. */
	(void)seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, geteuid() != 0);
	if ((errno = -seccomp_load(ctx)) != 0)
		die("seccomp_load");
	if (answerer != -1)
		hand_over(answerer, seccomp_notify_fd(ctx));
	execvp(argv[i + 1], argv + i + 1);
	die(argv[i + 1]);
}
