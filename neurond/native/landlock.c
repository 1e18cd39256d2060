/*
 * Landlock rulesets.  Rules name the root of the mount on top: one on a
 * directory that a mount covers would count for nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "../steps.h"
#include "../sys.h"
#include "build.h"
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
} template_rules[] = {
	{ "/usr",	READ_X },
	{ "/etc",	LL_READ_FILE | LL_READ_DIR }
}, rules[] = {
	{ "/",		LL_READ_DIR },
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

static int
allow_rules(int ruleset, const struct rule *rule, size_t n, uint64_t known)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (allow(ruleset, rule[i].path, rule[i].access & known) == -1)
			return (-1);
	return (0);
}

/* 1 if a directory in / is the neuron's own, or has a mount in it. */
static int
is_ours(const struct build_request *req, const char *path)
{
	static const char *const own[] = { "/dev", "/home", "/proc", "/run",
	    "/tmp" };
	size_t len = strlen(path), i;
	int k;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(path, own[i]) == 0)
			return (1);
	for (k = 0; k < req->nmounts; k++)
		if (strncmp(req->mount_at[k], path, len) == 0 &&
		    (req->mount_at[k][len] == '/' ||
		    req->mount_at[k][len] == '\0'))
			return (1);
	return (0);
}

/*
 * An image's directories one by one: a right at / would hold for each mount
 * as well, and a FIFO can be written to on one that is read-only.
 */
static int
allow_image(int ruleset, const struct build_request *req, uint64_t known)
{
	char path[NAME_MAX + 2];
	struct dirent *d;
	uint64_t rights;
	int r = 0;
	DIR *list;

	if ((list = opendir("/")) == NULL)
		return (-1);
	while (r == 0 && (d = readdir(list)) != NULL) {
		if (strcmp(d->d_name, ".") == 0 ||
		    strcmp(d->d_name, "..") == 0 || d->d_type != DT_DIR)
			continue;
		snprintf(path, sizeof(path), "/%s", d->d_name);
		if (strcmp(path, "/dev") == 0 || strcmp(path, "/proc") == 0)
			continue;
		rights = req->overlay && !is_ours(req, path) ? ALL_BUT_NODES :
		    READ_X;
		r = allow(ruleset, path, rights & known);
	}
	closedir(list);
	return (r);
}

static int
allow_own(int ruleset, const struct build_request *req, uint64_t known)
{
	int i;

	if (req->workspace[0] != '\0' && allow(ruleset, req->workspace,
	    (req->read_only ? READ_X : ALL_BUT_NODES) & known) == -1)
		return (-1);
	for (i = 0; i < req->nmounts; i++)
		if (allow(ruleset, req->mount_at[i], READ_X & known) == -1)
			return (-1);
	return (0);
}

int
landlock_neuron(unsigned abi, const struct build_request *req,
    uint64_t *layers)
{
	struct ll_ruleset set = { .fs = landlock_rights(abi) };
	int fd, r;

	*layers |= WITHOUT(landlock) ? LAYER_BIT(LANDLOCK) : 0;
	if (WITHOUT(landlock))
		return (0);
	fd = (int)syscall(SYS_landlock_create_ruleset, &set,
	    ruleset_size(abi), 0);
	if (fd == -1)
		return (-1);
	r = allow_rules(fd, rules, sizeof(rules) / sizeof(rules[0]), set.fs);
	if (r == 0 && req->root == -1)
		r = allow_rules(fd, template_rules, sizeof(template_rules) /
		    sizeof(template_rules[0]), set.fs);
	else if (r == 0)
		r = allow_image(fd, req, set.fs);
	if (r == 0)
		r = allow_own(fd, req, set.fs);
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

static int
has_scopes(unsigned abi)
{
	return (abi >= 6 && !WITHOUT(landlock_scopes));
}

/*
 * A domain that says nothing of links and renames between directories denies
 * them all, whatever the one above it allows.  So this one allows them.
 */
int
landlock_call_rules(unsigned abi, int *ruleset)
{
	struct ll_ruleset set = {
		.fs = LL_REFER,
		.scoped = LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL
	};

	*ruleset = -1;
	if (!has_scopes(abi))
		return (0);
	*ruleset = (int)syscall(SYS_landlock_create_ruleset, &set, sizeof(set),
	    0);
	if (*ruleset == -1)
		return (-1);
	if (allow(*ruleset, "/", LL_REFER) == 0)
		return (0);
	close(*ruleset);
	return (-1);
}

int
landlock_call_enter(unsigned abi, int ruleset)
{
	if (!has_scopes(abi))
		return (0);
	return ((int)syscall(SYS_landlock_restrict_self, ruleset, 0));
}
