/*
 * Telling systemd, by the protocol that sd_notify(3) documents: one datagram
 * to the socket named in NOTIFY_SOCKET.  libsystemd would bring liblzma,
 * libzstd, libgcrypt and more into a process that is root, for these lines.
 */
#ifndef MYELIN_NOTIFY_H
#define MYELIN_NOTIFY_H

#include "log.h"

/* Sends "READY=1" and the like; nothing without NOTIFY_SOCKET. */
void	notify_send(const char *, ...) __printflike(1, 2);

/* How often WATCHDOG=1 must be sent, in ms; 0: nobody asked for it. */
int	notify_watchdog(void);

#endif
