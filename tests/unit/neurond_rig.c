/*
 * The real neurond, with supervisord and policyd played by raw packets.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "neurond_rig.h"
#include "proc.h"
#include "runblock.h"

struct neurond_rig t;

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

void
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

void
want_control(unsigned type)
{
	struct got g;

	do
		ck_assert_msg(rig_recv(t.control, RIG_WAIT_MS, &g) == 1,
		    "no %s", msg_name(type));
	while (g.type != type);
}

void
alive(void)
{
	struct enc *e = enc_new(64);

	enc_u32(e, 1);
	rig_send(t.control, MSG_PING, e, NULL, 0);
	want_control(MSG_PONG);
}

void
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

void
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

void
send_make(const struct make *m, const char *id)
{
	struct enc *e = enc_new(MSG_MAX_SIZE);

	put_make(e, m, id);
	rig_send(t.launch, MSG_NEURON_MAKE, e, NULL, 0);
}

const struct make plain = { LINE_ROOT, 1000, 1000, "default", "" };

void
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

void
want_closed(const char *what)
{
	struct got g;
	int n;

	while ((n = rig_recv(t.launch, RIG_WAIT_MS, &g)) == 1)
		got_close(&g);
	ck_assert_msg(n == -1, "%s: the channel is still open", what);
	want_control(MSG_LOST);
	alive();
	plumb();
}

void
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

void
ends_close(struct ends *e)
{
	close(e->fds[0]);
	close(e->out[0]);
	close(e->out[1]);
	close(e->err[0]);
	close(e->err[1]);
}

void
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

unsigned
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
	send_launch(RIG_WAIT_MS, STDIN_NONE, neuron, call, ends.fds, 3);
	want(MSG_NEURON_UP, &g);
	want(MSG_ENDED, &g);
	cause = dec_u8(&g.d);
	ends_close(&ends);
	enc_str(e, neuron);
	rig_send(t.launch, MSG_NEURON_DROP, e, NULL, 0);
	want(MSG_NEURON_GONE, &g);
	return (cause);
}

void
still_serves(void)
{
	static const char *const argv[] = { "true", NULL };

	ck_assert_uint_eq(whole_call(argv), END_EXITED);
}
