/*
 * The names of the layers that this copy of a program does without.
 *
 * They are written into the file, behind the colon, separated and ended by
 * spaces: a root process reads no environment, PID 1 of a neuron has nothing
 * to read, and a copied program needs neither.
 */
#include <stddef.h>
#include <string.h>

#include "without.h"

#define MARKER	"myelin-without:"

/* volatile: what stands here when it is compiled is not what will. */
static volatile char names[512] = MARKER;

/* 1 if the word from start on, before its space, is this name. */
static int
same(size_t start, const char *name)
{
	size_t n = strlen(name), i;

	if (start + n >= sizeof(names) || names[start + n] != ' ')
		return (0);
	for (i = 0; i < n; i++)
		if (names[start + i] != name[i])
			return (0);
	return (1);
}

int
without(const char *name)
{
	size_t i;

	for (i = sizeof(MARKER) - 1; i < sizeof(names); i++) {
		if (names[i] == '\0')
			break;
		if (same(i, name))
			return (1);
		while (i < sizeof(names) - 1 && names[i] != ' ')
			i++;
	}
	return (0);
}
