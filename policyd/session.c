/* Sessions: opening, clocks, ending. */

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "call.h"
#include "home.h"
#include "keys.h"
#include "launch.h"
#include "policyd.h"
#include "session.h"
#include "sync.h"
#include "without.h"

#define END_WAIT_US	5000000	/* for the neuron's end, before the answer */

RB_HEAD(session_tree, session);

static int session_cmp(const struct session *, const struct session *);
static void	session_slot(void *, int, const struct refusal *);
static void	session_free(struct session *);

RB_PROTOTYPE(session_tree, session, entry, session_cmp)
RB_GENERATE(session_tree, session, entry, session_cmp)

static struct session_tree	sessions = RB_INITIALIZER(&sessions);
static TAILQ_HEAD(, session)	ordered = TAILQ_HEAD_INITIALIZER(ordered);

static int
session_cmp(const struct session *a, const struct session *b)
{
	return (strcmp(a->row.id, b->row.id));
}

struct session *
session_find(const char *id)
{
	struct session key, *s;

	strlcpy(key.row.id, id, sizeof(key.row.id));
	s = RB_FIND(session_tree, &sessions, &key);
	return (s != NULL && s->state != SESSION_OPENING ? s : NULL);
}

struct session *
session_named(const struct ident *ident, const char *name)
{
	struct session *s;

	TAILQ_FOREACH(s, &ordered, order)
		if ((s->ident == ident || WITHOUT(session_owner)) &&
		    strcmp(s->name, name) == 0)
			return (s);
	return (NULL);
}

unsigned
session_count(void)
{
	struct session *s;
	unsigned n = 0;

	TAILQ_FOREACH(s, &ordered, order)
		n += s->state == SESSION_LIVE;
	return (n);
}

json_t *
session_row_json(const struct session_row *row, const char *state)
{
	return (json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o,"
	    "s:o,s:{s:I,s:I}}",
	    "session", row->id, "neuron", row->neuron,
	    "principal", principal_json(row->principal),
	    "profile", json_text(row->profile),
	    "preset", json_text(row->preset),
	    "workspace", json_text_or_null(row->workspace),
	    "state", state, "reason", json_text_or_null(row->reason),
	    "created", json_when(row->created),
	    "expires", json_when(row->expires),
	    "ended", json_when(row->ended),
	    "rules", json_text_or_null(row->rules),
	    "calls", "used", (json_int_t)row->calls,
	    "limit", (json_int_t)row->calls_limit));
}

json_t *
session_json(const struct session *s)
{
	return (session_row_json(&s->row,
	    s->state == SESSION_LIVE ? "live" : "ending"));
}

/* ---- opening ---- */

static void
session_clock(int fd, short what, void *arg)
{
	struct session *s = arg;

	(void)fd;
	(void)what;
	if (s->state == SESSION_LIVE) {
		session_end(s, "expired", NULL);
		return;
	}
	/* The neuron takes its time to go; whoever waits is told as much. */
	if (s->ending.api != NULL)
		reply_json(&s->ending, 200, session_json(s));
	s->ending.api = NULL;
}

static void
session_built(struct session *s, const struct build *build)
{
	s->build = *build;
	strlcpy(s->row.profile, build->profile, sizeof(s->row.profile));
	strlcpy(s->row.preset, build->preset, sizeof(s->row.preset));
}

void
session_open(const struct reply_to *to, struct peer *peer,
    const struct build *build, uint64_t hourly, uint64_t calls_limit,
    uint32_t expires, const char *home, const char *name, const char *rules)
{
	struct refusal r;
	struct session *s;
	uint32_t wait;

	if ((wait = ident_wait(peer->ident, hourly)) > 0) {
		refuse_later(&r, 429, "budget_exhausted", wait, "the limit "
		    "hourly is %llu sessions and sessionless calls, and all "
		    "are used", (unsigned long long)hourly);
		reply_refusal(to, &r);
		return;
	}
	if ((s = calloc(1, sizeof(*s))) == NULL ||
	    (s->row.workspace = strdup(build->workspace)) == NULL ||
	    (s->row.rules = strdup(rules)) == NULL ||
	    (s->clock = evtimer_new(policyd_base(), session_clock, s)) ==
	    NULL || id_make(ID_SESSION, s->row.id) == -1 ||
	    ident_spend(peer->ident, wall_seconds(), 1) == -1)
		fatal("session");
	s->state = SESSION_OPENING;
	s->ident = peer->ident;
	s->ident->refs++;
	s->opening = *to;
	strlcpy(s->home, home, sizeof(s->home));
	strlcpy(s->name, name, sizeof(s->name));
	s->row.principal = (uint32_t)peer->ident->uid;
	session_built(s, build);
	s->row.calls_limit = calls_limit;
	/* seconds until there is a clock to count from */
	s->row.expires = expires;
	RB_INSERT(session_tree, &sessions, s);
	TAILQ_INSERT_HEAD(&ordered, s, order);
	neuron_ask(&s->wait, s->ident, session_slot, s);
}

