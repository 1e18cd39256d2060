/* Fakes around the real policyd. */

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <check.h>
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "imsg.h"
#include "policyd_rig.h"
#include "proc.h"

static const enum channel_kind kinds[RIG_CHANNELS] = {
	[RIG_CONTROL] = CH_CONTROL,
	[RIG_AGENT] = CH_AGENT,
	[RIG_OPERATOR] = CH_OPERATOR,
	[RIG_JUDGE] = CH_JUDGE,
	[RIG_LAUNCH] = CH_LAUNCH,
	[RIG_EGRESS] = CH_EGRESS,
};

/* ---- packets ---- */

int	rig_unordered;

/*
 * Channels have no order among each other, and a process that is kept from
 * running may come to the later message first.  A test means the order in which
 * it sends: what it sent on another channel has been taken by then.
 */
static void
in_order(int fd)
{
	static int before = -1;
	int left, i;

	for (i = 0; !rig_unordered && before != fd && i < RIG_WAIT_MS; i++) {
		if (before == -1 || ioctl(before, SIOCOUTQ, &left) == -1 ||
		    left == 0)
			break;
		poll(NULL, 0, 1);
	}
	before = fd;
}

void
rig_send(int fd, unsigned type, struct enc *e, const int *fds, unsigned nfds)
{
	uint8_t packet[MSG_MAX_SIZE + 64];
	char control[CMSG_SPACE(sizeof(int) * 32)];
	struct iovec iov = { .iov_base = packet };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;
	size_t size = e != NULL ? enc_size(e) : 0, i;
	ssize_t n;

	ck_assert_uint_le(size, MSG_MAX_SIZE);
	in_order(fd);
	packet[0] = (uint8_t)type;
	packet[1] = (uint8_t)(type >> 8);
	packet[2] = (uint8_t)nfds;
	packet[3] = 0;
	for (i = 0; i < 4; i++)
		packet[4 + i] = (uint8_t)(size >> (8 * i));
	if (size > 0)
		memcpy(packet + 8, enc_data(e), size);
	iov.iov_len = size + 8;
	if (nfds > 0) {
		memset(control, 0, sizeof(control));
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * nfds);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * nfds);
		memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * nfds);
	}
	do {
		n = sendmsg(fd, &msg, MSG_NOSIGNAL);
		if (n == -1 && errno == EAGAIN)
			poll(&(struct pollfd){ fd, POLLOUT, 0 }, 1, 100);
	} while (n == -1 && errno == EAGAIN);
	ck_assert_msg(n != -1 || errno == EPIPE || errno == ECONNRESET,
	    "sendmsg %s: %s",
	    msg_name(type), strerror(errno));
	enc_free(e);
}

char	rig_over[ID_SIZE], rig_over_reason[32];
unsigned rig_news;
uint64_t rig_news_last;

/* What is left of a packet with several messages, of each socket. */
static struct rest {
	ino_t	 socket;
	uint8_t	 data[MSG_MAX_SIZE];
	size_t	 size;
	int	 fds[16];		/* the last one's */
	unsigned nfds;
} rests[16];

static struct rest *
rest_of(int fd)
{
	struct rest *r, *none = NULL;
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	for (r = rests; r < rests + 16; r++) {
		if (r->size > 0 && r->socket == st.st_ino)
			return (r);
		if (r->size == 0)
			none = r;
	}
	ck_assert_ptr_nonnull(none);
	none->socket = st.st_ino;
	return (none);
}

static int
read_packet(int fd, int ms, struct rest *r)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	char control[CMSG_SPACE(sizeof(int) * 16)];
	struct iovec iov = { .iov_base = r->data, .iov_len = sizeof(r->data) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg;
	ssize_t n;

	if (poll(&pfd, 1, ms) == 0)
		return (0);
	n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n <= 0)
		return (-1);
	r->size = (size_t)n;
	r->nfds = 0;
	for (cmsg = CMSG_FIRSTHDR(&msg); cmsg != NULL;
	    cmsg = CMSG_NXTHDR(&msg, cmsg)) {
		r->nfds = (unsigned)((cmsg->cmsg_len - CMSG_LEN(0)) /
		    sizeof(int));
		memcpy(r->fds, CMSG_DATA(cmsg), r->nfds * sizeof(int));
	}
	return (1);
}

