"""Approvals, from asking to the end, by people who are not each other."""
import base64
import json
import os
import unittest

from approvals import AGENT, ASKS, AUDITOR, OPERATOR, SECOND, Split
from harness import Workspace, parse_events, wait_for

KEY = "ghp_" + "a1B2c3D4e5" * 4
MEMBERS = {
    "approval", "call", "session", "neuron", "principal", "tool",
    "workspace", "class", "effect", "marks", "rule", "where", "reason",
    "command", "from", "to", "state", "scope", "decided_by",
    "decision_reason", "created", "decided", "expires_in_ms", "digest",
    "bytes", "long", "rememberable", "remembered", "revoked"}
WHOLE = MEMBERS | {"arguments", "shown", "input", "commands", "paths",
                   "commands_cut"}


class Approvals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.w = Workspace(AGENT, AGENT)
        cls.s = Split()

    @classmethod
    def tearDownClass(cls):
        cls.s.stop()
        cls.w.close()

    def refused(self, answer, status, code, word=""):
        self.assertEqual(answer[0], status, answer[1])
        self.assertEqual(answer[1]["error"]["code"], code, answer[1])
        self.assertIn(word, answer[1]["error"]["message"])

    # ---- from asking to the end ----

    def test_allowed(self):
        s = self.s
        call, a = s.asked(ASKS)
        # nobody waits for it longer than was said
        self.assertEqual(s.call(call, wait=300)["state"],
                         "awaiting_approval")
        self.assertEqual(s.i.status()["approvals"]["pending"], 1)
        self.assertEqual(s.i.status()["calls"]["running"], 0)
        status, r = s.decide(a, reason="it is only .git")
        self.assertEqual(status, 200, r)
        self.assertEqual(set(r), MEMBERS)
        self.assertEqual((r["state"], r["scope"], r["decided_by"],
                          r["decision_reason"]),
                         ("allowed", "once", "uid:%d" % OPERATOR,
                          "it is only .git"))
        r = s.result(call)
        self.assertEqual((r["state"], r["stdout"], r["approval"]),
                         ("completed", "ran\n", a))
        self.assertEqual(s.list(), [])
        self.assertEqual(s.i.status()["approvals"],
                         {"pending": 0, "oldest_s": None})
        self.assertEqual(s.look(a)[1]["state"], "allowed")
        self.assertEqual(set(s.look(a)[1]), MEMBERS)

    def test_rejected(self):
        s = self.s
        call, a = s.asked(ASKS)
        self.assertEqual(s.decide(a, "reject_once", reason="no")[0], 200)
        r = s.result(call)
        self.assertEqual((r["state"], r["reason"]),
                         ("failed", "approval_rejected"))
        self.assertEqual(r["error"]["message"], "denied: no")
        self.assertEqual(r["stdout"], "")
        call, a = s.asked(ASKS)
        self.assertEqual(s.decide(a, "reject_once")[0], 200)
        self.assertEqual(s.result(call)["error"]["message"],
                         "denied: an operator rejected it")

    def test_events(self):
        s = self.s
        c = s.connect(AGENT)
        c.request("POST", "/v1/calls", json.dumps({
            "tool": "bash", "args": {"command": ASKS}}), {
            "Content-Type": "application/json",
            "Accept": "text/event-stream"})
        events = parse_events(c.getresponse())
        seen = []
        for _, event, data in events:
            seen.append(event)
            if event == "approval.requested":
                a = data["approval"]
                self.assertEqual(data["class"], "destructive")
                self.assertIn("rm -rf .git", data["command"])
                self.assertGreater(data["expires_ms"], 0)
                self.assertEqual(s.decide(a)[0], 200)
            if event == "approval.resolved":
                self.assertEqual((data["approval"], data["state"]),
                                 (a, "allowed"))
        c.close()
        self.assertEqual(seen, ["call.judged", "approval.requested",
                                "approval.resolved", "call.started",
                                "call.output", "call.finished"])

    def test_cancelled_and_ended(self):
        s = self.s
        call, a = s.asked(ASKS)
        self.assertEqual(s.request(
            AGENT, "POST", "/v1/calls/%s/cancel" % call)[0], 202)
        self.assertEqual(s.result(call)["state"], "cancelled")
        self.assertEqual(s.look(a)[1]["state"], "cancelled")
        self.refused(s.decide(a), 409, "conflict", "cancelled")
        session = s.session()
        call, a = s.asked(ASKS, session=session)
        s.request(AGENT, "DELETE", "/v1/sessions/" + session)
        self.assertEqual(s.result(call)["reason"], "session_ended")
        self.assertEqual(s.look(a)[1]["state"], "cancelled")

    # ---- what is seen ----

    def test_all_of_it_is_seen(self):
        s = self.s
        text = "rm -rf .git\necho '\u202egnp.exe\u202c\u200b\x1b[2J'"
        call, a = s.asked(text, cwd="/home/agent", env={"A": "b"},
                          stdin="a\tb\n")
        status, r = s.look(a)
        self.assertEqual(status, 200)
        self.assertEqual(set(r), WHOLE)
        self.assertEqual(r["shown"], "rm -rf .git\necho '<U+202E>gnp.exe"
                         "<U+202C><U+200B><U+001B>[2J'")
        self.assertEqual(r["arguments"], {
            "args": {"command": text}, "cwd": "/home/agent",
            "env": {"A": "b"}})
        self.assertEqual(r["input"], {"bytes": 4, "cut": False,
                                      "text": "a<U+0009>b\n"})
        self.assertEqual(r["commands"][0]["words"], ["rm", "-rf", ".git"])
        self.assertEqual(r["command"], "rm -rf .git")
        self.assertEqual((r["from"], r["to"]), (0, 11))
        self.assertEqual((r["tool"], r["principal"], r["session"],
                          r["long"]),
                         ("bash", "uid:%d" % AGENT, None, False))
        # and the bytes of the answer hide nothing either
        c = s.connect(OPERATOR, operator=True)
        c.request("GET", "/v1/approvals/" + a)
        self.assertTrue(c.getresponse().read().isascii())
        c.close()
        s.decide(a, "reject_once")

    def test_programs_and_other_tools(self):
        s = self.s
        call, a = s.asked(tool="exec", args={
            "argv": ["rm", "-rf", ".git", "a b", "it's", "", "\u2066x"]})
        self.assertEqual(s.look(a)[1]["shown"],
                         "rm -rf .git 'a b' 'it'\\''s' '' '<U+2066>x'")
        s.decide(a, "reject_once")
        call, a = s.asked(ASKS, stdin={
            "base64": base64.b64encode(b"\xff\0").decode()})
        self.assertEqual(s.look(a)[1]["input"], {
            "bytes": 2, "cut": False, "base64": "/wA="})
        s.decide(a, "reject_once")

    def test_secrets_are_for_those_who_decide(self):
        s = self.s
        call, a = s.asked("rm -rf .git; true %s" % KEY)
        self.assertIn(KEY, s.look(a)[1]["shown"])
        self.assertIn(KEY, s.look(a)[1]["arguments"]["args"]["command"])
        r = s.look(a, AUDITOR)[1]
        self.assertNotIn(KEY, json.dumps(r))
        self.assertEqual(s.decide(a, "reject_once", reason=KEY)[0], 200)
        self.assertNotIn(KEY, json.dumps(s.look(a)[1]))
        self.assertNotIn(KEY, json.dumps(s.list("all")))
        self.assertNotIn(KEY, json.dumps(s.audit()))
        self.assertNotIn(KEY, json.dumps(s.result(call)["error"]))

    def test_long_ones_are_fetched_first(self):
        s = self.s
        text = "rm -rf .git; echo ran #" + "x" * 5000
        call, a = s.asked(text)
        listed = [r for r in s.list() if r["approval"] == a][0]
        self.assertIs(listed["long"], True)
        self.refused(s.decide(a, digest=listed["digest"]), 409, "conflict",
                     "is long")
        # the look of another does not count
        self.assertEqual(s.look(a, SECOND)[0], 200)
        self.refused(s.decide(a, digest=listed["digest"]), 409, "conflict",
                     "is long")
        self.assertIn("x" * 5000, s.look(a)[1]["shown"])
        self.assertEqual(s.decide(a, digest=listed["digest"])[0], 200)
        self.assertEqual(s.result(call)["stdout"], "ran\n")

    def test_a_megabyte(self):
        s = self.s
        call, a = s.asked(ASKS, stdin="\u202e" * 300000)
        r = s.look(a)[1]
        self.assertEqual(r["input"]["bytes"], 900000)
        self.assertEqual(r["input"]["text"], "<U+202E>" * 300000)
        s.decide(a, "reject_once")
        status, r = s.request(AGENT, "POST", "/v1/calls", {
            "tool": "bash", "args": {"command": ASKS},
            "stdin": "x" * (1 << 20), "wait_ms": 50000})
        self.assertEqual((status, r["reason"]), (200, "denied_by_policy"))
        self.assertIn("approval-size, which is 1048576",
                      r["error"]["message"])

    def test_streamed_input(self):
        status, r = self.s.request(AGENT, "POST", "/v1/calls", {
            "tool": "bash", "args": {"command": ASKS},
            "stdin": {"stream": True}, "wait_ms": 50000})
        self.assertEqual((status, r["reason"]), (200, "denied_by_policy"))
        self.assertIn("input is streamed", r["error"]["message"])

    # ---- lists ----

    def test_lists(self):
        s = self.s
        calls = [s.asked(ASKS) for _ in range(3)]
        waiting = [r["approval"] for r in s.list()]
        self.assertEqual(waiting, [a for _, a in reversed(calls)])
        status, page = s.request(OPERATOR, "GET", "/v1/approvals?limit=2",
                                 operator=True)
        self.assertEqual([r["approval"] for r in page["approvals"]],
                         waiting[:2])
        page = s.request(OPERATOR, "GET", "/v1/approvals?limit=2&cursor=%d" %
                         page["next"], operator=True)[1]
        self.assertEqual([r["approval"] for r in page["approvals"]],
                         waiting[2:])
        self.assertEqual([r["approval"] for r in s.list(uid=AUDITOR)],
                         waiting)
        oldest = s.i.status()["approvals"]
        self.assertEqual(oldest["pending"], 3)
        for _, a in calls:
            s.decide(a, "reject_once")
        self.assertEqual(s.list(), [])
        decided = [r["approval"] for r in s.list("decided")][:3]
        self.assertEqual(decided, waiting)
        for path in ("/v1/approvals?state=nonsense",
                     "/v1/approvals?state=" + "x" * 40,
                     "/v1/approvals?limit=0", "/v1/approvals?cursor=x"):
            self.refused(s.request(OPERATOR, "GET", path, operator=True),
                         400, "bad_request")

    def test_bodies_that_are_wrong(self):
        s = self.s
        call, a = s.asked(ASKS)
        digest = s.look(a)[1]["digest"]
        rows = (
            {}, {"decision": "allow_once"}, {"digest": digest},
            {"decision": "allow", "digest": digest},
            {"decision": 1, "digest": digest},
            {"decision": "allow_once", "digest": digest.upper()},
            {"decision": "allow_once", "digest": digest[:-1]},
            {"decision": "allow_once", "digest": digest + "0"},
            {"decision": "allow_once", "digest": digest, "reason": 1},
            {"decision": "allow_once", "digest": digest,
             "reason": "x" * 513},
            {"decision": "allow_once", "digest": digest, "more": 1})
        for body in rows:
            self.refused(s.request(OPERATOR, "POST", "/v1/approvals/" + a,
                                   body, operator=True), 400, "bad_request")
        for path in ("/v1/approvals/a-22222222222222222222",
                     "/v1/approvals/nonsense", "/v1/approvals/" + call):
            self.refused(s.request(OPERATOR, "POST", path, {
                "decision": "allow_once", "digest": digest},
                operator=True), 404, "not_found")
            self.refused(s.request(OPERATOR, "GET", path, operator=True),
                         404, "not_found")
        self.assertEqual(s.look(a)[1]["state"], "pending")
        s.decide(a, "reject_once")

    # ---- remembered ----

    def test_remembered(self):
        s = self.s
        session = s.session(workspace=self.w.path)
        call, a = s.asked(ASKS, session=session)
        status, r = s.decide(a, "allow_session")
        self.assertEqual((status, r["scope"], r["remembered"]),
                         (200, "session", True))
        self.assertEqual(s.result(call)["stdout"], "ran\n")
        again = s.request(AGENT, "POST", "/v1/sessions/%s/calls" % session, {
            "tool": "bash", "args": {"command": ASKS},
            "wait_ms": 50000, "timeout_ms": 45000})[1]
        self.assertEqual((again["stdout"], again["approval"]), ("ran\n", a))
        self.assertEqual([r["approval"] for r in s.list("remembered")], [a])
        # revoked, it asks again
        status, r = s.request(OPERATOR, "DELETE", "/v1/approvals/" + a,
                              operator=True)
        self.assertEqual((status, r["revoked"], r["remembered"]),
                         (200, True, False))
        self.assertEqual(s.list("remembered"), [])
        call, a = s.asked(ASKS, session=session)
        s.decide(a, "allow_session")
        s.result(call)
        self.assertEqual(len(s.list("remembered")), 1)
        s.request(AGENT, "DELETE", "/v1/sessions/" + session)
        wait_for(lambda: s.list("remembered") == [], 60)
        self.refused(s.request(OPERATOR, "DELETE", "/v1/approvals/" + a,
                               operator=True), 409, "conflict")

    def test_what_can_not_be_remembered(self):
        s = self.s
        session = s.session()
        call, a = s.asked('rm -rf "$(cat x)"', session=session)
        self.assertIs(s.look(a)[1]["rememberable"], False)
        self.refused(s.decide(a, "allow_session"), 409, "conflict",
                     "not known before it runs")
        s.decide(a, "reject_once")
        call, a = s.asked(ASKS)
        self.refused(s.decide(a, "allow_session"), 409, "conflict",
                     "no session")
        s.decide(a, "reject_once")

    # ---- a workspace ----

    def test_workspace_of_its_own(self):
        s = self.s
        head = os.path.join(self.w.path, ".git", "HEAD")
        os.mkdir(os.path.dirname(head))
        with open(head, "w") as f:
            f.write("ref: refs/heads/main\n")
        self.w.give()
        call, a = s.asked(ASKS, workspace=self.w.path)
        self.assertEqual(s.look(a)[1]["workspace"], self.w.path)
        self.assertTrue(os.path.exists(head))
        self.assertEqual(s.decide(a)[0], 200)
        self.assertEqual(s.result(call)["stdout"], "ran\n")
        # all of it but the names that are protected
        self.assertFalse(os.path.exists(head))

    # ---- the log ----

    def test_audit(self):
        s = self.s
        call, a = s.asked(ASKS)
        digest = s.look(a)[1]["digest"]
        s.decide(a, reason="go on")
        s.result(call)
        records = [r for r in s.audit() if r.get("call") == call]
        self.assertEqual([r["event"] for r in records], [
            "call.asked", "call.judged", "approval.requested",
            "approval.resolved", "call.judged", "call.started",
            "call.finished"])
        asked, resolved = records[2:4]
        self.assertEqual((asked["digest"], resolved["digest"]),
                         (digest, digest))
        self.assertEqual((resolved["operator"], resolved["decision"],
                          resolved["reason"], resolved["state"]),
                         ("uid:%d" % OPERATOR, "allow_once", "go on",
                          "allowed"))
        self.assertIs(records[4]["again"], True)


