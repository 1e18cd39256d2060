/*
 * The maker's kinds of work.  Each runs in a process of its own and ends it
 * with an answer.
 */
#ifndef MYELIN_NEUROND_MAKER_H
#define MYELIN_NEUROND_MAKER_H

#include <sys/types.h>
#include <stdint.h>

#include "ids.h"
#include "imsg.h"
#include "limits.h"
#include "slice.h"

/*
 * Groups of files that are not the owner's appear inside as one of these:
 * never given to a process, so that such files can be written by their owner
 * and nobody gains a group.  Above systemd's container range, below uids.
 */
#define PARKED_START	1890000000U
#define PARKED_COUNT	65536U

/* The error of a WALKED that is no failure: its words are for the user. */
#define WALK_REFUSED	10000

struct walk {
	uint32_t	 slot;
	uint32_t	 generation;
	uint32_t	 kuid;
	uid_t		 uid;
	gid_t		 gid;
	uint32_t	 number;	/* of the record */
	uint32_t	 ticket;	/* 0: there is no record */
	int		 record;
	int		 mapped;	/* neurond has what walk_map() makes */
	size_t		 ngroups;
	gid_t		 groups[GROUPS_MAX];
	char		 path[PATH_BYTES_MAX];
};

/*
 * A user namespace with its limits at 0, and a network namespace with lo; and
 * the one for the idmap of a workspace of w's owner, unless that is root.
 */
_Noreturn void	maker_ns(const struct walk *);
/* The last of these: an fd, or -1 with errno and *step. */
int	walk_map(const struct walk *, const char **step);

/* Sockets in a network namespace of maker_ns(): which is LISTENER_*. */
_Noreturn void	maker_listen(uint32_t slot, uint32_t generation,
		    unsigned which, int net_ns);

/*
 * The directory, reached with exactly the owner's ids, and a user namespace
 * that maps owner to neuron for its mount.  With a record, which neurond takes
 * for that directory's, PLACED follows: ESTALE if it is another's.
 */
_Noreturn void	maker_walk(const struct walk *);
/* The second half of it, with the owner's ids; dir is -1 if there is none. */
_Noreturn void	maker_place_walked(const struct walk *, int dir);

/* A home of a persistent neuron. */
struct home {
	uint32_t	 slot;
	uint32_t	 generation;
	uint32_t	 kuid;
	uint32_t	 owner;		/* of a new one */
	int		 kept;		/* it must be there */
	uint64_t	 bytes;
	uint64_t	 inodes;
	char		 neuron[ID_SIZE];
};

/* Its mount, mapped to the neuron; it is made if there is none. */
_Noreturn void	maker_home(struct home *, int homes);
/* Removes it, if nobody has it. */
_Noreturn void	maker_erase(uint32_t ticket, const char *neuron, int homes);
struct trees_request {
	uint32_t	 slot;
	uint32_t	 generation;
	uint32_t	 kuid;		/* 0: files keep their owners */
	unsigned	 n;
	int		 root;		/* the first is a root */
	char		 paths[(1 + MOUNTS_MAX) * TREE_PATH_MAX];
};

/* Mounts of directories that a profile names, by no link. */
_Noreturn void	maker_trees(const struct trees_request *);

/* The ids of w for good; and the directory that its path leads to: an fd or
 * -1 with errno. */
int	walk_become(const struct walk *);
int	walk_open(const char *path);

/* Makes the placeholders that dir lacks, as the record says whose it is. */
_Noreturn void	maker_place(uint32_t number, uint32_t ticket, int record,
		    int dir);
/* Removes those of a record; dir is -1 where it must be walked to. */
_Noreturn void	maker_clear(uint32_t number, int record, int dir);
/* The same in a process that then ends: 0, or -1 with errno.  It keeps the
 * owner's ids. */
int	place_clear(int record, int dir);

/* The channel to neurond, which workers share. */
void	maker_channel(struct channel *);
struct imsg	*maker_reply(enum msg_type, uint32_t slot,
		    uint32_t generation, int error, const char *words);
/* Sends it: 0, or -1. */
int	maker_say(struct imsg *);
_Noreturn void	maker_answer(struct imsg *);

/*
 * A user namespace with these maps (uid_map(5) text).  inside, if not NULL,
 * runs in it before the maps are used up: its process ends with its result.
 * Returns a namespace fd or -1 with errno and *step.
 */
int	userns_make(const char *uids, const char *gids, int (*inside)(void),
	    const char **step);

/* The gid map of a workspace's user namespace, for tests. */
int	walk_gid_map(char *out, size_t size, gid_t gid, uint32_t kuid);

#endif
