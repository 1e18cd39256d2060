/*
 * The results of tools that are bodies of neuron-tool.
 *
 * It is our program that writes them, but in a neuron, next to others: they
 * are read like anything that comes from there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "body.h"
#include "json.h"
#include "limits.h"
#include "log.h"

#define READ_SIZE	65536
#define CODE_TOO_LARGE	"result_too_large"
#define CODE_INVALID	"result_invalid"

struct body *
body_new(void)
{
	return (calloc(1, sizeof(struct body)));
}

void
body_free(struct body *b)
{
	if (b == NULL)
		return;
	free(b->text);
	json_decref(b->result);
	free(b);
}

/* Room for one more read, if there is to be any.  0, or -1. */
static int
make_room(struct body *b)
{
	size_t room = b->room == 0 ? READ_SIZE : b->room * 2;
	uint8_t *p;

	if (b->room - b->size >= READ_SIZE || b->room >= BODY_RESULT_MAX)
		return (0);
	if (room > BODY_RESULT_MAX)
		room = BODY_RESULT_MAX;
	if ((p = realloc(b->text, room)) == NULL)
		return (-1);
	b->text = p;
	b->room = room;
	return (0);
}

int
body_read(struct body *b, int fd)
{
	static uint8_t scrap[READ_SIZE];
	uint8_t *to = scrap;
	size_t most = sizeof(scrap);
	ssize_t n;

	if (!b->no_room && b->total == b->size && make_room(b) == 0 &&
	    b->size < b->room) {
		to = b->text + b->size;
		most = b->room - b->size;
	}
	n = read(fd, to, most);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return (0);
	if (n <= 0)
		return (-1);
	b->total += (uint64_t)n;
	if (to != scrap)
		b->size += (size_t)n;
	return (1);
}

void
body_drop(struct body *b)
{
	free(b->text);
	b->text = NULL;
	b->size = b->room = 0;
	b->no_room = 1;
}

static void
parse(struct body *b)
{
	const char *text = (const char *)b->text;

	if (b->no_room)
		(void)snprintf(b->why, sizeof(b->why), "there is no room for "
		    "the tool's result below the limit \"%s\"",
		    limit_table[LIMIT_OUTPUT_KEPT_ALL].keyword);
	else if (b->total > b->size)
		(void)snprintf(b->why, sizeof(b->why), "the tool's result has "
		    "%llu bytes, at most %d are taken",
		    (unsigned long long)b->total, BODY_RESULT_MAX);
	else if (!json_within(text, b->size, JSON_DEPTH_MAX, BODY_VALUES_MAX))
		(void)snprintf(b->why, sizeof(b->why), "the tool's result has "
		    "more than %d levels or %d values", JSON_DEPTH_MAX,
		    BODY_VALUES_MAX);
	else if (b->size == 0)
		(void)snprintf(b->why, sizeof(b->why),
		    "the tool gave no result");
	else {
		/* A line of a file may well hold a NUL. */
		b->result = json_loadb(text, b->size,
		    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
		if (json_is_object(b->result))
			return;
		json_decref(b->result);
		b->result = NULL;
		(void)snprintf(b->why, sizeof(b->why),
		    "the tool's result is not a JSON object");
	}
}

char *
body_end(struct body *b, size_t *size)
{
	const json_t *message;
	char *words;
	size_t n;

	parse(b);
	free(b->text);
	b->text = NULL;
	b->room = 0;
	message = json_object_get(json_object_get(b->result, "error"),
	    "message");
	if ((n = json_string_length(message)) == 0)
		return (NULL);
	/* Not in the middle of a character. */
	if (n > BODY_MESSAGE_MAX)
		for (n = BODY_MESSAGE_MAX; n > 0 &&
		    (json_string_value(message)[n] & 0xc0) == 0x80; n--)
			;
	if ((words = malloc(n + 1)) == NULL)
		fatal("a tool's message");
	memcpy(words, json_string_value(message), n);
	words[n] = '\n';
	*size = n + 1;
	return (words);
}

/* A call that was ended early says so itself; half a result is none. */
void
body_seal(struct body *b, json_t *record)
{
	const char *state;
	json_t *error;

	if (b->result != NULL) {
		json_object_set(record, "result", b->result);
		return;
	}
	json_object_set_new(record, "result", json_null());
	state = json_string_value(json_object_get(record, "state"));
	if (state == NULL || strcmp(state, "completed") != 0 ||
	    json_is_object(json_object_get(record, "error")))
		return;
	error = json_object();
	json_object_set_new(error, "code", json_string(
	    b->total > b->size ? CODE_TOO_LARGE : CODE_INVALID));
	json_object_set_new(error, "message", json_string(b->why));
	json_object_set_new(record, "error", error);
}
