"""Calls over MCP that wait for a person, and clients that would have more
than is theirs: another's call, a call twice, a call of other bytes, or the
decision."""
import json
import os
import threading
import unittest

from approvals import AGENT, ASKS, OPERATOR, OTHER, Split
from harness import wait_for
from keys import Tcp, case
from mcp import LEGACY, MODERN, Mcp, meta, tasks_meta

WAIT = "wait 1s\n"


class Replay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s = Split(WAIT + 'principal user 12346 { preset standard }\n')
        cls.i = cls.s.i
        os.chmod(cls.i.api, 0o666)

    @classmethod
    def tearDownClass(cls):
        cls.s.stop()

    def setUp(self):
        self.session = self.s.session()
        self.mcp = Mcp(self.i, AGENT)
        self.mcp.initialize()

    def tearDown(self):
        for a in self.s.list():
            self.s.decide(a["approval"], "reject_once")
        self.s.request(AGENT, "DELETE", "/v1/sessions/" + self.session)
        self.mcp.delete()

    def message(self, command, state=None, headers=None, tool="bash",
                session=True, **more):
        params = dict({"name": tool, "arguments": {"command": command}},
                      **more)
        if state is not None:
            params["requestState"] = state
        body, h = Mcp.modern_message("tools/call", params)
        if session:
            h["Myelin-Session"] = self.session
        h.update(headers or {})
        return body, h

    def modern(self, *args, mcp=None, **more):
        return (mcp or self.mcp).raw(*self.message(*args, **more))[2][-1]

    def state(self, command=ASKS, **more):
        m = self.modern(command, **more)
        self.assertEqual(m["result"]["resultType"], "input_required", m)
        return m["result"]["requestState"]

    def not_good(self, m):
        self.assertEqual(m["error"]["code"], -32602, m)
        self.assertIn("requestState is not good", m["error"]["message"])
        self.assertNotIn("result", m)

    def the_one(self):
        waiting = self.s.list()
        self.assertEqual(len(waiting), 1, waiting)
        return waiting[0]

    def allow(self, approval):
        status, body = self.s.decide(approval)
        self.assertEqual(status, 200, body)

    def runs(self, command="cat f"):
        r = self.modern(command)["result"]
        return [c["text"] for c in r["content"]]

    # ---- states ----

    def test_forged_states(self):
        good = self.state()
        a = self.the_one()
        head, mark = good.rsplit(".", 1)
        kind, call, number = head.split(".")
        flipped = mark[:-1] + ("0" if mark[-1] != "0" else "1")
        other = call[:-1] + ("a" if call[-1] != "a" else "b")
        rows = [good[:n] for n in range(0, len(good), 5)] + [
            head + "." + flipped, good + "0", good + ".", good + "\u0001",
            good.upper(), " " + good,
            ".".join([kind, call, "2", mark]),
            ".".join([kind, call, "0" + number, mark]),
            ".".join([kind, call, "-1", mark]),
            ".".join([kind, call, "99999999999999999999", mark]),
            ".".join([kind, other, number, mark]),
            ".".join(["m1", call, number, mark]),
            ".".join([kind, a["approval"], number, mark]),
            head + "." + "0" * 64, head, call, a["approval"],
            self.mcp.session, "x" * 100000, "", "\u00e4" * 40,
            1, None, True, [good], {"requestState": good}, 1.5]
        for row in rows:
            with case(repr(row)[:60]):
                if row is None:
                    body, h = self.message(ASKS)
                    body["params"]["requestState"] = None
                    m = self.mcp.raw(body, h)[2][-1]
                else:
                    m = self.modern(ASKS, row)
                self.not_good(m)
        # a state is no session's id
        self.assertEqual(self.mcp.raw(
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"Mcp-Session-Id": good})[0], 404)
        # and after all that the good one is as good as it was
        self.assertEqual(self.the_one()["approval"], a["approval"])
        self.allow(a["approval"])
        self.assertFalse(self.modern(ASKS, good)["result"]["isError"])

    def test_other_arguments(self):
        good = self.state()
        a = self.the_one()
        for more in ({"command": ASKS + " "}, {"command": "echo ran"},
                     {"tool": "python"}, {"session": False},
                     {"headers": {"Myelin-Timeout": "1000"}},
                     {"headers": {"Myelin-Session": self.s.session()}},
                     {"session": False,
                      "headers": {"Myelin-Preset": "readonly"}},
                     {"session": False,
                      "headers": {"Myelin-Workspace": "/tmp"}}):
            with case(more):
                more = dict({"command": ASKS}, **more)
                self.not_good(self.modern(state=good, **more))
        body, h = self.message(ASKS, good)
        for arguments in ({"command": ASKS, "x": 1}, {}, None):
            with case(arguments):
                body["params"]["arguments"] = arguments
                self.not_good(self.mcp.raw(body, h)[2][-1])
        self.allow(a["approval"])
        self.assertFalse(self.modern(ASKS, good)["result"]["isError"])

    def test_anothers_state(self):
        """Whoever has seen it; its owner keeps it."""
        good = self.state(session=False)
        a = self.the_one()
        for uid in (OTHER, OPERATOR, 0):
            other = Mcp(self.i, uid)
            with case(uid):
                self.not_good(self.modern(ASKS, good, mcp=other,
                                          session=False))
        # nor is it good for the same in another place
        self.not_good(self.modern(ASKS, good, session=False, headers={
            "Myelin-Read-Only": "true"}))
        self.allow(a["approval"])
        for uid in (OTHER, OPERATOR, 0):
            self.not_good(self.modern(ASKS, good, mcp=Mcp(self.i, uid),
                                      session=False))
        self.assertFalse(self.modern(ASKS, good, session=False)
                         ["result"]["isError"])

    def test_used_twice(self):
        """While it waits, after it waited, after the result."""
        command = "rm -rf .git; echo ran >> f"
        first = self.state(command)
        second = self.state(command, state=first)
        self.not_good(self.modern(command, first))
        a = self.the_one()
        answers = []
        threads = [threading.Thread(
            target=lambda: answers.append(self.modern(command, second)))
            for _ in range(8)]
        for t in threads:
            t.start()
        # all but one are refused; that one waits
        wait_for(lambda: len(answers) >= 7, 60)
        self.allow(a["approval"])
        for t in threads:
            t.join()
        wait_for(lambda: "stdout" in self.s.call(a["call"]), 60)
        good = [m for m in answers if "result" in m]
        self.assertEqual(len(good), 1, answers)
        for m in answers:
            if "result" not in m:
                self.not_good(m)
        for state in (first, second):
            self.not_good(self.modern(command, state))
        self.assertEqual(self.runs(), ["ran\n"])
        self.assertEqual(self.s.list(), [])

    def test_after_a_rejection(self):
        good = self.state()
        status, _ = self.s.decide(self.the_one()["approval"], "reject_once",
                                  reason="no")
        self.assertEqual(status, 200)
        r = self.modern(ASKS, good)["result"]
        self.assertEqual((r["resultType"], r["isError"]), ("complete", True))
        self.not_good(self.modern(ASKS, good))
        self.assertEqual(self.s.list(), [])

    # ---- the handshake era ----

    def held(self, mcp, command=ASKS):
        r = mcp.call("bash", {"command": command})
        self.assertEqual(r["structuredContent"]["status"],
                         "approval_required", r)
        return r["structuredContent"]

    def test_who_joins(self):
        """Nobody but the session that asked, and that for the same bytes."""
        first = self.held(self.mcp)
        again = Mcp(self.i, AGENT)
        again.initialize()
        other = Mcp(self.i, OTHER)
        other.initialize()
        stolen = Mcp(self.i, OTHER)
        stolen.session, stolen.version = self.mcp.session, LEGACY
        self.assertEqual(stolen.legacy("tools/call", {
            "name": "bash", "arguments": {"command": ASKS}})[0], 404)
        calls = {first["call"]}
        for mcp, command in ((again, ASKS), (other, ASKS),
                             (self.mcp, ASKS + " ")):
            with case((mcp.uid, command)):
                held = self.held(mcp, command)
                self.assertNotIn(held["call"], calls)
                calls.add(held["call"])
        self.allow(first["approval"])
        for mcp in (again, other):
            self.assertNotEqual(self.held(mcp)["call"], first["call"])
        self.assertFalse(self.mcp.call("bash", {"command": ASKS})["isError"])
        for mcp in (again, other):
            mcp.delete()

    def test_its_result_is_given_once(self):
        command = "rm -rf .git; echo ran >> f; wc -l < f"
        first = self.held(self.mcp, command)
        self.allow(first["approval"])
        wait_for(lambda: self.s.call(first["call"])["state"] !=
                 "awaiting_approval", 60)
        results = []
        # as many as a neuron may run, so that none is refused for that
        threads = [threading.Thread(target=lambda: results.append(
            self.mcp.call("bash", {"command": command}))) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sum(not r["isError"] for r in results), 1, results)
        # the others are new calls, which ask
        asked = [r["structuredContent"] for r in results if r["isError"]]
        for data in asked:
            self.assertEqual(data["status"], "approval_required")
            self.assertNotEqual(data["call"], first["call"])
        self.assertEqual(self.mcp.call("bash", {"command": "wc -l < f"})
                         ["content"][0]["text"], "1\n")

    # ---- tasks ----

    def task(self, method, task, mcp=None, **more):
        return (mcp or self.mcp).modern("tasks/" + method, dict(
            {"taskId": task}, **more), extra=tasks_meta())[2][-1]

    def test_anothers_task(self):
        """Its id alone is worth nothing, nor is that of what is none."""
        body, h = self.message(ASKS, session=False)
        body["params"]["_meta"].update(tasks_meta())
        task = self.mcp.raw(body, h)[2][-1]["result"]["taskId"]
        a = self.the_one()
        held = self.held(self.mcp)["call"]
        ran = self.modern("true")["result"]["structuredContent"]["call"]
        for mcp in (Mcp(self.i, OTHER), Mcp(self.i, OPERATOR), Mcp(self.i)):
            for method in ("get", "cancel", "update"):
                with case((mcp.uid, method)):
                    self.assertEqual(self.task(method, task, mcp)["error"]
                                     ["code"], -32602)
        for other in (held, ran, a["approval"], "", task[:-1], task + "x",
                      "c-" + "0" * 20, "../" + task, "x" * 300):
            for method in ("get", "cancel", "update"):
                with case((other, method)):
                    m = self.task(method, other)
                    self.assertIn(m["error"]["code"], (-32602, -32020))
        for other in (1, None, [task], {"taskId": task}):
            with case(other):
                body, h = Mcp.modern_message("tasks/cancel", {}, extra=
                                             tasks_meta())
                body["params"]["taskId"] = other
                self.assertEqual(self.mcp.raw(body, h)[2][-1]["error"]
                                 ["code"], -32602)
        # what an update says decides nothing
        yes = {"action": "accept", "content": {"approved": True}}
        for more in ({}, {"inputResponses": {"approval": yes}},
                     {"inputResponses": {a["approval"]: yes}},
                     {"decision": "allow_once", "digest": a["digest"]}):
            with case(more):
                self.task("update", task, **more)
                r = self.task("get", task)["result"]
                self.assertEqual(r["status"], "working")
                self.assertEqual(self.s.look(a["approval"])[1]["state"],
                                 "pending")
        # no state that was made up leads to a task
        self.not_good(self.modern(ASKS, "s1.%s.0.%s" % (task, "0" * 64),
                                  session=False))
        self.allow(a["approval"])
        wait_for(lambda: self.task("get", task)["result"]["status"] ==
                 "completed", 60)

    # ---- who decides ----

    def test_the_client_decides_nothing(self):
        """Whatever it sends, and even if its user may approve."""
        good = self.state()
        a = self.the_one()
        approve = {"decision": "allow_once", "digest": a["digest"]}
        path = "/v1/approvals/" + a["approval"]
        for uid in (AGENT, OPERATOR, 0):
            for method, where, body in (
                    ("POST", path, approve), ("GET", path, None),
                    ("DELETE", path, None), ("GET", "/v1/approvals", None),
                    ("POST", "/v1/calls/%s/approve" % a["call"], {})):
                with case((uid, method, where)):
                    status, answer = self.s.request(uid, method, where, body)
                    self.assertEqual(status, 404, answer)
                    self.assertNotIn(a["digest"], json.dumps(answer))
        for method in ("approvals/decide", "approvals/list", "tasks/result",
                       "tasks/approve", "elicitation/create",
                       "elicitation/respond"):
            with case(method):
                answer = self.mcp.modern(method, dict(
                    approve, approval=a["approval"], taskId=a["call"]))
                self.assertEqual(answer[0], 404)
                self.assertEqual(answer[2][0]["error"]["code"], -32601)
                answer = self.mcp.legacy(method, approve)
                self.assertEqual(answer[2][0]["error"]["code"], -32601)
        for name in ("approve", "approval", "approval_decide"):
            with case(name):
                for m in (self.modern(ASKS, tool=name),
                          self.mcp.legacy("tools/call", {
                              "name": name, "arguments": approve})[2][-1]):
                    self.assertEqual(m["error"]["code"], -32602)
        # answers to what was never asked
        status, _, m = self.mcp.raw({
            "jsonrpc": "2.0", "id": 1, "result": {"action": "accept",
                                                  "content": approve}},
            self.mcp.legacy_headers())
        self.assertEqual((status, m), (202, []))
        # with the state: it waits on, and that is all
        yes = {"action": "accept", "content": dict(approve, approved=True)}
        for more in ({"inputResponses": {"approval": yes}},
                     {"inputResponses": {a["approval"]: yes}},
                     {"inputResponses": [yes]}, {"approved": True},
                     approve, {"approval": a["approval"]},
                     {"elicitation": yes}):
            with case(more):
                good = self.state(state=good, **more)
                self.assertEqual(self.the_one()["approval"], a["approval"])
        body, h = self.message(ASKS, good)
        body["params"]["_meta"].update(meta(**{
            "myelin/approved": True, "io.modelcontextprotocol/"
            "clientCapabilities": {"elicitation": {}, "extensions": {
                "io.modelcontextprotocol/tasks": {}}}}))
        h.update({"Myelin-Approval": a["approval"],
                  "X-Myelin-Approved": "true"})
        m = self.mcp.raw(body, h)[2][-1]
        self.assertEqual(m["result"]["resultType"], "task")
        self.assertEqual(self.the_one()["state"], "pending")
        self.assertEqual([r for r in self.s.audit() if r["event"] ==
                          "approval.resolved" and r["approval"] ==
                          a["approval"]], [])
        self.assertEqual(self.s.call(a["call"])["state"],
                         "awaiting_approval")

    def test_no_text_of_a_tool_is_a_state(self):
        """A program may print what it likes: its result is complete."""
        text = json.dumps({"resultType": "input_required",
                           "requestState": "s1.x.1.y"})
        m = self.modern("echo '%s'" % text)
        self.assertEqual(m["result"]["resultType"], "complete")
        self.assertNotIn("requestState", m["result"])

    def test_waiting_is_bounded_in_number(self):
        """Each that waits counts, whether somebody waits for it or not."""
        for n in range(8):
            self.state(ASKS + " " * n)
        r = self.modern(ASKS + " " * 8)["result"]
        self.assertEqual(r["resultType"], "complete")
        self.assertTrue(r["isError"])
        self.assertIn("approvals-session", json.dumps(r))


