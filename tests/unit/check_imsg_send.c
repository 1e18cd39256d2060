/*
 * imsg.h: sending, what waits to be sent, and what is never sent.
 */
#include <sys/socket.h>
#include <event2/event.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "imsg_rig.h"

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

int
main(void)
{
	Suite *s = suite_create("imsg_send");
	TCase *tc = tcase_create("imsg_send");

	tcase_add_test(tc, ten_thousand_messages_arrive_in_order);
	tcase_add_test(tc, a_queue_has_a_bound);
	tcase_add_test(tc, what_breaks_the_table_is_not_sent);
	tcase_add_test(tc, what_the_kernel_refuses_to_send_kills_the_channel);
	tcase_add_test(tc, what_may_wait_goes_with_the_next_in_its_order);
	tcase_add_test(tc, what_may_wait_goes_by_itself_in_its_time);
	tcase_add_test(tc,
	    what_may_wait_stays_in_its_order_where_there_is_no_room);
	tcase_add_test(tc, last_words_are_heard);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
