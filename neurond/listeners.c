/*
 * A neuron's listeners: asked of the maker, kept, and handed to policyd, which
 * passes them on to egressd.  An egressd that was started again gets them
 * again.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "imsg.h"
#include "launch.h"
#include "listeners.h"
#include "log.h"
#include "neuron.h"

void
listeners_init(struct listeners *l, unsigned which)
{
	size_t i;

	l->which = which;
	l->n = 0;
	for (i = 0; i < LISTENERS_MAX; i++)
		l->fd[i] = -1;
}

void
listeners_close(struct listeners *l)
{
	unsigned i;

	for (i = 0; i < l->n; i++)
		close(l->fd[i]);
	l->n = 0;
}

int
listeners_ask(const struct slot *s, unsigned which)
{
	struct imsg *m = imsg_new(MSG_LISTEN);

	imsg_put_u32(m, s->n);
	imsg_put_u32(m, s->generation);
	imsg_put_u8(m, (uint8_t)which);
	imsg_put_fd(m, fcntl(s->net_ns, F_DUPFD_CLOEXEC, 0));
	return (helper_send(HELPER_MAKER, m));
}

int
listeners_take(struct listeners *l, struct imsg *m)
{
	unsigned i, n = (unsigned)__builtin_popcount(l->which);

	if (imsg_fds(m) != n)
		return (-1);
	for (i = 0; i < n; i++)
		l->fd[i] = imsg_claim_fd(m, i);
	l->n = n;
	return (0);
}

void
listeners_tell(const struct neuron *n)
{
	const struct listeners *l = &n->listeners;
	struct imsg *m;
	unsigned i;

	if (l->n == 0)
		return;
	m = imsg_new(MSG_LISTENER);
	imsg_put_u8(m, (uint8_t)l->which);
	imsg_put_str(m, n->id);
	for (i = 0; i < l->n; i++)
		imsg_put_fd(m, fcntl(l->fd[i], F_DUPFD_CLOEXEC, 0));
	launch_send(m);
	FAULT("neuron.listeners-sent");
}
