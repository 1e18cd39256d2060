/*
 * myelinctl audit: verifying and reading the audit log.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "chain.h"
#include "mark.h"
#include "words.h"

#define PAGE		500
#define TAIL_DEFAULT	20

/* ---- one page of a running instance's log ---- */

struct page {
	json_t		*json;
	const json_t	*lines;
	uint64_t	 head;		/* sequence of the last record */
	const char	*head_hash;
	int		 more;
	uint64_t	 next;
};

static int
page_get(const struct options *o, uint64_t after, unsigned most,
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

/* ---- verify ---- */

static int
verified(const struct options *o, const struct chain *chain, int ok,
    uint64_t marked)
{
	json_t *json;

	if (o->json) {
		json = json_pack("{s:b,s:I,s:s,s:I,s:s?}", "ok", ok,
		    "sequence", (json_int_t)chain->sequence, "hash",
		    chain->hash, "mark", (json_int_t)marked, "why",
		    ok ? NULL : chain->why);
		words_json(json);
		json_decref(json);
	} else if (ok)
		printf("The audit log is whole: %" PRIu64 " records, the last "
		    "has the hash\n%s\n", chain->sequence, chain->hash);
	else {
		complain("the audit log is not whole: %s", chain->why);
		advise("records up to %" PRIu64 " are as they were written; "
		    "what comes after can't be trusted", chain->sequence);
	}
	return (ok ? 0 : EXIT_FAILED);
}

/* 0, or -1 and chain->why. */
static int
check_page(struct chain *chain, const struct page *page)
{
	const json_t *line;
	size_t i;

	json_array_foreach(page->lines, i, line) {
		if (!json_is_string(line) || chain_add(chain,
		    json_string_value(line), json_string_length(line)) == -1 ||
		    chain_mark(chain, page->head, page->head_hash) == -1)
			return (-1);
	}
	return (0);
}

static int
verify_running(const struct options *o)
{
	struct chain chain;
	struct page page = { .more = 1 };
	uint64_t after = 0, head = 0;
	int ok = 1;

	chain_init(&chain);
	while (ok && page.more) {
		if (page_get(o, after, PAGE, &page) == -1)
			return (EXIT_FAILED);
		head = page.head;
		ok = check_page(&chain, &page) == 0;
		/* Never back: a page must not be asked for twice. */
		if (page.more && page.next <= after)
			page.more = 0;
		after = page.next;
		json_decref(page.json);
	}
	if (ok)
		ok = chain_end(&chain, head) == 0;
	return (verified(o, &chain, ok, head));
}

/*
 * Reads the records of a file.  0; 1 if the last line is not whole; -1 and
 * why.
 */
static int
check_file(struct chain *chain, FILE *f, uint64_t marked, const char *hash)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int ok = 0;

	while (ok == 0 && (len = getline(&line, &room, f)) > 0) {
		/* A power cut can leave half a record behind the mark. */
		if (line[len - 1] != '\n' && chain->sequence >= marked) {
			ok = 1;
			break;
		}
		if (line[len - 1] == '\n')
			len--;
		if (chain_add(chain, line, (size_t)len) == -1 ||
		    chain_mark(chain, marked, hash) == -1)
			ok = -1;
	}
	if (ok != -1 && ferror(f)) {
		snprintf(chain->why, sizeof(chain->why), "it can't be read: "
		    "%s", strerror(errno));
		ok = -1;
	}
	free(line);
	return (ok);
}

/* DIR is the state directory, or its "policy" itself. */
static int
open_state(const char *name)
{
	int dir, policy;

	dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir == -1) {
		complain("%s: %s", name, strerror(errno));
		advise("it is the state directory of an instance, like "
		    "/var/lib/myelin");
		return (-1);
	}
	policy = openat(dir, "policy", O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (policy == -1 && errno == EACCES) {
		complain("%s/policy: permission denied", name);
		advise("be root: it is Myelin's own");
		close(dir);
		return (-1);
	}
	if (policy == -1)
		return (dir);
	close(dir);
	return (policy);
}

static int
verify_stopped(const struct options *o, const char *name)
{
	char hash[CHAIN_HASH];
	struct chain chain;
	uint64_t marked;
	FILE *f = NULL;
	int dir, fd, ok, status = EXIT_FAILED;

	if ((dir = open_state(name)) == -1)
		return (EXIT_FAILED);
	fd = openat(dir, "audit.jsonl", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 || (f = fdopen(fd, "r")) == NULL) {
		complain("%s: audit.jsonl: %s", name, strerror(errno));
		advise("it is the state directory of an instance, like "
		    "/var/lib/myelin");
		goto out;
	}
	if (mark_read(dir, name, &marked, hash) == -1)
		goto out;
	chain_init(&chain);
	ok = check_file(&chain, f, marked, hash);
	if (ok == 1)
		complain("after record %" PRIu64 " there is half a record, as "
		    "a power cut leaves it", chain.sequence);
	if (ok != -1)
		ok = chain_end(&chain, marked);
	status = verified(o, &chain, ok != -1, marked);
out:
	if (f != NULL)
		fclose(f);
	close(dir);
	return (status);
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

static void
print_line(const struct options *o, const json_t *line)
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
	if (page_get(o, 0, 1, &page) == -1)
		return (EXIT_FAILED);
	after = page.head > most ? page.head - most : 0;
	json_decref(page.json);
	for (;;) {
		if (page_get(o, after, PAGE, &page) == -1)
			return (EXIT_FAILED);
		json_array_foreach(page.lines, i, line)
			print_line(o, line);
		after += json_array_size(page.lines);
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
	if (argc == 1 && strcmp(argv[0], "verify") == 0)
		return (verify_running(o));
	if (argc == 2 && strcmp(argv[0], "verify") == 0)
		return (verify_stopped(o, argv[1]));
	if (argc == 1 && strcmp(argv[0], "tail") == 0)
		return (tail(o));
	return (usage_error(o, "audit: \"verify\", \"verify\" and a state "
	    "directory, or \"tail\""));
}
