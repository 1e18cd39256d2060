/*
 * Schema and value, apart by a NUL: a schema that is accepted must judge any
 * value without a fault.
 */
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "arguments.h"
#include "schema.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size == 0 ? NULL : memchr(data, '\0', size);
	json_t *schema, *value;
	struct why why;
	int line;

	if (nul == NULL)
		return (0);
	schema = json_parse("schema", data, (size_t)(nul - data), size, &line,
	    &why);
	value = json_parse("value", nul + 1, size - (size_t)(nul - data) - 1,
	    size, &line, &why);
	if (schema != NULL && value != NULL && schema_check(schema, &why) == 0)
		(void)schema_validate(schema, value, "args", &why);
	if (schema != NULL && value != NULL && schema_check(schema, &why) == 0)
		(void)schema_coerce(schema, value);
	json_decref(schema);
	json_decref(value);
	return (0);
}
