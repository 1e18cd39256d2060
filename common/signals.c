/*
 * The closed list of signals.
 */
#include <signal.h>
#include <string.h>

#include "signals.h"

/* ROW(name): what people send by hand, and nothing that only faults send. */
#define SIGNALS(ROW)							\
	ROW(HUP) ROW(INT) ROW(QUIT) ROW(KILL) ROW(USR1) ROW(USR2)	\
	ROW(TERM) ROW(CONT) ROW(STOP) ROW(TSTP) ROW(WINCH)

static const struct {
	const char	*name;
	unsigned	 number;
} signals[] = {
#define ROW(name)	{ #name, SIG##name },
	SIGNALS(ROW)
#undef ROW
};

#define NSIGNALS	(sizeof(signals) / sizeof(signals[0]))

unsigned
signal_find(const char *name)
{
	size_t i;

	for (i = 0; i < NSIGNALS; i++)
		if (strcmp(signals[i].name, name) == 0)
			return (signals[i].number);
	return (0);
}

const char *
signal_name(unsigned number)
{
	size_t i;

	for (i = 0; i < NSIGNALS; i++)
		if (signals[i].number == number)
			return (signals[i].name);
	return (NULL);
}

const char *
signal_names(void)
{
#define ROW(name)	", " #name
	static const char names[] = SIGNALS(ROW);
#undef ROW

	return (names + 2);
}
