/*
 * Placeholders: what stands in a workspace for protected names that were
 * absent, for as long as a neuron has it.
 *
 * A record says which were made, so that they go even after a crash, and
 * nothing else goes: header, then entries in the order of making, each written
 * twice, before (inode 0) and after.  It is root's own and read by root alone.
 */
#ifndef MYELIN_NEUROND_PLACEHOLDER_H
#define MYELIN_NEUROND_PLACEHOLDER_H

#include <sys/types.h>
#include <stdint.h>

#include "limits.h"
#include "protected.h"

#define PLACE_MAGIC	"myelin-placeholders-1"

struct place_header {
	char		 magic[24];
	uint64_t	 device;	/* the workspace's */
	uint64_t	 inode;
	uint32_t	 uid;		/* the owner's */
	uint32_t	 gid;
	uint32_t	 ngroups;
	uint32_t	 groups[GROUPS_MAX];
	char		 path[PATH_BYTES_MAX];
};

struct place_entry {
	char		 path[PROTECTED_NAME_MAX];
	uint64_t	 inode;		/* 0: about to be made */
	uint64_t	 size;		/* of a file */
	uint32_t	 directory;	/* 1, or a file */
	uint32_t	 unused;
};

/* The header of a record: 0, or -1 if it has none. */
int	placeholder_header(int record, struct place_header *);

/*
 * With the owner's ids: makes what is absent in the directory ws and appends
 * it to record (O_APPEND).  0; or -1 and why not, in words that follow the
 * workspace's path.
 */
int	placeholder_make(int ws, int record, uid_t owner, const char **why);

/*
 * With the owner's ids: removes what the record says and what is still as it
 * was made, and cuts the record back to its header.
 */
int	placeholder_clear(int ws, int record);

#endif
