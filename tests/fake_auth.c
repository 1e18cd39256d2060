/*
 * What the played policyd knows of tokens: "good" is key:good, and "late" is
 * answered twice: with a no at once, and with a yes when nobody waits for it.
 */
#include <sys/socket.h>
#include <netinet/in.h>
#include <err.h>
#include <string.h>

#include "fake_auth.h"
#include "protocol.h"

static uint32_t late;

static void
yes(struct channel *api, uint32_t number, const char *who)
{
	struct imsg *m = imsg_new(MSG_PEER_OK);

	imsg_put_u32(m, number);
	imsg_put_u64(m, number);
	imsg_put_u32(m, PRINCIPAL_KEYS);
	imsg_put_str(m, who);
	channel_send(api, m);
}

static void
no(struct channel *api, uint32_t number)
{
	struct imsg *m = imsg_new(MSG_AUTH_NO);

	imsg_put_u32(m, number);
	imsg_put_u16(m, 401);
	imsg_put_u32(m, 0);
	imsg_put_str(m, "");
	imsg_put_str(m, "");
	channel_send(api, m);
}

int
fake_on_auth(struct channel *api, struct imsg *m)
{
	uint32_t number = imsg_get_u32(m);
	char token[600], source[64];

	imsg_get_str(m, token, sizeof(token));
	imsg_get_str(m, source, sizeof(source));
	if (imsg_end(m) == -1)
		return (-1);
	if (late != 0)
		yes(api, late, "key:late");
	late = strcmp(token, "late") == 0 ? number : 0;
	if (strcmp(token, "good") == 0)
		yes(api, number, "key:good");
	else
		no(api, number);
	return (0);
}

int
fake_listen_tcp(uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	int fd, on = 1;

	in.sin_port = htons(port);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on,
	    sizeof(on)) == -1 ||
	    bind(fd, (struct sockaddr *)&in, sizeof(in)) == -1 ||
	    listen(fd, 16) == -1)
		err(1, "port %u", port);
	return (fd);
}
