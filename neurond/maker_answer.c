/*
 * How a worker of the maker answers.
 */
#include <unistd.h>

#include "fault.h"
#include "maker.h"

static struct channel *channel;

void
maker_channel(struct channel *ch)
{
	channel = ch;
}

struct imsg *
maker_reply(enum msg_type type, uint32_t slot, uint32_t generation, int error,
    const char *words)
{
	struct imsg *m = imsg_new(type);

	imsg_put_u32(m, slot);
	imsg_put_u32(m, generation);
	imsg_put_u32(m, (uint32_t)error);
	imsg_put_str(m, words);
	return (m);
}

int
maker_say(struct imsg *m)
{
	int r = channel_send(channel, m);

	if (r == 0)
		r = channel_flush_wait(channel, 1000);
	FAULT("worker.answered");
	return (r == 0 ? 0 : -1);
}

_Noreturn void
maker_answer(struct imsg *m)
{
	_exit(maker_say(m) == 0 ? 0 : 1);
}
