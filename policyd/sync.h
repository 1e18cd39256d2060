/*
 * When things reach the disk: at once where a decision must not be lost, else
 * within 100 ms.
 */
#ifndef MYELIN_POLICYD_SYNC_H
#define MYELIN_POLICYD_SYNC_H

struct event_base;

/* 0, or -1 when memory is out. */
int	sync_start(struct event_base *);
void	sync_end(void);
/* Something was written: it is synced by the timer. */
void	sync_soon(void);
/* 1 if there is something that it has not reached. */
int	sync_due(void);
/* The audit log and then the mark, now.  -1: the disk is full or broken. */
int	sync_now(void);
/* 1 if the last write failed and trying again failed too. */
int	sync_full(void);
/* Says that a write failed, so that new calls are refused. */
void	sync_failed(void);
/*
 * A session's end is written; where it can't be, it is kept and written as
 * soon as it can.
 */
struct session_row;
void	sync_session_end(const struct session_row *);

#endif
