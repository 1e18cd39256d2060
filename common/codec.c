/*
 * Encoding and decoding of fixed-width numbers and length-prefixed strings.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL	0x0008U		/* Linux 6.3, memfd_create(2) */
#endif

#define COPY_MOST	(16 * 1024)	/* bytes of a memfd that are copied */
#define FIRST_READ	2048	/* bytes; at most COPY_MOST */

#define SEALS	(F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct enc {
	uint8_t	*data;
	size_t	 size;
	size_t	 room;
	size_t	 max;
	int	 error;
};

struct enc *
enc_new(size_t max)
{
	struct enc *e;

	if ((e = calloc(1, sizeof(*e))) == NULL)
		return (NULL);
	e->max = max;
	return (e);
}

void
enc_free(struct enc *e)
{
	int saved = errno;

	if (e == NULL)
		return;
	free(e->data);
	free(e);
	errno = saved;
}

/* Room for size more bytes, or NULL with the error kept. */
static uint8_t *
enc_grow(struct enc *e, size_t size)
{
	size_t room;
	uint8_t *p;

	if (e->error != 0)
		return (NULL);
	if (size > e->max || e->size > e->max - size) {
		e->error = EMSGSIZE;
		return (NULL);
	}
	if (e->size + size > e->room) {
		room = e->room == 0 ? 256 : e->room * 2;
		while (room < e->size + size)
			room *= 2;
		if (room > e->max)
			room = e->max;
		if ((p = realloc(e->data, room)) == NULL) {
			e->error = ENOMEM;
			return (NULL);
		}
		e->data = p;
		e->room = room;
	}
	p = e->data + e->size;
	e->size += size;
	return (p);
}

