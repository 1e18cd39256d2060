/*
 * What proc.c, proc_drop.c and proc_filter.c share.
 */
#ifndef MYELIN_PROC_INTERNAL_H
#define MYELIN_PROC_INTERNAL_H

#include "proc.h"

/* Loads the filter and proves it; fatal on failure.  no_new_privs is on. */

#endif
