/*
 * myelinctl audit export: the log, or a part of it, as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit.h"
#include "words.h"

struct range {
	struct audit_limit since, until;
	uint64_t	 first, last;	/* that were written */
	int		 begun;
};

int
audit_limit_read(const struct options *o, const char *option,
    const char *text, struct audit_limit *limit)
{
	char *end;

	memset(limit, 0, sizeof(*limit));
	if ((limit->text = text) == NULL)
		return (0);
	if (text[strspn(text, "0123456789")] == '\0') {
		errno = 0;
		limit->sequence = strtoull(text, &end, 10);
		if (*text != '\0' && errno == 0 && limit->sequence != 0)
			return (0);
	} else if (strlen(text) >= 10 &&
	    text[strspn(text, "0123456789-T:.Z")] == '\0' &&
	    text[4] == '-' && text[7] == '-' &&
	    (text[10] == '\0' || text[10] == 'T'))
		return (0);
	return (usage_error(o, "%s %s: not a record's number, or a time in "
	    "UTC like 2026-01-31 or 2026-01-31T08:30", option, text));
}

void
audit_line_time(const char *line, char when[AUDIT_TIME])
{
	if (sscanf(line, "{\"seq\":%*u,\"time\":\"%31[0-9TZ:.-]", when) != 1)
		when[0] = '\0';
}

int
audit_limit_compare(const struct audit_limit *limit, uint64_t sequence,
    const char *when)
{
	size_t n = strlen(limit->text);

	if (limit->sequence != 0)
		return (sequence < limit->sequence ? -1 :
		    sequence > limit->sequence);
	/* "2026-01-31" is all of that day. */
	if (n > 0 && limit->text[n - 1] == 'Z')
		n--;
	return (strncmp(when, limit->text, n));
}

/* 0; 1 where the range has ended; -1 with errno. */
static int
export_line(struct range *range, const json_t *line, FILE *to)
{
	const char *text = json_string_value(line);
	uint64_t sequence = audit_line_sequence(line);
	char when[AUDIT_TIME];

	if (text == NULL)
		return (0);
	audit_line_time(text, when);
	if (!range->begun && range->since.text != NULL &&
	    audit_limit_compare(&range->since, sequence, when) < 0)
		return (0);
	if (range->until.text != NULL &&
	    audit_limit_compare(&range->until, sequence, when) > 0)
		return (1);
	if (!range->begun)
		range->first = sequence;
	range->begun = 1;
	range->last = sequence;
	if (fwrite(text, 1, json_string_length(line), to) !=
	    json_string_length(line) || fputc('\n', to) == EOF)
		return (-1);
	return (0);
}

/* 0, or -1 after complaining. */
static int
export_all(const struct options *o, struct range *range, FILE *to,
    const char *name)
{
	struct page page = { .more = 1 };
	const json_t *line;
	uint64_t after = 0;
	size_t i;
	int r = 0;

	if (range->since.sequence != 0)
		after = range->since.sequence - 1;
	while (r == 0 && page.more) {
		if (audit_page(o, after, AUDIT_PAGE, &page) == -1)
			return (-1);
		json_array_foreach(page.lines, i, line) {
			if ((r = export_line(range, line, to)) != 0)
				break;
		}
		if (page.next <= after)
			page.more = 0;
		after = page.next;
		json_decref(page.json);
	}
	if (r == -1 || fflush(to) == EOF) {
		complain("%s: %s", name, strerror(errno));
		return (-1);
	}
	return (0);
}

/* It is for its owner alone, and none that is there is written over. */
static FILE *
open_new(const char *name)
{
	FILE *f = NULL;
	int fd;

	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd == -1 || (f = fdopen(fd, "w")) == NULL) {
		complain("%s: %s", name, strerror(errno));
		if (fd != -1)
			close(fd);
	}
	return (f);
}

int
audit_export(const struct options *o, const char *name)
{
	int to_stdout = strcmp(name, "-") == 0, r;
	struct range range;
	FILE *to = stdout;

	memset(&range, 0, sizeof(range));
	if ((r = audit_limit_read(o, "--since", o->since, &range.since)) != 0 ||
	    (r = audit_limit_read(o, "--until", o->until, &range.until)) != 0)
		return (r);
	if (!to_stdout && (to = open_new(name)) == NULL)
		return (EXIT_FAILED);
	r = export_all(o, &range, to, name);
	if (!to_stdout) {
		if (r == 0 && fsync(fileno(to)) == -1 && errno != EINVAL) {
			complain("%s: %s", name, strerror(errno));
			r = -1;
		}
		fclose(to);
		/* Half of it is not what was asked for. */
		if (r == -1)
			unlink(name);
	}
	if (r == -1)
		return (EXIT_FAILED);
	if (!range.begun)
		complain("no record is in that range");
	else if (!to_stdout)
		printf("%s: records %" PRIu64 " to %" PRIu64 "\n", name,
		    range.first, range.last);
	return (0);
}
