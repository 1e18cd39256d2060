/*
 * Listening in a neuron's network namespace.
 *
 * The namespace belongs to the host's user namespace, and so do its low
 * ports: no program of the neuron can have one of them before egressd, or take
 * one from it.
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "slice.h"
#include "fault.h"
#include "maker.h"

#define BACKLOG	512

/* In the order of their bits. */
static const struct {
	const char	*step;
	unsigned	 bit;
	const char	*address;
	uint16_t	 port;
	int		 type;
} rows[] = {
	{ "the proxy's socket", LISTENER_PROXY, EGRESS_PROXY_ADDRESS,
	    EGRESS_PROXY_PORT, SOCK_STREAM },
	{ "the socket for TLS", LISTENER_TLS, "0.0.0.0", EGRESS_TLS_PORT,
	    SOCK_STREAM },
	{ "the socket for HTTP", LISTENER_PLAIN, "0.0.0.0",
	    EGRESS_PLAIN_PORT, SOCK_STREAM },
	{ "the socket for names", LISTENER_DNS, "0.0.0.0", EGRESS_DNS_PORT,
	    SOCK_DGRAM }
};

#define NROWS	(sizeof(rows) / sizeof(rows[0]))

static int
open_row(size_t i)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(rows[i].port)
	};
	int fd, saved;

	(void)inet_pton(AF_INET, rows[i].address, &sin.sin_addr);
	fd = socket(AF_INET, rows[i].type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return (-1);
	if (bind(fd, (const struct sockaddr *)&sin, sizeof(sin)) == 0 &&
	    (rows[i].type == SOCK_DGRAM || listen(fd, BACKLOG) == 0))
		return (fd);
	saved = errno;
	close(fd);
	errno = saved;
	return (-1);
}

_Noreturn void
maker_listen(uint32_t slot, uint32_t generation, unsigned which, int net_ns)
{
	const char *step = "joining a network namespace";
	struct imsg *m;
	int fds[NROWS], n = 0, k;
	size_t i;

	if (setns(net_ns, CLONE_NEWNET) == -1)
		goto fail;
	FAULT("worker.listen-joined");
	for (i = 0; i < NROWS; i++) {
		if ((which & rows[i].bit) == 0)
			continue;
		step = rows[i].step;
		if ((fds[n++] = open_row(i)) == -1)
			goto fail;
	}
	FAULT("worker.listening");
	m = maker_reply(MSG_LISTENING, slot, generation, 0, "");
	for (k = 0; k < n; k++)
		imsg_put_fd(m, fds[k]);
	maker_answer(m);
fail:
	maker_answer(maker_reply(MSG_LISTENING, slot, generation, errno,
	    step));
}
