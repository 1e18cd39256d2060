/*
 * What a neuron's root holds: one table, walked once by the spawner to build
 * the template that all neurons share.  Nothing per principal is ever in it.
 */
#ifndef MYELIN_NATIVE_INSIDE_H
#define MYELIN_NATIVE_INSIDE_H

#include <stddef.h>
#include <sys/types.h>

enum inside_kind {
	IN_DIR,			/* a directory, empty */
	IN_MOUNT,		/* a mount of its own */
	IN_LINK,		/* a symbolic link to text */
	IN_FILE,		/* a file that holds text */
	IN_NODE,		/* a device node, text is "major:minor" */
	IN_HOST_LINK,		/* what the host has there: link or nothing */
	IN_HOST_COPY,		/* the host's file or small directory, copied */
	IN_HOST_COPIES		/* all names in the host's directory that
				 * begin with text, copied */
};

/* Mount flags that the start-up check of every neuron expects. */
#define IN_RO		0x01
#define IN_NOSUID	0x02
#define IN_NODEV	0x04
#define IN_NOEXEC	0x08
#define IN_IDMAP	0x10
/* The host may lack it. */
#define IN_OPTIONAL	0x20
/* A mount bound from the host; without it a new tmpfs. */
#define IN_BIND		0x40

struct inside_row {
	enum inside_kind kind;
	const char	*path;		/* without the leading slash */
	const char	*text;
	unsigned	 flags;
};

extern const struct inside_row inside_rows[];
extern const size_t inside_nrows;

/* World-readable leaks of /proc, masked where they exist. */
struct mask_row {
	const char	*path;
	int		 dir;
};

extern const struct mask_row mask_rows[];
extern const size_t mask_nrows;

#endif
