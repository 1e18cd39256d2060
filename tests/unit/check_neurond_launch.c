/*
 * The real neurond against a policyd that was taken over: this program plays
 * supervisord and policyd by raw packets.  Whatever it is told, neurond makes
 * nothing that the configuration does not name, runs nothing on the host, and
 * lives.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "neurond_rig.h"
#include "unit.h"

#define MANY	100000

/* ---- what it is asked to make ---- */

static void
refused(const struct make *m, const char *words)
{
	char id[ID_SIZE], got[ID_SIZE], why[1024];
	unsigned cause;
	struct got g;

	id_make(ID_NEURON, id);
	send_make(m, id);
	want(MSG_NEURON_GONE, &g);
	cause = dec_u8(&g.d);
	dec_str(&g.d, got, sizeof(got));
	dec_str(&g.d, why, sizeof(why));
	ck_assert_str_eq(got, id);
	ck_assert_msg(cause == GONE_REFUSED && strstr(why, words) != NULL,
	    "%s: cause %u: %s", words, cause, why);
}

START_TEST(makes_nothing_that_is_not_configured)
{
	char ok[80], state[80], link[96];
	const struct make makes[] = {
		{ LINE_ROOT, 1000, 1000, "nosuch", "" },
		{ LINE_ROOT, 1000, 1000, "", "" },
		{ LINE_ROOT, 1000, 1000, "../small", "" },
		/* configured, but for another line */
		{ LINE_ROOT, 1000, 1000, "small", "" },
		{ LINE_USER, OWNER, OWNER, "small", "" },
		{ LINE_LIST, OWNER + 1, OWNER, "default", "" },
	};
	const struct {
		struct make	 make;
		const char	*words;
	} more[] = {
		{ { 3, 1000, 1000, "default", "" }, "no such principal line" },
		{ { UINT32_MAX, 1000, 1000, "default", "" },
		    "no such principal line" },
		/* outside of the line's patterns */
		{ { LINE_USER, OWNER, OWNER, "default", "/tmp/other" },
		    "not among the workspaces" },
		{ { LINE_USER, OWNER, OWNER, "default", "/srv/ok" },
		    "not among the workspaces" },
		/* of the system, whatever a line says */
		{ { LINE_ROOT, 1000, 1000, "default", "/" }, "of the system" },
		{ { LINE_ROOT, 1000, 1000, "default", "/etc" },
		    "of the system" },
		{ { LINE_ROOT, 1000, 1000, "default", "/usr/share" },
		    "of the system" },
		{ { LINE_ROOT, 1000, 1000, "default", "/proc/1/root" },
		    "of the system" },
		{ { LINE_ROOT, 1000, 1000, "default", "/home" },
		    "of the system" },
		/* no path at all */
		{ { LINE_ROOT, 1000, 1000, "default", "srv" },
		    "not an absolute path" },
		{ { LINE_ROOT, 1000, 1000, "default", "/srv/../etc" },
		    "not an absolute path" },
		{ { LINE_ROOT, 1000, 1000, "default", "//etc" },
		    "not an absolute path" },
		/* Myelin's own */
		{ { LINE_ROOT, 1000, 1000, "default", state },
		    "Myelin's own state" },
		{ { LINE_ROOT, 1000, 1000, "default", t.dir },
		    "Myelin's own state" },
		/* owners */
		{ { LINE_ROOT, 0, 0, "default", ok }, "belong to root" },
		{ { LINE_ROOT, 0, 1000, "default", ok }, "belong to root" },
		{ { LINE_ROOT, 1000, 0, "default", ok }, "root's group" },
		{ { LINE_USER, 0, 0, "default", ok }, "belong to root" },
		{ { LINE_USER, 1000, 1000, "default", ok }, "does not name" },
		{ { LINE_LIST, OWNER, OWNER, "small", ok }, "does not name" },
		/* what the file system says, walked as the owner */
		{ { LINE_ROOT, 1000, 1000, "default", ok },
		    "not to its owner" },
		{ { LINE_USER, OWNER, OWNER, "default", link }, "workspace" },
	};
	size_t i;

	snprintf(ok, sizeof(ok), "%s/ok", t.dir);
	snprintf(state, sizeof(state), "%s/state/x", t.dir);
	snprintf(link, sizeof(link), "%s/ok-link", t.dir);
	ck_assert_int_eq(mkdir(ok, 0755), 0);
	ck_assert_int_eq(chown(ok, OWNER, OWNER), 0);
	ck_assert_int_eq(symlink("/etc", link), 0);
	for (i = 0; i < sizeof(makes) / sizeof(makes[0]); i++)
		refused(&makes[i], "the profile is not one");
	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		refused(&more[i].make, more[i].words);
	alive();
	still_serves();
}
END_TEST

