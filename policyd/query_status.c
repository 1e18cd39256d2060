/* QUERY on the operator's socket: status and the audit log; processes. */

#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "approval.h"
#include "audit.h"
#include "audit_news.h"
#include "call.h"
#include "conf.h"
#include "drain.h"
#include "egress.h"
#include "home.h"
#include "policyd.h"
#include "query.h"
#include "secrets.h"
#include "session.h"
#include "sync.h"
#include "without.h"

static struct process_row	rows[PROCESSES_MAX];
static size_t			nrows;
static pid_t			supervisor;

static struct pool_row		pool;

/* How the last reload went, as supervisord says. */
static struct {
	uint32_t	 generation;	/* 0: it has not said anything */
	unsigned	 result;	/* RELOAD_* */
	uint64_t	 when;		/* 0: this process did not see it */
	char		*error;
} reloaded;

void
processes_set(const char *name, pid_t pid, uint32_t restarts, unsigned state)
{
	struct process_row *row;
	size_t i;

	if (strcmp(name, "myelind") == 0) {
		supervisor = pid;
		return;
	}
	for (i = 0; i < nrows && strcmp(rows[i].name, name) != 0; i++)
		continue;
	if (i == PROCESSES_MAX)
		return;
	if (i == nrows)
		nrows++;
	row = &rows[i];
	if (policyd_base() != NULL && (row->pid != pid ||
	    row->state != state)) {
		audit_append("process.state", json_pack("{s:o,s:i,s:i,s:s}",
		    "name", json_text(name), "pid", (int)pid,
		    "restarts", (int)restarts,
		    "state", proc_state_name(state)));
		sync_soon();
	}
	strlcpy(row->name, name, sizeof(row->name));
	row->pid = pid;
	row->restarts = restarts;
	row->state = state;
}

void
processes_supervisor(pid_t pid)
{
	if (supervisor == 0)
		supervisor = pid;
}

const struct process_row *
processes_row(size_t n)
{
	return (n < nrows ? &rows[n] : NULL);
}

static json_t *
processes_json(void)
{
	const struct process_row *row;
	json_t *list = json_array();
	size_t i;

	for (i = 0; (row = processes_row(i)) != NULL; i++)
		json_array_append_new(list, json_pack("{s:o,s:i,s:i,s:s}",
		    "name", json_text(row->name), "pid", (int)row->pid,
		    "restarts", (int)row->restarts,
		    "state", proc_state_name(row->state)));
	return (list);
}

void
reload_set(uint32_t generation, unsigned result, int news, const char *why)
{
	reloaded.generation = generation;
	reloaded.result = result;
	reloaded.when = news ? wall_us() : 0;
	free(reloaded.error);
	if ((reloaded.error = strdup(why)) == NULL)
		fatal("reload");
	if (!news || result != RELOAD_REFUSED || policyd_base() == NULL)
		return;
	audit_append("config.refused", json_pack("{s:I,s:o}",
	    "generation", (json_int_t)generation, "why", json_text(why)));
	sync_soon();
}

void
pool_set(const struct pool_row *row)
{
	pool = *row;
}

static json_t *
pool_json(void)
{
	return (json_pack("{s:i,s:i,s:I,s:I}", "wanted", (int)pool.wanted,
	    "ready", (int)pool.ready, "hits", (json_int_t)pool.hits,
	    "misses", (json_int_t)pool.misses));
}

static json_t *
reload_json(void)
{
	uint32_t generation = conf()->generation;

	return (json_pack("{s:I,s:s,s:o,s:o}",
	    "generation", (json_int_t)generation,
	    "result", reload_result_name(reloaded.result),
	    "when", json_when(reloaded.when),
	    "error", json_text_or_null(reloaded.error)));
}

json_t *
query_status(const struct query *q, struct refusal *r)
{
	struct audit_mark head;

	(void)q;
	(void)r;
	audit_head(&head);
	return (json_pack("{s:s,s:o,s:I,s:{s:s,s:i},s:o,s:{s:i,s:I},s:{s:i},"
	    "s:{s:i,s:I,s:I},s:{s:I,s:s,s:b},s:b,s:b,s:b,s:o,s:o,s:o,s:o,"
	    "s:o,s:o,s:s}",
	    "version", PACKAGE_VERSION WITHOUT_VERSION,
	    "instance", json_text_or_null(conf()->instance),
	    "uptime_s", (json_int_t)(policyd_uptime() / 1000000),
	    "supervisor", "name", "myelind", "pid", (int)supervisor,
	    "processes", processes_json(),
	    "neurons", "live", (int)neuron_count(),
	    "limit", (json_int_t)conf_limit(LIMIT_NEURONS),
	    "sessions", "live", (int)session_count(),
	    "calls", "running", (int)(call_count() - approvals_held()),
	    "limit", (json_int_t)conf_limit(LIMIT_RUNNING_HOST),
	    "total", (json_int_t)store_last_call(),
	    "audit", "sequence", (json_int_t)head.sequence,
	    "hash", head.hash, "gap", audit_gaps() > 0,
	    "store_full", sync_full(),
	    "self_approval", conf_limit(LIMIT_SELF_APPROVAL) != 0,
	    "draining", drain_on(), "reload", reload_json(),
	    "secrets", secrets_status(), "egress", egress_status(),
	    "approvals", approvals_status(), "homes", homes_status(),
	    "pool", pool_json(), "log", log_verbose() ? "verbose" : "brief"));
}

json_t *
query_audit(const struct query *q, struct refusal *r)
{
	struct audit_mark head;
	json_t *lines, *next;
	uint64_t last;

	lines = json_array();
	if (audit_read(q->cursor, q->most, lines, &last) == -1) {
		json_decref(lines);
		refuse_later(r, 503, "unavailable", 5,
		    "audit.jsonl can not be read");
		return (NULL);
	}
	audit_head(&head);
	next = last != 0 ? json_integer((json_int_t)last) : json_null();
	audit_news_asked();
	return (json_pack("{s:o,s:o,s:{s:I,s:s,s:I}}", "lines", lines,
	    "next", next, "head", "sequence", (json_int_t)head.sequence,
	    "hash", head.hash, "synced", (json_int_t)audit_news_last()));
}
