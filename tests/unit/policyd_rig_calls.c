/* Requests to the real policyd, and the life of a call among fakes. */

#include <sys/socket.h>
#include <netinet/in.h>

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "imsg.h"
#include "policyd_rig.h"

/* ---- requests ---- */

json_t *
rig_reply(struct rig *r, enum rig_channel ch, uint32_t request,
    unsigned *status, uint32_t *retry)
{
	const uint8_t *bytes;
	uint32_t later;
	json_t *json;
	struct got g;
	size_t size;
	char *text;

	rig_want(r, ch, MSG_REPLY, &g);
	ck_assert_uint_eq(dec_u32(&g.d), request);
	*status = dec_u16(&g.d);
	later = dec_u32(&g.d);
	if (retry != NULL)
		*retry = later;
	text = dec_strdup(&g.d, MSG_MAX_SIZE);
	ck_assert_int_eq(dec_end(&g.d), 0);
	if (g.nfds == 1) {
		ck_assert_str_eq(text, "");
		bytes = memfd_map(g.fds[0], 64 * 1024 * 1024, &size);
		ck_assert_ptr_nonnull(bytes);
		json = json_loadb((const char *)bytes, size, 0, NULL);
		memfd_unmap(bytes, size);
	} else
		json = json_loads(text, 0, NULL);
	ck_assert_msg(json != NULL, "no JSON: %s", text);
	got_close(&g);
	free(text);
	return (json);
}

json_t *
rig_query(struct rig *r, enum rig_channel ch, uint64_t handle, unsigned what,
    uint64_t cursor, uint32_t most, const char *id, unsigned *status)
{
	struct enc *e = enc_new(256);
	uint32_t request = ++r->requests;

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_u8(e, (uint8_t)what);
	enc_u64(e, cursor);
	enc_u32(e, most);
	enc_str(e, id);
	rig_send(r->fd[ch], MSG_QUERY, e, NULL, 0);
	return (rig_reply(r, ch, request, status, NULL));
}

/* The string at "a.b", or "" if there is none. */
const char *
rig_text(const json_t *json, const char *path)
{
	char key[64];
	const char *dot;

	for (; (dot = strchr(path, '.')) != NULL; path = dot + 1) {
		snprintf(key, sizeof(key), "%.*s", (int)(dot - path), path);
		json = json_object_get(json, key);
	}
	json = json_object_get(json, path);
	return (json_is_string(json) ? json_string_value(json) : "");
}

uint32_t
rig_open(struct rig *r, uint64_t handle, const char *preset,
    const char *workspace, uint32_t expires)
{
	struct enc *e = enc_new(MSG_MAX_SIZE);
	uint32_t request = ++r->requests;

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_u8(e, OPEN_SESSION);
	enc_u32(e, UINT32_MAX);
	enc_u32(e, UINT32_MAX);
	enc_u32(e, expires);
	enc_str(e, "");
	enc_str(e, "");
	enc_str(e, workspace);
	enc_str(e, preset);
	rig_send(r->fd[RIG_AGENT], MSG_OPEN, e, NULL, 0);
	return (request);
}

uint8_t rig_listeners;

void
rig_listener(struct rig *r, const char *neuron, uint8_t which)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct enc *e = enc_new(64);
	unsigned n = 0, bit;
	int fds[8];

	for (bit = 1; bit <= which; bit <<= 1) {
		if ((which & bit) == 0)
			continue;
		fds[n] = socket(AF_INET, (bit == LISTENER_DNS ? SOCK_DGRAM :
		    SOCK_STREAM) | SOCK_CLOEXEC, 0);
		ck_assert_int_ne(fds[n], -1);
		any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		ck_assert_int_eq(bind(fds[n], (struct sockaddr *)&any,
		    sizeof(any)), 0);
		if (bit != LISTENER_DNS)
			ck_assert_int_eq(listen(fds[n], 1), 0);
		n++;
	}
	enc_u8(e, which);
	enc_str(e, neuron);
	rig_send(r->fd[RIG_LAUNCH], MSG_LISTENER, e, fds, n);
	while (n > 0)
		close(fds[--n]);
}

