/* Sealing, the rows of secrets, the hashes that apids are told. */

#include <sys/types.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../policyd/seal.h"
#include "../../policyd/store.h"
#include "unit.h"
#include "value_hash.h"

static void
use_key(const char *text, size_t n, int want)
{
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(write(fds[1], text, n), (ssize_t)n);
	close(fds[1]);
	ck_assert_int_eq(seal_key(fds[0]), want);
}

static const char one[] = "0123456789abcdef0123456789abcdef";
static const char two[] = "0123456789abcdef0123456789abcdeF";

START_TEST(sealed_and_opened)
{
	uint8_t nonce[SEAL_NONCE], sealed[64], open[64];
	const uint8_t *text = (const uint8_t *)"a secret value";
	char id[SEAL_KEY_ID];

	ck_assert_int_eq(seal_preload(), 0);
	ck_assert_ptr_null(seal_key_id());
	ck_assert_int_eq(seal_close("x", text, 14, nonce, sealed), -1);
	use_key(one, 32, 0);
	snprintf(id, sizeof(id), "%s", seal_key_id());
	ck_assert_int_eq(seal_close("x", text, 14, nonce, sealed), 0);
	ck_assert_ptr_null(memmem(sealed, sizeof(sealed), text, 14));
	ck_assert_int_eq(seal_open("x", sealed, 14 + SEAL_TAG, nonce, open),
	    0);
	ck_assert_mem_eq(open, text, 14);
	/* Of another name, changed, cut, with another nonce or key: none. */
	ck_assert_int_eq(seal_open("y", sealed, 14 + SEAL_TAG, nonce, open),
	    -1);
	sealed[3] ^= 1;
	ck_assert_int_eq(seal_open("x", sealed, 14 + SEAL_TAG, nonce, open),
	    -1);
	sealed[3] ^= 1;
	ck_assert_int_eq(seal_open("x", sealed, 13 + SEAL_TAG, nonce, open),
	    -1);
	ck_assert_int_eq(seal_open("x", sealed, SEAL_TAG - 1, nonce, open),
	    -1);
	nonce[0] ^= 1;
	ck_assert_int_eq(seal_open("x", sealed, 14 + SEAL_TAG, nonce, open),
	    -1);
	nonce[0] ^= 1;
	use_key(two, 32, 0);
	ck_assert_str_ne(seal_key_id(), id);
	ck_assert_int_eq(seal_open("x", sealed, 14 + SEAL_TAG, nonce, open),
	    -1);
	use_key(one, 32, 0);
	ck_assert_str_eq(seal_key_id(), id);
	ck_assert_int_eq(seal_open("x", sealed, 14 + SEAL_TAG, nonce, open),
	    0);
}
END_TEST

START_TEST(keys_that_are_none)
{
	static char big[SEAL_MOST + 1];

	ck_assert_int_eq(seal_preload(), 0);
	ck_assert_int_eq(seal_key(-1), 0);
	use_key(one, 31, -1);
	use_key("", 0, -1);
	use_key(big, sizeof(big), -1);
	ck_assert_ptr_null(seal_key_id());
	use_key(one, 32, 0);
	ck_assert_ptr_nonnull(seal_key_id());
	seal_forget();
	ck_assert_ptr_null(seal_key_id());
}
END_TEST

static int
look(void *arg, const struct secret_row *row)
{
	struct secret_row *seen = arg;

	seen->length++;
	ck_assert_str_eq(row->key, "0123456789abcdef");
	ck_assert_uint_eq(row->sealed_size, 20);
	snprintf(seen->name, sizeof(seen->name), "%s", row->name);
	return (0);
}

START_TEST(rows)
{
	uint8_t sealed[20] = { 1, 0, 2 };
	struct secret_row row = { .name = "x", .length = 4, .registered = 7,
	    .key = "0123456789abcdef", .sealed = sealed,
	    .sealed_size = sizeof(sealed) }, seen = { .length = 0 };

	ck_assert_int_eq(store_open(":memory:"), 0);
	ck_assert_int_eq(store_secret_set(&row), 0);
	ck_assert_int_eq(store_secret_set(&row), 0);
	ck_assert_int_eq(store_secrets(look, &seen), 0);
	ck_assert_uint_eq(seen.length, 1);
	ck_assert_str_eq(seen.name, "x");
	ck_assert_int_eq(store_secret_delete("y"), 0);
	ck_assert_int_eq(store_secret_delete("x"), 0);
	seen.length = 0;
	ck_assert_int_eq(store_secrets(look, &seen), 0);
	ck_assert_uint_eq(seen.length, 0);
	store_close();
}
END_TEST

/* As another program's HMAC-SHA256 has it. */
START_TEST(mac)
{
	static const uint8_t want[] = {
		0x19, 0x8a, 0x60, 0x7e, 0xb4, 0x4b, 0xfb, 0xc6, 0x99, 0x03,
		0xa0, 0xf1, 0xcf, 0x2b, 0xbd, 0xc5, 0xba, 0x0a, 0xa3, 0xf3,
		0xd9, 0xae, 0x3c, 0x1c, 0x7a, 0x3b, 0x16, 0x96, 0xa0, 0xb6,
		0x8c, 0xf7
	};
	struct value_key key = { { 0, 0 }, { 0 } };
	uint8_t got[VALUE_MAC];

	memset(key.mac, 0x0b, sizeof(key.mac));
	value_mac(&key, (const uint8_t *)"Hi There", 8, got);
	ck_assert_mem_eq(got, want, sizeof(want));
}
END_TEST

START_TEST(forms)
{
	struct value_form f[VALUE_FORMS];
	struct value_key key = { { 11, 13 }, { 1 } };
	static uint8_t big[VALUE_MOST];
	size_t n, i;

	/* Letters alone look the same in a URL, and in either base64. */
	n = value_forms(&key, (const uint8_t *)"abcdefgh", 8, f);
	ck_assert_uint_eq(n, 4);
	memset(big, 0xff, sizeof(big));
	n = value_forms(&key, big, sizeof(big), f);
	ck_assert_uint_le(n, VALUE_FORMS);
	for (i = 0; i < n; i++) {
		ck_assert_uint_ge(f[i].length, VALUE_WINDOW);
		ck_assert_uint_le(f[i].length, VALUE_FORM_MOST);
		ck_assert_uint_eq(f[i].first >> 24, 0);
		ck_assert_uint_eq(f[i].whole >> 24, 0);
	}
	/* The quick hash of all is of all. */
	big[VALUE_MOST - 1] = 1;
	ck_assert_uint_ne(value_whole(&key, big, sizeof(big)),
	    value_whole(&key, big, sizeof(big) - 1));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("policyd_secrets");
	TCase *tc = tcase_create("secrets");

	tcase_add_test(tc, sealed_and_opened);
	tcase_add_test(tc, keys_that_are_none);
	tcase_add_test(tc, rows);
	tcase_add_test(tc, mac);
	tcase_add_test(tc, forms);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
