/*
 * neuron-tool BODY HOME WORKSPACE: runs one body of a file tool.
 *
 * PID 1 of the neuron executes it with the run block at fd 3.  It exits with
 * 0 when the body did its work, with 1 when it refused or failed (the result
 * says why), with 2 when it was called wrongly or is broken.
 */
#include <sys/prctl.h>
#include <sys/random.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block.h"
#include "filter.h"
#include "out.h"
#include "sanitize.h"
#include "tool.h"

#define BLOCK_FD	3

const struct body tool_bodies[] = {
	{ "edit",		body_edit,		0 },
	{ "find",		body_find,		0 },
	{ "grep",		body_grep,		BODY_EXEC },
	{ "read",		body_read,		0 },
	{ "write",		body_write,		0 },
	{ "ls",			body_ls,		0 },
	{ "memory_store",	body_memory_store,	0 },
	{ "memory_recall",	body_memory_recall,	0 },
	{ "memory_list",	body_memory_list,	0 },
	{ "memory_delete",	body_memory_delete,	0 },
};
const size_t tool_nbodies = sizeof(tool_bodies) / sizeof(tool_bodies[0]);

const struct body *
tool_find(const char *name)
{
	size_t i;

	for (i = 0; i < tool_nbodies; i++)
		if (strcmp(tool_bodies[i].name, name) == 0)
			return (&tool_bodies[i]);
	return (NULL);
}

static _Noreturn void
broken(const char *why)
{
	(void)fd_write(STDERR_FILENO, "neuron-tool: ", 13);
	(void)fd_write(STDERR_FILENO, why, strlen(why));
	(void)fd_write(STDERR_FILENO, "\n", 1);
	_exit(2);
}

static void
add_root(struct tool *t, const char *path)
{
	struct root *root = &t->root[t->nroots];

	if (path[0] == '\0')
		return;
	root->path = path;
	root->len = strlen(path);
	root->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root->fd == -1 || path[0] != '/')
		broken("a root can't be opened");
	t->nroots++;
}

int
main(int argc, char **argv)
{
	struct tool t = { .body = NULL };
	const char *why;
	size_t seed;
	int ok;

	if (argc != 4 || (t.body = tool_find(argv[1])) == NULL)
		broken("there is no such body");
	sanitize_options();
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	/* Set already inside a neuron; a test has to be as safe. */
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ||
	    tool_filter(t.body->flags) == -1)
		broken("the system call filter can't be loaded");
	add_root(&t, argv[2]);
	add_root(&t, argv[3]);
	t.cwd = getcwd(NULL, 0);
	/* Hashing with a seed of its own, but not by way of /dev/urandom. */
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		broken("no random numbers");
	json_object_seed(seed | 1);
	if ((t.args = block_arguments(BLOCK_FD, &why)) == NULL)
		broken(why);
	(void)close(BLOCK_FD);
	if ((t.result = json_object()) == NULL)
		broken("out of memory");
	ok = t.body->run(&t);
	if (ok == 0)
		ok = out_flush(&t);
	if (ok == -1 && t.error == NULL)
		(void)tool_fail(&t, TOOL_IO, "the body failed and said not "
		    "why");
	if (result_write(&t, STDERR_FILENO) == -1)
		return (2);
	return (ok == 0 ? 0 : 1);
}
