/*
 * A host of known users and groups, so that the configuration's tests mean
 * the same everywhere.
 */
#ifndef MYELIN_CONF_FAKE_H
#define MYELIN_CONF_FAKE_H

#include <string.h>

#include "conf.h"

struct fake_id {
	const char	*name;
	uint32_t	 uid;
	uint32_t	 gid;
};

static inline int
fake_user(const char *name, struct cf_ids *ids)
{
	static const struct fake_id users[] = {
		{ "root", 0, 0 }, { "alice", 1000, 1000 }, { "bob", 1001, 100 }
	};
	size_t i;

	for (i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		if (strcmp(users[i].name, name) != 0)
			continue;
		ids->uid = users[i].uid;
		ids->gid = users[i].gid;
		ids->ngroups = 2;
		ids->groups[0] = users[i].gid;
		ids->groups[1] = 2001;
		return (0);
	}
	return (-1);
}

static inline int
fake_group(const char *name, gid_t *gid)
{
	static const struct fake_id groups[] = {
		{ "root", 0, 0 }, { "myelin", 0, 2001 },
		{ "myelin-operator", 0, 2002 }
	};
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		if (strcmp(groups[i].name, name) == 0) {
			*gid = groups[i].gid;
			return (0);
		}
	}
	return (-1);
}

static const struct conf_names fake_names = { fake_user, fake_group };

#endif
