/*
 * The configuration as data.  parse.y fills a struct slice; supervisord sends
 * each process the sections it needs, encoded, in a sealed memfd; the process
 * decodes it again.  Nobody but supervisord reads a configuration's text.
 *
 * Every entry keeps the file and line it came from, so that a process that
 * refuses one can name it (slice_bad).
 */
#ifndef MYELIN_SLICE_H
#define MYELIN_SLICE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "limits.h"

struct where {
	char		*file;
	uint32_t	 line;
};

/* Strings of a list, all owned by it. */
struct strings {
	char		**v;
	size_t		 n;
};

#include "rule.h"
#include "egress.h"

enum cf_mode { MODE_NATIVE = 1 };

enum cf_variant { VARIANT_STANDARD, VARIANT_STRICT };

/* Who else may have a neuron's workspace while it has it to write. */
enum cf_sharing {
	SHARING_PRINCIPAL,		/* its own principal's neurons */
	SHARING_ANY,
	SHARING_NONE
};

/* A directory of the host that a profile's neurons see, read-only. */
struct cf_mount {
	struct where	 where;
	char		*path;		/* on the host */
	char		*at;		/* inside */
};
#define MOUNTS_MAX	5		/* of a profile */
#define TREE_PATH_MAX	1024		/* bytes of a path, NUL included */

/* Directories of the host that a profile's neurons are built from. */
struct cf_trees {
	struct where	 where;		/* of the root */
	char		*root;		/* in place of the host's /usr, or NULL */
	int		 overlay;	/* a neuron may change it for itself */
	struct cf_mount	*mounts;
	size_t		 nmounts;
};

struct cf_profile {
	struct where	 where;
	char		 name[NAME_BYTES_MAX];
	enum cf_mode	 mode;
	enum cf_variant	 variant;
	enum cf_sharing	 sharing;
	int		 read_only;	/* workspaces are */
	struct cf_trees	 trees;
	struct limits	 limits;	/* resolved: every row has a value */
	struct cf_egress egress;
};

enum cf_who { WHO_USER = 1, WHO_GROUP, WHO_KEY };

enum cf_owner { OWNER_PEER = 1, OWNER_NAMED, OWNER_ANY };

struct cf_ids {
	uid_t		 uid;
	gid_t		 gid;
	uint32_t	 ngroups;
	gid_t		 groups[GROUPS_MAX];
};

struct cf_principal {
	struct where	 where;
	enum cf_who	 who;
	uint32_t	 id;		/* uid or gid; 0 of a key */
	char		*name;		/* as written; a key's is matched */
	char		 preset[NAME_BYTES_MAX];
	struct strings	 profiles;	/* the first is the default one */
	struct strings	 workspaces;	/* absolute patterns, fnmatch(3) */
	enum cf_owner	 owner;
	struct cf_ids	 ids;		/* OWNER_NAMED */
	char		*owner_name;	/* as written; the parser's alone */
};

#define RIGHT_APPROVE	0x01
#define RIGHT_AUDIT	0x02
#define RIGHT_MANAGE	0x04

struct cf_operator {
	struct where	 where;
	enum cf_who	 who;
	uint32_t	 id;
	char		*name;
	unsigned	 rights;
};

enum cf_elevated { ELEVATED_OFF, ELEVATED_ASK };

struct cf_preset {
	struct where	 where;
	char		 name[NAME_BYTES_MAX];
	unsigned	 cap;		/* enum effect */
	struct strings	 allow;		/* tools named exactly, above the cap */
	struct strings	 deny;		/* tools refused, below it */
	struct strings	 deny_groups;	/* groups of tools, over all else */
	enum cf_elevated elevated;	/* what is done with such a call */
	uint64_t	 calls_session;	/* 0: the limit's */
	uint64_t	 hourly;	/* 0: the limit's */
};

/* A program that may refuse a call. */
struct cf_hook {
	struct where	 where;
	char		 name[NAME_BYTES_MAX];
	char		*path;		/* as written; the parser's alone */
};
#define HOOKS_MAX	16

enum cf_plane { PLANE_AGENT = 1, PLANE_OPERATOR };

#define LISTEN_TCP	0x01	/* an address and a port, not a path */
#define LISTEN_TOKEN	0x02	/* each request needs a token */
#define LISTEN_CLEARTEXT 0x04	/* may be reached from other hosts */
#define LISTEN_FLAGS	0x07
#define LISTENS_MAX	5	/* of a plane: one path, four addresses */

