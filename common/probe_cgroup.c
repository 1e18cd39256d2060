/*
 * Probing the layers that cgroups provide, by looking: making some is
 * neurond's alone.
 */
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "probe_internal.h"

/* The first line of mountinfo of this type whose options hold word. */
static int
find_mount(const char *type, const char *word, char point[PATH_BYTES_MAX])
{
	char *line = NULL, has[32], options[512], list[520];
	const char *rest;
	size_t size = 0;
	int found = 0;
	FILE *f;

	if ((f = fopen("/proc/self/mountinfo", "re")) == NULL)
		return (0);
	while (!found && getline(&line, &size, f) != -1) {
		if (sscanf(line, "%*s %*s %*s %*s %4095s", point) != 1 ||
		    (rest = strstr(line, " - ")) == NULL ||
		    sscanf(rest, " - %31s %*s %511s", has, options) != 2 ||
		    strcmp(has, type) != 0)
			continue;
		snprintf(list, sizeof(list), ",%s,", options);
		found = word == NULL || strstr(list, word) != NULL;
	}
	free(line);
	fclose(f);
	return (found);
}

static int
has_word(const char *dir, const char *file, const char *word)
{
	char path[PATH_BYTES_MAX + 64], text[1024], list[1032];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	if ((f = fopen(path, "re")) == NULL)
		return (0);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	snprintf(list, sizeof(list), " %s ", text);
	return (strstr(list, word) != NULL);
}

/* The root of a hierarchy lacks the files of limits; its children have them. */
static int
child_has(const char *dir, const char *file)
{
	char path[2 * PATH_BYTES_MAX];
	struct dirent *d;
	struct stat st;
	int found = 0;
	DIR *list;

	if ((list = opendir(dir)) == NULL)
		return (0);
	while (!found && (d = readdir(list)) != NULL) {
		if (d->d_name[0] == '.' && d->d_name[1] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/%s", dir, d->d_name, file);
		found = stat(path, &st) == 0;
	}
	closedir(list);
	return (found);
}

static const char *
controller(const char *name)
{
	char point[PATH_BYTES_MAX], word[32];

	snprintf(word, sizeof(word), " %s ", name);
	if (find_mount("cgroup2", NULL, point) &&
	    has_word(point, "cgroup.controllers", word))
		return (NULL);
	snprintf(word, sizeof(word), ",%s,", name);
	if (find_mount("cgroup", word, point))
		return (NULL);
	errno = ENOENT;
	return ("the controller");
}

static const char *
swap(void)
{
	char point[PATH_BYTES_MAX];

	if ((find_mount("cgroup2", NULL, point) &&
	    child_has(point, "memory.swap.max")) ||
	    (find_mount("cgroup", ",memory,", point) &&
	    child_has(point, "memory.memsw.limit_in_bytes")))
		return (NULL);
	errno = ENOENT;
	return ("a limit of swap");
}

static const char *
kill_file(void)
{
	char point[PATH_BYTES_MAX];

	if (find_mount("cgroup2", NULL, point) &&
	    child_has(point, "cgroup.kill"))
		return (NULL);
	/* No cgroup there yet to look at. */
	if (probe_kernel(5, 14))
		return (NULL);
	errno = ENOENT;
	return ("cgroup.kill");
}

const char *
probe_cgroup(enum layer i)
{
	char point[PATH_BYTES_MAX];

	switch (i) {
	case LAYER_CGROUP_V2:
		errno = ENOENT;
		return (find_mount("cgroup2", NULL, point) ? NULL :
		    "a cgroup2 mount");
	case LAYER_CG_MEMORY:
		return (controller("memory"));
	case LAYER_CG_PIDS:
		return (controller("pids"));
	case LAYER_CG_CPU:
		return (controller("cpu"));
	case LAYER_CG_SWAP:
		return (swap());
	case LAYER_CG_KILL:
		return (kill_file());
	default:
		errno = EINVAL;
		return ("no probe");
	}
}
