/*
 * The tool fetch: hops and answers, plain and through TLS, against a host that
 * is played here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <jansson.h>

#include "fetch.h"
#include "head.h"
#include "unit.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

/*
 * Plain
 */

struct sunk {
	char	 v[65536];
	size_t	 n;
};
static struct sunk sunk;

static void
sink(void *arg, const uint8_t *p, size_t n)
{
	struct sunk *s = arg;

	ck_assert(s->n + n < sizeof(s->v));
	memcpy(s->v + s->n, p, n);
	s->n += n;
	s->v[s->n] = '\0';
}

static struct fetch *
begin(const char *arguments, uint64_t most, const struct fetch_trust *trust)
{
	struct fetch *f;

	sunk.n = 0;
	sunk.v[0] = '\0';
	f = fetch_new(arguments, strlen(arguments), most, trust, sink, &sunk);
	ck_assert_ptr_nonnull(f);
	return (f);
}

/* What is sent, as text. */
static const char *
sent(struct fetch *f)
{
	static char text[16384];
	const uint8_t *p;
	size_t n, have = 0;

	while ((p = fetch_output(f, &n)) != NULL && n > 0) {
		n = n > 7 ? 7 : n;
		ck_assert(have + n < sizeof(text));
		memcpy(text + have, p, n);
		have += n;
		fetch_sent(f, n);
	}
	text[have] = '\0';
	return (text);
}

/* The answer, in steps of so many bytes. */
static void
say(struct fetch *f, const char *text, size_t each)
{
	size_t size = strlen(text), n;

	for (; size > 0; text += n, size -= n) {
		n = size < each ? size : each;
		fetch_input(f, (const uint8_t *)text, n);
	}
}

/* The result; a member's text or number as text. */
static json_t *
result(struct fetch *f, int failed)
{
	int was = -1;
	char *text = fetch_result(f, &was);
	json_t *root;

	ck_assert_ptr_nonnull(text);
	ck_assert_msg(was == failed, "%s", text);
	root = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(root);
	free(text);
	fetch_free(f);
	return (root);
}

static const char *
member(const json_t *root, const char *a, const char *b)
{
	const json_t *v = json_object_get(root, a);

	if (b != NULL)
		v = json_object_get(v, b);
	return (json_is_string(v) ? json_string_value(v) : "?");
}

static void
failed_with(struct fetch *f, const char *code)
{
	json_t *root;

	ck_assert_int_eq(fetch_state(f), FETCH_FAILED);
	root = result(f, 1);
	ck_assert_str_eq(member(root, "error", "code"), code);
	ck_assert(member(root, "error", "message")[0] != '\0');
	json_decref(root);
}

START_TEST(a_plain_one)
{
	struct fetch *f;
	json_t *root;
	size_t each;

	for (each = 1; each < 200; each++) {
		f = begin("{\"url\":\"http://OK.com/a?b#c\","
		    "\"headers\":{\"accept\":\"text/html\",\"X-A\":\"1\"}}",
		    1000, NULL);
		ck_assert_int_eq(fetch_state(f), FETCH_DIAL);
		ck_assert_str_eq(fetch_host(f)->name, "ok.com");
		ck_assert_uint_eq(fetch_port(f), 80);
		ck_assert(!fetch_is_tls(f));
		fetch_dialled(f);
		ck_assert_str_eq(sent(f), "GET /a?b HTTP/1.1\r\n"
		    "Host: ok.com\r\naccept: text/html\r\nX-A: 1\r\n"
		    "User-Agent: myelin\r\nAccept-Encoding: identity\r\n"
		    "Connection: close\r\n\r\n");
		say(f, "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 404 Not\r\n"
		    "Content-Type: text/plain\r\nA: b\r\na: \xff\r\n"
		    "Transfer-Encoding: chunked\r\n\r\n"
		    "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nmore", each);
		ck_assert_int_eq(fetch_state(f), FETCH_DONE);
		ck_assert_str_eq(sunk.v, "abcde");
		root = result(f, 0);
		ck_assert_int_eq(json_integer_value(json_object_get(root,
		    "status")), 404);
		ck_assert_int_eq(json_integer_value(json_object_get(root,
		    "bytes")), 5);
		ck_assert(json_is_false(json_object_get(root, "truncated")));
		ck_assert_str_eq(member(root, "url", NULL),
		    "http://ok.com/a?b");
		ck_assert_str_eq(member(root, "headers", "a"), "b, <FF>");
		json_decref(root);
	}
}
END_TEST

