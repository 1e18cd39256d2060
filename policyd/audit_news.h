/*
 * What leaves policyd of the audit log when records have reached the disk:
 * wake-ups for the operator's apid, and anchors in the journal, so that a log
 * that was written anew as a whole can be told from the one that was.
 */
#ifndef MYELIN_POLICYD_AUDIT_NEWS_H
#define MYELIN_POLICYD_AUDIT_NEWS_H

#include "audit.h"

/* All up to here is on the disk. */
void	audit_news_synced(const struct audit_mark *);
/* Once a minute: an anchor for what has had none for long. */
void	audit_news_chores(void);
/* At the end: for all that is synced. */
void	audit_news_end(void);

/* The last that is on the disk for certain. */
uint64_t audit_news_last(void);
/* QUERY_AUDIT was answered with that: what is more is news. */
void	audit_news_asked(void);

#endif
