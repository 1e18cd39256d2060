/*
 * The table of F0.  What is not in it gets ENOSYS, so that programs fall
 * back; calls known to be dangerous get EPERM, which reads better.
 */
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <linux/sockios.h>
#include <asm/ioctls.h>

#include "filter_int.h"

/* Numbers newer than the oldest headers; the same on every architecture. */
#ifndef SYS_cachestat
#define SYS_cachestat		451
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2		452
#endif
#ifndef SYS_futex_wake
#define SYS_futex_wake		454
#define SYS_futex_wait		455
#define SYS_futex_requeue	456
#endif
#ifndef SYS_statmount
#define SYS_statmount		457
#define SYS_listmount		458
#endif
#ifndef SYS_mseal
#define SYS_mseal		462
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr	467
#endif

#define A(name)		{ SYS_##name, ACT_ALLOW },
#define D(name)		{ SYS_##name, ACT_EPERM },
#define S(name)		{ SYS_##name, ACT_STANDARD },
#define R(name, rule)	{ SYS_##name, RULE_##rule },

const struct filter_row filter_rows[] = {
	/* files */
	A(read) A(write) A(pread64) A(pwrite64) A(readv) A(writev)
	A(preadv) A(pwritev) A(preadv2) A(pwritev2) A(close) A(close_range)
	A(fstat) A(newfstatat) A(statx) A(statfs) A(fstatfs) A(lseek)
	A(faccessat) A(faccessat2) A(dup) A(dup3) A(pipe2)
	A(fsync) A(fdatasync) A(sync) A(syncfs) A(sync_file_range)
	A(truncate) A(ftruncate) A(fallocate) A(fadvise64) A(readahead)
	A(getdents64) A(getcwd) A(chdir) A(fchdir) A(renameat) A(renameat2)
	A(linkat) A(symlinkat) A(readlinkat) A(unlinkat) A(umask)
	A(fchown) A(fchownat) A(utimensat) A(flock) A(sendfile) A(splice)
	A(tee) A(copy_file_range) A(memfd_create) A(cachestat)
	A(setxattr) A(lsetxattr) A(fsetxattr) A(getxattr) A(lgetxattr)
	A(fgetxattr) A(listxattr) A(llistxattr) A(flistxattr)
	A(removexattr) A(lremovexattr) A(fremovexattr)
	S(inotify_init1) S(inotify_add_watch) S(inotify_rm_watch)
	R(openat, OPENAT) R(mkdirat, MODE2) R(mknodat, MKNOD2)
	R(fchmod, MODE1) R(fchmodat, MODE2) R(fchmodat2, MODE2)
	R(fcntl, FCNTL) R(ioctl, IOCTL)
	/* clone3 and openat2: PID 1 alone, see filter_build_call() */
	A(openat2) A(clone3)
#ifdef __x86_64__
	A(stat) A(lstat) A(access) A(dup2) A(pipe) A(getdents) A(rename)
	A(rmdir) A(link) A(symlink) A(readlink) A(unlink) A(chown) A(lchown)
	A(utime) A(utimes) A(futimesat) S(inotify_init)
	R(open, OPEN) R(creat, MODE1) R(mkdir, MODE1) R(mknod, MKNOD1)
	R(chmod, MODE1)
#endif
	/* waiting */
	A(ppoll) A(pselect6) A(epoll_create1) A(epoll_ctl) A(epoll_pwait)
	A(epoll_pwait2) A(eventfd2) A(signalfd4) A(timerfd_create)
	A(timerfd_settime) A(timerfd_gettime) A(futex) A(futex_waitv)
	A(futex_wake) A(futex_wait) A(futex_requeue)
	A(io_setup) A(io_destroy) A(io_submit) A(io_cancel) A(io_getevents)
	A(io_pgetevents)
#ifdef __x86_64__
	A(poll) A(select) A(epoll_create) A(epoll_wait) A(eventfd)
	A(signalfd) A(alarm) A(pause)
#endif
	/* memory */
	A(brk) A(mmap) A(mprotect) A(munmap) A(mremap) A(madvise) A(mincore)
	A(msync) A(mlock) A(mlock2) A(munlock) A(munlockall) A(membarrier)
	A(pkey_alloc) A(pkey_free) A(pkey_mprotect) A(remap_file_pages)
	A(mseal) A(get_mempolicy)
	/* processes */
	A(execve) A(execveat) A(exit) A(exit_group) A(wait4) A(waitid)
	A(getpid) A(getppid) A(gettid) A(getpgid) A(setpgid) A(getsid)
	A(setsid) A(getpriority) A(setpriority) A(kill) A(tkill) A(tgkill)
	A(pidfd_open) A(pidfd_send_signal) A(set_tid_address)
	A(set_robust_list) A(get_robust_list) A(rseq) A(restart_syscall)
	A(sched_yield) A(sched_getaffinity) A(sched_getparam)
	A(sched_getscheduler) A(sched_getattr) A(sched_get_priority_max)
	A(sched_get_priority_min) A(sched_rr_get_interval) A(getcpu)
	A(getrlimit) A(setrlimit) A(getrusage) A(times) A(sysinfo) A(uname)
	A(ioprio_get) A(capget)
	A(rt_sigaction) A(rt_sigprocmask) A(rt_sigreturn) A(rt_sigpending)
	A(rt_sigtimedwait) A(rt_sigqueueinfo) A(rt_tgsigqueueinfo)
	A(rt_sigsuspend) A(sigaltstack)
	R(clone, CLONE) R(prctl, PRCTL) R(personality, PERSONALITY)
	R(prlimit64, PRLIMIT) R(seccomp, SECCOMP)
	A(landlock_create_ruleset) A(landlock_add_rule)
	A(landlock_restrict_self)
#ifdef __x86_64__
	A(fork) A(vfork) A(getpgrp) A(arch_prctl) A(time)
#endif
	/* ids, for reading */
	A(getuid) A(geteuid) A(getgid) A(getegid) A(getresuid) A(getresgid)
	A(getgroups)
	/* posix_spawn(3) of make sets the ids that it has */
	R(setuid, IDS1) R(setgid, IDS1) R(setreuid, IDS2) R(setregid, IDS2)
	R(setresuid, IDS3) R(setresgid, IDS3)
	/* clocks */
	A(nanosleep) A(clock_nanosleep) A(clock_gettime) A(clock_getres)
	A(gettimeofday) A(getitimer) A(setitimer) A(timer_create)
	A(timer_settime) A(timer_gettime) A(timer_getoverrun) A(timer_delete)
	A(getrandom)
	/* sockets */
	A(bind) A(listen) A(accept) A(accept4) A(connect) A(getsockname)
	A(getpeername) A(sendto) A(recvfrom) A(sendmsg) A(recvmsg)
	A(sendmmsg) A(recvmmsg) A(setsockopt) A(getsockopt) A(shutdown)
	R(socket, SOCKET) R(socketpair, SOCKETPAIR)
	/* System V IPC, of the neuron's own namespace */
	A(shmget) A(shmat) A(shmctl) A(shmdt) A(semget) A(semop) A(semctl)
	A(semtimedop) A(msgget) A(msgsnd) A(msgrcv) A(msgctl)
	/* known to be dangerous */
	D(mount) D(umount2) D(pivot_root) D(chroot) D(open_tree)
	D(move_mount) D(fsopen) D(fsconfig) D(fsmount) D(fspick)
	D(mount_setattr) D(open_tree_attr) D(statmount) D(listmount)
	D(unshare) D(setns) D(setfsuid) D(setfsgid) D(setgroups) D(capset)
	D(ptrace) D(process_vm_readv) D(process_vm_writev)
	D(process_madvise) D(process_mrelease) D(kcmp) D(pidfd_getfd)
	D(bpf) D(perf_event_open) D(userfaultfd) D(io_uring_setup)
	D(io_uring_enter) D(io_uring_register) D(keyctl) D(add_key)
	D(request_key) D(name_to_handle_at) D(open_by_handle_at)
	D(fanotify_init) D(fanotify_mark) D(quotactl) D(quotactl_fd)
	D(acct) D(swapon) D(swapoff) D(reboot) D(kexec_load)
	D(kexec_file_load) D(init_module) D(finit_module) D(delete_module)
	D(syslog) D(settimeofday) D(clock_settime) D(clock_adjtime)
	D(adjtimex) D(sethostname) D(setdomainname) D(vhangup) D(vmsplice)
	D(mlockall) D(migrate_pages) D(move_pages) D(mbind)
	D(set_mempolicy) D(memfd_secret) D(sched_setaffinity)
	D(sched_setparam) D(sched_setscheduler) D(sched_setattr)
	D(ioprio_set)
#ifdef __x86_64__
	D(iopl) D(ioperm) D(modify_ldt)
#endif
};

