/* Words for why something failed, for whoever reports it. */
#ifndef MYELIN_SUPERVISORD_WHY_H
#define MYELIN_SUPERVISORD_WHY_H

#include "log.h"

#define WHY_MAX	256

/* Fills why; always returns -1, for the caller to return. */
int	why_say(char why[WHY_MAX], const char *, ...) __printflike(2, 3);

#endif
