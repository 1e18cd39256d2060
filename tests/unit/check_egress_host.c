/*
 * Addresses and hosts: one form each, and what kind of place it is.
 */
#include <netinet/in.h>

#include <string.h>

#include "host.h"
#include "unit.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

static const struct {
	const char		*text;
	enum address_class	 class;
} classes[] = {
	{ "8.8.8.8", ADDRESS_PUBLIC },
	{ "11.0.0.1", ADDRESS_PUBLIC },
	{ "0.0.0.0", ADDRESS_UNSPECIFIED },
	{ "0.0.0.1", ADDRESS_RESERVED },
	{ "10.255.255.255", ADDRESS_PRIVATE },
	{ "172.15.255.255", ADDRESS_PUBLIC },
	{ "172.16.0.0", ADDRESS_PRIVATE },
	{ "172.31.255.255", ADDRESS_PRIVATE },
	{ "172.32.0.0", ADDRESS_PUBLIC },
	{ "192.168.1.1", ADDRESS_PRIVATE },
	{ "100.63.255.255", ADDRESS_PUBLIC },
	{ "100.64.0.0", ADDRESS_PRIVATE },
	{ "100.127.255.255", ADDRESS_PRIVATE },
	{ "100.128.0.0", ADDRESS_PUBLIC },
	{ "127.0.0.1", ADDRESS_LOOPBACK },
	{ "127.64.0.9", ADDRESS_LOOPBACK },
	{ "169.254.1.1", ADDRESS_LINK_LOCAL },
	{ "169.254.169.254", ADDRESS_METADATA },
	{ "169.254.170.2", ADDRESS_METADATA },
	{ "100.100.100.200", ADDRESS_METADATA },
	{ "168.63.129.16", ADDRESS_METADATA },
	{ "192.0.0.192", ADDRESS_METADATA },
	{ "192.0.0.8", ADDRESS_RESERVED },
	{ "192.0.2.1", ADDRESS_RESERVED },
	{ "198.18.0.1", ADDRESS_RESERVED },
	{ "198.19.255.255", ADDRESS_RESERVED },
	{ "198.20.0.0", ADDRESS_PUBLIC },
	{ "203.0.113.7", ADDRESS_RESERVED },
	{ "223.255.255.255", ADDRESS_PUBLIC },
	{ "224.0.0.1", ADDRESS_MULTICAST },
	{ "239.255.255.255", ADDRESS_MULTICAST },
	{ "240.0.0.1", ADDRESS_RESERVED },
	{ "255.255.255.255", ADDRESS_RESERVED },
	{ "2606:4700::1111", ADDRESS_PUBLIC },
	{ "::", ADDRESS_UNSPECIFIED },
	{ "::1", ADDRESS_LOOPBACK },
	{ "::2", ADDRESS_RESERVED },
	{ "::ffff:127.0.0.1", ADDRESS_LOOPBACK },
	{ "::ffff:169.254.169.254", ADDRESS_METADATA },
	{ "::ffff:10.0.0.1", ADDRESS_EMBEDDED },
	{ "::ffff:8.8.8.8", ADDRESS_EMBEDDED },
	{ "::127.0.0.1", ADDRESS_LOOPBACK },
	{ "::8.8.8.8", ADDRESS_EMBEDDED },
	{ "::ffff:0:8.8.8.8", ADDRESS_EMBEDDED },
	{ "64:ff9b::a9fe:a9fe", ADDRESS_METADATA },
	{ "64:ff9b::7f00:1", ADDRESS_LOOPBACK },
	{ "64:ff9b::c0a8:1", ADDRESS_EMBEDDED },
	{ "64:ff9b::808:808", ADDRESS_PUBLIC },
	{ "64:ff9b:1::808:808", ADDRESS_EMBEDDED },
	{ "2002:7f00:1::", ADDRESS_LOOPBACK },
	{ "2002:a00:1::1", ADDRESS_EMBEDDED },
	{ "2002:808:808::1", ADDRESS_EMBEDDED },
	{ "2001::1", ADDRESS_EMBEDDED },
	{ "2001:4860:4860::8888", ADDRESS_PUBLIC },
	{ "2001:db8::1", ADDRESS_RESERVED },
	{ "2001:2::1", ADDRESS_RESERVED },
	{ "2a00::5efe:a00:1", ADDRESS_EMBEDDED },
	{ "2a00::200:5efe:7f00:1", ADDRESS_LOOPBACK },
	{ "fd00::5efe:a00:1", ADDRESS_EMBEDDED },
	{ "3fff::1", ADDRESS_RESERVED },
	{ "100::1", ADDRESS_RESERVED },
	{ "5f00::1", ADDRESS_RESERVED },
	{ "4000::1", ADDRESS_RESERVED },
	{ "fc00::1", ADDRESS_PRIVATE },
	{ "fdff::1", ADDRESS_PRIVATE },
	{ "fd00:ec2::254", ADDRESS_METADATA },
	{ "fd20:ce::254", ADDRESS_METADATA },
	{ "fe80::1", ADDRESS_LINK_LOCAL },
	{ "febf::1", ADDRESS_LINK_LOCAL },
	{ "fec0::1", ADDRESS_RESERVED },
	{ "ff02::1", ADDRESS_MULTICAST }
};

