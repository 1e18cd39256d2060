/*
 * The real policyd among fakes: this program plays supervisord, both apids,
 * judged, neurond and egressd over raw packets, so that it can also send what no
 * honest process would.
 */
#ifndef MYELIN_POLICYD_RIG_H
#define MYELIN_POLICYD_RIG_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "codec.h"
#include "ids.h"
#include "protocol.h"
#include "slice.h"

enum rig_channel {
	RIG_CONTROL, RIG_AGENT, RIG_OPERATOR, RIG_JUDGE, RIG_LAUNCH,
	RIG_EGRESS, RIG_CHANNELS
};

struct rig {
	char		 dir[64];
	struct slice	*slice;
	uid_t		 uid;
	pid_t		 pid;
	int		 fd[RIG_CHANNELS];
	int		 listener[2];		/* agent, operator */
	char		 path[2][128];
	uint32_t	 requests;
	uint32_t	 nofile;	/* open files that policyd may have */
	uint32_t	 generation;		/* sent last */
	int		 ready;
};

/* A message that came. */
struct got {
	unsigned	 type;
	uint8_t		 data[MSG_MAX_SIZE];
	struct dec	 d;
	int		 fds[16];
	unsigned	 nfds;
};

/* What a call needs, and what it got. */
struct rig_call {
	uint32_t	 request;
	char		 id[ID_SIZE];
	char		 session[ID_SIZE];
	char		 neuron[ID_SIZE];
	uint64_t	 sequence;
	uint8_t		 judge_flags;
};

#define RIG_WAIT_MS	60000	/* for anything to come */

#define RIG_USER	2000001001	/* a principal by user line */
#define RIG_MEMBER	2000001002	/* one by group line */
#define RIG_STRANGER	2000001003
#define RIG_GROUP	2000001900
#define RIG_WATCHER	2000001004	/* operator, no audit */

/* A directory, listeners, a configuration that a test may still change. */
void	rig_init(struct rig *);
/* Starts policyd; 0 once it is READY, -1 if it exited instead. */
int	rig_start(struct rig *);
/* Another line for a slice. */
struct cf_principal *rig_principal(struct slice *, enum cf_who, uint32_t id,
	    const char *name, enum cf_owner);
/* CONFIG of the slice as it is now, as another generation. */
void	rig_config(struct rig *);
/* COMMIT, or ABORT, of that. */
void	rig_commit(struct rig *, enum msg_type);
/* CONFIG, CONFIG_OK, COMMIT, COMMITTED. */
void	rig_reload(struct rig *);
/* A new end for a channel; the tools too, if it is judged's. */
void	rig_plumb(struct rig *, enum rig_channel);
void	rig_tools(struct rig *);
/* STOP_PROC; the exit status as of wait(2).  rig_kill: SIGKILL. */
int	rig_stop(struct rig *);
void	rig_kill(struct rig *);
void	rig_end(struct rig *);
int	rig_alive(struct rig *);

/* It is handled after all that was sent on other channels before. */
void	rig_send(int fd, unsigned type, struct enc *, const int *fds,
	    unsigned nfds);
/* 1: or in any order, for floods, and while policyd is stopped. */
extern int	rig_unordered;
/* What the last SESSION_OVER said; rig_recv passes it over. */
extern char	rig_over[ID_SIZE], rig_over_reason[32];
/* How often AUDIT_NEWS came, and what it said; rig_recv passes it over. */
extern unsigned	rig_news;
extern uint64_t	rig_news_last;
/* The homes that the fake neurond has: HOMES_ASK, which rig_recv passes over,
 * is answered by them; how often it came. */
extern char	rig_homes[8][ID_SIZE];
extern unsigned	rig_nhomes, rig_homes_asked;
/* 1: it is not answered, but a message like others. */
extern int	rig_homes_silent;
/* 1 and a message, 0 if none came in time, -1 if the channel is closed. */
int	rig_recv(int fd, int ms, struct got *);
/* The next message, which must be of this type; the test fails if not. */
void	rig_want(struct rig *, enum rig_channel, unsigned type, struct got *);
void	got_close(struct got *);
/* 1 if the other end closes the channel. */
int	rig_closed(struct rig *, enum rig_channel);
/* Closes it, and policyd has noticed. */
void	rig_close(struct rig *, enum rig_channel);

/* A connected socket of this uid as accepted on a plane's listener. */
int	rig_accept(struct rig *, enum cf_plane, uid_t, gid_t, gid_t group);
/* PEER and its answer: a handle, or 0 and what is missing in words. */
uint64_t rig_peer(struct rig *, enum rig_channel, uid_t, gid_t group,
	    char *words, size_t size);

/* The JSON of a REPLY to the request, and its status and retry. */
json_t	*rig_reply(struct rig *, enum rig_channel, uint32_t request,
	    unsigned *status, uint32_t *retry);
json_t	*rig_query(struct rig *, enum rig_channel, uint64_t handle,
	    unsigned what, uint64_t cursor, uint32_t most, const char *id,
	    unsigned *status);
const char *rig_text(const json_t *, const char *path);

/* OPEN as far as NEURON_MAKE, whose neuron's id is copied. */
uint32_t rig_open(struct rig *, uint64_t handle, const char *preset,
	    const char *workspace, uint32_t expires);
void	rig_neuron_up(struct rig *, char neuron[ID_SIZE]);
/* Its listeners, for such a neuron to come before it is up; 0: none. */
extern uint8_t rig_listeners;
/* LISTENER of a neuron. */
void	rig_listener(struct rig *, const char *neuron, uint8_t which);
/* A live session: its id. */
void	rig_session(struct rig *, uint64_t handle, char session[ID_SIZE]);

/* ASK, or ASK_ONCE where session is NULL; returns the request. */
uint32_t rig_ask(struct rig *, uint64_t handle, const char *session,
	    const char *tool);
/* Flags of the ASKs that follow. */
extern uint8_t rig_ask_flags;
/* Their idempotency key, "" for none. */
extern const char *rig_ask_key;
/* ASKED and JUDGE. */
void	rig_asked(struct rig *, uint32_t request, struct rig_call *);
/* JUDGE: the first, or the same once more. */
void	rig_judging(struct rig *, struct rig_call *);
void	rig_verdict(struct rig *, struct rig_call *, unsigned verdict);
/* LAUNCH, with NEURON_MAKE and NEURON_UP before it for a sessionless one. */
void	rig_launch(struct rig *, struct rig_call *);
void	rig_ended(struct rig *, struct rig_call *, unsigned cause, int code,
	    int signal, const char *detail);
void	rig_gone(struct rig *, const char *neuron, unsigned cause,
	    const char *why);
/* CALL_JUDGED and CALL_STARTED are passed over. */
json_t	*rig_finished(struct rig *, struct rig_call *);
/* The whole of it, exit code 0. */
json_t	*rig_whole(struct rig *, uint64_t handle, const char *session);

#endif
