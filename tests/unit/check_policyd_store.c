/* The database: migrations, refusals, rows. */

#include <sys/wait.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "../../policyd/store.h"
#include "unit.h"

static char	dir[64], path[128];

static void
set_up(void)
{
	snprintf(dir, sizeof(dir), "/tmp/check-store.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/state.db", dir);
}

static void
tear_down(void)
{
	char wal[160];

	store_close();
	unlink(path);
	snprintf(wal, sizeof(wal), "%s-wal", path);
	unlink(wal);
	rmdir(dir);
}

static void
raw(const char *sql)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

START_TEST(opens_again)
{
	ck_assert_int_eq(store_open(path), 0);
	store_close();
	ck_assert_int_eq(store_open(path), 0);
}
END_TEST

/* Whoever has it ends, but not at once. */
START_TEST(another_is_waited_for)
{
	int fds[2], status;
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_ne(pid = fork(), -1);
	if (pid == 0) {
		if (store_open(path) == -1 || write(fds[1], "", 1) != 1)
			_exit(1);
		usleep(500000);
		store_close();
		_exit(0);
	}
	close(fds[1]);
	ck_assert_int_eq(read(fds[0], &c, 1), 1);
	close(fds[0]);
	ck_assert_int_eq(store_open(path), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(newer_is_refused)
{
	ck_assert_int_eq(store_open(path), 0);
	store_close();
	raw("PRAGMA user_version = 99");
	ck_assert_int_eq(store_open(path), -1);
}
END_TEST

START_TEST(damaged_is_refused)
{
	char junk[4096];
	int fd;

	memset(junk, 'x', sizeof(junk));
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, junk, sizeof(junk)), sizeof(junk));
	close(fd);
	ck_assert_int_eq(store_open(path), -1);
}
END_TEST

/* A page in the middle is overwritten. */
START_TEST(broken_page_is_refused)
{
	char junk[4096];
	int fd;

	ck_assert_int_eq(store_open(path), 0);
	store_close();
	memset(junk, 0xa5, sizeof(junk));
	fd = open(path, O_WRONLY);
	ck_assert_int_eq(pwrite(fd, junk, sizeof(junk), 4096), sizeof(junk));
	close(fd);
	ck_assert_int_eq(store_open(path), -1);
}
END_TEST

START_TEST(foreign_is_refused)
{
	raw("CREATE TABLE recipes (name TEXT)");
	ck_assert_int_eq(store_open(path), -1);
}
END_TEST

START_TEST(steps)
{
	static const char *const some[] = {
		"CREATE TABLE a (x INTEGER)",
		"ALTER TABLE a ADD COLUMN y INTEGER DEFAULT 5",
		"CREATE TABLE b (x INTEGER); NONSENSE",
	};
	char why[256];
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(store_migrate(db, some, 1, why, sizeof(why)), 0);
	sqlite3_exec(db, "INSERT INTO a VALUES (1)", NULL, NULL, NULL);
	ck_assert_int_eq(store_migrate(db, some, 2, why, sizeof(why)), 0);
	ck_assert_int_eq(store_migrate(db, some, 2, why, sizeof(why)), 0);
	ck_assert_int_eq(sqlite3_exec(db, "SELECT y FROM a", NULL, NULL,
	    NULL), SQLITE_OK);
	/* a step that fails leaves nothing of itself */
	ck_assert_int_eq(store_migrate(db, some, 3, why, sizeof(why)), -1);
	ck_assert_ptr_nonnull(strstr(why, "version 3"));
	ck_assert_int_ne(sqlite3_exec(db, "SELECT x FROM b", NULL, NULL,
	    NULL), SQLITE_OK);
	ck_assert_int_eq(store_migrate(db, some, 2, why, sizeof(why)), 0);
	ck_assert_int_eq(store_migrate(db, some, 1, why, sizeof(why)), -1);
	ck_assert_ptr_nonnull(strstr(why, "newer"));
	sqlite3_close(db);
}
END_TEST