START_TEST(ends_of_answers)
{
	struct fetch *f;

	f = begin("{\"url\":\"http://a/\",\"method\":\"HEAD\"}", 10, NULL);
	fetch_dialled(f);
	ck_assert(strncmp(sent(f), "HEAD / HTTP/1.1\r\n", 17) == 0);
	say(f, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 9);
	ck_assert_int_eq(fetch_state(f), FETCH_DONE);
	json_decref(result(f, 0));

	f = begin("{\"url\":\"http://a/\"}", 10, NULL);
	fetch_dialled(f);
	say(f, "HTTP/1.1 200 OK\r\n\r\nabc", 9);
	ck_assert_int_eq(fetch_state(f), FETCH_TALK);
	fetch_eof(f);
	ck_assert_int_eq(fetch_state(f), FETCH_DONE);
	ck_assert_str_eq(sunk.v, "abc");
	json_decref(result(f, 0));

	f = begin("{\"url\":\"http://a/\"}", 10, NULL);
	fetch_dialled(f);
	say(f, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", 9);
	fetch_eof(f);
	failed_with(f, "bad_response");

	f = begin("{\"url\":\"http://a/\"}", 10, NULL);
	fetch_dialled(f);
	fetch_eof(f);
	failed_with(f, "bad_response");

	f = begin("{\"url\":\"http://a/\"}", 10, NULL);
	fetch_dialled(f);
	say(f, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxx", 9);
	failed_with(f, "bad_response");

	f = begin("{\"url\":\"http://a/\"}", 10, NULL);
	fetch_dialled(f);
	say(f, "SSH-2.0-x\r\n\r\n", 9);
	failed_with(f, "bad_response");
}
END_TEST

/* Never more than was asked for, nor than the limit. */
START_TEST(bounds_of_answers)
{
	static const char ten[] =
	    "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789";
	static const struct {
		const char	*arguments;
		uint64_t	 most, got;
	} cases[] = {
		{ "{\"url\":\"http://a/\"}", 100, 10 },
		{ "{\"url\":\"http://a/\"}", 10, 10 },
		{ "{\"url\":\"http://a/\"}", 9, 9 },
		{ "{\"url\":\"http://a/\",\"max_bytes\":4}", 9, 4 },
		{ "{\"url\":\"http://a/\",\"max_bytes\":100}", 9, 9 }
	};
	static char endless[40000];
	struct fetch *f;
	json_t *root;
	size_t i, each;

	for (i = 0; i < NITEMS(cases); i++) {
		for (each = 1; each < 60; each++) {
			f = begin(cases[i].arguments, cases[i].most, NULL);
			fetch_dialled(f);
			say(f, ten, each);
			ck_assert_int_eq(fetch_state(f), FETCH_DONE);
			ck_assert_uint_eq(sunk.n, cases[i].got);
			root = result(f, 0);
			ck_assert_int_eq(json_is_true(json_object_get(root,
			    "truncated")), cases[i].got < 10);
			json_decref(root);
		}
	}
	memset(endless, 'a', sizeof(endless) - 1);
	memcpy(endless, "HTTP/1.1 200 OK\r\nA: ", 20);
	f = begin("{\"url\":\"http://a/\"}", 10, NULL);
	fetch_dialled(f);
	say(f, endless, 1000);
	failed_with(f, "bad_response");
	f = begin("{\"url\":\"http://a/\"}", 10, NULL);
	fetch_dialled(f);
	for (i = 0; i < 20; i++)
		say(f, "HTTP/1.1 103 x\r\n\r\n", 1000);
	failed_with(f, "bad_response");
}
END_TEST

START_TEST(large_results_are_cut)
{
	static char head[HEAD_MAX];
	struct fetch *f;
	json_t *root;
	char *text;
	size_t n;
	int failed;

	n = (size_t)snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nA: ");
	memset(head + n, 0xff, 30000);		/* each is "<FF>" in text */
	(void)snprintf(head + n + 30000, 100,
	    "\r\nContent-Length: 0\r\n\r\n");
	f = begin("{\"url\":\"http://a/\"}", 10, NULL);
	fetch_dialled(f);
	say(f, head, sizeof(head));
	ck_assert_int_eq(fetch_state(f), FETCH_DONE);
	text = fetch_result(f, &failed);
	ck_assert_ptr_nonnull(text);
	ck_assert_uint_le(strlen(text), FETCH_RESULT_MAX);
	root = json_loads(text, 0, NULL);
	ck_assert_ptr_null(json_object_get(root, "headers"));
	ck_assert_str_eq(member(root, "url", NULL), "http://a/");
	json_decref(root);
	free(text);
	fetch_free(f);
}
END_TEST

/*
 * Redirects
 */

#define MOVED(where)	"HTTP/1.1 302 Found\r\nLocation: " where "\r\n" \
			"Content-Length: 5\r\n\r\nnever"

START_TEST(redirects)
{
	struct fetch *f = begin("{\"url\":\"http://a/b/c\",\"headers\":"
	    "{\"Authorization\":\"x\",\"Cookie\":\"y\",\"X-Key\":\"z\","
	    "\"Accept\":\"b/c\"}}", 100, NULL);
	json_t *root;

	fetch_dialled(f);
	ck_assert_ptr_nonnull(strstr(sent(f), "\r\nAuthorization: x\r\n"));
	say(f, MOVED("../d"), 7);
	ck_assert_int_eq(fetch_state(f), FETCH_DIAL);
	fetch_dialled(f);
	/* The same host: what was for it still is. */
	ck_assert_ptr_nonnull(strstr(sent(f), "\r\nAuthorization: x\r\n"));
	say(f, MOVED("http://other.com/e"), 100);
	ck_assert_int_eq(fetch_state(f), FETCH_DIAL);
	ck_assert_str_eq(fetch_host(f)->name, "other.com");
	fetch_dialled(f);
	ck_assert_str_eq(sent(f), "GET /e HTTP/1.1\r\nHost: other.com\r\n"
	    "Accept: b/c\r\nUser-Agent: myelin\r\n"
	    "Accept-Encoding: identity\r\nConnection: close\r\n\r\n");
	say(f, MOVED("http://a/back"), 100);
	fetch_dialled(f);
	/* Nor does a host that was sent there get them back. */
	ck_assert_ptr_null(strstr(sent(f), "Authorization"));
	say(f, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 100);
	ck_assert_int_eq(fetch_state(f), FETCH_DONE);
	ck_assert_str_eq(sunk.v, "ok");
	root = result(f, 0);
	ck_assert_str_eq(member(root, "url", NULL), "http://a/back");
	ck_assert_uint_eq(json_array_size(json_object_get(root,
	    "redirects")), 3);
	ck_assert_str_eq(json_string_value(json_array_get(json_object_get(
	    root, "redirects"), 1)), "http://a/d");
	json_decref(root);
}
END_TEST

static const struct {
	const char	*answer, *code;
} bad_redirects[] = {
	{ MOVED("http://127.1/"), "bad_address" },
	{ MOVED("http://0x7f000001/"), "bad_address" },
	{ MOVED("file:///etc/passwd"), "bad_url" },
	{ MOVED("gopher://ok.com/"), "bad_url" },
	{ MOVED("http://u@ok.com/"), "bad_host" },
	{ MOVED("/a\r\nLocation: /b"), "bad_response" }
};

START_TEST(redirects_refused)
{
	struct fetch *f;
	json_t *root;
	size_t i;

	for (i = 0; i < NITEMS(bad_redirects); i++) {
		f = begin("{\"url\":\"http://a/\"}", 9, NULL);
		fetch_dialled(f);
		say(f, bad_redirects[i].answer, 11);
		failed_with(f, bad_redirects[i].code);
	}
	f = begin("{\"url\":\"http://a/\"}", 9, NULL);
	for (i = 0; i <= FETCH_REDIRECTS_MAX; i++) {
		ck_assert_int_eq(fetch_state(f), FETCH_DIAL);
		fetch_dialled(f);
		say(f, MOVED("/"), 100);
	}
	failed_with(f, "redirects");
	/* Judged by others, and refused. */
	f = begin("{\"url\":\"http://a/\"}", 9, NULL);
	fetch_dialled(f);
	say(f, MOVED("http://inner.net/x"), 100);
	fetch_refuse(f, REFUSE_NOT_LISTED, NULL, "not_listed");
	root = result(f, 1);
	ck_assert_str_eq(member(root, "error", "code"), "not_listed");
	ck_assert_str_eq(member(root, "error", "host"), "inner.net");
	ck_assert_str_eq(member(root, "error", "rule"), "not_listed");
	ck_assert_ptr_nonnull(strstr(member(root, "error", "next"),
	    "request_egress"));
	ck_assert_str_eq(member(root, "url", NULL), "http://inner.net/x");
	json_decref(root);
	/* Without a place to go it is an answer like any other. */
	f = begin("{\"url\":\"http://a/\"}", 9, NULL);
	fetch_dialled(f);
	say(f, "HTTP/1.1 302 x\r\nContent-Length: 0\r\n\r\n", 100);
	ck_assert_int_eq(fetch_state(f), FETCH_DONE);
	json_decref(result(f, 0));
}
END_TEST

/*
 * Arguments
 */

static const struct {
	const char	*arguments, *code;
} wrong[] = {
	{ "", "bad_argument" },
	{ "[]", "bad_argument" },
	{ "{", "bad_argument" },
	{ "{\"url\":\"http://a/\",\"url\":\"http://b/\"}", "bad_argument" },
	{ "{\"url\":\"http://a/\",\"x\":1}", "bad_argument" },
	{ "{\"url\":\"http://a/\",\"method\":\"POST\"}", "bad_argument" },
	{ "{\"url\":\"http://a/\",\"method\":\"get\"}", "bad_argument" },
	{ "{\"url\":\"http://a/\",\"method\":1}", "bad_argument" },
	{ "{\"url\":\"http://a/\",\"max_bytes\":0}", "bad_argument" },
	{ "{\"url\":\"http://a/\",\"max_bytes\":-1}", "bad_argument" },
	{ "{\"url\":\"http://a/\",\"max_bytes\":\"1\"}", "bad_argument" },
	{ "{\"url\":\"http://a/\",\"headers\":[]}", "bad_argument" },
	{ "{\"url\":\"http://a/\",\"headers\":{\"A\":1}}", "bad_argument" },
	{ "{\"url\":\"http://a/\",\"headers\":{\"\":\"b\"}}",
	    "bad_argument" },
	{ "{\"url\":\"http://a/\",\"headers\":{\"A b\":\"b\"}}",
	    "bad_argument" },
	{ "{\"url\":\"http://a/\",\"headers\":{\"A\":\"b\\r\\nc\"}}",
	    "bad_argument" },
	{ "{\"url\":\"http://a/\",\"headers\":{\"A\\r\\nB\":\"c\"}}",
	    "bad_argument" },
	{ "{\"url\":\"http://a/\",\"headers\":{\"hOST\":\"b\"}}",
	    "bad_argument" },
	{ "{\"url\":\"http://a/\",\"headers\":{\"Content-Length\":\"5\"}}",
	    "bad_argument" },
	{ "{\"url\":\"http://a/\",\"headers\":"
	    "{\"Transfer-Encoding\":\"chunked\"}}", "bad_argument" },
	{ "{\"url\":\"http://a/\",\"headers\":"
	    "{\"Proxy-Authorization\":\"x\"}}", "bad_argument" },
	{ "{}", "bad_url" },
	{ "{\"url\":1}", "bad_url" },
	{ "{\"url\":\"ftp://a/\"}", "bad_url" },
	{ "{\"url\":\"http://a@b/\"}", "bad_host" },
	{ "{\"url\":\"http://0177.0.0.1/\"}", "bad_address" }
};

START_TEST(arguments_refused)
{
	size_t i;

	for (i = 0; i < NITEMS(wrong); i++)
		failed_with(begin(wrong[i].arguments, 10, NULL),
		    wrong[i].code);
}
END_TEST

/*
 * TLS
 */

struct server {
	X509		*cert;
	EVP_PKEY	*key;
	SSL_CTX		*ctx;
	SSL		*ssl;
	BIO		*in, *out;
	char		*pem;
	size_t		 npem;
};

/* A certificate of its own making for that host, over since so many days. */
static void
make_certificate(struct server *s, const char *name, int over)
{
	char san[300];
	X509_EXTENSION *e;
	BIO *bio = BIO_new(BIO_s_mem());
	char *p;

	s->key = EVP_EC_gen("P-256");
	s->cert = X509_new();
	ck_assert(s->key != NULL && s->cert != NULL && bio != NULL);
	X509_set_version(s->cert, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(s->cert), 1);
	X509_gmtime_adj(X509_getm_notBefore(s->cert), -86400L * 30);
	X509_gmtime_adj(X509_getm_notAfter(s->cert), -86400L * over + 3600);
	X509_set_pubkey(s->cert, s->key);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(s->cert), "CN",
	    MBSTRING_ASC, (const unsigned char *)"test", -1, -1, 0);
	X509_set_issuer_name(s->cert, X509_get_subject_name(s->cert));
	(void)snprintf(san, sizeof(san), "%s:%s",
	    strspn(name, "0123456789.") == strlen(name) ? "IP" : "DNS", name);
	e = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, san);
	ck_assert_ptr_nonnull(e);
	X509_add_ext(s->cert, e, -1);
	X509_EXTENSION_free(e);
	ck_assert_int_gt(X509_sign(s->cert, s->key, EVP_sha256()), 0);
	ck_assert_int_eq(PEM_write_bio_X509(bio, s->cert), 1);
	s->npem = (size_t)BIO_get_mem_data(bio, &p);
	s->pem = malloc(s->npem + 1);
	memcpy(s->pem, p, s->npem);
	BIO_free(bio);
}

