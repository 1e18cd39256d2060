/*
 * The configuration as data: filling it, freeing it, looking things up.  How
 * it is sent is in slice_wire.c.
 */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slice.h"
#include "trees.h"

struct slice *
slice_new(void)
{
	struct slice *s;

	if ((s = calloc(1, sizeof(*s))) != NULL)
		limits_init(&s->limits);
	return (s);
}

/* ---- lists of strings ---- */

int
strings_add(struct strings *l, const char *s)
{
	char **v, *copy;

	if ((copy = strdup(s)) == NULL)
		return (-1);
	if ((v = reallocarray(l->v, l->n + 1, sizeof(*v))) == NULL) {
		free(copy);
		return (-1);
	}
	l->v = v;
	l->v[l->n++] = copy;
	return (0);
}

int
strings_has(const struct strings *l, const char *s)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->v[i], s) == 0)
			return (1);
	return (0);
}

void
strings_free(struct strings *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	l->v = NULL;
	l->n = 0;
}

/* ---- freeing ---- */

static void
where_free(struct where *w)
{
	free(w->file);
}

static void
profile_free(struct cf_profile *p)
{
	where_free(&p->where);
	trees_free(&p->trees);
	egress_free(&p->egress);
}

static void
principal_free(struct cf_principal *p)
{
	where_free(&p->where);
	free(p->name);
	free(p->owner_name);
	strings_free(&p->profiles);
	strings_free(&p->workspaces);
}

static void
preset_free(struct cf_preset *p)
{
	where_free(&p->where);
	strings_free(&p->allow);
	strings_free(&p->deny);
	strings_free(&p->deny_groups);
}

void
slice_free(struct slice *s)
{
	size_t i;

	if (s == NULL)
		return;
	for (i = 0; i < s->nprofiles; i++)
		profile_free(&s->profiles[i]);
	for (i = 0; i < s->nprincipals; i++)
		principal_free(&s->principals[i]);
	for (i = 0; i < s->noperators; i++) {
		where_free(&s->operators[i].where);
		free(s->operators[i].name);
	}
	for (i = 0; i < s->npresets; i++)
		preset_free(&s->presets[i]);
	for (i = 0; i < s->nlistens; i++) {
		where_free(&s->listens[i].where);
		free(s->listens[i].path);
		free(s->listens[i].group);
		strings_free(&s->listens[i].hosts);
	}
	for (i = 0; i < s->nhooks; i++) {
		where_free(&s->hooks[i].where);
		free(s->hooks[i].path);
	}
	for (i = 0; i < s->nfiles; i++) {
		free(s->files[i].name);
		if (s->files[i].fd != -1)
			close(s->files[i].fd);
	}
	rules_free(s);
	strings_free(&s->env_allow);
	strings_free(&s->sources);
	free(s->profiles);
	free(s->principals);
	free(s->operators);
	free(s->presets);
	free(s->listens);
	free(s->hooks);
	free(s->files);
	free(s->instance);
	free(s->state);
	free(s->cgroup_parent);
	free(s->bad.file);
	free(s->bad_why);
	free(s);
}

/* ---- a refusal, and looking things up ---- */

int
slice_bad(struct slice *s, const struct where *w, const char *fmt, ...)
{
	va_list ap;

	free(s->bad.file);
	free(s->bad_why);
	s->bad.file = NULL;
	s->bad.line = 0;
	if (w != NULL) {
		s->bad.file = w->file == NULL ? NULL : strdup(w->file);
		s->bad.line = w->line;
	}
	va_start(ap, fmt);
	if (vasprintf(&s->bad_why, fmt, ap) == -1)
		s->bad_why = NULL;
	va_end(ap);
	return (-1);
}

const struct cf_profile *
slice_profile(const struct slice *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->nprofiles; i++)
		if (strcmp(s->profiles[i].name, name) == 0)
			return (&s->profiles[i]);
	return (NULL);
}

void
slice_unsaid(const struct slice *s, const char *profile, struct limits *limits)
{
	*limits = s->limits;
	if (strcmp(profile, "default") != 0)
		limits->v[LIMIT_POOL] = 0;
}

const struct cf_preset *
slice_preset(const struct slice *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->npresets; i++)
		if (strcmp(s->presets[i].name, name) == 0)
			return (&s->presets[i]);
	return (NULL);
}

int
slice_claim(struct slice *s, const char *name)
{
	size_t i;
	int fd;

	for (i = 0; i < s->nfiles; i++)
		if (strcmp(s->files[i].name, name) == 0) {
			fd = s->files[i].fd;
			s->files[i].fd = -1;
			return (fd);
		}
	return (-1);
}

int
path_clean(const char *path)
{
	const char *p;
	size_t len;

	if (path[0] != '/')
		return (0);
	if (path[1] == '\0')
		return (1);
	for (p = path; *p != '\0'; p += len) {
		p++;
		len = strcspn(p, "/");
		if (len == 0 || (len == 1 && p[0] == '.') ||
		    (len == 2 && p[0] == '.' && p[1] == '.'))
			return (0);
	}
	return (1);
}

int
path_within(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1)
		return (1);	/* "/" */
	return (strncmp(path, dir, n) == 0 &&
	    (path[n] == '\0' || path[n] == '/'));
}

int
path_allowed(const struct strings *patterns, const char *path)
{
	size_t i;

	if (!path_clean(path))
		return (0);
	for (i = 0; i < patterns->n; i++)
		if (fnmatch(patterns->v[i], path, FNM_NOESCAPE) == 0)
			return (1);
	return (0);
}
