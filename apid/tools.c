/*
 * The tools' declarations.
 */
#include <jansson.h>
#include <sys/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "log.h"
#include "slice.h"
#include "tools.h"

#define DECLARATION_MAX	(256 * 1024)
#define PREFIX		"tool/"

/* Name to declaration. */
static json_t	*in_force;
static json_t	*coming;

static json_t *
read_declaration(int fd, char *why, size_t size)
{
	json_error_t error;
	json_t *j = NULL;
	struct stat st;
	size_t have = 0;
	ssize_t n;
	char *text;

	if (fstat(fd, &st) == -1 || st.st_size > DECLARATION_MAX) {
		(void)snprintf(why, size, "over %d bytes", DECLARATION_MAX);
		return (NULL);
	}
	if ((text = malloc(DECLARATION_MAX)) == NULL)
		fatal("declaration");
	(void)lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, text + have, DECLARATION_MAX - have)) > 0)
		have += (size_t)n;
	if (n == -1)
		(void)snprintf(why, size, "it can't be read");
	else if ((j = json_loadb(text, have, JSON_REJECT_DUPLICATES,
	    &error)) == NULL)
		(void)snprintf(why, size, "line %d: %s", error.line,
		    error.text);
	free(text);
	return (j);
}

int
tools_read(struct slice *slice)
{
	const struct where nowhere = { NULL, 0 };
	char why[256] = "";
	const char *name;
	json_t *j;
	size_t i;
	int fd;

	tools_abort();
	if ((coming = json_object()) == NULL)
		fatalx("memory");
	for (i = 0; i < slice->nfiles; i++) {
		name = slice->files[i].name;
		if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		fd = slice_claim(slice, name);
		j = read_declaration(fd, why, sizeof(why));
		close(fd);
		if (j == NULL)
			return (slice_bad(slice, &nowhere,
			    "declaration of the tool %s: %s",
			    name + strlen(PREFIX), why));
		json_object_set_new(coming, name + strlen(PREFIX), j);
	}
	return (0);
}

void
tools_commit(void)
{
	json_decref(in_force);
	in_force = coming;
	coming = NULL;
}

void
tools_abort(void)
{
	json_decref(coming);
	coming = NULL;
}

char *
tools_merge(const char *json, size_t n, size_t *size)
{
	static const char *const members[] = { "description", "input_schema",
	    "pty" };
	json_t *j = json_loadb(json, n, 0, NULL), *tool, *mine, *v;
	const char *name;
	char *text = NULL;
	size_t i, k;

	json_array_foreach(json_object_get(j, "tools"), i, tool) {
		name = json_string_value(json_object_get(tool, "name"));
		mine = name == NULL ? NULL : json_object_get(in_force, name);
		for (k = 0; k < sizeof(members) / sizeof(members[0]); k++) {
			v = json_object_get(mine, members[k]);
			json_object_set(tool, members[k],
			    v != NULL ? v : json_null());
		}
	}
	if (json_is_array(json_object_get(j, "tools")))
		text = json_text(j);
	json_decref(j);
	if (text != NULL)
		*size = strlen(text);
	return (text);
}

void
tools_free_text(char *text)
{
	free(text);
}
