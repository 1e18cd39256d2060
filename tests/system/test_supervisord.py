"""supervisord alone: what it starts and refuses, and what -n finds."""
import os
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import unittest

from supervisor import CONF, MYELIND, SupervisordTest, connect, status_of


class Start(SupervisordTest):
    def test_sockets_and_state(self):
        i = self.instance().start()
        for path in (i.api, i.operator):
            st = os.stat(path)
            self.assertTrue(stat.S_ISSOCK(st.st_mode))
            self.assertEqual(stat.S_IMODE(st.st_mode), 0o666)
            self.assertIsNone(connect(path))
        start = int(re.search(r"uids (\d+) to", i.log()).group(1))
        for name, mode, uid in (("", 0o711, 0), ("policy", 0o700, start + 4),
                                ("neurons", 0o700, 0), ("empty", 0o755, 0)):
            st = os.stat(os.path.join(i.dir, "state", name))
            self.assertEqual(stat.S_IMODE(st.st_mode), mode, name)
            self.assertEqual(st.st_uid, uid, name)
        self.assertEqual(i.stop(), 0)
        self.assertFalse(os.path.exists(i.api))
        self.assertFalse(os.path.exists(i.operator))
        # its uids are free, or another instance was given them at once
        try:
            with open("/run/myelin-uids/%d" % start) as f:
                self.assertNotEqual(int(f.read().split()[2]), i.proc.pid)
        except FileNotFoundError:
            pass

    def test_what_children_get(self):
        i = self.instance().start()
        start = int(re.search(r"uids (\d+) to", i.log()).group(1))
        offsets = {"apid": 1, "apid-operator": 2, "judged": 3, "policyd": 4,
                   "egressd": 5, "neurond": None}
        for name, pid in i.pids().items():
            st = status_of(pid)
            uid = 0 if offsets[name] is None else start + offsets[name]
            self.assertEqual(st["Uid"].split(), [str(uid)] * 4, name)
            self.assertEqual(st["Gid"].split(), [str(uid)] * 4, name)
            self.assertEqual(st["Groups"].split(), [], name)
            self.assertEqual(st["NoNewPrivs"], "1", name)
            self.assertEqual(st["Name"], name)
            with open("/proc/%d/environ" % pid, "rb") as f:
                env = f.read().split(b"\0")
            self.assertFalse([e for e in env if e.startswith(b"SECRET")])
            self.assertLessEqual(len([e for e in env if e]), 3, env)
            with open("/proc/%d/cmdline" % pid, "rb") as f:
                self.assertEqual(f.read(), name.encode() + b"\0")
            root = os.readlink("/proc/%d/root" % pid)
            want = {"neurond": "/", "policyd": i.dir + "/state/policy"}
            self.assertEqual(root, want.get(name, i.dir + "/state/empty"))
            self.assertNotEqual(os.getpgid(pid), os.getpgid(i.proc.pid))
            for fd in os.listdir("/proc/%d/fd" % pid):
                link = os.readlink("/proc/%d/fd/%s" % (pid, fd))
                if int(fd) == 2:
                    self.assertEqual(link, i.log_path)
                elif int(fd) < 2:
                    self.assertEqual(link, "/dev/null")
                else:
                    self.assertNotIn("lock", link, name)
                    # the lock outlives myelind for as long as neurond does
                    if name != "neurond":
                        self.assertNotIn("myelin-uids", link, name)

    def test_files_are_read_from_their_start(self):
        i = self.instance().start()
        before = i.pid("judged")
        os.kill(before, signal.SIGKILL)
        i.wait_up("judged", before)
        self.assertEqual(re.findall(r"judged: file tool/bash at (\d+)",
                                    i.log()), ["7", "7"])

    def test_files_of_the_host(self):
        """egressd's alone, as they are at the start and at each reload."""
        i = self.instance().start()
        i.wait_log(r"egressd: file resolv\.conf at \d+")
        i.wait_log(r"egressd: file ca-certificates at \d+")
        i.proc.send_signal(signal.SIGHUP)
        i.wait_log(r"reload: generation 2 is in force")
        self.assertEqual(re.findall(r"(\S+): file (resolv|ca)", i.log()),
                         [("egressd", "resolv"), ("egressd", "ca")] * 2)

    def test_procs(self):
        i = self.instance().start()
        i.wait_log(r"policyd: procs myelind %d 0 up" % i.proc.pid)
        for name, pid in i.pids().items():
            i.wait_log(r"policyd: procs %s %d 0 up" % (name, pid))
        os.kill(i.pid("judged"), signal.SIGKILL)
        i.wait_log(r"policyd: procs judged 0 1 down")
        i.wait_log(r"policyd: procs judged \d+ 1 up")

    def test_without_operator(self):
        """No operator socket: no apid for it; policyd is ready all the same."""
        i = self.instance()
        i.configure("listen api \"%s\"\nprivate yes\nstate \"%s/state\"\n"
                    "instance %s\n" %
                    (i.api, i.dir, os.path.basename(i.dir).replace(
                        ".", "-").replace("_", "-").lower()))
        i.argv = lambda *more: [MYELIND, *i.options, *more, "-f",
                                i.dir + "/myelin.conf", "-L", i.tree]
        i.start()
        self.assertIn("5 processes", i.log())
        self.assertNotIn("apid-operator", i.log())
        self.assertEqual(i.stop(), 0)

    def test_mode_and_group(self):
        i = self.instance()
        i.configure("listen api \"%s/sub/a\" group \"daemon\" mode 0640\n" %
                    i.dir)
        i.start()
        st = os.stat(i.dir + "/sub/a")
        self.assertEqual(stat.S_IMODE(st.st_mode), 0o640)
        self.assertEqual(st.st_gid, 1)

    def test_trace(self):
        i = self.instance(options=("-d", "-v", "-T", "imsg")).start()
        for word in ("START", "CONFIG", "COMMIT", "PLUMB", "READY"):
            self.assertRegex(i.log(), r"myelind: .*\b%s\b" % word)

    def test_notify(self):
        with tempfile.TemporaryDirectory() as d, \
                socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.bind(d + "/n")
            s.settimeout(60)
            i = self.instance(env={"NOTIFY_SOCKET": d + "/n",
                                   "WATCHDOG_USEC": "400000"}).start()
            seen = b""
            while b"READY=1" not in seen or b"WATCHDOG=1" not in seen:
                seen += s.recv(4096) + b"\n"
            i.stop()
            while b"STOPPING=1" not in seen:
                seen += s.recv(4096) + b"\n"


