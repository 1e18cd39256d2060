/*
 * Those who follow the audit log on the operator's socket.
 */
#ifndef APID_WATCH_H
#define APID_WATCH_H

#include <stdint.h>

/* policyd says that there is more, up to this sequence. */
void	watch_news(uint64_t sequence);
/* policyd is away: all streams end, to be taken up again. */
void	watch_over(void);

#endif
