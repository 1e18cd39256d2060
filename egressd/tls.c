/*
 * TLS as a client, over memory: OpenSSL's.
 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tls.h"

struct fetch_trust {
	SSL_CTX		*ctx;
};

struct tls {
	SSL		*ssl;
	BIO		*in, *out;	/* the SSL's own */
};

/* How many certificates were added. */
static size_t
add_certificates(X509_STORE *store, const void *pem, size_t size)
{
	BIO *bio = BIO_new_mem_buf(pem, (int)size);
	X509 *cert;
	size_t n = 0;

	if (bio == NULL)
		return (0);
	while ((cert = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
		n += X509_STORE_add_cert(store, cert) == 1;
		X509_free(cert);
	}
	BIO_free(bio);
	ERR_clear_error();
	return (n);
}

struct fetch_trust *
fetch_trust_new(const void *pem, size_t size)
{
	struct fetch_trust *trust;

	/* No file of OpenSSL's own is there to be read. */
	if (size > INT32_MAX || OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG,
	    NULL) != 1 || (trust = calloc(1, sizeof(*trust))) == NULL)
		return (NULL);
	trust->ctx = SSL_CTX_new(TLS_client_method());
	if (trust->ctx == NULL ||
	    SSL_CTX_set_min_proto_version(trust->ctx, TLS1_2_VERSION) != 1 ||
	    add_certificates(SSL_CTX_get_cert_store(trust->ctx), pem,
	    size) == 0) {
		fetch_trust_free(trust);
		return (NULL);
	}
	SSL_CTX_set_verify(trust->ctx, SSL_VERIFY_PEER, NULL);
	return (trust);
}

void
fetch_trust_free(struct fetch_trust *trust)
{
	if (trust == NULL)
		return;
	SSL_CTX_free(trust->ctx);
	free(trust);
}

/* Whom the certificate must be for. */
static int
set_host(SSL *ssl, const struct host *host)
{
	static const unsigned char alpn[] = "\10http/1.1";
	char name[EGRESS_NAME_MAX + 1];		/* the macro wants it so */

	if (SSL_set_alpn_protos(ssl, alpn, sizeof(alpn) - 1) != 0)
		return (-1);
	if (host->is_address)
		return (X509_VERIFY_PARAM_set1_ip(SSL_get0_param(ssl),
		    host->address.bytes, host->address.family == AF_INET ?
		    4 : 16) == 1 ? 0 : -1);
	memcpy(name, host->name, sizeof(name));
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (SSL_set1_host(ssl, name) != 1 ||
	    SSL_set_tlsext_host_name(ssl, name) != 1)
		return (-1);
	return (0);
}

struct tls *
tls_new(const struct fetch_trust *trust, const struct host *host)
{
	struct tls *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return (NULL);
	t->ssl = SSL_new(trust->ctx);
	t->in = BIO_new(BIO_s_mem());
	t->out = BIO_new(BIO_s_mem());
	if (t->ssl == NULL || t->in == NULL || t->out == NULL) {
		BIO_free(t->in);
		BIO_free(t->out);
		SSL_free(t->ssl);
		free(t);
		return (NULL);
	}
	BIO_set_mem_eof_return(t->in, -1);
	SSL_set_bio(t->ssl, t->in, t->out);
	SSL_set_connect_state(t->ssl);
	if (set_host(t->ssl, host) == -1) {
		tls_free(t);
		return (NULL);
	}
	return (t);
}

void
tls_free(struct tls *t)
{
	if (t == NULL)
		return;
	SSL_free(t->ssl);
	free(t);
	ERR_clear_error();
}

const uint8_t *
tls_output(struct tls *t, size_t *size)
{
	char *p = NULL;
	long n = BIO_get_mem_data(t->out, &p);

	*size = n > 0 ? (size_t)n : 0;
	return ((const uint8_t *)p);
}

void
tls_sent(struct tls *t, size_t size)
{
	uint8_t gone[4096];
	size_t n;

	while (size > 0) {
		n = size < sizeof(gone) ? size : sizeof(gone);
		if (BIO_read(t->out, gone, (int)n) <= 0)
			return;
		size -= n;
	}
}

int
tls_input(struct tls *t, const uint8_t *p, size_t size)
{
	if (size == 0)
		return (0);
	return (size <= TLS_INPUT_MAX && BIO_write(t->in, p, (int)size) ==
	    (int)size ? 0 : -1);
}

void
tls_eof(struct tls *t)
{
	BIO_set_mem_eof_return(t->in, 0);
}

/* Why the last operation failed: the certificate first, then OpenSSL's word. */
static void
reason(const struct tls *t, char *text, size_t size)
{
	long verdict = SSL_get_verify_result(t->ssl);
	const char *why = ERR_reason_error_string(ERR_peek_error());

	if (verdict != X509_V_OK)
		(void)snprintf(text, size, "the host's certificate: %s",
		    X509_verify_cert_error_string(verdict));
	else
		(void)snprintf(text, size, "TLS with the host failed: %s",
		    why != NULL ? why : "it ended early");
	ERR_clear_error();
}

int
tls_handshake(struct tls *t, char *text, size_t size)
{
	int r, error;

	ERR_clear_error();
	r = SSL_do_handshake(t->ssl);
	if (r == 1)
		return (1);
	error = SSL_get_error(t->ssl, r);
	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
		return (0);
	reason(t, text, size);
	return (-1);
}

int
tls_write(struct tls *t, const void *p, size_t size)
{
	size_t done;

	ERR_clear_error();
	return (SSL_write_ex(t->ssl, p, size, &done) == 1 && done == size ?
	    0 : -1);
}

long
tls_read(struct tls *t, void *p, size_t size, char *text, size_t ntext)
{
	size_t n = 0;
	int error;

	ERR_clear_error();
	if (SSL_read_ex(t->ssl, p, size, &n) == 1)
		return ((long)n);
	error = SSL_get_error(t->ssl, 0);
	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
		return (0);
	if (error == SSL_ERROR_ZERO_RETURN)
		return (-1);
	reason(t, text, ntext);
	return (-2);
}
