/*
 * How many requests a principal makes in a minute, whatever connection, socket
 * or token they come by.
 */
#ifndef APID_RATE_H
#define APID_RATE_H

#include <stdint.h>

struct conn;

/* 1 if its request is within the limit; else 0 after answering. */
int	rate_ok(struct conn *);

/* The bucket itself: 0, or the seconds until there is room for one more. */
unsigned rate_take(uint32_t principal, uint64_t limit, uint64_t now_us);
/* How many principals are remembered. */
unsigned rate_count(void);

#endif
