/*
 * Whether the normal form of a configuration says the same as the text that
 * it was read from.
 */
#ifndef MYELIN_CONF_SAME_H
#define MYELIN_CONF_SAME_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "conf.h"

static inline void
same_nowhere(struct where *w)
{
	free(w->file);
	w->file = NULL;
	w->line = 0;
}

/* An encoded slice is compared by its bytes, but for files and lines. */
static inline void
same_strip(struct slice *s)
{
	size_t i, k;

	for (i = 0; i < s->nprofiles; i++) {
		same_nowhere(&s->profiles[i].where);
		same_nowhere(&s->profiles[i].trees.where);
		for (k = 0; k < s->profiles[i].trees.nmounts; k++)
			same_nowhere(&s->profiles[i].trees.mounts[k].where);
		for (k = 0; k < s->profiles[i].egress.nhosts; k++)
			same_nowhere(&s->profiles[i].egress.hosts[k].where);
	}
	for (i = 0; i < s->nprincipals; i++)
		same_nowhere(&s->principals[i].where);
	for (i = 0; i < s->noperators; i++)
		same_nowhere(&s->operators[i].where);
	for (i = 0; i < s->npresets; i++)
		same_nowhere(&s->presets[i].where);
	for (i = 0; i < s->nlistens; i++)
		same_nowhere(&s->listens[i].where);
	for (i = 0; i < s->nrules; i++) {
		same_nowhere(&s->rules[i].where);
		for (k = 0; k < s->rules[i].ntests; k++)
			same_nowhere(&s->rules[i].tests[k].where);
	}
	/* names of files among others */
	strings_free(&s->own);
	for (i = 0; i < s->nhooks; i++)
		same_nowhere(&s->hooks[i].where);
}

static inline int
same_slices(struct slice *a, struct slice *b)
{
	const uint8_t *pa = NULL, *pb = NULL;
	size_t na, nb;
	int fa, fb, same = 0;

	same_strip(a);
	same_strip(b);
	fa = slice_encode(a, 0xfff);
	fb = slice_encode(b, 0xfff);
	if (fa != -1 && fb != -1 &&
	    (pa = memfd_map(fa, SLICE_MAX, &na)) != NULL &&
	    (pb = memfd_map(fb, SLICE_MAX, &nb)) != NULL)
		same = na == nb && memcmp(pa, pb, na) == 0;
	if (pa != NULL)
		memfd_unmap(pa, na);
	if (pb != NULL)
		memfd_unmap(pb, nb);
	(void)close(fa);
	(void)close(fb);
	return (same);
}

/* The normal form, in fresh memory. */
static inline char *
same_print(const struct conf *conf)
{
	char *text = NULL;
	size_t size;
	FILE *f;

	if ((f = open_memstream(&text, &size)) == NULL)
		abort();
	conf_print(conf, f);
	if (fclose(f) == EOF)
		abort();
	return (text);
}

/*
 * 1 if what conf prints reads back, prints the same, and gives the same
 * slices.  conf's places are gone then.
 */
static inline int
same_again(struct conf *conf, const struct conf_opts *opts)
{
	char *text = same_print(conf), *again = NULL;
	struct conf *other;
	int same = 0;

	other = conf_load_text("printed", text, strlen(text), opts);
	if (other != NULL) {
		again = same_print(other);
		same = strcmp(text, again) == 0 &&
		    conf->verbose == other->verbose &&
		    conf->uids_given == other->uids_given &&
		    same_slices(conf->slice, other->slice);
	}
	conf_free(other);
	free(again);
	free(text);
	return (same);
}

#endif
