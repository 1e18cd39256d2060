"""Deaths at every step of a launch, each at a point that the code names.

Needs a build with --enable-faults, MYELIN_BUILD_FAULTS, and makes one in
build-faults if there is none.  MYELIN_FAULT_ROUNDS is the number of rounds;
by default every point is met once.
"""
import glob
import http.client
import os
import random
import re
import signal
import struct
import subprocess
import time
import unittest

import footprint
from harness import BUILD, TOP, CONFIG, Instance, Workspace, wait_for
from test_homes import loops_work

FAULTS = os.environ.get("MYELIN_BUILD_FAULTS",
                        os.path.join(TOP, "build-faults"))
ROUNDS = int(os.environ.get("MYELIN_FAULT_ROUNDS", "0"))
PLAN = "=56sII"
REASONS = ("interrupted", "neuron_lost", "launch_failed")
# Reached when a helper starts, when a call is stopped; all others by a call.
AT_START = {"maker.start": "maker", "spawner.start": "spawner",
            "spawner.prepared": "spawner"}
AT_STOP = ("run.killed",)
# By a neuron whose home stays, when a session begins in it or it is destroyed.
AT_HOME = ("maker.home-asked", "worker.image", "worker.loop",
           "worker.mounted", "worker.home", "neuron.home")
AT_ERASE = ("maker.erase-asked", "worker.erase", "neuron.erase",
            "neuron.erased")
# Placeholders stay a second after the last neuron of their workspace.
LATE = ("neuron.cleared", "maker.clear-asked")
# While they stay, the walk to the workspace sees to them.
AT_FIRST = ("maker.place-asked",)


def sources():
    return glob.glob(TOP + "/neurond/*.c") + glob.glob(TOP + "/neurond/*/*.c")


def points(files=None, steps=True):
    found = []
    for path in files or sources():
        with open(path) as f:
            found += re.findall(r'\bFAULT\("([^"]+)"\)', f.read())
    if not steps:
        return found
    with open(TOP + "/neurond/steps.h") as f:
        rows = f.read().split("enum build_step")[0]
    steps = len(re.findall(r"^ROW\(", rows, re.M))
    return sorted(found) + ["build.%d" % n for n in range(steps)]


