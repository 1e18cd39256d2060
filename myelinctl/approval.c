/*
 * What approvals say, in words.
 */
#include <err.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "approval.h"
#include "ids.h"
#include "words.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

static char	*words(const char *, ...)
    __attribute__((__format__(__printf__, 1, 2)));

static char *
words(const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n == -1)
		err(EXIT_FAILED, NULL);
	return (text);
}

static char *
plain(const json_t *object, const char *member)
{
	const json_t *value = json_object_get(object, member);

	return (words_plain(approval_text(object, member),
	    json_is_string(value) ? json_string_length(value) : 0));
}

const char *
approval_text(const json_t *object, const char *member)
{
	const char *text = json_string_value(json_object_get(object, member));

	return (text != NULL ? text : "");
}

int
approval_pending(const json_t *a)
{
	return (strcmp(approval_text(a, "state"), "pending") == 0);
}

int
approval_rememberable(const json_t *a)
{
	return (json_is_true(json_object_get(a, "rememberable")) &&
	    json_is_string(json_object_get(a, "session")));
}

/* ---- who ---- */

/* A number in the host's own accounts has a name that says more. */
char *
approval_principal(const char *principal)
{
	char *safe = words_plain(principal, strlen(principal)), *name, *both;
	const struct passwd *pw;
	unsigned long uid;
	char *end;

	if (strncmp(principal, "uid:", 4) != 0)
		return (safe);
	uid = strtoul(principal + 4, &end, 10);
	if (principal[4] < '0' || principal[4] > '9' || *end != '\0' ||
	    (pw = getpwuid((uid_t)uid)) == NULL)
		return (safe);
	name = words_plain(pw->pw_name, strlen(pw->pw_name));
	both = words("%s (%s)", safe, name);
	free(safe);
	free(name);
	return (both);
}

/* ---- how it ended ---- */

static const struct {
	const char	*state;
	const char	*scope;		/* NULL: any */
	const char	*said;
	int		 decided;	/* by somebody */
} outcomes[] = {
	{ "pending", NULL, "waits for a decision", 0 },
	{ "allowed", "session", "allowed for the session", 1 },
	{ "allowed", NULL, "allowed once", 1 },
	{ "rejected", NULL, "rejected", 1 },
	{ "expired", NULL, "expired: nobody decided in time", 0 },
	{ "cancelled", NULL, "cancelled by the one who asked, or ended with "
	    "its session", 0 },
	{ "policy_changed", NULL, "not run: the policy had become stricter",
	    0 },
};

char *
approval_outcome(const json_t *a)
{
	const char *state = approval_text(a, "state");
	char *by, *when, *why, *all;
	size_t i;

	for (i = 0; i < NITEMS(outcomes); i++) {
		if (strcmp(outcomes[i].state, state) == 0 &&
		    (outcomes[i].scope == NULL ||
		    strcmp(outcomes[i].scope, approval_text(a, "scope")) == 0))
			break;
	}
	if (i == NITEMS(outcomes))
		return (plain(a, "state"));
	by = approval_principal(approval_text(a, "decided_by"));
	when = plain(a, "decided");
	why = plain(a, "decision_reason");
	all = words("%s%s%s%s%s%s%s%s", outcomes[i].said,
	    outcomes[i].decided && *by != '\0' ? " by " : "",
	    outcomes[i].decided ? by : "", *when != '\0' ? " at " : "", when,
	    *why != '\0' ? ": " : "", why,
	    json_is_true(json_object_get(a, "revoked")) ? "; revoked" : "");
	free(by);
	free(when);
	free(why);
	return (all);
}

char *
approval_what(const json_t *a)
{
	if (*approval_text(a, "command") != '\0')
		return (plain(a, "command"));
	return (plain(a, "tool"));
}

void
approval_left(char *dst, size_t size, json_int_t ms)
{
	/* What is left of a second is not nothing. */
	json_int_t s = ms <= 0 ? 0 : (ms + 999) / 1000;

	if (s >= 3600)
		snprintf(dst, size, "%" JSON_INTEGER_FORMAT ":%02d:%02d",
		    s / 3600, (int)(s / 60 % 60), (int)(s % 60));
	else
		snprintf(dst, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

/* ---- requests ---- */

const char *
approval_target(const struct options *o, const char *command, const char *id)
{
	static char target[96];

	if (!id_ok(ID_APPROVAL, id)) {
		usage_error(o, "%s: \"%s\" is not the id of an approval "
		    "(a-...)", command, id);
		return (NULL);
	}
	snprintf(target, sizeof(target), "/v1/approvals/%s", id);
	return (target);
}

json_t *
approval_decision(const char *decision, const json_t *shown,
    const char *reason)
{
	return (json_pack("{s:s,s:s,s:s*}", "decision", decision, "digest",
	    approval_text(shown, "digest"), "reason", reason));
}
