"""Attempts to use up what there is, to outlive one's end, and to learn of
others: each is contained, its cause is told, and the next call works at once.

What is bounded is tried without our layers too, as root in namespaces to throw
away, where it is not.
"""
import os
import re
import unittest

import footprint
import throwaway
from harness import (CONFIG, SANITIZED, Instance, Workspace, descendants_of,
                     wait_for)

MIB = 1 << 20
LIMITS = """
memory 64M
pids 64
tmp 8M
home 8M
inodes 300
nofile 200
"""
TIGHT = 'profile "tight" { memory 48M; tmp 1G; inodes 1000000; nofile 4000 }\n'

# Takes what it can and says how much: 200 MiB where nobody stops it.
HOLD = r"""
import os, resource, socket, sys
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 16384),) * 2)
held, kept, end = 0, [], 200 << 20
def said(): print('HELD', held >> 20, flush=True)
block = b'x' * (1 << 20)
"""
KINDS = {
    "memfd": r"""
fd = os.memfd_create('x')
while held < end: held += os.write(fd, block)
said()
""",
    "tmpfs": r"""
fd = os.open('/dev/shm/x', os.O_WRONLY | os.O_CREAT)
while held < end: held += os.write(fd, block)
said()
""",
    "private": r"""
import mmap
m = mmap.mmap(-1, end)
for n in range(0, end, 4096): m[n] = 1; held = n
held = end
said()
""",
    "pipes": r"""
try:
    while held < end:
        r, w = os.pipe()
        os.set_blocking(w, False)
        kept += [r, w]
        try:
            while True: held += os.write(w, block[:65536])
        except BlockingIOError: pass
except OSError: pass
said()
""",
    "sockets": r"""
try:
    while held < end:
        a, b = socket.socketpair()
        a.setblocking(False)
        kept += [a, b]
        try:
            while True: held += a.send(block[:65536])
        except BlockingIOError: pass
except OSError: pass
said()
"""}


