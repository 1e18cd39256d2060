/* The database: reading. */

#include <stdlib.h>
#include <string.h>

#include "slice.h"
#include "store.h"
#include "store_stmt.h"

#define STARTS_MOST	2000000	/* calls looked at for the sliding hours */

const char *
call_state_name(enum call_state state)
{
	static const char *const names[] = {
		[CALL_QUEUED] = "queued",
		[CALL_AWAITING] = "awaiting_approval",
		[CALL_RUNNING] = "running",
		[CALL_COMPLETED] = "completed",
		[CALL_FAILED] = "failed",
		[CALL_CANCELLED] = "cancelled",
	};

	if (state < CALL_QUEUED || state > CALL_CANCELLED)
		return ("?");
	return (names[state]);
}

void
store_call_columns(sqlite3_stmt *stmt, struct call_row *row)
{
	row->serial = get_u64_column(stmt, 0);
	get_text_column(stmt, 1, row->id, sizeof(row->id));
	row->principal = (uint32_t)get_u64_column(stmt, 2);
	get_text_column(stmt, 3, row->session, sizeof(row->session));
	get_text_column(stmt, 4, row->neuron, sizeof(row->neuron));
	get_text_column(stmt, 5, row->tool, sizeof(row->tool));
	row->state = (enum call_state)sqlite3_column_int(stmt, 6);
	get_text_column(stmt, 7, row->reason, sizeof(row->reason));
	row->exit_code = sqlite3_column_int(stmt, 8);
	row->signal = sqlite3_column_int(stmt, 9);
	row->asked = get_u64_column(stmt, 10);
	row->ended = get_u64_column(stmt, 11);
	row->run_us = get_u64_column(stmt, 12);
}

/* Workspace and rules are valid until the next step alone. */
static void
session_read(sqlite3_stmt *stmt, struct session_row *row, char *workspace,
    char *rules)
{
	row->serial = get_u64_column(stmt, 0);
	get_text_column(stmt, 1, row->id, sizeof(row->id));
	row->principal = (uint32_t)get_u64_column(stmt, 2);
	get_text_column(stmt, 3, row->neuron, sizeof(row->neuron));
	get_text_column(stmt, 4, row->profile, sizeof(row->profile));
	get_text_column(stmt, 5, row->preset, sizeof(row->preset));
	get_text_column(stmt, 6, workspace, PATH_BYTES_MAX);
	row->workspace = workspace;
	get_text_column(stmt, 7, row->reason, sizeof(row->reason));
	row->created = get_u64_column(stmt, 8);
	row->expires = get_u64_column(stmt, 9);
	row->ended = get_u64_column(stmt, 10);
	row->calls = get_u64_column(stmt, 11);
	row->calls_limit = get_u64_column(stmt, 12);
	row->first_call = get_u64_column(stmt, 13);
	row->last_call = get_u64_column(stmt, 14);
	get_text_column(stmt, 15, rules, RULES_JSON_MAX + 1);
	row->rules = rules;
}

static int
each_call(sqlite3_stmt *stmt, store_call_fn *fn, void *arg)
{
	struct call_row row;
	int r;

	while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		store_call_columns(stmt, &row);
		if (fn(arg, &row) != 0) {
			r = SQLITE_DONE;
			break;
		}
	}
	sqlite3_reset(stmt);
	return (r == SQLITE_DONE ? 0 : -1);
}

static int
each_session(sqlite3_stmt *stmt, store_session_fn *fn, void *arg)
{
	char workspace[PATH_BYTES_MAX], rules[RULES_JSON_MAX + 1];
	struct session_row row;
	int r;

	while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		session_read(stmt, &row, workspace, rules);
		if (fn(arg, &row) != 0) {
			r = SQLITE_DONE;
			break;
		}
	}
	sqlite3_reset(stmt);
	return (r == SQLITE_DONE ? 0 : -1);
}

static sqlite3_stmt *
range_bind(const struct store_range *range, enum store_stmt all,
    enum store_stmt one)
{
	sqlite3_stmt *stmt = store_ask(range->any ? all : one);

