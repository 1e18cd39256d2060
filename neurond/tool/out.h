/*
 * Bytes for the reader, to standard output, and helpers for fds.
 */
#ifndef MYELIN_TOOL_OUT_H
#define MYELIN_TOOL_OUT_H

#include <sys/types.h>
#include <stddef.h>

struct tool;

#define OUT_BLOCK	(128 * 1024)	/* bytes read or kept at once */

/* Writes all of it.  0, or -1 with errno. */
int	fd_write(int fd, const void *, size_t);

/* read(2) until size bytes or the end.  Bytes, or -1 with errno. */
ssize_t	fd_read(int fd, void *, size_t size);

/*
 * Standard output.  Small pieces are gathered in a buffer; out_flush() is
 * called after each body that returned 0.  0, or -1 after tool_fail().
 */
int	out_bytes(struct tool *, const void *, size_t);
int	out_str(struct tool *, const char *);
/* A name for people: what is not printable as \n, \t, \\ or \xNN. */
int	out_name(struct tool *, const void *, size_t);
int	out_flush(struct tool *);

/* Adds a name as out_name() prints it to dst; needs 4 * len + 1 bytes. */
size_t	name_escape(char *dst, const void *, size_t len);

/* The hexadecimal digits of a SHA-256, lower case, with a NUL. */
#define DIGEST_TEXT	65
struct sha256_text { char text[DIGEST_TEXT]; };
void	sha256_bytes(const void *, size_t, struct sha256_text *);
/* Of a whole file from its begin, by pread(2).  0, or -1 with errno. */
int	sha256_fd(int fd, struct sha256_text *);

/* The bytes of a UTF-8 character at p, or 0 where none is. */
size_t	utf8_length(const unsigned char *p, size_t len);

#endif