const size_t filter_nrows = sizeof(filter_rows) / sizeof(filter_rows[0]);

/* TCGETS2 and kin: newer C libraries use them for isatty(3). */
static const uint32_t ioctls[] = {
	TCGETS, TCSETS, TCSETSW, TCSETSF, TCFLSH, TCSBRK, TCXONC,
	0x802c542a, 0x402c542b, 0x402c542c, 0x402c542d,
	TIOCGWINSZ, TIOCSWINSZ, TIOCGPGRP, TIOCSPGRP, TIOCGSID, TIOCOUTQ,
	TIOCGPTN, TIOCSPTLCK, TIOCGPTPEER, TIOCNOTTY, TIOCSCTTY,
	FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, FIOASYNC,
	SIOCGIFNAME, SIOCGIFINDEX, SIOCGIFCONF, SIOCGIFFLAGS, SIOCGIFADDR,
	SIOCGIFNETMASK, SIOCGIFBRDADDR, SIOCGIFHWADDR, SIOCGIFMTU, 0x8905
};

static const uint32_t ioctls_bad[] = {
	TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS
};

/* PR_SET_VMA names glibc's heaps; the others tune the caller alone. */
static const uint32_t prctls[] = {
	PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_SET_NAME, PR_GET_NAME,
	PR_SET_DUMPABLE, PR_GET_DUMPABLE, PR_CAPBSET_READ,
	PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_SET_NO_NEW_PRIVS,
	PR_GET_NO_NEW_PRIVS, PR_GET_SECCOMP, PR_SET_SECCOMP,
	PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER, PR_GET_SECUREBITS,
	PR_GET_KEEPCAPS, PR_SET_THP_DISABLE, PR_GET_THP_DISABLE,
	PR_GET_TID_ADDRESS, PR_SET_VMA, PR_GET_SPECULATION_CTRL,
	PR_SET_SPECULATION_CTRL, PR_SVE_GET_VL, PR_SVE_SET_VL,
	PR_SET_TAGGED_ADDR_CTRL, PR_GET_TAGGED_ADDR_CTRL
};

#define VALUES(a)	{ (a), sizeof(a) / sizeof((a)[0]) }
const struct filter_values filter_ioctls = VALUES(ioctls);
const struct filter_values filter_ioctls_bad = VALUES(ioctls_bad);
const struct filter_values filter_prctls = VALUES(prctls);
