/* The database's schema, as numbered steps that are never edited. */

#include <stdio.h>

#include <sqlite3.h>

#include "store.h"

/*
 * Step n brings a database of version n to n + 1.  Calls have two indices and
 * no more: each one is a page more to write for every call.
 */
const char *const store_steps[] = {
	"CREATE TABLE mark ("
	"	id INTEGER PRIMARY KEY CHECK (id = 1),"
	"	sequence INTEGER NOT NULL,"
	"	hash TEXT NOT NULL,"
	"	live_from INTEGER NOT NULL);"
	"CREATE TABLE sessions ("
	"	serial INTEGER PRIMARY KEY,"
	"	id TEXT NOT NULL UNIQUE,"
	"	principal INTEGER NOT NULL,"
	"	neuron TEXT NOT NULL,"
	"	profile TEXT NOT NULL,"
	"	preset TEXT NOT NULL,"
	"	workspace TEXT NOT NULL,"
	"	reason TEXT NOT NULL,"
	"	created INTEGER NOT NULL,"
	"	expires INTEGER NOT NULL,"
	"	ended INTEGER NOT NULL,"
	"	calls INTEGER NOT NULL,"
	"	calls_limit INTEGER NOT NULL,"
	"	first_call INTEGER NOT NULL,"
	"	last_call INTEGER NOT NULL);"
	"CREATE INDEX sessions_principal ON sessions (principal);"
	"CREATE INDEX sessions_live ON sessions (serial) WHERE ended = 0;"
	"CREATE TABLE calls ("
	"	serial INTEGER PRIMARY KEY,"
	"	id TEXT NOT NULL UNIQUE,"
	"	principal INTEGER NOT NULL,"
	"	session TEXT NOT NULL,"
	"	neuron TEXT NOT NULL,"
	"	tool TEXT NOT NULL,"
	"	state INTEGER NOT NULL,"
	"	reason TEXT NOT NULL,"
	"	exit_code INTEGER NOT NULL,"
	"	signal INTEGER NOT NULL,"
	"	asked INTEGER NOT NULL,"
	"	ended INTEGER NOT NULL,"
	"	run_us INTEGER NOT NULL);"
	"CREATE INDEX calls_principal ON calls (principal);",
	/* of the files in transcripts/, whose name a serial gives */
	"CREATE TABLE transcripts ("
	"	serial INTEGER PRIMARY KEY,"
	"	call TEXT NOT NULL,"
	"	tool TEXT NOT NULL,"
	"	time INTEGER NOT NULL,"
	"	offset INTEGER NOT NULL,"
	"	record INTEGER NOT NULL,"
	"	length INTEGER NOT NULL);",
	"CREATE TABLE secrets ("
	"	name TEXT PRIMARY KEY,"
	"	length INTEGER NOT NULL,"
	"	registered INTEGER NOT NULL,"
	"	key TEXT NOT NULL,"
	"	nonce BLOB NOT NULL,"
	"	sealed BLOB NOT NULL);",
	/* idempotency keys, hashed, and what was asked with each */
	"CREATE TABLE idempotent ("
	"	key BLOB PRIMARY KEY,"
	"	same BLOB NOT NULL,"
	"	serial INTEGER NOT NULL) WITHOUT ROWID;",
	/* "place" is a rule's file and line, "at" and "upto" bytes */
	"CREATE TABLE approvals ("
	"	serial INTEGER PRIMARY KEY,"
	"	id TEXT NOT NULL UNIQUE,"
	"	call TEXT NOT NULL,"
	"	session TEXT NOT NULL,"
	"	neuron TEXT NOT NULL,"
	"	principal TEXT NOT NULL,"
	"	tool TEXT NOT NULL,"
	"	workspace TEXT NOT NULL,"
	"	class TEXT NOT NULL,"
	"	effect INTEGER NOT NULL,"
	"	marks INTEGER NOT NULL,"
	"	rule TEXT NOT NULL,"
	"	place TEXT NOT NULL,"
	"	reason TEXT NOT NULL,"
	"	command TEXT NOT NULL,"
	"	at INTEGER NOT NULL,"
	"	upto INTEGER NOT NULL,"
	"	state INTEGER NOT NULL,"
	"	scope INTEGER NOT NULL,"
	"	decided_by TEXT NOT NULL,"
	"	decision_reason TEXT NOT NULL,"
	"	created INTEGER NOT NULL,"
	"	decided INTEGER NOT NULL,"
	"	digest TEXT NOT NULL,"
	"	bytes INTEGER NOT NULL,"
	"	rememberable INTEGER NOT NULL,"
	"	remembered INTEGER NOT NULL,"
	"	revoked INTEGER NOT NULL);"
	"CREATE INDEX approvals_open ON approvals (serial) WHERE state = 1;",
	/* a name's number is its principal's, for good */
	"CREATE TABLE key_names ("
	"	number INTEGER PRIMARY KEY,"
	"	name TEXT NOT NULL UNIQUE);"
	"CREATE TABLE keys ("
	"	id TEXT PRIMARY KEY,"
	"	name TEXT NOT NULL,"
	"	hash BLOB NOT NULL,"
	"	created INTEGER NOT NULL,"
	"	expires INTEGER NOT NULL,"
	"	used INTEGER NOT NULL,"
	"	revoked INTEGER NOT NULL);",
	"ALTER TABLE sessions ADD COLUMN rules TEXT NOT NULL DEFAULT '';",
	/* persistent neurons; "reason" is why one is being destroyed */
	"CREATE TABLE homes ("
	"	id TEXT PRIMARY KEY,"
	"	principal INTEGER NOT NULL,"
	"	name TEXT NOT NULL,"
	"	profile TEXT NOT NULL,"
	"	workspace TEXT NOT NULL,"
	"	owner_uid INTEGER NOT NULL,"
	"	owner_gid INTEGER NOT NULL,"
	"	labels TEXT NOT NULL,"
	"	created INTEGER NOT NULL,"
	"	used INTEGER NOT NULL,"
	"	made INTEGER NOT NULL,"
	"	idle INTEGER NOT NULL,"
	"	reason TEXT NOT NULL,"
	"	read_only INTEGER NOT NULL);",
};
const size_t store_nsteps = sizeof(store_steps) / sizeof(store_steps[0]);

