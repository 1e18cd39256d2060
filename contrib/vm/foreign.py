"""Debian for another machine than this one: a root with the compiler for it,
where Myelin is built, and how programs of that machine run here: by qemu-user.

As a program, "foreign.py MACHINE COMMAND..." runs a command whose programs may
be that machine's."""
import ctypes
import glob
import hashlib
import os
import shutil
import sys
import time

sys.dont_write_bytecode = True
import image
from image import TOP, Failed, run, say

SUITE = image.SUITES["12"]
TRIPLET = {"arm64": "aarch64-linux-gnu"}
QEMU = {"arm64": "qemu-aarch64"}
BINFMT = "/proc/sys/fs/binfmt_misc"
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
# Of what a build needs, these are programs that run, and the host's.
RUN_HERE = ["autoconf", "autoconf-archive", "automake", "bison", "gcc", "make"]
NOT_NEEDED = ["ripgrep", "e2fsprogs"]	# when it is not run
PACKAGING = ["build-essential", "debhelper", "dh-apparmor", "dpkg-dev"]
# A command in the root, which has this tree and the cache at their own places.
ENTER = """
root=$1 top=$2 cache=$3 cwd=$4
shift 4
for d in "$top" "$cache"; do
	mkdir -p "$root$d" && mount --bind "$d" "$root$d" || exit 125
done
mount -t proc none "$root/proc" && mount --bind /dev "$root/dev" || exit 125
exec chroot "$root" env -i -C "$cwd" LC_ALL=C.UTF-8 HOME=/root \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
"""
BUILD = """
. contrib/lib.sh
LOG=$1
MAKE_TARGETS="all check-programs" build "$2" --host="$3"
"""


def packages(machine):
    wanted = set(image.build_packages()) - set(NOT_NEEDED)
    return sorted(PACKAGING + ["crossbuild-essential-" + machine] +
                  [p if p in RUN_HERE else "%s:%s" % (p, machine)
                   for p in wanted])


def root(cache, machine, log):
    """The directory of a root with a compiler for machine, made if need be."""
    lines, names = image.sources(SUITE), packages(machine)
    wanted = os.path.join(cache, "cross-%s-%s" % (machine, hashlib.sha256(
        "\n".join(lines + names).encode()).hexdigest()[:16]))
    if os.path.exists(wanted) and \
            time.time() - os.stat(wanted).st_mtime < image.DAYS * 86400:
        return wanted
    for old in glob.glob(os.path.join(cache, "cross-%s-*" % machine)):
        shutil.rmtree(old)
    begin = time.monotonic()
    part = os.path.join(cache, "cross-part-%d" % os.getpid())
    os.mkdir(part)
    os.chmod(part, 0o755)
    try:
        run(["mmdebstrap", "--mode=root", "--variant=minbase",
             "--architectures=%s,%s" % (image.own(), machine),
             "--include=" + ",".join(names)] + image.OPTIONS +
            image.proxy() + [SUITE, part, "-"], 1200, log,
            input="\n".join(lines).encode() + b"\n")
        os.utime(part)
        os.rename(part, wanted)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    say("root with a compiler for %s: %.0f s" % (machine, time.monotonic() -
                                                 begin))
    return wanted


def inside(cross, cache, cwd=TOP):
    """What stands before a command that runs in that root; settings of its
    environment may stand between."""
    return ["unshare", "--mount", "--pid", "--fork", "--propagation",
            "private", "sh", "-c", ENTER, "sh", cross, TOP, cache, cwd]


def compiler(cross, cache, machine):
    """How gcc for machine is called."""
    return inside(cross, cache) + [TRIPLET[machine] + "-gcc"]


def build(cross, cache, machine, directory, log):
    """Builds Myelin for machine; directory is one of the tree."""
    begin = time.monotonic()
    run(inside(cross, cache) + [
        "sh", "-ec", BUILD, "sh", os.path.join(cache, "make.log"), directory,
        TRIPLET[machine]], 2400, log)
    say("built for %s: %.0f s" % (machine, time.monotonic() - begin))


def interpreter(machine):
    """What binfmt_misc is told: the package's own words, but a program that is
    opened now, as no root has it."""
    name = QEMU[machine]
    with open("/usr/lib/binfmt.d/%s.conf" % name) as f:
        words = f.read().strip().split(":")
    words[6:] = ["/usr/bin/%s-static" % name, "OCF"]
    return ":".join(words)


def fully_mapped():
    """Into a user and a mount namespace that has every user of this one, and
    its own formats of programs.  Another process writes the map."""
    libc = ctypes.CDLL(None, use_errno=True)
    ready, go = os.pipe(), os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.read(ready[0], 1)
        for name in ("uid_map", "gid_map"):
            with open("/proc/%d/%s" % (parent, name), "w") as f:
                f.write("0 0 4294967295")
        os.write(go[1], b"x")
        os._exit(0)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        raise Failed("unshare: " + os.strerror(ctypes.get_errno()))
    os.write(ready[1], b"x")
    os.read(go[0], 1)
    os.waitpid(child, 0)


def main(machine, argv):
    """The host's setting, where there is one; else one for this alone, which
    Linux 6.7 and later can do."""
    if not os.path.exists(os.path.join(BINFMT, QEMU[machine])):
        line = interpreter(machine)
        fully_mapped()
        run(["mount", "-t", "binfmt_misc", "none", BINFMT], 10, os.devnull)
        with open(os.path.join(BINFMT, "register"), "w") as f:
            f.write(line)
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2:])
    except (Failed, OSError) as e:
        sys.exit("foreign: programs of %s can't run here: %s" % (
            sys.argv[1], e))
