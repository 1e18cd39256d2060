"""A decision used for anything but the exact call, once: over the sockets, by
those who may use them."""
import os
import signal
import threading
import unittest

from approvals import AGENT, ASKS, CONFIG, OPERATOR, OTHER, SECOND, Split
from harness import Workspace, wait_for

AT_ONCE = 10


class Replay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.w = Workspace(AGENT, AGENT)
        cls.s = Split()

    @classmethod
    def tearDownClass(cls):
        cls.s.stop()
        cls.w.close()

    def setUp(self):
        self.n = len(self.ran())

    def ran(self):
        try:
            with open(os.path.join(self.w.path, "ran")) as f:
                return f.read().split()
        except FileNotFoundError:
            return []

    def count(self):
        """A call that asks and can be counted."""
        return "rm -rf .git; echo x >> ran"

    def session(self, uid=AGENT):
        if uid == AGENT:
            return self.s.session(uid, workspace=self.w.path)
        return self.s.session(uid)

    def test_the_digest_of_another_call(self):
        """One byte more, another directory, session, principal or input."""
        s = self.s
        session, other = self.session(), self.session()
        first, one = s.asked(self.count(), session=session)
        digest = s.look(one)[1]["digest"]
        rows = (
            s.asked(self.count() + " ", session=session),
            s.asked(self.count(), session=session, cwd="/home/agent"),
            s.asked(self.count(), session=session, env={"A": "b"}),
            s.asked(self.count(), session=session, stdin="x"),
            s.asked(self.count(), session=session, stdin=""),
            s.asked(self.count(), session=session, timeout_ms=5000),
            s.asked(self.count(), session=other),
            s.asked(self.count(), workspace=self.w.path),
            s.asked(self.count(), uid=OTHER))
        for call, a in rows:
            self.assertNotEqual(s.look(a)[1]["digest"], digest)
            status, r = s.decide(a, digest=digest)
            self.assertEqual(status, 409, r)
            self.assertEqual(s.look(a)[1]["state"], "pending")
        self.assertEqual(s.decide(one, digest=digest)[0], 200)
        self.assertEqual(s.result(first)["state"], "completed")
        self.assertEqual(len(self.ran()), self.n + 1)
        for call, a in rows:
            self.assertEqual(s.decide(a, "reject_once")[0], 200)
        self.assertEqual(len(self.ran()), self.n + 1)

    def test_twice(self):
        s = self.s
        call, a = s.asked(self.count(), workspace=self.w.path)
        digest = s.look(a)[1]["digest"]
        self.assertEqual(s.decide(a, digest=digest)[0], 200)
        for uid in (OPERATOR, SECOND):
            status, r = s.decide(a, uid=uid, digest=digest)
            self.assertEqual(status, 409)
            self.assertIn("allowed by uid:%d" % OPERATOR,
                          r["error"]["message"])
        s.result(call)
        self.assertEqual(s.decide(a, digest=digest)[0], 409)
        # the same call again is another one
        again, b = s.asked(self.count(), workspace=self.w.path)
        self.assertNotEqual(b, a)
        self.assertEqual(s.decide(b, digest=digest)[0], 409)
        self.assertEqual(len(self.ran()), self.n + 1)
        s.decide(b, "reject_once")

    def test_after_a_rejection(self):
        s = self.s
        call, a = s.asked(self.count(), workspace=self.w.path)
        digest = s.look(a)[1]["digest"]
        self.assertEqual(s.decide(a, "reject_once", digest=digest)[0], 200)
        self.assertEqual(s.decide(a, digest=digest)[0], 409)
        self.assertEqual(s.result(call)["reason"], "approval_rejected")
        again, b = s.asked(self.count(), workspace=self.w.path)
        self.assertEqual(s.look(b)[1]["state"], "pending")
        s.decide(b, "reject_once")
        self.assertEqual(len(self.ran()), self.n)

    def test_from_the_agent_socket(self):
        s = self.s
        call, a = s.asked(self.count(), workspace=self.w.path)
        body = {"decision": "allow_once",
                "digest": s.look(a)[1]["digest"]}
        for uid in (AGENT, OPERATOR):
            for method, path in (("GET", "/v1/approvals"),
                                 ("GET", "/v1/approvals/" + a),
                                 ("POST", "/v1/approvals/" + a),
                                 ("DELETE", "/v1/approvals/" + a)):
                try:
                    status = s.request(
                        uid, method, path,
                        body if method == "POST" else None)[0]
                except PermissionError:
                    continue
                self.assertIn(status, (403, 404), (uid, method, path))
        self.assertEqual(s.look(a)[1]["state"], "pending")
        s.decide(a, "reject_once")
        self.assertEqual(len(self.ran()), self.n)

    def test_ones_own(self):
        s = self.s
        call, a = s.asked(self.count(), workspace=self.w.path)
        for decision in ("allow_once", "allow_session", "reject_once"):
            status, r = s.decide(a, decision, uid=AGENT)
            self.assertEqual((status, r["error"]["code"]),
                             (403, "forbidden"))
        self.assertEqual(s.look(a)[1]["state"], "pending")
        self.assertEqual(s.decide(a)[0], 200)
        self.assertEqual(s.result(call)["state"], "completed")
        self.assertEqual(len(self.ran()), self.n + 1)

    def test_another_principals(self):
        """It does not exist for who did not ask."""
        s = self.s
        call, a = s.asked(self.count(), workspace=self.w.path)
        self.assertEqual(s.request(OTHER, "GET", "/v1/calls/" + call)[0],
                         404)
        self.assertEqual(s.request(
            OTHER, "POST", "/v1/calls/%s/cancel" % call)[0], 404)
        self.assertEqual(s.look(a)[1]["state"], "pending")
        s.decide(a, "reject_once")

    def test_two_operators_at_once(self):
        s = self.s
        for _ in range(AT_ONCE):
            before = len(self.ran())
            call, a = s.asked(self.count(), workspace=self.w.path)
            digest = s.look(a)[1]["digest"]
            answers = []

            def decide(uid, decision):
                answers.append((decision, s.decide(
                    a, decision, uid=uid, digest=digest)[0]))
            threads = [threading.Thread(target=decide, args=x) for x in (
                (OPERATOR, "allow_once"), (SECOND, "reject_once"),
                (SECOND, "allow_once"))]
            # only one thread at a time is another user
            for t in threads:
                t.start()
                t.join(0.001)
            for t in threads:
                t.join()
            won = [d for d, status in answers if status == 200]
            self.assertEqual(len(won), 1, answers)
            self.assertEqual({x for _, x in answers}, {200, 409})
            r = s.result(call)
            if won == ["allow_once"]:
                self.assertEqual(r["state"], "completed")
            else:
                self.assertEqual(r["reason"], "approval_rejected")
            self.assertEqual(len(self.ran()) - before,
                             won == ["allow_once"])


class Tightened(unittest.TestCase):
    def test_between_the_decision_and_the_start(self):
        """An allowed call waits for a slot; meanwhile the policy changes."""
        with Split("running-calls 1\n") as s:
            session = s.session()
            call, a = s.asked(ASKS, session=session)
            busy = s.ask("sleep 500", session=session,
                         timeout_ms=500000)
            wait_for(lambda: s.call(busy)["state"] == "running", 60)
            self.assertEqual(s.decide(a)[0], 200)
            self.assertEqual(s.call(call)["state"], "queued")
            s.configure("running-calls 1\n", CONFIG.replace(
                "12345 { preset standard", "12345 { preset readonly"))
            s.i.process.send_signal(signal.SIGHUP)
            wait_for(lambda: s.i.status()["reload"]["result"] == "ok", 60)
            s.request(AGENT, "POST", "/v1/calls/%s/cancel" % busy)
            r = s.result(call)
            self.assertEqual((r["state"], r["reason"], r["stdout"]),
                             ("failed", "policy_changed", ""))
            self.assertIn("readonly", r["error"]["message"])
            self.assertEqual(s.look(a)[1]["state"], "policy_changed")


if __name__ == "__main__":
    unittest.main()
