# What contrib/try and contrib/check share.  Sourced, not run.
# shellcheck shell=sh disable=SC2034,SC2154

die()
{
	echo "${0##*/}: $*" >&2
	exit 125
}

# Debian packages that the build needs, and nothing that the tests add.
BUILD_PACKAGES="autoconf automake autoconf-archive bison gcc make pkg-config
    libc6-dev libc-ares-dev libevent-dev libjansson-dev libseccomp-dev
    libcap-dev libbsd-dev libmd-dev libidn2-dev libpcre2-dev libsqlite3-dev
    libssl-dev libvectorscan-dev nettle-dev check ripgrep
    e2fsprogs"

# need_packages NAME...: installs those that are missing.
need_packages()
{
	missing=
	for p in "$@"; do
		case $(dpkg-query -W -f '${db:Status-Abbrev}' "$p" 2>&1) in
		ii*) ;;
		*) missing="$missing $p" ;;
		esac
	done
	[ -n "$missing" ] || return 0
	echo "installing$missing" >&2
	export DEBIAN_FRONTEND=noninteractive
	# shellcheck disable=SC2086
	{ apt-get -q update && apt-get -q install -y --no-install-recommends \
	    $missing; } >"$LOG" 2>&1 </dev/null || {
		tail -n 20 "$LOG" >&2
		die "can't install:$missing"
	}
}

# build DIR [configure options]: configures once, then makes what is not up to
# date.  Silent unless it fails.
build()
{
	dir=$1
	shift
	[ -x configure ] && [ -f Makefile.in ] || autoreconf -fi >"$LOG" 2>&1 || {
		tail -n 20 "$LOG" >&2
		die "autoreconf failed"
	}
	mkdir -p "$dir"
	[ -f "$dir/Makefile" ] || (cd "$dir" && ../configure -q "$@") \
	    >"$LOG" 2>&1 || {
		tail -n 20 "$LOG" >&2
		die "configure failed"
	}
	# One after the other: "all" is a make of its own and would race.
	for goal in ${MAKE_TARGETS:-all}; do
		make -C "$dir" -j"$(nproc)" "$goal" >"$LOG" 2>&1 || {
			grep -v '^ \|^make' "$LOG" | tail -n 40 >&2
			die "make $goal failed, see $LOG"
		}
	done
}

# Where systemd runs, cgroups are its to give: run again in a scope that it
# delegates.  $1 is the program, the rest its arguments.
delegate()
{
	[ -d /run/systemd/system ] || return 0
	[ -z "${MYELIN_DELEGATED:-}" ] || return 0
	export MYELIN_DELEGATED=1
	exec systemd-run --quiet --scope -p Delegate=yes -- "$@"
}

# The tests act as other users too, who can't walk to a clone below, say, /root.
# Then everything runs at /mnt, where this mount namespace alone has the clone.
# $1 is the program at /mnt, the rest its arguments.
within_reach()
{
	dir=$top
	while [ "$dir" != / ]; do
		case $(stat -c %A "$dir") in
		*[xt]) ;;
		*)	break ;;
		esac
		dir=$(dirname "$dir")
	done
	[ "$dir" != / ] || return 0
	[ -z "${MYELIN_MOVED:-}" ] || return 0
	export MYELIN_MOVED=1
	# shellcheck disable=SC2016
	exec unshare --mount --propagation private sh -c '
		mount --bind "$1" /mnt && cd /mnt || exit 125
		shift
		exec "$@"' sh "$top" "$@"
}