static void
server_start(struct server *s, const char *name, int over)
{
	memset(s, 0, sizeof(*s));
	make_certificate(s, name, over);
	s->ctx = SSL_CTX_new(TLS_server_method());
	ck_assert_int_eq(SSL_CTX_use_certificate(s->ctx, s->cert), 1);
	ck_assert_int_eq(SSL_CTX_use_PrivateKey(s->ctx, s->key), 1);
	s->ssl = SSL_new(s->ctx);
	s->in = BIO_new(BIO_s_mem());
	s->out = BIO_new(BIO_s_mem());
	SSL_set_bio(s->ssl, s->in, s->out);
	SSL_set_accept_state(s->ssl);
}

static void
server_end(struct server *s)
{
	SSL_free(s->ssl);
	SSL_CTX_free(s->ctx);
	X509_free(s->cert);
	EVP_PKEY_free(s->key);
	free(s->pem);
}

/* Carries bytes both ways until nothing moves. */
static void
carry(struct fetch *f, struct server *s, size_t each)
{
	uint8_t buf[4096];
	const uint8_t *p;
	size_t n, moved;
	int r;

	do {
		moved = 0;
		while ((p = fetch_output(f, &n)) != NULL && n > 0) {
			BIO_write(s->in, p, (int)n);
			fetch_sent(f, n);
			moved += n;
		}
		(void)SSL_do_handshake(s->ssl);
		while ((r = BIO_read(s->out, buf, (int)(each < sizeof(buf) ?
		    each : sizeof(buf)))) > 0) {
			fetch_input(f, buf, (size_t)r);
			moved += (size_t)r;
		}
	} while (moved > 0);
}