START_TEST(addresses_are_classified)
{
	struct address a;
	size_t i;

	for (i = 0; i < NITEMS(classes); i++) {
		ck_assert_msg(address_read(classes[i].text,
		    strlen(classes[i].text), &a) == 0, "%s", classes[i].text);
		ck_assert_msg(address_class(&a) == classes[i].class,
		    "%s is %s", classes[i].text,
		    address_class_name(address_class(&a)));
		ck_assert_int_eq(address_allowed(&a, 0),
		    classes[i].class == ADDRESS_PUBLIC);
		ck_assert_int_eq(address_allowed(&a, HOST_F_PRIVATE),
		    classes[i].class == ADDRESS_PUBLIC ||
		    classes[i].class == ADDRESS_PRIVATE);
	}
}
END_TEST

static const char *const no_addresses[] = {
	"", "1", "1.2.3", "1.2.3.4.", "1.2.3.4.5", "01.2.3.4", "1.2.3.04",
	"256.1.1.1", "1.2.3.999", "0x7f.0.0.1", "0x7f000001", "2130706433",
	"127.1", " 1.2.3.4", "1.2.3.4 ", "+1.2.3.4", "1..2.3", "::1%lo",
	"[::1]", ":::", "1::2::3", "12345::", "::1.2.3.256", "::01.2.3.4",
	"1:2:3:4:5:6:7:8:9", "::1 ", "1.2.3.4:80"
};

START_TEST(addresses_have_one_form)
{
	struct address a, b;
	struct sockaddr_storage ss;
	char text[ADDRESS_TEXT_MAX];
	uint16_t port;
	size_t i;

	for (i = 0; i < NITEMS(no_addresses); i++)
		ck_assert_msg(address_read(no_addresses[i],
		    strlen(no_addresses[i]), &a) == -1, "%s",
		    no_addresses[i]);
	ck_assert_int_eq(address_read("::1\0", 4, &a), -1);
	for (i = 0; i < NITEMS(classes); i++) {
		ck_assert_int_eq(address_read(classes[i].text,
		    strlen(classes[i].text), &a), 0);
		address_text(&a, text);
		ck_assert_int_eq(address_read(text, strlen(text), &b), 0);
		ck_assert(address_same(&a, &b));
		(void)address_sockaddr(&a, 4321, &ss);
		ck_assert_int_eq(address_of_sockaddr((struct sockaddr *)&ss,
		    &b, &port), 0);
		ck_assert(address_same(&a, &b) && port == 4321);
	}
	ss.ss_family = AF_UNIX;
	ck_assert_int_eq(address_of_sockaddr((struct sockaddr *)&ss, &b,
	    &port), -1);
}
END_TEST

#define S(text)	{ text, sizeof(text) - 1 }
#define A63	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NAME253	A63 "." A63 "." A63 "." "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
	struct { const char *p; size_t n; } in;
	const char	*name;
} good[] = {
	{ S("ok.com"), "ok.com" },
	{ S("OK.com"), "ok.com" },
	{ S("ok.com."), "ok.com" },
	{ S("O_k.C-m"), "o_k.c-m" },
	{ S("localhost"), "localhost" },
	{ S("ok.com.evil.com"), "ok.com.evil.com" },
	{ S("1.2.3.4"), "1.2.3.4" },
	{ S("0xfog"), "0xfog" },
	{ S("1a"), "1a" },
	{ S("1.2.3.4.com"), "1.2.3.4.com" },
	{ S("xn--bcher-kva.de"), "xn--bcher-kva.de" },
	{ S("XN--BCHER-KVA.de"), "xn--bcher-kva.de" },
	{ S("b\xc3\xbc" "cher.de"), "xn--bcher-kva.de" },
	{ S("B\xc3\x9c" "CHER.de"), "xn--bcher-kva.de" },
	{ S("stra\xc3\x9f" "e.de"), "xn--strae-oqa.de" },
	{ S("\xef\xbd\x8f\xef\xbd\x8b.com"), "ok.com" },	/* full width */
	{ S("ok\xe3\x80\x82" "com"), "ok.com" },	/* its full stop */
	{ S("ok\xef\xbc\x8e" "com\xef\xbc\x8e"), "ok.com" },
	{ S("o\xc2\xadk.com"), "ok.com" },		/* soft hyphen */
	{ S("[::1]"), "::1" },
	{ S("[2001:DB8:0:0::1]"), "2001:db8::1" },
	{ S("[::ffff:127.0.0.1]"), "::ffff:127.0.0.1" },
	{ S(NAME253), NAME253 },
	{ S(NAME253 "."), NAME253 }
};