/* The control: what is configured is made. */
START_TEST(makes_what_is_configured)
{
	char ok[80], id[ID_SIZE];
	struct make m = { LINE_LIST, OWNER + 1, OWNER, "small", ok };
	struct got g;

	snprintf(ok, sizeof(ok), "%s/ok", t.dir);
	ck_assert_int_eq(mkdir(ok, 0755), 0);
	ck_assert_int_eq(chown(ok, OWNER + 1, OWNER), 0);
	id_make(ID_NEURON, id);
	send_make(&m, id);
	want(MSG_NEURON_UP, &g);
}
END_TEST

START_TEST(names_that_are_none)
{
	static const char *const ids[] = {
		"", "../x", "n-../../../../etc/pw", "n-", "x",
		"c-22222222222222222222", "n-2222222222222222222",
		"n-222222222222222222222", "N-22222222222222222222",
		"n-2222222222222222222/"
	};
	size_t i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		send_make(&plain, ids[i]);
		want_closed(ids[i]);
	}
	still_serves();
}
END_TEST

START_TEST(a_live_id_twice)
{
	char id[ID_SIZE];
	struct got g;

	id_make(ID_NEURON, id);
	send_make(&plain, id);
	want(MSG_NEURON_UP, &g);
	send_make(&plain, id);
	want_closed("a live id twice");
	still_serves();
}
END_TEST

START_TEST(groups_that_are_none)
{
	static const uint8_t bytes[4 * (GROUPS_MAX + 1)];
	static const size_t sizes[] = { 1, 6, sizeof(bytes) };
	struct enc *e;
	char id[ID_SIZE];
	size_t i;

	for (i = 0; i < 3; i++) {
		id_make(ID_NEURON, id);
		e = enc_new(MSG_MAX_SIZE);
		enc_u32(e, GENERATION);
		enc_u32(e, 0);
		enc_u32(e, 1000);
		enc_u32(e, 1000);
		enc_bytes(e, bytes, sizes[i]);
		enc_str(e, id);
		enc_str(e, "default");
		enc_str(e, "");
		rig_send(t.launch, MSG_NEURON_MAKE, e, NULL, 0);
		want_closed("groups");
	}
	still_serves();
}
END_TEST

/* ---- what it is asked to run ---- */

START_TEST(launches_that_can_not_be)
{
	static const char *const argv[] = { "sleep", "60", NULL };
	static const char *const ids[] = { "", "../x", "x",
	    "n-22222222222222222222" };
	int loose = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int wrong[4][3], i;
	char neuron[ID_SIZE], call[ID_SIZE];
	struct ends e;

	id_make(ID_NEURON, neuron);
	id_make(ID_CALL, call);
	ends_open(&e, argv);
	for (i = 0; i < 4; i++) {
		send_launch(1000, STDIN_NONE, neuron, ids[i], e.fds, 3);
		want_closed("the id of a call");
	}
	send_launch(0, STDIN_NONE, neuron, call, e.fds, 3);
	want_closed("no clock");
	send_launch(1000, STDIN_STREAM + 1, neuron, call, e.fds, 4);
	want_closed("kind of stdin");
	send_launch(1000, STDIN_NONE, neuron, call, e.fds, 4);
	want_closed("an input that is none");
	send_launch(1000, STDIN_STREAM, neuron, call, e.fds, 3);
	want_closed("no input");
	for (i = 0; i < 4; i++)
		memcpy(wrong[i], e.fds, sizeof(wrong[i]));
	wrong[0][0] = loose;		/* a block that could change */
	wrong[1][1] = null;		/* an output that is no pipe */
	wrong[2][2] = dir;
	wrong[3][1] = e.out[0];		/* the wrong end */
	for (i = 0; i < 4; i++) {
		send_launch(1000, STDIN_NONE, neuron, call, wrong[i], 3);
		want_closed("an fd of the wrong kind");
	}
	ends_close(&e);
	close(loose);
	close(dir);
	close(null);
	still_serves();
}
END_TEST

