/* PEER: only a connection accepted on that plane's listener has an identity. */

#include <sys/socket.h>
#include <sys/un.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../policyd/peer.h"
#include "unit.h"

static char		 dir[64], path[2][128];
static int		 listener[2];
static struct cf_listen	 listens[2];
static struct slice	 conf_slice;

static int
bound(int type, const char *name)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd;

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", name);
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	return (fd);
}

static void
set_up(void)
{
	int i;

	snprintf(dir, sizeof(dir), "/tmp/check-peer.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%d.sock", dir, i);
		listener[i] = bound(SOCK_STREAM, path[i]);
		ck_assert_int_eq(listen(listener[i], 5), 0);
		listens[i].plane = i == 0 ? PLANE_AGENT : PLANE_OPERATOR;
		listens[i].path = path[i];
	}
	conf_slice.listens = listens;
	conf_slice.nlistens = 2;
}

static void
tear_down(void)
{
	unlink(path[0]);
	unlink(path[1]);
	rmdir(dir);
}

/* Both ends of a connection to a listener. */
static void
connected(int i, int *client, int *server)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path[i]);
	*client = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(connect(*client, (struct sockaddr *)&sun,
	    sizeof(sun)), 0);
	*server = accept(listener[i], NULL, NULL);
	ck_assert_int_ne(*server, -1);
}

static int
refused(int fd, enum cf_plane plane)
{
	struct peer_ids ids;
	const char *why = NULL;

	if (peer_read(fd, plane, &conf_slice, &ids, &why) == 0)
		return (0);
	ck_assert_ptr_nonnull(why);
	return (1);
}

START_TEST(accepted_is_known)
{
	struct peer_ids ids;
	int client, server;
	const char *why;

	connected(0, &client, &server);
	ck_assert_int_eq(peer_read(server, PLANE_AGENT, &conf_slice, &ids,
	    &why), 0);
	ck_assert_uint_eq(ids.uid, geteuid());
	ck_assert_uint_eq(ids.gid, getegid());
	/* gone or not, the connection was his */
	close(client);
	ck_assert_int_eq(peer_read(server, PLANE_AGENT, &conf_slice, &ids,
	    &why), 0);
}
END_TEST

START_TEST(other_plane)
{
	int client, server;

	connected(0, &client, &server);
	ck_assert(refused(server, PLANE_OPERATOR));
	connected(1, &client, &server);
	ck_assert(refused(server, PLANE_AGENT));
	ck_assert(!refused(server, PLANE_OPERATOR));
}
END_TEST

START_TEST(connecting_end)
{
	int client, server;

	connected(0, &client, &server);
	ck_assert(refused(client, PLANE_AGENT));
}
END_TEST

START_TEST(forged_socketpair)
{
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	ck_assert(refused(pair[0], PLANE_AGENT));
	ck_assert(refused(pair[1], PLANE_OPERATOR));
}
END_TEST

START_TEST(listener_itself)
{
	ck_assert(refused(listener[0], PLANE_AGENT));
	ck_assert(refused(listener[1], PLANE_OPERATOR));
}
END_TEST

/* Bound to the right name, but no stream: the name was free for a moment. */
START_TEST(forged_datagram)
{
	int fd;

	unlink(path[0]);
	fd = bound(SOCK_DGRAM, path[0]);
	ck_assert(refused(fd, PLANE_AGENT));
	close(fd);
	unlink(path[0]);
	fd = bound(SOCK_SEQPACKET, path[0]);
	ck_assert(refused(fd, PLANE_AGENT));
}
END_TEST

START_TEST(forged_tcp)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	int fd, client, server;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(connect(client, (struct sockaddr *)&sin,
	    sizeof(sin)), 0);
	server = accept(fd, NULL, NULL);
	ck_assert(refused(server, PLANE_AGENT));
	ck_assert(refused(fd, PLANE_AGENT));
}
END_TEST

START_TEST(forged_names)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char longer[160];
	int pipes[2], fd;

	/* a name that only begins like ours */
	snprintf(longer, sizeof(longer), "%sx", path[0]);
	fd = bound(SOCK_STREAM, longer);
	ck_assert(refused(fd, PLANE_AGENT));
	unlink(longer);
	close(fd);
	/* an abstract one with our path in it */
	snprintf(sun.sun_path + 1, sizeof(sun.sun_path) - 1, "%.100s",
	    path[0]);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	ck_assert(refused(fd, PLANE_AGENT));
	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert(refused(pipes[0], PLANE_AGENT));
	ck_assert(refused(-1, PLANE_AGENT));
}
END_TEST

/* A socket bound to our name that was never accepted has no peer. */
START_TEST(forged_unconnected)
{
	int fd;

	unlink(path[0]);
	fd = bound(SOCK_STREAM, path[0]);
	ck_assert(refused(fd, PLANE_AGENT));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_peer");
	TCase *tc = tcase_create("peer");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, accepted_is_known);
	tcase_add_test(tc, other_plane);
	tcase_add_test(tc, connecting_end);
	tcase_add_test(tc, forged_socketpair);
	tcase_add_test(tc, listener_itself);
	tcase_add_test(tc, forged_datagram);
	tcase_add_test(tc, forged_tcp);
	tcase_add_test(tc, forged_names);
	tcase_add_test(tc, forged_unconnected);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
