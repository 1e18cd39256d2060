/*
 * Scripts of a process that was taken over: what it does with the channels it
 * has.  Each is one table row; the name is what a test writes to the tree.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "codec.h"
#include "env.h"
#include "runblock.h"
#include "takeover.h"

#define MANY	100000

int	__real_runblock_encode(const struct runblock *);
int	__wrap_runblock_encode(const struct runblock *);

/* The channel that a process has beside the control channel. */
static int
own(void)
{
	static const enum channel_kind kinds[] = { CH_AGENT, CH_OPERATOR,
	    CH_JUDGE, CH_LAUNCH, CH_EGRESS };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (takeover_channel(kinds[i]) != -1)
			return (takeover_channel(kinds[i]));
	return (-1);
}

static void
send_enc(unsigned type, struct enc *e, int fd, unsigned n)
{
	(void)raw_send(own(), type, enc_data(e), enc_size(e), fd, n);
	enc_free(e);
}

/* ---- for any process ---- */

static void
an_fd_of_the_wrong_kind(void)
{
	(void)raw_send(own(), MSG_PEER, "\1\0\0", 4, STDIN_FILENO, 1);
}

static void
fds_without_end(void)
{
	takeover_say("sent %d\n", raw_send(own(), MSG_PEER, "\1\0\0", 4,
	    STDIN_FILENO, 253));
}

static void
half_a_message(void)
{
	(void)raw_bytes(own(), "abc", 3, -1, 0);
}

static void
another_channels_message(void)
{
	(void)raw_send(own(), MSG_START, NULL, 28, -1, 0);
}

/* policyd's neighbours, each by a message of another channel. */
static void
foreign_everywhere(void)
{
	(void)raw_send(takeover_channel(CH_AGENT), MSG_LAUNCH, NULL, 20, -1,
	    0);
	(void)raw_send(takeover_channel(CH_OPERATOR), MSG_JUDGE, NULL, 20, -1,
	    0);
	(void)raw_send(takeover_channel(CH_JUDGE), MSG_REPLY, NULL, 20, -1,
	    0);
	(void)raw_send(takeover_channel(CH_LAUNCH), MSG_VERDICT, NULL, 47, -1,
	    0);
}

static void
garbage_to_supervisord(void)
{
	(void)raw_bytes(takeover_channel(CH_CONTROL), "nonsense", 8, -1, 0);
}

static void
flood_of_pongs(void)
{
	takeover_say("sent %u\n", raw_flood(takeover_channel(CH_CONTROL),
	    MSG_PONG, NULL, 4, MANY));
}

/* That somebody else's channel is dead, or one it never had. */
static void
false_loss(void)
{
	struct enc *e = enc_new(64);

	enc_u32(e, takeover_channel(CH_LAUNCH) == -1 ? CH_LAUNCH : CH_INIT);
	enc_u32(e, 1);
	(void)raw_send(takeover_channel(CH_CONTROL), MSG_LOST, enc_data(e),
	    enc_size(e), -1, 0);
	enc_free(e);
}

static void
an_open_in_the_loop(void)
{
	takeover_say("open %ld\n", syscall(SYS_openat, AT_FDCWD,
	    "/etc/passwd", O_RDONLY));
}

/* ---- apid ---- */

static void
flood_of_queries(void)
{
	struct enc *e = enc_new(64);

	enc_u32(e, 1);
	enc_u64(e, 12345);		/* a handle of nobody's */
	enc_u8(e, QUERY_WHOAMI);
	enc_u64(e, 0);
	enc_u32(e, 0);
	enc_str(e, "");
	takeover_say("sent %u\n", raw_flood(own(), MSG_QUERY, enc_data(e),
	    enc_size(e), MANY));
	enc_free(e);
}

/* The rows of the agent's plane, by the operator's apid. */
static void
ask_as_operator(void)
{
	struct enc *e = enc_new(256);
	int args = memfd_sealed("args", "{}", 2), i;

	enc_u32(e, 1);
	enc_u64(e, 1);
	enc_u32(e, 0);
	enc_u8(e, STDIN_NONE);
	enc_u8(e, 0);
	enc_u32(e, UINT32_MAX);
	enc_u32(e, UINT32_MAX);
	for (i = 0; i < 5; i++)
		enc_str(e, i == 0 ? "bash" : "");
	send_enc(MSG_ASK_ONCE, e, args, 1);
}

static void
open_as_operator(void)
{
	struct enc *e = enc_new(256);
	int i;

	enc_u32(e, 1);
	enc_u64(e, 1);
	enc_u8(e, OPEN_SESSION);
	for (i = 0; i < 3; i++)
		enc_u32(e, 0);
	for (i = 0; i < 4; i++)
		enc_str(e, "");
	send_enc(MSG_OPEN, e, -1, 0);
}

