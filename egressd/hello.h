/*
 * TLS: the ClientHello out of the first bytes of a connection, and what of it
 * says which host the client wants.  It keeps no state.
 */
#ifndef EGRESSD_HELLO_H
#define EGRESSD_HELLO_H

#include <stddef.h>
#include <stdint.h>

#include "host.h"

/* Bytes that a ClientHello with its records may have, and how many records. */
#define HELLO_MAX		18432
#define HELLO_RECORDS_MAX	64

struct hello {
	int		 has_name;
	struct host	 name;		/* of server_name */
	int		 ech;		/* it has an encrypted ClientHello */
	int		 http2;		/* ALPN offers h2 */
	int		 version13;	/* supported_versions has TLS 1.3 */
};

enum hello_result { HELLO_MORE, HELLO_OK, HELLO_BAD };

/*
 * Looks for a whole ClientHello at the front of size bytes, in one record or
 * many.  HELLO_MORE: call again with the same bytes and more of them; never
 * with HELLO_MAX bytes or more.  HELLO_OK: *used bytes are it, and end with a
 * record.  HELLO_BAD: no TLS, or none that has one meaning; *why is a
 * constant, hello is not filled.
 */
enum hello_result hello_read(const uint8_t *, size_t size, struct hello *,
	    size_t *used, const char **why);

/*
 * A server may ask for a second ClientHello (RFC 8446, 4.1.4), which counts as
 * much as the first.  What it says first is read from the front of size bytes:
 * ANSWER_RETRY if it does, ANSWER_BAD if its first record is too short to tell.
 */
enum hello_answer { ANSWER_MORE, ANSWER_OTHER, ANSWER_RETRY, ANSWER_BAD };
enum hello_answer hello_answer(const uint8_t *, size_t size);

/* Bytes that may stand before the second one: early data. */
#define HELLO_EARLY_MAX		32768

/*
 * As hello_read(), of the second one.  Records of early data and the change of
 * the cipher, which means nothing, may stand before it; *used counts them.
 */
enum hello_result hello_read_again(const uint8_t *, size_t size,
	    struct hello *, size_t *used, const char **why);

/*
 * What a hello is for a connection to that host: REFUSE_NOT, or REFUSE_NO_SNI,
 * _ECH or _SNI.
 */
enum refusal hello_check(const struct hello *, const struct host *);

/* A fatal alert: unrecognized_name for REFUSE_SNI and _NO_SNI, else
 * access_denied. */
#define HELLO_ALERT_SIZE	7
void	hello_alert(enum refusal, uint8_t [HELLO_ALERT_SIZE]);

#endif
