/*
 * The channel to policyd.
 */
#ifndef MYELIN_NEUROND_LAUNCH_H
#define MYELIN_NEUROND_LAUNCH_H

struct imsg;

/* A new end, in place of the old one. */
void	launch_plumb(int fd);
/* 1 while policyd is there. */
int	launch_is_up(void);
/* Frees the message where there is no channel. */
void	launch_send(struct imsg *);

#endif
