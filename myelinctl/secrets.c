/*
 * Secrets that operators register.  A value comes from standard input or a
 * prompt without echo, never from the command line, which others can see.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "api.h"
#include "words.h"

#define VALUE_MOST	4096

static const struct column columns[] = {
	{ "NAME", "name", 0 },
	{ "BYTES", "length", 1 },
	{ "REGISTERED", "registered", 0 },
	{ "KEPT", "kept", 0 },
	{ "STATE", "state", 0 },
};

static int
list(const struct options *o)
{
	const char *store;
	json_t *json;

	json = api_call(o, OPERATOR, "GET", "/v1/secrets", NULL);
	if (json == NULL)
		return (EXIT_FAILED);
	store = json_string_value(json_object_get(json, "store"));
	if (o->json)
		words_json(json);
	else {
		words_table(json_object_get(json, "secrets"), columns,
		    sizeof(columns) / sizeof(columns[0]),
		    "No secrets are registered.");
		if (store != NULL && strncmp(store, "no ", 3) == 0)
			printf("There is %s: values live in memory, and are "
			    "gone when the service stops.\n", store);
	}
	json_decref(json);
	return (0);
}

/* ---- the value ---- */

static ssize_t
read_all(char *value)
{
	size_t n = 0;
	ssize_t got;

	/* One more than may be, so that more shows. */
	do {
		got = read(STDIN_FILENO, value + n, VALUE_MOST + 2 - n);
		if (got > 0)
			n += (size_t)got;
	} while ((got > 0 && n < VALUE_MOST + 2) ||
	    (got == -1 && errno == EINTR));
	if (got == -1) {
		complain("standard input: %s", strerror(errno));
		return (-1);
	}
	return ((ssize_t)n);
}

static ssize_t
ask(const char *name, char *value)
{
	struct termios before, quiet;
	ssize_t n;

	if (tcgetattr(STDIN_FILENO, &before) == -1) {
		complain("the terminal: %s", strerror(errno));
		return (-1);
	}
	fprintf(stderr, "Value of %s (not shown): ", name);
	quiet = before;
	quiet.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
	(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	do
		n = read(STDIN_FILENO, value, VALUE_MOST + 2);
	while (n == -1 && errno == EINTR);
	(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
	fputc('\n', stderr);
	/* ^C is a byte now. */
	if (n <= 0 || memchr(value, 0x03, (size_t)n) != NULL) {
		complain("no value");
		return (-1);
	}
	return (n);
}

static int
add(const struct options *o, const char *name)
{
	char value[VALUE_MOST + 2];
	json_t *text, *json;
	ssize_t n;

	n = isatty(STDIN_FILENO) ? ask(name, value) : read_all(value);
	if (n == -1)
		return (EXIT_FAILED);
	/* The line's end that editors and echo(1) add is no part of it. */
	if (n > 0 && value[n - 1] == '\n')
		n--;
	if (n > 0 && value[n - 1] == '\r')
		n--;
	text = json_stringn(value, (size_t)n);
	explicit_bzero(value, sizeof(value));
	if (text == NULL) {
		complain("the value is not UTF-8");
		return (EXIT_FAILED);
	}
	json = api_call(o, OPERATOR, "POST", "/v1/secrets",
	    json_pack("{s:s,s:o}", "name", name, "value", text));
	if (json == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	json_decref(json);
	return (0);
}

static int
delete(const struct options *o, const char *name)
{
	char target[128];

	/* What is no name would be another path. */
	if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_.-") != strlen(name) || strlen(name) > 63 ||
	    name[0] == '\0')
		return (usage_error(o, "secrets delete %s: not a name", name));
	(void)snprintf(target, sizeof(target), "/v1/secrets/%s", name);
	return (api_delete(o, OPERATOR, target));
}

int
cmd_secrets(struct options *o, int argc, char **argv)
{
	if (argc == 0 || (argc == 1 && strcmp(argv[0], "list") == 0))
		return (list(o));
	if (argc == 2 && strcmp(argv[0], "add") == 0)
		return (add(o, argv[1]));
	if (argc == 2 && strcmp(argv[0], "delete") == 0)
		return (delete(o, argv[1]));
	if (argc == 3 && strcmp(argv[0], "add") == 0)
		return (usage_error(o, "secrets add: the value comes from "
		    "standard input, as others can see a command line"));
	return (usage_error(o, "secrets: [list | add NAME | delete NAME]"));
}
