/*
 * What the parts of the configuration reader share: the lexer (conf_lex.c),
 * the grammar (parse.y), what fills the slice (conf_set.c, conf_who.c) and
 * what completes and checks it (conf_check.c).
 */
#ifndef MYELIN_CONF_INT_H
#define MYELIN_CONF_INT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf.h"
#include "log.h"

/* Where a token stands.  The name lives as long as the parser. */
struct pos {
	const char	*file;
	uint32_t	 line;		/* 0: the file as a whole */
};

struct source;
struct macro;

/* Which limits a profile names itself. */
struct given {
	bool		 limit[LIMIT_COUNT];
	bool		 mode;
	bool		 transparent;
	bool		 variant;
};

struct parser {
	const struct conf_opts	*opts;
	struct conf		*conf;
	unsigned		 errors;

	/* lexer */
	struct source		*top;
	struct strings		 names;
	struct macro		*macros;
	size_t			 nfiles;
	unsigned		 depth;		/* of braces */
	struct pos		 brace;		/* the outermost of these */
	bool			 start;		/* at the start of an entry */
	bool			 skip;		/* dropping the rest of one */
	unsigned		 skip_depth;
	bool			 ended;		/* nothing is read any more */
	bool			 reported;	/* the lexer said it already */
	bool			 began;		/* the word is its first */
	bool			 unknown;	/* and is no keyword */
	char			 last[64];	/* its text, for messages */

	/* what was said where */
	struct pos		 once[ONCE_COUNT];
	struct pos		 limit[LIMIT_COUNT];
	struct given		*given;		/* of each profile */
	struct pos		 here;		/* the entry being filled */
	bool			 has_preset, has_owner, has_cap;
	bool			 has_elevated, no_rule;
	struct cf_host		 host;		/* its line, but for names */
	struct strings		 host_names;
};

/* ---- reports ---- */

/* An error: the reading will fail, but goes on. */
void	conf_error(struct parser *, struct pos, const char *, ...)
	    __printflike(3, 4);
void	conf_verror(struct parser *, struct pos, const char *, va_list)
	    __attribute__((__format__(__printf__, 3, 0)));
void	conf_warn(struct parser *, struct pos, const char *, ...)
	    __printflike(3, 4);

/* ---- lexer ---- */

/* Pushes a text; takes it over.  name need not live on. */
int	lex_push_text(struct parser *, const char *name, char *text,
	    size_t size);
/* Reads and pushes a file; -1 after an error. */
int	lex_push_file(struct parser *, struct pos, const char *path);
/* Every file that a pattern matches, relative to the one at pos. */
void	lex_include(struct parser *, struct pos, const char *pattern);
void	lex_define(struct parser *, struct pos, const char *name,
	    const char *value);
/* Drops tokens up to the end of the current entry; a "{" was just read? */
void	lex_skip_entry(struct parser *, bool brace);
void	lex_end(struct parser *);

/* ---- filling the slice; each reports what is wrong and goes on ---- */

void	set_instance(struct parser *, struct pos, const char *);
void	set_state(struct parser *, struct pos, const char *);
void	set_private(struct parser *, struct pos, const char *);
void	set_uids(struct parser *, struct pos, const char *start,
	    const char *count);
void	set_cgroup(struct parser *, struct pos, const char *);
void	set_log(struct parser *, struct pos, const char *);
void	set_limit(struct parser *, struct pos, int limit, const char *);
void	set_tool(struct parser *, struct pos, const char *path);
void	set_hook(struct parser *, struct pos, const char *name,
	    const char *path);
void	set_tool_input(struct parser *, struct pos, const char *);
void	set_environment(struct parser *, struct pos, const struct strings *);

void	set_listen(struct parser *, struct pos, enum cf_plane, const char *);
void	set_listen_group(struct parser *, struct pos, const char *);
void	set_listen_mode(struct parser *, struct pos, const char *);
void	set_listen_tcp(struct parser *, struct pos, enum cf_plane,
	    const char *address, const char *port);
