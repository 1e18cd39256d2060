/*
 * The closed list of refusals, and how a client is told of one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "refusal.h"
#include "visible.h"

static const struct {
	const char	*word;
	int		 status;
	int		 socks;
	int		 denial;
	const char	*sentence;
} refusals[REFUSE_COUNT] = {
#define ROW(sym, word, status, socks, denial, sentence)			\
	[REFUSE_##sym] = { word, status, socks, denial, sentence },
	REFUSALS(ROW)
#undef ROW
};

static int
known(enum refusal why)
{
	return (why > REFUSE_NOT && why < REFUSE_COUNT);
}

const char *
refusal_word(enum refusal why)
{
	return (known(why) ? refusals[why].word : "?");
}

enum refusal
refusal_find(const char *word)
{
	int i;

	for (i = REFUSE_NOT + 1; i < REFUSE_COUNT; i++)
		if (strcmp(refusals[i].word, word) == 0)
			return ((enum refusal)i);
	return (REFUSE_NOT);
}

int
refusal_status(enum refusal why)
{
	return (refusals[known(why) ? why : REFUSE_INTERNAL].status);
}

int
refusal_socks(enum refusal why)
{
	return (refusals[known(why) ? why : REFUSE_INTERNAL].socks);
}

int
refusal_denial(enum refusal why)
{
	return (known(why) && refusals[why].denial);
}

const char *
refusal_sentence(enum refusal why)
{
	return (refusals[known(why) ? why : REFUSE_INTERNAL].sentence);
}

void
refusal_next(enum refusal why, const char *host, unsigned port, char *out,
    size_t size)
{
	out[0] = '\0';
	switch (why) {
	case REFUSE_NOT_LISTED:
	case REFUSE_PORT:
	case REFUSE_LITERAL:
		(void)snprintf(out, size,
		    "request_egress {\"host\":\"%s\",\"port\":%u}", host,
		    port);
		break;
	case REFUSE_METHOD:
		(void)snprintf(out, size,
		    "request_egress {\"host\":\"%s\",\"port\":%u,"
		    "\"write\":true}, or a command that asks", host, port);
		break;
	case REFUSE_NO_SNI:
	case REFUSE_SNI:
	case REFUSE_ECH:
	case REFUSE_NOT_TLS:
		(void)snprintf(out, size, "a client that names the host in "
		    "TLS, or \"opaque\" in the profile's line");
		break;
	case REFUSE_NO_PROFILE:
		(void)snprintf(out, size, "egress in the profile");
		break;
	default:
		break;
	}
}

static const char *
reason(int status)
{
	static const struct {
		int		 status;
		const char	*reason;
	} reasons[] = {
		{ 400, "Bad Request" },
		{ 403, "Forbidden" },
		{ 429, "Too Many Requests" },
		{ 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" },
		{ 502, "Bad Gateway" },
		{ 504, "Gateway Timeout" }
	};
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].status == status)
			return (reasons[i].reason);
	return ("Refused");
}

/* Any bytes, as text that JSON can hold; NULL stays away. */
static int
set_text(json_t *object, const char *key, const char *bytes)
{
	char *text;
	size_t n;
	int r;

	if (bytes == NULL)
		return (json_object_set_new(object, key, json_null()));
	if ((text = visible_text(bytes, strlen(bytes), &n)) == NULL)
		return (-1);
	r = json_object_set_new(object, key, json_stringn(text, n));
	free(text);
	return (r);
}

static char *
body(enum refusal why, const char *detail, const char *host, const char *rule)
{
	json_t *object;
	char *text = NULL;

	if ((object = json_object()) == NULL)
		return (NULL);
	if (set_text(object, "error", refusal_word(why)) == 0 &&
	    set_text(object, "detail", detail != NULL && detail[0] != '\0' ?
	    detail : refusal_sentence(why)) == 0 &&
	    set_text(object, "host", host) == 0 &&
	    set_text(object, "rule", rule) == 0)
		text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	return (text);
}

char *
refusal_answer(enum refusal why, const char *detail, const char *host,
    const char *rule, int head, size_t *size)
{
	int status = refusal_status(why), n;
	char *json, *text = NULL;

	if ((json = body(why, detail, host, rule)) == NULL)
		return (NULL);
	n = asprintf(&text, "HTTP/1.1 %d %s\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n"
	    "Cache-Control: no-store\r\nConnection: close\r\n\r\n%s%s",
	    status, reason(status), strlen(json) + 1, head ? "" : json,
	    head ? "" : "\n");
	free(json);
	if (n == -1)
		return (NULL);
	*size = (size_t)n;
	return (text);
}
