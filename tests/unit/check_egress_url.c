/*
 * URLs: one form each, and what a redirect's reference means.
 */
#include <string.h>

#include "unit.h"
#include "url.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

static const struct {
	const char	*in;
	enum refusal	 why;
	const char	*out;
} urls[] = {
	{ "http://ok.com", REFUSE_NOT, "http://ok.com/" },
	{ "HTTPS://OK.com:443/a", REFUSE_NOT, "https://ok.com/a" },
	{ "http://ok.com:443/a?b#c", REFUSE_NOT, "http://ok.com:443/a?b" },
	{ "http://ok.com?b", REFUSE_NOT, "http://ok.com/?b" },
	{ "http://ok.com/a b\"\xc3\xbc", REFUSE_NOT,
	    "http://ok.com/a%20b%22%C3%BC" },
	{ "http://[::1]:8080/", REFUSE_NOT, "http://[::1]:8080/" },
	{ "http://b\xc3\xbc" "cher.de/", REFUSE_NOT,
	    "http://xn--bcher-kva.de/" },
	{ "ftp://ok.com/", REFUSE_BAD_URL, NULL },
	{ "file:///etc/passwd", REFUSE_BAD_URL, NULL },
	{ "ok.com", REFUSE_BAD_URL, NULL },
	{ "", REFUSE_BAD_URL, NULL },
	{ "http:/ok.com", REFUSE_BAD_URL, NULL },
	{ "http:ok.com", REFUSE_BAD_URL, NULL },
	{ "//ok.com/", REFUSE_BAD_URL, NULL },
	{ "http://ok.com/\r\nHost: x", REFUSE_BAD_URL, NULL },
	{ "http://ok.com/\x7f", REFUSE_BAD_URL, NULL },
	{ " http://ok.com/", REFUSE_BAD_URL, NULL },
	{ "http://", REFUSE_BAD_HOST, NULL },
	{ "http:///x", REFUSE_BAD_HOST, NULL },
	{ "http://u:p@ok.com/", REFUSE_BAD_HOST, NULL },
	{ "http://ok.com\\@evil.com/", REFUSE_NOT,
	    "http://ok.com/%5C@evil.com/" },
	{ "http://ok%2ecom/", REFUSE_BAD_HOST, NULL },
	{ "http://127.1/", REFUSE_BAD_ADDRESS, NULL },
	{ "http://ok.com:0/", REFUSE_BAD_REQUEST, NULL },
	{ "http://ok.com:/", REFUSE_BAD_REQUEST, NULL }
};

START_TEST(urls_are_read)
{
	static struct url u;
	static char text[URL_TEXT_MAX], big[URL_MAX + 2];
	const char *why;
	size_t i;

	for (i = 0; i < NITEMS(urls); i++) {
		ck_assert_msg(url_read(urls[i].in, strlen(urls[i].in), &u,
		    &why) == urls[i].why, "%s: %s", urls[i].in, why);
		if (urls[i].out == NULL)
			continue;
		url_text(&u, text);
		ck_assert_str_eq(text, urls[i].out);
	}
	ck_assert_int_eq(url_read("http://ok.com/a\0b", 17, &u, &why),
	    REFUSE_BAD_URL);
	memset(big, '"', sizeof(big));
	memcpy(big, "http://a/", 9);
	ck_assert_int_eq(url_read(big, URL_MAX, &u, &why), REFUSE_NOT);
	url_text(&u, text);
	ck_assert_uint_eq(strlen(text), 9 + 3 * (URL_MAX - 9));
	ck_assert_int_eq(url_read(big, URL_MAX + 1, &u, &why),
	    REFUSE_BAD_URL);
}
END_TEST

/* Those of RFC 3986, 5.4, that are for http, and others. */
static const struct {
	const char	*in, *out;
} joins[] = {
	{ "g", "http://a/b/c/g" },
	{ "./g", "http://a/b/c/g" },
	{ "g/", "http://a/b/c/g/" },
	{ "/g", "http://a/g" },
	{ "//g", "http://g/" },
	{ "?y", "http://a/b/c/d;p?y" },
	{ "g?y", "http://a/b/c/g?y" },
	{ "#s", "http://a/b/c/d;p?q" },
	{ "g#s", "http://a/b/c/g" },
	{ ";x", "http://a/b/c/;x" },
	{ "", "http://a/b/c/d;p?q" },
	{ ".", "http://a/b/c/" },
	{ "./", "http://a/b/c/" },
	{ "..", "http://a/b/" },
	{ "../g", "http://a/b/g" },
	{ "../..", "http://a/" },
	{ "../../../g", "http://a/g" },
	{ "/./g", "http://a/g" },
	{ "/../g", "http://a/g" },
	{ "g.", "http://a/b/c/g." },
	{ "..g", "http://a/b/c/..g" },
	{ "./../g", "http://a/b/g" },
	{ "g/./h", "http://a/b/c/g/h" },
	{ "g/../h", "http://a/b/c/h" },
	{ "g?y/../x", "http://a/b/c/g?y/../x" },
	{ "https://b", "https://b/" },
	{ "//b:8/x", "http://b:8/x" },
	{ "a b", "http://a/b/c/a%20b" }
};

START_TEST(urls_are_joined)
{
	static const char base[] = "http://a/b/c/d;p?q";
	static struct url b, u;
	static char text[URL_TEXT_MAX];
	const char *why;
	size_t i;

	ck_assert_int_eq(url_read(base, strlen(base), &b, &why), REFUSE_NOT);
	for (i = 0; i < NITEMS(joins); i++) {
		ck_assert_int_eq(url_join(&b, joins[i].in,
		    strlen(joins[i].in), &u, &why), REFUSE_NOT);
		url_text(&u, text);
		ck_assert_str_eq(text, joins[i].out);
	}
	ck_assert_int_eq(url_join(&b, "file:///x", 9, &u, &why),
	    REFUSE_BAD_URL);
	ck_assert_int_eq(url_join(&b, "javascript:x", 12, &u, &why),
	    REFUSE_BAD_URL);
	ck_assert_int_eq(url_join(&b, "//127.1/", 8, &u, &why),
	    REFUSE_BAD_ADDRESS);
	ck_assert_int_eq(url_join(&b, "a\nb", 3, &u, &why), REFUSE_BAD_URL);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("egress_url");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, urls_are_read);
	tcase_add_test(tc, urls_are_joined);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
