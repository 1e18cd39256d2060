/*
 * Texts that are as hard to read or to resolve as a text can be.
 */
#ifndef TESTS_SHELL_WORST_H
#define TESTS_SHELL_WORST_H

#include <stddef.h>

struct worst {
	const char	*name;
	const char	*head;		/* once, in front */
	const char	*open;		/* over and over ... */
	const char	*middle;	/* once */
	const char	*close;		/* as often as open */
	const char	*tail;		/* once, at the end */
};

extern const struct worst worst[];
extern const size_t nworst;

/* The text of about so many bytes, to be freed; NULL when memory is out. */
char	*worst_text(const struct worst *, size_t bytes, size_t *len);

#endif
