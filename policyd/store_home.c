/* The database: persistent neurons. */

#include <string.h>

#include "store.h"
#include "store_stmt.h"

int
store_home_set(const struct home_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_HOME_SET);

	put_text(stmt, 1, row->id);
	put_u64(stmt, 2, row->principal);
	put_text(stmt, 3, row->name);
	put_text(stmt, 4, row->profile);
	put_text(stmt, 5, row->workspace);
	put_u64(stmt, 6, row->owner_uid);
	put_u64(stmt, 7, row->owner_gid);
	put_text(stmt, 8, row->labels);
	put_u64(stmt, 9, row->created);
	put_u64(stmt, 10, row->used);
	put_u64(stmt, 11, row->made);
	put_u64(stmt, 12, row->idle);
	put_text(stmt, 13, row->reason);
	put_u64(stmt, 14, row->read_only != 0);
	return (store_run(stmt));
}

int
store_home_delete(const char *id)
{
	sqlite3_stmt *stmt = store_use(STMT_HOME_DELETE);

	put_text(stmt, 1, id);
	return (store_run(stmt));
}

int
store_homes(int (*fn)(void *, const struct home_row *), void *arg)
{
	sqlite3_stmt *stmt = store_use(STMT_HOMES);
	struct home_row row;
	int r;

	while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		get_text_column(stmt, 0, row.id, sizeof(row.id));
		row.principal = (uint32_t)get_u64_column(stmt, 1);
		get_text_column(stmt, 2, row.name, sizeof(row.name));
		get_text_column(stmt, 3, row.profile, sizeof(row.profile));
		get_text_column(stmt, 4, row.workspace,
		    sizeof(row.workspace));
		row.owner_uid = (uint32_t)get_u64_column(stmt, 5);
		row.owner_gid = (uint32_t)get_u64_column(stmt, 6);
		get_text_column(stmt, 7, row.labels, sizeof(row.labels));
		row.created = get_u64_column(stmt, 8);
		row.used = get_u64_column(stmt, 9);
		row.made = get_u64_column(stmt, 10);
		row.idle = get_u64_column(stmt, 11);
		get_text_column(stmt, 12, row.reason, sizeof(row.reason));
		row.read_only = get_u64_column(stmt, 13) != 0;
		/* A name that leads to no home would never be found again. */
		if (!id_ok(ID_NEURON, row.id) || !labels_ok(row.labels) ||
		    fn(arg, &row) == -1)
			break;
	}
	sqlite3_reset(stmt);
	return (r == SQLITE_DONE ? 0 : -1);
}
