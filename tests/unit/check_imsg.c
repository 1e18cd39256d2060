/*
 * imsg.h against a hostile peer: one test for each way to break the table, on
 * every channel.  Each time the channel must be dead, the fds that came with
 * the message closed, the owner told once, and this process alive.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <event2/event.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "imsg.h"
#include "unit.h"

static int deaths;
static char last_reason[256];
static int handled;
static int handler_mode;
static uint32_t numbers[64];	/* that the last messages had first */

enum { HANDLE_ALL, HANDLE_NONE, HANDLE_WRONG, HANDLE_CLAIM };
static int claimed_flags;	/* of the fd that HANDLE_CLAIM took */

static int
take(void *arg, struct imsg *m)
{
	int fd;

	(void)arg;
	handled++;
	if (handler_mode == HANDLE_CLAIM) {
		fd = imsg_claim_fd(m, 0);
		claimed_flags = fcntl(fd, F_GETFD);
		close(fd);
	}
	if (handler_mode == HANDLE_WRONG)
		return (-1);
	if (handler_mode == HANDLE_NONE)
		return (0);
	numbers[(handled - 1) % 64] = imsg_get_u32(m);
	if (imsg_type(m) == MSG_PEER_GONE)
		(void)imsg_get_u32(m);
	return (imsg_end(m));
}

static void
dead(void *arg, const char *reason)
{
	(void)arg;
	deaths++;
	snprintf(last_reason, sizeof(last_reason), "%s", reason);
}

static struct channel_handler all[MSG_COUNT];
static struct channel_ops ops = { .handlers = all, .dead = dead };

static int
open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return (n);
}

struct bench {
	struct channel	*ch;
	int		 peer;
	int		 fds;
};

static void
setup(struct bench *b, enum channel_kind kind, enum channel_end end)
{
	unsigned i;
	int fds[2];

	for (i = 1; i < MSG_COUNT; i++) {
		all[i].type = i;
		all[i].fn = take;
	}
	ops.nhandlers = MSG_COUNT;
	deaths = handled = 0;
	handler_mode = HANDLE_ALL;
	ck_assert_int_eq(channel_pair(fds), 0);
	b->ch = channel_new(fds[0], kind, end, &ops, NULL);
	b->peer = fds[1];
	b->fds = open_fds();
}

static void
teardown(struct bench *b)
{
	channel_free(b->ch);
	close(b->peer);
}

/* A raw packet: header as given, size bytes of payload, n copies of fd. */
static void
throw(int sock, unsigned type, unsigned claimed, uint32_t len, size_t size,
    int fd, unsigned n)
{
	static uint8_t buf[64 * 1024];
	char control[CMSG_SPACE(sizeof(int) * 253)];
	struct iovec iov = { buf, 8 + size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;
	unsigned i;

	memset(buf, 0, sizeof(buf));
	buf[0] = (uint8_t)type;
	buf[1] = (uint8_t)(type >> 8);
	buf[2] = (uint8_t)claimed;
	buf[3] = (uint8_t)(type >> 24);	/* flags */
	memcpy(buf + 4, &len, 4);
	if (n > 0) {
		memset(control, 0, sizeof(control));
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * n);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * n);
		for (i = 0; i < n; i++)
			memcpy(CMSG_DATA(cmsg) + i * sizeof(int), &fd,
			    sizeof(int));
	}
	ck_assert_int_gt(sendmsg(sock, &msg, 0), 0);
}

static void
expect_death(struct bench *b, const char *words)
{
	ck_assert_int_eq(channel_dispatch(b->ch, 0), -1);
	ck_assert_int_eq(channel_dispatch(b->ch, 0), -1);
	ck_assert_int_eq(deaths, 1);
	ck_assert_msg(strstr(last_reason, words) != NULL, "%s", last_reason);
	ck_assert_int_eq(open_fds(), b->fds);
}

static const enum channel_kind kinds[] = {
	CH_CONTROL, CH_AGENT, CH_OPERATOR, CH_JUDGE, CH_LAUNCH, CH_MAKER,
	CH_SPAWNER, CH_INIT, CH_EGRESS
};
#define NKINDS	((int)(sizeof(kinds) / sizeof(kinds[0])))

