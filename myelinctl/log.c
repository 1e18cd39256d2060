/*
 * "log ID": all there is of one request, call, approval, session or neuron:
 * the audit log's records in their order, and the journal's lines.
 */
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "audit.h"
#include "log.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define JOURNALCTL	"/usr/bin/journalctl"

/* Members of a record that hold an id, and the field of the journal. */
static const struct {
	char		 type;
	const char	*member;
	const char	*field;
} members[] = {
	{ 'r', "request_id", "MYELIN_REQUEST_ID" },
	{ ID_CALL, "call", "MYELIN_CALL" },
	{ ID_APPROVAL, "approval", "MYELIN_APPROVAL" },
	{ ID_SESSION, "session", "MYELIN_SESSION" },
	{ ID_NEURON, "neuron", "MYELIN_NEURON" },
	{ ID_KEY, "key", NULL },
};

int
log_has(const struct found *f, const char *id)
{
	size_t i;

	for (i = 0; id != NULL && i < f->n; i++)
		if (strcmp(f->ids[i], id) == 0)
			return (1);
	return (0);
}

void
log_add(struct found *f, char type, const char *id)
{
	if (id == NULL || log_has(f, id) ||
	    !(type == 'r' ? request_id_ok(id) : id_ok(type, id)))
		return;
	if (f->n == LOG_IDS_MAX) {
		f->more = 1;
		return;
	}
	(void)snprintf(f->ids[f->n++], ID_SIZE, "%s", id);
}

static const char *
text_of(const json_t *record, const char *member)
{
	return (json_string_value(json_object_get(record, member)));
}

/*
 * 1 if a record is one of those.  A session's id is in all its calls' records,
 * which belong to the request that opened it as little as its neuron's.
 */
static int
belongs(const struct found *f, const json_t *record)
{
	const json_t *calls = json_object_get(record, "calls"), *one;
	const char *call = text_of(record, "call");
	size_t i;

	for (i = 0; i < NITEMS(members); i++) {
		if (!log_has(f, text_of(record, members[i].member)))
			continue;
		if (members[i].type == f->root || call == NULL ||
		    (members[i].type != ID_SESSION &&
		    members[i].type != ID_NEURON))
			return (1);
	}
	json_array_foreach(calls, i, one)
		if (log_has(f, json_string_value(one)))
			return (1);
	return (0);
}

/* What a record that belongs leads to. */
static void
follow(struct found *f, const json_t *record)
{
	const char *event = text_of(record, "event");

	if (event == NULL)
		return;
	log_add(f, ID_CALL, text_of(record, "call"));
	log_add(f, ID_APPROVAL, text_of(record, "approval"));
	if (f->root == ID_SESSION || f->root == ID_NEURON)
		return;
	if (strcmp(event, "session.opened") == 0)
		log_add(f, ID_SESSION, text_of(record, "session"));
	/* Made for it alone: it is nobody else's. */
	if (strcmp(event, "call.asked") == 0 &&
	    text_of(record, "session") == NULL)
		log_add(f, ID_NEURON, text_of(record, "neuron"));
}

/* What may come after an end: who decided once for a session can revoke it. */
static void
count(struct found *f, const json_t *record)
{
	static const struct {
		const char	*event;
		int		 opens, lasts;
	} rows[] = {
		{ "call.asked", 1, 0 }, { "call.finished", -1, 0 },
		{ "session.opened", 1, 0 }, { "session.ended", -1, 0 },
		{ "neuron.created", 0, 1 }, { "neuron.destroyed", 0, -1 },
		{ "key.added", 0, 1 },
	};
	const char *event = text_of(record, "event");
	const char *decision = text_of(record, "decision");
	size_t i;

	/* Those of a service that stopped went without a record. */
	if (event != NULL && strcmp(event, "neuron.made") == 0)
		f->neurons++;
	if (event != NULL && strcmp(event, "neuron.gone") == 0)
		f->neurons--;
	for (i = 0; event != NULL && i < NITEMS(rows); i++) {
		if (strcmp(event, rows[i].event) != 0)
			continue;
		f->open += rows[i].opens;
		f->lasting += rows[i].lasts;
	}
	if (decision != NULL && strstr(decision, "session") != NULL)
		f->lasting++;
}

struct forward {
	const struct options *o;
	struct found	*f;
	uint64_t	 over;		/* sequence where all had ended */
};

