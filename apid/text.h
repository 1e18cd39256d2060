/*
 * Output as JSON text: valid UTF-8 becomes an escaped string, anything else
 * base64.  Sizes are known before a byte is written, so that both go straight
 * into the buffer of a connection.
 */
#ifndef APID_TEXT_H
#define APID_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text_scan {
	int	 valid;		/* UTF-8, but for the tail */
	size_t	 escaped;	/* bytes that text_escape writes of it all */
	size_t	 tail;		/* 0 to 3 bytes at the end that begin a
				 * character which is not whole yet */
};

/* Once, before anything else here. */
void	text_init(void);

void	text_scan(const uint8_t *, size_t, struct text_scan *);
/*
 * Writes what text_scan counted, and may write TEXT_SLACK bytes in all behind
 * it; returns the end of it.
 */
#define TEXT_SLACK	8
char	*text_escape(char *dst, const uint8_t *, size_t);

/*
 * The same for text that comes in parts, which may cut characters.
 */
struct text_state {
	int	 valid;
	size_t	 escaped;	/* of all whole characters so far */
	uint8_t	 part[4];	/* a character that is not whole yet */
	size_t	 npart;
};

void	text_begin(struct text_state *);
void	text_feed(struct text_state *, const uint8_t *, size_t);

/* At the front: bytes (0 to 3) that continue a character cut off before. */
size_t	text_continuation(const uint8_t *, size_t);

size_t	base64_size(size_t);
/* The last part is padded: all parts but the last are multiples of 3. */
char	*base64_write(char *dst, const uint8_t *, size_t);
/*
 * The same for bytes that come in parts; end also writes the last letters.
 * Each writes at most base64_size(size + 2).
 */
struct base64_state {
	uint8_t	 part[3];
	size_t	 npart;
};
char	*base64_feed(struct base64_state *, char *dst, const uint8_t *, size_t);
char	*base64_end(struct base64_state *, char *dst);
/*
 * Decodes strict base64 (padded, no blanks) of size bytes into dst, which has
 * room for size / 4 * 3.  Returns 0 and sets *used, or -1.
 */
int	base64_read(uint8_t *dst, const char *, size_t size, size_t *used);

#endif