START_TEST(unknown_types_kill_the_channel)
{
	static const unsigned types[] = { 0, MSG_COUNT, 0x7fff, 0xffff };
	struct bench b;
	size_t i;

	for (i = 0; i < 4; i++) {
		setup(&b, kinds[_i], END_A);
		throw(b.peer, types[i], 0, 4, 4, -1, 0);
		expect_death(&b, "unknown message type");
		teardown(&b);
	}
	ck_assert_int_eq(handled, 0);
}
END_TEST

/*
 * Every row of the table on this channel and end: only what this row's
 * channel, direction, state, size and fds allow reaches a handler.
 */
START_TEST(only_rows_of_this_channel_and_direction_pass)
{
	enum channel_end end = _i < NKINDS ? END_A : END_B;
	enum channel_kind kind = kinds[_i % NKINDS];
	const struct msg_row *row;
	struct bench b;
	unsigned t;
	size_t size;
	int right;

	for (t = 1; t < MSG_COUNT; t++) {
		row = &msg_table[t];
		if (row->fds_min > 0)
			continue;
		setup(&b, kind, end);
		channel_set_state(b.ch, row->states & ST_UP ? ST_UP : ST_NEW);
		handler_mode = HANDLE_NONE;
		size = row->fixed + 4 * row->strings;
		throw(b.peer, t, 0, (uint32_t)size, size, -1, 0);
		channel_dispatch(b.ch, 0);
		right = (row->channels & kind) != 0 &&
		    row->dir == (end == END_A ? DIR_UP : DIR_DOWN);
		ck_assert_msg(handled == right, "%s handled %d", row->name,
		    handled);
		ck_assert_int_eq(deaths, 1);
		teardown(&b);
	}
}
END_TEST

START_TEST(wrong_sizes_kill_the_channel)
{
	const struct msg_row *row;
	struct bench b;
	unsigned t;
	uint32_t size;
	int tried = 0;

	for (t = 1; t < MSG_COUNT; t++) {
		row = &msg_table[t];
		if (!(row->channels & kinds[_i]))
			continue;
		size = row->fixed + 4 * row->strings;
		tried++;
		setup(&b, kinds[_i], row->dir == DIR_UP ? END_A : END_B);
		channel_set_state(b.ch, row->states & ST_UP ? ST_UP : ST_NEW);
		if (size > 0) {
			throw(b.peer, t, 0, size - 1, size - 1, -1, 0);
			expect_death(&b, "wrong size");
		} else {
			throw(b.peer, t, 0, 1, 1, -1, 0);
			expect_death(&b, "wrong size");
		}
		teardown(&b);
		setup(&b, kinds[_i], row->dir == DIR_UP ? END_A : END_B);
		channel_set_state(b.ch, row->states & ST_UP ? ST_UP : ST_NEW);
		/* a length that lies */
		throw(b.peer, t, 0, size + 100, size, -1, 0);
		expect_death(&b, "header");
		teardown(&b);
	}
	ck_assert_int_gt(tried, 0);
	ck_assert_int_eq(handled, 0);
}
END_TEST

START_TEST(fds_where_none_belong_are_closed)
{
	struct bench b;
	const struct msg_row *row;
	unsigned t;
	uint32_t size;

	for (t = 1; t < MSG_COUNT; t++) {
		row = &msg_table[t];
		if (!(row->channels & kinds[_i]) || row->fds_max > 0)
			continue;
		size = row->fixed + 4 * row->strings;
		setup(&b, kinds[_i], row->dir == DIR_UP ? END_A : END_B);
		channel_set_state(b.ch, row->states & ST_UP ? ST_UP : ST_NEW);
		throw(b.peer, t, 1, size, size, STDERR_FILENO, 1);
		expect_death(&b, "number of fds");
		teardown(&b);
	}
	ck_assert_int_eq(handled, 0);
}
END_TEST

START_TEST(more_fds_than_fit_are_closed)
{
	static const unsigned many[] = { 5, 16, 17, 64, 253 };
	struct bench b;
	size_t i;

	for (i = 0; i < 5; i++) {
		setup(&b, kinds[_i], END_A);
		throw(b.peer, MSG_COUNT - 1, many[i], 4, 4, STDERR_FILENO,
		    many[i]);
		ck_assert_int_eq(channel_dispatch(b.ch, 0), -1);
		ck_assert_int_eq(deaths, 1);
		ck_assert_int_eq(open_fds(), b.fds);
		teardown(&b);
	}
	ck_assert_int_eq(handled, 0);
}
END_TEST

