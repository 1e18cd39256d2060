/* The agent socket's apid: what it may ask, and the table of that. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"
#include "api.h"
#include "asked.h"
#include "auth.h"
#include "call.h"
#include "codec.h"
#include "drain.h"
#include "home.h"
#include "named.h"
#include "proc.h"
#include "query.h"
#include "session.h"
#include "steer.h"
#include "without.h"
#include "sync.h"

#define DENIED_MAX	1024	/* bytes of what a body refused */

static int	on_open(void *, struct imsg *);
static int	on_open_ruled(void *, struct imsg *);
static int	on_end(void *, struct imsg *);
static int	on_ask(void *, struct imsg *);
static int	on_ask_once(void *, struct imsg *);
static int	on_stop(void *, struct imsg *);
static int	on_transcript(void *, struct imsg *);
static int	on_transcript_text(void *, struct imsg *);
static int	on_shown(void *, struct imsg *);
static void	agent_dead(void *, const char *);

static const struct channel_handler handlers[] = {
	{ MSG_REQUEST,		api_on_request },
	{ MSG_PEER,		api_on_peer },
	{ MSG_PEER_GONE,	api_on_peer_gone },
	{ MSG_OPEN,		on_open },
	{ MSG_OPEN_RULED,	on_open_ruled },
	{ MSG_END,		on_end },
	{ MSG_ASK,		on_ask },
	{ MSG_ASK_ONCE,		on_ask_once },
	{ MSG_STOP,		on_stop },
	{ MSG_SIGNAL,		steer_on_signal },
	{ MSG_RESIZE,		steer_on_resize },
	{ MSG_QUERY,		query_on_query },
	{ MSG_TRANSCRIPT,	on_transcript },
	{ MSG_TRANSCRIPT_TEXT,	on_transcript_text },
	{ MSG_OPEN_NAMED,	named_on_open },
	{ MSG_OPEN_NAMED_RO,	named_on_open_ro },
	{ MSG_END_NAMED,	named_on_end },
	{ MSG_TOOLS_FOR,	named_on_tools },
	{ MSG_SHOWN,		on_shown },
	{ MSG_AUTH,		auth_on_auth },
	{ MSG_HOME_MAKE,	home_on_make },
	{ MSG_NEURONS_FOR,	home_on_find },
};

const struct channel_ops agent_ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0]),
	.dead = agent_dead,
};

static void
agent_dead(void *arg, const char *reason)
{
	log_info("the agent socket's apid is gone: %s", reason);
	api_lost(arg);
	proc_channel_lost(CH_AGENT);
}

static void
get_field(struct imsg *m, char *dst, size_t size, const char *name,
    const char **bad)
{
	if (get_text(m, dst, size) == -1)
		*bad = name;
}

static void
get_asked(struct imsg *m, struct asked *a)
{
	memset(a, 0, sizeof(*a));
	a->request = imsg_get_u32(m);
	a->handle = imsg_get_u64(m);
	a->timeout = imsg_get_u32(m);
	a->in = imsg_get_u8(m);
	a->flags = imsg_get_u8(m);
}

static void
get_tool(struct imsg *m, struct asked *a)
{
	get_field(m, a->tool, sizeof(a->tool), "tool", &a->bad);
	get_field(m, a->key, sizeof(a->key), "idempotency_key", &a->bad);
}

static int
refuse_long(struct refusal *r, const char *field)
{
	return (refuse(r, 400, "bad_request",
	    "\"%s\" is too long or holds a NUL", field));
}

static int
is_pipe_fd(int fd)
{
	struct stat st;

	return (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode));
}

/*
 * The pipes and memfds as ASK orders them.  stdin says of which kind the
 * fourth is; an apid that says one thing and sends another is broken.
 */
static int
claim_fds(struct imsg *m, const struct asked *a, struct call *c)
{
	int in, pipe;

	if (a->in > STDIN_STREAM ||
	    imsg_fds(m) != (a->in == STDIN_NONE ? 3U : 4U))
		return (-1);
	c->fds[CALL_ARGS] = imsg_claim_fd(m, 0);
	c->fds[CALL_STDOUT] = imsg_claim_fd(m, 1);
	c->fds[CALL_STDERR] = imsg_claim_fd(m, 2);
	if (a->in == STDIN_NONE)
		return (0);
	in = c->fds[CALL_INPUT] = imsg_claim_fd(m, 3);
	pipe = is_pipe_fd(in);
	return (pipe == (a->in == STDIN_STREAM) ? 0 : -1);
}

