/*
 * What the tests of egress share: a profile that has some, and both sides of
 * the channel to egressd.  Included by a test once.
 */
#ifndef MYELIN_POLICYD_RIG_EGRESS_H
#define MYELIN_POLICYD_RIG_EGRESS_H

#include <sys/socket.h>

#include <stdlib.h>

#include "policyd_rig_approvals.h"
#include "policyd_rig_test.h"

#define ALL	(LISTENER_PROXY | LISTENER_TLS | LISTENER_PLAIN | LISTENER_DNS)

/* ---- a profile, a session ---- */

static inline void
profile(int on, int allows)
{
	struct slice *s = rig.slice;
	struct cf_profile *p;
	struct cf_host *h;

	if (s->nprofiles == 0) {
		s->profiles = calloc(1, sizeof(*s->profiles));
		s->nprofiles = 1;
	}
	p = &s->profiles[0];
	egress_free(&p->egress);
	free(p->where.file);
	memset(p, 0, sizeof(*p));
	p->where.file = strdup("test.conf");
	snprintf(p->name, sizeof(p->name), "default");
	p->mode = MODE_NATIVE;
	p->limits = s->limits;
	p->egress.on = on;
	p->egress.transparent = 1;
	if (!on || !allows)
		return;
	h = p->egress.hosts = calloc(1, sizeof(*h));
	p->egress.nhosts = 1;
	h->where.file = strdup("test.conf");
	h->where.line = 7;
	h->allow = 1;
	h->name = strdup("a.example");
}

