/* QUERY: who may ask what, and the short answers. */

#include "config.h"

#include <string.h>

#include "approval.h"
#include "call.h"
#include "conf.h"
#include "ids.h"
#include "keys.h"
#include "query.h"
#include "secrets.h"
#include "verdict.h"
#include "without.h"

static json_t	*query_whoami(const struct query *, struct refusal *);
static json_t	*query_tools(const struct query *, struct refusal *);
static json_t	*query_limits(const struct query *, struct refusal *);
static json_t	*query_health(const struct query *, struct refusal *);

/* The planes a question may be asked on, and the right that it needs. */
static const struct question {
	unsigned	 channels;
	unsigned	 rights;	/* RIGHT_*, on the operator's plane */
	json_t		*(*fn)(const struct query *, struct refusal *);
} questions[] = {
	[QUERY_WHOAMI] = { CH_API, 0, query_whoami },
	[QUERY_TOOLS] = { CH_AGENT, 0, query_tools },
	[QUERY_LIMITS] = { CH_API, 0, query_limits },
	[QUERY_HEALTH] = { CH_API, 0, query_health },
	[QUERY_NEURONS] = { CH_API, 0, query_neurons },
	[QUERY_NEURON] = { CH_API, 0, query_neuron },
	[QUERY_SESSIONS] = { CH_API, 0, query_sessions },
	[QUERY_SESSION] = { CH_API, 0, query_session },
	[QUERY_CALLS] = { CH_API, 0, query_calls },
	[QUERY_CALL] = { CH_API, 0, query_call },
	[QUERY_STATUS] = { CH_OPERATOR, 0, query_status },
	[QUERY_AUDIT] = { CH_OPERATOR, RIGHT_AUDIT, query_audit },
	[QUERY_TRANSCRIPT] = { CH_API, RIGHT_AUDIT, query_transcript },
	[QUERY_SECRETS] = { CH_OPERATOR, RIGHT_MANAGE, query_secrets },
	[QUERY_APPROVALS] = { CH_OPERATOR, 0, query_approvals },
	[QUERY_APPROVAL] = { CH_OPERATOR, 0, query_approval },
	[QUERY_KEYS] = { CH_OPERATOR, RIGHT_MANAGE, query_keys },
	[QUERY_METRICS] = { CH_OPERATOR, 0, query_metrics },
};

static const struct {
	unsigned	 right;
	const char	*name;
} rights_named[] = {
	{ RIGHT_APPROVE, "approve" },
	{ RIGHT_AUDIT, "audit" },
	{ RIGHT_MANAGE, "manage" },
};

int
query_sees(const struct query *q, uint32_t principal)
{
	return (q->api->plane == PLANE_OPERATOR || WITHOUT(policyd_owner) ||
	    (uint32_t)q->peer->ident->uid == principal);
}

static json_t *
strings_json(const struct strings *strings)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < strings->n; i++)
		json_array_append_new(list, json_text(strings->v[i]));
	return (list);
}

static json_t *
rights_json(unsigned of)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < sizeof(rights_named) / sizeof(rights_named[0]); i++) {
		if ((of & rights_named[i].right) != 0)
			json_array_append_new(list,
			    json_string(rights_named[i].name));
	}
	return (list);
}

static json_t *
owner_json(const struct cf_principal *line)
{
	if (line->owner == OWNER_PEER)
		return (json_string("peer"));
	if (line->owner == OWNER_ANY)
		return (json_string("any"));
	return (json_sprintf("uid:%u", (unsigned)line->ids.uid));
}

static json_t *
query_whoami(const struct query *q, struct refusal *r)
{
	const struct cf_principal *line = q->line;
	json_t *json, *profiles;

	(void)r;
	json = json_pack("{s:s,s:o,s:s}", "who", q->peer->who,
	    "uid", q->peer->key[0] != '\0' ? json_null() :
	    json_integer((json_int_t)q->peer->ids.uid),
	    "plane", q->api->plane == PLANE_AGENT ? "agent" : "operator");
	if (q->api->plane == PLANE_OPERATOR) {
		json_object_set_new(json, "rights", rights_json(q->rights));
		return (json);
	}
	profiles = strings_json(&line->profiles);
	if (json_array_size(profiles) == 0)
		json_array_append_new(profiles, json_string("default"));
	json_object_update_new(json, json_pack(
	    "{s:{s:s,s:o,s:o,s:i},s:o,s:o,s:o,s:o}",
	    "principal", "kind", line->who == WHO_USER ? "user" :
	    line->who == WHO_GROUP ? "group" : "key",
	    "name", json_text(line->name),
	    "file", json_text(line->where.file),
	    "line", (int)line->where.line,
	    "preset", json_text(line->preset), "profiles", profiles,
	    "workspaces", strings_json(&line->workspaces),
	    "owner", owner_json(line)));
	return (json);
}

/* A tool that a preset keeps back is not there. */
json_t *
query_tools_for(const char *own, const char *name, struct refusal *r)
{
	const struct cf_preset *preset, *narrower;
	const struct tool *tool;
	json_t *list;
	size_t i;

	if (!judge_up()) {
		refuse_later(r, 503, "unavailable", 1,
		    "judged is being started; try again");
		return (NULL);
	}
	if ((preset = conf_preset(own)) == NULL) {
		refuse(r, 403, "forbidden", "the preset \"%s\" is no longer "
		    "configured", own);
		return (NULL);
	}
	if ((narrower = *name != '\0' ? conf_preset(name) : preset) == NULL) {
		refuse(r, 403, "forbidden", "there is no preset \"%s\"",
		    name);
		return (NULL);
	}
	list = json_array();
	for (i = 0; (tool = judge_tool_n(i)) != NULL; i++) {
		if (!preset_allows(preset, tool->name, tool->group,
		    tool->effect) || !preset_allows(narrower, tool->name,
		    tool->group, tool->effect))
			continue;
		json_array_append_new(list, json_pack("{s:o,s:s,s:o,s:b}",
		    "name", json_text(tool->name),
		    "effect", effect_name(tool->effect),
		    "marks", marks_json(tool->marks), "asks", tool->asks));
	}
	return (json_pack("{s:o}", "tools", list));
}

