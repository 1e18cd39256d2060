/*
 * myelind -n: each program reads its own slice and says what it thinks.
 *
 * Nothing is bound, made or locked.  Run by root, each program is executed as
 * the user it will have, or as nobody where that user is not there yet.
 */
#include <sys/wait.h>
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "preflight.h"
#include "proc.h"
#include "supervisor.h"

#define ANSWER_MS	10000
#define NOBODY		65534u

struct answer {
	const char	*name;
	const struct feed *feed;
	bool		 came;
	bool		 ok;
	bool		 dead;
};

static int
on_config_ok(void *arg, struct imsg *m)
{
	struct answer *a = arg;

	(void)imsg_get_u32(m);
	if (imsg_end(m) == -1)
		return (-1);
	a->came = a->ok = true;
	return (0);
}

static int
on_config_bad(void *arg, struct imsg *m)
{
	struct answer *a = arg;
	char file[PATH_BYTES_MAX], why[1024];
	uint32_t line;

	(void)imsg_get_u32(m);
	line = imsg_get_u32(m);
	imsg_get_str(m, file, sizeof(file));
	imsg_get_str(m, why, sizeof(why));
	if (imsg_end(m) == -1)
		return (-1);
	if (file[0] == '\0')
		log_warnx("%s: %s", a->name, why);
	else
		log_warnx("%s:%u: %s (says %s)",
		    feed_tool_path(a->feed, file), line, why, a->name);
	a->came = true;
	return (0);
}

static void
on_dead(void *arg, const char *reason)
{
	struct answer *a = arg;

	a->dead = true;
	if (strcmp(reason, "closed") != 0)
		log_warnx("%s: control channel: %s", a->name, reason);
}

static const struct channel_handler handlers[] = {
	{ MSG_CONFIG_OK,	on_config_ok },
	{ MSG_CONFIG_BAD,	on_config_bad }
};

static const struct channel_ops ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0]),
	.dead = on_dead
};

static void
check_ids(const struct child *c, uid_t *uid, gid_t *gid)
{
	struct passwd *pw;

	*uid = *gid = NOBODY;
	if (c->spec->user != NULL && !c->sv->conf->slice->private &&
	    (pw = getpwnam(c->spec->user)) != NULL && pw->pw_uid != 0) {
		*uid = pw->pw_uid;
		*gid = pw->pw_gid;
	}
}

static void
ask(const struct child *c, struct channel *control, struct answer *a)
{
	unsigned flags = PROC_F_CHECK | PROC_F_DEBUG;
	int64_t until = restart_clock() + ANSWER_MS, left;

	if (log_verbose())
		flags |= PROC_F_VERBOSE;
	if (c->sv->opts->trace)
		flags |= PROC_F_TRACE;
	channel_set_state(control, ST_UP);
	child_send_start(c, control, flags, "");
	if (feed_send(c, &c->sv->feed, control) == -1)
		return;
	while (!a->came && !a->dead &&
	    (left = until - restart_clock()) > 0) {
		if (channel_flush_wait(control, (int)left) == -1 ||
		    channel_dispatch_wait(control, (int)left) == -1)
			break;
	}
}

static int
check_child(struct child *c)
{
	struct answer a = { .name = c->spec->name, .feed = &c->sv->feed };
	struct channel *control;
	uid_t uid;
	gid_t gid;
	pid_t pid;
	int fd, status;

	check_ids(c, &uid, &gid);
	c->nofile = child_nofile(c, c->sv->conf->slice);
	if ((fd = child_exec(c, geteuid() == 0, uid, gid, &pid)) == -1) {
		log_warn("%s", c->spec->name);
		return (-1);
	}
	control = channel_new(fd, CH_CONTROL, END_A, &ops, &a);
	if (control == NULL)
		fatalx("%s: control channel", c->spec->name);
	ask(c, control, &a);
	if (!a.came)
		(void)kill(pid, SIGKILL);
	channel_free(control);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	if (!a.came)
		log_warnx("%s did not answer to its configuration",
		    c->spec->name);
	return (a.ok ? 0 : -1);
}

int
supervisor_check(struct supervisor *sv)
{
	char why[WHY_MAX];
	struct child *c;
	int bad = 0;
	size_t i;

	sv->journal = -1;
	(void)signal(SIGPIPE, SIG_IGN);
	if (preflight(sv->conf->slice, why) == -1) {
		log_warnx("%s", why);
		bad = 1;
	}
	/* The block is chosen at the start; here any will do. */
	if (sv->conf->slice->uids_start == 0)
		sv->conf->slice->uids_start = CONF_PRIVATE_START;
	sv->uids.start = sv->conf->slice->uids_start;
	if (children_ids(sv, why) == -1)
		log_warnx("warning: %s", why);
	if (feed_encode(sv, sv->conf, &sv->feed) == -1)
		return (1);
	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (c->state != CHILD_ABSENT && check_child(c) == -1)
			bad = 1;
	}
	if (!bad && sv->opts->print)
		conf_print(sv->conf, stdout);
	else if (!bad)
		printf("configuration OK\n");
	return (bad);
}
