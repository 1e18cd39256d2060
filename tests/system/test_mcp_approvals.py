"""Approvals over MCP: the bounded wait, and coming back for what waits."""
import base64
import datetime
import json
import os
import signal
import time
import unittest

from approvals import AGENT, ASKS, CONFIG, OTHER, Split
from harness import wait_for
from mcp import Mcp, Stdio, meta, tasks_meta

WAIT = "wait 2s\n"


def texts(result):
    return [c["text"] for c in result["content"] if c["type"] == "text"]


def lines_of(text):
    """The line that a program left for each time that it ran."""
    return text.count("ran\n")


class Base(unittest.TestCase):
    extra = WAIT

    @classmethod
    def setUpClass(cls):
        cls.s = Split(cls.extra)
        cls.i = cls.s.i
        os.chmod(cls.i.api, 0o666)

    @classmethod
    def tearDownClass(cls):
        cls.s.stop()

    def client(self, uid=AGENT):
        mcp = Mcp(self.i, uid)
        mcp.initialize()
        self.addCleanup(mcp.delete)
        return mcp

    def wait_asked(self, before=()):
        """The one approval that waits and did not before."""
        return wait_for(lambda: [
            a for a in self.s.list() if a["approval"] not in before], 60)[0]

    def result(self, call, uid=AGENT):
        """Of a call that has ended; no wait is longer than the limit."""
        return wait_for(lambda: [r for r in [self.s.call(call, uid, 1000)]
                                 if "stdout" in r], 90)[0]

    def drop_all(self):
        for a in self.s.list():
            self.s.decide(a["approval"], "reject_once")

    def tearDown(self):
        self.drop_all()

    def modern(self, mcp, command=ASKS, state=None, headers=None, extra=None,
               **more):
        """The messages of a modern call."""
        params = dict({"name": "bash", "arguments": {"command": command}},
                      **more)
        if state is not None:
            params["requestState"] = state
        status, _, m = mcp.modern("tools/call", params, headers, extra=extra)
        self.assertEqual(status, 200, m)
        return m

    def required(self, mcp, **more):
        """A modern call that is handed out: its state."""
        r = self.modern(mcp, **more)[-1]["result"]
        self.assertEqual(r["resultType"], "input_required", r)
        # the client is asked nothing: it has nothing to decide
        self.assertEqual(set(r), {"resultType", "requestState", "_meta"})
        return r["requestState"]

    def held(self, mcp, command=ASKS, **more):
        """A call in the handshake era that is handed out: its data."""
        r = mcp.call("bash", {"command": command}, **more)
        self.assertTrue(r["isError"], r)
        data = r["structuredContent"]
        self.assertEqual(data["status"], "approval_required", r)
        return data

    def decided(self, approval, decision="allow_once", **more):
        status, body = self.s.decide(approval, decision, **more)
        self.assertEqual(status, 200, body)
        return body

    def cancelled(self, approval):
        """Waits until it is."""
        wait_for(lambda: self.s.look(approval)[1]["state"] == "cancelled", 60)

    def not_good(self, m):
        self.assertEqual(m[-1]["error"]["code"], -32602, m)
        self.assertIn("requestState", m[-1]["error"]["message"])