START_TEST(a_missing_fd_kills_the_channel)
{
	struct bench b;

	setup(&b, CH_AGENT, END_A);
	throw(b.peer, MSG_PEER, 0, 4, 4, -1, 0);
	expect_death(&b, "number of fds");
	teardown(&b);
}
END_TEST

START_TEST(a_header_that_lies_about_fds_kills_the_channel)
{
	struct bench b;

	setup(&b, CH_AGENT, END_A);
	throw(b.peer, MSG_PEER, 0, 4, 4, STDERR_FILENO, 1);
	expect_death(&b, "header");
	teardown(&b);
}
END_TEST

/* An fd of each wrong kind where a PEER wants a stream socket. */
START_TEST(fds_of_the_wrong_kind_are_closed)
{
	int fds[2], pair[2], wrong[8], n = 0, i;
	struct bench b;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_int_eq(channel_pair(pair), 0);
	wrong[n++] = open("/", O_RDONLY | O_DIRECTORY);
	wrong[n++] = open("/etc/passwd", O_RDONLY);
	wrong[n++] = open("/dev/null", O_RDWR);
	wrong[n++] = open("/", O_PATH);
	wrong[n++] = memfd_create("x", MFD_CLOEXEC);
	wrong[n++] = fds[0];
	wrong[n++] = pair[0];
	wrong[n++] = socket(AF_INET, SOCK_STREAM, 0);
	for (i = 0; i < n; i++) {
		setup(&b, CH_AGENT, END_A);
		throw(b.peer, MSG_PEER, 1, 4, 4, wrong[i], 1);
		expect_death(&b, "wrong kind");
		teardown(&b);
	}
	ck_assert_int_eq(handled, 0);
}
END_TEST

/* JUDGE wants a memfd with all four seals. */
START_TEST(a_memfd_without_its_seals_is_refused)
{
	static const int seals[] = {
		0, F_SEAL_WRITE, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW,
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL
	};
	struct bench b;
	size_t i;
	int fd;

	for (i = 0; i < 4; i++) {
		fd = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		if (seals[i] != 0)
			ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals[i]), 0);
		setup(&b, CH_JUDGE, END_B);
		throw(b.peer, MSG_JUDGE, 1, 26, 26, fd, 1);
		expect_death(&b, "wrong kind");
		teardown(&b);
		close(fd);
	}
}
END_TEST

START_TEST(a_fifo_with_a_name_is_no_pipe)
{
	char path[] = "/tmp/myelin-fifo-XXXXXX";
	int args = memfd_sealed("a", "{}", 2), fifo, fds[2];
	struct imsg *m;
	struct bench b;
	struct channel *sender;

	ck_assert_ptr_nonnull(mkdtemp(path));
	ck_assert_int_eq(chdir(path), 0);
	ck_assert_int_eq(mkfifo("f", 0600), 0);
	fifo = open("f", O_RDWR);
	ck_assert_int_ne(fifo, -1);
	close(fifo);
	fifo = open("f", O_RDONLY | O_NONBLOCK);
	fds[0] = fifo;
	fds[1] = open("f", O_WRONLY | O_NONBLOCK);
	unlink("f");
	rmdir(path);
	setup(&b, CH_AGENT, END_A);
	sender = channel_new(dup(b.peer), CH_AGENT, END_B, &ops, NULL);
	m = imsg_new(MSG_ASK);
	imsg_put_u32(m, 1);
	imsg_put_u64(m, 1);
	imsg_put_u32(m, 0);
	imsg_put_u8(m, 0);
	imsg_put_u8(m, 0);
	imsg_put_str(m, "");
	imsg_put_str(m, "");
	imsg_put_str(m, "");
	imsg_put_fd(m, args);
	imsg_put_fd(m, fds[1]);
	imsg_put_fd(m, dup(fds[1]));
	ck_assert_int_eq(channel_send(sender, m), 0);
	ck_assert_int_eq(channel_dispatch(b.ch, 0), -1);
	ck_assert_ptr_nonnull(strstr(last_reason, "wrong kind"));
	ck_assert_int_eq(handled, 0);
	channel_free(sender);
	teardown(&b);
}
END_TEST

