/*
 * The tool fetch.
 */
#include "run_int.h"

void
run_fetch(struct run *r, const char *arguments, size_t size)
{
	(void)arguments;
	(void)size;
	run_error(r, refusal_word(REFUSE_OFF), refusal_sentence(REFUSE_OFF),
	    "");
}

void
run_fetch_written(struct run *r)
{
	(void)r;
}

void
run_fetch_free(struct run *r)
{
	(void)r;
}

void
run_trust(const char *pem, size_t size)
{
	(void)pem;
	(void)size;
}
