/*
 * Declarations of tools that operators add: the "tool" lines.
 *
 * What a line names may have been written by root alone, and so may the
 * directory that it is in: a declaration says what runs.
 */
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor.h"
#include "trust.h"

/* One line's work. */
struct own {
	struct supervisor	*sv;
	struct feed		*feed;
	const struct cf_tool	*line;
};

static int
wrong(const struct own *o, const char *path, const char *why)
{
	complain(o->sv, "%s:%u: tool \"%s\": %s", o->line->where.file,
	    o->line->where.line, path, why);
	return (-1);
}

/* A name that is taken stays what it was. */
static int
taken(const struct own *o, const char *path, const char *name)
{
	const struct tool *t;
	char why[PATH_BYTES_MAX + 256];
	size_t i;

	for (i = 0; i < o->feed->ntools; i++) {
		t = &o->feed->tools[i];
		if (strcmp(t->name, name) != 0)
			continue;
		if (t->own)
			(void)snprintf(why, sizeof(why), "the name is taken "
			    "by %s, at %s:%u", t->path, t->where.file,
			    t->where.line);
		else
			(void)snprintf(why, sizeof(why), "\"%s\" comes with "
			    "Myelin and can't be declared anew; give yours "
			    "another name", name);
		return (wrong(o, path, why));
	}
	return (0);
}

/* Who may write the directory may put another file there. */
static int
trusted_place(const struct own *o, const char *path)
{
	char dir[PATH_BYTES_MAX], why[WHY_MAX];
	const char *slash = strrchr(path, '/');

	(void)snprintf(dir, sizeof(dir), "%.*s", slash == path ? 1 :
	    (int)(slash - path), path);
	if (trust_dir(dir, o->sv->tree_owner, why) == 0)
		return (0);
	return (wrong(o, dir, why));
}

static int
add_file(const struct own *o, const char *path)
{
	char name[NAME_BYTES_MAX];

	if (!feed_tool_name(strrchr(path, '/') + 1, name))
		return (wrong(o, path, "a declaration's file is named like "
		    "its tool: letters a-z, digits, - and _, and .json"));
	if (taken(o, path, name) == -1 || trusted_place(o, path) == -1)
		return (-1);
	return (feed_add_tool(o->sv, o->feed, path, name, &o->line->where));
}

/* All files of a directory that end in .json; the others are nothing. */
static int
add_directory(const struct own *o, const char *dir)
{
	char path[PATH_BYTES_MAX];
	struct dirent **names;
	int i, n, len, result = 0;
	const char *dot;

	if ((n = scandir(dir, &names, NULL, alphasort)) == -1)
		return (wrong(o, dir, strerror(errno)));
	for (i = 0; i < n; i++) {
		dot = strrchr(names[i]->d_name, '.');
		len = snprintf(path, sizeof(path), "%s/%s", dir,
		    names[i]->d_name);
		if (dot != NULL && strcmp(dot, ".json") == 0 && result == 0 &&
		    names[i]->d_name[0] != '.')
			result = len < 0 || (size_t)len >= sizeof(path) ?
			    wrong(o, dir, "a path that is too long") :
			    add_file(o, path);
		free(names[i]);
	}
	free(names);
	return (result);
}

static int
add_pattern(const struct own *o)
{
	int result = 0;
	glob_t g;
	size_t i;

	switch (glob(o->line->path, GLOB_ERR, NULL, &g)) {
	case 0:
		break;
	case GLOB_NOMATCH:
		return (0);
	default:
		return (wrong(o, o->line->path, "can't be listed"));
	}
	for (i = 0; i < g.gl_pathc && result == 0; i++)
		result = add_file(o, g.gl_pathv[i]);
	globfree(&g);
	return (result);
}

int
feed_own_tools(struct supervisor *sv, const struct conf *conf, struct feed *f)
{
	struct own o = { .sv = sv, .feed = f };
	struct stat st;
	int result = 0;
	size_t i;

	for (i = 0; i < conf->ntools && result == 0; i++) {
		o.line = &conf->tools[i];
		if (strpbrk(o.line->path, "*?[") != NULL)
			result = add_pattern(&o);
		else if (stat(o.line->path, &st) == 0 &&
		    S_ISDIR(st.st_mode))
			result = add_directory(&o, o.line->path);
		else
			result = add_file(&o, o.line->path);
	}
	return (result);
}
