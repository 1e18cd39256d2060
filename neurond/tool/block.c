/*
 * From the run block to the arguments.
 *
 * PID 1 has decoded the block as a whole (runblock.h) and refused what is
 * wrong with it.  Here only its last field is wanted, which may have many
 * megabytes, so the fields before it are stepped over and nothing is copied.
 */
#include <stddef.h>

#include "block.h"
#include "codec.h"
#include "runblock.h"

#ifndef RUNBLOCK_F_BODY
#define RUNBLOCK_F_BODY	0x1
#endif

static int
step_over(struct dec *dec, uint32_t most)
{
	uint32_t n = dec_u32(dec);
	size_t size;

	if (n > most)
		return (-1);
	for (; n > 0 && !dec->error; n--)
		(void)dec_bytes(dec, &size);
	return (0);
}

json_t *
block_decode(const uint8_t *bytes, size_t size, const char **why)
{
	const uint8_t *text;
	struct dec dec;
	json_t *args;
	size_t len;

	dec_init(&dec, bytes, size);
	*why = "the run block is of another version";
	if (dec_u16(&dec) != RUNBLOCK_VERSION)
		return (NULL);
	*why = "the run block is not one of a body";
	if (dec_u32(&dec) != RUNBLOCK_F_BODY)
		return (NULL);
	*why = "the run block is cut or malformed";
	(void)dec_bytes(&dec, &len);
	if (step_over(&dec, RUNBLOCK_ARGS_MAX) == -1 ||
	    step_over(&dec, RUNBLOCK_ENV_MAX) == -1)
		return (NULL);
	text = dec_bytes(&dec, &len);
	if (dec_end(&dec) == -1)
		return (NULL);
	*why = "the arguments are no JSON object";
	args = json_loadb((const char *)text, len,
	    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	if (args != NULL && !json_is_object(args)) {
		json_decref(args);
		args = NULL;
	}
	return (args);
}

json_t *
block_arguments(int fd, const char **why)
{
	const uint8_t *bytes;
	json_t *args;
	size_t size;

	*why = "the run block can't be read";
	if ((bytes = memfd_map(fd, BLOCK_BYTES_MAX, &size)) == NULL)
		return (NULL);
	args = block_decode(bytes, size, why);
	memfd_unmap(bytes, size);
	return (args);
}
