/*
 * Calls that egressd itself carries out: what they have in common, and
 * request_egress.  run_fetch.c has fetch.
 */
#include <event2/event.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "clock.h"
#include "codec.h"
#include "host.h"
#include "log.h"
#include "proc.h"
#include "run_int.h"
#include "runblock.h"

/* ---- its end ---- */

static void
run_free(struct run *r)
{
	TAILQ_REMOVE(&r->neuron->runs, r, entry);
	run_fetch_free(r);
	event_del(&r->timer);
	event_del(&r->out_ev);
	if (r->out != -1)
		close(r->out);
	if (r->err != -1)
		close(r->err);
	buf_free(&r->text);
	free(r);
}

void
run_end(struct run *r, unsigned cause, int code, const char *detail)
{
	uint64_t ms = now_ms() - r->began;

	/* Its pipes end before it does. */
	close(r->out);
	close(r->err);
	r->out = r->err = -1;
	report_ended(r->call, cause, code, ms > UINT32_MAX / 1000 ?
	    UINT32_MAX : (uint32_t)ms * 1000, detail);
	run_free(r);
}

/* A pipe holds a page at least, and nothing else was written to this one. */
void
run_result(struct run *r, const char *json, int failed)
{
	size_t n = strlen(json);
	ssize_t done = 0;

	while (n > 0 && ((done = write(r->err, json, n)) > 0 ||
	    (done == -1 && errno == EINTR))) {
		if (done > 0) {
			json += done;
			n -= (size_t)done;
		}
	}
	if (n > 0)
		log_warnx_of(&(struct log_about){ .call = r->call,
		    .neuron = r->neuron->id }, "call %s: its result does not "
		    "fit", r->call);
	run_end(r, END_EXITED, failed, "");
}

void
run_error(struct run *r, const char *code, const char *message,
    const char *next)
{
	json_t *root;
	char *text = NULL;

	root = json_pack("{s:{s:s,s:s}}", "error", "code", code, "message",
	    message);
	if (root != NULL && next[0] != '\0')
		json_object_set_new(json_object_get(root, "error"), "next",
		    json_string(next));
	if (root != NULL)
		text = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(root);
	if (text == NULL) {
		run_end(r, END_LAUNCH_FAILED, 0, "out of memory");
		return;
	}
	run_result(r, text, 1);
	free(text);
}

/* ---- output ---- */

static void
on_out(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	run_write(arg);
}

void
run_write(struct run *r)
{
	ssize_t n;

	while (buf_size(&r->text) > 0) {
		n = write(r->out, buf_data(&r->text), buf_size(&r->text));
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN) {
			event_add(&r->out_ev, NULL);
			return;
		}
		if (n == -1) {
			/* Nobody reads it any more: nor need it be got. */
			buf_free(&r->text);
			break;
		}
		buf_drop(&r->text, (size_t)n);
	}
	run_fetch_written(r);
}

/* ---- request_egress ---- */

struct grant_ask {
	const char	*host;
	int		 port;		/* 0: 443 and 80 */
	int		 write;
};

static void
granted(struct run *r, const struct host *host, const struct grant_ask *ask)
{
	int once = r->what == EGRESS_GRANT_ONCE;
	unsigned flags = ask->write ? EGRESS_F_WRITES : 0;
	char words[96];
	json_t *root;
	char *text;

	if (grants_add(r->neuron->grants, host, (uint16_t)ask->port, r->what,
	    flags, now_ms()) == -1) {
		(void)snprintf(words, sizeof(words), "the neuron has %d "
		    "granted hosts, the most: revoke one", GRANTS_MAX);
		run_error(r, "too_many", words, "");
		return;
	}
	report_granted(r->neuron, host->name, (uint16_t)ask->port, r->what,
	    flags);
	root = json_pack("{s:s,s:s,s:b}", "host", host->name, "scope", once ?
	    "once" : "session", "write", ask->write);
	if (root != NULL)
		json_object_set_new(root, "port", ask->port == 0 ?
		    json_null() : json_integer(ask->port));
	text = root == NULL ? NULL : json_dumps(root, JSON_COMPACT |
	    JSON_SORT_KEYS);
	json_decref(root);
	if (text == NULL) {
		run_end(r, END_LAUNCH_FAILED, 0, "out of memory");
		return;
	}
	run_result(r, text, 0);
	free(text);
}

