/*
 * SOCKS5, DNS and resolv.conf.
 */
#include <arpa/inet.h>

#include <stdio.h>
#include <string.h>

#include "dns.h"
#include "resolvconf.h"
#include "socks.h"
#include "unit.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define S(text)		(const uint8_t *)text, sizeof(text) - 1

static const struct {
	const uint8_t	*p;
	size_t		 n;
	enum head_result result;
	size_t		 used;
} greetings[] = {
	{ S("\5\1\0"), HEAD_OK, 3 },
	{ S("\5\2\2\0xyz"), HEAD_OK, 4 },
	{ S("\5\2\2"), HEAD_MORE, 0 },
	{ S("\5"), HEAD_MORE, 0 },
	{ S(""), HEAD_MORE, 0 },
	{ S("\5\0"), HEAD_BAD, 0 },
	{ S("\5\1\2"), HEAD_BAD, 0 },		/* a password or nothing */
	{ S("\4\1\0\1"), HEAD_BAD, 0 }		/* SOCKS4 */
};

START_TEST(socks_greetings)
{
	uint8_t answer[SOCKS_METHOD_SIZE];
	size_t i, used = 0;

	for (i = 0; i < NITEMS(greetings); i++) {
		ck_assert_int_eq(socks_greeting(greetings[i].p,
		    greetings[i].n, &used, answer), greetings[i].result);
		if (greetings[i].result == HEAD_OK) {
			ck_assert_uint_eq(used, greetings[i].used);
			ck_assert_mem_eq(answer, "\5\0", 2);
		} else if (greetings[i].result == HEAD_BAD)
			ck_assert_mem_eq(answer, "\5\xff", 2);
	}
}
END_TEST

static const struct {
	const uint8_t	*p;
	size_t		 n;
	enum head_result result;
	const char	*host;
	uint16_t	 port;
	int		 reply;
	enum refusal	 why;
} socks[] = {
	{ S("\5\1\0\3\6OK.com\1\xbb"), HEAD_OK, "ok.com", 443, 0, 0 },
	{ S("\5\1\0\3\7ok.com.\0\x50GET"), HEAD_OK, "ok.com", 80, 0, 0 },
	{ S("\5\1\0\1\13\0\0\1\0\x16"), HEAD_OK, "11.0.0.1", 22, 0, 0 },
	{ S("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\1"), HEAD_OK, "::1",
	    1, 0, 0 },
	{ S("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1\0\1"), HEAD_OK,
	    "::ffff:127.0.0.1", 1, 0, 0 },
	{ S("\5\1\0\3\6ok.com\1"), HEAD_MORE, "", 0, 0, 0 },
	{ S("\5\1\0\3"), HEAD_MORE, "", 0, 0, 0 },
	{ S("\5"), HEAD_MORE, "", 0, 0, 0 },
	{ S("\5\1\0\3\20evil.com\0.ok.com\1\xbb"), HEAD_BAD, "", 0, 2,
	    REFUSE_BAD_HOST },
	{ S("\5\1\0\3\7ok.com\0\1\xbb"), HEAD_BAD, "", 0, 2,
	    REFUSE_BAD_HOST },
	{ S("\5\1\0\3\0\1\xbb"), HEAD_BAD, "", 0, 2, REFUSE_BAD_HOST },
	{ S("\5\1\0\3\12ok.com:443\1\xbb"), HEAD_BAD, "", 0, 2,
	    REFUSE_BAD_HOST },
	{ S("\5\1\0\3\13ok.com@evil\1\xbb"), HEAD_BAD, "", 0, 2,
	    REFUSE_BAD_HOST },
	{ S("\5\1\0\3\10ok%2ecom\1\xbb"), HEAD_BAD, "", 0, 2,
	    REFUSE_BAD_HOST },
	{ S("\5\1\0\3\10[ok.com]\1\xbb"), HEAD_BAD, "", 0, 2,
	    REFUSE_BAD_ADDRESS },
	{ S("\5\1\0\3\5" "127.1\1\xbb"), HEAD_BAD, "", 0, 2,
	    REFUSE_BAD_ADDRESS },
	{ S("\5\1\0\3\6ok.com\0\0"), HEAD_BAD, "", 0, 1,
	    REFUSE_BAD_REQUEST },
	{ S("\5\2\0\3\6ok.com\1\xbb"), HEAD_BAD, "", 0, 7,	/* BIND */
	    REFUSE_BAD_REQUEST },
	{ S("\5\3\0\3\6ok.com\1\xbb"), HEAD_BAD, "", 0, 7,	/* UDP */
	    REFUSE_BAD_REQUEST },
	{ S("\5\1\1\3\6ok.com\1\xbb"), HEAD_BAD, "", 0, 1,
	    REFUSE_BAD_REQUEST },
	{ S("\5\1\0\2\6ok.com\1\xbb"), HEAD_BAD, "", 0, 8,
	    REFUSE_BAD_REQUEST },
	{ S("\4\1\0\x50\1\2\3\4\0"), HEAD_BAD, "", 0, 1,
	    REFUSE_BAD_REQUEST }
};

