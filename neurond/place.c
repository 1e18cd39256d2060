/*
 * Who uses which workspace, and the records of what was put there.
 *
 * A placeholder that is removed takes the mount on it away in every neuron: it
 * stays until the last neuron of its workspace is gone.  What a crash leaves
 * is in the records, which the next neurond reads.
 */
#include <sys/queue.h>
#include <sys/wait.h>
#include <event2/event.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "imsg.h"
#include "log.h"
#include "maker.h"
#include "neuron.h"
#include "place.h"
#include "placeholder.h"
#include "proc.h"

#define PREFIX	"placeholders-"
/*
 * To make them takes ten times as long as to find them made: the next call in
 * the same workspace does.
 */
#define LINGER	1000	/* ms after the last neuron of a workspace */

struct place {
	TAILQ_ENTRY(place) entry;
	uint32_t	 number;	/* in messages */
	uint64_t	 device;
	uint64_t	 inode;
	int		 record;
	int		 dir;		/* -1: of a neurond before us */
	unsigned	 refs;
	uint64_t	 until;		/* us: it stays without any */
	unsigned	 placing;	/* workers that make */
	int		 clearing;	/* one that removes: never both */
	char		 name[64];	/* of the record's file */
	char		*path;		/* that led there, NULL: before us */
};

static TAILQ_HEAD(, place) places = TAILQ_HEAD_INITIALIZER(places);
static int directory = -1;
static uint32_t last, tickets;
static struct event *timer;

static void	on_timer(evutil_socket_t, short, void *);

static struct place *
place_new(const char *name, int record, uint64_t device, uint64_t inode)
{
	struct place *p;

	if ((p = calloc(1, sizeof(*p))) == NULL)
		fatal("place");
	snprintf(p->name, sizeof(p->name), "%s", name);
	p->record = record;
	p->device = device;
	p->inode = inode;
	p->dir = -1;
	p->number = ++last;
	TAILQ_INSERT_TAIL(&places, p, entry);
	return (p);
}

static void
place_free(struct place *p)
{
	TAILQ_REMOVE(&places, p, entry);
	close(p->record);
	if (p->dir != -1)
		close(p->dir);
	free(p->path);
	free(p);
}

/* ---- records ---- */

static int
open_record(const char *name, int flags)
{
	return (openat(directory, name, O_RDWR | O_APPEND | O_NOFOLLOW |
	    O_CLOEXEC | flags, 0600));
}

static int
write_header(int record, const struct neuron *n)
{
	static struct place_header h;
	size_t i;

	memset(&h, 0, sizeof(h));
	memcpy(h.magic, PLACE_MAGIC, sizeof(PLACE_MAGIC));
	h.device = n->device;
	h.inode = n->inode;
	h.uid = n->owner.uid;
	h.gid = n->owner.gid;
	h.ngroups = (uint32_t)n->owner.ngroups;
	for (i = 0; i < n->owner.ngroups; i++)
		h.groups[i] = n->owner.groups[i];
	snprintf(h.path, sizeof(h.path), "%s", n->workspace);
	if (write(record, &h, sizeof(h)) == sizeof(h))
		return (0);
	errno = ENOSPC;
	return (-1);
}

/* A new one, or the one that could not be carried out before. */
static struct place *
make_record(const struct neuron *n)
{
	static struct place_header h;
	char name[64];
	int record;

	snprintf(name, sizeof(name), PREFIX "%llx-%llx",
	    (unsigned long long)n->device, (unsigned long long)n->inode);
	if ((record = open_record(name, O_CREAT)) == -1)
		return (NULL);
	if (placeholder_header(record, &h) == -1 &&
	    (ftruncate(record, 0) == -1 || write_header(record, n) == -1)) {
		close(record);
		return (NULL);
	}
	return (place_new(name, record, n->device, n->inode));
}

static void
load(const char *name)
{
	static struct place_header h;
	int record;

	if ((record = open_record(name, 0)) == -1)
		return;
	if (placeholder_header(record, &h) == 0)
		(void)place_new(name, record, h.device, h.inode);
	else {
		/* It died before there was anything to record. */
		close(record);
		(void)unlinkat(directory, name, 0);
	}
}

void
places_load(const char *state)
{
	char path[PATH_BYTES_MAX + 16];
	struct dirent *d;
	DIR *list;
	int fd;

	if ((timer = evtimer_new(proc_base(), on_timer, NULL)) == NULL)
		fatalx("placeholders");
	snprintf(path, sizeof(path), "%s/neurons", state);
	directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (directory == -1 || (fd = dup(directory)) == -1 ||
	    (list = fdopendir(fd)) == NULL)
		fatal("%s", path);
	while ((d = readdir(list)) != NULL)
		if (strncmp(d->d_name, PREFIX, sizeof(PREFIX) - 1) == 0)
			load(d->d_name);
	closedir(list);
}

/* ---- workspaces in use ---- */

int
place_hold(struct neuron *n, int dir)
{
	struct place *p;

	TAILQ_FOREACH(p, &places, entry)
		if (p->device == n->device && p->inode == n->inode)
			break;
	if (p == NULL && (p = make_record(n)) == NULL) {
		close(dir);
		return (-1);
	}
	if (p->path == NULL && (p->path = strdup(n->workspace)) == NULL)
		fatal("place");
	if (p->dir == -1)
		p->dir = dir;
	else
		close(dir);
	p->refs++;
	n->place = p;
	return (0);
}

