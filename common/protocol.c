/*
 * The table of protocol.h as data, and the names of its numbers.
 */
#include <string.h>

#include "protocol.h"

const struct msg_row msg_table[MSG_COUNT] = {
	[MSG_NONE] = { .name = "?" },
#define ROW(n, ch, d, f, s, lo, hi, k, st)				\
	[MSG_##n] = { .name = #n, .channels = (ch), .dir = (d),		\
	    .fixed = (f), .strings = (s), .fds_min = (lo),		\
	    .fds_max = (hi), .kinds = k, .states = (st) },
	PROTOCOL(ROW)
#undef ROW
};

static const char *const effects[] = {
	[EFFECT_READ] = "read",
	[EFFECT_MUTATE_REVERSIBLE] = "mutate-reversible",
	[EFFECT_MUTATE_IRREVERSIBLE] = "mutate-irreversible",
	[EFFECT_DESTRUCTIVE] = "destructive"
};

static const struct {
	unsigned	 bit;
	const char	*name;
} marks[] = {
	{ MARK_NETWORK_READ,	"network-read" },
	{ MARK_NETWORK_WRITE,	"network-write" },
	{ MARK_REMOTE_CODE,	"remote-code" },
	{ MARK_ELEVATED,	"elevated" },
	{ MARK_OPAQUE,		"opaque" },
	{ MARK_SELF,		"self" }
};

static const char *const verdicts[] = {
	[VERDICT_ALLOW] = "allow",
	[VERDICT_ASK] = "ask",
	[VERDICT_DENY] = "deny",
	[VERDICT_INVALID] = "invalid"
};

static const char *const proc_states[] = {
	[PROC_ST_STARTING] = "starting",
	[PROC_ST_UP] = "up",
	[PROC_ST_DOWN] = "down",
	[PROC_ST_FAILED] = "failed"
};

static const char *const reload_results[] = {
	[RELOAD_NONE] = "none",
	[RELOAD_OK] = "ok",
	[RELOAD_REFUSED] = "refused"
};

static const char *const approval_states[] = {
	[APPROVAL_PENDING] = "pending",
	[APPROVAL_ALLOWED] = "allowed",
	[APPROVAL_REJECTED] = "rejected",
	[APPROVAL_EXPIRED] = "expired",
	[APPROVAL_CANCELLED] = "cancelled",
	[APPROVAL_CHANGED] = "policy_changed"
};

static const char *const egress_vias[] = {
	[EGRESS_VIA_CONNECT] = "connect",
	[EGRESS_VIA_HTTP] = "http",
	[EGRESS_VIA_SOCKS] = "socks",
	[EGRESS_VIA_TLS] = "tls",
	[EGRESS_VIA_PLAIN] = "plain",
	[EGRESS_VIA_DNS] = "dns",
	[EGRESS_VIA_FETCH] = "fetch"
};

static const char *const egress_ends[] = {
	[EGRESS_END_CLOSED] = "closed",
	[EGRESS_END_IDLE] = "idle",
	[EGRESS_END_TOTAL] = "total_time",
	[EGRESS_END_BYTES] = "bytes",
	[EGRESS_END_REVOKED] = "revoked",
	[EGRESS_END_FAILED] = "failed"
};

static const struct {
	unsigned	 kind;
	const char	*name;
} channels[] = {
	{ CH_CONTROL,	"control" },
	{ CH_AGENT,	"agent" },
	{ CH_OPERATOR,	"operator" },
	{ CH_JUDGE,	"judge" },
	{ CH_LAUNCH,	"launch" },
	{ CH_MAKER,	"maker" },
	{ CH_SPAWNER,	"spawner" },
	{ CH_INIT,	"init" },
	{ CH_EGRESS,	"egress" }
};

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

static const char *
name_of(const char *const *names, size_t n, unsigned i)
{
	return (i < n && names[i] != NULL ? names[i] : "?");
}

const char *
egress_via_name(unsigned via)
{
	return (name_of(egress_vias, NITEMS(egress_vias), via));
}

const char *
egress_end_name(unsigned end)
{
	return (name_of(egress_ends, NITEMS(egress_ends), end));
}

const char *
effect_name(unsigned effect)
{
	return (name_of(effects, NITEMS(effects), effect));
}

unsigned
effect_find(const char *name)
{
	unsigned i;

	for (i = EFFECT_READ; i < NITEMS(effects); i++)
		if (strcmp(effects[i], name) == 0)
			return (i);
	return (0);
}

const char *
mark_name(unsigned bit)
{
	size_t i;

	for (i = 0; i < NITEMS(marks); i++)
		if (marks[i].bit == bit)
			return (marks[i].name);
	return (NULL);
}

unsigned
mark_find(const char *name)
{
	size_t i;

	for (i = 0; i < NITEMS(marks); i++)
		if (strcmp(marks[i].name, name) == 0)
			return (marks[i].bit);
	return (0);
}

const char *
verdict_name(unsigned verdict)
{
	return (name_of(verdicts, NITEMS(verdicts), verdict));
}

const char *
proc_state_name(unsigned status)
{
	return (name_of(proc_states, NITEMS(proc_states), status));
}

const char *
reload_result_name(unsigned result)
{
	return (name_of(reload_results, NITEMS(reload_results), result));
}

const char *
approval_state_name(unsigned state)
{
	return (name_of(approval_states, NITEMS(approval_states), state));
}

const char *
msg_name(unsigned type)
{
	return (type < MSG_COUNT ? msg_table[type].name : "?");
}

const char *
channel_name(unsigned kind)
{
	size_t i;

	for (i = 0; i < NITEMS(channels); i++)
		if (channels[i].kind == kind)
			return (channels[i].name);
	return ("?");
}
