/*
 * What a build with sanitizers needs of a dropped process.
 */
#include "config.h"

#include <stddef.h>

#include "sanitize.h"

void
sanitize_options(void)
{
}

#ifdef WITH_SANITIZERS

/*
 * LeakSanitizer stops the world with ptrace and reads /proc, neither of which
 * a dropped process has.  The sanitizer looks this function up by name.
 */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return ("detect_leaks=0:abort_on_error=1:disable_coredump=1");
}

const char *const sanitize_syscalls[] = {
	"mmap", "mprotect", "munmap", "mremap", "madvise", "sigaltstack",
	"getpid", "gettid", "sched_yield", "readlink", "openat", "getrlimit",
	"prctl", "sysinfo", "set_robust_list", "rseq", NULL
};

#else

const char *const sanitize_syscalls[] = { NULL };

#endif
