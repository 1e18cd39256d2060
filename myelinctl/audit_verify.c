/*
 * myelinctl audit verify: a running instance's log, a stopped one's, files.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "anchors.h"
#include "audit.h"
#include "chain.h"
#include "mark.h"
#include "without.h"
#include "words.h"

#define CURRENT		"audit.jsonl"
#define NAME_ROOM	48
#define NO_MARK		UINT64_MAX

/* What is known of the log from elsewhere. */
struct known {
	struct anchors	 anchors;
	uint64_t	 marked;	/* NO_MARK: there is none */
	char		 hash[CHAIN_HASH];
};

/* ---- the verdict ---- */

static void
say_whole(const struct chain *chain, const struct known *k)
{
	if (chain->first > 1)
		printf("What is here of the audit log is whole: records %"
		    PRIu64 " to %" PRIu64 ", the last\nhas the hash\n%s\n"
		    "Records before %" PRIu64 " are not here; the one before "
		    "has the hash\n%s\n", chain->first, chain->sequence,
		    chain->hash, chain->first, chain->before);
	else
		printf("The audit log is whole: %" PRIu64 " records, the last "
		    "has the hash\n%s\n", chain->sequence, chain->hash);
	if (k->anchors.n > 0)
		printf("%zu of %zu anchors name records that are here, and "
		    "all of these agree.\n", k->anchors.met, k->anchors.n);
}

static int
verified(const struct options *o, const struct chain *chain, int ok,
    const struct known *k)
{
	json_t *json;

	if (o->json) {
		json = json_pack("{s:b,s:I,s:I,s:s,s:o,s:I,s:s?}", "ok", ok,
		    "first", (json_int_t)chain->first,
		    "sequence", (json_int_t)chain->sequence, "hash",
		    chain->hash, "mark", k->marked == NO_MARK ? json_null() :
		    json_integer((json_int_t)k->marked),
		    "anchors", (json_int_t)k->anchors.met,
		    "why", ok ? NULL : chain->why);
		words_json(json);
		json_decref(json);
	} else if (ok)
		say_whole(chain, k);
	else {
		complain("the audit log is not whole: %s", chain->why);
		advise("records up to %" PRIu64 " are as they were written; "
		    "what comes after can't be trusted", chain->sequence);
	}
	return (ok ? 0 : EXIT_FAILED);
}

static int
check_record(struct chain *chain, const char *line, size_t len,
    struct known *k)
{
	if (chain_add(chain, line, len) == -1)
		return (-1);
	if (k->marked != NO_MARK &&
	    chain_mark(chain, k->marked, k->hash) == -1)
		return (-1);
	return (anchors_check(&k->anchors, chain));
}

static int
check_end(struct chain *chain, struct known *k)
{
	if (k->marked != NO_MARK && chain_end(chain, k->marked) == -1)
		return (-1);
	return (anchors_end(&k->anchors, chain));
}

/* ---- a running instance ---- */

/* 0, or -1 and chain->why. */
static int
check_page(struct chain *chain, const struct page *page, struct known *k)
{
	const json_t *line;
	size_t i;

	k->marked = page->head;
	snprintf(k->hash, sizeof(k->hash), "%s", page->head_hash);
	json_array_foreach(page->lines, i, line) {
		if (!json_is_string(line) || check_record(chain,
		    json_string_value(line), json_string_length(line),
		    k) == -1)
			return (-1);
	}
	return (0);
}

static int
verify_running(const struct options *o, struct known *k)
{
	struct page page = { .more = 1 };
	struct chain chain;
	uint64_t after = 0;
	int ok = 1;

	chain_init_from(&chain, CHAIN_FILES);
	while (ok && page.more) {
		if (audit_page(o, after, AUDIT_PAGE, &page) == -1)
			return (EXIT_FAILED);
		ok = check_page(&chain, &page, k) == 0;
		/* Never back: a page must not be asked for twice. */
		if (page.more && page.next <= after)
			page.more = 0;
		after = page.next;
		json_decref(page.json);
	}
	if (ok)
		ok = check_end(&chain, k) == 0;
	return (verified(o, &chain, ok, k));
}

