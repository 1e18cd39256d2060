/*
 * What the attempts share.
 */
#ifndef MYELIN_TESTS_ATTEMPTS_H
#define MYELIN_TESTS_ATTEMPTS_H

#include <stddef.h>

struct attempt {
	const char	*name;
	const char	*words;
	void		(*fn)(void);
};

extern const struct attempt attempts[];
extern const size_t nattempts;

/* How one part of an attempt went. */
void	denied(const char *what, int error);
void	works(const char *what);
void	cannot(const char *what);
/* -1 is denied with errno, all else worked. */
void	tried(const char *what, long result);

#define ATTEMPTS(ROW)							\
ROW(readonly,	"1: write to /usr, /etc, /, /dev; remount them")	\
ROW(hostfiles,	"2: read the host's files")				\
ROW(setid,	"7: make a set-id file, in every way")			\
ROW(hardlink,	"13: link and rename across trees, set attributes")	\
ROW(planted,	"14: write to a file of root's in the workspace")	\
ROW(procone,	"15: look into PID 1 by /proc")				\
ROW(procwrite,	"16: write to /proc/sys and /proc/sysrq-trigger")	\
ROW(procleaks,	"17: read what /proc leaks of the host")		\
ROW(mounts,	"18: mount a filesystem")				\
ROW(selfexe,	"19: open one's own program for writing")		\
ROW(mountinfo,	"20: find host paths in mountinfo and cgroup")		\
ROW(devices,	"21: find or make devices")				\
ROW(fds,	"22: find file descriptors of others")			\
ROW(signals,	"26: signal PID 1 and everybody")			\
ROW(trace,	"27: trace PID 1, read its memory, take its fds")	\
ROW(namespaces,	"30: make namespaces")					\
ROW(terminal,	"31: type into a terminal, change what it is")		\
ROW(mountapi,	"35: the mount system calls")				\
ROW(compat,	"36: system calls of another architecture")		\
ROW(kernel,	"37: system calls that reach into the kernel")		\
ROW(privileges,	"38: get ids and capabilities")				\
ROW(forkbomb,	"55: more processes and threads than the limit")

#define ROW(name, words)	void attempt_##name(void);
ATTEMPTS(ROW)
#undef ROW

#endif
