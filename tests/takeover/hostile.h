/*
 * Messages of a policyd that was taken over.
 */
#ifndef MYELIN_TAKEOVER_HOSTILE_H
#define MYELIN_TAKEOVER_HOSTILE_H

/* Sends the message of that name on an API channel; none if it has no row. */
void	hostile_send(int channel, const char *name);

#endif
