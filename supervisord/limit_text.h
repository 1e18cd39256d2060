/* A limit's value as a person, and the configuration, would write it. */
#ifndef MYELIN_LIMIT_TEXT_H
#define MYELIN_LIMIT_TEXT_H

#include <stdint.h>

#include "limits.h"

#define LIMIT_TEXT_MAX	32

/* Fills and returns text: "1G", "60s", "1.5", "512". */
const char *limit_text(enum limit_unit, uint64_t value,
	    char text[LIMIT_TEXT_MAX]);

#endif
