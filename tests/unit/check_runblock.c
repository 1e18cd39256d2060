/*
 * The run block: what goes in comes out, and nothing else gets through.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "protocol.h"
#include "runblock.h"
#include "unit.h"

static char prog[] = "prog", empty[] = "", odd[] = "a b\n", byte[] = "\377";
static char a[] = "A=1", b[] = "B=", cwd[] = "sub/dir";
static char *argv_sample[] = { prog, empty, odd, byte, NULL };
static char *env_sample[] = { a, b, NULL };

static struct runblock
sample(void)
{
	struct runblock rb = { .cwd = cwd, .argc = 4,
	    .argv = argv_sample, .envc = 2, .env = env_sample };

	return (rb);
}

START_TEST(test_round_trip)
{
	struct runblock rb = sample(), *got;
	const uint8_t *bytes;
	const char *why;
	size_t size;
	uint32_t i;
	int fd;

	ck_assert_int_ne(fd = runblock_encode(&rb), -1);
	ck_assert_ptr_nonnull(bytes = memfd_map(fd, RUNBLOCK_MAX, &size));
	got = runblock_decode(bytes, size, &why);
	ck_assert_msg(got != NULL, "%s", why);
	ck_assert_str_eq(got->cwd, "sub/dir");
	ck_assert_uint_eq(got->argc, 4);
	for (i = 0; i < 4; i++)
		ck_assert_str_eq(got->argv[i], argv_sample[i]);
	ck_assert_ptr_null(got->argv[4]);
	ck_assert_uint_eq(got->envc, 2);
	ck_assert_str_eq(got->env[1], "B=");
	ck_assert_ptr_null(got->env[2]);
	runblock_free(got);
	/* Cut anywhere, it is refused. */
	for (i = 0; i < size; i++)
		ck_assert_ptr_null(runblock_decode(bytes, i, &why));
	memfd_unmap(bytes, size);
	ck_assert_int_eq(write(fd, "x", 1), -1);
	close(fd);
}
END_TEST

START_TEST(test_body)
{
	static char name[] = "read", more[] = "more";
	static char *argv[] = { name, more, NULL };
	static const uint8_t args[] = "{\"path\":\"a\"}";
	struct runblock rb = { .flags = RUNBLOCK_F_BODY, .cwd = cwd,
	    .argc = 1, .argv = argv, .envc = 2, .env = env_sample,
	    .args = args, .args_size = sizeof(args) - 1 }, *got;
	const uint8_t *bytes;
	const char *why;
	uint8_t *large;
	size_t size;
	uint32_t i;
	int fd;

	ck_assert_int_ne(fd = runblock_encode(&rb), -1);
	bytes = memfd_map(fd, RUNBLOCK_BODY_MAX, &size);
	ck_assert_ptr_nonnull(bytes);
	got = runblock_decode(bytes, size, &why);
	ck_assert_msg(got != NULL, "%s", why);
	ck_assert_uint_eq(got->flags, RUNBLOCK_F_BODY);
	ck_assert_uint_eq(got->args_size, sizeof(args) - 1);
	ck_assert_mem_eq(got->args, args, sizeof(args) - 1);
	runblock_free(got);
	for (i = 0; i < size; i++)
		ck_assert_ptr_null(runblock_decode(bytes, i, &why));
	memfd_unmap(bytes, size);
	close(fd);
	/* Over what a program may have, and over what a body may. */
	ck_assert_ptr_nonnull(large = calloc(1, RUNBLOCK_BODY_MAX));
	rb.args = large;
	rb.args_size = RUNBLOCK_MAX + 1;
	ck_assert_int_ne(fd = runblock_encode(&rb), -1);
	close(fd);
	rb.args_size = RUNBLOCK_BODY_MAX;
	ck_assert_int_eq(runblock_encode(&rb), -1);
	ck_assert_int_eq(errno, E2BIG);
	free(large);
	rb.args_size = 0;
	rb.argc = 2;
	ck_assert_int_eq(runblock_encode(&rb), -1);
}
END_TEST

