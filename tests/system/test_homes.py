"""Homes that stay when their neuron is gone: images of a fixed size, each
neuron's own, which no crash and no damage takes away.

neurond alone is driven (neuron_drive), with the real maker, spawner and loop
devices."""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from harness import BUILD, TOP, cgroups_of, wait_for

DRIVE = os.path.join(BUILD, "tests", "system", "neuron_drive")
UIDS = 1970000000
ID = "n-0000000000000000000h"
OTHER = "n-0000000000000000000j"
SIZE = 32 << 20


def loops_work():
    """1 if this host has what homes are made of."""
    if not os.path.exists("/sbin/mke2fs") or os.geteuid() != 0:
        return False
    free = subprocess.run(["losetup", "-f"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    try:
        os.close(os.open(free.stdout.decode().strip(),
                         os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def may_grow():
    """1 if the kernel lets us: it asks for CAP_SYS_RESOURCE."""
    with open("/proc/self/status") as f:
        held = re.search(r"(?m)^CapBnd:\s+([0-9a-f]+)$", f.read())[1]
    return int(held, 16) >> 24 & 1 == 1


def loops_of(directory):
    """Loop devices whose files are below the directory."""
    found = []
    for name in glob.glob("/sys/block/loop*/loop/backing_file"):
        try:
            with open(name) as f:
                if f.read().startswith(directory + "/"):
                    found.append(name)
        except OSError:
            pass
    return found


class Rig(unittest.TestCase):
    serial = 0

    def setUp(self):
        if not loops_work():
            self.skipTest("no loop devices, or no mke2fs")
        self.state = os.path.realpath(tempfile.mkdtemp(prefix="myelin-homes."))
        os.chmod(self.state, 0o700)
        self.homes = os.path.join(self.state, "neurons")
        os.mkdir(self.homes, 0o700)
        Rig.serial += 1
        self.name = "homes-%d-%d" % (os.getpid(), Rig.serial)
        self.running = []

    def tearDown(self):
        for p in self.running:
            if p.poll() is None:
                p.terminate()
            p.communicate(timeout=60)
        self.let_go()
        shutil.rmtree(self.state)

    def command(self, argv, options=(), home=ID, size=SIZE, inodes=1000):
        words = [DRIVE, "-L", BUILD, "-S", self.state, "-b", str(UIDS), "-I",
                 self.name, "-H", str(size), "-N", str(inodes), "-t", "60000"]
        if home:
            words += ["-h", home]
        return words + list(options) + ["--"] + list(argv)

    def drive(self, argv, options=(), before=(), **more):
        """Runs argv in a neuron; returns all that was said."""
        r = subprocess.run(list(before) + self.command(argv, options, **more),
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           stdin=subprocess.DEVNULL, timeout=150)
        return r.stdout.decode(errors="replace")

    def sh(self, text, options=(), **more):
        return self.drive(["/bin/sh", "-c", text], options, **more)

    def begin(self, argv, options=(), say="started", **more):
        """The same in the background, once the program said a word."""
        p = subprocess.Popen(self.command(argv, options, **more),
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             stdin=subprocess.DEVNULL)
        self.running.append(p)
        seen = b""
        while say.encode() not in seen:
            line = p.stdout.readline()
            self.assertTrue(line, seen)
            seen += line
        return p

    def end(self, p):
        """Its neurond ends after it, and the neuron with that."""
        p.terminate()
        p.wait(60)
        wait_for(lambda: not cgroups_of(self.name), 60)

    def image(self, home=ID):
        return os.path.join(self.homes, home, "home.img")

    def let_go(self):
        """Waits until the kernel has no image any more: its last writes come
        with that, a while after the neuron was gone."""
        wait_for(lambda: not loops_of(self.state), 60)

    def gone(self, out):
        """The words with which a neuron was refused."""
        self.assertNotIn("ENDED exited", out)
        m = re.search(r'GONE cause (\d) after [0-9.]+ ms "(.*)"', out)
        self.assertTrue(m, out)
        return int(m.group(1)), m.group(2)


class Kept(Rig):
    def test_what_is_written_stays(self):
        out = self.sh("pwd; ls -A; umask 077; echo kept >f; mkdir -m 755 d; "
                      "ln -s f link; stat -c '%u %g %a' . f", ["-l"])
        self.assertIn("/home/agent\n1000 1000 700\n1000 1000 600\n", out)
        self.assertIn("HOMES 1\n", out)
        size, made = re.search(r"HOME %s (\d+) bytes made (\d+)" % ID,
                               out).groups()
        self.assertLess(int(size), SIZE // 2)
        self.assertLess(abs(int(made) - time.time()), 120)
        self.assertIn(" home-image", out)
        # All the time under another uid: the next slot's.
        out = self.sh("cat f link; stat -c '%u %g %a' f d; rm f", ["-K"])
        self.assertIn("kept\nkept\n1000 1000 600\n1000 1000 755\n", out)
        out = self.sh("ls -A", ["-K"])
        self.assertIn("d\nlink\n", out)

    def test_files_on_the_host(self):
        self.sh("true")
        self.let_go()
        for path, mode in ((os.path.dirname(self.image()), 0o40700),
                           (self.image(), 0o100600)):
            st = os.lstat(path)
            self.assertEqual((st.st_mode, st.st_uid, st.st_gid),
                             (mode, 0, 0), path)
        self.assertEqual(os.stat(self.image()).st_size, SIZE)
        self.assertLess(os.stat(self.image()).st_blocks * 512, SIZE // 2)
        # Inside of it all is the homes' owner's, whoever that is inside.
        out = subprocess.run(["/sbin/debugfs", "-R", "stat /", self.image()],
                             stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL).stdout.decode()
        self.assertRegex(out, r"User:\s+%d\s+Group:\s+%d" %
                         (UIDS + 7, UIDS + 7))

    def test_mount(self):
        out = self.sh("grep ' /home/agent ' /proc/self/mountinfo; "
                      "cp /bin/true t && chmod 6755 t; stat -c 'mode %a' t; "
                      "./t && echo runs; mknod n c 1 3 || echo no device")
        line = re.search(r"^.* /home/agent .*$", out, re.M).group()
        options = line.split(" ")[5].split(",")
        self.assertLessEqual({"rw", "nosuid", "nodev", "idmapped"},
                             set(options), line)
        self.assertRegex(line, r" - ext4 /dev/loop\d+ ")
        self.assertNotIn("shared:", line)
        self.assertNotIn("mode 6755", out)
        self.assertIn("runs", out)
        self.assertIn("no device", out)

    def test_another_neuron_has_another(self):
        self.sh("echo mine >f")
        out = self.sh("ls -A; echo other >f", ["-l"], home=OTHER)
        self.assertNotIn("f\n", out.split("ENDED")[0])
        self.assertIn("HOMES 2\n", out)
        self.assertIn("mine\n", self.sh("cat f", ["-K"]))
        out = self.sh("ls -A /home/agent", home=None)
        self.assertNotIn("f\n", out.split("ENDED")[0])

    def test_with_a_workspace(self):
        top = tempfile.mkdtemp(prefix="myelin-homes-ws.", dir="/srv"
                               if os.access("/srv", os.W_OK) else None)
        try:
            os.chown(top, 1000, 1000)
            out = self.sh("echo work >w; echo home >/home/agent/h; pwd; "
                          "ls -A /home/agent",
                          ["-w", top, "-C", top])
            if " is on a filesystem " in out:
                self.skipTest("no idmapped mounts below " + top)
            # the driver's own lines may come between
            self.assertIn(top + "\n", out)
            self.assertRegex(out, r"(?m)^h$")
            self.assertEqual(os.listdir(top), ["w"])
            self.assertIn("home\n", self.sh("cat /home/agent/h", ["-K"]))
        finally:
            shutil.rmtree(top)


def unit_settings(but=None):
    """What the unit allows and forbids its processes, as systemd-run has it;
    without what names a word."""
    with open(os.path.join(TOP, "contrib/systemd/myelin.service.in")) as f:
        text = f.read().replace("\\\n", " ")
    words = re.findall(r"^((?:Device|Capability|NoNew|Lock|Restrict|Protect|"
                       r"SystemCall|ReadOnly|Delegate)\w*=.*)$", text, re.M)
    return [w for setting in words if but is None or but not in setting
            for w in ("-p", setting)]


@unittest.skipUnless(os.path.isdir("/run/systemd/system"), "no systemd here")
class Unit(Rig):
    def test_the_unit_lets_homes_be_mounted(self):
        settings = unit_settings()
        self.assertIn("DevicePolicy=closed", settings)
        subprocess.run(["modprobe", "-q", "loop"])	# the unit wants it
        run = ["systemd-run", "--quiet", "--pipe", "--wait"]
        out = self.drive(["/bin/sh", "-c", "echo kept >f; cat f"],
                         before=run + settings + ["--"])
        self.assertIn("kept\n", out)
        # Which is the unit's doing.
        out = self.drive(["/bin/true"],
                         before=run + unit_settings("loop") + ["--"])
        self.assertIn("/dev/loop-control", self.gone(out)[1])


class Bounds(Rig):
    def test_bytes(self):
        out = self.sh("dd if=/dev/zero of=x bs=64k 2>&1; stat -c 'size %s' x; "
                      "rm x; dd if=/dev/zero of=y bs=1M count=20 2>&1; "
                      "df -k . | tail -1")
        self.assertIn("No space left on device", out)
        size = int(re.search(r"size (\d+)", out).group(1))
        self.assertLess(size, SIZE)
        self.assertGreater(size, SIZE * 3 // 4)
        self.assertIn("20+0 records out", out)
        self.let_go()
        used = os.stat(self.image()).st_blocks * 512
        self.assertLessEqual(used, SIZE + (1 << 20))

    def test_deleted_space_goes_back_to_the_host(self):
        # /tmp may be on what can't punch holes.
        probe = os.path.join(self.state, "probe")
        with open(probe, "wb") as f:
            f.write(b"x" * 65536)
        if subprocess.run(["fallocate", "-p", "-l", "65536", probe],
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no holes can be punched here")
        self.sh("dd if=/dev/urandom of=x bs=1M count=20; sync -f .")
        self.let_go()
        full = os.stat(self.image()).st_blocks * 512
        self.assertGreater(full, 20 << 20)
        # the kernel discards when it has time to, and no more once the file
        # system is left
        p = self.begin(["/bin/sh", "-c", "rm x && sync -f . && echo started; "
                        "exec sleep 60"], ["-K"])
        wait_for(lambda: os.stat(self.image()).st_blocks * 512 < full // 2,
                 50)
        self.end(p)

    def grown(self, size):
        """Bytes of the home in a neuron whose limit that is."""
        out = self.sh("sha256sum -c sum; df -k . | tail -1", ["-K"],
                      size=size)
        self.assertIn("x: OK", out)
        self.assertEqual("it can't grow" in out, not may_grow() and
                         size > SIZE, out)
        return int(re.search(r"/dev/loop\d+ +(\d+)", out)[1]) << 10

    def test_a_raised_limit(self):
        """It grows when it is next used, keeps all, and never shrinks."""
        self.sh("dd if=/dev/urandom of=x bs=1M count=8; sha256sum x >sum")
        size = [self.grown(n << 20) for n in (32, 80, 80, 16, 300)]
        self.assertLess(size[0], SIZE)
        if not may_grow():
            # told, and as good as it was
            self.assertEqual(size, size[:1] * 5)
            return
        self.assertGreater(size[1], 70 << 20)
        self.assertEqual(size[1:4], [size[1]] * 3)
        self.assertGreater(size[4], 270 << 20)
        self.assertEqual(os.stat(self.image()).st_size, 300 << 20)
        self.let_go()
        self.assertLess(os.stat(self.image()).st_blocks * 512, 40 << 20)
        r = subprocess.run(["/sbin/e2fsck", "-f", "-n", self.image()],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(r.returncode, 0, r.stdout)
        # what a crash kept from being done is done the next time
        os.truncate(self.image(), 400 << 20)
        self.assertGreater(self.grown(400 << 20), 360 << 20)

    def test_inodes(self):
        code = ("import os\nn = 0\ntry:\n  while n < 5000:\n"
                "    os.close(os.open('f%d' % n, os.O_CREAT)); n += 1\n"
                "except OSError as e: print('errno', e.errno)\n"
                "print('made', n)\n")
        out = self.drive(["/usr/bin/python3", "-c", code])
        self.assertIn("errno 28\n", out)
        n = int(re.search(r"made (\d+)", out).group(1))
        self.assertLessEqual(n, 1000)
        self.assertGreater(n, 900)

    def test_too_small(self):
        cause, why = self.gone(self.sh("true", size=4 << 20))
        self.assertEqual(cause, 3)
        self.assertEqual(why, "a home that is kept has at least 8388608 "
                         "bytes; the profile's limit is 4194304 (home)")
        self.assertEqual(os.listdir(self.homes), [])
        self.assertIn("ENDED exited", self.sh("true", size=8 << 20,
                                              inodes=256))

    def test_a_large_one_is_sparse(self):
        out = self.sh("df -k . | tail -1", size=100 << 30, inodes=100000)
        self.assertIn("ENDED exited code 0", out)
        self.let_go()
        st = os.stat(self.image())
        self.assertEqual(st.st_size, 100 << 30)
        self.assertLess(st.st_blocks * 512, 64 << 20)

    def test_the_hosts_disk_is_full(self):
        """What is then lost is said to the program that wrote it, and the
        other homes and the next neuron are none the worse."""
        small = os.path.join(self.state, "disk")
        os.mkdir(small)
        mount = ["unshare", "-m", "sh", "-ec",
                 "mount -t tmpfs -o size=12m,mode=0700 tmpfs %s; "
                 "mkdir -m 700 %s/neurons; exec \"$@\"" % (small, small), "sh"]
        argv = self.command(["/bin/sh", "-c", "dd if=/dev/urandom of=x bs=1M "
                             "count=20 conv=fsync && echo WROTE"])
        argv[argv.index("-S") + 1] = small
        out = subprocess.run(mount + argv, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT,
                             stdin=subprocess.DEVNULL,
                             timeout=150).stdout.decode(errors="replace")
        self.assertRegex(out, "Input/output error|No space left|Read-only")
        self.assertNotIn("WROTE", out)
        self.assertIn("ENDED exited code 1", out)
        self.assertIn("ENDED exited code 0", self.sh("echo x >f"))


if __name__ == "__main__":
    unittest.main()
