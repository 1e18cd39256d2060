/*
 * TLS as a client, without a socket: bytes of the wire in and out, bytes of
 * the application in and out.  The certificate must be the host's, by what is
 * trusted.
 */
#ifndef EGRESSD_TLS_H
#define EGRESSD_TLS_H

#include <stddef.h>
#include <stdint.h>

#include "host.h"

/* What TLS trusts: CA certificates. */
struct fetch_trust;
/* PEM, any number of certificates; NULL when there is none in it. */
struct fetch_trust *fetch_trust_new(const void *pem, size_t size);
void	fetch_trust_free(struct fetch_trust *);

struct tls;

/* Bytes of the wire that are taken at a time. */
#define TLS_INPUT_MAX	65536

/* NULL when memory is out.  trust must outlive it. */
struct tls *tls_new(const struct fetch_trust *, const struct host *);
void	tls_free(struct tls *);			/* NULL is fine */

/* What is to be sent now; *size 0: nothing. */
const uint8_t *tls_output(struct tls *, size_t *size);
void	tls_sent(struct tls *, size_t);
/* What came.  -1 when memory is out. */
int	tls_input(struct tls *, const uint8_t *, size_t);
void	tls_eof(struct tls *);

/*
 * Goes on with the handshake.  1 when it is done, 0 when more must come or
 * go, -1 with a reason in text when it failed.
 */
int	tls_handshake(struct tls *, char *text, size_t size);
/* Writes all of it, after the handshake.  0, or -1. */
int	tls_write(struct tls *, const void *, size_t);
/*
 * Reads what there is.  Bytes, 0 when more must come, -1 at the end that the
 * host said, -2 with a reason in text when it failed.
 */
long	tls_read(struct tls *, void *, size_t size, char *text, size_t ntext);

#endif
