"""kill -9 of policyd and judged at any moment of an approval.
MYELIN_APPROVAL_ROUNDS is how often: 20 here."""
import http.client
import os
import random
import signal
import threading
import time
import unittest

from approvals import AGENT, Split
from harness import NAMES, Workspace, wait_for

ROUNDS = int(os.environ.get("MYELIN_APPROVAL_ROUNDS", "20"))
LOST = (OSError, http.client.HTTPException, AssertionError, ValueError,
        KeyError)


class Kills(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.w = Workspace(AGENT, AGENT)
        cls.s = Split()
        cls.random = random.Random(int(os.environ.get("MYELIN_SEED", "1")))

    @classmethod
    def tearDownClass(cls):
        cls.s.stop()
        cls.w.close()

    def ran(self):
        try:
            with open(os.path.join(self.w.path, "ran")) as f:
                return f.read().split()
        except FileNotFoundError:
            return []

    def up(self, name, killed):
        """All run, and the one that was killed is another."""
        def all_up():
            try:
                p = self.s.i.processes()
                return set(p) >= set(NAMES) and p[name]["pid"] != killed and \
                    all(v["state"] == "up" for v in p.values())
            except LOST:
                return False
        wait_for(all_up, 60, 0.05)
        time.sleep(0.25)    # five deaths in a second end the service

    def kill_later(self, name, after):
        pid = self.s.i.pid(name)
        self.assertGreater(pid, 1)

        def kill():
            time.sleep(after)
            for _ in range(1000):
                try:
                    return os.kill(pid, signal.SIGKILL)
                except PermissionError:
                    # every thread is another user while one connects as him
                    time.sleep(0.001)
        t = threading.Thread(target=kill)
        t.start()
        return t, pid

    def round(self, n):
        """One call, one decision or none, one death: what was decided."""
        name = self.random.choice(("policyd", "judged"))
        decision = self.random.choice(("allow_once", "allow_once",
                                       "reject_once", None))
        t, pid = self.kill_later(name, self.random.random() * 0.05)
        approval = None
        try:
            call = self.s.ask("rm -rf .git; echo %d >> ran" % n,
                              workspace=self.w.path)
            approval = self.s.waiting(call)
            if decision is not None:
                self.s.decide(approval, decision)
        except LOST:
            pass
        t.join()
        self.up(name, pid)
        return decision, approval

    def settle(self):
        """No call is live any more; what waits is turned down."""
        def idle():
            for r in self.s.list():
                self.s.decide(r["approval"], "reject_once")
            return self.s.i.status()["calls"]["running"] == 0 and \
                self.s.i.status()["approvals"]["pending"] == 0
        wait_for(idle, 60, 0.05)

    def test_rounds(self):
        decisions = {}
        for n in range(ROUNDS):
            decisions[n] = self.round(n)
            self.settle()
        ran = self.ran()
        # each at most once, and none that nobody allowed
        self.assertEqual(len(ran), len(set(ran)), ran)
        records = self.s.audit()
        allowed = {r["call"]: r["seq"] for r in records
                   if r["event"] == "approval.resolved" and
                   r["state"] == "allowed"}
        started = {r["call"]: r["seq"] for r in records
                   if r["event"] == "call.started"}
        for call, seq in started.items():
            self.assertIn(call, allowed)
            self.assertLess(allowed[call], seq)
            self.assertEqual(len([r for r in records if r["event"] ==
                                  "call.started" and r["call"] == call]), 1)
        self.assertLessEqual(len(ran), len(allowed))
        for n in ran:
            self.assertEqual(decisions[int(n)][0], "allow_once")
        # nothing is left pending, and every question has its end
        asked = {r["approval"] for r in records
                 if r["event"] == "approval.requested"}
        over = {r["approval"] for r in records
                if r["event"] in ("approval.resolved", "approval.expired")}
        self.assertEqual(asked - over, set())
        self.s.i.process.terminate()
        self.s.i.process.wait(60)
        r = self.s.i.ctl("audit", "verify", self.s.i.state)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.s.i.start()


if __name__ == "__main__":
    unittest.main()
