/*
 * Reading the mark from a copy of the database, so that what is examined
 * stays as it is: SQLite would recover the write-ahead log in place.
 */
#include <sys/stat.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "mark.h"

/* SQLite's locking bytes: who has the database open for good holds them. */
#define PENDING_BYTE	0x40000000
#define LOCK_BYTES	512

/*
 * SQLite is loaded when it is needed: linked, it would cost 0.3 ms of every
 * "myelinctl run".
 */
#define SQLITE_LIBRARY	"libsqlite3.so.0"

static struct {
	__typeof__(&sqlite3_open_v2)	open_v2;
	__typeof__(&sqlite3_close)	close;
	__typeof__(&sqlite3_errmsg)	errmsg;
	__typeof__(&sqlite3_prepare_v2)	prepare_v2;
	__typeof__(&sqlite3_step)	step;
	__typeof__(&sqlite3_finalize)	finalize;
	__typeof__(&sqlite3_column_int64) column_int64;
	__typeof__(&sqlite3_column_text) column_text;
} lib;

#define FUNCTION(name)	{ "sqlite3_" #name, (void **)(void *)&lib.name }

static const struct {
	const char	*name;
	void		**at;
} functions[] = {
	FUNCTION(open_v2), FUNCTION(close), FUNCTION(errmsg),
	FUNCTION(prepare_v2), FUNCTION(step), FUNCTION(finalize),
	FUNCTION(column_int64), FUNCTION(column_text),
};

static int
load_library(void)
{
	void *handle;
	size_t i;

	if ((handle = dlopen(SQLITE_LIBRARY, RTLD_NOW | RTLD_LOCAL)) == NULL) {
		complain("%s", dlerror());
		advise("install libsqlite3-0");
		return (-1);
	}
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		*functions[i].at = dlsym(handle, functions[i].name);
		if (*functions[i].at == NULL) {
			complain("%s: no %s in it", SQLITE_LIBRARY,
			    functions[i].name);
			return (-1);
		}
	}
	return (0);
}

/* ---- the copy ---- */

static int
copy_bytes(int from, int to)
{
	char buf[64 * 1024];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0) {
		if (write(to, buf, (size_t)n) != n)
			return (-1);
	}
	return (n == 0 ? 0 : -1);
}

/* 0; 1 if there is no such file; -1 with errno. */
static int
copy_file(int dir, const char *name, const char *to)
{
	int in, out, ok;

	in = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (in == -1)
		return (errno == ENOENT ? 1 : -1);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ok = out == -1 ? -1 : copy_bytes(in, out);
	close(in);
	if (out != -1)
		close(out);
	return (ok);
}

/*
 * An instance that runs changes both files while they are read.  Its policyd
 * holds the database's lock from start to end.
 */
static int
in_use(int dir)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
	    .l_start = PENDING_BYTE, .l_len = LOCK_BYTES };
	int fd, used;

	fd = openat(dir, "state.db", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return (0);
	used = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	close(fd);
	return (used);
}

/* ---- the question ---- */

static int
take_row(sqlite3_stmt *stmt, uint64_t *sequence, char hash[CHAIN_HASH])
{
	const char *text;

	if (lib.step(stmt) != SQLITE_ROW)
		return (-1);
	*sequence = (uint64_t)lib.column_int64(stmt, 0);
	text = (const char *)lib.column_text(stmt, 1);
	if (text == NULL || strlen(text) != CHAIN_HASH - 1)
		return (-1);
	memcpy(hash, text, CHAIN_HASH);
	return (0);
}

static int
ask(const char *path, const char *name, uint64_t *sequence,
    char hash[CHAIN_HASH])
{
	static const char sql[] = "SELECT sequence, hash FROM mark "
	    "ORDER BY sequence DESC LIMIT 1";
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	int ok = -1;

	if (lib.open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
	    lib.prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK)
		ok = take_row(stmt, sequence, hash);
	if (ok == -1) {
		complain("%s/state.db: no mark in it: %s", name,
		    db == NULL ? "out of memory" : lib.errmsg(db));
		advise("without its mark, a cut end of the log can't be seen");
	}
	lib.finalize(stmt);
	lib.close(db);
	return (ok);
}

int
mark_read(int dir, const char *name, uint64_t *sequence,
    char hash[CHAIN_HASH])
{
	char place[] = "/tmp/myelinctl-XXXXXX", db[64], wal[64], shm[64];
	int ok = -1, copied;

	if (in_use(dir)) {
		complain("%s: the instance is running", name);
		advise("myelinctl audit verify, without a directory, asks it");
		return (-1);
	}
	if (load_library() == -1)
		return (-1);
	if (mkdtemp(place) == NULL) {
		complain("/tmp: %s", strerror(errno));
		return (-1);
	}
	snprintf(db, sizeof(db), "%s/state.db", place);
	snprintf(wal, sizeof(wal), "%s/state.db-wal", place);
	snprintf(shm, sizeof(shm), "%s/state.db-shm", place);
	copied = copy_file(dir, "state.db", db);
	if (copied == 1)
		errno = ENOENT;
	if (copied != 0 || copy_file(dir, "state.db-wal", wal) == -1)
		complain("%s/state.db: %s", name, strerror(errno));
	else
		ok = ask(db, name, sequence, hash);
	unlink(db);
	unlink(wal);
	unlink(shm);
	rmdir(place);
	return (ok);
}
