/* The database: the index of the transcripts. */

#include <string.h>

#include "store.h"
#include "store_stmt.h"

static void
row_read(sqlite3_stmt *stmt, struct transcript_row *row)
{
	row->serial = get_u64_column(stmt, 0);
	get_text_column(stmt, 1, row->call, sizeof(row->call));
	get_text_column(stmt, 2, row->tool, sizeof(row->tool));
	row->time = get_u64_column(stmt, 3);
	row->offset = get_u64_column(stmt, 4);
	row->record = get_u64_column(stmt, 5);
	row->length = get_u64_column(stmt, 6);
}

int
store_transcript(uint64_t serial, struct transcript_row *row)
{
	sqlite3_stmt *stmt = store_ask(STMT_TRANSCRIPT);
	int r;

	put_u64(stmt, 1, serial);
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
	sqlite3_stmt *stmt = store_ask(STMT_TRANSCRIPTS_FROM);

	put_u64(stmt, 1, after);
	put_u64(stmt, 2, most);
	return (each(stmt, fn, arg));
}

int
store_transcripts_placed(uint64_t from, uint64_t before,
    store_transcript_fn *fn, void *arg)
{
	sqlite3_stmt *stmt = store_ask(STMT_TRANSCRIPTS_PLACED);

	put_u64(stmt, 1, from);
	put_u64(stmt, 2, before);
	return (each(stmt, fn, arg));
}

int
store_transcripts_delete(const uint64_t *serials, size_t n)
{
	sqlite3_stmt *stmt;
	size_t i;

	if (store_begin() == -1)
		return (-1);
	for (i = 0; i < n; i++) {
		stmt = store_use(STMT_TRANSCRIPT_DELETE);
		put_u64(stmt, 1, serials[i]);
		if (store_run(stmt) == -1)
			goto fail;
	}
	if (store_commit() == 0)
		return (0);
fail:
	store_rollback();
	return (-1);
}

int64_t
store_transcripts_within(uint64_t from, uint64_t before)
{
	sqlite3_stmt *stmt = store_ask(STMT_TRANSCRIPTS_WITHIN);
	int64_t n = -1;

	put_u64(stmt, 1, from);
	put_u64(stmt, 2, before);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		n = sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return (n);
}

int
store_transcripts_sum(uint64_t *count, uint64_t *bytes)
{
	sqlite3_stmt *stmt = store_ask(STMT_TRANSCRIPTS_BYTES);
	int r;

	*count = *bytes = 0;
	if ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		*count = (uint64_t)sqlite3_column_int64(stmt, 0);
		*bytes = (uint64_t)sqlite3_column_int64(stmt, 1);
	}
	sqlite3_reset(stmt);
	return (r == SQLITE_ROW ? 0 : -1);
}