class Bounds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(CONFIG.replace(
            "preset", 'profile "default", "tight"; preset', 1) + LIMITS +
            TIGHT)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def python(self, code, **more):
        r = self.i.call("python", {"code": code}, **more)
        # whatever became of it
        self.assertEqual(self.i.bash("echo on")["stdout"], "on\n")
        return r

    def number(self, text, word="HELD"):
        return int(re.search(word + r" (\d+)", text).group(1))

    @unittest.skipIf(SANITIZED, "sanitizers take memory of their own")
    def test_056_memory_of_every_kind(self):
        for kind, code in KINDS.items():
            r = self.python(HOLD + code, profile="tight")
            if r["reason"] is None:
                # bounded before that: descriptors, pages of pipes
                self.assertLess(self.number(r["stdout"]), 64, (kind, r))
            else:
                self.assertEqual((r["state"], r["reason"]),
                                 ("failed", "oom_killed"), (kind, r))
            status, text = throwaway.python(HOLD + code)
            self.assertGreater(self.number(text), 64, (kind, text))

    def test_057_disk_and_inodes(self):
        """A sum of bytes, then a number of names, in each place."""
        code = r"""
import os, sys
for d in sys.argv[1:] or ['/tmp', '/dev/shm', '/home/agent']:
    held, error = 0, 0
    try:
        with open(d + '/big', 'wb', 0) as f:
            while held < 64 << 20: held += f.write(b'x' * (1 << 20))
    except OSError as e: error = e.errno
    print(d, 'HELD', held >> 20, error)
    os.unlink(d + '/big')
    n, error = 0, 0
    try:
        for n in range(2000): os.close(os.open('%s/%d' % (d, n), os.O_CREAT))
    except OSError as e: error = e.errno
    print(d, 'NAMES', n, error)
"""
        r = self.python(code)
        lines = r["stdout"].splitlines()
        self.assertEqual(len(lines), 6, r)
        for line in lines:
            _, what, n, error = line.split()
            self.assertEqual(error, "28", line)
            self.assertLessEqual(int(n), 8 if what == "HELD" else 300, line)
        status, text = throwaway.python(code)
        self.assertEqual(re.findall(r"/tmp (\S+) (\d+) 0", text),
                         [("HELD", "64"), ("NAMES", "1999")], text)

    def test_058_a_reader_that_is_gone(self):
        """No newline, NULs; who asked hangs up, and the call is bounded."""
        c = self.i.connection()
        c.request("POST", "/v1/calls", b'{"tool": "exec", "wait_ms": 20000, '
                  b'"timeout_ms": 2000, "args": {"argv": ["cat", '
                  b'"/dev/zero"]}}', {"Content-Type": "application/json"})
        wait_for(lambda: self.i.get("/v1/calls")[1]["calls"], 60)
        c.close()
        wait_for(lambda: all(
            k["state"] not in ("queued", "running")
            for k in self.i.get("/v1/calls")[1]["calls"]), 60)
        self.assertEqual(self.i.bash("echo on")["stdout"], "on\n")

    def test_059_descriptors_and_zombies(self):
        code = r"""
import os
n = 0
try:
    for n in range(3000): os.open('/dev/null', os.O_RDONLY)
except OSError as e: error = e.errno
else: error = 0
os.closerange(3, 4000)
print('FILES', n, error)
pids, error = [], 0
try:
    for _ in range(1000):
        pid = os.fork()
        if pid == 0: os._exit(0)
        pids.append(pid)
except OSError as e: error = e.errno
print('ZOMBIES', len(pids), error)
for p in pids: os.waitpid(p, 0)
"""
        r = self.python(code)
        self.assertLessEqual(self.number(r["stdout"], "FILES"), 200, r)
        self.assertLess(self.number(r["stdout"], "ZOMBIES"), 64, r)
        status, text = throwaway.python(
            "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, "
            "(4000, 4000))\n" + code)
        self.assertEqual(self.number(text, "FILES"), 2999, text)
        self.assertEqual(self.number(text, "ZOMBIES"), 1000, text)

    def test_059_queues_of_the_kernel(self):
        """Shared memory, message queues, watches and signals that wait."""
        code = r"""
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
def count(word, most, what):
    n = 0
    while n < most:
        r = what(n)
        if r == -1: break
        n += 1
    print(word, n)
libc.shmat.restype = ctypes.c_void_p
def shm(n):
    i = libc.shmget(n + 1, 1 << 20, 0o1600)
    if i == -1: return -1
    p = libc.shmat(i, None, 0)
    if p is None or p == ctypes.c_void_p(-1).value: return -1
    ctypes.memset(p, 1, 1 << 20)
    return 0
class attr(ctypes.Structure):
    _fields_ = [(n, ctypes.c_long) for n in
                ('flags', 'max', 'size', 'cur', 'a', 'b', 'c', 'd')]
at = attr(0, 10, 8192)
mq = getattr(libc, 'mq_open', None) or ctypes.CDLL('librt.so.1',
                                                    use_errno=True).mq_open
count('MQ', 20, lambda n: mq(b'/m%d' % n, 0o102, 0o600, ctypes.byref(at)))
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
class value(ctypes.Union):
    _fields_ = [('p', ctypes.c_void_p)]
count('PENDING', 20000, lambda n: libc.sigqueue(os.getpid(),
      int(signal.SIGRTMIN), value(n)))
count('WATCHES', 3000, lambda n: libc.inotify_init())
os.closerange(3, 4000)
count('SHM', 128, shm)
"""
        r = self.python(code)
        self.assertEqual(self.number(r["stdout"], "MQ"), 0, r)
        self.assertLess(self.number(r["stdout"], "PENDING"), 10000, r)
        self.assertLessEqual(self.number(r["stdout"], "WATCHES"), 200, r)
        if r["reason"] is None:
            self.assertLess(self.number(r["stdout"], "SHM"), 64, r)
        else:
            self.assertEqual(r["reason"], "oom_killed", r)
        status, text = throwaway.python(
            "import resource as r\n"
            "for w in (r.RLIMIT_SIGPENDING, r.RLIMIT_MSGQUEUE):\n"
            "  try: r.setrlimit(w, (1 << 26, 1 << 26))\n"
            "  except ValueError: pass\n" + code)
        self.assertEqual(self.number(text, "SHM"), 128, text)
        self.assertGreater(self.number(text, "MQ"), 0, text)
        # far below what all of root's processes have together, timers included
        self.assertEqual(self.number(text, "PENDING"), 20000, text)

    def test_060_one_that_stops_itself(self):
        """No stop is taken for an end, and none outlasts the time."""
        for script in ("kill -STOP $$; echo on", "kill -STOP 0; echo on",
                       "sleep 60 & kill -STOP $!; kill -STOP $$"):
            r = self.i.bash(script, timeout_ms=1000)
            self.assertEqual((r["state"], r["reason"], r["stdout"]),
                             ("failed", "timed_out", ""), r)
        self.assertEqual(self.i.bash("echo on")["stdout"], "on\n")
        # one that is continued goes on: its stop ended nothing
        r = self.i.bash("(while sleep 0.1; do kill -CONT $$ || exit; done) "
                        ">/dev/null 2>&1 & kill -STOP $$; echo on")
        self.assertEqual((r["state"], r["exit_code"], r["stdout"]),
                         ("completed", 0, "on\n"), r)

    def test_062_a_thousand_crashes(self):
        r = self.python(r"""
import os, signal
dumped = 0
for _ in range(1000):
    pid = os.fork()
    if pid == 0: os.kill(os.getpid(), signal.SIGSEGV); os._exit(0)
    status = os.waitpid(pid, 0)[1]
    assert os.WTERMSIG(status) == signal.SIGSEGV
    dumped += os.WCOREDUMP(status)
print('DUMPED', dumped, os.listdir('.'))
""")
        self.assertEqual(r["stdout"], "DUMPED 0 []\n", r)


