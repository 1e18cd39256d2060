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
#include <sys/wait.h>

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "imsg.h"
#include "policyd_rig.h"
#include "proc.h"
#include "runblock.h"
#include "unit.h"

#define OWNER	4242
#define MANY	100000

static struct {
	pid_t		 pid;
	int		 control;
	int		 launch;
	char		 dir[64];
	char		 instance[32];
	char		 top[PATH_BYTES_MAX];	/* of the build */
} t;

#define GENERATION	1	/* of the configuration that it was sent */

/* What a NEURON_MAKE says. */
struct make {
	uint32_t	 line, uid, gid;
	const char	*profile, *workspace;
};

enum { LINE_ROOT, LINE_USER, LINE_LIST };

/* ---- start and end ---- */

static void
add_line(struct slice *s, uint32_t uid, enum cf_owner owner,
    const char *workspace)
{
	struct cf_principal *p;

	s->principals = reallocarray(s->principals, s->nprincipals + 1,
	    sizeof(*p));
	p = &s->principals[s->nprincipals++];
	memset(p, 0, sizeof(*p));
	p->where.file = strdup("test.conf");
	p->who = WHO_USER;
	p->id = uid;
	p->name = strdup("user");
	p->owner = owner;
	strings_add(&p->workspaces, workspace);
}

static struct slice *
make_slice(void)
{
	struct slice *s = slice_new();
	char text[128];

	s->instance = strdup(t.instance);
	snprintf(text, sizeof(text), "%s/state", t.dir);
	s->state = strdup(text);
	s->private = 1;
	s->uids_start = 1960000000 + (uint32_t)(getpid() % 1000) * 4096;
	s->uids_count = 4096;
	s->nprofiles = 1;
	s->profiles = calloc(1, sizeof(*s->profiles));
	s->profiles[0].where.file = strdup("test.conf");
	snprintf(s->profiles[0].name, NAME_BYTES_MAX, "small");
	s->profiles[0].mode = MODE_NATIVE;
	s->profiles[0].limits = s->limits;
	add_line(s, 0, OWNER_ANY, "/*");
	snprintf(text, sizeof(text), "%s/ok*", t.dir);
	add_line(s, OWNER, OWNER_PEER, text);
	add_line(s, OWNER + 1, OWNER_PEER, text);
	strings_add(&s->principals[LINE_LIST].profiles, "small");
	return (s);
}

static void
send_file(const char *name, uint32_t i)
{
	char path[PATH_BYTES_MAX + 64];
	struct enc *e = enc_new(256);
	int fd;

	snprintf(path, sizeof(path), "%s/neurond/%s", t.top, name);
	ck_assert_int_ne(fd = open(path, O_RDONLY | O_CLOEXEC), -1);
	enc_u32(e, 1);
	enc_u32(e, i);
	enc_str(e, name);
	rig_send(t.control, MSG_CONFIG_FILE, e, &fd, 1);
	close(fd);
}

static void
configure(void)
{
	struct enc *e = enc_new(256);
	struct slice *s = make_slice();
	int fd;

	enc_u32(e, PROTOCOL_VERSION);
	enc_u32(e, 0);
	enc_u32(e, 0);
	enc_u32(e, 1024);
	enc_u32(e, 0);
	enc_str(e, "");
	enc_str(e, t.instance);
	rig_send(t.control, MSG_START, e, NULL, 0);
	ck_assert_int_ne(fd = slice_encode(s, SLICE_STATE | SLICE_NEURONS |
	    SLICE_PROFILES | SLICE_PRINCIPALS), -1);
	slice_free(s);
	e = enc_new(64);
	enc_u32(e, 1);
	enc_u32(e, 3);
	rig_send(t.control, MSG_CONFIG, e, &fd, 1);
	close(fd);
	send_file("maker", 0);
	send_file("spawner", 1);
	send_file("neuron-tool", 2);
	e = enc_new(64);
	enc_u32(e, 1);
	rig_send(t.control, MSG_COMMIT, e, NULL, 0);
}