START_TEST(socks_requests)
{
	struct host h;
	struct head_bad bad;
	uint8_t reply_bytes[SOCKS_REPLY_SIZE];
	uint16_t port;
	size_t i, n, used = 0;
	enum head_result r;
	int reply;

	for (i = 0; i < NITEMS(socks); i++) {
		for (n = 0, r = HEAD_MORE; n <= socks[i].n &&
		    r == HEAD_MORE; n++)
			r = socks_request(socks[i].p, n, &used, &h, &port,
			    &bad, &reply);
		ck_assert_msg(r == socks[i].result, "%zu", i);
		if (r == HEAD_MORE)
			continue;
		ck_assert_str_eq(h.name, socks[i].host);
		ck_assert_msg(reply == socks[i].reply, "%zu", i);
		if (r == HEAD_OK)
			ck_assert_uint_eq(port, socks[i].port);
		else
			ck_assert_int_eq(bad.why, socks[i].why);
	}
	socks_reply(2, reply_bytes);
	ck_assert_mem_eq(reply_bytes, "\5\2\0\1\0\0\0\0\0\0",
	    SOCKS_REPLY_SIZE);
}
END_TEST

#define HEADER	"\x12\x34\1\0\0\1\0\0\0\0\0\0"
#define EDNS	"\x12\x34\1\0\0\1\0\0\0\0\0\1"
#define OPT	"\0\0\51\4\xd0\0\0\0\0\0\0"

static const struct {
	const uint8_t	*p;
	size_t		 n;
	int		 rcode;
	const char	*name;
} queries[] = {
	{ S(HEADER "\2Ok\3cOm\0\0\1\0\1"), DNS_NOERROR, "ok.com" },
	{ S(EDNS "\2ok\3com\0\0\34\0\1" OPT), DNS_NOERROR, "ok.com" },
	{ S(HEADER "\2ok\3com\0\0\1\0\3"), DNS_REFUSED, "" },	/* CHAOS */
	{ S(HEADER "\0\0\2\0\1"), DNS_REFUSED, "" },		/* the root */
	{ S(HEADER "\3o.k\3com\0\0\1\0\1"), DNS_FORMERR, "" },
	{ S(HEADER "\3o\0k\3com\0\0\1\0\1"), DNS_FORMERR, "" },
	{ S(HEADER "\2o@\3com\0\0\1\0\1"), DNS_REFUSED, "" },
	{ S(HEADER "\3" "127\1" "1\0\0\1\0\1"), DNS_REFUSED, "" },
	{ S(HEADER "\1" "8\1" "8\1" "8\1" "8\0\0\1\0\1"), DNS_REFUSED,
	    "8.8.8.8" },
	{ S(HEADER "\xc0\x0c\0\1\0\1"), DNS_FORMERR, "" },	/* a pointer */
	{ S(HEADER "\2ok\xc0\x0c\0\1\0\1"), DNS_FORMERR, "" },
	{ S(HEADER "\2ok\3co"), DNS_FORMERR, "" },
	{ S(HEADER "\2ok\3com"), DNS_FORMERR, "" },
	{ S(HEADER "\2ok\3com\0\0\1\0"), DNS_FORMERR, "" },
	{ S(HEADER "\2ok\3com\0\0\1\0\1x"), DNS_FORMERR, "" },
	{ S(EDNS "\2ok\3com\0\0\1\0\1"), DNS_FORMERR, "" },
	{ S(EDNS "\2ok\3com\0\0\1\0\1" OPT "x"), DNS_FORMERR, "" },
	{ S(EDNS "\2ok\3com\0\0\1\0\1\2ok"), DNS_FORMERR, "" },
	{ S("\x12\x34\1\0\0\2\0\0\0\0\0\0\2ok\0\0\1\0\1"), DNS_FORMERR, "" },
	{ S("\x12\x34\1\0\0\0\0\0\0\0\0\0"), DNS_FORMERR, "" },
	{ S("\x12\x34\1\0\0\1\0\1\0\0\0\0\2ok\0\0\1\0\1"), DNS_FORMERR, "" },
	{ S("\x12\x34\x28\0\0\1\0\0\0\0\0\0\2ok\0\0\6\0\1"), DNS_NOTIMP, "" },
	{ S("\x12\x34\x81\x80\0\1\0\0\0\0\0\0\2ok\0\0\1\0\1"), -1, "" },
	{ S("\x12\x34\1\0\0\1\0\0\0\0\0"), -1, "" },
	{ S(""), -1, "" }
};

