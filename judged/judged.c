/*
 * judged: checks a call's arguments, judges it and builds its run block.
 *
 * It reads what agents wrote, so it may do nothing else: no files, no
 * network, no state from one call to the next.
 */
#include <jansson.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "alone.h"
#include "codec.h"
#include "env.h"
#include "judge.h"
#include "log.h"
#include "proc.h"
#include "rules.h"
#include "slice.h"

#define TOOL_PREFIX	"tool/"
#define STOP_FLUSH	500	/* ms */

/* Beyond what every process may do (proc_filter.c). */
static const struct proc_syscall syscalls[] = {
	{ "memfd_create",	-1, 0, 0 },	/* the run block */
};

static struct slice	*current;	/* in force */
static struct slice	*coming;	/* accepted, not yet in force */
static struct tools	 tools;
static struct tools	 coming_tools;
static struct channel	*policyd;

/* ---- configuration ---- */

/* The bytes of a declaration; NULL and why not.  Closes fd. */
static uint8_t *
read_file(int fd, size_t *size, struct why *why)
{
	uint8_t *bytes;
	ssize_t n = 1;

	*size = 0;
	if ((bytes = malloc(DECLARATION_MAX + 1)) == NULL) {
		why_set(why, "out of memory");
		goto out;
	}
	/* A restart hands the same open file again: its offset is shared. */
	if (lseek(fd, 0, SEEK_SET) == -1)
		n = -1;
	while (n > 0 && *size <= DECLARATION_MAX) {
		n = read(fd, bytes + *size, DECLARATION_MAX + 1 - *size);
		if (n > 0)
			*size += (size_t)n;
	}
	if (n == -1) {
		why_set(why, "can't be read: %s", strerror(errno));
		free(bytes);
		bytes = NULL;
	}
out:
	close(fd);
	return (bytes);
}

static int
load_tool(struct slice *slice, char *file)
{
	struct where where = { file, 0 };
	struct tool tool;
	struct why why;
	uint8_t *bytes;
	size_t size;
	int fd, line = 0, ok;

	if ((fd = slice_claim(slice, file)) == -1)
		return (0);
	if ((bytes = read_file(fd, &size, &why)) == NULL)
		return (slice_bad(slice, &where, "%s", why.text));
	ok = tool_parse(&tool, file + strlen(TOOL_PREFIX), bytes, size, &line,
	    &why);
	free(bytes);
	if (ok == -1) {
		where.line = (uint32_t)line;
		return (slice_bad(slice, &where, "%s", why.text));
	}
	if (tools_add(&coming_tools, &tool) == -1) {
		tool_free(&tool);
		return (slice_bad(slice, &where, "out of memory"));
	}
	return (0);
}

/*
 * An allowed name can't widen guarantee C1.  Whoever wrote it learns so here;
 * PID 1 of the neuron would drop it in any case.
 */
static void
check_env_allow(const struct slice *slice)
{
	enum env_verdict verdict;
	size_t i;

	for (i = 0; i < slice->env_allow.n; i++) {
		const char *name = slice->env_allow.v[i];
		size_t n = strcspn(name, "=");

		verdict = env_check(name, n, name[n] == '=' ? name + n + 1 :
		    "");
		if (verdict != ENV_OK)
			log_warnx("environment allow \"%.*s\": %s; it stays "
			    "refused", (int)n, name,
			    env_verdict_words(verdict));
	}
}

static int
config(struct slice *slice)
{
	const struct where *where;
	struct why why;
	size_t i;

	tools_free(&coming_tools);
	for (i = 0; i < slice->nfiles; i++) {
		if (strncmp(slice->files[i].name, TOOL_PREFIX,
		    strlen(TOOL_PREFIX)) == 0 &&
		    load_tool(slice, slice->files[i].name) == -1) {
			tools_free(&coming_tools);
			return (-1);
		}
	}
	for (i = 0; i < slice->nrules; i++) {
		if (rule_tests_run(&slice->rules[i], &coming_tools, &where,
		    &why) == -1) {
			tools_free(&coming_tools);
			return (slice_bad(slice, where, "%s", why.text));
		}
	}
	check_env_allow(slice);
	coming = slice;
	return (0);
}

