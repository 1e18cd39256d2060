/* Several messages in one packet: their order, their bounds, and lies. */
#include <sys/socket.h>

#include <string.h>
#include <unistd.h>

#include "imsg_rig.h"

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

int
main(void)
{
	Suite *s = suite_create("imsg_packet");
	TCase *tc = tcase_create("imsg_packet");

	tcase_add_test(tc, a_packet_keeps_order_and_fds);
	tcase_add_test(tc, a_packet_has_a_bound);
	tcase_add_loop_test(tc, a_packet_that_lies_kills_the_channel, 0,
	    NPACKETS);
	tcase_add_test(tc, a_packet_that_is_refused_leaves_no_fd);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
