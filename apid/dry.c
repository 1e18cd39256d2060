/*
 * Dry runs.
 */
#include <jansson.h>

#include "codec.h"
#include "dry.h"
#include "json.h"
#include "log.h"
#include "protocol.h"

static json_t *
explanation(int fd)
{
	const uint8_t *bytes;
	json_t *json = NULL;
	size_t size;

	if (fd != -1 &&
	    (bytes = memfd_map(fd, EXPLANATION_MAX, &size)) != NULL) {
		json = json_loadb((const char *)bytes, size,
		    JSON_ALLOW_NUL, NULL);
		memfd_unmap(bytes, size);
	}
	if (fd != -1 && !json_is_object(json))
		log_warnx("an explanation that is none");
	if (json_is_object(json))
		return (json);
	json_decref(json);
	return (json_null());
}

char *
dry_answer(const char *json, size_t n, int fd)
{
	json_t *answer = json_loadb(json, n, 0, NULL);
	char *text = NULL;

	if (json_is_object(answer) && json_object_set_new(answer,
	    "explanation", explanation(fd)) == 0)
		text = json_text(answer);
	json_decref(answer);
	return (text);
}
