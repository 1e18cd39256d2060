/*
 * The real neurond, with supervisord and policyd played by raw packets.
 */
#ifndef NEUROND_RIG_H
#define NEUROND_RIG_H

#include <sys/types.h>
#include <stdint.h>

#include "ids.h"
#include "imsg.h"
#include "policyd_rig.h"

#define OWNER	4242		/* of the second and the third line */
#define GENERATION	1	/* of the configuration that it was sent */

extern struct neurond_rig {
	pid_t		 pid;
	int		 control;
	int		 launch;
	char		 dir[64];
	char		 instance[32];
	char		 top[PATH_BYTES_MAX];	/* of the build */
} t;

/* Lines of the principals of its configuration, from the first. */
enum { LINE_ROOT, LINE_USER, LINE_LIST };

/* What a NEURON_MAKE says. */
struct make {
	uint32_t	 line, uid, gid;
	const char	*profile, *workspace;
};
/* One that it makes. */
extern const struct make plain;

/* The far and the near ends of a call: fds is what LAUNCH hands over. */
struct ends {
	int	out[2], err[2];
	int	fds[4];
};

/* Fixture of a test: a neurond that is ready; it ends with status 0. */
void	start(void);
void	stop(void);

/* A new launch channel in place of the last. */
void	plumb(void);
/* The next message of that type on the control channel. */
void	want_control(unsigned type);
/* It answers a PING. */
void	alive(void);

void	send_make(const struct make *, const char *id);
/* fds stay the caller's. */
void	send_launch(uint32_t timeout, unsigned in, const char *neuron,
	    const char *call, const int *fds, unsigned nfds);
/*
 * The next message on the launch channel that is not about the helpers; a
 * neuron of the channel before may still be on its way out.
 */
void	want(unsigned type, struct got *);
/* The launch channel is closed for that; neurond lives and gets a new one. */
void	want_closed(const char *what);

void	ends_open(struct ends *, const char *const *argv);
void	ends_close(struct ends *);

/* An honest call in a neuron of its own: how it ended. */
unsigned whole_call(const char *const *argv);
/* One that has to end well. */
void	still_serves(void);

#endif
