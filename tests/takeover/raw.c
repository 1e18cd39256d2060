/*
 * Packets as no honest process sends them.
 */
#include <sys/socket.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "limits.h"
#include "takeover.h"

#define HEADER	8
#define WAIT_MS	20000		/* for room: then the other end is stuck */

int
raw_bytes(int sock, const void *bytes, size_t size, int fd, unsigned n)
{
	union {
		struct cmsghdr	 align;
		char		 buf[CMSG_SPACE(sizeof(int) * 253)];
	} control;
	struct iovec iov = { (void *)(unsigned long)bytes, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct pollfd pfd = { .fd = sock, .events = POLLOUT };
	struct cmsghdr *cmsg;
	unsigned i;

	if (n > 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = control.buf;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * n);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * n);
		for (i = 0; i < n; i++)
			memcpy(CMSG_DATA(cmsg) + i * sizeof(int), &fd,
			    sizeof(int));
	}
	for (;;) {
		if (sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) != -1)
			return (0);
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN || poll(&pfd, 1, WAIT_MS) <= 0)
			return (-1);
	}
}

int
raw_send(int sock, unsigned type, const void *payload, size_t size, int fd,
    unsigned n)
{
	unsigned char packet[MSG_MAX_SIZE];
	size_t i;

	if (size > sizeof(packet) - HEADER)
		size = sizeof(packet) - HEADER;
	packet[0] = (unsigned char)type;
	packet[1] = (unsigned char)(type >> 8);
	packet[2] = (unsigned char)n;
	packet[3] = 0;
	for (i = 0; i < 4; i++)
		packet[4 + i] = (unsigned char)(size >> (8 * i));
	if (size > 0 && payload != NULL)
		memcpy(packet + HEADER, payload, size);
	else
		memset(packet + HEADER, 0, size);
	return (raw_bytes(sock, packet, HEADER + size, fd, n));
}

unsigned
raw_flood(int sock, unsigned type, const void *payload, size_t size,
    unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++)
		if (raw_send(sock, type, payload, size, -1, 0) == -1)
			break;
	return (i);
}