class Refused(SupervisordTest):
    def refused(self, i, pattern, seconds=90):
        i.start(wait=False)
        self.assertEqual(i.proc.wait(timeout=seconds), 1, i.log())
        self.assertRegex(i.log(), pattern)
        self.assertFalse(os.path.exists(i.api))

    def test_second_instance(self):
        i = self.instance().start()
        r = subprocess.run(i.argv(), capture_output=True, text=True,
                           timeout=90)
        self.assertEqual(r.returncode, 1)
        self.assertIn("another instance uses it", r.stderr)
        self.assertIsNone(connect(i.api))

    def test_live_socket(self):
        i = self.instance().start()
        other = self.instance()
        other.configure('listen api "%s"\n' % i.api)
        other.start(wait=False)
        self.assertEqual(other.proc.wait(timeout=90), 1)
        self.assertIn("%s: another instance listens on it" % i.api,
                      other.log())
        self.assertIsNone(connect(i.api))

    def test_stale_socket(self):
        i = self.instance()
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(i.api)
        self.assertEqual(connect(i.api), "ConnectionRefusedError")
        i.start()
        self.assertIsNone(connect(i.api))

    def test_not_root(self):
        i = self.instance()
        os.chmod(i.dir + "/myelin.conf", 0o644)
        r = subprocess.run(i.argv(), capture_output=True, text=True,
                           timeout=90, user=65534, group=65534)
        self.assertEqual(r.returncode, 1)
        self.assertIn("root starts this", r.stderr)

    def test_missing_users(self):
        i = self.instance()
        i.configure(CONF + "private no\n")
        self.refused(i, r"there is no user _myelin-api")

    def test_configuration_error(self):
        i = self.instance(conf="nonsense\nmemory 1\n")
        self.refused(i, r"myelin.conf:1: unknown keyword \"nonsense\"")
        self.assertRegex(i.log(), r"myelin.conf:2: memory 1 is outside")

    def test_child_refuses(self):
        i = self.instance(conf=CONF + "\npreset refused { }\n")
        self.refused(i, r"myelin.conf:3: preset \"refused\" is refused "
                     r"\(says policyd\)")

    def test_child_dies_at_start(self):
        i = self.instance(conf=CONF + "environment allow FAKE_EXIT\n")
        self.refused(i, r"judged ended before it was ready")

    def test_child_never_ready(self):
        i = self.instance(conf=CONF + "environment allow FAKE_UNREADY\n")
        self.refused(i, r"judged \(pid \d+\) was not ready within \d+ s: it "
                     r"did not say READY", seconds=90)

    def test_child_at_work(self):
        """What takes long is not what stands still: it is waited for."""
        i = self.instance(conf=CONF + "environment allow FAKE_BUSY\n")
        i.start(wait=False)
        i.wait_log(r"judged \(pid \d+\) is not ready after \d+ s and at "
                   r"work", seconds=90)
        i.wait_log(r"myelind: ready: ", seconds=90)
        self.assertEqual(i.stop(), 0)

    def test_child_speaks_garbage(self):
        i = self.instance(conf=CONF + "environment allow FAKE_GARBAGE\n")
        self.refused(i, r"judged \(pid \d+\): control channel: ")

    def test_program_of_others(self):
        i = self.instance()
        os.chmod(i.tree + "/judged/judged", 0o777)
        self.refused(i, r"judged/judged: mode 0777 lets group or others")

    def test_declaration_of_others(self):
        i = self.instance()
        os.chown(i.tree + "/judged/tools/bash.json", 1234, 0)
        self.refused(i, r"bash.json: belongs to uid 1234")

    def test_unknown_tool(self):
        i = self.instance(conf=CONF + "preset p { deny tool bsh }\n")
        self.refused(i, r"myelin.conf:2: preset \"p\": there is no tool "
                     r"\"bsh\"")

    def test_path_too_long(self):
        base = tempfile.mkdtemp(prefix="myelin-sv.")
        self.addCleanup(shutil.rmtree, base)
        long = os.path.join(base, "x" * 100)
        os.mkdir(long)
        i = self.instance(dir=long)
        self.refused(i, r"a socket path of \d+ bytes; the most is 107")


