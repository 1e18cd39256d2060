/*
 * myelinctl shell: a program in a neuron, on this terminal.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "run.h"
#include "term.h"
#include "tty.h"

static char bash[] = "/bin/bash";

static json_t *
request(const struct options *o, const struct term *term, json_t *args)
{
	json_t *body;

	body = json_pack("{s:s,s:o,s:s,s:{s:b},s:o*}", "tool", "exec", "args",
	    args, "flow", "block", "stdin", "stream", 1, "pty",
	    term_member(term));
	/* Nobody wants to be thrown out of a shell after a minute. */
	if (o->timeout_ms == 0)
		json_object_set_new(body, "timeout_ms", json_string("max"));
	if (api_put_place(o, body) == -1 || api_put_call(o, body) == -1) {
		json_decref(body);
		return (NULL);
	}
	return (body);
}

static int
check_session(const struct options *o)
{
	if (o->session == NULL)
		return (0);
	if (!id_ok(ID_SESSION, o->session))
		return (usage_error(o, "shell: --session %s: not the id of a "
		    "session (s-...)", o->session));
	if (o->workspace != NULL || o->read_only || o->profile != NULL ||
	    o->preset != NULL)
		return (usage_error(o, "shell: a session has its workspace, "
		    "profile and preset; none can be given with --session"));
	return (0);
}

int
cmd_shell(struct options *o, int argc, char **argv)
{
	static struct feed feed;
	static struct term term;
	char *own[] = { bash, NULL };
	char target[96] = "/v1/calls";
	struct sink out;
	struct follow f = { .socket = api_socket(o, AGENT), .feed = &feed,
	    .term = &term, .out = &out, .err = &out };
	json_t *args, *body = NULL;
	int status;

	if (argc == 0) {
		argc = 1;
		argv = own;
	}
	if ((status = check_session(o)) != 0)
		return (status);
	if (o->session != NULL)
		snprintf(target, sizeof(target), "/v1/sessions/%s/calls",
		    o->session);
	if (term_init(&term, f.socket) == -1)
		return (EXIT_MYELIN);
	sink_init(&out, STDOUT_FILENO);
	status = EXIT_MYELIN;
	if (feed_init(&feed, f.socket) == -1 ||
	    (args = run_args(argc, argv)) == NULL ||
	    (body = request(o, &term, args)) == NULL)
		goto out;
	feed.typed = term_typed;
	feed.typed_arg = &term;
	follow_call(&f, target, body);
	tty_restore();
	status = run_status(o, argv[0], &f);
out:
	json_decref(body);
	term_free(&term);
	follow_free(&f);
	feed_free(&feed);
	sink_free(&out);
	return (status);
}
