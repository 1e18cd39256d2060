/*
 * SIGNAL and RESIZE: what the one who asked for a call may do to it while it
 * runs, beside ending it.
 */
#ifndef MYELIN_POLICYD_STEER_H
#define MYELIN_POLICYD_STEER_H

#include "imsg.h"

/* Handlers of the agent's channel (arg is the struct api). */
int	steer_on_signal(void *, struct imsg *);
int	steer_on_resize(void *, struct imsg *);

#endif
