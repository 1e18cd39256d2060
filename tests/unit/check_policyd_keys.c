/*
 * The real policyd and tokens: who is let in, what an apid that was taken over
 * can make of AUTH, and what is at rest.
 */

#include <stdlib.h>

#include <sha2.h>

#include "policyd_rig_test.h"
#include "token.h"

/* A rig whose agents' socket takes tokens, with lines for two keys. */
static void
start_keys(void)
{
	rig_init(&rig);
	rig.slice->listens[0].flags = LISTEN_TOKEN;
	strings_free(&rig_principal(rig.slice, WHO_KEY, 0, "ci",
	    OWNER_PEER)->workspaces);
	strings_free(&rig_principal(rig.slice, WHO_KEY, 0, "other",
	    OWNER_PEER)->workspaces);
	rig.slice->limits.v[LIMIT_AUTH_FAILURES] = 20;
	ck_assert_int_eq(rig_start(&rig), 0);
}

static json_t *
key_set(unsigned what, uint32_t seconds, const char *text, unsigned *status)
{
	struct enc *e = enc_new(512);
	uint32_t request = ++rig.requests, retry;
	uint64_t handle = operator();

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_u8(e, (uint8_t)what);
	enc_u32(e, seconds);
	enc_str(e, text);
	rig_send(rig.fd[RIG_OPERATOR], MSG_KEY_SET, e, NULL, 0);
	return (rig_reply(&rig, RIG_OPERATOR, request, status, &retry));
}

/* A new key of a name: its id, and its token. */
static void
add(const char *name, uint32_t seconds, char id[ID_SIZE],
    char token[TOKEN_SIZE])
{
	unsigned status;
	json_t *json = key_set(KEY_ADD, seconds, name, &status);

	ck_assert_uint_eq(status, 201);
	snprintf(id, ID_SIZE, "%s", rig_text(json, "key"));
	snprintf(token, TOKEN_SIZE, "%s", rig_text(json, "token"));
	ck_assert(id_ok(ID_KEY, id));
	ck_assert(token_whole(token, strlen(token)));
	json_decref(json);
}

static void
send_auth(uint32_t number, const char *token, const char *source)
{
	struct enc *e = enc_new(2048);

	enc_u32(e, number);
	enc_str(e, token);
	enc_str(e, source);
	rig_send(rig.fd[RIG_AGENT], MSG_AUTH, e, NULL, 0);
}

/* The answer: 200 and a handle, or the status; its words. */
static unsigned
auth(const char *token, const char *source, uint64_t *handle, char *words,
    size_t size)
{
	static uint32_t number = 1000;
	unsigned status = 200;
	char who[128];
	struct got g;

	*handle = 0;
	words[0] = '\0';
	send_auth(++number, token, source);
	ck_assert_int_eq(rig_recv(rig.fd[RIG_AGENT], RIG_WAIT_MS, &g), 1);
	ck_assert_uint_eq(dec_u32(&g.d), number);
	if (g.type == MSG_PEER_OK) {
		*handle = dec_u64(&g.d);
		ck_assert_uint_ge(dec_u32(&g.d), PRINCIPAL_KEYS);
		dec_str(&g.d, words, size);
		ck_assert_int_eq(dec_end(&g.d), 0);
		return (status);
	}
	ck_assert_uint_eq(g.type, MSG_AUTH_NO);
	status = dec_u16(&g.d);
	(void)dec_u32(&g.d);
	dec_str(&g.d, who, sizeof(who));
	dec_str(&g.d, words, size);
	ck_assert_int_eq(dec_end(&g.d), 0);
	return (status);
}

static unsigned
try(const char *token, const char *source)
{
	uint64_t handle;
	char words[512];

	return (auth(token, source, &handle, words, sizeof(words)));
}

/* From there no token is looked at: one more is let fail every 3 s. */
static int
slowed(const char *token, const char *source)
{
	unsigned status = 401;
	int i;

	for (i = 0; i < 100 && status == 401; i++)
		status = try(token, source);
	return (status == 429);
}

