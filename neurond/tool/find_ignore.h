/*
 * The rules of a .gitignore, as gitignore(5) has them.
 */
#ifndef MYELIN_TOOL_FIND_IGNORE_H
#define MYELIN_TOOL_FIND_IGNORE_H

#include <stddef.h>

#define IGNORE_BYTES_MAX	(256 * 1024)	/* read of a file */
#define IGNORE_RULES_MAX	4096

struct ignore;

/*
 * Adds the rules of a text to those of *rules (NULL: none yet), so that they
 * win over them.  What can't be a rule is passed over.  0, or -1 when memory
 * is out.
 */
int	ignore_add(struct ignore **rules, const char *text, size_t len);
void	ignore_free(struct ignore *);

enum ignore_word { IGNORE_NOTHING, IGNORE_IT, IGNORE_NOT };

/*
 * What the rules say of a path below their directory, without a slash in
 * front, whose last component begins at base.
 */
enum ignore_word ignore_match(const struct ignore *, const char *path,
	    size_t len, size_t base, int directory);

#endif
