/*
 * myelinctl audit: reading the audit log.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "audit.h"
#include "words.h"

#define TAIL_DEFAULT	20

/* ---- one page of a running instance's log ---- */

int
audit_page(const struct options *o, uint64_t after, unsigned most,
    struct page *page)
{
	const json_t *head, *next;
	char target[96];

	snprintf(target, sizeof(target), "/v1/audit?after=%" PRIu64
	    "&limit=%u", after, most);
	page->json = api_call(o, OPERATOR, "GET", target, NULL);
	if (page->json == NULL)
		return (-1);
	page->lines = json_object_get(page->json, "lines");
	head = json_object_get(page->json, "head");
	next = json_object_get(page->json, "next");
	page->head = (uint64_t)json_integer_value(json_object_get(head,
	    "sequence"));
	page->head_hash = json_string_value(json_object_get(head, "hash"));
	page->more = json_is_integer(next) && json_array_size(page->lines) > 0;
	page->next = (uint64_t)json_integer_value(next);
	if (!json_is_array(page->lines) || page->head_hash == NULL) {
		complain("the service's answer has no audit records");
		json_decref(page->json);
		return (-1);
	}
	return (0);
}

uint64_t
audit_line_sequence(const json_t *line)
{
	const char *text = json_string_value(line);
	uint64_t n;

	if (text == NULL || sscanf(text, "{\"seq\":%20" SCNu64 ",", &n) != 1)
		return (0);
	return (n);
}

/* ---- tail ---- */

/* "2026-01-02T03:04:05.678Z      17 call.asked  call=c-... tool=exec" */
static void
print_record(const json_t *record)
{
	static const char *const told[] = { "seq", "time", "event", "prev",
	    "hash" };
	const char *key;
	json_t *value;
	char *text;
	size_t i;

	text = words_value(json_object_get(record, "time"));
	printf("%s %7" JSON_INTEGER_FORMAT " ", text,
	    json_integer_value(json_object_get(record, "seq")));
	free(text);
	text = words_value(json_object_get(record, "event"));
	printf("%-16s", text);
	free(text);
	json_object_foreach((json_t *)(uintptr_t)record, key, value) {
		for (i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
			if (strcmp(key, told[i]) == 0)
				break;
		}
		if (i < sizeof(told) / sizeof(told[0]) || json_is_null(value))
			continue;
		text = words_value(value);
		putchar(' ');
		words_put(stdout, key, strlen(key));
		printf("=%s", text);
		free(text);
	}
	putchar('\n');
}

void
audit_print(const struct options *o, const json_t *line)
{
	json_t *record;

	if (!json_is_string(line))
		return;
	record = json_loadb(json_string_value(line),
	    json_string_length(line), JSON_ALLOW_NUL, NULL);
	if (o->json || record == NULL) {
		if (record != NULL && !isatty(STDOUT_FILENO))
			fwrite(json_string_value(line), 1,
			    json_string_length(line), stdout);
		else
			words_put(stdout, json_string_value(line),
			    json_string_length(line));
		putchar('\n');
	} else
		print_record(record);
	json_decref(record);
}

static int
tail(const struct options *o)
{
	uint64_t most = o->most != 0 ? o->most : TAIL_DEFAULT, after;
	const json_t *line;
	struct page page;
	size_t i;

	/* The head first: it says where the end begins. */
	if (audit_page(o, 0, 1, &page) == -1)
		return (EXIT_FAILED);
	after = page.head > most ? page.head - most : 0;
	json_decref(page.json);
	for (;;) {
		if (audit_page(o, after, AUDIT_PAGE, &page) == -1)
			return (EXIT_FAILED);
		json_array_foreach(page.lines, i, line) {
			audit_print(o, line);
			/* Records can be missing: not one more each time. */
			if (audit_line_sequence(line) > after)
				after = audit_line_sequence(line);
		}
		i = json_array_size(page.lines);
		json_decref(page.json);
		if (i > 0 && page.more)
			continue;
		if (!o->follow)
			break;
		if (fflush(stdout) == EOF)
			return (EXIT_FAILED);
		sleep(1);
	}
	return (0);
}

int
cmd_audit(struct options *o, int argc, char **argv)
{
	const char *what = argc > 0 ? argv[0] : "";

	if ((o->since != NULL || o->until != NULL) &&
	    strcmp(what, "export") != 0)
		return (usage_error(o, "--since and --until are for \"audit "
		    "export\""));
	if ((o->nanchor > 0 || o->anchors != NULL) &&
	    strcmp(what, "verify") != 0)
		return (usage_error(o, "--anchor and --anchors are for "
		    "\"audit verify\""));
	if (strcmp(what, "verify") == 0)
		return (audit_verify(o, argc - 1, argv + 1));
	if (argc == 1 && strcmp(what, "tail") == 0)
		return (tail(o));
	if (argc <= 2 && strcmp(what, "export") == 0)
		return (audit_export(o, argc == 2 ? argv[1] : "-"));
	return (usage_error(o, "audit: \"verify\" and perhaps a state "
	    "directory or files, \"tail\", or \"export\" and perhaps a "
	    "file"));
}