static void
grant(struct run *r, const json_t *args)
{
	struct grant_ask ask = {
		.host = json_string_value(json_object_get(args, "host")),
		.port = (int)json_integer_value(json_object_get(args,
		    "port")),
		.write = json_is_true(json_object_get(args, "write"))
	};
	struct host host;
	enum refusal why;
	const char *words = "";

	if (ask.host == NULL || ask.port < 0 || ask.port > 65535) {
		run_error(r, "bad_request", "host or port is missing or out "
		    "of range", "");
		return;
	}
	why = host_read(ask.host, json_string_length(json_object_get(args,
	    "host")), &host, &words);
	if (why != REFUSE_NOT)
		run_error(r, refusal_word(why), words, "");
	else if (r->neuron->egress == NULL)
		run_error(r, refusal_word(REFUSE_NO_PROFILE),
		    refusal_sentence(REFUSE_NO_PROFILE),
		    "egress in the profile");
	else
		granted(r, &host, &ask);
}

/* ---- its beginning ---- */

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	run_end(arg, END_TIMED_OUT, 0, "");
}

static void
carry_out(struct run *r, const uint8_t *args, size_t size)
{
	json_t *root;

	if (r->what == EGRESS_FETCH) {
		run_fetch(r, (const char *)args, size);
		return;
	}
	root = json_loadb((const char *)args, size, JSON_REJECT_DUPLICATES,
	    NULL);
	if (json_is_object(root))
		grant(r, root);
	else
		run_error(r, "bad_request", "the arguments are no object", "");
	json_decref(root);
}

static void
take_block(struct run *r, int fd)
{
	const char *why = "it can't be read";
	struct runblock *rb = NULL;
	const uint8_t *bytes;
	size_t size;

	bytes = memfd_map(fd, RUNBLOCK_BODY_MAX, &size);
	close(fd);
	if (bytes != NULL)
		rb = runblock_decode(bytes, size, &why);
	if (rb != NULL && (rb->flags & RUNBLOCK_F_BODY) != 0)
		carry_out(r, rb->args, rb->args_size);
	else {
		log_warnx_of(&(struct log_about){ .call = r->call,
		    .neuron = r->neuron->id }, "call %s: run block: %s",
		    r->call, rb != NULL ? "not one of a body" : why);
		run_end(r, END_LAUNCH_FAILED, 0, "its run block is wrong");
	}
	runblock_free(rb);
	if (bytes != NULL)
		memfd_unmap(bytes, size);
}

void
run_start(struct neuron *n, const struct run_ask *ask)
{
	struct timeval tv = {
		.tv_sec = (time_t)(ask->timeout / 1000),
		.tv_usec = (suseconds_t)(ask->timeout % 1000 * 1000)
	};
	struct run *r;

	if ((r = calloc(1, sizeof(*r))) == NULL) {
		close(ask->block);
		close(ask->out);
		close(ask->err);
		report_ended(ask->call, END_LAUNCH_FAILED, 0, 0,
		    "out of memory");
		return;
	}
	r->neuron = n;
	r->what = ask->what;
	r->most = ask->most;
	r->out = ask->out;
	r->err = ask->err;
	r->began = now_ms();
	(void)strlcpy(r->call, ask->call, sizeof(r->call));
	(void)fcntl(r->out, F_SETFL, O_NONBLOCK | O_WRONLY);
	(void)fcntl(r->err, F_SETFL, O_NONBLOCK | O_WRONLY);
	event_assign(&r->out_ev, proc_base(), r->out, EV_WRITE, on_out, r);
	evtimer_assign(&r->timer, proc_base(), on_timer, r);
	evtimer_add(&r->timer, &tv);
	TAILQ_INSERT_TAIL(&n->runs, r, entry);
	take_block(r, ask->block);
}

struct find {
	const char	*call;
	struct run	*found;
};

static struct find find;

static void
look(struct neuron *n)
{
	struct run *r;

	TAILQ_FOREACH(r, &n->runs, entry)
		if (strcmp(r->call, find.call) == 0)
			find.found = r;
}

void
run_kill(const char *call, unsigned cause)
{
	find.call = call;
	find.found = NULL;
	neurons_each(look);
	if (find.found != NULL)
		run_end(find.found, cause, 0, "");
}

void
runs_close(struct neuron *n)
{
	struct run *r;

	while ((r = TAILQ_FIRST(&n->runs)) != NULL)
		run_end(r, END_NEURON_LOST, 0, "");
}
