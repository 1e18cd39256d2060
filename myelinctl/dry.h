/*
 * --dry-run of "run" and "call": the verdict alone.
 */
#ifndef MYELINCTL_DRY_H
#define MYELINCTL_DRY_H

#include <jansson.h>

#include "ctl.h"

/*
 * Asks for the verdict on a call, whose body is taken over, and prints it.
 * The exit status: 0 if it would be allowed, 1 if not, the command's own
 * failure where Myelin gave none.
 */
int	dry_run(const struct options *, const char *target, json_t *body);

#endif