/* A program in the block: any bytes, with a name and nothing more. */
START_TEST(test_hook)
{
	static char name[] = "late", more[] = "more";
	static char *argv[] = { name, more, NULL };
	static const uint8_t program[] = "\177ELF\0\377#!/bin/sh\n";
	struct runblock rb = { .flags = RUNBLOCK_F_HOOK, .argc = 1,
	    .argv = argv, .args = program, .args_size = sizeof(program) },
	    *got;
	const uint8_t *bytes;
	const char *why;
	size_t size, i;
	int fd;

	ck_assert_int_ne(fd = runblock_encode(&rb), -1);
	bytes = memfd_map(fd, RUNBLOCK_BODY_MAX, &size);
	ck_assert_ptr_nonnull(bytes);
	got = runblock_decode(bytes, size, &why);
	ck_assert_msg(got != NULL, "%s", why);
	ck_assert_uint_eq(got->flags, RUNBLOCK_F_HOOK);
	ck_assert_uint_eq(got->args_size, sizeof(program));
	ck_assert_mem_eq(got->args, program, sizeof(program));
	ck_assert_str_eq(got->cwd, "");
	runblock_free(got);
	for (i = 0; i < size; i++)
		ck_assert_ptr_null(runblock_decode(bytes, i, &why));
	memfd_unmap(bytes, size);
	close(fd);
	rb.argc = 2;
	ck_assert_int_eq(runblock_encode(&rb), -1);
	rb.argc = 1;
	rb.flags |= RUNBLOCK_F_BODY;	/* both: there is one program */
	ck_assert_int_eq(runblock_encode(&rb), -1);
}
END_TEST

START_TEST(test_encode_bounds)
{
	struct runblock rb = sample();
	static char long_path[4097], long_arg[131073];
	char *argv[] = { long_arg, NULL }, *many[RUNBLOCK_ARGS_MAX + 2];
	size_t i;
	int fd;

	memset(long_path, 'a', 4096);
	rb.cwd = long_path;
	ck_assert_int_eq(runblock_encode(&rb), -1);
	ck_assert_int_eq(errno, E2BIG);
	long_path[4095] = '\0';
	ck_assert_int_ne(fd = runblock_encode(&rb), -1);
	close(fd);
	rb.cwd = NULL;
	rb.argc = 0;
	ck_assert_int_eq(runblock_encode(&rb), -1);
	memset(long_arg, 'a', 131072);
	rb.argc = 1;
	rb.argv = argv;
	ck_assert_int_eq(runblock_encode(&rb), -1);
	ck_assert_int_eq(errno, E2BIG);
	long_arg[131071] = '\0';
	ck_assert_int_ne(fd = runblock_encode(&rb), -1);
	close(fd);
	for (i = 0; i < RUNBLOCK_ARGS_MAX + 1; i++)
		many[i] = long_arg;
	rb.argv = many;
	rb.argc = 17;			/* over 2 MiB all told */
	ck_assert_int_eq(runblock_encode(&rb), -1);
	ck_assert_int_eq(errno, E2BIG);
	rb.argc = RUNBLOCK_ARGS_MAX + 1;
	ck_assert_int_eq(runblock_encode(&rb), -1);
	ck_assert_int_eq(errno, E2BIG);
}
END_TEST

static struct runblock *
decode(struct enc *enc, const char **why)
{
	struct runblock *rb;

	ck_assert_int_eq(enc_error(enc), 0);
	rb = runblock_decode(enc_data(enc), enc_size(enc), why);
	enc_free(enc);
	return (rb);
}

static struct enc *
head(uint16_t version, uint32_t flags)
{
	struct enc *enc = enc_new(RUNBLOCK_MAX);

	enc_u16(enc, version);
	enc_u32(enc, flags);
	enc_str(enc, "");
	return (enc);
}

