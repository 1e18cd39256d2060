/*
 * The terminal of a call and its relay, as PID 1 uses them, on the host.
 */
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "init/pty.h"
#include "protocol.h"
#include "unit.h"

static struct {
	struct pty	 pty;
	int		 leaf;
	int		 in;		/* to the relay */
	int		 out;		/* from it */
	pid_t		 relay;
	pid_t		 leader;
	char		 text[256 * 1024];
	size_t		 have;
} t;

/* The cgroup that this runs in stands for a call's leaf. */
static int
own_cgroup(void)
{
	char line[4096], mount[1024] = "", path[1024] = "/", full[2100];
	FILE *f;

	if ((f = fopen("/proc/self/mountinfo", "re")) == NULL)
		return (-1);
	while (fgets(line, sizeof(line), f) != NULL)
		if (strstr(line, " - cgroup2 ") != NULL)
			(void)sscanf(line, "%*s %*s %*s %*s %1023s", mount);
	fclose(f);
	if ((f = fopen("/proc/self/cgroup", "re")) == NULL)
		return (-1);
	while (fgets(line, sizeof(line), f) != NULL)
		(void)sscanf(line, "0::%1023s", path);
	fclose(f);
	snprintf(full, sizeof(full), "%s%s", mount, path);
	return (open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static void
start(const char *script)
{
	int in[2], out[2];

	memset(&t, 0, sizeof(t));
	t.pty = (struct pty)PTY_NONE;
	ck_assert_int_ne(t.leaf = own_cgroup(), -1);
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	ck_assert_int_eq(pty_make(&t.pty, PTY_SIZE(24, 80)), 0);
	t.in = in[1];
	t.out = out[0];
	t.relay = pty_relay(&t.pty, in[0], out[1], t.leaf);
	ck_assert_msg(t.relay > 0, "%s", strerror(errno));
	close(in[0]);
	close(out[1]);
	ck_assert_int_ne(t.leader = fork(), -1);
	if (t.leader == 0) {
		setsid();
		if (pty_enter(&t.pty) == -1 || close_range(3, ~0U, 0) == -1)
			_exit(126);
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	close(t.pty.master);
	close(t.pty.slave);
	close(t.pty.said);
	t.pty.master = t.pty.slave = t.pty.said = -1;
}

/* Reads until the words came, or, with none, to the end. */
static void
see(const char *words)
{
	struct pollfd pfd = { .fd = t.out, .events = POLLIN };
	ssize_t n;

	while (words == NULL || strstr(t.text, words) == NULL) {
		ck_assert_msg(poll(&pfd, 1, 60000) == 1, "%s after: %s",
		    words == NULL ? "no end" : words, t.text);
		n = read(t.out, t.text + t.have, sizeof(t.text) - 1 - t.have);
		if (n <= 0 && words == NULL)
			return;
		ck_assert_msg(n > 0, "the end, without %s: %s", words, t.text);
		t.have += (size_t)n;
	}
}

static void
type(const char *text)
{
	ck_assert_int_eq(write(t.in, text, strlen(text)),
	    (ssize_t)strlen(text));
}

static int
leader_ends(void)
{
	int status;

	ck_assert_int_eq(waitpid(t.leader, &status, 0), t.leader);
	return (status);
}

/* The relay is told, and ends; what it had is in the pipe. */
static void
finish(void)
{
	int status;

	pty_close(&t.pty);
	see(NULL);
	ck_assert_int_eq(waitpid(t.relay, &status, 0), t.relay);
	ck_assert_int_eq(status, 0);
	close(t.in);
	close(t.out);
	close(t.leaf);
}

START_TEST(test_make)
{
	struct pty pty = PTY_NONE;
	struct winsize ws;
	struct termios mode;

	ck_assert_int_eq(pty_make(&pty, PTY_SIZE(7, 4096)), 0);
	ck_assert_int_eq(ioctl(pty.slave, TIOCGWINSZ, &ws), 0);
	ck_assert_int_eq(ws.ws_row, 7);
	ck_assert_int_eq(ws.ws_col, 4096);
	ck_assert_int_eq(tcgetattr(pty.slave, &mode), 0);
	ck_assert(mode.c_iflag & IUTF8);
	/* The program's end blocks, ours does not; neither is for others. */
	ck_assert((fcntl(pty.slave, F_GETFL) & O_NONBLOCK) == 0);
	ck_assert(fcntl(pty.master, F_GETFL) & O_NONBLOCK);
	ck_assert(fcntl(pty.slave, F_GETFD) & FD_CLOEXEC);
	ck_assert(fcntl(pty.master, F_GETFD) & FD_CLOEXEC);
	pty_close(&pty);
	ck_assert_int_eq(pty.master, -1);
	ck_assert_int_eq(pty.orders, -1);
}
END_TEST

START_TEST(test_both_ways)
{
	start("tty >/dev/null && read a && echo got-$a; exit 3");
	type("word\n");
	see("got-word\r\n");
	ck_assert_int_eq(WEXITSTATUS(leader_ends()), 3);
	finish();
	ck_assert_str_eq(t.text, "word\r\ngot-word\r\n");
}
END_TEST

START_TEST(test_end_of_input)
{
	start("cat; cat; cat; echo all");
	type("ab");
	close(t.in);
	t.in = -1;
	see("all\r\n");
	leader_ends();
	finish();
}
END_TEST

/* More than the pipe holds, which nobody reads before all is over. */
START_TEST(test_last_words)
{
	size_t i, lines = 0;

	start("i=0; while [ $i -lt 2000 ]; do echo line; i=$((i+1)); done; "
	    "(trap '' HUP; exec sleep 2) & exit 0");
	leader_ends();
	finish();
	for (i = 0; i < t.have; i++)
		lines += t.text[i] == '\n';
	ck_assert_uint_eq(lines, 2000);
}
END_TEST

/* What is left behind may write for ever; the relay does not read for ever. */
START_TEST(test_noise)
{
	/* With the relay the master goes, and with that the noise. */
	start("(trap '' HUP; while echo noise; do :; done) & sleep 0.1");
	see("noise");
	leader_ends();
	finish();
}
END_TEST

START_TEST(test_orders)
{
	start("trap 'stty size' WINCH; trap 'echo int' INT; "
	    "trap 'exit 5' USR1; echo ready; while :; do sleep 0.02; done");
	see("ready");
	pty_order(t.pty.orders, PTY_RESIZE, PTY_SIZE(33, 44));
	see("33 44\r\n");
	pty_order(t.pty.orders, PTY_SIGNAL, SIGINT);
	see("int\r\n");
	type("\003");
	see("^C");
	pty_order(t.pty.orders, PTY_SIGNAL, SIGUSR1);
	ck_assert_int_eq(WEXITSTATUS(leader_ends()), 5);
	finish();
}
END_TEST

/* Nobody takes the output any more: the terminal hangs up. */
START_TEST(test_reader_gone)
{
	int status;

	start("echo ready; sleep 60");
	see("ready");
	close(t.out);
	ck_assert_int_eq(waitpid(t.relay, &status, 0), t.relay);
	status = leader_ends();
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP);
	pty_close(&t.pty);
	close(t.in);
	close(t.leaf);
}
END_TEST

/* It has what it needs, and nothing that PID 1 has open beside. */
START_TEST(test_descriptors)
{
	char path[64], name[32];
	int fd, canary = open("/dev/null", O_RDONLY | O_CLOEXEC);

	start("echo ready; sleep 60");
	see("ready");
	for (fd = 3; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)t.relay,
		    fd);
		ck_assert_msg((access(path, F_OK) == 0 ||
		    readlink(path, name, sizeof(name)) != -1) == (fd < 8),
		    "%s", path);
	}
	close(canary);
	kill(t.leader, SIGKILL);
	leader_ends();
	finish();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("neurond_pty");
	TCase *tc = tcase_create("terminal");
	int leaf;

	signal(SIGPIPE, SIG_IGN);
	if (geteuid() != 0 || (leaf = own_cgroup()) == -1) {
		printf("1..0 # SKIP needs root and a cgroup2 mount\n");
		return (0);
	}
	close(leaf);
	tcase_add_test(tc, test_make);
	tcase_add_test(tc, test_both_ways);
	tcase_add_test(tc, test_end_of_input);
	tcase_add_test(tc, test_last_words);
	tcase_add_test(tc, test_noise);
	tcase_add_test(tc, test_orders);
	tcase_add_test(tc, test_reader_gone);
	tcase_add_test(tc, test_descriptors);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
