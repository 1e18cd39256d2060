/*
 * egressd: the only way out of a neuron.
 *
 * It reads what agents and the network wrote, so it may do nothing else: no
 * files, no programs, no state but what policyd and its configuration say.
 * Without policyd nothing is let through: what can't be told to it does not
 * happen.
 */
#include <sys/random.h>
#include <sys/socket.h>
#include <jansson.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "conn.h"
#include "log.h"
#include "neuron.h"
#include "proc.h"
#include "resolve.h"
#include "resolvconf.h"
#include "run.h"
#include "slice.h"

#define INT32		0xffffffffULL
#define TRUST_MAX	(4 * 1024 * 1024)	/* bytes of CA certificates */
#define STOP_FLUSH	500			/* ms */

/* Beyond what every process may do (proc_filter.c). */
static const struct proc_syscall syscalls[] = {
	{ "socket",		0, INT32, AF_INET },
	{ "socket",		0, INT32, AF_INET6 },
	{ "connect",		-1, 0, 0 },
	{ "accept4",		-1, 0, 0 },
	{ "recvfrom",		-1, 0, 0 },
	{ "sendto",		-1, 0, 0 },
	{ "shutdown",		-1, 0, 0 },
	{ "getsockname",	-1, 0, 0 },
	{ "getpeername",	-1, 0, 0 },
	{ "setsockopt",		-1, 0, 0 },
	{ "splice",		-1, 0, 0 }
};

/* A configuration that was accepted. */
struct conf {
	struct slice	*slice;
	struct resolvconf resolv;
	char		*trust;		/* CA certificates, PEM */
	size_t		 trust_size;
};

static struct conf	 current, coming;
static struct channel	*policyd;

/* ---- configuration ---- */

static void
conf_free(struct conf *c)
{
	slice_free(c->slice);
	free(c->trust);
	memset(c, 0, sizeof(*c));
}

/* The bytes of a file that supervisord opened; NULL if there is none. */
static char *
read_file(struct slice *slice, const char *name, size_t most, size_t *size)
{
	char *bytes;
	ssize_t n = 1;
	int fd;

	*size = 0;
	if ((fd = slice_claim(slice, name)) == -1)
		return (NULL);
	/* A restart hands the same open file again: its offset is shared. */
	if (lseek(fd, 0, SEEK_SET) == -1 ||
	    (bytes = malloc(most + 1)) == NULL) {
		log_warn("%s", name);
		close(fd);
		return (NULL);
	}
	while (n > 0 && *size <= most) {
		n = read(fd, bytes + *size, most + 1 - *size);
		if (n > 0)
			*size += (size_t)n;
	}
	if (n == -1)
		log_warn("%s", name);
	close(fd);
	if (n != -1 && *size <= most)
		return (bytes);
	if (n != -1)
		log_warnx("%s: over %zu bytes", name, most);
	free(bytes);
	return (NULL);
}

/*
 * The host's own files are not the configuration's: where one of them can't be
 * read, names are asked of 127.0.0.1 as resolv.conf(5) has it, and fetch
 * trusts nobody.
 */
static int
config(struct slice *slice)
{
	char *text;
	size_t size;

	conf_free(&coming);
	text = read_file(slice, "resolv.conf", RESOLVCONF_MAX, &size);
	if (resolvconf_read(text == NULL ? "" : text, size, &coming.resolv) ==
	    -1) {
		log_warnx("resolv.conf: it is no text");
		(void)resolvconf_read("", 0, &coming.resolv);
	}
	free(text);
	coming.trust = read_file(slice, "ca-certificates", TRUST_MAX,
	    &coming.trust_size);
	coming.slice = slice;
	return (0);
}

static void
commit(void)
{
	struct conf old = current;

	current = coming;
	memset(&coming, 0, sizeof(coming));
	if (old.slice == NULL)
		resolve_attach(proc_base());
	if (old.slice == NULL || memcmp(&old.resolv, &current.resolv,
	    sizeof(old.resolv)) != 0)
		resolve_servers(&current.resolv);
	run_trust(current.trust, current.trust_size);
	neurons_configure(current.slice);
	conf_free(&old);
}

static void
forget(void)
{
	/* It is the slice's owner's after CONFIG_BAD; ours after CONFIG_OK. */
	conf_free(&coming);
}

/* ---- what policyd says ---- */

static int
on_open(void *arg, struct imsg *m)
{
	char id[NAME_BYTES_MAX], profile[NAME_BYTES_MAX];
	unsigned which, bit, i = 0;
	struct neuron *n;

	(void)arg;
	which = imsg_get_u8(m);
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, profile, sizeof(profile));
	if (imsg_end(m) == -1 || which == 0 || which >> LISTENERS != 0 ||
	    (unsigned)__builtin_popcount(which) != imsg_fds(m) ||
	    current.slice == NULL)
		return (-1);
	if ((n = neuron_open(id, profile)) == NULL) {
		log_warnx_of(&(struct log_about){ .neuron = id },
		    "neuron %s: out of memory", id);
		return (0);
	}
	for (bit = 1; bit < 1U << LISTENERS; bit <<= 1)
		neuron_listen(n, bit, (which & bit) != 0 ?
		    imsg_claim_fd(m, i++) : -1);
	return (0);
}

static int
on_close(void *arg, struct imsg *m)
{
	char id[NAME_BYTES_MAX];
	struct neuron *n;

	(void)arg;
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1)
		return (-1);
	if ((n = neuron_find(id)) != NULL)
		neuron_close(n);
	return (0);
}