static void
want_unrun(const char *neuron, const char *words)
{
	static const char *const argv[] = { "true", NULL };
	char call[ID_SIZE], got[ID_SIZE], detail[1024];
	struct ends e;
	struct got g;

	id_make(ID_CALL, call);
	ends_open(&e, argv);
	send_launch(1000, STDIN_NONE, neuron, call, e.fds, 3);
	want(MSG_ENDED, &g);
	ck_assert_uint_eq(dec_u8(&g.d), END_LAUNCH_FAILED);
	dec_raw(&g.d, detail, 45);
	dec_str(&g.d, got, sizeof(got));
	dec_str(&g.d, detail, sizeof(detail));
	ck_assert_str_eq(got, call);
	ck_assert_msg(strstr(detail, words) != NULL, "%s", detail);
	ends_close(&e);
}

START_TEST(launches_without_a_neuron)
{
	char neuron[ID_SIZE];

	id_make(ID_NEURON, neuron);
	want_unrun(neuron, "no such neuron");
	want_unrun("../../etc", "no such neuron");
	want_unrun("", "no such neuron");
	still_serves();
}
END_TEST

START_TEST(a_live_call_twice)
{
	static const char *const argv[] = { "sleep", "60", NULL };
	char neuron[ID_SIZE], call[ID_SIZE];
	struct ends e;
	struct got g;

	id_make(ID_NEURON, neuron);
	id_make(ID_CALL, call);
	ends_open(&e, argv);
	send_make(&plain, neuron);
	send_launch(60000, STDIN_NONE, neuron, call, e.fds, 3);
	want(MSG_NEURON_UP, &g);
	send_launch(60000, STDIN_NONE, neuron, call, e.fds, 3);
	want_closed("a live call twice");
	ends_close(&e);
	still_serves();
}
END_TEST

/* Before its program runs, while it starts, and just after: its neuron stays. */
START_TEST(cancelled_on_its_way)
{
	static const char *const argv[] = { "sleep", "60", NULL };
	char neuron[ID_SIZE], call[ID_SIZE];
	struct ends e;
	struct enc *m;
	struct got g;
	unsigned i;

	id_make(ID_NEURON, neuron);
	send_make(&plain, neuron);
	want(MSG_NEURON_UP, &g);
	for (i = 0; i < 100; i++) {
		id_make(ID_CALL, call);
		ends_open(&e, argv);
		send_launch(60000, STDIN_NONE, neuron, call, e.fds, 3);
		usleep(i * 50);
		m = enc_new(64);
		enc_u8(m, END_CANCELLED);
		enc_str(m, call);
		rig_send(t.launch, MSG_KILL, m, NULL, 0);
		want(MSG_ENDED, &g);
		ck_assert_uint_eq(dec_u8(&g.d), END_CANCELLED);
		ck_assert_uint_eq(g.d.p[28] & ENDED_F_RETIRED, 0);
		ends_close(&e);
	}
}
END_TEST

/* Whatever is started is started in a neuron: root's files are not there. */
START_TEST(runs_nothing_on_the_host)
{
	char path[96], command[256];
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };

	snprintf(path, sizeof(path), "%s/ran", t.dir);
	snprintf(command, sizeof(command), "id -u >%s || exit 3; "
	    "test -e /etc/shadow && echo >%s; exit 0", path, path);
	ck_assert_uint_eq(whole_call(argv), END_EXITED);
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

