/*
 * Images of homes: mke2fs once, then a loop device and a mount that no path
 * leads to.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "image.h"
#include "without.h"

#define MKE2FS		"/sbin/mke2fs"
#define INODE_SIZE	256
#define OWN_INODES	10	/* that ext4 keeps for itself */
#define LOOP_TRIES	32	/* free devices that others were faster at */

/* What the kernels since 6.1 have, whatever the host's mke2fs.conf says. */
#define FEATURES	"none,has_journal,ext_attr,dir_index,filetype,"	\
	"extent,64bit,flex_bg,sparse_super,large_file,huge_file,"	\
	"dir_nlink,extra_isize,metadata_csum"

/* Instead of the host's, so that a home is the same everywhere. */
static const char config[] =
    "[defaults]\n"
    "\tblocksize = 4096\n"
    "[fs_types]\n"
    "\text4 = {\n\t}\n"
    "\tdefault = {\n\t}\n";

/* ext4's superblock, and where it says what it is and how it is. */
#define SUPER_AT	1024
#define SUPER_BLOCKS	4
#define SUPER_BLOCK_SHIFT 24
#define SUPER_BLOCKS_HIGH 336
#define SUPER_MAGIC	56
#define SUPER_STATE	58
#define EXT4_MAGIC	0xef53
#define STATE_ERRORS	0x02

/* Linux's fs/ext4/ext4.h: no header of the system's has it. */
#ifndef EXT4_IOC_RESIZE_FS
#define EXT4_IOC_RESIZE_FS	_IOW('f', 16, uint64_t)
#endif
#define GROW_SHARE	64	/* less than this is no growth */

void
image_plan(uint64_t bytes, uint64_t inodes, struct image_plan *p)
{
	uint64_t groups, each, step;

	p->block = bytes < MIB(64) ? 1024 : 4096;
	p->journal = bytes < MIB(64) ? 1 : bytes < MIB(256) ? 4 : 16;
	if (inodes > bytes / 4096 || WITHOUT(home_inodes))
		inodes = bytes / 4096;
	/* A group is what one block of bits can count; its inodes fill blocks,
	 * and mke2fs would round up. */
	groups = (bytes / p->block + 8ULL * p->block - 1) / (8ULL * p->block);
	step = p->block / INODE_SIZE < 8 ? 8 : p->block / INODE_SIZE;
	each = (inodes + OWN_INODES) / groups / step * step;
	p->inodes = (each < step ? step : each) * groups;
}

/* ---- making one ---- */

/* What mke2fs says last, without what a log or a terminal could trip over. */
static void
last_line(int fd, char *why, size_t size)
{
	char buf[1024];
	size_t have = 0, i;
	ssize_t n;
	char *line;

	while ((n = read(fd, buf + have, sizeof(buf) - 1 - have)) > 0) {
		have += (size_t)n;
		if (have == sizeof(buf) - 1)
			have = 0;	/* the end matters */
	}
	while (have > 0 && isspace((unsigned char)buf[have - 1]))
		have--;
	buf[have] = '\0';
	line = strrchr(buf, '\n');
	line = line == NULL ? buf : line + 1;
	for (i = 0; line[i] != '\0'; i++)
		if (!isprint((unsigned char)line[i]))
			line[i] = '?';
	snprintf(why, size, "mke2fs: %s", line);
}

static _Noreturn void
execute(char *const argv[], int image, int conf, int out)
{
	char *const env[] = { (char *)(uintptr_t)
	    "MKE2FS_CONFIG=/proc/self/fd/4", (char *)(uintptr_t)"LC_ALL=C",
	    NULL };
	sigset_t none;
	int null;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	image = fcntl(image, F_DUPFD_CLOEXEC, 10);
	conf = fcntl(conf, F_DUPFD_CLOEXEC, 10);
	out = fcntl(out, F_DUPFD_CLOEXEC, 10);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (image == -1 || conf == -1 || out == -1 || null == -1 ||
	    dup2(null, 0) == -1 || dup2(out, 1) == -1 || dup2(out, 2) == -1 ||
	    dup2(image, 3) == -1 || dup2(conf, 4) == -1 ||
	    close_range(5, ~0U, 0) == -1)
		_exit(126);
	execve(argv[0], argv, env);
	dprintf(2, "%s: %s\n", argv[0], strerrordesc_np(errno));
	_exit(127);
}

