/*
 * Hosts in the words of programs.
 */
#include <string.h>
#include <strings.h>

#include "hosts.h"

void
hosts_add_text(struct judging *j, struct finding_hosts *h, const char *host)
{
	const char **more;

	if (host[0] == '\0' || strpbrk(host, "{}*?\\%$ ") != NULL) {
		h->unsure = 1;
		return;
	}
	if (h->n == h->room) {
		h->room = h->room == 0 ? 4 : 2 * h->room;
		more = judging_alloc(j, h->room * sizeof(*more));
		if (h->n > 0)
			memcpy(more, h->v, h->n * sizeof(*more));
		h->v = more;
	}
	h->v[h->n++] = host;
}

/* "scheme://user@host:port/path": the host, which has to be there whole. */
static void
add_url(struct judging *j, struct finding_hosts *h, const struct word *w)
{
	const char *text = word_start(w), *p, *end, *at;
	size_t n;

	if (w->text == NULL) {
		h->unsure = 1;
		return;
	}
	if (strncasecmp(text, "file:", 5) == 0)
		return;
	p = strstr(text, "://");
	p = p == NULL ? text : p + 3;
	end = p + strcspn(p, "/?#");
	if (*end == '\0' && !word_known(w)) {
		h->unsure = 1;
		return;
	}
	for (at = end; at > p && at[-1] != '@'; at--)
		continue;
	if (at > p)
		p = at;
	if (*p == '[') {
		p++;
		n = strcspn(p, "]");
	} else
		n = strcspn(p, ":/?#");
	if (p + n > end)
		n = (size_t)(end - p);
	hosts_add_text(j, h, judging_strndup(j, p, n));
}

void
hosts_add(struct judging *j, struct finding_hosts *h, const struct word *url)
{
	add_url(j, h, url);
}

/* "user@host:path"; what has no colon in front of a slash is a file. */
static void
add_remote(struct judging *j, struct finding_hosts *h, const struct word *w)
{
	const char *text = word_start(w), *colon, *at;

	if (w->text == NULL || strstr(text, "://") != NULL) {
		add_url(j, h, w);
		return;
	}
	colon = strchr(text, ':');
	if (colon == NULL || colon == text ||
	    memchr(text, '/', (size_t)(colon - text)) != NULL) {
		if ((w->flags & (WORD_PREFIX | WORD_SPLITS)) != 0 &&
		    strchr(text, '/') == NULL)
			h->unsure = 1;
		return;
	}
	for (at = colon; at > text && at[-1] != '@'; at--)
		continue;
	hosts_add_text(j, h, judging_strndup(j, at, (size_t)(colon - at)));
}

static void
add_name(struct judging *j, struct finding_hosts *h, const struct word *w)
{
	const char *text = word_start(w), *at;

	if (!word_known(w)) {
		h->unsure = 1;
		return;
	}
	if (strstr(text, "://") != NULL) {
		add_url(j, h, w);
		return;
	}
	at = strrchr(text, '@');
	hosts_add_text(j, h, judging_strndup(j, at == NULL ? text : at + 1,
	    strlen(at == NULL ? text : at + 1)));
}

struct finding_hosts *
hosts_of(const struct subject *s, size_t skip, const struct optspec *spec,
    enum hosts_kind kind)
{
	struct finding_hosts *h = judging_alloc(s->j, sizeof(*h));
	struct optscan o;
	struct opt opt;

	if (kind == HOSTS_UNSURE) {
		h->unsure = 1;
		return (h);
	}
	opt_begin(&o, s, skip, spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind != OPT_OPERAND)
			continue;
		if (kind == HOSTS_URLS)
			add_url(s->j, h, opt.word);
		else if (kind == HOSTS_REMOTES || (kind == HOSTS_REPOSITORIES &&
		    (strstr(word_start(opt.word), "://") != NULL ||
		    strchr(word_start(opt.word), '@') != NULL)))
			add_remote(s->j, h, opt.word);
		else if (kind == HOSTS_REPOSITORIES)
			continue;
		else
			add_name(s->j, h, opt.word);
		if (kind == HOSTS_FIRST)
			break;
	}
	if (o.uncertain)
		h->unsure = 1;
	return (h);
}

/* ---- where they are ---- */

static int
is_here(const char *host)
{
	static const char *const names[] = { "localhost", "ip6-localhost",
		"localhost.localdomain", "0.0.0.0", "::1", "::", NULL };
	size_t n = strlen(host), i;

	for (i = 0; names[i] != NULL; i++)
		if (strcasecmp(host, names[i]) == 0)
			return (1);
	return (strncmp(host, "127.", 4) == 0 || (n > 10 &&
	    strcasecmp(host + n - 10, ".localhost") == 0) ||
	    strncasecmp(host, "::ffff:127.", 11) == 0);
}

int
hosts_elsewhere(const struct finding_hosts *h)
{
	size_t i;

	if (h == NULL || h->proxied)
		return (0);
	for (i = 0; i < h->n; i++)
		if (strpbrk(h->v[i], ".:") != NULL && !is_here(h->v[i]))
			return (1);
	return (0);
}
