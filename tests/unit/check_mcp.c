/*
 * MCP as far as it knows no connection: messages, eras, names of this host,
 * sealed ids, pages of tools.
 */
#include <stdio.h>
#include <string.h>

#include "http.h"
#include "mcp_internal.h"
#include "text.h"
#include "unit.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define META "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"	\
	"\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}"

static void
head(struct http_head *h, const char *fields)
{
	char text[4096];
	struct http_bad bad;
	size_t scanned = 0, used;
	int n;

	n = snprintf(text, sizeof(text),
	    "POST /mcp HTTP/1.1\r\nHost: localhost\r\n%s\r\n", fields);
	ck_assert_int_eq(http_head_read((const uint8_t *)text, (size_t)n,
	    &scanned, h, &used, &bad), HTTP_OK);
}

/* ---- messages ---- */

static const struct {
	const char	*text;
	int		 code;		/* 0: taken */
	enum mcp_kind	 kind;
} bodies[] = {
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", 0,
	    MCP_REQUEST },
	{ "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"\"}", 0,
	    MCP_REQUEST },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{}}", 0,
	    MCP_NOTIFICATION },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 0, MCP_RESPONSE },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", 0, MCP_RESPONSE },
	{ "{\"jsonrpc\":\"2.0\",\"error\":{}}", 0, MCP_RESPONSE },
	{ "{\"jsonrpc\":\"2.0\",\"result\":{}}", RPC_INVALID, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}",
	    RPC_INVALID, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_INVALID, 0 },
	{ "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"x\"}", RPC_INVALID, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":-1,\"method\":\"x\"}", 0,
	    MCP_REQUEST },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"x\"}", RPC_INVALID,
	    0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}", RPC_INVALID,
	    0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}", RPC_INVALID,
	    0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"more\":1}",
	    RPC_INVALID, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[]}",
	    RPC_INVALID, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":null}",
	    RPC_INVALID, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{"
	    "\"_meta\":[]}}", RPC_BAD_PARAMS, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":1,\"method\":\"x\"}",
	    RPC_PARSE, 0 },
	{ "[1]", RPC_INVALID, 0 },
	{ "1", RPC_INVALID, 0 },
	{ "", RPC_PARSE, 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"} {}", RPC_PARSE,
	    0 }
};

START_TEST(message)
{
	struct mcp_problem p = { 0 };
	struct mcp_message m;
	int error;

	error = mcp_read(&m, bodies[_i].text, strlen(bodies[_i].text), &p);
	if (bodies[_i].code == 0) {
		ck_assert_int_eq(error, 0);
		ck_assert_int_eq(m.kind, bodies[_i].kind);
		ck_assert_ptr_nonnull(m.method);
	} else {
		ck_assert_int_eq(error, -1);
		ck_assert_int_eq(p.code, bodies[_i].code);
		ck_assert_int_eq(p.status, 400);
		ck_assert_str_ne(p.why, "");
	}
	mcp_message_free(&m);
}
END_TEST

START_TEST(long_ids)
{
	char text[MCP_ID_MAX + 200];
	struct mcp_problem p;
	struct mcp_message m;
	int n, over;

	for (over = 0; over < 2; over++) {
		n = snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\","
		    "\"id\":\"%0*d\",\"method\":\"x\"}", MCP_ID_MAX + over, 0);
		ck_assert_int_eq(mcp_read(&m, text, (size_t)n, &p), -over);
		mcp_message_free(&m);
	}
}
END_TEST

/* ---- eras ---- */

