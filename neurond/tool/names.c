/*
 * The names of a directory, the smallest first: a heap whose top is the
 * largest name that is kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"

/* What malloc(3) and the array take beside the bytes. */
#define COST(len)	((len) + 34)

static int
after_each_other(const void *a, const void *b)
{
	const struct name *const *x = a, *const *y = b;

	return (strcmp((*x)->text, (*y)->text));
}

static void
swap(struct names *h, size_t a, size_t b)
{
	struct name *name = h->v[a];

	h->v[a] = h->v[b];
	h->v[b] = name;
}

static void
sift_up(struct names *h, size_t i)
{
	for (; i > 0 && strcmp(h->v[i]->text, h->v[(i - 1) / 2]->text) > 0;
	    i = (i - 1) / 2)
		swap(h, i, (i - 1) / 2);
}

static void
drop_largest(struct names *h)
{
	size_t i = 0, child;

	h->bytes -= COST(strlen(h->v[0]->text));
	free(h->v[0]);
	h->v[0] = h->v[--h->n];
	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && strcmp(h->v[child + 1]->text,
		    h->v[child]->text) > 0)
			child++;
		if (strcmp(h->v[i]->text, h->v[child]->text) >= 0)
			break;
		swap(h, i, child);
		i = child;
	}
	h->more = 1;
}

static int
add(struct names *h, const struct dirent *entry, size_t *room)
{
	size_t len = strlen(entry->d_name), more;
	struct name **v, *name;

	if (h->n == *room) {
		more = *room == 0 ? 64 : *room * 2;
		if ((v = reallocarray(h->v, more, sizeof(*v))) == NULL)
			return (-1);
		h->v = v;
		*room = more;
	}
	if ((name = malloc(sizeof(*name) + len + 1)) == NULL)
		return (-1);
	name->type = entry->d_type;
	memcpy(name->text, entry->d_name, len + 1);
	h->v[h->n] = name;
	h->bytes += COST(len);
	sift_up(h, h->n++);
	return (0);
}

static int
take(struct names *h, const struct dirent *entry, const char *after,
    size_t most, size_t *room)
{
	int full = h->n >= most || h->bytes >= NAMES_BYTES_MAX;

	if (strcmp(entry->d_name, after) <= 0)
		return (0);
	if (full && (h->n == 0 || strcmp(entry->d_name,
	    h->v[0]->text) >= 0)) {
		h->more = 1;
		return (0);
	}
	if (add(h, entry, room) == -1)
		return (-1);
	while (h->n > most || (h->bytes > NAMES_BYTES_MAX && h->n > 1))
		drop_largest(h);
	return (0);
}

int
names_next(DIR *dir, const char *after, size_t most, names_filter *filter,
    struct names *names)
{
	const struct dirent *entry;
	size_t room = 0;

	memset(names, 0, sizeof(*names));
	rewinddir(dir);
	for (;;) {
		errno = 0;
		if ((entry = readdir(dir)) == NULL)
			break;
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0 ||
		    (filter != NULL && !filter(entry->d_name)))
			continue;
		names->seen++;
		if (take(names, entry, after, most, &room) == -1)
			return (-1);
	}
	if (errno != 0)
		return (-1);
	if (names->n > 1)
		qsort(names->v, names->n, sizeof(*names->v),
		    after_each_other);
	return (0);
}

void
names_free(struct names *names)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	memset(names, 0, sizeof(*names));
}

DIR *
names_open(int fd)
{
	DIR *dir = fdopendir(fd);
	int saved = errno;

	if (dir == NULL)
		(void)close(fd);
	errno = saved;
	return (dir);
}