START_TEST(who_is_let_in)
{
	char id[ID_SIZE], token[TOKEN_SIZE], words[512], cut[TOKEN_SIZE];
	uint64_t handle;
	unsigned status;
	json_t *json;

	start_keys();
	add("ci", 0, id, token);
	ck_assert_uint_eq(auth(token, "127.0.0.1", &handle, words,
	    sizeof(words)), 200);
	ck_assert_str_eq(words, "key:ci");
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_WHOAMI, 0, 0, "",
	    &status);
	ck_assert_uint_eq(status, 200);
	ck_assert_str_eq(rig_text(json, "who"), "key:ci");
	ck_assert_str_eq(rig_text(json, "principal.kind"), "key");
	json_decref(json);
	snprintf(cut, sizeof(cut), "%.55s", token);
	ck_assert_uint_eq(try(cut, "127.0.0.1"), 401);
	ck_assert_uint_eq(try("", "127.0.0.1"), 401);
	ck_assert_uint_eq(try(id, "127.0.0.1"), 401);
	ck_assert_uint_eq(try("ci", "127.0.0.1"), 401);
	ck_assert_uint_eq(try("key:ci", "127.0.0.1"), 401);
}
END_TEST

/* No rights of an operator, no uid's things, no other key's. */
START_TEST(a_key_is_itself_alone)
{
	char a[ID_SIZE], b[ID_SIZE], ta[TOKEN_SIZE], tb[TOKEN_SIZE];
	char words[512], session[ID_SIZE];
	uint64_t first, second, uid;
	unsigned status;
	json_t *json;

	start_keys();
	add("ci", 0, a, ta);
	add("other", 0, b, tb);
	auth(ta, "x", &first, words, sizeof(words));
	auth(tb, "x", &second, words, sizeof(words));
	rig_session(&rig, first, session);
	json_decref(rig_query(&rig, RIG_AGENT, first, QUERY_SESSION, 0, 0,
	    session, &status));
	ck_assert_uint_eq(status, 200);
	json_decref(rig_query(&rig, RIG_AGENT, second, QUERY_SESSION, 0, 0,
	    session, &status));
	ck_assert_uint_eq(status, 404);
	uid = user();
	json = rig_query(&rig, RIG_AGENT, uid, QUERY_SESSION, 0, 0, session,
	    &status);
	ck_assert_uint_eq(status, 404);
	json_decref(json);
	json_decref(rig_query(&rig, RIG_AGENT, first, QUERY_KEYS, 0, 0, "",
	    &status));
	ck_assert_uint_eq(status, 404);
}
END_TEST

/*
 * An apid that was taken over, and has seen no token, is let in as nobody,
 * however often it asks; and a right token is not kept away by that.
 */
START_TEST(no_key_whose_token_was_not_seen)
{
	char id[ID_SIZE], token[TOKEN_SIZE], guess[TOKEN_SIZE], words[512];
	unsigned plain = 0, slowed = 0, status;
	uint64_t handle;
	int i;

	start_keys();
	add("ci", 0, id, token);
	for (i = 0; i < 10000; i++) {
		ck_assert_int_eq(token_make(guess), 0);
		status = auth(guess, "127.0.0.1", &handle, words,
		    sizeof(words));
		ck_assert_uint_eq(handle, 0);
		plain += status == 401;
		slowed += status == 429;
		ck_assert(status == 401 || strstr(words,
		    "\"auth-failures\", 20 ") != NULL);
	}
	ck_assert_uint_eq(plain + slowed, 10000);
	ck_assert_uint_ge(plain, 20);
	ck_assert_uint_lt(plain, 100);
	ck_assert_uint_eq(try(token, "127.0.0.1"), 200);
	/* from elsewhere they are counted apart; none at all is no failure */
	ck_assert_uint_eq(try(guess, "192.0.2.1"), 401);
	ck_assert_uint_eq(try("", "127.0.0.1"), 401);
}
END_TEST

/* Of a key that was there and of one that never was: the same words. */
START_TEST(known_and_unknown_alike)
{
	char id[ID_SIZE], token[TOKEN_SIZE], guess[TOKEN_SIZE];
	unsigned status, i, same = 0;

	start_keys();
	add("ci", 0, id, token);
	json_decref(key_set(KEY_REVOKE, 0, id, &status));
	ck_assert_uint_eq(status, 200);
	for (i = 0; i < 20; i++) {
		ck_assert_int_eq(token_make(guess), 0);
		same += try(i % 2 == 0 ? token : guess, "10.0.0.1") == 401;
	}
	ck_assert_uint_eq(same, 20);
	ck_assert(slowed(token, "10.0.0.1"));
	ck_assert(slowed(guess, "10.0.0.1"));
}
END_TEST

