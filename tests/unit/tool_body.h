/*
 * Runs a body of neuron-tool as the program would, in a process of its own
 * and under its filter, with a throwaway directory as home and working
 * directory.
 */
#ifndef MYELIN_TOOL_BODY_H
#define MYELIN_TOOL_BODY_H

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <check.h>

#include "filter.h"
#include "out.h"
#include "tool.h"

static char body_home[64];

struct outcome {
	int		 status;	/* of exit(2): 0 done, 1 refused */
	json_t		*result;
	char		*out;		/* standard output, a NUL behind */
	size_t		 outlen;
};

static inline void
body_setup(void)
{
	strcpy(body_home, "/tmp/check-tool-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(body_home));
	ck_assert_int_eq(chdir(body_home), 0);
}

static inline int
body_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return (remove(path));
}

static inline void
body_teardown(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	(void)nftw(body_home, body_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static inline char *
body_read_all(int fd, size_t *len)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = malloc((size_t)size + 1);

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(pread(fd, text, (size_t)size, 0), size);
	text[size] = '\0';
	*len = (size_t)size;
	close(fd);
	return (text);
}

static inline void
body_child(const struct body *body, json_t *args, int out, int err)
{
	struct tool t = { .body = body, .args = args };
	int r;

	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	t.root[0].path = body_home;
	t.root[0].len = strlen(body_home);
	t.root[0].fd = open(body_home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	t.nroots = 1;
	t.cwd = getcwd(NULL, 0);
	t.result = json_object();
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (tool_filter(body->flags) == -1)
		_exit(3);
	r = body->run(&t);
	if (r == 0)
		r = out_flush(&t);
	if (result_write(&t, STDERR_FILENO) == -1)
		_exit(2);
	_exit(r == 0 ? 0 : 1);
}

/* Runs it with arguments that are given as JSON; they are the rig's to free. */
static inline struct outcome
body_run_json(const struct body *body, json_t *args)
{
	struct outcome o;
	size_t len;
	char *text;
	int out, err, status;
	pid_t pid;

	ck_assert_ptr_nonnull(args);
	out = memfd_create("out", 0);
	err = memfd_create("err", 0);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0)
		body_child(body, args, out, err);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status), "signal %d", WTERMSIG(status));
	o.status = WEXITSTATUS(status);
	o.out = body_read_all(out, &o.outlen);
	text = body_read_all(err, &len);
	o.result = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
	ck_assert_msg(o.result != NULL, "status %d: %s", o.status, text);
	free(text);
	json_decref(args);
	return (o);
}

/* The same with json_pack(3)'s format. */
static inline struct outcome
body_run(const struct body *body, const char *fmt, ...)
{
	json_t *args;
	va_list ap;

	va_start(ap, fmt);
	args = json_vpack_ex(NULL, 0, fmt, ap);
	va_end(ap);
	return (body_run_json(body, args));
}

static inline void
outcome_free(struct outcome *o)
{
	json_decref(o->result);
	free(o->out);
}

static inline const char *
outcome_error(const struct outcome *o, const char *member)
{
	const char *s = json_string_value(json_object_get(
	    json_object_get(o->result, "error"), member));

	return (s == NULL ? "" : s);
}

static inline void
put_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
	close(fd);
}

#endif
