"""Attempts to get out of a neuron, tried from inside it.

Each attempt runs twice.  In a neuron it must be denied; and as root in
namespaces and a root directory of its own, without our layers, it must work:
an attempt that never works proves nothing.
"""
import os
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

from harness import BUILD, CONFIG, Instance, Workspace, wait_for

PROGRAM = os.path.join(BUILD, "tests", "security", "attempts")

# A root directory that may be ruined: the host's /usr read-only, everything
# else new.  Root's own files stand where the host's would.
CONTROL = r"""
set -e
mount -t tmpfs -o mode=755 control "$1"
cd "$1"
mkdir usr etc proc dev tmp root home home/agent run var var/lib \
    var/lib/myelin sys
ln -s usr/bin bin; ln -s usr/sbin sbin; ln -s usr/lib lib
[ ! -d /usr/lib64 ] || ln -s usr/lib64 lib64
mount --bind /usr usr
mount -o remount,bind,ro usr
echo root:x:0:0::/root:/bin/sh >etc/passwd
echo root:x:0: >etc/group
echo secret >etc/shadow
echo secret >root/secret
mount -t proc proc proc
for d in null zero full random urandom; do
	touch dev/$d
	mount --bind /dev/$d dev/$d
done
mkdir dev/shm
mount -t tmpfs shm dev/shm
mkdir dev/pts
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs tmp tmp
cp "$2" tmp/attempts
echo planted >home/agent/planted
cd home/agent
umount -l /sys 2>/dev/null || true
exec chroot "$1" /bin/sh -c 'cd /home/agent; /tmp/attempts "$0"; exit $?' "$3"
"""


