/*
 * Landlock rulesets.  Rules name the root of the mount on top: one on a
 * directory that a mount covers would count for nothing.
 */
#include <errno.h>
#include <fcntl.h>

#include "../steps.h"
#include "../sys.h"
#include "landlock.h"
#include "layers.h"
#include "probe.h"
#include "without.h"

#define ABI_KNOWN	6
#define RULE_BENEATH	1	/* LANDLOCK_RULE_PATH_BENEATH */

#define READ_X		(LL_READ_FILE | LL_READ_DIR | LL_EXECUTE)
/* Sockets with a name are off with AF_UNIX, devices for ever. */
#define ALL_BUT_NODES	(READ_X | LL_WRITE_FILE | LL_REMOVE_DIR |	\
	LL_REMOVE_FILE | LL_MAKE_DIR | LL_MAKE_REG | LL_MAKE_FIFO |	\
	LL_MAKE_SYM | LL_REFER | LL_TRUNCATE)
#define HANDLED		(ALL_BUT_NODES | LL_MAKE_CHAR | LL_MAKE_BLOCK |	\
	LL_MAKE_SOCK | LL_IOCTL_DEV)

struct beneath {
	uint64_t	access;
	int32_t		fd;
} __attribute__((packed));

static const struct rule {
	const char	*path;
	uint64_t	 access;
} rules[] = {
	{ "/",		LL_READ_DIR },
	{ "/usr",	READ_X },
	{ "/etc",	LL_READ_FILE | LL_READ_DIR },
	{ "/run",	LL_READ_DIR },
	/* Of its own entries a program may write comm, oom_score_adj ... */
	{ "/proc",	LL_READ_FILE | LL_READ_DIR | LL_WRITE_FILE },
	{ "/dev",	LL_READ_FILE | LL_READ_DIR | LL_WRITE_FILE |
			LL_TRUNCATE | LL_IOCTL_DEV },
	{ "/dev/shm",	ALL_BUT_NODES },
	{ "/tmp",	ALL_BUT_NODES },
	{ AGENT_HOME,	ALL_BUT_NODES }
};

/* A newer kernel is spoken to as one of the version that is known here. */
unsigned
landlock_abi(void)
{
	unsigned abi = probe_landlock_abi();

	return (abi > ABI_KNOWN ? ABI_KNOWN : abi);
}

uint64_t
landlock_rights(unsigned abi)
{
	uint64_t rights = HANDLED;

	if (abi < 2)
		rights &= ~LL_REFER;
	if (abi < 3)
		rights &= ~LL_TRUNCATE;
	if (abi < 5)
		rights &= ~LL_IOCTL_DEV;
	return (rights);
}

static size_t
ruleset_size(unsigned abi)
{
	if (abi < 4)
		return (offsetof(struct ll_ruleset, net));
	if (abi < 6)
		return (offsetof(struct ll_ruleset, scoped));
	return (sizeof(struct ll_ruleset));
}

static int
allow(int ruleset, const char *path, uint64_t rights)
{
	struct beneath rule = { .access = rights };
	int r, saved;

	rule.fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.fd == -1)
		return (-1);
	r = (int)syscall(SYS_landlock_add_rule, ruleset, RULE_BENEATH, &rule,
	    0);
	saved = errno;
	close(rule.fd);
	errno = saved;
	return (r);
}

int
landlock_neuron(unsigned abi, const char *workspace, uint64_t *layers)
{
	struct ll_ruleset set = { .fs = landlock_rights(abi) };
	size_t i;
	int fd, r = 0;

	*layers |= WITHOUT(landlock) ? LAYER_BIT(LANDLOCK) : 0;
	if (WITHOUT(landlock))
		return (0);
	fd = (int)syscall(SYS_landlock_create_ruleset, &set,
	    ruleset_size(abi), 0);
	if (fd == -1)
		return (-1);
	for (i = 0; r == 0 && i < sizeof(rules) / sizeof(rules[0]); i++)
		r = allow(fd, rules[i].path, rules[i].access & set.fs);
	if (r == 0 && workspace[0] != '\0')
		r = allow(fd, workspace, ALL_BUT_NODES & set.fs);
	if (r == 0)
		r = (int)syscall(SYS_landlock_restrict_self, fd, 0);
	close(fd);
	if (r == -1)
		return (-1);
	*layers |= LAYER_BIT(LANDLOCK) | (uint64_t)abi << LAYERS_ABI_SHIFT;
	if (abi >= 2)
		*layers |= LAYER_BIT(LANDLOCK_REFER);
	if (abi >= 3)
		*layers |= LAYER_BIT(LANDLOCK_TRUNCATE);
	if (abi >= 5)
		*layers |= LAYER_BIT(LANDLOCK_IOCTL);
	if (abi >= 6)
		*layers |= LAYER_BIT(LANDLOCK_SCOPES);
	return (0);
}

/*
 * A domain that says nothing of links and renames between directories denies
 * them all, whatever the one above it allows.  So this one allows them.
 */
int
landlock_call(unsigned abi)
{
	struct ll_ruleset set = {
		.fs = LL_REFER,
		.scoped = LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL
	};
	int fd, r;

	if (abi < 6 || WITHOUT(landlock_scopes))
		return (0);
	fd = (int)syscall(SYS_landlock_create_ruleset, &set, sizeof(set), 0);
	if (fd == -1)
		return (-1);
	r = allow(fd, "/", LL_REFER);
	if (r == 0)
		r = (int)syscall(SYS_landlock_restrict_self, fd, 0);
	close(fd);
	return (r);
}
