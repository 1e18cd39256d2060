/*
 * The data of a call.output event, decoded in place.  It is JSON, but one
 * flat object of a known form that comes a million times: its own decoder
 * keeps up with what the output runs at.
 */
#ifndef MYELINCTL_OUTPUT_H
#define MYELINCTL_OUTPUT_H

#include <stddef.h>

struct output {
	int	 stream;		/* 1 or 2 */
	char	*bytes;
	size_t	 len;
};

/* 0, or -1 if the text is malformed.  The bytes lie in the text itself. */
int	output_decode(char *text, size_t len, struct output *);

/* Base64 in place: the number of bytes, or -1. */
long long base64_decode(char *text, size_t len);

#endif