START_TEST(through_tls)
{
	static const char answer[] =
	    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
	struct fetch_trust *trust;
	struct server s;
	struct fetch *f;
	char request[1024];
	size_t each;
	int n;

	for (each = 1; each < 3000; each = each * 5 + 3) {
		server_start(&s, "ok.com", 0);
		trust = fetch_trust_new(s.pem, s.npem);
		ck_assert_ptr_nonnull(trust);
		f = begin("{\"url\":\"https://OK.com/x\"}", 100, trust);
		ck_assert_uint_eq(fetch_port(f), 443);
		ck_assert(fetch_is_tls(f));
		fetch_dialled(f);
		carry(f, &s, each);
		ck_assert_str_eq(SSL_get_servername(s.ssl,
		    TLSEXT_NAMETYPE_host_name), "ok.com");
		n = SSL_read(s.ssl, request, sizeof(request) - 1);
		ck_assert_int_gt(n, 0);
		request[n] = '\0';
		ck_assert(strncmp(request, "GET /x HTTP/1.1\r\n"
		    "Host: ok.com\r\n", 31) == 0);
		ck_assert_int_gt(SSL_write(s.ssl, answer,
		    sizeof(answer) - 1), 0);
		carry(f, &s, each);
		ck_assert_int_eq(fetch_state(f), FETCH_DONE);
		ck_assert_str_eq(sunk.v, "hello");
		json_decref(result(f, 0));
		fetch_trust_free(trust);
		server_end(&s);
	}
}
END_TEST

