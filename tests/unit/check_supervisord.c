/* Parts of supervisord that need no child: restarts, blocks, state, sockets. */
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf.h"
#include "listener.h"
#include "log.h"
#include "notify.h"
#include "restart.h"
#include "state.h"
#include "uids.h"
#include "unit.h"

static char tmp[] = "/tmp/check_supervisord.XXXXXX";
static char why[WHY_MAX];

static void
enter(void)
{
	ck_assert_ptr_nonnull(mkdtemp(tmp));
	ck_assert_int_eq(chdir(tmp), 0);
}

static void
remove_in(const char *dir)
{
	struct dirent *e;
	DIR *d;

	if ((d = opendir(dir)) == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(d), e->d_name, 0) == -1)
			(void)unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	(void)closedir(d);
}

static void
leave(void)
{
	char sub[64];

	(void)snprintf(sub, sizeof(sub), "%s/state/policy", tmp);
	remove_in(sub);
	(void)snprintf(sub, sizeof(sub), "%s/state", tmp);
	remove_in(sub);
	(void)snprintf(sub, sizeof(sub), "%s/uids", tmp);
	remove_in(sub);
	(void)snprintf(sub, sizeof(sub), "%s/sub", tmp);
	remove_in(sub);
	remove_in(tmp);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(tmp), 0);
}

