/* The database: opening, writing, syncing. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "store.h"
#include "store_stmt.h"

#define APPLICATION_ID	0x4d79656c	/* "Myel", in the file's header */
#define APPLICATION_ID_TEXT	"1299801452"
#define CHECK_MAX	(64 * 1024 * 1024) /* bytes whose check takes < 1 s */
#define WAL_PAGES	2000		/* of 4 KiB, before a checkpoint */
/*
 * For one whose myelind was killed, and who has yet to write down its end: less
 * than a start may stand still.
 */
#define LOCK_WAIT	8000		/* ms */

static sqlite3		*db;
static sqlite3_stmt	*stmts[STMT_COUNT];
static uint64_t		 next_call, next_session, next_approval;
static int		 wal_pages;	/* in the WAL after the last commit */

static const char *const sql[STMT_COUNT] = {
	[STMT_BEGIN] = "BEGIN",
	[STMT_COMMIT] = "COMMIT",
	[STMT_ROLLBACK] = "ROLLBACK",
	[STMT_CALL_ADD] = "INSERT INTO calls VALUES "
	    "(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)",
	[STMT_CALL_END] = "UPDATE calls SET state = ?2, reason = ?3, "
	    "exit_code = ?4, signal = ?5, ended = ?6, run_us = ?7 "
	    "WHERE serial = ?1",
	[STMT_SESSION_ADD] = "INSERT INTO sessions VALUES "
	    "(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)",
	[STMT_SESSION_END] = "UPDATE sessions SET reason = ?2, ended = ?3, "
	    "calls = ?4, last_call = ?5 WHERE serial = ?1",
	[STMT_MARK_SET] = "INSERT OR REPLACE INTO mark VALUES (1, ?1, ?2, ?3)",
	[STMT_MARK_GET] = "SELECT sequence, hash, live_from FROM mark",
	[STMT_NEXT_CALL] = "SELECT COALESCE(MAX(serial), 0) FROM calls",
	[STMT_NEXT_SESSION] = "SELECT COALESCE(MAX(serial), 0) FROM sessions",
	[STMT_CALLS] = "SELECT * FROM calls WHERE serial >= ?1 AND "
	    "serial < ?2 AND (?3 = '' OR session = ?3) "
	    "ORDER BY serial DESC LIMIT ?4",
	[STMT_CALLS_OF] = "SELECT * FROM calls WHERE principal = ?5 AND "
	    "serial >= ?1 AND serial < ?2 AND (?3 = '' OR session = ?3) "
	    "ORDER BY serial DESC LIMIT ?4",
	[STMT_CALL] = "SELECT * FROM calls WHERE id = ?1",
	[STMT_CALLS_LIVE] = "SELECT * FROM calls WHERE serial >= ?1 AND "
	    "state <= 3 ORDER BY serial",
	[STMT_SESSIONS] = "SELECT * FROM sessions WHERE serial >= ?1 AND "
	    "serial < ?2 ORDER BY serial DESC LIMIT ?4",
	[STMT_SESSIONS_OF] = "SELECT * FROM sessions WHERE principal = ?5 "
	    "AND serial >= ?1 AND serial < ?2 ORDER BY serial DESC LIMIT ?4",
	[STMT_SESSION] = "SELECT * FROM sessions WHERE id = ?1",
	[STMT_SESSIONS_LIVE] = "SELECT * FROM sessions WHERE ended = 0 "
	    "ORDER BY serial",
	[STMT_CALL_STARTS] = "SELECT principal, asked / 1000000, COUNT(*) "
	    "FROM (SELECT principal, asked, session FROM calls ORDER BY "
	    "serial DESC LIMIT ?2) WHERE asked >= ?1 AND session = '' "
	    "GROUP BY 1, 2 ORDER BY 2",
	[STMT_SESSION_STARTS] = "SELECT principal, created / 1000000, "
	    "COUNT(*) FROM sessions WHERE created >= ?1 GROUP BY 1, 2 "
	    "ORDER BY 2",
	[STMT_TRIM_CALLS] = "DELETE FROM calls WHERE serial IN (SELECT serial "
	    "FROM calls ORDER BY serial LIMIT 200) AND ended > 0 AND "
	    "ended < ?1",
	[STMT_TRIM_SESSIONS] = "DELETE FROM sessions WHERE serial IN (SELECT "
	    "serial FROM sessions ORDER BY serial LIMIT 200) AND ended > 0 "
	    "AND ended < ?1",
	[STMT_TRANSCRIPT_ADD] = "INSERT INTO transcripts VALUES "
	    "(?1,?2,?3,?4,?5,?6,?7)",
	[STMT_TRANSCRIPT] = "SELECT * FROM transcripts WHERE serial = ?1",
	[STMT_TRANSCRIPTS_FROM] = "SELECT * FROM transcripts WHERE "
	    "serial > ?1 ORDER BY serial LIMIT ?2",
	[STMT_TRANSCRIPT_DELETE] = "DELETE FROM transcripts WHERE serial = ?1",
	[STMT_TRANSCRIPTS_WITHIN] = "SELECT COUNT(*) FROM transcripts WHERE "
	    "serial >= ?1 AND serial < ?2",
	[STMT_TRANSCRIPTS_BYTES] = "SELECT COUNT(*), "
	    "COALESCE(SUM(length), 0) FROM transcripts",
	[STMT_TRANSCRIPTS_PLACED] = "SELECT * FROM transcripts WHERE "
	    "serial >= ?1 AND serial < ?2 ORDER BY offset",
	[STMT_CALLS_AFTER] = "SELECT * FROM calls WHERE serial > ?1 AND "
	    "serial <= ?2 AND session = ?3 ORDER BY serial LIMIT ?4",
	[STMT_SECRETS] = "SELECT * FROM secrets ORDER BY registered, name",
	[STMT_SECRET_SET] = "INSERT OR REPLACE INTO secrets VALUES "
	    "(?1,?2,?3,?4,?5,?6)",
	[STMT_SECRET_DELETE] = "DELETE FROM secrets WHERE name = ?1",
	[STMT_IDEMPOTENT] = "SELECT k.same, c.id FROM idempotent k JOIN "
	    "calls c ON c.serial = k.serial WHERE k.key = ?1 AND "
	    "(c.ended = 0 OR c.ended >= ?2)",
	[STMT_IDEMPOTENT_ADD] = "INSERT OR REPLACE INTO idempotent VALUES "
	    "(?1,?2,?3)",
	[STMT_IDEMPOTENT_TRIM] = "DELETE FROM idempotent WHERE key IN "
	    "(SELECT k.key FROM idempotent k LEFT JOIN calls c ON "
	    "c.serial = k.serial WHERE c.serial IS NULL OR "
	    "(c.ended > 0 AND c.ended < ?1) LIMIT 2000)",
	[STMT_APPROVAL_ADD] = "INSERT INTO approvals VALUES (?1,?2,?3,?4,?5,"
	    "?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,"
	    "?22,?23,?24,?25,?26,?27,?28)",
	[STMT_APPROVAL_SET] = "UPDATE approvals SET state = ?2, scope = ?3, "
	    "decided_by = ?4, decision_reason = ?5, decided = ?6, "
	    "remembered = ?7, revoked = ?8 WHERE serial = ?1",
	[STMT_APPROVAL] = "SELECT * FROM approvals WHERE id = ?1",
	[STMT_APPROVALS] = "SELECT * FROM approvals WHERE serial < ?1 AND "
	    "(?2 = 0 OR (?2 = 1 AND state = 1) OR (?2 = 2 AND state > 1) OR "
	    "(?2 = 3 AND remembered = 1)) ORDER BY serial DESC LIMIT ?3",
	[STMT_APPROVALS_FORGET] = "UPDATE approvals SET remembered = 0 "
	    "WHERE remembered = 1 AND (?1 = '' OR session = ?1)",
	[STMT_NEXT_APPROVAL] = "SELECT COALESCE(MAX(serial), 0) "
	    "FROM approvals",
	[STMT_TRIM_APPROVALS] = "DELETE FROM approvals WHERE serial IN "
	    "(SELECT serial FROM approvals ORDER BY serial LIMIT 200) AND "
	    "state > 1 AND remembered = 0 AND decided < ?1",
	[STMT_KEYS] = "SELECT * FROM keys ORDER BY created, id",
	[STMT_KEY_SET] = "INSERT OR REPLACE INTO keys VALUES "
	    "(?1,?2,?3,?4,?5,?6,?7)",
	[STMT_KEY_DELETE] = "DELETE FROM keys WHERE id = ?1",
	[STMT_KEY_NAMES] = "SELECT number, name FROM key_names ORDER BY number",
	[STMT_KEY_NAME_ADD] = "INSERT INTO key_names VALUES (?1,?2)",
	[STMT_HOMES] = "SELECT * FROM homes ORDER BY created",
	[STMT_HOME_SET] = "INSERT OR REPLACE INTO homes VALUES "
	    "(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)",
	[STMT_HOME_DELETE] = "DELETE FROM homes WHERE id = ?1",
};

