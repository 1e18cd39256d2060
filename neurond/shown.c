/*
 * What of the host a neuron is shown, and the asking for it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "helper.h"
#include "imsg.h"
#include "log.h"
#include "neuron.h"
#include "shown.h"

static void
append(char **list, const char *path)
{
	char *more;

	if (asprintf(&more, "%s%s\n", *list == NULL ? "" : *list, path) == -1)
		fatal("shown");
	free(*list);
	*list = more;
}

void
shown_init(struct shown *s, const struct cf_trees *t)
{
	size_t i;

	memset(s, 0, sizeof(*s));
	if (t == NULL)
		return;
	if (t->root != NULL) {
		s->root = 1;
		s->overlay = t->overlay;
		s->wanted++;
		append(&s->paths, t->root);
	}
	for (i = 0; i < t->nmounts; i++) {
		s->wanted++;
		append(&s->paths, t->mounts[i].path);
		append(&s->at, t->mounts[i].at);
	}
}

void
shown_close(struct shown *s)
{
	while (s->have > 0)
		close(s->fd[--s->have]);
	free(s->paths);
	free(s->at);
	s->paths = s->at = NULL;
	s->wanted = 0;
}

int
shown_wanting(const struct shown *s)
{
	return (s->have < s->wanted);
}

int
shown_ask(const struct neuron *n)
{
	struct imsg *m = imsg_new(MSG_TREES);

	imsg_put_u32(m, n->slot->n);
	imsg_put_u32(m, n->slot->generation);
	imsg_put_u32(m, n->shown.overlay ? n->slot->kuid : 0);
	imsg_put_u8(m, (uint8_t)n->shown.wanted);
	imsg_put_u8(m, n->shown.root != 0);
	imsg_put_str(m, n->shown.paths);
	return (helper_send(HELPER_MAKER, m));
}

/* What the maker answered; -1 if that is not what was asked for. */
static int
take(struct shown *s, struct imsg *m)
{
	if (s->have != 0 || imsg_fds(m) != s->wanted)
		return (-1);
	for (; s->have < s->wanted; s->have++)
		s->fd[s->have] = imsg_claim_fd(m, s->have);
	return (0);
}

void
shown_give(struct shown *s, struct imsg *m)
{
	unsigned i;

	for (i = 0; i < s->have; i++)
		imsg_put_fd(m, s->fd[i]);
	s->have = 0;
}

int
shown_on_trees(void *arg, struct imsg *m)
{
	struct maker_says a;

	(void)arg;
	if (neuron_answer(m, ANY_FDS, &a) == -1)
		return (-1);
	if (a.neuron == NULL)
		return (0);
	if (a.error != 0) {
		neuron_end(a.neuron, GONE_FAILED, "%s: %s", a.why,
		    strerrordesc_np((int)a.error));
		return (0);
	}
	if (take(&a.neuron->shown, m) == -1)
		return (-1);
	FAULT("neuron.shown");
	neuron_walked_on(a.neuron);
	return (0);
}
