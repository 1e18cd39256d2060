/*
 * What a policyd that was taken over would send its apid (fake_policyd.c).
 */
#include <sys/socket.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "hostile.h"
#include "takeover.h"

#define MANY	100000
#define ANSWERED	1000

static void
unknown(int ch)
{
	(void)raw_send(ch, 9999, NULL, 16, -1, 0);
}

static void
half(int ch)
{
	(void)raw_bytes(ch, "abc", 3, -1, 0);
}

static void
foreign(int ch)
{
	(void)raw_send(ch, MSG_LAUNCH, NULL, 20, -1, 0);
}

static void
direction(int ch)
{
	(void)raw_send(ch, MSG_QUERY, NULL, 29, -1, 0);
}

static void
size(int ch)
{
	(void)raw_send(ch, MSG_PEER_OK, NULL, 3, -1, 0);
}

static void
an_fd(int ch)
{
	(void)raw_send(ch, MSG_PEER_OK, NULL, 20, STDIN_FILENO, 1);
}

static void
wrong_fd(int ch)
{
	(void)raw_send(ch, MSG_REPLY, NULL, 14, STDIN_FILENO, 1);
}

static void
many_fds(int ch)
{
	(void)raw_send(ch, MSG_REPLY, NULL, 14, STDIN_FILENO, 253);
}

/* A string that says it is longer than the message. */
static void
long_string(int ch)
{
	unsigned char p[20];

	memset(p, 0xff, sizeof(p));
	(void)raw_send(ch, MSG_PEER_OK, p, sizeof(p), -1, 0);
}

static void
bad_status(int ch)
{
	struct enc *e = enc_new(64);

	enc_u32(e, 1);
	enc_u16(e, 42);
	enc_u32(e, 0);
	enc_str(e, "{}");
	(void)raw_send(ch, MSG_REPLY, enc_data(e), enc_size(e), -1, 0);
	enc_free(e);
}

/* Ids that are none would become paths and headers elsewhere. */
static void
bad_id(int ch)
{
	struct enc *e = enc_new(64);

	enc_u32(e, 1);
	enc_u32(e, 0);
	enc_u64(e, 1);
	enc_u64(e, 1);
	enc_str(e, "../x");
	enc_str(e, "");
	(void)raw_send(ch, MSG_ASKED, enc_data(e), enc_size(e), -1, 0);
	enc_free(e);
}

/* A verdict that is no JSON, of a call that is none. */
static void
bad_verdict(int ch)
{
	struct enc *e = enc_new(64);

	enc_str(e, "c-22222222222222222222");
	enc_str(e, "{\"verdict\":");
	(void)raw_send(ch, MSG_CALL_JUDGED, enc_data(e), enc_size(e), -1, 0);
	enc_free(e);
}

/* Answers that nobody asked for: not wrong, and of no effect. */
static void
answers_to_nobody(int ch)
{
	struct enc *e;
	unsigned i;

	for (i = 0; i < MANY / 4; i++) {
		e = enc_new(128);
		enc_u32(e, 1000000 + i);
		enc_u16(e, 200);
		enc_u32(e, 0);
		enc_str(e, "{}");
		(void)raw_send(ch, MSG_REPLY, enc_data(e), enc_size(e), -1,
		    0);
		enc_free(e);
		e = enc_new(128);
		enc_u32(e, 1000000 + i);
		enc_u64(e, i);
		enc_u32(e, 0);
		enc_str(e, "uid:0");
		/* each is answered by PEER_GONE, and nobody reads here */
		if (i < ANSWERED)
			(void)raw_send(ch, MSG_PEER_OK, enc_data(e),
			    enc_size(e), -1, 0);
		enc_free(e);
		e = enc_new(128);
		enc_u32(e, 1000000 + i);
		enc_str(e, "c-22222222222222222222");
		(void)raw_send(ch, MSG_CALL_SAME, enc_data(e), enc_size(e),
		    -1, 0);
		(void)raw_send(ch, MSG_DRY_JUDGED, enc_data(e), enc_size(e),
		    -1, 0);
		enc_free(e);
		e = enc_new(128);
		enc_str(e, "c-22222222222222222222");
		(void)raw_send(ch, MSG_CALL_STARTED, enc_data(e), enc_size(e),
		    -1, 0);
		enc_str(e, "{}");
		(void)raw_send(ch, MSG_CALL_FINISHED, enc_data(e),
		    enc_size(e), -1, 0);
		enc_free(e);
	}
}

static const struct {
	const char	*name;
	void		(*fn)(int);
} rows[] = {
	{ "unknown", unknown }, { "half", half }, { "foreign", foreign },
	{ "direction", direction }, { "size", size }, { "fd", an_fd },
	{ "wrong-fd", wrong_fd }, { "many-fds", many_fds },
	{ "long-string", long_string }, { "bad-status", bad_status },
	{ "bad-id", bad_id }, { "bad-verdict", bad_verdict },
	{ "nobody", answers_to_nobody }
};

void
hostile_send(int ch, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, name) == 0)
			rows[i].fn(ch);
}
