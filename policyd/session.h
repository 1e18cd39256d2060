/*
 * Sessions: one agent's use of one neuron under one preset.
 */
#ifndef MYELIN_POLICYD_SESSION_H
#define MYELIN_POLICYD_SESSION_H

#include <stdint.h>
#include <sys/queue.h>
#include <sys/tree.h>

#include <jansson.h>

#include "api.h"
#include "decide.h"
#include "named.h"
#include "neuron.h"
#include "store.h"

#define SESSION_MORE	8	/* who wait for a named one beside the first */

struct event;

enum session_state { SESSION_OPENING, SESSION_LIVE, SESSION_ENDING };

struct session {
	RB_ENTRY(session) entry;
	TAILQ_ENTRY(session) order;
	enum session_state state;
	struct session_row row;		/* row.workspace is its own */
	struct ident	*ident;
	struct build	 build;
	struct neuron	*neuron;	/* NULL: not yet, or dropped */
	char		 home[ID_SIZE];	/* of the one asked for, or "" */
	struct neuron_wait wait;
	struct event	*clock;		/* expiry; later: the end's deadline */
	struct reply_to	 opening;
	char		 name[SESSION_NAME];	/* "" for none */
	struct reply_to	 more[SESSION_MORE];
	unsigned	 nmore;
	struct reply_to	 ending;
};

/*
 * Starts one; answers when its neuron stands, or why it does not.  home (the
 * id of a persistent neuron), name and rules: "" for none.
 */
void	session_open(const struct reply_to *, struct peer *,
	    const struct build *, uint64_t hourly, uint64_t calls_limit,
	    uint32_t expires, const char *home, const char *name,
	    const char *rules);
/* That identity's session of a name, in whatever state; or NULL. */
struct session *session_named(const struct ident *, const char *name);
/* A live or ending one, or NULL. */
struct session *session_find(const char *id);
unsigned session_count(void);
/*
 * Ends it for a reason and kills what it runs.  The answer, if anyone waits
 * for it (to may be NULL), is sent when its neuron is gone.
 */
void	session_end(struct session *, const char *reason,
	    const struct reply_to *to);

/* Its neuron is being destroyed: it ends, or is never opened. */
void	session_destroyed(struct session *);
/* All of a principal's, also those that are being opened. */
void	session_end_of(uint32_t principal, const char *reason);

/* What its neuron did. */
void	session_neuron_up(struct session *);
void	session_neuron_gone(struct session *, unsigned cause, const char *why);
void	session_neuron_freed(const char *neuron);
/* This process ends. */
void	session_all_interrupted(void);

/* As the API shows it. */
json_t	*session_row_json(const struct session_row *, const char *state);
json_t	*session_json(const struct session *);

#endif
