/*
 * read, write, ls and the archives: every byte comes back, a write is whole or
 * not at all, and what is said about a file is true.
 */
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tool_rig.h"
#include "unit.h"

#define MIB	(1024 * 1024)

static const char *
code_of(struct answer *a)
{
	return (rig_code(a));
}

static void
assert_ok(const struct answer *a)
{
	ck_assert_str_eq(rig_code(a), "");
}

static const char *
digest_of(const void *bytes, size_t n)
{
	static char text[65];
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, bytes, n);
	SHA256End(&ctx, text);
	return (text);
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return (st.st_mode & 07777);
}

/* ---- read ---- */

static const struct {
	const char	*text;
	int		 offset, limit;
	const char	*out;
	int		 lines, total, next;	/* next 0: no more */
	const char	*eol;
} lines[] = {
	{ "", 1, 10, "", 0, 0, 0, "none" },
	{ "a", 1, 10, "a", 1, 1, 0, "none" },
	{ "a\n", 1, 10, "a\n", 1, 1, 0, "lf" },
	{ "a\nb\nc\n", 1, 2, "a\nb\n", 2, 3, 3, "lf" },
	{ "a\nb\nc\n", 3, 2, "c\n", 1, 3, 0, "lf" },
	{ "a\nb\nc", 3, 1, "c", 1, 3, 0, "lf" },
	{ "a\nb\nc", 2, 1, "b\n", 1, 3, 3, "lf" },
	{ "a\nb\nc", 4, 1, "", 0, 3, 0, "lf" },
	{ "a\nb\nc", 99999, 1, "", 0, 3, 0, "lf" },
	{ "\n\n\n", 2, 1, "\n", 1, 3, 3, "lf" },
	{ "a\r\nb\r\n", 1, 1, "a\r\n", 1, 2, 2, "crlf" },
	{ "a\r\nb\n", 1, 9, "a\r\nb\n", 2, 2, 0, "mixed" },
	{ "a\rb\r", 1, 9, "a\rb\r", 1, 1, 0, "none" },
	{ "\xef\xbb\xbf" "a\nb\n", 1, 1, "a\n", 1, 2, 2, "lf" },
	{ "\xef\xbb\xbf" "a\nb\n", 2, 1, "b\n", 1, 2, 0, "lf" },
	{ "\xef\xbb\xbf", 1, 1, "", 1, 1, 0, "none" },
	{ "\xf0\x9f\x90\x9a\xc3\xa9\n", 1, 9, "\xf0\x9f\x90\x9a\xc3\xa9\n", 1,
	    1, 0, "lf" },
};

START_TEST(read_lines)
{
	const char *text = lines[_i].text;
	struct answer *a;

	rig_put_text("f", text);
	a = rig_run("read", "{sssisi}", "path", "f", "offset",
	    lines[_i].offset, "limit", lines[_i].limit);
	assert_ok(a);
	ck_assert_str_eq(a->out, lines[_i].out);
	ck_assert_str_eq(rig_string(a, "kind"), "text");
	ck_assert_int_eq(rig_int(a, "lines"), lines[_i].lines);
	ck_assert_int_eq(rig_int(a, "total_lines"), lines[_i].total);
	ck_assert_int_eq(rig_int(a, "first_line"), lines[_i].offset);
	ck_assert_int_eq(rig_int(a, "bytes"), (long long)a->nout);
	ck_assert_int_eq(rig_int(a, "size"), (long long)strlen(text));
	ck_assert_int_eq(rig_true(a, "more"), lines[_i].next != 0);
	ck_assert_int_eq(rig_true(a, "bom"), strncmp(text, "\xef", 1) == 0);
	ck_assert_str_eq(rig_string(a, "eol"), lines[_i].eol);
	ck_assert_str_eq(rig_string(a, "sha256"), digest_of(text,
	    strlen(text)));
	ck_assert_str_eq(rig_string(a, "media_type"), "text/plain");
	if (lines[_i].next != 0)
		ck_assert_int_eq(rig_int(a, "next_offset"), lines[_i].next);
	else
		ck_assert_ptr_null(json_object_get(a->result, "next_offset"));
}
END_TEST

