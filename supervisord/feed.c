/*
 * What each child gets: its slice, and open files.
 *
 * The slices stay here as sealed memfds and the files stay open, so that a
 * child that is started again gets the same bytes, whatever was changed on
 * the disk meanwhile.  A regular file is opened afresh by its descriptor for
 * each child, never duplicated: a shared offset would be a way for one child
 * to disturb the next.
 */
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor.h"
#include "trust.h"

#define TOOLS_MAX	128
#define TOOL_SIZE_MAX	(256 * 1024)

/* ---- opening ---- */

static int
open_trusted(struct supervisor *sv, const char *path, size_t max)
{
	char why[WHY_MAX];
	struct stat st;
	int fd;

	if ((fd = trust_open(path, sv->tree_owner, &st, why)) == -1) {
		log_warnx("%s: %s", path, why);
		return (-1);
	}
	if (max != 0 && (uint64_t)st.st_size > max) {
		log_warnx("%s: is longer than %zu bytes", path, max);
		(void)close(fd);
		return (-1);
	}
	return (fd);
}

/* A program, in the build tree that -L names or where it is installed. */
static int
open_program(struct supervisor *sv, const char *dir, const char *program)
{
	char path[PATH_BYTES_MAX];
	int n;

	if (sv->opts->tree != NULL)
		n = snprintf(path, sizeof(path), "%s/%s/%s", sv->opts->tree,
		    dir, program);
	else
		n = snprintf(path, sizeof(path), "%s/%s", MYELIN_LIBDIR,
		    program);
	if (n < 0 || (size_t)n >= sizeof(path)) {
		log_warnx("%s: its path is too long", program);
		return (-1);
	}
	return (open_trusted(sv, path, 0));
}

