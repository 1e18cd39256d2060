/* The database: idempotency keys. */

#include <string.h>

#include "store.h"
#include "store_stmt.h"

int
store_idempotent(const uint8_t key[IDEMPOTENT_KEY], uint64_t now,
    uint64_t kept, struct idempotent_row *row)
{
	sqlite3_stmt *stmt = store_ask(STMT_IDEMPOTENT);
	const char *call;
	const void *same;
	int r, found = -1;

	put_blob(stmt, 1, key, IDEMPOTENT_KEY);
	put_u64(stmt, 2, now > kept ? now - kept : 0);
	if ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		same = sqlite3_column_blob(stmt, 0);
		call = (const char *)sqlite3_column_text(stmt, 1);
		if (same != NULL && sqlite3_column_bytes(stmt, 0) ==
		    IDEMPOTENT_KEY && call != NULL && id_ok(ID_CALL, call)) {
			memcpy(row->same, same, IDEMPOTENT_KEY);
			strlcpy(row->call, call, sizeof(row->call));
			found = 1;
		}
	} else if (r == SQLITE_DONE)
		found = 0;
	sqlite3_reset(stmt);
	return (found);
}

int
store_idempotent_add(const uint8_t key[IDEMPOTENT_KEY],
    const uint8_t same[IDEMPOTENT_KEY], uint64_t serial)
{
	sqlite3_stmt *stmt = store_use(STMT_IDEMPOTENT_ADD);

	put_blob(stmt, 1, key, IDEMPOTENT_KEY);
	put_blob(stmt, 2, same, IDEMPOTENT_KEY);
	put_u64(stmt, 3, serial);
	return (store_run(stmt));
}

int
store_idempotent_trim(uint64_t now, uint64_t kept)
{
	sqlite3_stmt *stmt = store_ask(STMT_IDEMPOTENT_TRIM);

	put_u64(stmt, 1, now > kept ? now - kept : 0);
	return (store_run(stmt));
}
