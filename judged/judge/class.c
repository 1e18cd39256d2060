/*
 * Classes: their names, verdicts, effects and marks.  One row a class.
 */
#include <string.h>

#include "class.h"

#define WORD_SHOWN_MAX	200	/* bytes of a word in a rule */

/* What may be done about it; "" where nothing can. */
#define NEXT_ASK	"an operator approves the call"
#define NEXT_EXACT	"name the exact words in the command, or an operator " \
			"approves the call"

static const struct class_row {
	const char	*name;
	enum verdict	 verdict;
	unsigned	 rank;		/* among those of one verdict */
	enum effect	 effect;
	uint32_t	 marks;
	const char	*next;
} rows[CLASS_COUNT] = {
	[CLASS_READ] = { "read", VERDICT_ALLOW, 1, EFFECT_READ, 0, "" },
	[CLASS_MUTATE] = { "mutate-reversible", VERDICT_ALLOW, 2,
	    EFFECT_MUTATE_REVERSIBLE, 0, "" },
	[CLASS_LOSE] = { "mutate-irreversible", VERDICT_ALLOW, 3,
	    EFFECT_MUTATE_IRREVERSIBLE, 0, "" },
	[CLASS_NET_READ] = { "network-read", VERDICT_ALLOW, 4,
	    EFFECT_READ, MARK_NETWORK_READ, "" },
	[CLASS_UNPARSABLE] = { "unparsable", VERDICT_ASK, 1,
	    EFFECT_MUTATE_IRREVERSIBLE, MARK_OPAQUE,
	    "mend the syntax, or an operator approves the call" },
	[CLASS_OPAQUE] = { "opaque", VERDICT_ASK, 2,
	    EFFECT_MUTATE_IRREVERSIBLE, MARK_OPAQUE, NEXT_EXACT },
	[CLASS_DESTROY] = { "destructive", VERDICT_ASK, 3,
	    EFFECT_DESTRUCTIVE, 0, NEXT_ASK },
	[CLASS_ELEVATED] = { "elevated", VERDICT_ASK, 4,
	    EFFECT_MUTATE_IRREVERSIBLE, MARK_ELEVATED, NEXT_ASK },
	[CLASS_NET_WRITE] = { "network-write", VERDICT_ASK, 5,
	    EFFECT_MUTATE_IRREVERSIBLE, MARK_NETWORK_WRITE, NEXT_ASK },
	[CLASS_REMOTE] = { "remote-code", VERDICT_ASK, 6,
	    EFFECT_MUTATE_IRREVERSIBLE,
	    MARK_REMOTE_CODE | MARK_NETWORK_READ, NEXT_ASK },
	[HARD_WIPE] = { "hard:wipe", VERDICT_DENY, 1, EFFECT_DESTRUCTIVE, 0,
	    "" },
	[HARD_DISK] = { "hard:disk", VERDICT_DENY, 1, EFFECT_DESTRUCTIVE, 0,
	    "" },
	[HARD_FORKBOMB] = { "hard:forkbomb", VERDICT_DENY, 1,
	    EFFECT_DESTRUCTIVE, 0, "" },
	[HARD_BOOT] = { "hard:boot", VERDICT_DENY, 1, EFFECT_DESTRUCTIVE,
	    MARK_ELEVATED, "" },
	[HARD_KERNEL] = { "hard:kernel", VERDICT_DENY, 1, EFFECT_DESTRUCTIVE,
	    MARK_ELEVATED, "" },
	[HARD_ACCOUNT] = { "hard:account", VERDICT_DENY, 1,
	    EFFECT_DESTRUCTIVE, MARK_ELEVATED, "" },
	[HARD_SNAPSHOT] = { "hard:snapshot", VERDICT_DENY, 1,
	    EFFECT_DESTRUCTIVE, 0, "" },
	[HARD_PERM] = { "hard:perm", VERDICT_DENY, 1, EFFECT_DESTRUCTIVE, 0,
	    "" },
	[HARD_SELF] = { "hard:self", VERDICT_DENY, 1, EFFECT_DESTRUCTIVE,
	    MARK_SELF, "" }
};

const char *
class_name(enum class_id id)
{
	return (rows[id].name);
}

void
class_find(const struct subject *s, enum class_id id, const char *rule)
{
	const struct class_row *row = &rows[id];
	struct finding f = {
		.verdict = row->verdict,
		.rank = row->rank,
		.class = row->name,
		.effect = row->effect,
		.marks = row->marks,
		.rule = rule,
		.next = row->next,
		.command = s->c,
		.from = s->c->from,
		.to = s->c->to,
		.flags = s->flags,
		.path = s->path,
		.hosts = s->hosts
	};

	judging_find(s->j, &f);
}

void
class_findf(const struct subject *s, enum class_id id, const char *words,
    const struct word *w)
{
	const char *start = word_start(w), *at;
	size_t before, n;
	char *text;

	if (start[0] == '\0')
		start = "an unknown word";
	/* a long word is known by its beginning */
	n = strlen(start);
	if (n > WORD_SHOWN_MAX)
		n = WORD_SHOWN_MAX;
	else if (words[0] == '%' && words[1] == 's' && words[2] == '\0') {
		class_find(s, id, start);
		return;
	}
	at = strstr(words, "%s");
	before = at == NULL ? strlen(words) : (size_t)(at - words);
	text = judging_alloc(s->j, strlen(words) + n + 1);
	memcpy(text, words, before);
	if (at != NULL) {
		memcpy(text + before, start, n);
		memcpy(text + before + n, at + 2, strlen(at + 2));
	}
	class_find(s, id, text);
}
