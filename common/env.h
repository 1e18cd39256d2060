/*
 * Guarantee C1: which names and values an environment entry may have.  Used
 * by judged when it builds a run block and once more by PID 1 of a neuron.
 */
#ifndef MYELIN_ENV_H
#define MYELIN_ENV_H

#include <stddef.h>

enum env_verdict {
	ENV_OK,
	ENV_BAD_NAME,		/* not [A-Za-z_][A-Za-z0-9_]*, or over 128 bytes */
	ENV_RESERVED,		/* pinned by Myelin: HOME, PATH, MYELIN_* ... */
	ENV_LOADER,		/* steers a loader or shell: LD_*, BASH_ENV ... */
	ENV_CREDENTIAL,		/* *_TOKEN, AWS_*, SSH_* ... */
	ENV_KEY_VALUE,		/* the value has the shape of a key */
	ENV_TOO_LONG,		/* value over 32 KiB */
	ENV_BAD_VALUE		/* no locale, time zone or terminal */
};

/* name of nlen bytes, not necessarily terminated; value terminated. */
enum env_verdict env_check(const char *name, size_t nlen, const char *value);

/*
 * 1 for LANG, LC_*, TZ and TERM: what every program may be told, and all that
 * a neuron may have of its host (guarantee D9).
 */
int	env_is_plain(const char *name, size_t nlen);

/* Words for a person: "is named like a credential". */
const char *env_verdict_words(enum env_verdict);

#endif
