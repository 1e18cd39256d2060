/*
 * Verifying the audit log's chain.
 */
#include <sys/types.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "anchors.h"
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

/* A part of the log begins where it may, and says where. */
START_TEST(test_part)
{
	struct chain chain;
	char text[400], hex[CHAIN_HASH], line[512];

	chain_init_from(&chain, CHAIN_PART);
	ck_assert_int_eq(add(&chain, lines[2]), 0);
	ck_assert_int_eq(add(&chain, lines[3]), 0);
	ck_assert_uint_eq(chain.first, 3);
	ck_assert_uint_eq(chain.sequence, 4);
	ck_assert_int_eq(add(&chain, lines[3]), -1);
	ck_assert_ptr_nonnull(strstr(chain.why, "inserted"));
	/* the mark of the record before it says the same of it */
	ck_assert_int_eq(chain_mark(&chain, 2, chain.before), 0);
	ck_assert_int_eq(chain_mark(&chain, 2, lines[0]), -1);
	chain_init_from(&chain, CHAIN_FILES);
	ck_assert_int_eq(add(&chain, lines[2]), -1);
	ck_assert_ptr_nonnull(strstr(chain.why, "record 1 is missing"));
	/* a file's first record */
	snprintf(text, sizeof(text), "{\"seq\":9,\"event\":"
	    "\"audit.rotated\",\"prev\":\"%s\"", last);
	SHA256Data((const uint8_t *)text, strlen(text), hex);
	snprintf(line, sizeof(line), "%s,\"hash\":\"%s\"}", text, hex);
	chain_init_from(&chain, CHAIN_FILES);
	ck_assert_msg(add(&chain, line) == 0, "%s", chain.why);
	ck_assert_uint_eq(chain.first, 9);
	ck_assert_str_eq(chain.before, last);
	/* but not between others */
	add_all(&chain, 2);
	ck_assert_int_eq(add(&chain, line), -1);
	chain_in(&chain, "audit.7.jsonl");
	ck_assert_ptr_nonnull(strstr(chain.why, "audit.7.jsonl: record 3"));
}
END_TEST

static void
read_anchors(struct anchors *anchors, const char *text, int ok)
{
	char name[] = "/tmp/check-anchors-XXXXXX";
	struct options o = { .anchors = name };
	int fd = mkstemp(name);

	ck_assert_int_eq(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	ck_assert_int_eq(anchors_read(anchors, &o), ok ? 0 : -1);
	unlink(name);
}

static const char *
hash_at(int record)
{
	static char hash[CHAIN_HASH];

	memcpy(hash, lines[record - 1] + strlen(lines[record - 1]) - 66, 64);
	return (hash);
}

static int
follow(struct anchors *anchors, struct chain *chain)
{
	int i;

	chain_init(chain);
	for (i = 0; i < RECORDS; i++) {
		ck_assert_int_eq(add(chain, lines[i]), 0);
		if (anchors_check(anchors, chain) == -1)
			return (-1);
	}
	return (anchors_end(anchors, chain));
}

START_TEST(test_anchors)
{
	struct anchors anchors;
	struct chain chain;
	char text[600], third[CHAIN_HASH];

	memcpy(third, hash_at(3), sizeof(third));
	snprintf(text, sizeof(text), "Nov 30 host myelin-policyd[7]: audit "
	    "anchor 3:%s\nsomething else\naudit anchor 2:%s\n"
	    "audit anchor 3:%s", third, hash_at(2), third);
	read_anchors(&anchors, text, 1);
	ck_assert_uint_eq(anchors.n, 3);
	ck_assert_int_eq(follow(&anchors, &chain), 0);
	ck_assert_uint_eq(anchors.met, 3);
	anchors_free(&anchors);
	/* another hash, and a record that is not there */
	snprintf(text, sizeof(text), "audit anchor 2:%s\n", third);
	read_anchors(&anchors, text, 1);
	ck_assert_int_eq(follow(&anchors, &chain), -1);
	ck_assert_ptr_nonnull(strstr(chain.why, "written anew"));
	anchors_free(&anchors);
	snprintf(text, sizeof(text), "audit anchor 6:%s\n", third);
	read_anchors(&anchors, text, 1);
	ck_assert_int_eq(follow(&anchors, &chain), -1);
	ck_assert_ptr_nonnull(strstr(chain.why, "names record 6"));
	anchors_free(&anchors);
}
END_TEST

START_TEST(test_no_anchors)
{
	static const char *const none[] = {
		"", "\n", "audit anchor", "audit anchor 0:00\n",
		"audit anchor 99999999999999999999999:\n",
		"audit anchor 1:abc\n", "audit anchor -1:abc\n",
	};
	struct anchors anchors;

	read_anchors(&anchors, none[_i], 0);
	anchors_free(&anchors);
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
	tcase_add_test(tc, test_part);
	tcase_add_test(tc, test_anchors);
	tcase_add_loop_test(tc, test_no_anchors, 0, 7);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