int
store_preload(void)
{
	char byte;

	/* One thread; and a seed from /dev/urandom: the chroot has none. */
	if (sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) != SQLITE_OK ||
	    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) != SQLITE_OK ||
	    sqlite3_initialize() != SQLITE_OK) {
		log_warnx("SQLite can not be set up");
		return (-1);
	}
	sqlite3_randomness(1, &byte);
	return (0);
}

int
store_exec(const char *text)
{
	if (sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK)
		return (0);
	log_warnx("state.db: %s: %s", text, sqlite3_errmsg(db));
	return (-1);
}

int
store_begin(void)
{
	return (store_run(store_use(STMT_BEGIN)));
}

int
store_commit(void)
{
	return (store_run(store_use(STMT_COMMIT)));
}

/* SQLite may have done it itself, where the disk is full. */
void
store_rollback(void)
{
	if (!sqlite3_get_autocommit(db))
		(void)store_run(store_use(STMT_ROLLBACK));
}

static int
store_number(const char *text, int64_t *number)
{
	sqlite3_stmt *stmt;
	int r = -1;

	if (sqlite3_prepare_v2(db, text, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW) {
		*number = sqlite3_column_int64(stmt, 0);
		r = 0;
	}
	sqlite3_finalize(stmt);
	return (r);
}

/* Ours, or empty.  A file of another program is left alone. */
static int
store_ours(const char *name)
{
	int64_t id, version, tables;

	if (store_number("PRAGMA application_id", &id) == -1 ||
	    store_number("PRAGMA user_version", &version) == -1 ||
	    store_number("SELECT COUNT(*) FROM sqlite_master", &tables) == -1) {
		if ((sqlite3_errcode(db) & 0xff) == SQLITE_BUSY)
			log_warnx("%s is still used by another process after "
			    "%d s; when that has ended, start again", name,
			    LOCK_WAIT / 1000);
		else
			log_warnx("%s is no database, or damaged: %s; move it "
			    "away to start with an empty one", name,
			    sqlite3_errmsg(db));
		return (-1);
	}
	if (id == APPLICATION_ID || (id == 0 && version == 0 && tables == 0))
		return (0);
	log_warnx("%s is a database of another program", name);
	return (-1);
}

/* A whole check where it is quick; the schema is used below in any case. */
static int
store_check(const char *name)
{
	int64_t pages, size;
	sqlite3_stmt *stmt;
	const char *text;
	int r = -1;

	if (store_number("PRAGMA page_count", &pages) == -1 ||
	    store_number("PRAGMA page_size", &size) == -1)
		return (-1);
	if (pages * size > CHECK_MAX)
		return (0);
	if (sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &stmt,
	    NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
		text = (const char *)sqlite3_column_text(stmt, 0);
		if (text != NULL && strcmp(text, "ok") == 0)
			r = 0;
		else
			log_warnx("%s is damaged: %s", name,
			    text != NULL ? text : "no memory");
	} else
		log_warnx("%s is damaged: %s", name, sqlite3_errmsg(db));
	sqlite3_finalize(stmt);
	return (r);
}

static int
store_prepare(void)
{
	unsigned i;

	for (i = 0; i < STMT_COUNT; i++) {
		if (sqlite3_prepare_v3(db, sql[i], -1,
		    SQLITE_PREPARE_PERSISTENT, &stmts[i], NULL) != SQLITE_OK) {
			log_warnx("state.db: %s", sqlite3_errmsg(db));
			return (-1);
		}
	}
	return (0);
}

static uint64_t
store_last(enum store_stmt which)
{
	sqlite3_stmt *stmt = store_use(which);
	uint64_t last = 0;

	if (sqlite3_step(stmt) == SQLITE_ROW)
		last = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return (last);
}

/* Serials never come twice, even where all rows have been trimmed. */
static int
store_serials(void)
{
	struct audit_mark mark;
	uint64_t live_from;

	if (store_mark_get(&mark, &live_from) == -1)
		return (-1);
	next_call = store_last(STMT_NEXT_CALL) + 1;
	if (next_call < live_from)
		next_call = live_from;
	next_session = store_last(STMT_NEXT_SESSION) + 1;
	next_approval = store_last(STMT_NEXT_APPROVAL) + 1;
	return (0);
}

static int
wal_grew(void *arg, sqlite3 *handle, const char *name, int pages)
{
	(void)arg;
	(void)handle;
	(void)name;
	wal_pages = pages;
	return (SQLITE_OK);
}

uint64_t
store_next_call(void)
{
	return (next_call++);
}

uint64_t
store_last_call(void)
{
	return (next_call - 1);
}

uint64_t
store_next_session(void)
{
	return (next_session++);
}

uint64_t
store_next_approval(void)
{
	return (next_approval++);
}

int
store_open(const char *path)
{
	const char *name = strrchr(path, '/');
	char why[512];

	/* in words it is the file's name: the chroot is nobody's concern */
	name = name != NULL ? name + 1 : path;
	store_close();
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE |
	    SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW, NULL) != SQLITE_OK) {
		log_warnx("%s: %s", name, sqlite3_errmsg(db));
		goto fail;
	}
	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, LOCK_WAIT);
	/* The lock is taken now and for good, so no shared memory is needed. */
	if (store_exec("PRAGMA locking_mode = EXCLUSIVE") == -1 ||
	    store_exec("PRAGMA temp_store = MEMORY") == -1 ||
	    store_exec("PRAGMA trusted_schema = OFF") == -1 ||
	    store_ours(name) == -1 ||
	    store_exec("PRAGMA journal_mode = WAL") == -1 ||
	    store_exec("PRAGMA synchronous = NORMAL") == -1 ||
	    store_check(name) == -1)
		goto fail;
	if (store_migrate(db, store_steps, store_nsteps, why,
	    sizeof(why)) == -1) {
		log_warnx("%s: %s", name, why);
		goto fail;
	}
	if (store_exec("PRAGMA application_id = " APPLICATION_ID_TEXT) == -1 ||
	    store_prepare() == -1 || store_serials() == -1)
		goto fail;
	sqlite3_wal_hook(db, wal_grew, NULL);
	return (0);
