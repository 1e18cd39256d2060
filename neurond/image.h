/*
 * The image of a home: a file of a fixed size with an ext4 in it, whose size
 * and inodes are what its neuron may have.  Used by a worker of the maker.
 */
#ifndef MYELIN_NEUROND_IMAGE_H
#define MYELIN_NEUROND_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "limits.h"

#define IMAGE_NAME	"home.img"
#define IMAGE_NEW	"home.new"	/* one that is being made */

/* Less has no room for a journal beside the files. */
#define IMAGE_LEAST	MIB(8)

/* How an ext4 of so many bytes is laid out. */
struct image_plan {
	unsigned	 block;		/* bytes */
	unsigned	 journal;	/* MiB */
	uint64_t	 inodes;	/* made, those of ext4's own too */
};

/*
 * The inodes that files can have are at most so many, and at most one for
 * each 4 KiB; an ext4 has no fewer than 16 for each 128 MiB.
 */
void	image_plan(uint64_t bytes, uint64_t inodes, struct image_plan *);

/*
 * Makes IMAGE_NEW in the directory dir and an ext4 in it, which is owner's:
 * an fd, or -1 with errno and words in why.  image_ready() gives it its name.
 */
int	image_make(int dir, uint64_t bytes, uint64_t inodes, uint32_t owner,
	    char *why, size_t size);
/*
 * Its mount's first use is on the disk when it is IMAGE_NAME: 0, or -1 with
 * errno.  What a crash leaves is never a home that is half made.
 */
int	image_ready(int dir, int mount);

/* NULL if the image may be mounted; else what is wrong with it. */
const char *image_damage(int image);

/*
 * An image whose ext4 is smaller than bytes, by more than ext4 may leave of
 * its end, grows: before it is mounted image_grow_file() makes the file as
 * long, and returns 1 if image_grow() is then to be called with its mount,
 * which lets the kernel do the rest.  0 if it is as large; -1 with errno.
 * It never gets smaller, and its inodes grow by the same share.
 */
int	image_grow_file(int image, uint64_t bytes);
int	image_grow(int mount, uint64_t bytes);

/*
 * Mounts it, detached, nosuid and nodev: an fd, or -1 with errno and *step.
 * The loop device goes with the mount.
 */
int	image_mount(int image, const char **step);

#endif