START_TEST(read_numbers)
{
	struct answer *a;

	rig_put_text("f", "a\n\nb");
	a = rig_run("read", "{sssbsi}", "path", "f", "numbers", 1, "offset",
	    2);
	assert_ok(a);
	ck_assert_str_eq(a->out, "2\t\n3\tb");
	ck_assert_int_eq(rig_int(a, "bytes"), 2);
}
END_TEST

/* Read page by page, a file of many sizes comes back as it is. */
START_TEST(read_pages)
{
	static const size_t sizes[] = { 100, 70000, 3 * MIB, 66 * MIB };
	size_t size = sizes[_i], i, at = 0;
	long long next = 1;
	char *text = malloc(size);
	struct answer *a;

	ck_assert_ptr_nonnull(text);
	for (i = 0; i < size; i++)
		text[i] = (i * 7919) % 97 == 0 ? '\n' : (char)('a' + i % 26);
	rig_put("f", text, size);
	for (;;) {
		a = rig_run("read", "{sssIsi}", "path", "f", "offset",
		    (json_int_t)next, "limit", 200000);
		assert_ok(a);
		ck_assert_str_eq(rig_string(a, "kind"), "text");
		ck_assert_uint_le(a->nout, 2 * MIB);
		ck_assert_uint_le(at + a->nout, size);
		ck_assert(memcmp(text + at, a->out, a->nout) == 0);
		ck_assert_int_eq(json_object_get(a->result, "sha256") != NULL,
		    size <= 64 * MIB);
		at += a->nout;
		if (!rig_true(a, "more"))
			break;
		next = rig_int(a, "next_offset");
		if (at > 6 * MIB)
			at = size;	/* enough of the largest */
		if (at == size)
			break;
	}
	ck_assert_uint_eq(at, size);
	free(text);
}
END_TEST

START_TEST(read_long_line)
{
	size_t size = 5 * MIB, n;
	char *text = malloc(size);
	struct answer *a;
	long long next;

	ck_assert_ptr_nonnull(text);
	for (n = 0; n + 2 <= size; n += 2)
		memcpy(text + n, "\xc3\xa9", 2);
	memcpy(text, "x", 1);
	text[1] = 'y';
	text[2] = 'z';		/* characters begin at odd offsets */
	for (n = 3; n + 2 <= size; n += 2)
		memcpy(text + n, "\xc3\xa9", 2);
	text[size - 1] = '\n';
	rig_put("f", text, size);
	a = rig_run("read", "{ss}", "path", "f");
	assert_ok(a);
	ck_assert_int_eq(rig_true(a, "more"), 1);
	next = rig_int(a, "next_byte_offset");
	ck_assert_int_eq(next, (long long)a->nout);
	ck_assert_int_eq(next, 2 * MIB - 1);
	ck_assert(memcmp(a->out, text, a->nout) == 0);
	a = rig_run("read", "{sssI}", "path", "f", "byte_offset",
	    (json_int_t)next);
	ck_assert(a->nout == size - (size_t)next &&
	    memcmp(a->out, text + next, a->nout) == 0);
	free(text);
}
END_TEST

START_TEST(read_ranges)
{
	static const struct { int from, n; size_t got; int more; } rows[] = {
		{ 0, 1, 1, 1 }, { 0, 256, 256, 0 }, { 0, 999, 256, 0 },
		{ 255, 1, 1, 0 }, { 256, 1, 0, 0 }, { 9999, 5, 0, 0 },
		{ 10, 100, 100, 1 },
	};
	unsigned char bytes[256];
	struct answer *a;
	size_t i;

	for (i = 0; i < 256; i++)
		bytes[i] = (unsigned char)i;
	rig_put("f", bytes, 256);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		a = rig_run("read", "{sssisi}", "path", "f", "byte_offset",
		    rows[i].from, "byte_limit", rows[i].n);
		assert_ok(a);
		ck_assert_uint_eq(a->nout, rows[i].got);
		ck_assert(memcmp(a->out, bytes + (rows[i].got == 0 ? 0 :
		    rows[i].from), a->nout) == 0);
		ck_assert_int_eq(rig_true(a, "more"), rows[i].more);
		ck_assert_str_eq(rig_string(a, "kind"), "range");
		if (rows[i].more)
			ck_assert_int_eq(rig_int(a, "next_byte_offset"),
			    rows[i].from + rows[i].n);
	}
	a = rig_run("read", "{sssisi}", "path", "f", "byte_offset", 1,
	    "offset", 1);
	ck_assert_str_eq(code_of(a), "bad_argument");
	a = rig_run("read", "{sssb}", "path", "f", "tar", 1);
	ck_assert_str_eq(code_of(a), "not_a_directory");
}
END_TEST

