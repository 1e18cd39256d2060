/*
 * Among the files of this directory.
 */
#ifndef JUDGE_INT_H
#define JUDGE_INT_H

#include "subject.h"

struct optspec;

/* Judges argv and stdin of a command: no redirects, no assignments. */
void	judge_program(struct judging *, const struct command *,
	    struct outcome *);

/*
 * Handlers of programs: each judges its subject.  A program may stand in the
 * table of programs with one of them.
 */
typedef void handler(const struct subject *);

handler	handle_find, handle_xargs, handle_fd, handle_parallel;
handler	handle_rm, handle_rmdir, handle_mv, handle_cp, handle_ln,
	handle_write_all, handle_write_last, handle_mode, handle_truncate,
	handle_tee, handle_dd, handle_shred, handle_install, handle_rsync;
handler	handle_mkfs, handle_disk_tool, handle_partition;
handler	handle_curl, handle_wget, handle_scp, handle_ssh, handle_nc,
	handle_gh, handle_cloud, handle_net_read, handle_net_write;
handler	handle_git;
handler	handle_shell, handle_interpreter, handle_awk, handle_sed,
	handle_editor, handle_make, handle_source;
handler	handle_crontab, handle_reach, handle_capture, handle_sftp,
	handle_openssl, handle_keygen, handle_patch, handle_gpg, handle_httpie,
	handle_second, handle_mktemp;
handler	handle_tar, handle_archive, handle_code_options;
handler	handle_at, handle_kill, handle_pids, handle_pkill, handle_lister;

/* A read of the network, of the hosts that were found. */
void	net_reads(const struct subject *);
/* 1 if a method of HTTP, in any case of letters, changes nothing. */
int	reads_only(const char *method);
/* 1 if the text ends so, in whatever case of letters. */
int	ends_with(const char *text, const char *end);
/* A setting of git's gets a value, which some of them execute. */
void	git_key(const struct subject *, const char *key, const struct word *);

/* Escapes to a shell in what a client of its own language is given. */
int	client_escapes(const struct subject *);
/* What a makefile runs, as far as it is certain. */
void	makefile_text(const struct subject *, const char *, size_t);
/* An ex command: of an editor's option or input. */
void	ex_command(const struct subject *, const struct word *);

/*
 * Judges argv with every mark replaced by the first item, or with all of them
 * behind it where no mark stands.  any_mark: all that parallel replaces.  0 if
 * there was no room for that: judged without.
 */
int	run_with(const struct subject *, const struct word *argv, size_t argc,
	    const char *mark, const struct word *items, size_t nitems);
extern const char any_mark[];

/* A client of a database that is told to delete. */
void	database_judge(const struct subject *);

/* Code in a word of a program that is no interpreter of the table. */
void	inline_judge(const struct subject *);

/* What of its output is known where a program lists files. */
void	listing_output(const struct subject *);
/* 1 if the word names a file of home, a workspace or /tmp. */
int	listing_inside(const struct subject *, const struct word *);

/* 1 if handle_lister knows the program. */
int	is_lister(const char *name);

/*
 * Wrappers: 1 if the program is one and was judged.  A command that it starts
 * as it stands in its words goes to next, still to be judged; so any number
 * of them in a row is a loop.
 */
int	wrapper_judge(const struct subject *, struct command **next);

/*
 * How a row of the table of wrappers is used, for tests that go through all of
 * them.
 */
struct wrapper_use {
	const char	*name;
	const char	*sub;		/* "run exec": one has to follow */
	unsigned	 skip;		/* operands in front of the command */
	int		 is_string;	/* the command is text for a shell */
	int		 code_c;	/* -c STRING is text for a shell */
	int		 none;		/* no command stands in its words */
};
/* 0 behind the last row. */
int	wrapper_use(size_t row, struct wrapper_use *);

/* Programs with subcommands by the table: 1 if s is one and was judged. */
int	subcommand_judge(const struct subject *);
int	is_subcommand(const char *name);
/* Commands that its options hold; spec gets the options of that name. */
void	sub_code(const struct subject *, const char *name,
	    struct optspec *spec);

/*
 * 1 if the word there is a program of the hard denies; if what follows it
 * would be denied, that is found.
 */
int	dangerous_tail(const struct subject *, size_t at);
/*
 * Of a program that is not known well: what an option that is named as one
 * that executes is given, if that would be denied.
 */
void	option_code(const struct subject *);
/* Its options for output, where that is a path outside. */
void	option_output(const struct subject *);
void	unknown_program(const struct subject *);
/* 1 for a program of the hard denies. */
int	is_dangerous(const char *name);

/* The worst that code of an interpreter does, as far as it is certain. */
void	interpreter_code(const struct subject *, const char *text, size_t len);
/*
 * A command that code starts, if that would be denied; one that a shell is
 * given as it stands (is_line) also if it would ask.
 */
void	interpreter_command(const struct subject *, const char *text,
	    int is_line);
/* 1 if the code names a call that starts commands. */
int	interpreter_starts(const char *code, size_t len);

#endif