fail:
	store_close();
	return (-1);
}

void
store_close(void)
{
	unsigned i;

	if (db != NULL && store_flush() == -1)
		log_warnx("state.db: the last calls are not in it");
	store_waiting_forget();
	store_copy_end();
	for (i = 0; i < STMT_COUNT; i++) {
		sqlite3_finalize(stmts[i]);
		stmts[i] = NULL;
	}
	sqlite3_close(db);
	db = NULL;
}

sqlite3 *
store_db(void)
{
	return (db);
}

sqlite3_stmt *
store_use(enum store_stmt which)
{
	sqlite3_reset(stmts[which]);
	return (stmts[which]);
}

int
store_run(sqlite3_stmt *stmt)
{
	int r;

	r = sqlite3_step(stmt);
	if (r != SQLITE_DONE)
		log_warnx("state.db: %s", sqlite3_errmsg(db));
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return (r == SQLITE_DONE ? 0 : -1);
}

int
store_session_add(const struct session_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_SESSION_ADD);

	put_u64(stmt, 1, row->serial);
	put_text(stmt, 2, row->id);
	put_u64(stmt, 3, row->principal);
	put_text(stmt, 4, row->neuron);
	put_text(stmt, 5, row->profile);
	put_text(stmt, 6, row->preset);
	put_text(stmt, 7, row->workspace);
	put_text(stmt, 8, row->reason);
	put_u64(stmt, 9, row->created);
	put_u64(stmt, 10, row->expires);
	put_u64(stmt, 11, row->ended);
	put_u64(stmt, 12, row->calls);
	put_u64(stmt, 13, row->calls_limit);
	put_u64(stmt, 14, row->first_call);
	put_u64(stmt, 15, row->last_call);
	put_text(stmt, 16, row->rules);
	return (store_run(stmt));
}