static struct call_row
call(uint32_t principal, const char *session, uint64_t asked)
{
	struct call_row row;

	memset(&row, 0, sizeof(row));
	row.serial = store_next_call();
	snprintf(row.id, sizeof(row.id), "c-%llu",
	    (unsigned long long)row.serial);
	row.principal = principal;
	snprintf(row.session, sizeof(row.session), "%s", session);
	snprintf(row.tool, sizeof(row.tool), "exec");
	row.state = CALL_QUEUED;
	row.exit_code = -1;
	row.asked = asked;
	ck_assert_int_eq(store_call_add(&row), 0);
	return (row);
}

static int
count(void *arg, const struct call_row *row)
{
	(void)row;
	(*(unsigned *)arg)++;
	return (0);
}

START_TEST(rows)
{
	struct store_range range = { .principal = 1, .before = UINT64_MAX,
	    .session = "", .most = 100 };
	struct audit_mark mark;
	struct call_row row;
	uint64_t live;
	unsigned n = 0;

	ck_assert_int_eq(store_open(path), 0);
	row = call(1, "s-a", 5000000);
	(void)call(1, "", 6000000);
	(void)call(2, "s-b", 7000000);
	row.state = CALL_COMPLETED;
	row.ended = 9000000;
	row.exit_code = 3;
	store_call_end(&row);
	ck_assert_int_eq(store_calls(&range, count, &n), 0);
	ck_assert_uint_eq(n, 2);
	range.session = "s-a";
	n = 0;
	ck_assert_int_eq(store_calls(&range, count, &n), 0);
	ck_assert_uint_eq(n, 1);
	range.session = "";
	range.any = 1;
	n = 0;
	ck_assert_int_eq(store_calls(&range, count, &n), 0);
	ck_assert_uint_eq(n, 3);
	n = 0;
	ck_assert_int_eq(store_live_calls(0, count, &n), 0);
	ck_assert_uint_eq(n, 2);
	audit_mark_init(&mark);
	mark.sequence = 42;
	ck_assert_int_eq(store_sync(&mark, 2), 0);
	/* all of it is there after a restart */
	store_close();
	ck_assert_int_eq(store_open(path), 0);
	ck_assert_int_eq(store_mark_get(&mark, &live), 0);
	ck_assert_uint_eq(mark.sequence, 42);
	ck_assert_uint_eq(live, 2);
	ck_assert_uint_eq(store_next_call(), 4);
	n = 0;
	ck_assert_int_eq(store_call("c-3", count, &n), 0);
	ck_assert_uint_eq(n, 1);
}
END_TEST

/* Of a call, at a place in the file. */
static void
add_transcript(const struct call_row *row, uint64_t offset)
{
	struct transcript_row t = { .serial = row->serial, .time = 1,
	    .offset = offset, .record = 10, .length = 100 };

	snprintf(t.call, sizeof(t.call), "%s", row->id);
	ck_assert_int_eq(store_transcript_add(&t), 0);
}

/* What a process has done that is killed before it could sync. */
static void
dies_with_a_late_transcript(void)
{
	struct call_row late, next;

	ck_assert_int_eq(store_open(path), 0);
	late = call(1, "", 5000000);
	next = call(1, "", 6000000);
	store_call_end(&late);
	ck_assert_int_eq(store_flush(), 0);
	store_call_end(&next);
	add_transcript(&next, 0);
	/* its end is written already, so this is at once */
	add_transcript(&late, 100);
}

/*
 * The file's order is that in which they came: of two, the index never has
 * the second alone, for the first would be a hole to whoever mends the file.
 */