/* Revoked: the handle is nobody's, and its connection is told. */
START_TEST(revoked_at_once)
{
	char id[ID_SIZE], token[TOKEN_SIZE], words[512];
	uint64_t handle;
	unsigned status;
	struct got g;

	start_keys();
	add("ci", 0, id, token);
	ck_assert_uint_eq(auth(token, "x", &handle, words, sizeof(words)),
	    200);
	json_decref(key_set(KEY_REVOKE, 0, id, &status));
	ck_assert_uint_eq(status, 200);
	rig_want(&rig, RIG_AGENT, MSG_AUTH_NO, &g);
	(void)dec_u32(&g.d);
	ck_assert_uint_eq(dec_u16(&g.d), 401);
	json_decref(rig_query(&rig, RIG_AGENT, handle, QUERY_WHOAMI, 0, 0, "",
	    &status));
	ck_assert_uint_eq(status, 403);
	ck_assert_uint_eq(try(token, "x"), 401);
	json_decref(key_set(KEY_REVOKE, 0, id, &status));
	ck_assert_uint_eq(status, 404);
	json_decref(key_set(KEY_ROTATE, 0, id, &status));
	ck_assert_uint_eq(status, 409);
}
END_TEST

/* At rest there is the hash, and nothing of the token; nor in any record. */
START_TEST(hashed_at_rest)
{
	char id[ID_SIZE], token[TOKEN_SIZE], path[128];
	static char bytes[8 << 20];
	uint8_t hash[32];
	SHA2_CTX sha;
	size_t n = 0;
	FILE *f;
	static const char *const files[] = { "state.db", "state.db-wal",
	    "audit.jsonl" };
	int i;

	start_keys();
	add("ci", 0, id, token);
	ck_assert_uint_eq(try(token, "x"), 200);
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/policy/%s", rig.dir,
		    files[i]);
		if ((f = fopen(path, "re")) == NULL)
			continue;
		n += fread(bytes + n, 1, sizeof(bytes) - n, f);
		fclose(f);
	}
	SHA256Init(&sha);
	SHA256Update(&sha, (const uint8_t *)token, strlen(token));
	SHA256Final(hash, &sha);
	ck_assert_ptr_nonnull(memmem(bytes, n, hash, sizeof(hash)));
	ck_assert_ptr_nonnull(memmem(bytes, n, "key.added", 9));
	ck_assert_ptr_null(memmem(bytes, n, token, 24));
	ck_assert_ptr_null(memmem(bytes, n, token + 20, 24));
}
END_TEST

/* Where no socket takes tokens AUTH is no message of an honest apid. */
START_TEST(not_asked_for)
{
	start();
	send_auth(1, "x", "x");
	ck_assert_int_eq(rig_closed(&rig, RIG_AGENT), 1);
	ck_assert_int_eq(rig_alive(&rig), 1);
}
END_TEST

/* Too long for any token, which apid never sends. */
START_TEST(too_long)
{
	static char text[1100];

	start_keys();
	memset(text, 'x', sizeof(text) - 1);
	send_auth(1, text, "x");
	ck_assert_int_eq(rig_closed(&rig, RIG_AGENT), 1);
	ck_assert_int_eq(rig_alive(&rig), 1);
}
END_TEST

/* What the configuration takes away is gone with its next generation. */
START_TEST(a_line_that_goes)
{
	char id[ID_SIZE], token[TOKEN_SIZE], words[512];
	uint64_t handle, fresh;
	unsigned status;
	json_t *json;

	start_keys();
	add("ci", 0, id, token);
	ck_assert_uint_eq(auth(token, "x", &handle, words, sizeof(words)),
	    200);
	free(rig.slice->principals[3].name);
	rig.slice->principals[3].name = strdup("changed");
	rig_reload(&rig);
	json_decref(rig_query(&rig, RIG_AGENT, handle, QUERY_WHOAMI, 0, 0, "",
	    &status));
	ck_assert_uint_eq(status, 403);
	ck_assert_uint_eq(auth(token, "x", &fresh, words, sizeof(words)),
	    403);
	ck_assert_ptr_nonnull(strstr(words, "you are key:ci"));
	json = key_set(KEY_ADD, 0, "ci", &status);
	ck_assert_uint_eq(status, 409);
	ck_assert_ptr_nonnull(strstr(rig_text(json, "error.message"),
	    "no principal line"));
	json_decref(json);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("policyd keys");
	TCase *t = tcase_create("keys");

	tcase_add_checked_fixture(t, NULL, stop);
	tcase_add_test(t, who_is_let_in);
	tcase_add_test(t, a_key_is_itself_alone);
	tcase_add_test(t, no_key_whose_token_was_not_seen);
	tcase_add_test(t, known_and_unknown_alike);
	tcase_add_test(t, revoked_at_once);
	tcase_add_test(t, hashed_at_rest);
	tcase_add_test(t, not_asked_for);
	tcase_add_test(t, too_long);
	tcase_add_test(t, a_line_that_goes);
	suite_add_tcase(s, t);
	return (s);
}

int
main(void)
{
	return (rig_main(suite()));
}
