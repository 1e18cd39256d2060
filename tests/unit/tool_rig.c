/*
 * Runs the program neuron-tool as PID 1 of a neuron does.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "runblock.h"
#include "tool_rig.h"
#include "unit.h"

#define NOBODY	65534

struct rig rig;
static struct answer answer;

static void
make_dir(char *path, size_t size, const char *name)
{
	ck_assert_int_lt(snprintf(path, size, "%s/%s", rig.base, name),
	    (int)size);
	ck_assert_int_eq(mkdir(path, 0755), 0);
}

/* neurond/neuron-tool of the build that this test is of. */
static void
open_program(void)
{
	char path[4200];
	ssize_t n = readlink("/proc/self/exe", path, 4000);
	int i;

	ck_assert_int_gt(n, 0);
	path[n] = '\0';
	for (i = 0; i < 3; i++)
		*strrchr(path, '/') = '\0';
	strcat(path, "/neurond/neuron-tool");
	rig.program = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_msg(rig.program != -1, "%s: %s", path, strerror(errno));
}

/*
 * Root could read what it may not: the whole test is nobody from here on.  So
 * are the files, which are then removed by nobody as well.
 */
static void
be_nobody(void)
{
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(setgroups(0, NULL), 0);
	ck_assert_int_eq(setresgid(NOBODY, NOBODY, NOBODY), 0);
	ck_assert_int_eq(setresuid(NOBODY, NOBODY, NOBODY), 0);
}

void
rig_setup(void)
{
	memset(&rig, 0, sizeof(rig));
	open_program();
	be_nobody();
	(void)umask(022);
	strcpy(rig.base, "/tmp/myelin-tool-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig.base));
	make_dir(rig.home, sizeof(rig.home), "home");
	make_dir(rig.work, sizeof(rig.work), "work");
	make_dir(rig.outside, sizeof(rig.outside), "outside");
	ck_assert_int_eq(chdir(rig.work), 0);
}

static int
remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)ftw;
	(void)flag;
	if (S_ISDIR(st->st_mode))
		return (rmdir(path));
	return (unlink(path));
}

void
rig_teardown(void)
{
	ck_assert_int_eq(chdir("/tmp"), 0);
	(void)nftw(rig.base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	(void)close(rig.program);
	json_decref(answer.result);
	free(answer.out);
	memset(&answer, 0, sizeof(answer));
}

/* ---- running ---- */

static int
block(const char *body, const void *args, size_t n)
{
	struct enc *enc = enc_new(RUNBLOCK_BODY_MAX);
	int fd;

	enc_u16(enc, RUNBLOCK_VERSION);
	enc_u32(enc, RUNBLOCK_F_BODY);
	enc_str(enc, "");
	enc_u32(enc, 1);
	enc_str(enc, body);
	enc_u32(enc, 1);
	enc_str(enc, "LANG=C.UTF-8");
	enc_bytes(enc, args, n);
	ck_assert_int_eq(enc_error(enc), 0);
	fd = enc_memfd(enc, "run");
	ck_assert_int_ne(fd, -1);
	enc_free(enc);
	return (fd);
}

/* Some filesystems say EOPNOTSUPP to O_TMPFILE: as if this were one. */
static int
no_nameless_files(void)
{
#define LOW(i)	(offsetof(struct seccomp_data, args) + 8 * (i))
	struct sock_filter insn[] = {
		{ BPF_LD | BPF_W | BPF_ABS, 0, 0,
		    offsetof(struct seccomp_data, nr) },
		{ BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_openat },
		{ BPF_LD | BPF_W | BPF_ABS, 0, 0, LOW(2) },
		{ BPF_JMP | BPF_JSET | BPF_K, 0, 1, O_TMPFILE & ~O_DIRECTORY },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EOPNOTSUPP },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
	};
	struct sock_fprog prog = { sizeof(insn) / sizeof(insn[0]), insn };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return (-1);
	return ((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
	    &prog));
}

static _Noreturn void
child(const char *body, const struct how *how, const int *fds)
{
	char *argv[] = { (char *)(uintptr_t)"neuron-tool",
	    (char *)(uintptr_t)body, (char *)(uintptr_t)(how->home != NULL ?
	    how->home : rig.home), (char *)(uintptr_t)(how->work != NULL ?
	    how->work : rig.work), NULL };
	char *env[] = { NULL };
	struct rlimit limit = { rig.file_size, rig.file_size };
	struct rlimit files = { rig.files, rig.files };
	int keep, i, copies[4];

	keep = fcntl(rig.program, F_DUPFD_CLOEXEC, 100);
	for (i = 0; i < 4; i++)
		copies[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 100);
	for (i = 0; i < 4; i++)
		if (dup2(copies[i], i) == -1)
			_exit(99);
	if (rig.file_size != 0 && setrlimit(RLIMIT_FSIZE, &limit) == -1)
		_exit(99);
	if (rig.files != 0 && setrlimit(RLIMIT_NOFILE, &files) == -1)
		_exit(99);
	if (rig.named && no_nameless_files() == -1)
		_exit(99);
	if (how->cwd != NULL && chdir(how->cwd) == -1)
		_exit(98);
	alarm(RIG_SECONDS);
	fexecve(keep, argv, env);
	_exit(97);
}

