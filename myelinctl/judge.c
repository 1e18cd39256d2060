/*
 * "judge": what the judge would say of a command, asked of no service.
 *
 * judged's own program reads the text, as whoever asks, behind its filter:
 * the parser of untrusted text is not linked into this one.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "words.h"

#define ANSWER_MAX	(64 * 1024 * 1024)

/* ---- the other process ---- */

static void
child_argv(const struct options *o, int explain, char *cwd, char **argv)
{
	size_t n = 0;

	argv[n++] = (char *)(uintptr_t)"judged";
	argv[n++] = (char *)(uintptr_t)"-j";
	if (explain)
		argv[n++] = (char *)(uintptr_t)"-e";
	if (o->workspace != NULL) {
		argv[n++] = (char *)(uintptr_t)"-w";
		argv[n++] = (char *)(uintptr_t)o->workspace;
	}
	if (cwd != NULL) {
		argv[n++] = (char *)(uintptr_t)"-d";
		argv[n++] = cwd;
	}
	argv[n] = NULL;
}

/* 0, or the error, also of what could not be executed. */
static int
start(const char *path, char **argv, int in, int out, pid_t *pid)
{
	posix_spawn_file_actions_t acts;
	int error;

	if ((error = posix_spawn_file_actions_init(&acts)) != 0)
		return (error);
	if ((error = posix_spawn_file_actions_adddup2(&acts, in,
	    STDIN_FILENO)) == 0 &&
	    (error = posix_spawn_file_actions_adddup2(&acts, out,
	    STDOUT_FILENO)) == 0)
		error = posix_spawn(pid, path, &acts, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&acts);
	return (error);
}

static void
complain_start(const struct options *o, const char *path, int error)
{
	complain("%s can not be run: %s", path, strerror(error));
	if (o->library != NULL)
		advise("-L names the directory that holds judged");
	else
		advise("is Myelin installed? -L names the directory that "
		    "holds judged");
}

static void
complain_end(const char *path, int status)
{
	if (WIFSIGNALED(status))
		complain("%s was killed by SIG%s before it answered", path,
		    sigabbrev_np(WTERMSIG(status)) == NULL ? "?" :
		    sigabbrev_np(WTERMSIG(status)));
	else
		complain("%s ended with status %d without an answer", path,
		    WEXITSTATUS(status));
}

/* An answer's bytes up to the end of the file; NULL when there is no room. */
static char *
read_answer(int fd, size_t *size)
{
	size_t room = 64 * 1024;
	char *buf = malloc(room), *more;
	ssize_t n;

	*size = 0;
	while (buf != NULL) {
		n = read(fd, buf + *size, room - *size);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		*size += (size_t)n;
		if (*size < room)
			continue;
		if (room >= ANSWER_MAX || (more = realloc(buf, room * 2)) ==
		    NULL) {
			free(buf);
			return (NULL);
		}
		buf = more;
		room *= 2;
	}
	return (buf);
}

/* The text goes into a file first, so that neither waits for the other. */
static int
text_file(const char *text)
{
	size_t len = strlen(text), done = 0;
	ssize_t n;
	int fd;

	if (strcmp(text, "-") == 0)
		return (fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
	if ((fd = memfd_create("text", MFD_CLOEXEC)) == -1)
		return (-1);
	while (done < len) {
		n = write(fd, text + done, len - done);
		if (n == -1) {
			close(fd);
			return (-1);
		}
		done += (size_t)n;
	}
	if (lseek(fd, 0, SEEK_SET) == -1) {
		close(fd);
		return (-1);
	}
	return (fd);
}

static json_t *
ask(const struct options *o, const char *path, char **argv, const char *text)
{
	int in = -1, fds[2] = { -1, -1 }, status = 0, error;
	json_t *answer = NULL;
	char *bytes = NULL;
	size_t size = 0;
	pid_t pid;

	if ((in = text_file(text)) == -1 || pipe2(fds, O_CLOEXEC) == -1) {
		complain("%s", strerror(errno));
		goto out;
	}
	if ((error = start(path, argv, in, fds[1], &pid)) != 0) {
		complain_start(o, path, error);
		goto out;
	}
	close(fds[1]);
	fds[1] = -1;
	bytes = read_answer(fds[0], &size);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		complain_end(path, status);
	else if (bytes == NULL)
		complain("judged's answer is too long");
	else if ((answer = json_loadb(bytes, size, JSON_REJECT_DUPLICATES,
	    NULL)) == NULL)
		complain("judged's answer is no JSON");
out:
	free(bytes);
	if (in != -1)
		close(in);
	if (fds[0] != -1)
		close(fds[0]);
	if (fds[1] != -1)
		close(fds[1]);
	return (answer);
}

/* ---- for a person ---- */

static const char *
text_of(const json_t *j, const char *name)
{
	const char *s = json_string_value(json_object_get(j, name));

	return (s == NULL ? "" : s);
}

static void
print_words(const json_t *command)
{
	const json_t *w;
	const char *text;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)command, i, w) {
		text = json_string_value(json_object_get(w, "text"));
		if (i > 0)
			putchar(' ');
		words_put(stdout, text == NULL ? "" : text, text == NULL ? 0 :
		    strlen(text));
		if (json_is_true(json_object_get(w, "unknown")))
			fputs("[...]", stdout);
	}
}

static void
print_finding(const json_t *f, const char *before)
{
	const json_t *bytes = json_object_get(f, "bytes");

	printf("%s%s %s: ", before, text_of(f, "verdict"),
	    text_of(f, "class"));
	words_put(stdout, text_of(f, "rule"), strlen(text_of(f, "rule")));
	printf("\n%s  bytes %lld to %lld: ", before,
	    (long long)json_integer_value(json_array_get(bytes, 0)),
	    (long long)json_integer_value(json_array_get(bytes, 1)));
	print_words(json_object_get(f, "command"));
	putchar('\n');
}

static void
print_answer(const json_t *j)
{
	const json_t *list = json_object_get(j, "findings"), *marks, *f;
	size_t i;

	print_finding(j, "");
	printf("  effect %s", text_of(j, "effect"));
	marks = json_object_get(j, "marks");
	json_array_foreach((json_t *)(uintptr_t)marks, i, f)
		printf("%s%s", i == 0 ? ", marks " : " ",
		    json_string_value(f));
	putchar('\n');
	if (text_of(j, "next")[0] != '\0')
		printf("  next: %s\n", text_of(j, "next"));
	if (list == NULL)
		return;
	printf("found:\n");
	json_array_foreach((json_t *)(uintptr_t)list, i, f)
		print_finding(f, "  ");
}

int
cmd_judge(struct options *o, int argc, char **argv)
{
	char *child[10], path[4096];
	json_t *answer;

	if (argc != 1)
		return (usage_error(o, "judge takes one text, or - for "
		    "standard input"));
	(void)snprintf(path, sizeof(path), "%s/judged", o->library != NULL ?
	    o->library : MYELIN_LIBDIR);
	child_argv(o, o->explain, (char *)(uintptr_t)o->cwd, child);
	if ((answer = ask(o, path, child, argv[0])) == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(answer);
	else
		print_answer(answer);
	json_decref(answer);
	return (0);
}
