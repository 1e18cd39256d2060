/* Running the hooks of a call, one after the other. */

#include <sys/queue.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "call.h"
#include "call_list.h"
#include "codec.h"
#include "hook.h"
#include "launch.h"
#include "policyd.h"
#include "sync.h"
#include "verdict.h"
#include "without.h"

#define PRINTED_MAX	(64 * 1024)	/* bytes of each; then it is cut off */

enum { HOOK_STDOUT, HOOK_STDERR, HOOK_STREAMS };

struct hook_run {
	TAILQ_ENTRY(hook_run) entry;
	struct call	*call;
	size_t		 hook;
	char		 name[NAME_BYTES_MAX];
	char		 where[512];	/* in the configuration */
	uint64_t	 set;		/* of hooks that it is one of */
	char		 id[ID_SIZE];	/* as neurond knows it */
	struct neuron	*neuron;	/* NULL: none yet, or gone */
	struct neuron_wait wait;
	uint64_t	 since;
	struct event	*reading[HOOK_STREAMS];
	int		 fd[HOOK_STREAMS];
	size_t		 printed[HOOK_STREAMS];
	char		 said[HOOK_REASON + 1];	/* on standard error */
	size_t		 nsaid;
};

static TAILQ_HEAD(, hook_run) runs = TAILQ_HEAD_INITIALIZER(runs);

static void	run_next(struct call *, size_t);

/* ---- what it prints ---- */

static void
stream_close(struct hook_run *run, int stream)
{
	if (run->reading[stream] != NULL)
		event_free(run->reading[stream]);
	run->reading[stream] = NULL;
	if (run->fd[stream] != -1)
		close(run->fd[stream]);
	run->fd[stream] = -1;
}

/* All that is there.  One that prints too much has nobody who reads it. */
static void
stream_read(struct hook_run *run, int stream)
{
	char buf[4096];
	size_t room;
	ssize_t n;

	while (run->fd[stream] != -1) {
		if ((n = read(run->fd[stream], buf, sizeof(buf))) == -1) {
			if (errno != EAGAIN && errno != EINTR)
				stream_close(run, stream);
			return;
		}
		run->printed[stream] += (size_t)n;
		if (stream == HOOK_STDERR && n > 0) {
			room = HOOK_REASON - run->nsaid;
			if (room > (size_t)n)
				room = (size_t)n;
			memcpy(run->said + run->nsaid, buf, room);
			run->nsaid += room;
		}
		if (n == 0 || run->printed[stream] > PRINTED_MAX)
			stream_close(run, stream);
	}
}

static void
on_stdout(int fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	stream_read(arg, HOOK_STDOUT);
}

static void
on_stderr(int fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	stream_read(arg, HOOK_STDERR);
}

/* Our end does not block; the end that is returned does, or -1. */
static int
stream_open(struct hook_run *run, int stream)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) == -1)
		return (-1);
	run->fd[stream] = fds[0];
	run->reading[stream] = event_new(policyd_base(), fds[0],
	    EV_READ | EV_PERSIST, stream == HOOK_STDOUT ? on_stdout :
	    on_stderr, run);
	if (fcntl(fds[0], F_SETFL, O_NONBLOCK) == -1 ||
	    run->reading[stream] == NULL ||
	    event_add(run->reading[stream], NULL) == -1) {
		close(fds[1]);
		return (-1);
	}
	return (fds[1]);
}

/* What it said on standard error, for a person: one line, of characters. */
static void
said_words(struct hook_run *run)
{
	size_t i, n = run->nsaid;

	/* cut at the end of a character */
	if (n == HOOK_REASON) {
		i = n;
		while (i > 0 && ((unsigned char)run->said[i - 1] & 0xc0) ==
		    0x80)
			i--;
		if (i > 0 && (unsigned char)run->said[i - 1] >= 0xc0)
			n = i - 1;
	}
	for (i = 0; i < n; i++) {
		if ((unsigned char)run->said[i] < ' ' ||
		    run->said[i] == 0x7f)
			run->said[i] = ' ';
	}
	while (n > 0 && run->said[n - 1] == ' ')
		n--;
	run->said[n] = '\0';
}

/* ---- the end of one ---- */

