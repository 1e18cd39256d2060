/* What the host must have before anything is made. */
#ifndef MYELIN_PREFLIGHT_H
#define MYELIN_PREFLIGHT_H

#include "slice.h"
#include "why.h"

/*
 * 0, or -1 and which limit of the host does not fit which of ours, or that
 * AppArmor's profile is required and not there.
 */
int	preflight(const struct slice *, char why[WHY_MAX]);

/*
 * 0, or -1 and which mandatory layers this host lacks, each with its remedy in
 * the log.  Before any process is started: what is missing is named once, not
 * by whichever process meets it first.
 */
int	preflight_layers(char why[WHY_MAX]);

#endif
