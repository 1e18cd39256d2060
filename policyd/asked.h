/*
 * What ASK and ASK_ONCE say, decoded.
 */
#ifndef MYELIN_POLICYD_ASKED_H
#define MYELIN_POLICYD_ASKED_H

#include <stdint.h>

#include "decide.h"
#include "ids.h"
#include "protocol.h"

struct asked {
	uint32_t	 request;
	uint64_t	 handle;
	uint32_t	 timeout;
	uint8_t		 in;
	uint8_t		 flags;
	char		 session[ID_SIZE];	/* ASK's */
	struct wanted	 wanted;		/* ASK_ONCE's */
	char		 tool[NAME_BYTES_MAX];
	char		 key[IDEMPOTENCY_MAX + 1];	/* "" for none */
	const char	*bad;		/* the string that was too long */
};

#endif