void
rig_neuron_up(struct rig *r, char neuron[ID_SIZE])
{
	char text[PATH_BYTES_MAX];
	struct enc *e;
	struct got g;

	rig_want(r, RIG_LAUNCH, MSG_NEURON_MAKE, &g);
	(void)dec_u32(&g.d);
	(void)dec_u32(&g.d);
	(void)dec_u32(&g.d);
	(void)dec_u32(&g.d);
	dec_str(&g.d, text, sizeof(text));
	dec_str(&g.d, neuron, ID_SIZE);
	dec_str(&g.d, text, sizeof(text));
	dec_str(&g.d, text, sizeof(text));
	ck_assert_int_eq(dec_end(&g.d), 0);
	if (rig_listeners != 0)
		rig_listener(r, neuron, rig_listeners);
	e = enc_new(256);
	enc_u64(e, 3);
	enc_u64(e, 0);
	enc_u64(e, 0);
	enc_u32(e, 4321);
	enc_str(e, neuron);
	rig_send(r->fd[RIG_LAUNCH], MSG_NEURON_UP, e, NULL, 0);
}

void
rig_session(struct rig *r, uint64_t handle, char session[ID_SIZE])
{
	char neuron[ID_SIZE];
	uint32_t request;
	unsigned status;
	json_t *json;

	request = rig_open(r, handle, "", "", 0);
	rig_neuron_up(r, neuron);
	json = rig_reply(r, RIG_AGENT, request, &status, NULL);
	ck_assert_uint_eq(status, 201);
	snprintf(session, ID_SIZE, "%s", rig_text(json, "session"));
	ck_assert(id_ok(ID_SESSION, session));
	ck_assert_str_eq(rig_text(json, "neuron"), neuron);
	json_decref(json);
}

uint8_t rig_ask_flags;
const char *rig_ask_key = "";

uint32_t
rig_ask(struct rig *r, uint64_t handle, const char *session, const char *tool)
{
	static const char args[] = "{\"args\":{\"argv\":[\"true\"]}}";
	struct enc *e = enc_new(1024);
	uint32_t request = ++r->requests;
	int fds[3], out[2], err[2];

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_u32(e, 0);
	enc_u8(e, STDIN_NONE);
	enc_u8(e, rig_ask_flags);
	if (session != NULL) {
		enc_str(e, session);
		enc_str(e, tool);
		enc_str(e, rig_ask_key);
	} else {
		enc_u32(e, UINT32_MAX);
		enc_u32(e, UINT32_MAX);
		enc_str(e, tool);
		enc_str(e, rig_ask_key);
		enc_str(e, "");
		enc_str(e, "");
		enc_str(e, "");
	}
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(err, O_CLOEXEC), 0);
	fds[0] = memfd_sealed("args", args, sizeof(args) - 1);
	fds[1] = out[1];
	fds[2] = err[1];
	rig_send(r->fd[RIG_AGENT], session != NULL ? MSG_ASK : MSG_ASK_ONCE,
	    e, fds, 3);
	close(fds[0]);
	close(out[0]);
	close(out[1]);
	close(err[0]);
	close(err[1]);
	return (request);
}

void
rig_judging(struct rig *r, struct rig_call *c)
{
	char tool[64], workspace[PATH_BYTES_MAX], principal[64], rules[64];
	uint64_t sequence;
	struct got g;

	rig_want(r, RIG_JUDGE, MSG_JUDGE, &g);
	sequence = dec_u64(&g.d);
	if (c->sequence != 0)
		ck_assert_uint_eq(sequence, c->sequence);
	c->sequence = sequence;
	(void)dec_u8(&g.d);
	c->judge_flags = dec_u8(&g.d);
	dec_str(&g.d, tool, sizeof(tool));
	dec_str(&g.d, workspace, sizeof(workspace));
	dec_str(&g.d, principal, sizeof(principal));
	dec_str(&g.d, rules, sizeof(rules));
	ck_assert_int_eq(strncmp(principal, "uid:", 4), 0);
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert_uint_eq(g.nfds, 1);
	got_close(&g);
}

void
rig_asked(struct rig *r, uint32_t request, struct rig_call *c)
{
	struct got g;

	memset(c, 0, sizeof(*c));
	c->request = request;
	do {	/* what an earlier call's verdict was may come first */
		ck_assert_int_eq(rig_recv(r->fd[RIG_AGENT],
		    RIG_WAIT_MS, &g), 1);
	} while (g.type == MSG_CALL_JUDGED || g.type == MSG_CALL_STARTED);
	ck_assert_msg(g.type == MSG_ASKED, "%s", msg_name(g.type));
	ck_assert_uint_eq(dec_u32(&g.d), request);
	(void)dec_u32(&g.d);
	(void)dec_u64(&g.d);
	(void)dec_u64(&g.d);
	dec_str(&g.d, c->id, sizeof(c->id));
	dec_str(&g.d, c->session, sizeof(c->session));
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert(id_ok(ID_CALL, c->id));
	rig_judging(r, c);
}

