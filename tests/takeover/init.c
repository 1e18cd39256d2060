/*
 * Takes PID 1 of a neuron over, and neurond's helpers.
 *
 * The spawner of a takeover build is linked with --wrap=init_main: a neuron
 * whose workspace is named hostile-NAME gets a PID 1 that does what NAME says,
 * all others an honest one.  maker and spawner are linked with
 * --wrap=helper_start and --wrap=helper_up, and do once they are up what
 * takeover/maker or takeover/spawner says (files.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helper_main.h"
#include "init/init.h"
#include "native/build.h"
#include "takeover.h"

#define MANY	100000

_Noreturn void	__real_init_main(const struct native *,
		    const struct build_request *, uint64_t);
_Noreturn void	__wrap_init_main(const struct native *,
		    const struct build_request *, uint64_t);
struct channel *__real_helper_start(int, char **, const char *,
		    enum channel_kind, const struct channel_ops *);
struct channel *__wrap_helper_start(int, char **, const char *,
		    enum channel_kind, const struct channel_ops *);
void	__real_helper_up(struct channel *, unsigned, int, const char *);
void	__wrap_helper_up(struct channel *, unsigned, int, const char *);

static uint64_t in_force;

/* ---- PID 1 ---- */

static void
ready(int ch)
{
	uint64_t layers = in_force;

	(void)raw_send(ch, MSG_INIT_READY, &layers, sizeof(layers), -1, 0);
}

/* The next RUN: its number. */
static uint32_t
next_run(int ch)
{
	struct pollfd pfd = { .fd = ch, .events = POLLIN };
	unsigned char packet[16384];
	uint32_t run = 0;
	ssize_t n;

	for (;;) {
		if (poll(&pfd, 1, -1) == -1 && errno == EINTR)
			continue;
		n = recv(ch, packet, sizeof(packet), 0);
		if (n <= 0)
			_exit(0);
		if (packet[0] == MSG_RUN && n > 12)
			break;
	}
	memcpy(&run, packet + 8, sizeof(run));
	return (run);
}

static void
say_run(int ch, unsigned type, uint32_t run)
{
	(void)raw_send(ch, type, &run, sizeof(run), -1, 0);
}

static void
say_ended(int ch, uint32_t run, int32_t code, int32_t sig)
{
	unsigned char ended[20] = { 0 };

	memcpy(ended, &run, 4);
	memcpy(ended + 4, &code, 4);
	memcpy(ended + 8, &sig, 4);
	(void)raw_send(ch, MSG_RUN_ENDED, ended, sizeof(ended), -1, 0);
}

static void
unknown(int ch)
{
	ready(ch);
	(void)next_run(ch);
	(void)raw_send(ch, 9999, NULL, 64, -1, 0);
}

static void
size(int ch)
{
	ready(ch);
	(void)next_run(ch);
	(void)raw_send(ch, MSG_RUN_ENDED, NULL, 16000, -1, 0);
}

static void
an_fd(int ch)
{
	ready(ch);
	say_run(ch, MSG_RUN_STARTED, next_run(ch));
	(void)raw_send(ch, MSG_RUN_ENDED, NULL, 20, STDIN_FILENO, 1);
}

static void
many_fds(int ch)
{
	ready(ch);
	say_run(ch, MSG_RUN_STARTED, next_run(ch));
	(void)raw_send(ch, MSG_RUN_ENDED, NULL, 20, STDIN_FILENO, 253);
}

static void
half(int ch)
{
	ready(ch);
	(void)next_run(ch);
	(void)raw_bytes(ch, "abc", 3, -1, 0);
}

static void
another_channels(int ch)
{
	ready(ch);
	(void)next_run(ch);
	(void)raw_send(ch, MSG_NEURON_MAKE, NULL, 28, -1, 0);
}

/* A record that would be right once, without end. */
static void
flood(int ch)
{
	uint32_t run;

	ready(ch);
	run = next_run(ch);
	(void)raw_flood(ch, MSG_RUN_STARTED, &run, sizeof(run), MANY);
}

static void
replay(int ch)
{
	uint32_t run;

	ready(ch);
	run = next_run(ch);
	say_run(ch, MSG_RUN_STARTED, run);
	say_ended(ch, run, 0, 0);
	say_ended(ch, run, 0, 0);
}

static void
ready_twice(int ch)
{
	ready(ch);
	ready(ch);
}

/* Somebody else's run. */
static void
another_run(int ch)
{
	ready(ch);
	say_run(ch, MSG_RUN_STARTED, next_run(ch) + 1);
}

static void
impossible_end(int ch)
{
	uint32_t run;

	ready(ch);
	run = next_run(ch);
	say_run(ch, MSG_RUN_STARTED, run);
	say_ended(ch, run, 7, 9);
}