/* What is the same for both: the tool, the time. */
static int
ask_checks(struct call *c, const struct asked *a, struct refusal *r)
{
	const struct limits *limits;
	const struct tool *tool;

	if ((a->flags & ~ASK_FLAGS) != 0 ||
	    (c->session != NULL && (a->flags & ASK_F_READ_ONLY) != 0))
		return (refuse(r, 400, "bad_request", "unknown flags"));
	if (drain_on())
		return (drain_refuse(r));
	if (!judge_up())
		return (refuse_later(r, 503, "unavailable", 1,
		    "judged is being started; try again"));
	if ((tool = judge_tool(a->tool)) == NULL)
		return (refuse(r, 404, "not_found", "there is no tool \"%s\"",
		    a->tool));
	if (decide_tool(c->own, c->preset, a->tool, tool->group,
	    tool->effect, r) == -1)
		return (-1);
	/* A neuron keeps the limits that it was made with. */
	limits = c->session != NULL ? &c->session->neuron->limits :
	    conf_profile(c->build->profile);
	c->limits = *limits;
	c->pty = (a->flags & ASK_F_PTY) != 0;
	c->patient = (a->flags & ASK_F_PATIENT) != 0;
	c->dry_run = (a->flags & ASK_F_DRY_RUN) != 0;
	if (c->pty && limits->v[LIMIT_PTY] == 0)
		return (refuse(r, 403, "forbidden", "pty: the profile says "
		    "\"pty no\": no call in its neurons has a terminal"));
	return (decide_timeout(limits, a->timeout, tool->timeout, &c->timeout,
	    r));
}

static void
ask_identity(struct call *c, const struct peer *peer)
{
	c->ident = peer->ident;
	c->ident->refs++;
	c->row.principal = (uint32_t)peer->ident->uid;
	strlcpy(c->who, peer->who, sizeof(c->who));
}

/* The live session of an id, if it is this principal's. */
static struct session *
own_session(const struct peer *peer, const char *id, struct refusal *r)
{
	struct session *s;

	s = id_ok(ID_SESSION, id) ? session_find(id) : NULL;
	if (s == NULL ||
	    (s->ident != peer->ident && !WITHOUT(session_owner))) {
		refuse(r, 404, "not_found", "there is no live session \"%s\" "
		    "of yours", id);
		return (NULL);
	}
	if (s->state != SESSION_LIVE) {
		refuse(r, 409, "conflict", "session %s is being ended", id);
		return (NULL);
	}
	return (s);
}

static int
ask_in_session(struct api *api, struct call *c, const struct asked *a,
    struct refusal *r)
{
	const struct cf_principal *line;
	struct peer *peer;
	int same;

	if ((peer = api_peer(api, a->handle, r)) == NULL)
		return (-1);
	ask_identity(c, peer);
	if (a->bad != NULL)
		return (refuse_long(r, a->bad));
	if (decide_line(&peer->ids, &line, r) == -1 ||
	    (c->session = own_session(peer, a->session, r)) == NULL)
		return (-1);
	if ((same = idempotent_look(c, a, r)) != 0)
		return (same);
	strlcpy(c->own, line->preset, sizeof(c->own));
	strlcpy(c->preset, c->session->build.preset, sizeof(c->preset));
	return (ask_checks(c, a, r));
}

static int
ask_alone(struct api *api, struct call *c, const struct asked *a,
    struct refusal *r)
{
	const struct cf_principal *line;
	struct peer *peer;
	int same;

	if ((peer = api_peer(api, a->handle, r)) == NULL)
		return (-1);
	ask_identity(c, peer);
	if (a->bad != NULL)
		return (refuse_long(r, a->bad));
	if ((c->build = calloc(1, sizeof(*c->build))) == NULL)
		fatal("call");
	if (decide_line(&peer->ids, &line, r) == -1)
		return (-1);
	if ((same = idempotent_look(c, a, r)) != 0)
		return (same);
	if (decide_build(line, &peer->ids, &a->wanted, c->build, r) == -1)
		return (-1);
	strlcpy(c->own, c->build->own, sizeof(c->own));
	strlcpy(c->preset, c->build->preset, sizeof(c->preset));
	return (ask_checks(c, a, r));
}