/* "bash.json" declares the tool bash; anything else is nothing to us. */
static bool
tool_name(const char *file, char name[NAME_BYTES_MAX])
{
	size_t n = strspn(file, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	if (n == 0 || n >= NAME_BYTES_MAX || strcmp(file + n, ".json") != 0)
		return (false);
	memcpy(name, file, n);
	name[n] = '\0';
	return (true);
}

static int
add_tool(struct supervisor *sv, const char *dir, const char *file)
{
	char path[PATH_BYTES_MAX], name[NAME_BYTES_MAX];
	struct tool *t;
	int n;

	if (!tool_name(file, name))
		return (0);
	if (sv->ntools == TOOLS_MAX) {
		log_warnx("%s: more than %d declarations", dir, TOOLS_MAX);
		return (-1);
	}
	t = reallocarray(sv->tools, sv->ntools + 1, sizeof(*t));
	if (t == NULL)
		fatal("tools");
	sv->tools = t;
	t = &sv->tools[sv->ntools];
	n = snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (n < 0 || (size_t)n >= sizeof(path) ||
	    (t->fd = open_trusted(sv, path, TOOL_SIZE_MAX)) == -1)
		return (-1);
	if ((t->name = strdup(name)) == NULL)
		fatal("tools");
	sv->ntools++;
	return (0);
}

static int
open_tools(struct supervisor *sv)
{
	char dir[PATH_BYTES_MAX];
	struct dirent **names;
	int i, n, result = 0;

	if (sv->opts->tree != NULL)
		n = snprintf(dir, sizeof(dir), "%s/judged/tools",
		    sv->opts->tree);
	else
		n = snprintf(dir, sizeof(dir), "%s", MYELIN_TOOLSDIR);
	if (n < 0 || (size_t)n >= sizeof(dir)) {
		log_warnx("the tools' path is too long");
		return (-1);
	}
	if ((n = scandir(dir, &names, NULL, alphasort)) == -1) {
		log_warn("%s", dir);
		return (-1);
	}
	for (i = 0; i < n; i++) {
		if (result == 0)
			result = add_tool(sv, dir, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	if (result == 0 && sv->ntools == 0) {
		log_warnx("%s: no tool is declared there", dir);
		result = -1;
	}
	return (result);
}

int
feed_open(struct supervisor *sv)
{
	struct child *c;
	size_t i;

	sv->maker = sv->spawner = -1;
	if (open_tools(sv) == -1)
		return (-1);
	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		c->program = open_program(sv, c->spec->dir, c->spec->program);
		if (c->program == -1)
			return (-1);
	}
	sv->maker = open_program(sv, "neurond", "maker");
	sv->spawner = open_program(sv, "neurond", "spawner");
	return (sv->maker == -1 || sv->spawner == -1 ? -1 : 0);
}

void
feed_close(struct supervisor *sv)
{
	size_t i;

	for (i = 0; i < sv->ntools; i++) {
		free(sv->tools[i].name);
		(void)close(sv->tools[i].fd);
	}
	free(sv->tools);
	sv->tools = NULL;
	sv->ntools = 0;
}

/* ---- slices ---- */

/* A child with a socket sees its own listen line and no other. */
static int
encode(const struct child *c)
{
	struct slice view = *c->sv->conf->slice;
	struct cf_listen own;

	if (c->listener.conf != NULL) {
		own = *c->listener.conf;
		view.listens = &own;
		view.nlistens = 1;
	}
	return (slice_encode(&view, c->spec->sections));
}

int
feed_encode(struct supervisor *sv)
{
	struct child *c;
	size_t i;

	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (c->state == CHILD_ABSENT)
			continue;
		if ((c->slice = encode(c)) == -1) {
			log_warn("the configuration for %s", c->spec->name);
			return (-1);
		}
	}
	return (0);
}

/* ---- sending ---- */

/* A descriptor of its own offset, read-only, of the same file. */
static int
reopen(int fd)
{
	char self[64];

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return (open(self, O_RDONLY | O_CLOEXEC));
}

struct feed {
	const struct child	*child;
	struct channel		*control;
	uint32_t		 index;
	int			 error;
};

/* Takes fd over. */
static void
send_file(struct feed *f, const char *name, int fd)
{
	struct imsg *m;

	if (fd == -1) {
		log_warn("%s: file %s", f->child->spec->name, name);
		f->error = 1;
		return;
	}
	m = imsg_new(MSG_CONFIG_FILE);
	imsg_put_u32(m, f->child->sv->conf->slice->generation);
	imsg_put_u32(m, f->index++);
	imsg_put_str(m, name);
	imsg_put_fd(m, fd);
	if (channel_send(f->control, m) == -1)
		f->error = 1;
}

static void
send_files(struct feed *f)
{
	const struct child *c = f->child;
	struct supervisor *sv = c->sv;
	char name[NAME_BYTES_MAX + 8];
	size_t i;

	if (c->spec->files & FILES_LISTEN)
		send_file(f, "listen", c->listener.fd == -1 ?
		    listener_nowhere() :
		    fcntl(c->listener.fd, F_DUPFD_CLOEXEC, 0));
	for (i = 0; i < sv->ntools && (c->spec->files & FILES_TOOLS); i++) {
		(void)snprintf(name, sizeof(name), "tool/%s",
		    sv->tools[i].name);
		send_file(f, name, reopen(sv->tools[i].fd));
	}
	if (c->spec->files & FILES_HELPERS) {
		send_file(f, "maker", reopen(sv->maker));
		send_file(f, "spawner", reopen(sv->spawner));
		/* The lock itself: no other descriptor holds it. */
		if (sv->uids.fd != -1)
			send_file(f, "uids", fcntl(sv->uids.fd,
			    F_DUPFD_CLOEXEC, 0));
	}
}

static uint32_t
count_files(const struct child *c)
{
	uint32_t n = 0;

	if (c->spec->files & FILES_LISTEN)
		n++;
	if (c->spec->files & FILES_TOOLS)
		n += (uint32_t)c->sv->ntools;
	if (c->spec->files & FILES_HELPERS)
		n += c->sv->uids.fd != -1 ? 3 : 2;
	return (n);
}

int
feed_send(const struct child *c, struct channel *control)
{
	struct feed f = { .child = c, .control = control };
	struct imsg *m = imsg_new(MSG_CONFIG);

	imsg_put_u32(m, c->sv->conf->slice->generation);
	imsg_put_u32(m, count_files(c));
	imsg_put_fd(m, fcntl(c->slice, F_DUPFD_CLOEXEC, 0));
	if (channel_send(control, m) == -1)
		return (-1);
	send_files(&f);
	return (f.error ? -1 : 0);
}
