"""Neurons that are ready before somebody asks for them."""
import glob
import os
import signal
import subprocess
import tempfile
import unittest

import footprint
from harness import (BUILD, CONFIG, MYELIND, Instance, Workspace, cgroups_of,
                     wait_for)

PRINCIPAL = CONFIG.replace('workspace "/*";',
                           'profile default, small, large; workspace "/*";')
PROFILES = """
pool 2
profile small { memory 64M; pids 64; running-calls 2 }
profile large { tmp 24M; pool 1 }
"""
MEMORY = ("memory.max", "memory.limit_in_bytes")


def full(i, wanted):
    """Waits until all are ready; what status says of them then."""
    return wait_for(lambda: i.status()["pool"]["ready"] == wanted and
                    i.status()["pool"], 60)


def counted(i, hits, misses):
    """Waits until that many requests were met by one, or found none."""
    return wait_for(lambda: (i.status()["pool"]["hits"],
                             i.status()["pool"]["misses"]) ==
                    (hits, misses), 60)


def ready(i):
    """The pids of the first processes of those that are ready."""
    return set(footprint.strays(i))


def ended(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


class Pool(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(PRINCIPAL, PROFILES)
        cls.w = Workspace()

    @classmethod
    def tearDownClass(cls):
        cls.w.close()
        cls.i.stop()

    def setUp(self):
        footprint.settle(self.i)
        pool = full(self.i, 3)
        self.hits, self.misses = pool["hits"], pool["misses"]

    def session(self, **fields):
        s = self.i.session(**fields)
        self.addCleanup(self.i.request, "DELETE", "/v1/sessions/" + s)
        return s

    def served(self, n, base=None):
        """Waits until so many were served, or not, and it is full again:
        status hears of it a little later."""
        if base is None:
            base = self.hits + self.misses

        def so():
            pool = self.i.status()["pool"]
            return pool["hits"] + pool["misses"] == base + n and \
                pool["ready"] == pool["wanted"] == 3
        wait_for(so, 60)

    def counted(self, hits, misses):
        counted(self.i, self.hits + hits, self.misses + misses)

    def test_serves_once(self):
        """What one leaves behind, no other finds."""
        mark = "date > %s/mark"
        look = "ls -A /tmp /dev/shm ~; " + "; ".join(
            mark % d for d in ("/tmp", "/dev/shm", "~"))
        seen = set()
        for n in range(8):
            r = self.i.bash(look)
            self.assertEqual((r["state"], r["stdout"]), (
                "completed", "/dev/shm:\n\n/home/agent:\n\n/tmp:\n"), r)
            seen.add(r["neuron"])
            self.served(n + 1)
        self.assertEqual(len(seen), 8)
        self.counted(8, 0)

    def test_session(self):
        """One without a workspace has it, and keeps it to its end."""
        s = self.session()
        neurons = {self.i.bash("echo >> ~/lines; wc -l < ~/lines",
                               session=s)["neuron"] for _ in range(3)}
        self.assertEqual(len(neurons), 1)
        self.assertEqual(self.i.bash("cat ~/lines", session=s)["stdout"],
                         "\n\n\n")
        self.counted(1, 0)

    def test_more_than_are_ready(self):
        """Who finds none waits for one that is made, as ever."""
        sessions = [self.session() for _ in range(9)]
        for n, s in enumerate(sessions):
            self.assertEqual(self.i.bash("echo %d" % n, session=s)["stdout"],
                             "%d\n" % n)
        self.served(9)
        self.assertGreaterEqual(self.i.status()["pool"]["hits"],
                                self.hits + 2)

    def test_workspace_has_none(self):
        r = self.i.bash("pwd", **self.w.fields())
        self.assertEqual(r["stdout"], self.w.path + "\n")
        self.counted(0, 0)

    def test_limits_of_who_takes_it(self):
        """Another profile that builds the same has its own limits in it."""
        s = self.session(profile="small")
        self.assertEqual(self.i.bash("echo on", session=s)["stdout"], "on\n")
        self.counted(1, 0)
        seen = set()
        for top in cgroups_of(self.i.status()["instance"]):
            for path in sum((glob.glob(os.path.join(top, "n-*", name))
                             for name in MEMORY), []):
                with open(path) as f:
                    seen.add(f.read().strip())
        self.assertIn(str(64 << 20), seen)
        r = self.i.call("python", {"code": "x = bytearray(200 << 20)"},
                        session=s)
        self.assertEqual(r["reason"], "oom_killed", r)

    def test_what_is_built_in(self):
        """No profile is served with what another has built in."""
        for n, (profile, size) in enumerate((
                ("large", 24 << 10), (None, 1 << 20),
                ("small", 1 << 20), ("large", 24 << 10))):
            more = {"profile": profile} if profile else {}
            r = self.i.bash("df --output=size /tmp | tail -1", **more)
            self.assertEqual(int(r["stdout"]), size, profile)
            self.served(n + 1)
        self.counted(4, 0)

    def test_first_process_dies(self):
        """One that died is nobody's, and another takes its place."""
        pids = ready(self.i)
        self.assertEqual(len(pids), 3)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: all(ended(pid) for pid in pids), 60, 0.0001)
        r = self.i.bash("echo on")
        self.assertEqual((r["state"], r["stdout"]), ("completed", "on\n"), r)
        wait_for(lambda: len(ready(self.i) - pids) == 3, 60)
        self.served(1)
        self.assertEqual(self.i.bash("echo on")["stdout"], "on\n")
        self.served(2)

    def test_each_process_dies(self):
        """Nothing is left of it, and it is full again."""
        for name in ("spawner", "maker", "policyd", "apid", "neurond"):
            pid = self.i.pid(name)
            os.kill(pid, signal.SIGKILL)
            self.i.wait_up()
            wait_for(lambda: self.i.pid(name) not in (0, pid), 60)
            footprint.settle(self.i)
            r = self.i.bash("echo on")
            self.assertEqual((r["state"], r["stdout"]), ("completed", "on\n"),
                             (name, r))
        # the last of them counted anew
        self.served(1, 0)

    def test_told(self):
        """status and doctor say how it is."""
        out = self.i.ctl("status").stdout.decode()
        self.assertRegex(out, r"(?m)^neurons ready +3$")
        self.assertRegex(out, r"(?m)^wanted ready +3$")
        out = self.i.ctl("doctor").stdout.decode()
        self.assertRegex(out, r"(?m)^pool +ok +3 of 3 neurons are ready; ")


class Caps(unittest.TestCase):
    def test_they_count_in_no_limit(self):
        with Instance(extra="neurons 3\nneurons-principal 3\npool 8\n"
                      "neuron-wait 0ms\n") as i:
            full(i, 8)
            sessions = [i.session() for _ in range(3)]
            status, body = i.request("POST", "/v1/sessions", {})
            self.assertEqual(status, 429, body)
            self.assertEqual(i.status()["neurons"]["live"], 3)
            full(i, 8)
            for s in sessions:
                self.assertEqual(i.bash("echo on", session=s)["stdout"],
                                 "on\n")

    def test_none(self):
        with Instance(extra="pool 0\n") as i:
            footprint.settle(i)
            self.assertEqual(i.bash("echo on")["stdout"], "on\n")
            self.assertEqual(i.status()["pool"], {
                "wanted": 0, "ready": 0, "hits": 0, "misses": 0})


class Reload(unittest.TestCase):
    def reload(self, i, extra):
        generation = i.status()["reload"]["generation"]
        i.configure(CONFIG + extra)
        i.process.send_signal(signal.SIGHUP)
        wait_for(lambda: i.status()["reload"]["generation"] > generation, 60)

    def test_what_is_built_otherwise_goes(self):
        with Instance(extra="pool 2\n") as i:
            full(i, 2)
            footprint.settle(i)
            before = ready(i)
            # a limit that is written when it is taken
            self.reload(i, "pool 2\nmemory 96M\n")
            full(i, 2)
            footprint.settle(i)
            self.assertEqual(ready(i), before)
            self.reload(i, "pool 2\ntmp 20M\n")
            r = i.bash("df --output=size /tmp | tail -1")
            self.assertEqual(int(r["stdout"]), 20 << 10)
            wait_for(lambda: not ready(i) & before, 60)
            full(i, 2)
            for pool in (3, 1, 0, 2):
                self.reload(i, "pool %d\ntmp 20M\n" % pool)
                full(i, pool)
                footprint.settle(i)


class Refused(unittest.TestCase):
    def check(self, extra):
        with tempfile.TemporaryDirectory(dir=os.path.join(
                BUILD, "tests")) as d:
            path = os.path.join(d, "myelin.conf")
            with open(path, "w") as f:
                f.write(CONFIG + extra)
            os.chmod(path, 0o600)
            r = subprocess.run([MYELIND, "-n", "-d", "-f", path, "-p", d,
                                "-L", BUILD], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=60)
            return r.returncode, r.stdout.decode()

    def refused(self, extra, *words):
        code, out = self.check(extra)
        self.assertNotEqual(code, 0, out)
        for w in words:
            self.assertIn(w, out)

    def test_refused(self):
        self.refused("pool 17\n", "pool 17 is outside its range, 0 to 16")
        self.refused("pool 8\nprofile a { pool 8 }\nprofile b { pool 1 }\n",
                     'profile "', "of all profiles together 17, the most is "
                     "16")
        self.refused("profile web { pool 1; egress { } }\n",
                     'profile "web": pool 1: neurons with egress')
        self.refused("profile hard { pool 1; variant strict }\n",
                     'profile "hard": pool 1: neurons with egress, ')

    def test_accepted(self):
        code, out = self.check("pool 8\nprofile a { pool 8 }\nprofile b { }\n"
                               "profile web { egress { } }\n")
        self.assertEqual(code, 0, out)
        code, out = self.check("pool 16\nprofile default { egress { } }\n"
                               "profile a { pool 16 }\n")
        self.assertEqual(code, 0, out)


if __name__ == "__main__":
    unittest.main()