START_TEST(a_state_that_forbids_it_kills_the_channel)
{
	struct bench b;

	setup(&b, CH_JUDGE, END_A);
	channel_set_state(b.ch, ST_NEW);
	throw(b.peer, MSG_VERDICT, 0, 47, 47, -1, 0);
	expect_death(&b, "not allowed now");
	teardown(&b);
	setup(&b, CH_JUDGE, END_A);
	throw(b.peer, MSG_TOOLS_END, 0, 4, 4, -1, 0);
	expect_death(&b, "not allowed now");
	teardown(&b);
}
END_TEST

START_TEST(what_a_handler_leaves_or_refuses_kills_the_channel)
{
	struct bench b;

	setup(&b, CH_CONTROL, END_B);
	handler_mode = HANDLE_NONE;
	throw(b.peer, MSG_PING, 0, 4, 4, -1, 0);
	expect_death(&b, "not read to its end");
	teardown(&b);
	setup(&b, CH_CONTROL, END_B);
	handler_mode = HANDLE_WRONG;
	throw(b.peer, MSG_PING, 0, 4, 4, -1, 0);
	expect_death(&b, "can't be right");
	teardown(&b);
}
END_TEST

START_TEST(a_short_packet_and_a_huge_one_kill_the_channel)
{
	struct bench b;

	setup(&b, CH_CONTROL, END_B);
	ck_assert_int_eq(send(b.peer, "abc", 3, 0), 3);
	expect_death(&b, "3 bytes");
	teardown(&b);
	setup(&b, CH_CONTROL, END_B);
	throw(b.peer, MSG_PING, 0, 40000, 40000, -1, 0);
	expect_death(&b, "over 16384 bytes");
	teardown(&b);
}
END_TEST

START_TEST(received_fds_are_close_on_exec)
{
	struct bench b;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	setup(&b, CH_AGENT, END_A);
	throw(b.peer, MSG_PEER, 1, 4, 4, pair[0], 1);
	ck_assert_int_eq(channel_dispatch(b.ch, 0), 1);
	ck_assert_int_eq(handled, 1);
	/* nobody claimed it */
	ck_assert_int_eq(open_fds(), b.fds);
	handler_mode = HANDLE_CLAIM;
	throw(b.peer, MSG_PEER, 1, 4, 4, pair[0], 1);
	ck_assert_int_eq(channel_dispatch(b.ch, 0), 1);
	ck_assert_int_eq(claimed_flags, FD_CLOEXEC);
	ck_assert_int_eq(open_fds(), b.fds);
	teardown(&b);
}
END_TEST

START_TEST(ten_thousand_messages_arrive_in_order)
{
	struct bench b;
	struct channel *sender;
	struct imsg *m;
	int i, sent = 0;

	setup(&b, CH_CONTROL, END_B);
	sender = channel_new(dup(b.peer), CH_CONTROL, END_A, &ops, NULL);
	for (i = 0; i < 10000; i++) {
		m = imsg_new(MSG_PING);
		imsg_put_u32(m, (uint32_t)i);
		ck_assert_int_eq(channel_send(sender, m), 0);
		sent++;
		if (i % 64 == 0)
			channel_dispatch(b.ch, 0);
	}
	while (handled < sent) {
		channel_flush_wait(sender, 100);
		ck_assert_int_ge(channel_dispatch(b.ch, 0), 0);
	}
	ck_assert_int_eq(handled, 10000);
	ck_assert_int_eq(deaths, 0);
	channel_free(sender);
	teardown(&b);
}
END_TEST

START_TEST(a_queue_has_a_bound)
{
	struct bench b;
	struct channel *sender;
	struct imsg *m;
	int i;

	setup(&b, CH_CONTROL, END_B);
	sender = channel_new(dup(b.peer), CH_CONTROL, END_A, &ops, NULL);
	for (i = 0; i < 100000; i++) {
		m = imsg_new(MSG_PING);
		imsg_put_u32(m, 0);
		if (channel_send(sender, m) == -1)
			break;
	}
	ck_assert_int_lt(i, 100000);
	ck_assert_ptr_nonnull(strstr(channel_reason(sender), "queue over"));
	channel_free(sender);
	teardown(&b);
}
END_TEST

