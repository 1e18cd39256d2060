/* The channel to judged. */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "approval.h"
#include "call.h"
#include "egress.h"
#include "judge.h"
#include "proc.h"
#include "redact.h"
#include "secrets.h"
#include "session.h"
#include "without.h"

static int	on_tool(void *, struct imsg *);
static int	on_tool_egress(void *, struct imsg *);
static int	on_tool_group(void *, struct imsg *);
static int	on_tools_end(void *, struct imsg *);
static int	on_verdict(void *, struct imsg *);
static void	judge_dead(void *, const char *);

static const struct channel_handler handlers[] = {
	{ MSG_TOOL,		on_tool },
	{ MSG_TOOL_GROUP,	on_tool_group },
	{ MSG_TOOL_EGRESS,	on_tool_egress },
	{ MSG_TOOLS_END,	on_tools_end },
	{ MSG_VERDICT,		on_verdict },
};

const struct channel_ops judge_ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0]),
	.dead = judge_dead,
};

static struct channel	*judge;
static struct tool	 tools[TOOLS_MAX];
static size_t		 ntools;

void
judge_plumb(int fd, struct event_base *base)
{
	judge_lost();
	if ((judge = channel_new(fd, CH_JUDGE, END_A, &judge_ops, NULL)) ==
	    NULL || channel_attach(judge, base) == -1)
		fatalx("the channel to judged can not be made");
	/* Until TOOLS_END it may say TOOL, and we may ask nothing. */
	channel_set_state(judge, ST_NEW);
}

void
judge_lost(void)
{
	struct channel *old = judge;

	judge = NULL;
	ntools = 0;
	channel_free(old);
	call_judge_lost();
}

static void
judge_dead(void *arg, const char *reason)
{
	(void)arg;
	log_info("judged is gone: %s", reason);
	judge_lost();
	proc_channel_lost(CH_JUDGE);
}

int
judge_up(void)
{
	if (judge == NULL)
		return (0);
	/* Its tools may be here already, behind what we have read so far. */
	if (channel_state(judge) == ST_NEW)
		channel_dispatch(judge, 0);
	return (judge != NULL && channel_state(judge) == ST_UP);
}

const struct tool *
judge_tool(const char *name)
{
	size_t i;

	for (i = 0; i < ntools; i++) {
		if (strcmp(tools[i].name, name) == 0)
			return (&tools[i]);
	}
	return (NULL);
}

const struct tool *
judge_tool_n(size_t n)
{
	return (n < ntools ? &tools[n] : NULL);
}

static int
on_tool(void *arg, struct imsg *m)
{
	struct tool tool;

	(void)arg;
	memset(&tool, 0, sizeof(tool));
	tool.effect = imsg_get_u8(m);
	tool.marks = imsg_get_u32(m);
	tool.asks = imsg_get_u8(m) != 0;
	tool.timeout = imsg_get_u32(m);
	imsg_get_raw(m, tool.digest, sizeof(tool.digest));
	imsg_get_str(m, tool.name, sizeof(tool.name));
	if (imsg_end(m) == -1 || tool.name[0] == '\0' ||
	    tool.effect < EFFECT_READ || tool.effect > EFFECT_DESTRUCTIVE ||
	    ntools == TOOLS_MAX || judge_tool(tool.name) != NULL)
		return (-1);
	tools[ntools++] = tool;
	return (0);
}

/* Once, of a tool that it has named. */
static int
on_tool_group(void *arg, struct imsg *m)
{
	char name[NAME_BYTES_MAX], group[NAME_BYTES_MAX];
	size_t i;

	(void)arg;
	imsg_get_str(m, name, sizeof(name));
	imsg_get_str(m, group, sizeof(group));
	if (imsg_end(m) == -1 || group[0] == '\0')
		return (-1);
	for (i = 0; i < ntools; i++) {
		if (strcmp(tools[i].name, name) == 0 &&
		    tools[i].group[0] == '\0') {
			strlcpy(tools[i].group, group, sizeof(group));
			return (0);
		}
	}
	return (-1);
}

/*
 * Once, of a tool that it has named.  What is granted always needs a person,
 * whatever the declaration says.
 */
static int
on_tool_egress(void *arg, struct imsg *m)
{
	char name[NAME_BYTES_MAX];
	unsigned what;
	size_t i;

	(void)arg;
	what = imsg_get_u8(m);
	imsg_get_str(m, name, sizeof(name));
	if (imsg_end(m) == -1 ||
	    (what != EGRESS_FETCH && what != EGRESS_GRANT_SESSION))
		return (-1);
	for (i = 0; i < ntools; i++) {
		if (strcmp(tools[i].name, name) != 0 || tools[i].egress != 0)
			continue;
		tools[i].egress = what;
		if (what != EGRESS_FETCH && !WITHOUT(egress_asks))
			tools[i].asks = 1;
		return (0);
	}
	return (-1);
}