static inline void
begin(int on, int allows)
{
	rig_init(&rig);
	profile(on, allows);
	rig_operators(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
	rig_listeners = on ? ALL : 0;
}

static inline void
setup(void)
{
	begin(1, 1);
}

static inline void
setup_deny_all(void)
{
	begin(1, 0);
}

static inline void
setup_without(void)
{
	begin(0, 0);
}

static inline void
teardown(void)
{
	rig_listeners = 0;
	rig_end(&rig);
}

/* EGRESS_OPEN of a neuron, with a socket for each listener. */
static inline void
want_open(const char *neuron)
{
	char id[ID_SIZE], name[NAME_BYTES_MAX];
	struct got g;

	rig_want(&rig, RIG_EGRESS, MSG_EGRESS_OPEN, &g);
	ck_assert_uint_eq(dec_u8(&g.d), ALL);
	dec_str(&g.d, id, sizeof(id));
	dec_str(&g.d, name, sizeof(name));
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert_str_eq(id, neuron);
	ck_assert_str_eq(name, "default");
	ck_assert_uint_eq(g.nfds, 4);
	got_close(&g);
}

static inline void
want_ids(unsigned type, const char *first, const char *second)
{
	char id[ID_SIZE];
	struct got g;

	rig_want(&rig, RIG_EGRESS, type, &g);
	if (type == MSG_EGRESS_KILL)
		(void)dec_u8(&g.d);
	dec_str(&g.d, id, sizeof(id));
	ck_assert_str_eq(id, first);
	if (second != NULL) {
		dec_str(&g.d, id, sizeof(id));
		ck_assert_str_eq(id, second);
	}
	ck_assert_int_eq(dec_end(&g.d), 0);
}

static inline void
want_call(int begins, unsigned flags, const struct rig_call *c)
{
	char neuron[ID_SIZE], call[ID_SIZE];
	struct got g;

	rig_want(&rig, RIG_EGRESS, MSG_EGRESS_CALL, &g);
	ck_assert_int_eq(dec_u8(&g.d), begins);
	ck_assert_uint_eq(dec_u8(&g.d), flags);
	dec_str(&g.d, neuron, sizeof(neuron));
	dec_str(&g.d, call, sizeof(call));
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert_str_eq(call, c->id);
	ck_assert(id_ok(ID_NEURON, neuron));
}

static inline void
neuron_of(uint64_t handle, const char *session, char neuron[ID_SIZE])
{
	unsigned status;
	json_t *json;

	json = rig_query(&rig, RIG_AGENT, handle, QUERY_SESSION, 0, 0,
	    session, &status);
	snprintf(neuron, ID_SIZE, "%s", rig_text(json, "neuron"));
	json_decref(json);
}

/* A session whose neuron egressd has. */
static inline void
session_with(uint64_t handle, char session[ID_SIZE], char neuron[ID_SIZE])
{
	rig_session(&rig, handle, session);
	neuron_of(handle, session, neuron);
	want_open(neuron);
}

/* ---- what egressd says ---- */

static inline void
put_subject(struct enc *e, const char *neuron, const char *host)
{
	enc_str(e, neuron);
	enc_str(e, host);
	enc_str(e, "192.0.2.7");
}

static inline void
send_denied(const char *neuron, const char *host, unsigned port,
    unsigned via, uint32_t times)
{
	struct enc *e = enc_new(1024);

	enc_u16(e, (uint16_t)port);
	enc_u8(e, (uint8_t)via);
	enc_u32(e, times);
	put_subject(e, neuron, host);
	enc_str(e, "not_listed");
	enc_str(e, "no line of the profile allows this host");
	enc_str(e, "ask with request_egress");
	rig_send(rig.fd[RIG_EGRESS], MSG_EGRESS_DENIED, e, NULL, 0);
}

static inline void
send_log(const char *neuron, const char *host, unsigned why, uint64_t up)
{
	struct enc *e = enc_new(1024);

	enc_u16(e, 443);
	enc_u8(e, EGRESS_VIA_TLS);
	enc_u8(e, (uint8_t)why);
	enc_u64(e, up);
	enc_u64(e, 2 * up);
	enc_u32(e, 12);
	put_subject(e, neuron, host);
	enc_str(e, "test.conf:7");
	rig_send(rig.fd[RIG_EGRESS], MSG_EGRESS_LOG, e, NULL, 0);
}

static inline void
send_ended(const char *call, unsigned cause, int code)
{
	struct enc *e = enc_new(256);

	enc_u8(e, (uint8_t)cause);
	enc_i32(e, code);
	enc_u32(e, 77);
	enc_str(e, call);
	enc_str(e, "in words");
	rig_send(rig.fd[RIG_EGRESS], MSG_EGRESS_ENDED, e, NULL, 0);
}

static inline void
send_granted(const char *neuron, const char *host, unsigned what,
    unsigned flags)
{
	struct enc *e = enc_new(512);

	enc_u16(e, 443);
	enc_u8(e, (uint8_t)what);
	enc_u8(e, (uint8_t)flags);
	enc_str(e, neuron);
	enc_str(e, host);
	rig_send(rig.fd[RIG_EGRESS], MSG_EGRESS_GRANTED, e, NULL, 0);
}

static inline void
want_grant(const char *neuron, const char *host, unsigned what,
    unsigned flags)
{
	char id[ID_SIZE], name[EGRESS_NAME_MAX + 1];
	struct got g;

	rig_want(&rig, RIG_EGRESS, MSG_EGRESS_GRANT, &g);
	ck_assert_uint_eq(dec_u16(&g.d), 443);
	ck_assert_uint_eq(dec_u8(&g.d), what);
	ck_assert_uint_eq(dec_u8(&g.d), flags);
	dec_str(&g.d, id, sizeof(id));
	dec_str(&g.d, name, sizeof(name));
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert_str_eq(id, neuron);
	ck_assert_str_eq(name, host);
}

/* EGRESS_RUN of a call: the run block that was judged, and its pipes. */
static inline void
want_run(const struct rig_call *c, unsigned what)
{
	char neuron[ID_SIZE], call[ID_SIZE];
	struct got g;

	rig_want(&rig, RIG_EGRESS, MSG_EGRESS_RUN, &g);
	ck_assert_uint_eq(dec_u32(&g.d), 60000);
	ck_assert_uint_eq(dec_u8(&g.d), what);
	ck_assert_uint_eq(dec_u64(&g.d), 8 * 1024 * 1024);
	dec_str(&g.d, neuron, sizeof(neuron));
	dec_str(&g.d, call, sizeof(call));
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert_str_eq(call, c->id);
	ck_assert_uint_eq(g.nfds, 3);
	got_close(&g);
}

/* ---- the audit log ---- */

/* Its records of an event, all of them. */
static inline json_t *
records(const char *event)
{
	uint64_t handle = operator(), after = 0;
	json_t *found = json_array(), *json, *line, *one;
	unsigned status;
	size_t i;

	do {
		json = rig_query(&rig, RIG_OPERATOR, handle, QUERY_AUDIT,
		    after, 500, "", &status);
		ck_assert_uint_eq(status, 200);
		json_array_foreach(json_object_get(json, "lines"), i, line) {
			one = json_loads(json_string_value(line), 0, NULL);
			if (strcmp(rig_text(one, "event"), event) == 0)
				json_array_append(found, one);
			json_decref(one);
		}
		after = (uint64_t)json_integer_value(json_object_get(json,
		    "next"));
		json_decref(json);
	} while (after != 0);
	return (found);
}

static inline json_int_t
number(const json_t *json, const char *name)
{
	return (json_integer_value(json_object_get(json, name)));
}


static inline unsigned
flags_of(uint64_t handle, const char *session)
{
	struct rig_call c;

	rig_asked(&rig, rig_ask(&rig, handle, session, "exec"), &c);
	rig_verdict(&rig, &c, VERDICT_DENY);
	json_decref(rig_finished(&rig, &c));
	return (c.judge_flags);
}


static inline void
fetching(uint64_t handle, const char *session, struct rig_call *c)
{
	rig_asked(&rig, rig_ask(&rig, handle, session, "fetch"), c);
	rig_verdict(&rig, c, VERDICT_ALLOW);
	if (session == NULL) {
		rig_neuron_up(&rig, c->neuron);
		want_open(c->neuron);
	}
	want_run(c, EGRESS_FETCH);
}

static inline TCase *
with(Suite *s, const char *name, void (*begins)(void))
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, begins, teardown);
	suite_add_tcase(s, tc);
	return (tc);
}

#endif
