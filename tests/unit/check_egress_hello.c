/*
 * The ClientHello: a real one of OpenSSL's, and built ones that are not as they
 * should be, whole and in every split.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "hello.h"
#include "unit.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

/* Bytes that are put together; fields with a length are closed later. */
struct bytes {
	uint8_t	 v[40000];
	size_t	 n;
};

static void
put(struct bytes *b, const void *p, size_t n)
{
	ck_assert(b->n + n <= sizeof(b->v));
	memcpy(b->v + b->n, p, n);
	b->n += n;
}

static void
put_number(struct bytes *b, unsigned value, unsigned width)
{
	uint8_t byte;

	while (width-- > 0) {
		byte = (uint8_t)(value >> 8 * width);
		put(b, &byte, 1);
	}
}

static size_t
begin(struct bytes *b, unsigned width)
{
	put_number(b, 0, width);
	return (b->n);
}

static void
finish(struct bytes *b, size_t at, unsigned width)
{
	size_t n = b->n - at, i;

	for (i = 0; i < width; i++)
		b->v[at - 1 - i] = (uint8_t)(n >> 8 * i);
}

/* An extension whose body is these bytes. */
static void
extension(struct bytes *b, unsigned type, const void *p, size_t n)
{
	put_number(b, type, 2);
	put_number(b, (unsigned)n, 2);
	put(b, p, n);
}

static void
server_name(struct bytes *b, const char *name, size_t n)
{
	struct bytes body = { .n = 0 };

	put_number(&body, (unsigned)n + 3, 2);
	put_number(&body, 0, 1);
	put_number(&body, (unsigned)n, 2);
	put(&body, name, n);
	extension(b, 0, body.v, body.n);
}

/* The message, with these bytes for its extensions. */
static void
message(struct bytes *b, const struct bytes *extensions)
{
	uint8_t random[32] = { 7 };
	size_t at;

	b->n = 0;
	put_number(b, 1, 1);
	at = begin(b, 3);
	put_number(b, 0x0303, 2);
	put(b, random, sizeof(random));
	put_number(b, 0, 1);
	put_number(b, 2, 2);
	put_number(b, 0x1301, 2);
	put_number(b, 0x0100, 2);
	if (extensions != NULL) {
		put_number(b, (unsigned)extensions->n, 2);
		put(b, extensions->v, extensions->n);
	}
	finish(b, at, 3);
}

/* In records of so many bytes. */
static void
records(struct bytes *b, const struct bytes *m, size_t each)
{
	size_t at, n;

	b->n = 0;
	for (at = 0; at < m->n; at += n) {
		n = m->n - at < each ? m->n - at : each;
		put_number(b, 0x160301, 3);
		put_number(b, (unsigned)n, 2);
		put(b, m->v + at, n);
	}
}

static enum hello_result
read_all(const struct bytes *b, struct hello *h)
{
	const char *why;
	size_t used = 0;
	enum hello_result r = hello_read(b->v, b->n, h, &used, &why);

	ck_assert_int_eq(why != NULL, r == HELLO_BAD);
	ck_assert(r != HELLO_OK || used == b->n);
	return (r);
}

static void
host(const char *name, struct host *h)
{
	const char *why;

	ck_assert_int_eq(host_read(name, strlen(name), h, &why), REFUSE_NOT);
}

/* What OpenSSL says first to a host of that name. */
static void
real_hello(struct bytes *b, char *name)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl = SSL_new(ctx);
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
	int n;

	ck_assert(ssl != NULL && in != NULL && out != NULL);
	SSL_set_bio(ssl, in, out);
	if (name != NULL)
		ck_assert_int_eq(SSL_set_tlsext_host_name(ssl, name), 1);
	ck_assert_int_eq(SSL_set_alpn_protos(ssl,
	    (const uint8_t *)"\2h2\10http/1.1", 12), 0);
	ck_assert_int_eq(SSL_connect(ssl), -1);
	n = BIO_read(out, b->v, (int)sizeof(b->v));
	ck_assert_int_gt(n, 0);
	b->n = (size_t)n;
	SSL_free(ssl);
	SSL_CTX_free(ctx);
}