static int
user_version(sqlite3 *db, int *version)
{
	sqlite3_stmt *stmt;
	int r = -1;

	if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &stmt,
	    NULL) != SQLITE_OK)
		return (-1);
	if (sqlite3_step(stmt) == SQLITE_ROW) {
		*version = sqlite3_column_int(stmt, 0);
		r = 0;
	}
	sqlite3_finalize(stmt);
	return (r);
}

static int
migrate_step(sqlite3 *db, const char *sql, size_t version)
{
	char pragma[64];

	snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %zu", version);
	if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		return (-1);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK &&
	    sqlite3_exec(db, pragma, NULL, NULL, NULL) == SQLITE_OK &&
	    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
		return (0);
	return (-1);
}

int
store_migrate(sqlite3 *db, const char *const *steps, size_t nsteps,
    char *why, size_t size)
{
	int version;

	if (user_version(db, &version) == -1) {
		snprintf(why, size, "its version can not be read: %s",
		    sqlite3_errmsg(db));
		return (-1);
	}
	if (version < 0 || (size_t)version > nsteps) {
		snprintf(why, size, "it has version %d, written by a newer "
		    "Myelin; this one knows versions up to %zu", version,
		    nsteps);
		return (-1);
	}
	for (; (size_t)version < nsteps; version++) {
		if (migrate_step(db, steps[version], (size_t)version + 1) ==
		    -1) {
			snprintf(why, size, "the step to version %d failed: "
			    "%s", version + 1, sqlite3_errmsg(db));
			sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
			return (-1);
		}
	}
	return (0);
}
