/* The timer that syncs, and the flag of a full disk. */

#include <sys/queue.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "audit_news.h"
#include "call.h"
#include "conf.h"
#include "store.h"
#include "sync.h"
#include "util.h"

#define SYNC_US		100000	/* design: everything within 100 ms */
#define RETRY_US	1000000	/* after a failure */

/* An end that could not be written when it came. */
struct late {
	TAILQ_ENTRY(late) entry;
	struct session_row session;
};

static TAILQ_HEAD(, late) lates = TAILQ_HEAD_INITIALIZER(lates);
static struct event	*timer;
static int		 armed;
static int		 failed;

static void
sync_arm(uint64_t us)
{
	struct timeval tv = us_timeval(us);

	if (armed || timer == NULL)
		return;
	evtimer_add(timer, &tv);
	armed = 1;
}

static void
sync_timer(int fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	armed = 0;
	sync_now();
}

int
sync_start(struct event_base *base)
{
	sync_end();
	timer = evtimer_new(base, sync_timer, NULL);
	return (timer != NULL ? 0 : -1);
}

void
sync_end(void)
{
	if (timer != NULL)
		event_free(timer);
	timer = NULL;
	armed = failed = 0;
}

void
sync_soon(void)
{
	sync_arm(SYNC_US);
}

void
sync_session_end(const struct session_row *row)
{
	struct late *late;

	if (TAILQ_EMPTY(&lates) && store_session_end(row) == 0)
		return;
	if ((late = calloc(1, sizeof(*late))) == NULL)
		fatal("sync");
	late->session = *row;
	late->session.workspace = NULL;	/* its owner's, and not needed */
	late->session.rules = NULL;
	TAILQ_INSERT_TAIL(&lates, late, entry);
	sync_failed();
}

static int
late_write(void)
{
	struct late *late;

	while ((late = TAILQ_FIRST(&lates)) != NULL) {
		if (store_session_end(&late->session) == -1)
			return (-1);
		TAILQ_REMOVE(&lates, late, entry);
		free(late);
	}
	return (0);
}

int
sync_due(void)
{
	return (armed);
}

int
sync_now(void)
{
	struct audit_mark mark;

	if (audit_sync(&mark) == -1 || late_write() == -1 || store_sync(&mark,
	    call_live_from()) == -1) {
		sync_failed();
		return (-1);
	}
	if (failed)
		log_event(LOG_STORE_AGAIN, "", "the store can be written "
		    "again");
	failed = 0;
	audit_news_synced(&mark);
	if (audit_rotate(conf_limit(LIMIT_AUDIT_FILE)))
		sync_soon();
	return (0);
}

void
sync_failed(void)
{
	const char *why = strerrordesc_np(errno);

	if (!failed)
		log_alarm(LOG_STORE_FULL, "", "the store can not be written; "
		    "new calls are refused: %s", why != NULL ? why :
		    "unknown error");
	failed = 1;
	sync_arm(RETRY_US);
}

int
sync_full(void)
{
	return (failed && sync_now() == -1);
}
