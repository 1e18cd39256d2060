/*
 * What a body tells: one JSON object, the call's result, on standard error.
 * Bytes for the reader go to standard output, through out.h.
 */
#ifndef MYELIN_TOOL_RESULT_H
#define MYELIN_TOOL_RESULT_H

#include <stddef.h>
#include <stdint.h>
#include <jansson.h>

struct tool;

/*
 * The reasons that a body has for a refusal: the closed list.  The words are
 * what the API shows as error.code.
 */
#define TOOL_CODES(ROW)							\
ROW(NOT_FOUND,		"not_found")					\
ROW(NOT_A_FILE,		"not_a_file")	/* FIFO, device, socket */	\
ROW(IS_A_DIRECTORY,	"is_a_directory")				\
ROW(NOT_A_DIRECTORY,	"not_a_directory")				\
ROW(OUTSIDE,		"outside")	/* of home and workspace */	\
ROW(EXISTS,		"exists")					\
ROW(TOO_LARGE,		"too_large")	/* names limit and value */	\
ROW(NO_SPACE,		"no_space")					\
ROW(PERMISSION,		"permission")					\
ROW(NOT_UNIQUE,		"not_unique")					\
ROW(NO_MATCH,		"no_match")					\
ROW(CHANGED,		"changed")	/* not what expect says */	\
ROW(NOT_TEXT,		"not_text")					\
ROW(BAD_PATH,		"bad_path")					\
ROW(BAD_ARGUMENT,	"bad_argument")					\
ROW(BUSY,		"busy")						\
ROW(IO,			"io")

enum tool_code {
#define ROW(sym, word)	TOOL_##sym,
	TOOL_CODES(ROW)
#undef ROW
	TOOL_CODE_COUNT
};

/* No body makes a result that is larger: lists end early, with "more". */
#define RESULT_BYTES_MAX	(4 * 1024 * 1024)

/*
 * Makes the result an error, whatever was in it (the members path and
 * path_base64 stay).  The message is one sentence without a full stop, in
 * UTF-8; %s of untrusted bytes goes through result_quote().  Always -1, so
 * that a body can return (tool_fail(...)).
 */
int	tool_fail(struct tool *, enum tool_code, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));

/*
 * The same for an errno, with the code that fits it (ENOENT not_found, EXDEV
 * outside, EACCES and EPERM and EROFS permission, ENOSPC and EDQUOT no_space,
 * ELOOP outside, ENOTDIR not_a_directory, ENAMETOOLONG bad_path, else io).
 * what is the sentence's begin: "notes.txt can't be opened".
 */
int	tool_fail_errno(struct tool *, int error, const char *what);

/* Forgets an error: the body found another way. */
void	tool_clear(struct tool *);

/* One more member of the error object, beside code and message. */
void	tool_fail_more(struct tool *, const char *name, json_t *value);

/*
 * Bytes made fit to be read in a message: UTF-8, control characters and what
 * is not UTF-8 as \n, \t or \xNN, a backslash doubled, cut at 512 bytes with
 * "...".  Valid until the fourth call after it.
 */
const char *result_quote(const void *, size_t);

/* Members of the result; memory that runs out ends the program. */
void	result_int(struct tool *, const char *name, int64_t);
void	result_bool(struct tool *, const char *name, int);
void	result_str(struct tool *, const char *name, const char *utf8);
void	result_set(struct tool *, const char *name, json_t *stolen);

/*
 * Bytes as a member name and, where they are not UTF-8, NAME_base64 beside
 * it; the member itself then has U+FFFD for each bad byte.  Into the result,
 * or into any object.
 */
void	result_bytes(struct tool *, const char *name, const void *, size_t);
void	result_bytes_into(json_t *object, const char *name, const void *,
	    size_t);

/* "0644" of a mode, and RFC 3339 in UTC of a time, as members. */
void	result_mode_into(json_t *object, const char *name, unsigned mode);
void	result_time_into(json_t *object, const char *name, int64_t seconds);

/* "2026-11-29T22:31:00Z"; a year may have more digits, or a sign. */
#define TIME_TEXT	48
void	time_text(char *, size_t, int64_t seconds);

/* Writes the result to fd.  0, or -1 with errno. */
int	result_write(const struct tool *, int fd);

#endif
