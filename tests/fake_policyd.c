/*
 * For tests of apid alone: plays supervisord and policyd for one apid, and
 * runs the programs of its calls as plain children, in no sandbox.
 *
 *	fake_policyd [-o | -t port] apid socket [keyword=value ...]
 *
 * -o: the operator's plane; -t: TCP, with tokens, too.  Says "ready PID" on
 * standard output.  Commands, a line each, on standard input: "drop" ends the
 * channel as policyd's death would, "plumb" makes a new one, "bad NAME" sends
 * what tests/takeover/hostile.c has of that name, "quit" ends all.
 */
#include <event2/event.h>
#include <jansson.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "fake_answers.h"
#include "fake_auth.h"
#include "hostile.h"
#include "ids.h"
#include "imsg.h"
#include "limits.h"
#include "log.h"
#include "proc.h"
#include "signals.h"
#include "slice.h"

struct job {
	TAILQ_ENTRY(job) entry;
	pid_t		 pid;
	char		 id[ID_SIZE];
	char		 session[ID_SIZE];
	char		 tool[NAME_BYTES_MAX];
	const char	*cause;		/* of a kill of ours */
	struct event	*deadline;
};

static TAILQ_HEAD(, job) jobs = TAILQ_HEAD_INITIALIZER(jobs);
static struct event_base *base;
static struct channel	*control;
struct channel		*fake_api;
static struct limits	 limits;
static enum cf_plane	 plane = PLANE_AGENT;
static uint16_t		 tcp_port;	/* 0: none */
static pid_t		 apid;

static int
nothing(void *arg, struct imsg *m)
{
	(void)arg;
	while (imsg_end(m) == -1)
		(void)imsg_get_u8(m);
	return (0);
}

/* ---- calls ---- */

static void
finished(struct job *j, const char *state, const char *reason, int code,
    int sig)
{
	struct imsg *m = imsg_new(MSG_CALL_FINISHED);
	json_t *r = json_object();
	char *text;

	json_object_set_new(r, "call", json_string(j->id));
	json_object_set_new(r, "session", j->session[0] != '\0' ?
	    json_string(j->session) : json_null());
	json_object_set_new(r, "tool", json_string(j->tool));
	json_object_set_new(r, "state", json_string(state));
	json_object_set_new(r, "reason",
	    reason != NULL ? json_string(reason) : json_null());
	json_object_set_new(r, "exit_code",
	    code >= 0 ? json_integer(code) : json_null());
	json_object_set_new(r, "signal",
	    sig > 0 ? json_string(sigabbrev_np(sig)) : json_null());
	text = json_dumps(r, JSON_COMPACT);
	imsg_put_str(m, j->id);
	imsg_put_str(m, text);
	channel_send(fake_api, m);
	free(text);
	json_decref(r);
}

static void
job_free(struct job *j)
{
	if (j->pid != 0)
		TAILQ_REMOVE(&jobs, j, entry);
	if (j->deadline != NULL)
		event_free(j->deadline);
	free(j);
}

static void
on_child(evutil_socket_t fd, short what, void *arg)
{
	struct job *j;
	pid_t pid;
	int st;

	(void)fd;
	(void)what;
	(void)arg;
	while ((pid = waitpid(-1, &st, WNOHANG)) > 0) {
		if (pid == apid) {
			warnx("apid ended, status %#x", st);
			exit(1);
		}
		TAILQ_FOREACH(j, &jobs, entry)
			if (j->pid == pid)
				break;
		if (j == NULL)
			continue;
		kill(-pid, SIGKILL);
		if (fake_api == NULL)
			;
		else if (j->cause != NULL)
			finished(j, strcmp(j->cause, "cancelled") == 0 ?
			    "cancelled" : "failed",
			    strcmp(j->cause, "cancelled") == 0 ? NULL :
			    j->cause, -1, SIGKILL);
		else if (WIFSIGNALED(st))
			finished(j, "failed", "signalled", -1,
			    WTERMSIG(st));
		else
			finished(j, "completed", NULL, WEXITSTATUS(st), 0);
		job_free(j);
	}
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct job *j = arg;

	(void)fd;
	(void)what;
	j->cause = "timed_out";
	kill(-j->pid, SIGKILL);
}