class Ends(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # a pool would be more neurons than a test makes
        cls.i = Instance(extra="pool 0\n")

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def neurons(self):
        """uid -> names of its processes, of neurons alone; not of those that
        are dead, and that PID 1 may still have to reap."""
        found = {}
        first, last = footprint.uids_of(self.i)
        for pid in footprint.pids():
            uid = footprint.uid_of(pid)
            dead = re.search(r"^State:\s+[ZX]", footprint.read(
                "/proc/%d/status" % pid) or "State: X", re.M)
            if uid is not None and first + 16 <= uid <= last and not dead:
                found.setdefault(uid, set()).add(footprint.comm(pid))
        return found

    def test_028_two_neurons_of_one_user(self):
        """With one workspace even: other uids, other processes."""
        w = Workspace()
        try:
            a, b = (self.i.session(**w.fields()) for _ in range(2))
            status, call = self.i.request(
                "POST", "/v1/sessions/%s/calls" % a,
                {"tool": "exec", "timeout_ms": 600000,
                 "args": {"argv": ["sleep", "600"]}})
            pid = wait_for(lambda: [p for p in descendants_of(
                self.i.process.pid) if footprint.comm(p) == "sleep"], 60)[0]
            self.assertEqual(len(self.neurons()), 2)
            r = self.i.call("python", {"code": r"""
import os, signal, ctypes
libc = ctypes.CDLL(None, use_errno=True)
print([p for p in os.listdir('/proc') if p.isdigit()] == [str(os.getpid())])
for p in range(2, 200):
    if p != os.getpid():
        try: os.kill(p, 0)
        except ProcessLookupError: continue
        print('SEEN', p)
for what in (lambda: os.kill(%d, 9), lambda: os.pidfd_open(%d),
             lambda: open('/proc/%d/mem')):
    try: what()
    except OSError as e: print(e.errno)
print(libc.ptrace(16, %d, 0, 0), ctypes.get_errno())
""" % (pid, pid, pid, pid)}, session=b)
            self.assertEqual(r["stdout"], "True\n3\n3\n2\n-1 1\n", r)
            self.assertTrue(os.path.exists("/proc/%d" % pid))
            self.assertEqual(self.i.get("/v1/calls/" + call["call"])[1][
                "state"], "running")
            for s in (a, b):
                self.i.request("DELETE", "/v1/sessions/" + s)
        finally:
            w.close()

    def test_029_what_will_not_die(self):
        """TERM ignored, forked twice, sessions of their own, stopped."""
        s = self.i.session()
        r = self.i.call("python", {"code": r"""
import os, signal, time
for n in range(1, 32):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
for n in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() != 0: os._exit(0)
        if n % 2: os.kill(os.getpid(), signal.SIGSTOP)
        while True: time.sleep(60)
print('up', flush=True)
while True: time.sleep(60)
"""}, session=s, timeout_ms=6000, wait=50000)
        self.assertEqual((r["reason"], r["stdout"]), ("timed_out", "up\n"), r)
        # of its neuron PID 1 alone is left, at once
        self.assertEqual(list(self.neurons().values()), [{"neuron-init"}])
        self.i.request("DELETE", "/v1/sessions/" + s)
        wait_for(lambda: not self.neurons(), 60)

    def test_063_no_secret_in_an_argument_vector(self):
        word = "canary-" + os.urandom(8).hex()
        s = self.i.session()
        status, call = self.i.request(
            "POST", "/v1/sessions/%s/calls" % s,
            {"tool": "exec", "args": {"argv": ["sleep", "600"]},
             "timeout_ms": 600000, "env": {"PLAIN": word}})
        self.assertEqual(status, 202, call)
        pid = wait_for(lambda: [p for p in descendants_of(
            self.i.process.pid) if footprint.comm(p) == "sleep"], 60)[0]
        # the control: it is in the environment of that program
        wait_for(lambda: "PLAIN=" + word in footprint.read(
            "/proc/%d/environ" % pid), 60)
        for p in footprint.pids():
            self.assertNotIn(word, footprint.read("/proc/%d/cmdline" % p))
            if p != pid:
                self.assertNotIn(word, footprint.read("/proc/%d/environ" % p))
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_064_environments_that_are_refused(self):
        for env in ({"A": "x\0y"}, {"A\0B": "x"}, {"A=B": "x"}, {"": "x"},
                    {"A": "x" * MIB}, {"LD_PRELOAD": "/tmp/x.so"},
                    {"LD_LIBRARY_PATH": "/tmp"}, {"NODE_OPTIONS": "-r x"},
                    {"GIT_ASKPASS": "x"}):
            status, r = self.i.request("POST", "/v1/calls", {
                "tool": "bash", "args": {"command": "env"}, "env": env,
                "wait_ms": 20000})
            if status == 200:
                self.assertEqual((r["state"], r["reason"]),
                                 ("failed", "invalid_arguments"), (env, r))
            else:
                self.assertIn(status, (400, 413), (env, r))
        self.assertEqual(self.i.bash("echo $PLAIN", env={"PLAIN": "on"})[
            "stdout"], "on\n")

    def memory_has(self, pid, word):
        """1 if the memory of a process holds the word anywhere."""
        with open("/proc/%d/maps" % pid) as f:
            maps = [l.split() for l in f if " r" in l]
        with open("/proc/%d/mem" % pid, "rb", 0) as f:
            for m in maps:
                if "[vv" in m[-1] or "[vsys" in m[-1]:
                    continue
                start, end = (int(x, 16) for x in m[0].split("-"))
                if end - start > 512 * MIB:
                    continue    # of a sanitizer
                try:
                    f.seek(start)
                    if word in f.read(end - start):
                        return True
                except OSError:
                    continue
        return False

    def inits(self):
        return {p for p in descendants_of(self.i.process.pid)
                if footprint.comm(p) == "neuron-init"}

    def test_065_memory_of_pid_1(self):
        """Nothing of another neuron's is in it, nor of the service's."""
        word = os.urandom(12).hex()
        a = self.i.session()
        r = self.i.bash("echo %s; echo %s >f" % (word, word), session=a,
                        env={"PLAIN": word})
        self.assertEqual(r["stdout"], word + "\n", r)
        # the first has made the call itself: it may know its own
        before = self.inits()
        b = self.i.session()
        self.i.bash("true", session=b)
        new = self.inits() - before
        self.assertEqual(len(new), 1)
        for pid in (new.pop(), self.i.pid("spawner"), self.i.pid("maker"),
                    self.i.pid("neurond")):
            self.assertFalse(self.memory_has(pid, word.encode()),
                             footprint.comm(pid))
        # the control: the search finds it where it is kept
        self.assertTrue(self.memory_has(self.i.pid("apid"), word.encode()))
        for s in (a, b):
            self.i.request("DELETE", "/v1/sessions/" + s)

    def test_069_names_of_what_is_over(self):
        """A neuron that took its place is not met by them."""
        a = self.i.session()
        status, old = self.i.request(
            "POST", "/v1/sessions/%s/calls" % a,
            {"tool": "exec", "args": {"argv": ["sleep", "60"]}})
        n = self.i.get("/v1/sessions/" + a)[1]["neuron"]
        self.i.request("DELETE", "/v1/sessions/" + a)
        wait_for(lambda: not self.neurons(), 60)
        b = self.i.session()
        status, new = self.i.request(
            "POST", "/v1/sessions/%s/calls" % b,
            {"tool": "exec", "timeout_ms": 600000,
             "args": {"argv": ["sleep", "600"]}})
        path = "/v1/calls/" + old["call"]
        for method, where, body in (
                ("DELETE", path, None),
                ("POST", path + "/cancel", {}),
                ("POST", path + "/signal", {"signal": "KILL"}),
                ("POST", "/v1/sessions/%s/calls" % a,
                 {"tool": "bash", "args": {"command": "true"}}),
                ("GET", "/v1/neurons/%s/files/f" % n, None),
                ("DELETE", "/v1/sessions/" + a, None)):
            status, said = self.i.request(method, where, body)
            self.assertNotIn(status, (201, 500), (method, where, said))
        wait_for(lambda: self.i.get("/v1/calls/" + new["call"])[1]["state"]
                 == "running", 60)
        self.assertEqual(self.i.bash("echo on", session=b)["stdout"], "on\n")
        self.assertEqual(self.i.get("/v1/calls/" + new["call"])[1]["state"],
                         "running")
        # the control: by its own name it is met
        self.i.request("POST", "/v1/calls/%s/signal" % new["call"],
                       {"signal": "KILL"})
        r = wait_for(lambda: (lambda k: k["state"] != "running" and k)(
            self.i.get("/v1/calls/" + new["call"])[1]), 60)
        self.assertEqual(r["signal"], "KILL", r)
        self.i.request("DELETE", "/v1/sessions/" + b)

    def test_070_workspaces_that_are_refused(self):
        """Root's own, and one that is a mount point: the same directory
        without either is taken."""
        w = Workspace()
        inner = os.path.join(w.path, "inner")
        os.mkdir(inner)
        w.give()
        try:
            with Instance(start=False) as i:
                i.start(prefix=(
                    "unshare", "--mount", "--propagation", "private", "sh",
                    "-c", 'mount --bind "$0" "$0" && exec "$@"', inner))
                fields = dict(w.fields(), workspace=inner)
                status, body = i.request("POST", "/v1/sessions", fields)
                self.assertEqual(status, 403, body)
                self.assertIn("is a mount point", body["error"]["message"])
            fields = dict(w.fields(), workspace=inner)
            os.chown(inner, 0, 0)
            status, body = self.i.request("POST", "/v1/sessions", fields)
            self.assertEqual(status, 403, body)
            self.assertIn("belongs to uid 0", body["error"]["message"])
            os.chown(inner, w.uid, w.gid)
            self.i.request("DELETE", "/v1/sessions/" +
                           self.i.session(**fields))
        finally:
            w.close()


if __name__ == "__main__":
    unittest.main()
