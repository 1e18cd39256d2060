/*
 * A hostile PID 1, policyd, maker and spawner, all talking to neurond: the
 * handlers of root, with what they keep of neurons and calls.
 *
 * An input is packets: u8 who (below), u8 fds, u16 length, then so many bytes:
 * the message's type and its fields.  The header in front is right
 * unless who says that the packet is sent as it stands.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "helper.h"
#include "home.h"
#include "imsg_internal.h"
#include "launch.h"
#include "log.h"
#include "neuron.h"
#include "place.h"
#include "proc.h"
#include "settings.h"
#include "slot.h"

#define SLOTS		4
#define PACKETS_MAX	48
#define PACKET_BYTES	1024

/* who: the peer, which neuron's PID 1, and whether the header is made. */
enum { BY_POLICYD, BY_INIT, BY_SPAWNER, BY_MAKER };
#define WHO(b)		((b) & 3)
#define WHICH(b)	(((b) >> 2) & (SLOTS - 1))
#define AS_IT_STANDS	0x80

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static struct event_base *base;
static struct cg_base cgroups = { .v2 = -1, .v1 = { -1, -1, -1 } };
static struct slot slots[SLOTS];
static int inits[SLOTS] = { -1, -1, -1, -1 };	/* PID 1's ends */
static int leaf, memfd, null, pipes[2];
static char leaf_path[64];

/* ---- what neurond is made of beside neurons and calls ---- */

struct event_base *
proc_base(void)
{
	return (base);
}

struct cg_base *
slots_base(void)
{
	return (&cgroups);
}

/* Every other one has what stands for a namespace for the idmap. */
struct slot *
slot_take(void)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (slots[i].state == SLOT_READY) {
			slots[i].state = SLOT_USED;
			slots[i].map_ns = i % 2 == 0 ? -1 :
			    fcntl(null, F_DUPFD_CLOEXEC, 0);
			return (&slots[i]);
		}
	return (NULL);
}

void
slot_unmap(struct slot *s)
{
	if (s->map_ns != -1)
		close(s->map_ns);
	s->map_ns = -1;
}

void
slot_free(struct slot *s)
{
	slot_unmap(s);
	s->state = SLOT_READY;
	if (inits[s->n] != -1)
		close(inits[s->n]);
	inits[s->n] = -1;
}

/* None for the pool: whose they are is the input's to say. */
struct slot *
slot_take_spare(void)
{
	return (NULL);
}

struct slot *
slot_find(uint32_t n, uint32_t generation)
{
	return (n < SLOTS && generation == 1 ? &slots[n] : NULL);
}

void
slots_poke(void)
{
}

/* Whoever the owner is. */
int
slot_is_mapped(const struct slot *s, uid_t uid, gid_t gid)
{
	(void)uid;
	(void)gid;
	return (s->map_ns != -1);
}

void
slots_expect(uid_t uid, gid_t gid)
{
	(void)uid;
	(void)gid;
}

unsigned
slots_making(void)
{
	return (0);
}

void
helper_hangs(enum helper_which which)
{
	(void)which;
}

unsigned
proc_flags(void)
{
	return (0);
}

void
proc_channel_lost(enum channel_kind kind)
{
	(void)kind;
}

int
helpers_up(void)
{
	return (1);
}

int
helper_is_up(enum helper_which which)
{
	(void)which;
	return (1);
}

void
helpers_report(void)
{
}

/* BUILD carries PID 1's end of its channel: that is for us to speak on. */
int
helper_send(enum helper_which which, struct imsg *m)
{
	uint32_t n = enc_data(m->enc)[0];

	if (which == HELPER_SPAWNER && n < SLOTS) {
		if (inits[n] != -1)
			close(inits[n]);
		inits[n] = m->fds[0];
		m->fds[0] = -1;
	}
	(void)channel_send(NULL, m);	/* frees it */
	return (0);
}

/* ---- the rig ---- */

