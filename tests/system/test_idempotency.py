"""Idempotency keys: a request that comes again is the same call."""
import json
import os
import select
import signal
import threading
import unittest

from harness import Instance, Workspace, wait_for
from mcp import As


def said(r):
    return r["error"]["message"]


class Keys(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(extra='\nprincipal user 65530 { preset standard }\n')
        os.chmod(cls.i.api, 0o666)
        cls.w = Workspace()
        cls.count = 0

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()
        cls.w.close()

    def key(self):
        type(self).count += 1
        return "key-%d" % self.count

    def ask(self, command, key, session=None, wait=50000, **more):
        body = {"tool": "bash", "args": {"command": command},
                "wait_ms": wait, "idempotency_key": key}
        body.update(more)
        return self.i.request("POST", "/v1/sessions/%s/calls" % session
                              if session else "/v1/calls", body)

    def runs(self):
        """A command that leaves a line for each time that it ran."""
        name = os.path.join(self.w.path, self.key())
        return "echo ran >> %s; cat %s" % (name, name), name

    def test_the_same_call(self):
        command, name = self.runs()
        for session in (None, self.i.session(**self.w.fields())):
            key, more = self.key(), {} if session else self.w.fields()
            if os.path.exists(name):
                os.unlink(name)
            status, first = self.ask(command, key, session, **more)
            self.assertEqual((status, first["stdout"]), (200, "ran\n"))
            for wait in (50000, 0):
                status, again = self.ask(command, key, session, wait, **more)
                self.assertEqual(status, 200)
                again["transcript"] = first["transcript"]
                self.assertEqual(again, first)
            events = list(self.i.events(
                "/v1/sessions/%s/calls" % session if session else
                "/v1/calls", dict({
                    "tool": "bash", "args": {"command": command},
                    "idempotency_key": key}, **more)))
            self.assertEqual([e for _, e, _ in events][0], "call.judged")
            self.assertEqual(events[-1][1], "call.finished")
            self.assertEqual(events[-1][2]["call"], first["call"])
            with open(name) as f:
                self.assertEqual(f.read(), "ran\n")
            # without the key, or with another, it is another call
            status, other = self.ask(command, self.key(), session, **more)
            self.assertNotEqual(other["call"], first["call"])
            self.assertEqual(other["stdout"], "ran\nran\n")

    def test_while_it_runs(self):
        key, go = self.key(), os.path.join(self.w.path, "go")
        command = "until [ -e go ]; do sleep 0.1; done; echo done"
        more = self.w.fields()
        status, first = self.ask(command, key, wait=0, **more)
        self.assertEqual(status, 202)
        status, second = self.ask(command, key, wait=0, **more)
        self.assertEqual((status, second["call"]), (202, first["call"]))
        events = self.i.events("/v1/calls", dict({
            "tool": "bash", "args": {"command": command},
            "idempotency_key": key}, **more))
        seen = [next(events)]
        self.w.write("go", "")
        seen += events
        self.assertEqual(seen[-1][2]["call"], first["call"])
        self.assertEqual(sum(e == "call.finished" for _, e, _ in seen), 1)
        status, third = self.ask(command, key, **more)
        self.assertEqual((status, third["call"], third["stdout"]),
                         (200, first["call"], "done\n"))
        os.unlink(go)

    def test_another_request(self):
        key = self.key()
        first = self.ask("echo a", key)[1]
        for command, more in (("echo b", {}), ("echo a", {"stdin": "x"}),
                              ("echo a", {"timeout_ms": 5000}),
                              ("echo a", {"cwd": "/tmp"}),
                              ("echo a", {"env": {"LANG": "C"}}),
                              ("echo a", {"pty": {"rows": 2, "cols": 2}}),
                              ("echo a", {"preset": "readonly"}),
                              ("echo a", self.w.fields())):
            status, r = self.ask(command, key, **more)
            self.assertEqual((status, r["error"]["code"]),
                             (409, "conflict"), (command, more, r))
            self.assertIn("idempotency_key", said(r))
            self.assertIn(first["call"], said(r))
        status, r = self.i.request("POST", "/v1/calls", {
            "tool": "exec", "args": {"argv": ["true"]},
            "idempotency_key": key})
        self.assertEqual(status, 409)
        # how the answer is wanted is no part of it
        status, r = self.ask("echo a", key, wait=0, flow="block",
                             strip=True)
        self.assertEqual((status, r["call"]), (200, first["call"]))
        # inline input is, byte for byte
        key = self.key()
        first = self.ask("cat", key, stdin="one")[1]
        self.assertEqual(self.ask("cat", key, stdin="one")[1]["call"],
                         first["call"])
        self.assertEqual(self.ask("cat", key, stdin="two")[0], 409)

    def test_whose(self):
        """A key is the principal's and the session's."""
        key = self.key()
        calls = [self.ask("echo a", key)[1]["call"]]
        for _ in range(2):
            s = self.i.session()
            for _ in range(2):
                calls.append(self.ask("echo a", key, s)[1]["call"])
        self.assertEqual(calls[1], calls[2])
        self.assertEqual(calls[3], calls[4])
        self.assertEqual(len(set(calls)), 3)
        c = self.i.connection()
        with As(65530):
            c.connect()
        c.request("POST", "/v1/calls", json.dumps({
            "tool": "bash", "args": {"command": "id -u"}, "wait_ms": 50000,
            "idempotency_key": key}), {"Content-Type": "application/json"})
        r = c.getresponse()
        other = json.loads(r.read())
        c.close()
        self.assertEqual(r.status, 200, other)
        self.assertEqual(other["principal"], "uid:65530")
        self.assertNotIn(other["call"], calls)

    def test_what_did_not_complete(self):
        """Denied, failed, wrong and cancelled: it stays that call."""
        for command, reason in (("rm -rf /", "denied_by_policy"),
                                ("kill -9 $$", "signalled")):
            key = self.key()
            a, b = self.ask(command, key)[1], self.ask(command, key)[1]
            self.assertEqual((a["call"], a["reason"], b["reason"]),
                             (b["call"], reason, reason))
        key = self.key()
        bad = {"tool": "bash", "args": {"command": 5}, "wait_ms": 50000,
               "idempotency_key": key}
        a, b = [self.i.request("POST", "/v1/calls", bad)[1]
                for _ in range(2)]
        self.assertEqual((a["call"], a["reason"]),
                         (b["call"], "invalid_arguments"))
        key = self.key()
        a = self.ask("sleep 60", key, wait=0)[1]
        self.i.request("POST", "/v1/calls/%s/cancel" % a["call"])
        b = self.ask("sleep 60", key)[1]
        self.assertEqual((b["call"], b["state"]), (a["call"], "cancelled"))

    def test_refused_is_no_call(self):
        """What made no call leaves no key behind."""
        key = self.key()
        self.assertEqual(self.ask("true", key, preset="none")[0], 403)
        self.assertEqual(self.ask("true", key)[0], 200)

    def test_what_can_not_have_one(self):
        for more, word in (({"stdin": {"stream": True}}, "stdin"),
                           ({"dry_run": True}, "dry_run"),
                           ({"idempotency_key": ""}, "1 to 255"),
                           ({"idempotency_key": "x" * 256}, "1 to 255"),
                           ({"idempotency_key": "a\nb"}, "control"),
                           ({"idempotency_key": 7}, "string")):
            status, r = self.ask("true", "k", **more)
            self.assertEqual((status, r["error"]["code"]),
                             (400, "bad_request"), more)
            self.assertIn("idempotency_key", said(r))
            self.assertIn(word, said(r))
        self.assertEqual(self.ask("true", "\u00e9" * 127)[0], 200)

    def test_at_one_moment(self):
        """Many at once: one call, whose answer all of them have."""
        command, name = self.runs()
        for session in (None, self.i.session(**self.w.fields())):
            key, answers = self.key(), []
            more = {} if session else self.w.fields()
            if os.path.exists(name):
                os.unlink(name)

            def ask():
                answers.append(self.ask("sleep 0.5; " + command, key,
                                        session, **more))

            threads = [threading.Thread(target=ask) for _ in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join(60)
            self.assertEqual([s for s, _ in answers], [200] * 8)
            self.assertEqual(len({r["call"] for _, r in answers}), 1)
            self.assertEqual({r["stdout"] for _, r in answers}, {"ran\n"})


class Waiting(unittest.TestCase):
    """A call that has no neuron yet."""

    def test_one_call(self):
        with Instance(extra="\nneurons-principal 1\nneuron-wait 60s\n") as i:
            first = i.session()

            def ask(command):
                """A request that is on its way: its connection."""
                c = i.connection(timeout=120)
                c.request("POST", "/v1/calls", json.dumps({
                    "tool": "bash", "args": {"command": command},
                    "wait_ms": 50000, "idempotency_key": "k"}),
                    {"Content-Type": "application/json"})
                return c

            def answer(c):
                r = c.getresponse()
                body = json.loads(r.read())
                c.close()
                return r.status, body

            waiting = [ask("echo a") for _ in range(4)]
            # who comes later is answered: they have been heard, and wait
            for _ in range(5):
                self.assertEqual(i.get("/v1/whoami")[0], 200)
            status, r = answer(ask("echo b"))
            self.assertEqual((status, r["error"]["code"]),
                             (409, "conflict"))
            self.assertEqual(select.select([c.sock for c in waiting], [], [],
                                           0)[0], [])
            i.request("DELETE", "/v1/sessions/" + first)
            answers = [answer(c) for c in waiting]
            self.assertEqual([s for s, _ in answers], [200] * 4, answers)
            self.assertEqual(len({r["call"] for _, r in answers}), 1)

    def test_one_refusal(self):
        with Instance(extra="\nneurons-principal 1\nneuron-wait 1s\n") as i:
            i.session()
            answers = []

            def ask():
                answers.append(i.request("POST", "/v1/calls", {
                    "tool": "bash", "args": {"command": "true"},
                    "wait_ms": 50000, "idempotency_key": "k"}))

            threads = [threading.Thread(target=ask) for _ in range(3)]
            for t in threads:
                t.start()
            for t in threads:
                t.join(90)
            self.assertEqual([s for s, _ in answers], [429] * 3)


class Kept(unittest.TestCase):
    """For as long as the result, and over restarts."""

    def test_gone_with_the_result(self):
        with Instance(extra="\nresult-kept 6s\n") as i:
            def ask(command="echo a", key="k", wait=50000):
                return i.request("POST", "/v1/calls", {
                    "tool": "bash", "args": {"command": command},
                    "wait_ms": wait, "idempotency_key": key})
            # one that runs for longer than that keeps its key
            long = ask("sleep 600", "long", 0)[1]
            a = ask()[1]
            self.assertEqual(ask()[1]["call"], a["call"])
            # the key is somebody else's until the result is gone
            status, b = wait_for(lambda: [r for r in [ask("echo b")]
                                          if r[0] != 409], 60)[0]
            self.assertEqual((status, b["stdout"]), (200, "b\n"))
            self.assertNotEqual(b["call"], a["call"])
            self.assertEqual(ask("echo b")[1]["call"], b["call"])
            self.assertEqual(ask("sleep 600", "long", 0)[1]["call"],
                             long["call"])
            i.request("POST", "/v1/calls/%s/cancel" % long["call"])

    def restarted(self, name):
        body = {"tool": "bash", "args": {"command": "echo kept"},
                "wait_ms": 50000, "idempotency_key": "done"}
        slow = {"tool": "bash", "args": {"command": "sleep 600"},
                "idempotency_key": "cut"}
        with Instance() as i:
            done = i.request("POST", "/v1/calls", body)[1]
            cut = i.request("POST", "/v1/calls", slow)[1]
            wait_for(lambda: i.get("/v1/calls/" + cut["call"])[1]["state"] ==
                     "running", 60)
            pid = i.pid(name)
            os.kill(pid, signal.SIGKILL)

            def back():
                try:
                    return i.pid(name) != pid and \
                        i.bash("echo ok", wait=5000)["stdout"] == "ok\n"
                except Exception:
                    return False
            wait_for(back, 60)
            status, r = i.request("POST", "/v1/calls", body)
            self.assertEqual((status, r["call"], r["state"]),
                             (200, done["call"], "completed"))
            # whoever knows the output still tells it
            self.assertEqual(r.get("stdout", "kept\n"), "kept\n")
            status, r = i.request("POST", "/v1/calls", dict(
                slow, wait_ms=50000))
            self.assertEqual((status, r["call"], r["state"], r["reason"]),
                             (200, cut["call"], "failed", "interrupted"))
            status, r = i.request("POST", "/v1/calls", dict(
                slow, args={"command": "sleep 601"}))
            self.assertEqual(status, 409)
            events = list(i.events("/v1/calls", body))
            self.assertEqual(events[-1][1], "call.finished")
            self.assertEqual(events[-1][2]["call"], done["call"])

    def test_policyd(self):
        self.restarted("policyd")

    def test_apid(self):
        self.restarted("apid")


if __name__ == "__main__":
    unittest.main()