int
store_session_end(const struct session_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_SESSION_END);

	put_u64(stmt, 1, row->serial);
	put_text(stmt, 2, row->reason);
	put_u64(stmt, 3, row->ended);
	put_u64(stmt, 4, row->calls);
	put_u64(stmt, 5, row->last_call);
	return (store_run(stmt));
}

int
store_mark_get(struct audit_mark *mark, uint64_t *live_from)
{
	sqlite3_stmt *stmt = store_use(STMT_MARK_GET);
	const char *hash;
	int r;

	audit_mark_init(mark);
	*live_from = 0;
	if ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		hash = (const char *)sqlite3_column_text(stmt, 1);
		if (hash == NULL || strlen(hash) != SHA_HEX - 1) {
			log_warnx("state.db: the mark is damaged");
			r = SQLITE_CORRUPT;
		} else {
			mark->sequence = (uint64_t)
			    sqlite3_column_int64(stmt, 0);
			memcpy(mark->hash, hash, SHA_HEX);
			*live_from = (uint64_t)sqlite3_column_int64(stmt, 2);
		}
	}
	sqlite3_reset(stmt);
	return (r == SQLITE_ROW || r == SQLITE_DONE ? 0 : -1);
}

static int
mark_write(const struct audit_mark *mark, uint64_t live_from)
{
	sqlite3_stmt *stmt = store_use(STMT_MARK_SET);

	put_u64(stmt, 1, mark->sequence);
	put_text(stmt, 2, mark->hash);
	put_u64(stmt, 3, live_from);
	return (store_run(stmt));
}

