/*
 * Rows of a table by their names.  Tables are written in the order in which
 * they read best; this finds a row of any of them at the cost of one look.
 */
#ifndef SHELL_NAMES_H
#define SHELL_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NAMES_ROOM	4096	/* a power of two, twice the longest table */
#define NAMES_BEGINS	1024	/* a power of two: kinds of beginnings */

struct names {
	const void	*rows;		/* each begins with a const char * */
	size_t		 n;
	size_t		 size;		/* of one row, in bytes */
	int		 made;
	uint64_t	 begins[NAMES_BEGINS / 64];	/* how names begin */
	uint16_t	 place[NAMES_ROOM];	/* a row's number + 1 */
};

#define NAMES(table)	{ .rows = (table), \
	.n = sizeof(table) / sizeof((table)[0]), .size = sizeof((table)[0]) }

/* 1 if they are the same; most differ in their first byte. */
static inline int
same_name(const char *a, const char *b)
{
	return (a[0] == b[0] && strcmp(a, b) == 0);
}

/* 1 if it begins so. */
static inline int
name_begins(const char *name, const char *with)
{
	return (name[0] == with[0] && strncmp(name, with, strlen(with)) == 0);
}

/* The first row of that name, or NULL.  A name of NULL ends a table. */
const void *names_find(struct names *, const char *name);

#endif