START_TEST(ends_that_can_not_be)
{
	static const unsigned causes[] = { 0, END_EXITED, END_SIGNALLED,
	    END_NEURON_LOST + 1, 255 };
	struct enc *e;
	size_t i;

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		e = enc_new(64);
		enc_u8(e, (uint8_t)causes[i]);
		enc_str(e, "c-22222222222222222222");
		rig_send(t.launch, MSG_KILL, e, NULL, 0);
		want_closed("the cause of a KILL");
	}
	still_serves();
}
END_TEST

START_TEST(steers_that_can_not_be)
{
	static const struct { unsigned type; uint32_t value; } rows[] = {
		{ MSG_CALL_SIGNAL, 0 }, { MSG_CALL_SIGNAL, 11 },
		{ MSG_CALL_SIGNAL, 64 }, { MSG_CALL_SIGNAL, UINT32_MAX },
		{ MSG_CALL_RESIZE, 0 }, { MSG_CALL_RESIZE, 80 },
		{ MSG_CALL_RESIZE, PTY_SIZE(24, 0) },
		{ MSG_CALL_RESIZE, PTY_SIZE(4097, 1) },
		{ MSG_CALL_RESIZE, UINT32_MAX },
	};
	struct enc *e;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		e = enc_new(64);
		enc_u32(e, rows[i].value);
		enc_str(e, "c-22222222222222222222");
		rig_send(t.launch, rows[i].type, e, NULL, 0);
		want_closed("a signal or size");
	}
	/* of what is not there they are nothing */
	for (i = 0; i < 2; i++) {
		e = enc_new(64);
		enc_u32(e, i == 0 ? 9 : PTY_SIZE(1, 1));
		enc_str(e, "c-22222222222222222222");
		rig_send(t.launch, i == 0 ? MSG_CALL_SIGNAL : MSG_CALL_RESIZE,
		    e, NULL, 0);
	}
	still_serves();
}
END_TEST

/* ---- floods and exhaustion ---- */

START_TEST(floods_of_what_is_not_there)
{
	struct enc *e;
	unsigned i;

	for (i = 0; i < MANY; i++) {
		e = enc_new(64);
		if (i % 2 == 0) {
			enc_u8(e, END_CANCELLED);
			enc_str(e, "c-22222222222222222222");
		} else
			enc_str(e, "../../../../../..");
		rig_send(t.launch, i % 2 == 0 ? MSG_KILL : MSG_NEURON_DROP, e,
		    NULL, 0);
	}
	alive();
	still_serves();
}
END_TEST

/* Each is answered, and nobody reads: the channel has a bound. */
START_TEST(flood_of_makes_unread)
{
	const struct make m = { 99, 0, 0, "nosuch", "" };
	char id[ID_SIZE];
	unsigned i;

	for (i = 0; i < MANY; i++) {
		id_make(ID_NEURON, id);
		send_make(&m, id);
	}
	want_closed("100,000 refusals unread");
	still_serves();
}
END_TEST

START_TEST(messages_that_break_the_table)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fds[16];
	struct enc *e;
	unsigned i;

	for (i = 0; i < 16; i++)
		fds[i] = null;
	ck_assert_int_eq(send(t.launch, "abc", 3, 0), 3);
	want_closed("half a message");
	rig_send(t.launch, 9999, NULL, NULL, 0);
	want_closed("an unknown type");
	e = enc_new(64);
	enc_u32(e, 1);
	rig_send(t.launch, MSG_PING, e, NULL, 0);
	want_closed("another channel's");
	rig_send(t.launch, MSG_STOP_PROC, NULL, NULL, 0);
	want_closed("the control channel's");
	e = enc_new(64);
	enc_str(e, "n-22222222222222222222");
	rig_send(t.launch, MSG_STARTED, e, NULL, 0);
	want_closed("its own direction");
	e = enc_new(64);
	enc_str(e, "n-22222222222222222222");
	rig_send(t.launch, MSG_NEURON_DROP, e, fds, 16);
	want_closed("fds where none belong");
	close(null);
	still_serves();
}
END_TEST

/*
 * At its limit of open files the kernel cuts a message's fds off, which costs
 * the channel and nothing else.
 */