void	set_listen_flag(struct parser *, struct pos, unsigned flag);
void	set_listen_hosts(struct parser *, struct pos, const struct strings *);
void	set_listen_tcp_end(struct parser *);

void	set_profile(struct parser *, struct pos, const char *name);
void	set_profile_mode(struct parser *, struct pos, const char *);
void	set_profile_variant(struct parser *, struct pos, const char *);
/* read-only, and who else may have it: shared or exclusive */
void	set_profile_workspace(struct parser *, struct pos,
	    const struct strings *);
/* PATH [at PATH] read-only; and PATH [overlay] */
void	set_profile_mount(struct parser *, struct pos,
	    const struct strings *);
void	set_profile_root(struct parser *, struct pos,
	    const struct strings *);
void	set_profile_limit(struct parser *, struct pos, int limit,
	    const char *);

/* What a profile's neurons may reach; a line's options follow, then its end. */
void	set_egress(struct parser *, struct pos);
void	set_egress_transparent(struct parser *, struct pos, const char *);
void	set_host(struct parser *, struct pos, bool allow,
	    const struct strings *names);
void	set_host_ports(struct parser *, struct pos, const struct strings *);
void	set_host_methods(struct parser *, struct pos, const struct strings *);
void	set_host_flag(struct parser *, struct pos, unsigned flag);
void	set_host_end(struct parser *);
/* Drops what a line that was broken off left. */
void	set_host_drop(struct parser *);

void	set_preset(struct parser *, struct pos, const char *name);
void	set_preset_cap(struct parser *, struct pos, const char *);
void	set_preset_tools(struct parser *, struct pos, bool allow,
	    const struct strings *);
void	set_preset_groups(struct parser *, struct pos, bool allow,
	    const struct strings *);
void	set_preset_elevated(struct parser *, struct pos, const char *);
void	set_preset_limit(struct parser *, struct pos, int limit,
	    const char *);

void	set_principal(struct parser *, struct pos, enum cf_who,
	    const char *name);
void	set_principal_preset(struct parser *, struct pos, const char *);
void	set_principal_profiles(struct parser *, struct pos,
	    const struct strings *);
void	set_principal_workspaces(struct parser *, struct pos,
	    const struct strings *);
/* name NULL: any */
void	set_principal_owner(struct parser *, struct pos, const char *name);
void	set_principal_end(struct parser *);

void	set_operator(struct parser *, struct pos, enum cf_who,
	    const char *name, const struct strings *rights);

/* A rule; its conditions and tests follow, and its end checks it whole. */
void	set_rule(struct parser *, struct pos, unsigned verdict);
void	set_rule_list(struct parser *, struct pos, enum rule_list,
	    const struct strings *);
void	set_rule_word(struct parser *, struct pos, enum rule_list,
	    const char *);
/* A user of the host, by name or number: "uid:N". */
void	set_rule_user(struct parser *, struct pos, const char *name);
void	set_rule_test(struct parser *, struct pos, bool negative,
	    const char *text);
void	set_rule_end(struct parser *);

/* Reads and range-checks a limit's value; false after an error. */
bool	set_limit_value(struct parser *, struct pos, int limit,
	    const char *text, uint64_t *);
/* A whole number, nothing around it. */
bool	set_number(const char *text, int base, uint64_t max, uint64_t *);
bool	set_name_ok(struct parser *, struct pos, const char *what,
	    const char *name);
void	set_where(struct where *, struct pos);
struct pos set_pos(const struct where *);
/* strdup(3), or the end. */
char	*conf_copy(const char *);
/* One more element of n; aborts without memory, as the whole start would. */
void	*set_grow(void *v, size_t *n, size_t size);

/* ---- completing it ---- */

/* Which of them meet, or meet what is Myelin's own: slice.own is known. */
void	finish_trees(struct parser *);
/* Defaults, shipped profile and presets, cross references. */
void	conf_finish(struct parser *);

#endif
