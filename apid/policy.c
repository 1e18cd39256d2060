/*
 * The channel to policyd.
 */
#include <sys/queue.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "clean.h"
#include "codec.h"
#include "dry.h"
#include "imsg.h"
#include "json.h"
#include "log.h"
#include "policy.h"
#include "policy_internal.h"
#include "proc.h"
#include "rules_shown.h"
#include "stream.h"
#include "values.h"
#include "watch.h"

#define ANSWER_TICKS	5		/* CONN_TICKs until we answer 503 */
#define FINISH_MS	500	/* for the last words, of a process that ends */
#define REPLY_MAX	(16 * 1024 * 1024)

static TAILQ_HEAD(, pending) pendings = TAILQ_HEAD_INITIALIZER(pendings);
static struct channel	*channel;
static uint32_t		 last_request;
static unsigned		 generation;

static void	pending_gone(struct conn *, void *);
static void	pending_tick(struct conn *, void *);

static const struct conn_ops pending_ops = {
	.gone = pending_gone,
	.tick = pending_tick
};

int
policy_up(void)
{
	return (channel != NULL);
}

unsigned
policy_generation(void)
{
	return (generation);
}

/* ---- questions under way ---- */

struct pending *
pending_new(struct conn *c, policy_fn *fn, void *arg)
{
	struct pending *p;

	if (channel == NULL) {
		conn_error_retry(c, API_UNAVAILABLE, 1,
		    "policyd is away; it is being started again");
		return (NULL);
	}
	if ((p = calloc(1, sizeof(*p))) == NULL) {
		conn_error(c, API_INTERNAL, "memory for a question");
		return (NULL);
	}
	p->request = ++last_request;
	p->conn = c;
	p->fn = fn;
	p->arg = arg;
	p->clean = 1;
	TAILQ_INSERT_TAIL(&pendings, p, entry);
	conn_hold(c, &pending_ops, p);
	return (p);
}

struct pending *
pending_act(struct conn *c, policy_fn *fn, void *arg)
{
	struct pending *p;
	struct imsg *m;

	if ((p = pending_new(c, fn, arg)) == NULL)
		return (NULL);
	m = imsg_new(MSG_REQUEST);
	imsg_put_u32(m, p->request);
	imsg_put_u64(m, c->rid);
	policy_send_before(m);
	return (p);
}

struct pending *
pending_find(uint32_t request)
{
	struct pending *p;

	TAILQ_FOREACH(p, &pendings, entry)
		if (p->request == request)
			return (p);
	log_warnx("policyd answered request %u, which nobody made", request);
	return (NULL);
}

void
pending_done(struct pending *p)
{
	TAILQ_REMOVE(&pendings, p, entry);
	if (p->conn != NULL)
		conn_release(p->conn);
}

static void
pending_gone(struct conn *c, void *arg)
{
	struct pending *p = arg;

	(void)c;
	p->conn = NULL;
}

static void
pending_tick(struct conn *c, void *arg)
{
	struct pending *p = arg;

	if (++p->ticks < ANSWER_TICKS)
		return;
	p->conn = NULL;
	conn_error_retry(c, API_UNAVAILABLE, 1,
	    "policyd has not answered for %d s", ANSWER_TICKS * CONN_TICK);
}

/* ---- policyd's words ---- */

/* An error's JSON, without its request_id. */
static void
pass_error(struct conn *c, unsigned retry, const char *json, size_t n)
{
	json_t *j, *error;
	const char *code, *message;

	j = json_loadb(json, n, 0, NULL);
	error = json_object_get(j, "error");
	code = json_string_value(json_object_get(error, "code"));
	message = json_string_value(json_object_get(error, "message"));
	conn_error_retry(c, api_error_find(code == NULL ? "" : code), retry,
	    "%s", message == NULL ? "policyd gave no reason" : message);
	json_decref(j);
}