static void
run_free(struct hook_run *run)
{
	struct neuron *n = run->neuron;
	int i;

	neuron_unask(&run->wait);
	for (i = 0; i < HOOK_STREAMS; i++)
		stream_close(run, i);
	TAILQ_REMOVE(&runs, run, entry);
	run->call->hook = NULL;
	free(run);
	if (n != NULL)
		neuron_drop(n);
}

void
hook_over(struct call *c)
{
	if (c->hook != NULL)
		run_free(c->hook);
}

static void
record(const struct hook_run *run, const char *event, const char *why)
{
	audit_append(event, json_pack("{s:s,s:s,s:s,s:I,s:o}",
	    "call", run->call->row.id, "hook", run->name,
	    "run", run->id,
	    "ms", (json_int_t)((now_us() - run->since) / 1000),
	    "why", json_text_or_null(why)));
	sync_soon();
}

static void
run_passed(struct hook_run *run)
{
	struct call *c = run->call;
	size_t next = run->hook + 1;

	record(run, "hook.passed", NULL);
	run_free(run);
	run_next(c, next);
}

static void
run_denied(struct hook_run *run, const char *why)
{
	struct call *c = run->call;
	struct judgement *j = &c->judged;

	record(run, "hook.denied", why);
	j->verdict = VERDICT_DENY;
	c->denied_by = "hook";
	snprintf(j->rule, sizeof(j->rule), "hook \"%s\"", run->name);
	strlcpy(j->where, run->where, sizeof(j->where));
	strlcpy(j->reason, why, sizeof(j->reason));
	strlcpy(j->next, "ask for something else, or ask an operator about "
	    "this hook", sizeof(j->next));
	run_free(run);
	call_hooked(c);
}

static void
run_failed(struct hook_run *run, const char *why)
{
	char words[1200];

	snprintf(words, sizeof(words), "the hook could not run, and what it "
	    "can not look at does not run: %s", why);
	run_denied(run, words);
}

/* How it ended, where it said nothing itself. */
static void
end_words(const struct call_end *end, char *words, size_t size)
{
	char name[16];

	if (end->cause == END_EXITED)
		snprintf(words, size, "it exited with code %d and gave no "
		    "reason", (int)end->exit_code);
	else if (end->cause == END_TIMED_OUT)
		snprintf(words, size, "it did not end within the limit "
		    "hook-timeout, %llu ms",
		    (unsigned long long)conf_limit(LIMIT_HOOK_TIMEOUT));
	else if (end->signal > 0) {
		signal_text(end->signal, name, sizeof(name));
		snprintf(words, size, "it ended by SIG%s", name);
	} else
		snprintf(words, size, "it could not run: %s", end->detail);
}

static struct hook_run *
run_find(const char *id)
{
	struct hook_run *run;

	TAILQ_FOREACH(run, &runs, entry) {
		if (strcmp(run->id, id) == 0)
			return (run);
	}
	return (NULL);
}

void
hook_ended(const char *id, const struct call_end *end)
{
	struct hook_run *run = run_find(id);
	char words[1200];

	if (run == NULL)
		return;
	if (run->set != hooks_set()) {
		run_failed(run, "the configuration has other hooks since");
		return;
	}
	if ((end->cause == END_EXITED && end->exit_code == 0) ||
	    WITHOUT(hook_exit)) {
		run_passed(run);
		return;
	}
	stream_read(run, HOOK_STDERR);
	said_words(run);
	if (run->said[0] != '\0' && end->cause == END_EXITED) {
		/* its words live as long as it does */
		strlcpy(words, run->said, sizeof(words));
	} else
		end_words(end, words, sizeof(words));
	run_denied(run, words);
}

void
hook_neuron_gone(const struct neuron *n, const char *why)
{
	struct hook_run *run;

	TAILQ_FOREACH(run, &runs, entry) {
		if (run->neuron == n)
			break;
	}
	if (run == NULL)
		return;
	run->neuron = NULL;
	run_failed(run, *why != '\0' ? why : "its neuron is gone");
}

/* ---- the start of one ---- */