class Wait(Base):
    extra = "wait 50s\n"

    def test_allowed_while_it_waits(self):
        """The same request has the result, in both eras."""
        mcp = self.client()
        for send in (lambda: mcp.send({
                "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {
                    "name": "bash", "arguments": {"command": ASKS},
                    "_meta": {"progressToken": 4}}}, mcp.legacy_headers()),
                lambda: mcp.send(*mcp.modern_message("tools/call", {
                    "name": "bash", "arguments": {"command": ASKS}},
                    extra={"progressToken": 4}))):
            c = send()
            a = self.wait_asked()
            r, text = c.getresponse(), ""
            while "waiting for approval" not in text:
                line = r.readline().decode()
                self.assertTrue(line, text)
                text += line
            self.decided(a["approval"])
            text += r.read().decode()
            c.close()
            m = [json.loads(l[5:]) for l in text.splitlines()
                 if l.startswith("data:")]
            said = [n["params"]["message"] for n in m[:-1]]
            self.assertTrue(any(s.startswith("waiting for approval " +
                                             a["approval"]) for s in said),
                            said)
            values = [n["params"]["progress"] for n in m[:-1]]
            self.assertEqual(values, sorted(set(values)))
            self.assertFalse(m[-1]["result"]["isError"], m)
            self.assertEqual(texts(m[-1]["result"]), ["ran\n"])

    def test_final_words(self):
        """A rejection is the end of it, and says why."""
        mcp = self.client()
        for decision, reason in (("reject_once", "not on a Friday"),):
            c = mcp.send(*mcp.modern_message("tools/call", {
                "name": "bash", "arguments": {"command": ASKS}}))
            self.decided(self.wait_asked()["approval"], decision,
                         reason=reason)
            r = json.loads(c.getresponse().read())["result"]
            c.close()
            self.assertEqual(r["resultType"], "complete")
            self.assertTrue(r["isError"])
            self.assertIn("approval_rejected", texts(r)[-1])
            self.assertIn(reason, texts(r)[-1])

    def gone(self, send, before=()):
        c = send()
        a = self.wait_asked(before)
        c.close()
        a = wait_for(lambda: [
            x for x in [self.s.look(a["approval"])[1]]
            if x["state"] != "pending"], 60)[0]
        self.assertEqual(a["state"], "cancelled")
        self.assertEqual(self.s.decide(a["approval"],
                                       digest=a["digest"])[0], 409)
        self.assertEqual(self.result(a["call"])["stdout"], "")

    def test_who_leaves_is_not_waited_for(self):
        """What is allowed once nobody is there does not run by itself."""
        mcp = self.client()
        params = {"name": "bash", "arguments": {"command": ASKS}}
        self.gone(lambda: mcp.send(*mcp.modern_message("tools/call",
                                                       params)))
        self.gone(lambda: mcp.send({
            "jsonrpc": "2.0", "id": 5, "method": "tools/call",
            "params": params}, mcp.legacy_headers()))
        # nor if it left before it was even asked for
        for n in range(8):
            c = mcp.send({"jsonrpc": "2.0", "id": n, "method": "tools/call",
                          "params": params}, mcp.legacy_headers())
            time.sleep(n * 0.002)
            c.close()
        wait_for(lambda: not self.s.list(), 60)
        wait_for(lambda: not any(
            c["state"] in ("queued", "awaiting_approval", "running")
            for c in self.s.request(AGENT, "GET", "/v1/calls")[1]["calls"]),
            60)

    def test_cancelled_by_a_notification(self):
        mcp = self.client()
        c = mcp.send({"jsonrpc": "2.0", "id": "x", "method": "tools/call",
                      "params": {"name": "bash",
                                 "arguments": {"command": ASKS}}},
                     mcp.legacy_headers())
        a = self.wait_asked()
        mcp.notify("notifications/cancelled", {"requestId": "x"})
        r = json.loads(c.getresponse().read())["result"]
        c.close()
        self.assertEqual(r["structuredContent"]["state"], "cancelled")
        self.cancelled(a["approval"])


class Bounded(Base):
    def test_the_wait_is_bounded(self):
        """By the limit "wait", whether the client takes a stream or not, and
        long before an approval expires."""
        mcp = self.client()
        for more in ({}, {"extra": {"progressToken": "t"}}):
            begin = time.monotonic()
            self.required(mcp, **more)
            took = time.monotonic() - begin
            self.assertGreater(took, 1.9)
            self.assertLess(took, 60)
        begin = time.monotonic()
        body, h = mcp.modern_message("tools/call", {
            "name": "bash", "arguments": {"command": ASKS}})
        m = mcp.raw(body, h, accept="application/json")[2]
        self.assertEqual(m[0]["result"]["resultType"], "input_required")
        self.assertLess(time.monotonic() - begin, 60)


