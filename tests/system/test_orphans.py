"""kill -9 of the supervisor itself: nobody outlives it, and its state works
again."""
import os
import signal
import subprocess
import unittest

import footprint
from harness import MYELIND, NAMES, Instance, cgroups_of, wait_for

GONE = 60		# seconds, on a host that has much to do


def cgroup2():
    with open("/proc/self/mountinfo") as f:
        for line in f:
            if " - cgroup2 " in line:
                return line.split()[4]
    raise AssertionError("no cgroup2 is mounted")


class Frozen:
    """A cgroup whose processes stand still, and die only by SIGKILL.

    SIGSTOP would not do: the kernel wakes stopped processes up when their
    parent dies.
    """

    def __init__(self):
        self.path = os.path.join(cgroup2(), "test-frozen-%d" % os.getpid())
        os.mkdir(self.path)

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w") as f:
            f.write(text)

    def add(self, pid):
        self.write("cgroup.procs", str(pid))

    def freeze(self):
        self.write("cgroup.freeze", "1")
        wait_for(lambda: "frozen 1" in footprint.read(
            os.path.join(self.path, "cgroup.events")), 60)

    def close(self):
        self.write("cgroup.kill", "1")

        def removed():
            try:
                os.rmdir(self.path)
            except OSError:
                return False
            return True
        wait_for(removed, 60)


class Orphans(unittest.TestCase):
    def setUp(self):
        self.i = Instance(extra="\nrestart-window 1s\n")
        self.uids = footprint.uids_of(self.i)
        self.instance = self.i.status()["instance"]

    def tearDown(self):
        self.i.stop()

    def busy(self):
        """A call of a session and one of its own, both running."""
        body = {"tool": "bash", "args": {"command": "sleep 300 & sleep 300"}}
        ids = []
        for path in ("/v1/sessions/%s/calls" % self.i.session(), "/v1/calls"):
            status, call = self.i.request("POST", path, body)
            self.assertEqual(status, 202, call)
            ids.append(call["call"])
        for c in ids:
            wait_for(lambda: self.i.get("/v1/calls/" + c)[1]["state"] ==
                     "running", 60)
        return ids

    def kill(self):
        """Kills it; the processes that it had."""
        had = footprint.ours(self.i)
        self.i.process.kill()
        self.i.process.wait()
        return [p for p in had if p != self.i.process.pid]

    def left(self, pids):
        def alive(p):
            # a zombie has no program any more
            return footprint.link("/proc/%d/exe" % p) != ""
        return [p for p in pids if alive(p)]

    def gone(self, pids, seconds):
        try:
            wait_for(lambda: not self.left(pids), seconds)
        except AssertionError:
            self.fail("left: %s" % {p: footprint.read("/proc/%d/comm" % p)
                                    for p in self.left(pids)})
        wait_for(lambda: footprint.of_uids(self.uids) == {}, seconds)

    def check_usable(self, calls):
        self.i.start()
        for c in calls:
            status, r = self.i.get("/v1/calls/" + c)
            self.assertEqual((status, r["state"]), (200, "failed"))
            # whether policyd or neurond was the first to go
            self.assertIn(r["reason"], ("interrupted", "neuron_lost"))
        self.assertEqual(self.i.bash("echo on")["stdout"], "on\n")
        footprint.verify(self.i)
        footprint.settle(self.i)

    def test_all_are_gone(self):
        calls = self.busy()
        pids = self.kill()
        self.assertGreater(len(pids), 10)
        self.gone(pids, GONE)
        # neurond took its cgroups down as well
        wait_for(lambda: not cgroups_of(self.instance), 60)
        self.check_usable(calls)

    def test_one_that_hangs_is_not_left(self):
        """Frozen, each hears neither its channel's end nor anything else."""
        calls = self.busy()
        frozen = Frozen()
        self.addCleanup(frozen.close)
        for name, p in self.i.processes().items():
            if name in NAMES and name != "neurond":
                frozen.add(p["pid"])
        frozen.freeze()
        self.gone(self.kill(), GONE)
        self.check_usable(calls)

    def test_started_again_at_once(self):
        calls = self.busy()
        self.kill()
        self.check_usable(calls)

    def test_a_neurond_that_is_still_there(self):
        """Its uids and cgroups are not given to another while it lives."""
        calls = self.busy()
        frozen = Frozen()
        self.addCleanup(frozen.close)
        frozen.add(self.i.pid("neurond"))
        frozen.freeze()
        self.kill()
        r = subprocess.run([MYELIND, "-d", "-f", self.i.conf, "-p",
                            self.i.dir, "-L", self.i.build], timeout=90,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(r.returncode, 1, r.stdout)
        self.assertIn(b"runs already", r.stdout)
        frozen.write("cgroup.freeze", "0")
        self.check_usable(calls)

    def test_neurond_too(self):
        """Both at once: what neurond would have tidied up is swept later."""
        calls = self.busy()
        neurond = self.i.pid("neurond")
        had = footprint.ours(self.i)
        self.i.process.kill()
        os.kill(neurond, signal.SIGKILL)
        self.i.process.wait()
        self.gone([p for p in had if p != self.i.process.pid], GONE)
        self.check_usable(calls)


if __name__ == "__main__":
    unittest.main()
