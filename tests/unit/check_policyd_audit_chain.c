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

/* ---- news ---- */

/* Asks until the disk has all that there is: the last record of that. */
static uint64_t
ask_audit(uint64_t handle)
{
	uint64_t synced = 0, written = 1;
	const json_t *head;
	unsigned status;
	json_t *json;
	int i;

	for (i = 0; i < RIG_WAIT_MS / 10 && synced != written; i++) {
		if (i > 0)
			usleep(10000);
		json = rig_query(&rig, RIG_OPERATOR, handle, QUERY_AUDIT,
		    UINT64_MAX - 1, 1, "", &status);
		ck_assert_uint_eq(status, 200);
		head = json_object_get(json, "head");
		written = (uint64_t)json_integer_value(json_object_get(head,
		    "sequence"));
		synced = (uint64_t)json_integer_value(json_object_get(head,
		    "synced"));
		json_decref(json);
	}
	ck_assert_uint_eq(synced, written);
	return (synced);
}

/* What comes on the operator's channel within that time is news alone. */
static void
listen_ms(int ms)
{
	struct got g;

	ck_assert_int_eq(rig_recv(rig.fd[RIG_OPERATOR], ms, &g), 0);
}

/* One, when the disk has what it is about; and no more. */
static void
want_news(void)
{
	int i;

	for (i = 0; i < RIG_WAIT_MS / 100 && rig_news == 0; i++)
		listen_ms(100);
	listen_ms(500);
	ck_assert_uint_eq(rig_news, 1);
}

/* One wake-up for each question, whatever happens; none before the first. */
START_TEST(news_once_a_question)
{
	uint64_t handle = user(), watcher = operator(), last;

	json_decref(rig_whole(&rig, handle, NULL));
	listen_ms(500);
	ck_assert_uint_eq(rig_news, 0);
	last = ask_audit(watcher);
	ck_assert_uint_gt(last, 0);
	rig_news = 0;		/* of a question that came too early */
	listen_ms(500);
	ck_assert_uint_eq(rig_news, 0);
	json_decref(rig_whole(&rig, handle, NULL));
	want_news();
	json_decref(rig_whole(&rig, handle, NULL));
	want_news();
	ck_assert_uint_gt(rig_news_last, last);
	last = rig_news_last;
	ck_assert_uint_gt(ask_audit(watcher), last);
	rig_news = 0;
	json_decref(rig_whole(&rig, handle, NULL));
	want_news();
}
END_TEST

/* ---- arguments ---- */

static void
send_shown(uint32_t request, unsigned cut, const char *text)
{
	struct enc *e = enc_new(8192);

	enc_u32(e, request);
	enc_u8(e, (uint8_t)cut);
	enc_str(e, text);
	rig_send(rig.fd[RIG_AGENT], MSG_SHOWN, e, NULL, 0);
}

/* The record of a call that was asked, by its id. */
static json_t *
record_of(const char *call)
{
	const json_t *lines, *line;
	json_t *json, *record = NULL;
	unsigned status;
	size_t i;

	json = rig_query(&rig, RIG_OPERATOR, operator(), QUERY_AUDIT, 0, 500,
	    "", &status);
	lines = json_object_get(json, "lines");
	json_array_foreach(lines, i, line) {
		record = json_loads(json_string_value(line), 0, NULL);
		if (strcmp(rig_text(record, "event"), "call.asked") == 0 &&
		    strcmp(rig_text(record, "call"), call) == 0)
			break;
		json_decref(record);
		record = NULL;
	}
	json_decref(json);
	ck_assert_ptr_nonnull(record);
	return (record);
}

static json_t *
call_shown(uint64_t handle)
{
	struct rig_call c;
	json_t *json;
	uint32_t request;

	request = rig_ask(&rig, handle, NULL, "exec");
	rig_asked(&rig, request, &c);
	rig_verdict(&rig, &c, VERDICT_DENY);
	json = rig_finished(&rig, &c);
	json_decref(json);
	return (record_of(c.id));
}

START_TEST(arguments_in_the_record)
{
	char text[SHOWN_MOST + 100];
	uint64_t handle = user();
	json_t *record;

	send_shown(rig.requests + 1, 0, "{\"args\":\"a\"}");
	record = call_shown(handle);
	ck_assert_str_eq(rig_text(record, "arguments"), "{\"args\":\"a\"}");
	ck_assert(json_is_false(json_object_get(record, "arguments_cut")));
	json_decref(record);
	/* of another request, and none */
	send_shown(rig.requests + 2, 0, "{}");
	record = call_shown(handle);
	ck_assert(json_is_null(json_object_get(record, "arguments")));
	json_decref(record);
	record = call_shown(handle);
	ck_assert(json_is_null(json_object_get(record, "arguments")));
	json_decref(record);
	/* a key that apid missed, and more than it may send */
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "password=hunter2-hunter2 ", 25);
	send_shown(rig.requests + 1, 1, text);
	record = call_shown(handle);
	ck_assert_ptr_null(strstr(rig_text(record, "arguments"), "hunter2"));
	ck_assert_uint_le(strlen(rig_text(record, "arguments")), SHOWN_MOST);
	ck_assert(json_is_true(json_object_get(record, "arguments_cut")));
	json_decref(record);
	send_shown(rig.requests + 1, 2, "");
	ck_assert_int_eq(rig_closed(&rig, RIG_AGENT), 1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_audit_chain");
	TCase *tc = tcase_create("started"), *own = tcase_create("own");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, news_once_a_question);
	tcase_add_test(tc, arguments_in_the_record);
	tcase_add_test(own, many_calls);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, own);
	return (rig_main(s));
}
