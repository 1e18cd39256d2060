/* Approvals among fakes. */

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policyd_rig_approvals.h"

static const char usual[] = "{\"args\":{\"argv\":[\"true\"]}}";

void
rig_operators(struct rig *r)
{
	static const uint32_t uids[] = { RIG_SECOND, RIG_USER };
	struct slice *s = r->slice;
	struct cf_operator *o;
	size_t i;

	for (i = 0; i < 2; i++) {
		s->operators = reallocarray(s->operators, s->noperators + 1,
		    sizeof(*o));
		o = &s->operators[s->noperators++];
		memset(o, 0, sizeof(*o));
		o->where.file = strdup("test.conf");
		o->who = WHO_USER;
		o->id = uids[i];
		o->name = strdup("operator");
		o->rights = RIGHT_APPROVE;
	}
}

uint64_t
rig_operator(struct rig *r, uid_t uid)
{
	char words[512];
	uint64_t handle;

	handle = rig_peer(r, RIG_OPERATOR, uid, 0, words, sizeof(words));
	ck_assert_msg(handle != 0, "%s", words);
	return (handle);
}

/* ---- calls ---- */

static void
put_fixed(struct enc *e, uint32_t request, uint64_t handle,
    const struct rig_asks *a)
{
	enc_u32(e, request);
	enc_u64(e, handle);
	enc_u32(e, a->timeout);
	enc_u8(e, a->streamed ? STDIN_STREAM : a->input != NULL ?
	    STDIN_INLINE : STDIN_NONE);
	enc_u8(e, 0);
}

static void
put_strings(struct enc *e, const char *session, const struct rig_asks *a)
{
	const char *tool = a->tool != NULL ? a->tool : "exec";

	if (session != NULL) {
		enc_str(e, session);
		enc_str(e, tool);
		enc_str(e, "");
		return;
	}
	enc_u32(e, UINT32_MAX);
	enc_u32(e, UINT32_MAX);
	enc_str(e, tool);
	enc_str(e, "");
	enc_str(e, "");
	enc_str(e, a->workspace != NULL ? a->workspace : "");
	enc_str(e, "");
}

void
rig_asks(struct rig *r, uint64_t handle, const char *session,
    const struct rig_asks *a, struct rig_call *c)
{
	const char *args = a->args != NULL ? a->args : usual;
	struct enc *e = enc_new(MSG_MAX_SIZE);
	uint32_t request = ++r->requests;
	int fds[4], out[2], in[2];
	unsigned n = 3;

	put_fixed(e, request, handle, a);
	put_strings(e, session, a);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	fds[0] = memfd_sealed("args", args, a->args_size != 0 ?
	    a->args_size : strlen(args));
	fds[1] = fds[2] = out[1];
	if (a->streamed)
		fds[n++] = dup(in[0]);
	else if (a->input != NULL)
		fds[n++] = memfd_sealed("input", a->input,
		    strlen(a->input));
	rig_send(r->fd[RIG_AGENT], session != NULL ? MSG_ASK : MSG_ASK_ONCE,
	    e, fds, n);
	close(fds[0]);
	if (n == 4)
		close(fds[3]);
	close(out[0]);
	close(out[1]);
	close(in[0]);
	close(in[1]);
	rig_asked(r, request, c);
}

void
rig_says(struct rig *r, struct rig_call *c, const struct rig_asks *a)
{
	const char *run = a->run != NULL ? a->run : "block";
	struct enc *e = enc_new(1024);
	int fds[2];

	enc_u64(e, c->sequence);
	enc_u8(e, (uint8_t)(a->verdict != 0 ? a->verdict : VERDICT_ASK));
	enc_u8(e, (uint8_t)(a->effect != 0 ? a->effect :
	    EFFECT_DESTRUCTIVE));
	enc_u32(e, a->marks);
	enc_u32(e, 0);
	enc_u32(e, 4);
	enc_u8(e, (uint8_t)a->flags);
	enc_str(e, "destructive");
	enc_str(e, "a-rule");
	enc_str(e, "myelin.conf:7");
	enc_str(e, "rm -rf .git");
	enc_str(e, "the reason why");
	enc_str(e, "the next step");
	fds[0] = memfd_sealed("run", run, strlen(run));
	fds[1] = memfd_sealed("explanation", "{}", 2);
	rig_send(r->fd[RIG_JUDGE], MSG_VERDICT, e, fds, 2);
	close(fds[0]);
	close(fds[1]);
}

void
rig_pending(struct rig *r, struct rig_call *c, char approval[ID_SIZE])
{
	char id[ID_SIZE];
	struct got g;
	json_t *json;
	char *text;

	rig_want(r, RIG_AGENT, MSG_CALL_JUDGED, &g);
	rig_want(r, RIG_AGENT, MSG_CALL_ASKING, &g);
	ck_assert_uint_gt(dec_u32(&g.d), 0);
	dec_str(&g.d, id, sizeof(id));
	dec_str(&g.d, approval, ID_SIZE);
	text = dec_strdup(&g.d, MSG_MAX_SIZE);
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert_str_eq(id, c->id);
	ck_assert(id_ok(ID_APPROVAL, approval));
	json = json_loads(text, 0, NULL);
	ck_assert_str_eq(rig_text(json, "approval"), approval);
	ck_assert_str_eq(rig_text(json, "class"), "destructive");
	/* where a rule stands is the operator's to know */
	ck_assert_ptr_null(strstr(text, "myelin.conf"));
	json_decref(json);
	free(text);
}

void
rig_waits(struct rig *r, uint64_t handle, const char *session,
    const struct rig_asks *a, struct rig_call *c, char approval[ID_SIZE])
{
	rig_asks(r, handle, session, a, c);
	rig_says(r, c, a);
	rig_pending(r, c, approval);
}

