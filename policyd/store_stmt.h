/*
 * The prepared statements, shared by the store's files alone.
 */
#ifndef MYELIN_POLICYD_STORE_STMT_H
#define MYELIN_POLICYD_STORE_STMT_H

#include <sqlite3.h>
#include <string.h>

#include "store.h"

enum store_stmt {
	STMT_BEGIN, STMT_COMMIT, STMT_ROLLBACK,
	STMT_CALL_ADD, STMT_CALL_END, STMT_SESSION_ADD, STMT_SESSION_END,
	STMT_MARK_SET, STMT_MARK_GET, STMT_NEXT_CALL, STMT_NEXT_SESSION,
	STMT_CALLS, STMT_CALLS_OF, STMT_CALL, STMT_CALLS_LIVE,
	STMT_SESSIONS, STMT_SESSIONS_OF, STMT_SESSION, STMT_SESSIONS_LIVE,
	STMT_CALL_STARTS, STMT_SESSION_STARTS,
	STMT_TRIM_CALLS, STMT_TRIM_SESSIONS,
	STMT_TRANSCRIPT_ADD, STMT_TRANSCRIPT, STMT_TRANSCRIPTS_FROM,
	STMT_TRANSCRIPT_DELETE, STMT_TRANSCRIPTS_WITHIN,
	STMT_TRANSCRIPTS_BYTES, STMT_TRANSCRIPTS_PLACED, STMT_CALLS_AFTER,
	STMT_SECRETS, STMT_SECRET_SET, STMT_SECRET_DELETE,
	STMT_IDEMPOTENT, STMT_IDEMPOTENT_ADD, STMT_IDEMPOTENT_TRIM,
	STMT_APPROVAL_ADD, STMT_APPROVAL_SET, STMT_APPROVAL, STMT_APPROVALS,
	STMT_APPROVALS_FORGET, STMT_NEXT_APPROVAL, STMT_TRIM_APPROVALS,
	STMT_KEYS, STMT_KEY_SET, STMT_KEY_DELETE, STMT_KEY_NAMES,
	STMT_KEY_NAME_ADD, STMT_HOMES, STMT_HOME_SET, STMT_HOME_DELETE,
	STMT_COUNT
};

/* The statement, ready to be bound. */
sqlite3_stmt *store_use(enum store_stmt);
/* The same for who reads of calls: what waits is written first. */
sqlite3_stmt *store_ask(enum store_stmt);
/* Runs a writing statement, its own transaction.  0, or -1 after a warning. */
int	store_run(sqlite3_stmt *);
/* The call in the row a statement stands on. */
void	store_call_columns(sqlite3_stmt *, struct call_row *);
/* Several writes as one.  0, or -1 after a warning. */
int	store_begin(void);
int	store_commit(void);
void	store_rollback(void);
/* SQL that is no statement of those.  0, or -1 after a warning. */
int	store_exec(const char *text);
/* What waits (store_call.c), within a transaction; and when that stands. */
int	store_waiting_write(void);
void	store_waiting_forget(void);
int	store_idempotent_add(const uint8_t key[IDEMPOTENT_KEY],
	    const uint8_t same[IDEMPOTENT_KEY], uint64_t serial);

/* As SQLite numbers: from 1 what is bound, from 0 what is read. */
static inline void
put_text(sqlite3_stmt *stmt, int i, const char *text)
{
	sqlite3_bind_text(stmt, i, text, -1, SQLITE_STATIC);
}

/* SQLite's integers have a sign: what is over them is their largest. */
static inline void
put_u64(sqlite3_stmt *stmt, int i, uint64_t n)
{
	sqlite3_bind_int64(stmt, i, n > INT64_MAX ? INT64_MAX :
	    (sqlite3_int64)n);
}

static inline void
put_blob(sqlite3_stmt *stmt, int i, const void *bytes, size_t size)
{
	sqlite3_bind_blob(stmt, i, bytes, (int)size, SQLITE_STATIC);
}

static inline void
get_text_column(sqlite3_stmt *stmt, int i, char *dst, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);

	strlcpy(dst, text != NULL ? text : "", size);
}

static inline uint64_t
get_u64_column(sqlite3_stmt *stmt, int i)
{
	return ((uint64_t)sqlite3_column_int64(stmt, i));
}

/* The database itself, for store_copy.c. */
sqlite3	*store_db(void);

#endif
