/*
 * System calls of apid, beyond those that all processes need.  It opens
 * nothing, connects to nothing, executes nothing: what it works with is
 * handed to it, accepted, or made of memory and pipes.
 */
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "filter.h"

#define INT32	0xffffffffULL

const struct proc_syscall apid_syscalls[] = {
	{ "accept4",		-1, 0, 0 },
	{ "shutdown",		1, INT32, SHUT_WR },
	/* arguments and inline stdin */
	{ "memfd_create",	-1, 0, 0 },
	{ "ftruncate",		-1, 0, 0 },
	/* how much is in a pipe; libevent asks the same of a socket */
	{ "ioctl",		1, INT32, FIONREAD }
};

const size_t apid_nsyscalls =
    sizeof(apid_syscalls) / sizeof(apid_syscalls[0]);