/* ---- the judge channel ---- */

static void
announce(void)
{
	const struct tool *tool;
	struct imsg *m;
	size_t i;

	for (i = 0; i < tools.n; i++) {
		tool = &tools.v[i];
		m = imsg_new(MSG_TOOL);
		imsg_put_u8(m, (uint8_t)tool->effect);
		imsg_put_u32(m, tool->marks);
		imsg_put_u8(m, (uint8_t)tool->asks);
		imsg_put_u32(m, tool->timeout_ms);
		imsg_put_raw(m, tool->sha256, sizeof(tool->sha256));
		imsg_put_str(m, tool->name);
		channel_send(policyd, m);
		if (tool->egress != 0) {
			m = imsg_new(MSG_TOOL_EGRESS);
			imsg_put_u8(m, (uint8_t)tool->egress);
			imsg_put_str(m, tool->name);
			channel_send(policyd, m);
		}
		if (tool->group[0] == '\0')
			continue;
		m = imsg_new(MSG_TOOL_GROUP);
		imsg_put_str(m, tool->name);
		imsg_put_str(m, tool->group);
		channel_send(policyd, m);
	}
	m = imsg_new(MSG_TOOLS_END);
	imsg_put_u32(m, (uint32_t)tools.n);
	channel_send(policyd, m);
}

static void
answer(uint64_t sequence, const struct judgement *j)
{
	struct imsg *m;

	m = imsg_new(MSG_VERDICT);
	imsg_put_u64(m, sequence);
	imsg_put_u8(m, (uint8_t)j->verdict);
	imsg_put_u8(m, (uint8_t)j->effect);
	imsg_put_u32(m, j->marks);
	imsg_put_u32(m, j->from);
	imsg_put_u32(m, j->to);
	imsg_put_u8(m, (uint8_t)j->flags);
	imsg_put_str(m, j->class);
	imsg_put_str(m, j->rule);
	imsg_put_str(m, j->where);
	imsg_put_str(m, j->command);
	imsg_put_str(m, j->reason.text);
	imsg_put_str(m, j->next);
	if (j->run_fd != -1)
		imsg_put_fd(m, j->run_fd);
	if (j->run_fd != -1 && j->explain_fd != -1)
		imsg_put_fd(m, j->explain_fd);
	else if (j->explain_fd != -1)
		close(j->explain_fd);	/* it would stand in the block's place */
	channel_send(policyd, m);
}

static int
on_judge(void *arg, struct imsg *m)
{
	struct judgement j;
	char name[NAME_BYTES_MAX], workspace[PATH_BYTES_MAX];
	char principal[NAME_BYTES_MAX + 8], rules[JUDGE_RULES_MAX + 1];
	struct judge_place place = {
		.workspace = workspace, .principal = principal, .rules = rules
	};
	const uint8_t *bytes;
	uint64_t sequence;
	uint8_t flags;
	size_t size;
	int fd;

	(void)arg;
	sequence = imsg_get_u64(m);
	place.streamed = imsg_get_u8(m) == STDIN_STREAM;
	flags = imsg_get_u8(m);
	place.egress = (flags & JUDGE_F_EGRESS) != 0;
	place.grants = (flags & JUDGE_F_GRANTS) != 0;
	place.explain = (flags & JUDGE_F_EXPLAIN) != 0;
	imsg_get_str(m, name, sizeof(name));
	imsg_get_str(m, workspace, sizeof(workspace));
	imsg_get_str(m, principal, sizeof(principal));
	imsg_get_str(m, rules, sizeof(rules));
	if (imsg_end(m) == -1 || current == NULL)
		return (-1);
	fd = imsg_claim_fd(m, 0);
	bytes = memfd_map(fd, current->limits.v[LIMIT_BODY], &size);
	close(fd);
	if (bytes == NULL) {
		memset(&j, 0, sizeof(j));
		j.verdict = VERDICT_INVALID;
		j.class = j.next = "";
		j.run_fd = j.explain_fd = -1;
		why_set(&j.reason, "arguments: over the limit \"body\" of "
		    "%llu bytes", (unsigned long long)
		    current->limits.v[LIMIT_BODY]);
	} else {
		judge(&tools, &current->limits, name, &place, bytes, size,
		    &j);
		memfd_unmap(bytes, size);
	}
	answer(sequence, &j);
	return (0);
}