START_TEST(out_of_descriptors)
{
	static const char *const argv[] = { "true", NULL };
	struct rlimit before, none = { 3, 0 };
	char neuron[ID_SIZE], call[ID_SIZE];
	struct ends e;

	id_make(ID_NEURON, neuron);
	id_make(ID_CALL, call);
	ends_open(&e, argv);
	ck_assert_int_eq(prlimit(t.pid, RLIMIT_NOFILE, NULL, &before), 0);
	none.rlim_max = before.rlim_max;
	ck_assert_int_eq(prlimit(t.pid, RLIMIT_NOFILE, &none, NULL), 0);
	send_launch(1000, STDIN_NONE, neuron, call, e.fds, 3);
	/* without room for the new end, too: the limit comes back first */
	for (;;) {
		struct got g;
		int n = rig_recv(t.launch, RIG_WAIT_MS, &g);

		ck_assert_int_ne(n, 0);
		if (n == -1)
			break;
	}
	want_control(MSG_LOST);
	alive();
	ck_assert_int_eq(prlimit(t.pid, RLIMIT_NOFILE, &before, NULL), 0);
	plumb();
	ends_close(&e);
	still_serves();
}
END_TEST

/* What is said of the maker: its pid, 0 while there is none. */
static pid_t
maker_said(uint32_t *restarts, unsigned *status)
{
	char name[32];
	struct got g;
	int32_t pid;

	do {
		ck_assert_int_eq(rig_recv(t.launch, RIG_WAIT_MS, &g), 1);
		if (g.type != MSG_HELPER)
			continue;
		pid = dec_i32(&g.d);
		*restarts = dec_u32(&g.d);
		*status = dec_u8(&g.d);
		dec_str(&g.d, name, sizeof(name));
	} while (g.type != MSG_HELPER || strcmp(name, "maker") != 0);
	return (pid);
}

/* A helper that can't be started now is started later: neurond lives. */
START_TEST(no_descriptors_for_a_helper)
{
	struct rlimit before, none = { 3, 0 };
	uint32_t restarts;
	unsigned status;
	pid_t maker;

	do
		maker = maker_said(&restarts, &status);
	while (status != PROC_ST_UP);
	ck_assert_int_eq(prlimit(t.pid, RLIMIT_NOFILE, NULL, &before), 0);
	none.rlim_max = before.rlim_max;
	ck_assert_int_eq(prlimit(t.pid, RLIMIT_NOFILE, &none, NULL), 0);
	ck_assert_int_eq(kill(maker, SIGKILL), 0);
	for (restarts = 0; restarts < 2;)
		(void)maker_said(&restarts, &status);
	alive();
	ck_assert_int_eq(prlimit(t.pid, RLIMIT_NOFILE, &before, NULL), 0);
	still_serves();
}
END_TEST

/* ---- homes ---- */

static void
send_drop(const char *id)
{
	struct enc *e = enc_new(256);

	enc_str(e, id);
	rig_send(t.launch, MSG_HOME_DROP, e, NULL, 0);
}

/* The error of the answer. */
static uint32_t
dropped(const char *id)
{
	char got[ID_SIZE], why[256];
	uint32_t error;
	struct got g;

	send_drop(id);
	want(MSG_HOME_DROPPED, &g);
	error = dec_u32(&g.d);
	dec_str(&g.d, got, sizeof(got));
	dec_str(&g.d, why, sizeof(why));
	ck_assert_str_eq(got, id);
	ck_assert_int_eq(error != 0, why[0] != '\0');
	return (error);
}

static int
made(const char *name)
{
	char path[160];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", t.dir, name);
	return (lstat(path, &st) == 0);
}

START_TEST(homes_that_are_none)
{
	static const char *const ids[] = {
		"", ".", "..", "../state", "n-../../../../etc/pw",
		"n-2222222222222222222/", "placeholders-1-1"
	};
	size_t i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		send_drop(ids[i]);
		want_closed(ids[i]);
	}
	ck_assert(made("state/neurons"));
}
END_TEST