/*
 * What the audit log is to have of the arguments of the ASK that comes next.
 * It is apid's word, as the digest is ours: nothing is decided by it.
 */
static struct {
	uint32_t	 request;
	uint8_t		 cut;
	char		 text[SHOWN_MOST + 1];
} shown;

static int
on_shown(void *arg, struct imsg *m)
{
	(void)arg;
	shown.request = imsg_get_u32(m);
	shown.cut = imsg_get_u8(m);
	get_words(m, shown.text, sizeof(shown.text));
	return (imsg_end(m) == -1 || shown.cut > 1 ? -1 : 0);
}

static void
ask_shown(struct call *c, uint32_t request)
{
	if (shown.request == request && shown.text[0] != '\0') {
		if ((c->shown = strdup(shown.text)) == NULL)
			fatal("call");
		c->shown_cut = shown.cut;
	}
	shown.text[0] = '\0';
}

static int
ask(struct api *api, struct imsg *m, const struct asked *a,
    int (*checks)(struct api *, struct call *, const struct asked *,
    struct refusal *))
{
	struct refusal r;
	struct call *c;

	c = call_new();
	c->in = a->in;
	c->to = reply_to(api, a->request);
	c->handle = a->handle;
	ask_shown(c, a->request);
	if (claim_fds(m, a, c) == -1) {
		call_free(c);
		return (-1);
	}
	strlcpy(c->row.tool, a->tool, sizeof(c->row.tool));
	switch (checks(api, c, a, &r)) {
	case -1:
		call_refuse(c, &r);
		break;
	case 0:
		call_ask(c);
		break;
	default:	/* another call, which its asker is told of */
		call_free(c);
		break;
	}
	return (0);
}

static int
on_ask(void *arg, struct imsg *m)
{
	struct asked a;

	get_asked(m, &a);
	get_field(m, a.session, sizeof(a.session), "session", &a.bad);
	get_tool(m, &a);
	if (imsg_end(m) == -1)
		return (-1);
	return (ask(arg, m, &a, ask_in_session));
}

static void
get_wanted(struct imsg *m, struct wanted *w, const char **bad)
{
	get_field(m, w->profile, sizeof(w->profile), "profile", bad);
	get_field(m, w->workspace, sizeof(w->workspace), "workspace", bad);
	get_field(m, w->preset, sizeof(w->preset), "preset", bad);
}

static int
on_ask_once(void *arg, struct imsg *m)
{
	struct asked a;

	get_asked(m, &a);
	a.wanted.owner_uid = imsg_get_u32(m);
	a.wanted.owner_gid = imsg_get_u32(m);
	a.wanted.read_only = (a.flags & ASK_F_READ_ONLY) != 0;
	get_tool(m, &a);
	get_wanted(m, &a.wanted, &a.bad);
	if (imsg_end(m) == -1)
		return (-1);
	return (ask(arg, m, &a, ask_alone));
}

/* ---- OPEN and END ---- */

static int
check_expires(uint32_t *expires, struct refusal *r)
{
	const struct limit_row *row = &limit_table[LIMIT_SESSION_EXPIRES];

	if (*expires == 0)
		*expires = (uint32_t)conf_limit(LIMIT_SESSION_EXPIRES);
	if (*expires < row->min || *expires > row->max)
		return (refuse(r, 400, "bad_request", "expires is %u s; it can "
		    "be from %llu to %llu s", *expires,
		    (unsigned long long)row->min,
		    (unsigned long long)row->max));
	return (0);
}

/* The smaller of what the principal's preset and the session's allow. */
static uint64_t
calls_allowed(const struct build *b)
{
	uint64_t own = conf_calls_session(conf_preset(b->own));
	uint64_t asked = conf_calls_session(conf_preset(b->preset));

	return (own < asked ? own : asked);
}

