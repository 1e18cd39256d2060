/* The database: the index of the transcripts. */

#include <string.h>

#include "store.h"
#include "store_stmt.h"

static void
put(sqlite3_stmt *stmt, int i, uint64_t n)
{
	sqlite3_bind_int64(stmt, i, n > INT64_MAX ? INT64_MAX :
	    (sqlite3_int64)n);
}

static void
row_read(sqlite3_stmt *stmt, struct transcript_row *row)
{
	const char *call = (const char *)sqlite3_column_text(stmt, 1);
	const char *tool = (const char *)sqlite3_column_text(stmt, 2);

	row->serial = (uint64_t)sqlite3_column_int64(stmt, 0);
	strlcpy(row->call, call != NULL ? call : "", sizeof(row->call));
	strlcpy(row->tool, tool != NULL ? tool : "", sizeof(row->tool));
	row->time = (uint64_t)sqlite3_column_int64(stmt, 3);
	row->offset = (uint64_t)sqlite3_column_int64(stmt, 4);
	row->record = (uint64_t)sqlite3_column_int64(stmt, 5);
	row->length = (uint64_t)sqlite3_column_int64(stmt, 6);
}

int
store_transcript_add(const struct transcript_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_TRANSCRIPT_ADD);

	put(stmt, 1, row->serial);
	sqlite3_bind_text(stmt, 2, row->call, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 3, row->tool, -1, SQLITE_STATIC);
	put(stmt, 4, row->time);
	put(stmt, 5, row->offset);
	put(stmt, 6, row->record);
	put(stmt, 7, row->length);
	return (store_run(stmt));
}

int
store_transcript(uint64_t serial, struct transcript_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_TRANSCRIPT);
	int r;

	put(stmt, 1, serial);
	if ((r = sqlite3_step(stmt)) == SQLITE_ROW)
		row_read(stmt, row);
	sqlite3_reset(stmt);
	return (r == SQLITE_ROW ? 1 : r == SQLITE_DONE ? 0 : -1);
}

static int
each(sqlite3_stmt *stmt, store_transcript_fn *fn, void *arg)
{
	struct transcript_row row;
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
store_transcripts(uint64_t after, unsigned most, store_transcript_fn *fn,
    void *arg)
{
	sqlite3_stmt *stmt = store_use(STMT_TRANSCRIPTS_FROM);

	put(stmt, 1, after);
	put(stmt, 2, most);
	return (each(stmt, fn, arg));
}

int
store_transcripts_placed(uint64_t from, uint64_t before,
    store_transcript_fn *fn, void *arg)
{
	sqlite3_stmt *stmt = store_use(STMT_TRANSCRIPTS_PLACED);

	put(stmt, 1, from);
	put(stmt, 2, before);
	return (each(stmt, fn, arg));
}

int
store_transcripts_delete(const uint64_t *serials, size_t n)
{
	sqlite3_stmt *stmt;
	size_t i;

	if (store_exec("BEGIN") == -1)
		return (-1);
	for (i = 0; i < n; i++) {
		stmt = store_use(STMT_TRANSCRIPT_DELETE);
		put(stmt, 1, serials[i]);
		if (store_run(stmt) == -1)
			goto fail;
	}
	if (store_exec("COMMIT") == 0)
		return (0);
fail:
	(void)store_exec("ROLLBACK");
	return (-1);
}

int64_t
store_transcripts_within(uint64_t from, uint64_t before)
{
	sqlite3_stmt *stmt = store_use(STMT_TRANSCRIPTS_WITHIN);
	int64_t n = -1;

	put(stmt, 1, from);
	put(stmt, 2, before);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		n = sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return (n);
}

int
store_transcripts_sum(uint64_t *count, uint64_t *bytes)
{
	sqlite3_stmt *stmt = store_use(STMT_TRANSCRIPTS_BYTES);
	int r;

	*count = *bytes = 0;
	if ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		*count = (uint64_t)sqlite3_column_int64(stmt, 0);
		*bytes = (uint64_t)sqlite3_column_int64(stmt, 1);
	}
	sqlite3_reset(stmt);
	return (r == SQLITE_ROW ? 0 : -1);
}
