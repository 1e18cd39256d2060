/* What policyd may ask of the kernel beyond what all processes may. */

#include "policyd.h"

/*
 * Files beneath its chroot for SQLite and the audit log, the peer's address,
 * memfds for long answers.  No socket, no connection, no program.
 */
const struct proc_syscall policyd_syscalls[] = {
	{ "openat",		-1, 0, 0 },
	{ "newfstatat",		-1, 0, 0 },	/* SQLite stats by name */
	{ "stat",		-1, 0, 0 },
	{ "lstat",		-1, 0, 0 },
	{ "access",		-1, 0, 0 },
	{ "faccessat",		-1, 0, 0 },
	{ "faccessat2",		-1, 0, 0 },
	{ "readlink",		-1, 0, 0 },
	{ "readlinkat",		-1, 0, 0 },
	{ "getcwd",		-1, 0, 0 },
	{ "pwrite64",		-1, 0, 0 },
	{ "fsync",		-1, 0, 0 },
	{ "fdatasync",		-1, 0, 0 },
	{ "ftruncate",		-1, 0, 0 },
	{ "fchmod",		-1, 0, 0 },
	{ "unlink",		-1, 0, 0 },
	{ "unlinkat",		-1, 0, 0 },
	{ "getdents64",		-1, 0, 0 },	/* transcripts */
	{ "renameat2",		-1, 0, 0 },	/* files of the audit log */
	{ "fallocate",		-1, 0, 0 },
	{ "getsockname",	-1, 0, 0 },
	{ "memfd_create",	-1, 0, 0 },
	{ "pipe2",		-1, 0, 0 },	/* what hooks print */
};
const size_t policyd_nsyscalls =
    sizeof(policyd_syscalls) / sizeof(policyd_syscalls[0]);
