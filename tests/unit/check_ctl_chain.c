/*
 * Verifying the audit log's chain.
 */
#include <sys/types.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "unit.h"

#define RECORDS	5

static char lines[RECORDS][512];
static char last[CHAIN_HASH];

static void
setup(void)
{
	char hex[CHAIN_HASH], text[400];
	int i;

	memset(hex, '0', sizeof(hex) - 1);
	hex[sizeof(hex) - 1] = '\0';
	for (i = 0; i < RECORDS; i++) {
		snprintf(text, sizeof(text), "{\"seq\":%d,\"time\":\"t\","
		    "\"event\":\"e\",\"note\":\",\\\"hash\\\":\\\"\","
		    "\"prev\":\"%s\"", i + 1, hex);
		SHA256Data((const uint8_t *)text, strlen(text), hex);
		snprintf(lines[i], sizeof(lines[i]), "%s,\"hash\":\"%s\"}",
		    text, hex);
	}
	memcpy(last, hex, sizeof(hex));
}

static int
add(struct chain *chain, const char *line)
{
	return (chain_add(chain, line, strlen(line)));
}

static void
add_all(struct chain *chain, int count)
{
	int i;

	chain_init(chain);
	for (i = 0; i < count; i++)
		ck_assert_msg(add(chain, lines[i]) == 0, "%s", chain->why);
}

START_TEST(test_whole)
{
	struct chain chain, part;

	add_all(&chain, RECORDS);
	ck_assert_uint_eq(chain.sequence, RECORDS);
	ck_assert_str_eq(chain.hash, last);
	ck_assert_int_eq(chain_mark(&chain, RECORDS, last), 0);
	ck_assert_int_eq(chain_end(&chain, RECORDS), 0);
	ck_assert_int_eq(chain_end(&chain, RECORDS - 1), 0);
	ck_assert_int_eq(chain_end(&chain, RECORDS + 1), -1);
	add_all(&chain, 2);
	chain_start(&part, 2, chain.hash);
	ck_assert_int_eq(add(&part, lines[2]), 0);
}
END_TEST

START_TEST(test_changed_byte)
{
	struct chain chain;
	char line[512];
	size_t i;

	/* Whatever byte changes, it is seen. */
	for (i = 0; i < strlen(lines[1]); i++) {
		add_all(&chain, 1);
		strcpy(line, lines[1]);
		line[i] ^= 1;
		ck_assert_int_eq(add(&chain, line), -1);
		/* And each cut. */
		ck_assert_int_eq(chain_add(&chain, lines[1], i), -1);
	}
}
END_TEST

START_TEST(test_order)
{
	struct chain chain;

	add_all(&chain, 2);
	ck_assert_int_eq(add(&chain, lines[3]), -1);
	ck_assert_ptr_nonnull(strstr(chain.why, "record 3 is missing"));
	ck_assert_int_eq(add(&chain, lines[0]), -1);
	ck_assert_int_eq(add(&chain, lines[1]), -1);
	ck_assert_int_eq(add(&chain, lines[2]), 0);
	chain_init(&chain);
	ck_assert_int_eq(add(&chain, lines[1]), -1);
}
END_TEST

START_TEST(test_mark)
{
	struct chain chain;

	add_all(&chain, RECORDS);
	ck_assert_int_eq(chain_mark(&chain, RECORDS, lines[0]), -1);
	ck_assert_ptr_nonnull(strstr(chain.why, "written anew"));
	/* Not there yet, or past it: nothing to say. */
	ck_assert_int_eq(chain_mark(&chain, RECORDS - 1, "x"), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ctl_chain");
	TCase *tc = tcase_create("chain");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_whole);
	tcase_add_test(tc, test_changed_byte);
	tcase_add_test(tc, test_order);
	tcase_add_test(tc, test_mark);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
