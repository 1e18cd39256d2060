/*
 * Strict validation by a subset of JSON Schema 2020-12: no coercion, no
 * references.
 *
 *	type (a name or a list of names), enum, const
 *	properties, required, additionalProperties (a schema or a boolean)
 *	items (a schema), minItems, maxItems
 *	minLength, maxLength (characters, not bytes), minimum, maximum
 *
 * and, without effect, $schema, $comment, title, description, default,
 * examples.  A schema that uses another keyword is refused as a whole: a
 * constraint that is not understood must not be skipped.
 *
 * One thing is stricter than the standard: 1.0 is no integer.  What a program
 * is given must be the text that was judged.
 */
#ifndef JUDGED_SCHEMA_H
#define JUDGED_SCHEMA_H

#include <jansson.h>

#include "why.h"

#define SCHEMA_DEPTH_MAX	16

/* 0 if every keyword is known and well-formed, else -1 and why not. */
int	schema_check(const json_t *schema, struct why *);
/* The same of a schema under another name than "input_schema". */
int	schema_check_as(const char *name, const json_t *schema, struct why *);

/*
 * 0 if the value fits a schema that schema_check accepted; else -1 and one
 * sentence that begins with the path: "args.argv[2]: expected string, got
 * integer".  name is what the path begins with.
 */
int	schema_validate(const json_t *schema, const json_t *value,
	    const char *name, struct why *);

/* "string", "integer" ...: what a value is. */
const char *schema_type_of(const json_t *);

#endif
