/* The database: approvals. */

#include <string.h>

#include "store.h"
#include "store_stmt.h"

int
store_approval_add(const struct approval_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_APPROVAL_ADD);

	put_u64(stmt, 1, row->serial);
	put_text(stmt, 2, row->id);
	put_text(stmt, 3, row->call);
	put_text(stmt, 4, row->session);
	put_text(stmt, 5, row->neuron);
	put_text(stmt, 6, row->principal);
	put_text(stmt, 7, row->tool);
	put_text(stmt, 8, row->workspace);
	put_text(stmt, 9, row->class);
	put_u64(stmt, 10, row->effect);
	put_u64(stmt, 11, row->marks);
	put_text(stmt, 12, row->rule);
	put_text(stmt, 13, row->where);
	put_text(stmt, 14, row->reason);
	put_text(stmt, 15, row->command);
	put_u64(stmt, 16, row->from);
	put_u64(stmt, 17, row->to);
	put_u64(stmt, 18, row->state);
	put_u64(stmt, 19, row->scope);
	put_text(stmt, 20, row->decided_by);
	put_text(stmt, 21, row->decision_reason);
	put_u64(stmt, 22, row->created);
	put_u64(stmt, 23, row->decided);
	put_text(stmt, 24, row->digest);
	put_u64(stmt, 25, row->bytes);
	put_u64(stmt, 26, row->rememberable);
	put_u64(stmt, 27, row->remembered);
	put_u64(stmt, 28, row->revoked);
	return (store_run(stmt));
}

int
store_approval_set(const struct approval_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_APPROVAL_SET);

	put_u64(stmt, 1, row->serial);
	put_u64(stmt, 2, row->state);
	put_u64(stmt, 3, row->scope);
	put_text(stmt, 4, row->decided_by);
	put_text(stmt, 5, row->decision_reason);
	put_u64(stmt, 6, row->decided);
	put_u64(stmt, 7, row->remembered);
	put_u64(stmt, 8, row->revoked);
	return (store_run(stmt));
}

static void
row_read(sqlite3_stmt *stmt, struct approval_row *row)
{
	memset(row, 0, sizeof(*row));
	row->serial = get_u64_column(stmt, 0);
	get_text_column(stmt, 1, row->id, sizeof(row->id));
	get_text_column(stmt, 2, row->call, sizeof(row->call));
	get_text_column(stmt, 3, row->session, sizeof(row->session));
	get_text_column(stmt, 4, row->neuron, sizeof(row->neuron));
	get_text_column(stmt, 5, row->principal, sizeof(row->principal));
	get_text_column(stmt, 6, row->tool, sizeof(row->tool));
	get_text_column(stmt, 7, row->workspace, sizeof(row->workspace));
	get_text_column(stmt, 8, row->class, sizeof(row->class));
	row->effect = (unsigned)get_u64_column(stmt, 9);
	row->marks = (uint32_t)get_u64_column(stmt, 10);
	get_text_column(stmt, 11, row->rule, sizeof(row->rule));
	get_text_column(stmt, 12, row->where, sizeof(row->where));
	get_text_column(stmt, 13, row->reason, sizeof(row->reason));
	get_text_column(stmt, 14, row->command, sizeof(row->command));
	row->from = (uint32_t)get_u64_column(stmt, 15);
	row->to = (uint32_t)get_u64_column(stmt, 16);
	row->state = (unsigned)get_u64_column(stmt, 17);
	row->scope = (unsigned)get_u64_column(stmt, 18);
	get_text_column(stmt, 19, row->decided_by, sizeof(row->decided_by));
	get_text_column(stmt, 20, row->decision_reason,
	    sizeof(row->decision_reason));
	row->created = get_u64_column(stmt, 21);
	row->decided = get_u64_column(stmt, 22);
	get_text_column(stmt, 23, row->digest, sizeof(row->digest));
	row->bytes = get_u64_column(stmt, 24);
	row->rememberable = (unsigned)get_u64_column(stmt, 25);
	row->remembered = (unsigned)get_u64_column(stmt, 26);
	row->revoked = (unsigned)get_u64_column(stmt, 27);
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

	put_text(stmt, 1, id);
	return (each(stmt, fn, arg));
}

int
store_approvals(enum store_list which, uint64_t before, unsigned most,
    store_approval_fn *fn, void *arg)
{
	sqlite3_stmt *stmt = store_use(STMT_APPROVALS);

	put_u64(stmt, 1, before);
	put_u64(stmt, 2, which);
	put_u64(stmt, 3, most);
	return (each(stmt, fn, arg));
}

int
store_approvals_forget(const char *session)
{
	sqlite3_stmt *stmt = store_use(STMT_APPROVALS_FORGET);

	put_text(stmt, 1, session);
	return (store_run(stmt));
}
