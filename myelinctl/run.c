/*
 * myelinctl run: one program in an ephemeral neuron, as if it ran here.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "dry.h"
#include "run.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

/*
 * How a reason shows as an exit status.  STATUS_OWN is the program's own,
 * STATUS_KILLED that of a program that was killed with SIGKILL.
 */
enum { STATUS_OWN = -1, STATUS_KILLED = EXIT_SIGNAL + 9 };

static const struct ending {
	const char	*reason;
	int		 status;
	const char	*words;		/* NULL: the error's message alone */
	const char	*next;
} endings[] = {
	{ "signalled", STATUS_OWN, NULL, NULL },
	{ "timed_out", EXIT_TIMED_OUT, "timed out",
	    "--timeout SECONDS gives it more time" },
	{ "oom_killed", STATUS_KILLED, "killed: out of memory",
	    "a profile with more memory in myelin.conf" },
	{ "pids_limit", STATUS_KILLED, "killed: too many processes",
	    "a profile with more pids in myelin.conf" },
	{ "output_limit", STATUS_KILLED, "killed: too much output",
	    "write to a file, or raise \"output-killed\" in myelin.conf" },
	{ "session_ended", STATUS_KILLED, "killed: its session was ended",
	    NULL },
	{ "exec_failed", STATUS_OWN, NULL, NULL },
	{ "no_egress", EXIT_MYELIN, NULL, NULL },
	{ "invalid_arguments", EXIT_MYELIN, NULL, NULL },
	{ "denied_by_policy", EXIT_MYELIN, NULL,
	    "myelinctl whoami shows what you may do" },
	{ "approval_rejected", EXIT_NOT_ALLOWED, "an operator rejected the "
	    "call", NULL },
	{ "approval_expired", EXIT_NOT_ALLOWED, "no operator allowed it",
	    "run it again when one is there" },
	{ "policy_changed", EXIT_MYELIN, NULL, NULL },
	{ "interrupted", EXIT_MYELIN, "interrupted: a part of Myelin was "
	    "restarted", "run it again; the service's log says more" },
	{ "neuron_lost", EXIT_MYELIN, "the neuron was lost", "run it again; "
	    "the service's log says more" },
	{ "launch_failed", EXIT_MYELIN, NULL, "the service's log says more" },
};

/* "KILL" or "34" as a number; 9 for what this system does not know. */
static int
signal_number(const char *name)
{
	const char *have;
	int i;

	if (name == NULL)
		return (SIGKILL);
	for (i = 1; i < NSIG; i++) {
		if ((have = sigabbrev_np(i)) != NULL &&
		    strcmp(have, name) == 0)
			return (i);
	}
	i = atoi(name);
	return (i > 0 && i < 127 ? i : SIGKILL);
}

static const char *
text_of(const json_t *result, const char *key)
{
	return (json_string_value(json_object_get(result, key)));
}

static int
own_status(const json_t *result)
{
	const json_t *code = json_object_get(result, "exit_code");

	if (json_is_integer(code))
		return ((int)(json_integer_value(code) & 0xff));
	return (EXIT_SIGNAL + signal_number(text_of(result, "signal")));
}

static const struct ending *
ending_find(const char *reason)
{
	size_t i;

	for (i = 0; i < NITEMS(endings); i++) {
		if (strcmp(endings[i].reason, reason) == 0)
			return (&endings[i]);
	}
	return (NULL);
}

/*
 * Nobody between us and the program reads its name or its directory, so the
 * message of an exec that failed speaks of "the program"; here it gets a name.
 */
static void
say_exec_failed(const struct options *o, const char *program,
    const struct follow *f, const char *message)
{
	static const char directory[] = "the working directory";

	if (message == NULL)
		message = own_status(f->finished) == 127 ? "not found" :
		    "it can't be executed";
	if (o->cwd != NULL &&
	    strncmp(message, directory, sizeof(directory) - 1) == 0)
		complain("-C %s: %s", o->cwd, message);
	else
		complain("%s: %s", program, message);
}

/* A call that did not complete: says why, returns the exit status. */
static int
failed_status(const struct options *o, const char *program,
    const struct follow *f, const char *reason)
{
	const struct ending *ending = ending_find(reason);
	const char *message;
	int status = ending == NULL ? EXIT_MYELIN : ending->status;
	static const char denied[] = "denied: ";

	message = json_string_value(json_object_get(
	    json_object_get(f->finished, "error"), "message"));
	/* Our own words say that already. */
	if (status == EXIT_NOT_ALLOWED && message != NULL &&
	    strncmp(message, denied, sizeof(denied) - 1) == 0)
		message += sizeof(denied) - 1;
	if (strcmp(reason, "signalled") == 0)
		return (own_status(f->finished));
	if (strcmp(reason, "exec_failed") == 0)
		say_exec_failed(o, program, f, message);
	else if (ending != NULL && ending->words != NULL)
		complain("%s%s%s", ending->words, message != NULL ? ": " : "",
		    message != NULL ? message : "");
	else if (message != NULL)
		complain("%s", message);
	else
		complain("the call failed: %s", reason);
	if (ending != NULL && ending->next != NULL)
		advise("%s", ending->next);
	else if (status == EXIT_MYELIN || status == EXIT_NOT_ALLOWED)
		advise("myelinctl call show %s tells all of it", f->call);
	return (status == STATUS_OWN ? own_status(f->finished) : status);
}

