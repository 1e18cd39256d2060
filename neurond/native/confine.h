/*
 * What takes privileges from a clone of the spawner on its way to PID 1.
 * Each returns 0, or -1 with errno.
 */
#ifndef MYELIN_NATIVE_CONFINE_H
#define MYELIN_NATIVE_CONFINE_H

#include <sys/types.h>
#include <stdint.h>

int	confine_rlimits(uint32_t nofile);
/* After joining the user namespace: everything becomes uid. */
int	confine_ids(uid_t uid);
int	confine_keyring(void);
/* Bounding set, securebits and all sets, in that order: the first two need
 * CAP_SETPCAP.  setresuid drops nothing here, as uid 0 is not mapped. */
int	confine_caps(void);
/* That ids, groups, capabilities, securebits, no_new_privs and dumpable are
 * what they must be. */
int	confine_proven(uid_t uid);

#endif