class Ends(unittest.TestCase):
    def test_expired(self):
        with Split("approval-expiry 10s\n") as s:
            call, a = s.asked(ASKS)
            self.assertEqual(s.call(call, wait=5000)["state"],
                             "awaiting_approval")
            r = s.result(call)
            self.assertEqual((r["state"], r["reason"]),
                             ("failed", "approval_expired"))
            self.assertIn("approval-expiry", r["error"]["message"])
            status, r = s.decide(a)
            self.assertEqual(status, 409)
            self.assertIn("expired", r["error"]["message"])
            self.assertEqual([r["event"] for r in s.audit()
                              if r.get("approval") == a],
                             ["approval.requested", "approval.expired"])

    def test_drain(self):
        with Split() as s:
            call, a = s.asked(ASKS)
            status, r = s.request(0, "POST", "/v1/drain", {}, operator=True)
            self.assertEqual((status, r["calls"]["running"]), (200, 0))
            self.assertEqual(s.result(call)["reason"], "interrupted")
            self.assertEqual(s.look(a)[1]["state"], "cancelled")

    def test_tool_that_asks(self):
        tool = {
            "name": "asker", "title": "Asks", "description": "Asks.",
            "effect": "read", "marks": [], "asks": True,
            "input_schema": {"type": "object", "properties": {},
                             "additionalProperties": False},
            "argv": ["/bin/echo", "ran"]}
        s = Split(start=False)
        try:
            path = os.path.join(s.i.dir, "asker.json")
            with open(path, "w") as f:
                json.dump(tool, f)
            s.configure('tool "%s"\n' % path)
            s.i.start()
            call, a = s.asked(tool="asker", args={})
            r = s.look(a)[1]
            self.assertIn("asker", r["rule"])
            self.assertEqual(r["shown"], "{}")
            s.decide(a)
            self.assertEqual(s.result(call)["stdout"], "ran\n")
        finally:
            s.stop()


if __name__ == "__main__":
    unittest.main()
