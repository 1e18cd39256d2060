/*
 * Asking the kernel for an AppArmor profile.
 *
 * A process that nothing confines may change to any profile, also with
 * no_new_privs, and a confined one to none: who executes a program says so
 * before, and the program can't leave it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "apparmor.h"

#define ATTR	"/proc/thread-self/attr/apparmor/"

int
apparmor_on(void)
{
	char on = 'N';
	int fd;

	fd = open("/sys/module/apparmor/parameters/enabled",
	    O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return (0);
	if (read(fd, &on, 1) != 1)
		on = 'N';
	close(fd);
	return (on == 'Y');
}

static int
ask(const char *file, const char *verb, const char *profile)
{
	char words[64];
	ssize_t n;
	int fd, len, saved;

	len = snprintf(words, sizeof(words), "%s %s", verb, profile);
	if ((fd = open(file, O_WRONLY | O_CLOEXEC)) == -1)
		return (-1);
	n = write(fd, words, (size_t)len);
	saved = errno;
	close(fd);
	errno = saved;
	return (n == -1 ? -1 : 0);
}

int
apparmor_test(const char *profile)
{
	return (ask(ATTR "current", "permprofile", profile));
}

int
apparmor_exec(const char *profile)
{
	return (ask(ATTR "exec", "exec", profile));
}
