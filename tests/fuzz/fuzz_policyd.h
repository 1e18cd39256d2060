/*
 * What policyd's fuzz targets share: the input is a list of packets, each
 * with a byte that says which fds go with it, sent by a hostile process on
 * one channel to the real handlers.
 *
 *	u8 fds (an index into a table), u16 length, the packet...
 */
#ifndef MYELIN_FUZZ_POLICYD_H
#define MYELIN_FUZZ_POLICYD_H

#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

/* One run: a fresh channel of this kind, all packets of the input. */
void	fuzz_policyd(enum channel_kind, const uint8_t *, size_t);

#endif