void
rig_verdict(struct rig *r, struct rig_call *c, unsigned verdict)
{
	struct enc *e = enc_new(1024);
	int fd = -1;

	enc_u64(e, c->sequence);
	enc_u8(e, (uint8_t)verdict);
	enc_u8(e, EFFECT_READ);
	enc_u32(e, MARK_OPAQUE);
	enc_u32(e, 3);
	enc_u32(e, 9);
	enc_u8(e, VERDICT_F_UNRESOLVED);
	enc_str(e, "read");
	enc_str(e, "a-rule");
	enc_str(e, "myelin.conf:7");
	enc_str(e, "a command");
	enc_str(e, "the reason\twhy");
	enc_str(e, "the next step");
	if (verdict == VERDICT_ALLOW || verdict == VERDICT_ASK)
		fd = memfd_sealed("run", "block", 5);
	rig_send(r->fd[RIG_JUDGE], MSG_VERDICT, e, &fd, fd != -1);
	if (fd != -1)
		close(fd);
}

void
rig_launch(struct rig *r, struct rig_call *c)
{
	char id[ID_SIZE], session[ID_SIZE];
	struct got g;

	if (c->session[0] == '\0')
		rig_neuron_up(r, c->neuron);
	rig_want(r, RIG_LAUNCH, MSG_LAUNCH, &g);
	ck_assert_uint_eq(dec_u32(&g.d), 60000);
	ck_assert_uint_eq(dec_u8(&g.d), STDIN_NONE);
	dec_str(&g.d, c->neuron, sizeof(c->neuron));
	dec_str(&g.d, id, sizeof(id));
	dec_str(&g.d, session, sizeof(session));
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert_str_eq(id, c->id);
	ck_assert_str_eq(session, c->session);
	ck_assert_uint_eq(g.nfds, 3);
	got_close(&g);
}

void
rig_ended(struct rig *r, struct rig_call *c, unsigned cause, int code,
    int signal, const char *detail)
{
	struct enc *e = enc_new(1024);

	enc_u8(e, (uint8_t)cause);
	enc_i32(e, code);
	enc_i32(e, signal);
	enc_u64(e, 1500);
	enc_u64(e, 4096);
	enc_u32(e, 2);
	enc_u8(e, 0);
	enc_u32(e, 11);
	enc_u32(e, 22);
	enc_u32(e, 33);
	enc_u32(e, 44);
	enc_str(e, c->id);
	enc_str(e, detail);
	rig_send(r->fd[RIG_LAUNCH], MSG_ENDED, e, NULL, 0);
}

void
rig_gone(struct rig *r, const char *neuron, unsigned cause, const char *why)
{
	struct enc *e = enc_new(1024);

	enc_u8(e, (uint8_t)cause);
	enc_str(e, neuron);
	enc_str(e, why);
	rig_send(r->fd[RIG_LAUNCH], MSG_NEURON_GONE, e, NULL, 0);
}

json_t *
rig_finished(struct rig *r, struct rig_call *c)
{
	char id[ID_SIZE];
	struct got g;
	json_t *json;
	char *text;

	do {
		ck_assert_int_eq(rig_recv(r->fd[RIG_AGENT],
		    RIG_WAIT_MS, &g), 1);
	} while (g.type == MSG_CALL_JUDGED || g.type == MSG_CALL_STARTED);
	ck_assert_msg(g.type == MSG_CALL_FINISHED, "%s", msg_name(g.type));
	dec_str(&g.d, id, sizeof(id));
	ck_assert_str_eq(id, c->id);
	text = dec_strdup(&g.d, MSG_MAX_SIZE);
	ck_assert_int_eq(dec_end(&g.d), 0);
	json = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(json);
	free(text);
	return (json);
}

json_t *
rig_whole(struct rig *r, uint64_t handle, const char *session)
{
	struct rig_call c;
	struct enc *e;
	struct got g;
	json_t *json;

	rig_asked(r, rig_ask(r, handle, session, "exec"), &c);
	rig_verdict(r, &c, VERDICT_ALLOW);
	rig_launch(r, &c);
	e = enc_new(64);
	enc_str(e, c.id);
	rig_send(r->fd[RIG_LAUNCH], MSG_STARTED, e, NULL, 0);
	rig_ended(r, &c, END_EXITED, 0, 0, "");
	json = rig_finished(r, &c);
	if (session == NULL) {
		rig_want(r, RIG_LAUNCH, MSG_NEURON_DROP, &g);
		rig_gone(r, c.neuron, GONE_DROPPED, "");
	}
	return (json);
}
