/*
 * The homes of persistent neurons, in workers of the maker: a disk that hangs
 * holds up nobody else.
 */
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "image.h"
#include "loop.h"
#include "maker.h"
#include "without.h"

#define RELEASE_TIME	3000	/* ms for whoever had the home before */
#define LOCK_WAIT	10	/* ms */

static char why[256], grown[128];

static _Noreturn void
refuse(const struct home *h, int error, const char *words)
{
	maker_answer(maker_reply(MSG_HOME_OPENED, h->slot, h->generation,
	    error, words));
}

static _Noreturn void
fail(const struct home *h, const char *step)
{
	refuse(h, errno == 0 ? EIO : errno, step);
}

/* Its directory, locked for as long as the fd or a copy of it is open. */
static int
lock_home(int homes, const char *neuron, unsigned ms)
{
	static const struct timespec pause = { 0, LOCK_WAIT * 1000000L };
	int dir;

	dir = openat(homes, neuron, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (dir == -1)
		return (-1);
	while (flock(dir, LOCK_EX | LOCK_NB) == -1 && !WITHOUT(home_lock)) {
		if (errno != EWOULDBLOCK || ms < LOCK_WAIT) {
			close(dir);
			errno = EBUSY;
			return (-1);
		}
		nanosleep(&pause, NULL);
		ms -= LOCK_WAIT;
	}
	return (dir);
}

/* ext4's ids are the homes' owner's, the neuron's are its slot's. */
static int
map_home(int mnt, uint32_t kuid, const char **step)
{
	struct mount_attr attr = {
		.attr_set = (WITHOUT(idmap) ? 0 : MOUNT_ATTR_IDMAP) |
		    (WITHOUT(nosuid) ? 0 : MOUNT_ATTR_NOSUID) |
		    MOUNT_ATTR_NODEV,
		.propagation = MS_PRIVATE
	};
	char uids[48], gids[48];
	struct stat st;
	int ns, r;

	/* The block of ids may be another than when it was made. */
	*step = "its owner";
	errno = EPERM;
	if (fstat(mnt, &st) == -1 || st.st_uid == 0 || st.st_gid == 0)
		return (-1);
	snprintf(uids, sizeof(uids), "%u %u 1", st.st_uid, kuid);
	snprintf(gids, sizeof(gids), "%u %u 1", st.st_gid, kuid);
	if ((ns = userns_make(uids, gids, NULL, step)) == -1)
		return (-1);
	attr.userns_fd = (uint64_t)ns;
	*step = "mapping its owner";
	r = mount_setattr(mnt, "", AT_EMPTY_PATH, &attr, sizeof(attr));
	close(ns);
	return (r);
}

/* The image of an existing home, never another in its place. */
static int
existing(const struct home *h, int dir)
{
	const char *bad;
	int image, loop;

	image = openat(dir, IMAGE_NAME, O_RDWR | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC);
	if (image == -1 && errno == ENOENT)
		return (-1);
	if (image == -1)
		fail(h, "its image");
	loop = loop_of(image, RELEASE_TIME);
	if (loop == -2)
		fail(h, "the loop devices");
	if (loop >= 0) {
		snprintf(why, sizeof(why), "is still in use by /dev/loop%d",
		    loop);
		refuse(h, WALK_REFUSED, why);
	}
	if ((bad = image_damage(image)) != NULL)
		refuse(h, WALK_REFUSED, bad);
	return (image);
}

/* ENOSPC and kin are the host's; the rest is in the image. */
static int
is_damage(int error)
{
	return (error == EUCLEAN || error == EINVAL || error == EIO ||
	    error == EBADMSG || error == EROFS || error == EFBIG);
}

static int
mount_home(const struct home *h, int image, int fresh)
{
	const char *step = "";
	int mnt;

	if ((mnt = image_mount(image, &step)) != -1) {
		FAULT("worker.mounted");
		return (mnt);
	}
	if (fresh || strcmp(step, "mount") != 0 || !is_damage(errno))
		fail(h, step);
	snprintf(why, sizeof(why), "is damaged: %s", strerrordesc_np(errno));
	refuse(h, WALK_REFUSED, why);
}

_Noreturn void
maker_home(struct home *h, int homes)
{
	const char *step = "";
	int dir, image, mnt, fresh, grows = 0, error = 0;
	struct imsg *m;

	if (WITHOUT(home_name))
		memset(h->neuron + 2, '0', sizeof(h->neuron) - 3);
	if ((!h->kept || WITHOUT(home_kept)) &&
	    mkdirat(homes, h->neuron, 0700) == -1 && errno != EEXIST)
		fail(h, "a directory");
	if ((dir = lock_home(homes, h->neuron, RELEASE_TIME)) == -1) {
		if (errno == EBUSY)
			refuse(h, WALK_REFUSED, "is in use");
		if (errno == ENOENT && h->kept)
			refuse(h, WALK_REFUSED, "is lost");
		fail(h, "its directory");
	}
	image = existing(h, dir);
	if (image == -1 && h->kept && !WITHOUT(home_kept))
		refuse(h, WALK_REFUSED, "is lost");
	if ((fresh = image == -1) && ((image = image_make(dir, h->bytes,
	    h->inodes, h->owner, why, sizeof(why))) == -1 ||
	    fsync(homes) == -1))
		fail(h, why);
	if (!fresh && (grows = image_grow_file(image, h->bytes)) == -1)
		error = errno;
	mnt = mount_home(h, image, fresh);
	if (grows == 1 && image_grow(mnt, h->bytes) == -1)
		error = errno;
	/* One that can't is as good as it was. */
	if (error != 0)
		(void)snprintf(grown, sizeof(grown), "it can't grow to the "
		    "limit of its profile: %s", strerrordesc_np(error));
	if (fresh && image_ready(dir, mnt) == -1)
		fail(h, "its first use");
	if (map_home(mnt, h->kuid, &step) == -1)
		fail(h, step);
	FAULT("worker.home");
	m = maker_reply(MSG_HOME_OPENED, h->slot, h->generation, 0, grown);
	imsg_put_fd(m, mnt);
	imsg_put_fd(m, dir);
	maker_answer(m);
}

/* Its blocks are freed when this process ends, after the answer. */
_Noreturn void
maker_erase(uint32_t ticket, const char *neuron, int homes)
{
	int dir, image, error = 0;

	if ((dir = lock_home(homes, neuron, 0)) == -1)
		maker_answer(maker_reply(MSG_HOME_ERASED, ticket, 0, errno,
		    errno == EBUSY ? "is in use" : "its directory"));
	image = openat(dir, IMAGE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC);
	FAULT("worker.erase");
	if ((unlinkat(dir, IMAGE_NAME, 0) == -1 && errno != ENOENT) ||
	    (unlinkat(dir, IMAGE_NEW, 0) == -1 && errno != ENOENT) ||
	    unlinkat(homes, neuron, AT_REMOVEDIR) == -1 || fsync(homes) == -1)
		error = errno;
	(void)image;
	maker_answer(maker_reply(MSG_HOME_ERASED, ticket, 0, error,
	    error == 0 ? "" : "its files"));
}