static void
stop_as_operator(void)
{
	struct enc *e = enc_new(64);

	enc_u64(e, 0);
	enc_u8(e, STOP_OUTPUT_LIMIT);
	enc_str(e, "c-00000000000000000000");
	send_enc(MSG_STOP, e, -1, 0);
}

/* ---- judged ---- */

static void
a_late_tool(void)
{
	struct enc *e = enc_new(128);
	unsigned char sha[32] = { 0 };

	enc_u8(e, EFFECT_READ);
	enc_u32(e, 0);
	enc_u8(e, 0);
	enc_u32(e, 0);
	enc_raw(e, sha, sizeof(sha));
	enc_str(e, "late");
	send_enc(MSG_TOOL, e, -1, 0);
}

/* What every run block of a taken-over judged is. */
static int
hostile_block(const struct runblock *rb)
{
	static char big[RUNBLOCK_MAX + 4096];
	struct runblock evil = *rb;
	char *env[1];

	if (strcmp(takeover_script(), "block-garbage") == 0)
		return (memfd_sealed("run", "\xff\xff\xff\xff garbage", 12));
	if (strcmp(takeover_script(), "block-empty") == 0)
		return (memfd_sealed("run", "", 0));
	if (strcmp(takeover_script(), "block-huge") == 0)
		return (memfd_sealed("run", big, sizeof(big)));
	evil.env = env;
	evil.envc = 1;
	if (strcmp(takeover_script(), "block-loader") == 0)
		env[0] = (char *)(unsigned long)"LD_PRELOAD=/tmp/x.so";
	else if (strcmp(takeover_script(), "block-reserved") == 0)
		env[0] = (char *)(unsigned long)"PATH=/tmp";
	else if (strcmp(takeover_script(), "block-credential") == 0)
		env[0] = (char *)(unsigned long)"AWS_SECRET_ACCESS_KEY=x";
	else if (strcmp(takeover_script(), "block-own") == 0)
		env[0] = (char *)(unsigned long)"MYELIN_CALL=c-other";
	else
		return (__real_runblock_encode(rb));
	return (__real_runblock_encode(&evil));
}

int
__wrap_runblock_encode(const struct runblock *rb)
{
	return (hostile_block(rb));
}

/* ---- egressd ---- */

/* policyd's own word on a question that a person was to answer. */
static void
decide_as_egressd(void)
{
	struct enc *e = enc_new(256);
	unsigned char digest[32] = { 0 };

	enc_u32(e, 1);
	enc_u64(e, 1);
	enc_u8(e, DECIDE_ALLOW_SESSION);
	enc_raw(e, digest, sizeof(digest));
	enc_str(e, "a-00000000000000000000");
	enc_str(e, "");
	send_enc(MSG_DECIDE, e, -1, 0);
}

/* That a host was granted to a neuron which nobody granted one. */
static void
a_grant_of_its_own(void)
{
	struct enc *e = enc_new(256);

	enc_u16(e, 443);
	enc_u8(e, EGRESS_GRANT_SESSION);
	enc_u8(e, EGRESS_F_WRITES);
	enc_str(e, takeover_extra());
	enc_str(e, "evil.example");
	send_enc(MSG_EGRESS_GRANTED, e, -1, 0);
}

/* That a call is over which runs in a neuron. */
static void
an_end_of_anothers_call(void)
{
	struct enc *e = enc_new(256);

	enc_u8(e, END_EXITED);
	enc_i32(e, 0);
	enc_u32(e, 1);
	enc_str(e, takeover_extra());
	enc_str(e, "");
	send_enc(MSG_EGRESS_ENDED, e, -1, 0);
}

/* ---- the table ---- */

static const struct {
	const char	*name;
	void		(*fn)(void);
} scripts[] = {
	{ "wrong-fd",	an_fd_of_the_wrong_kind },
	{ "many-fds",	fds_without_end },
	{ "half",	half_a_message },
	{ "foreign",	another_channels_message },
	{ "everywhere",	foreign_everywhere },
	{ "garbage",	garbage_to_supervisord },
	{ "pongs",	flood_of_pongs },
	{ "false-loss",	false_loss },
	{ "open",	an_open_in_the_loop },
	{ "queries",	flood_of_queries },
	{ "op-ask",	ask_as_operator },
	{ "op-open",	open_as_operator },
	{ "op-stop",	stop_as_operator },
	{ "late-tool",	a_late_tool },
	{ "eg-decide",	decide_as_egressd },
	{ "eg-open",	open_as_operator },
	{ "eg-granted",	a_grant_of_its_own },
	{ "eg-ended",	an_end_of_anothers_call }
};

int
script_known(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		if (strcmp(scripts[i].name, name) == 0)
			return (1);
	return (0);
}

void
script_run(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		if (strcmp(scripts[i].name, name) == 0)
			scripts[i].fn();
}
