/*
 * What the tests of persistent neurons and of workspaces share.
 */
#ifndef MYELIN_POLICYD_RIG_HOMES_H
#define MYELIN_POLICYD_RIG_HOMES_H

#include "policyd_rig_test.h"

static inline uint64_t
member(void)
{
	uint64_t handle;
	char words[512];

	handle = rig_peer(&rig, RIG_AGENT, RIG_MEMBER, RIG_GROUP, words,
	    sizeof(words));
	ck_assert_uint_ne(handle, 0);
	return (handle);
}

static inline void
begin(void)
{
	rig_nhomes = rig_homes_asked = 0;
	start();
	homes_told();
}

/* ---- asking ---- */

static inline uint32_t
send_make(uint64_t handle, const char *profile, const char *workspace,
    const char *name, const char *labels, uint32_t idle)
{
	struct enc *e = enc_new(MSG_MAX_SIZE);
	uint32_t request = ++rig.requests;

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_u32(e, UINT32_MAX);
	enc_u32(e, UINT32_MAX);
	enc_u32(e, idle);
	enc_u8(e, 0);
	enc_str(e, profile);
	enc_str(e, workspace);
	enc_str(e, name);
	enc_str(e, labels);
	rig_send(rig.fd[RIG_AGENT], MSG_HOME_MAKE, e, NULL, 0);
	return (request);
}

static inline json_t *
made(uint32_t request, char id[ID_SIZE])
{
	unsigned status;
	json_t *json;

	json = rig_reply(&rig, RIG_AGENT, request, &status, NULL);
	ck_assert_uint_eq(status, 201);
	snprintf(id, ID_SIZE, "%s", rig_text(json, "neuron"));
	ck_assert(id_ok(ID_NEURON, id));
	return (json);
}

/* One with nothing said of it. */
static inline void
make_plain(uint64_t handle, char id[ID_SIZE])
{
	json_decref(made(send_make(handle, "", "", "", "", 0), id));
}

static uint8_t open_flags;

static inline uint32_t
send_open(uint64_t handle, const char *neuron, const char *profile)
{
	struct enc *e = enc_new(1024);
	uint32_t request = ++rig.requests;

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_u8(e, (uint8_t)(OPEN_SESSION | open_flags));
	enc_u32(e, UINT32_MAX);
	enc_u32(e, UINT32_MAX);
	enc_u32(e, 0);
	enc_str(e, profile);
	enc_str(e, neuron);
	enc_str(e, "");
	enc_str(e, "");
	rig_send(rig.fd[RIG_AGENT], MSG_OPEN, e, NULL, 0);
	return (request);
}

static inline uint32_t
send_end(enum rig_channel ch, uint64_t handle, const char *id)
{
	struct enc *e = enc_new(64);
	uint32_t request = ++rig.requests;

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_str(e, id);
	rig_send(rig.fd[ch], MSG_END, e, NULL, 0);
	return (request);
}

static inline void
want_status(enum rig_channel ch, uint32_t request, unsigned status)
{
	unsigned got;
	json_t *json = rig_reply(&rig, ch, request, &got, NULL);

	ck_assert_msg(got == status, "%u: %s", got, json_dumps(json, 0));
	json_decref(json);
}

/* The state that is shown of one, as "GET" has it. */
static inline json_t *
look(uint64_t handle, const char *id, const char *state)
{
	unsigned status;
	json_t *json;

	json = rig_query(&rig, RIG_AGENT, handle, QUERY_NEURON, 0, 0, id,
	    &status);
	ck_assert_uint_eq(status, 200);
	ck_assert_str_eq(rig_text(json, "state"), state);
	return (json);
}

/* NEURON_MAKE of a persistent one, which comes up. */
static inline void
open_up(uint64_t handle, const char *id, char session[ID_SIZE])
{
	uint32_t request = send_open(handle, id, "");
	char neuron[ID_SIZE];
	unsigned status;
	json_t *json;

	rig_neuron_up(&rig, neuron);
	ck_assert_str_eq(neuron, id);
	json = rig_reply(&rig, RIG_AGENT, request, &status, NULL);
	ck_assert_uint_eq(status, 201);
	ck_assert_str_eq(rig_text(json, "neuron"), id);
	snprintf(session, ID_SIZE, "%s", rig_text(json, "session"));
	json_decref(json);
}

static inline void
want_drop(const char *neuron)
{
	char id[ID_SIZE];
	struct got g;

	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &g);
	dec_str(&g.d, id, sizeof(id));
	ck_assert_str_eq(id, neuron);
}

static inline void
want_home_drop(const char *neuron)
{
	char id[ID_SIZE];
	struct got g;

	rig_want(&rig, RIG_LAUNCH, MSG_HOME_DROP, &g);
	dec_str(&g.d, id, sizeof(id));
	ck_assert_str_eq(id, neuron);
}

static inline void
dropped(const char *neuron, unsigned error)
{
	struct enc *e = enc_new(128);

	enc_u32(e, error);
	enc_str(e, neuron);
	enc_str(e, error != 0 ? "the image is in use" : "");
	rig_send(rig.fd[RIG_LAUNCH], MSG_HOME_DROPPED, e, NULL, 0);
}

static inline void
end_session(uint64_t handle, const char *session, const char *neuron)
{
	uint32_t request = send_end(RIG_AGENT, handle, session);

	want_drop(neuron);
	rig_gone(&rig, neuron, GONE_DROPPED, "");
	want_status(RIG_AGENT, request, 200);
}

/* An event of the audit log with a word, how often. */
static inline unsigned
audited(const char *event, const char *word)
{
	char path[128], line[4096];
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/policy/audit.jsonl", rig.dir);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) != NULL)
		n += strstr(line, event) != NULL && strstr(line, word) != NULL;
	fclose(f);
	return (n);
}

/* policyd dies and comes again; neurond with the homes of rig_homes. */
static inline void
again(void)
{
	rig_kill(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
	homes_told();
}

#endif