START_TEST(hosts_have_one_form)
{
	char text[HOST_PORT_MAX];
	struct host h, again;
	const char *why;
	size_t i;

	ck_assert_uint_eq(strlen(NAME253), EGRESS_NAME_MAX);
	for (i = 0; i < NITEMS(good); i++) {
		ck_assert_msg(host_read(good[i].in.p, good[i].in.n, &h,
		    &why) == REFUSE_NOT, "%s: %s", good[i].in.p, why);
		ck_assert_str_eq(h.name, good[i].name);
		host_port_text(&h, 80, 80, text);
		ck_assert_int_eq(host_read(text, strlen(text), &again, &why),
		    REFUSE_NOT);
		ck_assert(host_same(&h, &again));
		ck_assert_int_eq(h.is_address, strchr(h.name, ':') != NULL ||
		    strcmp(h.name, "1.2.3.4") == 0);
	}
}
END_TEST

static const struct {
	struct { const char *p; size_t n; } in;
	enum refusal	 why;
} wrong[] = {
	{ S(""), REFUSE_BAD_HOST },
	{ S("."), REFUSE_BAD_HOST },
	{ S("ok.com.."), REFUSE_BAD_HOST },
	{ S(".ok.com"), REFUSE_BAD_HOST },
	{ S("ok..com"), REFUSE_BAD_HOST },
	{ S("evil.com\0.ok.com"), REFUSE_BAD_HOST },
	{ S("ok.com\0"), REFUSE_BAD_HOST },
	{ S("ok.com@evil"), REFUSE_BAD_HOST },
	{ S("user:pw@ok.com"), REFUSE_BAD_HOST },
	{ S("ok%2ecom"), REFUSE_BAD_HOST },
	{ S("%6fk.com"), REFUSE_BAD_HOST },
	{ S("ok.com\t"), REFUSE_BAD_HOST },
	{ S("\tok.com"), REFUSE_BAD_HOST },
	{ S("ok. com"), REFUSE_BAD_HOST },
	{ S("ok.com\r\nHost: evil"), REFUSE_BAD_HOST },
	{ S("ok.com\n"), REFUSE_BAD_HOST },
	{ S("ok.com/"), REFUSE_BAD_HOST },
	{ S("ok.com\\"), REFUSE_BAD_HOST },
	{ S("ok.com:80"), REFUSE_BAD_HOST },
	{ S("*.ok.com"), REFUSE_BAD_HOST },
	{ S("-ok.com"), REFUSE_BAD_HOST },
	{ S("ok-.com"), REFUSE_BAD_HOST },
	{ S("::1"), REFUSE_BAD_HOST },
	{ S(A63 "a.com"), REFUSE_BAD_HOST },
	{ S(NAME253 "a"), REFUSE_BAD_HOST },
	{ S(NAME253 ".a"), REFUSE_BAD_HOST },
	{ S("ok\xff.com"), REFUSE_BAD_HOST },
	{ S("ok\xc0\xae" "com"), REFUSE_BAD_HOST },	/* overlong '.' */
	{ S("ok\xe2\x84\x80.com"), REFUSE_BAD_HOST },	/* a/c in one */
	{ S("b\xc3\xbc" "cher\0.de"), REFUSE_BAD_HOST },
	{ S("ok.com\xe3\x80\x82\xe3\x80\x82"), REFUSE_BAD_HOST },
	{ S("[ok.com]"), REFUSE_BAD_ADDRESS },
	{ S("[127.0.0.1]"), REFUSE_BAD_ADDRESS },
	{ S("[fe80::1%lo]"), REFUSE_BAD_ADDRESS },
	{ S("[::1"), REFUSE_BAD_ADDRESS },
	{ S("[]"), REFUSE_BAD_ADDRESS },
	{ S("["), REFUSE_BAD_ADDRESS },
	{ S("2130706433"), REFUSE_BAD_ADDRESS },
	{ S("0x7f.1"), REFUSE_BAD_ADDRESS },
	{ S("0x7f000001"), REFUSE_BAD_ADDRESS },
	{ S("0x"), REFUSE_BAD_ADDRESS },
	{ S("ok.0X7F"), REFUSE_BAD_ADDRESS },
	{ S("0177.0.0.1"), REFUSE_BAD_ADDRESS },
	{ S("127.1"), REFUSE_BAD_ADDRESS },
	{ S("127.0.0.1."), REFUSE_BAD_ADDRESS },
	{ S("256.0.0.1"), REFUSE_BAD_ADDRESS },
	{ S("1.2.3.4.5"), REFUSE_BAD_ADDRESS },
	{ S("ok.1"), REFUSE_BAD_ADDRESS },
	{ S("\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1"),
	    REFUSE_BAD_ADDRESS },		/* digits of full width */
	{ S("127\xe3\x80\x82" "0.0.1"), REFUSE_BAD_ADDRESS }
};

