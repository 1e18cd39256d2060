/*
 * The run block: what PID 1 of a neuron starts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "limits.h"
#include "protocol.h"
#include "runblock.h"

#define FLAGS_KNOWN	RUNBLOCK_F_PTY
#define ARGUMENT_MAX	131071	/* MAX_ARG_STRLEN, its NUL not counted */

static int
encodable(const struct runblock *rb)
{
	int body = (rb->flags & RUNBLOCK_F_CARRIES) != 0;

	return ((rb->flags & RUNBLOCK_F_CARRIES) != RUNBLOCK_F_CARRIES &&
	    rb->argc >= 1 && rb->argc <= (body ? 1 : RUNBLOCK_ARGS_MAX) &&
	    rb->envc <= RUNBLOCK_ENV_MAX &&
	    (rb->cwd == NULL || strlen(rb->cwd) < PATH_BYTES_MAX));
}

/* 0, or -1 with errno if a string is too long for execve(2). */
static int
put_strings(struct enc *enc, char *const *strings, uint32_t count)
{
	uint32_t i;

	enc_u32(enc, count);
	for (i = 0; i < count; i++) {
		if (strnlen(strings[i], ARGUMENT_MAX + 1) > ARGUMENT_MAX) {
			errno = E2BIG;
			return (-1);
		}
		enc_str(enc, strings[i]);
	}
	return (0);
}

int
runblock_encode(const struct runblock *rb)
{
	struct enc *enc;
	int fd = -1, saved;

	if (!encodable(rb)) {
		errno = E2BIG;
		return (-1);
	}
	if ((enc = enc_new(rb->flags & RUNBLOCK_F_CARRIES ?
	    RUNBLOCK_BODY_MAX : RUNBLOCK_MAX)) == NULL)
		return (-1);
	enc_u16(enc, RUNBLOCK_VERSION);
	enc_u32(enc, rb->flags);
	enc_str(enc, rb->cwd);
	if (put_strings(enc, rb->argv, rb->argc) == -1 ||
	    put_strings(enc, rb->env, rb->envc) == -1)
		goto out;
	if (rb->flags & RUNBLOCK_F_CARRIES)
		enc_bytes(enc, rb->args, rb->args_size);
	if (rb->flags & RUNBLOCK_F_PTY)
		enc_u32(enc, rb->pty);
	if ((errno = enc_error(enc)) != 0) {
		if (errno == EMSGSIZE)
			errno = E2BIG;
		goto out;
	}
	fd = enc_memfd(enc, "run");
out:
	saved = errno;
	enc_free(enc);
	errno = saved;
	return (fd);
}

/*
 * Reads a count and as many strings.  The array is made only when the bytes
 * that are left can hold so many: a count alone costs no memory.
 */
static char **
get_strings(struct dec *dec, uint32_t most, size_t each, uint32_t *count)
{
	char **strings;
	uint32_t i, n;

	n = dec_u32(dec);
	if (n > most || n > dec->left / sizeof(uint32_t))
		return (NULL);
	if ((strings = calloc((size_t)n + 1, sizeof(*strings))) == NULL)
		return (NULL);
	*count = n;
	for (i = 0; i < n; i++) {
		/* A failed read leaves NULL; dec_end() says so at the end. */
		if ((strings[i] = dec_strdup(dec, each)) == NULL)
			break;
	}
	return (strings);
}

static int
env_form_ok(const struct runblock *rb)
{
	uint32_t i;

	for (i = 0; i < rb->envc; i++) {
		if (rb->env[i][0] == '=' || strchr(rb->env[i], '=') == NULL)
			return (0);
	}
	return (1);
}

struct runblock *
runblock_decode(const uint8_t *bytes, size_t size, const char **why)
{
	struct runblock *rb;
	struct dec dec;

	*why = "out of memory";
	if ((rb = calloc(1, sizeof(*rb))) == NULL)
		return (NULL);
	dec_init(&dec, bytes, size);
	*why = "of another version";
	if (dec_u16(&dec) != RUNBLOCK_VERSION)
		goto bad;
	*why = "with flags that are not defined";
	if (((rb->flags = dec_u32(&dec)) & ~RUNBLOCK_FLAGS) != 0)
		goto bad;
	if ((rb->flags & RUNBLOCK_F_CARRIES) == RUNBLOCK_F_CARRIES)
		goto bad;
	*why = "over its bound";
	if (size > (rb->flags & RUNBLOCK_F_CARRIES ?
	    RUNBLOCK_BODY_MAX : RUNBLOCK_MAX))
		goto bad;
	*why = "cut, too long or malformed";
	if ((rb->cwd = dec_strdup(&dec, PATH_BYTES_MAX - 1)) == NULL)
		goto bad;
	rb->argv = get_strings(&dec, RUNBLOCK_ARGS_MAX, ARGUMENT_MAX,
	    &rb->argc);
	if (rb->argv == NULL)
		goto bad;
	rb->env = get_strings(&dec, RUNBLOCK_ENV_MAX, ARGUMENT_MAX, &rb->envc);
	if (rb->env == NULL)
		goto bad;
	if (rb->flags & RUNBLOCK_F_CARRIES)
		rb->args = dec_bytes(&dec, &rb->args_size);
	if (rb->flags & RUNBLOCK_F_PTY)
		rb->pty = dec_u32(&dec);
	if (dec_end(&dec) == -1)
		goto bad;
	*why = "with a terminal of an impossible size";
	if ((rb->flags & RUNBLOCK_F_PTY) && !PTY_SIZE_OK(rb->pty))
		goto bad;
	*why = "without a program";
	if (rb->argc == 0 || rb->argv[0][0] == '\0')
		goto bad;
	*why = "with more than a name";
	if ((rb->flags & RUNBLOCK_F_CARRIES) && rb->argc != 1)
		goto bad;
	*why = "with an environment entry that is not NAME=VALUE";
	if (!env_form_ok(rb))
		goto bad;
	*why = NULL;
	return (rb);
bad:
	runblock_free(rb);
	return (NULL);
}

static void
free_strings(char **strings, uint32_t count)
{
	uint32_t i;

	if (strings == NULL)
		return;
	for (i = 0; i < count; i++)
		free(strings[i]);
	free(strings);
}

void
runblock_free(struct runblock *rb)
{
	if (rb == NULL)
		return;
	free(rb->cwd);
	free_strings(rb->argv, rb->argc);
	free_strings(rb->env, rb->envc);
	free(rb);
}
