/*
 * Archives: what tar(1) makes is read, and what could harm is refused.
 */
#include <sys/stat.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include "unpack.h"

static char top[] = "/tmp/check_tar.XXXXXX";

static void
setup(void)
{
	strcpy(top, "/tmp/check_tar.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	ck_assert_int_eq(chdir(top), 0);
	/* so that what is beside it is ours as well */
	ck_assert_int_eq(mkdir("here", 0755), 0);
	ck_assert_int_eq(chdir("here"), 0);
}

static void
teardown(void)
{
	char command[64];

	ck_assert_int_eq(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	ck_assert_int_eq(system(command), 0);
}

/* Unpacks what a command writes into "out".  0, or -1 and why. */
static int
unpack(const char *command, size_t piece, const char **why)
{
	static struct unpack u;
	static uint8_t bytes[65536];
	FILE *f;
	size_t n;
	int r = 0;

	ck_assert_ptr_nonnull(f = popen(command, "r"));
	ck_assert_int_eq(unpack_open(&u, "out"), 0);
	while (r == 0 && (n = fread(bytes, 1, piece, f)) > 0)
		r = unpack_feed(&u, bytes, n);
	if (r == 0)
		r = unpack_end(&u);
	unpack_close(&u);
	*why = u.tar.why != NULL ? u.tar.why : strerror(u.error);
	(void)pclose(f);
	return (r);
}

#define TREE "mkdir -p in/a/b in/empty; printf 1 >in/a/1; : >in/none; "	\
	"seq 9999 >in/a/b/many; chmod 755 in/a/1; "			\
	"n=$(printf '%0200d' 7); mkdir in/$n; echo x >in/$n/$n; "

START_TEST(test_whole)
{
	static const size_t pieces[] = { 1, 37, 512, 65536 };
	const char *why;

	ck_assert_int_eq(system(TREE), 0);
	ck_assert_msg(unpack("tar -C in --format=pax -c .", pieces[_i],
	    &why) == 0, "%s", why);
	ck_assert_int_eq(system("diff -r in out && test -x out/a/1 && "
	    "test -d out/empty"), 0);
	ck_assert_int_eq(system("rm -r out"), 0);
	ck_assert_msg(unpack("tar -C in/a --format=ustar -c .", pieces[_i],
	    &why) == 0, "%s", why);
	ck_assert_int_eq(system("diff -r in/a out"), 0);
}
END_TEST

struct refused {
	const char	*command;
	const char	*want;
};

static const struct refused refused[] = {
	{ "ln -s /etc l; tar --format=pax -c l",
	    "something that is neither a file nor a directory" },
	{ "echo x >f; ln f g; tar --format=pax -c f g",
	    "something that is neither a file nor a directory" },
	{ "mkfifo p; tar --format=pax -c p",
	    "something that is neither a file nor a directory" },
	{ "echo x >f; tar --format=pax -P --transform s,f,/f, -c f",
	    "a name that leads out of the directory" },
	{ "echo x >f; tar --format=pax -P --transform s,f,../f, -c f",
	    "a name that leads out of the directory" },
	{ "echo x >f; tar --format=pax -P --transform s,f,a/../../f, -c f",
	    "a name that leads out of the directory" },
	{ "echo x >f; tar --format=gnu -c f", "a header that is none" },
	{ "echo x >f; tar --format=pax -c f | head -c 700",
	    "an end in the middle" },
	{ "echo x >f; tar --format=pax -c f | head -c 1024",
	    "an end in the middle" },
	{ "echo x >f; tar --format=pax --hard-dereference -c f f", "File exists" },
	{ "head -c 2048 /dev/urandom", "a header that is none" },
	{ ":", "an end in the middle" },
};

START_TEST(test_refused)
{
	const char *why;

	ck_assert_int_eq(unpack(refused[_i].command, 65536, &why), -1);
	ck_assert_str_eq(why, refused[_i].want);
	/* Nothing was made beside the directory. */
	ck_assert_int_eq(access("../f", F_OK), -1);
}
END_TEST

START_TEST(test_there_already)
{
	static struct unpack u;

	ck_assert_int_eq(mkdir("out", 0777), 0);
	ck_assert_int_eq(unpack_open(&u, "out"), -1);
	ck_assert_int_eq(errno, EEXIST);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("tar");
	TCase *tc = tcase_create("tar");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_whole, 0, 4);
	tcase_add_loop_test(tc, test_refused, 0,
	    sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tc, test_there_already);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
