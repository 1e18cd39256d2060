/*
 * The configuration: its text becomes a struct slice (slice.h).
 *
 * Nothing here starts, binds or locks anything.  All errors of a file are
 * reported, each with file and line, before the reading as a whole fails.
 */
#ifndef MYELIN_CONF_H
#define MYELIN_CONF_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "slice.h"

/* Bounds of the text itself; no keywords, as they are the parser's own. */
#define CONF_FILE_MAX	(1024 * 1024)	/* bytes of one file */
#define CONF_LINE_MAX	8191		/* bytes of one line */
#define CONF_DEPTH_MAX	16		/* files including each other */
#define CONF_FILES_MAX	256		/* files, all told */
#define CONF_ERRORS_MAX	100		/* then the reading stops */
#define CONF_ENTRIES_MAX 4096		/* principals, profiles ..., of each */

/* The private block, and what stands in front of the neurons' own ids. */
#define CONF_UIDS_START		1900000000u
#define CONF_UIDS_COUNT		65536u
#define CONF_PRIVATE_START	(CONF_UIDS_START + CONF_UIDS_COUNT)
#define CONF_PRIVATE_COUNT	4096u
#define CONF_UIDS_NEURONS	16u	/* neurons use START + 16 on */

/* Gids that neurond maps foreign groups to: no block may reach into them. */
#define CONF_PARKED_START	1890000000u
#define CONF_PARKED_COUNT	65536u

/* How names become ids: 0, or -1 if there is no such name. */
struct conf_names {
	int	(*user)(const char *name, struct cf_ids *);
	int	(*group)(const char *name, gid_t *);
};
/* The host's own, by getpwnam(3), getgrnam(3) and getgrouplist(3). */
extern const struct conf_names conf_host_names;

struct conf_opts {
	const char		*private_dir;	/* -p: absolute, or NULL */
	const struct conf_names	*names;
	int			 no_include;	/* a fuzzer has no files */
	/* Each error or warning, "file:line: words", without a newline. */
	void			(*report)(void *arg, const char *text);
	void			*arg;
};

/* Entries that may stand in the configuration once. */
enum conf_once {
	ONCE_INSTANCE, ONCE_STATE, ONCE_PRIVATE, ONCE_UIDS, ONCE_CGROUP,
	ONCE_LOG, ONCE_TOOL_INPUT, ONCE_COUNT
};

/* Declarations of tools of one's own: a file, a directory or a pattern. */
struct cf_tool {
	struct where	 where;
	char		*path;
};

struct conf {
	struct slice	*slice;
	char		*name;		/* of the first file */
	int		 verbose;	/* log verbose */
	int		 uids_given;	/* else a private one takes any block */
	/* Where they were said; no file: nowhere. */
	struct where	 once[ONCE_COUNT];
	struct where	 limit[LIMIT_COUNT];
	struct cf_tool	*tools;
	size_t		 ntools;
};

/* NULL after at least one report. */
struct conf *conf_load(const char *path, const struct conf_opts *);
struct conf *conf_load_text(const char *name, const char *text, size_t,
	    const struct conf_opts *);
void	conf_free(struct conf *);

/*
 * The configuration in a form of its own, which reads back as the same: what
 * was written or follows from it, without macros, includes and defaults.
 */
void	conf_print(const struct conf *, FILE *);

/* Says about a finished configuration which tools its presets misname. */
int	conf_check_tools(const struct conf *, const struct strings *tools,
	    const struct conf_opts *);

/*
 * Warns of directories for neurons that are not there.  They are no errors:
 * what another service mounts may come later.
 */
void	conf_check_trees(const struct conf *, const struct conf_opts *);

/*
 * The keywords of the grammar but those of limits.h, in order; NULL behind
 * the last.  The manual is compared with them.
 */
const char *conf_keyword(size_t i);

/* The listen line of a plane that names a path, or NULL. */
const struct cf_listen *conf_listen(const struct conf *, enum cf_plane);
/* The same for 0; from 1 on those with an address, in order, then NULL. */
const struct cf_listen *conf_listen_n(const struct conf *, enum cf_plane,
	    size_t n);

/* The instance's name that -p DIR gives: at most 32 bytes. */
#define INSTANCE_BYTES_MAX	33
void	conf_instance_name(const char *dir, char name[INSTANCE_BYTES_MAX]);

#endif
