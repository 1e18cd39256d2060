/* The rig of policyd's fuzz targets: all in memory, no process. */

#include <sys/socket.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sha2.h>

#include "../../policyd/api.h"
#include "../../policyd/approval.h"
#include "../../policyd/conf.h"
#include "../../policyd/egress.h"
#include "../../policyd/judge.h"
#include "../../policyd/keys.h"
#include "../../policyd/launch.h"
#include "../../policyd/policyd.h"
#include "../../policyd/store.h"
#include "codec.h"
#include "fuzz_policyd.h"
#include "ids.h"
#include "slice.h"

#define PACKETS_MAX	64
#define RUNS_MAX	2000	/* before the store starts anew */

/*
 * What an input can't know stands in it as a magic number or an id of zeros,
 * and is put in when it is sent: the handle (judged: the sequence) and the
 * last ids that policyd made.
 */
static const uint8_t magic[8] = { 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22,
    0x11 };
static uint8_t	number[8];
static char	last_ids[4][ID_SIZE]; /* a call, a neuron, a session, an approval */
static const char letters[] = "cnsa";
/* So does the digest of the last approval. */
static const uint8_t no_digest[APPROVAL_DIGEST] = "the digest of the last approval";

static struct event_base	*base;
static int			 memfd, pipes[2], socks[2], accepted;
static int			 listeners[2];	/* of a neuron with egress */
static int			 ends[9];	/* by bit of the channel */

/* One connection that is accepted in earnest, so that PEER can succeed. */
static void
make_peer(struct slice *s)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int listener, client;

	snprintf(sun.sun_path, sizeof(sun.sun_path), "/tmp/fuzz-policyd.%d",
	    (int)getpid());
	unlink(sun.sun_path);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&sun, sizeof(sun)) == -1 ||
	    listen(listener, 1) == -1 || connect(client,
	    (struct sockaddr *)&sun, sizeof(sun)) == -1 ||
	    (accepted = accept(listener, NULL, NULL)) == -1)
		abort();
	unlink(sun.sun_path);
	s->nlistens = 2;
	s->listens = calloc(2, sizeof(*s->listens));
	s->listens[0].plane = PLANE_AGENT;
	s->listens[0].flags = LISTEN_TOKEN;
	s->listens[0].path = strdup(sun.sun_path);
	s->listens[1].plane = PLANE_OPERATOR;
	s->listens[1].path = strdup(sun.sun_path);
}

static void
make_conf(void)
{
	struct slice *s = slice_new();

	make_peer(s);
	s->instance = strdup("fuzz");
	s->nprincipals = 2;
	s->principals = calloc(2, sizeof(*s->principals));
	s->principals[1] = (struct cf_principal){ .who = WHO_KEY,
	    .where.file = strdup("fuzz.conf"), .name = strdup("fuzz"),
	    .preset = "readonly", .owner = OWNER_PEER };
	s->principals[0].where.file = strdup("fuzz.conf");
	s->principals[0].who = WHO_USER;
	s->principals[0].id = geteuid();
	s->principals[0].name = strdup("fuzz");
	snprintf(s->principals[0].preset, NAME_BYTES_MAX, "standard");
	s->principals[0].owner = OWNER_NAMED;
	s->principals[0].ids.uid = 1000;
	s->principals[0].ids.gid = 1000;
	strings_add(&s->principals[0].workspaces, "/*");
	/* "default" has egress, and so the neuron of the call has */
	s->nprofiles = 1;
	s->profiles = calloc(1, sizeof(*s->profiles));
	s->profiles[0].where.file = strdup("fuzz.conf");
	snprintf(s->profiles[0].name, NAME_BYTES_MAX, "default");
	s->profiles[0].mode = MODE_NATIVE;
	limits_init(&s->profiles[0].limits);
	s->profiles[0].egress.on = 1;
	s->noperators = 1;
	s->operators = calloc(1, sizeof(*s->operators));
	s->operators[0].who = WHO_USER;
	s->operators[0].id = geteuid();
	s->operators[0].rights = RIGHT_AUDIT | RIGHT_APPROVE | RIGHT_MANAGE;
	s->limits.v[LIMIT_SELF_APPROVAL] = 1;
	s->limits.v[LIMIT_NEURON_WAIT] = 0;
	s->limits.v[LIMIT_HOURLY] = 100000000;
	conf_set(s);
}

/* Whose token is "fuzz": a real one an input can't know. */
static void
make_key(void)
{
	struct key_row row = { .name = "fuzz", .created = 1 };
	SHA2_CTX sha;

	SHA256Init(&sha);
	SHA256Update(&sha, (const uint8_t *)"fuzz", 4);
	SHA256Final(row.hash, &sha);
	if (id_make(ID_KEY, row.id) == -1 ||
	    store_key_name_add(PRINCIPAL_KEYS, "fuzz") == -1 ||
	    store_key_set(&row) == -1 || keys_start() == -1)
		abort();
}

