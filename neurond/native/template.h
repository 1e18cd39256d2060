/*
 * The template mount namespace: built once by the spawner, copied by each
 * clone.  Nothing is ever created in it afterwards.
 */
#ifndef MYELIN_NATIVE_TEMPLATE_H
#define MYELIN_NATIVE_TEMPLATE_H

#include "plan.h"

/*
 * Puts this process into it and fills plan with its mounts.  0, or -1 with
 * errno and *step in words.
 */
int	template_build(struct plan *plan, const char **step);

#endif
