# One macro a subject; configure.ac is their table of contents.

# parse.y needs bison; a yacc that is missing shows here, not in make.
AC_DEFUN([MYELIN_PROG_BISON], [
AS_CASE([$YACC], [*bison*], [],
    [AC_MSG_ERROR([bison is needed to build supervisord/parse.y])])
])

AC_DEFUN([MYELIN_C17], [
AX_CHECK_COMPILE_FLAG([-std=gnu17], [AM_CFLAGS="$AM_CFLAGS -std=gnu17"],
    [AC_MSG_ERROR([a compiler for C17 is needed])])
])

AC_DEFUN([MYELIN_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--disable-werror],
    [warnings do not end the build])], [], [enable_werror=yes])
AX_APPEND_COMPILE_FLAGS([-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla -Wformat=2 -Wundef -Wcast-qual],
    [AM_CFLAGS], [-Werror])
AS_IF([test "$enable_werror" = yes], [AM_CFLAGS="$AM_CFLAGS -Werror"])
AC_SUBST([AM_CFLAGS])
])

AC_DEFUN([MYELIN_HARDENING], [
AC_ARG_ENABLE([hardening], [AS_HELP_STRING([--disable-hardening],
    [build without the hardening flags])], [], [enable_hardening=yes])
AS_IF([test "$enable_hardening" = yes], [
	AX_APPEND_COMPILE_FLAGS([-fstack-protector-strong -fstack-clash-protection -fcf-protection -ftrivial-auto-var-init=zero -fno-strict-overflow -fno-common -fPIE], [AM_CFLAGS], [-Werror])
	AX_APPEND_LINK_FLAGS([-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack],
	    [AM_LDFLAGS], [-Werror])
	AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#if !defined(__OPTIMIZE__) || defined(_FORTIFY_SOURCE)
#error only an optimised build, and not a second time
#endif
	]])], [AM_CPPFLAGS="$AM_CPPFLAGS -D_FORTIFY_SOURCE=2"])
	PIE_LDFLAGS=-pie
])
AC_SUBST([AM_CPPFLAGS])
AC_SUBST([AM_LDFLAGS])
AC_SUBST([PIE_LDFLAGS])
])

# LeakSanitizer stops the world with ptrace, which a dropped process has not:
# config.h turns it off for them (common/sanitize.c).
AC_DEFUN([MYELIN_ENABLE_SANITIZERS], [
AC_ARG_ENABLE([sanitizers], [AS_HELP_STRING([--enable-sanitizers],
    [build with AddressSanitizer and UndefinedBehaviorSanitizer])],
    [], [enable_sanitizers=no])
AS_IF([test "$enable_sanitizers" = yes], [
	san="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
	AM_CFLAGS="$AM_CFLAGS $san -fno-omit-frame-pointer"
	AM_LDFLAGS="$AM_LDFLAGS $san"
	AC_DEFINE([WITH_SANITIZERS], [1], [Built with sanitizers.])
])
AM_CONDITIONAL([SANITIZERS], [test "$enable_sanitizers" = yes])
])

AC_DEFUN([MYELIN_ENABLE_FUZZERS], [
AC_ARG_ENABLE([fuzzers], [AS_HELP_STRING([--enable-fuzzers],
    [build the libFuzzer targets (needs clang)])], [], [enable_fuzzers=no])
AS_IF([test "$enable_fuzzers" = yes], [
	AX_CHECK_COMPILE_FLAG([-fsanitize=fuzzer-no-link],
	    [AM_CFLAGS="$AM_CFLAGS -fsanitize=fuzzer-no-link"],
	    [AC_MSG_ERROR([--enable-fuzzers needs clang])], [-Werror])
])
AM_CONDITIONAL([FUZZERS], [test "$enable_fuzzers" = yes])
])

# Points where a process kills itself on a test's word (common/fault.h).
AC_DEFUN([MYELIN_ENABLE_FAULTS], [
AC_ARG_ENABLE([faults], [AS_HELP_STRING([--enable-faults],
    [build in points where tests kill processes; never for use])],
    [], [enable_faults=no])
AS_IF([test "$enable_faults" = yes], [
	AC_DEFINE([WITH_FAULTS], [1], [Built with fault points.])
])
AM_CONDITIONAL([FAULTS], [test "$enable_faults" = yes])
])

# For tests of the tests alone: common/without.h says why.
AC_DEFUN([MYELIN_ENABLE_WITHOUT], [
AC_ARG_ENABLE([without], [AS_HELP_STRING([--enable-without],
    [build programs whose layers a test can switch off; never to be shipped])],
    [], [enable_without=no])
AS_IF([test "$enable_without" = yes],
    [AM_CPPFLAGS="$AM_CPPFLAGS -DMYELIN_WITHOUT"])
AM_CONDITIONAL([WITHOUT], [test "$enable_without" = yes])
])

# Every PID 1 of a neuron is a copy of the spawner: static, it has the fewest
# pages.  A sanitizer can't be linked in that way, nor where libc.a is missing.
AC_DEFUN([MYELIN_STATIC_SPAWNER], [
STATIC_LDFLAGS=$PIE_LDFLAGS
AS_IF([test "$enable_sanitizers" != yes], [
	saved_LDFLAGS=$LDFLAGS
	saved_CFLAGS=$CFLAGS
	LDFLAGS="$LDFLAGS -static-pie"
	CFLAGS="$CFLAGS -fPIE"
	AC_MSG_CHECKING([whether programs can be linked static])
	AC_LINK_IFELSE([AC_LANG_PROGRAM([])],
	    [STATIC_LDFLAGS=-static-pie; AC_MSG_RESULT([yes])],
	    [AC_MSG_RESULT([no])])
	LDFLAGS=$saved_LDFLAGS
	CFLAGS=$saved_CFLAGS
])
AC_SUBST([STATIC_LDFLAGS])
])

AC_DEFUN([MYELIN_SUMMARY], [
AS_ECHO(["
myelin $PACKAGE_VERSION

  compiler      $CC
  hardening     $enable_hardening
  sanitizers    $enable_sanitizers
  fuzzers       $enable_fuzzers
  fault points  $enable_faults
  without       $enable_without
  warnings      errors: $enable_werror
  unit tests    $have_check
  prefix        $prefix
"])
AS_IF([test "$enable_without" = yes],
    [AC_MSG_WARN([layers can be switched off in this build: never ship it])])
])