static char *
take(int fd, size_t *n)
{
	struct stat st;
	char *text;

	ck_assert_int_eq(fstat(fd, &st), 0);
	*n = (size_t)st.st_size;
	ck_assert_ptr_nonnull(text = malloc(*n + 1));
	ck_assert_int_eq(pread(fd, text, *n, 0), (ssize_t)*n);
	text[*n] = '\0';
	close(fd);
	return (text);
}

struct answer *
rig_run_how(const char *body, const struct how *how)
{
	char *said;
	size_t n;
	pid_t pid;
	int fds[4], status;

	json_decref(answer.result);
	free(answer.out);
	memset(&answer, 0, sizeof(answer));
	fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (how->input != NULL) {
		close(fds[0]);
		fds[0] = memfd_sealed("in", how->input, how->ninput);
		ck_assert_int_eq(lseek(fds[0], 0, SEEK_SET), 0);
	}
	fds[1] = memfd_create("out", MFD_CLOEXEC);
	fds[2] = memfd_create("err", MFD_CLOEXEC);
	fds[3] = block(body, how->args, how->nargs);
	if ((pid = fork()) == 0)
		child(body, how, fds);
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	close(fds[0]);
	close(fds[3]);
	answer.out = take(fds[1], &answer.nout);
	said = take(fds[2], &n);
	answer.result = json_loadb(said, n, 0, NULL);
	ck_assert_msg(answer.status == 0 || answer.status == 1,
	    "%s: status %d: %s", body, status, said);
	ck_assert_msg(json_is_object(answer.result), "%s: %s", body, said);
	free(said);
	return (&answer);
}

struct answer *
rig_run(const char *body, const char *fmt, ...)
{
	struct how how = { .cwd = NULL };
	struct answer *a;
	json_error_t error;
	json_t *json;
	va_list ap;
	char *text;

	va_start(ap, fmt);
	json = json_vpack_ex(&error, 0, fmt, ap);
	va_end(ap);
	ck_assert_msg(json != NULL, "%s: %s", fmt, error.text);
	text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(json);
	how.args = text;
	how.nargs = strlen(text);
	a = rig_run_how(body, &how);
	free(text);
	return (a);
}

pid_t
rig_start(const char *body, const char *args, int *in)
{
	const struct how how = { .cwd = NULL };
	int fds[4], ends[2], null;
	pid_t pid;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	fds[0] = ends[0];
	fds[1] = fds[2] = null;
	fds[3] = block(body, args, strlen(args));
	if ((pid = fork()) == 0)
		child(body, &how, fds);
	ck_assert_int_gt(pid, 0);
	close(ends[0]);
	close(null);
	close(fds[3]);
	*in = ends[1];
	return (pid);
}

/* ---- looking at it ---- */

const char *
rig_code(const struct answer *a)
{
	const json_t *error = json_object_get(a->result, "error");
	const char *code;

	ck_assert_int_eq(a->status, error != NULL);
	if (error == NULL)
		return ("");
	code = json_string_value(json_object_get(error, "code"));
	ck_assert_ptr_nonnull(code);
	ck_assert_ptr_nonnull(json_string_value(json_object_get(error,
	    "message")));
	return (code);
}

const char *
rig_string(const struct answer *a, const char *member)
{
	const char *text = json_string_value(json_object_get(a->result,
	    member));

	ck_assert_msg(text != NULL, "no %s", member);
	return (text);
}

long long
rig_int(const struct answer *a, const char *member)
{
	json_t *json = json_object_get(a->result, member);

	ck_assert_msg(json_is_integer(json), "no %s", member);
	return (json_integer_value(json));
}

int
rig_true(const struct answer *a, const char *member)
{
	json_t *json = json_object_get(a->result, member);

	ck_assert_msg(json_is_boolean(json), "no %s", member);
	return (json_is_true(json));
}

void
rig_put(const char *path, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_msg(fd != -1, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
	close(fd);
}

void
rig_put_text(const char *path, const char *text)
{
	rig_put(path, text, strlen(text));
}

int
rig_holds(const char *path, const void *bytes, size_t n)
{
	char *text;
	size_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC), same;

	if (fd == -1)
		return (0);
	text = take(fd, &got);
	same = got == n && memcmp(text, bytes, n) == 0;
	free(text);
	return (same);
}

int
rig_holds_text(const char *path, const char *text)
{
	return (rig_holds(path, text, strlen(text)));
}

size_t
rig_entries(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return (n - 2);
}
