/* The real policyd: two thousand calls, and the log of them. */

#include <sha2.h>

#include "policyd_rig_test.h"

/* ---- many ---- */

/* The next record of the chain, or the test fails. */
static void
verify_line(const char *line, uint64_t sequence, char prev[65])
{
	char front[64], hash[65];
	const char *tail, *link;
	uint8_t digest[32];
	size_t len = strlen(line);
	SHA2_CTX sha;
	unsigned i;

	ck_assert_uint_gt(len, 160);
	tail = line + len - 75;		/* ,"hash":"..."} */
	link = tail - 65;		/* ..." */
	snprintf(front, sizeof(front), "{\"seq\":%llu,\"time\":\"",
	    (unsigned long long)sequence);
	ck_assert_int_eq(strncmp(line, front, strlen(front)), 0);
	SHA256Init(&sha);
	SHA256Update(&sha, (const uint8_t *)line, (size_t)(tail - line));
	SHA256Final(digest, &sha);
	for (i = 0; i < 32; i++)
		snprintf(hash + 2 * i, 3, "%02x", digest[i]);
	ck_assert_int_eq(strncmp(link, prev, 64), 0);
	ck_assert_int_eq(strncmp(tail, ",\"hash\":\"", 9), 0);
	ck_assert_int_eq(strncmp(tail + 9, hash, 64), 0);
	memcpy(prev, hash, 65);
}

/* All of the log by pages, and that it ends where policyd says. */
static uint64_t
verify_chain(void)
{
	char prev[65];
	uint64_t handle = operator(), sequence = 0;
	const json_t *lines, *next;
	unsigned status;
	json_t *json;
	size_t i;
	int more;

	memset(prev, '0', 64);
	prev[64] = '\0';
	do {
		json = rig_query(&rig, RIG_OPERATOR, handle, QUERY_AUDIT,
		    sequence, 500, "", &status);
		ck_assert_uint_eq(status, 200);
		lines = json_object_get(json, "lines");
		for (i = 0; i < json_array_size(lines); i++)
			verify_line(json_string_value(json_array_get(lines,
			    i)), ++sequence, prev);
		next = json_object_get(json, "next");
		more = !json_is_null(next);
		if (more)
			ck_assert_uint_eq(json_integer_value(next), sequence);
		else
			ck_assert_str_eq(rig_text(json, "head.hash"), prev);
		json_decref(json);
	} while (more);
	return (sequence);
}

static double
cpu_seconds(void)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)rig.pid);
	if ((f = fopen(path, "r")) == NULL ||
	    fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	if (f != NULL)
		fclose(f);
	return ((double)ns / 1e9);
}

START_TEST(many_calls)
{
	char session[ID_SIZE];
	uint64_t handle;
	unsigned status, i;
	json_t *json;
	double cpu;

	rig_init(&rig);
	rig.slice->limits.v[LIMIT_HOURLY] = 1000000;
	rig.slice->limits.v[LIMIT_CALLS_SESSION] = 1000000;
	ck_assert_int_eq(rig_start(&rig), 0);
	handle = user();
	rig_session(&rig, handle, session);
	cpu = cpu_seconds();
	for (i = 0; i < 1000; i++)
		json_decref(rig_whole(&rig, handle, session));
	printf("# %.1f us of policyd's CPU for a call in a session\n",
	    (cpu_seconds() - cpu) * 1e6 / 1000);
	cpu = cpu_seconds();
	for (i = 0; i < 1000; i++)
		json_decref(rig_whole(&rig, handle, NULL));
	printf("# %.1f us of policyd's CPU for a sessionless call\n",
	    (cpu_seconds() - cpu) * 1e6 / 1000);
	/* a page of 500 comes in a memfd */
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_CALLS, 0, 500, "",
	    &status);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "calls")),
	    500);
	i = (unsigned)json_integer_value(json_object_get(json, "next"));
	json_decref(json);
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_CALLS, i, 500,
	    session, &status);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "calls")),
	    500);
	json_decref(json);
	/* asked, judged, started, finished; and the neurons of 1,000 */
	ck_assert_uint_ge(verify_chain(), 2000 * 4 + 1000 * 2);
	ck_assert_int_eq(rig_stop(&rig), 0);
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_uint_ge(verify_chain(), 2000 * 4 + 1000 * 2 + 2);
	rig_end(&rig);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_audit_chain");
	TCase *tc = tcase_create("started"), *own = tcase_create("own");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_set_timeout(tc, 120);
	tcase_set_timeout(own, 120);
	tcase_add_test(own, many_calls);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, own);
	return (rig_main(s));
}
