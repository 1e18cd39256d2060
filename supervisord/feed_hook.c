/*
 * Hooks: the programs that the "hook" lines name, as they are now.
 *
 * A hook decides, so it and the directory that it is in may have been written
 * by root alone, and what was read at the start or reload is what runs.
 */
#include <sys/stat.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "supervisor.h"
#include "trust.h"
#include "without.h"

#define HOOK_SIZE_MAX	(16 * 1024 * 1024)

static int
wrong(struct supervisor *sv, const struct cf_hook *h, const char *path,
    const char *why)
{
	complain(sv, "%s:%u: hook \"%s\": %s: %s", h->where.file,
	    h->where.line, h->name, path, why);
	return (-1);
}

/* Who may write the directory may put another file there. */
static int
trusted_place(struct supervisor *sv, const struct cf_hook *h)
{
	char dir[PATH_BYTES_MAX], why[WHY_MAX];
	const char *slash = strrchr(h->path, '/');

	(void)snprintf(dir, sizeof(dir), "%.*s", slash == h->path ? 1 :
	    (int)(slash - h->path), h->path);
	if (WITHOUT(hook_place) ||
	    trust_dir(dir, sv->tree_owner, why) == 0)
		return (0);
	return (wrong(sv, h, dir, why));
}

/* A sealed copy, or -1 after complaining. */
static int
read_hook(struct supervisor *sv, const struct cf_hook *h)
{
	char why[WHY_MAX], *text;
	struct stat st;
	size_t size;
	int fd;

	if (trusted_place(sv, h) == -1)
		return (-1);
	if ((fd = trust_open(h->path, sv->tree_owner, &st, why)) == -1)
		return (wrong(sv, h, h->path, why));
	(void)close(fd);
	if ((st.st_mode & 0111) == 0)
		return (wrong(sv, h, h->path, "it is not executable"));
	text = trust_read(h->path, sv->tree_owner, HOOK_SIZE_MAX, &size, why);
	if (text == NULL)
		return (wrong(sv, h, h->path, why));
	if (size == 0)
		fd = wrong(sv, h, h->path, "it is empty");
	else if ((fd = memfd_sealed("hook", text, size)) == -1)
		(void)wrong(sv, h, h->path, strerror(errno));
	free(text);
	return (fd);
}

int
feed_hooks(struct supervisor *sv, const struct conf *conf, struct feed *f)
{
	const struct slice *s = conf->slice;
	struct hook *h;
	size_t i;

	if (s->nhooks == 0)
		return (0);
	if ((f->hooks = calloc(s->nhooks, sizeof(*f->hooks))) == NULL)
		fatal("hooks");
	for (i = 0; i < s->nhooks; i++) {
		h = &f->hooks[i];
		if ((h->fd = read_hook(sv, &s->hooks[i])) == -1)
			return (-1);
		f->nhooks++;
		if ((h->name = strdup(s->hooks[i].name)) == NULL)
			fatal("hooks");
	}
	return (0);
}