static void
run(struct job *j, json_t *args, int fds[4])
{
	const char *argv[64] = { "/bin/bash", "-c" };
	json_t *v, *list = json_object_get(args, "argv");
	sigset_t none;
	size_t i;

	argv[2] = json_string_value(json_object_get(args, "command"));
	if (list != NULL) {
		json_array_foreach(list, i, v)
			argv[i] = json_string_value(v);
		argv[json_array_size(list)] = NULL;
	}
	fflush(NULL);
	if ((j->pid = fork()) == -1)
		err(1, "fork");
	TAILQ_INSERT_TAIL(&jobs, j, entry);
	if (j->pid != 0)
		return;
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (fds[3] == -1)
		fds[3] = open("/dev/null", O_RDONLY);
	dup2(fds[3], 0);
	dup2(fds[1], 1);
	dup2(fds[2], 2);
	closefrom(3);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

#define VERDICT_REST	",\"class\":\"mutate-irreversible\"," \
	"\"effect\":\"mutate-irreversible\",\"marks\":[\"opaque\"]," \
	"\"rule\":null,\"where\":null,\"command\":\"ls key=AKIAIOSFODNN7" \
	"EXAMPLE\",\"from\":null,\"to\":null,\"reason\":null,\"next\":null}"

static void
tell(struct job *j, uint32_t request)
{
	struct imsg *m = imsg_new(MSG_ASKED);

	imsg_put_u32(m, request);
	imsg_put_u32(m, 7);
	imsg_put_u64(m, limits.v[LIMIT_OUTPUT_KEPT]);
	imsg_put_u64(m, limits.v[LIMIT_OUTPUT_KILLED]);
	imsg_put_str(m, j->id);
	imsg_put_str(m, j->session);
	channel_send(fake_api, m);
	m = imsg_new(MSG_CALL_JUDGED);
	imsg_put_str(m, j->id);
	imsg_put_str(m, strcmp(j->tool, "denied") == 0 ?
	    "{\"verdict\":\"deny\"" VERDICT_REST :
	    "{\"verdict\":\"allow\"" VERDICT_REST);
	channel_send(fake_api, m);
}

/*
 * A dry run whose explanation is the tool's name; or the call that the key
 * names, as if it was that one's.
 */
static void
tell_other(uint32_t request, const char *tool, const char *key)
{
	struct imsg *m = imsg_new(key[0] != '\0' ? MSG_CALL_SAME :
	    MSG_DRY_JUDGED);

	imsg_put_u32(m, request);
	imsg_put_str(m, key[0] != '\0' ? key :
	    "{\"dry_run\":true,\"verdict\":\"allow\"}");
	if (key[0] == '\0' && strcmp(tool, "none") != 0)
		imsg_put_fd(m, memfd_sealed("explanation", tool,
		    strlen(tool)));
	channel_send(fake_api, m);
}

static int
on_ask(void *arg, struct imsg *m)
{
	int once = imsg_type(m) == MSG_ASK_ONCE, fds[4];
	char key[64], profile[64], preset[64], workspace[PATH_BYTES_MAX];
	uint32_t request = imsg_get_u32(m), ms;
	struct timeval tv = { 0 };
	const uint8_t *bytes;
	struct job *j;
	json_t *args;
	uint8_t flags;
	size_t n;
	int i;

	(void)arg;
	if ((j = calloc(1, sizeof(*j))) == NULL)
		err(1, NULL);
	(void)imsg_get_u64(m);
	ms = imsg_get_u32(m);
	(void)imsg_get_u8(m);
	flags = imsg_get_u8(m);
	if (once) {
		(void)imsg_get_u32(m);
		(void)imsg_get_u32(m);
	} else {
		imsg_get_str(m, j->session, sizeof(j->session));
	}
	imsg_get_str(m, j->tool, sizeof(j->tool));
	imsg_get_str(m, key, sizeof(key));
	if (once) {
		imsg_get_str(m, profile, sizeof(profile));
		imsg_get_str(m, workspace, sizeof(workspace));
		imsg_get_str(m, preset, sizeof(preset));
	}
	if (imsg_end(m) == -1)
		return (-1);
	for (i = 0; i < 4; i++)
		fds[i] = imsg_claim_fd(m, (unsigned)i);
	if (strcmp(j->tool, "absent") == 0) {
		fake_reply(request, 404, 0,
		    "{\"error\":{\"code\":\"not_found\","
		    "\"message\":\"no such tool\"}}");
		free(j);
		goto done;
	}
	if ((flags & ASK_F_DRY_RUN) != 0 || key[0] != '\0') {
		tell_other(request, j->tool, key);
		free(j);
		goto done;
	}
	id_make(ID_CALL, j->id);
	tell(j, request);
	if (strcmp(j->tool, "denied") == 0) {
		finished(j, "failed", "denied_by_policy", -1, 0);
		free(j);
		goto done;
	}
	if ((bytes = memfd_map(fds[0], 64 << 20, &n)) == NULL)
		err(1, "arguments");
	args = json_loadb((const char *)bytes, n, 0, NULL);
	memfd_unmap(bytes, n);
	run(j, json_object_get(args, "args"), fds);
	json_decref(args);
	m = imsg_new(MSG_CALL_STARTED);
	imsg_put_str(m, j->id);
	channel_send(fake_api, m);
	j->deadline = evtimer_new(base, on_deadline, j);
	tv.tv_sec = (time_t)(ms == 0 ? 60 : ms / 1000);
	tv.tv_usec = (suseconds_t)(ms % 1000) * 1000;
	evtimer_add(j->deadline, &tv);
done:
	for (i = 0; i < 4; i++)
		if (fds[i] != -1)
			close(fds[i]);
	return (0);
}

static int
on_stop(void *arg, struct imsg *m)
{
	unsigned why;
	char id[ID_SIZE];
	struct job *j;

	(void)arg;
	(void)imsg_get_u64(m);
	why = imsg_get_u8(m);
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1)
		return (-1);
	TAILQ_FOREACH(j, &jobs, entry)
		if (strcmp(j->id, id) == 0) {
			j->cause = why == STOP_CANCELLED ? "cancelled" :
			    "output_limit";
			kill(-j->pid, SIGKILL);
		}
	return (0);
}