static int
on_tools_end(void *arg, struct imsg *m)
{
	uint32_t number;

	(void)arg;
	number = imsg_get_u32(m);
	if (imsg_end(m) == -1 || number != ntools)
		return (-1);
	channel_set_state(judge, ST_UP);
	log_debug("judged has %u tools", number);
	call_judge_up();
	return (0);
}

int
judge_ask(struct call *c)
{
	struct imsg *m;
	int fd;

	if (!judge_up())
		return (-1);
	if ((fd = fcntl(c->fds[CALL_ARGS], F_DUPFD_CLOEXEC, 3)) == -1) {
		log_warn("call");
		return (-1);
	}
	if ((m = imsg_new(MSG_JUDGE)) == NULL)
		fatal("judge");
	imsg_put_u64(m, c->sequence);
	imsg_put_u8(m, c->in);
	imsg_put_u8(m, (uint8_t)(egress_flags(c) |
	    (c->dry_run ? JUDGE_F_EXPLAIN : 0)));
	imsg_put_str(m, c->row.tool);
	imsg_put_str(m, call_workspace(c));
	imsg_put_str(m, c->who);
	imsg_put_str(m, c->session != NULL ? c->session->row.rules : "");
	imsg_put_fd(m, fd);
	c->judgings++;
	c->unasked = 0;
	return (channel_send(judge, m));
}

/*
 * Words that may be of the call's own arguments: masked before they are cut,
 * so that no half of a secret stays, and before anything is kept or told.
 */
static void
get_masked(struct imsg *m, char *dst, size_t size)
{
	char words[4096];
	size_t len;

	get_words(m, words, sizeof(words));
	if (!WITHOUT(verdict_mask)) {
		redact_line(words);
		secrets_mask(words, 0);
	}
	if ((len = strlen(words)) >= size) {
		len = size - 1;
		while (len > 0 && ((uint8_t)words[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(dst, words, len);
	dst[len] = '\0';
}

static int
get_judgement(struct imsg *m, struct judgement *j)
{
	memset(j, 0, sizeof(*j));
	j->verdict = imsg_get_u8(m);
	j->effect = imsg_get_u8(m);
	j->marks = imsg_get_u32(m);
	j->from = imsg_get_u32(m);
	j->to = imsg_get_u32(m);
	j->flags = imsg_get_u8(m);
	get_words(m, j->class, sizeof(j->class));
	get_masked(m, j->rule, sizeof(j->rule));
	get_words(m, j->where, sizeof(j->where));
	get_masked(m, j->command, sizeof(j->command));
	get_masked(m, j->reason, sizeof(j->reason));
	get_masked(m, j->next, sizeof(j->next));
	if (imsg_end(m) == -1 || j->verdict < VERDICT_ALLOW ||
	    j->verdict > VERDICT_INVALID || j->effect > EFFECT_DESTRUCTIVE ||
	    (j->flags & ~(unsigned)(VERDICT_F_UNRESOLVED |
	    VERDICT_F_NO_EGRESS)) != 0 ||
	    j->from > j->to)
		return (-1);
	return (0);
}

static int
on_verdict(void *arg, struct imsg *m)
{
	struct judgement j;
	uint64_t sequence;
	struct call *c;

	(void)arg;
	sequence = imsg_get_u64(m);
	if (get_judgement(m, &j) == -1)
		return (-1);
	/* Only what is wrong in itself has no effect of its own. */
	if (j.effect < EFFECT_READ && j.verdict != VERDICT_INVALID)
		return (-1);
	/* Without a run block there is nothing that could be allowed. */
	if (j.verdict == VERDICT_ALLOW && imsg_fds(m) < 1)
		return (-1);
	c = call_by_sequence(sequence);
	if (c != NULL && c->step == STEP_AGAIN) {
		approval_judged(c, &j, imsg_claim_fd(m, 0),
		    imsg_claim_fd(m, 1));
		return (0);
	}
	if (c == NULL || c->step != STEP_JUDGING)
		return (0);	/* it was ended meanwhile */
	if (c->judged.verdict != 0)
		return (-1);
	call_judged(c, &j, imsg_claim_fd(m, 0), imsg_claim_fd(m, 1));
	return (0);
}
