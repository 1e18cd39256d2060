/*
 * approvals, approve, reject: what operators decide.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "approval.h"
#include "words.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define ROWS_DEFAULT	100
#define ANSWER_SIZE	64

/* ---- the list ---- */

static const struct column pending_columns[] = {
	{ "APPROVAL", "approval", 0 },
	{ "LEFT", "left", 1 },
	{ "PRINCIPAL", "principal", 0 },
	{ "TOOL", "tool", 0 },
	{ "EFFECT", "effect", 0 },
	{ "WHAT", "what", 0 },
};

static const struct column all_columns[] = {
	{ "APPROVAL", "approval", 0 },
	{ "STATE", "state", 0 },
	{ "SCOPE", "scope", 0 },
	{ "BY", "decided_by", 0 },
	{ "PRINCIPAL", "principal", 0 },
	{ "SESSION", "session", 0 },
	{ "TOOL", "tool", 0 },
	{ "WHAT", "what", 0 },
};

static void
set_plain(json_t *row, const char *key, char *text)
{
	json_object_set_new(row, key, json_string(text));
	free(text);
}

/* A copy whose cells are safe, with those that are made of several. */
static json_t *
table_of(const json_t *rows)
{
	json_t *all = json_array(), *row, *value;
	char left[32];
	const char *key;
	size_t i;
	void *next;

	json_array_foreach(rows, i, row) {
		row = json_copy(row);
		set_plain(row, "what", approval_what(row));
		json_object_foreach_safe(row, next, key, value) {
			if (json_is_string(value))
				set_plain(row, key, words_plain(
				    json_string_value(value),
				    json_string_length(value)));
		}
		approval_left(left, sizeof(left), json_integer_value(
		    json_object_get(row, "expires_in_ms")));
		json_object_set_new(row, "left", json_string(left));
		json_array_append_new(all, row);
	}
	return (all);
}

