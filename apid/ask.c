/*
 * The beginning of a call: its pipes, its memfds, the question to policyd;
 * and the record of one whose end policyd can't tell.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "body.h"
#include "call_internal.h"
#include "codec.h"
#include "conn.h"
#include "feed.h"
#include "json.h"
#include "log.h"
#include "output.h"
#include "policy.h"
#include "request.h"
#include "tools.h"

enum { FD_ARGUMENTS, FD_STDOUT, FD_STDERR, FD_STDIN, NFDS };

/*
 * A pipe of which we keep the end that does not block.  Being non-blocking is
 * a property of each end's own open file: the program's end blocks, as
 * programs expect.
 */
static int
make_pipe(int *ours, int *theirs, int we_read)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) == -1)
		return (-1);
	*ours = fds[we_read ? 0 : 1];
	*theirs = fds[we_read ? 1 : 0];
	if (fcntl(*ours, F_SETFL, O_NONBLOCK) == -1) {
		close(fds[0]);
		close(fds[1]);
		return (-1);
	}
	return (0);
}

static int
make_output(struct call *call, int stream, int *theirs)
{
	int ours;

	call->out[stream].fd = -1;
	if (make_pipe(&ours, theirs, 1) == -1)
		return (-1);
	return (output_start(&call->out[stream], call, stream, ours));
}

static int
make_input(struct call *call, const struct request *q, int *theirs)
{
	int ours;

	switch (q->input) {
	case STDIN_INLINE:
		*theirs = memfd_sealed("stdin", q->text, q->text_size);
		return (*theirs == -1 ? -1 : 0);
	case STDIN_STREAM:
		if (make_pipe(&ours, theirs, 0) == -1)
			return (-1);
		call->feed = feed_new(ours);
		return (call->feed == NULL ? -1 : 0);
	default:
		return (0);
	}
}

static struct call *
make_call(struct conn *c, const struct request *q,
    const struct stream_sink *sink)
{
	struct call *call;
	int i;

	if ((call = calloc(1, sizeof(*call))) == NULL)
		return (NULL);
	for (i = 0; i < STREAMS; i++)
		call->out[i].fd = -1;
	kept_init(&call->kept, conns_limits()->v[LIMIT_OUTPUT_KEPT]);
	TAILQ_INIT(&call->readers);
	TAILQ_INIT(&call->waiters);
	memcpy(call->tool, q->tool, sizeof(call->tool));
	call->state = CALL_ASKED;
	call->killed = UINT64_MAX;
	call->handle = c->handle;
	call->principal = c->principal;
	call->generation = policy_generation();
	call->wants_events = c->head.wants_events;
	call->with_asker = q->with_asker;
	call->asks_with_asker = q->asks_with_asker;
	call->wait_ms = q->wait_ms;
	call->block = q->block;
	call->sink = sink;
	call->pty = q->pty;
	call->strip = q->strip;
	call->patient = call->wait_ms > 0 && !call->wants_events &&
	    sink == NULL && c->dress == NULL && !call->pty;
	call->since = call_now();
	call->transcript = -1;
	call->arguments_size = q->arguments_size;
	if ((call->who = strdup(c->who)) == NULL ||
	    (call->shown = strdup(q->shown)) == NULL ||
	    (tools_has_body(q->tool) && (call->body = body_new()) == NULL)) {
		call_free(call);
		return (NULL);
	}
	return (call);
}

void
call_ask(struct conn *c, const char *session, const struct request *q)
{
	call_ask_sink(c, session, q, NULL);
}

void
call_ask_sink(struct conn *c, const char *session, const struct request *q,
    const struct stream_sink *sink)
{
	int fds[NFDS] = { -1, -1, -1, -1 }, i;
	struct call *call;

	if ((call = make_call(c, q, sink)) == NULL) {
		conn_error(c, API_INTERNAL, "memory for a call");
		return;
	}
	fds[FD_ARGUMENTS] = memfd_sealed("arguments", q->arguments,
	    q->arguments_size);
	if (fds[FD_ARGUMENTS] == -1 ||
	    make_output(call, STREAM_STDOUT, &fds[FD_STDOUT]) == -1 ||
	    make_output(call, STREAM_STDERR, &fds[FD_STDERR]) == -1 ||
	    make_input(call, q, &fds[FD_STDIN]) == -1) {
		log_warn("pipes and memfds of a call");
		conn_error_retry(c, API_UNAVAILABLE, 1,
		    "no pipes for another call now");
		for (i = 0; i < NFDS; i++)
			if (fds[i] != -1)
				close(fds[i]);
		call_free(call);
		return;
	}
	if (policy_ask(c, call, session, q, fds) == -1)
		call_free(call);
}

/* ---- no end known ---- */

static json_t *
text_or_null(const char *s)
{
	return (s[0] != '\0' ? json_string(s) : json_null());
}

json_t *
call_failure(const struct call *call, const char *reason, const char *why)
{
	static const char *const unknown[] = {
		"neuron", "exit_code", "signal", "usage", "verdict", "class",
		"effect", "judged", "times", "result"
	};
	json_t *j = json_object(), *error = json_object();
	size_t i;

	json_object_set_new(j, "call", json_string(call->id));
	json_object_set_new(j, "session", text_or_null(call->session_id));
	json_object_set_new(j, "tool", json_string(call->tool));
	json_object_set_new(j, "state", json_string("failed"));
	json_object_set_new(j, "reason", json_string(reason));
	json_object_set_new(j, "duration_ms",
	    json_integer(call_now() - call->since));
	json_object_set_new(j, "leftover_processes", json_integer(0));
	json_object_set_new(j, "denials", json_array());
	json_object_set_new(j, "layers", json_array());
	json_object_set_new(j, "landlock_abi", json_integer(0));
	json_object_set_new(j, "marks", json_array());
	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		json_object_set_new(j, unknown[i], json_null());
	json_object_set_new(error, "code", json_string(reason));
	json_object_set_new(error, "message", text_or_null(why));
	json_object_set_new(j, "error", error);
	return (j);
}

char *
call_failure_text(const struct call *call, const char *reason,
    const char *why)
{
	json_t *j = call_failure(call, reason, why);
	char *text = json_text(j);

	json_decref(j);
	if (text == NULL)
		fatalx("memory");
	return (text);
}
