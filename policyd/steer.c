/* SIGNAL and RESIZE of calls that run. */

#include <string.h>

#include "api.h"
#include "call.h"
#include "decide.h"
#include "launch.h"
#include "query.h"
#include "signals.h"
#include "steer.h"
#include "sync.h"
#include "without.h"

#define SIGNALS_MAX	1000	/* of a call: each is an audit record */

/* One request, and the call that it is about. */
struct steer {
	struct reply_to	 to;
	uint64_t	 handle;
	uint32_t	 value;
	char		 id[ID_SIZE];
	int		 bad;
	struct call	*call;
};

/* 0, or -1 for what is no such message. */
static int
get_steer(struct api *api, struct imsg *m, struct steer *s)
{
	memset(s, 0, sizeof(*s));
	s->to = reply_to(api, imsg_get_u32(m));
	s->handle = imsg_get_u64(m);
	s->value = imsg_get_u32(m);
	s->bad = get_text(m, s->id, sizeof(s->id));
	return (imsg_end(m));
}

/* It is not live: it has ended, or never was for this one. */
static int
not_live(struct api *api, struct peer *peer, const struct steer *s,
    struct refusal *r)
{
	struct query q = { .api = api, .peer = peer };
	json_t *record;

	strlcpy(q.id, s->id, sizeof(q.id));
	if ((record = query_call(&q, r)) == NULL)
		return (-1);
	json_decref(record);
	return (refuse(r, 409, "conflict", "%s: the call has ended", s->id));
}

/*
 * The call, if it is the asker's and runs, or is at least at neurond: its
 * output may be seen before we are told that it was started.  0, or -1 and a
 * refusal.
 */
static int
find(struct api *api, struct steer *s, enum call_step least,
    struct refusal *r)
{
	const struct cf_principal *line;
	struct peer *peer;
	struct call *c;

	if (s->bad == -1)
		return (refuse(r, 404, "not_found",
		    "there is nothing of that id"));
	if ((peer = api_peer(api, s->handle, r)) == NULL ||
	    decide_line(&peer->ids, &line, r) == -1)
		return (-1);
	c = call_find(s->id);
	if (c == NULL || (c->ident != peer->ident && !WITHOUT(steer_owner)))
		return (not_live(api, peer, s, r));
	if (c->egress != 0)
		return (refuse(r, 409, "conflict", "%s: the call is no "
		    "program; cancel ends it", s->id));
	if (c->step < least)
		return (refuse(r, 409, "conflict", "%s: the call does not run "
		    "yet", s->id));
	s->call = c;
	return (0);
}

static int
send_signal(struct steer *s, struct refusal *r)
{
	struct call *c = s->call;

	if (c->signals == SIGNALS_MAX)
		return (refuse(r, 429, "too_many", "%s: %d signals were sent "
		    "to it, and more are not", s->id, SIGNALS_MAX));
	c->signals++;
	audit_append_for(&s->to, "call.signal", json_pack("{s:s,s:s,s:s}",
	    "call", s->id, "principal", c->who,
	    "signal", signal_name(s->value)));
	sync_soon();
	if (audit_flush() == -1) {
		sync_failed();
		return (refuse_later(r, 503, "unavailable", 5, "store_full: "
		    "the signal can not be recorded, and so is not sent"));
	}
	if (launch_signal(s->id, s->value) == -1)
		return (refuse(r, 409, "conflict", "%s: the call has ended",
		    s->id));
	return (0);
}

int
steer_on_signal(void *arg, struct imsg *m)
{
	struct refusal r;
	struct steer s;

	if (get_steer(arg, m, &s) == -1 || signal_name(s.value) == NULL)
		return (-1);
	if (find(arg, &s, STEP_RUNNING, &r) == -1 ||
	    send_signal(&s, &r) == -1)
		reply_refusal(&s.to, &r);
	else
		reply_json(&s.to, 200, json_pack("{s:s,s:s}", "call", s.id,
		    "signal", signal_name(s.value)));
	return (0);
}

int
steer_on_resize(void *arg, struct imsg *m)
{
	struct refusal r;
	struct steer s;

	if (get_steer(arg, m, &s) == -1 || !PTY_SIZE_OK(s.value))
		return (-1);
	if (find(arg, &s, STEP_LAUNCHED, &r) == 0 && !s.call->pty)
		refuse(&r, 409, "conflict", "%s: the call has no terminal",
		    s.id);
	else if (s.call != NULL && launch_resize(s.id, s.value) == -1)
		refuse(&r, 409, "conflict", "%s: the call has ended", s.id);
	else if (s.call != NULL) {
		reply_json(&s.to, 200, json_pack("{s:s,s:i,s:i}",
		    "call", s.id, "rows", (int)PTY_ROWS(s.value),
		    "cols", (int)PTY_COLS(s.value)));
		return (0);
	}
	reply_refusal(&s.to, &r);
	return (0);
}
