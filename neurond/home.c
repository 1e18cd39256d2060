/*
 * Homes that outlive their neurons.
 *
 * neurond only names them and holds their locks: what waits for a disk is done
 * by workers of the maker.  A home is never removed but by HOME_DROP, and
 * never made where policyd says that there is one.
 */
#include <sys/queue.h>
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "helper.h"
#include "home.h"
#include "image.h"
#include "imsg.h"
#include "launch.h"
#include "log.h"
#include "maker.h"
#include "neuron.h"
#include "settings.h"

/* One that is being removed. */
struct erasure {
	TAILQ_ENTRY(erasure) entry;
	uint32_t	 ticket;
	char		 neuron[ID_SIZE];
};

static TAILQ_HEAD(, erasure) erasures = TAILQ_HEAD_INITIALIZER(erasures);
static uint32_t tickets;
static int homes = -1;

/* ---- what is on the disk ---- */

static DIR *
list_homes(void)
{
	int fd = openat(homes, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd == -1 ? NULL : fdopendir(fd);

	if (list == NULL && fd != -1)
		close(fd);
	return (list);
}

/* A directory without an image is no home. */
static void
clean(const char *neuron)
{
	int dir;

	dir = openat(homes, neuron, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (dir == -1)
		return;
	(void)unlinkat(dir, IMAGE_NEW, 0);
	close(dir);
	(void)unlinkat(homes, neuron, AT_REMOVEDIR);
}

void
homes_load(const char *state)
{
	char path[PATH_BYTES_MAX + 16];
	struct dirent *d;
	DIR *list;

	snprintf(path, sizeof(path), "%s/neurons", state);
	homes = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (homes == -1 || (list = list_homes()) == NULL)
		fatal("%s", path);
	while ((d = readdir(list)) != NULL)
		if (id_ok(ID_NEURON, d->d_name))
			clean(d->d_name);
	closedir(list);
}

static int
send_home(const char *neuron)
{
	char path[ID_SIZE + sizeof(IMAGE_NAME) + 1];
	struct stat st, dir;
	struct imsg *m;

	snprintf(path, sizeof(path), "%s/" IMAGE_NAME, neuron);
	if (fstatat(homes, path, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    !S_ISREG(st.st_mode) ||
	    fstatat(homes, neuron, &dir, AT_SYMLINK_NOFOLLOW) == -1)
		return (0);
	m = imsg_new(MSG_HOME);
	imsg_put_u64(m, (uint64_t)st.st_blocks * 512);
	/* Its directory changed last when the image got its name. */
	imsg_put_u64(m, (uint64_t)dir.st_mtim.tv_sec);
	imsg_put_str(m, neuron);
	launch_send(m);
	return (1);
}

int
home_on_ask(void *arg, struct imsg *m)
{
	uint32_t n = 0;
	struct dirent *d;
	DIR *list;

	(void)arg;
	if (imsg_end(m) == -1)
		return (-1);
	/* An empty list would call every home lost. */
	if ((list = list_homes()) == NULL)
		fatal("the homes of neurons");
	while ((d = readdir(list)) != NULL)
		if (id_ok(ID_NEURON, d->d_name))
			n += (uint32_t)send_home(d->d_name);
	closedir(list);
	m = imsg_new(MSG_HOMES_END);
	imsg_put_u32(m, n);
	launch_send(m);
	return (0);
}

/* ---- one for a neuron ---- */

const char *
home_refused(const struct neuron *n)
{
	static char words[128];

	if (n->limits.v[LIMIT_HOME] >= IMAGE_LEAST)
		return (NULL);
	snprintf(words, sizeof(words), "a home that is kept has at least %llu "
	    "bytes; the profile's limit is %llu (home)",
	    (unsigned long long)IMAGE_LEAST,
	    (unsigned long long)n->limits.v[LIMIT_HOME]);
	return (words);
}

int
home_ask(struct neuron *n)
{
	struct imsg *m = imsg_new(MSG_HOME_OPEN);

	imsg_put_u32(m, n->slot->n);
	imsg_put_u32(m, n->slot->generation);
	imsg_put_u32(m, n->slot->kuid);
	imsg_put_u32(m, settings()->uids_start + HOMES_UID);
	imsg_put_u8(m, n->persistent == HOME_KEPT);
	imsg_put_u64(m, n->limits.v[LIMIT_HOME]);
	imsg_put_u64(m, n->limits.v[LIMIT_INODES]);
	imsg_put_str(m, n->id);
	imsg_put_fd(m, dup(homes));
	return (helper_send(HELPER_MAKER, m));
}

void
home_close(struct neuron *n)
{
	if (n->home != -1)
		close(n->home);
	if (n->home_lock != -1)
		close(n->home_lock);
	n->home = n->home_lock = -1;
}

int
home_on_opened(void *arg, struct imsg *m)
{
	struct maker_says a;
	struct neuron *n;

	(void)arg;
	if (neuron_answer(m, 2, &a) == -1)
		return (-1);
	n = a.neuron;
	if (n == NULL || n->home_lock != -1)
		return (0);
	if (a.error == WALK_REFUSED) {
		neuron_end(n, GONE_REFUSED, "its home, neurons/%s/" IMAGE_NAME
		    ", %s", n->id, a.why);
		return (0);
	}
	if (a.error != 0) {
		neuron_end(n, GONE_FAILED, "its home: %s: %s", a.why,
		    strerrordesc_np((int)a.error));
		return (0);
	}
	if (a.why[0] != '\0')
		log_warnx_of(&(struct log_about){ .neuron = n->id },
		    "neuron %s: its home: %s", n->id, a.why);
	n->home = imsg_claim_fd(m, 0);
	n->home_lock = imsg_claim_fd(m, 1);
	FAULT("neuron.home");
	neuron_walked_on(n);
	return (0);
}

/* ---- removing one ---- */

static void
dropped(const char *neuron, uint32_t error, const char *why)
{
	struct imsg *m = imsg_new(MSG_HOME_DROPPED);

	imsg_put_u32(m, error);
	imsg_put_str(m, neuron);
	imsg_put_str(m, why);
	launch_send(m);
}

static struct erasure *
erasure_of(const char *neuron)
{
	struct erasure *e;

	TAILQ_FOREACH(e, &erasures, entry)
		if (strcmp(e->neuron, neuron) == 0)
			return (e);
	return (NULL);
}

static void
erase(const char *neuron)
{
	struct imsg *m = imsg_new(MSG_HOME_ERASE);
	struct erasure *e;

	if ((e = calloc(1, sizeof(*e))) == NULL)
		fatal("erasure");
	e->ticket = ++tickets;
	memcpy(e->neuron, neuron, sizeof(e->neuron));
	TAILQ_INSERT_TAIL(&erasures, e, entry);
	imsg_put_u32(m, e->ticket);
	imsg_put_str(m, neuron);
	imsg_put_fd(m, dup(homes));
	FAULT("neuron.erase");
	(void)helper_send(HELPER_MAKER, m);
}

int
home_on_drop(void *arg, struct imsg *m)
{
	char id[ID_SIZE];

	(void)arg;
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1 || !id_ok(ID_NEURON, id))
		return (-1);
	/* A policyd that is new asks again: one answer is for both. */
	if (erasure_of(id) != NULL)
		return (0);
	if (neuron_find(id) != NULL)
		dropped(id, EBUSY, "the neuron is live");
	else if (!helper_is_up(HELPER_MAKER))
		dropped(id, EAGAIN, "the maker is gone");
	else
		erase(id);
	return (0);
}

int
home_on_erased(void *arg, struct imsg *m)
{
	uint32_t ticket, error;
	struct erasure *e;
	char why[256];

	(void)arg;
	ticket = imsg_get_u32(m);
	(void)imsg_get_u32(m);
	error = imsg_get_u32(m);
	imsg_get_str(m, why, sizeof(why));
	if (imsg_end(m) == -1)
		return (-1);
	TAILQ_FOREACH(e, &erasures, entry)
		if (e->ticket == ticket)
			break;
	if (e == NULL)
		return (0);
	TAILQ_REMOVE(&erasures, e, entry);
	FAULT("neuron.erased");
	dropped(e->neuron, error, why);
	free(e);
	return (0);
}

/* Whether it was removed is seen when policyd asks again. */
void
homes_maker_down(void)
{
	struct erasure *e;

	while ((e = TAILQ_FIRST(&erasures)) != NULL) {
		TAILQ_REMOVE(&erasures, e, entry);
		dropped(e->neuron, EAGAIN, "the maker died");
		free(e);
	}
}
