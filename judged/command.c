/*
 * Judging the command of a call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command.h"
#include "explain.h"
#include "judge/hosts.h"
#include "limits.h"
#include "protocol.h"
#include "rule_json.h"
#include "rules.h"
#include "runblock.h"
#include "shell/judging.h"
#include "shell/shell.h"
#include "target.h"
#include "without.h"

#define AGENT_HOME	"/home/agent"
#define SHOWN_MAX	160	/* bytes of a command in a reason */
#define CWD_MAX		(2 * PATH_BYTES_MAX)

static void
run_vector(struct judging *j, const json_t *list)
{
	const char *argv[RUNBLOCK_ARGS_MAX];
	const json_t *one;
	size_t i, n = 0;

	json_array_foreach((json_t *)(uintptr_t)list, i, one)
		if (n < RUNBLOCK_ARGS_MAX)
			argv[n++] = json_string_value(one);
	judging_run_argv(j, argv, n);
}

/* python3 -c TEXT, by the tables that know what such a text can do. */
static void
run_code(struct judging *j, const char *program, const char *text)
{
	const char *argv[] = { program, "-c", text };

	judging_run_argv(j, argv, 3);
}

static void
run(struct judging *j, const struct tool *tool, const json_t *value)
{
	switch (tool->judges) {
	case JUDGES_SHELL:
		judging_run(j, json_string_value(value),
		    json_string_length(value), DIALECT_BASH);
		break;
	case JUDGES_VECTOR:
		run_vector(j, value);
		break;
	case JUDGES_PYTHON:
		run_code(j, "python3", json_string_value(value));
		break;
	case JUDGES_NOTHING:
		break;
	}
}

/* What its class asks about: a person knows whether it is meant. */
static void
take_ask(const struct finding *f, struct judgement *j)
{
	char shown[SHOWN_MAX];

	if (WITHOUT(class_asks))
		return;
	j->verdict = VERDICT_ASK;
	if (j->effect < (unsigned)f->effect)
		j->effect = f->effect;
	(void)snprintf(j->rule, sizeof(j->rule), "%s", f->class);
	explain_words(f->command, shown, sizeof(shown));
	why_set(&j->reason, "%s", f->rule);
	if (shown[0] != '\0')
		why_add(&j->reason, " (\"%s\", bytes %u to %u)", shown, f->from,
		    f->to);
	why_add(&j->reason, "; it needs an approval");
	j->next = "an operator approves the call";
}

/* A rule that is too long ends behind a word: no half of one is shown. */
static void
name_rule(const struct cf_rule *rule, struct judgement *j)
{
	static const char more[] = " ...";
	size_t n = sizeof(j->rule) - sizeof(more);

	if (rule_text(rule, j->rule, sizeof(j->rule)) < sizeof(j->rule))
		return;
	while (j->rule[n] != ' ')
		n--;
	memcpy(j->rule + n, more, sizeof(more));
}

/* What an operator's rule, or one of the session, decided. */
static void
take_rule(const struct rule_call *call, const struct finding *f,
    struct judgement *j)
{
	const struct cf_rule *rule = f->by;
	int session = rule >= call->more && rule < call->more + call->nmore;
	const char *whose = session ? "the session's rule" :
	    "an operator's rule";
	char shown[SHOWN_MAX];

	/* what asks already is not lifted by a rule about its command */
	if (f->verdict == VERDICT_ALLOW && j->verdict != VERDICT_ALLOW)
		return;
	name_rule(rule, j);
	if (!session)
		(void)snprintf(j->where, sizeof(j->where), "%s:%u",
		    rule->where.file, rule->where.line);
	j->verdict = f->verdict;
	explain_words(f->command, shown, sizeof(shown));
	if (f->verdict == VERDICT_ALLOW)
		return;
	if (f->verdict == VERDICT_ASK && j->effect < (unsigned)f->effect)
		j->effect = f->effect;
	why_set(&j->reason, "%s %s", whose, f->verdict == VERDICT_DENY ?
	    "denies it" : (f->flags & FINDING_MAYBE) != 0 ?
	    "may deny it: a word is not known before it runs" :
	    "says that it needs an approval");
	if (shown[0] != '\0')
		why_add(&j->reason, " (\"%s\", bytes %u to %u)", shown, f->from,
		    f->to);
	j->next = f->verdict == VERDICT_ASK ? "an operator approves the call" :
	    session ? "do without it: rules of a session stay until it ends" :
	    "do without it, or ask an operator to change the rule";
}