/* A signal is sent for real; a size there is nobody to take. */
static int
on_steer(void *arg, struct imsg *m)
{
	uint32_t request = imsg_get_u32(m), value;
	char id[ID_SIZE], text[200];
	int is_signal = imsg_type(m) == MSG_SIGNAL;
	struct job *j;

	(void)arg;
	(void)imsg_get_u64(m);
	value = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1)
		return (-1);
	TAILQ_FOREACH(j, &jobs, entry)
		if (is_signal && strcmp(j->id, id) == 0)
			kill(-j->pid, (int)value);
	if (is_signal)
		snprintf(text, sizeof(text), "{\"call\":\"%s\",\"signal\":"
		    "\"%s\"}", id, signal_name(value));
	else
		snprintf(text, sizeof(text), "{\"call\":\"%s\",\"rows\":%u,"
		    "\"cols\":%u}", id, PTY_ROWS(value), PTY_COLS(value));
	fake_reply(request, 200, 0, text);
	return (0);
}

/* ---- channels ---- */

static int
on_auth(void *arg, struct imsg *m)
{
	(void)arg;
	return (fake_on_auth(fake_api, m));
}

static const struct channel_handler api_handlers[] = {
	{ MSG_PEER,		fake_on_peer },
	{ MSG_PEER_GONE,	nothing },
	{ MSG_OPEN,		fake_on_open },
	{ MSG_OPEN_RULED,	fake_on_open_ruled },
	{ MSG_END,		fake_on_end },
	{ MSG_ASK,		on_ask },
	{ MSG_ASK_ONCE,		on_ask },
	{ MSG_STOP,		on_stop },
	{ MSG_SIGNAL,		on_steer },
	{ MSG_RESIZE,		on_steer },
	{ MSG_QUERY,		fake_on_query },
	{ MSG_TRANSCRIPT,	fake_on_transcript },
	{ MSG_TRANSCRIPT_TEXT,	fake_on_transcript },
	{ MSG_OPEN_NAMED,	fake_on_open_named },
	{ MSG_OPEN_NAMED_RO,	fake_on_open_named },
	{ MSG_END_NAMED,	fake_on_end_named },
	{ MSG_TOOLS_FOR,	fake_on_tools_for },
	{ MSG_REQUEST,		nothing },
	{ MSG_SHOWN,		nothing },
	{ MSG_AUTH,		on_auth },
	{ MSG_HOME_MAKE,	fake_on_home_make },
	{ MSG_NEURONS_FOR,	fake_on_neurons_for }
};

/* Sent what can't be right: apid closes the channel. */
static int abused;

static void	drop(void);

static void
on_api_dead(void *arg, const char *reason)
{
	(void)arg;
	if (!abused)
		errx(1, "apid's channel: %s", reason);
	abused = 0;
	drop();
}

static const struct channel_ops api_ops = {
	api_handlers, sizeof(api_handlers) / sizeof(api_handlers[0]),
	on_api_dead
};

