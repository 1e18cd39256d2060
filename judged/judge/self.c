/*
 * Myelin's own, by name.
 */
#include <string.h>

#include "judge_int.h"
#include "self.h"
#include "../rules.h"

static const char *const processes[] = {
	"myelind", "apid", "judged", "policyd", "neurond", "egressd",
	"neuron-init", "neuron-tool", NULL
};

int
self_names(const struct word *w)
{
	const char *text = word_start(w);

	if (strncmp(text, "myelin", 6) != 0)
		return (0);
	text += text[6] == 'd';
	/* myelin, myelind, myelin.service, myelin-, myelin*, myelin:amd64 */
	return (text[6] == '\0' || strchr(".-*?[@/:=+", text[6]) != NULL);
}

/* A pattern of pkill is one of regular expressions: "^myelin", "polic.d". */
int
self_process(const struct word *w)
{
	const char *text = word_start(w);
	size_t i, n;

	if (strstr(text, "myelin") != NULL)
		return (1);
	text += text[0] == '^';
	n = strcspn(text, "$ ");
	for (i = 0; processes[i] != NULL; i++)
		if (strlen(processes[i]) == n &&
		    strncmp(processes[i], text, n) == 0)
			return (1);
	return (0);
}

void
self_looked_up(struct judging *j)
{
	struct rule_call *call = judging_context(j)->rules;

	if (call != NULL)
		call->looked_up = 1;
}

int
self_was_looked_up(const struct judging *j)
{
	const struct rule_call *call = judging_context(j)->rules;

	return (call != NULL && call->looked_up);
}