START_TEST(a_real_one)
{
	struct bytes b;
	struct hello h;
	struct host ok, evil;
	char name[] = "OK.com";

	host("ok.com", &ok);
	host("evil.com", &evil);
	real_hello(&b, name);
	ck_assert_int_eq(read_all(&b, &h), HELLO_OK);
	ck_assert(h.has_name && h.http2 && h.version13 && !h.ech);
	ck_assert_str_eq(h.name.name, "ok.com");
	ck_assert_int_eq(hello_check(&h, &ok), REFUSE_NOT);
	ck_assert_int_eq(hello_check(&h, &evil), REFUSE_SNI);
	real_hello(&b, NULL);
	ck_assert_int_eq(read_all(&b, &h), HELLO_OK);
	ck_assert(!h.has_name);
	ck_assert_int_eq(hello_check(&h, &ok), REFUSE_NO_SNI);
}
END_TEST

/* In every split: by time, and into records. */
START_TEST(in_parts)
{
	struct bytes e = { .n = 0 }, m, b, one;
	struct hello h;
	const char *why;
	size_t n, used = 0, each;

	server_name(&e, "ok.com", 6);
	message(&m, &e);
	for (each = 2; each <= m.n; each++) {
		records(&b, &m, each);
		for (n = 0; n < b.n; n++)
			ck_assert_int_eq(hello_read(b.v, n, &h, &used, &why),
			    HELLO_MORE);
		ck_assert_int_eq(read_all(&b, &h), HELLO_OK);
		ck_assert_str_eq(h.name.name, "ok.com");
	}
	records(&one, &m, 1);
	ck_assert_int_eq(read_all(&one, &h), m.n > HELLO_RECORDS_MAX ?
	    HELLO_BAD : HELLO_OK);
	/* What follows in the same bytes is not its. */
	records(&b, &m, 16384);
	n = b.n;
	put(&b, "more", 4);
	ck_assert_int_eq(hello_read(b.v, b.n, &h, &used, &why), HELLO_OK);
	ck_assert_uint_eq(used, n);
}
END_TEST

static const struct {
	const char	*p;
	size_t		 n;
} not_tls[] = {
	{ "GET / HTTP/1.1\r\n", 16 },
	{ "SSH-2.0-x\r\n", 11 },
	{ "\x16\x02\x01\x00\x05\x01", 6 },		/* version 2 */
	{ "\x16\x03\x01\x00\x00", 5 },			/* an empty record */
	{ "\x16\x03\x01\x40\x01", 5 },			/* over 16,384 */
	{ "\x16\x03\x01\x00\x05\x02", 6 },		/* ServerHello */
	{ "\x16\x03\x01\x00\x04\x01\xff\xff\xff", 9 },	/* 16 MiB */
	{ "\x15\x03\x01\x00\x02\x02\x28", 7 },		/* an alert */
	{ "\x17\x03\x03\x00\x05hello", 10 },
	{ "\x80\x2e\x01\x03\x01", 5 },			/* SSL 2 */
	{ "\x16\x03\x01\x00\x02\x01\x00\x17", 8 }	/* then data */
};

START_TEST(not_a_hello)
{
	struct bytes b;
	struct hello h;
	size_t i;

	for (i = 0; i < NITEMS(not_tls); i++) {
		b.n = 0;
		put(&b, not_tls[i].p, not_tls[i].n);
		ck_assert_msg(read_all(&b, &h) == HELLO_BAD, "%zu", i);
	}
}
END_TEST

/* Extensions with a fault, and one that needs a second look. */
static void
fault(struct bytes *e, unsigned which)
{
	switch (which) {
	case 0:		/* twice */
		server_name(e, "ok.com", 6);
		server_name(e, "evil.com", 8);
		break;
	case 1:		/* two names in one */
		extension(e, 0, "\0\x0a\0\0\2ab\0\0\2cd", 12);
		break;
	case 2:		/* a type that is none */
		extension(e, 0, "\0\5\1\0\2ab", 7);
		break;
	case 3:		/* nothing in it */
		extension(e, 0, "", 0);
		break;
	case 4:		/* a list of none */
		extension(e, 0, "\0\0", 2);
		break;
	case 5:
		server_name(e, "evil.com\0.ok.com", 16);
		break;
	case 6:
		server_name(e, "", 0);
		break;
	case 7:		/* bytes behind the list */
		extension(e, 0, "\0\5\0\0\2ab!", 8);
		break;
	case 8:		/* the list is longer than it is */
		extension(e, 0, "\0\6\0\0\2ab", 7);
		break;
	case 9:		/* an extension is */
		put_number(e, 0x00330040, 4);
		break;
	case 10:	/* half a version */
		extension(e, 43, "\3\3\4\3", 4);
		break;
	case 11:	/* no protocol's name */
		extension(e, 16, "\0\1\0", 3);
		break;
	default:
		extension(e, 0, "\0\7\0\0\2ab\0\0", 9);
	}
}

