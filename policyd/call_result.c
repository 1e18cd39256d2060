/* The record of a call, as the API shows it. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "egress.h"
#include "keys.h"
#include "layers.h"
#include "verdict.h"
#include "without.h"

static const struct call_outcome outcomes[] = {
	[END_EXITED] = { CALL_COMPLETED, NULL },
	[END_SIGNALLED] = { CALL_FAILED, "signalled" },
	[END_TIMED_OUT] = { CALL_FAILED, "timed_out" },
	[END_OOM] = { CALL_FAILED, "oom_killed" },
	[END_PIDS] = { CALL_FAILED, "pids_limit" },
	[END_OUTPUT_LIMIT] = { CALL_FAILED, "output_limit" },
	[END_CANCELLED] = { CALL_CANCELLED, NULL },
	[END_SESSION_ENDED] = { CALL_FAILED, "session_ended" },
	[END_INTERRUPTED] = { CALL_FAILED, "interrupted" },
	[END_EXEC_FAILED] = { CALL_FAILED, "exec_failed" },
	[END_LAUNCH_FAILED] = { CALL_FAILED, "launch_failed" },
	[END_NEURON_LOST] = { CALL_FAILED, "neuron_lost" },
};

struct call_outcome
call_outcome(unsigned cause)
{
	if (cause < END_EXITED || cause > END_NEURON_LOST)
		cause = END_NEURON_LOST;
	return (outcomes[cause]);
}

void
signal_text(int number, char *dst, size_t size)
{
	const char *name;

	if (number <= 0)
		*dst = '\0';
	else if ((name = sigabbrev_np(number)) != NULL)
		strlcpy(dst, name, size);
	else
		snprintf(dst, size, "SIG%d", number);
}

int
signal_number(const char *text)
{
	char name[16];
	int number;

	for (number = 1; number < NSIG; number++) {
		signal_text(number, name, sizeof(name));
		if (strcmp(name, text) == 0)
			return (number);
	}
	return (0);
}

/* What a limit that ended the call was, and its value. */
static void
limit_words(const struct call *c, unsigned cause, char *dst, size_t size)
{
	switch (cause) {
	case END_TIMED_OUT:
		snprintf(dst, size, "the call's time of %u ms was over",
		    c->timeout);
		break;
	case END_OOM:
		snprintf(dst, size, "the neuron's memory is used up: the "
		    "limit memory is %llu bytes",
		    (unsigned long long)c->limits.v[LIMIT_MEMORY]);
		break;
	case END_PIDS:
		snprintf(dst, size, "the neuron's processes are used up: the "
		    "limit pids is %llu",
		    (unsigned long long)c->limits.v[LIMIT_PIDS]);
		break;
	case END_OUTPUT_LIMIT:
		snprintf(dst, size, "the output went over the limit "
		    "output-killed, which is %llu bytes",
		    (unsigned long long)c->limits.v[LIMIT_OUTPUT_KILLED]);
		break;
	case END_SESSION_ENDED:
		strlcpy(dst, "the call's session was ended", size);
		break;
	case END_INTERRUPTED:
		strlcpy(dst, "the call's reader was lost", size);
		break;
	default:
		*dst = '\0';
	}
}

static int
by_verdict(const char *reason)
{
	return (strcmp(reason, "denied_by_policy") == 0 ||
	    strcmp(reason, "no_egress") == 0);
}

/* Words for the error of a call that did not complete; "" for none. */
static void
error_words(const struct call *c, const struct call_end *end,
    const char *reason, const char *words, char *dst, size_t size)
{
	*dst = '\0';
	if (reason == NULL)
		return;
	if (words != NULL && *words != '\0')
		strlcpy(dst, words, size);
	else if (by_verdict(reason))
		snprintf(dst, size, "%s%s%s", c->judged.reason,
		    c->judged.next[0] != '\0' ? "; " : "", c->judged.next);
	else if (end != NULL)
		limit_words(c, end->cause, dst, size);
	/* LAUNCH may cross the end of its neuron, and find none any more. */
	if (*dst == '\0' && c->gone != 0 && strcmp(reason, "launch_failed") ==
	    0)
		strlcpy(dst, c->gone_why, size);
	if (*dst == '\0' && end != NULL)
		strlcpy(dst, end->detail, size);
	if (*dst == '\0' && c->gone != 0)
		strlcpy(dst, c->gone_why, size);
}

static json_t *
error_json(const char *reason, const char *words)
{
	if (reason == NULL || (*words == '\0' &&
	    strcmp(reason, "signalled") == 0))
		return (json_null());
	return (json_pack("{s:s,s:o}", "code", reason, "message",
	    json_text(words)));
}

static json_t *
denials_json(const struct call *c, const char *reason, const char *words)
{
	json_t *list = json_array();

	if (WITHOUT(denials))
		return (list);
	if (reason != NULL && by_verdict(reason))
		json_array_append_new(list, json_pack("{s:s,s:o,s:o,s:o}",
		    "layer", c->denied_by != NULL ? c->denied_by : "judge",
		    "what", json_text(c->judged.reason),
		    "rule", json_text_or_null(c->judged.rule),
		    "next", json_text_or_null(c->judged.next)));
	else if (c->gone == GONE_REFUSED)
		json_array_append_new(list, json_pack("{s:s,s:o,s:n,s:n}",
		    "layer", "workspace", "what", json_text(words),
		    "rule", "next"));
	return (list);
}