static const struct {
	const char	*fields;
	const char	*body;
	enum mcp_era	 era;
	int		 code;		/* of the era's checks; 0: none */
} eras[] = {
	{ "", "\"method\":\"ping\"", MCP_LEGACY, 0 },
	{ "MCP-Protocol-Version: 2025-03-26\r\n", "\"method\":\"ping\"",
	    MCP_LEGACY, 0 },
	{ "MCP-Protocol-Version: 2025-03-27\r\n", "\"method\":\"ping\"",
	    MCP_LEGACY, RPC_INVALID },
	{ "MCP-Protocol-Version: zzz\r\n", "\"method\":\"ping\"",
	    MCP_LEGACY, RPC_INVALID },
	{ "MCP-Protocol-Version: 2026-07-27\r\n", "\"method\":\"ping\"",
	    MCP_LEGACY, RPC_INVALID },
	{ "MCP-Protocol-Version: 2026-07-28\r\n", "\"method\":\"ping\"",
	    MCP_MODERN, RPC_BAD_PARAMS },
	{ "MCP-Protocol-Version: 9999-99-99\r\n", "\"method\":\"ping\"",
	    MCP_MODERN, RPC_BAD_PARAMS },
	{ "", "\"method\":\"x\",\"params\":{" META "}", MCP_MODERN,
	    RPC_HEADERS },
	{ "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: x\r\n",
	    "\"method\":\"x\",\"params\":{" META "}", MCP_MODERN, 0 },
	{ "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: y\r\n",
	    "\"method\":\"x\",\"params\":{" META "}", MCP_MODERN,
	    RPC_HEADERS },
	{ "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n",
	    "\"method\":\"tools/call\",\"params\":{\"name\":\"a\"," META "}",
	    MCP_MODERN, RPC_HEADERS },
	{ "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
	    "Mcp-Name: a\r\n",
	    "\"method\":\"tools/call\",\"params\":{\"name\":\"a\"," META "}",
	    MCP_MODERN, 0 },
	{ "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
	    "Mcp-Name: =?base64?w6Q=?=\r\n",
	    "\"method\":\"tools/call\",\"params\":{\"name\":\"\xc3\xa4\"," META
	    "}", MCP_MODERN, 0 },
	{ "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
	    "Mcp-Name: =?base64?w6Q?=\r\n",
	    "\"method\":\"tools/call\",\"params\":{\"name\":\"\xc3\xa4\"," META
	    "}", MCP_MODERN, RPC_HEADERS },
	/* what only looks like it is itself */
	{ "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
	    "Mcp-Name: =?base64?=\r\n",
	    "\"method\":\"tools/call\",\"params\":{\"name\":\"=?base64?=\"," META
	    "}", MCP_MODERN, 0 },
	{ "MCP-Protocol-Version: 2026-07-29\r\nMcp-Method: x\r\n",
	    "\"method\":\"x\",\"params\":{\"_meta\":{"
	    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-29\","
	    "\"io.modelcontextprotocol/clientCapabilities\":{}}}", MCP_MODERN,
	    RPC_VERSION },
	{ "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: x\r\n",
	    "\"method\":\"x\",\"params\":{\"_meta\":{"
	    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
	    "\"io.modelcontextprotocol/clientCapabilities\":1}}", MCP_MODERN,
	    RPC_BAD_PARAMS }
};

START_TEST(era)
{
	char text[1000];
	struct mcp_problem p = { 0 };
	struct mcp_message m;
	struct http_head h;
	int n, error;

	head(&h, eras[_i].fields);
	n = snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":1,%s}",
	    eras[_i].body);
	ck_assert_int_eq(mcp_read(&m, text, (size_t)n, &p), 0);
	ck_assert_int_eq(mcp_era_of(&h, &m), eras[_i].era);
	error = eras[_i].era == MCP_MODERN ? mcp_check_modern(&h, &m, &p) :
	    mcp_check_legacy(&h, &p);
	ck_assert_int_eq(error, eras[_i].code == 0 ? 0 : -1);
	if (error == -1)
		ck_assert_int_eq(p.code, eras[_i].code);
	ck_assert_int_eq(p.data != NULL, eras[_i].code == RPC_VERSION);
	json_decref(p.data);
	mcp_message_free(&m);
}
END_TEST