static const struct {
	const char	*bytes;
	size_t		 n;
	const char	*kind, *type;
} kinds[] = {
#define K(bytes, kind, type)	{ bytes, sizeof(bytes) - 1, kind, type }
	K("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary", "image/png"),
	K("\xff\xd8\xff\xe0\0\x10JFIF", "binary", "image/jpeg"),
	K("GIF89a\x01\0\x01\0\x80", "binary", "image/gif"),
	K("RIFF\x10\0\0\0WEBPVP8 ", "binary", "image/webp"),
	K("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "binary", "application/pdf"),
	K("PK\3\4\x14\0\0\0", "binary", "application/zip"),
	K("\x1f\x8b\x08\0\0\0\0\0", "binary", "application/gzip"),
	K("\x7f" "ELF\2\1\1\0", "binary", "application/x-elf"),
	K("SQLite format 3\0\x10\0", "binary", "application/vnd.sqlite3"),
	K("a\0b", "binary", "application/octet-stream"),
	K("\xff\xfe" "a", "binary", "application/octet-stream"),
	K("\xc3", "binary", "application/octet-stream"),
	K("\xc0\x80", "binary", "application/octet-stream"),
	K("\xed\xa0\x80", "binary", "application/octet-stream"),
	K("\xf4\x90\x80\x80", "binary", "application/octet-stream"),
	K("\xf0\x90\x80", "binary", "application/octet-stream"),
	K("BZh is text here", "text", "text/plain"),
	K("%PDF-1.4\n", "text", "application/pdf"),
	K("\xe2\x82\xac\n", "text", "text/plain"),
	K("\x1b[31mred\x1b[0m\n", "text", "text/plain"),
};

START_TEST(read_kinds)
{
	struct answer *a;

	rig_put("f", kinds[_i].bytes, kinds[_i].n);
	a = rig_run("read", "{ss}", "path", "f");
	assert_ok(a);
	ck_assert_str_eq(rig_string(a, "kind"), kinds[_i].kind);
	ck_assert_str_eq(rig_string(a, "media_type"), kinds[_i].type);
	ck_assert_uint_eq(a->nout, kinds[_i].n);
	ck_assert(memcmp(a->out, kinds[_i].bytes, a->nout) == 0);
	a = rig_run("read", "{sssi}", "path", "f", "offset", 2);
	ck_assert_str_eq(code_of(a), strcmp(kinds[_i].kind, "binary") == 0 ?
	    "not_text" : "");
}
END_TEST

START_TEST(read_large_binary)
{
	size_t size = 3 * MIB;
	char *bytes = calloc(1, size);
	struct answer *a;

	bytes[size - 1] = 1;
	rig_put("f", bytes, size);
	a = rig_run("read", "{ss}", "path", "f");
	assert_ok(a);
	ck_assert_str_eq(rig_string(a, "kind"), "binary");
	ck_assert_uint_eq(a->nout, 2 * MIB);
	ck_assert_int_eq(rig_int(a, "next_byte_offset"), 2 * MIB);
	ck_assert_str_eq(rig_string(a, "sha256"), digest_of(bytes, size));
	free(bytes);
}
END_TEST

/* ---- write ---- */

START_TEST(write_exactly)
{
	static const size_t sizes[] = { 0, 1, 18432, 19456, MIB, 12 * MIB };
	size_t size = sizes[_i], i;
	unsigned char *bytes = malloc(size + 1);
	struct how how = { .args = "{\"path\":\"f\"}", .nargs = 12 };
	struct answer *a;

	ck_assert_ptr_nonnull(bytes);
	for (i = 0; i < size; i++)
		bytes[i] = (unsigned char)(i * 2654435761u >> 13);
	how.input = bytes;
	how.ninput = size;
	a = rig_run_how("write", &how);
	assert_ok(a);
	ck_assert_int_eq(rig_int(a, "bytes"), (long long)size);
	ck_assert_str_eq(rig_string(a, "sha256"), digest_of(bytes, size));
	ck_assert_int_eq(rig_true(a, "created"), 1);
	ck_assert(rig_holds("f", bytes, size));
	/* The same as text in the arguments. */
	for (i = 0; i < size; i++)
		bytes[i] = (unsigned char)("ab\n\t\"\\\x7f"[i % 7]);
	a = rig_run("write", "{ssss#}", "path", "f", "content", bytes,
	    (int)size);
	assert_ok(a);
	ck_assert_int_eq(rig_true(a, "created"), 0);
	ck_assert(rig_holds("f", bytes, size));
	ck_assert_str_eq(rig_string(a, "sha256"), digest_of(bytes, size));
	free(bytes);
}
END_TEST

START_TEST(write_content)
{
	struct answer *a;

	a = rig_run("write", "{ssss#}", "path", "f", "content", "a\0b", 3);
	assert_ok(a);
	ck_assert(rig_holds("f", "a\0b", 3));
	a = rig_run("write", "{ssss}", "path", "f", "content_base64",
	    "/wD+gA==");
	assert_ok(a);
	ck_assert(rig_holds("f", "\xff\0\xfe\x80", 4));
	a = rig_run("write", "{ssss}", "path", "f", "content_base64", "/wD");
	ck_assert_str_eq(code_of(a), "bad_argument");
	a = rig_run("write", "{ssss}", "path", "f", "content_base64", "/wE=");
	assert_ok(a);
	a = rig_run("write", "{ssss}", "path", "f", "content_base64", "/wF=");
	ck_assert_str_eq(code_of(a), "bad_argument");
	a = rig_run("write", "{ssssss}", "path", "f", "content_base64", "",
	    "content", "x");
	ck_assert_str_eq(code_of(a), "bad_argument");
	ck_assert(rig_holds("f", "\xff\x01", 2));
}
END_TEST

START_TEST(write_keeps_the_mode)
{
	struct answer *a;

	a = rig_run("write", "{ssss}", "path", "f", "content", "x");
	ck_assert_uint_eq(mode_of("f"), 0644);
	ck_assert_str_eq(rig_string(a, "mode"), "0644");
	ck_assert_int_eq(chmod("f", 0751), 0);
	a = rig_run("write", "{ssss}", "path", "f", "content", "y");
	assert_ok(a);
	ck_assert_uint_eq(mode_of("f"), 0751);
	ck_assert_str_eq(rig_string(a, "mode"), "0751");
	ck_assert_int_eq(chmod("f", 04755), 0);
	a = rig_run("write", "{ssss}", "path", "f", "content", "y");
	assert_ok(a);
	ck_assert_uint_eq(mode_of("f"), 0755);
	/* Nobody's directory would let it be replaced: asked all the same. */
	ck_assert_int_eq(chmod("f", 0444), 0);
	a = rig_run("write", "{ssss}", "path", "f", "content", "z");
	ck_assert_str_eq(code_of(a), "permission");
	ck_assert(rig_holds_text("f", "y"));
}
END_TEST

START_TEST(write_expect)
{
	static const char *other = "0123456789abcdef0123456789abcdef"
	    "0123456789abcdef0123456789abcdef";
	char upper[65];
	struct answer *a;
	int i;

#define WRITE(text, expect)	rig_run("write", "{ssssss}", "path", "f", \
	"content", text, "expect", expect)
	ck_assert_str_eq(code_of(WRITE("a", other)), "changed");
	ck_assert_int_eq(access("f", F_OK), -1);
	assert_ok(WRITE("a", "absent"));
	ck_assert_str_eq(code_of(WRITE("b", "absent")), "exists");
	ck_assert_str_eq(code_of(WRITE("b", other)), "changed");
	ck_assert_str_eq(code_of(WRITE("b", "abc")), "bad_argument");
	ck_assert(rig_holds_text("f", "a"));
	assert_ok(WRITE("b", digest_of("a", 1)));
	ck_assert(rig_holds_text("f", "b"));
	strcpy(upper, digest_of("b", 1));
	for (i = 0; i < 64; i++)
		if (upper[i] >= 'a')
			upper[i] = (char)(upper[i] - 'a' + 'A');
	assert_ok(WRITE("c", upper));
	a = WRITE("d", other);
	ck_assert_str_eq(json_string_value(json_object_get(json_object_get(
	    a->result, "error"), "sha256")), digest_of("c", 1));
	ck_assert_uint_eq(rig_entries("."), 1);
#undef WRITE
}
END_TEST

