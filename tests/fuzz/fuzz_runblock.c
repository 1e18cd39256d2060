/*
 * Run blocks, environment entries and the redactor: all that PID 1 of a
 * neuron reads.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "protocol.h"
#include "redact.h"
#include "runblock.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runblock *rb;
	const char *why;
	char *text;
	uint32_t i;

	if ((rb = runblock_decode(data, size, &why)) != NULL) {
		for (i = 0; i < rb->envc; i++)
			env_check(rb->env[i], strcspn(rb->env[i], "="),
			    strchr(rb->env[i], '=') + 1);
		if (((rb->flags & RUNBLOCK_F_CARRIES) &&
		    rb->args_size > size) ||
		    ((rb->flags & RUNBLOCK_F_PTY) && !PTY_SIZE_OK(rb->pty)))
			abort();
		runblock_free(rb);
	}
	if ((text = malloc(size + 1)) == NULL)
		return (0);
	memcpy(text, data, size);
	text[size] = '\0';
	size = strlen(text);
	redact_has_key(text);
	redact_secret_name(text, size);
	redact_line(text);
	if (strlen(text) > size)
		abort();
	free(text);
	return (0);
}