static void
answer(struct pending *p, unsigned status, unsigned retry, const char *json,
    size_t n)
{
	char *clean = NULL, *whole;
	size_t size;

	pending_done(p);
	if (p->page != NULL)
		p->page(p->arg, status, json, n);
	if (p->call != NULL)
		call_refused(p->call);
	if (p->conn != NULL) {
		if ((clean = p->clean ? clean_json(json, n, &size) :
		    NULL) != NULL) {
			json = clean;
			n = size;
		}
		if ((whole = rules_unfolded(json, n, &size)) != NULL) {
			free(clean);
			json = clean = whole;
			n = size;
		}
		if (status >= 400)
			pass_error(p->conn, retry, json, n);
		else if (p->fn == NULL)
			conn_json(p->conn, (int)status, json, n);
		else
			p->fn(p->conn, (int)status, json, n, p->arg);
	}
	free(clean);
	free(p);
}

static int
on_reply(void *arg, struct imsg *m)
{
	struct pending *p;
	const uint8_t *json, *mapped = NULL;
	uint32_t request, retry;
	unsigned status;
	size_t n;
	int fd;

	(void)arg;
	request = imsg_get_u32(m);
	status = imsg_get_u16(m);
	retry = imsg_get_u32(m);
	json = imsg_get_bytes(m, &n);
	if (imsg_end(m) == -1 || status < 200 || status > 599)
		return (-1);
	if ((p = pending_find(request)) == NULL)
		return (0);
	if ((fd = imsg_claim_fd(m, 0)) != -1) {
		json = mapped = memfd_map(fd, REPLY_MAX, &n);
		close(fd);
		if (mapped == NULL) {
			log_warn("an answer of policyd's");
			status = 500;
			n = 0;
		}
	}
	answer(p, status, retry, (const char *)json, n);
	if (mapped != NULL)
		memfd_unmap(mapped, n);
	return (0);
}

static int
on_dry_judged(void *arg, struct imsg *m)
{
	const uint8_t *json;
	struct pending *p;
	uint32_t request;
	char *text;
	size_t n;
	int fd;

	(void)arg;
	request = imsg_get_u32(m);
	json = imsg_get_bytes(m, &n);
	if (imsg_end(m) == -1)
		return (-1);
	if ((p = pending_find(request)) == NULL)
		return (0);
	fd = imsg_claim_fd(m, 0);
	text = dry_answer((const char *)json, n, fd);
	if (fd != -1)
		close(fd);
	if (text == NULL)
		return (-1);
	answer(p, 200, 0, text, strlen(text));
	free(text);
	return (0);
}

static int
on_session_over(void *arg, struct imsg *m)
{
	char id[ID_SIZE], reason[32];

	(void)arg;
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, reason, sizeof(reason));
	if (imsg_end(m) == -1 || !id_ok(ID_SESSION, id))
		return (-1);
	session_ended(id, reason);
	return (0);
}

static int
on_audit_news(void *arg, struct imsg *m)
{
	uint64_t sequence;

	(void)arg;
	sequence = imsg_get_u64(m);
	if (imsg_end(m) == -1)
		return (-1);
	watch_news(sequence);
	return (0);
}

static void
forget_all(const char *reason)
{
	struct pending *p;

	log_warnx("policyd is away: %s", reason);
	policy_stop_channel();
	/* What is in force stays so: calls end, their output does not yet. */
	values_abort();
	conns_forget();
	while ((p = TAILQ_FIRST(&pendings)) != NULL) {
		pending_done(p);
		if (p->conn != NULL)
			conn_error_retry(p->conn, API_UNAVAILABLE, 1,
			    "policyd went away before it answered");
		if (p->page != NULL)
			p->page(p->arg, 503, "", 0);
		if (p->call != NULL)
			call_refused(p->call);
		free(p);
	}
	watch_over();
	calls_interrupt();
	sessions_interrupted();
}

static void
on_dead(void *arg, const char *reason)
{
	enum channel_kind kind = channel_kind(channel);

	(void)arg;
	forget_all(reason);
	proc_channel_lost(kind);
}