static int
open_build(const struct reply_to *to, uint64_t handle,
    const struct wanted *w, uint32_t expires, const char *home,
    const char *name, struct refusal *r)
{
	const struct cf_principal *line;
	struct build build;
	struct peer *peer;

	if ((peer = api_peer(to->api, handle, r)) == NULL ||
	    check_expires(&expires, r) == -1 ||
	    (drain_on() && drain_refuse(r) == -1) ||
	    decide_line(&peer->ids, &line, r) == -1 ||
	    decide_build(line, &peer->ids, w, &build, r) == -1)
		return (-1);
	session_open(to, peer, &build, conf_hourly(conf_preset(build.own)),
	    calls_allowed(&build), expires, home, name, w->rules);
	return (0);
}

/* How a persistent neuron is built was said when it was made. */
static int
open_home(const struct reply_to *to, uint64_t handle,
    const struct wanted *w, uint32_t expires, const char *home,
    struct refusal *r)
{
	struct peer *peer;
	struct home *h;
	struct wanted its;

	if (w->profile[0] != '\0' || w->workspace[0] != '\0' ||
	    w->owner_uid != OWNER_UNSAID || w->owner_gid != OWNER_UNSAID)
		return (refuse(r, 400, "bad_request", "with \"neuron\" there "
		    "is no profile, workspace or owner: it has its own"));
	if ((peer = api_peer(to->api, handle, r)) == NULL ||
	    (h = home_ready(home, peer->ident, r)) == NULL)
		return (-1);
	home_wanted(h, &its);
	strlcpy(its.preset, w->preset, sizeof(its.preset));
	strlcpy(its.rules, w->rules, sizeof(its.rules));
	its.read_only |= w->read_only;
	return (open_build(to, handle, &its, expires, home, "", r));
}

int
agent_open(const struct reply_to *to, uint64_t handle,
    const struct wanted *w, uint32_t expires, const char *name,
    struct refusal *r)
{
	return (open_build(to, handle, w, expires, "", name, r));
}

static int
open_any(void *arg, struct imsg *m, int ruled)
{
	char neuron[ID_SIZE];
	const char *bad = NULL;
	struct reply_to to;
	uint32_t expires;
	struct refusal r;
	uint64_t handle;
	struct wanted w;
	uint8_t what;

	to = reply_to(arg, imsg_get_u32(m));
	handle = imsg_get_u64(m);
	what = imsg_get_u8(m);
	w.read_only = (what & OPEN_F_READ_ONLY) != 0;
	what &= (uint8_t)~OPEN_F_READ_ONLY;
	w.owner_uid = imsg_get_u32(m);
	w.owner_gid = imsg_get_u32(m);
	expires = imsg_get_u32(m);
	get_field(m, w.profile, sizeof(w.profile), "profile", &bad);
	get_field(m, neuron, sizeof(neuron), "neuron", &bad);
	get_field(m, w.workspace, sizeof(w.workspace), "workspace", &bad);
	get_field(m, w.preset, sizeof(w.preset), "preset", &bad);
	w.rules[0] = '\0';
	if (ruled)
		get_field(m, w.rules, sizeof(w.rules), "rules", &bad);
	if (imsg_end(m) == -1 || what != OPEN_SESSION)
		return (-1);
	if (bad != NULL)
		refuse_long(&r, bad);
	else if ((neuron[0] != '\0' ?
	    open_home(&to, handle, &w, expires, neuron, &r) :
	    agent_open(&to, handle, &w, expires, "", &r)) == 0)
		return (0);
	reply_refusal(&to, &r);
	return (0);
}

static int
on_open(void *arg, struct imsg *m)
{
	return (open_any(arg, m, 0));
}

static int
on_open_ruled(void *arg, struct imsg *m)
{
	return (open_any(arg, m, 1));
}

