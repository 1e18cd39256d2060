/* What the process before left behind. */

#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "budget.h"
#include "call.h"
#include "home.h"
#include "keys.h"
#include "recover.h"
#include "without.h"

/* ---- calls after the mark ---- */

struct rows {
	struct call_row	*v;
	size_t		 n;
};

static struct rows asked, ended;

static struct call_row *
rows_add(struct rows *rows, const struct call_row *row)
{
	rows->v = reallocarray(rows->v, rows->n + 1, sizeof(*rows->v));
	if (rows->v == NULL)
		fatal("recovery");
	rows->v[rows->n] = *row;
	return (&rows->v[rows->n++]);
}

/* The last ones are looked for most. */
static struct call_row *
rows_find(struct rows *rows, const char *id)
{
	size_t i;

	for (i = rows->n; i > 0; i--)
		if (strcmp(rows->v[i - 1].id, id) == 0)
			return (&rows->v[i - 1]);
	return (NULL);
}

static void
rows_free(struct rows *rows)
{
	free(rows->v);
	rows->v = NULL;
	rows->n = 0;
}

static const char *
text_of(const json_t *record, const char *key)
{
	const char *text = json_string_value(json_object_get(record, key));

	return (text != NULL ? text : "");
}

static int
take_row(void *arg, const struct call_row *row)
{
	*(struct call_row *)arg = *row;
	return (1);
}

/* serial 0: the database does not know it. */
static int
row_of(const char *id, struct call_row *row)
{
	memset(row, 0, sizeof(*row));
	return (store_call(id, take_row, row));
}

/* A call that the database may not have. */
static int
was_asked(const json_t *record)
{
	const char *id = text_of(record, "call");
	const char *tool = text_of(record, "tool");
	const char *session = text_of(record, "session");
	const char *neuron = text_of(record, "neuron");
	struct call_row row;

	/* a dry run has no neuron, and is no call */
	if (!id_ok(ID_CALL, id) || !id_ok(ID_NEURON, neuron) ||
	    strlen(tool) >= sizeof(row.tool) ||
	    (*session != '\0' && !id_ok(ID_SESSION, session)))
		return (0);
	if (row_of(id, &row) == -1)
		return (-1);
	if (row.serial != 0)
		return (0);
	if (principal_number(text_of(record, "principal"), &row.principal) ==
	    -1)
		return (0);
	strlcpy(row.id, id, sizeof(row.id));
	strlcpy(row.tool, tool, sizeof(row.tool));
	strlcpy(row.session, session, sizeof(row.session));
	strlcpy(row.neuron, neuron, sizeof(row.neuron));
	row.asked = time_of(text_of(record, "time"));
	row.state = CALL_QUEUED;
	row.exit_code = -1;
	(void)rows_add(&asked, &row);
	return (0);
}

static enum call_state
state_of(const char *name)
{
	enum call_state state;

	for (state = CALL_COMPLETED; state <= CALL_CANCELLED; state++)
		if (strcmp(name, call_state_name(state)) == 0)
			return (state);
	return (CALL_FAILED);
}

static int
has_ended(const json_t *record)
{
	const json_t *code = json_object_get(record, "exit_code");
	struct call_row *known, row;

	if ((known = rows_find(&asked, text_of(record, "call"))) != NULL)
		row = *known;
	else if (row_of(text_of(record, "call"), &row) == -1)
		return (-1);
	else if (row.serial == 0)
		return (0);
	row.state = state_of(text_of(record, "state"));
	row.ended = time_of(text_of(record, "time"));
	strlcpy(row.reason, text_of(record, "reason"), sizeof(row.reason));
	row.signal = signal_number(text_of(record, "signal"));
	if (json_is_integer(code))
		row.exit_code = (int32_t)json_integer_value(code);
	if (known != NULL)
		*known = row;
	else
		(void)rows_add(&ended, &row);
	return (0);
}

/* It was refused when it had its record: there is no such call. */
static int
was_refused(const json_t *record)
{
	struct call_row *row = rows_find(&asked, text_of(record, "call"));

	if (row != NULL)
		row->id[0] = '\0';
	return (0);
}

static const struct {
	const char	*event;
	int		(*fn)(const json_t *);
} events[] = {
	{ "call.asked",		was_asked },
	{ "call.finished",	has_ended },
	{ "call.refused",	was_refused },
};