/* Neither for who may not have a neuron, nor for one that must be there. */
static void
none_for_nothing(void)
{
	const struct make wrong = { 3 | MAKE_F_PERSISTENT, 1000, 1000,
	    "default", "" };
	const struct make lost = { LINE_ROOT | MAKE_F_PERSISTENT |
	    MAKE_F_KEPT, 1000, 1000, "default", "" };
	struct got g;

	refused(&wrong, "no such principal line");
	refused(&lost, "is lost");
	rig_send(t.launch, MSG_HOMES_ASK, NULL, NULL, 0);
	want(MSG_HOMES_END, &g);
	ck_assert_uint_eq(dec_u32(&g.d), 0);
}

/* As many as there are, by the names that they must have. */
static void
are_told(void)
{
	char id[ID_SIZE], got[ID_SIZE], command[512];
	struct got g;

	id_make(ID_NEURON, id);
	snprintf(command, sizeof(command), "cd %s/state/neurons && "
	    "mkdir -p %s x n-1 n-22222222222222222222 && "
	    "truncate -s 1M %s/home.img x/home.img n-1/home.img && "
	    "ln -s ../%s/home.img n-22222222222222222222/home.img",
	    t.dir, id, id, id);
	ck_assert_int_eq(system(command), 0);
	rig_send(t.launch, MSG_HOMES_ASK, NULL, NULL, 0);
	want(MSG_HOME, &g);
	(void)dec_u64(&g.d);
	ck_assert_uint_ne(dec_u64(&g.d), 0);
	dec_str(&g.d, got, sizeof(got));
	ck_assert_str_eq(got, id);
	want(MSG_HOMES_END, &g);
	ck_assert_uint_eq(dec_u32(&g.d), 1);
}

/* What lies where a home may be, and is none, is not removed with it. */
static void
removed_alone(void)
{
	char id[ID_SIZE], command[512], name[64];

	id_make(ID_NEURON, id);
	ck_assert_uint_eq(dropped(id), ENOENT);
	snprintf(command, sizeof(command), "cd %s/state/neurons && mkdir %s "
	    "&& touch %s/home.img %s/other", t.dir, id, id, id);
	ck_assert_int_eq(system(command), 0);
	ck_assert_uint_eq(dropped(id), ENOTEMPTY);
	snprintf(name, sizeof(name), "state/neurons/%s/other", id);
	ck_assert(made(name));
	snprintf(name, sizeof(name), "state/neurons/%s/home.img", id);
	ck_assert(!made(name));
	id_make(ID_NEURON, id);
	snprintf(command, sizeof(command), "cd %s && mkdir away && touch "
	    "away/home.img && ln -s ../../away state/neurons/%s", t.dir, id);
	ck_assert_int_eq(system(command), 0);
	ck_assert_uint_ne(dropped(id), 0);
	ck_assert(made("away/home.img"));
}

/* Each needs a start of neurond, which takes its time where that is emulated. */
START_TEST(homes_that_there_are)
{
	none_for_nothing();
	are_told();
	removed_alone();
	still_serves();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("neurond_launch");
	TCase *tc = tcase_create("hostile");

	if (geteuid() != 0) {
		printf("1..0 # SKIP needs root\n");
		return (0);
	}
	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, makes_nothing_that_is_not_configured);
	tcase_add_test(tc, makes_what_is_configured);
	tcase_add_test(tc, names_that_are_none);
	tcase_add_test(tc, a_live_id_twice);
	tcase_add_test(tc, groups_that_are_none);
	tcase_add_test(tc, launches_that_can_not_be);
	tcase_add_test(tc, launches_without_a_neuron);
	tcase_add_test(tc, a_live_call_twice);
	tcase_add_test(tc, cancelled_on_its_way);
	tcase_add_test(tc, runs_nothing_on_the_host);
	tcase_add_test(tc, ends_that_can_not_be);
	tcase_add_test(tc, steers_that_can_not_be);
	tcase_add_test(tc, floods_of_what_is_not_there);
	tcase_add_test(tc, flood_of_makes_unread);
	tcase_add_test(tc, messages_that_break_the_table);
	tcase_add_test(tc, out_of_descriptors);
	tcase_add_test(tc, no_descriptors_for_a_helper);
	tcase_add_test(tc, homes_that_are_none);
	tcase_add_test(tc, homes_that_there_are);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
