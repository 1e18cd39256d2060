/* The database: approvals. */

#include <string.h>

#include "store.h"
#include "store_stmt.h"

static void
next_text(sqlite3_stmt *stmt, int *i, const char *text)
{
	sqlite3_bind_text(stmt, (*i)++, text, -1, SQLITE_STATIC);
}

static void
put_number(sqlite3_stmt *stmt, int *i, uint64_t n)
{
	sqlite3_bind_int64(stmt, (*i)++, n > INT64_MAX ? INT64_MAX :
	    (sqlite3_int64)n);
}

static void
read_text(sqlite3_stmt *stmt, int *i, char *dst, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(stmt, (*i)++);

	strlcpy(dst, text != NULL ? text : "", size);
}

static uint64_t
read_number(sqlite3_stmt *stmt, int *i)
{
	return ((uint64_t)sqlite3_column_int64(stmt, (*i)++));
}

int
store_approval_add(const struct approval_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_APPROVAL_ADD);
	int i = 1;

	put_number(stmt, &i, row->serial);
	next_text(stmt, &i, row->id);
	next_text(stmt, &i, row->call);
	next_text(stmt, &i, row->session);
	next_text(stmt, &i, row->neuron);
	next_text(stmt, &i, row->principal);
	next_text(stmt, &i, row->tool);
	next_text(stmt, &i, row->workspace);
	next_text(stmt, &i, row->class);
	put_number(stmt, &i, row->effect);
	put_number(stmt, &i, row->marks);
	next_text(stmt, &i, row->rule);
	next_text(stmt, &i, row->where);
	next_text(stmt, &i, row->reason);
	next_text(stmt, &i, row->command);
	put_number(stmt, &i, row->from);
	put_number(stmt, &i, row->to);
	put_number(stmt, &i, row->state);
	put_number(stmt, &i, row->scope);
	next_text(stmt, &i, row->decided_by);
	next_text(stmt, &i, row->decision_reason);
	put_number(stmt, &i, row->created);
	put_number(stmt, &i, row->decided);
	next_text(stmt, &i, row->digest);
	put_number(stmt, &i, row->bytes);
	put_number(stmt, &i, row->rememberable);
	put_number(stmt, &i, row->remembered);
	put_number(stmt, &i, row->revoked);
	return (store_run(stmt));
}

int
store_approval_set(const struct approval_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_APPROVAL_SET);
	int i = 1;

	put_number(stmt, &i, row->serial);
	put_number(stmt, &i, row->state);
	put_number(stmt, &i, row->scope);
	next_text(stmt, &i, row->decided_by);
	next_text(stmt, &i, row->decision_reason);
	put_number(stmt, &i, row->decided);
	put_number(stmt, &i, row->remembered);
	put_number(stmt, &i, row->revoked);
	return (store_run(stmt));
}

static void
row_read(sqlite3_stmt *stmt, struct approval_row *row)
{
	int i = 0;

	memset(row, 0, sizeof(*row));
	row->serial = read_number(stmt, &i);
	read_text(stmt, &i, row->id, sizeof(row->id));
	read_text(stmt, &i, row->call, sizeof(row->call));
	read_text(stmt, &i, row->session, sizeof(row->session));
	read_text(stmt, &i, row->neuron, sizeof(row->neuron));
	read_text(stmt, &i, row->principal, sizeof(row->principal));
	read_text(stmt, &i, row->tool, sizeof(row->tool));
	read_text(stmt, &i, row->workspace, sizeof(row->workspace));
	read_text(stmt, &i, row->class, sizeof(row->class));
	row->effect = (unsigned)read_number(stmt, &i);
	row->marks = (uint32_t)read_number(stmt, &i);
	read_text(stmt, &i, row->rule, sizeof(row->rule));
	read_text(stmt, &i, row->where, sizeof(row->where));
	read_text(stmt, &i, row->reason, sizeof(row->reason));
	read_text(stmt, &i, row->command, sizeof(row->command));
	row->from = (uint32_t)read_number(stmt, &i);
	row->to = (uint32_t)read_number(stmt, &i);
	row->state = (unsigned)read_number(stmt, &i);
	row->scope = (unsigned)read_number(stmt, &i);
	read_text(stmt, &i, row->decided_by, sizeof(row->decided_by));
	read_text(stmt, &i, row->decision_reason,
	    sizeof(row->decision_reason));
	row->created = read_number(stmt, &i);
	row->decided = read_number(stmt, &i);
	read_text(stmt, &i, row->digest, sizeof(row->digest));
	row->bytes = read_number(stmt, &i);
	row->rememberable = (unsigned)read_number(stmt, &i);
	row->remembered = (unsigned)read_number(stmt, &i);
	row->revoked = (unsigned)read_number(stmt, &i);
}

static int
each(sqlite3_stmt *stmt, store_approval_fn *fn, void *arg)
{
	struct approval_row row;
	int r;

	while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		row_read(stmt, &row);
		if (fn(arg, &row) != 0) {
			r = SQLITE_DONE;
			break;
		}
	}
	sqlite3_reset(stmt);
	return (r == SQLITE_DONE ? 0 : -1);
}

int
store_approval(const char *id, store_approval_fn *fn, void *arg)
{
	sqlite3_stmt *stmt = store_use(STMT_APPROVAL);
	int i = 1;

	next_text(stmt, &i, id);
	return (each(stmt, fn, arg));
}

int
store_approvals(enum store_list which, uint64_t before, unsigned most,
    store_approval_fn *fn, void *arg)
{
	sqlite3_stmt *stmt = store_use(STMT_APPROVALS);
	int i = 1;

	put_number(stmt, &i, before);
	put_number(stmt, &i, which);
	put_number(stmt, &i, most);
	return (each(stmt, fn, arg));
}

int
store_approvals_forget(const char *session)
{
	sqlite3_stmt *stmt = store_use(STMT_APPROVALS_FORGET);
	int i = 1;

	next_text(stmt, &i, session);
	return (store_run(stmt));
}