static const char *
at(const char *name)
{
	static char path[PATH_BYTES_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", tmp, name);
	return (path);
}

/* ---- restarts ---- */

START_TEST(restart_backs_off)
{
	struct restart r = { .ndeaths = 0 };

	ck_assert_int_eq(restart_died(&r, 1000, -1, 60000), 0);
	ck_assert_int_eq(restart_died(&r, 1100, -1, 60000), 100);
	ck_assert_int_eq(restart_died(&r, 1300, -1, 60000), 200);
	ck_assert_int_eq(restart_died(&r, 1600, -1, 60000), 400);
	ck_assert_int_eq(restart_died(&r, 2100, -1, 60000), -1);
	/* Tried again within the window: one more death is too many too. */
	ck_assert_int_eq(restart_died(&r, 2200, -1, 60000), -1);
}
END_TEST

START_TEST(restart_is_bounded)
{
	struct restart r = { .ndeaths = 0 };
	int64_t now = 0;
	int i, wait = 0;

	/* Seldom enough for a window of a second, but never up that long. */
	for (i = 0; i < 20; i++) {
		now += 900;
		wait = restart_died(&r, now, now - 10, 1000);
		ck_assert_int_ge(wait, 0);
		ck_assert_int_le(wait, RESTART_MOST);
	}
	ck_assert_int_eq(wait, RESTART_MOST);
}
END_TEST

START_TEST(restart_forgets)
{
	struct restart r = { .ndeaths = 0 };
	int64_t now = 0;
	int i;

	for (i = 0; i < 4; i++)
		(void)restart_died(&r, ++now, -1, 60000);
	/* It ran for a whole window: the next death is a first one. */
	ck_assert_int_eq(restart_died(&r, now + 70000, now + 5000, 60000), 0);
	ck_assert_int_eq(restart_died(&r, now + 70001, -1, 60000), 100);
}
END_TEST

/* Five deaths count only if they are near each other. */
START_TEST(restart_window_slides)
{
	struct restart r = { .ndeaths = 0 };
	int i;

	for (i = 0; i < 10; i++)
		ck_assert_int_ge(restart_died(&r, i * 20000, i * 20000 - 10,
		    60000), 0);
}
END_TEST

/* ---- blocks of uids ---- */

static struct uids
want(const char *instance, uint32_t start, uint32_t count)
{
	struct uids u = {
		.dir = at("uids"), .instance = instance, .start = start,
		.count = count, .wish = 0, .fd = -1
	};

	return (u);
}

START_TEST(uids_first_free)
{
	struct uids a, b, c;

	enter();
	a = want("a", 0, 4096);
	ck_assert_msg(uids_lock(&a, why) == 0, "%s", why);
	ck_assert_uint_eq(a.start, CONF_PRIVATE_START);
	b = want("b", 0, 4096);
	ck_assert_msg(uids_lock(&b, why) == 0, "%s", why);
	ck_assert_uint_eq(b.start, CONF_PRIVATE_START + 4096);
	uids_unlock(&a);
	/* The wish comes first, then the first free one. */
	c = want("c", 0, 4096);
	c.wish = CONF_PRIVATE_START + 8192;
	ck_assert_msg(uids_lock(&c, why) == 0, "%s", why);
	ck_assert_uint_eq(c.start, CONF_PRIVATE_START + 8192);
	a = want("a", 0, 4096);
	a.wish = b.start;
	ck_assert_msg(uids_lock(&a, why) == 0, "%s", why);
	ck_assert_uint_eq(a.start, CONF_PRIVATE_START);
	uids_unlock(&a);
	uids_unlock(&b);
	uids_unlock(&c);
	leave();
}
END_TEST

START_TEST(uids_overlap)
{
	struct uids a, b;

	enter();
	a = want("a", 1900000000, 65536);
	ck_assert_msg(uids_lock(&a, why) == 0, "%s", why);
	b = want("b", 1900000000, 4096);
	ck_assert_int_eq(uids_lock(&b, why), -1);
	ck_assert_ptr_nonnull(strstr(why, "in use by instance \"a\""));
	b = want("b", 1900065535, 2);
	ck_assert_int_eq(uids_lock(&b, why), -1);
	b = want("b", 1899999999, 2);
	ck_assert_int_eq(uids_lock(&b, why), -1);
	b = want("b", 1900065536, 4096);
	ck_assert_int_eq(uids_lock(&b, why), 0);
	uids_unlock(&a);
	uids_unlock(&b);
	leave();
}
END_TEST

START_TEST(uids_instance_once)
{
	struct uids a, b;

	enter();
	a = want("same", 0, 4096);
	ck_assert_int_eq(uids_lock(&a, why), 0);
	b = want("same", 0, 4096);
	ck_assert_int_eq(uids_lock(&b, why), -1);
	ck_assert_ptr_nonnull(strstr(why, "instance \"same\" runs already"));
	uids_unlock(&a);
	ck_assert_int_eq(uids_lock(&b, why), 0);
	uids_unlock(&b);
	leave();
}
END_TEST

/* A holder that was killed leaves its file, and no lock. */
START_TEST(uids_stale)
{
	struct uids a;
	pid_t pid;
	int status;

	enter();
	if ((pid = fork()) == 0) {
		a = want("a", 0, 4096);
		_exit(uids_lock(&a, why) == 0 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(access("uids/1900065536", F_OK), 0);
	a = want("a", 0, 4096);
	ck_assert_int_eq(uids_lock(&a, why), 0);
	ck_assert_uint_eq(a.start, CONF_PRIVATE_START);
	uids_unlock(&a);
	ck_assert_int_eq(access("uids/1900065536", F_OK), -1);
	leave();
}
END_TEST

START_TEST(uids_directory)
{
	struct uids a;

	enter();
	ck_assert_int_eq(mkdir("uids", 0755), 0);
	ck_assert_int_eq(chmod("uids", 0755), 0);
	a = want("a", 0, 4096);
	ck_assert_int_eq(uids_lock(&a, why), -1);
	ck_assert_ptr_nonnull(strstr(why, "mode 0700"));
	leave();
}
END_TEST

/* ---- the state directory ---- */

static void
check_mode(const char *name, mode_t mode, uid_t uid)
{
	struct stat st;

	ck_assert_int_eq(lstat(name, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, mode);
	ck_assert_uint_eq(st.st_uid, uid);
}

START_TEST(state_layout)
{
	struct state s = { .path = at("state") };
	uid_t me = geteuid();

	enter();
	s.path = at("state");
	ck_assert_msg(state_open(&s, why) == 0, "%s", why);
	ck_assert(s.policy_owner == (uid_t)-1);
	ck_assert_msg(state_fill(&s, me, getegid(), 0, why) == 0, "%s", why);
	check_mode("state", 0711, me);
	check_mode("state/lock", 0600, me);
	check_mode("state/policy", 0700, me);
	check_mode("state/neurons", 0700, me);
	check_mode("state/empty", 0755, me);
	state_close(&s);
	/* And again, now that all is there. */
	ck_assert_int_eq(state_open(&s, why), 0);
	ck_assert(s.policy_owner == me);
	ck_assert_int_eq(state_fill(&s, me, getegid(), 0, why), 0);
	state_close(&s);
	leave();
}
END_TEST

START_TEST(state_once)
{
	struct state s, t;

	enter();
	s.path = t.path = at("state");
	ck_assert_int_eq(state_open(&s, why), 0);
	ck_assert_int_eq(state_open(&t, why), -1);
	ck_assert_str_eq(why, "another instance uses it");
	state_close(&s);
	leave();
}
END_TEST

START_TEST(state_refused)
{
	struct state s;

	enter();
	s.path = at("state");
	ck_assert_int_eq(mkdir("state", 0777), 0);
	ck_assert_int_eq(chmod("state", 0777), 0);
	ck_assert_int_eq(state_open(&s, why), -1);
	ck_assert_ptr_nonnull(strstr(why, "mode 0777"));
	ck_assert_int_eq(chmod("state", 0711), 0);
	ck_assert_int_eq(mkdir("state/empty", 0755), 0);
	ck_assert_int_eq(chmod("state/empty", 0755), 0);
	ck_assert_int_eq(mkdir("state/empty/x", 0700), 0);
	ck_assert_int_eq(state_open(&s, why), 0);
	ck_assert_int_eq(state_fill(&s, geteuid(), getegid(), 0, why), -1);
	ck_assert_str_eq(why, "empty is not empty");
	ck_assert_int_eq(rmdir("state/empty/x"), 0);
	ck_assert_int_eq(chmod("state/policy", 0750), 0);
	ck_assert_int_eq(state_fill(&s, geteuid(), getegid(), 0, why), -1);
	ck_assert_ptr_nonnull(strstr(why, "policy has uid"));
	state_close(&s);
	leave();
}
END_TEST

START_TEST(state_link)
{
	struct state s;

	enter();
	s.path = at("state");
	ck_assert_int_eq(mkdir("sub", 0711), 0);
	ck_assert_int_eq(symlink("sub", "state"), 0);
	ck_assert_int_eq(state_open(&s, why), -1);
	leave();
}
END_TEST

/* A private instance with another block takes its old files along. */
START_TEST(state_reown)
{
	struct state s;
	int fd;

	if (geteuid() != 0)
		return;
	enter();
	s.path = at("state");
	ck_assert_int_eq(state_open(&s, why), 0);
	ck_assert_int_eq(state_fill(&s, 70004, 70004, 1, why), 0);
	fd = open("state/policy/state.db", O_CREAT | O_WRONLY | O_CLOEXEC,
	    0600);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(fchown(fd, 70004, 70004), 0);
	ck_assert_int_eq(close(fd), 0);
	ck_assert_int_eq(symlink("/etc/passwd", "state/policy/link"), 0);
	ck_assert_int_eq(lchown("state/policy/link", 70004, 70004), 0);
	state_close(&s);
	ck_assert_int_eq(state_open(&s, why), 0);
	ck_assert_uint_eq(s.policy_owner, 70004);
	/* Not private: refused. */
	ck_assert_int_eq(state_fill(&s, 80004, 80004, 0, why), -1);
	ck_assert_msg(state_fill(&s, 80004, 80004, 1, why) == 0, "%s", why);
	check_mode("state/policy", 0700, 80004);
	check_mode("state/policy/state.db", 0600, 80004);
	check_mode("/etc/passwd", 0644, 0);
	state_close(&s);
	leave();
}
END_TEST

/* ---- sockets ---- */

static struct cf_listen line = { .plane = PLANE_AGENT, .gid = (gid_t)-1,
	.mode = 0660 };

static struct listener
listener_at(const char *name)
{
	struct listener l = { .conf = &line, .also = (uid_t)-1, .fd = -1 };

	free(line.path);
	ck_assert_ptr_nonnull(line.path = strdup(at(name)));
	return (l);
}

static int
connects(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd, result;

	(void)strlcpy(sun.sun_path, path, sizeof(sun.sun_path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ne(fd, -1);
	result = connect(fd, (const struct sockaddr *)&sun, sizeof(sun));
	(void)close(fd);
	return (result == 0);
}

START_TEST(listener_dress)
{
	struct listener l;
	struct stat st;

	enter();
	l = listener_at("sub/s");
	line.gid = geteuid() == 0 ? 1234 : getegid();
	line.mode = 0666;
	ck_assert_msg(listener_open(&l, why) == 0, "%s", why);
	ck_assert_int_eq(stat("sub/s", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0666);
	ck_assert_uint_eq(st.st_gid, line.gid);
	ck_assert(connects(line.path));
	listener_close(&l);
	ck_assert_int_eq(access("sub/s", F_OK), -1);
	leave();
}
END_TEST

START_TEST(listener_live)
{
	struct listener a, b;

	enter();
	a = listener_at("s");
	ck_assert_int_eq(listener_open(&a, why), 0);
	b = a;
	ck_assert_int_eq(listener_open(&b, why), -1);
	ck_assert_str_eq(why, "another instance listens on it");
	/* The loser leaves the winner's socket alone. */
	listener_close(&b);
	ck_assert(connects(line.path));
	listener_close(&a);
	leave();
}
END_TEST

START_TEST(listener_stale)
{
	struct listener a, b;

	enter();
	a = listener_at("s");
	ck_assert_int_eq(listener_open(&a, why), 0);
	b = a;
	(void)close(a.fd);
	ck_assert_msg(listener_open(&b, why) == 0, "%s", why);
	/* What was replaced behind our back is not ours to unlink. */
	ck_assert_int_eq(unlink("s"), 0);
	ck_assert_int_eq(mkdir("s", 0700), 0);
	listener_close(&b);
	ck_assert_int_eq(access("s", F_OK), 0);
	leave();
}
END_TEST

START_TEST(listener_refused)
{
	struct listener l;
	int fd;

	enter();
	l = listener_at("s");
	ck_assert_int_ne(fd = open("s", O_CREAT | O_WRONLY | O_CLOEXEC, 0600),
	    -1);
	(void)close(fd);
	ck_assert_int_eq(listener_open(&l, why), -1);
	ck_assert_str_eq(why, "is there and is not a socket");
	ck_assert_int_eq(access("s", F_OK), 0);
	ck_assert_int_eq(mkdir("sub", 0777), 0);
	ck_assert_int_eq(chmod("sub", 0777), 0);
	l = listener_at("sub/s");
	ck_assert_int_eq(listener_open(&l, why), -1);
	ck_assert_ptr_nonnull(strstr(why, "its directory"));
	l = listener_at("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	ck_assert_int_eq(listener_open(&l, why), -1);
	ck_assert_ptr_nonnull(strstr(why, "the most is 107"));
	leave();
}
END_TEST

/* ---- sd_notify ---- */

START_TEST(notify_datagram)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char text[64] = "";
	int fd;

	enter();
	(void)snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/n", tmp);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&sun, sizeof(sun)),
	    0);
	ck_assert_int_eq(setenv("NOTIFY_SOCKET", sun.sun_path, 1), 0);
	notify_send("READY=%d", 1);
	ck_assert_int_eq(recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT), 7);
	ck_assert_str_eq(text, "READY=1");
	(void)close(fd);
	leave();
}
END_TEST

START_TEST(notify_abstract)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char text[64] = "", name[64];
	socklen_t size;
	int fd;

	(void)snprintf(name, sizeof(name), "@check_supervisord.%d", getpid());
	(void)strlcpy(sun.sun_path, name, sizeof(sun.sun_path));
	sun.sun_path[0] = '\0';
	size = (socklen_t)(sizeof(sun.sun_family) + strlen(name));
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&sun, size), 0);
	ck_assert_int_eq(setenv("NOTIFY_SOCKET", name, 1), 0);
	notify_send("STOPPING=1");
	ck_assert_int_eq(recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT), 10);
	(void)close(fd);
}
END_TEST

START_TEST(notify_dog)
{
	char pid[32];

	ck_assert_int_eq(notify_watchdog(), 0);
	ck_assert_int_eq(setenv("WATCHDOG_USEC", "30000000", 1), 0);
	ck_assert_int_eq(notify_watchdog(), 15000);
	ck_assert_int_eq(setenv("WATCHDOG_PID", "1", 1), 0);
	ck_assert_int_eq(notify_watchdog(), 0);
	(void)snprintf(pid, sizeof(pid), "%d", getpid());
	ck_assert_int_eq(setenv("WATCHDOG_PID", pid, 1), 0);
	ck_assert_int_eq(notify_watchdog(), 15000);
	ck_assert_int_eq(setenv("WATCHDOG_USEC", "x", 1), 0);
	ck_assert_int_eq(notify_watchdog(), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("supervisord");
	TCase *t = tcase_create("parts");

	(void)umask(077);
	tcase_add_test(t, restart_backs_off);
	tcase_add_test(t, restart_is_bounded);
	tcase_add_test(t, restart_forgets);
	tcase_add_test(t, restart_window_slides);
	tcase_add_test(t, uids_first_free);
	tcase_add_test(t, uids_overlap);
	tcase_add_test(t, uids_instance_once);
	tcase_add_test(t, uids_stale);
	tcase_add_test(t, uids_directory);
	tcase_add_test(t, state_layout);
	tcase_add_test(t, state_once);
	tcase_add_test(t, state_refused);
	tcase_add_test(t, state_link);
	tcase_add_test(t, state_reown);
	tcase_add_test(t, listener_dress);
	tcase_add_test(t, listener_live);
	tcase_add_test(t, listener_stale);
	tcase_add_test(t, listener_refused);
	tcase_add_test(t, notify_datagram);
	tcase_add_test(t, notify_abstract);
	tcase_add_test(t, notify_dog);
	suite_add_tcase(s, t);
	return (unit_main(s));
}
