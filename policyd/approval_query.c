/* Approvals: what an operator may see of them. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "approval.h"
#include "call.h"
#include "ids.h"
#include "query.h"
#include "verdict.h"

static int	may_look(const struct query *, struct refusal *);
static void	show(const struct query *, struct approval *);

static const char *
scope_name(unsigned scope)
{
	return (scope == ALLOWED_SESSION ? "session" :
	    scope == ALLOWED_ONCE ? "once" : "");
}

static json_t *
left_ms(const struct approval *a)
{
	uint64_t now = now_us();

	if (a == NULL || a->row.state != APPROVAL_PENDING)
		return (json_null());
	return (json_integer(a->deadline > now ?
	    (json_int_t)((a->deadline - now) / 1000) : 0));
}

json_t *
approval_json(const struct approval_row *row, const struct approval *a)
{
	unsigned state = row->state;

	/* its end could not be written */
	if (state == APPROVAL_PENDING && a == NULL)
		state = APPROVAL_CANCELLED;
	return (json_pack("{s:s,s:s,s:o,s:s,s:s,s:o,s:o,s:o,s:s,s:o,s:o,s:o,"
	    "s:o,s:o,s:I,s:I,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:I,s:b,s:b,"
	    "s:b,s:b}",
	    "approval", row->id, "call", row->call,
	    "session", json_text_or_null(row->session),
	    "neuron", row->neuron, "principal", row->principal,
	    "tool", json_text(row->tool),
	    "workspace", json_text_or_null(row->workspace),
	    "class", json_text_or_null(row->class),
	    "effect", effect_name(row->effect),
	    "marks", marks_json(row->marks),
	    "rule", json_text_or_null(row->rule),
	    "where", json_text_or_null(row->where),
	    "reason", json_text_or_null(row->reason),
	    "command", json_text_or_null(row->command),
	    "from", (json_int_t)row->from, "to", (json_int_t)row->to,
	    "state", approval_state_name(state),
	    "scope", json_text_or_null(scope_name(row->scope)),
	    "decided_by", json_text_or_null(row->decided_by),
	    "decision_reason", json_text_or_null(row->decision_reason),
	    "created", json_when(row->created),
	    "decided", json_when(row->decided),
	    "expires_in_ms", left_ms(a),
	    "digest", row->digest, "bytes", (json_int_t)row->bytes,
	    "long", row->bytes > APPROVAL_LONG,
	    "rememberable", (int)row->rememberable,
	    "remembered", (int)row->remembered,
	    "revoked", (int)row->revoked));
}

/* Either right: to decide, or to look at what was decided. */
static int
may_look(const struct query *q, struct refusal *r)
{
	if ((q->rights & (RIGHT_APPROVE | RIGHT_AUDIT)) != 0)
		return (0);
	return (refuse(r, 403, "forbidden", "you are uid %u, and your "
	    "operator line gives neither the right \"approve\" nor "
	    "\"audit\"", (unsigned)q->peer->ids.uid));
}

/* ---- lists ---- */

static const struct {
	const char	*name;
	enum store_list	 which;
} lists[] = {
	{ "", LIST_PENDING },
	{ "pending", LIST_PENDING },
	{ "decided", LIST_DECIDED },
	{ "remembered", LIST_REMEMBERED },
	{ "all", LIST_ALL },
};

struct page {
	enum store_list	 which;
	json_t		*list;
	uint64_t	 last;
};

static int
add(void *arg, const struct approval_row *row)
{
	const struct approval *a = approval_find(row->id);
	struct page *page = arg;

	page->last = row->serial;
	if (page->which != LIST_PENDING || a != NULL)
		json_array_append_new(page->list, approval_json(row, a));
	return (0);
}

json_t *
query_approvals(const struct query *q, struct refusal *r)
{
	struct page page = { .last = 0 };
	json_t *next = json_null();
	size_t i, n = sizeof(lists) / sizeof(lists[0]);

	if (may_look(q, r) == -1)
		return (NULL);
	for (i = 0; i < n && strcmp(lists[i].name, q->id) != 0; i++)
		continue;
	if (i == n) {
		refuse(r, 400, "bad_request", "state is pending, decided, "
		    "remembered or all");
		return (NULL);
	}
	page.which = lists[i].which;
	page.list = json_array();
	if (store_approvals(page.which, q->cursor != 0 ? q->cursor :
	    UINT64_MAX, q->most, add, &page) == -1) {
		json_decref(page.list);
		refuse_later(r, 503, "unavailable", 5,
		    "the store can not be read");
		return (NULL);
	}
	if (json_array_size(page.list) >= q->most && page.last > 1)
		next = json_integer((json_int_t)page.last);
	return (json_pack("{s:o,s:o}", "approvals", page.list, "next", next));
}