START_TEST(versions)
{
	ck_assert_str_eq(mcp_versions[mcp_version_for("2025-06-18")].name,
	    "2025-06-18");
	ck_assert_str_eq(mcp_versions[mcp_version_for("2026-07-28")].name,
	    "2025-11-25");
	ck_assert_str_eq(mcp_versions[mcp_version_for("")].name,
	    "2025-11-25");
	ck_assert_int_eq(mcp_version_find("2025-11-2"), -1);
}
END_TEST

/* ---- this host ---- */

START_TEST(hosts)
{
	static const char *const good[] = {
		"localhost", "LocalHost:1", "127.0.0.1", "127.255.0.9:65535",
		"[::1]", "[::1]:80"
	};
	static const char *const bad[] = {
		"", "localhost:", "localhost:0", "localhost:65536",
		"localhost:080", "localhost.", "localhost.x", "xlocalhost",
		"127.0.0", "127.0.0.1.", "127.0.0.1.x", "127.0.00.1",
		"127.0.0.1000", "128.0.0.1", "[::1", "[::1]x", "[0:0::1]",
		"::1", "127.0.0.1:80:80"
	};
	char origin[64];
	size_t i;

	for (i = 0; i < NITEMS(good); i++) {
		ck_assert_msg(mcp_host_wrong(good[i], NULL) == NULL, "%s",
		    good[i]);
		snprintf(origin, sizeof(origin), "http://%s", good[i]);
		ck_assert_ptr_null(mcp_host_wrong(good[i], origin));
		ck_assert_ptr_nonnull(mcp_host_wrong(good[i], "null"));
		ck_assert_ptr_nonnull(mcp_host_wrong(good[i], origin + 1));
		ck_assert_ptr_nonnull(mcp_host_wrong(good[i],
		    "http://example.com"));
	}
	for (i = 0; i < NITEMS(bad); i++) {
		ck_assert_msg(mcp_host_wrong(bad[i], NULL) != NULL, "%s",
		    bad[i]);
		snprintf(origin, sizeof(origin), "http://%s", bad[i]);
		ck_assert_ptr_nonnull(mcp_host_wrong(bad[i], origin));
		ck_assert_ptr_nonnull(mcp_host_wrong("localhost", origin));
	}
	ck_assert_ptr_nonnull(mcp_host_wrong(NULL, NULL));
}
END_TEST

/* Where a network reaches: names that are configured, and the address. */
START_TEST(other_names)
{
	static const char *const good[] = {
		"localhost:1", "myelin.example.org", "MYELIN.example.org:443",
		"m", "192.0.2.1", "192.0.2.1:8080"
	};
	static const char *const bad[] = {
		"myelin.example.org.", "x.myelin.example.org", "m.x",
		"myelin.example.org:", "192.0.2.10", "192.0.2.1.x", "10.0.0.1",
		"[2001:db8::1]", ""
	};
	char *list[] = { (char *)(uintptr_t)"myelin.example.org",
	    (char *)(uintptr_t)"m" };
	struct strings names = { list, 2 };
	size_t i;

	for (i = 0; i < NITEMS(good); i++)
		ck_assert_msg(host_wrong(good[i], NULL, &names,
		    "192.0.2.1") == NULL, "%s", good[i]);
	for (i = 0; i < NITEMS(bad); i++)
		ck_assert_msg(host_wrong(bad[i], NULL, &names,
		    "192.0.2.1") != NULL, "%s", bad[i]);
	ck_assert_ptr_null(host_wrong("[2001:db8::1]:1", NULL, &names,
	    "2001:db8::1"));
	ck_assert_ptr_nonnull(host_wrong("2001:db8::1", NULL, &names,
	    "2001:db8::1"));
	ck_assert_ptr_null(host_wrong("m", "https://m", &names, "0.0.0.0"));
	ck_assert_ptr_nonnull(host_wrong("m", "https://localhost", &names,
	    "0.0.0.0"));
	ck_assert_ptr_nonnull(host_wrong("m", "https://", &names, "0.0.0.0"));
}
END_TEST