static int
list(const struct options *o)
{
	size_t most = o->most != 0 ? o->most : ROWS_DEFAULT;
	const char *target = "/v1/approvals?state=pending";
	const char *none = "Nothing waits for a decision.";
	json_t *json, *rows;

	if (o->remembered) {
		target = "/v1/approvals?state=remembered";
		none = "No approval holds for a session.";
	} else if (o->all) {
		target = "/v1/approvals?state=all";
		none = "There is no approval.";
	}
	json = api_list(o, OPERATOR, target, "approvals", most);
	if (json == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	else {
		rows = table_of(json_object_get(json, "approvals"));
		words_table(rows, o->all || o->remembered ? all_columns :
		    pending_columns, o->all || o->remembered ?
		    NITEMS(all_columns) : NITEMS(pending_columns), none);
		json_decref(rows);
		if (json_is_string(json_object_get(json, "next")) ||
		    json_is_integer(json_object_get(json, "next")))
			printf("There are more: -n %zu shows them.\n",
			    most * 10);
	}
	json_decref(json);
	return (0);
}

/* ---- one of them ---- */

static void
print_lines(const json_t *a)
{
	struct lines lines = { NULL, 0, 0 };
	size_t i;

	lines_of_approval(&lines, a, 0);
	for (i = 0; i < lines.n; i++)
		puts(lines.v[i].text);
	lines_free(&lines);
}

/* Refusals that are no conflict; returns the exit status. */
static int
refused(const struct http_response *r, const json_t *json, const char *id)
{
	const char *message = approval_text(json_object_get(json, "error"),
	    "message");

	if (r->status == 403) {
		complain("%s", *message != '\0' ? message : "that is not "
		    "yours to do");
		advise("myelinctl whoami -o shows your rights; nobody decides "
		    "on a call of their own");
		return (EXIT_NOT_YOURS);
	}
	if (r->status == 404) {
		complain("%s: there is no such approval", id);
		advise("myelinctl approvals --all lists them");
		return (EXIT_FAILED);
	}
	api_complain(r, json);
	return (EXIT_FAILED);
}

/* NULL after a complaint; *status is the exit status then. */
static json_t *
get(const struct options *o, const char *command, const char *id, int *status)
{
	const char *target = approval_target(o, command, id);
	struct http_response r;
	json_t *json;

	*status = EXIT_USAGE;
	if (target == NULL)
		return (NULL);
	*status = EXIT_FAILED;
	json = api_ask(o, OPERATOR, "GET", target, NULL, &r);
	if (json == NULL || r.status < 300)
		return (json);
	*status = refused(&r, json, id);
	json_decref(json);
	return (NULL);
}

static int
show(const struct options *o, const char *id)
{
	int status;
	json_t *a;

	if ((a = get(o, "approvals show", id, &status)) == NULL)
		return (status);
	if (o->json)
		words_json(a);
	else
		print_lines(a);
	json_decref(a);
	return (0);
}

static int
take_back(const struct options *o, const char *id)
{
	const char *target = approval_target(o, "approvals revoke", id);
	struct http_response r;
	int status = 0;
	json_t *json;

	if (target == NULL)
		return (EXIT_USAGE);
	json = api_ask(o, OPERATOR, "DELETE", target, NULL, &r);
	if (json == NULL)
		return (EXIT_FAILED);
	if (r.status >= 300)
		status = refused(&r, json, id);
	else if (o->json)
		words_json(json);
	else
		printf("%s: revoked; the next such call asks again\n", id);
	json_decref(json);
	return (status);
}

/* ---- deciding ---- */

static int
say_decided(const char *id, const json_t *a)
{
	char *text = approval_outcome(a);

	complain("%s: %s", id, text);
	free(text);
	return (EXIT_DECIDED);
}

/* Somebody else was first, it expired, or it is not what was shown. */
static int
conflict(const struct options *o, const char *id,
    const struct http_response *r, const json_t *json)
{
	const char *message = approval_text(json_object_get(json, "error"),
	    "message");
	int status;
	json_t *a;

	if ((a = get(o, "approve", id, &status)) == NULL)
		return (status);
	if (!approval_pending(a))
		status = say_decided(id, a);
	else {
		complain("%s: %s (%d)", id, *message != '\0' ? message :
		    "the service refused", r->status);
		advise("myelinctl approvals show %s shows what it is", id);
		status = EXIT_FAILED;
	}
	json_decref(a);
	return (status);
}

static int
decide(const struct options *o, const char *id, const char *decision,
    const json_t *shown)
{
	struct http_response r;
	json_t *json;
	int status = 0;
	char *text;

	json = api_ask(o, OPERATOR, "POST", approval_target(o, "", id),
	    approval_decision(decision, shown, o->reason), &r);
	if (json == NULL)
		return (EXIT_FAILED);
	if (r.status == 409)
		status = conflict(o, id, &r, json);
	else if (r.status >= 300)
		status = refused(&r, json, id);
	else if (o->json)
		words_json(json);
	else {
		text = approval_outcome(json);
		printf("%s: %s\n", id, text);
		free(text);
	}
	json_decref(json);
	return (status);
}

static int
check_reason(const struct options *o, const char *command)
{
	json_t *text;

	if (o->reason == NULL)
		return (0);
	if ((text = json_string(o->reason)) == NULL)
		return (usage_error(o, "%s: --reason is not UTF-8", command));
	json_decref(text);
	if (strlen(o->reason) > APPROVAL_REASON_MAX)
		return (usage_error(o, "%s: --reason has %zu bytes; the most "
		    "are %d", command, strlen(o->reason),
		    APPROVAL_REASON_MAX));
	return (0);
}

/* The approval to decide on, if it still is one; NULL after a complaint. */
static json_t *
to_decide(const struct options *o, const char *command, const char *id,
    int *status)
{
	json_t *a;

	if ((*status = check_reason(o, command)) != 0 ||
	    (a = get(o, command, id, status)) == NULL)
		return (NULL);
	if (!approval_pending(a))
		*status = say_decided(id, a);
	else if (o->digest != NULL &&
	    strcmp(o->digest, approval_text(a, "digest")) != 0) {
		complain("%s: not the one with that digest; its own is %s",
		    id, approval_text(a, "digest"));
		*status = EXIT_FAILED;
	} else
		return (a);
	json_decref(a);
	return (NULL);
}

/* A long one is allowed by somebody who says that they have read it. */
static int
was_read(const struct options *o, const char *id)
{
	char answer[ANSWER_SIZE];

	if (o->yes)
		return (1);
	if (!isatty(STDIN_FILENO) || o->json) {
		complain("%s: it is long, and has to be read whole", id);
		advise("myelinctl approvals show %s shows it; approve --yes "
		    "says that it was read", id);
		return (0);
	}
	printf("It is long.  If you have read it all, type \"allow\": ");
	if (fflush(stdout) == EOF ||
	    fgets(answer, sizeof(answer), stdin) == NULL)
		answer[0] = '\0';
	answer[strcspn(answer, "\r\n")] = '\0';
	if (strcmp(answer, "allow") == 0)
		return (1);
	complain("%s: not allowed", id);
	return (0);
}

int
cmd_approve(struct options *o, int argc, char **argv)
{
	const char *decision = o->for_session ? "allow_session" : "allow_once";
	int status;
	json_t *a;

	if (argc != 1)
		return (usage_error(o, "approve: the id of an approval "
		    "(a-...)"));
	if ((a = to_decide(o, "approve", argv[0], &status)) == NULL)
		return (status);
	if (!o->json)
		print_lines(a);
	if (json_is_true(json_object_get(a, "long")) && !was_read(o, argv[0]))
		status = EXIT_FAILED;
	else
		status = decide(o, argv[0], decision, a);
	json_decref(a);
	return (status);
}

int
cmd_reject(struct options *o, int argc, char **argv)
{
	int status;
	json_t *a;

	if (argc != 1)
		return (usage_error(o, "reject: the id of an approval "
		    "(a-...)"));
	if (o->reason == NULL || *o->reason == '\0')
		return (usage_error(o, "reject: --reason says why to the one "
		    "who asked"));
	if ((a = to_decide(o, "reject", argv[0], &status)) == NULL)
		return (status);
	status = decide(o, argv[0], "reject_once", a);
	json_decref(a);
	return (status);
}

int
cmd_approvals(struct options *o, int argc, char **argv)
{
	const char *word = argc > 0 ? argv[0] : "";

	if (o->exec != NULL && strcmp(word, "watch") != 0)
		return (usage_error(o, "approvals: --exec is for \"watch\""));
	if (argc == 0)
		return (list(o));
	if (o->all || o->remembered)
		return (usage_error(o, "approvals: --all and --remembered are "
		    "for the list"));
	if (strcmp(word, "watch") == 0)
		return (approvals_watch(o, argc - 1, argv + 1));
	if (argc == 1 && strcmp(word, "suggest") == 0)
		return (approvals_suggest(o));
	if (argc == 2 && strcmp(word, "show") == 0)
		return (show(o, argv[1]));
	if (argc == 2 && strcmp(word, "revoke") == 0)
		return (take_back(o, argv[1]));
	return (usage_error(o, "approvals: nothing, \"show\" or \"revoke\" "
	    "and an id, \"watch\" or \"suggest\""));
}
