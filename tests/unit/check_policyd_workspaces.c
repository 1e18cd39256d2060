/* The real policyd: who has a workspace to write, and who may not meanwhile. */

#include "policyd_rig_homes.h"

static uint32_t
send_workspace(uint64_t handle, const char *workspace)
{
	return (rig_open(&rig, handle, "", workspace, 0));
}

START_TEST(workspaces_are_a_principals)
{
	static const char *const meeting[] = {
		"/srv/src/a", "/srv/src/a/b", "/srv/src/a/b/c"
	};
	uint64_t handle = user(), other = member();
	char id[ID_SIZE], session[ID_SIZE];
	uint32_t request;
	size_t i;

	request = send_workspace(handle, "/srv/src/a/b");
	rig_neuron_up(&rig, id);
	want_status(RIG_AGENT, request, 201);
	for (i = 0; i < 3; i++)
		want_refusal(send_workspace(other, meeting[i]), 409,
		    "conflict", meeting[i]);
	request = send_workspace(other, "/srv/src/a/bc");
	rig_neuron_up(&rig, session);
	want_status(RIG_AGENT, request, 201);
	/* his own may have it as well */
	request = send_workspace(handle, "/srv/src/a/b/c");
	rig_neuron_up(&rig, session);
	want_status(RIG_AGENT, request, 201);
}
END_TEST

/* NEURON_MAKE, whose workspace is that directory. */
static void
up_at(uint64_t inode, char neuron[ID_SIZE])
{
	char text[PATH_BYTES_MAX];
	struct enc *e;
	struct got g;
	int i;

	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_MAKE, &g);
	for (i = 0; i < 4; i++)
		(void)dec_u32(&g.d);
	dec_str(&g.d, text, sizeof(text));
	dec_str(&g.d, neuron, ID_SIZE);
	e = enc_new(256);
	enc_u64(e, 3);
	enc_u64(e, 5);
	enc_u64(e, inode);
	enc_u32(e, 4321);
	enc_str(e, neuron);
	rig_send(rig.fd[RIG_LAUNCH], MSG_NEURON_UP, e, NULL, 0);
}

/* The same directory by another path: it is seen when it is up. */
START_TEST(workspaces_by_another_path)
{
	uint64_t handle = user(), other = member();
	char id[ID_SIZE];
	uint32_t request;

	request = send_workspace(handle, "/srv/src/a");
	up_at(7, id);
	want_status(RIG_AGENT, request, 201);
	request = send_workspace(other, "/srv/src/b");
	up_at(7, id);
	want_refusal(request, 409, "conflict", "/srv/src/b");
	want_drop(id);
	rig_gone(&rig, id, GONE_DROPPED, "");
	request = send_workspace(other, "/srv/src/b");
	up_at(8, id);
	want_status(RIG_AGENT, request, 201);
}
END_TEST

/* What the profile says goes for both. */
START_TEST(workspaces_as_the_profile_says)
{
	static const struct {
		enum cf_sharing	 sharing;
		int		 read_only;
		unsigned	 own, others;
	} rows[] = {
		{ SHARING_PRINCIPAL, 0, 201, 409 },
		{ SHARING_PRINCIPAL, 1, 201, 201 },
		{ SHARING_ANY, 0, 201, 201 },
		{ SHARING_NONE, 0, 409, 409 },
		{ SHARING_NONE, 1, 201, 201 },
	};
	struct cf_profile *p = calloc(1, sizeof(*p));
	uint64_t handle = user(), who;
	char id[ID_SIZE];
	uint32_t request;
	unsigned want;
	int i;

	rig.slice->profiles = p;
	rig.slice->nprofiles = 1;
	p->where.file = strdup("test.conf");
	snprintf(p->name, sizeof(p->name), "default");
	p->mode = MODE_NATIVE;
	p->sharing = rows[_i].sharing;
	p->read_only = rows[_i].read_only;
	limits_init(&p->limits);
	rig_reload(&rig);
	request = send_workspace(handle, "/srv/src/a");
	rig_neuron_up(&rig, id);
	want_status(RIG_AGENT, request, 201);
	for (i = 0; i < 2; i++) {
		who = i == 0 ? handle : member();
		want = i == 0 ? rows[_i].own : rows[_i].others;
		request = send_workspace(who, "/srv/src/a");
		if (want == 201)
			rig_neuron_up(&rig, id);
		want_status(RIG_AGENT, request, want);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("workspaces");
	TCase *t = tcase_create("workspaces");

	tcase_add_checked_fixture(t, begin, stop);
	tcase_add_test(t, workspaces_are_a_principals);
	tcase_add_test(t, workspaces_by_another_path);
	tcase_add_loop_test(t, workspaces_as_the_profile_says, 0, 5);
	suite_add_tcase(s, t);
	return (rig_main(s));
}