/* ---- sealed ids ---- */

START_TEST(seals)
{
	static const uint8_t other[SEAL_KEY_SIZE] = { 1 };
	uint8_t key[SEAL_KEY_SIZE];
	char id[SEAL_ID_SIZE], copy[SEAL_ID_SIZE];
	struct seal s = { .version = 2, .expires = 1000 }, got;
	size_t i, n;

	memset(key, 7, sizeof(key));
	seal_set_key(key);
	seal_name(s.name);
	ck_assert_uint_eq(strlen(s.name), SEAL_NAME_SIZE - 1);
	seal_make(&s, "uid:1000", id);
	n = strlen(id);
	ck_assert_uint_lt(n, SEAL_ID_SIZE);
	for (i = 0; i < n; i++)
		ck_assert(id[i] > ' ' && id[i] < 0x7f);
	ck_assert_int_eq(seal_read(&got, id, "uid:1000", 999), 0);
	ck_assert_str_eq(got.name, s.name);
	ck_assert_uint_eq(got.version, 2);
	ck_assert_uint_eq(got.expires, 1000);
	/* over, another's, another instance's */
	ck_assert_int_eq(seal_read(&got, id, "uid:1000", 1000), -1);
	ck_assert_int_eq(seal_read(&got, id, "uid:100", 1), -1);
	ck_assert_int_eq(seal_read(&got, id, "uid:10000", 1), -1);
	ck_assert_int_eq(seal_read(&got, id, "", 1), -1);
	seal_set_key(other);
	ck_assert_int_eq(seal_read(&got, id, "uid:1000", 1), -1);
	seal_set_key(key);
	/* any byte changed, any end cut off */
	for (i = 0; i < n; i++) {
		memcpy(copy, id, n + 1);
		copy[i] ^= 1;
		ck_assert_int_eq(seal_read(&got, copy, "uid:1000", 1), -1);
		memcpy(copy, id, n + 1);
		copy[i] = '\0';
		ck_assert_int_eq(seal_read(&got, copy, "uid:1000", 1), -1);
	}
}
END_TEST

/* The mark is Python's hmac of the same: an update must not change it. */
START_TEST(seals_stay_the_same)
{
	uint8_t key[SEAL_KEY_SIZE];
	struct seal s = { .name = "aaaaaaaaaaaaaaaaaaaa", .version = 1,
	    .expires = 5 };
	char id[SEAL_ID_SIZE];

	memset(key, 'k', sizeof(key));
	seal_set_key(key);
	seal_make(&s, "uid:0", id);
	ck_assert_str_eq(id, "m1.aaaaaaaaaaaaaaaaaaaa.1.5."
	    "57d8da47050347b18f9f45d83b576449"
	    "584f437536b65ecdb8adff4994d4b2ff");
}
END_TEST

/* ---- sealed states ---- */

