/* Persistent neurons: making one, destroying one, finding some. */

#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "drain.h"
#include "home.h"
#include "keys.h"
#include "neuron.h"
#include "session.h"
#include "sync.h"
#include "without.h"

/* What HOME_MAKE says. */
struct asked_home {
	struct wanted	 wanted;
	uint32_t	 idle;		/* s */
	char		 name[NAME_BYTES_MAX];
	char		 labels[LABELS_SIZE];
};

static int
too_many(enum limit limit, struct refusal *r)
{
	return (refuse_later(r, 429, "too_many", 60, "the limit %s is %llu, "
	    "and there are as many; destroy a neuron that is not needed",
	    limit_table[limit].keyword,
	    (unsigned long long)conf_limit(limit)));
}

static int
name_ok(const char *name)
{
	return (strspn(name, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == strlen(name) &&
	    !id_ok(ID_NEURON, name));
}

/* What the principal has already, and what there is in all. */
static int
check_room(uint32_t principal, const char *name, struct refusal *r)
{
	unsigned all = 0, own = 0;
	const struct home *h;

	TAILQ_FOREACH(h, home_all(), entry) {
		all++;
		if (h->row.principal != principal)
			continue;
		own++;
		if (name[0] != '\0' && strcmp(h->row.name, name) == 0)
			return (refuse(r, 409, "conflict", "you have a neuron "
			    "of the name \"%s\" already, %s", name,
			    h->row.id));
	}
	if (own >= conf_limit(LIMIT_HOMES_PRINCIPAL) && !WITHOUT(home_cap))
		return (too_many(LIMIT_HOMES_PRINCIPAL, r));
	if (all >= conf_limit(LIMIT_HOMES))
		return (too_many(LIMIT_HOMES, r));
	return (0);
}

static int
check_idle(uint32_t *idle, struct refusal *r)
{
	const struct limit_row *row = &limit_table[LIMIT_IDLE_EXPIRY];

	if (*idle == 0)
		*idle = (uint32_t)conf_limit(LIMIT_IDLE_EXPIRY);
	if (*idle < row->min || *idle > row->max)
		return (refuse(r, 400, "bad_request", "idle_expiry is %u s; "
		    "it can be from %llu to %llu s", *idle,
		    (unsigned long long)row->min,
		    (unsigned long long)row->max));
	return (0);
}

static void
fill(struct home_row *row, const struct asked_home *a, const struct build *b,
    uint32_t principal)
{
	row->principal = principal;
	strlcpy(row->name, a->name, sizeof(row->name));
	strlcpy(row->profile, b->profile, sizeof(row->profile));
	strlcpy(row->workspace, b->workspace, sizeof(row->workspace));
	row->owner_uid = a->wanted.owner_uid;
	row->owner_gid = a->wanted.owner_gid;
	row->read_only = a->wanted.read_only;
	strlcpy(row->labels, a->labels, sizeof(row->labels));
	row->created = row->used = home_stamp();
	row->idle = (uint64_t)a->idle * 1000000;
}

/* Recorded, then there, then said. */
static int
keep(const struct reply_to *to, struct home_row *row, struct refusal *r)
{
	audit_append_for(to, "neuron.created", json_pack(
	    "{s:s,s:o,s:s,s:o,s:o,s:o,s:I}", "neuron", row->id,
	    "principal", principal_json(row->principal),
	    "profile", row->profile,
	    "workspace", json_text_or_null(row->workspace),
	    "name", json_text_or_null(row->name),
	    "labels", labels_json(row->labels),
	    "idle_expiry_s", (json_int_t)(row->idle / 1000000)));
	if (sync_now() == 0 && store_home_set(row) == 0 && sync_now() == 0)
		return (0);
	(void)store_home_delete(row->id);
	sync_failed();
	audit_append("neuron.destroyed", json_pack("{s:s,s:o,s:s,s:n}",
	    "neuron", row->id, "principal", principal_json(row->principal),
	    "reason", "interrupted", "by"));
	return (refuse_later(r, 503, "unavailable", 1,
	    "store_full: the neuron can not be recorded"));
}

static int
make(const struct reply_to *to, uint64_t handle, struct asked_home *a,
    struct refusal *r)
{
	const struct cf_principal *line;
	struct home_row row;
	struct build build;
	struct peer *peer;
	uint32_t principal;
	struct home *h;

	if ((peer = api_peer(to->api, handle, r)) == NULL ||
	    check_idle(&a->idle, r) == -1 ||
	    (drain_on() && drain_refuse(r) == -1) ||
	    decide_line(&peer->ids, &line, r) == -1 ||
	    decide_build(line, &peer->ids, &a->wanted, &build, r) == -1)
		return (-1);
	if (!name_ok(a->name) || !labels_ok(a->labels))
		return (refuse(r, 400, "bad_request", "the name or the labels "
		    "are none"));
	principal = (uint32_t)peer->ident->uid;
	if (check_room(principal, a->name, r) == -1)
		return (-1);
	memset(&row, 0, sizeof(row));
	if (id_make(ID_NEURON, row.id) == -1)
		fatal("neuron");
	fill(&row, a, &build, principal);
	if (keep(to, &row, r) == -1)
		return (-1);
	h = home_add(&row);
	reply_json(to, 201, home_json(h));
	return (0);
}

static int
get_asked(struct imsg *m, struct asked_home *a)
{
	int bad;

	memset(a, 0, sizeof(*a));
	a->wanted.owner_uid = imsg_get_u32(m);
	a->wanted.owner_gid = imsg_get_u32(m);
	a->idle = imsg_get_u32(m);
	a->wanted.read_only = imsg_get_u8(m) != 0;
	bad = get_text(m, a->wanted.profile, sizeof(a->wanted.profile));
	bad |= get_text(m, a->wanted.workspace, sizeof(a->wanted.workspace));
	bad |= get_text(m, a->name, sizeof(a->name));
	bad |= get_text(m, a->labels, sizeof(a->labels));
	return (bad);
}

int
home_on_make(void *arg, struct imsg *m)
{
	struct asked_home *a;
	struct reply_to to;
	struct refusal r;
	uint64_t handle;
	int bad;

	if ((a = malloc(sizeof(*a))) == NULL)
		fatal("neuron");
	to = reply_to(arg, imsg_get_u32(m));
	handle = imsg_get_u64(m);
	bad = get_asked(m, a);
	if (imsg_end(m) == -1) {
		free(a);
		return (-1);
	}
	if (bad == -1)
		refuse(&r, 400, "bad_request", "profile, workspace, name or "
		    "labels are too long or hold a NUL");
	else if (make(&to, handle, a, &r) == 0)
		goto done;
	reply_refusal(&to, &r);
done:
	free(a);
	return (0);
}

/* An ephemeral neuron goes with its session or call, and only so. */
static int
end_ephemeral(const struct neuron *n, struct refusal *r)
{
	if (n->session != NULL)
		return (refuse(r, 409, "conflict", "the neuron is session "
		    "%s's: end that", n->session->row.id));
	return (refuse(r, 409, "conflict", "the neuron goes with its call"));
}

void
home_end(const struct reply_to *to, const struct peer *peer, const char *id,
    int operator)
{
	struct home *h = id_ok(ID_NEURON, id) ? home_find(id) : NULL;
	const struct neuron *n;
	struct refusal r;

	if (h != NULL && (operator || WITHOUT(home_owner) ||
	    h->row.principal == (uint32_t)peer->ident->uid)) {
		home_destroy(h, operator ? "destroyed_by_operator" :
		    "destroyed", peer->who, to);
		return;
	}
	n = h == NULL && id_ok(ID_NEURON, id) ? neuron_find(id) : NULL;
	if (n != NULL && (operator || n->ident == peer->ident))
		end_ephemeral(n, &r);
	else
		refuse(&r, 404, "not_found", "there is no neuron \"%s\"%s",
		    id, operator ? "" : " of yours");
	reply_refusal(to, &r);
}