class Check(SupervisordTest):
    def test_ok(self):
        i = self.instance()
        r = i.check()
        self.assertEqual((r.returncode, r.stdout), (0, "configuration OK\n"),
                         r.stderr)
        self.assertFalse(os.path.exists(i.api))
        self.assertFalse(os.path.exists(i.dir + "/state"))

    def test_reads_alone(self):
        """-N needs no program and no declaration, and asks none."""
        i = self.instance()
        argv = [MYELIND, "-N", "-p", i.dir, "-L", i.dir]

        def check():
            return subprocess.run(argv, capture_output=True, text=True,
                                  timeout=90)
        r = check()
        self.assertEqual((r.returncode, r.stdout), (0,
                         "configuration reads\n"), r.stderr)
        self.assertFalse(os.path.exists(i.api))
        # there is nothing at -L: the whole check says so
        r = subprocess.run(argv[:1] + ["-n"] + argv[2:], capture_output=True,
                           text=True, timeout=90)
        self.assertEqual(r.returncode, 1)
        self.assertIn("tools", r.stderr)
        i.configure("# one\nnonsense yes\n")
        r = check()
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertIn("myelin.conf:2: unknown keyword", r.stderr)

    def test_normal_form(self):
        """-nn prints what reads back as the same."""
        i = self.instance(conf=CONF + "x = 2G\nmemory $x; cpu 1.250\n")
        r = i.check("-n")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("\nmemory 2G\ncpu 1.25\n", r.stdout)
        self.assertIn('listen api "%s" mode 0666' % i.api, r.stdout)
        i.configure(r.stdout)
        again = i.check("-n")
        self.assertEqual((again.returncode, again.stdout), (0, r.stdout))
        self.assertEqual(i.check().stdout, "configuration OK\n")
        i.configure("nonsense")
        again = i.check("-n")
        self.assertEqual((again.returncode, again.stdout), (1, ""))

    def test_unprivileged(self):
        i = self.instance()
        os.chmod(i.dir + "/myelin.conf", 0o644)
        r = i.check(user=65534, group=65534, extra_groups=[])
        self.assertEqual((r.returncode, r.stdout), (0, "configuration OK\n"),
                         r.stderr)

    def test_beside_a_running_one(self):
        i = self.instance().start()
        r = i.check()
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIsNone(connect(i.api))

    def test_errors(self):
        i = self.instance(conf="x\ny\n")
        r = i.check()
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertEqual(len(r.stderr.splitlines()), 2, r.stderr)

    def test_child_refuses(self):
        i = self.instance(conf=CONF + "preset refused { }\n")
        r = i.check()
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertIn("myelin.conf:2: preset \"refused\" is refused (says "
                      "policyd)", r.stderr)
        i.configure(CONF + "environment allow FAKE_REFUSE\n")
        r = i.check()
        self.assertEqual(r.returncode, 1)
        self.assertIn("judged: told to refuse", r.stderr)

    def test_child_says_nothing(self):
        i = self.instance(conf=CONF + "environment allow FAKE_MUTE\n")
        r = i.check()
        self.assertEqual(r.returncode, 1)
        self.assertIn("judged did not answer", r.stderr)

    def test_config_of_others(self):
        i = self.instance()
        os.chmod(i.dir + "/myelin.conf", 0o666)
        r = i.check()
        self.assertEqual(r.returncode, 1)
        self.assertIn("mode 0666", r.stderr)