static json_t *
query_tools(const struct query *q, struct refusal *r)
{
	return (query_tools_for(q->line->preset, "", r));
}

static json_t *
query_limits(const struct query *q, struct refusal *r)
{
	static const char *const scopes[] = {
		[SCOPE_HOST] = "host",
		[SCOPE_NEURON] = "neuron",
		[SCOPE_CALL] = "call",
	};
	const struct limit_row *row;
	json_t *list = json_array();
	unsigned i;

	(void)q;
	(void)r;
	for (i = 0; i < LIMIT_COUNT; i++) {
		row = &limit_table[i];
		json_array_append_new(list, json_pack(
		    "{s:s,s:I,s:I,s:I,s:I,s:s,s:s,s:s}",
		    "keyword", row->keyword,
		    "value", (json_int_t)conf()->limits.v[i],
		    "default", (json_int_t)row->initial,
		    "min", (json_int_t)row->min, "max", (json_int_t)row->max,
		    "unit", limit_unit_name(row->unit),
		    "scope", scopes[row->scope], "words", row->words));
	}
	return (json_pack("{s:o}", "limits", list));
}

static json_t *
query_health(const struct query *q, struct refusal *r)
{
	(void)q;
	(void)r;
	return (json_pack("{s:s,s:s}", "status", "ok", "version",
	    PACKAGE_VERSION WITHOUT_VERSION));
}

int
operator_may(struct peer *peer, unsigned need, unsigned *rights,
    struct refusal *r)
{
	char words[512];
	unsigned i;
	int known;

	*rights = peer_rights(conf(), &peer->ids, &known);
	if (!known) {
		peer_missing(conf(), PLANE_OPERATOR, &peer->ids, words,
		    sizeof(words));
		return (refuse(r, 403, "forbidden", "%s", words));
	}
	for (i = 0; i < sizeof(rights_named) / sizeof(rights_named[0]); i++) {
		if ((need & ~*rights & rights_named[i].right) != 0 &&
		    !WITHOUT(operator_rights))
			return (refuse(r, 403, "forbidden", "you are uid %u, "
			    "and your operator line does not give the right "
			    "\"%s\"", (unsigned)peer->ids.uid,
			    rights_named[i].name));
	}
	return (0);
}

/* Who asks, looked up anew: the configuration may have changed. */
static int
query_identify(struct query *q, uint64_t handle, unsigned need,
    struct refusal *r)
{
	if ((q->peer = api_peer(q->api, handle, r)) == NULL)
		return (-1);
	if (q->api->plane == PLANE_AGENT)
		return (decide_line(&q->peer->ids, &q->line, r));
	return (operator_may(q->peer, need, &q->rights, r));
}

json_t *
query_ask(struct query *q, unsigned what, uint64_t handle, struct refusal *r)
{
	const struct question *question;

	question = &questions[what];
	if ((question->channels & q->api->kind) == 0 &&
	    !WITHOUT(policyd_planes)) {
		refuse(r, 404, "not_found", "that is not asked on this "
		    "socket");
		return (NULL);
	}
	if (what != QUERY_HEALTH &&
	    query_identify(q, handle, question->rights, r) == -1)
		return (NULL);
	return (question->fn(q, r));
}

static void
query_lines(const struct reply_to *to, struct enc *lines)
{
	struct refusal r;

	enc_u8(lines, 0);
	if (enc_error(lines) == 0) {
		reply_lines(to, (const char *)enc_data(lines),
		    enc_size(lines) - 1);
		return;
	}
	refuse(&r, 503, "unavailable", "the transcript is too large");
	reply_refusal(to, &r);
}

int
query_on_query(void *arg, struct imsg *m)
{
	struct reply_to to;
	struct refusal r;
	struct query q;
	uint64_t handle;
	json_t *json;
	unsigned what;
	int bad, answered = 0;

	memset(&q, 0, sizeof(q));
	q.api = arg;
	q.answered = &answered;
	q.to = to = reply_to(arg, imsg_get_u32(m));
	handle = imsg_get_u64(m);
	what = imsg_get_u8(m);
	q.cursor = imsg_get_u64(m);
	q.most = imsg_get_u32(m);
	if ((q.lines = enc_new(REPLY_LINES_MAX)) == NULL)
		fatal("query");
	bad = get_text(m, q.id, sizeof(q.id));
	if (imsg_end(m) == -1 || what < QUERY_WHOAMI || what > QUERY_LAST) {
		enc_free(q.lines);
		return (-1);
	}
	if (q.most == 0)
		q.most = LIST_DEFAULT;
	if (q.most > LIST_MAX)
		q.most = LIST_MAX;
	if (bad == -1) {
		refuse(&r, 404, "not_found", "there is nothing of that id");
		json = NULL;
	} else
		json = query_ask(&q, what, handle, &r);
	if (answered)
		json = NULL;
	else if (json == NULL && q.lines != NULL && enc_size(q.lines) > 0)
		query_lines(&to, q.lines);
	else if (json == NULL)
		reply_refusal(&to, &r);
	else
		reply_json(&to, 200, json);
	enc_free(q.lines);
	return (0);
}
