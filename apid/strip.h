/*
 * Terminal noise taken out of text: escape sequences (CSI, OSC and their
 * kin), bells, what a backspace takes back and what a carriage return
 * overwrites.  Each byte is looked at once, wherever the text is cut.
 *
 * What a carriage return overwrites can't be called back, so lines go out
 * whole: a line is held until its end, STRIP_LINE bytes or the text's end.
 */
#ifndef APID_STRIP_H
#define APID_STRIP_H

#include <stddef.h>
#include <stdint.h>

#define STRIP_LINE	(16 * 1024)

struct strip;

struct strip *strip_new(void);		/* NULL: memory */
void	strip_free(struct strip *);	/* NULL is nothing */
/* Writes at most n + STRIP_LINE bytes to dst; returns how many. */
size_t	strip_feed(struct strip *, uint8_t *dst, const uint8_t *, size_t n);
/* The text ends: writes what is held, at most STRIP_LINE bytes. */
size_t	strip_end(struct strip *, uint8_t *dst);

#endif
