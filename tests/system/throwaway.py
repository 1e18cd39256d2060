"""Namespaces and a root directory to be ruined, for controls of attempts.

What is tried in a neuron and denied is tried here as well, as root and without
our layers, where it must work: an attempt that never works proves nothing.
The host's /usr is there read-only; everything else is new, and goes with the
process.
"""
import os
import subprocess
import tempfile

from harness import BUILD

SCRIPT = r"""
set -e
mount -t tmpfs -o mode=755 control "$1"
cd "$1"
mkdir usr etc proc dev tmp root home home/agent run
ln -s usr/bin bin; ln -s usr/sbin sbin; ln -s usr/lib lib
[ ! -d /usr/lib64 ] || ln -s usr/lib64 lib64
mount --bind /usr usr
mount -o remount,bind,ro usr
echo root:x:0:0::/root:/bin/sh >etc/passwd
mount -t proc proc proc
for d in null zero full random urandom; do
	touch dev/$d
	mount --bind /dev/$d dev/$d
done
mkdir dev/shm
mount -t tmpfs shm dev/shm
mount -t tmpfs tmp tmp
shift
exec chroot "$PWD" /bin/sh -c 'cd /home/agent; exec "$0" "$@"' "$@"
"""


def run(argv, timeout=120):
    """(exit code, what it said) of a program of /usr run there."""
    d = tempfile.mkdtemp(prefix="c-", dir=os.path.join(BUILD, "tests"))
    try:
        r = subprocess.run(
            ["unshare", "--mount", "--pid", "--net", "--uts", "--ipc",
             "--fork", "--propagation", "private", "sh", "-c", SCRIPT,
             "control", d] + list(argv), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
    finally:
        os.rmdir(d)
    return r.returncode, r.stdout.decode(errors="replace")


def python(code):
    return run(["/usr/bin/python3", "-c", code])