static const struct channel_handler handlers[] = {
	{ MSG_JUDGE, on_judge },
};

static void
on_dead(void *arg, const char *reason)
{
	(void)arg;
	log_debug("judge channel: %s", reason);
	channel_free(policyd);
	policyd = NULL;
	proc_channel_lost(CH_JUDGE);
}

static const struct channel_ops ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0]),
	.dead = on_dead
};

static void
plumb(enum channel_kind kind, int fd)
{
	if (kind != CH_JUDGE) {
		close(fd);
		return;
	}
	channel_free(policyd);
	policyd = channel_new(fd, CH_JUDGE, END_B, &ops, NULL);
	if (policyd == NULL || channel_attach(policyd, proc_base()) == -1)
		fatalx("judge channel: out of memory");
	if (current != NULL)
		announce();
}

/* ---- the configuration comes into force ---- */

static int
same_tools(const struct tools *a, const struct tools *b)
{
	size_t i;

	for (i = 0; i < a->n && i < b->n; i++) {
		if (memcmp(a->v[i].sha256, b->v[i].sha256, TOOL_SHA256) != 0)
			return (0);
	}
	return (a->n == b->n);
}

/*
 * Policyd hears of tools only before its first JUDGE.  So a process that has
 * judged must not come up with others: supervisord stops it instead of telling
 * it to, and if it did not, we end.
 */
static void
commit(void)
{
	int changed = current != NULL && !same_tools(&tools, &coming_tools);
	int first = current == NULL;

	slice_free(current);
	current = coming;
	coming = NULL;
	tools_free(&tools);
	tools = coming_tools;
	coming_tools = (struct tools){ .n = 0 };
	tools.coerce = current->coerce;
	tools.env_allow = &current->env_allow;
	tools.rules = current->rules;
	tools.nrules = current->nrules;
	tools.own = &current->own;
	if (changed && policyd != NULL) {
		log_info("other tools are declared: starting again");
		proc_exit(0);
	} else if (first && policyd != NULL)
		announce();
}

static void
forget(void)
{
	slice_free(coming);
	coming = NULL;
	tools_free(&coming_tools);
}

/* jansson would open /dev/urandom at its first object. */
static int
preload(void)
{
	size_t seed = 0;

	while (seed == 0) {
		if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) {
			log_warn("getrandom");
			return (-1);
		}
	}
	json_object_seed(seed);
	return (0);
}

/* What has been asked is answered: an end that was planned loses no call. */
static void
stop(void)
{
	while (policyd != NULL && channel_dispatch(policyd, 0) > 0)
		continue;
	if (policyd != NULL)
		(void)channel_flush_wait(policyd, STOP_FLUSH);
	channel_free(policyd);
	policyd = NULL;
	forget();
	slice_free(current);
	current = NULL;
	tools_free(&tools);
}

static const struct proc_role role = {
	.name = "judged",
	.channels = CH_JUDGE,
	.syscalls = syscalls,
	.nsyscalls = sizeof(syscalls) / sizeof(syscalls[0]),
	.preload = preload,
	.config = config,
	.commit = commit,
	.abort = forget,
	.plumb = plumb,
	.stop = stop
};

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "-j") == 0)
		return (alone_main(argc, argv, syscalls,
		    sizeof(syscalls) / sizeof(syscalls[0])));
	proc_main(&role, argc, argv);
}
