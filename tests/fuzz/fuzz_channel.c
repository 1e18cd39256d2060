/*
 * Any packet, on any channel, at either end: the input's first byte picks the
 * channel and the end, the rest is the packet.
 */
#include <sys/socket.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "imsg.h"
#include "log.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static int
take(void *arg, struct imsg *m)
{
	char s[256];
	size_t n;

	(void)arg;
	(void)imsg_get_u64(m);
	imsg_get_str(m, s, sizeof(s));
	(void)imsg_get_bytes(m, &n);
	return (imsg_end(m));
}

static struct channel_handler all[MSG_COUNT];

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct channel_ops ops = { .handlers = all, .nhandlers = MSG_COUNT };
	struct channel *ch;
	unsigned i;
	int fds[2];

	for (i = 0; i < MSG_COUNT; i++) {
		all[i].type = i;
		all[i].fn = take;
	}
	log_init("fuzz", -2, 0);
	if (size < 1 || channel_pair(fds) == -1)
		return (0);
	ch = channel_new(fds[0], 1 << (data[0] & 7),
	    data[0] & 8 ? END_A : END_B, &ops, NULL);
	channel_set_state(ch, data[0] & 16 ? ST_NEW : ST_UP);
	if (size > 1 && send(fds[1], data + 1, size - 1, MSG_DONTWAIT) > 0)
		channel_dispatch(ch, 0);
	channel_free(ch);
	close(fds[1]);
	return (0);
}
