/*
 * What the parts of building share: build.c with its steps, root.c with what
 * the root is made of.
 */
#ifndef MYELIN_NATIVE_BUILD_INT_H
#define MYELIN_NATIVE_BUILD_INT_H

#include <sys/mount.h>
#include <stdint.h>

#include "build.h"
#include "without.h"

/* A new root is put together here, in the clone's own copy of the mounts. */
#define NEW_ROOT	"/tmp"
#define SAFE		(MS_NODEV | (WITHOUT(nosuid) ? 0 : MS_NOSUID))
#define SAFE_FLAGS	(IN_NOSUID | IN_NODEV)

struct builder {
	struct native		*native;
	struct build_request	*req;
	const char		*prefix;	/* where the root is now */
	uint64_t		 layers;
};

/* path as it is now; good until the next call. */
const char *build_at(const struct builder *, const char *path);

/* 1 if the neuron has a root that is not the template's. */
int	root_is_own(const struct build_request *);
/* The new root at NEW_ROOT, of the template's mounts or of an image. */
int	root_make(struct builder *);
/* mkdir -p from a root, never by a link: an fd of the last, or -1. */
int	root_point(int root, const char *path);
/* The mounts that the profile names. */
int	root_mounts(struct builder *);
int	root_read_only(struct builder *);

#endif
