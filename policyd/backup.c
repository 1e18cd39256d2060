/* Backups: the copy of the database, a piece at a time. */

#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "audit.h"
#include "backup.h"
#include "policyd.h"
#include "store.h"
#include "sync.h"

#define NAME		"backup.db"
#define NAME_NEW	"backup.db.new"
#define COPY_US		UINT64_C(3600000000)	/* to copy the other files */

static struct {
	int		 active;
	struct reply_to	 to;
	char		 who[PEER_WHO];
	struct event	*timer;
	struct audit_mark mark;
} job;
static int	dirfd = -1;
static uint64_t	made;			/* now_us(); 0: none is there */

static void	step(int, short, void *);

int
backup_start(int fd)
{
	backup_end();
	if (fd == -1)
		return (0);
	if ((dirfd = fcntl(fd, F_DUPFD_CLOEXEC, 0)) == -1) {
		log_warn("backup");
		return (-1);
	}
	(void)unlinkat(dirfd, NAME, 0);
	(void)unlinkat(dirfd, NAME_NEW, 0);
	return (0);
}

static void
over(void)
{
	event_free(job.timer);
	job.timer = NULL;
	job.active = 0;
}

static void
failed(void)
{
	struct refusal r;

	store_copy_end();
	(void)unlinkat(dirfd, NAME_NEW, 0);
	refuse_later(&r, 503, "unavailable", 5, "the database can not be "
	    "copied; the service's log says why");
	reply_refusal(&job.to, &r);
	over();
}

/* On the disk under its own name, which is the promise that it is whole. */
static int
keep(struct stat *st)
{
	int fd, r;

	if ((fd = openat(dirfd, NAME_NEW, O_RDONLY | O_CLOEXEC |
	    O_NOFOLLOW)) == -1)
		return (-1);
	/* without a flag it would be another system call, which is denied */
	(void)unlinkat(dirfd, NAME, 0);
	r = fstat(fd, st) == -1 || fchmod(fd, 0600) == -1 ||
	    fdatasync(fd) == -1 || renameat2(dirfd, NAME_NEW, dirfd, NAME,
	    RENAME_NOREPLACE) == -1 ? -1 : 0;
	close(fd);
	return (r);
}

static void
whole(void)
{
	struct stat st;

	if (keep(&st) == -1) {
		log_warn("backup");
		failed();
		return;
	}
	made = now_us();
	log_info_of(&(struct log_about){ .request = job.to.id },
	    "a backup was made for operator %s", job.who);
	audit_append_for(&job.to, "backup.made", json_pack("{s:s,s:I,s:I}",
	    "operator", job.who, "bytes", (json_int_t)st.st_size,
	    "sequence", (json_int_t)job.mark.sequence));
	/* the log, too, is to have all that the copy knows */
	if (sync_now() == -1) {
		failed();
		return;
	}
	reply_json(&job.to, 200, json_pack("{s:s,s:I,s:I}", "database", NAME,
	    "bytes", (json_int_t)st.st_size,
	    "sequence", (json_int_t)job.mark.sequence));
	over();
}

static void
again(void)
{
	struct timeval tv = us_timeval(1);

	evtimer_add(job.timer, &tv);
}

static void
step(int fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	switch (store_copy_step()) {
	case 0:
		again();
		break;
	case 1:
		whole();
		break;
	default:
		failed();
	}
}

void
backup_ask(const struct reply_to *to, const struct peer *peer)
{
	struct refusal r;

	if (job.active) {
		refuse(&r, 409, "conflict", "a backup is being made already");
		reply_refusal(to, &r);
		return;
	}
	if (dirfd == -1 || sync_now() == -1) {
		refuse_later(&r, 503, "unavailable", 5, "store_full: the "
		    "state can not be written");
		reply_refusal(to, &r);
		return;
	}
	memset(&job, 0, sizeof(job));
	job.to = *to;
	job.active = 1;
	strlcpy(job.who, peer->who, sizeof(job.who));
	audit_head(&job.mark);
	if ((job.timer = evtimer_new(policyd_base(), step, NULL)) == NULL)
		fatal("backup");
	(void)unlinkat(dirfd, NAME_NEW, 0);
	/* SQLite opens by name, and the state is where this process is root. */
	if (store_copy_begin("/" NAME_NEW) == -1)
		failed();
	else
		again();
}

int
backup_copies(void)
{
	if (job.active)
		return (1);
	if (made == 0)
		return (0);
	if (faccessat(dirfd, NAME, F_OK, 0) == -1 ||
	    now_us() - made > COPY_US)
		made = 0;
	return (made != 0);
}

void
backup_end(void)
{
	if (job.active) {
		store_copy_end();
		over();
	}
	if (dirfd != -1)
		close(dirfd);
	dirfd = -1;
	made = 0;
}