static void
refused_by_tls(const char *url, const char *name, int over, int trusted)
{
	struct fetch_trust *trust;
	struct server s, other;
	struct fetch *f;

	server_start(&s, name, over);
	server_start(&other, "other.net", 0);
	trust = trusted ? fetch_trust_new(s.pem, s.npem) :
	    fetch_trust_new(other.pem, other.npem);
	ck_assert_ptr_nonnull(trust);
	f = begin(url, 100, trust);
	fetch_dialled(f);
	carry(f, &s, 5000);
	failed_with(f, "tls");
	fetch_trust_free(trust);
	server_end(&other);
	server_end(&s);
}

START_TEST(tls_refused)
{
	struct fetch *f;

	refused_by_tls("{\"url\":\"https://ok.com/\"}", "evil.com", 0, 1);
	refused_by_tls("{\"url\":\"https://ok.com/\"}", "ok.com", 0, 0);
	refused_by_tls("{\"url\":\"https://ok.com/\"}", "ok.com", 2, 1);
	refused_by_tls("{\"url\":\"https://11.0.0.1/\"}", "ok.com", 0, 1);
	refused_by_tls("{\"url\":\"https://11.0.0.1/\"}", "11.0.0.2", 0, 1);
	f = begin("{\"url\":\"https://ok.com/\"}", 100, NULL);
	fetch_dialled(f);
	failed_with(f, "tls");
	ck_assert_ptr_null(fetch_trust_new("", 0));
	ck_assert_ptr_null(fetch_trust_new("x", 1));
}
END_TEST

