/*
 * Placeholders in a workspace, made and removed with exactly its owner's ids
 * in a worker of the maker: a filesystem that hangs holds up nobody else.
 */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "maker.h"
#include "placeholder.h"

static void
owner_of(const struct place_header *h, struct walk *w)
{
	size_t i;

	memset(w, 0, sizeof(*w));
	w->uid = h->uid;
	w->gid = h->gid;
	w->ngroups = h->ngroups;
	for (i = 0; i < h->ngroups; i++)
		w->groups[i] = h->groups[i];
	memcpy(w->path, h->path, sizeof(w->path));
}

_Noreturn void
maker_place(uint32_t number, uint32_t ticket, int record, int dir)
{
	static struct place_header h;
	static struct walk w;
	const char *why = "placeholders";
	int error = EINVAL;

	if (placeholder_header(record, &h) == 0) {
		owner_of(&h, &w);
		(void)umask(022);
		error = WALK_REFUSED;
		if (walk_become(&w) == -1) {
			why = "becoming the owner";
			error = errno;
		} else if (placeholder_make(dir, record, w.uid, &why) == 0) {
			why = "";
			error = 0;
		}
	}
	maker_answer(maker_reply(MSG_PLACED, number, ticket, error, why));
}

/* The record is of that directory, and its owner the same. */
static int
is_of(const struct place_header *h, const struct walk *w, int dir)
{
	struct walk owner;
	struct stat st;

	owner_of(h, &owner);
	return (fstat(dir, &st) == 0 && st.st_dev == h->device &&
	    st.st_ino == h->inode && owner.uid == w->uid &&
	    owner.gid == w->gid && owner.ngroups == w->ngroups &&
	    memcmp(owner.groups, w->groups,
	    w->ngroups * sizeof(w->groups[0])) == 0);
}

_Noreturn void
maker_place_walked(const struct walk *w, int dir)
{
	static struct place_header h;
	const char *why = "";
	int error = ESTALE;

	if (dir != -1 && placeholder_header(w->record, &h) == 0 &&
	    is_of(&h, w, dir)) {
		(void)umask(022);
		error = placeholder_make(dir, w->record, w->uid, &why) == 0 ?
		    0 : WALK_REFUSED;
	}
	maker_answer(maker_reply(MSG_PLACED, w->number, w->ticket, error,
	    error == 0 ? "" : why));
}

int
place_clear(int record, int dir)
{
	static struct place_header h;
	static struct walk w;
	struct stat st;

	if (placeholder_header(record, &h) == -1) {
		errno = EINVAL;
		return (-1);
	}
	owner_of(&h, &w);
	if (walk_become(&w) == -1)
		return (-1);
	if (dir == -1 && (dir = walk_open(h.path)) == -1)
		return (-1);
	if (fstat(dir, &st) == -1)
		return (-1);
	/* Another directory of that name: what we made is not in it. */
	if (st.st_dev != h.device || st.st_ino != h.inode) {
		errno = ENOENT;
		return (-1);
	}
	return (placeholder_clear(dir, record));
}

_Noreturn void
maker_clear(uint32_t number, int record, int dir)
{
	int error = place_clear(record, dir) == -1 ? errno : 0;

	maker_answer(maker_reply(MSG_CLEARED, number, 0, error, ""));
}