	put_u64(stmt, 1, range->from);
	put_u64(stmt, 2, range->before);
	put_text(stmt, 3, range->session);
	put_u64(stmt, 4, range->most);
	if (!range->any)
		put_u64(stmt, 5, range->principal);
	return (stmt);
}

int
store_calls(const struct store_range *range, store_call_fn *fn, void *arg)
{
	return (each_call(range_bind(range, STMT_CALLS, STMT_CALLS_OF), fn,
	    arg));
}

int
store_calls_after(const char *session, uint64_t after, uint64_t last,
    unsigned most, store_call_fn *fn, void *arg)
{
	sqlite3_stmt *stmt = store_ask(STMT_CALLS_AFTER);

	put_u64(stmt, 1, after);
	put_u64(stmt, 2, last);
	put_text(stmt, 3, session);
	put_u64(stmt, 4, most);
	return (each_call(stmt, fn, arg));
}

int
store_sessions(const struct store_range *range, store_session_fn *fn,
    void *arg)
{
	return (each_session(range_bind(range, STMT_SESSIONS,
	    STMT_SESSIONS_OF), fn, arg));
}

int
store_call(const char *id, store_call_fn *fn, void *arg)
{
	sqlite3_stmt *stmt = store_ask(STMT_CALL);

	put_text(stmt, 1, id);
	return (each_call(stmt, fn, arg));
}

int
store_session(const char *id, store_session_fn *fn, void *arg)
{
	sqlite3_stmt *stmt = store_use(STMT_SESSION);

	put_text(stmt, 1, id);
	return (each_session(stmt, fn, arg));
}

int
store_live_calls(uint64_t from, store_call_fn *fn, void *arg)
{
	sqlite3_stmt *stmt = store_ask(STMT_CALLS_LIVE);

	put_u64(stmt, 1, from);
	return (each_call(stmt, fn, arg));
}

int
store_live_sessions(store_session_fn *fn, void *arg)
{
	return (each_session(store_use(STMT_SESSIONS_LIVE), fn, arg));
}

static int
each_start(sqlite3_stmt *stmt, void (*fn)(void *, uint32_t, uint64_t,
    uint32_t), void *arg)
{
	int r;

	while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
		fn(arg, (uint32_t)get_u64_column(stmt, 0),
		    get_u64_column(stmt, 1), (uint32_t)get_u64_column(stmt, 2));
	sqlite3_reset(stmt);
	return (r == SQLITE_DONE ? 0 : -1);
}

int
store_starts(uint64_t since, void (*fn)(void *, uint32_t, uint64_t, uint32_t),
    void *arg)
{
	sqlite3_stmt *stmt = store_ask(STMT_CALL_STARTS);

	put_u64(stmt, 1, since * 1000000);
	put_u64(stmt, 2, STARTS_MOST);
	if (each_start(stmt, fn, arg) == -1)
		return (-1);
	stmt = store_use(STMT_SESSION_STARTS);
	put_u64(stmt, 1, since * 1000000);
	return (each_start(stmt, fn, arg));
}

int
store_secrets(int (*fn)(void *, const struct secret_row *), void *arg)
{
	sqlite3_stmt *stmt = store_use(STMT_SECRETS);
	struct secret_row row;
	int r;

	while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		memset(&row, 0, sizeof(row));
		get_text_column(stmt, 0, row.name, sizeof(row.name));
		row.length = (size_t)get_u64_column(stmt, 1);
		row.registered = get_u64_column(stmt, 2);
		get_text_column(stmt, 3, row.key, sizeof(row.key));
		if (sqlite3_column_bytes(stmt, 4) == sizeof(row.nonce))
			memcpy(row.nonce, sqlite3_column_blob(stmt, 4),
			    sizeof(row.nonce));
		row.sealed = sqlite3_column_blob(stmt, 5);
		row.sealed_size = (size_t)sqlite3_column_bytes(stmt, 5);
		if (fn(arg, &row) == -1)
			break;
	}
	sqlite3_reset(stmt);
	return (r == SQLITE_DONE ? 0 : -1);
}