START_TEST(a_late_transcript_passes_none)
{
	struct transcript_row t;
	int status;
	pid_t pid;

	fflush(NULL);
	ck_assert_int_ne(pid = fork(), -1);
	if (pid == 0) {
		dies_with_a_late_transcript();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(store_open(path), 0);
	ck_assert_int_eq(store_transcript(1, &t), 1);
	ck_assert_uint_eq(t.offset, 100);
	ck_assert_int_eq(store_transcript(2, &t), 1);
	ck_assert_uint_eq(t.offset, 0);
}
END_TEST

static void
add_starts(void *arg, uint32_t principal, uint64_t second, uint32_t n)
{
	uint64_t *sum = arg;

	ck_assert_uint_eq(principal, 1);
	*sum += second * n;
}

START_TEST(starts_and_trim)
{
	struct call_row row;
	uint64_t sum = 0;
	unsigned n = 0;

	ck_assert_int_eq(store_open(path), 0);
	row = call(1, "", 100000000);
	(void)call(1, "s-a", 200000000);	/* a session's: not counted */
	(void)call(1, "", 300000000);
	(void)call(1, "", 300500000);
	ck_assert_int_eq(store_starts(150, add_starts, &sum), 0);
	ck_assert_uint_eq(sum, 600);
	row.state = CALL_FAILED;
	row.ended = 110000000;
	store_call_end(&row);
	/* live ones are never trimmed, however old */
	ck_assert_int_eq(store_trim(UINT64_C(1000000000)), 1);
	ck_assert_int_eq(store_trim(UINT64_C(1000000000)), 0);
	ck_assert_int_eq(store_live_calls(0, count, &n), 0);
	ck_assert_uint_eq(n, 3);
}
END_TEST

/* Rows of the table, also of what is not found any more. */
static void
want_keys(int want)
{
	sqlite3_stmt *stmt;
	sqlite3 *db;

	store_close();
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT COUNT(*) FROM idempotent",
	    -1, &stmt, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	ck_assert_int_eq(sqlite3_column_int(stmt, 0), want);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	ck_assert_int_eq(store_open(path), 0);
}

/* A key lives while its call does, and for so long after it. */
START_TEST(keys)
{
	static const uint8_t a[IDEMPOTENT_KEY] = "a", b[IDEMPOTENT_KEY] = "b",
	    same[IDEMPOTENT_KEY] = "same", other[IDEMPOTENT_KEY] = "other";
	struct call_row row = { .state = CALL_QUEUED, .exit_code = -1 };
	struct idempotent_row key;

	ck_assert_int_eq(store_open(path), 0);
	row.serial = store_next_call();
	ck_assert_int_eq(id_make(ID_CALL, row.id), 0);
	ck_assert_int_eq(store_idempotent(a, 1000, 100, &key), 0);
	ck_assert_int_eq(store_call_add_keyed(&row, a, same), 0);
	ck_assert_int_eq(store_idempotent(a, 1000000, 100, &key), 1);
	ck_assert_str_eq(key.call, row.id);
	ck_assert_mem_eq(key.same, same, IDEMPOTENT_KEY);
	ck_assert_int_eq(store_idempotent(b, 1000, 100, &key), 0);
	/* both or neither: the serial is taken */
	ck_assert_int_eq(store_call_add_keyed(&row, b, same), -1);
	ck_assert_int_eq(store_idempotent(b, 1000, 100, &key), 0);
	row.state = CALL_FAILED;
	row.ended = 1000;
	store_call_end(&row);
	ck_assert_int_eq(store_idempotent_trim(1100, 100), 0);
	want_keys(1);
	ck_assert_int_eq(store_idempotent(a, 1100, 100, &key), 1);
	ck_assert_int_eq(store_idempotent(a, 1101, 100, &key), 0);
	/* another call takes its place */
	row.serial = store_next_call();
	row.ended = 0;
	ck_assert_int_eq(id_make(ID_CALL, row.id), 0);
	ck_assert_int_eq(store_call_add_keyed(&row, a, other), 0);
	ck_assert_int_eq(store_idempotent(a, 1101, 100, &key), 1);
	ck_assert_str_eq(key.call, row.id);
	want_keys(1);
	ck_assert_int_eq(store_idempotent_trim(1000000, 100), 0);
	want_keys(1);
	row.ended = 2000;
	store_call_end(&row);
	ck_assert_int_eq(store_idempotent_trim(2101, 100), 0);
	want_keys(0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_store");
	TCase *tc = tcase_create("store");

	if (store_preload() == -1)
		return (1);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, opens_again);
	tcase_add_test(tc, another_is_waited_for);
	tcase_add_test(tc, newer_is_refused);
	tcase_add_test(tc, damaged_is_refused);
	tcase_add_test(tc, broken_page_is_refused);
	tcase_add_test(tc, foreign_is_refused);
	tcase_add_test(tc, steps);
	tcase_add_test(tc, rows);
	tcase_add_test(tc, a_late_transcript_passes_none);
	tcase_add_test(tc, starts_and_trim);
	tcase_add_test(tc, keys);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
