/*
 * Sealing what is kept at rest, with a key from the host's credential store:
 * supervisord reads it there and hands it over as the slice's file "seal".
 * Without one nothing is sealed, and nothing that needs sealing is kept.
 */
#ifndef MYELIN_POLICYD_SEAL_H
#define MYELIN_POLICYD_SEAL_H

#include <stddef.h>
#include <stdint.h>

#define SEAL_KEY_ID	17	/* 16 hexadecimal digits and their NUL */
#define SEAL_NONCE	12
#define SEAL_TAG	16
#define SEAL_LEAST	32	/* bytes of a credential */
#define SEAL_MOST	4096

/* Before the drop: the library's own set-up.  0, or -1 after saying why. */
int	seal_preload(void);
/*
 * Takes the key from an open file, which it closes; -1: there is none.  0, or
 * -1 after saying what is wrong with it: then there is no key.
 */
int	seal_key(int fd);
void	seal_forget(void);
/* Which key it is, or NULL without one. */
const char *seal_key_id(void);

/*
 * AES-256-GCM of n bytes, bound to a name.  out has room for n + SEAL_TAG.
 * 0, or -1.
 */
int	seal_close(const char *name, const uint8_t *, size_t n,
	    uint8_t nonce[SEAL_NONCE], uint8_t *out);
/* n with its tag; out has room for n - SEAL_TAG.  -1: not ours, or changed. */
int	seal_open(const char *name, const uint8_t *, size_t n,
	    const uint8_t nonce[SEAL_NONCE], uint8_t *out);

#endif
