/*
 * Small things that all of policyd uses: clocks, JSON text, refusals.
 */
#ifndef MYELIN_POLICYD_UTIL_H
#define MYELIN_POLICYD_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#include <jansson.h>

#include "imsg.h"
#include "log.h"

#define TIME_TEXT	32	/* "2026-01-02T03:04:05.678Z" and its NUL */
#define SHA_HEX		65	/* 64 hexadecimal digits and their NUL */

/* Microseconds: of a clock that never jumps, and of the day. */
uint64_t now_us(void);
uint64_t wall_us(void);
/* The same clock of the day in whole seconds: sliding hours. */
uint64_t wall_seconds(void);
struct timeval us_timeval(uint64_t us);

/* RFC 3339 in UTC with milliseconds. */
const char *time_text(uint64_t wall, char buf[TIME_TEXT]);
/* The time of such a text; 0 of another. */
uint64_t time_of(const char *text);

/* Lower-case hexadecimal of a SHA-256. */
void	hex_sha(const uint8_t digest[32], char hex[SHA_HEX]);

/*
 * A JSON string of any bytes: what is no UTF-8 becomes "?", so that no name
 * in a configuration and no request can keep a record from being written.
 */
json_t	*json_text(const char *);
/* The same, or null for NULL and "". */
json_t	*json_text_or_null(const char *);
json_t	*json_when(uint64_t wall);

/*
 * A string of a request.  Too long or with a NUL inside it is a wrong request,
 * not a wrong message: dst becomes "" and the result -1.
 */
int	get_text(struct imsg *, char *dst, size_t size);

/*
 * Words for a person from another process: cut to fit at the end of a
 * character, and without control characters.
 */
void	get_words(struct imsg *, char *dst, size_t size);

/* Why a request is refused; error JSON is made of it. */
struct refusal {
	unsigned	 status;	/* of HTTP */
	const char	*code;		/* of the closed list */
	uint32_t	 retry;		/* seconds, 0: none */
	char		 words[1024];
};

/* Fills it and returns -1. */
int	refuse(struct refusal *, unsigned status, const char *code,
	    const char *fmt, ...) __printflike(4, 5);
int	refuse_later(struct refusal *, unsigned status, const char *code,
	    uint32_t retry, const char *fmt, ...) __printflike(5, 6);

#endif
