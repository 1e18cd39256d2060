/* The sockets of a child, all of them: a path's, and addresses'. */
#include "supervisor.h"

void
sockets_take(struct child *c, const struct conf *conf)
{
	const struct cf_listen *l;
	size_t i;

	for (i = 0; i < LISTENS_MAX; i++) {
		if ((l = conf_listen_n(conf, c->spec->plane, i)) == NULL)
			break;
		/* One that is bound stays so: a reload can't change it. */
		if (i >= c->nsockets)
			c->sockets[i].fd = -1;
		c->sockets[i].conf = l;
		c->sockets[i].also = c->sv->dir_owner;
	}
	c->nsockets = i;
}

int
sockets_open(struct child *c)
{
	const struct cf_listen *l;
	char why[WHY_MAX];
	size_t i;

	for (i = 0; i < c->nsockets; i++) {
		if (listener_open(&c->sockets[i], why) == 0)
			continue;
		l = c->sockets[i].conf;
		log_warnx("%s: %s", l->path, why);
		sockets_close(c);
		return (-1);
	}
	return (0);
}

void
sockets_close(struct child *c)
{
	size_t i;

	for (i = 0; i < c->nsockets; i++)
		listener_close(&c->sockets[i]);
}