void
place_guess(struct neuron *n, struct imsg *walk)
{
	struct place *p;

	n->guessed = 0;
	TAILQ_FOREACH(p, &places, entry)
		if (p->path != NULL && strcmp(p->path, n->workspace) == 0)
			break;
	/* Nothing is in the way of one that is read-only. */
	if (p == NULL || p->clearing || n->read_only) {
		imsg_put_u32(walk, 0);
		imsg_put_u32(walk, 0);
		return;
	}
	n->guessed = p->number;
	n->ticket = ++tickets;
	imsg_put_u32(walk, p->number);
	imsg_put_u32(walk, n->ticket);
	imsg_put_fd(walk, dup(p->record));
	/* A maker that is gone places nothing: places_maker_down(). */
	p->placing++;
}

int
place_guessed(const struct neuron *n)
{
	return (n->guessed != 0 && n->place->number == n->guessed);
}

void
place_ask(struct neuron *n)
{
	struct place *p = n->place;
	struct imsg *m;

	if (p->clearing)
		return;		/* once that is done */
	n->ticket = ++tickets;
	m = imsg_new(MSG_PLACE);
	imsg_put_u32(m, p->number);
	imsg_put_u32(m, n->ticket);
	imsg_put_fd(m, dup(p->record));
	imsg_put_fd(m, dup(p->dir));
	if (helper_send(HELPER_MAKER, m) == 0)
		p->placing++;
	else
		neuron_end(n, GONE_FAILED, "the maker is gone");
}

static void
clear(struct place *p)
{
	struct imsg *m = imsg_new(MSG_CLEAR);

	imsg_put_u32(m, p->number);
	imsg_put_fd(m, dup(p->record));
	if (p->dir != -1)
		imsg_put_fd(m, dup(p->dir));
	p->clearing = helper_send(HELPER_MAKER, m) == 0;
}

void
places_poke(void)
{
	uint64_t now = now_us(), least = 0;
	struct timeval tv;
	struct place *p;

	TAILQ_FOREACH(p, &places, entry) {
		if (p->refs > 0 || p->placing > 0 || p->clearing ||
		    !helper_is_up(HELPER_MAKER))
			continue;
		if (p->until <= now)
			clear(p);
		else if (least == 0 || p->until - now < least)
			least = p->until - now;
	}
	if (least == 0 || timer == NULL)
		return;
	tv.tv_sec = (time_t)(least / 1000000);
	tv.tv_usec = (suseconds_t)(least % 1000000);
	event_add(timer, &tv);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	places_poke();
}

void
place_release(struct place *p)
{
	if (--p->refs == 0)
		p->until = now_us() + LINGER * 1000;
	places_poke();
}

void
places_maker_down(void)
{
	struct place *p;

	TAILQ_FOREACH(p, &places, entry) {
		p->clearing = 0;
		p->placing = 0;
	}
}

/* ---- what the maker says ---- */

static struct place *
find(uint32_t number)
{
	struct place *p;

	TAILQ_FOREACH(p, &places, entry)
		if (p->number == number)
			return (p);
	return (NULL);
}

int
place_on_placed(void *arg, struct imsg *m)
{
	uint32_t number, ticket, error;
	struct place *p;
	char why[256];

	(void)arg;
	number = imsg_get_u32(m);
	ticket = imsg_get_u32(m);
	error = imsg_get_u32(m);
	imsg_get_str(m, why, sizeof(why));
	if (imsg_end(m) == -1)
		return (-1);
	if ((p = find(number)) == NULL || p->placing == 0)
		return (0);
	p->placing--;
	neuron_placed(p, ticket, error, why);
	places_poke();
	return (0);
}

int
place_on_cleared(void *arg, struct imsg *m)
{
	uint32_t number, error;
	struct place *p;
	char why[16];

	(void)arg;
	number = imsg_get_u32(m);
	(void)imsg_get_u32(m);
	error = imsg_get_u32(m);
	imsg_get_str(m, why, sizeof(why));
	if (imsg_end(m) == -1)
		return (-1);
	if ((p = find(number)) == NULL || !p->clearing)
		return (0);
	p->clearing = 0;
	if (p->refs > 0) {
		neurons_place(p);
		return (0);
	}
	if (error == EAGAIN)
		return (0);	/* too many at once: at the next poke */
	if (error != 0)
		/* Its record is tried again at the next start. */
		log_warnx("placeholders of a workspace stay (%s): %s",
		    p->name, strerrordesc_np((int)error));
	else
		(void)unlinkat(directory, p->name, 0);
	place_free(p);
	FAULT("neuron.cleared");
	places_poke();
	return (0);
}

/* ---- the end of the service ---- */

/* 1 if the process ended well within the time that is left. */
static int
wait_for(pid_t pid, unsigned *ms)
{
	static const struct timespec step = { 0, 5000000 };
	int status;
	pid_t r;

	while ((r = waitpid(pid, &status, WNOHANG)) == 0 && *ms >= 5) {
		nanosleep(&step, NULL);
		*ms -= 5;
	}
	if (r == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return (0);
	}
	return (r == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void
places_stop(unsigned ms)
{
	struct place *p;
	pid_t pid;

	while ((p = TAILQ_FIRST(&places)) != NULL) {
		if ((pid = fork()) == 0)
			_exit(place_clear(p->record, p->dir) == 0 ? 0 : 1);
		if (pid != -1 && wait_for(pid, &ms))
			(void)unlinkat(directory, p->name, 0);
		place_free(p);
	}
}
