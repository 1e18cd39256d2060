/*
 * Explicit encoding: fixed widths, little-endian, length-prefixed strings.
 * Messages (imsg.h), configuration slices (slice.h) and run blocks
 * (runblock.h) are all made of these.
 *
 * Both sides keep a sticky error, checked once at the end, so that a decoder
 * reads like the list of its fields.
 */
#ifndef MYELIN_CODEC_H
#define MYELIN_CODEC_H

#include <stddef.h>
#include <stdint.h>

struct enc;

/* A growing buffer of at most max bytes.  NULL only when memory is out. */
struct enc	*enc_new(size_t max);
void		 enc_free(struct enc *);

void	enc_u8(struct enc *, uint8_t);
void	enc_u16(struct enc *, uint16_t);
void	enc_u32(struct enc *, uint32_t);
void	enc_u64(struct enc *, uint64_t);
void	enc_i32(struct enc *, int32_t);
/* A u32 length and the bytes; NULL is the empty string. */
void	enc_str(struct enc *, const char *);
void	enc_bytes(struct enc *, const void *, size_t);
/* The bytes alone, for fields of fixed size. */
void	enc_raw(struct enc *, const void *, size_t);

/* 0, or the first error: EMSGSIZE (over max) or ENOMEM. */
int	enc_error(const struct enc *);
const uint8_t *enc_data(const struct enc *);
size_t	enc_size(const struct enc *);

/*
 * Puts the bytes into a new memfd, sealed WRITE, SHRINK, GROW and SEAL, with
 * CLOEXEC.  Returns the fd, or -1 with errno set.
 */
int	enc_memfd(const struct enc *, const char *name);
int	memfd_sealed(const char *name, const void *, size_t);

/*
 * A cursor over bytes that somebody else owns.  After the first error every
 * read gives 0 or the empty string, and dec_end() says -1.
 */
struct dec {
	const uint8_t	*p;
	size_t		 left;
	int		 error;
};

void	dec_init(struct dec *, const void *, size_t);
uint8_t	dec_u8(struct dec *);
uint16_t dec_u16(struct dec *);
uint32_t dec_u32(struct dec *);
uint64_t dec_u64(struct dec *);
int32_t	dec_i32(struct dec *);
/*
 * Copies a string into dst with its NUL.  A string that does not fit in size
 * bytes or holds a NUL is an error; nothing is ever truncated.
 */
void	dec_str(struct dec *, char *dst, size_t size);
/* The same into fresh memory, at most max bytes; NULL after an error. */
char	*dec_strdup(struct dec *, size_t max);
/* A view of a length-prefixed field: valid as long as the bytes are. */
const uint8_t *dec_bytes(struct dec *, size_t *size);
void	dec_raw(struct dec *, void *dst, size_t size);
/* 0 if nothing failed and nothing is left, else -1. */
int	dec_end(const struct dec *);

/*
 * Maps or, if it is small, copies a sealed memfd for reading (the seals are the
 * caller's to have checked; dispatch does) if it holds at most max bytes.
 * *size may be 0, the address is then not NULL but must not be read.  Returns
 * NULL with errno set on failure; unmap with memfd_unmap().
 */
const uint8_t *memfd_map(int fd, size_t max, size_t *size);
void	memfd_unmap(const uint8_t *, size_t);

#endif
