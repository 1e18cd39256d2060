/*
 * Whether this host has a layer, found out by using it: each in a child that
 * ends at once, so that nothing of this process or of the host changes.
 */
#ifndef MYELIN_PROBE_H
#define MYELIN_PROBE_H

#include <stddef.h>

#include "layers.h"

enum probe_state {
	PROBE_PRESENT,
	PROBE_MISSING,
	PROBE_UNKNOWN		/* only root could tell */
};

struct probe {
	enum probe_state state;
	char		 detail[160];	/* "" where it is present */
};

/*
 * Without cgroups the controllers are left unknown: where they have to be is
 * neurond's to find out.
 */
#define PROBE_CGROUPS	0x01

/* Probes every layer of the table.  Starts and reaps children of its own. */
void	probe_layers(struct probe probes[LAYER_COUNT], unsigned flags);

/* 1 if a start is refused where the layer is missing. */
int	probe_mandatory(enum layer);

/*
 * The mandatory layers of those that are missing: their number.  say is called
 * with a line for each; names gets them in one, cut off where it is full.
 */
unsigned probe_missing(const struct probe probes[LAYER_COUNT],
	    void (*say)(const char *line), char *names, size_t size);

/* 1 if the kernel calls itself this version or a newer one. */
int	probe_kernel(int major, int minor);

/* The version of Landlock's ABI, 0 without Landlock. */
unsigned probe_landlock_abi(void);

#endif
