/*
 * Arguments that exclude each other: lists of names of properties, of which
 * exactly one, or at most one, may be given.  A schema could say it with
 * "oneOf" only at its top, where frontends of models do not take it.
 */
#ifndef JUDGED_GROUPS_H
#define JUDGED_GROUPS_H

#include <jansson.h>

#include "why.h"

/*
 * Of a declaration: member ("exactly_one", "at_most_one") is a list of lists
 * of at least two properties of the schema.  0, or -1 and why not.
 */
int	groups_check(const char *member, const json_t *groups,
	    const json_t *schema, struct why *);

/*
 * Of arguments that fit the schema; either list may be NULL.  An argument that
 * is false counts as not given.  0, or -1 and a sentence.
 */
int	groups_validate(const json_t *exactly, const json_t *most,
	    const json_t *args, struct why *);

#endif