class Modern(Base):
    def test_the_same_call_is_awaited_again(self):
        mcp = self.client()
        state = self.required(mcp)
        a = self.wait_asked()
        # it waits on, and hands out another state
        second = self.required(mcp, state=state)
        self.assertNotEqual(second, state)
        self.assertEqual([x["approval"] for x in self.s.list()],
                         [a["approval"]])
        body, h = mcp.modern_message("tools/call", {
            "name": "bash", "arguments": {"command": ASKS},
            "requestState": second}, ident=77)
        c = mcp.send(body, h)
        self.decided(a["approval"])
        m = json.loads(c.getresponse().read())
        c.close()
        self.assertEqual(m["id"], 77)
        self.assertEqual(m["result"]["resultType"], "complete")
        self.assertEqual(texts(m["result"]), ["ran\n"])
        self.assertEqual(m["result"]["structuredContent"]["call"], a["call"])

    def test_decided_while_nobody_waits(self):
        """It runs, and its result is kept for who comes back, once."""
        mcp = self.client()
        state = self.required(mcp)
        a = self.wait_asked()
        self.decided(a["approval"])
        self.assertEqual(self.result(a["call"])["stdout"], "ran\n")
        m = self.modern(mcp, state=state)
        self.assertEqual(texts(m[-1]["result"]), ["ran\n"])
        self.not_good(self.modern(mcp, state=state))
        self.assertEqual(self.s.list(), [])
        # the same of what is not allowed
        state = self.required(mcp)
        self.decided(self.wait_asked()["approval"], "reject_once",
                     reason="no")
        r = self.modern(mcp, state=state)[-1]["result"]
        self.assertTrue(r["isError"])
        self.assertEqual(r["resultType"], "complete")
        self.assertIn("approval_rejected", texts(r)[-1])

    def test_in_a_session(self):
        session = self.s.session()
        mcp = self.client()
        here = {"Myelin-Session": session}
        state = self.required(mcp, headers=here)
        a = self.wait_asked()
        self.assertEqual(a["session"], session)
        self.not_good(self.modern(mcp, state=state))
        self.decided(a["approval"])
        r = self.modern(mcp, state=state, headers=here)[-1]["result"]
        self.assertEqual(texts(r), ["ran\n"])

    def test_leaving_the_second_wait_cancels(self):
        mcp = self.client()
        state = self.required(mcp)
        a = self.wait_asked()
        body, h = mcp.modern_message("tools/call", {
            "name": "bash", "arguments": {"command": ASKS},
            "requestState": state})
        c = mcp.send(body, h)
        time.sleep(0.4)
        c.close()
        self.cancelled(a["approval"])
        self.not_good(self.modern(mcp, state=state))

    def test_what_is_running_is_waited_for(self):
        mcp = self.client()
        command = "rm -rf .git; sleep 3; echo ran"
        state = self.required(mcp, command=command)
        a = self.wait_asked()
        self.decided(a["approval"])
        wait_for(lambda: self.s.call(a["call"])["state"] in
                 ("running", "completed"), 60)
        # running is no waiting for a person: no bound but its own
        r = self.modern(mcp, command, state)[-1]["result"]
        self.assertEqual(texts(r), ["ran\n"])