START_TEST(dns_queries)
{
	uint8_t out[DNS_ANSWER_MAX];
	struct dns_query q;
	size_t i, n;
	int rcode;

	for (i = 0; i < NITEMS(queries); i++) {
		rcode = dns_read(queries[i].p, queries[i].n, &q);
		ck_assert_msg(rcode == queries[i].rcode, "%zu: %d", i, rcode);
		if (rcode == -1)
			continue;
		ck_assert_str_eq(q.name.name, queries[i].name);
		n = dns_answer(queries[i].p, &q, rcode, 0, NULL, out);
		ck_assert(n >= 12 && out[0] == 0x12 && out[1] == 0x34);
		ck_assert(out[2] & 0x80);
		ck_assert_int_eq(out[3] & 0xf, rcode);
		/* The question comes back, byte for byte. */
		if (q.question > 0)
			ck_assert_mem_eq(out + 12, queries[i].p + 12,
			    q.question);
	}
}
END_TEST

START_TEST(dns_answers)
{
	static const uint8_t a[] = HEADER "\2Ok\3cOm\0\0\1\0\1";
	static const uint8_t aaaa[] = EDNS "\2ok\3com\0\0\34\0\1" OPT;
	static const uint8_t ptr[] = HEADER "\1" "7\1" "0\2" "64\3" "127"
	    "\7in-addr\4arpa\0\0\14\0\1";
	uint8_t out[DNS_ANSWER_MAX], longest[DNS_ANSWER_MAX];
	struct dns_query q;
	char name[EGRESS_NAME_MAX + 1];
	size_t n;

	ck_assert_int_eq(dns_read(a, sizeof(a) - 1, &q), DNS_NOERROR);
	n = dns_answer(a, &q, DNS_NOERROR, 0x7f400007, NULL, out);
	ck_assert_uint_eq(n, sizeof(a) - 1 + 16);
	ck_assert_mem_eq(out, "\x12\x34\x81\x80\0\1\0\1\0\0\0\0", 12);
	ck_assert_mem_eq(out + sizeof(a) - 1,
	    "\xc0\x0c\0\1\0\1\0\0\0\x1e\0\4\x7f\x40\0\7", 16);
	/* Refused: no address, whatever is given. */
	n = dns_answer(a, &q, DNS_REFUSED, 0x7f400007, NULL, out);
	ck_assert_uint_eq(n, sizeof(a) - 1);
	ck_assert_mem_eq(out, "\x12\x34\x81\x85\0\1\0\0\0\0\0\0", 12);
	ck_assert_int_eq(dns_read(aaaa, sizeof(aaaa) - 1, &q), DNS_NOERROR);
	n = dns_answer(aaaa, &q, DNS_NOERROR, 0x7f400007, NULL, out);
	ck_assert_uint_eq(n, sizeof(aaaa) - 1);
	ck_assert_mem_eq(out, "\x12\x34\x81\x80\0\1\0\0\0\0\0\1", 12);
	ck_assert_int_eq(dns_read(ptr, sizeof(ptr) - 1, &q), DNS_NOERROR);
	ck_assert(q.reverse && q.address.bytes[0] == 127 &&
	    q.address.bytes[3] == 7);
	n = dns_answer(ptr, &q, DNS_NOERROR, 0, "ok.com", out);
	ck_assert_uint_eq(n, sizeof(ptr) - 1 + 12 + 8);
	ck_assert_mem_eq(out + n - 8, "\2ok\3com\0", 8);
	/* The longest name has room. */
	memset(name, 'a', sizeof(name));
	name[63] = name[127] = name[191] = '.';
	name[EGRESS_NAME_MAX] = '\0';
	n = dns_answer(ptr, &q, DNS_NOERROR, 0, name, longest);
	ck_assert_uint_eq(n, sizeof(ptr) - 1 + 12 + EGRESS_NAME_MAX + 2);
}
END_TEST

