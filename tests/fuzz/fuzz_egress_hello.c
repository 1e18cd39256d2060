/*
 * The ClientHello: the same in every split, and its bounds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hello.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* A second one, and what a server says. */
static void
again(const uint8_t *data, size_t size)
{
	struct hello whole, parts;
	const char *why;
	size_t used = 0, used_parts = 0, n;
	enum hello_result a, b = HELLO_MORE;
	enum hello_answer answer = ANSWER_MORE;

	a = hello_read_again(data, size, &whole, &used, &why);
	if ((why != NULL) != (a == HELLO_BAD))
		abort();
	for (n = 0; n < size && b == HELLO_MORE; n += 1 + n / 64)
		b = hello_read_again(data, n, &parts, &used_parts, &why);
	if (b == HELLO_MORE)
		b = hello_read_again(data, size, &parts, &used_parts, &why);
	if (a != b || (a == HELLO_MORE && size >= HELLO_EARLY_MAX +
	    HELLO_MAX) || (a == HELLO_OK && (used != used_parts ||
	    used > size)))
		abort();
	for (n = 0; n <= size && answer == ANSWER_MORE; n++)
		answer = hello_answer(data, n);
	if (answer != hello_answer(data, size) || (answer == ANSWER_MORE &&
	    size >= 43))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hello whole, parts;
	const char *why;
	size_t used = 0, used_parts = 0, n;
	enum hello_result a, b = HELLO_MORE;

	again(data, size);
	a = hello_read(data, size, &whole, &used, &why);
	if ((why != NULL) != (a == HELLO_BAD))
		abort();
	for (n = 0; n < size && b == HELLO_MORE; n += 1 + n / 64)
		b = hello_read(data, n, &parts, &used_parts, &why);
	if (b == HELLO_MORE)
		b = hello_read(data, size, &parts, &used_parts, &why);
	if (a != b || (a == HELLO_MORE && size >= HELLO_MAX))
		abort();
	if (a == HELLO_OK && (used != used_parts || used > size ||
	    used > HELLO_MAX || whole.has_name != parts.has_name ||
	    (whole.has_name && (whole.name.name[0] == '\0' ||
	    !host_same(&whole.name, &parts.name) ||
	    (!whole.ech && hello_check(&whole, &parts.name) !=
	    REFUSE_NOT)))))
		abort();
	return (0);
}
