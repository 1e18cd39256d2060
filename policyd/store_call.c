/*
 * The database: calls and their transcripts, as one write for many.
 *
 * Each call would be three commits of its own: when it is asked, when it has
 * ended and when its transcript is there.  They wait here for the next
 * store_sync(), which writes them along with the mark, or for the next who
 * reads.  So the database never has less of the calls than the audit log has
 * up to the mark; what a process that dies leaves behind it is in the records
 * after the mark (recover.h), which are in the file before anything runs.
 */

#include <sys/tree.h>

#include <stdlib.h>
#include <string.h>

#include "store.h"
#include "store_stmt.h"

#define WAITING_MOST	512	/* calls; then they are written at once */

struct waiting {
	RB_ENTRY(waiting) entry;
	struct call_row	 row;
	int		 is_new;	/* else only its end */
	int		 has_transcript;
	struct transcript_row transcript;
};

RB_HEAD(waiting_tree, waiting);

static int waiting_cmp(const struct waiting *, const struct waiting *);

RB_PROTOTYPE(waiting_tree, waiting, entry, waiting_cmp)
RB_GENERATE(waiting_tree, waiting, entry, waiting_cmp)

static struct waiting_tree	waiting = RB_INITIALIZER(&waiting);
static unsigned			nwaiting;

static int
waiting_cmp(const struct waiting *a, const struct waiting *b)
{
	return (a->row.serial < b->row.serial ? -1 :
	    a->row.serial > b->row.serial);
}

static struct waiting *
find(uint64_t serial)
{
	struct waiting key;

	key.row.serial = serial;
	return (RB_FIND(waiting_tree, &waiting, &key));
}

static struct waiting *
add(const struct call_row *row, int is_new)
{
	struct waiting *w;

	if ((w = calloc(1, sizeof(*w))) == NULL)
		fatal("store");
	w->row = *row;
	w->is_new = is_new;
	RB_INSERT(waiting_tree, &waiting, w);
	nwaiting++;
	return (w);
}

/* ---- writing ---- */

static int
write_new(const struct call_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_CALL_ADD);

	put_u64(stmt, 1, row->serial);
	put_text(stmt, 2, row->id);
	put_u64(stmt, 3, row->principal);
	put_text(stmt, 4, row->session);
	put_text(stmt, 5, row->neuron);
	put_text(stmt, 6, row->tool);
	put_u64(stmt, 7, row->state);
	put_text(stmt, 8, row->reason);
	sqlite3_bind_int(stmt, 9, row->exit_code);
	sqlite3_bind_int(stmt, 10, row->signal);
	put_u64(stmt, 11, row->asked);
	put_u64(stmt, 12, row->ended);
	put_u64(stmt, 13, row->run_us);
	return (store_run(stmt));
}

static int
write_end(const struct call_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_CALL_END);

	put_u64(stmt, 1, row->serial);
	put_u64(stmt, 2, row->state);
	put_text(stmt, 3, row->reason);
	sqlite3_bind_int(stmt, 4, row->exit_code);
	sqlite3_bind_int(stmt, 5, row->signal);
	put_u64(stmt, 6, row->ended);
	put_u64(stmt, 7, row->run_us);
	return (store_run(stmt));
}

static int
write_transcript(const struct transcript_row *row)
{
	sqlite3_stmt *stmt = store_use(STMT_TRANSCRIPT_ADD);

	put_u64(stmt, 1, row->serial);
	put_text(stmt, 2, row->call);
	put_text(stmt, 3, row->tool);
	put_u64(stmt, 4, row->time);
	put_u64(stmt, 5, row->offset);
	put_u64(stmt, 6, row->record);
	put_u64(stmt, 7, row->length);
	return (store_run(stmt));
}

/* A row that can never be written must not keep the others from it. */
static int
possible(int r)
{
	return (r == 0 || (sqlite3_errcode(store_db()) & 0xff) ==
	    SQLITE_CONSTRAINT);
}

int
store_waiting_write(void)
{
	struct waiting *w;

	RB_FOREACH(w, waiting_tree, &waiting) {
		if (!possible(w->is_new ? write_new(&w->row) :
		    write_end(&w->row)))
			return (-1);
		if (w->has_transcript &&
		    !possible(write_transcript(&w->transcript)))
			return (-1);
	}
	return (0);
}

void
store_waiting_forget(void)
{
	struct waiting *w, *next;

	RB_FOREACH_SAFE(w, waiting_tree, &waiting, next) {
		RB_REMOVE(waiting_tree, &waiting, w);
		free(w);
	}
	nwaiting = 0;
}

int
store_flush(void)
{
	if (nwaiting == 0)
		return (0);
	if (store_begin() == -1)
		return (-1);
	if (store_waiting_write() == 0 && store_commit() == 0) {
		store_waiting_forget();
		return (0);
	}
	store_rollback();
	return (-1);
}

sqlite3_stmt *
store_ask(enum store_stmt which)
{
	(void)store_flush();
	return (store_use(which));
}

/* ---- what waits ---- */

int
store_call_add(const struct call_row *row)
{
	if (nwaiting >= WAITING_MOST && store_flush() == -1)
		return (-1);
	(void)add(row, 1);
	return (0);
}

/* A call that may not be written now has been let in: its end is kept. */
void
store_call_end(const struct call_row *row)
{
	struct waiting *w;

	if ((w = find(row->serial)) != NULL)
		w->row = *row;
	else
		(void)add(row, 0);
}

/*
 * One that comes when its call's end is written already is written at once: so
 * what recovery finds of the one it finds of the other.  Those that stand
 * before it in the file are written first: what is before one that the index
 * has, and is not in it, is taken for erased.
 */
int
store_transcript_add(const struct transcript_row *row)
{
	struct waiting *w;

	if ((w = find(row->serial)) == NULL)
		return (store_flush() == -1 ? -1 : write_transcript(row));
	if (w->has_transcript)
		return (-1);
	w->transcript = *row;
	w->has_transcript = 1;
	return (0);
}

int
store_call_add_keyed(const struct call_row *row,
    const uint8_t key[IDEMPOTENT_KEY], const uint8_t same[IDEMPOTENT_KEY])
{
	if (store_flush() == -1 || store_begin() == -1)
		return (-1);
	if (write_new(row) == 0 &&
	    store_idempotent_add(key, same, row->serial) == 0 &&
	    store_commit() == 0)
		return (0);
	store_rollback();
	return (-1);
}