/* Listening, on whatever port of the loopback. */
static void
make_listeners(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int i;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (i = 0; i < 2; i++) {
		listeners[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (bind(listeners[i], (struct sockaddr *)&sin,
		    sizeof(sin)) == -1 || listen(listeners[i], 1) == -1)
			abort();
	}
}

static void
make_all(void)
{
	log_init("fuzz", open("/dev/null", O_WRONLY), 0);
	store_preload();
	if ((base = event_base_new()) == NULL)
		abort();
	make_conf();
	if (policyd_start_memory(base) == -1)
		abort();
	make_key();
	make_listeners();
	if ((memfd = memfd_sealed("fuzz", "{}", 2)) == -1 ||
	    pipe2(pipes, O_CLOEXEC) == -1 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, socks) == -1)
		abort();
}

static void
plumb(enum channel_kind kind)
{
	int pair[2], i = __builtin_ctz(kind);

	if (ends[i] > 0)
		close(ends[i]);
	if (channel_pair(pair) == -1)
		abort();
	ends[i] = pair[0];
	switch (kind) {
	case CH_AGENT:
		api_plumb(&api_agent, pair[1], base);
		break;
	case CH_OPERATOR:
		api_plumb(&api_operator, pair[1], base);
		break;
	case CH_JUDGE:
		judge_plumb(pair[1], base);
		break;
	case CH_EGRESS:
		egress_plumb(pair[1], base);
		break;
	default:
		launch_plumb(pair[1], base);
	}
}

static void
put_in(uint8_t *packet, size_t size, const void *what, const void *with,
    size_t len)
{
	uint8_t *p;

	while ((p = memmem(packet, size, what, len)) != NULL &&
	    memcmp(what, with, len) != 0)
		memcpy(p, with, len);
}

static void
put_in_all(uint8_t *packet, size_t size)
{
	const struct approval *a = approval_find(last_ids[3]);
	char zeros[ID_SIZE];
	size_t i;

	put_in(packet, size, magic, number, sizeof(magic));
	if (a != NULL)
		put_in(packet, size, no_digest, a->digest, sizeof(no_digest));
	for (i = 0; i < sizeof(last_ids) / sizeof(last_ids[0]); i++) {
		snprintf(zeros, sizeof(zeros), "%c-00000000000000000000",
		    letters[i]);
		if (last_ids[i][0] != '\0')
			put_in(packet, size, zeros, last_ids[i], ID_SIZE - 1);
	}
}

static void
send_packet(int fd, const uint8_t *bytes, size_t size, unsigned which)
{
	const int sets[][4] = {
		{ -1, -1, -1, -1 },
		{ accepted, -1, -1, -1 },
		{ memfd, pipes[1], pipes[1], -1 },
		{ memfd, pipes[1], pipes[1], memfd },
		{ memfd, pipes[1], pipes[1], pipes[0] },
		{ memfd, -1, -1, -1 },
		{ socks[0], -1, -1, -1 },
		{ pipes[0], pipes[1], socks[0], memfd },
		{ listeners[0], -1, -1, -1 },
		{ listeners[0], listeners[1], -1, -1 },
	};
	const int *set = sets[which % (sizeof(sets) / sizeof(sets[0]))];
	char control[CMSG_SPACE(sizeof(int) * 4)];
	struct iovec iov = { .iov_base = (void *)(uintptr_t)bytes,
	    .iov_len = size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;
	unsigned n;

	for (n = 0; n < 4 && set[n] != -1; n++)
		continue;
	if (n > 0) {
		memset(control, 0, sizeof(control));
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * n);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * n);
		memcpy(CMSG_DATA(cmsg), set, sizeof(int) * n);
	}
	(void)sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* An honest message. */
static void
say(int fd, enum msg_type type, const struct enc *body, unsigned which)
{
	static const unsigned counts[] = { 0, 1, 3, 4, 4, 1, 1, 4, 1, 2 };
	struct enc *e = enc_new(MSG_MAX_SIZE);

	enc_u16(e, (uint16_t)type);
	enc_u16(e, (uint16_t)counts[which]);
	enc_u32(e, (uint32_t)enc_size(body));
	enc_raw(e, enc_data(body), enc_size(body));
	send_packet(fd, enc_data(e), enc_size(e), which);
	enc_free(e);
}

