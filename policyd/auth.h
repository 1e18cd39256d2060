/*
 * Tokens that apid passes on unread: who stands behind one.
 */
#ifndef MYELIN_POLICYD_AUTH_H
#define MYELIN_POLICYD_AUTH_H

#include "imsg.h"

/* AUTH (arg is the agent's struct api). */
int	auth_on_auth(void *, struct imsg *);
/* A key is good no more: the connections that came with it are told. */
void	auth_key_gone(const char *id);

/*
 * Counts a wrong token from there: 0, or the seconds until one more of them
 * is answered by 401.
 */
uint32_t auth_failed(const char *source);

#endif
