/*
 * Draining: the service takes no new calls, and the running ones end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "api.h"
#include "words.h"

#define WAIT_MS	30000	/* of one request */

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

static json_int_t
running(const json_t *json)
{
	return (json_integer_value(json_object_get(json_object_get(json,
	    "calls"), "running")));
}

static int
resume(const struct options *o)
{
	return (api_delete(o, OPERATOR, "/v1/drain"));
}

/* Asks again and again, as one request waits for a while only. */
static json_t *
wait_for_calls(const struct options *o)
{
	int64_t until = now_ms() + o->timeout_ms, left = WAIT_MS;
	json_t *json = NULL, *body;

	do {
		json_decref(json);
		if (o->timeout_ms != 0)
			left = until - now_ms();
		left = left < 0 ? 0 : left > WAIT_MS ? WAIT_MS : left;
		body = json_pack("{s:I}", "timeout_ms", (json_int_t)left);
		json = api_call(o, OPERATOR, "POST", "/v1/drain", body);
	} while (json != NULL && running(json) > 0 &&
	    (o->timeout_ms == 0 || now_ms() < until));
	return (json);
}

int
cmd_drain(struct options *o, int argc, char **argv)
{
	json_int_t left;
	json_t *json;

	(void)argv;
	if (argc != 0)
		return (usage_error(o, "drain takes no operand"));
	if (o->stop && o->timeout_ms != 0)
		return (usage_error(o, "drain: --timeout or --stop"));
	if (o->stop)
		return (resume(o));
	if ((json = wait_for_calls(o)) == NULL)
		return (EXIT_FAILED);
	left = running(json);
	if (o->json)
		words_json(json);
	json_decref(json);
	if (left == 0)
		return (0);
	complain("%" JSON_INTEGER_FORMAT " %s, and no new ones are taken",
	    left, left == 1 ? "call still runs" : "calls still run");
	advise("myelinctl calls -o lists them; myelinctl drain --stop takes "
	    "new ones again");
	return (EXIT_FAILED);
}