START_TEST(what_breaks_the_table_is_not_sent)
{
	struct bench b;
	struct imsg *m;

	setup(&b, CH_CONTROL, END_B);
	m = imsg_new(MSG_PING);		/* a message of the other end */
	imsg_put_u32(m, 1);
	ck_assert_int_eq(channel_send(b.ch, m), -1);
	m = imsg_new(MSG_PONG);		/* too short */
	ck_assert_int_eq(channel_send(b.ch, m), -1);
	m = imsg_new(MSG_PONG);
	imsg_put_u32(m, 1);
	ck_assert_int_eq(channel_send(b.ch, m), 0);
	ck_assert_int_eq(deaths, 0);
	teardown(&b);
}
END_TEST

/* Never deaf on one side: a channel that can't send any more is dead. */
START_TEST(what_the_kernel_refuses_to_send_kills_the_channel)
{
	struct bench b;
	struct imsg *m;

	setup(&b, CH_SPAWNER, END_B);
	m = imsg_new(MSG_BUILT);
	imsg_put_u32(m, 0);
	imsg_put_u32(m, 0);
	imsg_put_i32(m, 2);
	imsg_put_u32(m, 0);
	imsg_put_fd(m, 1 << 20);	/* no descriptor at all */
	ck_assert_int_eq(channel_send(b.ch, m), -1);
	ck_assert_ptr_nonnull(channel_reason(b.ch));
	ck_assert_ptr_nonnull(strstr(channel_reason(b.ch), "send"));
	ck_assert_int_eq(channel_dispatch_wait(b.ch, 0), -1);
	teardown(&b);
}
END_TEST

/* The number in the PING that the peer gets next, or -1 for none. */
static int
next_ping(struct bench *b)
{
	uint8_t packet[64];

	if (recv(b->peer, packet, sizeof(packet), MSG_DONTWAIT) != 12 ||
	    packet[0] != MSG_PING)
		return (-1);
	return (packet[8]);
}

static struct imsg *
ping(uint32_t number)
{
	struct imsg *m = imsg_new(MSG_PING);

	imsg_put_u32(m, number);
	return (m);
}

START_TEST(what_may_wait_goes_with_the_next_in_its_order)
{
	struct bench b;

	setup(&b, CH_CONTROL, END_A);
	ck_assert_int_eq(channel_send_soon(b.ch, ping(1), 0), 0);
	ck_assert_int_eq(channel_send_soon(b.ch, ping(2), 1000), 0);
	ck_assert_int_eq(next_ping(&b), -1);
	ck_assert_int_eq(channel_send(b.ch, ping(3)), 0);
	ck_assert_int_eq(next_ping(&b), 1);
	ck_assert_int_eq(next_ping(&b), 2);
	ck_assert_int_eq(next_ping(&b), 3);
	ck_assert_uint_eq(channel_queued(b.ch), 0);
	ck_assert_int_eq(channel_send(b.ch, ping(4)), 0);
	ck_assert_int_eq(next_ping(&b), 4);
	/* one that still waits goes with its channel */
	ck_assert_int_eq(channel_send_soon(b.ch, ping(5), 0), 0);
	teardown(&b);
}
END_TEST

/* PEER_GONE or, with an fd, PEER. */
static struct imsg *
peer(uint32_t number, int fd)
{
	struct imsg *m = imsg_new(fd == -1 ? MSG_PEER_GONE : MSG_PEER);

	imsg_put_u32(m, number);
	if (fd == -1)
		imsg_put_u32(m, 0);
	else
		imsg_put_fd(m, dup(fd));
	return (m);
}

