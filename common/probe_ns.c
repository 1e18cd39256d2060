/*
 * Probing the layers that are namespaces.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "probe_internal.h"

static const char *
namespace(int flag)
{
	return (probe_privileged() == -1 || unshare(flag) == -1 ? "unshare" :
	    NULL);
}

const char *
probe_user_ns(void)
{
	return (unshare(CLONE_NEWUSER) == -1 ? "unshare" : NULL);
}

const char *
probe_mount_ns(void)
{
	return (probe_own_mounts() == -1 ? "unshare and mount" : NULL);
}

const char *
probe_pid_ns(void)
{
	return (namespace(CLONE_NEWPID));
}

/* A neuron is put into one that another process made. */
const char *
probe_net_ns(void)
{
	int fd;

	if (namespace(CLONE_NEWNET) != NULL)
		return ("unshare");
	if ((fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) == -1 ||
	    setns(fd, CLONE_NEWNET) == -1)
		return ("setns");
	return (NULL);
}

const char *
probe_ipc_ns(void)
{
	return (namespace(CLONE_NEWIPC));
}

const char *
probe_uts_ns(void)
{
	if (namespace(CLONE_NEWUTS) != NULL)
		return ("unshare");
	return (sethostname("neuron", 6) == -1 ? "sethostname" : NULL);
}

const char *
probe_cgroup_ns(void)
{
	return (namespace(CLONE_NEWCGROUP));
}

const char *
probe_time_ns(void)
{
	return (access("/proc/self/ns/time", F_OK) == -1 ? "/proc/self/ns" :
	    NULL);
}

/* Opened in a new user namespace, the file is that namespace's own. */
const char *
probe_ns_limits(void)
{
	if (unshare(CLONE_NEWUSER) == -1)
		return ("unshare");
	return (open("/proc/sys/user/max_user_namespaces", O_WRONLY |
	    O_CLOEXEC) == -1 ? "/proc/sys/user" : NULL);
}
