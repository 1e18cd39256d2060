"""kill -9 of any process: the service answers again by itself."""
import os
import signal
import threading
import unittest

import footprint
from harness import (HELPERS, NAMES, Instance, Workspace, cgroups_of,
                     descendants_of, wait_for)


class Restart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(extra="\nrestart-window 1s\n")

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def usable(self):
        try:
            return self.i.bash("echo ok", wait=50000)["stdout"] == "ok\n"
        except Exception:
            return False

    def all_up(self):
        try:
            p = self.i.processes()
        except Exception:
            return None
        if all(n in p and p[n]["state"] == "up" for n in NAMES + HELPERS):
            return p
        return None

    def in_flight(self, name):
        """Kills the process while a call runs; what the call ended as."""
        before = wait_for(self.all_up, 60)
        status, call = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "echo up; sleep 600"}})
        self.assertEqual(status, 202, call)
        path = "/v1/calls/" + call["call"]
        wait_for(lambda: self.i.get(path)[1]["state"] == "running", 60)
        os.kill(before[name]["pid"], signal.SIGKILL)
        wait_for(lambda: before[name]["pid"] not in
                 [p["pid"] for p in (self.all_up() or {}).values()] and
                 self.all_up(), 60)
        after = wait_for(self.all_up, 60)
        wait_for(self.usable, 60)
        for other in NAMES + HELPERS:
            same = after[other]["pid"] == before[other]["pid"]
            if other == name or (name == "neurond" and other in HELPERS):
                self.assertFalse(same, other)
            else:
                self.assertTrue(same, other)
        self.assertEqual(after[name]["restarts"],
                         before[name]["restarts"] + 1)
        return path

    def ended(self, path):
        def finished():
            try:
                status, r = self.i.get(path)
            except OSError:
                return None
            return status == 200 and r["state"] not in (
                "queued", "running") and r
        return wait_for(finished, 60)

    def check_interrupted(self, name):
        r = self.ended(self.in_flight(name))
        self.assertEqual(r["state"], "failed")
        self.assertIn(r["reason"], ("interrupted", "neuron_lost"))

    def test_apid(self):
        self.check_interrupted("apid")

    def test_policyd(self):
        self.check_interrupted("policyd")

    def test_neurond(self):
        self.check_interrupted("neurond")

    def cancel(self, path):
        self.assertEqual(self.i.get(path)[1]["state"], "running")
        self.i.request("POST", path + "/cancel", {})
        self.assertEqual(self.ended(path)["state"], "cancelled")

    def test_operator_leaves_the_call_alone(self):
        self.cancel(self.in_flight("apid-operator"))

    def test_judged_leaves_a_running_call_alone(self):
        self.cancel(self.in_flight("judged"))

    def test_maker_leaves_the_call_alone(self):
        self.cancel(self.in_flight("maker"))

    def test_spawner_leaves_the_call_alone(self):
        self.cancel(self.in_flight("spawner"))

    def test_nothing_is_left(self):
        instance = self.i.status()["instance"]
        for name in ("neurond", "policyd", "spawner"):
            self.ended(self.in_flight(name)) if name != "spawner" else \
                self.cancel(self.in_flight(name))
        wait_for(lambda: self.i.status()["neurons"]["live"] == 0, 60)
        # it settles with no process but its own and its pool's
        footprint.settle(self.i)
        names = []
        for p in descendants_of(self.i.process.pid):
            try:
                with open("/proc/%d/cmdline" % p, "rb") as f:
                    names.append(f.read())
            except OSError:
                pass
        self.assertFalse([n for n in names if b"sleep" in n])
        # what is left of cgroups is the instance's own stock and its pool,
        # and holds no process but the first ones of neurons that are ready
        ready = set(footprint.strays(self.i))
        for path in cgroups_of(instance):
            procs = os.path.join(path, "cgroup.procs")
            if os.path.exists(procs) and "/n-" in path:
                with open(procs) as f:
                    self.assertLessEqual({int(p) for p in f.read().split()},
                                         ready, path)