static void
send_tools(void)
{
	static const char *const names[] = { "exec", "bash", "fetch",
	    "request_egress" };
	uint8_t zeros[40] = { 0 };
	struct enc *e;
	size_t i;

	for (i = 0; i < 4; i++) {
		e = enc_new(256);
		enc_u8(e, EFFECT_READ);
		enc_u8(e, 0);
		enc_raw(e, zeros, 40);
		enc_str(e, names[i]);
		say(ends[3], MSG_TOOL, e, 0);
		enc_free(e);
	}
	for (i = 2; i < 4; i++) {
		e = enc_new(64);
		enc_u8(e, i == 2 ? EGRESS_FETCH : EGRESS_GRANT_SESSION);
		enc_str(e, names[i]);
		say(ends[3], MSG_TOOL_EGRESS, e, 0);
		enc_free(e);
	}
	e = enc_new(16);
	enc_u32(e, 4);
	say(ends[3], MSG_TOOLS_END, e, 0);
	enc_free(e);
}

/*
 * judged allows what it is asked, unless it is the one that is hostile, and
 * asks where an operator is.
 */
static void
answer_judge(struct dec *d, enum channel_kind hostile)
{
	uint64_t sequence = dec_u64(d);
	struct enc *e;
	int i;

	if (hostile == CH_JUDGE) {
		memcpy(number, &sequence, sizeof(number));
		return;
	}
	e = enc_new(256);
	enc_u64(e, sequence);
	enc_u8(e, hostile == CH_OPERATOR ? VERDICT_ASK : VERDICT_ALLOW);
	enc_u8(e, EFFECT_READ);
	enc_u32(e, 0);
	enc_u32(e, 0);
	enc_u32(e, 0);
	enc_u8(e, 0);
	enc_str(e, "read");
	for (i = 0; i < 5; i++)
		enc_str(e, "");
	say(ends[3], MSG_VERDICT, e, 5);
	enc_free(e);
}

static void
answer_make(struct dec *d, enum channel_kind hostile)
{
	struct enc *e;

	(void)dec_u64(d);
	(void)dec_u64(d);
	free(dec_strdup(d, MSG_MAX_SIZE));
	dec_str(d, last_ids[1], ID_SIZE);
	if (hostile == CH_LAUNCH)
		return;
	e = enc_new(64);
	enc_u8(e, LISTENER_PROXY);
	enc_str(e, last_ids[1]);
	say(ends[4], MSG_LISTENER, e, 8);
	enc_free(e);
	e = enc_new(256);
	enc_u64(e, 1);
	enc_u64(e, 0);
	enc_u64(e, 0);
	enc_u32(e, 1);
	enc_str(e, last_ids[1]);
	say(ends[4], MSG_NEURON_UP, e, 0);
	enc_free(e);
}

static void
answer_gone(struct dec *d, enum channel_kind hostile)
{
	char id[ID_SIZE];
	struct enc *e;

	dec_str(d, id, sizeof(id));
	if (hostile == CH_LAUNCH)
		return;
	e = enc_new(256);
	enc_u8(e, GONE_DROPPED);
	enc_str(e, id);
	enc_str(e, "");
	say(ends[4], MSG_NEURON_GONE, e, 0);
	enc_free(e);
}

static void
answer_homes(enum channel_kind hostile)
{
	struct enc *e;

	if (hostile == CH_LAUNCH)
		return;
	e = enc_new(8);
	enc_u32(e, 0);
	say(ends[4], MSG_HOMES_END, e, 0);
	enc_free(e);
}

static void
answer_home_drop(struct dec *d, enum channel_kind hostile)
{
	char id[ID_SIZE];
	struct enc *e;

	dec_str(d, id, sizeof(id));
	if (hostile == CH_LAUNCH)
		return;
	e = enc_new(256);
	enc_u32(e, 0);
	enc_str(e, id);
	enc_str(e, "");
	say(ends[4], MSG_HOME_DROPPED, e, 0);
	enc_free(e);
}

static void
answer(const uint8_t *bytes, size_t size, enum channel_kind hostile)
{
	unsigned type = (unsigned)(bytes[0] | bytes[1] << 8);
	uint64_t handle;
	const char *p;
	struct dec d;

	dec_init(&d, bytes + 8, size - 8);
	switch (type) {
	case MSG_PEER_OK:
		(void)dec_u32(&d);
		handle = dec_u64(&d);
		memcpy(number, &handle, sizeof(number));
		break;
	case MSG_ASKED:
		(void)dec_u64(&d);
		(void)dec_u64(&d);
		(void)dec_u64(&d);
		dec_str(&d, last_ids[0], ID_SIZE);
		break;
	case MSG_CALL_ASKING:
		(void)dec_u32(&d);
		dec_str(&d, last_ids[0], ID_SIZE);
		dec_str(&d, last_ids[3], ID_SIZE);
		break;
	case MSG_REPLY:
		p = memmem(bytes, size, "\"session\":\"s-", 13);
		if (p != NULL && (size_t)(p - (const char *)bytes) + 35 < size)
			memcpy(last_ids[2], p + 11, ID_SIZE - 1);
		p = memmem(bytes, size, "{\"neuron\":\"n-", 13);
		if (p != NULL && (size_t)(p - (const char *)bytes) + 35 < size)
			memcpy(last_ids[1], p + 11, ID_SIZE - 1);
		break;
	case MSG_JUDGE:
		answer_judge(&d, hostile);
		break;
	case MSG_NEURON_MAKE:
		answer_make(&d, hostile);
		break;
	case MSG_NEURON_DROP:
		answer_gone(&d, hostile);
		break;
	case MSG_HOMES_ASK:
		answer_homes(hostile);
		break;
	case MSG_HOME_DROP:
		answer_home_drop(&d, hostile);
		break;
	default:
		break;
	}
}

