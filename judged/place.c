/*
 * Paths into a value, for messages.
 */
#include <stdio.h>
#include <string.h>

#include "place.h"

void
place_push(struct place *place, const char *text)
{
	size_t room = sizeof(place->path) - place->len;
	int n;

	n = snprintf(place->path + place->len, room, "%s", text);
	place->len += (size_t)n < room ? (size_t)n : room - 1;
	place->depth++;
}

void
place_pop(struct place *place, size_t len)
{
	place->len = len;
	place->path[len] = '\0';
	place->depth--;
}

static int
plain_name(const char *name, size_t nlen)
{
	return (nlen > 0 && nlen <= 64 && strspn(name,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
	    == nlen);
}

void
place_push_name(struct place *place, const char *name, size_t nlen)
{
	char buf[WHY_NAME_SIZE], step[WHY_NAME_SIZE + 8];

	if (plain_name(name, nlen))
		snprintf(step, sizeof(step), ".%s", name);
	else
		snprintf(step, sizeof(step), "[\"%s\"]",
		    why_name(name, nlen, buf));
	place_push(place, step);
}

void
place_push_index(struct place *place, size_t index)
{
	char step[32];

	snprintf(step, sizeof(step), "[%zu]", index);
	place_push(place, step);
}