static void
take(const struct judging *judging, const struct rule_call *call,
    struct judgement *j)
{
	const struct finding *f = judging_decides(judging);
	char shown[SHOWN_MAX];

	j->marks |= judging_marks(judging);
	j->class = f->class;
	j->from = f->from;
	j->to = f->to;
	explain_words(f->command, j->command, sizeof(j->command));
	if (explain_unresolved(judging))
		j->flags |= VERDICT_F_UNRESOLVED;
	if (f->by != NULL) {
		take_rule(call, f, j);
		return;
	}
	if (f->verdict == VERDICT_ASK)
		take_ask(f, j);
	if (f->verdict != VERDICT_DENY || WITHOUT(hard_denies))
		return;
	j->verdict = VERDICT_DENY;
	(void)snprintf(j->rule, sizeof(j->rule), "%s", f->class);
	explain_words(f->command, shown, sizeof(shown));
	why_set(&j->reason, "%s", f->rule);
	if (shown[0] != '\0')
		why_add(&j->reason, " (\"%s\", bytes %u to %u)", shown, f->from,
		    f->to);
	why_add(&j->reason, "; such a %s, whatever the policy",
	    shown[0] != '\0' ? "command is never run" :
	    "path is never touched");
	j->next = "do without it, or name what is meant more narrowly";
}

/* What is left to do where there is no egress. */
static const char *
without_egress(const struct judge_place *place)
{
	if (place->grants)
		return ("ask for the host with the tool request_egress: an "
		    "operator decides; or work with what is there");
	return ("work with what is there: only an operator can grant egress, "
	    "by an \"egress\" block in the neuron's profile (where a profile "
	    "has one, the tool request_egress asks for a host)");
}

/*
 * The tools that egressd carries out: one needs a line or a grant, the other
 * can add a grant only where there is egress at all.
 */
static void
take_own_egress(const struct tool *tool, const struct judge_place *place,
    struct judgement *j)
{
	if (tool->egress == EGRESS_FETCH ? place->egress : place->grants)
		return;
	j->verdict = VERDICT_DENY;
	j->flags |= VERDICT_F_NO_EGRESS;
	j->where[0] = '\0';
	(void)snprintf(j->rule, sizeof(j->rule), "no_egress");
	if (tool->egress == EGRESS_FETCH)
		why_set(&j->reason, "%s needs the network, and this neuron has "
		    "no egress", tool->name);
	else
		why_set(&j->reason, "%s adds a host to a neuron's egress, and "
		    "this neuron's profile has none", tool->name);
	j->next = without_egress(place);
}

/* Whoever decides is told what is wished for, and not only that it asks. */
static void
name_wish(const struct tool *tool, const struct arguments *arguments,
    struct judgement *j)
{
	const json_t *args = arguments->args;
	const char *host = json_string_value(json_object_get(args, "host"));
	json_int_t port = json_integer_value(json_object_get(args, "port"));
	char buf[WHY_NAME_SIZE], on[32] = "the ports 443 and 80";

	if (tool->egress != EGRESS_GRANT_SESSION || host == NULL ||
	    j->verdict != VERDICT_ASK || j->where[0] != '\0')
		return;
	if (port != 0)
		(void)snprintf(on, sizeof(on), "port %d", (int)port);
	why_set(&j->reason, "it asks that its neuron may reach \"%s\" on %s, "
	    "by plain HTTP %s", why_name(host, strlen(host), buf), on,
	    json_is_true(json_object_get(args, "write")) ? "also to write" :
	    "to read alone");
}

/*
 * Guarantee N4: what certainly needs another machine can't run without egress,
 * so it is told at once, and nobody is asked about it.
 */
static void
take_egress(const struct judging *judging, const struct judge_place *place,
    struct judgement *j)
{
	static const uint32_t marks = MARK_NETWORK_READ | MARK_NETWORK_WRITE |
	    MARK_REMOTE_CODE;
	const struct finding *f;
	char shown[SHOWN_MAX];
	size_t i;

	for (i = 0; (f = judging_at(judging, i)) != NULL; i++) {
		/* a function's body counts where it is called */
		if ((f->marks & marks) == 0 || (f->command != NULL &&
		    (f->command->flags & COMMAND_FUNCTION) != 0))
			continue;
		if ((f->flags & FINDING_NETWORK) != 0 ||
		    hosts_elsewhere(f->hosts))
			break;
	}
	if (WITHOUT(no_egress))
		return;
	if (f == NULL) {
		if (j->verdict == VERDICT_ASK && (j->marks & marks) != 0)
			why_add(&j->reason, "; this neuron has no egress, so "
			    "what leaves it fails");
		return;
	}
	j->verdict = VERDICT_DENY;
	j->flags |= VERDICT_F_NO_EGRESS;
	j->class = f->class;
	j->from = f->from;
	j->to = f->to;
	j->where[0] = '\0';
	(void)snprintf(j->rule, sizeof(j->rule), "no_egress");
	explain_words(f->command, j->command, sizeof(j->command));
	explain_words(f->command, shown, sizeof(shown));
	why_set(&j->reason, "%s needs the network (\"%s\", bytes %u to %u), "
	    "and this neuron has no egress", f->class, shown, f->from, f->to);
	j->next = without_egress(place);
}