START_TEST(test_decode_bad)
{
	struct enc *enc;
	const char *why;

	enc = head(2, 0);
	ck_assert_ptr_null(decode(enc, &why));
	ck_assert_str_eq(why, "of another version");

	enc = head(1, 8);
	ck_assert_ptr_null(decode(enc, &why));
	ck_assert_str_eq(why, "with flags that are not defined");

	enc = head(1, RUNBLOCK_F_BODY);		/* without arguments */
	enc_u32(enc, 1);
	enc_str(enc, "a");
	enc_u32(enc, 0);
	ck_assert_ptr_null(decode(enc, &why));

	enc = head(1, RUNBLOCK_F_BODY);		/* with more than a name */
	enc_u32(enc, 2);
	enc_str(enc, "a");
	enc_str(enc, "b");
	enc_u32(enc, 0);
	enc_str(enc, "{}");
	ck_assert_ptr_null(decode(enc, &why));
	ck_assert_str_eq(why, "with more than a name");

	enc = head(1, 0);		/* no program */
	enc_u32(enc, 0);
	enc_u32(enc, 0);
	ck_assert_ptr_null(decode(enc, &why));

	enc = head(1, 0);		/* a program without a name */
	enc_u32(enc, 1);
	enc_str(enc, "");
	enc_u32(enc, 0);
	ck_assert_ptr_null(decode(enc, &why));

	enc = head(1, 0);		/* a count that nothing follows */
	enc_u32(enc, 4000);
	ck_assert_ptr_null(decode(enc, &why));

	enc = head(1, 0);		/* a NUL in an argument */
	enc_u32(enc, 1);
	enc_bytes(enc, "a\0b", 3);
	enc_u32(enc, 0);
	ck_assert_ptr_null(decode(enc, &why));

	enc = head(1, 0);		/* a byte too many */
	enc_u32(enc, 1);
	enc_str(enc, "a");
	enc_u32(enc, 0);
	enc_u8(enc, 0);
	ck_assert_ptr_null(decode(enc, &why));
}
END_TEST

static const struct {
	uint32_t	 flags;
	uint32_t	 size;		/* 0: none is there */
	int		 good;
} terminals[] = {
	{ RUNBLOCK_F_PTY, PTY_SIZE(24, 80), 1 },
	{ RUNBLOCK_F_PTY, PTY_SIZE(1, 4096), 1 },
	{ RUNBLOCK_F_PTY, PTY_SIZE(0, 80), 0 },
	{ RUNBLOCK_F_PTY, 24 << 16, 0 },
	{ RUNBLOCK_F_PTY, PTY_SIZE(4097, 80), 0 },
	{ RUNBLOCK_F_PTY, UINT32_MAX, 0 },
	{ RUNBLOCK_F_PTY, 0, 0 },
	{ 0, PTY_SIZE(24, 80), 0 }
};

START_TEST(test_decode_pty)
{
	struct enc *enc = head(1, terminals[_i].flags);
	struct runblock *rb;
	const char *why;

	enc_u32(enc, 1);
	enc_str(enc, "a");
	enc_u32(enc, 0);
	if (terminals[_i].size != 0)
		enc_u32(enc, terminals[_i].size);
	rb = decode(enc, &why);
	ck_assert_msg((rb != NULL) == terminals[_i].good, "%s",
	    why == NULL ? "decoded" : why);
	if (rb != NULL)
		ck_assert_uint_eq(rb->pty, terminals[_i].size);
	runblock_free(rb);
}
END_TEST

START_TEST(test_decode_env)
{
	static const char *const bad[] = { "A", "", "=x" };
	struct enc *enc;
	const char *why;
	size_t i;

	for (i = 0; i < 3; i++) {
		enc = head(1, 0);
		enc_u32(enc, 1);
		enc_str(enc, "a");
		enc_u32(enc, 1);
		enc_str(enc, bad[i]);
		ck_assert_ptr_null(decode(enc, &why));
		ck_assert_str_eq(why,
		    "with an environment entry that is not NAME=VALUE");
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("runblock");
	TCase *tc = tcase_create("runblock");

	tcase_add_test(tc, test_round_trip);
	tcase_add_test(tc, test_body);
	tcase_add_test(tc, test_hook);
	tcase_add_test(tc, test_encode_bounds);
	tcase_add_test(tc, test_decode_bad);
	tcase_add_test(tc, test_decode_env);
	tcase_add_loop_test(tc, test_decode_pty, 0,
	    sizeof(terminals) / sizeof(terminals[0]));
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
