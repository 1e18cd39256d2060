/*
 * What the parts of the schema validator share.  Each part has a table of
 * keywords: what checks the keyword itself, in a declaration, and what checks
 * a value by it.
 */
#ifndef JUDGED_SCHEMA_INT_H
#define JUDGED_SCHEMA_INT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "place.h"
#include "schema.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

/* A walk over a schema, or over a value along one. */
struct walk {
	struct place	 place;
	const json_t	*root;		/* where "#" leads */
	unsigned	 depth;		/* of schemas inside each other */
	unsigned	 left;		/* steps that it may still take */
	int		 out;		/* it took too many: no verdict */
	/* schema_check: all schemas that were met, and all references. */
	const json_t	**met;
	size_t		 nmet;
	struct ref	*refs;
	size_t		 nrefs;
};

struct ref {
	const char	*to;
	const json_t	*target;
};

typedef int keyword_check(struct walk *, const char *key, const json_t *word);
typedef int keyword_validate(struct walk *, const json_t *schema,
	    const json_t *word, const json_t *value);

struct keyword {
	const char		*name;
	keyword_check		*check;
	keyword_validate	*validate;	/* NULL: says nothing */
};

/* jansson's iterators want what they do not change without const. */
json_t	*schema_mutable(const json_t *);

/* A schema at w->place: 0, or -1 and why. */
int	schema_check_at(struct walk *, const json_t *schema);
int	schema_validate_at(struct walk *, const json_t *schema,
	    const json_t *value);
/* The same without a word about it: 1 if the value fits. */
int	schema_fits(struct walk *, const json_t *schema, const json_t *value);
/* One step of the work: 0, or -1 when there have been too many. */
int	schema_step(struct walk *, unsigned steps);

/* Words about a keyword's own value. */
int	schema_bad_word(struct walk *, const char *key, const char *words);

/* As JSON Schema counts: 1 and 1.0 are one number. */
int	schema_equal(const json_t *, const json_t *);
int	schema_unique(struct walk *, const json_t *array);
int	schema_is_integer(const json_t *);

/* Checks that several keywords share. */
keyword_check schema_check_count, schema_check_schema, schema_check_list;
keyword_check schema_check_map, schema_check_names, schema_check_text;
keyword_check schema_check_any;

/* Patterns: of a declaration; 1, 0, or -1 and why not decided. */
int	schema_pattern_check(struct walk *, const char *key,
	    const char *pattern);
int	schema_pattern_match(struct walk *, const char *pattern,
	    const char *text, size_t len);

/* The tables, in the order of checking. */
extern const struct keyword schema_value_words[], schema_object_words[];
extern const struct keyword schema_array_words[], schema_logic_words[];
extern const size_t schema_value_nwords, schema_object_nwords;
extern const size_t schema_array_nwords, schema_logic_nwords;

#endif