static void
session_refused(struct session *s, const struct refusal *r)
{
	unsigned i;

	reply_refusal(&s->opening, r);
	for (i = 0; i < s->nmore; i++)
		reply_refusal(&s->more[i], r);
	session_free(s);
}

/*
 * A persistent one is looked for now: while a slot was waited for it may have
 * got another session, or have been destroyed.
 */
static struct neuron *
session_neuron(struct session *s, struct refusal *r)
{
	struct home *home = NULL;

	if (s->home[0] != '\0' &&
	    (home = home_ready(s->home, s->ident, r)) == NULL)
		return (NULL);
	return (neuron_new(s->ident, &s->build, home));
}

static void
session_slot(void *arg, int granted, const struct refusal *why)
{
	struct session *s = arg;
	struct refusal r;

	if (!granted) {
		session_refused(s, why);
		return;
	}
	if (launch_up()) {
		if ((s->neuron = session_neuron(s, &r)) == NULL) {
			session_refused(s, &r);
			return;
		}
		s->neuron->session = s;
		strlcpy(s->row.neuron, s->neuron->id, sizeof(s->row.neuron));
		if (neuron_make(s->neuron, &r) == 0) {
			session_built(s, &s->neuron->build);
			return;
		}
	} else
		refuse_later(&r, 503, "unavailable", 1,
		    "neurond is being started; try again");
	session_refused(s, &r);
}

/* The hour's count of a session that never came to be is not given back. */
void
session_neuron_up(struct session *s)
{
	struct timeval tv;
	struct refusal r;
	unsigned i;

	if (s->state != SESSION_OPENING)
		return;
	tv = us_timeval(s->row.expires * 1000000);
	s->row.serial = store_next_session();
	s->row.created = wall_us();
	s->row.expires = s->row.created + s->row.expires * 1000000;
	s->row.first_call = store_last_call() + 1;
	audit_append_for(&s->opening, "session.opened", json_pack(
	    "{s:s,s:s,s:o,s:s,s:s,s:o,s:o}",
	    "session", s->row.id, "neuron", s->row.neuron,
	    "principal", principal_json((uint32_t)s->ident->uid),
	    "preset", s->row.preset, "profile", s->row.profile,
	    "workspace", json_text_or_null(s->row.workspace),
	    "rules", json_text_or_null(s->row.rules)));
	sync_soon();
	if (!reply_possible(&s->opening) || audit_flush() == -1 ||
	    store_session_add(&s->row) == -1) {
		/* nobody could ever end it, or nobody would know of it */
		if (reply_possible(&s->opening))
			sync_failed();
		refuse_later(&r, 503, "unavailable", 1,
		    "store_full: the session can not be recorded");
		audit_append("session.ended", json_pack("{s:s,s:s}",
		    "session", s->row.id, "reason", "interrupted"));
		session_refused(s, &r);
		return;
	}
	s->state = SESSION_LIVE;
	log_debug_of(&(struct log_about){ .request = s->opening.id,
	    .session = s->row.id, .neuron = s->row.neuron },
	    "session %s is open in %s", s->row.id, s->row.neuron);
	evtimer_add(s->clock, &tv);
	reply_json(&s->opening, 201, session_json(s));
	for (i = 0; i < s->nmore; i++)
		reply_json(&s->more[i], 200, session_json(s));
	/* Its name was used up before it stood. */
	if (s->name[0] != '\0' && named_is_over(s->ident->uid, s->name))
		session_end(s, "ended", NULL);
}

/* ---- ending ---- */

static void
session_free(struct session *s)
{
	neuron_unask(&s->wait);
	if (s->neuron != NULL)
		neuron_drop(s->neuron);
	RB_REMOVE(session_tree, &sessions, s);
	TAILQ_REMOVE(&ordered, s, order);
	event_free(s->clock);
	ident_put(s->ident);
	free(s->row.workspace);
	free(s->row.rules);
	free(s);
}

