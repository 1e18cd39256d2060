/* Words for why something failed. */
#include <stdarg.h>
#include <stdio.h>

#include "why.h"

int
why_say(char why[WHY_MAX], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, WHY_MAX, fmt, ap);
	va_end(ap);
	return (-1);
}