class Keys(Tcp):
    """The same over TCP, for who comes with a key."""

    extra = WAIT

    def call(self, token, state=None, command=ASKS):
        params = {"name": "bash", "arguments": {"command": command},
                  "_meta": meta()}
        if state is not None:
            params["requestState"] = state
        status, m, _ = self.ask(
            "POST", "/mcp", token, {"jsonrpc": "2.0", "id": 3, "method":
                                    "tools/call", "params": params},
            {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call",
             "Mcp-Name": "bash"})
        self.assertEqual(status, 200, m)
        return m

    def waiting(self):
        return self.i.get("/v1/approvals", operator=True)[1]["approvals"]

    def decide(self, a):
        return self.i.request("POST", "/v1/approvals/" + a["approval"], {
            "decision": "allow_once", "digest": a["digest"]}, operator=True)

    def test_both_eras(self):
        token = self.add("ci")["token"]
        state = self.call(token)["result"]["requestState"]
        a = self.waiting()[0]
        self.assertEqual(a["principal"], "key:ci")
        # another key, no key, the operator's own socket: not theirs
        other = self.add("owned")["token"]
        self.assertEqual(self.call(other, state)["error"]["code"], -32602)
        body = {"decision": "allow_once", "digest": a["digest"]}
        self.assertEqual(self.ask("POST", "/v1/approvals/" + a["approval"],
                                  token, body)[0], 404)
        mine = Mcp(self.i).modern("tools/call", {
            "name": "bash", "arguments": {"command": ASKS},
            "requestState": state})[2][-1]
        self.assertEqual(mine["error"]["code"], -32602)
        self.assertEqual(self.decide(a)[0], 200)
        r = self.call(token, state)["result"]
        self.assertEqual(r["content"][0]["text"], "ran\n")
        self.assertEqual(self.call(token, state)["error"]["code"], -32602)
        self.handshake(token)

    def handshake(self, token):
        _, _, h = self.ask("POST", "/mcp", token, {
            "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": LEGACY, "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"}}})
        sid = {"Mcp-Session-Id": h["Mcp-Session-Id"],
               "MCP-Protocol-Version": LEGACY}
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "bash", "arguments": {"command": ASKS}}}
        r = self.ask("POST", "/mcp", token, body, sid)[1]["result"]
        self.assertEqual(r["structuredContent"]["status"],
                         "approval_required")
        self.assertEqual(self.decide(self.waiting()[0])[0], 200)
        r = self.ask("POST", "/mcp", token, body, sid)[1]["result"]
        self.assertEqual(r["content"][0]["text"], "ran\n")
        self.ask("DELETE", "/mcp", token, None, sid)

    def test_a_key_that_goes(self):
        """Its calls wait for nobody, and its state is nothing."""
        key = self.add("ci")
        state = self.call(key["token"])["result"]["requestState"]
        a = self.waiting()[0]
        self.i.request("DELETE", "/v1/keys/" + key["key"], operator=True)
        wait_for(lambda: not self.waiting(), 60)
        self.assertEqual(self.decide(a)[0], 409)
        # who has the name then has the end of the call, and no more
        r = self.call(self.add("ci")["token"], state)["result"]
        self.assertTrue(r["isError"])
        self.assertEqual(r["structuredContent"]["reason"], "session_ended")


if __name__ == "__main__":
    unittest.main()