/* ---- operators ---- */

static void
send_query(struct rig *r, uint64_t handle, unsigned what, const char *id)
{
	struct enc *e = enc_new(256);

	enc_u32(e, ++r->requests);
	enc_u64(e, handle);
	enc_u8(e, (uint8_t)what);
	enc_u64(e, 0);
	enc_u32(e, 0);
	enc_str(e, id);
	rig_send(r->fd[RIG_OPERATOR], MSG_QUERY, e, NULL, 0);
}

static json_t *
shown(struct rig *r, struct got *g)
{
	const uint8_t *bytes;
	json_t *json;
	size_t size;
	unsigned flags;
	char text[8];

	ck_assert_uint_eq(dec_u32(&g->d), r->requests);
	flags = dec_u8(&g->d);
	dec_str(&g->d, text, sizeof(text));
	ck_assert_int_eq(dec_end(&g->d), 0);
	ck_assert((flags & SHOWN_F_JSON) != 0);
	ck_assert_uint_eq(g->nfds, 2U +
	    ((flags & SHOWN_F_EXPLANATION) != 0) +
	    ((flags & SHOWN_F_INPUT) != 0));
	bytes = memfd_map(g->fds[g->nfds - 1], MSG_MAX_SIZE * 4, &size);
	ck_assert_ptr_nonnull(bytes);
	json = json_loadb((const char *)bytes, size, 0, NULL);
	ck_assert_ptr_nonnull(json);
	memfd_unmap(bytes, size);
	json_object_set_new(json, "flags", json_integer(flags));
	got_close(g);
	return (json);
}

json_t *
rig_look(struct rig *r, uint64_t operator, const char *approval,
    unsigned *status)
{
	struct got g;
	json_t *json;
	char *text;

	send_query(r, operator, QUERY_APPROVAL, approval);
	ck_assert_int_eq(rig_recv(r->fd[RIG_OPERATOR], RIG_WAIT_MS, &g), 1);
	*status = 200;
	if (g.type == MSG_APPROVAL_SHOWN)
		return (shown(r, &g));
	ck_assert_uint_eq(g.type, MSG_REPLY);
	ck_assert_uint_eq(dec_u32(&g.d), r->requests);
	*status = dec_u16(&g.d);
	(void)dec_u32(&g.d);
	text = dec_strdup(&g.d, MSG_MAX_SIZE);
	json = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(json);
	free(text);
	return (json);
}

void
rig_state(struct rig *r, const char *approval, const char *state)
{
	uint64_t handle = rig_operator(r, 0);
	unsigned status;
	json_t *json;

	json = rig_look(r, handle, approval, &status);
	ck_assert_uint_eq(status, 200);
	ck_assert_str_eq(rig_text(json, "state"), state);
	json_decref(json);
}

static void
put_digest(struct enc *e, const char *hex)
{
	uint8_t digest[32] = { 0 };
	unsigned byte;
	size_t i;

	for (i = 0; i < sizeof(digest); i++) {
		ck_assert_int_eq(sscanf(hex + 2 * i, "%2x", &byte), 1);
		digest[i] = (uint8_t)byte;
	}
	enc_raw(e, digest, sizeof(digest));
}

uint32_t
rig_decide(struct rig *r, uint64_t operator, unsigned what,
    const char *approval, const char *digest, const char *reason)
{
	struct enc *e = enc_new(MSG_MAX_SIZE);
	char hex[65] =
	    "0000000000000000000000000000000000000000000000000000000000000000";
	uint64_t auditor;
	uint32_t request;
	unsigned status;
	json_t *json;

	if (digest == NULL) {
		/* by one who may not decide, so that it counts as seen by none */
		auditor = rig_operator(r, 0);
		json = rig_look(r, auditor, approval, &status);
		if (status == 200)
			snprintf(hex, sizeof(hex), "%s",
			    rig_text(json, "digest"));
		json_decref(json);
	} else
		snprintf(hex, sizeof(hex), "%s", digest);
	request = ++r->requests;
	enc_u32(e, request);
	enc_u64(e, operator);
	enc_u8(e, (uint8_t)what);
	put_digest(e, hex);
	enc_str(e, approval);
	enc_str(e, reason);
	rig_send(r->fd[RIG_OPERATOR], MSG_DECIDE, e, NULL, 0);
	return (request);
}

void
rig_decides(struct rig *r, uint64_t operator, unsigned what,
    const char *approval, unsigned status, const char *word)
{
	uint32_t request;
	unsigned got;
	json_t *json;
	char *text;

	request = rig_decide(r, operator, what, approval, NULL, "a reason");
	json = rig_reply(r, RIG_OPERATOR, request, &got, NULL);
	text = json_dumps(json, 0);
	ck_assert_msg(got == status && strstr(text, word) != NULL,
	    "%u instead of %u with \"%s\": %s", got, status, word, text);
	free(text);
	json_decref(json);
}

void
rig_resolved(struct rig *r, const char *approval, unsigned outcome)
{
	char call[ID_SIZE], id[ID_SIZE], reason[DECIDE_REASON_MAX + 1];
	struct got g;

	rig_want(r, RIG_AGENT, MSG_CALL_RESOLVED, &g);
	ck_assert_uint_eq(dec_u8(&g.d), outcome);
	dec_str(&g.d, call, sizeof(call));
	dec_str(&g.d, id, sizeof(id));
	dec_str(&g.d, reason, sizeof(reason));
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert_str_eq(id, approval);
}

void
rig_again(struct rig *r, struct rig_call *c)
{
	uint64_t before = c->sequence;

	c->sequence = 0;
	rig_judging(r, c);
	ck_assert_uint_gt(c->sequence, before);
}
