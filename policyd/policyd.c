/* Start and end: the store, what a process before left, the timers. */

#include "config.h"

#include <sys/mman.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "api.h"
#include "approval.h"
#include "audit.h"
#include "audit_news.h"
#include "backup.h"
#include "budget.h"
#include "call.h"
#include "drain.h"
#include "egress.h"
#include "home.h"
#include "keys.h"
#include "mcpkey.h"
#include "policyd.h"
#include "recover.h"
#include "secrets.h"
#include "session.h"
#include "store.h"
#include "sync.h"
#include "transcript.h"
#include "without.h"

#define ROWS_KEPT_US	(UINT64_C(30) * 86400 * 1000000) /* calls, sessions */
#define CHORES_US	60000000
#define SOURCES_BYTES	(32 * 1024)	/* of files' names in a record */

static struct event_base	*base;
static struct event		*chores;
static uint64_t			 started;

struct event_base *
policyd_base(void)
{
	return (base);
}

uint64_t
policyd_uptime(void)
{
	return (now_us() - started);
}

/* A row stays for as long as its transcript: who may see it is in the row. */
static uint64_t
rows_kept(void)
{
	uint64_t us = conf_limit(LIMIT_TRANSCRIPTS) * 1000000;

	return (us > ROWS_KEPT_US ? us : ROWS_KEPT_US);
}

/* Once a minute: rows that are too old, identities that nobody holds. */
static void
do_chores(int fd, short what, void *arg)
{
	struct timeval tv = us_timeval(CHORES_US);

	(void)fd;
	(void)what;
	(void)arg;
	ident_sweep();
	kept_expire();
	prune_chores();
	idempotent_sweep();
	audit_news_chores();
	keys_chores();
	egress_chores();
	homes_chores();
	/* a piece at a time, then again soon, so that calls come between */
	if (store_trim(wall_us() - rows_kept()))
		tv = us_timeval(20000);
	evtimer_add(chores, &tv);
}

/* ---- start ---- */

/*
 * Adds to a record what is in force: the files that it was read from, as far
 * as there is room, and how many more there are.
 */
static json_t *
with_config(json_t *record)
{
	const struct strings *sources = &conf()->sources;
	json_t *list = json_array();
	size_t i, bytes = 0;
	const char *path;

	for (i = 0; i < sources->n && bytes < SOURCES_BYTES; i++) {
		if ((path = strchr(sources->v[i], ' ')) == NULL)
			continue;
		json_array_append_new(list, json_pack("{s:o,s:o}",
		    "file", json_text(path + 1), "sha256",
		    json_stringn(sources->v[i],
		    (size_t)(path - sources->v[i]))));
		/* what is no ASCII takes six bytes for two */
		bytes += 3 * strlen(path) + 128;
	}
	json_object_set_new(record, "generation",
	    json_integer((json_int_t)conf()->generation));
	json_object_set_new(record, "files_more",
	    json_integer((json_int_t)(sources->n - json_array_size(list))));
	json_object_set_new(record, "files", list);
	json_object_set_new(record, "self_approval",
	    json_boolean(conf_limit(LIMIT_SELF_APPROVAL) != 0));
	return (record);
}

static int
start(struct event_base *with, int dirfd, int audit_fd)
{
	struct audit_mark mark;
	uint64_t live_from;

	base = with;
	started = now_us();
	if (mcpkey_start(dirfd) == -1 ||
	    store_mark_get(&mark, &live_from) == -1 ||
	    audit_open(audit_fd, dirfd, &mark) == -1)
		return (-1);
	audit_append("service.started", with_config(json_pack("{s:s,s:o}",
	    "version", PACKAGE_VERSION WITHOUT_VERSION,
	    "instance", json_text_or_null(conf()->instance))));
	if (homes_start() == -1 || keys_start() == -1 ||
	    recover(&mark, live_from) == -1 ||
	    approvals_recover() == -1 || transcript_open(dirfd) == -1 ||
	    backup_start(dirfd) == -1 || secrets_start() == -1)
		return (-1);
	recover_done();
	if (sync_start(base) == -1 || prune_start(base) == -1 ||
	    (chores = evtimer_new(base, do_chores, NULL)) == NULL) {
		log_warnx("timers");
		return (-1);
	}
	if (sync_now() == -1)
		return (-1);
	do_chores(-1, 0, NULL);
	return (0);
}

int
policyd_start(struct event_base *with, const char *dir)
{
	char path[PATH_BYTES_MAX];
	int dirfd, fd, r;

	snprintf(path, sizeof(path), "%s/state.db",
	    strcmp(dir, "/") == 0 ? "" : dir);
	if ((dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		log_warn("%s", dir);
		return (-1);
	}
	/* First, as whoever has it may not be through with its records. */
	if (store_open(path) == -1) {
		close(dirfd);
		return (-1);
	}
	if ((fd = openat(dirfd, "audit.jsonl", O_RDWR | O_APPEND | O_CREAT |
	    O_CLOEXEC | O_NOFOLLOW, 0600)) == -1) {
		log_warn("audit.jsonl");
		store_close();
		close(dirfd);
		return (-1);
	}
	/* the names themselves must be on the disk, too */
	if (fsync(dirfd) == -1)
		log_warn("%s", dir);
	r = start(with, dirfd, fd);
	close(dirfd);
	return (r);
}

int
policyd_start_memory(struct event_base *with)
{
	int fd;

	if ((fd = memfd_create("audit", MFD_CLOEXEC)) == -1 ||
	    store_open(":memory:") == -1)
		return (-1);
	return (start(with, -1, fd));
}

void
policyd_reloaded(void)
{
	audit_append("config.reloaded", with_config(json_object()));
	sync_soon();
}

void
policyd_stop(void)
{
	if (base == NULL)
		return;
	call_all_interrupted();
	kept_reader_lost();
	session_all_interrupted();
	approvals_end();
	egress_chores();
	audit_append("service.stopped", NULL);
	if (sync_now() == -1)
		log_warnx("the last records are not on the disk");
	audit_news_end();
	sync_end();
	event_free(chores);
	chores = NULL;
	kept_clear();
	drain_end();
	prune_end();
	backup_end();
	transcript_close();
	secrets_end();
	keys_end();
	homes_end();
	store_close();
	audit_close();
	base = NULL;
}