/* Those who listen to it hear of every end, also of one they didn't ask for. */
static void
session_tell_over(const struct session *s)
{
	struct imsg *m;

	if (api_agent.channel == NULL || WITHOUT(session_over))
		return;
	if ((m = imsg_new(MSG_SESSION_OVER)) == NULL)
		fatal("session");
	imsg_put_str(m, s->row.id);
	imsg_put_str(m, s->row.reason);
	channel_send(api_agent.channel, m);
}

/*
 * The end is on the disk before it has an effect.  A full disk does not keep
 * a session alive, though: the kill switch works without the store.
 */
static void
session_record_end(struct session *s, const char *reason)
{
	s->row.ended = wall_us();
	s->row.last_call = store_last_call();
	if (s->name[0] != '\0')
		named_over(s->ident->uid, s->name);
	strlcpy(s->row.reason, reason, sizeof(s->row.reason));
	audit_append_for(&s->ending, "session.ended", json_pack("{s:s,s:s,s:I}",
	    "session", s->row.id, "reason", reason,
	    "calls", (json_int_t)s->row.calls));
	sync_session_end(&s->row);
	sync_now();
	session_tell_over(s);
}

static void
session_ended(struct session *s)
{
	if (s->ending.api != NULL)
		reply_json(&s->ending, 200,
		    session_row_json(&s->row, "ended"));
	session_free(s);
}

void
session_end(struct session *s, const char *reason, const struct reply_to *to)
{
	struct timeval tv = us_timeval(END_WAIT_US);
	struct refusal r;

	if (s->state == SESSION_ENDING) {
		if (to == NULL)
			return;
		if (s->ending.api == NULL) {
			s->ending = *to;
			return;
		}
		refuse(&r, 409, "conflict", "session %s is being ended",
		    s->row.id);
		reply_refusal(to, &r);
		return;
	}
	s->state = SESSION_ENDING;
	if (to != NULL)
		s->ending = *to;
	session_record_end(s, reason);
	call_session_ended(s);
	if (s->neuron != NULL && neuron_drop(s->neuron)) {
		s->neuron = NULL;
		evtimer_add(s->clock, &tv);
		return;
	}
	s->neuron = NULL;
	session_ended(s);
}

void
session_destroyed(struct session *s)
{
	struct refusal r;

	if (s->state != SESSION_OPENING) {
		session_end(s, "neuron_destroyed", NULL);
		return;
	}
	refuse(&r, 409, "conflict", "neuron %s was destroyed", s->row.neuron);
	session_refused(s, &r);
}

void
session_end_of(uint32_t principal, const char *reason)
{
	struct session *s, *next;
	struct refusal r;

	refuse(&r, 403, "forbidden", "whoever opened the session may do so "
	    "no more");
	TAILQ_FOREACH_SAFE(s, &ordered, order, next) {
		if ((uint32_t)s->ident->uid != principal)
			continue;
		if (s->state == SESSION_OPENING)
			session_refused(s, &r);
		else
			session_end(s, reason, NULL);
	}
}

void
session_neuron_gone(struct session *s, unsigned cause, const char *why)
{
	struct refusal r;

	s->neuron = NULL;
	if (s->state == SESSION_LIVE) {
		session_record_end(s, "neuron_lost");
		call_session_ended(s);
		session_ended(s);
		return;
	}
	if (s->state == SESSION_ENDING)
		return;	/* session_neuron_freed() is next */
	if (cause == GONE_BUSY)
		refuse_later(&r, 409, "conflict", 5, "%s", why);
	else if (cause == GONE_REFUSED)
		refuse(&r, 403, "forbidden", "%s", why);
	else
		refuse_later(&r, 503, "unavailable", 1,
		    "the neuron could not be made: %s", why);
	session_refused(s, &r);
}

void
session_neuron_freed(const char *neuron)
{
	struct session *s;

	TAILQ_FOREACH(s, &ordered, order) {
		if (s->state == SESSION_ENDING &&
		    strcmp(s->row.neuron, neuron) == 0) {
			session_ended(s);
			return;
		}
	}
}

void
session_all_interrupted(void)
{
	struct session *s;

	while ((s = TAILQ_FIRST(&ordered)) != NULL) {
		if (s->state == SESSION_LIVE)
			session_record_end(s, "interrupted");
		session_free(s);
	}
}
