/*
 * The small redactor: what is masked, what is not, and in what time.
 */
#include <sys/socket.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "redact.h"
#include "unit.h"

static const char *const lines[][2] = {
	{ "nothing here", "nothing here" },
	{ "task-management-of-0123456789-things",
	    "task-management-of-0123456789-things" },
	{ "a sk-0123456789abcdefghijk b", "a *** b" },
	{ "key sk-ant-api03-abcdefghijklmnopqrst.", "key ***." },
	{ "ghp_0123456789abcdefghijABCDEFGHIJ012345", "***" },
	{ "x=AKIAIOSFODNN7EXAMPLE,y", "x=***,y" },
	{ "AKIAIOSFODNN7EXAMPLEX", "AKIAIOSFODNN7EXAMPLEX" },
	{ "xoxb-123456789012-abcdef", "***" },
	{ "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_123 t",
	    "*** t" },
	{ "-----BEGIN RSA PRIVATE KEY-----MIIB-----END RSA PRIVATE KEY----- z",
	    "*** z" },
	{ "-----BEGIN PRIVATE KEY----- MIIB cut", "***" },
	{ "-----BEGIN CERTIFICATE----- MIIB",
	    "-----BEGIN CERTIFICATE----- MIIB" },
	{ "password=hunter2 user=me", "password=*** user=me" },
	{ "password = hunter2;", "password = ***;" },
	{ "{\"apiKey\": \"abc\", \"n\": 1}",
	    "{\"apiKey\": \"***\", \"n\": 1}" },
	{ "{\\\"api_key\\\": \\\"abcd\\\"}",
	    "{\\\"api_key\\\": \\\"***\\\"}" },
	{ "{'client_secret': 'a\\'b c'}", "{'client_secret': '***'}" },
	{ "Authorization: Bearer abcdef", "Authorization: Bearer ***" },
	{ "authorization: Basic dXNlcjpwYXNz", "authorization: Basic ***" },
	{ "Bearer abcdefghijklmnopqr", "Bearer ***" },
	{ "Bearer of news", "Bearer of news" },
	{ "curl --token abc -v", "curl --token *** -v" },
	{ "X-Api-Key: 12", "X-Api-Key: **" },
	{ "GET /?access_token=abc&x=1", "GET /?access_token=***&x=1" },
	{ "https://me:pw@host/x", "https://me:**@host/x" },
	/* a key in what stands before a value */
	{ "https://glpat-0123456789abcdefghij:pw12@host",
	    "https://***:***@host" },
	{ "token.ghp_0123456789abcdefghijABCDEFGHIJ012345=abc",
	    "token.***=***" },
	{ "https://host:80/a@b", "https://host:80/a@b" },
	{ "token", "token" },
	{ "token:", "token:" },
	{ "12 tokens used: 34", "12 tokens used: 34" },
	{ "sort_key=abc", "sort_key=abc" },
	{ "", "" },
};

START_TEST(test_lines)
{
	char text[256];
	size_t n;

	strcpy(text, lines[_i][0]);
	n = redact_line(text);
	ck_assert_str_eq(text, lines[_i][1]);
	ck_assert_int_eq(n > 0, strcmp(lines[_i][0], lines[_i][1]) != 0);
}
END_TEST

START_TEST(test_several)
{
	char text[] = "a=1 token=abcd, secret=efgh ghp_"
	    "0123456789abcdefghijABCDEFGHIJ012345 end";

	ck_assert_uint_eq(redact_line(text), 3);
	ck_assert_str_eq(text, "a=1 token=***, secret=*** *** end");
	/* What is masked stays as it is. */
	redact_line(text);
	ck_assert_str_eq(text, "a=1 token=***, secret=*** *** end");
}
END_TEST

START_TEST(test_names)
{
	ck_assert(redact_secret_name("APIKey", 6));
	ck_assert(redact_secret_name("myAccessToken", 13));
	ck_assert(redact_secret_name("x-auth-token", 12));
	ck_assert(!redact_secret_name("tokenize", 8));
	ck_assert(!redact_secret_name("KEY", 3));
	ck_assert(!redact_secret_name("monkey", 6));
	ck_assert(!redact_secret_name("", 0));
}
END_TEST

/* Guarantee N6: megabytes in one line stay linear, whatever repeats. */
static const char *const floods[] = {
	"a", "-", "sk-", "-sk-", "eyJ", "-eyJ-", "eyJaaaaaaaaaa.", "://",
	"://a:", "AIza-", "-----BEGIN ", "-----BEGIN PRIVATE KEY", "token",
	"token=", "token-", "\\", "\"token\":\"", "a_", "Bearer ", "xoxb-",
	".", "A", "aB",
};

START_TEST(test_linear)
{
	const size_t size = 1 << 20;
	const char *unit = floods[_i];
	struct timespec a, b;
	char *text;
	size_t i;

	ck_assert_ptr_nonnull(text = malloc(size + 1));
	for (i = 0; i < size; i++)
		text[i] = unit[i % strlen(unit)];
	text[size] = '\0';
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	redact_has_key(text);
	redact_line(text);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	ck_assert_msg(b.tv_sec - a.tv_sec < 3, "\"%s\" took %ld s", unit,
	    (long)(b.tv_sec - a.tv_sec));
	free(text);
}
END_TEST

/*
 * A line of the log as the journal gets it: text from outside ends where its
 * length says, and is no field; nor is an id that is none.
 */
START_TEST(journal_fields)
{
	static const char evil[] = "x\nPRIORITY=0\nMYELIN_CALL="
	    "c-00000000000000000000";
	const struct log_about about = { .request = 0x12, .call = evil,
	    .session = "s-0123456789abcdefghjk", .approval = "" };
	static const char want[] = "PRIORITY=4\nSYSLOG_IDENTIFIER=myelin-me\n"
	    "MYELIN_PROCESS=me\nMYELIN_REQUEST_ID=r-0000000000000012\n"
	    "MYELIN_SESSION=s-0123456789abcdefghjk\nMESSAGE\n";
	const size_t head = sizeof(want) - 1, n = strlen(evil) + 2;
	char packet[1024];
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	log_init("me", fds[0], 0);
	log_warnx_of(&about, "<%s>", evil);
	ck_assert_int_eq(recv(fds[1], packet, sizeof(packet), 0),
	    (ssize_t)(head + 8 + n + 1));
	ck_assert_mem_eq(packet, want, head);
	ck_assert_mem_eq(packet + head, "\x31\0\0\0\0\0\0\0", 8);
	ck_assert_uint_eq(n, 0x31);
	ck_assert_ptr_null(memchr(packet + head + 8, '\n', n));
	ck_assert_int_eq(packet[head + 8 + n], '\n');
	log_init("me", -1, 0);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("redact");
	TCase *tc = tcase_create("redact");

	tcase_add_loop_test(tc, test_lines, 0,
	    sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(tc, test_several);
	tcase_add_test(tc, test_names);
	tcase_add_loop_test(tc, test_linear, 0,
	    sizeof(floods) / sizeof(floods[0]));
	tcase_add_test(tc, journal_fields);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
