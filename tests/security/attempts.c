/*
 * Attempts to get out of a neuron: one name each, tried for real.
 *
 *	attempts list
 *	attempts NAME
 *
 * Says in one line what came of it: exit 0 denied as it must be, 1 the attempt
 * WORKED, 2 it could not be tried.  Run outside a neuron, as root, most of
 * them work: that is the control which shows that the neuron's layers deny
 * them.  For the control give it namespaces to throw away:
 *
 *	unshare -mpfnui --mount-proc --propagation private attempts NAME
 *
 * and leave out readonly and forkbomb, which need more than that.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attempts.h"
#include "sanitize.h"

static char said[4096];
static int worked;
static int untried;

void
denied(const char *what, int error)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof(said) - n, " %s: %s;", what,
	    error == 0 ? "not there" : strerrorname_np(error));
}

void
works(const char *what)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof(said) - n, " %s: WORKED;", what);
	worked = 1;
}

void
cannot(const char *what)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof(said) - n, " %s: could not be tried;", what);
	untried = 1;
}

void
tried(const char *what, long result)
{
	if (result == -1)
		denied(what, errno);
	else
		works(what);
}

int
main(int argc, char **argv)
{
	size_t i;

	sanitize_options();
	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		for (i = 0; i < nattempts; i++)
			printf("%-14s %s\n", attempts[i].name,
			    attempts[i].words);
		return (0);
	}
	for (i = 0; argc == 2 && i < nattempts; i++) {
		if (strcmp(attempts[i].name, argv[1]) != 0)
			continue;
		attempts[i].fn();
		printf("%s:%s\n", worked ? "WORKED" : untried ? "untried" :
		    "denied", said);
		return (worked ? 1 : untried ? 2 : 0);
	}
	fprintf(stderr, "usage: attempts list | NAME\n");
	return (2);
}
