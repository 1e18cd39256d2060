/*
 * Stands for every child of myelind in its test: it starts, drops and says
 * READY like a real one, tells on its log what supervisord sends, and does
 * nothing.  The name it is started by says which child it is; words in the
 * configuration make it misbehave.
 */
#include <sys/capability.h>
#include <sys/socket.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "proc.h"
#include "slice.h"

static struct slice *latest, *coming;
static const char *name = "?";
static struct {
	enum channel_kind	 kind;
	int			 fd;
} ends[5];	/* policyd has one of each kind */
#define NENDS	(sizeof(ends) / sizeof(ends[0]))

/* judged sees the environment's names: FAKE_EXIT and the like. */
static int
told(const char *word)
{
	return (latest != NULL && strings_has(&latest->env_allow, word));
}

static int
fake_config(struct slice *s)
{
	const struct cf_preset *p;
	size_t i;

	if ((p = slice_preset(s, "refused")) != NULL)
		return (slice_bad(s, &p->where, "preset \"%s\" is refused",
		    p->name));
	if (strings_has(&s->env_allow, "FAKE_REFUSE"))
		return (slice_bad(s, NULL, "told to refuse"));
	if (strings_has(&s->env_allow, "FAKE_MUTE"))
		exit(4);
	if (strings_has(&s->env_allow, "FAKE_STUCK"))
		(void)sleep(30);
	for (i = 0; i < s->nfiles; i++)
		log_info("file %s at %lld", s->files[i].name,
		    (long long)lseek(s->files[i].fd, 7, SEEK_CUR));
	slice_free(coming);
	coming = s;
	return (0);
}

/* Its channel ends, and it lives. */
static void
lose(evutil_socket_t fd, short what, void *arg)
{
	size_t i;

	(void)fd;
	(void)what;
	(void)arg;
	for (i = 0; i < NENDS; i++) {
		if (ends[i].kind == 0)
			continue;
		(void)close(ends[i].fd);
		proc_channel_lost(ends[i].kind);
		ends[i].kind = 0;
	}
}

static void
fake_commit(void)
{
	static const struct timeval soon = { 0, 200000 };
	static const char garbage[] = "this is no message";
	time_t begun;
	int later = latest != NULL;

	slice_free(latest);
	latest = coming;
	coming = NULL;
	log_info("commit %u", latest->generation);
	begun = time(NULL);
	log_debug("the log is verbose");
	if (later && told("FAKE_DIE_LATER"))
		exit(5);
	if (later && told("FAKE_STUCK_LATER"))
		(void)sleep(30);
	if (told("FAKE_EXIT"))
		exit(3);
	while (told("FAKE_BUSY") && time(NULL) < begun + 13)
		continue;
	if (told("FAKE_GARBAGE"))
		(void)send(PROC_CONTROL_FD, garbage, sizeof(garbage), 0);
	if (told("FAKE_LOSE"))
		(void)event_base_once(proc_base(), -1, EV_TIMEOUT, lose, NULL,
		    &soon);
}

static void
fake_abort(void)
{
	slice_free(coming);
	coming = NULL;
	log_info("abort");
}

static void
fake_plumb(enum channel_kind kind, int fd)
{
	size_t i;

	log_info("plumb %s", channel_name(kind));
	for (i = 0; i < NENDS; i++) {
		if (ends[i].kind != kind && ends[i].kind != 0)
			continue;
		if (ends[i].kind != 0)
			(void)close(ends[i].fd);
		ends[i].kind = kind;
		ends[i].fd = fd;
		return;
	}
}

static int
fake_ready(void)
{
	return (!told("FAKE_UNREADY"));
}

static void
fake_procs(const char *who, pid_t pid, uint32_t restarts, unsigned status)
{
	log_info("procs %s %d %u %s", who, (int)pid, restarts,
	    proc_state_name(status));
}

static void
fake_reload(uint32_t generation, unsigned result, int news, const char *why)
{
	log_info("reload %u %s %d %s", generation, reload_result_name(result),
	    news, why);
}

static void
fake_stop(void)
{
	log_info("stop");
	while (told("FAKE_HANG"))
		(void)sleep(1);
}

static const struct proc_syscall syscalls[] = {
	{ "getppid",	-1, 0, 0 }
};

static const int caps[] = { CAP_SYS_ADMIN, CAP_KILL, -1 };

static const struct {
	const char	*name;
	unsigned	 channels;
	unsigned	 flags;
} children[] = {
	{ "apid",		CH_AGENT,	0 },
	{ "apid-operator",	CH_OPERATOR,	0 },
	{ "judged",		CH_JUDGE,	0 },
	{ "policyd",		CH_API | CH_JUDGE | CH_LAUNCH | CH_EGRESS,
	    PROC_FILES },
	{ "egressd",		CH_EGRESS,	0 },
	{ "neurond",		CH_LAUNCH,	PROC_ROOT | PROC_FORK }
};

int
main(int argc, char **argv)
{
	static struct proc_role role = {
		.syscalls = syscalls,
		.nsyscalls = 1,
		.config = fake_config,
		.commit = fake_commit,
		.abort = fake_abort,
		.plumb = fake_plumb,
		.ready = fake_ready,
		.stop = fake_stop
	};
	size_t i;

	if (argc > 0)
		name = argv[0];
	for (i = 0; i < sizeof(children) / sizeof(children[0]); i++) {
		if (strcmp(children[i].name, name) != 0)
			continue;
		role.channels = children[i].channels;
		role.flags = children[i].flags;
	}
	if (role.channels & CH_LAUNCH && !(role.flags & PROC_ROOT)) {
		role.procs = fake_procs;
		role.reload = fake_reload;
	}
	if (role.flags & PROC_ROOT) {
		role.caps = caps;
		role.syscalls = NULL;
	}
	role.name = name;
	proc_main(&role, argc, argv);
}
