/* Dry runs of calls: asked, judged, answered. */

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "call_list.h"
#include "dry.h"
#include "session.h"
#include "sync.h"
#include "verdict.h"

static int
dry_admit(struct call *c, struct refusal *r)
{
	uint64_t host = conf_limit(LIMIT_RUNNING_HOST);
	uint64_t most = conf_limit(LIMIT_DRY_RUNS);
	uint32_t wait;

	if (sync_full())
		return (refuse_later(r, 503, "unavailable", 5,
		    "store_full: Myelin's disk is full, and what can not be "
		    "recorded is not judged"));
	if (!judge_up())
		return (refuse_later(r, 503, "unavailable", 1,
		    "judged is being started; try again"));
	if (call_count() > host)
		return (refuse_later(r, 429, "too_many", 1, "the limit "
		    "running-calls-host is %llu, and as many run",
		    (unsigned long long)host));
	if ((wait = ident_dry(c->ident, most)) > 0)
		return (refuse_later(r, 429, "too_many", wait, "the limit "
		    "dry-runs is %llu a minute, and all are used",
		    (unsigned long long)most));
	return (0);
}

static const char *
dry_profile(const struct call *c)
{
	return (c->session != NULL ? c->session->build.profile :
	    c->build->profile);
}

/* Its record: a dry run that is not in the log does not happen either. */
static int
dry_record(struct call *c)
{
	audit_append_for(&c->to, "call.asked", json_pack(
	    "{s:s,s:o,s:n,s:s,s:o,s:s,s:o,s:b,s:b}",
	    "call", c->row.id, "session", json_text_or_null(c->row.session),
	    "neuron", "principal", c->who, "tool", json_text(c->row.tool),
	    "arguments_sha256", c->digest,
	    "arguments", json_text_or_null(c->shown),
	    "arguments_cut", c->shown_cut, "dry_run", 1));
	sync_soon();
	if (audit_flush() == 0)
		return (0);
	sync_failed();
	return (-1);
}

void
dry_ask(struct call *c)
{
	struct refusal r;

	if (dry_admit(c, &r) == -1) {
		call_refuse(c, &r);
		return;
	}
	if (id_make(ID_CALL, c->row.id) == -1)
		fatal("dry run");
	c->row.asked = wall_us();
	if (c->session != NULL)
		strlcpy(c->row.session, c->session->row.id,
		    sizeof(c->row.session));
	strlcpy(c->profile, dry_profile(c), sizeof(c->profile));
	call_list_begin(c);
	c->t_judge = now_us();
	if (call_digest(c) == -1)
		refuse(&r, 400, "bad_request", "the arguments are over %u "
		    "bytes", ARGUMENTS_MAX);
	else if (judge_ask(c) == -1)
		refuse_later(&r, 503, "unavailable", 1,
		    "judged is being started; try again");
	else if (dry_record(c) == -1)
		refuse_later(&r, 503, "unavailable", 5, "store_full: the dry "
		    "run can not be recorded");
	else
		return;
	call_refuse(c, &r);
}

static void
dry_text(struct text *t, const struct call *c)
{
	text_open(t, NULL);
	text_null(t, "call");
	text_bool(t, "dry_run", 1);
	text_word_or_null(t, "session", c->row.session);
	text_string(t, "principal", c->who);
	text_string(t, "tool", c->row.tool);
	text_word(t, "arguments_sha256", c->digest);
	text_string_or_null(t, "preset", c->preset);
	text_string_or_null(t, "profile", c->profile);
	verdict_text(t, &c->judged);
	text_close(t);
}

void
dry_judged(struct call *c)
{
	struct refusal r;
	struct text t = { .len = 0 };
	struct imsg *m;

	verdict_record(c, &c->judged, 0);
	sync_soon();
	if (audit_flush() == -1) {
		sync_failed();
		refuse_later(&r, 503, "unavailable", 5, "store_full: the "
		    "verdict can not be recorded");
		call_refuse(c, &r);
		return;
	}
	if (!reply_possible(&c->to)) {
		call_free(c);
		return;
	}
	if ((m = imsg_new(MSG_DRY_JUDGED)) == NULL)
		fatal("dry run");
	dry_text(&t, c);
	imsg_put_u32(m, c->to.request);
	imsg_put_str(m, t.p);
	text_free(&t);
	if (c->fds[CALL_EXPLANATION] != -1) {
		imsg_put_fd(m, c->fds[CALL_EXPLANATION]);
		c->fds[CALL_EXPLANATION] = -1;
	}
	channel_send(c->to.api->channel, m);
	call_free(c);
}

void
dry_over(struct call *c, const char *words)
{
	struct refusal r;

	refuse_later(&r, 503, "unavailable", 1, "the dry run was ended "
	    "before its verdict: %s", words != NULL ? words : "interrupted");
	call_refuse(c, &r);
}
