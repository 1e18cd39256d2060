/*
 * Programs in sealed memfds.
 */
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "program.h"

#ifndef MFD_EXEC
#define MFD_EXEC	0x0010U		/* Linux 6.3, memfd_create(2) */
#endif

#define SEALS	(F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Where vm.memfd_noexec asks for it one has to say that it is to run. */
static int
new_memfd(const char *name)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd;

	fd = memfd_create(name, flags | MFD_EXEC);
	if (fd == -1 && errno == EINVAL)
		fd = memfd_create(name, flags);
	return (fd);
}

static int
copy(int to, int from)
{
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (fstat(from, &st) == -1)
		return (-1);
	while (at < st.st_size) {
		n = sendfile(to, from, &at, (size_t)(st.st_size - at));
		if (n == 0)
			errno = EIO;	/* it became shorter */
		if (n <= 0)
			return (-1);
	}
	return (0);
}

static int
write_all(int fd, const char *p, size_t size)
{
	ssize_t n;

	for (; size > 0; p += n, size -= (size_t)n) {
		if ((n = write(fd, p, size)) == -1)
			return (-1);
	}
	return (0);
}

int
program_of_bytes(const void *bytes, size_t size, const char *name)
{
	int fd, saved;

	if ((fd = new_memfd(name)) == -1)
		return (-1);
	if (write_all(fd, bytes, size) == 0 &&
	    fcntl(fd, F_ADD_SEALS, SEALS) == 0)
		return (fd);
	saved = errno;
	close(fd);
	errno = saved;
	return (-1);
}

int
program_memfd(int file, const char *name)
{
	int fd, saved;

	if ((fd = new_memfd(name)) == -1)
		return (-1);
	if (copy(fd, file) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
		return (fd);
	saved = errno;
	close(fd);
	errno = saved;
	return (-1);
}

int
program_check(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals == -1)
		return (-1);
	if ((seals & SEALS) != SEALS) {
		errno = EPERM;
		return (-1);
	}
	return (0);
}
