/*
 * Comparing planned mounts with real ones.
 */
#include <errno.h>
#include <string.h>

#include "inside.h"
#include "plan.h"
#include "without.h"

int
plan_add(struct plan *plan, const char *path, const char *type, unsigned flags)
{
	if (plan->n == PLAN_MAX) {
		errno = ENOSPC;
		return (-1);
	}
	plan->line[plan->n].path = path;
	plan->line[plan->n].type = type;
	plan->line[plan->n].flags = flags &
	    (IN_RO | IN_NOSUID | IN_NODEV | IN_NOEXEC | IN_IDMAP);
	plan->n++;
	return (0);
}

void
plan_only(struct plan *plan, const char *path)
{
	size_t len = strlen(path), i, n = 0;

	for (i = 0; i < plan->n; i++) {
		if (strncmp(plan->line[i].path, path, len) == 0 &&
		    (plan->line[i].path[len] == '\0' ||
		    plan->line[i].path[len] == '/'))
			plan->line[n++] = plan->line[i];
	}
	plan->n = n;
}

/* \040 and kin, in place: proc(5). */
static void
unescape(char *s)
{
	char *out = s;

	while (*s != '\0') {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' &&
		    s[2] >= '0' && s[2] <= '7' && s[3] >= '0' &&
		    s[3] <= '7') {
			*out++ = (char)((s[1] - '0') << 6 |
			    (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else
			*out++ = *s++;
	}
	*out = '\0';
}

static const struct {
	const char	*word;
	unsigned	 flag;
} words[] = {
	{ "ro",		IN_RO },
	{ "nosuid",	IN_NOSUID },
	{ "nodev",	IN_NODEV },
	{ "noexec",	IN_NOEXEC },
	{ "idmapped",	IN_IDMAP }
};

static unsigned
option_flags(char *options)
{
	unsigned flags = 0;
	char *word, *last = NULL;
	size_t i;

	for (word = strtok_r(options, ",", &last); word != NULL;
	    word = strtok_r(NULL, ",", &last))
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strcmp(word, words[i].word) == 0)
				flags |= words[i].flag;
	return (flags);
}

/*
 * Fields of one line: id, parent, device, root, mount point, options,
 * optional ones up to "-", type.  NULL if it is all right.
 */
static const char *
line_check(const struct plan *plan, char *line, unsigned char *seen)
{
	char *field[6], *word, *last = NULL;
	unsigned flags;
	size_t i;

	for (i = 0; i < 6; i++)
		if ((field[i] = strtok_r(i == 0 ? line : NULL, " ",
		    &last)) == NULL)
			return ("mountinfo: a line that is too short");
	while ((word = strtok_r(NULL, " ", &last)) != NULL &&
	    strcmp(word, "-") != 0)
		return ("a mount that is shared or a slave");
	if (word == NULL || (word = strtok_r(NULL, " ", &last)) == NULL)
		return ("mountinfo: a line without a type");
	unescape(field[4]);
	flags = option_flags(field[5]);
	for (i = 0; i < plan->n; i++)
		if (!seen[i] && strcmp(plan->line[i].path, field[4]) == 0)
			break;
	if (i == plan->n)
		return ("a mount that was not planned");
	seen[i] = 1;
	if (plan->line[i].type != NULL &&
	    strcmp(plan->line[i].type, word) != 0)
		return ("a mount of another type than planned");
	if ((flags & plan->line[i].flags) != plan->line[i].flags &&
	    !WITHOUT(mount_plan))
		return ("a mount with weaker flags than planned");
	return (NULL);
}

int
plan_check(const struct plan *plan, char *text, const char **why)
{
	unsigned char seen[PLAN_MAX] = { 0 };
	char *line, *last = NULL;
	size_t i;

	for (line = strtok_r(text, "\n", &last); line != NULL;
	    line = strtok_r(NULL, "\n", &last))
		if ((*why = line_check(plan, line, seen)) != NULL)
			return (-1);
	for (i = 0; i < plan->n; i++) {
		if (!seen[i]) {
			*why = "a planned mount is missing";
			return (-1);
		}
	}
	return (0);
}
