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

static void
put_error(struct text *t, const char *reason, const char *words)
{
	if (reason == NULL || (*words == '\0' &&
	    strcmp(reason, "signalled") == 0)) {
		text_null(t, "error");
		return;
	}
	text_open(t, "error");
	text_word(t, "code", reason);
	text_string(t, "message", words);
	text_close(t);
}

static void
put_denial(struct text *t, const char *layer, const char *what,
    const char *rule, const char *next)
{
	text_open(t, NULL);
	text_word(t, "layer", layer);
	text_string(t, "what", what);
	text_string_or_null(t, "rule", rule);
	text_string_or_null(t, "next", next);
	text_close(t);
}

static void
put_denials(struct text *t, const struct call *c, const char *reason,
    const char *words)
{
	text_list(t, "denials");
	if (WITHOUT(denials))
		;
	else if (reason != NULL && by_verdict(reason))
		put_denial(t, c->denied_by != NULL ? c->denied_by : "judge",
		    c->judged.reason, c->judged.rule, c->judged.next);
	else if (c->gone == GONE_REFUSED)
		put_denial(t, "workspace", words, NULL, NULL);
	text_list_end(t);
}

/* The same for nearly every call: made once. */
static void
put_layers(struct text *t, uint64_t layers)
{
	static struct text list;
	static uint64_t of;
	unsigned bit;

	if (list.len == 0 || of != layers) {
		text_clear(&list);
		text_list(&list, NULL);
		for (bit = 0; bit < LAYER_COUNT; bit++)
			if ((layers & (UINT64_C(1) << bit)) != 0)
				text_word(&list, NULL, layer_name(bit));
		text_list_end(&list);
		of = layers;
	}
	text_json(t, "layers", list.p);
}

static uint64_t
since(uint64_t from, uint64_t to)
{
	return (from != 0 && to > from ? to - from : 0);
}

static void
put_number(struct text *t, const char *key, uint64_t n)
{
	text_int(t, key, (int64_t)n);
}

static void
put_times(struct text *t, const struct call *c, const struct call_end *end)
{
	text_open(t, "times");
	put_number(t, "wait_us", since(c->t_ask, c->t_judge));
	put_number(t, "judge_us", since(c->t_judge, c->t_verdict));
	put_number(t, "neuron_us", c->neuron_us);
	put_number(t, "queue_us", end != NULL ? end->queue_us : 0);
	put_number(t, "start_us", end != NULL ? end->start_us : 0);
	put_number(t, "run_us", end != NULL ? end->run_us : 0);
	put_number(t, "end_us", end != NULL ? end->end_us : 0);
	put_number(t, "total_us", since(c->t_ask, now_us()));
	text_close(t);
}

/* The part that a call has from its first moment. */
static void
put_row(struct text *t, const struct call_row *row)
{
	char name[16], who[PEER_WHO];

	signal_text(row->signal, name, sizeof(name));
	principal_text(row->principal, who, sizeof(who));
	text_word(t, "call", row->id);
	text_word_or_null(t, "session", row->session);
	text_word(t, "neuron", row->neuron);
	text_string(t, "principal", who);
	text_string(t, "tool", row->tool);
	text_word(t, "state", call_state_name(row->state));
	text_word_or_null(t, "reason", row->reason);
	if (row->exit_code >= 0 && row->signal == 0)
		text_int(t, "exit_code", row->exit_code);
	else
		text_null(t, "exit_code");
	text_word_or_null(t, "signal", name);
	text_when(t, "asked", row->asked);
	text_when(t, "ended", row->ended);
}

/* What the call was asked as, and what it may use at most. */
static void
put_terms(struct text *t, const struct call *c)
{
	const struct limits *l = &c->limits;
	char id[REQUEST_ID_SIZE];

	text_word_or_null(t, "request_id", request_id(c->to.id, id));
	text_word_or_null(t, "approval", c->approved);
	text_word_or_null(t, "arguments_sha256", c->digest);
	text_string_or_null(t, "preset", c->preset);
	text_string_or_null(t, "profile", c->profile);
	text_open(t, "limits");
	put_number(t, "timeout_ms", c->timeout);
	put_number(t, "memory", l->v[LIMIT_MEMORY]);
	put_number(t, "cpu_milli", l->v[LIMIT_CPU]);
	put_number(t, "pids", l->v[LIMIT_PIDS]);
	put_number(t, "output_kept", l->v[LIMIT_OUTPUT_KEPT]);
	put_number(t, "output_killed", l->v[LIMIT_OUTPUT_KILLED]);
	text_close(t);
}

static void
put_use(struct text *t, const struct call_end *end)
{
	unsigned flags = end != NULL ? end->flags : 0;

	text_open(t, "usage");
	put_number(t, "cpu_us", end != NULL ? end->cpu_us : 0);
	put_number(t, "peak_bytes", end != NULL ? end->peak_bytes : 0);
	text_close(t);
	text_bool(t, "usage_shared", (flags & ENDED_F_SHARED) != 0);
	text_bool(t, "neuron_retired", (flags & ENDED_F_RETIRED) != 0);
	put_number(t, "leftover_processes", end != NULL ? end->leftover : 0);
}

void
call_result(struct text *t, const struct call *c, const struct call_end *end,
    const char *reason, const char *said)
{
	char words[2200];

	error_words(c, end, reason, said, words, sizeof(words));
	text_open(t, NULL);
	put_row(t, &c->row);
	put_number(t, "duration_ms", since(c->t_ask, now_us()) / 1000);
	put_use(t, end);
	put_denials(t, c, reason, words);
	put_layers(t, c->layers);
	put_number(t, "landlock_abi", LAYERS_ABI(c->layers));
	verdict_text(t, &c->judged);
	put_terms(t, c);
	put_times(t, c, end);
	put_error(t, reason, words);
	text_null(t, "result");
	text_null(t, "transcript");
	text_close(t);
	egress_denials_put(c, t);
}

json_t *
call_live(const struct call *c)
{
	static struct text t;

	text_clear(&t);
	text_open(&t, NULL);
	put_row(&t, &c->row);
	verdict_text(&t, &c->judged);
	put_terms(&t, c);
	put_number(&t, "duration_ms", since(c->t_ask, now_us()) / 1000);
	text_null(&t, "error");
	text_close(&t);
	return (text_tree(&t));
}

json_t *
call_row_json(const struct call_row *row)
{
	static struct text t;

	text_clear(&t);
	text_open(&t, NULL);
	put_row(&t, row);
	put_number(&t, "duration_ms", since(row->asked, row->ended) / 1000);
	text_close(&t);
	return (text_tree(&t));
}
