/*
 * The program of a hook, which its run block carries.
 */
#ifndef MYELIN_NEUROND_INIT_HOOK_H
#define MYELIN_NEUROND_INIT_HOOK_H

/*
 * Its bytes in a sealed memfd that can be executed, without CLOEXEC: the
 * interpreter of a script opens it once more.  -1 with errno.
 */
int	run_hook_program(int block);

#endif