struct cf_listen {
	struct where	 where;
	enum cf_plane	 plane;
	unsigned	 flags;		/* LISTEN_* */
	char		*path;		/* or a numeric address */
	uint32_t	 port;		/* 0 of a path */
	struct strings	 hosts;		/* names it goes by, beside its own */
	gid_t		 gid;		/* (gid_t)-1: none named */
	char		*group;		/* as written; the parser's alone */
	mode_t		 mode;
};

/* A file that supervisord opened for this process; fd -1 once claimed. */
struct cf_file {
	char		*name;		/* "listen/0", "tool/bash", "hook/x" */
	int		 fd;
};

struct slice {
	uint32_t	 generation;
	char		*instance;	/* [a-z0-9-]+, part of cgroup names */
	char		*state;		/* state directory, absolute */
	int		 private;
	int		 verbose;	/* of the log; -1: not said */
	uint32_t	 uids_start;	/* block of kuids, see neurond */
	uint32_t	 uids_count;
	char		*cgroup_parent;	/* NULL: found by neurond */
	struct limits	 limits;
	int		 coerce;	/* tool-input: stringified scalars */
	struct strings	 sources;	/* "SHA256 PATH" of each file read */
	struct strings	 env_allow;	/* names a call may set beyond the usual */
	struct cf_profile *profiles;	size_t nprofiles;
	struct cf_principal *principals; size_t nprincipals;
	struct cf_operator *operators;	size_t noperators;
	struct cf_preset *presets;	size_t npresets;
	struct cf_listen *listens;	size_t nlistens;
	struct cf_hook	*hooks;		size_t nhooks;
	struct cf_file	*files;		size_t nfiles;
	struct cf_rule	*rules;		size_t nrules;
	struct strings	 own;		/* paths that no call may touch */

	/* Set by slice_bad. */
	struct where	 bad;
	char		*bad_why;
};

/* Sections: what a process gets beside instance and limits. */
#define SLICE_STATE	0x001	/* state, private */
#define SLICE_NEURONS	0x002	/* uids, cgroup parent */
#define SLICE_PROFILES	0x004
#define SLICE_PRINCIPALS 0x008
#define SLICE_OPERATORS	0x010
#define SLICE_PRESETS	0x020
#define SLICE_LISTENS	0x040
#define SLICE_ENV	0x080	/* env_allow, coerce */
#define SLICE_LOG	0x100	/* verbose */
#define SLICE_RULES	0x200	/* rules, own */
#define SLICE_HOOKS	0x400
#define SLICE_SOURCES	0x1000	/* sources */

#define SLICE_MAX	(4 * 1024 * 1024)	/* bytes, encoded */

/* An empty slice with default limits; NULL when memory is out. */
struct slice *slice_new(void);
/* Frees it and closes the files nobody claimed. */
void	slice_free(struct slice *);

/* A sealed memfd of the sections named, or -1 with errno. */
int	slice_encode(const struct slice *, unsigned sections);
/* NULL and a reason in static storage if the bytes are not a slice. */
struct slice *slice_decode(const uint8_t *, size_t, const char **why);

/* Says which entry is refused and why; returns -1 for the caller to return. */
int	slice_bad(struct slice *, const struct where *, const char *fmt, ...)
	    __attribute__((__format__(__printf__, 3, 4)));

/* Look-ups; NULL if there is none of that name. */
const struct cf_profile *slice_profile(const struct slice *, const char *);
const struct cf_preset *slice_preset(const struct slice *, const char *);
/* What a profile of that name has where it says nothing itself: what stands
 * outside of profiles, but that "default" alone has a pool unasked. */
void	slice_unsaid(const struct slice *, const char *profile,
	    struct limits *);
/* The fd of a file, now the caller's, or -1. */
int	slice_claim(struct slice *, const char *name);

/* 0, or -1 when memory is out. */
int	strings_add(struct strings *, const char *);
int	strings_has(const struct strings *, const char *);
void	strings_free(struct strings *);

/*
 * 1 if an absolute, clean path lies within one of the patterns.  A pattern
 * is fnmatch(3)'s without FNM_PATHNAME: "*" matches slashes too.  A path with
 * an empty, "." or ".." component, or not absolute, never matches.
 */
int	path_allowed(const struct strings *, const char *path);
int	path_clean(const char *path);
/* 1 if path is dir or below it; both are clean. */
int	path_within(const char *path, const char *dir);

#endif
