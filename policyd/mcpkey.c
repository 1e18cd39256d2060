/* The key of MCP's session ids. */

#include <sys/random.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

#include "log.h"
#include "mcpkey.h"

#define FILE_NAME	"mcp.key"

static uint8_t	key[MCPKEY_SIZE];

static int
make_key(void)
{
	if (getrandom(key, sizeof(key), 0) == (ssize_t)sizeof(key))
		return (0);
	log_warn("getrandom");
	return (-1);
}

/* What a power cut left of one is no key: nobody has an id by it yet. */
static int
write_key(int fd)
{
	if (make_key() == -1)
		return (-1);
	if (ftruncate(fd, 0) == -1 ||
	    pwrite(fd, key, sizeof(key), 0) != (ssize_t)sizeof(key) ||
	    fsync(fd) == -1) {
		log_warn(FILE_NAME);
		return (-1);
	}
	return (0);
}

int
mcpkey_start(int dirfd)
{
	struct stat st;
	int fd, r = 0;

	if (dirfd == -1)
		return (make_key());
	fd = openat(dirfd, FILE_NAME, O_RDWR | O_CREAT | O_CLOEXEC |
	    O_NOFOLLOW, 0600);
	if (fd == -1 || fstat(fd, &st) == -1) {
		log_warn(FILE_NAME);
		r = -1;
	} else if (!S_ISREG(st.st_mode)) {
		log_warnx(FILE_NAME " is not a file");
		r = -1;
	} else if (st.st_size != (off_t)sizeof(key) ||
	    pread(fd, key, sizeof(key), 0) != (ssize_t)sizeof(key))
		r = write_key(fd);
	if (fd != -1)
		close(fd);
	return (r);
}

const uint8_t *
mcpkey(void)
{
	return (key);
}
