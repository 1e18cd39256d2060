/* The hooks of the configuration, each as a run block that is made once. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sha2.h>

#include "codec.h"
#include "hook.h"
#include "log.h"
#include "proc.h"
#include "protocol.h"
#include "runblock.h"

#define PROGRAM_MAX	(17 * 1024 * 1024)	/* supervisord's bound is less */

struct hook {
	char		 name[NAME_BYTES_MAX];
	struct where	 where;
	int		 block;
};

struct hooks {
	struct hook	 v[HOOKS_MAX];
	size_t		 n;
	uint8_t		 digest[SHA256_DIGEST_LENGTH];
};

static struct hooks	 current, coming;
static uint64_t		 set;

static void
hooks_free(struct hooks *h)
{
	size_t i;

	for (i = 0; i < h->n; i++) {
		free(h->v[i].where.file);
		if (h->v[i].block != -1)
			close(h->v[i].block);
	}
	memset(h, 0, sizeof(*h));
}

/* The block that runs these bytes; -1 with errno. */
static int
make_block(int program, const char *name, SHA2_CTX *sha)
{
	char argv0[NAME_BYTES_MAX], *argv[] = { argv0, NULL };
	struct runblock rb = { .flags = RUNBLOCK_F_HOOK,
	    .argc = 1, .argv = argv };
	const uint8_t *bytes;
	size_t size;
	int fd;

	strlcpy(argv0, name, sizeof(argv0));
	if ((bytes = memfd_map(program, PROGRAM_MAX, &size)) == NULL)
		return (-1);
	SHA256Update(sha, (const uint8_t *)name, strlen(name) + 1);
	SHA256Update(sha, bytes, size);
	rb.args = bytes;
	rb.args_size = size;
	fd = runblock_encode(&rb);
	memfd_unmap(bytes, size);
	return (fd);
}

static int
hook_take(struct slice *s, const struct cf_hook *line, SHA2_CTX *sha)
{
	struct hook *hook = &coming.v[coming.n];
	char file[NAME_BYTES_MAX + 8];
	int program;

	snprintf(file, sizeof(file), "hook/%s", line->name);
	if ((program = slice_claim(s, file)) == -1) {
		if (proc_flags() & PROC_F_CHECK)
			return (0);
		return (slice_bad(s, &line->where, "hook \"%s\": its program "
		    "is missing", line->name));
	}
	strlcpy(hook->name, line->name, sizeof(hook->name));
	hook->block = make_block(program, line->name, sha);
	close(program);
	if (hook->block == -1)
		return (slice_bad(s, &line->where, "hook \"%s\": %s",
		    line->name, strerrordesc_np(errno)));
	hook->where.line = line->where.line;
	if ((hook->where.file = strdup(line->where.file)) == NULL)
		fatal("hook");
	coming.n++;
	return (0);
}

int
hooks_config(struct slice *s)
{
	SHA2_CTX sha;
	size_t i;

	hooks_abort();
	SHA256Init(&sha);
	for (i = 0; i < s->nhooks; i++) {
		if (hook_take(s, &s->hooks[i], &sha) == -1) {
			hooks_abort();
			return (-1);
		}
	}
	SHA256Final(coming.digest, &sha);
	return (0);
}

void
hooks_commit(void)
{
	if (set == 0 || memcmp(current.digest, coming.digest,
	    sizeof(current.digest)) != 0)
		set++;
	hooks_free(&current);
	current = coming;
	memset(&coming, 0, sizeof(coming));
}

void
hooks_abort(void)
{
	hooks_free(&coming);
}

size_t
hooks_count(void)
{
	return (current.n);
}

uint64_t
hooks_set(void)
{
	return (set);
}

const char *
hook_name(size_t i)
{
	return (current.v[i].name);
}

const struct where *
hook_where(size_t i)
{
	return (&current.v[i].where);
}

int
hook_block(size_t i)
{
	return (fcntl(current.v[i].block, F_DUPFD_CLOEXEC, 3));
}
