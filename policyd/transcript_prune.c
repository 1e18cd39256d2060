/* Transcripts: removing those that are old or too many, a piece at a time. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "conf.h"
#include "sync.h"
#include "transcript.h"

#define PIECE		200		/* rows, then calls come between */
#define PIECE_US	1000
#define DAY_US		(UINT64_C(86400) * 1000000)

/* One at a time: an operator's, the day's, or one for the size. */
static struct job {
	int		 active;
	int		 look;		/* only counts */
	uint64_t	 before;	/* us of the day; 0: not by time */
	uint64_t	 size;		/* bytes that may stay; UINT64_MAX: any */
	uint64_t	 cursor;
	uint64_t	 removed, bytes;
	uint32_t	 seconds;
	struct reply_to	 to;		/* api NULL: nobody asked */
	char		 who[PEER_WHO];
} job;

static struct event	*timer;
static uint64_t		 last_day;	/* when it was last done */

struct piece {
	struct transcript_row	 rows[PIECE];
	size_t			 n;
	size_t			 seen;
	uint64_t		 last;
	uint64_t		 bytes;		/* of rows */
};

static int
wanted(const struct transcript_row *row, uint64_t bytes)
{
	if (job.before != 0 && row->time < job.before)
		return (1);
	return (job.size != UINT64_MAX &&
	    transcript_bytes() > job.size + bytes);
}

static int
piece_row(void *arg, const struct transcript_row *row)
{
	struct piece *p = arg;

	p->seen++;
	p->last = row->serial;
	if (wanted(row, p->bytes)) {
		p->rows[p->n++] = *row;
		p->bytes += row->length;
	}
	return (0);
}

static void
finish(const char *error)
{
	struct refusal r;

	job.active = 0;
	if (!job.look && (job.removed > 0 || job.to.api != NULL)) {
		audit_append_for(&job.to, "transcripts.pruned", json_pack(
		    "{s:o,s:o,s:I,s:I}", "operator",
		    json_text_or_null(job.who), "older_than_s",
		    job.before != 0 ? json_integer(job.seconds) : json_null(),
		    "transcripts", (json_int_t)job.removed,
		    "bytes", (json_int_t)job.bytes));
		(void)sync_now();
		log_info("transcripts: %" PRIu64 " removed, %" PRIu64
		    " bytes", job.removed, job.bytes);
	}
	if (job.to.api == NULL)
		return;
	if (error != NULL) {
		refuse_later(&r, 503, "unavailable", 5, "%s", error);
		reply_refusal(&job.to, &r);
		return;
	}
	reply_json(&job.to, 200, json_pack("{s:I,s:b,s:I,s:I,s:I}",
	    "older_than_s", (json_int_t)job.seconds, "dry_run", job.look,
	    "transcripts", (json_int_t)job.removed,
	    "bytes", (json_int_t)job.bytes,
	    "left_bytes", (json_int_t)transcript_bytes()));
}

/*
 * Serials rise with time but for calls that took long: a piece in which
 * nothing is to go is the last one.
 */
static void
step(int fd, short what, void *arg)
{
	struct timeval tv = { 0, PIECE_US };
	struct piece *p;
	int more;

	(void)fd;
	(void)what;
	(void)arg;
	if ((p = calloc(1, sizeof(*p))) == NULL)
		fatal("transcripts");
	if (store_transcripts(job.cursor, PIECE, piece_row, p) == -1) {
		free(p);
		finish("the store can not be read");
		return;
	}
	job.cursor = p->last;
	/* behind the mark no recovery finds them: what is gone stays gone */
	if (!job.look && p->n > 0 && sync_due())
		(void)sync_now();
	if (!job.look && p->n > 0 && transcript_remove(p->rows, p->n) == -1) {
		free(p);
		finish("the store can not be written");
		return;
	}
	job.removed += p->n;
	job.bytes += p->bytes;
	more = p->seen == PIECE && p->n > 0;
	free(p);
	if (more)
		evtimer_add(timer, &tv);
	else
		finish(NULL);
}

static void
begin(uint64_t before, uint64_t size)
{
	memset(&job, 0, sizeof(job));
	job.active = 1;
	job.before = before;
	job.size = size;
}

int
prune_start(struct event_base *base)
{
	prune_end();
	timer = evtimer_new(base, step, NULL);
	return (timer != NULL ? 0 : -1);
}

void
prune_end(void)
{
	if (timer != NULL)
		event_free(timer);
	timer = NULL;
	memset(&job, 0, sizeof(job));
	last_day = 0;
}

void
prune_chores(void)
{
	uint64_t now = now_us(), size = conf_limit(LIMIT_TRANSCRIPTS_SIZE);
	uint64_t kept = conf_limit(LIMIT_TRANSCRIPTS);

	if (timer == NULL || job.active)
		return;
	if (last_day == 0 || now - last_day >= DAY_US) {
		last_day = now;
		begin(wall_us() - kept * 1000000, size);
		job.seconds = (uint32_t)kept;
		event_active(timer, EV_TIMEOUT, 0);
	} else if (transcript_bytes() > size) {
		/* a tenth less, so that this is not for each call */
		begin(0, size - size / 10);
		event_active(timer, EV_TIMEOUT, 0);
	}
}

void
prune_ask(const struct reply_to *to, const struct peer *peer,
    uint32_t seconds, int look)
{
	uint64_t age = (uint64_t)seconds * 1000000, now = wall_us();
	struct refusal r;

	if (timer == NULL || job.active) {
		refuse(&r, 409, "conflict", "transcripts are being removed "
		    "already; try again");
		reply_refusal(to, &r);
		return;
	}
	begin(age < now ? now - age : 1, UINT64_MAX);
	job.look = look;
	job.seconds = seconds;
	job.to = *to;
	strlcpy(job.who, peer->who, sizeof(job.who));
	event_active(timer, EV_TIMEOUT, 0);
}
