/*
 * Validation by JSON Schema 2020-12, with a bound on its work.
 *
 *	type (a name or a list of names), enum, const
 *	properties, required, additionalProperties, patternProperties,
 *	propertyNames, minProperties, maxProperties, dependentRequired,
 *	dependentSchemas
 *	items, prefixItems, contains, minContains, maxContains, minItems,
 *	maxItems, uniqueItems
 *	minLength, maxLength (characters, not bytes), pattern
 *	minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf
 *	allOf, anyOf, oneOf, not, if, then, else
 *	$defs, and $ref within the schema ("#/$defs/name")
 *
 * and, without effect, $schema, $comment, title, description, default,
 * examples, format, deprecated, readOnly, writeOnly, contentEncoding,
 * contentMediaType, contentSchema.  A schema that uses another keyword is
 * refused as a whole: a constraint that is not understood must not be
 * skipped.
 *
 * Patterns are PCRE2's, in UTF-8, without look at a locale; one that takes
 * too long on a value refuses the value.
 */
#ifndef JUDGED_SCHEMA_H
#define JUDGED_SCHEMA_H

#include <jansson.h>

#include "why.h"

#define SCHEMA_DEPTH_MAX	16	/* schemas inside each other */
#define SCHEMA_SCHEMAS_MAX	2048	/* of one declaration */
#define SCHEMA_REF_DEPTH_MAX	128	/* the same along a value, and $refs */
#define SCHEMA_STEPS_MAX	1000000	/* of one value */
#define SCHEMA_PATTERN_MAX	1024	/* bytes of a pattern */

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

/*
 * A part of a schema, whose references lead into the whole: the one that its
 * $ref leads to in the end, or itself; and validation by it.
 */
const json_t *schema_follow(const json_t *whole, const json_t *part);
int	schema_validate_part(const json_t *whole, const json_t *part,
	    const json_t *value, const char *name, struct why *);

/*
 * tool-input coerce: strings in a value that stand for a number, a boolean or
 * null, where the schema asks for just that and not for a string, become it.
 * Along properties, items and local references.  Returns how many did.
 */
unsigned schema_coerce(const json_t *schema, json_t *value);

/* "string", "integer" ...: what a value is. */
const char *schema_type_of(const json_t *);

#endif
