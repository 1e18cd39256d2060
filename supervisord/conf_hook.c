/* The configuration: hooks. */
#include <string.h>

#include "conf_int.h"

/* Guarantee C10: programs that may refuse a call, in the order of the file. */
void
set_hook(struct parser *ps, struct pos pos, const char *name,
    const char *path)
{
	struct slice *s = ps->conf->slice;
	struct cf_hook *h;
	size_t i;

	if (!set_name_ok(ps, pos, "hook", name))
		return;
	if (!path_clean(path)) {
		conf_error(ps, pos, "hook \"%s\": the absolute path of a "
		    "program is needed, not \"%s\"", name, path);
		return;
	}
	for (i = 0; i < s->nhooks; i++) {
		if (strcmp(s->hooks[i].name, name) != 0)
			continue;
		conf_error(ps, pos, "hook \"%s\" was given already, at "
		    "%s:%u", name, s->hooks[i].where.file,
		    s->hooks[i].where.line);
		return;
	}
	if (s->nhooks == HOOKS_MAX) {
		conf_error(ps, pos, "more than %d hooks", HOOKS_MAX);
		return;
	}
	s->hooks = set_grow(s->hooks, &s->nhooks, sizeof(*s->hooks));
	h = &s->hooks[s->nhooks - 1];
	set_where(&h->where, pos);
	(void)strlcpy(h->name, name, sizeof(h->name));
	h->path = conf_copy(path);
}