/*
 * A program that failed may not say whom it could not reach, or why: what
 * egressd refused it is told, as its own words may not be.
 */
static void
say_denials(const json_t *result)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(result, "denials"), i, one) {
		if (strcmp(text_of(one, "layer") != NULL ?
		    text_of(one, "layer") : "", "egress") != 0 ||
		    text_of(one, "what") == NULL)
			continue;
		complain("denied: %s", text_of(one, "what"));
		if (text_of(one, "next") != NULL)
			advise("%s", text_of(one, "next"));
	}
}

static int
finished_status(const struct options *o, const char *program,
    const struct follow *f)
{
	const char *state = text_of(f->finished, "state");
	const char *reason = text_of(f->finished, "reason");

	if (f->dropped > 0)
		complain("%llu pieces of output were lost", f->dropped);
	if (state != NULL && strcmp(state, "completed") == 0) {
		if (own_status(f->finished) != 0)
			say_denials(f->finished);
		return (own_status(f->finished));
	}
	if (f->signal != 0)
		return (EXIT_SIGNAL + f->signal);
	if (state != NULL && strcmp(state, "cancelled") == 0) {
		complain("killed: the call was cancelled");
		return (STATUS_KILLED);
	}
	return (failed_status(o, program, f, reason == NULL ? "?" : reason));
}

int
run_status(const struct options *o, const char *program,
    const struct follow *f)
{
	if (f->finished != NULL)
		return (finished_status(o, program, f));
	if (f->response != NULL) {
		api_complain(f->response, f->refused);
		return (EXIT_MYELIN);
	}
	if (f->signal != 0 && f->call[0] == '\0')
		return (EXIT_SIGNAL + f->signal);
	if (f->why != NULL && *f->why != '\0') {
		complain("the call can't be followed: %s", f->why);
		if (f->call[0] != '\0')
			advise("myelinctl call show %s says what became of it",
			    f->call);
		else
			advise("is the service running (systemctl status "
			    "myelin)?");
	}
	return (f->signal != 0 ? EXIT_SIGNAL + f->signal : EXIT_MYELIN);
}

json_t *
run_args(int argc, char **argv)
{
	json_t *list = json_array(), *item;
	int i;

	for (i = 0; i < argc; i++) {
		if ((item = json_string(argv[i])) == NULL) {
			complain("argument %d is not UTF-8", i);
			advise("pass such bytes in a file, or through standard "
			    "input");
			json_decref(list);
			return (NULL);
		}
		json_array_append_new(list, item);
	}
	return (json_pack("{s:o}", "argv", list));
}

static json_t *
request(const struct options *o, int argc, char **argv,
    const struct feed *feed)
{
	json_t *body, *args;

	if ((args = run_args(argc, argv)) == NULL)
		return (NULL);
	body = json_pack("{s:s,s:o,s:s,s:o*}", "tool", "exec", "args", args,
	    "flow", "block", "stdin", feed_member(feed));
	if (api_put_place(o, body) == -1 || api_put_call(o, body) == -1) {
		json_decref(body);
		return (NULL);
	}
	return (body);
}

int
cmd_run(struct options *o, int argc, char **argv)
{
	static struct feed feed;
	struct sink out, error;
	struct follow f = { .socket = api_socket(o, AGENT), .feed = &feed,
	    .out = &out, .err = &error };
	json_t *body;
	int status = EXIT_MYELIN;

	if (argc == 0)
		return (usage_error(o, "run: name a program"));
	sink_init(&out, STDOUT_FILENO);
	sink_init(&error, STDERR_FILENO);
	if (feed_init(&feed, f.socket) == -1 ||
	    (body = request(o, argc, argv, &feed)) == NULL)
		goto out;
	if (o->dry_run) {
		status = dry_run(o, "/v1/calls", body);
		goto out;
	}
	follow_call(&f, "/v1/calls", body);
	/* "body" is set lower than by default: the file goes in pieces. */
	if (f.response != NULL && f.response->status == 413 &&
	    feed_stream(&feed) == 0) {
		follow_free(&f);
		json_object_set_new(body, "stdin", feed_member(&feed));
		follow_call(&f, "/v1/calls", body);
	}
	json_decref(body);
	status = run_status(o, argv[0], &f);
out:
	follow_free(&f);
	feed_free(&feed);
	sink_free(&out);
	sink_free(&error);
	return (status);
}
