/*
 * Facts of this host that matter to Myelin, beside the layers.
 */
#ifndef MYELINCTL_HOST_H
#define MYELINCTL_HOST_H

#include <jansson.h>

#include "ctl.h"

/* [{"name", "state": "ok" | "warning" | "unknown", "value", "remedy"}] */
json_t	*host_facts(const struct options *);

#endif
