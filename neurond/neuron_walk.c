/*
 * What a neuron needs of the maker before it can be built: its workspace, what
 * stands for names in it, and its listeners.
 */
#include <sys/stat.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "imsg.h"
#include "maker.h"
#include "neuron.h"
#include "place.h"

int
neuron_walk(struct neuron *n)
{
	struct imsg *m = imsg_new(MSG_WALK);
	uint8_t groups[GROUPS_MAX * 4];
	size_t i;

	for (i = 0; i < n->owner.ngroups; i++) {
		groups[4 * i] = (uint8_t)n->owner.groups[i];
		groups[4 * i + 1] = (uint8_t)(n->owner.groups[i] >> 8);
		groups[4 * i + 2] = (uint8_t)(n->owner.groups[i] >> 16);
		groups[4 * i + 3] = (uint8_t)(n->owner.groups[i] >> 24);
	}
	imsg_put_u32(m, n->slot->n);
	imsg_put_u32(m, n->slot->generation);
	imsg_put_u32(m, n->slot->kuid);
	imsg_put_u32(m, n->owner.uid);
	imsg_put_u32(m, n->owner.gid);
	place_guess(n, m);
	n->mapped = slot_is_mapped(n->slot, n->owner.uid, n->owner.gid);
	imsg_put_u8(m, (uint8_t)n->mapped);
	slots_expect(n->owner.uid, n->owner.gid);
	imsg_put_bytes(m, groups, 4 * n->owner.ngroups);
	imsg_put_str(m, n->workspace);
	return (helper_send(HELPER_MAKER, m));
}

/* The directory that the owner could reach: whose is it, and its mount. */
static void
walked(struct neuron *n, int dir, int user_ns)
{
	const char *why = NULL;
	struct stat st;

	if (fstat(dir, &st) == -1)
		why = "can't be examined";
	else if (!S_ISDIR(st.st_mode))
		why = "is not a directory";
	else if (st.st_uid != n->owner.uid)
		why = "does not belong to its owner";
	else
		n->tree = workspace_clone(dir, user_ns, n->read_only, &why);
	close(user_ns);
	if (n->tree == -1) {
		close(dir);
		neuron_end(n, GONE_REFUSED, "workspace %s %s", n->workspace,
		    why);
		return;
	}
	FAULT("neuron.walked");
	n->device = st.st_dev;
	n->inode = st.st_ino;
	if (n->read_only) {
		/* Nothing in it can be changed: nothing needs a placeholder. */
		close(dir);
		n->placed = 1;
		neuron_walked_on(n);
	} else if (place_hold(n, dir) == -1)
		neuron_end(n, GONE_FAILED, "a record of placeholders: %s",
		    strerrordesc_np(errno));
	else if (!place_guessed(n))
		place_ask(n);
}

void
neuron_placed(const struct place *p, uint32_t ticket, uint32_t error,
    const char *why)
{
	struct neuron *n;

	for (n = neurons_next(NULL); n != NULL; n = neurons_next(n))
		if (n->place == p && n->ticket == ticket)
			break;
	if (n == NULL || n->state != NEURON_WALKING)
		return;		/* dropped meanwhile */
	if (error == ESTALE && place_guessed(n)) {
		/* Its record has another owner: as him. */
		n->guessed = 0;
		place_ask(n);
		return;
	}
	if (error == WALK_REFUSED)
		neuron_end(n, GONE_REFUSED, "workspace %s %s", n->workspace,
		    why);
	else if (error != 0)
		neuron_end(n, GONE_FAILED, "workspace: %s: %s", why,
		    strerrordesc_np((int)error));
	if (error != 0)
		return;
	FAULT("neuron.placed");
	n->placed = 1;
	neuron_walked_on(n);
}

void
neurons_place(const struct place *p)
{
	struct neuron *n, *next;

	for (n = neurons_next(NULL); n != NULL; n = next) {
		next = neurons_next(n);
		if (n->place == p && n->state == NEURON_WALKING && !n->placed)
			place_ask(n);
	}
}

int
neuron_answer(struct imsg *m, unsigned nfds, struct maker_says *a)
{
	uint32_t slot, generation;

	slot = imsg_get_u32(m);
	generation = imsg_get_u32(m);
	a->error = imsg_get_u32(m);
	imsg_get_str(m, a->why, sizeof(a->why));
	if (imsg_end(m) == -1 || (a->error != 0 ? imsg_fds(m) != 0 :
	    nfds != ANY_FDS && imsg_fds(m) != nfds))
		return (-1);
	a->neuron = neuron_of_slot(slot, generation);
	if (a->neuron != NULL && a->neuron->state != NEURON_WALKING)
		a->neuron = NULL;
	return (0);
}

/* The namespace for the idmap: what came with the answer, or the slot's. */
static int
map_of(struct neuron *n, int came)
{
	int ns = n->slot->map_ns;

	if (!n->mapped)
		return (came);
	n->slot->map_ns = -1;
	n->mapped = 0;
	return (ns);
}

int
neuron_on_walked(void *arg, struct imsg *m)
{
	struct maker_says a;

	(void)arg;
	if (neuron_answer(m, ANY_FDS, &a) == -1)
		return (-1);
	if (a.neuron == NULL)
		return (0);
	if (a.error == 0 && imsg_fds(m) != (a.neuron->mapped ? 1U : 2U))
		return (-1);
	if (a.error == WALK_REFUSED)
		neuron_end(a.neuron, GONE_REFUSED, "workspace %s %s",
		    a.neuron->workspace, a.why);
	else if (a.error != 0)
		neuron_end(a.neuron, GONE_FAILED, "workspace: %s: %s", a.why,
		    strerrordesc_np((int)a.error));
	else
		walked(a.neuron, imsg_claim_fd(m, 0),
		    map_of(a.neuron, imsg_claim_fd(m, 1)));
	return (0);
}

int
neuron_on_listening(void *arg, struct imsg *m)
{
	struct maker_says a;

	(void)arg;
	if (neuron_answer(m, ANY_FDS, &a) == -1)
		return (-1);
	if (a.neuron == NULL)
		return (0);
	if (a.error != 0) {
		neuron_end(a.neuron, GONE_FAILED, "egress: %s: %s", a.why,
		    strerrordesc_np((int)a.error));
		return (0);
	}
	if (a.neuron->listeners.n > 0 ||
	    listeners_take(&a.neuron->listeners, m) == -1)
		return (-1);
	FAULT("neuron.listening");
	neuron_walked_on(a.neuron);
	return (0);
}
