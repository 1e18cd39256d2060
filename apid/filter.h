/*
 * apid's row of system calls for the drop.
 */
#ifndef APID_FILTER_H
#define APID_FILTER_H

#include "proc.h"

extern const struct proc_syscall apid_syscalls[];
extern const size_t apid_nsyscalls;

#endif
