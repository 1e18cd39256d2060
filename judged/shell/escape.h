/*
 * Escapes that begin with a backslash, in their dialects.
 */
#ifndef SHELL_ESCAPE_H
#define SHELL_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

#define ESCAPE_ANSI	0x01	/* $'...': \cx too */
#define ESCAPE_ECHO	0x02	/* echo -e: octal wants a 0 in front */
#define ESCAPE_ZERO	0x04	/* \0nnn has three digits behind the 0 */
#define ESCAPE_DASH	0x08	/* no \x, \u, \e */
#define ESCAPE_OCTAL	0x10	/* %b: octal without a 0 in front, too */

/*
 * Decodes what stands behind a backslash.  How many bytes of s that was, 0
 * if it means nothing; out has the outlen bytes that it stands for.
 */
size_t	escape_decode(const char *s, size_t len, unsigned how, char out[4],
	    size_t *outlen);

/* The bytes of a code point; 1 to 4. */
size_t	utf8_encode(uint32_t, char out[4]);

#endif