/* Of many that expect the same content one gets through. */
START_TEST(write_expect_at_once)
{
	char args[200];
	int in[16], i, status, done = 0;
	pid_t pid[16];

	for (i = 0; i < 16; i++) {
		snprintf(args, sizeof(args), "{\"content\":\"%d\",\"expect\":"
		    "\"%s\",\"path\":\"f\"}", i, digest_of("", 0));
		if (i == 0)
			rig_put("f", "", 0);
		pid[i] = rig_start("write", args, &in[i]);
	}
	for (i = 0; i < 16; i++) {
		close(in[i]);
		ck_assert_int_eq(waitpid(pid[i], &status, 0), pid[i]);
		ck_assert(WIFEXITED(status));
		done += WEXITSTATUS(status) == 0;
	}
	ck_assert_int_eq(done, 1);
}
END_TEST

START_TEST(write_parents)
{
	struct answer *a;

	a = rig_run("write", "{ssss}", "path", "a/b/f", "content", "x");
	ck_assert_str_eq(code_of(a), "not_found");
	a = rig_run("write", "{sssssb}", "path", "a/b/f", "content", "x",
	    "parents", 1);
	assert_ok(a);
	ck_assert(rig_holds_text("a/b/f", "x"));
	a = rig_run("write", "{sssssb}", "path", "a/b/f/g", "content", "x",
	    "parents", 1);
	ck_assert_str_eq(code_of(a), "not_a_directory");
	/* What was made for nothing goes again. */
	a = rig_run("write", "{sssssbss}", "path", "n/e/w/f", "content", "x",
	    "parents", 1, "expect", digest_of("", 0));
	ck_assert_str_eq(code_of(a), "changed");
	ck_assert_int_eq(access("n", F_OK), -1);
}
END_TEST