/* ---- one ---- */

static int
one(void *arg, const struct approval_row *row)
{
	*(json_t **)arg = approval_json(row, approval_find(row->id));
	return (1);
}

/* Whoever may decide has it all now, and so may allow what is long. */
static void
seen(struct approval *a, const struct query *q)
{
	unsigned i;

	if ((q->rights & RIGHT_APPROVE) == 0)
		return;
	for (i = 0; i < a->nseen; i++) {
		if (a->seen[i] == q->peer->ids.uid)
			return;
	}
	a->seen[a->nseen < APPROVAL_SEEN ? a->nseen++ : 0] =
	    q->peer->ids.uid;
}

/*
 * The call as it came, with what judged wrote about it; only those who decide
 * are shown what would be taken out of a log.  0, or -1: no fds are left.
 */
static int
send_shown(const struct query *q, const struct approval *a, const char *text)
{
	static const struct {
		int	 which;
		unsigned flag;
	} parts[] = {
		{ CALL_ARGS, 0 },
		{ CALL_EXPLANATION, SHOWN_F_EXPLANATION },
		{ CALL_INPUT, SHOWN_F_INPUT },
	};
	unsigned flags = SHOWN_F_JSON, i, n = 0;
	int fds[MSG_MAX_FDS], fd;
	struct imsg *m;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if ((fd = a->call->fds[parts[i].which]) == -1)
			continue;
		if ((fds[n] = fcntl(fd, F_DUPFD_CLOEXEC, 3)) == -1)
			goto fail;
		n++;
		flags |= parts[i].flag;
	}
	if ((fds[n] = memfd_sealed("approval", text, strlen(text))) == -1)
		goto fail;
	n++;
	if ((q->rights & RIGHT_APPROVE) == 0)
		flags |= SHOWN_F_CLEAN;
	if ((m = imsg_new(MSG_APPROVAL_SHOWN)) == NULL)
		fatal("approval");
	imsg_put_u32(m, q->to.request);
	imsg_put_u8(m, (uint8_t)flags);
	imsg_put_str(m, "");
	for (i = 0; i < n; i++)
		imsg_put_fd(m, fds[i]);
	(void)channel_send(q->api->channel, m);
	return (0);
fail:
	while (n > 0)
		close(fds[--n]);
	return (-1);
}

static void
show(const struct query *q, struct approval *a)
{
	json_t *json = approval_json(&a->row, a);
	struct refusal r;
	char *text;
	int sent;

	if (json == NULL || (text = json_dumps(json, JSON_COMPACT)) == NULL)
		fatalx("an answer can not be made");
	json_decref(json);
	*q->answered = 1;
	sent = send_shown(q, a, text);
	free(text);
	if (sent == 0) {
		seen(a, q);
		return;
	}
	refuse_later(&r, 503, "unavailable", 1,
	    "no descriptors are left to show it by");
	reply_refusal(&q->to, &r);
}

json_t *
query_approval(const struct query *q, struct refusal *r)
{
	struct approval *a;
	json_t *json = NULL;

	if (may_look(q, r) == -1)
		return (NULL);
	a = id_ok(ID_APPROVAL, q->id) ? approval_find(q->id) : NULL;
	if (a != NULL && a->call != NULL && a->row.state == APPROVAL_PENDING) {
		show(q, a);
		return (NULL);
	}
	if (id_ok(ID_APPROVAL, q->id))
		(void)store_approval(q->id, one, &json);
	if (json == NULL)
		refuse(r, 404, "not_found", "there is no approval \"%s\"",
		    q->id);
	return (json);
}

/* ---- status ---- */

json_t *
approvals_status(void)
{
	const struct approval *a, *oldest = NULL;
	unsigned n = 0;

	TAILQ_FOREACH(a, approvals_all(), entry) {
		if (a->row.state != APPROVAL_PENDING)
			continue;
		n++;
		if (oldest == NULL)
			oldest = a;	/* they come in at the tail */
	}
	if (oldest == NULL)
		return (json_pack("{s:i,s:n}", "pending", 0, "oldest_s"));
	return (json_pack("{s:i,s:I}", "pending", (int)n, "oldest_s",
	    (json_int_t)((now_us() - oldest->since) / 1000000)));
}