/* ---- files ---- */

/*
 * Reads the records of a file.  0; 1 if the last line is not whole and may be
 * so; -1 and why.
 */
static int
check_file(struct chain *chain, FILE *f, int may_tear, struct known *k)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int ok = 0;

	while (ok == 0 && (len = getline(&line, &room, f)) > 0) {
		/* A power cut can leave half a record behind the mark. */
		if (line[len - 1] != '\n' && may_tear &&
		    chain->sequence >= k->marked) {
			ok = 1;
			break;
		}
		if (line[len - 1] == '\n')
			len--;
		if (check_record(chain, line, (size_t)len, k) == -1)
			ok = -1;
	}
	if (ok != -1 && ferror(f)) {
		snprintf(chain->why, sizeof(chain->why), "it can't be read: "
		    "%s", strerror(errno));
		ok = -1;
	}
	free(line);
	return (ok);
}

static int
check_named(struct chain *chain, int dir, const char *name, int may_tear,
    struct known *k)
{
	FILE *f = NULL;
	int fd, ok;

	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 || (f = fdopen(fd, "r")) == NULL) {
		snprintf(chain->why, sizeof(chain->why), "%s",
		    strerror(errno));
		chain_in(chain, name);
		if (fd != -1)
			close(fd);
		return (-1);
	}
	if ((ok = check_file(chain, f, may_tear, k)) == -1)
		chain_in(chain, name);
	fclose(f);
	return (ok);
}

/* ---- a stopped instance ---- */

struct old_files {
	uint64_t	*last;		/* ascending; each is in a file's name */
	size_t		 n;
};

static int
compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y ? -1 : *x > *y);
}

static int
old_files(int dir, struct old_files *old)
{
	struct dirent *entry;
	char again[NAME_ROOM];
	uint64_t last, *more;
	int fd, ok = 0;
	DIR *d;

	memset(old, 0, sizeof(*old));
	if ((fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return (-1);
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return (-1);
	}
	while (ok == 0 && (entry = readdir(d)) != NULL) {
		if (sscanf(entry->d_name, "audit.%20" SCNu64 ".jsonl",
		    &last) != 1)
			continue;
		snprintf(again, sizeof(again), "audit.%" PRIu64 ".jsonl",
		    last);
		if (strcmp(again, entry->d_name) != 0)
			continue;
		more = reallocarray(old->last, old->n + 1, sizeof(*more));
		if (more == NULL)
			ok = -1;
		else {
			old->last = more;
			old->last[old->n++] = last;
		}
	}
	closedir(d);
	if (old->n > 0)
		qsort(old->last, old->n, sizeof(*old->last), compare);
	return (ok);
}

/* 0; 1 with half a record at the end; -1 and why. */
static int
check_state(struct chain *chain, int dir, struct known *k)
{
	struct old_files old;
	char name[NAME_ROOM];
	size_t i;
	int ok = 0;

	if (old_files(dir, &old) == -1) {
		snprintf(chain->why, sizeof(chain->why), "the directory can't "
		    "be read: %s", strerror(errno));
		ok = -1;
	}
	for (i = 0; ok == 0 && i < old.n; i++) {
		snprintf(name, sizeof(name), "audit.%" PRIu64 ".jsonl",
		    old.last[i]);
		ok = check_named(chain, dir, name, 0, k);
		if (ok == 0 && chain->sequence != old.last[i] &&
		    !WITHOUT(audit_names)) {
			snprintf(chain->why, sizeof(chain->why), "%s: it ends "
			    "with record %" PRIu64 ", not with the one of its "
			    "name: its end was cut off, or it is another file",
			    name, chain->sequence);
			ok = -1;
		}
	}
	if (ok == 0)
		ok = check_named(chain, dir, CURRENT, 1, k);
	free(old.last);
	return (ok);
}

/* DIR is the state directory, or its "policy" itself. */
static int
open_state(const char *name)
{
	int dir, policy;

	dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir == -1) {
		complain("%s: %s", name, strerror(errno));
		advise("it is the state directory of an instance, like "
		    "/var/lib/myelin, or files of the log");
		return (-1);
	}
	policy = openat(dir, "policy", O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (policy == -1 && errno == EACCES) {
		complain("%s/policy: permission denied", name);
		advise("be root: it is Myelin's own");
		close(dir);
		return (-1);
	}
	if (policy == -1)
		return (dir);
	close(dir);
	return (policy);
}

static int
verify_stopped(const struct options *o, const char *name, struct known *k)
{
	struct chain chain;
	int dir, ok, status = EXIT_FAILED;

	if ((dir = open_state(name)) == -1)
		return (EXIT_FAILED);
	if (faccessat(dir, CURRENT, F_OK, AT_SYMLINK_NOFOLLOW) == -1) {
		complain("%s: %s: %s", name, CURRENT, strerror(errno));
		advise("it is the state directory of an instance, like "
		    "/var/lib/myelin");
		goto out;
	}
	if (mark_read(dir, name, &k->marked, k->hash) == -1)
		goto out;
	chain_init_from(&chain, CHAIN_FILES);
	ok = check_state(&chain, dir, k);
	if (ok == 1)
		complain("after record %" PRIu64 " there is half a record, as "
		    "a power cut leaves it", chain.sequence);
	if (ok != -1)
		ok = check_end(&chain, k);
	status = verified(o, &chain, ok != -1, k);
out:
	close(dir);
	return (status);
}

/* ---- files by themselves: taken away, or exported ---- */

struct part {
	const char	*name;
	uint64_t	 first;
};

static int
compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->first < y->first ? -1 : x->first > y->first);
}