static int
run(char *const argv[], int image, char *why, size_t size)
{
	int conf, out[2], status = 0;
	pid_t pid;

	if ((conf = memfd_create("mke2fs.conf", MFD_CLOEXEC)) == -1 ||
	    write(conf, config, sizeof(config) - 1) !=
	    (ssize_t)sizeof(config) - 1 || pipe2(out, O_CLOEXEC) == -1)
		return (-1);
	if ((pid = fork()) == 0)
		execute(argv, image, conf, out[1]);
	close(out[1]);
	close(conf);
	if (pid == -1) {
		close(out[0]);
		return (-1);
	}
	last_line(out[0], why, size);
	close(out[0]);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return (0);
	errno = EIO;
	return (-1);
}

static int
make_ext4(int image, const struct image_plan *p, uint32_t owner, char *why,
    size_t size)
{
	char block[16], inodes[24], journal[24], extra[128];
	/* Nothing is written that reads as zeros already: it stays sparse. */
	const char *const argv[] = {
		MKE2FS, "-q", "-F", "-t", "ext4", "-T", "default",
		"-O", FEATURES, "-b", block, "-I", "256", "-N", inodes,
		"-m", "0", "-J", journal, "-E", extra, "/proc/self/fd/3", NULL
	};

	snprintf(block, sizeof(block), "%u", p->block);
	snprintf(inodes, sizeof(inodes), "%llu",
	    (unsigned long long)p->inodes);
	snprintf(journal, sizeof(journal), "size=%u", p->journal);
	snprintf(extra, sizeof(extra), "root_owner=%u:%u,lazy_itable_init=1,"
	    "lazy_journal_init=1,nodiscard", owner, owner);
	return (run((char *const *)(uintptr_t)argv, image, why, size));
}

int
image_make(int dir, uint64_t bytes, uint64_t inodes, uint32_t owner, char *why,
    size_t size)
{
	struct image_plan p;
	int image, saved;

	image_plan(bytes, inodes, &p);
	snprintf(why, size, "an image");
	if (unlinkat(dir, IMAGE_NEW, 0) == -1 && errno != ENOENT)
		return (-1);
	image = openat(dir, IMAGE_NEW, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW |
	    O_CLOEXEC, 0600);
	if (image == -1)
		return (-1);
	FAULT("worker.image");
	if (ftruncate(image, (off_t)bytes) == 0 &&
	    make_ext4(image, &p, owner, why, size) == 0)
		return (image);
	saved = errno;
	close(image);
	(void)unlinkat(dir, IMAGE_NEW, 0);
	errno = saved;
	return (-1);
}

int
image_ready(int dir, int mount)
{
	int root, r = -1, saved;

	root = openat(mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root == -1)
		return (-1);
	if (fchmod(root, 0700) == 0 && syncfs(root) == 0 &&
	    renameat(dir, IMAGE_NEW, dir, IMAGE_NAME) == 0)
		r = fsync(dir);
	saved = errno;
	close(root);
	errno = saved;
	return (r);
}

/* ---- using one ---- */

static uint32_t
super32(const uint8_t *super, size_t at)
{
	return ((uint32_t)super[at] | (uint32_t)super[at + 1] << 8 |
	    (uint32_t)super[at + 2] << 16 | (uint32_t)super[at + 3] << 24);
}

const char *
image_damage(int image)
{
	uint8_t super[64];
	struct stat st;

	if (fstat(image, &st) == -1 || !S_ISREG(st.st_mode))
		return ("is not a regular file");
	if (pread(image, super, sizeof(super), SUPER_AT) !=
	    (ssize_t)sizeof(super))
		return ("is cut off");
	if ((super[SUPER_MAGIC] | super[SUPER_MAGIC + 1] << 8) != EXT4_MAGIC)
		return ("holds no ext4");
	if ((super[SUPER_STATE] & STATE_ERRORS) != 0 && !WITHOUT(home_errors))
		return ("is damaged: the kernel met errors in it");
	return (NULL);
}

