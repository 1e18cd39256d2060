/*
 * The first program of the test guest: its whole initial RAM disk beside the
 * modules that the root disk needs.  Loads /modules/NAME in the order of
 * /modules/order, mounts /dev/vda and hands over to the guest's own init.
 */
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DISK		"/dev/vda"
#define DISK_TRIES	1000		/* of 10 ms */

/* The console shows it, and the guest ends: the host sees QEMU exit. */
static _Noreturn void
fail(const char *what)
{
	fprintf(stderr, "vm init: %s: %s\n", what, strerror(errno));
	sync();
	(void)reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void
load(const char *name)
{
	char path[256];
	int fd;

	(void)snprintf(path, sizeof(path), "/modules/%s", name);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		fail(path);
	if (syscall(SYS_finit_module, fd, "", 0) == -1 && errno != EEXIST)
		fail(path);
	(void)close(fd);
}

static void
load_all(void)
{
	char name[128];
	FILE *f;

	if ((f = fopen("/modules/order", "re")) == NULL)
		fail("/modules/order");
	while (fgets(name, sizeof(name), f) != NULL) {
		name[strcspn(name, "\n")] = '\0';
		if (name[0] != '\0')
			load(name);
	}
	(void)fclose(f);
}

int
main(void)
{
	char *argv[] = { "/sbin/init", NULL };
	int i;

	(void)mkdir("/dev", 0755);
	(void)mkdir("/root", 0755);
	if (mount("dev", "/dev", "devtmpfs", 0, NULL) == -1 && errno != EBUSY)
		fail("mount /dev");
	load_all();
	for (i = 0; access(DISK, F_OK) == -1; i++) {
		if (i == DISK_TRIES)
			fail(DISK);
		(void)usleep(10000);
	}
	if (mount(DISK, "/root", "ext4", MS_NOATIME, NULL) == -1)
		fail("mount " DISK);
	if (mount("/dev", "/root/dev", NULL, MS_MOVE, NULL) == -1)
		fail("move /dev");
	if (chdir("/root") == -1 || mount(".", "/", NULL, MS_MOVE, NULL) == -1
	    || chroot(".") == -1 || chdir("/") == -1)
		fail("change root");
	(void)execv(argv[0], argv);
	fail(argv[0]);
}
