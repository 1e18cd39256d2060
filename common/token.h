/*
 * Tokens of API keys: "myelin_", 43 characters of 62 that are chosen at
 * random (256 bits), and 6 more that are their CRC-32.  The checksum tells
 * one that was cut or mistyped from one that is wrong, and a key from text
 * that looks like one; it protects nothing.
 */
#ifndef MYELIN_TOKEN_H
#define MYELIN_TOKEN_H

#include <stddef.h>

#define TOKEN_PREFIX	"myelin_"
#define TOKEN_RANDOM	43
#define TOKEN_CHECK	6
#define TOKEN_LENGTH	(sizeof(TOKEN_PREFIX) - 1 + TOKEN_RANDOM + TOKEN_CHECK)
#define TOKEN_SIZE	(TOKEN_LENGTH + 1)	/* with its NUL */

/* Fills it.  Randomness is the kernel's; 0, or -1 with errno. */
int	token_make(char token[TOKEN_SIZE]);
/* 1 if n bytes have a token's form and checksum. */
int	token_whole(const char *, size_t n);

#endif
