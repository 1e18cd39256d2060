/*
 * What is asked of policyd, and told it.
 */
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "imsg.h"
#include "policy.h"
#include "policy_internal.h"

void
policy_open(struct conn *c, const struct request *q, policy_fn *fn, void *arg)
{
	struct pending *p;
	struct imsg *m;

	if ((p = pending_act(c, fn, arg)) == NULL)
		return;
	m = imsg_new(q->rules != NULL ? MSG_OPEN_RULED : MSG_OPEN);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->handle);
	imsg_put_u8(m, (uint8_t)(OPEN_SESSION |
	    (q->read_only ? OPEN_F_READ_ONLY : 0)));
	imsg_put_u32(m, q->owner_uid);
	imsg_put_u32(m, q->owner_gid);
	imsg_put_u32(m, q->expires);
	imsg_put_str(m, q->profile);
	imsg_put_str(m, q->neuron);
	imsg_put_str(m, q->workspace);
	imsg_put_str(m, q->preset);
	if (q->rules != NULL)
		imsg_put_str(m, q->rules);
	policy_send(m);
}

void
policy_home_make(struct conn *c, const struct request *q)
{
	struct pending *p;
	struct imsg *m;

	if ((p = pending_act(c, NULL, NULL)) == NULL)
		return;
	m = imsg_new(MSG_HOME_MAKE);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->handle);
	imsg_put_u32(m, q->owner_uid);
	imsg_put_u32(m, q->owner_gid);
	imsg_put_u32(m, q->idle);
	imsg_put_u8(m, q->read_only != 0);
	imsg_put_str(m, q->profile);
	imsg_put_str(m, q->workspace);
	imsg_put_str(m, q->name);
	imsg_put_str(m, q->labels != NULL ? q->labels : "");
	policy_send(m);
}

void
policy_neurons(struct conn *c, uint64_t cursor, uint32_t most,
    const char *name, const char *label)
{
	struct pending *p;
	struct imsg *m;

	if ((p = pending_new(c, NULL, NULL)) == NULL)
		return;
	m = imsg_new(MSG_NEURONS_FOR);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->handle);
	imsg_put_u64(m, cursor);
	imsg_put_u32(m, most);
	imsg_put_str(m, name);
	imsg_put_str(m, label);
	policy_send(m);
}

void
policy_end(struct conn *c, const char *id, policy_fn *fn, void *arg)
{
	struct pending *p;
	struct imsg *m;

	if ((p = pending_act(c, fn, arg)) == NULL)
		return;
	m = imsg_new(MSG_END);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->handle);
	imsg_put_str(m, id);
	policy_send(m);
}

void
policy_open_named(struct conn *c, const char *name, const struct request *q,
    policy_fn *fn, void *arg)
{
	struct pending *p;
	struct imsg *m;

	if ((p = pending_act(c, fn, arg)) == NULL)
		return;
	m = imsg_new(q->read_only ? MSG_OPEN_NAMED_RO : MSG_OPEN_NAMED);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->handle);
	imsg_put_str(m, name);
	imsg_put_str(m, q->profile);
	imsg_put_str(m, q->workspace);
	imsg_put_str(m, q->preset);
	policy_send(m);
}

void
policy_end_named(struct conn *c, const char *name, policy_fn *fn, void *arg)
{
	struct pending *p;
	struct imsg *m;

	if ((p = pending_act(c, fn, arg)) == NULL)
		return;
	m = imsg_new(MSG_END_NAMED);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->handle);
	imsg_put_str(m, name);
	policy_send(m);
}

void
policy_tools(struct conn *c, const char *session, const char *preset,
    policy_fn *fn, void *arg)
{
	struct pending *p;
	struct imsg *m;

	if ((p = pending_new(c, fn, arg)) == NULL)
		return;
	m = imsg_new(MSG_TOOLS_FOR);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->handle);
	imsg_put_str(m, session);
	imsg_put_str(m, preset);
	policy_send(m);
}

void
policy_manage(struct conn *c, unsigned what, uint32_t timeout_ms)
{
	struct pending *p;
	struct imsg *m;

	if ((p = pending_act(c, NULL, NULL)) == NULL)
		return;
	m = imsg_new(MSG_MANAGE);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->handle);
	imsg_put_u8(m, (uint8_t)what);
	imsg_put_u32(m, timeout_ms);
	policy_send(m);
}

