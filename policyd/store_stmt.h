/*
 * The prepared statements, shared by store.c and store_read.c alone.
 */
#ifndef MYELIN_POLICYD_STORE_STMT_H
#define MYELIN_POLICYD_STORE_STMT_H

#include <sqlite3.h>

enum store_stmt {
	STMT_CALL_ADD, STMT_CALL_END, STMT_SESSION_ADD, STMT_SESSION_END,
	STMT_MARK_SET, STMT_MARK_GET, STMT_NEXT_CALL, STMT_NEXT_SESSION,
	STMT_CALLS, STMT_CALLS_OF, STMT_CALL, STMT_CALLS_LIVE,
	STMT_SESSIONS, STMT_SESSIONS_OF, STMT_SESSION, STMT_SESSIONS_LIVE,
	STMT_CALL_STARTS, STMT_SESSION_STARTS,
	STMT_TRIM_CALLS, STMT_TRIM_SESSIONS,
	STMT_COUNT
};

/* The statement, ready to be bound. */
sqlite3_stmt *store_use(enum store_stmt);

#endif