class Legacy(Base):
    def test_the_answer(self):
        mcp = self.client()
        r = mcp.call("bash", {"command": ASKS})
        a = self.wait_asked()
        self.assertTrue(r["isError"])
        self.assertIn(a["approval"], texts(r)[0])
        self.assertIn("same arguments", texts(r)[0])
        data = r["structuredContent"]
        self.assertEqual(set(data), {"status", "approval", "call",
                                     "expires_in_ms", "how"})
        self.assertEqual((data["approval"], data["call"]),
                         (a["approval"], a["call"]))
        self.assertLess(data["expires_in_ms"], 300000)
        self.assertGreater(data["expires_in_ms"], 200000)

    def test_calling_again_joins(self):
        """The same call, whose result is given once."""
        mcp = self.client()
        command = "rm -rf .git; echo ran >> f; cat f"
        first = self.held(mcp, command)
        again = self.held(mcp, command)
        self.assertEqual(again["call"], first["call"])
        self.assertEqual(len(self.s.list()), 1)
        self.decided(first["approval"])
        self.result(first["call"])
        self.assertEqual(texts(mcp.call("bash", {"command": command})),
                         ["ran\n"])
        # what is asked for now is another call
        other = self.held(mcp, command)
        self.assertNotEqual(other["call"], first["call"])
        self.decided(other["approval"], "reject_once", reason="twice is once "
                     "too often")
        r = mcp.call("bash", {"command": command})
        self.assertIn("twice is once too often", texts(r)[-1])
        self.assertEqual(r["structuredContent"]["reason"],
                         "approval_rejected")
        self.assertEqual(self.s.list(), [])

    def test_other_arguments_are_another_call(self):
        mcp = self.client()
        first = self.held(mcp)
        other = self.held(mcp, ASKS + " ")
        self.assertNotEqual(other["call"], first["call"])
        self.assertEqual(len(self.s.list()), 2)
        # each its own
        self.decided(other["approval"])
        self.result(other["call"])
        self.assertEqual(self.held(mcp)["call"], first["call"])
        self.assertEqual(texts(mcp.call("bash", {"command": ASKS + " "})),
                         ["ran\n"])

    def test_another_session_or_principal_joins_nothing(self):
        mcp, second, other = self.client(), self.client(), self.client(OTHER)
        first = self.held(mcp)
        calls = {self.held(c)["call"] for c in (second, other)}
        self.assertEqual(len(calls | {first["call"]}), 3)
        self.decided(first["approval"])
        self.result(first["call"])
        self.assertEqual(self.held(other)["call"] in calls, True)
        self.assertEqual(texts(mcp.call("bash", {"command": ASKS})),
                         ["ran\n"])

    def test_leaving_the_second_wait_does_not_cancel(self):
        """One that was told to come back may."""
        mcp = self.client()
        first = self.held(mcp)
        c = mcp.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
                      "params": {"name": "bash",
                                 "arguments": {"command": ASKS}}},
                     mcp.legacy_headers())
        time.sleep(0.4)
        c.close()
        time.sleep(0.4)
        self.assertEqual(self.s.look(first["approval"])[1]["state"],
                         "pending")
        self.decided(first["approval"])
        self.assertEqual(texts(mcp.call("bash", {"command": ASKS})),
                         ["ran\n"])

    def test_the_latest_request_has_the_wait(self):
        mcp = self.client()
        first = self.held(mcp)
        body = {"jsonrpc": "2.0", "id": 5, "method": "tools/call",
                "params": {"name": "bash", "arguments": {"command": ASKS}}}
        results, waiting = [], []

        def ended(c):
            results.append(json.loads(c.getresponse().read())["result"])
            c.close()
        for n in range(3):
            waiting.append(mcp.send(dict(body, id=n), mcp.legacy_headers()))
            # who had the wait is told to come back as soon as it has another
            if n > 0:
                ended(waiting.pop(0))
        self.assertEqual(len(self.s.list()), 1)
        self.decided(first["approval"])
        ended(waiting.pop())
        self.assertEqual(sum(not r["isError"] for r in results), 1)
        self.assertEqual(len(self.s.list()), 0)

    def test_a_session_that_ends_takes_it_along(self):
        mcp = Mcp(self.i, AGENT)
        mcp.initialize()
        first = self.held(mcp)
        self.assertEqual(mcp.delete()[0], 200)
        self.cancelled(first["approval"])
        self.assertEqual(self.result(first["call"])["reason"],
                         "session_ended")