class Attempts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()
        cls.w = Workspace()
        shutil.copy(PROGRAM, cls.w.path)
        cls.w.give()
        with open(os.path.join(cls.w.path, "planted"), "w") as f:
            f.write("planted")
        os.chown(os.path.join(cls.w.path, "planted"), 0, 0)
        os.chmod(os.path.join(cls.w.path, "planted"), 0o666)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()
        cls.w.close()

    def control(self, name):
        d = tempfile.mkdtemp(prefix="c-", dir=os.path.join(BUILD, "tests"))
        try:
            r = subprocess.run(
                ["unshare", "--mount", "--pid", "--net", "--uts", "--ipc",
                 "--fork", "--propagation", "private", "sh", "-c", CONTROL,
                 "control", d, PROGRAM, name], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        finally:
            os.rmdir(d)
        return r.returncode, r.stdout.decode(errors="replace")

    def attempt(self, name, control=True, **more):
        r = self.i.call("exec", {"argv": [
            os.path.join(self.w.path, "attempts"), name]},
            timeout_ms=30000, **more, **self.w.fields())
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        self.assertNotIn("WORKED", r["stdout"])
        if control:
            status, text = self.control(name)
            self.assertIn("WORKED", text)
            self.assertEqual(status, 1, text)

    def test_001_write_what_is_read_only(self):
        self.attempt("readonly")

    def test_002_files_of_the_host(self):
        self.attempt("hostfiles")

    def test_007_set_id_bits(self):
        self.attempt("setid")

    def test_013_links_and_attributes(self):
        self.attempt("hardlink")

    def test_014_a_file_of_roots(self):
        self.attempt("planted")
        with open(os.path.join(self.w.path, "planted")) as f:
            self.assertEqual(f.read(), "planted")

    def test_015_pid_1_by_proc(self):
        self.attempt("procone")

    def test_016_write_to_proc(self):
        # its control is test_attempts_calls': here all that there is
        self.attempt("procwrite", control=False)

    def test_017_leaks_of_proc(self):
        self.attempt("procleaks")

    def test_018_mount(self):
        self.attempt("mounts")

    def test_019_own_program(self):
        # no control: the kernel never lets a running program be written
        # (ETXTBSY); what else could be, a launcher of ours, is not inside
        self.attempt("selfexe", control=False)

    def test_020_paths_in_mountinfo(self):
        self.attempt("mountinfo", control=False)
        out = subprocess.run([PROGRAM, "mountinfo"],
                             stdout=subprocess.PIPE).stdout
        self.assertIn(b"WORKED", out)

    def test_021_devices(self):
        self.attempt("devices")

    def test_022_file_descriptors(self):
        r, w = os.pipe()
        try:
            self.attempt("fds", control=False)
            # control: a program that inherits a directory finds its way out
            d = os.open("/", os.O_RDONLY)
            out = subprocess.run([PROGRAM, "fds"], pass_fds=(d,),
                                 stdout=subprocess.PIPE).stdout
            os.close(d)
            self.assertIn(b"WORKED", out)
        finally:
            os.close(r)
            os.close(w)

    def test_026_signals(self):
        r = self.i.bash("true")
        if "landlock-scopes" in r["layers"]:
            self.attempt("signals")
        # Before Landlock's scopes (6.12) the kernel takes a signal to PID 1
        # and drops it: whatever it said, PID 1 and its neuron live on.
        s = self.i.session(**self.w.fields())
        r = self.i.call("exec", {"argv": [
            os.path.join(self.w.path, "attempts"), "signals"]}, session=s)
        self.assertEqual(r["state"], "completed", r)
        self.assertEqual(self.i.bash("echo on", session=s)["stdout"], "on\n")
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_027_trace(self):
        self.attempt("trace", control=False)
        # control: without the layers root reads another's memory
        p = subprocess.Popen(["sleep", "600"])
        try:
            def program():
                # the program is mapped only after Popen() has returned
                with open("/proc/%d/maps" % p.pid) as f:
                    return [l for l in f if l.rstrip().endswith("/sleep")]
            start = int(wait_for(program, 60)[0].split("-")[0], 16)
            with open("/proc/%d/mem" % p.pid, "rb") as f:
                f.seek(start)
                self.assertEqual(f.read(4), b"\x7fELF")
        finally:
            p.kill()
            p.wait()

    def test_030_namespaces(self):
        self.attempt("namespaces")

    def test_031_terminal(self):
        self.attempt("terminal")
        self.attempt("terminal", control=False, pty={"rows": 24, "cols": 80})

    def test_035_mount_family(self):
        self.attempt("mountapi")

    def test_036_foreign_abi(self):
        if os.uname().machine != "x86_64":
            self.skipTest("no other ABI on this machine")
        self.attempt("compat")

    def test_037_calls_into_the_kernel(self):
        # no control: as root these change the host
        self.attempt("kernel", control=False)

    def test_038_ids_and_capabilities(self):
        self.attempt("privileges")

    def test_055_fork_bomb(self):
        done = []
        t = threading.Thread(target=lambda: done.append(self.i.call(
            "exec", {"argv": [os.path.join(self.w.path, "attempts"),
                              "forkbomb"]}, timeout_ms=30000,
            **self.w.fields())))
        t.start()
        while t.is_alive():
            # meanwhile the host forks as ever
            self.assertEqual(subprocess.run(["true"]).returncode, 0)
            time.sleep(0.05)
        r = done[0]
        self.assertNotIn("WORKED", r["stdout"])
        self.assertTrue(r["reason"] == "pids_limit" or
                        (r["state"], r["exit_code"]) == ("completed", 0), r)
        self.assertEqual(self.i.bash("echo ok")["stdout"], "ok\n")

    def test_004_a_path_that_is_swapped(self):
        """The workspace's name is exchanged with a link to root's, in a loop:
        either the directory itself is mounted or the call is refused."""
        target = os.path.join(self.w.top, "secret")
        os.mkdir(target)
        with open(os.path.join(target, "marker"), "w") as f:
            f.write("secret")
        os.chown(target, self.w.uid, self.w.gid)
        victim = os.path.join(self.w.top, "victim")
        link = os.path.join(self.w.top, "link")
        os.mkdir(victim)
        os.chown(victim, self.w.uid, self.w.gid)
        os.symlink(target, link)
        script = ("import ctypes\nlibc = ctypes.CDLL(None)\nwhile True:\n"
                  "  libc.renameat2(-100, %r, -100, %r, 2)\n"
                  % (victim.encode(), link.encode()))
        swapper = subprocess.Popen(["python3", "-c", script])
        seen = {"real": 0, "refused": 0}
        # the control: who just opens it is led to the secret
        wait_for(lambda: "marker" in os.listdir(victim), 60, 0)
        try:
            for _ in range(60):
                status, r = self.i.request("POST", "/v1/calls", {
                    "tool": "bash", "args": {"command": "ls -a"},
                    "wait_ms": 20000, "workspace": victim,
                    "owner": {"uid": self.w.uid, "gid": self.w.gid}})
                if status == 200 and r["state"] == "completed":
                    self.assertNotIn("marker", r["stdout"])
                    seen["real"] += 1
                else:
                    seen["refused"] += 1
        finally:
            swapper.kill()
            swapper.wait()
        self.assertGreater(seen["real"] + seen["refused"], 0)
        self.assertGreater(seen["refused"], 0, "the swap never met a launch")


class Refusals(unittest.TestCase):
    """What is not there is refused by name, never done without."""

    def check(self, text):
        d = tempfile.mkdtemp(prefix="r-", dir=os.path.join(BUILD, "tests"))
        conf = os.path.join(d, "myelin.conf")
        with open(conf, "w") as f:
            f.write(CONFIG + text)
        os.chmod(conf, 0o600)
        r = subprocess.run([os.path.join(BUILD, "supervisord", "myelind"),
                            "-n", "-f", conf, "-p", d, "-L", BUILD],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        shutil.rmtree(d)
        return r

    def test_a_mode_that_is_not_built(self):
        self.assertEqual(self.check("").returncode, 0)
        for mode in ("docker", "oci", "microvm", "dev", "nosuch"):
            r = self.check('profile "x" { mode %s }\n' % mode)
            self.assertNotEqual(r.returncode, 0, mode)
            self.assertIn(mode.encode(), r.stderr)

    def test_what_egress_has_not_is_refused_by_name(self):
        for what in ('allow host "a.example" intercept',
                     'ask host "a.example"', 'allow host "*"'):
            r = self.check('profile "x" { egress { %s } }\n' % what)
            self.assertNotEqual(r.returncode, 0, what)
            self.assertIn(what.split()[0 if "ask" in what else -1].strip(
                '"').encode(), r.stderr)
        # the control: what it has
        self.assertEqual(self.check(
            'profile "x" { egress { allow host "a.example" } }\n'
            ).returncode, 0)

    def test_more_open_files_than_the_host_allows(self):
        """Named with file and line, not cut down in silence."""
        extra = 'profile "files" { nofile %d }\n'
        less = ("prlimit", "--nofile=5000:5000", "setpriv",
                "--bounding-set", "-sys_resource")
        i = Instance(start=False, extra=extra % 5001)
        try:
            with open(i.conf) as f:
                line = len(f.readlines())
            with self.assertRaises(AssertionError) as e:
                i.start(prefix=less)
            self.assertIn('%s:%d: profile "files": nofile 5001: the host '
                          'allows the service 5000' % (i.conf, line),
                          str(e.exception))
        finally:
            i.stop()
        # the control: one less, and more than neurond needs for itself
        with Instance(CONFIG.replace("preset", 'profile "files"; preset'),
                      extra=extra % 5000, start=False) as i:
            i.start(prefix=less)
            r = i.bash("ulimit -Sn; ulimit -Hn", profile="files")
            self.assertEqual(r["stdout"], "5000\n5000\n", r)

    def test_a_missing_parent_of_cgroups(self):
        """Asked for a cgroup parent that is not there, nothing starts."""
        i = Instance(start=False, extra='cgroup parent "/nosuch/parent"\n')
        try:
            with self.assertRaises(AssertionError) as e:
                i.start()
            self.assertIn("/nosuch/parent", str(e.exception))
        finally:
            i.stop()


if __name__ == "__main__":
    unittest.main()
