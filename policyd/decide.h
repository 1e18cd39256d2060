/*
 * What a principal may ask for: pure decisions over the configuration in
 * force.  Each answers 0, or -1 and a refusal that names what is missing.
 */
#ifndef MYELIN_POLICYD_DECIDE_H
#define MYELIN_POLICYD_DECIDE_H

#include <stdint.h>

#include "conf.h"
#include "peer.h"
#include "util.h"

#define OWNER_UNSAID	UINT32_MAX	/* a request that names no owner */

/* What a request says of the neuron it wants; "", OWNER_UNSAID: nothing. */
struct wanted {
	char		 profile[NAME_BYTES_MAX];
	char		 preset[NAME_BYTES_MAX];
	char		 workspace[PATH_BYTES_MAX];
	uint32_t	 owner_uid;
	uint32_t	 owner_gid;
	int		 read_only;	/* whatever the profile says */
	char		 rules[RULES_JSON_MAX + 1];	/* the session's own */
};

/* What it gets. */
struct build {
	uint32_t	 generation;	/* of the configuration it comes from */
	uint32_t	 line;		/* index of its principal line there */
	char		 profile[NAME_BYTES_MAX];
	char		 own[NAME_BYTES_MAX];	/* the line's preset */
	char		 preset[NAME_BYTES_MAX]; /* asked for, or the line's */
	char		 workspace[PATH_BYTES_MAX];
	int		 read_only;	/* the workspace is */
	struct peer_ids	 owner;
	struct peer_ids	 peer;		/* who asked */
	/* What was asked for, to be decided again. */
	char		 said_profile[NAME_BYTES_MAX];
	char		 said_preset[NAME_BYTES_MAX];
	uint32_t	 said_uid;
	uint32_t	 said_gid;
	int		 said_read_only;
};

/* The principal line of a peer, looked up anew for every request. */
int	decide_line(const struct peer_ids *, const struct cf_principal **,
	    struct refusal *);
/* Profile, preset, workspace and owner, all four. */
int	decide_build(const struct cf_principal *, const struct peer_ids *,
	    const struct wanted *, struct build *, struct refusal *);
/*
 * The same once more, if another configuration came into force since: what
 * was decided and waits may not go by rules that hold no longer.
 */
int	decide_again(struct build *, struct refusal *);

/*
 * 1 if a preset lets a tool of this group ("": none) and effect be used: not
 * denied by group or name, and within the cap or allowed by name.
 */
int	preset_allows(const struct cf_preset *, const char *tool,
	    const char *group, unsigned effect);
/*
 * The tool under the line's own preset and the one that was asked for, which
 * can only take away.
 */
int	decide_tool(const char *own, const char *preset, const char *tool,
	    const char *group, unsigned effect, struct refusal *);
/*
 * What becomes of a call that is marked elevated under these two: off wins.
 * *off is the preset that says so.
 */
enum cf_elevated decide_elevated(const char *own, const char *preset,
	    const char **off);

/* The time of a call in ms: what was asked, the tool's, or the profile's. */
int	decide_timeout(const struct limits *, uint32_t asked, uint32_t tool,
	    uint32_t *ms, struct refusal *);

#endif