/* Takes what policyd said on one channel; 1 if there was something. */
static int
take(int fd, enum channel_kind hostile)
{
	uint8_t buf[MSG_MAX_SIZE];
	char control[256];
	struct iovec iov = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg;
	size_t i, n;
	ssize_t size;
	int got;

	if (fd <= 0 || (size = recvmsg(fd, &msg, MSG_DONTWAIT)) <= 0)
		return (0);
	if ((cmsg = CMSG_FIRSTHDR(&msg)) != NULL) {
		n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			memcpy(&got, CMSG_DATA(cmsg) + i * sizeof(got),
			    sizeof(got));
			close(got);
		}
	}
	/* each message of the packet */
	for (i = 0; (size_t)size - i >= 8; i += 8 + n) {
		n = (size_t)buf[i + 4] | (size_t)buf[i + 5] << 8;
		if (n > (size_t)size - i - 8)
			abort();
		answer(buf + i, 8 + n, hostile);
	}
	return (1);
}

static void
turn(enum channel_kind hostile)
{
	int i, some = 1, rounds;

	for (rounds = 0; some && rounds < 16; rounds++) {
		event_base_loop(base, EVLOOP_NONBLOCK);
		for (i = 0, some = 0; i < 9; i++) {
			while (take(ends[i], hostile))
				some = 1;
		}
	}
}

/* An honest client with a call under way, for judged and neurond to abuse. */
static void
send_call(enum channel_kind hostile)
{
	struct enc *e = enc_new(256);
	int i;

	enc_u32(e, 1);
	say(ends[1], MSG_PEER, e, 1);
	enc_free(e);
	turn(0);
	e = enc_new(256);
	enc_u32(e, 2);
	enc_raw(e, number, sizeof(number));
	enc_u32(e, 0);
	enc_u8(e, STDIN_NONE);
	enc_u8(e, 0);
	enc_u32(e, UINT32_MAX);
	enc_u32(e, UINT32_MAX);
	enc_str(e, hostile == CH_EGRESS ? "fetch" : "exec");
	for (i = 0; i < 4; i++)
		enc_str(e, "");
	say(ends[1], MSG_ASK_ONCE, e, 2);
	enc_free(e);
	turn(hostile);
}

static void
fresh(enum channel_kind hostile)
{
	static unsigned runs;

	if (base == NULL)
		make_all();
	else if (++runs % RUNS_MAX == 0) {
		policyd_stop();
		if (policyd_start_memory(base) == -1)
			abort();
		make_key();
	}
	memset(last_ids, 0, sizeof(last_ids));
	plumb(CH_EGRESS);
	plumb(CH_LAUNCH);
	plumb(CH_JUDGE);
	plumb(CH_OPERATOR);
	plumb(CH_AGENT);
	if (hostile != CH_JUDGE)
		send_tools();
	turn(hostile);
	if (hostile == CH_LAUNCH || hostile == CH_OPERATOR ||
	    hostile == CH_EGRESS)
		send_call(hostile);
}

void
fuzz_policyd(enum channel_kind hostile, const uint8_t *data, size_t size)
{
	static uint8_t packet[MSG_MAX_SIZE + 64];
	int i = __builtin_ctz(hostile);
	int asked = 0;
	unsigned n;
	size_t len;

	fresh(hostile);
	for (n = 0; n < PACKETS_MAX && size >= 3; n++) {
		len = (size_t)(data[1] | data[2] << 8);
		if (len > size - 3)
			len = size - 3;
		if (len > sizeof(packet))
			len = sizeof(packet);
		memcpy(packet, data + 3, len);
		put_in_all(packet, len);
		send_packet(ends[i], packet, len, data[0]);
		turn(hostile);
		/* once its tools are known, there can be one to judge */
		if (hostile == CH_JUDGE && !asked && judge_up()) {
			send_call(hostile);
			asked = 1;
		}
		data += 3 + len;
		size -= 3 + len;
	}
}