class Hung(unittest.TestCase):
    """A helper that is there and does not answer."""

    def hang(self, name, **more):
        with Instance(extra="\npool 0\n") as i:
            footprint.settle(i)	# neurond is ready, its helpers are up
            pid = i.pid(name)
            os.kill(pid, signal.SIGSTOP)
            r = i.bash("echo on", **more)
            self.assertEqual((r["state"], r["reason"]),
                             ("failed", "launch_failed"), r)
            wait_for(lambda: i.pid(name) not in (0, pid), 60)
            self.assertEqual(i.bash("echo on", **more)["stdout"], "on\n")

    def test_spawner(self):
        self.hang("spawner")

    def test_maker(self):
        w = Workspace()
        self.addCleanup(w.close)
        self.hang("maker", **w.fields())


class Stock(unittest.TestCase):
    def test_waiting_for_the_spawner_makes_no_more_of_it(self):
        """Launches that wait for no slot are no reason to make slots."""
        with Instance(extra="\nneurons 24\nneurons-principal 24\n"
                      "pool 0\n") as i:
            footprint.settle(i)
            pid = 0

            def up():
                p = i.processes()["spawner"]
                return p["state"] == "up" and p["pid"] != pid and p["pid"]
            def gone(pid):
                # the first restarts are too quick to be seen down
                p = i.processes()["spawner"]
                return p["state"] != "up" or p["pid"] != pid
            def ask(n):
                for _ in range(n):
                    status, call = i.request("POST", "/v1/calls", {
                        "tool": "bash", "args": {"command": "echo on"}})
                    self.assertEqual(status, 202, call)
                    calls.append(call["call"])
            calls = []
            def look():
                """The most cgroups of slots while it is down."""
                most = now = 0
                while i.processes()["spawner"]["state"] != "up":
                    most = now
                    now = footprint.neuron_cgroups(instance)[0]
                return most
            instance = i.status()["instance"]
            for n in range(12):	# each restart waits twice as long
                pid = wait_for(up, 60)
                ask(2)		# so that stock is being made
                os.kill(pid, signal.SIGKILL)
                wait_for(lambda: gone(pid), 60, 0.001)
                if n < 5:
                    continue
                ask(20)
                most = look()
                if most > 0:	# it was down long enough to look
                    break
            self.assertGreater(most, 0)
            self.assertLessEqual(most, footprint.STOCK)
            for c in calls[-20:]:
                wait_for(lambda: i.get("/v1/calls/" + c)[1]["state"] ==
                         "completed", 60)
            footprint.settle(i)


class Cancels(unittest.TestCase):
    def test_neurons_that_are_dropped_while_they_are_built(self):
        """A clone into a cgroup that is gone fails; the spawner works on."""
        with Instance(extra="\npool 0\n") as i:
            footprint.settle(i)
            spawner = i.pid("spawner")

            def flood():
                for _ in range(80):
                    status, call = i.request("POST", "/v1/calls", {
                        "tool": "bash", "args": {"command": "sleep 30"}})
                    self.assertEqual(status, 202, call)
                    i.request("POST", "/v1/calls/%s/cancel" % call["call"],
                              {})
            threads = [threading.Thread(target=flood) for _ in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(i.bash("echo on")["stdout"], "on\n")
            self.assertEqual(i.pid("spawner"), spawner)


class Clients(unittest.TestCase):
    def test_a_waiting_client_is_told(self):
        with Instance(extra="\nrestart-window 1s\n") as i:
            got = []

            def ask():
                got.append(i.request("POST", "/v1/calls", {
                    "tool": "bash", "args": {"command": "sleep 600"},
                    "wait_ms": 50000}))
            t = threading.Thread(target=ask)
            t.start()
            wait_for(lambda: [c for c in i.get("/v1/calls")[1]["calls"]
                              if c["state"] == "running"], 60)
            os.kill(i.pid("policyd"), signal.SIGKILL)
            t.join(45)
            self.assertFalse(t.is_alive())
            self.assertEqual(got[0][0], 200, got)
            self.assertEqual((got[0][1]["state"], got[0][1]["reason"]),
                             ("failed", "interrupted"))


if __name__ == "__main__":
    unittest.main()