/* What ends with the connection must be said to end, in TLS. */
START_TEST(tls_ends)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\n\r\nhello";
	struct fetch_trust *trust;
	struct server s;
	struct fetch *f;
	int whole;

	for (whole = 0; whole < 2; whole++) {
		server_start(&s, "11.0.0.1", 0);
		trust = fetch_trust_new(s.pem, s.npem);
		ck_assert_ptr_nonnull(trust);
		f = begin("{\"url\":\"https://11.0.0.1/\"}", 100, trust);
		fetch_dialled(f);
		carry(f, &s, 5000);
		ck_assert_int_gt(SSL_write(s.ssl, answer,
		    sizeof(answer) - 1), 0);
		if (whole)
			SSL_shutdown(s.ssl);
		carry(f, &s, 5000);
		fetch_eof(f);
		if (whole)
			json_decref(result(f, 0));
		else
			failed_with(f, "tls");
		fetch_trust_free(trust);
		server_end(&s);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("egress_fetch");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, a_plain_one);
	tcase_add_test(tc, ends_of_answers);
	tcase_add_test(tc, bounds_of_answers);
	tcase_add_test(tc, large_results_are_cut);
	tcase_add_test(tc, redirects);
	tcase_add_test(tc, redirects_refused);
	tcase_add_test(tc, arguments_refused);
	tcase_add_test(tc, through_tls);
	tcase_add_test(tc, tls_refused);
	tcase_add_test(tc, tls_ends);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