/* The mark and the calls that it knows of, both or neither. */
static int
sync_write(const struct audit_mark *mark, uint64_t live_from)
{
	if (store_begin() == -1)
		return (-1);
	if (store_waiting_write() == 0 && mark_write(mark, live_from) == 0 &&
	    store_commit() == 0) {
		store_waiting_forget();
		return (0);
	}
	store_rollback();
	return (-1);
}

/*
 * A commit under FULL syncs the WAL, and with it all commits before.  The
 * checkpoint is here too, off the path of a call.
 */
int
store_sync(const struct audit_mark *mark, uint64_t live_from)
{
	int r;

	if (store_exec("PRAGMA synchronous = FULL") == -1)
		return (-1);
	r = sync_write(mark, live_from);
	if (store_exec("PRAGMA synchronous = NORMAL") == -1)
		return (-1);
	if (r == -1)
		return (-1);
	if (wal_pages > WAL_PAGES && sqlite3_wal_checkpoint_v2(db, NULL,
	    SQLITE_CHECKPOINT_PASSIVE, NULL, NULL) != SQLITE_OK)
		log_warnx("state.db: checkpoint: %s", sqlite3_errmsg(db));
	return (0);
}

/* Oldest first, a few at a time: a big table never holds up a call. */
int
store_trim(uint64_t before)
{
	sqlite3_stmt *stmt;
	int changed = 0;

	(void)store_flush();
	stmt = store_use(STMT_TRIM_CALLS);
	put_u64(stmt, 1, before);
	if (store_run(stmt) == -1)
		return (0);
	changed += sqlite3_changes(db);
	stmt = store_use(STMT_TRIM_SESSIONS);
	put_u64(stmt, 1, before);
	if (store_run(stmt) == -1)
		return (0);
	changed += sqlite3_changes(db);
	stmt = store_use(STMT_TRIM_APPROVALS);
	put_u64(stmt, 1, before);
	if (store_run(stmt) == -1)
		return (0);
	changed += sqlite3_changes(db);
	return (changed > 0);
}

int
store_secret_set(const struct secret_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_SECRET_SET);

	put_text(stmt, 1, row->name);
	put_u64(stmt, 2, row->length);
	put_u64(stmt, 3, row->registered);
	put_text(stmt, 4, row->key);
	put_blob(stmt, 5, row->nonce, sizeof(row->nonce));
	put_blob(stmt, 6, row->sealed, row->sealed_size);
	return (store_run(stmt));
}

int
store_secret_delete(const char *name)
{
	sqlite3_stmt *stmt = store_use(STMT_SECRET_DELETE);

	put_text(stmt, 1, name);
	return (store_run(stmt));
}