static int
on_record(void *arg, const char *line, size_t len)
{
	json_t *record;
	size_t i;
	int r = 0;

	(void)arg;
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (!audit_line_is(line, events[i].event))
			continue;
		/* its hash was right: it is one of ours */
		if ((record = json_loadb(line, len, 0, NULL)) == NULL)
			return (0);
		r = events[i].fn(record);
		json_decref(record);
	}
	return (r);
}

/* They get the serials that they had: those rise with the records. */
static int
add_asked(void)
{
	struct call_row *row;
	size_t i, n = 0;

	for (i = 0; i < asked.n; i++) {
		row = &asked.v[i];
		row->serial = store_next_call();
		if (row->id[0] == '\0')
			continue;
		if (store_call_add(row) == -1)
			return (-1);
		if (row->ended != 0)
			(void)rows_add(&ended, row);
		n++;
	}
	if (n > 0)
		log_info("state.db: %zu calls are taken from the audit log",
		    n);
	return (0);
}

static int
after_mark(const struct audit_mark *mark)
{
	size_t i;
	int r;

	recover_done();
	/* without a mark there never was a call */
	if (mark->sequence == 0 || WITHOUT(recover_calls))
		return (0);
	r = audit_since(mark, on_record, NULL);
	for (i = 0; i < ended.n; i++)
		store_call_end(&ended.v[i]);
	if (r == 0)
		r = add_asked();
	rows_free(&asked);
	if (r == -1)
		log_warnx("state.db: calls after the mark can not be "
		    "recovered");
	return (r);
}

const struct call_row *
recover_ended(const char *id)
{
	return (rows_find(&ended, id));
}

void
recover_done(void)
{
	rows_free(&asked);
	rows_free(&ended);
}

/* ---- what is live ---- */

struct left {
	struct rows	 calls;
	struct session_row *sessions;
	size_t		 nsessions;
};

static int
left_call(void *arg, const struct call_row *row)
{
	struct left *left = arg;

	(void)rows_add(&left->calls, row);
	return (0);
}

static int
left_session(void *arg, const struct session_row *row)
{
	struct left *left = arg;

	left->sessions = reallocarray(left->sessions, left->nsessions + 1,
	    sizeof(*left->sessions));
	if (left->sessions == NULL)
		fatal("recovery");
	left->sessions[left->nsessions] = *row;
	left->sessions[left->nsessions++].workspace = NULL;
	return (0);
}

static void
mend_call(struct call_row *call)
{
	call->state = CALL_FAILED;
	call->ended = wall_us();
	strlcpy(call->reason, "interrupted", sizeof(call->reason));
	audit_append("call.finished", json_pack("{s:s,s:s,s:s,s:n,s:n}",
	    "call", call->id, "state", "failed", "reason", "interrupted",
	    "exit_code", "signal"));
	store_call_end(call);
}

/* neurond has killed them all when policyd went; here it is written down. */
static int
mend(const struct left *left)
{
	struct session_row *session;
	size_t i;

	for (i = 0; i < left->calls.n; i++)
		mend_call(&left->calls.v[i]);
	for (i = 0; i < left->nsessions; i++) {
		session = &left->sessions[i];
		session->ended = wall_us();
		session->last_call = store_last_call();
		strlcpy(session->reason, "interrupted",
		    sizeof(session->reason));
		audit_append("session.ended", json_pack("{s:s,s:s}",
		    "session", session->id, "reason", "interrupted"));
		if (store_session_end(session) == -1)
			return (-1);
		home_was_used(session->neuron);
	}
	if (left->calls.n + left->nsessions > 0)
		log_info("%zu calls and %zu sessions were interrupted",
		    left->calls.n, left->nsessions);
	return (0);
}

static void
spent(void *arg, uint32_t principal, uint64_t second, uint32_t count)
{
	struct ident *ident;

	(void)arg;
	if ((ident = ident_get((uid_t)principal)) == NULL ||
	    ident_spend(ident, second, count) == -1)
		fatal("recovery");
	ident_put(ident);
}

int
recover(const struct audit_mark *mark, uint64_t live_from)
{
	struct left left = { .nsessions = 0 };
	int r = -1;

	if (after_mark(mark) == -1)
		return (-1);
	if (store_live_calls(live_from, left_call, &left) == -1 ||
	    store_live_sessions(left_session, &left) == -1)
		log_warnx("state.db: live calls and sessions can not be read");
	else
		r = mend(&left);
	rows_free(&left.calls);
	free(left.sessions);
	if (r == -1)
		return (-1);
	return (store_starts(wall_seconds() - HOUR_SECONDS, spent, NULL));
}
