/*
 * maker and spawner: executed once from the files that supervisord opened,
 * started again when they die.  Neurons live on meanwhile.
 */
#ifndef MYELIN_NEUROND_HELPER_H
#define MYELIN_NEUROND_HELPER_H

#include <sys/types.h>
#include <stdint.h>

#include "imsg.h"

enum helper_which { HELPER_MAKER, HELPER_SPAWNER, HELPER_COUNT };

/* The program's file, which is taken over; starts it if it doesn't run. */
void	helper_program(enum helper_which, int fd);
/* neuron-tool's file, which is taken over: each spawner started from now on
 * has a copy of it.  Comes before helper_program(). */
void	helper_tool(int fd);
/* Sends to it if it is up; frees the message.  0, or -1. */
int	helper_send(enum helper_which, struct imsg *);
int	helper_is_up(enum helper_which);
/* It owes an answer for too long: killed, and so started again. */
void	helper_hangs(enum helper_which);
/* 1 if both are. */
int	helpers_up(void);
/* HELPER rows for a policyd that is new. */
void	helpers_report(void);
/* A child was reaped; 1 if it was one of them. */
int	helper_reaped(pid_t);
void	helpers_stop(void);

#endif
