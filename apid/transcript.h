/*
 * Transcripts: what policyd keeps of a call that is over, and reading it
 * again.  Only what is redacted already goes into one.
 */
#ifndef APID_TRANSCRIPT_H
#define APID_TRANSCRIPT_H

#include <stddef.h>

struct call;
struct conn;

/* Sends a finished call's, if policyd is still the one that was asked. */
void	transcript_send(struct call *);

/*
 * Lines of policyd's, two for each call: its record, and what an apid sent of
 * it or nothing.  Of the latter only output, result and arguments are taken;
 * it is not believed more than any program's output.  Both return JSON, and
 * NULL if the lines are none.
 *
 * One call's: the record with what the transcript adds.
 */
char	*transcript_call(const char *lines, size_t n);
/* A session's: a line in front, whose members come first, then "calls". */
char	*transcript_session(const char *lines, size_t n);

/* Answers a question for a call: JSON, or the lines of one. */
void	transcript_answer(struct conn *, int status, const char *, size_t n,
	    void *arg);

#endif