/* Bytes of the ext4 in it, 0 where that can't be said. */
static uint64_t
image_bytes(int image)
{
	uint8_t super[1024];
	uint64_t blocks;
	unsigned shift;

	if (pread(image, super, sizeof(super), SUPER_AT) !=
	    (ssize_t)sizeof(super))
		return (0);
	blocks = (uint64_t)super32(super, SUPER_BLOCKS) |
	    (uint64_t)super32(super, SUPER_BLOCKS_HIGH) << 32;
	shift = super32(super, SUPER_BLOCK_SHIFT);
	return (shift > 6 || blocks > UINT64_MAX >> 16 ? 0 :
	    blocks << (10 + shift));
}

int
image_grow_file(int image, uint64_t bytes)
{
	uint64_t now = image_bytes(image);
	struct stat st;

	if (now == 0 || now >= bytes ||
	    bytes - now < MIB(1) + bytes / GROW_SHARE)
		return (0);
	if (fstat(image, &st) == -1)
		return (-1);
	if ((uint64_t)st.st_size < bytes && ftruncate(image, (off_t)bytes) ==
	    -1)
		return (-1);
	return (1);
}

int
image_grow(int mount, uint64_t bytes)
{
	struct statfs fs;
	uint64_t blocks;
	int root, r = -1, saved;

	root = openat(mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root == -1)
		return (-1);
	if (fstatfs(root, &fs) == 0) {
		blocks = bytes / (uint64_t)fs.f_bsize;
		r = ioctl(root, EXT4_IOC_RESIZE_FS, &blocks);
	}
	saved = errno;
	close(root);
	errno = saved;
	return (r);
}

/* An fd of a device that lets the image go with its last user. */
static int
attach(int image, char *path, size_t size, const char **step)
{
	struct loop_config lc = {
		.fd = (uint32_t)image,
		.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO
	};
	int control, fd, n, saved, tries;

	*step = "/dev/loop-control";
	control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (control == -1)
		return (-1);
	for (tries = 0; tries < LOOP_TRIES; tries++) {
		*step = "a free loop device";
		if ((n = ioctl(control, LOOP_CTL_GET_FREE)) < 0)
			break;
		snprintf(path, size, "/dev/loop%d", n);
		if ((fd = open(path, O_RDWR | O_CLOEXEC)) == -1)
			break;
		*step = "a loop device";
		if (ioctl(fd, LOOP_CONFIGURE, &lc) == 0) {
			close(control);
			return (fd);
		}
		saved = errno;
		close(fd);
		errno = saved;
		if (errno != EBUSY)
			break;
	}
	saved = errno;
	close(control);
	errno = saved;
	return (-1);
}

static int
mount_ext4(const char *device)
{
	int fs, mnt = -1, saved;

	if ((fs = fsopen("ext4", FSOPEN_CLOEXEC)) == -1)
		return (-1);
	/*
	 * What the neuron deletes is given back to the host's disk, but for the
	 * last: ext4 drops what it has not got to when it is unmounted.
	 */
	if (fsconfig(fs, FSCONFIG_SET_STRING, "source", device, 0) == 0 &&
	    fsconfig(fs, FSCONFIG_SET_STRING, "errors", "remount-ro", 0) ==
	    0 && fsconfig(fs, FSCONFIG_SET_FLAG, "noinit_itable", NULL, 0) ==
	    0 && fsconfig(fs, FSCONFIG_SET_FLAG, "discard", NULL, 0) == 0 &&
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mnt = fsmount(fs, FSMOUNT_CLOEXEC, (WITHOUT(nosuid) ? 0 :
		    MOUNT_ATTR_NOSUID) | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOATIME);
	saved = errno;
	close(fs);
	errno = saved;
	return (mnt);
}

int
image_mount(int image, const char **step)
{
	struct stat st;
	char device[32];
	int loop, mnt, saved;

	if ((loop = attach(image, device, sizeof(device), step)) == -1)
		return (-1);
	FAULT("worker.loop");
	*step = "mount";
	mnt = mount_ext4(device);
	saved = errno;
	close(loop);
	errno = saved;
	/* mke2fs and e2fsck make it, for root. */
	if (mnt != -1 && fstatat(mnt, "lost+found", &st,
	    AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == 0)
		(void)unlinkat(mnt, "lost+found", AT_REMOVEDIR);
	return (mnt);
}