/* What a person would be told; policy may still ask about what is allowed. */
static void
explain(const struct judging *judging, const struct arguments *arguments,
    const struct judge_place *place, const char *cwd, struct judgement *j)
{
	if (place->explain || j->verdict == VERDICT_ASK)
		j->explain_fd = explain_memfd(judging, arguments, cwd);
}

/*
 * The session's rules, which apid read before: what is none of them now came
 * from nowhere, and nothing is judged without them.
 */
static int
session_rules(struct rule_call *call, struct cf_rule **rules,
    const char *text, struct judgement *j)
{
	char why[WHY_NAME_SIZE];
	json_t *list;
	int ok;

	*rules = NULL;
	if (text[0] == '\0' || WITHOUT(session_rules))
		return (0);
	list = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	ok = rule_json_read(list, rules, &call->nmore, why, sizeof(why));
	json_decref(list);
	call->more = *rules;
	if (ok == 0)
		return (0);
	j->verdict = VERDICT_DENY;
	why_set(&j->reason, "the session's rules can't be read: %s", why);
	j->next = "open another session";
	return (-1);
}

/* "http_proxy=..." of the call's environment. */
static int
is_proxy(const char *entry)
{
	size_t n = strcspn(entry, "=");

	return (n > 6 && strncasecmp(entry + n - 6, "_proxy", 6) == 0);
}

void
command_judge(const struct tools *tools, const struct tool *tool,
    const struct arguments *arguments, const struct judge_place *place,
    struct judgement *j)
{
	struct rule_call call = {
		.tool = tool->name, .principal = place->principal,
		.workspace = place->workspace, .rules = tools->rules,
		.nrules = tools->nrules
	};
	const char *roots[] = { place->workspace };
	struct judge_context context = {
		.home = AGENT_HOME, .user = "agent", .shell = "/bin/bash",
		.roots = roots, .nroots = place->workspace[0] != '\0',
		.streamed = place->streamed, .found = rules_found,
		.rules = &call
	};
	struct judging *judging = NULL;
	struct cf_rule *rules;
	const json_t *value = NULL;
	char cwd[CWD_MAX];
	uint32_t i;

	/* a relative one starts where a call would, and has no ".." */
	(void)snprintf(cwd, sizeof(cwd), "%s%s%s", arguments->cwd[0] == '/' ?
	    "" : place->workspace[0] != '\0' ? place->workspace : AGENT_HOME,
	    arguments->cwd[0] == '/' || arguments->cwd[0] == '\0' ? "" : "/",
	    arguments->cwd);
	context.cwd = cwd;
	if (tool->judges != JUDGES_NOTHING)
		value = json_object_get(arguments->args,
		    tool->judged_argument);
	if (tools->own != NULL) {
		context.own = (const char *const *)tools->own->v;
		context.nown = tools->own->n;
	}
	if (session_rules(&call, &rules, place->rules, j) == -1)
		return;
	if ((judging = judging_new(&context)) == NULL)
		goto nothing;
	if (value != NULL)
		run(judging, tool, value);
	else
		target_run(judging, tool, arguments, j->run_fd);
	take(judging, &call, j);
	for (i = 0; i < arguments->nenv; i++)
		call.proxied |= is_proxy(arguments->env[i]);
	if (j->verdict == VERDICT_DENY)
		;
	else if (tool->egress != 0 && !WITHOUT(no_egress))
		take_own_egress(tool, place, j);
	else if (!place->egress && !call.proxied)
		take_egress(judging, place, j);
	name_wish(tool, arguments, j);
	explain(value != NULL ? judging : NULL, arguments, place, cwd, j);
	judging_free(judging);
	rule_json_free(rules, call.nmore);
	return;
nothing:
	rule_json_free(rules, call.nmore);
	if (j->verdict == VERDICT_ALLOW)
		j->verdict = VERDICT_ASK;
	why_set(&j->reason, "there is no memory to judge the command");
}