static void
plumb(void)
{
	enum channel_kind kind = plane == PLANE_AGENT ? CH_AGENT :
	    CH_OPERATOR;
	struct imsg *m = imsg_new(MSG_PLUMB);
	int fds[2];

	/* apid may have said that it closed the last one before we saw it */
	if (fake_api != NULL) {
		abused = 0;
		drop();
	}
	if (channel_pair(fds) == -1)
		err(1, "channel");
	fake_api = channel_new(fds[0], kind, END_A, &api_ops, NULL);
	if (fake_api == NULL || channel_attach(fake_api, base) == -1)
		errx(1, "channel");
	imsg_put_u32(m, kind);
	imsg_put_fd(m, fds[1]);
	channel_send(control, m);
	if (plane != PLANE_AGENT)
		return;
	m = imsg_new(MSG_SEAL_KEY);
	imsg_put_raw(m, "0123456789abcdef0123456789abcdef", 32);
	channel_send(fake_api, m);
}

static void
drop(void)
{
	struct job *j;

	channel_free(fake_api);
	fake_api = NULL;
	TAILQ_FOREACH(j, &jobs, entry)
		kill(-j->pid, SIGKILL);
}

static int
on_config_ok(void *arg, struct imsg *m)
{
	struct imsg *commit = imsg_new(MSG_COMMIT);

	(void)arg;
	imsg_put_u32(commit, imsg_get_u32(m));
	if (imsg_end(m) == -1)
		return (-1);
	channel_send(control, commit);
	plumb();
	return (0);
}

static int
on_config_bad(void *arg, struct imsg *m)
{
	char file[256], why[1024];

	(void)arg;
	(void)imsg_get_u32(m);
	(void)imsg_get_u32(m);
	imsg_get_str(m, file, sizeof(file));
	imsg_get_str(m, why, sizeof(why));
	errx(1, "apid refused its configuration: %s", why);
}

static int
on_ready(void *arg, struct imsg *m)
{
	(void)arg;
	(void)imsg_get_u32(m);
	printf("ready %d\n", (int)apid);
	fflush(stdout);
	return (imsg_end(m));
}

static void
on_control_dead(void *arg, const char *reason)
{
	(void)arg;
	errx(1, "apid's control channel: %s", reason);
}

static const struct channel_handler control_handlers[] = {
	{ MSG_CONFIG_OK,	on_config_ok },
	{ MSG_CONFIG_BAD,	on_config_bad },
	{ MSG_READY,		on_ready },
	{ MSG_PONG,		nothing },
	{ MSG_LOST,		nothing }
};

static const struct channel_ops control_ops = {
	control_handlers,
	sizeof(control_handlers) / sizeof(control_handlers[0]),
	on_control_dead
};

/* ---- start ---- */

