"""supervisord alone, with tests/system/fake_child for every child.

Starts, kills, stops and starts again; each instance is private, in a
directory of its own.
"""
import os
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("MYELIN_BUILD",
                                       os.path.join(TOP, "build")))
MYELIND = os.path.join(BUILD, "supervisord", "myelind")
FAKE = os.path.join(BUILD, "tests", "system", "fake_child")
PROGRAMS = ("apid/apid", "judged/judged", "policyd/policyd",
            "egressd/egressd", "neurond/neurond", "neurond/maker", "neurond/spawner",
            "neurond/neuron-tool")
CHILDREN = ("apid", "apid-operator", "policyd", "judged", "egressd",
            "neurond")
CONF = 'principal user root { preset standard; workspace "/*"; owner any }\n'


def status_of(pid):
    with open("/proc/%d/status" % pid) as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f
                    if ":\t" in line)


def alive(pid):
    try:
        return status_of(pid)["State"][0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def connect(path):
    """None, or the name of the error."""
    with socket.socket(socket.AF_UNIX) as s:
        try:
            s.connect(path)
        except OSError as e:
            return e.__class__.__name__
    return None


class Instance:
    """A myelind with fake children, at a directory of its own."""

    def __init__(self, conf=CONF, options=("-d", "-v"), env=None, dir=None):
        self.dir = dir or tempfile.mkdtemp(prefix="myelin-sv.")
        os.chmod(self.dir, 0o755)
        self.api = os.path.join(self.dir, "api.sock")
        self.operator = os.path.join(self.dir, "operator.sock")
        self.tree = os.path.join(self.dir, "tree")
        self.log_path = os.path.join(self.dir, "log")
        self.options = options
        self.env = env
        self.proc = None
        self.make_tree()
        self.configure(conf)

    def make_tree(self):
        if os.path.exists(self.tree):
            return
        for program in PROGRAMS:
            path = os.path.join(self.tree, program)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copy(FAKE, path)
            os.chmod(path, 0o755)
        tools = os.path.join(self.tree, "judged", "tools")
        os.makedirs(tools)
        for tool in ("bash", "exec"):
            with open(os.path.join(tools, tool + ".json"), "w") as f:
                f.write("{}\n")
        subprocess.run(["chmod", "-R", "go-w", self.tree], check=True)

    def configure(self, conf):
        with open(os.path.join(self.dir, "myelin.conf"), "w") as f:
            f.write(conf)
        os.chmod(f.name, 0o600)

    def argv(self, *more):
        return [MYELIND, *self.options, *more, "-p", self.dir, "-L",
                self.tree]

    def start(self, wait=True):
        env = dict(os.environ, SECRET="not for children")
        env.update(self.env or {})
        with open(self.log_path, "ab") as log:
            self.proc = subprocess.Popen(self.argv(), stderr=log, stdout=log,
                                         stdin=subprocess.DEVNULL, env=env)
        if wait:
            self.wait_log(r"myelind: ready: ")
        return self

    def check(self, *more, **kw):
        return subprocess.run(self.argv("-n", *more), capture_output=True,
                              text=True, timeout=60, **kw)

    def log(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def wait_log(self, pattern, seconds=20, count=1):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.findall(pattern, self.log())
            if len(found) >= count:
                return found
            if self.proc.poll() is not None and \
                    len(re.findall(pattern, self.log())) < count:
                break
            time.sleep(0.02)
        raise AssertionError("no %r in the log:\n%s" % (pattern, self.log()))

    def pid(self, name):
        """Of the latest child of that name."""
        return int(re.findall(r"myelind: %s \(pid (\d+)\) is started" % name,
                              self.log())[-1])

    def pids(self):
        return {name: self.pid(name) for name in CHILDREN}

    def wait_up(self, name, pid_before, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pid = self.pid(name)
            if pid != pid_before and re.search(
                    r"myelind: %s \(pid %d\) is up again" % (name, pid),
                    self.log()):
                return pid
            time.sleep(0.02)
        raise AssertionError("%s is not up again:\n%s" % (name, self.log()))

    def stop(self, sig=signal.SIGTERM, seconds=20):
        """Its exit status."""
        if self.proc.poll() is None:
            self.proc.send_signal(sig)
        return self.proc.wait(timeout=seconds)

    def end(self):
        if self.proc is not None:
            if self.proc.poll() is None:
                self.proc.terminate()
                try:
                    self.proc.wait(timeout=20)
                except subprocess.TimeoutExpired:
                    self.proc.kill()
                    self.proc.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class SupervisordTest(unittest.TestCase):
    def instance(self, *args, **kw):
        i = Instance(*args, **kw)
        self.addCleanup(i.end)
        return i

    def assert_gone(self, pids):
        end = time.monotonic() + 5
        while any(alive(p) for p in pids) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual([p for p in pids if alive(p)], [])


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
        self.assertFalse(os.path.exists("/run/myelin-uids/%d" % start))

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
            s.settimeout(10)
            i = self.instance(env={"NOTIFY_SOCKET": d + "/n",
                                   "WATCHDOG_USEC": "400000"}).start()
            seen = b""
            while b"READY=1" not in seen or b"WATCHDOG=1" not in seen:
                seen += s.recv(4096) + b"\n"
            i.stop()
            while b"STOPPING=1" not in seen:
                seen += s.recv(4096) + b"\n"


class Refused(SupervisordTest):
    def refused(self, i, pattern, seconds=20):
        i.start(wait=False)
        self.assertEqual(i.proc.wait(timeout=seconds), 1, i.log())
        self.assertRegex(i.log(), pattern)
        self.assertFalse(os.path.exists(i.api))

    def test_second_instance(self):
        i = self.instance().start()
        r = subprocess.run(i.argv(), capture_output=True, text=True,
                           timeout=20)
        self.assertEqual(r.returncode, 1)
        self.assertIn("another instance uses it", r.stderr)
        self.assertIsNone(connect(i.api))

    def test_live_socket(self):
        i = self.instance().start()
        other = self.instance()
        other.configure('listen api "%s"\n' % i.api)
        other.start(wait=False)
        self.assertEqual(other.proc.wait(timeout=20), 1)
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
                           timeout=20, user=65534, group=65534)
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
        self.refused(i, r"judged \(pid \d+\) was not ready within 1\d s: it "
                     r"did not say READY", seconds=40)

    def test_child_at_work(self):
        """What takes long is not what stands still: it is waited for."""
        i = self.instance(conf=CONF + "environment allow FAKE_BUSY\n")
        i.start(wait=False)
        i.wait_log(r"judged \(pid \d+\) is not ready after 1\d s and at "
                   r"work", seconds=40)
        i.wait_log(r"myelind: ready: ", seconds=60)
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
                                  timeout=20)
        r = check()
        self.assertEqual((r.returncode, r.stdout), (0,
                         "configuration reads\n"), r.stderr)
        self.assertFalse(os.path.exists(i.api))
        # there is nothing at -L: the whole check says so
        r = subprocess.run(argv[:1] + ["-n"] + argv[2:], capture_output=True,
                           text=True, timeout=20)
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


class Death(SupervisordTest):
    def test_each_alone(self):
        """One dies, it comes back, its neighbours get new ends and stay."""
        links = {"apid": ["agent"], "apid-operator": ["operator"],
                 "judged": ["judge"], "neurond": ["launch"],
                 "egressd": ["egress"],
                 "policyd": ["agent", "operator", "judge", "launch",
                             "egress"]}
        owners = {"agent": "apid", "operator": "apid-operator",
                  "judge": "judged", "launch": "neurond",
                  "egress": "egressd"}
        i = self.instance().start()
        for name in CHILDREN:
            before = i.pids()
            plumbs = {(owner, kind): len(re.findall(
                r"%s: plumb %s\n" % (owner, kind), i.log()))
                for kind, o in owners.items() for owner in (o, "policyd")}
            os.kill(before[name], signal.SIGKILL)
            i.wait_up(name, before[name])
            after = i.pids()
            for other in CHILDREN:
                if other != name:
                    self.assertEqual(before[other], after[other], name)
                    self.assertTrue(alive(after[other]))
            for kind in links[name]:
                for owner in (owners[kind], "policyd"):
                    i.wait_log(r"\b%s: plumb %s\n" % (owner, kind),
                               count=plumbs[(owner, kind)] + 1)
            self.assertIsNone(connect(i.api))
        i.wait_log(r"killed by SIGKILL", count=len(CHILDREN))
        self.assertEqual(i.stop(), 0)

    def test_policyd_gets_all_rows_again(self):
        i = self.instance().start()
        before = i.pid("policyd")
        n = len(re.findall(r"policyd: procs myelind", i.log()))
        os.kill(before, signal.SIGKILL)
        i.wait_up("policyd", before)
        i.wait_log(r"policyd: procs myelind", count=n + 1)
        i.wait_log(r"policyd: procs neurond %d 0 up" % i.pid("neurond"),
                   count=2)

    def test_first_restart_is_at_once(self):
        i = self.instance().start()
        before = i.pid("judged")
        begin = time.monotonic()
        os.kill(before, signal.SIGKILL)
        i.wait_up("judged", before)
        self.assertLess(time.monotonic() - begin, 3)
        self.assertNotIn("judged is started again in", i.log())

    def kill_five(self, i, name):
        for n in range(5):
            pid = i.pid(name)
            os.kill(pid, signal.SIGKILL)
            if n < 4:
                i.wait_up(name, pid)

    def test_a_channel_that_dies_alone(self):
        """Its ends live: the one that is not policyd is started again."""
        i = self.instance(conf=CONF + "environment allow FAKE_LOSE\n").start()
        before = i.pids()
        i.wait_log(r"myelind: the channel judge is dead, though policyd and "
                   r"judged live: judged \(pid %d\) is started again" %
                   before["judged"])
        i.wait_up("judged", before["judged"])
        after = i.pids()
        self.assertEqual({n for n in before if before[n] != after[n]},
                         {"judged"})
        i.wait_log(r"policyd: plumb judge", count=2)

    def test_five_deaths_of_judged(self):
        i = self.instance().start()
        pids = i.pids()
        self.kill_five(i, "judged")
        self.assertEqual(i.proc.wait(timeout=20), 1)
        self.assertRegex(i.log(), r"judged died 5 times within 60 s: the "
                         r"service ends")
        self.assertRegex(i.log(), r"judged is started again in 400 ms")
        self.assert_gone(pids.values())
        self.assertFalse(os.path.exists(i.api))

    def test_five_deaths_of_apid(self):
        """Its socket goes, the rest stays; policyd restarts all the same."""
        i = self.instance().start()
        self.kill_five(i, "apid")
        i.wait_log(r"apid died 5 times within 60 s: .*api.sock stays down")
        self.assertEqual(connect(i.api), "FileNotFoundError")
        self.assertIsNone(connect(i.operator))
        i.wait_log(r"policyd: procs apid 0 4 failed")
        before = i.pid("policyd")
        os.kill(before, signal.SIGKILL)
        i.wait_up("policyd", before)
        # A minute later it is tried again, socket and all.
        before = i.pid("apid")
        i.wait_log(r"apid is tried again", seconds=70)
        i.wait_up("apid", before)
        self.assertIsNone(connect(i.api))
        self.assertEqual(i.stop(), 0)

    def test_five_deaths_of_egressd(self):
        """It is off then, and tried again later; all else goes on."""
        i = self.instance().start()
        pids = i.pids()
        self.kill_five(i, "egressd")
        i.wait_log(r"egressd died 5 times within 60 s: egress stays down")
        i.wait_log(r"policyd: procs egressd 0 4 failed")
        self.assertEqual({n: p for n, p in i.pids().items()
                          if n != "egressd"},
                         {n: p for n, p in pids.items() if n != "egressd"})
        # one that asks for its end of the channel is no worse off
        os.kill(pids["policyd"], signal.SIGKILL)
        i.wait_up("policyd", pids["policyd"])
        i.configure(CONF)
        i.proc.send_signal(signal.SIGHUP)
        i.wait_log(r"reload: generation 2 is in force")
        self.assertEqual(i.stop(), 0)

    def test_silent(self):
        """A child that answers no ping for 30 s is killed and comes back."""
        i = self.instance().start()
        before = i.pid("judged")
        os.kill(before, signal.SIGSTOP)
        i.wait_log(r"judged \(pid %d\) was silent for 30 s" % before,
                   seconds=60)
        i.wait_up("judged", before)

    def test_supervisor_killed(self):
        """Nothing outlives it, and the next one starts where it was."""
        i = self.instance().start()
        pids = i.pids()
        i.proc.kill()
        i.proc.wait()
        self.assert_gone(pids.values())
        self.assertTrue(os.path.exists(i.api))
        os.unlink(i.log_path)
        i.start()
        self.assertIsNone(connect(i.api))

    def test_hanging_child_and_killed_supervisor(self):
        i = self.instance(conf=CONF + "environment allow FAKE_HANG\n")
        i.start()
        pid = i.pid("judged")
        i.proc.kill()
        i.proc.wait()
        self.addCleanup(lambda: alive(pid) and os.kill(pid, signal.SIGKILL))
        others = [p for n, p in i.pids().items() if n != "judged"]
        self.assert_gone(others)


class Stop(SupervisordTest):
    ORDER = list(CHILDREN)

    def test_order(self):
        for sig in (signal.SIGTERM, signal.SIGINT):
            i = self.instance().start()
            pids = i.pids()
            self.assertEqual(i.stop(sig), 0)
            self.assertEqual(re.findall(r"myelind: (\S+) \(pid \d+\) stopped",
                                        i.log()), self.ORDER)
            self.assertEqual(re.findall(r"^(\S+): stop$", i.log(), re.M),
                             self.ORDER)
            self.assert_gone(pids.values())

    def test_deadline(self):
        i = self.instance(conf=CONF + "environment allow FAKE_HANG\n").start()
        begin = time.monotonic()
        self.assertEqual(i.stop(), 0)
        self.assertGreater(time.monotonic() - begin, 1.5)
        self.assertLess(time.monotonic() - begin, 8)
        self.assertRegex(i.log(), r"judged \(pid \d+\) did not stop in time")
        self.assertRegex(i.log(), r"neurond \(pid \d+\) stopped")

    def test_second_signal(self):
        i = self.instance(conf=CONF + "environment allow FAKE_HANG\n").start()
        begin = time.monotonic()
        i.proc.send_signal(signal.SIGTERM)
        i.wait_log(r"judged: stop")
        i.proc.send_signal(signal.SIGTERM)
        self.assertEqual(i.proc.wait(timeout=10), 0)
        self.assertLess(time.monotonic() - begin, 1.9)

    def test_during_start(self):
        i = self.instance(conf=CONF + "environment allow FAKE_UNREADY\n")
        i.start(wait=False)
        i.wait_log(r"judged: commit")
        self.assertEqual(i.stop(), 0)
        self.assertFalse(os.path.exists(i.api))


class Reload(SupervisordTest):
    """A new generation: for all children, or for none."""

    def hang_up(self, i, conf=None):
        if conf is not None:
            i.configure(conf)
        i.proc.send_signal(signal.SIGHUP)

    def commits(self, i):
        """(child, generation), in order."""
        return [(name, int(n)) for name, n in re.findall(
            r"(?m)^(\S+): commit (\d+)$", i.log())]

    def good(self, i, conf=None, generation=2):
        self.hang_up(i, conf)
        i.wait_log(r"myelind: reload: generation %d is in force" % generation)

    def refused(self, i, conf, pattern, seconds=20, stays=1, count=1):
        """Nothing changes, and why is said in the log and to policyd."""
        pids = i.pids()
        commits = self.commits(i)
        self.hang_up(i, conf)
        i.wait_log(r"myelind: reload refused: generation %d stays in force" %
                   stays, seconds, count)
        self.assertRegex(i.log(), pattern)
        i.wait_log(r"policyd: reload %d refused 1 .*%s" % (stays, pattern))
        self.assertEqual([c for c in self.commits(i) if c[1] != stays],
                         [c for c in commits if c[1] != stays])
        return pids

    def test_good(self):
        i = self.instance().start()
        pids = i.pids()
        self.good(i, CONF + "memory 2G\n")
        self.assertEqual(self.commits(i)[len(CHILDREN):], [
            (name, 2) for name in ("neurond", "judged", "egressd", "policyd",
                                   "apid", "apid-operator")])
        i.wait_log(r"policyd: reload 2 ok 1 \n")
        self.assertEqual(i.pids(), pids)
        self.assertIsNone(connect(i.api))
        self.good(i, generation=3)
        self.assertNotIn("abort", i.log())
        self.assertEqual(i.stop(), 0)

    def test_started_again_with_the_new_one(self):
        i = self.instance().start()
        self.good(i, CONF + "memory 2G\n")
        i.configure("nonsense\n")
        for name in CHILDREN:
            before = i.pid(name)
            os.kill(before, signal.SIGKILL)
            i.wait_up(name, before)
        self.assertEqual([c for c in self.commits(i)[2 * len(CHILDREN):]],
                         [(name, 2) for name in CHILDREN])
        i.wait_log(r"policyd: reload 2 ok 0 \n")

    def test_syntax(self):
        i = self.instance().start()
        self.refused(i, CONF + "\nmemroy 2G\n",
                     r"myelin\.conf:3: unknown keyword \"memroy\"")
        self.good(i, CONF, 3)
        self.assertNotIn("abort", i.log())

    def test_reference(self):
        i = self.instance().start()
        self.refused(i, CONF + "principal user bin { preset nosuch }\n",
                     r"myelin\.conf:2: .*there is no preset \"nosuch\"")

    def test_tool(self):
        i = self.instance().start()
        self.refused(i, CONF + "preset p { allow tool nosuch }\n",
                     r"myelin\.conf:2: .*there is no tool \"nosuch\"")

    def test_mode(self):
        i = self.instance().start()
        i.configure(CONF)
        os.chmod(i.dir + "/myelin.conf", 0o666)
        self.refused(i, None, r"myelin\.conf: mode 0666 lets group or others "
                     "write it")

    def test_missing(self):
        i = self.instance().start()
        os.unlink(i.dir + "/myelin.conf")
        self.refused(i, None, r"myelin\.conf: No such file")

    def test_what_a_start_alone_changes(self):
        i = self.instance().start()
        n = 0
        for line, words in (("instance other", "instance is another now"),
                            ("state /elsewhere", "state is another now"),
                            ("uids 1900000000 4096", "uids is another now"),
                            ("cgroup parent /x", "cgroup parent is another"),
                            ("listen api /x/api", "listen api is another"),
                            ('listen operator "%s" mode 0600' % i.operator,
                             "listen operator is another now"),
                            ("neurons 33", "neurons is more than at")):
            n += 1
            self.refused(i, CONF + line + "\n", r"myelin\.conf:2: " + words,
                         count=n)
        self.good(i, CONF + "neurons 31\n", n + 2)

    def test_a_child_refuses(self):
        i = self.instance().start()
        self.refused(i, CONF + "preset refused { }\n",
                     r"myelin\.conf:2: preset \"refused\" is refused \(says "
                     r"policyd\)")
        # whoever had agreed, or was still to answer, forgets it
        for name in CHILDREN:
            if name != "policyd":
                i.wait_log(r"(?m)^%s: abort$" % name)
        self.good(i, CONF, 3)

    def test_a_child_dies(self):
        i = self.instance().start()
        before = i.pid("judged")
        pids = self.refused(i, CONF + "environment allow FAKE_MUTE\n",
                            r"judged ended before it answered")
        i.wait_up("judged", before)
        self.assertEqual([n for n in CHILDREN if i.pid(n) != pids[n]],
                         ["judged"])
        self.assertEqual(self.commits(i)[-1], ("judged", 1))
        self.good(i, CONF, 3)

    def test_a_child_does_not_answer(self):
        i = self.instance().start()
        pids = self.refused(i, CONF + "environment allow FAKE_STUCK\n",
                            r"judged did not answer to the new configuration")
        self.assertEqual(i.pids(), pids)
        os.kill(pids["judged"], signal.SIGKILL)
        i.wait_up("judged", pids["judged"])
        self.good(i, CONF, 3)

    def test_a_child_dies_too_late_to_refuse(self):
        i = self.instance().start()
        before = i.pid("judged")
        self.hang_up(i, CONF + "environment allow FAKE_DIE_LATER\n")
        i.wait_log(r"reload: generation 2 is in force")
        self.assertEqual([c for c in self.commits(i)[len(CHILDREN):]
                          if c[0] != "judged"],
                         [(n, 2) for n in ("neurond", "egressd", "policyd",
                                           "apid", "apid-operator")])
        i.wait_log(r"judged \(pid %d\) ended with status 5" % before)
        self.good(i, CONF, 3)
        self.assertEqual(i.stop(), 0)

    def test_a_child_that_hangs_too_late_to_refuse(self):
        i = self.instance().start()
        before = i.pid("judged")
        self.hang_up(i, CONF + "environment allow FAKE_STUCK_LATER\n")
        i.wait_log(r"judged \(pid %d\) did not put the new configuration in "
                   "force within 10 s: killed" % before)
        i.wait_log(r"reload: generation 2 is in force")
        self.assertEqual(i.stop(), 0)

    def test_other_declarations(self):
        """judged is a new process, and that is nobody's death."""
        i = self.instance().start()
        pids = i.pids()
        tool = os.path.join(i.tree, "judged", "tools", "exec.json")
        for n in range(6):
            before = i.pid("judged")
            with open(tool, "w") as f:
                f.write("{%s}\n" % (" " * n + " "))
            self.good(i, generation=n + 2)
            i.wait_up("judged", before)
        after = i.pids()
        self.assertEqual([n for n in CHILDREN if after[n] != pids[n]],
                         ["judged"])
        self.assertNotRegex(i.log(), r"procs judged \d+ [1-9]")
        # a file with the same bytes is the same declaration
        os.utime(tool)
        self.good(i, generation=8)
        self.assertEqual(i.pids(), after)
        # what a child gets does not follow the file
        with open(tool, "a") as f:
            f.write("{} and more\n")
        os.kill(after["judged"], signal.SIGKILL)
        i.wait_up("judged", after["judged"])

    def test_declaration_of_others(self):
        i = self.instance().start()
        os.chmod(os.path.join(i.tree, "judged", "tools", "exec.json"), 0o666)
        self.refused(i, CONF, r"exec\.json: mode 0666")

    def test_log(self):
        i = self.instance(options=("-d",))
        i.start(wait=False)
        i.wait_log(r"myelind: ready: ")
        self.assertNotIn("the log is verbose", i.log())
        self.good(i, CONF + "log verbose\n")
        for name in CHILDREN:
            i.wait_log(r"(?m)^%s: the log is verbose" % name)
        n = i.log().count("the log is verbose")
        self.good(i, CONF, 3)
        self.assertEqual(i.log().count("the log is verbose"), n)

    def test_open_files(self):
        def nofile(pid):
            with open("/proc/%d/limits" % pid) as f:
                return int(re.search(r"Max open files +(\d+)",
                                     f.read()).group(1))
        i = self.instance().start()
        before = {n: nofile(p) for n, p in i.pids().items()}
        self.hang_up(i, CONF + "connections 600\n")
        i.wait_log(r"is in force|stays in force")
        if "stays in force" in i.log():
            # without CAP_SYS_RESOURCE it is refused by name
            with open("/proc/self/status") as f:
                held = int(re.search(r"CapEff:\s+(\w+)", f.read()).group(1),
                           16)
            self.assertFalse(held & 1 << 24)
            self.assertRegex(i.log(), r"connections and calls need \d+ open "
                             "files in apid, which can't be given")
            return
        for name, pid in i.pids().items():
            more = 88 * 2 if name in ("apid", "apid-operator",
                                      "policyd") else 0
            self.assertEqual(nofile(pid), before[name] + more, name)

    def test_many_at_once(self):
        """Signals that come meanwhile are one more reload."""
        i = self.instance().start()
        for _ in range(20):
            i.proc.send_signal(signal.SIGHUP)
            time.sleep(0.002)
        time.sleep(0.5)
        self.good(i, CONF + "memory 2G\n", len(re.findall(
            r"is in force", i.log())) + 2)
        self.assertNotIn("refused", i.log())
        self.assertEqual(i.stop(), 0)

    def test_while_a_child_comes_up(self):
        """It waits for that, and is not refused."""
        i = self.instance().start()
        before = i.pid("judged")
        os.kill(before, signal.SIGKILL)
        i.wait_log(r"judged \(pid %d\) was killed" % before)
        self.good(i, CONF + "memory 2G\n")
        self.assertEqual(i.stop(), 0)

    def test_at_the_start(self):
        i = self.instance()
        i.start(wait=False)
        i.wait_log(r"judged \(pid \d+\) is started")
        i.proc.send_signal(signal.SIGHUP)
        i.wait_log(r"reload: generation 2 is in force")
        self.assertEqual(i.stop(), 0)

    def test_stop_meanwhile(self):
        i = self.instance().start()
        self.hang_up(i, CONF + "environment allow FAKE_STUCK\n")
        i.wait_log(r"neurond: file spawner", count=2)
        pids = i.pids()
        self.assertEqual(i.stop(), 0)
        self.assert_gone(pids.values())

    def test_relative_path(self):
        i = self.instance()
        i.argv = lambda *more: [MYELIND, *i.options, *more, "-f",
                                "myelin.conf", "-p", ".", "-L", i.tree]
        with open(i.log_path, "ab") as log:
            i.proc = subprocess.Popen(i.argv(), stderr=log, stdout=log,
                                      stdin=subprocess.DEVNULL, cwd=i.dir)
        i.wait_log(r"myelind: ready: ")
        self.good(i, CONF + "memory 2G\n")

    def test_notify(self):
        with tempfile.TemporaryDirectory() as d, \
                socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.bind(d + "/n")
            s.settimeout(10)
            i = self.instance(env={"NOTIFY_SOCKET": d + "/n"}).start()
            while b"READY=1" not in s.recv(4096):
                pass
            for conf, status in ((CONF, b"generation 2 in force"),
                                 ("x\n", b"reload refused: ")):
                asked = time.monotonic_ns() // 1000
                self.hang_up(i, conf)
                m = re.search(rb"RELOADING=1\nMONOTONIC_USEC=(\d+)",
                              s.recv(4096))
                self.assertTrue(m)
                self.assertGreaterEqual(int(m.group(1)), asked)
                said = s.recv(4096)
                self.assertIn(b"READY=1", said)
                self.assertIn(status, said)
            i.stop()


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
        self.assertEqual(b.proc.wait(timeout=20), 1)
        self.assertRegex(b.log(), r"are in use by instance")

    def test_same_name(self):
        self.instance(conf=CONF + "instance twin-sv\n").start()
        b = self.instance(conf=CONF + "instance twin-sv\n")
        b.start(wait=False)
        self.assertEqual(b.proc.wait(timeout=20), 1)
        self.assertIn('instance "twin-sv" runs already', b.log())


if __name__ == "__main__":
    unittest.main()
