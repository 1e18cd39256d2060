/*
 * What a takeover build is to do, and what came of it: two files beside the
 * directory of its program.
 */
#include <sys/mman.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "takeover.h"

#define PAGE_BYTES	32768

static char script[64];
static const char *extra = "";
static char *page;
static size_t used;

void
takeover_say(const char *fmt, ...)
{
	va_list ap;
	int n;

	if (page == NULL)
		return;
	va_start(ap, fmt);
	n = vsnprintf(page + used, PAGE_BYTES - used, fmt, ap);
	va_end(ap);
	if (n > 0 && used + (size_t)n < PAGE_BYTES)
		used += (size_t)n;
}

const char *
takeover_script(void)
{
	return (script);
}

const char *
takeover_extra(void)
{
	return (extra);
}

/* takeover/NAME beside the directory that this program is in. */
static int
path_beside(const char *name, const char *suffix, char path[PATH_BYTES_MAX])
{
	char *slash;
	ssize_t n;
	int i;

	if ((n = readlink("/proc/self/exe", path, PATH_BYTES_MAX - 80)) == -1)
		return (-1);
	path[n] = '\0';
	for (i = 0; i < 2; i++)
		if ((slash = strrchr(path, '/')) != NULL)
			*slash = '\0';
	snprintf(path + strlen(path), 80, "/takeover/%.60s%s", name, suffix);
	return (0);
}

void
takeover_begin(const char *name)
{
	char path[PATH_BYTES_MAX], *blank;
	ssize_t n;
	int fd;

	/* For this life alone: the next one is an honest one. */
	if (path_beside(name, "", path) == -1 ||
	    (fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return;
	(void)unlink(path);
	n = read(fd, script, sizeof(script) - 1);
	close(fd);
	script[n > 0 ? n : 0] = '\0';
	if ((blank = strchr(script, ' ')) != NULL) {
		*blank = '\0';
		extra = blank + 1;
	}
	if (path_beside(name, ".out", path) == -1 || (fd = open(path,
	    O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) == -1)
		return;
	if (ftruncate(fd, PAGE_BYTES) == 0) {
		page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
		if (page == MAP_FAILED)
			page = NULL;
	}
	close(fd);
}