class Blocks(SupervisordTest):
    def block(self, i):
        return int(re.findall(r"uids (\d+) to", i.log())[-1])

    def test_two_instances(self):
        a = self.instance().start()
        b = self.instance().start()
        self.assertNotEqual(self.block(a), self.block(b))
        self.assertGreaterEqual(self.block(a), 1900065536)

    def far_block(self):
        """One that no other instance of this host is likely to be given."""
        return 1900065536 + 4096 * random.randrange(10000, 90000)

    def test_same_block_again(self):
        """Its files keep their owner, if that block is still free."""
        block = self.far_block()
        a = self.instance(conf=CONF + "uids %d 4096\n" % block).start()
        a.stop()
        a.configure(CONF)
        a.start(wait=False)
        a.wait_log(r"myelind: ready", count=2)
        self.assertEqual(self.block(a), block)

    def test_another_block(self):
        """Its files go along with it, if that block is not free."""
        block = self.far_block()
        a = self.instance(conf=CONF + "uids %d 4096\n" % block).start()
        with open(a.dir + "/state/policy/state.db", "w") as f:
            os.fchown(f.fileno(), block + 4, block + 4)
        a.stop()
        b = self.instance(conf=CONF + "uids %d 4096\n" % block).start()
        self.assertEqual(self.block(b), block)
        a.configure(CONF)
        a.start(wait=False)
        a.wait_log(r"myelind: ready", count=2)
        self.assertNotEqual(self.block(a), block)
        for name in ("", "state.db"):
            st = os.stat(a.dir + "/state/policy/" + name)
            self.assertEqual(st.st_uid, self.block(a) + 4)

    def test_taken(self):
        a = self.instance().start()
        b = self.instance(conf=CONF + "uids %d 4096\n" % self.block(a))
        b.start(wait=False)
        self.assertEqual(b.proc.wait(timeout=90), 1)
        self.assertRegex(b.log(), r"are in use by instance")

    def test_same_name(self):
        self.instance(conf=CONF + "instance twin-sv\n").start()
        b = self.instance(conf=CONF + "instance twin-sv\n")
        b.start(wait=False)
        self.assertEqual(b.proc.wait(timeout=90), 1)
        self.assertIn('instance "twin-sv" runs already', b.log())


if __name__ == "__main__":
    unittest.main()
