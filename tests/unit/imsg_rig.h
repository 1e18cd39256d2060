/*
 * What the tests of imsg.h share: a channel whose other end is bare, and what
 * became of it.
 */
#ifndef IMSG_RIG_H
#define IMSG_RIG_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "imsg.h"
#include "unit.h"

static int deaths;
static char last_reason[256];
static int handled;
static int handler_mode;

enum { HANDLE_ALL, HANDLE_NONE, HANDLE_WRONG, HANDLE_CLAIM };
static int claimed_flags;	/* of the fd that HANDLE_CLAIM took */

static inline int
take(void *arg, struct imsg *m)
{
	int fd;

	(void)arg;
	handled++;
	if (handler_mode == HANDLE_CLAIM) {
		fd = imsg_claim_fd(m, 0);
		claimed_flags = fcntl(fd, F_GETFD);
		close(fd);
	}
	if (handler_mode == HANDLE_WRONG)
		return (-1);
	if (handler_mode == HANDLE_NONE)
		return (0);
	(void)imsg_get_u32(m);
	return (imsg_end(m));
}

static inline void
dead(void *arg, const char *reason)
{
	(void)arg;
	deaths++;
	snprintf(last_reason, sizeof(last_reason), "%s", reason);
}

static struct channel_handler all[MSG_COUNT];
static struct channel_ops ops = { .handlers = all, .dead = dead };

static inline int
open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return (n);
}

struct bench {
	struct channel	*ch;
	int		 peer;
	int		 fds;
};

static inline void
setup(struct bench *b, enum channel_kind kind, enum channel_end end)
{
	unsigned i;
	int fds[2];

	for (i = 1; i < MSG_COUNT; i++) {
		all[i].type = i;
		all[i].fn = take;
	}
	ops.nhandlers = MSG_COUNT;
	deaths = handled = 0;
	handler_mode = HANDLE_ALL;
	ck_assert_int_eq(channel_pair(fds), 0);
	b->ch = channel_new(fds[0], kind, end, &ops, NULL);
	b->peer = fds[1];
	b->fds = open_fds();
}

static inline void
teardown(struct bench *b)
{
	channel_free(b->ch);
	close(b->peer);
}

static inline void
expect_death(struct bench *b, const char *words)
{
	ck_assert_int_eq(channel_dispatch(b->ch, 0), -1);
	ck_assert_int_eq(channel_dispatch(b->ch, 0), -1);
	ck_assert_int_eq(deaths, 1);
	ck_assert_msg(strstr(last_reason, words) != NULL, "%s", last_reason);
	ck_assert_int_eq(open_fds(), b->fds);
}

#endif