def build():
    os.makedirs(FAULTS, exist_ok=True)
    if not os.path.exists(FAULTS + "/Makefile"):
        subprocess.run([TOP + "/configure", "-q", "--enable-faults"],
                       cwd=FAULTS, check=True, stdout=subprocess.DEVNULL)
    r = subprocess.run(["make", "-s", "-j2", "all"], cwd=FAULTS,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if r.returncode != 0:
        raise AssertionError(r.stdout.decode()[-2000:])
    os.makedirs(FAULTS + "/tests", exist_ok=True)


class Products(unittest.TestCase):
    PROGRAMS = ("neurond/neurond", "neurond/maker", "neurond/spawner",
                "neurond/neuron-tool",
                "supervisord/myelind", "apid/apid", "policyd/policyd",
                "judged/judged", "egressd/egressd")

    def named(self, top):
        found = {}
        for program in self.PROGRAMS:
            with open(os.path.join(top, program), "rb") as f:
                data = f.read()
            found[program] = [p for p in points() if not p.startswith("build.")
                              and p.encode() + b"\0" in data]
        return found

    def test_have_no_fault_point(self):
        for program, found in self.named(BUILD).items():
            self.assertEqual(found, [], program)
            r = subprocess.run(["nm", os.path.join(BUILD, program)],
                               stdout=subprocess.PIPE)
            self.assertNotIn(b" fault_", r.stdout, program)

    def test_would_be_seen(self):
        build()
        found = self.named(FAULTS)
        self.assertEqual(sorted(set(sum(found.values(), []))), sorted(set(
            p for p in points() if not p.startswith("build."))))


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build()
        cls.i = Instance(CONFIG.replace(
            "preset", "profile default, ready; preset", 1) +
                         "\nrestart-window 1s\nneurons 4\n"
                         # so that the steps of a pool are
                         "profile ready { pool 1; running-calls 2 }\n"
                         "neurons-principal 4\n"
                         # so that the steps of listeners and of mounts are
                         # among them
                         "profile default { egress { }; mount \"%s\" at "
                         "\"/mnt/man\" read-only }\n" % os.path.realpath(
                             TOP + "/man"), build=FAULTS)
        cls.w = Workspace()
        cls.plan = os.path.join(cls.i.state, "fault")
        cls.seen = {}
        cls.up = time.monotonic()
        cls.of_neurond = points(glob.glob(TOP + "/neurond/*.c"), False)
        for helper in ("maker", "worker", "spawner"):
            cls.of_neurond = [p for p in cls.of_neurond
                              if not p.startswith(helper)]

    @classmethod
    def tearDownClass(cls):
        cls.w.close()
        cls.i.stop()

    def arm(self, point):
        with open(self.plan, "r+b") as f:
            f.write(struct.pack(PLAN, point.encode(), 1 if point else 0, 0))

    def deaths(self):
        with open(self.plan, "rb") as f:
            return struct.unpack(PLAN, f.read(struct.calcsize(PLAN)))[2]

    def reached(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.deaths() == 1:
                return True
            time.sleep(0.01)
        return False

    def ask(self, command, wait=50000, ready=False):
        body = {"tool": "bash", "args": {"command": command},
                "wait_ms": wait, "timeout_ms": 45000}
        body.update({"profile": "ready"} if ready else self.w.fields())
        return self.i.request("POST", "/v1/calls", body)

    def usable(self):
        try:
            status, r = self.ask("echo ok")
        except (OSError, http.client.HTTPException):
            return None
        if status in (503, 429):
            return None
        return status == 200 and r["state"] == "completed" and r

    def end_of(self, call):
        def ended():
            status, r = self.i.get("/v1/calls/" + call)
            return status == 200 and r["state"] not in (
                "queued", "running") and r
        return wait_for(ended, 60)

    def kept(self, *request):
        """Of a neuron whose home stays: an answer, whoever dies meanwhile."""
        try:
            return self.i.request(*request)
        except (OSError, http.client.HTTPException):
            return None, {}

    def kept_make(self):
        status, n = self.kept("POST", "/v1/neurons", {"persistent": True})
        return n["neuron"] if status == 201 else None

    def kept_call(self, neuron):
        """A call in a session of its own."""
        status, s = self.kept("POST", "/v1/sessions", {"neuron": neuron})
        if status != 201:
            return None
        path = "/v1/sessions/" + s["session"]
        status, r = self.kept("POST", path + "/calls", {
            "tool": "bash", "wait_ms": 50000, "timeout_ms": 45000,
            "args": {"command": "echo ok | tee -a f"}})
        self.kept("DELETE", path)
        return (status, r) if status == 200 and \
            r["state"] == "completed" else None

    def kept_end(self, neuron):
        return self.kept("DELETE", "/v1/neurons/" + neuron)[0] in (200, 404)

    def one_kept(self, point):
        """It works after the death as before, and nothing is left of it."""
        neuron = wait_for(self.kept_make, 60)
        if point in AT_HOME:
            self.arm(point)
        answer = wait_for(lambda: self.kept_call(neuron), 60)
        if point in AT_ERASE:
            self.arm(point)
        wait_for(lambda: self.kept_end(neuron), 60)
        self.assertFalse(os.path.exists(os.path.join(
            self.i.state, "neurons", neuron)), point)
        return answer

    def placeholders(self):
        """The records of those that stay."""
        return [n for n in os.listdir(os.path.join(self.i.state, "neurons"))
                if n.startswith("placeholders-")]

    def one(self, point):
        """What the call ended as that was asked when the process died."""
        if point in AT_HOME + AT_ERASE:
            return self.one_kept(point)
        if point in AT_START:
            self.arm(point)
            os.kill(self.i.pid(AT_START[point]), signal.SIGKILL)
            status, r = self.ask("echo ok")
        elif point in AT_STOP:
            self.arm(point)
            status, r = self.ask("sleep 300", wait=0)
            if status == 202:
                path = "/v1/calls/" + r["call"]
                wait_for(lambda: self.i.get(path)[1]["state"] == "running",
                         60)
                self.i.request("POST", path + "/cancel", {})
                r, status = self.end_of(r["call"]), 200
        else:
            if point in AT_FIRST:
                wait_for(lambda: not self.placeholders(), 60)
            self.arm(point)
            status, r = self.ask("echo ok", ready=point.startswith("ahead."))
        if status == 202:
            r, status = self.end_of(r["call"]), 200
        return status, r

    def check(self, point, status, r):
        if status == 503:		# it died before it was asked
            self.assertTrue(point.startswith(("slot.", "neuron.", "ahead.")),
                            r)
            return "refused"
        self.assertEqual(status, 200, (point, r))
        if r["state"] == "completed":
            self.assertEqual(r["stdout"], "ok\n", (point, r))
            return "completed"
        if point in AT_STOP and r["state"] == "cancelled":
            return "cancelled"
        self.assertEqual(r["state"], "failed", (point, r))
        self.assertIn(r["reason"], REASONS, (point, r))
        if point.startswith(("build.", "spawner.", "child.")):
            self.assertEqual(r["reason"], "launch_failed", (point, r))
        return r["reason"]

    def space(self, point):
        """Who dies within a second of his start is started later and later,
        and five deaths would end the service."""
        if point in self.of_neurond:
            time.sleep(max(0, self.up + 1.1 - time.monotonic()))

    def round(self, point):
        self.space(point)
        begin = time.monotonic()
        for _ in range(20):
            try:
                status, r = self.one(point)
            except (OSError, http.client.HTTPException, AssertionError) as e:
                raise AssertionError("%s: %r\n%s" % (point, e,
                                                     self.i.log()[-1500:]))
            # A neuron's last steps race with its end, stock with its need.
            if self.reached(2.5 if point in LATE else 0.5):
                break
        else:
            raise AssertionError("%s was not reached: %s" % (point, r))
        what = self.check(point, status, r)
        took = time.monotonic() - begin
        self.arm("")
        wait_for(self.usable, 60)
        if point in self.of_neurond:
            Faults.up = time.monotonic()
        self.seen.setdefault((point, what), []).append(took)

    def test_every_step(self):
        self.arm("")
        wait_for(self.usable, 60)
        footprint.settle(self.i)
        before = footprint.footprint(self.i)
        every = [p for p in points() if loops_work() or
                 p not in AT_HOME + AT_ERASE]
        rounds = ROUNDS or len(every)
        order = random.Random(1)
        done = 0
        while done < rounds:
            batch = every[:]
            order.shuffle(batch)
            for point in batch[:rounds - done]:
                self.round(point)
                done += 1
            footprint.settle(self.i)
            grown = footprint.compare(before, footprint.footprint(self.i))
            self.assertEqual(grown, [])
            self.assertEqual(footprint.half_known(self.i), [])
            footprint.verify(self.i)
        if ROUNDS:
            self.report()

    def report(self):
        with open(os.path.join(BUILD, "faults.txt"), "w") as f:
            for (point, what), took in sorted(self.seen.items()):
                f.write("%-24s %-14s %3d  %.2f s\n" % (
                    point, what, len(took), max(took)))

    def test_slots_are_whole(self):
        """As many neurons as there may be, after all those deaths."""
        for _ in range(3):
            sessions = [wait_for(self.session, 60) for _ in range(4)]
            for s in sessions:
                self.assertEqual(self.i.bash("echo ok", session=s)["stdout"],
                                 "ok\n")
            for s in sessions:
                self.i.request("DELETE", "/v1/sessions/" + s)
            wait_for(lambda: self.i.status()["neurons"]["live"] == 0, 60)

    def session(self):
        status, body = self.i.request("POST", "/v1/sessions", {})
        return status == 201 and body["session"]


if __name__ == "__main__":
    unittest.main()