void
policy_key(struct conn *c, unsigned what, uint32_t seconds, const char *text)
{
	struct pending *p;
	struct imsg *m;

	if ((p = pending_act(c, NULL, NULL)) == NULL)
		return;
	/* The one answer that has a token. */
	p->clean = 0;
	m = imsg_new(MSG_KEY_SET);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->handle);
	imsg_put_u8(m, (uint8_t)what);
	imsg_put_u32(m, seconds);
	imsg_put_str(m, text);
	policy_send(m);
}

void
policy_secret(struct conn *c, unsigned what, const char *name,
    const char *value, size_t n)
{
	struct pending *p;
	struct imsg *m;

	if ((p = pending_act(c, NULL, NULL)) == NULL)
		return;
	m = imsg_new(MSG_SECRET_SET);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->handle);
	imsg_put_u8(m, (uint8_t)what);
	imsg_put_str(m, name);
	imsg_put_bytes(m, value, n);
	policy_send(m);
}

/* The beginning of it, for the audit log. */
static void
send_shown(uint32_t request, const char *shown)
{
	size_t n = strlen(shown);
	struct imsg *m;
	int cut = n > SHOWN_MOST;

	if (cut) {
		n = SHOWN_MOST;
		while (n > 0 && ((unsigned char)shown[n] & 0xc0) == 0x80)
			n--;
	}
	m = imsg_new(MSG_SHOWN);
	imsg_put_u32(m, request);
	imsg_put_u8(m, (uint8_t)cut);
	imsg_put_bytes(m, shown, n);
	policy_send_before(m);
}

int
policy_ask(struct conn *c, struct call *call, const char *session,
    const struct request *q, int fds[4])
{
	struct pending *p;
	struct imsg *m;
	int i;

	if ((p = pending_act(c, NULL, NULL)) == NULL) {
		for (i = 0; i < 4; i++)
			if (fds[i] != -1)
				close(fds[i]);
		return (-1);
	}
	p->call = call;
	send_shown(p->request, q->shown);
	m = imsg_new(session != NULL ? MSG_ASK : MSG_ASK_ONCE);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->handle);
	imsg_put_u32(m, q->timeout_ms);
	imsg_put_u8(m, (uint8_t)q->input);
	imsg_put_u8(m, (uint8_t)((q->pty ? ASK_F_PTY : 0) |
	    (q->dry_run ? ASK_F_DRY_RUN : 0) |
	    (session == NULL && q->read_only ? ASK_F_READ_ONLY : 0) |
	    (call->patient ? ASK_F_PATIENT : 0)));
	if (session != NULL) {
		imsg_put_str(m, session);
		imsg_put_str(m, q->tool);
		imsg_put_str(m, q->key);
	} else {
		imsg_put_u32(m, q->owner_uid);
		imsg_put_u32(m, q->owner_gid);
		imsg_put_str(m, q->tool);
		imsg_put_str(m, q->key);
		imsg_put_str(m, q->profile);
		imsg_put_str(m, q->workspace);
		imsg_put_str(m, q->preset);
	}
	for (i = 0; i < 4; i++)
		if (fds[i] != -1)
			imsg_put_fd(m, fds[i]);
	policy_send(m);
	return (0);
}

void
policy_steer(struct conn *c, enum msg_type type, uint32_t value,
    const char *call)
{
	struct pending *p;
	struct imsg *m;

	if ((p = pending_act(c, NULL, NULL)) == NULL)
		return;
	m = imsg_new(type);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->handle);
	imsg_put_u32(m, value);
	imsg_put_str(m, call);
	policy_send(m);
}

void
policy_stop(uint64_t handle, unsigned why, const char *call)
{
	struct imsg *m;

	if (!policy_up())
		return;
	m = imsg_new(MSG_STOP);
	imsg_put_u64(m, handle);
	imsg_put_u8(m, (uint8_t)why);
	imsg_put_str(m, call);
	policy_send(m);
}

int
policy_transcript(uint64_t handle, const char *call, const char *denied,
    const struct enc *bytes)
{
	int small = enc_size(bytes) <= TRANSCRIPT_INLINE, fd = -1;
	struct imsg *m;

	if (!small && (fd = enc_memfd(bytes, "transcript")) == -1)
		return (-1);
	m = imsg_new(small ? MSG_TRANSCRIPT_TEXT : MSG_TRANSCRIPT);
	imsg_put_u64(m, handle);
	imsg_put_str(m, call);
	imsg_put_str(m, denied != NULL ? denied : "");
	if (small)
		imsg_put_bytes(m, enc_data(bytes), enc_size(bytes));
	else
		imsg_put_fd(m, fd);
	policy_send_before(m);
	return (0);
}
