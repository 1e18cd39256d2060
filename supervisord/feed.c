/*
 * What each child gets: its slice, and open files.
 *
 * Slices and declarations stay here as sealed memfds and the programs stay
 * open, so that a child that is started again gets the same bytes, whatever
 * was changed on the disk meanwhile.  A file is opened afresh by its
 * descriptor for each child, never duplicated: a shared offset would be a way
 * for one child to disturb the next.
 */
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "env.h"
#include "supervisor.h"
#include "trust.h"
#include "without.h"

#define TOOLS_MAX	128
#define TOOL_SIZE_MAX	(256 * 1024)
#define SEAL_NAME	"myelin-seal"
#define SEAL_SIZE_MAX	4096

/* ---- opening ---- */

static int
open_trusted(struct supervisor *sv, const char *path)
{
	char why[WHY_MAX];
	struct stat st;
	int fd;

	if ((fd = trust_open(path, sv->tree_owner, &st, why)) == -1)
		log_warnx("%s: %s", path, why);
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
	return (open_trusted(sv, path));
}

int
feed_programs(struct supervisor *sv)
{
	struct child *c;
	size_t i;

	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		c->program = open_program(sv, c->spec->dir, c->spec->program);
		if (c->program == -1)
			return (-1);
	}
	sv->maker = open_program(sv, "neurond", "maker");
	sv->spawner = open_program(sv, "neurond", "spawner");
	sv->neuron_tool = open_program(sv, "neurond", "neuron-tool");
	return (sv->maker == -1 || sv->spawner == -1 ||
	    sv->neuron_tool == -1 ? -1 : 0);
}

/*
 * The key that secrets at rest are sealed with, where systemd puts what its
 * credential store has.  None is no mistake; one that can't be read is.
 */
int
feed_seal(struct supervisor *sv)
{
	char path[PATH_BYTES_MAX], why[WHY_MAX], *text;
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	size_t size;
	int n;

	if (dir == NULL || dir[0] != '/')
		return (0);
	n = snprintf(path, sizeof(path), "%s/%s", dir, SEAL_NAME);
	if (n < 0 || (size_t)n >= sizeof(path) || access(path, F_OK) == -1)
		return (0);
	text = trust_read(path, sv->tree_owner, SEAL_SIZE_MAX, &size, why);
	if (text == NULL) {
		log_warnx("%s: %s", path, why);
		return (-1);
	}
	if ((sv->seal = memfd_sealed("seal", text, size)) == -1)
		log_warn("%s", path);
	freezero(text, size);
	return (sv->seal == -1 ? -1 : 0);
}

/* ---- declarations ---- */

