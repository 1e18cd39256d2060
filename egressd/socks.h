/*
 * SOCKS5 (RFC 1928): CONNECT without authentication, names or addresses.
 */
#ifndef EGRESSD_SOCKS_H
#define EGRESSD_SOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "head.h"
#include "host.h"

#define SOCKS_VERSION		5	/* the first byte of both messages */
#define SOCKS_GREETING_MAX	257
#define SOCKS_REQUEST_MAX	262
#define SOCKS_METHOD_SIZE	2
#define SOCKS_REPLY_SIZE	10

/*
 * Reads the greeting.  HEAD_OK and HEAD_BAD fill the answer; after HEAD_BAD
 * the connection ends.
 */
enum head_result socks_greeting(const uint8_t *, size_t size, size_t *used,
	    uint8_t [SOCKS_METHOD_SIZE]);
/*
 * Reads the request.  HEAD_BAD fills bad and *reply (RFC 1928, 6); host.name
 * is then "".
 */
enum head_result socks_request(const uint8_t *, size_t size, size_t *used,
	    struct host *, uint16_t *port, struct head_bad *, int *reply);
/* 0: succeeded. */
void	socks_reply(int reply, uint8_t [SOCKS_REPLY_SIZE]);

#endif