static const struct channel_handler handlers[] = {
	{ MSG_PEER_OK,		policy_on_peer_ok },
	{ MSG_PEER_NO,		policy_on_peer_no },
	{ MSG_AUTH_NO,		policy_on_auth_no },
	{ MSG_REPLY,		on_reply },
	{ MSG_ASKED,		policy_on_asked },
	{ MSG_CALL_SAME,	policy_on_call_same },
	{ MSG_DRY_JUDGED,	on_dry_judged },
	{ MSG_CALL_JUDGED,	policy_on_call_judged },
	{ MSG_CALL_STARTED,	policy_on_call_started },
	{ MSG_CALL_FINISHED,	policy_on_call_finished },
	{ MSG_TRANSCRIBED,	policy_on_transcribed },
	{ MSG_SESSION_OVER,	on_session_over },
	{ MSG_SEAL_KEY,		policy_on_seal_key },
	{ MSG_SECRETS,		policy_on_secrets },
	{ MSG_SECRET,		policy_on_secret },
	{ MSG_SECRETS_END,	policy_on_secrets_end },
	{ MSG_CALL_ASKING,	policy_on_call_asking },
	{ MSG_CALL_RESOLVED,	policy_on_call_resolved },
	{ MSG_APPROVAL_SHOWN,	policy_on_approval_shown },
	{ MSG_AUDIT_NEWS,	on_audit_news }
};

static const struct channel_ops ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0]),
	.dead = on_dead
};

void
policy_stop_channel(void)
{
	if (channel != NULL)
		channel_free(channel);
	channel = NULL;
}

void
policy_finish_channel(void)
{
	if (channel != NULL)
		(void)channel_flush_wait(channel, FINISH_MS);
	policy_stop_channel();
}

void
policy_plumb(enum channel_kind kind, int fd)
{
	/* Whoever is behind the new end knows nothing of what we asked. */
	if (channel != NULL)
		forget_all("replaced");
	channel = channel_new(fd, kind, END_B, &ops, NULL);
	if (channel == NULL || channel_attach(channel, proc_base()) == -1)
		fatalx("channel to policyd: memory");
	generation++;
	conns_introduce();
}

/* ---- our words ---- */

int
policy_peer(struct conn *c, int fd)
{
	struct imsg *m;
	int copy;

	if ((copy = fcntl(fd, F_DUPFD_CLOEXEC, 0)) == -1) {
		log_warn("no fd to introduce a client by");
		return (-1);
	}
	m = imsg_new(MSG_PEER);
	imsg_put_u32(m, c->number);
	imsg_put_fd(m, copy);
	return (channel_send(channel, m));
}

int
policy_auth(const struct conn *c, const char *token)
{
	struct imsg *m;

	m = imsg_new(MSG_AUTH);
	imsg_put_u32(m, c->number);
	imsg_put_str(m, token);
	imsg_put_str(m, c->source);
	return (channel_send(channel, m));
}

void
policy_peer_gone(uint64_t handle)
{
	struct imsg *m;

	if (channel == NULL)
		return;
	m = imsg_new(MSG_PEER_GONE);
	imsg_put_u64(m, handle);
	(void)channel_send(channel, m);
}

static void
send_query(uint32_t request, uint64_t handle, enum query_what what,
    uint64_t cursor, uint32_t most, const char *id)
{
	struct imsg *m;

	m = imsg_new(MSG_QUERY);
	imsg_put_u32(m, request);
	imsg_put_u64(m, handle);
	imsg_put_u8(m, (uint8_t)what);
	imsg_put_u64(m, cursor);
	imsg_put_u32(m, most);
	imsg_put_str(m, id);
	(void)channel_send(channel, m);
}

int
policy_audit(uint64_t handle, uint64_t after, uint32_t most,
    policy_page_fn *fn, void *arg)
{
	struct pending *p;

	if (channel == NULL)
		return (-1);
	if ((p = calloc(1, sizeof(*p))) == NULL)
		fatal("question");
	p->request = ++last_request;
	p->page = fn;
	p->arg = arg;
	TAILQ_INSERT_TAIL(&pendings, p, entry);
	send_query(p->request, handle, QUERY_AUDIT, after, most, "");
	return (0);
}

void
policy_send_before(struct imsg *m)
{
	(void)channel_send_soon(channel, m, 0);
}

void
policy_send(struct imsg *m)
{
	(void)channel_send(channel, m);
}

/* What can't be sent will be answered when the channel is told dead. */
void
policy_query(struct conn *c, enum query_what what, uint64_t cursor,
    uint32_t most, const char *id, policy_fn *fn, void *arg)
{
	struct pending *p;

	if ((p = pending_new(c, fn, arg)) == NULL)
		return;
	/* The answer is to have what is known here. */
	calls_send();
	/* Its lines are hashed as they are, and were cleaned before. */
	p->clean = what != QUERY_AUDIT;
	send_query(p->request, c->handle, what, cursor, most, id);
}