START_TEST(hosts_refused)
{
	struct host h;
	const char *why;
	size_t i;

	for (i = 0; i < NITEMS(wrong); i++) {
		ck_assert_msg(host_read(wrong[i].in.p, wrong[i].in.n, &h,
		    &why) == wrong[i].why, "%s", wrong[i].in.p);
		ck_assert(why[0] != '\0');
		ck_assert_str_eq(h.name, "");
	}
}
END_TEST

static const struct {
	const char	*in;
	uint16_t	 usual;
	enum refusal	 why;
	const char	*out;
	uint16_t	 port;
} ports[] = {
	{ "ok.com:443", 0, REFUSE_NOT, "ok.com:443", 443 },
	{ "ok.com", 80, REFUSE_NOT, "ok.com", 80 },
	{ "OK.com:65535", 80, REFUSE_NOT, "ok.com:65535", 65535 },
	{ "[::1]:22", 80, REFUSE_NOT, "[::1]:22", 22 },
	{ "[::1]", 80, REFUSE_NOT, "[::1]", 80 },
	{ "1.2.3.4:1", 0, REFUSE_NOT, "1.2.3.4:1", 1 },
	{ "ok.com", 0, REFUSE_BAD_REQUEST, NULL, 0 },
	{ "ok.com:", 80, REFUSE_BAD_REQUEST, NULL, 0 },
	{ "ok.com:0", 80, REFUSE_BAD_REQUEST, NULL, 0 },
	{ "ok.com:080", 80, REFUSE_BAD_REQUEST, NULL, 0 },
	{ "ok.com:65536", 80, REFUSE_BAD_REQUEST, NULL, 0 },
	{ "ok.com:+80", 80, REFUSE_BAD_REQUEST, NULL, 0 },
	{ "ok.com: 80", 80, REFUSE_BAD_REQUEST, NULL, 0 },
	{ "ok.com:80:90", 80, REFUSE_BAD_REQUEST, NULL, 0 },
	{ "u:p@ok.com:80", 80, REFUSE_BAD_HOST, NULL, 0 },
	{ "u@ok.com:80", 80, REFUSE_BAD_HOST, NULL, 0 },
	{ "::1:80", 80, REFUSE_BAD_REQUEST, NULL, 0 },
	{ "[::1]80", 80, REFUSE_BAD_REQUEST, NULL, 0 },
	{ "[::1", 80, REFUSE_BAD_REQUEST, NULL, 0 },
	{ ":80", 80, REFUSE_BAD_HOST, NULL, 0 },
	{ "", 80, REFUSE_BAD_HOST, NULL, 0 }
};

START_TEST(ports_of_hosts)
{
	char text[HOST_PORT_MAX];
	struct host h;
	uint16_t port;
	const char *why;
	size_t i;

	for (i = 0; i < NITEMS(ports); i++) {
		ck_assert_msg(host_port_read(ports[i].in, strlen(ports[i].in),
		    ports[i].usual, &h, &port, &why) == ports[i].why, "%s",
		    ports[i].in);
		if (ports[i].out == NULL) {
			ck_assert(why[0] != '\0');
			continue;
		}
		ck_assert_uint_eq(port, ports[i].port);
		host_port_text(&h, port, 80, text);
		ck_assert_str_eq(text, ports[i].out);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("egress_host");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, addresses_are_classified);
	tcase_add_test(tc, addresses_have_one_form);
	tcase_add_test(tc, hosts_have_one_form);
	tcase_add_test(tc, hosts_refused);
	tcase_add_test(tc, ports_of_hosts);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