static void
plumb(void)
{
	struct enc *e = enc_new(64);
	int pair[2];

	if (t.launch != -1)
		close(t.launch);
	ck_assert_int_eq(channel_pair(pair), 0);
	t.launch = pair[0];
	enc_u32(e, CH_LAUNCH);
	rig_send(t.control, MSG_PLUMB, e, &pair[1], 1);
	close(pair[1]);
}

/* The next message of that type on the control channel. */
static void
want_control(unsigned type)
{
	struct got g;

	do
		ck_assert_msg(rig_recv(t.control, RIG_WAIT_MS, &g) == 1,
		    "no %s", msg_name(type));
	while (g.type != type);
}

static void
alive(void)
{
	struct enc *e = enc_new(64);

	enc_u32(e, 1);
	rig_send(t.control, MSG_PING, e, NULL, 0);
	want_control(MSG_PONG);
}

static void
start(void)
{
	char program[PATH_BYTES_MAX + 64];
	char command[128];
	int pair[2], up;
	ssize_t n;

	n = readlink("/proc/self/exe", t.top, sizeof(t.top) - 1);
	ck_assert_int_gt(n, 0);
	t.top[n] = '\0';
	for (up = 0; up < 3; up++)
		*strrchr(t.top, '/') = '\0';
	snprintf(program, sizeof(program), "%s/neurond/neurond", t.top);
	snprintf(t.dir, sizeof(t.dir), "/tmp/neurond-rig.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(t.dir));
	ck_assert_int_eq(chmod(t.dir, 0755), 0);
	snprintf(command, sizeof(command), "mkdir -p %s/state/neurons",
	    t.dir);
	ck_assert_int_eq(system(command), 0);
	snprintf(t.instance, sizeof(t.instance), "check-%d", (int)getpid());
	t.launch = -1;
	ck_assert_int_eq(channel_pair(pair), 0);
	t.control = pair[0];
	if ((t.pid = fork()) == 0) {
		(void)dup2(pair[1], PROC_CONTROL_FD);
		close(PROC_LOG_FD);
		execl(program, "neurond", (char *)NULL);
		_exit(99);
	}
	close(pair[1]);
	configure();
	plumb();
	want_control(MSG_READY);
}

static void
stop(void)
{
	char command[128];
	int status;

	rig_send(t.control, MSG_STOP_PROC, NULL, NULL, 0);
	while (waitpid(t.pid, &status, 0) == -1)
		ck_assert_int_eq(errno, EINTR);
	ck_assert_int_eq(status, 0);
	close(t.control);
	close(t.launch);
	snprintf(command, sizeof(command), "rm -rf %s", t.dir);
	ck_assert_int_eq(system(command), 0);
}

/* ---- messages ---- */

static void
put_make(struct enc *e, const struct make *m, const char *id)
{
	enc_u32(e, GENERATION);
	enc_u32(e, m->line);
	enc_u32(e, m->uid);
	enc_u32(e, m->gid);
	enc_bytes(e, NULL, 0);
	enc_str(e, id);
	enc_str(e, m->profile);
	enc_str(e, m->workspace);
}

static void
send_make(const struct make *m, const char *id)
{
	struct enc *e = enc_new(MSG_MAX_SIZE);

	put_make(e, m, id);
	rig_send(t.launch, MSG_NEURON_MAKE, e, NULL, 0);
}

static const struct make plain = { LINE_ROOT, 1000, 1000, "default", "" };

/*
 * The next message on the launch channel that is not about the helpers; a
 * neuron of the channel before may still be on its way out.
 */
static void
want(unsigned type, struct got *g)
{
	do
		ck_assert_msg(rig_recv(t.launch, RIG_WAIT_MS, g) == 1,
		    "no %s", msg_name(type));
	while (g->type == MSG_HELPER || g->type == MSG_POOL ||
	    g->type == MSG_STARTED ||
	    (g->type == MSG_NEURON_GONE && type != MSG_NEURON_GONE));
	ck_assert_msg(g->type == type, "%s instead of %s", msg_name(g->type),
	    msg_name(type));
}

static void
want_closed(const char *what)
{
	struct got g;
	int n;

	while ((n = rig_recv(t.launch, 5000, &g)) == 1)
		got_close(&g);
	ck_assert_msg(n == -1, "%s: the channel is still open", what);
	want_control(MSG_LOST);
	alive();
	plumb();
}

struct ends {
	int	out[2], err[2];
	int	fds[4];
};

static void
ends_open(struct ends *e, const char *const *argv)
{
	struct runblock rb = { 0 };

	rb.cwd = (char *)(uintptr_t)"";
	rb.argv = (char **)(uintptr_t)argv;
	while (argv[rb.argc] != NULL)
		rb.argc++;
	ck_assert_int_eq(pipe2(e->out, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(e->err, O_CLOEXEC), 0);
	e->fds[0] = runblock_encode(&rb);
	e->fds[1] = e->out[1];
	e->fds[2] = e->err[1];
	e->fds[3] = e->out[0];
	ck_assert_int_ne(e->fds[0], -1);
}

static void
ends_close(struct ends *e)
{
	close(e->fds[0]);
	close(e->out[0]);
	close(e->out[1]);
	close(e->err[0]);
	close(e->err[1]);
}

static void
send_launch(uint32_t timeout, unsigned in, const char *neuron,
    const char *call, const int *fds, unsigned nfds)
{
	struct enc *e = enc_new(256);

	enc_u32(e, timeout);
	enc_u8(e, (uint8_t)in);
	enc_str(e, neuron);
	enc_str(e, call);
	enc_str(e, "");
	rig_send(t.launch, MSG_LAUNCH, e, fds, nfds);
}

/* An honest call in a neuron of its own: how it ended. */
static unsigned
whole_call(const char *const *argv)
{
	char neuron[ID_SIZE], call[ID_SIZE];
	struct enc *e = enc_new(64);
	unsigned cause;
	struct ends ends;
	struct got g;

	id_make(ID_NEURON, neuron);
	id_make(ID_CALL, call);
	ends_open(&ends, argv);
	send_make(&plain, neuron);
	send_launch(10000, STDIN_NONE, neuron, call, ends.fds, 3);
	want(MSG_NEURON_UP, &g);
	want(MSG_ENDED, &g);
	cause = dec_u8(&g.d);
	ends_close(&ends);
	enc_str(e, neuron);
	rig_send(t.launch, MSG_NEURON_DROP, e, NULL, 0);
	want(MSG_NEURON_GONE, &g);
	return (cause);
}

static void
still_serves(void)
{
	static const char *const argv[] = { "true", NULL };

	ck_assert_uint_eq(whole_call(argv), END_EXITED);
}

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
		int n = rig_recv(t.launch, 5000, &g);

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
	tcase_set_timeout(tc, 110);
	tcase_add_test(tc, makes_nothing_that_is_not_configured);
	tcase_add_test(tc, makes_what_is_configured);
	tcase_add_test(tc, names_that_are_none);
	tcase_add_test(tc, a_live_id_twice);
	tcase_add_test(tc, groups_that_are_none);
	tcase_add_test(tc, launches_that_can_not_be);
	tcase_add_test(tc, launches_without_a_neuron);
	tcase_add_test(tc, a_live_call_twice);
	tcase_add_test(tc, runs_nothing_on_the_host);
	tcase_add_test(tc, ends_that_can_not_be);
	tcase_add_test(tc, steers_that_can_not_be);
	tcase_add_test(tc, floods_of_what_is_not_there);
	tcase_add_test(tc, flood_of_makes_unread);
	tcase_add_test(tc, messages_that_break_the_table);
	tcase_add_test(tc, out_of_descriptors);
	tcase_add_test(tc, homes_that_are_none);
	tcase_add_test(tc, homes_that_there_are);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