static int
recv_one(int fd, int ms, struct got *g)
{
	struct rest *r = rest_of(fd);
	uint32_t size;
	int n;

	memset(g, 0, offsetof(struct got, data));
	g->nfds = 0;
	if (r->size == 0 && (n = read_packet(fd, ms, r)) != 1)
		return (n);
	ck_assert_uint_ge(r->size, 8);
	g->type = (unsigned)(r->data[0] | r->data[1] << 8);
	memcpy(&size, r->data + 4, sizeof(size));
	size = le32toh(size);
	ck_assert_uint_le(size, r->size - 8);
	ck_assert_int_eq(r->data[3], size < r->size - 8);
	memcpy(g->data, r->data + 8, size);
	dec_init(&g->d, g->data, size);
	r->size -= 8 + size;
	memmove(r->data, r->data + 8 + size, r->size);
	if (r->size == 0) {
		g->nfds = r->nfds;
		memcpy(g->fds, r->fds, sizeof(g->fds));
	}
	/* The first on each channel of an agent; no test waits for it. */
	if (g->type == MSG_SEAL_KEY)
		return (rig_recv(fd, ms, g));
	return (1);
}

char	rig_homes[8][ID_SIZE];
unsigned rig_nhomes, rig_homes_asked;
int	rig_homes_silent;

static void
answer_homes(int fd)
{
	struct enc *e;
	unsigned i;

	for (i = 0; i < rig_nhomes; i++) {
		e = enc_new(64);
		enc_u64(e, 4096 * (i + 1));
		enc_u64(e, 1700000000);
		enc_str(e, rig_homes[i]);
		rig_send(fd, MSG_HOME, e, NULL, 0);
	}
	e = enc_new(8);
	enc_u32(e, rig_nhomes);
	rig_send(fd, MSG_HOMES_END, e, NULL, 0);
	rig_homes_asked++;
}

/* Registered secrets, which an apid is told first, are passed over; so are
 * the ends of sessions and news of the audit log, which are noted. */
int
rig_recv(int fd, int ms, struct got *g)
{
	int n;

	while ((n = recv_one(fd, ms, g)) == 1) {
		if (g->type == MSG_SESSION_OVER) {
			dec_str(&g->d, rig_over, sizeof(rig_over));
			dec_str(&g->d, rig_over_reason,
			    sizeof(rig_over_reason));
			ck_assert_int_eq(dec_end(&g->d), 0);
		} else if (g->type == MSG_AUDIT_NEWS) {
			rig_news++;
			rig_news_last = dec_u64(&g->d);
			ck_assert_int_eq(dec_end(&g->d), 0);
		} else if (g->type == MSG_HOMES_ASK && !rig_homes_silent) {
			answer_homes(fd);
		} else if (g->type != MSG_SECRETS && g->type != MSG_SECRET &&
		    g->type != MSG_SECRETS_END)
			break;
	}
	return (n);
}

void
got_close(struct got *g)
{
	unsigned i;

	for (i = 0; i < g->nfds; i++)
		close(g->fds[i]);
	g->nfds = 0;
}

void
rig_want(struct rig *r, enum rig_channel ch, unsigned type, struct got *g)
{
	int n = rig_recv(r->fd[ch], RIG_WAIT_MS, g);

	ck_assert_msg(n == 1, "no %s on %s: %s", msg_name(type),
	    channel_name(kinds[ch]), n == 0 ? "nothing came" : "closed");
	ck_assert_msg(g->type == type, "%s instead of %s on %s",
	    msg_name(g->type), msg_name(type), channel_name(kinds[ch]));
}

int
rig_closed(struct rig *r, enum rig_channel ch)
{
	struct got g;
	int n;

	while ((n = rig_recv(r->fd[ch], RIG_WAIT_MS, &g)) == 1)
		got_close(&g);
	return (n == -1);
}

void
rig_close(struct rig *r, enum rig_channel ch)
{
	close(r->fd[ch]);
	r->fd[ch] = -1;
	/* what came before its PING has been seen by then */
	ck_assert(rig_alive(r));
}

/* ---- start and end ---- */

static void
rig_listen(struct rig *r, int i, const char *name)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s", r->dir, name);
	memcpy(r->path[i], sun.sun_path, sizeof(sun.sun_path));
	r->listener[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ne(r->listener[i], -1);
	ck_assert_int_eq(bind(r->listener[i], (struct sockaddr *)&sun,
	    sizeof(sun)), 0);
	ck_assert_int_eq(chmod(sun.sun_path, 0666), 0);
	ck_assert_int_eq(listen(r->listener[i], 64), 0);
}

struct cf_principal *
rig_principal(struct slice *s, enum cf_who who, uint32_t id, const char *name,
    enum cf_owner owner)
{
	struct cf_principal *p;