class Tasks(Base):
    """For clients that say that they know them."""

    def begin(self, mcp, command=ASKS, tool="bash", **arguments):
        """A call that becomes a task: what is said of it."""
        r = mcp.modern("tools/call", {
            "name": tool, "arguments": arguments or {"command": command}},
            extra=tasks_meta())[2][-1]["result"]
        self.assertEqual(r["resultType"], "task", r)
        self.assertNotIn("requestState", r)
        return r

    def ask(self, mcp, method, task, **more):
        status, _, m = mcp.modern("tasks/" + method, dict(
            {"taskId": task}, **more), extra=tasks_meta())
        self.assertEqual(status, 200, m)
        return m[-1]

    def get(self, mcp, task):
        r = self.ask(mcp, "get", task)["result"]
        self.assertEqual((r["resultType"], r["taskId"]), ("complete", task))
        self.assertNotIn("requestState", r)
        return r

    def over(self, mcp, task):
        return wait_for(lambda: [r for r in [self.get(mcp, task)]
                                 if r["status"] != "working"], 60)[0]

    def test_from_its_beginning_to_its_end(self):
        mcp = self.client()
        task = self.begin(mcp)
        a = self.wait_asked()
        self.assertEqual(task["taskId"], a["call"])
        self.assertEqual(task["status"], "working")
        self.assertEqual(task["statusMessage"],
                         "waiting for approval " + a["approval"])
        # as long as an approval waits and a result is kept
        self.assertGreater(task["ttlMs"], 840000)
        self.assertLess(task["ttlMs"], 905000)
        self.assertGreater(task["pollIntervalMs"], 0)
        made = datetime.datetime.fromisoformat(
            task["createdAt"].replace("Z", "+00:00"))
        self.assertLess(abs((datetime.datetime.now(
            datetime.timezone.utc) - made).total_seconds()), 60)
        self.assertEqual(self.get(mcp, task["taskId"])["status"], "working")
        self.decided(a["approval"])
        # it may be looked at more than once while it is there
        for _ in range(2):
            r = self.over(mcp, task["taskId"])
            self.assertEqual(r["status"], "completed")
            self.assertEqual(r["createdAt"][:19], task["createdAt"][:19])
            self.assertEqual(texts(r["result"]), ["ran\n"])
            self.assertFalse(r["result"]["isError"])
            self.assertGreater(r["ttlMs"], 600000)
        self.assertEqual(self.ask(mcp, "cancel", task["taskId"])["result"]
                         ["resultType"], "complete")
        self.assertEqual(self.get(mcp, task["taskId"])["status"],
                         "completed")

    def test_a_rejection_is_its_result(self):
        mcp = self.client()
        task = self.begin(mcp)["taskId"]
        self.decided(self.wait_asked()["approval"], "reject_once",
                     reason="no")
        r = self.over(mcp, task)
        self.assertEqual(r["status"], "completed")
        self.assertTrue(r["result"]["isError"])
        self.assertIn("approval_rejected", texts(r["result"])[-1])

    def test_cancelled(self):
        mcp = self.client()
        task = self.begin(mcp)["taskId"]
        a = self.wait_asked()
        self.ask(mcp, "cancel", task)
        r = self.over(mcp, task)
        self.assertEqual(r["status"], "cancelled")
        self.assertNotIn("result", r)
        self.cancelled(a["approval"])
        self.assertEqual(self.s.decide(a["approval"],
                                       digest=a["digest"])[0], 409)

    def test_cancelled_while_it_runs(self):
        mcp = self.client()
        task = self.begin(mcp, "rm -rf .git; sleep 600")["taskId"]
        self.decided(self.wait_asked()["approval"])
        wait_for(lambda: self.get(mcp, task)["statusMessage"] == "running",
                 60)
        self.ask(mcp, "cancel", task)
        self.assertEqual(self.over(mcp, task)["status"], "cancelled")

    def test_bytes_that_are_no_text(self):
        """Which go out as they come, inside of the task."""
        mcp = self.client()
        task = self.begin(mcp, "rm -rf .git; head -c 100000 /dev/zero | "
                          "tr '\\0' '\\377'")["taskId"]
        self.decided(self.wait_asked()["approval"])
        r = self.over(mcp, task)
        self.assertEqual(base64.b64decode(
            r["result"]["content"][0]["resource"]["blob"]),
            b"\xff" * 100000)
        self.assertEqual(r["result"]["structuredContent"]["call"], task)
        self.assertIn("_meta", r)

    def test_what_needs_nobody_is_no_task(self):
        mcp = self.client()
        r = mcp.modern("tools/call", {
            "name": "bash", "arguments": {"command": "echo x"}},
            extra=tasks_meta())[2][-1]["result"]
        self.assertEqual((r["resultType"], texts(r)), ("complete", ["x\n"]))

    def test_who_does_not_know_them(self):
        mcp = self.client()
        task = self.begin(mcp)["taskId"]
        for method in ("get", "cancel", "update"):
            status, _, m = mcp.modern("tasks/" + method, {"taskId": task})
            self.assertEqual((status, m[0]["error"]["code"]), (400, -32021))
            self.assertEqual(m[0]["error"]["data"]["requiredCapabilities"],
                             {"extensions": {
                                 "io.modelcontextprotocol/tasks": {}}})
            # nor has the handshake era any
            m = mcp.legacy("tasks/" + method, {"taskId": task})[2]
            self.assertEqual(m[0]["error"]["code"], -32601)
        # the header names what the body does
        body, h = mcp.modern_message("tasks/get", {"taskId": task},
                                     extra=tasks_meta())
        for name in (None, "c-" + "0" * 20):
            h.pop("Mcp-Name", None)
            if name:
                h["Mcp-Name"] = name
            status, _, m = mcp.raw(body, h)
            self.assertEqual((status, m[0]["error"]["code"]), (400, -32020))
        self.assertEqual(self.get(mcp, task)["status"], "working")

    def test_over_stdio(self):
        s = Stdio(self.i)
        self.addCleanup(lambda: s.p.poll() is None and s.end())
        message = s.call_message(1, "bash", {"command": ASKS}, True)
        message["params"]["_meta"].update(tasks_meta())
        s.say(message)
        task = s.answer(1)["result"]["taskId"]
        self.decided(self.wait_asked()["approval"])
        self.result(task, 0)
        s.say({"jsonrpc": "2.0", "id": 2, "method": "tasks/get", "params": {
            "taskId": task, "_meta": meta(**tasks_meta())}})
        r = s.answer(2)["result"]
        self.assertEqual(texts(r["result"]), ["ran\n"])