static void
enc_number(struct enc *e, uint64_t v, size_t width)
{
	uint8_t *p;
	size_t i;

	if ((p = enc_grow(e, width)) == NULL)
		return;
	for (i = 0; i < width; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

void
enc_u8(struct enc *e, uint8_t v)
{
	enc_number(e, v, 1);
}

void
enc_u16(struct enc *e, uint16_t v)
{
	enc_number(e, v, 2);
}

void
enc_u32(struct enc *e, uint32_t v)
{
	enc_number(e, v, 4);
}

void
enc_u64(struct enc *e, uint64_t v)
{
	enc_number(e, v, 8);
}

void
enc_i32(struct enc *e, int32_t v)
{
	enc_number(e, (uint32_t)v, 4);
}

void
enc_raw(struct enc *e, const void *data, size_t size)
{
	uint8_t *p;

	if (size > 0 && (p = enc_grow(e, size)) != NULL)
		memcpy(p, data, size);
}

void
enc_bytes(struct enc *e, const void *data, size_t size)
{
	if (size > UINT32_MAX) {
		if (e->error == 0)
			e->error = EMSGSIZE;
		return;
	}
	enc_u32(e, (uint32_t)size);
	enc_raw(e, data, size);
}

void
enc_str(struct enc *e, const char *s)
{
	enc_bytes(e, s, s == NULL ? 0 : strlen(s));
}

int
enc_error(const struct enc *e)
{
	return (e->error);
}

const uint8_t *
enc_data(const struct enc *e)
{
	return (e->data);
}

size_t
enc_size(const struct enc *e)
{
	return (e->size);
}

/* Its offset stays where it is: whoever reads it begins at the front. */
static int
write_all(int fd, const uint8_t *p, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pwrite(fd, p + done, size - done, (off_t)done);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return (-1);
		done += (size_t)n;
	}
	return (0);
}

int
memfd_sealed(const char *name, const void *data, size_t size)
{
	int fd, saved;

	/* A kernel that knows the flag makes it non-executable as well. */
	fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	if (fd == -1 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd == -1)
		return (-1);
	if (write_all(fd, data, size) == -1 ||
	    fcntl(fd, F_ADD_SEALS, SEALS) == -1) {
		saved = errno;
		close(fd);
		errno = saved;
		return (-1);
	}
	return (fd);
}

int
enc_memfd(const struct enc *e, const char *name)
{
	if (e->error != 0) {
		errno = e->error;
		return (-1);
	}
	return (memfd_sealed(name, e->data, e->size));
}

void
dec_init(struct dec *d, const void *data, size_t size)
{
	d->p = data;
	d->left = size;
	d->error = 0;
}

static const uint8_t *
dec_take(struct dec *d, size_t size)
{
	const uint8_t *p = d->p;

	if (d->error != 0 || size > d->left) {
		d->error = 1;
		return (NULL);
	}
	d->p += size;
	d->left -= size;
	return (p);
}

static uint64_t
dec_number(struct dec *d, size_t width)
{
	const uint8_t *p;
	uint64_t v = 0;
	size_t i;

	if ((p = dec_take(d, width)) == NULL)
		return (0);
	for (i = 0; i < width; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return (v);
}

uint8_t
dec_u8(struct dec *d)
{
	return ((uint8_t)dec_number(d, 1));
}

uint16_t
dec_u16(struct dec *d)
{
	return ((uint16_t)dec_number(d, 2));
}

uint32_t
dec_u32(struct dec *d)
{
	return ((uint32_t)dec_number(d, 4));
}

uint64_t
dec_u64(struct dec *d)
{
	return (dec_number(d, 8));
}

int32_t
dec_i32(struct dec *d)
{
	return ((int32_t)dec_u32(d));
}

const uint8_t *
dec_bytes(struct dec *d, size_t *size)
{
	const uint8_t *p;

	*size = dec_u32(d);
	if ((p = dec_take(d, *size)) == NULL)
		*size = 0;
	return (p);
}

void
dec_raw(struct dec *d, void *dst, size_t size)
{
	const uint8_t *p;

	if ((p = dec_take(d, size)) == NULL)
		memset(dst, 0, size);
	else if (size > 0)
		memcpy(dst, p, size);
}

void
dec_str(struct dec *d, char *dst, size_t size)
{
	const uint8_t *p;
	size_t len;

	dst[0] = '\0';
	if ((p = dec_bytes(d, &len)) == NULL)
		return;
	if (len >= size || memchr(p, '\0', len) != NULL) {
		d->error = 1;
		return;
	}
	memcpy(dst, p, len);
	dst[len] = '\0';
}

char *
dec_strdup(struct dec *d, size_t max)
{
	const uint8_t *p;
	size_t len;
	char *s;

	if ((p = dec_bytes(d, &len)) == NULL)
		return (NULL);
	if (len > max || memchr(p, '\0', len) != NULL ||
	    (s = malloc(len + 1)) == NULL) {
		d->error = 1;
		return (NULL);
	}
	memcpy(s, p, len);
	s[len] = '\0';
	return (s);
}

int
dec_end(const struct dec *d)
{
	return (d->error != 0 || d->left != 0 ? -1 : 0);
}

/* A mapping and its faults cost more than a copy of what is small. */
static const uint8_t *
copy_of(int fd, size_t size)
{
	uint8_t *p = malloc(size);
	size_t have = 0;
	ssize_t n = 1;

	while (p != NULL && have < size && n > 0) {
		n = pread(fd, p + have, size - have, (off_t)have);
		if (n > 0)
			have += (size_t)n;
	}
	if (have == size)
		return (p);
	free(p);
	if (n == 0)
		errno = EIO;
	return (NULL);
}

/*
 * What is shorter than a first read, as nearly all are: its size is known by
 * that.  1 if it is, with its copy or NULL and errno.
 */
static int
copy_short(int fd, size_t max, size_t *size, uint8_t **copy)
{
	uint8_t first[FIRST_READ];
	ssize_t n;

	if ((n = pread(fd, first, sizeof(first), 0)) <= 0 ||
	    n == sizeof(first))
		return (0);
	*size = (size_t)n;
	*copy = NULL;
	if (*size > max)
		errno = EFBIG;
	else if ((*copy = malloc(*size)) != NULL)
		memcpy(*copy, first, *size);
	return (1);
}

const uint8_t *
memfd_map(int fd, size_t max, size_t *size)
{
	static const uint8_t nothing[1];
	struct stat st;
	uint8_t *copy;
	void *p;

	if (copy_short(fd, max, size, &copy))
		return (copy);
	if (fstat(fd, &st) == -1)
		return (NULL);
	if (st.st_size < 0 || (uint64_t)st.st_size > max) {
		errno = EFBIG;
		return (NULL);
	}
	*size = (size_t)st.st_size;
	if (*size == 0)
		return (nothing);
	if (*size <= COPY_MOST)
		return (copy_of(fd, *size));
	/* A shared mapping of a write-sealed memfd is EPERM before 6.7. */
	p = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	return (p == MAP_FAILED ? NULL : p);
}

void
memfd_unmap(const uint8_t *p, size_t size)
{
	if (p != NULL && size > 0 && size <= COPY_MOST)
		free((void *)(uintptr_t)p);
	else if (p != NULL && size > 0)
		munmap((void *)(uintptr_t)p, size);
}
