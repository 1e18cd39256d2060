/* Anchors and wake-ups. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "audit_news.h"

#define ANCHOR_RECORDS	1000
#define ANCHOR_US	(UINT64_C(600) * 1000000)

static struct audit_mark synced;
static uint64_t		 anchored;	/* the sequence of the last anchor */
static uint64_t		 anchored_at;
static uint64_t		 asked_at;
static int		 armed;

static void
anchor(void)
{
	char fields[160];

	if (synced.sequence == anchored)
		return;
	anchored = synced.sequence;
	anchored_at = now_us();
	snprintf(fields, sizeof(fields), "MYELIN_AUDIT_SEQUENCE=%" PRIu64
	    "\nMYELIN_AUDIT_HASH=%s\n", synced.sequence, synced.hash);
	log_event(LOG_AUDIT_ANCHOR, fields, "audit anchor %" PRIu64 ":%s",
	    synced.sequence, synced.hash);
}

static void
tell(void)
{
	struct imsg *m;

	if (!armed || synced.sequence <= asked_at ||
	    api_operator.channel == NULL)
		return;
	armed = 0;
	if ((m = imsg_new(MSG_AUDIT_NEWS)) == NULL)
		fatal("audit");
	imsg_put_u64(m, synced.sequence);
	channel_send(api_operator.channel, m);
}

void
audit_news_synced(const struct audit_mark *mark)
{
	synced = *mark;
	if (audit_weighs() || synced.sequence - anchored >= ANCHOR_RECORDS)
		anchor();
	tell();
}

void
audit_news_chores(void)
{
	if (now_us() - anchored_at >= ANCHOR_US)
		anchor();
}

void
audit_news_end(void)
{
	anchor();
	armed = 0;
	anchored = anchored_at = asked_at = 0;
	audit_mark_init(&synced);
}

uint64_t
audit_news_last(void)
{
	return (synced.sequence);
}

void
audit_news_asked(void)
{
	asked_at = synced.sequence;
	armed = 1;
}
