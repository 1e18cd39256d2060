/*
 * Patterns against patterns.
 */
#ifndef JUDGED_RULES_GLOB_H
#define JUDGED_RULES_GLOB_H

#include <stddef.h>

#define GLOB_TEXT_MAX	4096	/* bytes of what is compared */

/*
 * 1 if some text fits both.  The second is a pattern where glob is set, else
 * as it stands; more may follow it where open is set.  What is longer than
 * GLOB_TEXT_MAX may fit anything.
 */
int	glob_overlaps(const char *pattern, const char *text, int glob,
	    int open);

#endif
