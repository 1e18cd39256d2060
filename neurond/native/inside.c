/*
 * The table of what is inside.
 *
 * Without /etc/alternatives awk, which and cc are missing; without passwd
 * whoami fails; without certificates TLS does; without its settings in /etc
 * Debian's JVM doesn't start.
 */
#include "inside.h"
#include "../steps.h"

#define RO_ALL	(IN_RO | IN_NOSUID | IN_NODEV)

const struct inside_row inside_rows[] = {
	{ IN_MOUNT,	"usr",		"/usr",		RO_ALL | IN_BIND },
	{ IN_HOST_LINK,	"bin",		NULL,		0 },
	{ IN_HOST_LINK,	"sbin",		NULL,		0 },
	{ IN_HOST_LINK,	"lib",		NULL,		0 },
	{ IN_HOST_LINK,	"lib32",	NULL,		IN_OPTIONAL },
	{ IN_HOST_LINK,	"lib64",	NULL,		IN_OPTIONAL },
	{ IN_HOST_LINK,	"libx32",	NULL,		IN_OPTIONAL },
	{ IN_DIR,	"proc",		NULL,		0 },
	{ IN_DIR,	"tmp",		NULL,		0 },
	{ IN_DIR,	"run",		NULL,		0 },
	{ IN_DIR,	"home",		NULL,		0 },
	{ IN_DIR,	"home/agent",	NULL,		0 },
	{ IN_DIR,	"var",		NULL,		0 },
	{ IN_LINK,	"var/tmp",	"/tmp",		0 },

	{ IN_MOUNT,	"dev",		NULL,
	    IN_RO | IN_NOSUID | IN_NOEXEC },
	{ IN_NODE,	"dev/null",	"1:3",		0 },
	{ IN_NODE,	"dev/zero",	"1:5",		0 },
	{ IN_NODE,	"dev/full",	"1:7",		0 },
	{ IN_NODE,	"dev/random",	"1:8",		0 },
	{ IN_NODE,	"dev/urandom",	"1:9",		0 },
	/* Opens what the opener has for a terminal of its own, or nothing. */
	{ IN_NODE,	"dev/tty",	"5:0",		0 },
	{ IN_DIR,	"dev/shm",	NULL,		0 },
	{ IN_DIR,	"dev/pts",	NULL,		0 },
	{ IN_LINK,	"dev/ptmx",	"pts/ptmx",	0 },
	{ IN_LINK,	"dev/fd",	"/proc/self/fd", 0 },
	{ IN_LINK,	"dev/stdin",	"/proc/self/fd/0", 0 },
	{ IN_LINK,	"dev/stdout",	"/proc/self/fd/1", 0 },
	{ IN_LINK,	"dev/stderr",	"/proc/self/fd/2", 0 },

	{ IN_MOUNT,	"etc",		NULL,		RO_ALL | IN_NOEXEC },
	{ IN_FILE,	"etc/passwd",
	    "root:x:0:0:root:/root:/usr/sbin/nologin\n"
	    "agent:x:1000:1000:agent:" AGENT_HOME ":/bin/bash\n"
	    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
	    0 },
	{ IN_FILE,	"etc/group",
	    "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n", 0 },
	{ IN_FILE,	"etc/hosts",
	    "127.0.0.1\tlocalhost neuron\n::1\tlocalhost\n", 0 },
	{ IN_FILE,	"etc/hostname",	"neuron\n",	0 },
	{ IN_FILE,	"etc/nsswitch.conf",
	    "passwd:\tfiles\ngroup:\tfiles\nshadow:\tfiles\n"
	    "hosts:\tfiles dns\nservices:\tfiles\nprotocols:\tfiles\n", 0 },
	/* Nobody answers there without egress, which is said at once. */
	{ IN_FILE,	"etc/resolv.conf",
	    "# a neuron has no network but its own loopback\n"
	    "nameserver 127.0.0.1\noptions timeout:5 attempts:2\n", 0 },
	{ IN_DIR,	"etc/ssl",	NULL,		0 },
	{ IN_MOUNT,	"etc/alternatives", "/etc/alternatives",
	    RO_ALL | IN_NOEXEC | IN_BIND | IN_OPTIONAL },
	{ IN_MOUNT,	"etc/ssl/certs", "/etc/ssl/certs",
	    RO_ALL | IN_NOEXEC | IN_BIND | IN_OPTIONAL },
	{ IN_MOUNT,	"etc/ca-certificates", "/etc/ca-certificates",
	    RO_ALL | IN_NOEXEC | IN_BIND | IN_OPTIONAL },
	{ IN_HOST_COPY,	"etc/ld.so.cache", NULL,	IN_OPTIONAL },
	{ IN_HOST_COPIES, "etc",	"ld.so.conf",	IN_OPTIONAL },
	{ IN_HOST_COPIES, "etc",	"python3",	IN_OPTIONAL },
	{ IN_HOST_COPIES, "etc",	"java-",	IN_OPTIONAL },
	{ IN_HOST_COPY,	"etc/mime.types", NULL,		IN_OPTIONAL },
	{ IN_HOST_COPY,	"etc/localtime", NULL,		IN_OPTIONAL }
};

const size_t inside_nrows = sizeof(inside_rows) / sizeof(inside_rows[0]);

const struct mask_row mask_rows[] = {
	{ "cmdline", 0 }, { "config.gz", 0 }, { "kallsyms", 0 },
	{ "keys", 0 }, { "key-users", 0 }, { "interrupts", 0 },
	{ "softirqs", 0 }, { "modules", 0 }, { "partitions", 0 },
	{ "diskstats", 0 }, { "timer_list", 0 }, { "sched_debug", 0 },
	{ "kcore", 0 }, { "kmsg", 0 }, { "sysvipc", 1 }
};

const size_t mask_nrows = sizeof(mask_rows) / sizeof(mask_rows[0]);