/* The call as JSON; its arguments are the bytes that were judged. */
static int
call_json(const struct call *c)
{
	const struct judgement *j = &c->judged;
	static const char *const in[] = { "none", "inline", "stream" };
	const uint8_t *bytes;
	char *head, *text;
	json_t *json;
	size_t size, n;
	int fd = -1;

	json = json_pack("{s:s,s:o,s:s,s:s,s:o,s:o,s:s,s:s,s:o,s:o,s:o,s:o,"
	    "s:o,s:o,s:s}",
	    "call", c->row.id, "session", json_text_or_null(c->row.session),
	    "neuron", c->row.neuron, "principal", c->who,
	    "tool", json_text(c->row.tool),
	    "workspace", json_text_or_null(c->neuron != NULL ?
	    c->neuron->build.workspace : NULL),
	    "verdict", verdict_name(j->verdict),
	    "effect", effect_name(j->effect), "marks", marks_json(j->marks),
	    "class", json_text_or_null(j->class),
	    "rule", json_text_or_null(j->rule),
	    "where", json_text_or_null(j->where),
	    "reason", json_text_or_null(j->reason),
	    "command", json_text_or_null(j->command),
	    "stdin", in[c->in <= STDIN_STREAM ? c->in : STDIN_NONE]);
	if (json == NULL || (head = json_dumps(json, JSON_COMPACT)) == NULL)
		fatalx("a call can not be put into JSON");
	json_decref(json);
	if ((bytes = memfd_map(c->fds[CALL_ARGS], ARGUMENTS_MAX, &size)) ==
	    NULL) {
		free(head);
		return (-1);
	}
	n = strlen(head) - 1;	/* without its last brace */
	if ((text = malloc(n + size + 32)) == NULL)
		fatal("hook");
	memcpy(text, head, n);
	n += (size_t)snprintf(text + n, 16, ",\"arguments\":");
	memcpy(text + n, bytes, size);
	n += size;
	memcpy(text + n, "}\n", 2);
	fd = memfd_sealed("call", text, n + 2);
	memfd_unmap(bytes, size);
	free(text);
	free(head);
	return (fd);
}

/* In a neuron like the call's own, but with nothing of the host in it. */
static void
run_start(void *arg, int granted, const struct refusal *why)
{
	struct hook_run *run = arg;
	struct call *c = run->call;
	int fds[4] = { -1, -1, -1, -1 }, i, ok;
	struct refusal r;
	struct build build;

	if (!granted) {
		run_failed(run, why->words);
		return;
	}
	if (run->set != hooks_set() || c->neuron == NULL) {
		run_failed(run, "the configuration has other hooks since");
		return;
	}
	build = c->neuron->build;
	if (!WITHOUT(hook_workspace))
		build.workspace[0] = '\0';
	run->neuron = neuron_new(c->ident, &build, NULL);
	run->neuron->no_egress = !WITHOUT(hook_network);
	if (neuron_make(run->neuron, &r) == -1) {
		run_failed(run, r.words);
		return;
	}
	fds[0] = hook_block(run->hook);
	fds[1] = stream_open(run, HOOK_STDOUT);
	fds[2] = stream_open(run, HOOK_STDERR);
	fds[3] = call_json(c);
	ok = fds[0] != -1 && fds[1] != -1 && fds[2] != -1 && fds[3] != -1;
	if (ok)
		ok = launch_run(run->neuron->id, run->id,
		    (uint32_t)conf_limit(LIMIT_HOOK_TIMEOUT), fds) != -1;
	else {
		for (i = 0; i < 4; i++) {
			if (fds[i] != -1)
				close(fds[i]);
		}
	}
	if (!ok)
		run_failed(run, "no pipes and memfds for it");
}

static void
run_next(struct call *c, size_t hook)
{
	struct hook_run *run;
	int i;

	if (hook == hooks_count()) {
		c->hooked = hooks_set();
		call_hooked(c);
		return;
	}
	if ((run = calloc(1, sizeof(*run))) == NULL ||
	    id_make(ID_CALL, run->id) == -1)
		fatal("hook");
	for (i = 0; i < HOOK_STREAMS; i++)
		run->fd[i] = -1;
	run->call = c;
	run->hook = hook;
	run->set = hooks_set();
	strlcpy(run->name, hook_name(hook), sizeof(run->name));
	snprintf(run->where, sizeof(run->where), "%s:%u",
	    hook_where(hook)->file, (unsigned)hook_where(hook)->line);
	run->since = now_us();
	c->hook = run;
	c->step = STEP_HOOKS;
	TAILQ_INSERT_TAIL(&runs, run, entry);
	neuron_ask(&run->wait, c->ident, run_start, run);
}

void
hook_begin(struct call *c)
{
	run_next(c, 0);
}
