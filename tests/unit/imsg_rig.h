/*
 * What the tests of imsg.h share: a channel whose other end is bare, and what
 * became of it.
 */
#ifndef IMSG_RIG_H
#define IMSG_RIG_H

#include <sys/socket.h>

#include <dirent.h>
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

static inline int
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

static inline void
dead(void *arg, const char *reason)
{
	(void)arg;
	deaths++;
	snprintf(last_reason, sizeof(last_reason), "%s", reason);
}

static struct channel_handler all[MSG_COUNT];
static struct channel_ops ops = { .handlers = all, .dead = dead };

static inline int
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

static inline void
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

static inline void
teardown(struct bench *b)
{
	channel_free(b->ch);
	close(b->peer);
}

static inline void
expect_death(struct bench *b, const char *words)
{
	ck_assert_int_eq(channel_dispatch(b->ch, 0), -1);
	ck_assert_int_eq(channel_dispatch(b->ch, 0), -1);
	ck_assert_int_eq(deaths, 1);
	ck_assert_msg(strstr(last_reason, words) != NULL, "%s", last_reason);
	ck_assert_int_eq(open_fds(), b->fds);
}

/* A raw packet: header as given, size bytes of payload, n copies of fd. */
static inline void
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

static inline struct imsg *
ping(uint32_t number)
{
	struct imsg *m = imsg_new(MSG_PING);

	imsg_put_u32(m, number);
	return (m);
}

/* The number in the PING that the peer gets next, or -1 for none. */
static inline int
next_ping(struct bench *b)
{
	uint8_t packet[64];

	if (recv(b->peer, packet, sizeof(packet), MSG_DONTWAIT) != 12 ||
	    packet[0] != MSG_PING)
		return (-1);
	return (packet[8]);
}

#endif