static int
on_call(void *arg, struct imsg *m)
{
	char id[NAME_BYTES_MAX], call[NAME_BYTES_MAX];
	struct neuron *n;
	unsigned begins, flags;

	(void)arg;
	begins = imsg_get_u8(m);
	flags = imsg_get_u8(m);
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, call, sizeof(call));
	if (imsg_end(m) == -1)
		return (-1);
	if ((n = neuron_find(id)) != NULL)
		neuron_call(n, call, begins != 0,
		    (flags & EGRESS_F_WRITES) != 0);
	return (0);
}

static int
on_run(void *arg, struct imsg *m)
{
	char id[NAME_BYTES_MAX], call[NAME_BYTES_MAX];
	struct run_ask ask = { .call = call };
	struct neuron *n;

	(void)arg;
	ask.timeout = imsg_get_u32(m);
	ask.what = imsg_get_u8(m);
	ask.most = imsg_get_u64(m);
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, call, sizeof(call));
	if (imsg_end(m) == -1 || ask.what < EGRESS_FETCH ||
	    ask.what > EGRESS_GRANT_SESSION)
		return (-1);
	if ((n = neuron_find(id)) == NULL) {
		report_ended(call, END_LAUNCH_FAILED, 0, 0,
		    "the neuron has no egress");
		return (0);
	}
	ask.block = imsg_claim_fd(m, 0);
	ask.out = imsg_claim_fd(m, 1);
	ask.err = imsg_claim_fd(m, 2);
	run_start(n, &ask);
	return (0);
}

static int
on_kill(void *arg, struct imsg *m)
{
	char call[NAME_BYTES_MAX];
	unsigned cause;

	(void)arg;
	cause = imsg_get_u8(m);
	imsg_get_str(m, call, sizeof(call));
	if (imsg_end(m) == -1)
		return (-1);
	run_kill(call, cause);
	return (0);
}

/* It had been granted to an egressd that is no more, or is taken back. */
static int
on_grant(void *arg, struct imsg *m)
{
	char id[NAME_BYTES_MAX], text[EGRESS_NAME_MAX + 3];
	struct host host;
	struct neuron *n;
	const char *why;
	unsigned port, what, flags;

	(void)arg;
	port = imsg_get_u16(m);
	what = imsg_get_u8(m);
	flags = imsg_get_u8(m);
	imsg_get_str(m, id, sizeof(id));
	text[0] = '[';
	imsg_get_str(m, text + 1, sizeof(text) - 2);
	if (imsg_end(m) == -1 || what < EGRESS_GRANT_ONCE ||
	    what > EGRESS_GRANT_NONE ||
	    (flags & ~(unsigned)EGRESS_F_WRITES) != 0)
		return (-1);
	if ((n = neuron_find(id)) == NULL)
		return (0);
	/* The canonical form of an IPv6 address is read in brackets. */
	if (strchr(text, ':') != NULL) {
		(void)strlcat(text, "]", sizeof(text));
		if (host_read(text, strlen(text), &host, &why) != REFUSE_NOT)
			return (-1);
	} else if (host_read(text + 1, strlen(text + 1), &host, &why) !=
	    REFUSE_NOT)
		return (-1);
	if (what == EGRESS_GRANT_NONE) {
		grants_remove(n->grants, &host, (uint16_t)port, flags);
		conns_judge_again(n);
		return (0);
	}
	(void)grants_add(n->grants, &host, (uint16_t)port, what, flags,
	    now_ms());
	return (0);
}

static const struct channel_handler handlers[] = {
	{ MSG_EGRESS_OPEN,	on_open },
	{ MSG_EGRESS_CLOSE,	on_close },
	{ MSG_EGRESS_CALL,	on_call },
	{ MSG_EGRESS_RUN,	on_run },
	{ MSG_EGRESS_KILL,	on_kill },
	{ MSG_EGRESS_GRANT,	on_grant }
};

/* Nobody hears what is let through any more: so nothing is. */
static void
channel_gone(void)
{
	report_channel(NULL);
	neurons_close();
	channel_free(policyd);
	policyd = NULL;
}

static void
on_dead(void *arg, const char *reason)
{
	(void)arg;
	log_debug("egress channel: %s", reason);
	channel_gone();
	proc_channel_lost(CH_EGRESS);
}

static const struct channel_ops ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0]),
	.dead = on_dead
};

static void
plumb(enum channel_kind kind, int fd)
{
	(void)kind;
	channel_gone();
	policyd = channel_new(fd, CH_EGRESS, END_B, &ops, NULL);
	if (policyd == NULL || channel_attach(policyd, proc_base()) == -1)
		fatalx("egress channel: out of memory");
	report_channel(policyd);
}

/* ---- the process ---- */

/* What was let through is in the audit log, also where a stop cuts it. */
static void
stop(void)
{
	neurons_close();
	if (policyd != NULL)
		(void)channel_flush_wait(policyd, STOP_FLUSH);
	channel_gone();
	resolve_stop();
	run_trust_free();
	conf_free(&coming);
	conf_free(&current);
}

/* What libraries would open later: c-ares its files, jansson /dev/urandom. */
static int
preload(void)
{
	size_t seed = 0;

	while (seed == 0) {
		if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) {
			log_warn("getrandom");
			return (-1);
		}
	}
	json_object_seed(seed);
	return (resolve_preload());
}

static const struct proc_role role = {
	.name = "egressd",
	.channels = CH_EGRESS,
	.syscalls = syscalls,
	.nsyscalls = sizeof(syscalls) / sizeof(syscalls[0]),
	.preload = preload,
	.config = config,
	.commit = commit,
	.abort = forget,
	.plumb = plumb,
	.stop = stop
};

int
main(int argc, char **argv)
{
	proc_main(&role, argc, argv);
}