START_TEST(states)
{
	uint8_t key[SEAL_KEY_SIZE], subject[SEAL_SUBJECT], other[SEAL_SUBJECT];
	struct seal_state s = { .call = "c-0123456789abcdefghjk",
	    .round = UINT32_MAX }, got;
	struct seal id;
	char state[SEAL_STATE_SIZE], copy[SEAL_STATE_SIZE], sid[SEAL_ID_SIZE];
	size_t i, n;

	memset(key, 7, sizeof(key));
	memset(subject, 0, sizeof(subject));
	seal_set_key(key);
	ck_assert(id_ok(ID_CALL, s.call));
	seal_state_make(&s, "uid:1000", subject, state);
	n = strlen(state);
	ck_assert_uint_lt(n, SEAL_STATE_SIZE);
	ck_assert_int_eq(seal_state_read(&got, state, "uid:1000", subject), 0);
	ck_assert_str_eq(got.call, s.call);
	ck_assert_uint_eq(got.round, s.round);
	/* another's, another instance's, of something else */
	ck_assert_int_eq(seal_state_read(&got, state, "uid:100", subject), -1);
	ck_assert_int_eq(seal_state_read(&got, state, "", subject), -1);
	for (i = 0; i < sizeof(other); i++) {
		memcpy(other, subject, sizeof(other));
		other[i] = 1;
		ck_assert_int_eq(seal_state_read(&got, state, "uid:1000",
		    other), -1);
	}
	/* neither kind is the other */
	ck_assert_int_eq(seal_read(&id, state, "uid:1000", 1), -1);
	memset(&id, 0, sizeof(id));
	seal_name(id.name);
	id.expires = 9;
	seal_make(&id, "uid:1000", sid);
	ck_assert_int_eq(seal_state_read(&got, sid, "uid:1000", subject), -1);
	for (i = 0; i < n; i++) {
		memcpy(copy, state, n + 1);
		copy[i] ^= 1;
		ck_assert_int_eq(seal_state_read(&got, copy, "uid:1000",
		    subject), -1);
		memcpy(copy, state, n + 1);
		copy[i] = '\0';
		ck_assert_int_eq(seal_state_read(&got, copy, "uid:1000",
		    subject), -1);
	}
}
END_TEST

/* As above: Python's hmac of the same. */
START_TEST(states_stay_the_same)
{
	uint8_t key[SEAL_KEY_SIZE], subject[SEAL_SUBJECT];
	struct seal_state s = { .call = "c-00000000000000000000",
	    .round = 1 };
	char state[SEAL_STATE_SIZE];

	memset(key, 'k', sizeof(key));
	memset(subject, 'd', sizeof(subject));
	seal_set_key(key);
	seal_state_make(&s, "uid:0", subject, state);
	ck_assert_str_eq(state, "s1.c-00000000000000000000.1."
	    "13b554495b4f737a2bcbbb6a6fc3d7c3"
	    "c415ef9448b6d60abd0b8d0ede8d495a");
}
END_TEST

/* ---- pages ---- */

START_TEST(pages)
{
	json_t *tools = json_array(), *page, *next;
	char cursor[256] = "";
	int i, rounds = 0;

	for (i = 0; i < 7; i++)
		json_array_append_new(tools, json_pack("{s:o}", "name",
		    json_sprintf("tool%d", (i * 3) % 7)));
	for (;;) {
		ck_assert_ptr_nonnull(page = mcp_tools_page(tools, cursor,
		    3));
		rounds++;
		next = json_object_get(page, "nextCursor");
		if (next == NULL)
			break;
		snprintf(cursor, sizeof(cursor), "%s",
		    json_string_value(next));
		json_decref(page);
	}
	json_decref(page);
	ck_assert_int_eq(rounds, 3);
	ck_assert_ptr_null(mcp_tools_page(tools, "tool1", 3));
	ck_assert_ptr_null(mcp_tools_page(tools, "MTo=", 3));
	ck_assert_ptr_null(mcp_tools_page(tools, "MTp0b29sMQ", 3));
	json_decref(tools);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("mcp");
	TCase *t = tcase_create("mcp");

	text_init();
	tcase_add_loop_test(t, message, 0, NITEMS(bodies));
	tcase_add_test(t, long_ids);
	tcase_add_loop_test(t, era, 0, NITEMS(eras));
	tcase_add_test(t, versions);
	tcase_add_test(t, hosts);
	tcase_add_test(t, other_names);
	tcase_add_test(t, seals);
	tcase_add_test(t, seals_stay_the_same);
	tcase_add_test(t, states);
	tcase_add_test(t, states_stay_the_same);
	tcase_add_test(t, pages);
	suite_add_tcase(s, t);
	return (unit_main(s));
}