/* No room: RLIMIT_FSIZE stands for the disk. */
START_TEST(write_no_room)
{
	char *big = malloc(300000);
	struct answer *a;
	struct how how = { .args = "{\"path\":\"f\"}", .nargs = 12,
	    .input = big, .ninput = 300000 };

	memset(big, 'x', 300000);
	rig_put_text("f", "old");
	rig.file_size = 100000;
	a = rig_run_how("write", &how);
	ck_assert_str_eq(code_of(a), "too_large");
	how.args = "{\"path\":\"new/g\",\"parents\":true}";
	how.nargs = strlen(how.args);
	a = rig_run_how("write", &how);
	ck_assert_str_eq(code_of(a), "too_large");
	rig.file_size = 0;
	ck_assert(rig_holds_text("f", "old"));
	ck_assert_uint_eq(rig_entries("."), 1);
	free(big);
}
END_TEST

/* Killed in the middle, it leaves the old file and nothing else. */
START_TEST(write_killed)
{
	char *block = calloc(1, 200000);
	pid_t pid;
	int in, status;

	rig_put_text("f", "old");
	pid = rig_start("write", "{\"path\":\"f\"}", &in);
	ck_assert_int_eq(write(in, block, 200000), 200000);
	/* It took the first blocks: the pipe holds less than was written. */
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	close(in);
	ck_assert(WIFSIGNALED(status));
	ck_assert(rig_holds_text("f", "old"));
	ck_assert_uint_eq(rig_entries("."), 1);
	free(block);
}
END_TEST