static uint64_t
first_of(const char *name)
{
	uint64_t first = 0;
	FILE *f;

	if ((f = fopen(name, "re")) == NULL)
		return (0);
	if (fscanf(f, "{\"seq\":%20" SCNu64 ",", &first) != 1)
		first = 0;
	fclose(f);
	return (first);
}

static int
verify_files(const struct options *o, int argc, char **argv,
    struct known *k)
{
	struct chain chain;
	struct part *parts;
	int i, ok = 0;

	if ((parts = calloc((size_t)argc, sizeof(*parts))) == NULL) {
		complain("out of memory");
		return (EXIT_FAILED);
	}
	for (i = 0; i < argc; i++) {
		parts[i].name = argv[i];
		parts[i].first = first_of(argv[i]);
	}
	qsort(parts, (size_t)argc, sizeof(*parts), compare_parts);
	chain_init_from(&chain, CHAIN_PART);
	for (i = 0; i < argc && ok == 0; i++)
		ok = check_named(&chain, AT_FDCWD, parts[i].name, 0, k);
	if (ok == 0)
		ok = check_end(&chain, k);
	free(parts);
	return (verified(o, &chain, ok == 0, k));
}

int
audit_verify(const struct options *o, int argc, char **argv)
{
	struct known k = { .marked = NO_MARK };
	struct stat st;
	int status;

	if (anchors_read(&k.anchors, o) == -1) {
		complain("%s", k.anchors.why);
		advise("journalctl -u myelin -t myelin-policyd | myelinctl "
		    "audit verify --anchors -");
		status = EXIT_FAILED;
	} else if (argc == 0)
		status = verify_running(o, &k);
	else if (argc == 1 && (stat(argv[0], &st) == -1 ||
	    S_ISDIR(st.st_mode)))
		status = verify_stopped(o, argv[0], &k);
	else
		status = verify_files(o, argc, argv, &k);
	anchors_free(&k.anchors);
	return (status);
}
