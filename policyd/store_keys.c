/* The database: keys, and the numbers of their names. */

#include <string.h>

#include "store.h"
#include "store_stmt.h"

int
store_key_name_add(uint32_t number, const char *name)
{
	sqlite3_stmt *stmt = store_use(STMT_KEY_NAME_ADD);

	put_u64(stmt, 1, number);
	put_text(stmt, 2, name);
	return (store_run(stmt));
}

int
store_key_names(int (*fn)(void *, uint32_t, const char *), void *arg)
{
	sqlite3_stmt *stmt = store_use(STMT_KEY_NAMES);
	const char *name;
	int r;

	while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		name = (const char *)sqlite3_column_text(stmt, 1);
		if (name == NULL || fn(arg,
		    (uint32_t)get_u64_column(stmt, 0), name) == -1)
			break;
	}
	sqlite3_reset(stmt);
	return (r == SQLITE_DONE ? 0 : -1);
}

int
store_key_set(const struct key_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_KEY_SET);

	put_text(stmt, 1, row->id);
	put_text(stmt, 2, row->name);
	put_blob(stmt, 3, row->hash, sizeof(row->hash));
	put_u64(stmt, 4, row->created);
	put_u64(stmt, 5, row->expires);
	put_u64(stmt, 6, row->used);
	put_u64(stmt, 7, row->revoked);
	return (store_run(stmt));
}

int
store_keys_set(const struct key_row *a, const struct key_row *b)
{
	if (store_begin() == -1)
		return (-1);
	if (store_key_set(a) == 0 && store_key_set(b) == 0 &&
	    store_commit() == 0)
		return (0);
	store_rollback();
	return (-1);
}

int
store_key_delete(const char *id)
{
	sqlite3_stmt *stmt = store_use(STMT_KEY_DELETE);

	put_text(stmt, 1, id);
	return (store_run(stmt));
}

int
store_keys(int (*fn)(void *, const struct key_row *), void *arg)
{
	sqlite3_stmt *stmt = store_use(STMT_KEYS);
	struct key_row row;
	int r;

	while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		/* A row without its hash would match no token: it is damage. */
		if (sqlite3_column_bytes(stmt, 2) != KEY_HASH)
			break;
		get_text_column(stmt, 0, row.id, sizeof(row.id));
		get_text_column(stmt, 1, row.name, sizeof(row.name));
		memcpy(row.hash, sqlite3_column_blob(stmt, 2), KEY_HASH);
		row.created = get_u64_column(stmt, 3);
		row.expires = get_u64_column(stmt, 4);
		row.used = get_u64_column(stmt, 5);
		row.revoked = get_u64_column(stmt, 6);
		if (fn(arg, &row) == -1)
			break;
	}
	sqlite3_reset(stmt);
	return (r == SQLITE_DONE ? 0 : -1);
}
