/*
 * A message's fields: putting them in, and getting them out of one that came.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "imsg_internal.h"

void
imsg_close_fds(int *fds, unsigned n)
{
	int saved = errno;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (fds[i] != -1)
			close(fds[i]);
		fds[i] = -1;
	}
	errno = saved;
}

void
imsg_free(struct imsg *m)
{
	if (m == NULL)
		return;
	imsg_close_fds(m->fds, m->nfds);
	enc_free(m->enc);
	free(m);
}

/* ---- building ---- */

struct imsg *
imsg_new(enum msg_type type)
{
	struct imsg *m;

	if ((m = calloc(1, sizeof(*m))) == NULL ||
	    (m->enc = enc_new(MSG_MAX_SIZE - IMSG_HEADER)) == NULL)
		fatal("imsg_new");
	m->type = type;
	return (m);
}

void
imsg_put_u8(struct imsg *m, uint8_t v)
{
	enc_u8(m->enc, v);
}

void
imsg_put_u16(struct imsg *m, uint16_t v)
{
	enc_u16(m->enc, v);
}

void
imsg_put_u32(struct imsg *m, uint32_t v)
{
	enc_u32(m->enc, v);
}

void
imsg_put_u64(struct imsg *m, uint64_t v)
{
	enc_u64(m->enc, v);
}

void
imsg_put_i32(struct imsg *m, int32_t v)
{
	enc_i32(m->enc, v);
}

void
imsg_put_str(struct imsg *m, const char *s)
{
	enc_str(m->enc, s);
}

void
imsg_put_bytes(struct imsg *m, const void *p, size_t size)
{
	enc_bytes(m->enc, p, size);
}

void
imsg_put_raw(struct imsg *m, const void *p, size_t size)
{
	enc_raw(m->enc, p, size);
}

void
imsg_put_fd(struct imsg *m, int fd)
{
	if (m->nfds == MSG_MAX_FDS_NEURON) {
		close(fd);
		/* Makes channel_send refuse it: no row allows that many. */
		enc_raw(m->enc, NULL, MSG_MAX_SIZE);
		return;
	}
	m->fds[m->nfds++] = fd;
}

/* ---- reading ---- */

enum msg_type
imsg_type(const struct imsg *m)
{
	return (m->type);
}

uint8_t
imsg_get_u8(struct imsg *m)
{
	return (dec_u8(&m->dec));
}

uint16_t
imsg_get_u16(struct imsg *m)
{
	return (dec_u16(&m->dec));
}

uint32_t
imsg_get_u32(struct imsg *m)
{
	return (dec_u32(&m->dec));
}

uint64_t
imsg_get_u64(struct imsg *m)
{
	return (dec_u64(&m->dec));
}

int32_t
imsg_get_i32(struct imsg *m)
{
	return (dec_i32(&m->dec));
}

void
imsg_get_str(struct imsg *m, char *dst, size_t size)
{
	dec_str(&m->dec, dst, size);
}

const uint8_t *
imsg_get_bytes(struct imsg *m, size_t *size)
{
	return (dec_bytes(&m->dec, size));
}

void
imsg_get_raw(struct imsg *m, void *dst, size_t size)
{
	dec_raw(&m->dec, dst, size);
}

int
imsg_end(struct imsg *m)
{
	m->ended = 1;
	return (dec_end(&m->dec));
}

unsigned
imsg_fds(const struct imsg *m)
{
	return (m->nfds);
}

int
imsg_claim_fd(struct imsg *m, unsigned i)
{
	int fd;

	if (i >= m->nfds)
		return (-1);
	fd = m->fds[i];
	m->fds[i] = -1;
	return (fd);
}