static int
on_end(void *arg, struct imsg *m)
{
	const char *bad = NULL;
	struct reply_to to;
	struct session *s;
	struct refusal r;
	struct peer *peer;
	char id[ID_SIZE];
	uint64_t handle;

	to = reply_to(arg, imsg_get_u32(m));
	handle = imsg_get_u64(m);
	get_field(m, id, sizeof(id), "id", &bad);
	if (imsg_end(m) == -1)
		return (-1);
	if ((peer = api_peer(arg, handle, &r)) == NULL) {
		reply_refusal(&to, &r);
		return (0);
	}
	if (id[0] == ID_NEURON) {
		home_end(&to, peer, id, 0);
		return (0);
	}
	s = id_ok(ID_SESSION, id) ? session_find(id) : NULL;
	if (s != NULL && s->ident == peer->ident) {
		session_end(s, "ended", &to);
		return (0);
	}
	refuse(&r, 404, "not_found", "there is no live session \"%s\" of "
	    "yours", id);
	reply_refusal(&to, &r);
	return (0);
}

/* ---- STOP ---- */

/*
 * A user may cancel what is his principal's.  That its output is too long or
 * its reader gone apid says of any call of its own, whoever is connected.
 */
static int
on_stop(void *arg, struct imsg *m)
{
	static const enum end_cause causes[] = {
		[STOP_CANCELLED] = END_CANCELLED,
		[STOP_OUTPUT_LIMIT] = END_OUTPUT_LIMIT,
		[STOP_READER_GONE] = END_INTERRUPTED,
	};
	struct api *api = arg;
	struct refusal r;
	struct peer *peer;
	struct call *c;
	char id[ID_SIZE];
	uint64_t handle;
	unsigned why;

	handle = imsg_get_u64(m);
	why = imsg_get_u8(m);
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1 || why < STOP_CANCELLED ||
	    why > STOP_READER_GONE)
		return (-1);
	if ((c = call_find(id)) == NULL)
		return (0);	/* it has ended meanwhile */
	if (why == STOP_CANCELLED && ((peer = api_peer(api, handle, &r)) ==
	    NULL || peer->ident != c->ident))
		return (0);
	call_stop(c, causes[why]);
	return (0);
}

/* ---- TRANSCRIPT ---- */

/* What there is besides its bytes. */
struct transcribed {
	uint64_t	 handle;
	char		 id[ID_SIZE];
	char		 denied[DENIED_MAX];
};

static void
get_transcribed(struct imsg *m, struct transcribed *t)
{
	t->handle = imsg_get_u64(m);
	imsg_get_str(m, t->id, sizeof(t->id));
	get_words(m, t->denied, sizeof(t->denied));
}

/*
 * Nothing in it is read here.  A second one for a call is a broken apid; one
 * for a call that is not its own, or not known any more, is dropped.  Nobody
 * waits for the answer.
 */
static int
transcribe(struct api *api, const struct transcribed *t, const uint8_t *bytes,
    size_t size)
{
	struct imsg *answer;
	int r;

	r = kept_transcript(t->id, api->generation, t->handle, bytes, size);
	if (r == -1)
		return (-1);
	/* what apid says of its own call; the neuron's word, not ours */
	if (t->denied[0] != '\0') {
		audit_append("call.denied", json_pack("{s:s,s:s,s:o}",
		    "call", t->id, "layer", "jail", "what",
		    json_text(t->denied)));
		sync_soon();
	}
	if ((answer = imsg_new(MSG_TRANSCRIBED)) == NULL)
		fatal("transcript");
	imsg_put_u8(answer, (uint8_t)r);
	imsg_put_str(answer, t->id);
	channel_send_soon(api->channel, answer, CALL_TELL_US);
	return (0);
}

static int
on_transcript(void *arg, struct imsg *m)
{
	struct transcribed t;
	const uint8_t *bytes;
	size_t size = 0;
	int fd, r;

	get_transcribed(m, &t);
	if (imsg_end(m) == -1 || !id_ok(ID_CALL, t.id) ||
	    (fd = imsg_claim_fd(m, 0)) == -1)
		return (-1);
	bytes = memfd_map(fd, TRANSCRIPT_MAX, &size);
	r = transcribe(arg, &t, bytes, size);
	memfd_unmap(bytes, size);
	close(fd);
	return (r);
}

static int
on_transcript_text(void *arg, struct imsg *m)
{
	struct transcribed t;
	const uint8_t *bytes;
	size_t size;

	get_transcribed(m, &t);
	bytes = imsg_get_bytes(m, &size);
	if (imsg_end(m) == -1 || !id_ok(ID_CALL, t.id))
		return (-1);
	return (transcribe(arg, &t, bytes, size));
}