static int
line(void *arg, const json_t *text, uint64_t sequence)
{
	struct forward *w = arg;
	struct found *f = w->f;
	json_t *record;

	if (!json_is_string(text))
		return (0);
	if (log_may_belong(f, text)) {
		record = json_loadb(json_string_value(text),
		    json_string_length(text), JSON_ALLOW_NUL, NULL);
		if (json_is_object(record) && belongs(f, record)) {
			follow(f, record);
			count(f, record);
			audit_print(w->o, text);
			f->records++;
			w->over = sequence;
		}
		json_decref(record);
	}
	if (strstr(json_string_value(text), "\"event\":\"service.") != NULL)
		f->neurons = 0;
	/* What belongs to an end stands close behind it. */
	return (f->records > 0 && f->open <= 0 && f->neurons <= 0 &&
	    f->lasting <= 0 && sequence > w->over + AUDIT_PAGE);
}

/* In its order: what leads somewhere comes first. */
static int
records(const struct options *o, struct found *f)
{
	struct forward w = { .o = o, .f = f };
	uint64_t after;

	if (log_begin(o, f, &after) == -1)
		return (-1);
	return (log_read(o, after, UINT64_MAX, line, &w));
}

/* ---- the journal ---- */

static void
journal_child(const char *const *argv)
{
	static const char *const env[] = { "LC_ALL=C.UTF-8",
	    "SYSTEMD_PAGER=", "SYSTEMD_COLORS=0", NULL };
	int null = open("/dev/null", O_RDWR);

	if (null != -1) {
		(void)dup2(null, STDIN_FILENO);
		(void)dup2(null, STDERR_FILENO);
	}
	(void)execve(JOURNALCTL, (char *const *)(uintptr_t)argv,
	    (char *const *)(uintptr_t)env);
	_exit(127);
}

/* The fields that a line may have, any of them. */
static size_t
matches(const struct found *f, const char **argv, size_t n)
{
	static char words[LOG_IDS_MAX][ID_SIZE + 24];
	size_t first = n, i, k;

	for (i = 0; i < f->n; i++) {
		for (k = 0; members[k].type != f->ids[i][0]; k++)
			continue;
		if (members[k].field == NULL)
			continue;
		if (n > first)
			argv[n++] = "+";
		(void)snprintf(words[i], sizeof(words[i]), "%s=%s",
		    members[k].field, f->ids[i]);
		argv[n++] = words[i];
	}
	return (n);
}

/* Lines of it, where there is a journal that this user may read. */
static void
journal(const struct options *o, const struct found *f)
{
	const char *argv[2 * LOG_IDS_MAX + 8] = { "journalctl", "--quiet",
	    "--no-pager", o->json ? "--output=json" : "--output=short-iso" };
	int status;
	pid_t pid;

	if (access(JOURNALCTL, X_OK) == -1 || matches(f, argv, 4) == 4)
		return;
	fflush(NULL);
	if ((pid = fork()) == 0)
		journal_child(argv);
	while (pid > 0 && waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
}

/* ---- what was asked for ---- */

/* A call is asked for before its approval is: the call is where it begins. */
static void
from_approval(const struct options *o, struct found *f, const char *id)
{
	struct http_response r;
	char target[64];
	json_t *json;

	(void)snprintf(target, sizeof(target), "/v1/approvals/%s", id);
	json = api_ask(o, OPERATOR, "GET", target, NULL, &r);
	if (json != NULL && r.status == 200)
		log_add(f, ID_CALL, text_of(json, "call"));
	json_decref(json);
}

int
cmd_log(struct options *o, int argc, char **argv)
{
	static struct found f;
	const char *id = argc == 1 ? argv[0] : "";
	size_t i;
	int r;

	memset(&f, 0, sizeof(f));
	for (i = 0; i < NITEMS(members) && f.n == 0; i++)
		log_add(&f, members[i].type, id);
	if (f.n == 0)
		return (usage_error(o, "log: the id of a request (r-...), "
		    "call, approval, session, neuron or key"));
	f.root = id[0];
	if (f.root == ID_APPROVAL) {
		f.root = ID_CALL;
		from_approval(o, &f, id);
	}
	if ((r = audit_limit_read(o, "--since", o->since, &f.since)) != 0)
		return (r);
	if (records(o, &f) == -1)
		return (EXIT_FAILED);
	journal(o, &f);
	if (f.searched != 0) {
		complain("where %s begins is not in the records from %" PRIu64
		    " on%s%s", id, f.searched, f.searched_time[0] != '\0' ?
		    ", of " : "", f.searched_time);
		advise("--since, with an earlier time, looks further back");
	}
	if (f.more)
		complain("%s leads to more than %d others: some are not "
		    "shown", id, LOG_IDS_MAX);
	if (f.records > 0)
		return (0);
	complain("the audit log has nothing of %s", id);
	advise(f.root == 'r' ? "a request that changed nothing, or was refused "
	    "before policyd heard of it, is in no record: journalctl -u "
	    "myelin" : "myelinctl audit tail shows the newest records");
	return (EXIT_FAILED);
}