/* The start and the end at once, of what has started already. */
static void
ran_twice(int ch)
{
	uint32_t ran[6] = { 0 };

	ready(ch);
	ran[0] = next_run(ch);
	say_run(ch, MSG_RUN_STARTED, ran[0]);
	(void)raw_send(ch, MSG_RUN_RAN, ran, sizeof(ran), -1, 0);
}

/* It ended as nothing can, after running for longer than we know it. */
static void
impossible_run(int ch)
{
	uint32_t ran[6] = { 0, 7, 9, 0, 0, UINT32_MAX };

	ready(ch);
	ran[0] = next_run(ch);
	(void)raw_send(ch, MSG_RUN_RAN, ran, sizeof(ran), -1, 0);
}

/* Layers that it has not. */
static void
no_layers(int ch)
{
	in_force = 0;
	ready(ch);
}

static void
bad_step(int ch)
{
	uint32_t words[2] = { 0xffff, 1 };

	(void)raw_send(ch, MSG_INIT_BAD, words, sizeof(words), -1, 0);
}

static void
silent(int ch)
{
	(void)ch;
	for (;;)
		(void)poll(NULL, 0, 1000);
}

/* An honest start, and then it reads nothing any more. */
static void
deaf(int ch)
{
	ready(ch);
	silent(ch);
}

static const struct {
	const char	*name;
	void		(*fn)(int);
} inits[] = {
	{ "unknown", unknown }, { "size", size }, { "fd", an_fd },
	{ "many-fds", many_fds }, { "half", half },
	{ "foreign", another_channels }, { "flood", flood },
	{ "replay", replay }, { "ready-twice", ready_twice },
	{ "another-run", another_run }, { "impossible", impossible_end },
	{ "ran-twice", ran_twice }, { "impossible-run", impossible_run },
	{ "no-layers", no_layers }, { "bad-step", bad_step },
	{ "silent", silent }, { "deaf", deaf }
};

_Noreturn void
__wrap_init_main(const struct native *native,
    const struct build_request *built, uint64_t layers)
{
	const char *name = strstr(built->workspace, "/hostile-");
	size_t i;

	in_force = layers;
	for (i = 0; name != NULL && i < sizeof(inits) / sizeof(inits[0]); i++)
		if (strcmp(name + strlen("/hostile-"), inits[i].name) == 0)
			inits[i].fn(built->control);
	if (name != NULL)
		silent(built->control);	/* alive: neurond has to act */
	__real_init_main(native, built, layers);
}

/* ---- maker and spawner ---- */

struct channel *
__wrap_helper_start(int argc, char **argv, const char *name,
    enum channel_kind kind, const struct channel_ops *ops)
{
	takeover_begin(name);
	return (__real_helper_start(argc, argv, name, kind, ops));
}

/* To neurond, on MAKER or SPAWNER, once this helper is up. */
static void
misbehave(int ch)
{
	const char *script = takeover_script();
	unsigned char made[20] = { 0 };

	if (strcmp(script, "foreign") == 0)
		(void)raw_send(ch, MSG_NEURON_MAKE, NULL, 28, -1, 0);
	else if (strcmp(script, "half") == 0)
		(void)raw_bytes(ch, "abc", 3, -1, 0);
	else if (strcmp(script, "many-fds") == 0)
		(void)raw_send(ch, MSG_BUILT, NULL, 16, STDIN_FILENO, 253);
	else if (strcmp(script, "wrong-fd") == 0)
		(void)raw_send(ch, MSG_NS_MADE, NULL, 16, STDIN_FILENO, 2);
	else if (strcmp(script, "up-twice") == 0)
		(void)raw_send(ch, MSG_HELPER_UP, NULL, 12, -1, 0);
	else if (strcmp(script, "built-of-pid-1") == 0) {
		made[8] = 1;	/* BUILT: pid 1, whose pidfd is no pidfd */
		(void)raw_send(ch, MSG_BUILT, made, 16, STDIN_FILENO, 1);
	} else if (strcmp(script, "flood") == 0) {
		/* BUILT, no such slot, no pid, EIO: an answer to nothing */
		memset(made, 0xff, 8);
		made[12] = 5;
		takeover_say("sent %u\n", raw_flood(ch, MSG_BUILT, made, 16,
		    MANY));
	}
}

void
__wrap_helper_up(struct channel *ch, unsigned abi, int error,
    const char *failed)
{
	__real_helper_up(ch, abi, error, failed);
	if (takeover_script()[0] == '\0')
		return;
	/* What it does may be its end. */
	takeover_say("begins\n");
	misbehave(HELPER_CHANNEL_FD);
	takeover_say("end\n");
}
