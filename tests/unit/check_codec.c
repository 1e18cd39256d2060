/*
 * codec.h and ids.h: what goes in comes out, and what is short, long or odd
 * is an error that nothing after it undoes.
 */
#include <sys/mman.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "ids.h"
#include "unit.h"

START_TEST(numbers_and_strings_come_back)
{
	struct enc *e = enc_new(256);
	struct dec d;
	char s[8];

	enc_u8(e, 0xff);
	enc_u16(e, 0xfedc);
	enc_u32(e, 0xfedcba98);
	enc_u64(e, 0xfedcba9876543210);
	enc_i32(e, -7);
	enc_str(e, "neuron");
	ck_assert_int_eq(enc_error(e), 0);
	dec_init(&d, enc_data(e), enc_size(e));
	ck_assert_uint_eq(dec_u8(&d), 0xff);
	ck_assert_uint_eq(dec_u16(&d), 0xfedc);
	ck_assert_uint_eq(dec_u32(&d), 0xfedcba98);
	ck_assert_uint_eq(dec_u64(&d), 0xfedcba9876543210);
	ck_assert_int_eq(dec_i32(&d), -7);
	dec_str(&d, s, sizeof(s));
	ck_assert_str_eq(s, "neuron");
	ck_assert_int_eq(dec_end(&d), 0);
	enc_free(e);
}
END_TEST

START_TEST(every_cut_is_an_error)
{
	struct enc *e = enc_new(256);
	struct dec d;
	char s[16];
	size_t cut;

	enc_u32(e, 1);
	enc_str(e, "abcdef");
	enc_u8(e, 9);
	for (cut = 0; cut < enc_size(e); cut++) {
		dec_init(&d, enc_data(e), cut);
		(void)dec_u32(&d);
		dec_str(&d, s, sizeof(s));
		(void)dec_u8(&d);
		ck_assert_int_eq(dec_end(&d), -1);
	}
	enc_free(e);
}
END_TEST

START_TEST(a_string_is_never_truncated)
{
	struct enc *e = enc_new(256);
	struct dec d;
	char s[6];

	enc_str(e, "sixsix");
	dec_init(&d, enc_data(e), enc_size(e));
	dec_str(&d, s, sizeof(s));
	ck_assert_int_eq(dec_end(&d), -1);
	ck_assert_str_eq(s, "");
	enc_free(e);
}
END_TEST

START_TEST(a_nul_inside_a_string_is_an_error)
{
	struct enc *e = enc_new(256);
	struct dec d;
	char s[16];

	enc_bytes(e, "a\0b", 3);
	dec_init(&d, enc_data(e), enc_size(e));
	dec_str(&d, s, sizeof(s));
	ck_assert_int_eq(dec_end(&d), -1);
	enc_free(e);
}
END_TEST

START_TEST(trailing_bytes_are_an_error)
{
	struct dec d;

	dec_init(&d, "\1\2", 2);
	ck_assert_uint_eq(dec_u8(&d), 1);
	ck_assert_int_eq(dec_end(&d), -1);
}
END_TEST

START_TEST(a_length_that_wraps_is_an_error)
{
	static const uint8_t bytes[] = { 0xff, 0xff, 0xff, 0xff, 'x' };
	struct dec d;
	size_t n;

	dec_init(&d, bytes, sizeof(bytes));
	ck_assert_ptr_null(dec_bytes(&d, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(dec_end(&d), -1);
}
END_TEST

START_TEST(an_encoder_stops_at_its_bound)
{
	struct enc *e = enc_new(8);

	enc_u64(e, 1);
	ck_assert_int_eq(enc_error(e), 0);
	enc_u8(e, 1);
	ck_assert_int_eq(enc_error(e), EMSGSIZE);
	enc_u8(e, 1);
	ck_assert_uint_eq(enc_size(e), 8);
	enc_free(e);
}
END_TEST

START_TEST(a_sealed_memfd_can_not_change)
{
	const uint8_t *p;
	size_t size;
	int fd = memfd_sealed("test", "hello", 5);

	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(write(fd, "x", 1), -1);
	ck_assert_int_eq(ftruncate(fd, 1), -1);
	ck_assert_int_eq(ftruncate(fd, 99), -1);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
	ck_assert_ptr_eq(mmap(NULL, 5, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0), MAP_FAILED);
	ck_assert_ptr_nonnull(p = memfd_map(fd, 5, &size));
	ck_assert_uint_eq(size, 5);
	ck_assert_mem_eq(p, "hello", 5);
	memfd_unmap(p, size);
	ck_assert_ptr_null(memfd_map(fd, 4, &size));
	close(fd);
}
END_TEST

/* Small ones are copied, others mapped: who reads them can't tell. */
START_TEST(memfds_of_all_sizes_are_read_whole)
{
	static const size_t sizes[] = { 1, 4096, 16384, 16385, 100000 };
	static uint8_t bytes[100000];
	const uint8_t *p;
	struct enc *e;
	size_t i, size;
	int fd;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		e = enc_new(sizeof(bytes));
		enc_raw(e, bytes, sizes[i]);
		ck_assert_int_ne(fd = enc_memfd(e, "test"), -1);
		enc_free(e);
		/* wherever its other readers are in it */
		ck_assert_int_eq(lseek(fd, 1, SEEK_SET), 1);
		ck_assert_ptr_nonnull(p = memfd_map(fd, sizes[i], &size));
		ck_assert_uint_eq(size, sizes[i]);
		ck_assert_mem_eq(p, bytes, size);
		ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 1);
		memfd_unmap(p, size);
		close(fd);
	}
}
END_TEST

START_TEST(ids_have_one_form)
{
	char a[ID_SIZE], b[ID_SIZE];

	ck_assert_int_eq(id_make(ID_CALL, a), 0);
	ck_assert_int_eq(id_make(ID_CALL, b), 0);
	ck_assert_str_ne(a, b);
	ck_assert_int_eq(id_ok(ID_CALL, a), 1);
	ck_assert_int_eq(id_ok(ID_NEURON, a), 0);
	ck_assert_int_eq(id_ok(ID_CALL, "c-../../../../../../etc"), 0);
	ck_assert_int_eq(id_ok(ID_CALL, "c-"), 0);
	ck_assert_int_eq(id_ok(ID_CALL, ""), 0);
	a[5] = 'u';
	ck_assert_int_eq(id_ok(ID_CALL, a), 0);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("codec");
	TCase *tc = tcase_create("codec");

	tcase_add_test(tc, numbers_and_strings_come_back);
	tcase_add_test(tc, every_cut_is_an_error);
	tcase_add_test(tc, a_string_is_never_truncated);
	tcase_add_test(tc, a_nul_inside_a_string_is_an_error);
	tcase_add_test(tc, trailing_bytes_are_an_error);
	tcase_add_test(tc, a_length_that_wraps_is_an_error);
	tcase_add_test(tc, an_encoder_stops_at_its_bound);
	tcase_add_test(tc, a_sealed_memfd_can_not_change);
	tcase_add_test(tc, memfds_of_all_sizes_are_read_whole);
	tcase_add_test(tc, ids_have_one_form);
	suite_add_tcase(s, tc);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