START_TEST(faults)
{
	struct bytes e, m, b;
	struct hello h;
	unsigned i;

	for (i = 0; i <= 12; i++) {
		e.n = 0;
		fault(&e, i);
		message(&m, &e);
		records(&b, &m, 16384);
		ck_assert_msg(read_all(&b, &h) == HELLO_BAD, "%u", i);
	}
	/* The message goes on, or what holds it does not. */
	e.n = 0;
	server_name(&e, "ok.com", 6);
	message(&m, &e);
	put(&m, "\1\0\0\1x", 5);
	records(&b, &m, 16384);
	ck_assert_int_eq(read_all(&b, &h), HELLO_BAD);
	message(&m, &e);
	m.v[3] = (uint8_t)(m.v[3] - 1);
	m.n--;
	records(&b, &m, 16384);
	ck_assert_int_eq(read_all(&b, &h), HELLO_BAD);
}
END_TEST

START_TEST(names_that_are_hidden)
{
	struct bytes e = { .n = 0 }, m, b;
	struct hello h;
	struct host ok;

	host("ok.com", &ok);
	server_name(&e, "ok.com", 6);
	extension(&e, 0xfe0d, "\0\0\1\0\1\0\0\0\0\0", 10);
	message(&m, &e);
	records(&b, &m, 16384);
	ck_assert_int_eq(read_all(&b, &h), HELLO_OK);
	ck_assert_int_eq(hello_check(&h, &ok), REFUSE_ECH);
	e.n = 0;
	extension(&e, 0xffce, "x", 1);
	message(&m, &e);
	records(&b, &m, 16384);
	ck_assert_int_eq(read_all(&b, &h), HELLO_OK);
	ck_assert_int_eq(hello_check(&h, &ok), REFUSE_ECH);
	/* A client of before extensions. */
	message(&m, NULL);
	records(&b, &m, 16384);
	ck_assert_int_eq(read_all(&b, &h), HELLO_OK);
	ck_assert_int_eq(hello_check(&h, &ok), REFUSE_NO_SNI);
}
END_TEST

START_TEST(bounds)
{
	static uint8_t filler[HELLO_MAX];
	struct bytes e = { .n = 0 }, m, b;
	struct hello h;

	server_name(&e, "ok.com", 6);
	extension(&e, 21, filler, 16000);
	message(&m, &e);
	records(&b, &m, 8000);
	ck_assert_int_eq(read_all(&b, &h), HELLO_OK);
	extension(&e, 21, filler, 4000);
	message(&m, &e);
	records(&b, &m, 16384);
	ck_assert_int_eq(read_all(&b, &h), HELLO_BAD);
	/* Cut where no more may come: never a call for more. */
	b.n = HELLO_MAX;
	ck_assert_int_eq(read_all(&b, &h), HELLO_BAD);
}
END_TEST

/* A server that answers needs a certificate, whoever's. */
static void
certify(SSL *ssl)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = X509_new();

	ck_assert(key != NULL && cert != NULL);
	X509_set_pubkey(cert, key);
	ck_assert_int_gt(X509_sign(cert, key, EVP_sha256()), 0);
	ck_assert_int_eq(SSL_use_certificate(ssl, cert), 1);
	ck_assert_int_eq(SSL_use_PrivateKey(ssl, key), 1);
	X509_free(cert);
	EVP_PKEY_free(key);
}

/*
 * A server that wants another group than the client's first guess, and what
 * both say: OpenSSL's.
 */
