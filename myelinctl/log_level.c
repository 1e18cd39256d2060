/*
 * "log-level": how much the service logs, until its next configuration.
 */
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "words.h"

int
cmd_log_level(struct options *o, int argc, char **argv)
{
	const char *level;
	json_t *json;

	if (argc > 1 || (argc == 1 && strcmp(argv[0], "verbose") != 0 &&
	    strcmp(argv[0], "brief") != 0))
		return (usage_error(o, "log-level: nothing, \"verbose\" or "
		    "\"brief\""));
	json = argc == 0 ? api_call(o, OPERATOR, "GET", "/v1/status", NULL) :
	    api_call(o, OPERATOR, "POST", "/v1/log", json_pack("{s:s}",
	    "level", argv[0]));
	if (json == NULL)
		return (EXIT_FAILED);
	level = json_string_value(json_object_get(json, argc == 0 ? "log" :
	    "level"));
	if (level != NULL)
		words_put(stdout, level, strlen(level));
	putchar('\n');
	json_decref(json);
	return (0);
}
