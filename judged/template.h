/*
 * Argv templates: how a tool's arguments become the argument vector of a
 * program.  No shell and no quoting is involved; a template is an array of
 *
 *	"text"				itself
 *	{"arg": "name"}			the argument of that name
 *	{"args": "name"}		each item of that array, in order
 *
 * A string argument stands as it is, a number in decimal.  With
 * "flag": "--text" beside it, an element may be of an argument that is not
 * required: if it was given, the flag and the value stand there, else
 * nothing; a boolean adds the flag alone, if it is true; of an array each
 * item has a flag of its own.  With "prefix": "--text=" it is the same, but
 * that flag and value are one argument.  With "values": {"word": "text"} the
 * words of an enumeration stand for fixed texts, or null for nothing.  With
 * "limit": "keyword" a value may have at most as many bytes as that limit
 * says.
 *
 * What is not required and was not given is its "default" in the schema, if
 * it has one; the last element behind a "--" may be missing without one.
 *
 * No value is ever read as an option (guarantee C1b): it follows the element
 * "--", or directly an option that takes it, which may be its flag.  Only
 * {"args"} may stand first; then it is the whole vector.
 */
#ifndef JUDGED_TEMPLATE_H
#define JUDGED_TEMPLATE_H

#include <jansson.h>
#include <stdint.h>

#include "limits.h"
#include "why.h"

/* 0 if the template is in order and fits the schema, else -1 and why not. */
int	template_check(const json_t *argv, const json_t *schema, struct why *);

struct argv {
	char		**v;		/* NULL-terminated */
	uint32_t	 n;
};

/*
 * The vector for arguments that schema_validate found to fit.  0, or -1 and
 * which limit was broken.  Free in both cases.
 */
int	template_build(const json_t *argv, const json_t *schema,
	    const json_t *args, const struct limits *, struct argv *,
	    struct why *);
void	argv_free(struct argv *);

#endif
