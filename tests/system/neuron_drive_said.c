/*
 * What neurond says to who drives it, kept for the tests to look at.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ids.h"
#include "neuron_drive.h"

static const char *const causes[] = {
	"?", "exited", "signalled", "timed_out", "oom", "pids",
	"output_limit", "cancelled", "session_ended", "interrupted",
	"exec_failed", "launch_failed", "neuron_lost"
};

static char ends[16384];	/* what is known of ends, not shown yet */

static int
on_number(void *arg, struct imsg *m)
{
	(void)arg;
	(void)imsg_get_u32(m);
	if (imsg_type(m) == MSG_READY)
		st.ready = 1;
	return (imsg_end(m));
}

static int
on_lost(void *arg, struct imsg *m)
{
	(void)arg;
	(void)imsg_get_u32(m);
	(void)imsg_get_u32(m);
	return (imsg_end(m));
}

static int
on_config_bad(void *arg, struct imsg *m)
{
	char file[256], why[1024];
	uint32_t line;

	(void)arg;
	(void)imsg_get_u32(m);
	line = imsg_get_u32(m);
	imsg_get_str(m, file, sizeof(file));
	imsg_get_str(m, why, sizeof(why));
	fprintf(stderr, "CONFIG_BAD %s:%u: %s\n", file, line, why);
	exit(1);
}

static int
on_up(void *arg, struct imsg *m)
{
	char id[ID_SIZE];

	(void)arg;
	st.layers = imsg_get_u64(m);
	(void)imsg_get_u64(m);
	(void)imsg_get_u64(m);
	st.up_us = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	st.up = 1;
	return (imsg_end(m));
}

static int
on_gone(void *arg, struct imsg *m)
{
	char id[ID_SIZE];

	(void)arg;
	st.gone_cause = imsg_get_u8(m);
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, st.gone_why, sizeof(st.gone_why));
	st.gone = 1;
	return (imsg_end(m));
}

static int
on_started(void *arg, struct imsg *m)
{
	char id[ID_SIZE];

	(void)arg;
	imsg_get_str(m, id, sizeof(id));
	st.started++;
	return (imsg_end(m));
}

static void	said(const char *, ...)
    __attribute__((__format__(__printf__, 1, 2)));

static void
said(const char *fmt, ...)
{
	size_t have = strlen(ends);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(ends + have, sizeof(ends) - have, fmt, ap);
	va_end(ap);
}

void
show_ends(void)
{
	fputs(ends, stdout);
	ends[0] = '\0';
}

static int
on_ended(void *arg, struct imsg *m)
{
	char id[ID_SIZE], detail[1024];
	uint32_t leftovers, q, s, r, e;
	uint64_t cpu, peak;
	unsigned flags;

	(void)arg;
	st.last_cause = imsg_get_u8(m);
	st.last_code = imsg_get_i32(m);
	st.last_sig = imsg_get_i32(m);
	cpu = imsg_get_u64(m);
	peak = imsg_get_u64(m);
	leftovers = imsg_get_u32(m);
	flags = imsg_get_u8(m);
	q = imsg_get_u32(m);
	s = imsg_get_u32(m);
	r = imsg_get_u32(m);
	e = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, detail, sizeof(detail));
	st.ended++;
	if (st.steps < opt.count) {
		st.step[0][st.steps] = q;
		st.step[1][st.steps] = s;
		st.step[2][st.steps] = r;
		st.step[3][st.steps] = e;
		st.step[4][st.steps++] = st.up_us;
	}
	/* Behind what its program wrote, which may not have been read yet. */
	if (!opt.quiet)
		said("ENDED %s code %d sig %d cpu %llu us peak %llu kB "
		    "leftovers %u flags %u queue %u start %u run %u end %u us "
		    "\"%s\"\n", causes[st.last_cause], st.last_code,
		    st.last_sig, (unsigned long long)cpu,
		    (unsigned long long)peak >> 10, leftovers, flags, q, s, r,
		    e, detail);
	return (imsg_end(m));
}

static int
on_helper(void *arg, struct imsg *m)
{
	uint32_t restarts;
	char name[32];
	unsigned status;
	int32_t pid;
	int i;

	(void)arg;
	pid = imsg_get_i32(m);
	restarts = imsg_get_u32(m);
	status = imsg_get_u8(m);
	imsg_get_str(m, name, sizeof(name));
	i = strcmp(name, "spawner") == 0;
	st.helper[i] = pid;
	st.restarts[i] = restarts;
	st.helper_state[i] = status;
	return (imsg_end(m));
}

/* How much is ready is of no interest here. */
static int
on_pool(void *arg, struct imsg *m)
{
	(void)arg;
	(void)imsg_get_u32(m);
	(void)imsg_get_u32(m);
	(void)imsg_get_u64(m);
	(void)imsg_get_u64(m);
	return (imsg_end(m));
}

static int
on_home(void *arg, struct imsg *m)
{
	uint64_t bytes, made;
	char id[ID_SIZE];

	(void)arg;
	bytes = imsg_get_u64(m);
	made = imsg_get_u64(m);
	imsg_get_str(m, id, sizeof(id));
	printf("HOME %s %llu bytes made %llu\n", id,
	    (unsigned long long)bytes, (unsigned long long)made);
	return (imsg_end(m));
}

static int
on_homes_end(void *arg, struct imsg *m)
{
	(void)arg;
	printf("HOMES %u\n", imsg_get_u32(m));
	st.answered = 1;
	return (imsg_end(m));
}

static int
on_dropped(void *arg, struct imsg *m)
{
	char id[ID_SIZE], why[256];
	uint32_t error;

	(void)arg;
	error = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, why, sizeof(why));
	printf("DROPPED %s error %u \"%s\"\n", id, error, why);
	st.answered = 1;
	return (imsg_end(m));
}

static void
on_dead(void *arg, const char *reason)
{
	(void)arg;
	(void)reason;
	st.dead = 1;
}

static const struct channel_handler control_handlers[] = {
	{ MSG_CONFIG_OK, on_number }, { MSG_CONFIG_BAD, on_config_bad },
	{ MSG_READY, on_number }, { MSG_PONG, on_number },
	{ MSG_LOST, on_lost }
};

static const struct channel_handler launch_handlers[] = {
	{ MSG_NEURON_UP, on_up }, { MSG_NEURON_GONE, on_gone },
	{ MSG_STARTED, on_started }, { MSG_ENDED, on_ended },
	{ MSG_HELPER, on_helper }, { MSG_HOME, on_home },
	{ MSG_HOMES_END, on_homes_end }, { MSG_HOME_DROPPED, on_dropped },
	{ MSG_POOL, on_pool }
};

const struct channel_ops control_ops = {
	control_handlers, 5, on_dead
};
const struct channel_ops launch_ops = { launch_handlers, 9, on_dead };