	s->principals = reallocarray(s->principals, s->nprincipals + 1,
	    sizeof(*p));
	p = &s->principals[s->nprincipals++];
	memset(p, 0, sizeof(*p));
	p->where.file = strdup("test.conf");
	p->where.line = (uint32_t)s->nprincipals;
	p->who = who;
	p->id = id;
	p->name = strdup(name);
	snprintf(p->preset, sizeof(p->preset), "standard");
	p->owner = owner;
	strings_add(&p->workspaces, "/srv/src/*");
	return (p);
}

static void
add_operator(struct slice *s, enum cf_who who, uint32_t id, unsigned rights)
{
	struct cf_operator *o;

	s->operators = reallocarray(s->operators, s->noperators + 1,
	    sizeof(*o));
	o = &s->operators[s->noperators++];
	memset(o, 0, sizeof(*o));
	o->where.file = strdup("test.conf");
	o->where.line = 10;
	o->who = who;
	o->id = id;
	o->name = strdup("operator");
	o->rights = rights;
}

void
rig_init(struct rig *r)
{
	struct slice *s;
	int i;

	memset(r, 0, sizeof(*r));
	for (i = 0; i < RIG_CHANNELS; i++)
		r->fd[i] = -1;
	snprintf(r->dir, sizeof(r->dir), "/tmp/policyd-rig.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(r->dir));
	ck_assert_int_eq(chmod(r->dir, 0755), 0);
	r->nofile = 1024;
	r->uid = 2000000000 + (uid_t)getpid();
	rig_listen(r, 0, "api.sock");
	rig_listen(r, 1, "operator.sock");
	r->slice = s = slice_new();
	s->instance = strdup("rig");
	s->state = strdup(r->dir);
	s->nlistens = 2;
	s->listens = calloc(2, sizeof(*s->listens));
	for (i = 0; i < 2; i++) {
		s->listens[i].where.file = strdup("test.conf");
		s->listens[i].plane = i == 0 ? PLANE_AGENT : PLANE_OPERATOR;
		s->listens[i].path = strdup(r->path[i]);
		s->listens[i].gid = (gid_t)-1;
	}
	rig_principal(s, WHO_GROUP, RIG_GROUP, "rig", OWNER_PEER);
	rig_principal(s, WHO_USER, RIG_USER, "user", OWNER_PEER);
	rig_principal(s, WHO_USER, 0, "root", OWNER_ANY);
	add_operator(s, WHO_USER, 0, RIGHT_AUDIT | RIGHT_MANAGE);
	add_operator(s, WHO_USER, RIG_WATCHER, RIGHT_APPROVE);
	s->limits.v[LIMIT_NEURON_WAIT] = 300;
}

/* The policyd of the build that this program is of, wherever it is run. */
static void
rig_program(char *path, size_t size)
{
	const char *given = getenv("POLICYD");
	ssize_t n;
	int up;

	if (given != NULL) {
		snprintf(path, size, "%s", given);
		return;
	}
	n = readlink("/proc/self/exe", path, size - 1);
	ck_assert_int_gt(n, 0);
	path[n] = '\0';
	for (up = 0; up < 3; up++)	/* tests/unit/check_... */
		*strrchr(path, '/') = '\0';
	snprintf(path + strlen(path), size - strlen(path),
	    "/policyd/policyd");
}

static void
rig_exec(struct rig *r, int control)
{
	char program[PATH_BYTES_MAX];

	rig_program(program, sizeof(program));
	r->pid = fork();
	ck_assert_int_ne(r->pid, -1);
	if (r->pid != 0) {
		close(control);
		return;
	}
	(void)dup2(control, PROC_CONTROL_FD);
	close(PROC_LOG_FD);
	execl(program, "policyd", (char *)NULL);
	perror("policyd");
	_exit(99);
}

static void
rig_configure(struct rig *r)
{
	struct enc *e = enc_new(MSG_MAX_SIZE);
	char root[128];

	snprintf(root, sizeof(root), "%s/policy", r->dir);
	if (mkdir(root, 0700) == 0)
		ck_assert_int_eq(chown(root, r->uid, r->uid), 0);
	snprintf(root, sizeof(root), "%s/policy/transcripts", r->dir);
	if (mkdir(root, 0700) == 0)
		ck_assert_int_eq(chown(root, r->uid, r->uid), 0);
	snprintf(root, sizeof(root), "%s/policy", r->dir);
	enc_u32(e, PROTOCOL_VERSION);
	enc_u32(e, r->uid);
	enc_u32(e, r->uid);
	enc_u32(e, r->nofile);
	enc_u32(e, getenv("RIG_TRACE") != NULL ? PROC_F_TRACE |
	    PROC_F_VERBOSE : 0);
	enc_str(e, root);
	enc_str(e, "rig");
	rig_send(r->fd[RIG_CONTROL], MSG_START, e, NULL, 0);
	rig_config(r);
}

void
rig_config(struct rig *r)
{
	struct enc *e;
	int fd;

	fd = slice_encode(r->slice, SLICE_STATE | SLICE_PROFILES |
	    SLICE_PRINCIPALS | SLICE_OPERATORS | SLICE_PRESETS |
	    SLICE_LISTENS);
	ck_assert_int_ne(fd, -1);
	e = enc_new(64);
	enc_u32(e, ++r->generation);
	enc_u32(e, 0);
	rig_send(r->fd[RIG_CONTROL], MSG_CONFIG, e, &fd, 1);
	close(fd);
}

void
rig_commit(struct rig *r, enum msg_type type)
{
	struct enc *e = enc_new(64);

	enc_u32(e, r->generation);
	rig_send(r->fd[RIG_CONTROL], type, e, NULL, 0);
}

void
rig_reload(struct rig *r)
{
	struct got g;

	rig_config(r);
	rig_want(r, RIG_CONTROL, MSG_CONFIG_OK, &g);
	ck_assert_uint_eq(dec_u32(&g.d), r->generation);
	rig_commit(r, MSG_COMMIT);
	rig_want(r, RIG_CONTROL, MSG_COMMITTED, &g);
	ck_assert_uint_eq(dec_u32(&g.d), r->generation);
}

int
rig_start(struct rig *r)
{
	enum rig_channel ch;
	struct got g;
	int pair[2];

	ck_assert_int_eq(channel_pair(pair), 0);
	r->fd[RIG_CONTROL] = pair[0];
	rig_exec(r, pair[1]);
	rig_configure(r);
	rig_want(r, RIG_CONTROL, MSG_CONFIG_OK, &g);
	for (ch = RIG_AGENT; ch < RIG_CHANNELS; ch++)
		rig_plumb(r, ch);
	rig_commit(r, MSG_COMMIT);
	if (rig_recv(r->fd[RIG_CONTROL], RIG_WAIT_MS, &g) != 1)
		return (-1);
	ck_assert_uint_eq(g.type, MSG_READY);
	r->ready = 1;
	rig_tools(r);
	return (0);
}

void
rig_plumb(struct rig *r, enum rig_channel ch)
{
	struct enc *e = enc_new(64);
	int pair[2];

	if (r->fd[ch] != -1)
		close(r->fd[ch]);
	ck_assert_int_eq(channel_pair(pair), 0);
	r->fd[ch] = pair[0];
	enc_u32(e, kinds[ch]);
	rig_send(r->fd[RIG_CONTROL], MSG_PLUMB, e, &pair[1], 1);
	close(pair[1]);
	/* PLUMB has been handled by now */
	if (r->ready)
		ck_assert(rig_alive(r));
}

void
rig_tools(struct rig *r)
{
	static const struct { const char *name; unsigned effect; int asks; }
	tools[] = {
		{ "exec", EFFECT_MUTATE_IRREVERSIBLE, 0 },
		{ "bash", EFFECT_MUTATE_IRREVERSIBLE, 0 },
		{ "write", EFFECT_MUTATE_REVERSIBLE, 0 },
		{ "read", EFFECT_READ, 0 },
		{ "wipe", EFFECT_DESTRUCTIVE, 0 },
		{ "asker", EFFECT_READ, 1 },
		{ "fetch", EFFECT_READ, 0 },
		{ "request_egress", EFFECT_READ, 0 },
	};
	uint8_t digest[32] = { 1 };
	struct enc *e;
	uint32_t i;

	for (i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		e = enc_new(256);
		enc_u8(e, (uint8_t)tools[i].effect);
		enc_u32(e, 0);
		enc_u8(e, (uint8_t)tools[i].asks);
		enc_u32(e, 0);
		enc_raw(e, digest, sizeof(digest));
		enc_str(e, tools[i].name);
		rig_send(r->fd[RIG_JUDGE], MSG_TOOL, e, NULL, 0);
	}
	e = enc_new(64);
	enc_u8(e, EGRESS_FETCH);
	enc_str(e, "fetch");
	rig_send(r->fd[RIG_JUDGE], MSG_TOOL_EGRESS, e, NULL, 0);
	e = enc_new(64);
	enc_u8(e, EGRESS_GRANT_SESSION);
	enc_str(e, "request_egress");
	rig_send(r->fd[RIG_JUDGE], MSG_TOOL_EGRESS, e, NULL, 0);
	e = enc_new(64);
	enc_u32(e, i);
	rig_send(r->fd[RIG_JUDGE], MSG_TOOLS_END, e, NULL, 0);
}

static int
rig_reap(struct rig *r)
{
	int status, i;

	while (waitpid(r->pid, &status, 0) == -1)
		ck_assert_int_eq(errno, EINTR);
	r->pid = 0;
	r->ready = 0;
	for (i = 0; i < RIG_CHANNELS; i++) {
		if (r->fd[i] != -1)
			close(r->fd[i]);
		r->fd[i] = -1;
	}
	return (status);
}

int
rig_stop(struct rig *r)
{
	rig_send(r->fd[RIG_CONTROL], MSG_STOP_PROC, NULL, NULL, 0);
	return (rig_reap(r));
}

void
rig_kill(struct rig *r)
{
	kill(r->pid, SIGKILL);
	(void)rig_reap(r);
}

int
rig_alive(struct rig *r)
{
	struct enc *e = enc_new(64);
	struct got g;

	enc_u32(e, 77);
	rig_send(r->fd[RIG_CONTROL], MSG_PING, e, NULL, 0);
	do {	/* a channel that a test broke is LOST */
		if (rig_recv(r->fd[RIG_CONTROL], RIG_WAIT_MS, &g) != 1)
			return (0);
	} while (g.type == MSG_LOST);
	return (g.type == MSG_PONG && dec_u32(&g.d) == 77);
}

static void
remove_all(const char *dir)
{
	struct dirent *entry;
	DIR *d;

	if ((d = opendir(dir)) == NULL)
		return;
	while ((entry = readdir(d)) != NULL)
		(void)unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
	rmdir(dir);
}

void
rig_end(struct rig *r)
{
	char path[128];

	if (r->pid != 0)
		ck_assert_int_eq(rig_stop(r), 0);
	snprintf(path, sizeof(path), "%s/policy/transcripts", r->dir);
	remove_all(path);
	snprintf(path, sizeof(path), "%s/policy", r->dir);
	remove_all(path);
	remove_all(r->dir);
	slice_free(r->slice);
	close(r->listener[0]);
	close(r->listener[1]);
}

/* ---- peers ---- */

int
rig_accept(struct rig *r, enum cf_plane plane, uid_t uid, gid_t gid,
    gid_t group)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int i = plane == PLANE_AGENT ? 0 : 1, client, fd;

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%.100s", r->path[i]);
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ne(client, -1);
	ck_assert_int_eq(setgroups(group != 0, &group), 0);
	ck_assert_int_eq(setegid(gid), 0);
	ck_assert_int_eq(seteuid(uid), 0);
	ck_assert_int_eq(connect(client, (struct sockaddr *)&sun,
	    sizeof(sun)), 0);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(setegid(0), 0);
	ck_assert_int_eq(setgroups(0, NULL), 0);
	fd = accept4(r->listener[i], NULL, NULL, SOCK_CLOEXEC);
	ck_assert_int_ne(fd, -1);
	close(client);
	return (fd);
}