/* "bash.json" declares the tool bash; anything else is nothing to us. */
bool
feed_tool_name(const char *file, char name[NAME_BYTES_MAX])
{
	size_t n = strspn(file, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	if (n == 0 || n >= NAME_BYTES_MAX || strcmp(file + n, ".json") != 0)
		return (false);
	memcpy(name, file, n);
	name[n] = '\0';
	return (true);
}

/* The bytes as they are now, in a memfd of our own. */
static int
copy_tool(struct supervisor *sv, const char *path, const struct where *where)
{
	char why[WHY_MAX], *text;
	size_t size;
	int fd;

	text = trust_read(path, sv->tree_owner, TOOL_SIZE_MAX, &size, why);
	if (text == NULL) {
		if (where != NULL)
			complain(sv, "%s:%u: tool \"%s\": %s", where->file,
			    where->line, path, why);
		else
			complain(sv, "%s: %s", path, why);
		return (-1);
	}
	if ((fd = memfd_sealed("declaration", text, size)) == -1)
		complain(sv, "%s: %s", path, strerror(errno));
	free(text);
	return (fd);
}

int
feed_add_tool(struct supervisor *sv, struct feed *f, const char *path,
    const char *name, const struct where *where)
{
	struct tool *t;
	int fd;

	if (f->ntools == TOOLS_MAX) {
		complain(sv, "%s: more than %d declarations", path,
		    TOOLS_MAX);
		return (-1);
	}
	if ((fd = copy_tool(sv, path, where)) == -1)
		return (-1);
	t = reallocarray(f->tools, f->ntools + 1, sizeof(*t));
	if (t == NULL)
		fatal("tools");
	f->tools = t;
	t = &f->tools[f->ntools++];
	memset(t, 0, sizeof(*t));
	t->fd = fd;
	t->own = where != NULL;
	if (t->own)
		t->where = *where;
	if ((t->name = strdup(name)) == NULL ||
	    (t->path = strdup(path)) == NULL)
		fatal("tools");
	return (0);
}

static int
add_built_in(struct supervisor *sv, struct feed *f, const char *dir,
    const char *file)
{
	char path[PATH_BYTES_MAX], name[NAME_BYTES_MAX];
	int n;

	if (!feed_tool_name(file, name))
		return (0);
	n = snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (n < 0 || (size_t)n >= sizeof(path)) {
		complain(sv, "%s: its path is too long", file);
		return (-1);
	}
	return (feed_add_tool(sv, f, path, name, NULL));
}

const char *
feed_tool_path(const struct feed *f, const char *name)
{
	size_t i;

	if (strncmp(name, "tool/", 5) != 0)
		return (name);
	for (i = 0; i < f->ntools; i++) {
		if (strcmp(f->tools[i].name, name + 5) == 0)
			return (f->tools[i].path);
	}
	return (name);
}

int
feed_tools(struct supervisor *sv, const struct conf *conf, struct feed *f)
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
		complain(sv, "the tools' path is too long");
		return (-1);
	}
	if ((n = scandir(dir, &names, NULL, alphasort)) == -1) {
		complain(sv, "%s: %s", dir, strerror(errno));
		return (-1);
	}
	for (i = 0; i < n; i++) {
		if (result == 0)
			result = add_built_in(sv, f, dir, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	if (result == 0 && f->ntools == 0) {
		complain(sv, "%s: no tool is declared there", dir);
		result = -1;
	}
	return (result == 0 ? feed_own_tools(sv, conf, f) : -1);
}

static bool
same_bytes(int a, int b)
{
	const uint8_t *pa, *pb;
	size_t na, nb;
	bool same;

	pa = memfd_map(a, TOOL_SIZE_MAX, &na);
	pb = memfd_map(b, TOOL_SIZE_MAX, &nb);
	if (pa == NULL || pb == NULL)
		fatal("declarations");
	same = na == nb && (na == 0 || memcmp(pa, pb, na) == 0);
	memfd_unmap(pa, na);
	memfd_unmap(pb, nb);
	return (same);
}

bool
feed_same_tools(const struct feed *a, const struct feed *b)
{
	size_t i;

	if (a->ntools != b->ntools)
		return (false);
	for (i = 0; i < a->ntools; i++) {
		if (strcmp(a->tools[i].name, b->tools[i].name) != 0 ||
		    !same_bytes(a->tools[i].fd, b->tools[i].fd))
			return (false);
	}
	return (true);
}

void
feed_init(struct feed *f)
{
	size_t i;

	memset(f, 0, sizeof(*f));
	f->resolv_conf = f->authorities = -1;
	for (i = 0; i < CHILD_COUNT; i++)
		f->slices[i] = -1;
}

void
feed_close(struct feed *f)
{
	size_t i;

	for (i = 0; i < f->ntools; i++) {
		free(f->tools[i].name);
		free(f->tools[i].path);
		(void)close(f->tools[i].fd);
	}
	free(f->tools);
	for (i = 0; i < f->nhooks; i++) {
		free(f->hooks[i].name);
		(void)close(f->hooks[i].fd);
	}
	free(f->hooks);
	if (f->resolv_conf != -1)
		(void)close(f->resolv_conf);
	if (f->authorities != -1)
		(void)close(f->authorities);
	for (i = 0; i < CHILD_COUNT; i++) {
		if (f->slices[i] != -1)
			(void)close(f->slices[i]);
	}
	feed_init(f);
}

/* ---- slices ---- */

/*
 * Guarantee D9: of the host's environment LANG, LC_*, TZ and TERM may pass,
 * where the configuration names them: they go along with their values.
 */
static void
host_env(const struct strings *allow, struct strings *with)
{
	const char *name, *value;
	char *entry;
	size_t i;

	for (i = 0; i < allow->n; i++) {
		name = allow->v[i];
		value = env_is_plain(name, strlen(name)) ? getenv(name) : NULL;
		if (value != NULL && !WITHOUT(host_environment) &&
		    env_check(name, strlen(name), value) != ENV_OK) {
			log_warnx("environment allow %s: the host's value is "
			    "no locale, time zone or terminal; dropped", name);
			value = NULL;
		}
		if (asprintf(&entry, "%s%s%s", name, value != NULL ? "=" : "",
		    value != NULL ? value : "") == -1 ||
		    strings_add(with, entry) == -1)
			fatalx("out of memory");
		free(entry);
	}
}

/* A child with sockets sees its own listen lines and no others. */
static int
encode(const struct child *c, const struct conf *conf)
{
	struct slice view = *conf->slice;
	struct strings with = { NULL, 0 };
	struct cf_listen own[LISTENS_MAX];
	const struct cf_listen *l;
	size_t n;
	int fd;

	if (c->spec->plane != 0) {
		for (n = 0; n < LISTENS_MAX && (l = conf_listen_n(conf,
		    c->spec->plane, n)) != NULL; n++)
			own[n] = *l;
		view.listens = own;
		view.nlistens = n;
	}
	view.verbose = conf->verbose || c->sv->opts->verbose;
	if (c->spec->sections & SLICE_ENV) {
		host_env(&conf->slice->env_allow, &with);
		view.env_allow = with;
	}
	fd = slice_encode(&view, c->spec->sections | SLICE_LOG);
	strings_free(&with);
	return (fd);
}

int
feed_encode(struct supervisor *sv, const struct conf *conf, struct feed *f)
{
	struct child *c;
	size_t i;

	f->generation = conf->slice->generation;
	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (c->state == CHILD_ABSENT)
			continue;
		if ((f->slices[i] = encode(c, conf)) == -1) {
			complain(sv, "the configuration for %s: %s",
			    c->spec->name, strerror(errno));
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

struct sending {
	const struct child	*child;
	const struct feed	*feed;
	struct channel		*control;
	uint32_t		 index;
	int			 error;
};

/* Takes fd over. */
static void
send_file(struct sending *s, const char *name, int fd)
{
	struct imsg *m;

	if (fd == -1) {
		log_warn("%s: file %s", s->child->spec->name, name);
		s->error = 1;
		return;
	}
	m = imsg_new(MSG_CONFIG_FILE);
	imsg_put_u32(m, s->feed->generation);
	imsg_put_u32(m, s->index++);
	imsg_put_str(m, name);
	imsg_put_fd(m, fd);
	if (channel_send(s->control, m) == -1)
		s->error = 1;
}

static void
send_files(struct sending *s)
{
	const struct child *c = s->child;
	const struct feed *f = s->feed;
	char name[NAME_BYTES_MAX + 8];
	size_t i;

	for (i = 0; i < c->nsockets && (c->spec->files & FILES_LISTEN); i++) {
		(void)snprintf(name, sizeof(name), "listen/%zu", i);
		send_file(s, name, c->sockets[i].fd == -1 ?
		    listener_nowhere() :
		    fcntl(c->sockets[i].fd, F_DUPFD_CLOEXEC, 0));
	}
	for (i = 0; i < f->ntools && (c->spec->files & FILES_TOOLS); i++) {
		(void)snprintf(name, sizeof(name), "tool/%s",
		    f->tools[i].name);
		send_file(s, name, reopen(f->tools[i].fd));
	}
	for (i = 0; i < f->nhooks && (c->spec->files & FILES_HOOKS); i++) {
		(void)snprintf(name, sizeof(name), "hook/%s",
		    f->hooks[i].name);
		send_file(s, name, reopen(f->hooks[i].fd));
	}
	if (c->spec->files & FILES_HELPERS) {
		send_file(s, "maker", reopen(c->sv->maker));
		send_file(s, "spawner", reopen(c->sv->spawner));
		send_file(s, "neuron-tool", reopen(c->sv->neuron_tool));
		/* The lock itself: no other descriptor holds it. */
		if (c->sv->uids.fd != -1)
			send_file(s, "uids", fcntl(c->sv->uids.fd,
			    F_DUPFD_CLOEXEC, 0));
	}
	if ((c->spec->files & FILES_SEAL) && c->sv->seal != -1)
		send_file(s, "seal", reopen(c->sv->seal));
	if (c->spec->files & FILES_EGRESS) {
		send_file(s, "resolv.conf", reopen(f->resolv_conf));
		send_file(s, "ca-certificates", reopen(f->authorities));
	}
}

static uint32_t
count_files(const struct child *c, const struct feed *f)
{
	uint32_t n = 0;

	if (c->spec->files & FILES_LISTEN)
		n += (uint32_t)c->nsockets;
	if (c->spec->files & FILES_TOOLS)
		n += (uint32_t)f->ntools;
	if (c->spec->files & FILES_HOOKS)
		n += (uint32_t)f->nhooks;
	if (c->spec->files & FILES_HELPERS)
		n += c->sv->uids.fd != -1 ? 4 : 3;
	if ((c->spec->files & FILES_SEAL) && c->sv->seal != -1)
		n++;
	if (c->spec->files & FILES_EGRESS)
		n += 2;
	return (n);
}

int
feed_send(const struct child *c, const struct feed *f,
    struct channel *control)
{
	struct sending s = { .child = c, .feed = f, .control = control };
	struct imsg *m = imsg_new(MSG_CONFIG);

	imsg_put_u32(m, f->generation);
	imsg_put_u32(m, count_files(c, f));
	imsg_put_fd(m, fcntl(f->slices[c - c->sv->children],
	    F_DUPFD_CLOEXEC, 0));
	if (channel_send(control, m) == -1)
		return (-1);
	send_files(&s);
	return (s.error ? -1 : 0);
}