class Expiry(Base):
    extra = WAIT + "approval-expiry 10s\n"

    def test_nobody_decides(self):
        """Told as its end, to who waits and to who comes back."""
        mcp = self.client()
        state = self.required(mcp)
        first = self.held(mcp)
        self.assertLessEqual(first["expires_in_ms"], 8100)
        for _ in range(10):
            m = self.modern(mcp, state=state)[-1]["result"]
            if m["resultType"] == "complete":
                break
            state = m["requestState"]
        r = mcp.call("bash", {"command": ASKS})
        while "status" in r["structuredContent"]:
            r = mcp.call("bash", {"command": ASKS})
        for r in (m, r):
            self.assertTrue(r["isError"])
            self.assertIn("approval_expired", texts(r)[-1])
            self.assertIn("approval-expiry", texts(r)[-1])


class Restart(unittest.TestCase):
    def test_apid_and_policyd(self):
        """What was handed out is over then, and never runs."""
        with Split(WAIT) as s:
            os.chmod(s.i.api, 0o666)
            for process in ("apid", "policyd"):
                mcp = Mcp(s.i, AGENT)
                mcp.initialize()
                status, _, m = mcp.modern("tools/call", {
                    "name": "bash", "arguments": {"command": ASKS}})
                state = m[-1]["result"]["requestState"]
                r = mcp.call("bash", {"command": ASKS})
                approvals = [a["approval"] for a in s.list()]
                self.assertEqual(len(approvals), 2)
                os.kill(s.i.pid(process), signal.SIGKILL)
                s.i.wait_up()
                for a in approvals:
                    wait_for(lambda: s.look(a)[1].get("state") in
                             ("expired", "cancelled"), 60)
                m = mcp.modern("tools/call", {
                    "name": "bash", "arguments": {"command": ASKS},
                    "requestState": state})[2]
                if "error" in m[-1]:
                    self.assertEqual(m[-1]["error"]["code"], -32602)
                else:
                    self.assertIn("interrupted", json.dumps(m[-1]["result"]))
                # asking for the same again asks again, or tells of the end
                r = mcp.call("bash", {"command": ASKS})
                if r["structuredContent"].get("status") is None:
                    self.assertEqual(r["structuredContent"]["reason"],
                                     "interrupted")
                for a in s.list():
                    s.decide(a["approval"], "reject_once")