static void
make_leaf(void)
{
	static const struct {
		const char	*name;
		const char	*text;
	} files[] = {
		{ "cgroup.events", "populated 0\n" }, { "cgroup.kill", "" },
		{ "cgroup.procs", "" }, { "cpu.stat", "usage_usec 1\n" }
	};
	size_t i;
	int fd;

	snprintf(leaf_path, sizeof(leaf_path), "/tmp/fuzz-neuron.%d",
	    (int)getpid());
	if (mkdir(leaf_path, 0700) == -1 ||
	    (leaf = open(leaf_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		abort();
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		fd = openat(leaf, files[i].name, O_WRONLY | O_CREAT |
		    O_CLOEXEC, 0600);
		if (fd == -1 || write(fd, files[i].text,
		    strlen(files[i].text)) == -1)
			abort();
		close(fd);
	}
}

/* All workspaces are the leaf: there is one record at most. */
static void
places_remove(void)
{
	struct stat st;
	char name[64];

	if (fstat(leaf, &st) == 0) {
		snprintf(name, sizeof(name), "neurons/placeholders-%llx-%llx",
		    (unsigned long long)st.st_dev,
		    (unsigned long long)st.st_ino);
		unlinkat(leaf, name, 0);
	}
	unlinkat(leaf, "neurons", AT_REMOVEDIR);
}

static void
remove_leaf(void)
{
	unlinkat(leaf, "cgroup.events", 0);
	unlinkat(leaf, "cgroup.kill", 0);
	unlinkat(leaf, "cgroup.procs", 0);
	unlinkat(leaf, "cpu.stat", 0);
	places_remove();
	rmdir(leaf_path);
}

static void
make_all(void)
{
	struct slice *s = slice_new();
	int i, j;

	log_init("fuzz", open("/dev/null", O_WRONLY), 0);
	make_leaf();
	atexit(remove_leaf);
	if (mkdirat(leaf, "neurons", 0700) == -1)
		abort();
	places_load(leaf_path);
	homes_load(leaf_path);
	if ((base = event_base_new()) == NULL || s == NULL ||
	    (memfd = memfd_sealed("fuzz", "{}", 2)) == -1 ||
	    (null = open("/dev/null", O_RDWR | O_CLOEXEC)) == -1 ||
	    pipe2(pipes, O_CLOEXEC) == -1)
		abort();
	s->instance = strdup("fuzz");
	s->nprincipals = 1;
	s->principals = calloc(1, sizeof(*s->principals));
	s->principals[0].who = WHO_USER;
	s->principals[0].owner = OWNER_ANY;
	strings_add(&s->principals[0].workspaces, "/*");
	settings_set(s);
	for (i = 0; i < SLOTS; i++) {
		slots[i].n = (uint32_t)i;
		slots[i].generation = 1;
		slots[i].state = SLOT_READY;
		slots[i].kuid = 1900000016 + (uint32_t)i;
		slots[i].user_ns = slots[i].net_ns = slots[i].map_ns = -1;
		slots[i].limits = s->limits;
		slots[i].cg.v2 = -1;
		slots[i].cg.nleaves = NEURON_RUNNING_MAX;
		for (j = 0; j < NEURON_RUNNING_MAX; j++)
			slots[i].cg.leaf[j] = leaf;
	}
}

static const struct channel_handler helper_handlers[] = {
	{ MSG_BUILT,	neuron_on_built },
	{ MSG_WALKED,	neuron_on_walked },
	{ MSG_PLACED,	place_on_placed },
	{ MSG_CLEARED,	place_on_cleared },
	{ MSG_HOME_OPENED, home_on_opened },
	{ MSG_HOME_ERASED, home_on_erased }
};

static const struct channel_ops helper_ops = {
	.handlers = helper_handlers,
	.nhandlers = sizeof(helper_handlers) / sizeof(helper_handlers[0])
};

struct peers {
	int		 policyd;
	int		 helper[2];	/* spawner, maker */
	struct channel	*channel[2];
};

static int
helper_pair(struct channel **ch, enum channel_kind kind)
{
	int pair[2];

	if (channel_pair(pair) == -1)
		abort();
	*ch = channel_new(pair[0], kind, END_A, &helper_ops, NULL);
	if (*ch == NULL || channel_attach(*ch, base) == -1)
		abort();
	return (pair[1]);
}

static void
peers_make(struct peers *p)
{
	int pair[2];

	if (channel_pair(pair) == -1)
		abort();
	launch_plumb(pair[0]);
	p->policyd = pair[1];
	p->helper[0] = helper_pair(&p->channel[0], CH_SPAWNER);
	p->helper[1] = helper_pair(&p->channel[1], CH_MAKER);
}

/* The fds that a message of that type has; wrong ones are check_imsg's. */
static void
fds_of(unsigned type, int fds[4])
{
	const int launch[4] = { memfd, pipes[1], pipes[1], memfd };
	const int other[4] = { null, null, null, null };
	const int walked[4] = { leaf, memfd, null, null };
	const int opened[4] = { leaf, leaf, null, null };

	memcpy(fds, type == MSG_LAUNCH ? launch : type == MSG_WALKED ? walked :
	    type == MSG_HOME_OPENED ? opened : other, sizeof(launch));
}

static void
put(int sock, uint8_t who, unsigned nfds, const uint8_t *data, size_t size)
{
	uint8_t packet[IMSG_HEADER + PACKET_BYTES] = { 0 };
	union {
		struct cmsghdr	 align;
		char		 buf[CMSG_SPACE(4 * sizeof(int))];
	} control = { .buf = { 0 } };
	struct iovec iov = { .iov_base = packet };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;
	size_t n = size - 2;
	int fds[4];

	if (who & AS_IT_STANDS) {
		memcpy(packet, data, size);
		iov.iov_len = size;
	} else {
		memcpy(packet, data, 2);
		packet[2] = (uint8_t)nfds;
		packet[4] = (uint8_t)n;
		packet[5] = (uint8_t)(n >> 8);
		memcpy(packet + IMSG_HEADER, data + 2, n);
		iov.iov_len = IMSG_HEADER + n;
	}
	fds_of((unsigned)(data[0] | data[1] << 8), fds);
	if (nfds > 0) {
		msg.msg_control = control.buf;
		msg.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, nfds * sizeof(int));
	}
	(void)sendmsg(sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int
socket_of(const struct peers *p, uint8_t who)
{
	switch (WHO(who)) {
	case BY_POLICYD:
		return (p->policyd);
	case BY_INIT:
		return (inits[WHICH(who)]);
	case BY_SPAWNER:
		return (p->helper[0]);
	default:
		return (p->helper[1]);
	}
}

/* All ends: what was made must be gone, and its slot free again. */
static void
finish(struct peers *p)
{
	int i, used = 1, tries;

	neurons_end_all("the input ends");
	for (tries = 0; used > 0 && tries < 1000; tries++) {
		event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
		for (i = used = 0; i < SLOTS; i++)
			used += slots[i].state == SLOT_USED;
	}
	if (used > 0 || neurons_waiting() > 0)
		abort();
	for (i = 0; i < 2; i++) {
		channel_free(p->channel[i]);
		close(p->helper[i]);
	}
	places_maker_down();
	homes_maker_down();
	close(p->policyd);
	event_base_loop(base, EVLOOP_NONBLOCK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct peers peers;
	unsigned packets, nfds;
	size_t len;
	uint8_t who;
	int sock;

	if (base == NULL)
		make_all();
	peers_make(&peers);
	for (packets = 0; packets < PACKETS_MAX && size > 4; packets++) {
		who = data[0];
		nfds = data[1] % 5;
		len = (size_t)(data[2] | data[3] << 8) % PACKET_BYTES;
		data += 4;
		size -= 4;
		if (len > size)
			len = size;
		if (len < 2)
			break;
		if ((sock = socket_of(&peers, who)) != -1)
			put(sock, who, nfds, data, len);
		data += len;
		size -= len;
		event_base_loop(base, EVLOOP_NONBLOCK);
	}
	finish(&peers);
	return (0);
}
