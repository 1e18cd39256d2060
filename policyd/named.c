/* Named sessions, and the tools of one. */

#include <string.h>

#include "agent.h"
#include "conf.h"
#include "named.h"
#include "query.h"
#include "session.h"
#include "without.h"

#define OVER_MAX	1024	/* names that we remember as used up */

static struct over {
	uid_t	 uid;
	char	 name[SESSION_NAME];
} over[OVER_MAX];
static unsigned	over_next;

void
named_over(uid_t uid, const char *name)
{
	over[over_next].uid = uid;
	strlcpy(over[over_next].name, name, sizeof(over[over_next].name));
	over_next = (over_next + 1) % OVER_MAX;
}

int
named_is_over(uid_t uid, const char *name)
{
	unsigned i;

	for (i = 0; i < OVER_MAX; i++)
		if (over[i].uid == uid && strcmp(over[i].name, name) == 0)
			return (1);
	return (0);
}

static int
gone(struct refusal *r)
{
	return (refuse(r, 404, "not_found",
	    "the session of that name has ended"));
}

static int
open_named(const struct reply_to *to, uint64_t handle, const char *name,
    const struct wanted *w, struct refusal *r)
{
	struct session *s;
	struct peer *peer;

	if ((peer = api_peer(to->api, handle, r)) == NULL)
		return (-1);
	if (named_is_over(peer->ident->uid, name))
		return (gone(r));
	if ((s = session_named(peer->ident, name)) == NULL)
		return (agent_open(to, handle, w, 0, name, r));
	switch (s->state) {
	case SESSION_LIVE:
		reply_json(to, 200, session_json(s));
		return (0);
	case SESSION_OPENING:
		if (s->nmore == SESSION_MORE)
			return (refuse_later(r, 429, "too_many", 1, "the "
			    "session is being opened, and %d wait for it",
			    SESSION_MORE));
		s->more[s->nmore++] = *to;
		return (0);
	case SESSION_ENDING:
		break;
	}
	return (gone(r));
}

/* 0, or -1: a message that can't be. */
static int
get_name(struct imsg *m, char *name)
{
	return (get_text(m, name, SESSION_NAME) == -1 || *name == '\0' ? -1 :
	    0);
}

static int
open_any(void *arg, struct imsg *m, int read_only)
{
	char name[SESSION_NAME];
	const char *bad = NULL;
	struct reply_to to;
	struct refusal r;
	uint64_t handle;
	struct wanted w;
	int named;

	to = reply_to(arg, imsg_get_u32(m));
	handle = imsg_get_u64(m);
	named = get_name(m, name);
	w.owner_uid = w.owner_gid = OWNER_UNSAID;
	w.read_only = read_only;
	w.rules[0] = '\0';
	if (get_text(m, w.profile, sizeof(w.profile)) == -1)
		bad = "profile";
	if (get_text(m, w.workspace, sizeof(w.workspace)) == -1)
		bad = "workspace";
	if (get_text(m, w.preset, sizeof(w.preset)) == -1)
		bad = "preset";
	if (imsg_end(m) == -1 || named == -1)
		return (-1);
	if (bad != NULL)
		refuse(&r, 400, "bad_request",
		    "\"%s\" is too long or holds a NUL", bad);
	else if (open_named(&to, handle, name, &w, &r) == 0)
		return (0);
	reply_refusal(&to, &r);
	return (0);
}

int
named_on_open(void *arg, struct imsg *m)
{
	return (open_any(arg, m, 0));
}

int
named_on_open_ro(void *arg, struct imsg *m)
{
	return (open_any(arg, m, 1));
}

int
named_on_end(void *arg, struct imsg *m)
{
	char name[SESSION_NAME];
	struct reply_to to;
	struct session *s;
	struct refusal r;
	struct peer *peer;
	uint64_t handle;
	int named;

	to = reply_to(arg, imsg_get_u32(m));
	handle = imsg_get_u64(m);
	named = get_name(m, name);
	if (imsg_end(m) == -1 || named == -1)
		return (-1);
	if ((peer = api_peer(arg, handle, &r)) == NULL ||
	    (named_is_over(peer->ident->uid, name) && gone(&r) == -1)) {
		reply_refusal(&to, &r);
		return (0);
	}
	named_over(peer->ident->uid, name);
	s = session_named(peer->ident, name);
	/* One that is being opened goes as soon as it stands. */
	if (s != NULL && s->state == SESSION_LIVE)
		session_end(s, "ended", &to);
	else
		reply_json(&to, 200, json_object());
	return (0);
}

/* ---- tools ---- */

static json_t *
tools_for(struct api *api, uint64_t handle, const char *session,
    const char *preset, struct refusal *r)
{
	const struct cf_principal *line;
	const struct session *s;
	struct peer *peer;

	if ((peer = api_peer(api, handle, r)) == NULL ||
	    decide_line(&peer->ids, &line, r) == -1)
		return (NULL);
	if (session[0] != '\0') {
		s = id_ok(ID_SESSION, session) ? session_find(session) : NULL;
		if (s == NULL ||
		    (s->ident != peer->ident && !WITHOUT(session_owner))) {
			refuse(r, 404, "not_found", "there is no live "
			    "session \"%s\" of yours", session);
			return (NULL);
		}
		preset = s->build.preset;
	}
	return (query_tools_for(line->preset, preset, r));
}

int
named_on_tools(void *arg, struct imsg *m)
{
	char session[ID_SIZE], preset[NAME_BYTES_MAX];
	struct reply_to to;
	struct refusal r;
	uint64_t handle;
	json_t *json;
	int bad;

	to = reply_to(arg, imsg_get_u32(m));
	handle = imsg_get_u64(m);
	bad = get_text(m, session, sizeof(session)) == -1;
	bad |= get_text(m, preset, sizeof(preset)) == -1;
	if (imsg_end(m) == -1)
		return (-1);
	if (bad) {
		refuse(&r, 400, "bad_request", "a session or preset is named "
		    "that is too long or holds a NUL");
		json = NULL;
	} else
		json = tools_for(arg, handle, session, preset, &r);
	if (json != NULL)
		reply_json(&to, 200, json);
	else
		reply_refusal(&to, &r);
	return (0);
}
