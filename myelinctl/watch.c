/*
 * approvals watch: what waits, as it comes, and a key for each decision.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tty.h"
#include "watch.h"

#define TICK	250	/* ms, between two looks at the clock */

enum { P_KEYS, P_SCREEN, P_WORK, P_EVENTS, P_COUNT };

static volatile sig_atomic_t ending;	/* the signal */
static volatile sig_atomic_t stopping;	/* ^Z */
static volatile sig_atomic_t continued;

static int64_t
clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

/* ---- signals ---- */

static void
on_end(int signo)
{
	ending = signo;
}

static void
on_stop(int signo)
{
	(void)signo;
	stopping = 1;
}

static void
on_continue(int signo)
{
	(void)signo;
	continued = 1;
}

/* A size that changes and a notifier that ends only wake the loop up. */
static void
on_wake(int signo)
{
	(void)signo;
}

/* They arrive in ppoll(2) alone; *unblocked is the mask for it. */
static void
catch_signals(sigset_t *unblocked, int terminal)
{
	static const struct {
		int	 signo;
		void	(*fn)(int);
		int	 terminal;	/* only where there is one */
	} rows[] = {
		{ SIGINT, on_end, 0 }, { SIGTERM, on_end, 0 },
		{ SIGHUP, on_end, 0 }, { SIGQUIT, on_end, 0 },
		{ SIGCHLD, on_wake, 0 }, { SIGWINCH, on_wake, 1 },
		{ SIGTSTP, on_stop, 1 }, { SIGCONT, on_continue, 1 },
	};
	struct sigaction act = { 0 }, old;
	sigset_t block;
	size_t i;

	sigemptyset(&block);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].terminal && !terminal)
			continue;
		/* nohup(1) ignores some. */
		if (rows[i].fn == on_end &&
		    sigaction(rows[i].signo, NULL, &old) == 0 &&
		    old.sa_handler == SIG_IGN)
			continue;
		act.sa_handler = rows[i].fn;
		sigaction(rows[i].signo, &act, NULL);
		sigaddset(&block, rows[i].signo);
	}
	sigprocmask(SIG_BLOCK, &block, unblocked);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		sigdelset(unblocked, rows[i].signo);
}

/* The shell gets its terminal as it was, and we get it again with "fg". */
static void
stop(struct watch *w)
{
	stopping = 0;
	tty_restore();
	(void)raise(SIGSTOP);
	tty_set(TTY_KEYS);
	w->screen.stale = 1;
}

static void
look_at_signals(struct watch *w)
{
	if (ending != 0) {
		w->over = 1;
		w->status = EXIT_SIGNAL + ending;
	}
	if (stopping)
		stop(w);
	if (continued && tty_is_set()) {
		/* Somebody else may have had the terminal. */
		tty_set(TTY_KEYS);
		w->screen.stale = 1;
	}
	continued = 0;
}

/* ---- the loop ---- */

static void
read_keys(struct watch *w)
{
	char bytes[256];
	ssize_t n;

	n = read(STDIN_FILENO, bytes, sizeof(bytes));
	if (n > 0)
		watch_keys(w, bytes, (size_t)n);
	else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		w->over = 1;
		w->status = EXIT_SIGNAL + SIGHUP;
	}
}

static void
say_of_notifier(struct watch *w)
{
	if (w->notify.said[0] == '\0')
		return;
	if (w->terminal)
		watch_say(w, "--exec: %s", w->notify.said);
	else
		complain("--exec: %s", w->notify.said);
	w->notify.said[0] = '\0';
}

static void
prepare(struct watch *w, struct pollfd pfd[P_COUNT])
{
	pfd[P_KEYS] = (struct pollfd){ w->terminal ? STDIN_FILENO : -1,
	    POLLIN, 0 };
	pfd[P_SCREEN] = (struct pollfd){ w->terminal &&
	    sink_pending(&w->screen.out) ? STDOUT_FILENO : -1, POLLOUT, 0 };
	watch_jobs_poll(w, &pfd[P_WORK], &pfd[P_EVENTS]);
}

static void
loop(struct watch *w, const sigset_t *unblocked)
{
	const struct timespec tick = { 0, TICK * 1000000L };
	struct pollfd pfd[P_COUNT];

	for (;;) {
		w->now = clock_ms();
		look_at_signals(w);
		watch_jobs_run(w);
		notify_run(&w->notify, w->now);
		say_of_notifier(w);
		if (w->terminal && !w->over && watch_draw(w) == -1) {
			w->over = 1;
			w->status = EXIT_SIGNAL + SIGHUP;
		}
		if (w->over)
			return;
		prepare(w, pfd);
		if (ppoll(pfd, P_COUNT, &tick, unblocked) == -1) {
			if (errno != EINTR)
				err(EXIT_FAILED, "ppoll");
			continue;
		}
		w->now = clock_ms();
		watch_jobs_io(w, &pfd[P_WORK], &pfd[P_EVENTS]);
		if (pfd[P_KEYS].revents != 0)
			read_keys(w);
	}
}

/* A terminal that can move its cursor; others get lines, as a file does. */
static int
has_screen(void)
{
	const char *type = getenv("TERM");

	return (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	    type != NULL && *type != '\0' && strcmp(type, "dumb") != 0);
}

/*
 * The first list says in the ordinary way what is wrong, if something is: no
 * socket, no right.
 */
static int
first_list(struct watch *w)
{
	json_t *json;

	json = api_list(w->o, OPERATOR, "/v1/approvals?state=pending",
	    "approvals", WATCH_ITEMS_MAX);
	if (json == NULL)
		return (-1);
	watch_list(w, json_incref(json_object_get(json, "approvals")));
	json_decref(json);
	return (0);
}

/* --exec's program, with what stands behind "watch" as its arguments. */
static char **
notifier(const struct options *o, int argc, char **argv)
{
	char **all;

	if (o->exec == NULL)
		return (NULL);
	if ((all = calloc((size_t)argc + 2, sizeof(*all))) == NULL ||
	    (all[0] = strdup(o->exec)) == NULL)
		err(EXIT_FAILED, NULL);
	memcpy(all + 1, argv, (size_t)argc * sizeof(*all));
	return (all);
}

int
approvals_watch(const struct options *o, int argc, char **argv)
{
	static struct watch w;
	sigset_t unblocked;

	if (o->exec == NULL && argc > 0)
		return (usage_error(o, "approvals watch: arguments are "
		    "--exec's program's, and there is none"));
	if (o->exec != NULL && *o->exec == '\0')
		return (usage_error(o, "approvals watch: --exec names no "
		    "program"));
	w.o = o;
	w.socket = api_socket(o, OPERATOR);
	w.terminal = !o->json && has_screen();
	w.now = clock_ms();
	w.list_at = w.now;
	w.notify.argv = notifier(o, argc, argv);
	w.notify.quiet = w.terminal;
	if (first_list(&w) == -1) {
		w.status = EXIT_FAILED;
		goto out;
	}
	catch_signals(&unblocked, w.terminal);
	if (w.terminal) {
		if (tty_init(SCREEN_ENTER, SCREEN_LEAVE) == -1)
			err(EXIT_FAILED, "the terminal");
		screen_init(&w.screen);
		tty_set(TTY_KEYS);
	}
	loop(&w, &unblocked);
	tty_restore();
out:
	watch_jobs_free(&w);
	watch_items_free(&w);
	notify_free(&w.notify);
	if (w.notify.argv != NULL)
		free(w.notify.argv[0]);
	free(w.notify.argv);
	lines_free(&w.lines);
	free(w.message);
	if (w.terminal)
		screen_free(&w.screen);
	return (w.status);
}