/* The same for nearly every call: made once, and only ever read. */
static json_t *
layers_json(uint64_t layers)
{
	static json_t *list;
	static uint64_t of;
	unsigned bit;

	if (list != NULL && of == layers)
		return (json_incref(list));
	json_decref(list);
	list = json_array();
	of = layers;
	for (bit = 0; bit < LAYER_COUNT; bit++) {
		if ((layers & (UINT64_C(1) << bit)) != 0)
			json_array_append_new(list,
			    json_string(layer_name(bit)));
	}
	return (json_incref(list));
}

static uint64_t
since(uint64_t from, uint64_t to)
{
	return (from != 0 && to > from ? to - from : 0);
}

static json_t *
times_json(const struct call *c, const struct call_end *end)
{
	return (json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}",
	    "wait_us", (json_int_t)since(c->t_ask, c->t_judge),
	    "judge_us", (json_int_t)since(c->t_judge, c->t_verdict),
	    "neuron_us", (json_int_t)c->neuron_us,
	    "queue_us", (json_int_t)(end != NULL ? end->queue_us : 0),
	    "start_us", (json_int_t)(end != NULL ? end->start_us : 0),
	    "run_us", (json_int_t)(end != NULL ? end->run_us : 0),
	    "end_us", (json_int_t)(end != NULL ? end->end_us : 0),
	    "total_us", (json_int_t)since(c->t_ask, now_us())));
}

/* The part that a call has from its first moment. */
static json_t *
row_json(const struct call_row *row)
{
	char name[16];

	signal_text(row->signal, name, sizeof(name));
	return (json_pack("{s:s,s:o,s:s,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o}",
	    "call", row->id, "session", json_text_or_null(row->session),
	    "neuron", row->neuron,
	    "principal", principal_json(row->principal),
	    "tool", json_text(row->tool),
	    "state", call_state_name(row->state),
	    "reason", json_text_or_null(row->reason),
	    "exit_code", row->exit_code >= 0 && row->signal == 0 ?
	    json_integer(row->exit_code) : json_null(),
	    "signal", json_text_or_null(name),
	    "asked", json_when(row->asked), "ended", json_when(row->ended)));
}

static int
put(json_t *object, const char *key, json_t *value)
{
	return (json_object_set_new(object, key, value));
}

/* What the call was asked as, and what it may use at most. */
static void
put_terms(json_t *json, const struct call *c)
{
	const struct limits *l = &c->limits;

	put(json, "request_id", request_json(&c->to));
	put(json, "approval", json_text_or_null(c->approved));
	put(json, "arguments_sha256", json_text_or_null(c->digest));
	put(json, "preset", json_text_or_null(c->preset));
	put(json, "profile", json_text_or_null(c->profile));
	put(json, "limits", json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}",
	    "timeout_ms", (json_int_t)c->timeout,
	    "memory", (json_int_t)l->v[LIMIT_MEMORY],
	    "cpu_milli", (json_int_t)l->v[LIMIT_CPU],
	    "pids", (json_int_t)l->v[LIMIT_PIDS],
	    "output_kept", (json_int_t)l->v[LIMIT_OUTPUT_KEPT],
	    "output_killed", (json_int_t)l->v[LIMIT_OUTPUT_KILLED]));
}

json_t *
call_result(const struct call *c, const struct call_end *end,
    const char *reason, const char *said)
{
	char words[2200];
	json_t *json;

	if ((json = row_json(&c->row)) == NULL)
		return (NULL);
	error_words(c, end, reason, said, words, sizeof(words));
	put(json, "duration_ms",
	    json_integer((json_int_t)since(c->t_ask, now_us()) / 1000));
	put(json, "usage", json_pack("{s:I,s:I}",
	    "cpu_us", (json_int_t)(end != NULL ? end->cpu_us : 0),
	    "peak_bytes", (json_int_t)(end != NULL ? end->peak_bytes : 0)));
	put(json, "usage_shared", json_boolean(end != NULL &&
	    (end->flags & ENDED_F_SHARED) != 0));
	put(json, "neuron_retired", json_boolean(end != NULL &&
	    (end->flags & ENDED_F_RETIRED) != 0));
	put(json, "leftover_processes",
	    json_integer(end != NULL ? end->leftover : 0));
	put(json, "denials", denials_json(c, reason, words));
	put(json, "layers", layers_json(c->layers));
	put(json, "landlock_abi", json_integer(LAYERS_ABI(c->layers)));
	verdict_put(json, &c->judged);
	put_terms(json, c);
	put(json, "times", times_json(c, end));
	put(json, "error", error_json(reason, words));
	put(json, "result", json_null());
	put(json, "transcript", json_null());
	egress_denials_put(c, json);
	return (json);
}

json_t *
call_live(const struct call *c)
{
	json_t *json;

	if ((json = row_json(&c->row)) == NULL)
		return (NULL);
	verdict_put(json, &c->judged);
	put_terms(json, c);
	put(json, "duration_ms",
	    json_integer((json_int_t)since(c->t_ask, now_us()) / 1000));
	put(json, "error", json_null());
	return (json);
}

json_t *
call_row_json(const struct call_row *row)
{
	json_t *json;

	if ((json = row_json(row)) == NULL)
		return (NULL);
	put(json, "duration_ms", json_integer(
	    (json_int_t)since(row->asked, row->ended) / 1000));
	return (json);
}
