/*
 * Streamed stdin: bytes of POST .../stdin into a call's pipe.
 */
#ifndef APID_FEED_H
#define APID_FEED_H

struct call;
struct conn;
struct feed;

/* fd: the write end, taken over; NULL when memory is out. */
struct feed *feed_new(int fd);
/* Ends it, answering a request that feeds it. */
void	feed_free(struct feed *);
/* A request's body, as it comes; eof: nothing follows it. */
void	feed_request(struct conn *, struct call *, int eof);

#endif
