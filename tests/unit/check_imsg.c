/*
 * imsg.h against a hostile peer: one test for each way to break the table, on
 * every channel.  Each time the channel must be dead, the fds that came with
 * the message closed, the owner told once, and this process alive.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "imsg_rig.h"

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

static Suite *
suite(void)
{
	Suite *s = suite_create("imsg");
	TCase *tc = tcase_create("imsg");

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
	suite_add_tcase(s, tc);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
