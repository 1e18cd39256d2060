/*
 * A host's answer to a plain request: its head, and where it ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "response.h"

static enum head_result
bad(struct head_bad *b, const char *detail)
{
	return (head_refuse(b, REFUSE_UPSTREAM, detail));
}

/* HTTP/1.x SP three digits, then a blank and any text, or nothing. */
static enum head_result
read_status(struct response *r, struct head_bad *b)
{
	const char *p = r->head.first.p;
	size_t n = r->head.first.n, i;

	if (n < 12 || memcmp(p, "HTTP/1.", 7) != 0 ||
	    (p[7] != '0' && p[7] != '1') || p[8] != ' ' ||
	    (n > 12 && p[12] != ' '))
		return (bad(b, "the answer's first line is malformed"));
	r->minor = p[7] - '0';
	for (i = 9; i < 12; i++) {
		if (p[i] < '0' || p[i] > '9')
			return (bad(b, "the answer's status is no number"));
		r->status = r->status * 10 + (unsigned)(p[i] - '0');
	}
	if (r->status < 100)
		return (bad(b, "the answer's status is below 100"));
	if (r->status == 101)
		return (bad(b, "the host changes the protocol"));
	return (HEAD_OK);
}

enum head_result
response_read(const uint8_t *p, size_t size, size_t *scanned,
    const char *method, struct response *r, size_t *used, struct head_bad *b)
{
	enum head_result result;

	memset(r, 0, offsetof(struct response, head));
	result = head_read(p, size, scanned, &r->head, used, b);
	if (result == HEAD_OK)
		result = read_status(r, b);
	if (result == HEAD_OK && head_framing(&r->head, r->minor, &r->framing,
	    &r->length, b) == -1)
		result = HEAD_BAD;
	if (result == HEAD_OK && head_hides(&r->head))
		result = bad(b, "Connection names a field that is not its own");
	if (result != HEAD_OK) {
		b->why = REFUSE_UPSTREAM;
		return (result);
	}
	r->interim = r->status < 200;
	/* An answer to HEAD and 304 say how long a body would be. */
	if (r->interim || r->status == 204 || r->status == 304 ||
	    strcmp(method, "HEAD") == 0)
		r->framing = FRAME_NONE;
	else if (r->framing == FRAME_NONE)
		r->framing = FRAME_CLOSE;
	r->close = !r->interim && (r->framing == FRAME_CLOSE ||
	    head_connection(&r->head, "close") || (r->minor == 0 &&
	    !head_connection(&r->head, "keep-alive")));
	return (HEAD_OK);
}

char *
response_head(const struct response *r, int closing, size_t *size)
{
	const struct head_field *f;
	char *text = NULL;
	FILE *out;
	size_t i;

	if ((out = open_memstream(&text, size)) == NULL)
		return (NULL);
	/* The version is ours: a client's connection is HTTP/1.1. */
	fprintf(out, "HTTP/1.1%.*s\r\n", (int)(r->head.first.n - 8),
	    r->head.first.p + 8);
	for (i = 0; i < r->head.nfields; i++) {
		f = &r->head.fields[i];
		if (!head_hop(&r->head, f))
			fprintf(out, "%.*s: %.*s\r\n", (int)f->name.n,
			    f->name.p, (int)f->value.n, f->value.p);
	}
	if (r->framing == FRAME_CHUNKED)
		fprintf(out, "Transfer-Encoding: chunked\r\n");
	if (!r->interim && (closing || r->framing == FRAME_CLOSE))
		fprintf(out, "Connection: close\r\n");
	fprintf(out, "\r\n");
	if (fclose(out) != 0) {
		free(text);
		return (NULL);
	}
	return (text);
}
