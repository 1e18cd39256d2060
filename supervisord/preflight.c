/* What the host must have before anything is made. */
#include <stdio.h>

#include "apparmor.h"
#include "preflight.h"
#include "probe.h"
#include "without.h"

/*
 * Pages of pipes that one call, running or waiting for an approval, holds in
 * apid's name: stdout is made 128 KiB, stderr and stdin stay at 64 KiB each.
 */
#define PIPE_PAGES_CALL	64u
#define PIPE_PAGES_FILE	"/proc/sys/fs/pipe-user-pages-soft"

/* Over its soft limit a user's new pipes are of one page: calls crawl. */
int
preflight(const struct slice *s, char why[WHY_MAX])
{
	unsigned long long running = s->limits.v[LIMIT_RUNNING_HOST];
	unsigned long long waiting = s->limits.v[LIMIT_APPROVALS_HOST];
	unsigned long long need = (running + waiting) * PIPE_PAGES_CALL;
	unsigned long long soft = 0;
	FILE *f;

	if (s->limits.v[LIMIT_APPARMOR] != 0 && !WITHOUT(apparmor_required) &&
	    (!apparmor_on() || apparmor_test(APPARMOR_PROFILE) == -1))
		return (why_say(why, "apparmor-required: the layer %s is "
		    "missing: %s", layer_table[LAYER_APPARMOR].name,
		    layer_table[LAYER_APPARMOR].remedy));
	if ((f = fopen(PIPE_PAGES_FILE, "re")) == NULL)
		return (0);
	if (fscanf(f, "%llu", &soft) != 1)
		soft = 0;
	(void)fclose(f);
	if (soft == 0 || need <= soft)
		return (0);
	return (why_say(why, "running-calls-host %llu and approvals-host %llu "
	    "need %llu pages of pipes, fs.pipe-user-pages-soft is %llu: lower "
	    "the ones or raise the other", running, waiting, need, soft));
}

static void
say(const char *line)
{
	log_warnx("%s", line);
}

int
preflight_layers(char why[WHY_MAX])
{
	static struct probe probes[LAYER_COUNT];
	char names[WHY_MAX - 64];

	probe_layers(probes, 0);
	if (probe_missing(probes, say, names, sizeof(names)) == 0)
		return (0);
	return (why_say(why, "not started: mandatory layers are missing: %s",
	    names));
}