uint64_t
rig_peer(struct rig *r, enum rig_channel ch, uid_t uid, gid_t group,
    char *words, size_t size)
{
	enum cf_plane plane = ch == RIG_AGENT ? PLANE_AGENT : PLANE_OPERATOR;
	struct enc *e = enc_new(64);
	uint64_t handle;
	char who[64];
	struct got g;
	int fd;

	fd = rig_accept(r, plane, uid, uid, group);
	enc_u32(e, 7);
	rig_send(r->fd[ch], MSG_PEER, e, &fd, 1);
	close(fd);
	ck_assert_int_eq(rig_recv(r->fd[ch], RIG_WAIT_MS, &g), 1);
	ck_assert_uint_eq(dec_u32(&g.d), 7);
	if (g.type == MSG_PEER_NO) {
		dec_str(&g.d, who, sizeof(who));
		dec_str(&g.d, words, size);
		ck_assert_int_eq(dec_end(&g.d), 0);
		return (0);
	}
	ck_assert_uint_eq(g.type, MSG_PEER_OK);
	handle = dec_u64(&g.d);
	ck_assert_uint_eq(dec_u32(&g.d), uid);
	dec_str(&g.d, who, sizeof(who));
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert_int_eq(strncmp(who, "uid:", 4), 0);
	return (handle);
}