START_TEST(a_packet_keeps_order_and_fds)
{
	struct channel *sender;
	struct bench b;
	uint32_t i;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	setup(&b, CH_AGENT, END_A);
	sender = channel_new(dup(b.peer), CH_AGENT, END_B, &ops, NULL);
	for (i = 0; i < 31; i++)
		ck_assert_int_eq(channel_send_soon(sender, peer(i, i % 3 == 1 ||
		    i > 27 ? pair[0] : -1), 0), 0);
	ck_assert_int_eq(channel_dispatch(b.ch, 0), 0);
	ck_assert_int_eq(channel_flush_wait(sender, 1000), 0);
	ck_assert_int_eq(channel_dispatch(b.ch, 0), 31);
	for (i = 0; i < 31; i++)
		ck_assert_uint_eq(numbers[i], i);
	ck_assert_int_eq(handled, 31);
	ck_assert_int_eq(deaths, 0);
	channel_free(sender);
	ck_assert_int_eq(open_fds(), b.fds);
	teardown(&b);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

/* As many as fit, and no more than so many. */
START_TEST(a_packet_has_a_bound)
{
	static const int sizes[] = { 96, 96, 48, -1 };
	static uint8_t text[MSG_MAX_SIZE];
	uint8_t packet[MSG_MAX_SIZE + 1];
	struct bench b;
	struct imsg *m;
	uint32_t i;

	setup(&b, CH_AGENT, END_A);
	for (i = 0; i < 20; i++) {
		m = imsg_new(MSG_SECRETS_END);
		imsg_put_u32(m, i);
		ck_assert_int_eq(channel_send_soon(b.ch, m, 0), 0);
	}
	ck_assert_int_eq(channel_flush_wait(b.ch, 1000), 0);
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(recv(b.peer, packet, sizeof(packet),
		    MSG_DONTWAIT), sizes[i]);
	for (i = 0; i < 3; i++) {
		m = imsg_new(MSG_SECRET);
		imsg_put_bytes(m, text, MSG_MAX_SIZE / 2 - 8 - 4);
		ck_assert_int_eq(channel_send_soon(b.ch, m, 0), 0);
	}
	ck_assert_int_eq(channel_flush_wait(b.ch, 1000), 0);
	ck_assert_int_eq(recv(b.peer, packet, sizeof(packet), MSG_DONTWAIT),
	    MSG_MAX_SIZE);
	ck_assert_int_eq(recv(b.peer, packet, sizeof(packet), MSG_DONTWAIT),
	    MSG_MAX_SIZE / 2);
	/* on other channels each is a packet */
	teardown(&b);
	setup(&b, CH_CONTROL, END_A);
	ck_assert_int_eq(channel_send_soon(b.ch, ping(1), 0), 0);
	ck_assert_int_eq(channel_send(b.ch, ping(2)), 0);
	ck_assert_int_eq(next_ping(&b), 1);
	ck_assert_int_eq(next_ping(&b), 2);
	teardown(&b);
}
END_TEST

/* A message of a packet made by hand. */
struct part {
	uint8_t	 type;
	uint8_t	 nfds;
	uint8_t	 flags;
	uint8_t	 len;
	uint8_t	 size;		/* bytes that are there */
};

#define GONE(flags)	{ MSG_PEER_GONE, 0, flags, 8, 8 }

static const struct {
	enum channel_kind kind;
	struct part	 parts[10];
	int		 good;		/* messages that are handled */
	const char	*why;		/* NULL: all are */
} packets[] = {
	{ CH_AGENT, { GONE(1), GONE(1), GONE(0) }, 3, NULL },
	{ CH_OPERATOR, { GONE(1), GONE(0) }, 2, NULL },
	{ CH_AGENT, { GONE(1), GONE(1), GONE(1), GONE(1), GONE(1), GONE(1),
	    GONE(1), GONE(0) }, 8, NULL },
	{ CH_AGENT, { GONE(1), GONE(1), GONE(1), GONE(1), GONE(1), GONE(1),
	    GONE(1), GONE(1), GONE(0) }, 7, "does not fit" },
	{ CH_AGENT, { GONE(1) }, 0, "does not fit" },
	{ CH_AGENT, { GONE(0), GONE(0) }, 0, "does not fit" },
	{ CH_AGENT, { GONE(2), GONE(0) }, 0, "does not fit" },
	{ CH_AGENT, { GONE(3), GONE(0) }, 0, "does not fit" },
	{ CH_AGENT, { { MSG_PEER, 1, 1, 4, 4 }, GONE(0) }, 0, "does not fit" },
	{ CH_AGENT, { GONE(1), { MSG_PEER, 1, 0, 4, 4 } }, 1, "does not fit" },
	{ CH_AGENT, { { MSG_PEER_GONE, 0, 1, 24, 8 }, GONE(0) }, 0,
	    "does not fit" },
	{ CH_AGENT, { { MSG_PEER_GONE, 0, 1, 7, 8 }, GONE(0) }, 0,
	    "wrong size" },
	{ CH_AGENT, { GONE(1), { MSG_PING, 0, 0, 4, 4 } }, 1,
	    "not of this channel" },
	{ CH_AGENT, { GONE(1), { 0, 0, 0, 0, 0 } }, 1, "unknown message" },
	{ CH_CONTROL, { { MSG_PONG, 0, 1, 4, 4 }, { MSG_PONG, 0, 0, 4, 4 } },
	    0, "does not fit" },
};

#define NPACKETS	(int)(sizeof(packets) / sizeof(packets[0]))

START_TEST(a_packet_that_lies_kills_the_channel)
{
	uint8_t buf[256];
	const struct part *p;
	struct bench b;
	size_t n = 0;

	setup(&b, packets[_i].kind, END_A);
	memset(buf, 0, sizeof(buf));
	for (p = packets[_i].parts; p->type != 0 || n == 0; p++) {
		buf[n] = p->type;
		buf[n + 2] = p->nfds;
		buf[n + 3] = p->flags;
		buf[n + 4] = p->len;
		n += 8 + p->size;
	}
	/* what is left of a header is none */
	if (packets[_i].why != NULL && strstr(packets[_i].why, "unknown"))
		n += 3;
	ck_assert_int_eq(send(b.peer, buf, n, 0), (ssize_t)n);
	if (packets[_i].why == NULL) {
		ck_assert_int_eq(channel_dispatch(b.ch, 0), packets[_i].good);
		ck_assert_int_eq(deaths, 0);
	} else
		expect_death(&b, packets[_i].why);
	ck_assert_int_eq(handled, packets[_i].good);
	teardown(&b);
}
END_TEST

/* Of one that lies about a message its fds are closed. */
START_TEST(a_packet_that_is_refused_leaves_no_fd)
{
	struct bench b;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	setup(&b, CH_AGENT, END_A);
	throw(b.peer, MSG_PEER_GONE | 1 << 24, 0, 8, 20, pair[0], 2);
	expect_death(&b, "");
	ck_assert_int_eq(open_fds(), b.fds);
	teardown(&b);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

START_TEST(what_may_wait_goes_by_itself_in_its_time)
{
	struct event_base *base = event_base_new();
	struct bench b;

	setup(&b, CH_CONTROL, END_A);
	ck_assert_int_eq(channel_attach(b.ch, base), 0);
	ck_assert_int_eq(channel_send_soon(b.ch, ping(1), 0), 0);
	ck_assert_int_eq(next_ping(&b), -1);
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	ck_assert_int_eq(next_ping(&b), 1);
	/* the one with a later time goes with the other */
	ck_assert_int_eq(channel_send_soon(b.ch, ping(2), 3600000000U), 0);
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	ck_assert_int_eq(next_ping(&b), -1);
	ck_assert_int_eq(channel_send_soon(b.ch, ping(3), 0), 0);
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	ck_assert_int_eq(next_ping(&b), 2);
	ck_assert_int_eq(next_ping(&b), 3);
	ck_assert_int_eq(channel_send_soon(b.ch, ping(4), 1), 0);
	(void)event_base_loop(base, EVLOOP_ONCE);	/* it is what it waits for */
	ck_assert_int_eq(next_ping(&b), 4);
	/* nothing is left of what one send took with it */
	ck_assert_int_eq(channel_send_soon(b.ch, ping(5), 3600000000U), 0);
	ck_assert_int_eq(channel_send(b.ch, ping(6)), 0);
	ck_assert_int_eq(next_ping(&b), 5);
	ck_assert_int_eq(next_ping(&b), 6);
	ck_assert_int_eq(deaths, 0);
	teardown(&b);
	event_base_free(base);
}
END_TEST

/* Behind a socket that is full nothing is lost, and no order. */
START_TEST(what_may_wait_stays_in_its_order_where_there_is_no_room)
{
	struct event_base *base = event_base_new();
	struct bench b;
	int i, next = 0, sent = 0, got;

	setup(&b, CH_CONTROL, END_A);
	ck_assert_int_eq(channel_attach(b.ch, base), 0);
	for (i = 0; i < 2000; i++, sent++)
		ck_assert_int_eq(i % 3 == 0 ?
		    channel_send_soon(b.ch, ping((uint32_t)i), 0) :
		    channel_send(b.ch, ping((uint32_t)i)), 0);
	ck_assert_uint_gt(channel_queued(b.ch), 0);
	for (i = 0; i < 100000 && next < sent; i++) {
		while ((got = next_ping(&b)) != -1)
			ck_assert_int_eq(got, next++ & 0xff);
		(void)event_base_loop(base, EVLOOP_NONBLOCK);
	}
	ck_assert_int_eq(next, sent);
	teardown(&b);
	event_base_free(base);
}
END_TEST

START_TEST(last_words_are_heard)
{
	struct bench b;
	struct channel *peer;
	struct imsg *m;

	setup(&b, CH_CONTROL, END_A);
	peer = channel_new(dup(b.peer), CH_CONTROL, END_B, &ops, NULL);
	m = imsg_new(MSG_PONG);
	imsg_put_u32(m, 1);
	ck_assert_int_eq(channel_send(peer, m), 0);
	channel_free(peer);
	close(b.peer);
	m = imsg_new(MSG_PING);
	imsg_put_u32(m, 1);
	ck_assert_int_eq(channel_send(b.ch, m), -1);
	ck_assert_int_eq(channel_dispatch(b.ch, 0), -1);
	ck_assert_int_eq(handled, 1);
	ck_assert_str_eq(last_reason, "closed");
	channel_free(b.ch);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("imsg");
	TCase *tc = tcase_create("imsg");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, unknown_types_kill_the_channel, 0, NKINDS);
	tcase_add_loop_test(tc, only_rows_of_this_channel_and_direction_pass,
	    0, 2 * NKINDS);
	tcase_add_loop_test(tc, wrong_sizes_kill_the_channel, 0, NKINDS);
	tcase_add_loop_test(tc, fds_where_none_belong_are_closed, 0, NKINDS);
	tcase_add_loop_test(tc, more_fds_than_fit_are_closed, 0, NKINDS);
	tcase_add_test(tc, a_missing_fd_kills_the_channel);
	tcase_add_test(tc, a_header_that_lies_about_fds_kills_the_channel);
	tcase_add_test(tc, fds_of_the_wrong_kind_are_closed);
	tcase_add_test(tc, a_memfd_without_its_seals_is_refused);
	tcase_add_test(tc, a_fifo_with_a_name_is_no_pipe);
	tcase_add_test(tc, a_state_that_forbids_it_kills_the_channel);
	tcase_add_test(tc, what_a_handler_leaves_or_refuses_kills_the_channel);
	tcase_add_test(tc, a_short_packet_and_a_huge_one_kill_the_channel);
	tcase_add_test(tc, received_fds_are_close_on_exec);
	tcase_add_test(tc, ten_thousand_messages_arrive_in_order);
	tcase_add_test(tc, a_queue_has_a_bound);
	tcase_add_test(tc, what_breaks_the_table_is_not_sent);
	tcase_add_test(tc, what_the_kernel_refuses_to_send_kills_the_channel);
	tcase_add_test(tc, what_may_wait_goes_with_the_next_in_its_order);
	tcase_add_test(tc, a_packet_keeps_order_and_fds);
	tcase_add_test(tc, a_packet_has_a_bound);
	tcase_add_loop_test(tc, a_packet_that_lies_kills_the_channel, 0,
	    NPACKETS);
	tcase_add_test(tc, a_packet_that_is_refused_leaves_no_fd);
	tcase_add_test(tc, what_may_wait_goes_by_itself_in_its_time);
	tcase_add_test(tc,
	    what_may_wait_stays_in_its_order_where_there_is_no_room);
	tcase_add_test(tc, last_words_are_heard);
	suite_add_tcase(s, tc);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
