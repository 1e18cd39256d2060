/*
 * What the files imsg*.c share; nobody else includes it.
 */
#ifndef MYELIN_IMSG_INTERNAL_H
#define MYELIN_IMSG_INTERNAL_H

#include <sys/queue.h>
#include <stddef.h>
#include <stdint.h>

#include "codec.h"
#include "imsg.h"
#include "log.h"		/* __printflike */

#define IMSG_HEADER	8	/* u16 type, u8 fds, u8 flags, u32 length */
#define IMSG_F_MORE	0x1	/* another message follows in the packet */
#define IMSG_BUNDLE	8	/* messages of a packet at most */
#define QUEUE_MAX_BYTES	(4 * 1024 * 1024)
#define QUEUE_MAX_COUNT	4096

struct imsg {
	TAILQ_ENTRY(imsg) entry;
	enum msg_type	 type;
	struct enc	*enc;		/* sending */
	struct dec	 dec;		/* receiving */
	int		 ended;
	unsigned	 nfds;
	int		 fds[MSG_MAX_FDS_NEURON];
};
TAILQ_HEAD(imsg_queue, imsg);

struct channel {
	int		 fd;
	enum channel_kind kind;
	enum channel_end end;
	enum channel_state state;
	const struct channel_ops *ops;
	void		*arg;
	struct imsg_queue queue;
	size_t		 queued_bytes;
	size_t		 queued_count;
	int		 shut;		/* nothing can be sent any more */
	int		 starved;	/* the last try failed for fds in flight */
	int		 full;		/* the last try failed: wait for room */
	int		 dead;
	int		 told;
	int		 holds;		/* frames that still use it */
	int		 freed;
	char		 reason[160];
	/* The event glue: told when there is something to write or a death. */
	void		(*wake)(struct channel *);
	/* Told of messages that may wait so long, in us, and of their going. */
	void		(*soon)(struct channel *, unsigned us);
	void		(*calm)(struct channel *);
	int		 soon_set;
	void		(*detach)(struct channel *);
	void		*glue;
};

void	channel_hold(struct channel *);
/* Returns 1 if the channel was freed meanwhile and is gone now. */
int	channel_release(struct channel *);
/*
 * 1 if a packet may have several messages, of which the last alone has fds:
 * where several are said of each call, a wake-up for each costs most.
 */
int	channel_bundles(const struct channel *);
/* Tells the owner of a death, once. */
void	channel_tell(struct channel *);
/* The one error path: dead from now on; the owner hears of it from the loop. */
void	channel_die(struct channel *, const char *, ...) __printflike(2, 3);
/* Sends what is queued.  1 all sent, 0 try later, -1 shut. */
int	channel_flush(struct channel *);

/* A message and the fds of it that nobody claimed; NULL is fine. */
void	imsg_free(struct imsg *);
/* Closes them and makes each -1; errno stays. */
void	imsg_close_fds(int *fds, unsigned n);
/* A line of the log for each message, where channel_trace() asked for it. */
void	imsg_trace(const struct channel *, const char *verb, unsigned type,
	    size_t size, unsigned nfds);

/* NULL if channel, direction, size and number of fds are what the row says;
 * else how the message differs, as words after "is". */
const char *imsg_row_mismatch(const struct msg_row *, const struct channel *,
	    enum msg_dir, size_t size, unsigned nfds);
/* 1 if each fd of the message is of the kind that the row says. */
int	imsg_kinds_ok(const struct msg_row *, const struct imsg *);

#endif