static int
listen_on(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd;

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	(void)unlink(path);
	if (fd == -1 || bind(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1 ||
	    chmod(path, 0666) == -1 || listen(fd, 128) == -1)
		err(1, "%s", path);
	return (fd);
}

static int
declaration(void)
{
	static const char text[] = "{\"name\":\"exec\",\"description\":"
	    "\"Runs a program\",\"input_schema\":{\"type\":\"object\"}}";
	char path[] = "/tmp/fake-policyd-XXXXXX";
	int fd = mkstemp(path), ro;

	if (fd == -1 || write(fd, text, sizeof(text) - 1) == -1)
		err(1, "%s", path);
	ro = open(path, O_RDONLY | O_CLOEXEC);
	close(fd);
	unlink(path);
	return (ro);
}

static void
send_file(uint32_t i, const char *name, int fd)
{
	struct imsg *m = imsg_new(MSG_CONFIG_FILE);

	imsg_put_u32(m, 1);
	imsg_put_u32(m, i);
	imsg_put_str(m, name);
	imsg_put_fd(m, fd);
	channel_send(control, m);
}

static void
configure(const char *path)
{
	struct slice *s = slice_new();
	struct imsg *m;

	s->instance = strdup("fake");
	s->generation = 1;
	s->limits = limits;
	s->listens = calloc(2, sizeof(*s->listens));
	s->nlistens = tcp_port != 0 ? 2 : 1;
	s->listens[1].where.file = strdup("fake");
	s->listens[1].plane = plane;
	s->listens[1].path = strdup("127.0.0.1");
	s->listens[1].port = tcp_port;
	s->listens[1].flags = LISTEN_TCP | LISTEN_TOKEN;
	s->listens->where.file = strdup("fake");
	s->listens->plane = plane;
	s->listens->path = strdup(path);
	s->listens->mode = 0666;
	m = imsg_new(MSG_CONFIG);
	imsg_put_u32(m, 1);
	imsg_put_u32(m, (plane == PLANE_AGENT ? 2 : 1) + (tcp_port != 0));
	imsg_put_fd(m, slice_encode(s, SLICE_LISTENS));
	channel_send(control, m);
	slice_free(s);
	send_file(0, "listen/0", listen_on(path));
	if (plane == PLANE_AGENT)
		send_file(1, "tool/exec", declaration());
	if (tcp_port != 0)
		send_file(2, "listen/1", fake_listen_tcp(tcp_port));
}

static void
start_apid(const char *program)
{
	const char *name = plane == PLANE_AGENT ? "apid" : "apid-operator";
	struct imsg *m = imsg_new(MSG_START);
	int fds[2];

	if (channel_pair(fds) == -1)
		err(1, "channel");
	if ((apid = fork()) == -1)
		err(1, "fork");
	if (apid == 0) {
		dup2(fds[1], PROC_CONTROL_FD);
		closefrom(PROC_CONTROL_FD + 1);
		execl(program, name, (char *)NULL);
		err(1, "%s", program);
	}
	close(fds[1]);
	control = channel_new(fds[0], CH_CONTROL, END_A, &control_ops, NULL);
	if (control == NULL || channel_attach(control, base) == -1)
		errx(1, "control channel");
	imsg_put_u32(m, PROTOCOL_VERSION);
	imsg_put_u32(m, UNPRIVILEGED);
	imsg_put_u32(m, UNPRIVILEGED);
	imsg_put_u32(m, 1024);
	imsg_put_u32(m, PROC_F_DEBUG | (getenv("VERBOSE") != NULL ?
	    PROC_F_VERBOSE | PROC_F_TRACE : 0));
	imsg_put_str(m, "");
	imsg_put_str(m, "fake");
	channel_send(control, m);
}

static void
on_command(evutil_socket_t fd, short what, void *arg)
{
	char line[64];
	ssize_t n = read(fd, line, sizeof(line) - 1);

	(void)what;
	(void)arg;
	if (n > 0) {
		line[n] = '\0';
		line[strcspn(line, "\n")] = '\0';
	}
	if (n <= 0 || strncmp(line, "quit", 4) == 0)
		event_base_loopbreak(base);
	else if (strncmp(line, "bad ", 4) == 0 && fake_api != NULL) {
		abused = 1;
		hostile_send(channel_fd(fake_api), line + 4);
	} else if (strncmp(line, "drop", 4) == 0 && fake_api != NULL)
		drop();
	else if (strncmp(line, "plumb", 5) == 0)
		plumb();
	puts("done");
	fflush(stdout);
}

static void
set_limit(char *text)
{
	char *value = strchr(text, '=');
	const char *why;
	int i;

	if (value == NULL)
		errx(1, "%s: not keyword=value", text);
	*value++ = '\0';
	if ((i = limit_find(text)) == -1 ||
	    limit_parse((enum limit)i, value, &limits.v[i], &why) == -1)
		errx(1, "%s: no such limit or value", text);
}

int
main(int argc, char **argv)
{
	struct event *child, *commands;
	struct job *j;
	int i = 1;

	if (argc > 1 && strcmp(argv[1], "-o") == 0) {
		plane = PLANE_OPERATOR;
		i++;
	}
	if (argc > 2 && strcmp(argv[1], "-t") == 0) {
		tcp_port = (uint16_t)atoi(argv[2]);
		i += 2;
	}
	if (argc - i < 2)
		errx(1, "usage: fake_policyd [-o | -t port] apid socket "
		    "[limit=value]");
	log_init("fake_policyd", -1, 0);
	limits_init(&limits);
	signal(SIGPIPE, SIG_IGN);
	base = event_base_new();
	start_apid(argv[i]);
	for (int k = i + 2; k < argc; k++)
		set_limit(argv[k]);
	configure(argv[i + 1]);
	child = evsignal_new(base, SIGCHLD, on_child, NULL);
	commands = event_new(base, STDIN_FILENO, EV_READ | EV_PERSIST,
	    on_command, NULL);
	event_add(child, NULL);
	event_add(commands, NULL);
	event_base_dispatch(base);
	TAILQ_FOREACH(j, &jobs, entry)
		kill(-j->pid, SIGKILL);
	channel_free(control);
	waitpid(apid, NULL, 0);
	return (0);
}
