/*
 * Arguments that exclude each other.
 */
#include "groups.h"

static int
check_group(const json_t *group, const json_t *properties)
{
	const json_t *name;
	size_t i;

	if (json_array_size(group) < 2)
		return (-1);
	json_array_foreach(group, i, name) {
		if (!json_is_string(name) || json_object_get(properties,
		    json_string_value(name)) == NULL)
			return (-1);
	}
	return (0);
}

int
groups_check(const char *member, const json_t *groups, const json_t *schema,
    struct why *why)
{
	const json_t *properties = json_object_get(schema, "properties");
	const json_t *group;
	size_t i;

	if (!json_is_array(groups))
		goto bad;
	json_array_foreach(groups, i, group) {
		if (check_group(group, properties) == -1)
			goto bad;
	}
	return (0);
bad:
	why_set(why, "%s: not a list of lists of two or more properties of "
	    "input_schema", member);
	return (-1);
}

static unsigned
given(const json_t *group, const json_t *args)
{
	const json_t *name, *value;
	unsigned n = 0;
	size_t i;

	json_array_foreach(group, i, name) {
		value = json_object_get(args, json_string_value(name));
		n += value != NULL && !json_is_false(value);
	}
	return (n);
}

static void
complain(const char *words, const json_t *group, struct why *why)
{
	const json_t *name;
	size_t i;

	why_set(why, "args: %s", words);
	json_array_foreach(group, i, name)
		why_add(why, "%s \"%s\"", i == 0 ? "" : ",",
		    json_string_value(name));
}

int
groups_validate(const json_t *exactly, const json_t *most, const json_t *args,
    struct why *why)
{
	const json_t *group;
	size_t i;

	json_array_foreach(exactly, i, group) {
		if (given(group, args) != 1) {
			complain("exactly one is needed of", group, why);
			return (-1);
		}
	}
	json_array_foreach(most, i, group) {
		if (given(group, args) > 1) {
			complain("at most one may be given of", group, why);
			return (-1);
		}
	}
	return (0);
}
