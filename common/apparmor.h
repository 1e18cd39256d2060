/*
 * The AppArmor profile of what runs in a neuron (contrib/apparmor).
 *
 * The kernel is asked, by /proc: nothing of AppArmor's own files need be
 * mounted, and no library is needed.
 */
#ifndef MYELIN_APPARMOR_H
#define MYELIN_APPARMOR_H

#define APPARMOR_PROFILE	"myelin-neuron"
#define APPARMOR_OVERLAY	"myelin-neuron-overlay"	/* its root is its own */

/* 1 if the kernel has AppArmor and it is on.  Needs the host's /sys. */
int	apparmor_on(void);

/*
 * 0 if a profile is loaded and this process may change to it; or -1 with
 * errno, ENOENT where it is not loaded.
 */
int	apparmor_test(const char *profile);

/* What this process executes next is confined by it.  0, or -1 with errno. */
int	apparmor_exec(const char *profile);

#endif