/* A reader sees one content or the other, never a part. */
START_TEST(write_is_atomic)
{
	char *text = malloc(100001), *seen = malloc(100001);
	int i, fd, in, status;
	ssize_t n;
	pid_t pid;

	memset(text, 'a', 100000);
	text[100000] = '\0';
	rig_put("f", text, 100000);
	for (i = 0; i < 40; i++) {
		pid = rig_start("write", "{\"path\":\"f\"}", &in);
		memset(text, 'a' + i % 2, 100000);
		ck_assert_int_eq(write(in, text, 100000), 100000);
		close(in);
		do {
			fd = open("f", O_RDONLY | O_CLOEXEC);
			ck_assert_int_ne(fd, -1);
			n = read(fd, seen, 100000);
			close(fd);
			ck_assert_int_eq(n, 100000);
			ck_assert(seen[0] == seen[99999]);
		} while (waitpid(pid, &status, WNOHANG) == 0);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_uint_eq(rig_entries("."), 1);
	free(text);
	free(seen);
}
END_TEST

/* Where no file can be without a name, the temporary one goes all the same. */
START_TEST(write_with_a_name)
{
	char *big = calloc(1, 300000);
	struct how how = { .args = "{\"path\":\"f\"}", .nargs = 12,
	    .input = big, .ninput = 300000 };
	struct answer *a;

	rig.named = 1;
	assert_ok(rig_run("write", "{ssss}", "path", "f", "content", "a"));
	assert_ok(rig_run("write", "{ssss}", "path", "f", "content", "b"));
	a = rig_run("write", "{ssssss}", "path", "f", "content", "c",
	    "expect", "absent");
	ck_assert_str_eq(code_of(a), "exists");
	rig.file_size = 100000;
	a = rig_run_how("write", &how);
	ck_assert_str_eq(code_of(a), "too_large");
	ck_assert(rig_holds_text("f", "b"));
	ck_assert_uint_eq(rig_entries("."), 1);
	ck_assert_uint_eq(mode_of("f"), 0644);
	free(big);
}
END_TEST

START_TEST(write_locked)
{
	struct answer *a;
	int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	rig_put_text("f", "old");
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	a = rig_run("write", "{ssss}", "path", "f", "content", "x");
	ck_assert_str_eq(code_of(a), "busy");
	ck_assert(rig_holds_text("f", "old"));
	close(fd);
	assert_ok(rig_run("write", "{ssss}", "path", "f", "content", "x"));
}
END_TEST

/* One whose input comes slowly is in nobody's way. */
START_TEST(write_slow_input)
{
	int in, status;
	pid_t pid;

	pid = rig_start("write", "{\"path\":\"slow\"}", &in);
	ck_assert_int_eq(write(in, "a", 1), 1);
	/* it would be "busy", or wait for what comes later */
	assert_ok(rig_run("write", "{ssss}", "path", "f", "content", "x"));
	ck_assert_uint_eq(rig_entries("."), 1);
	ck_assert_int_eq(write(in, "b", 1), 1);
	close(in);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert(rig_holds_text("slow", "ab"));
}
END_TEST

START_TEST(write_permission)
{
	struct answer *a;

	ck_assert_int_eq(mkdir("d", 0755), 0);
	rig_put_text("d/f", "old");
	ck_assert_int_eq(chmod("d", 0555), 0);
	a = rig_run("write", "{ssss}", "path", "d/f", "content", "x");
	ck_assert_str_eq(code_of(a), "permission");
	a = rig_run("write", "{sssssb}", "path", "d/e/f", "content", "x",
	    "parents", 1);
	ck_assert_str_eq(code_of(a), "permission");
	ck_assert_int_eq(chmod("d", 0), 0);
	a = rig_run("read", "{ss}", "path", "d/f");
	ck_assert_str_eq(code_of(a), "permission");
	a = rig_run("ls", "{ss}", "path", "d");
	ck_assert_str_eq(code_of(a), "permission");
	ck_assert_int_eq(chmod("d", 0755), 0);
	ck_assert(rig_holds_text("d/f", "old"));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("neuron-tool, read and write");
	TCase *tc = tcase_create("files");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_loop_test(tc, read_lines, 0,
	    (int)(sizeof(lines) / sizeof(lines[0])));
	tcase_add_test(tc, read_numbers);
	tcase_add_loop_test(tc, read_pages, 0, 4);
	tcase_add_test(tc, read_long_line);
	tcase_add_test(tc, read_ranges);
	tcase_add_loop_test(tc, read_kinds, 0,
	    (int)(sizeof(kinds) / sizeof(kinds[0])));
	tcase_add_test(tc, read_large_binary);
	tcase_add_loop_test(tc, write_exactly, 0, 6);
	tcase_add_test(tc, write_content);
	tcase_add_test(tc, write_keeps_the_mode);
	tcase_add_test(tc, write_expect);
	tcase_add_test(tc, write_expect_at_once);
	tcase_add_test(tc, write_parents);
	tcase_add_test(tc, write_no_room);
	tcase_add_test(tc, write_killed);
	tcase_add_test(tc, write_is_atomic);
	tcase_add_test(tc, write_with_a_name);
	tcase_add_test(tc, write_locked);
	tcase_add_test(tc, write_slow_input);
	tcase_add_test(tc, write_permission);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