static void
real_retry(struct bytes *answer, struct bytes *again, char *name)
{
	SSL_CTX *cctx = SSL_CTX_new(TLS_client_method());
	SSL_CTX *sctx = SSL_CTX_new(TLS_server_method());
	SSL *client = SSL_new(cctx), *server = SSL_new(sctx);
	BIO *to_server = BIO_new(BIO_s_mem()), *to_client;
	char offered[] = "X25519:P-384", wanted[] = "P-384";
	uint8_t first[8192];
	int n;

	to_client = BIO_new(BIO_s_mem());
	BIO_up_ref(to_server);
	BIO_up_ref(to_client);
	SSL_set_bio(client, to_client, to_server);
	SSL_set_bio(server, to_server, to_client);
	certify(server);
	SSL_set1_groups_list(client, offered);
	SSL_set1_groups_list(server, wanted);
	ck_assert_int_eq(SSL_set_tlsext_host_name(client, name), 1);
	ck_assert_int_eq(SSL_connect(client), -1);
	(void)SSL_accept(server);
	n = BIO_read(to_client, answer->v, (int)sizeof(answer->v));
	ck_assert_int_gt(n, 0);
	answer->n = (size_t)n;
	ck_assert_int_eq(BIO_write(to_client, answer->v, n), n);
	(void)BIO_read(to_server, first, sizeof(first));
	ck_assert_int_eq(SSL_connect(client), -1);
	n = BIO_read(to_server, again->v, (int)sizeof(again->v));
	ck_assert_int_gt(n, 0);
	again->n = (size_t)n;
	SSL_free(client);
	SSL_free(server);
	SSL_CTX_free(cctx);
	SSL_CTX_free(sctx);
}

START_TEST(a_second_one)
{
	struct bytes answer, again, b = { .n = 0 };
	struct hello h;
	struct host ok;
	char name[] = "evil.com";
	const char *why;
	size_t n, used;

	host("ok.com", &ok);
	real_retry(&answer, &again, name);
	for (n = 0; n < 43; n++)
		ck_assert_int_eq(hello_answer(answer.v, n), ANSWER_MORE);
	ck_assert_int_eq(hello_answer(answer.v, answer.n), ANSWER_RETRY);
	for (n = 0; n < again.n; n++)
		ck_assert_int_eq(hello_read_again(again.v, n, &h, &used,
		    &why), HELLO_MORE);
	ck_assert_int_eq(hello_read_again(again.v, again.n, &h, &used, &why),
	    HELLO_OK);
	ck_assert_uint_eq(used, again.n);
	ck_assert_int_eq(hello_check(&h, &ok), REFUSE_SNI);
	/* Behind early data, which has a bound; nothing else goes before. */
	put(&b, "\27\3\3\0\5early\24\3\3\0\1\1", 16);
	put(&b, again.v, again.n);
	ck_assert_int_eq(hello_read_again(b.v, b.n, &h, &used, &why),
	    HELLO_OK);
	ck_assert_uint_eq(used, b.n);
	for (n = 0; n < 10; n++)
		memcpy(b.v + n * 4000, "\27\3\3\017\233", 5);
	ck_assert_int_eq(hello_read_again(b.v, 4000 * 8, &h, &used,
	    &why), HELLO_MORE);
	ck_assert_int_eq(hello_read_again(b.v, sizeof(b.v), &h, &used, &why),
	    HELLO_BAD);
	ck_assert_int_eq(hello_read_again((const uint8_t *)
	    "\25\3\3\0\2\1\0", 7, &h, &used, &why), HELLO_BAD);
	/* Servers that go on at once, refuse, or speak no TLS. */
	answer.v[20] ^= 1;
	ck_assert_int_eq(hello_answer(answer.v, answer.n), ANSWER_OTHER);
	ck_assert_int_eq(hello_answer((const uint8_t *)"\25\3", 2),
	    ANSWER_OTHER);
	ck_assert_int_eq(hello_answer((const uint8_t *)"HTTP/1.1", 8),
	    ANSWER_OTHER);
	ck_assert_int_eq(hello_answer((const uint8_t *)
	    "\26\3\3\0\12\2\0\0\6", 9), ANSWER_BAD);
}
END_TEST

START_TEST(alerts)
{
	uint8_t a[HELLO_ALERT_SIZE];

	hello_alert(REFUSE_SNI, a);
	ck_assert_mem_eq(a, "\25\3\3\0\2\2\160", sizeof(a));
	hello_alert(REFUSE_NOT_LISTED, a);
	ck_assert_mem_eq(a, "\25\3\3\0\2\2\61", sizeof(a));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("egress_hello");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, a_real_one);
	tcase_add_test(tc, in_parts);
	tcase_add_test(tc, not_a_hello);
	tcase_add_test(tc, faults);
	tcase_add_test(tc, names_that_are_hidden);
	tcase_add_test(tc, bounds);
	tcase_add_test(tc, a_second_one);
	tcase_add_test(tc, alerts);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
