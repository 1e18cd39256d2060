/*
 * Anchors of the audit log.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anchors.h"
#include "without.h"

#define MOST	1000000

static int
add(struct anchors *anchors, uint64_t sequence, const char *hash)
{
	struct anchor *more;

	if (anchors->n == MOST) {
		snprintf(anchors->why, sizeof(anchors->why), "more than %d "
		    "anchors", MOST);
		return (-1);
	}
	more = reallocarray(anchors->v, anchors->n + 1, sizeof(*more));
	if (more == NULL) {
		snprintf(anchors->why, sizeof(anchors->why), "out of memory");
		return (-1);
	}
	anchors->v = more;
	more[anchors->n].sequence = sequence;
	memcpy(more[anchors->n].hash, hash, CHAIN_HASH - 1);
	more[anchors->n++].hash[CHAIN_HASH - 1] = '\0';
	return (0);
}

/* "17:5e88..."; 1, and where it ends, or 0 if there is none. */
static int
parse(const char *text, uint64_t *sequence, const char **hash)
{
	char *end;

	if (*text < '1' || *text > '9')
		return (0);
	errno = 0;
	*sequence = strtoull(text, &end, 10);
	if (errno != 0 || *end != ':')
		return (0);
	*hash = end + 1;
	return (strspn(*hash, "0123456789abcdef") == CHAIN_HASH - 1);
}

/* A line of the journal, in any of its forms. */
static int
read_line(struct anchors *anchors, const char *line)
{
	static const char words[] = "audit anchor ";
	const char *p = strstr(line, words), *hash;
	uint64_t sequence;

	if (p == NULL || !parse(p + sizeof(words) - 1, &sequence, &hash))
		return (0);
	return (add(anchors, sequence, hash));
}

static int
wrong(struct anchors *anchors, const char *what, const char *why)
{
	snprintf(anchors->why, sizeof(anchors->why), "%.200s: %.80s", what,
	    why);
	return (-1);
}

static int
read_file(struct anchors *anchors, const char *name)
{
	char *line = NULL;
	size_t room = 0;
	int ok = 0;
	FILE *f;

	f = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
	if (f == NULL)
		return (wrong(anchors, name, strerror(errno)));
	while (ok == 0 && getline(&line, &room, f) > 0)
		ok = read_line(anchors, line);
	if (ok == 0 && ferror(f))
		ok = wrong(anchors, name, strerror(errno));
	free(line);
	if (f != stdin)
		fclose(f);
	/* Nothing that is compared is no proof. */
	if (ok == 0 && anchors->n == 0)
		ok = wrong(anchors, name, "no line with an anchor in it");
	return (ok);
}

static int
compare(const void *a, const void *b)
{
	const struct anchor *x = a, *y = b;

	return (x->sequence < y->sequence ? -1 : x->sequence > y->sequence);
}

int
anchors_read(struct anchors *anchors, const struct options *o)
{
	const char *hash;
	uint64_t sequence;
	unsigned i;

	memset(anchors, 0, sizeof(*anchors));
	for (i = 0; i < o->nanchor; i++) {
		if (!parse(o->anchor[i], &sequence, &hash) ||
		    hash[CHAIN_HASH - 1] != '\0')
			return (wrong(anchors, o->anchor[i], "not a record's "
			    "number, a colon and its hash"));
		if (add(anchors, sequence, hash) == -1)
			return (-1);
	}
	if (o->anchors != NULL && read_file(anchors, o->anchors) == -1)
		return (-1);
	if (anchors->n > 0)
		qsort(anchors->v, anchors->n, sizeof(*anchors->v), compare);
	return (0);
}

void
anchors_free(struct anchors *anchors)
{
	free(anchors->v);
	memset(anchors, 0, sizeof(*anchors));
}

int
anchors_check(struct anchors *anchors, struct chain *chain)
{
	const struct anchor *a;

	for (; anchors->next < anchors->n; anchors->next++) {
		a = &anchors->v[anchors->next];
		if (a->sequence > chain->sequence)
			break;
		if (a->sequence < chain->sequence)
			continue;	/* before the first that is here */
		if (strcmp(a->hash, chain->hash) != 0 &&
		    !WITHOUT(audit_anchors)) {
			snprintf(chain->why, sizeof(chain->why), "record %"
			    PRIu64 " is not the one that its anchor names: "
			    "the log was written anew", a->sequence);
			return (-1);
		}
		anchors->met++;
	}
	return (0);
}

int
anchors_end(struct anchors *anchors, struct chain *chain)
{
	if (anchors->next == anchors->n || WITHOUT(audit_anchors))
		return (0);
	snprintf(chain->why, sizeof(chain->why), "the log ends after record %"
	    PRIu64 ", an anchor names record %" PRIu64 ": its end was cut off",
	    chain->sequence, anchors->v[anchors->n - 1].sequence);
	return (-1);
}
