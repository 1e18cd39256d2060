/*
 * apid: HTTP on one socket.  The agent's and the operator's are this same
 * program, as different users, with a channel and a route table of their own.
 */
#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "clean.h"
#include "conn.h"
#include "filter.h"
#include "log.h"
#include "policy.h"
#include "proc.h"
#include "scan.h"
#include "slice.h"
#include "text.h"
#include "tools.h"

/* Bytes from which memory is mapped on its own, and so goes back at once. */
#define MMAP_FROM	(256 * 1024)

static struct slice	*coming;
static int		 coming_fds[LISTENS_MAX] = { -1, -1, -1, -1, -1 };

static int
apid_preload(void)
{
	/* It may read /dev/urandom, which is out of reach later on. */
	json_object_seed(0);
	/* Bodies and output come and go; the heap is not to keep them. */
	mallopt(M_MMAP_THRESHOLD, MMAP_FROM);
	mallopt(M_TRIM_THRESHOLD, MMAP_FROM);
	mallopt(M_ARENA_MAX, 1);
	text_init();
	if (scan_init() == -1)
		return (-1);
	log_set_mask(clean_words);
	return (0);
}

static void
apid_abort(void)
{
	size_t i;

	tools_abort();
	for (i = 0; i < LISTENS_MAX; i++) {
		if (coming_fds[i] != -1)
			close(coming_fds[i]);
		coming_fds[i] = -1;
	}
	slice_free(coming);
	coming = NULL;
}

static int
apid_config(struct slice *slice)
{
	const struct where nowhere = { NULL, 0 };
	char name[32];
	size_t i;

	apid_abort();
	if (slice->nlistens < 1 || slice->nlistens > LISTENS_MAX)
		return (slice_bad(slice, &nowhere,
		    "1 to %d listen lines are needed, not %zu", LISTENS_MAX,
		    slice->nlistens));
	if (tools_read(slice) == -1)
		return (-1);
	for (i = 0; i < slice->nlistens; i++) {
		(void)snprintf(name, sizeof(name), "listen/%zu", i);
		coming_fds[i] = slice_claim(slice, name);
		if (coming_fds[i] != -1 || (proc_flags() & PROC_F_CHECK))
			continue;
		slice_bad(slice, &slice->listens[i].where,
		    "the listening socket is missing");
		apid_abort();
		return (-1);
	}
	coming = slice;
	return (0);
}

static void
apid_commit(void)
{
	size_t i;

	calls_config(&coming->limits);
	conns_config(coming, coming_fds);
	tools_commit();
	for (i = 0; i < LISTENS_MAX; i++)
		coming_fds[i] = -1;
	slice_free(coming);
	coming = NULL;
}

static void
apid_stop(void)
{
	/* policyd ends after this process, and keeps them. */
	calls_send();
	conns_stop();
	policy_finish_channel();
}

static const struct proc_role agent = {
	.name = "apid",
	.channels = CH_AGENT,
	.preload = apid_preload,
	.config = apid_config,
	.commit = apid_commit,
	.abort = apid_abort,
	.plumb = policy_plumb,
	.stop = apid_stop
};

int
main(int argc, char **argv)
{
	struct proc_role role = agent;
	const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;

	name = name != NULL ? name + 1 : argc > 0 ? argv[0] : "";
	/* Which channel it has is known before its configuration is. */
	if (strcmp(name, "apid-operator") == 0) {
		role.name = "apid-operator";
		role.channels = CH_OPERATOR;
	}
	role.syscalls = apid_syscalls;
	role.nsyscalls = apid_nsyscalls;
	proc_main(&role, argc, argv);
}
