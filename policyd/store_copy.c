/*
 * A copy of the database, made while it is used.  SQLite writes to the copy
 * as well what is written meanwhile by this process, the only one that has
 * the database open, so that the copy is of the moment at which it is whole.
 */
#include <sqlite3.h>

#include "store.h"
#include "store_stmt.h"

#define PAGES_STEP	256	/* of 4 KiB: about a millisecond */

static sqlite3		*copy;
static sqlite3_backup	*job;

int
store_copy_begin(const char *path)
{
	if (sqlite3_open_v2(path, &copy, SQLITE_OPEN_READWRITE |
	    SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW, NULL) != SQLITE_OK ||
	    /* it is nobody's until it is whole, and synced then */
	    sqlite3_exec(copy, "PRAGMA journal_mode = OFF", NULL, NULL,
	    NULL) != SQLITE_OK ||
	    sqlite3_exec(copy, "PRAGMA synchronous = OFF", NULL, NULL,
	    NULL) != SQLITE_OK ||
	    (job = sqlite3_backup_init(copy, "main", store_db(), "main")) ==
	    NULL) {
		log_warnx("a copy of state.db: %s", sqlite3_errmsg(copy));
		store_copy_end();
		return (-1);
	}
	return (0);
}

int
store_copy_step(void)
{
	int r;

	switch (r = sqlite3_backup_step(job, PAGES_STEP)) {
	case SQLITE_OK:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return (0);
	case SQLITE_DONE:
		r = sqlite3_backup_finish(job);
		job = NULL;
		if (r == SQLITE_OK)
			r = sqlite3_close(copy);
		copy = NULL;
		if (r == SQLITE_OK)
			return (1);
		break;
	}
	log_warnx("a copy of state.db: %s", sqlite3_errstr(r));
	return (-1);
}

void
store_copy_end(void)
{
	if (job != NULL)
		(void)sqlite3_backup_finish(job);
	job = NULL;
	sqlite3_close(copy);
	copy = NULL;
}
