/* QUERY: neurons, persistent ones and those that go with their session. */

#include <string.h>

#include "egress.h"
#include "home.h"
#include "keys.h"
#include "neuron.h"
#include "query.h"
#include "session.h"

static const char *
home_state(const struct home *h)
{
	if (h->row.reason[0] != '\0')
		return ("destroying");
	return (h->neuron != NULL ? "live" : h->lost ? "lost" : "idle");
}

/* What both kinds have; the neuron is NULL where none lives. */
static json_t *
live_json(const struct neuron *n, const char *id, uint32_t principal)
{
	json_t *json;

	json = json_pack("{s:s,s:o}", "neuron", id, "principal",
	    principal_json(principal));
	json_object_set_new(json, "session", json_text_or_null(n != NULL &&
	    n->session != NULL ? n->session->row.id : NULL));
	json_object_set_new(json, "calls",
	    json_integer(n != NULL ? (json_int_t)n->calls : 0));
	json_object_set_new(json, "egress",
	    n != NULL ? egress_json(n) : json_null());
	return (json);
}

/* No expiry while it is used, or is going already. */
static uint64_t
home_expires(const struct home *h)
{
	return (h->neuron != NULL || h->row.reason[0] != '\0' ? 0 :
	    h->row.used + h->row.idle);
}

json_t *
home_json(const struct home *h)
{
	const struct home_row *row = &h->row;
	json_t *json = live_json(h->neuron, row->id, row->principal);
	json_t *more;

	more = json_pack("{s:s,s:o,s:o,s:b,s:s,s:o,s:o,s:o,s:o,s:o,s:I,s:o}",
	    "kind", "persistent", "profile", json_text(row->profile),
	    "workspace", json_text_or_null(row->workspace),
	    "read_only", h->neuron != NULL ? h->neuron->build.read_only :
	    row->read_only,
	    "state", home_state(h), "created", json_when(row->created),
	    "name", json_text_or_null(row->name),
	    "labels", labels_json(row->labels),
	    "used", json_when(row->used),
	    "expires", json_when(home_expires(h)),
	    "idle_expiry_s", (json_int_t)(row->idle / 1000000),
	    "size", row->made != 0 && !h->lost ?
	    json_integer((json_int_t)h->bytes) : json_null());
	if (json == NULL || more == NULL || json_object_update(json, more) ==
	    -1)
		fatalx("an answer can not be made");
	json_decref(more);
	return (json);
}

static json_t *
ephemeral_json(const struct neuron *n)
{
	static const char *const states[] = {
		[NEURON_NEW] = "new",
		[NEURON_MAKING] = "making",
		[NEURON_UP] = "up",
		[NEURON_GOING] = "going",
	};
	json_t *json = live_json(n, n->id, (uint32_t)n->ident->uid);
	json_t *more;

	more = json_pack("{s:s,s:o,s:o,s:b,s:s,s:o,s:n,s:{},s:n,s:n,s:n,s:n}",
	    "kind", "ephemeral", "profile", json_text(n->build.profile),
	    "workspace", json_text_or_null(n->build.workspace),
	    "read_only", n->build.read_only,
	    "state", states[n->state], "created", json_when(n->created),
	    "name", "labels", "used", "expires", "idle_expiry_s", "size");
	if (json == NULL || more == NULL || json_object_update(json, more) ==
	    -1)
		fatalx("an answer can not be made");
	json_decref(more);
	return (json);
}

/* ---- lists ---- */

static int
home_wants(const struct query *q, const struct home *h)
{
	if (!query_sees(q, h->row.principal))
		return (0);
	if (q->name != NULL && q->name[0] != '\0' &&
	    strcmp(q->name, h->row.name) != 0)
		return (0);
	return (q->label == NULL || q->label[0] == '\0' ||
	    labels_have(h->row.labels, q->label));
}

/* A persistent one is listed by its row. */
static int
neuron_wants(const struct query *q, const struct neuron *n)
{
	return (n->home == NULL && q->name == NULL &&
	    query_sees(q, (uint32_t)n->ident->uid));
}

/*
 * Newest first, of both kinds: the times of their making are all different,
 * and a cursor is the time that the next page stays under.
 */
json_t *
query_neurons(const struct query *q, struct refusal *r)
{
	uint64_t before = q->cursor != 0 ? q->cursor : UINT64_MAX, last = 0;
	const struct neuron *n = TAILQ_FIRST(neuron_all());
	const struct home *h = TAILQ_FIRST(home_all());
	json_t *list = json_array(), *next;

	(void)r;
	while (json_array_size(list) < q->most) {
		while (n != NULL && (n->created >= before ||
		    !neuron_wants(q, n)))
			n = TAILQ_NEXT(n, order);
		while (h != NULL && (h->row.created >= before ||
		    !home_wants(q, h)))
			h = TAILQ_NEXT(h, entry);
		if (h != NULL && (n == NULL || h->row.created > n->created)) {
			json_array_append_new(list, home_json(h));
			last = h->row.created;
		} else if (n != NULL) {
			json_array_append_new(list, ephemeral_json(n));
			last = n->created;
		} else
			break;
		before = last;
	}
	next = json_array_size(list) >= q->most ?
	    json_integer((json_int_t)last) : json_null();
	return (json_pack("{s:o,s:o}", "neurons", list, "next", next));
}

json_t *
query_neuron(const struct query *q, struct refusal *r)
{
	const struct neuron *n = NULL;
	const struct home *h = NULL;

	if (id_ok(ID_NEURON, q->id) && (h = home_find(q->id)) == NULL)
		n = neuron_find(q->id);
	if (h != NULL && query_sees(q, h->row.principal))
		return (home_json(h));
	if (n != NULL && query_sees(q, (uint32_t)n->ident->uid))
		return (ephemeral_json(n));
	refuse(r, 404, "not_found", "there is no neuron \"%s\" of yours",
	    q->id);
	return (NULL);
}

int
home_on_find(void *arg, struct imsg *m)
{
	char name[NAME_BYTES_MAX], label[LABEL_SIZE];
	struct refusal r;
	struct query q;
	uint64_t handle;
	json_t *json;
	int bad;

	memset(&q, 0, sizeof(q));
	q.api = arg;
	q.to = reply_to(arg, imsg_get_u32(m));
	handle = imsg_get_u64(m);
	q.cursor = imsg_get_u64(m);
	q.most = imsg_get_u32(m);
	bad = get_text(m, name, sizeof(name));
	bad |= get_text(m, label, sizeof(label));
	if (imsg_end(m) == -1)
		return (-1);
	if (q.most == 0 || q.most > LIST_MAX)
		q.most = q.most == 0 ? LIST_DEFAULT : LIST_MAX;
	q.name = name;
	q.label = label;
	if (bad == -1) {
		refuse(&r, 400, "bad_request", "name or label is too long or "
		    "holds a NUL");
		json = NULL;
	} else
		json = query_ask(&q, QUERY_NEURONS, handle, &r);
	if (json == NULL)
		reply_refusal(&q.to, &r);
	else
		reply_json(&q.to, 200, json);
	return (0);
}