START_TEST(names_have_addresses)
{
	struct names *all = names_new();
	char name[32];
	uint32_t first, last = 0, i;

	ck_assert_ptr_nonnull(all);
	first = names_address(all, "ok.com");
	ck_assert_uint_eq(first & EGRESS_NAMES_MASK, EGRESS_NAMES_NET);
	ck_assert_uint_eq(names_address(all, "ok.com"), first);
	ck_assert_str_eq(names_name(all, first), "ok.com");
	ck_assert_ptr_null(names_name(all, first + 1));
	ck_assert_ptr_null(names_name(all, 0x7f000001));
	ck_assert_ptr_null(names_name(all, 0));
	for (i = 1; i < NAMES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "n%u.com", i);
		last = names_address(all, name);
	}
	ck_assert_str_eq(names_name(all, first), "ok.com");
	ck_assert_uint_eq(names_address(all, name), last);
	/* One more: the oldest is forgotten, and its address is no other's. */
	(void)names_address(all, "more.com");
	ck_assert_ptr_null(names_name(all, first));
	ck_assert_uint_ne(names_address(all, "ok.com"), first);
	/* Once around: every address stays within, and is one name's. */
	for (i = 0; i < (~EGRESS_NAMES_MASK) + 10; i++) {
		(void)snprintf(name, sizeof(name), "m%u.com", i);
		last = names_address(all, name);
		if ((last & EGRESS_NAMES_MASK) != EGRESS_NAMES_NET ||
		    (last & ~EGRESS_NAMES_MASK) == 0 ||
		    (last & ~EGRESS_NAMES_MASK) == ~EGRESS_NAMES_MASK)
			ck_abort_msg("%x", last);
	}
	ck_assert_str_eq(names_name(all, last), name);
	names_free(all);
	names_free(NULL);
}
END_TEST

static void
resolvconf(const char *text, size_t skipped, const char *servers)
{
	char got[256] = "", one[ADDRESS_TEXT_MAX];
	struct resolvconf conf;
	size_t i;

	ck_assert_int_eq(resolvconf_read(text, strlen(text), &conf), 0);
	for (i = 0; i < conf.nservers; i++) {
		address_text(&conf.servers[i], one);
		(void)strncat(got, one, sizeof(got) - strlen(got) - 1);
		(void)strncat(got, " ", sizeof(got) - strlen(got) - 1);
	}
	ck_assert_str_eq(got, servers);
	ck_assert_uint_eq(conf.skipped, skipped);
}

START_TEST(resolv_conf)
{
	static char big[RESOLVCONF_MAX + 1];
	struct resolvconf conf;

	resolvconf("", 0, "127.0.0.1 ");
	resolvconf("search a b\nnameserver 1.2.3.4\noptions ndots:2\n", 0,
	    "1.2.3.4 ");
	resolvconf("nameserver\t1.2.3.4 # x\r\n nameserver 5.6.7.8\n"
	    "nameserver 2001:db8::1", 0, "1.2.3.4 2001:db8::1 ");
	resolvconf("nameserver 01.2.3.4\nnameserver\nnameserver \n"
	    "nameserver fe80::1%eth0\n#nameserver 1.1.1.1\nnameservers 1.1.1.1"
	    "\nnameserver 127.1\n", 4, "127.0.0.1 ");
	resolvconf("nameserver 1.0.0.1\nnameserver 1.0.0.2\n"
	    "nameserver 1.0.0.3\nnameserver 1.0.0.4\n", 1,
	    "1.0.0.1 1.0.0.2 1.0.0.3 ");
	ck_assert_int_eq(resolvconf_read("nameserver 1.2.3.4\n\0", 20, &conf),
	    -1);
	memset(big, '#', sizeof(big));
	ck_assert_int_eq(resolvconf_read(big, sizeof(big), &conf), -1);
	ck_assert_int_eq(resolvconf_read(big, sizeof(big) - 1, &conf), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("egress_wire");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, socks_greetings);
	tcase_add_test(tc, socks_requests);
	tcase_add_test(tc, dns_queries);
	tcase_add_test(tc, dns_answers);
	tcase_add_test(tc, names_have_addresses);
	tcase_add_test(tc, resolv_conf);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