class Kept(Base):
    extra = WAIT + "result-kept 1s\n"

    def test_no_longer_than_any_result(self):
        """Then the state is nothing, and the same call asks anew."""
        mcp = self.client()
        state = self.required(mcp)
        a = self.wait_asked()
        first = self.held(mcp)
        for approval in (a["approval"], first["approval"]):
            self.decided(approval)
        wait_for(lambda: not any(
            c["state"] in ("queued", "awaiting_approval", "running")
            for c in self.s.request(AGENT, "GET", "/v1/calls")[1]["calls"]),
            60)
        time.sleep(6)   # it is looked for once a second
        self.not_good(self.modern(mcp, state=state))
        self.assertNotEqual(self.held(mcp)["call"], first["call"])


class Changed(unittest.TestCase):
    def test_a_policy_that_has_changed(self):
        """Is told as the end, to who comes back in whichever way."""
        with Split(WAIT) as s:
            os.chmod(s.i.api, 0o666)
            mcp = Mcp(s.i, AGENT)
            mcp.initialize()
            params = {"name": "bash", "arguments": {"command": ASKS}}
            state = mcp.modern("tools/call", params)[2][-1]["result"][
                "requestState"]
            mcp.call("bash", {"command": ASKS})
            s.configure(WAIT, CONFIG.replace(
                "12345 { preset standard", "12345 { preset readonly"))
            s.i.process.send_signal(signal.SIGHUP)
            wait_for(lambda: s.i.status()["reload"]["result"] == "ok", 60)
            os.chmod(s.i.api, 0o666)
            for a in s.list():
                self.assertEqual(s.decide(a["approval"])[0], 200)
            for r in (mcp.modern("tools/call", dict(
                    params, requestState=state))[2][-1]["result"],
                    mcp.call("bash", {"command": ASKS})):
                self.assertTrue(r["isError"])
                self.assertIn("policy_changed", texts(r)[-1])
            self.assertEqual(s.list(), [])


class OverStdio(Base):
    extra = "wait 5s\n"

    def stdio(self):
        s = Stdio(self.i)
        self.addCleanup(lambda: s.p.poll() is None and s.end())
        return s

    def test_both_eras(self):
        s = self.stdio()
        s.initialize()
        r = s.call(1, "bash", {"command": ASKS})
        first = r["structuredContent"]
        self.assertEqual(first["status"], "approval_required")
        self.decided(first["approval"])
        self.assertEqual(texts(s.call(2, "bash", {"command": ASKS})),
                         ["ran\n"])
        r = s.call(3, "bash", {"command": ASKS}, modern=True)
        self.assertEqual(r["resultType"], "input_required")
        a = self.wait_asked()
        message = s.call_message(4, "bash", {"command": ASKS}, True)
        message["params"]["requestState"] = r["requestState"]
        message["params"]["_meta"]["progressToken"] = "p"
        s.say(message)
        wait_for(lambda: any("waiting for approval " + a["approval"] in
                             json.dumps(l) for l in s.lines), 60)
        self.decided(a["approval"])
        self.assertEqual(texts(s.answer(4)["result"]), ["ran\n"])

    def test_cancelled_and_left(self):
        s = self.stdio()
        s.initialize()
        for modern in (False, True):
            s.say(s.call_message(10 + modern, "bash", {"command": ASKS},
                                 modern))
            a = self.wait_asked()
            s.say({"jsonrpc": "2.0", "method": "notifications/cancelled",
                   "params": dict({"requestId": 10 + modern}, **(
                       {"_meta": meta()} if modern else {}))})
            self.cancelled(a["approval"])
        s.call(12, "bash", {"command": ASKS})
        a = self.wait_asked()
        self.assertEqual(s.end()[0], 0)
        self.cancelled(a["approval"])


if __name__ == "__main__":
    unittest.main()
