/* Names of the host's users and groups become ids. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "log.h"

static int
host_user(const char *name, struct cf_ids *ids)
{
	struct passwd *pw;
	int n = GROUPS_MAX;

	if ((pw = getpwnam(name)) == NULL)
		return (-1);
	ids->uid = pw->pw_uid;
	ids->gid = pw->pw_gid;
	if (getgrouplist(name, pw->pw_gid, ids->groups, &n) == -1) {
		log_warnx("user %s is in more than %d groups", name,
		    GROUPS_MAX);
		return (-1);
	}
	ids->ngroups = (uint32_t)n;
	return (0);
}

static int
host_group(const char *name, gid_t *gid)
{
	struct group *gr;

	if ((gr = getgrnam(name)) == NULL)
		return (-1);
	*gid = gr->gr_gid;
	return (0);
}

const struct conf_names conf_host_names = { host_user, host_group };
