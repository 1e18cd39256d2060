"""apid alone, by raw sockets, against a policyd that is played."""
import json
import os
import socket
import time
import unittest

from apid_alone import Base, Client, Fake, STREAM, bash, exec_
from harness import wait_for


class Reader(Base):
    """What is not HTTP as we take it is refused, and the connection ends."""

    def refused(self, raw, status=400, word=None):
        with Client(self.fake.path) as c:
            c.send(raw)
            got, headers, j = c.answer()
            self.assertEqual(got, status, raw[:80])
            self.assertEqual(headers.get("connection"), "close", raw[:80])
            self.assertTrue(j["error"]["request_id"].startswith("r-"))
            if word:
                self.assertIn(word, j["error"]["message"])
            self.assertEqual(c.f.read(), b"")

    def test_malformed(self):
        ok = b"GET /v1/whoami HTTP/1.1\r\nHost: x\r\n"
        for raw, word in (
                (b"GET /v1/whoami HTTP/1.1\nHost: x\n\n", "LF"),
                (b"GET /v1/whoami HTTP/1.1\r\nHost: x\n\r\n", "LF"),
                (b"GET /v1/whoami HTTP/1.1\r\nHost: x\r\r\n\r\n", "CR"),
                (b"\r\nGET /v1/whoami HTTP/1.1\r\nHost: x\r\n\r\n", "empty"),
                (ok + b"A: b\r\n c\r\n\r\n", "folded"),
                (ok + b"A: b\r\n\tc\r\n\r\n", "folded"),
                (ok + b"A : b\r\n\r\n", "name"),
                (ok + b": b\r\n\r\n", "name"),
                (ok + b"novalue\r\n\r\n", "colon"),
                (ok + b"A: b\0c\r\n\r\n", "control"),
                (ok + b"A: b\x7fc\r\n\r\n", "control"),
                (ok + b"Host: y\r\n\r\n", "Host"),
                (ok + b"hOST: x\r\n\r\n", "Host"),
                (b"GET /v1/whoami HTTP/1.1\r\n\r\n", "Host"),
                (b"GET /v1/whoami HTTP/1.1\r\nHost:\r\n\r\n", "Host"),
                (b"GET /v1/whoami HTTP/1.1\r\nHost: a/b\r\n\r\n", "Host"),
                (b"GET /v1/whoami HTTP/1.0\r\nHost: x\r\n\r\n", "HTTP/1.1"),
                (b"GET /v1/whoami\r\nHost: x\r\n\r\n", "HTTP/1.1"),
                (b"GET  /v1/whoami HTTP/1.1\r\nHost: x\r\n\r\n", None),
                (b"GET /v1/whoami HTTP/1.1 \r\nHost: x\r\n\r\n", None),
                (b"get /v1/whoami HTTP/1.1\r\nHost: x\r\n\r\n", "method"),
                (b"GET http://x/v1/whoami HTTP/1.1\r\nHost: x\r\n\r\n",
                 "slash"),
                (b"GET /v1/who\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n",
                 "target"),
                (ok + b"Accept: a\r\nAccept: b\r\n\r\n", "twice"),
                (ok + b"Last-Event-ID: -1\r\n\r\n", "Last-Event-ID"),
                (ok + b"Expect: 200-ok\r\n\r\n", "Expect"),
                (b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 17000, "16384"),
                (b"GET /" + b"a" * 13000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
                 "12543"),
                (b"GET /?" + b"a" * 1024 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
                 "1023"),
                (ok + b"A: b\r\n" * 200 + b"\r\n", "100")):
            with self.subTest(raw=raw[:60]):
                self.refused(raw, 400, word)

    def test_smuggling(self):
        post = b"POST /v1/calls HTTP/1.1\r\nHost: x\r\n" \
            b"Content-Type: application/json\r\n"
        inner = b"GET /v1/whoami HTTP/1.1\r\nHost: x\r\n\r\n"
        for raw, status in (
                (post + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
                (post + b"Transfer-Encoding: identity\r\n\r\n", 411),
                (post + b"Content-Length: 5\r\nTransfer-Encoding: chunked"
                 b"\r\n\r\n0\r\n\r\n" + inner, 400),
                (post + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n"
                 b"aaaaaa", 400),
                (post + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\n"
                 b"aaaaa", 400),
                (post + b"Content-Length: 5, 5\r\n\r\naaaaa", 400),
                (post + b"Content-Length: +5\r\n\r\naaaaa", 400),
                (post + b"Content-Length: 0x5\r\n\r\naaaaa", 400),
                (post + b"Content-Length: -1\r\n\r\n", 400),
                (post + b"Content-Length: \r\n\r\n", 400),
                (post + b"Content-Length: 99999999999999999999\r\n\r\n",
                 400),
                (post + b"Content-Length: 999999999999\r\n\r\n", 413),
                (b"GET /v1/whoami HTTP/1.1\r\nHost: x\r\nContent-Length: "
                 + b"%d\r\n\r\n" % len(inner) + inner, 400),
                (b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: "
                 + b"%d\r\n\r\n" % len(inner) + inner, 404)):
            with self.subTest(raw=raw[:120]):
                self.refused(raw, status)

    def test_no_length(self):
        c = self.client()
        c.send(b"POST /v1/calls HTTP/1.1\r\nHost: x\r\n\r\n")
        status, _, j = c.answer()
        self.assertEqual((status, j["error"]["code"]),
                         (411, "length_required"))
        self.assertEqual(c.do("GET", "/v1/whoami")[0], 200)

    def test_routes(self):
        c = self.client()
        call = "c-" + "0" * 20
        for method, target, status, code in (
                ("GET", "/", 404, "not_found"),
                ("GET", "/v1/calls/c-..%2f..", 404, "not_found"),
                ("GET", "/v1/calls/" + call + "/", 404, "not_found"),
                ("GET", "/v1/calls/" + call[:-1], 404, "not_found"),
                ("GET", "/v1/calls/s" + call[1:], 404, "not_found"),
                ("GET", "/v1/calls/" + call, 404, "not_found"),
                ("GET", "/v1/calls/" + call + "/events", 404, "not_found"),
                ("GET", "/v1/status", 404, "not_found"),
                ("GET", "/v1/audit", 404, "not_found"),
                ("GET", "/v1/calls?limit=0", 400, "bad_request"),
                ("GET", "/v1/calls?limit=501", 400, "bad_request"),
                ("GET", "/v1/calls?cursor=x", 400, "bad_request"),
                ("GET", "/v1/calls?a=1", 400, "bad_request"),
                ("GET", "/v1/calls?limit=1&limit=2", 400, "bad_request"),
                ("DELETE", "/v1/whoami", 405, "method_not_allowed"),
                ("OPTIONS", "/v1/calls", 405, "method_not_allowed")):
            with self.subTest(target=target):
                c.request(method, target)
                got, headers, j = c.answer()
                self.assertEqual((got, j["error"]["code"]), (status, code))
                self.assertEqual(headers["cache-control"], "no-store")
                self.assertEqual(headers["x-content-type-options"],
                                 "nosniff")
                if got == 405:
                    self.assertIn("GET", headers["allow"])

    def test_pipelining(self):
        c = self.client()
        c.send(b"GET /v1/whoami HTTP/1.1\r\nHost: x\r\n\r\n" * 300)
        for _ in range(300):
            status, _, j = c.answer()
            self.assertEqual((status, j["who"]), (200, "uid:0"))
        # A slow one first: the answers keep their order.
        body = json.dumps(bash("sleep 0.3; echo a", wait_ms=50000)).encode()
        c.send(b"POST /v1/calls HTTP/1.1\r\nHost: x\r\nContent-Type: "
               b"application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
               + body + b"GET /v1/whoami HTTP/1.1\r\nHost: x\r\n"
               b"Connection: close\r\n\r\n")
        self.assertEqual(c.answer()[2]["stdout"], "a\n")
        status, headers, j = c.answer()
        self.assertEqual((headers["connection"], j["who"]),
                         ("close", "uid:0"))
        self.assertEqual(c.f.read(), b"")

    def test_bytes_one_by_one(self):
        body = json.dumps(exec_("echo", "hi", wait_ms=50000)).encode()
        c = self.client()
        for b in (b"POST /v1/calls HTTP/1.1\r\nHost: x\r\nContent-Type: "
                  b"application/json; charset=UTF-8\r\nContent-Length: %d"
                  b"\r\n\r\n" % len(body) + body):
            c.send(bytes([b]))
        self.assertEqual(c.answer()[2]["stdout"], "hi\n")

    def test_continue(self):
        c = self.client()
        body = json.dumps(exec_("echo", "hi", wait_ms=50000)).encode()
        c.send(b"POST /v1/calls HTTP/1.1\r\nHost: x\r\nExpect: 100-continue"
               b"\r\nContent-Type: application/json\r\nContent-Length: %d"
               b"\r\n\r\n" % len(body))
        self.assertEqual(c.f.readline(), b"HTTP/1.1 100 Continue\r\n")
        self.assertEqual(c.f.readline(), b"\r\n")
        c.send(body)
        self.assertEqual(c.answer()[2]["stdout"], "hi\n")

    def test_close_is_noticed(self):
        before = self.fake.fds()
        clients = [Client(self.fake.path) for _ in range(10)]
        names = [os.path.join(self.fake.dir, "begun-%d" % n)
                 for n in range(10)]
        for c, name in zip(clients, names):
            self.assertEqual(c.do("GET", "/v1/whoami")[0], 200)
            # Busy from now on: nothing is read any more.
            c.request("POST", "/v1/calls", bash(
                "echo > %s; sleep 300" % name, wait_ms=50000))
        wait_for(lambda: all(map(os.path.exists, names)), 60)
        for c in clients[:5]:
            c.close()
        for c in clients[5:]:
            c.s.shutdown(socket.SHUT_WR)
        # A connection each; two pipes a call stay.
        wait_for(lambda: self.fake.fds() <= before + 20, 30)
        for c in clients[5:]:
            self.assertEqual(c.f.read(), b"")
            c.close()


class Bodies(Base):
    LIMITS = ("body=64K",)

    def refused(self, body, word, code="bad_request", status=400):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        c = self.client()
        c.request("POST", self.target, raw,
                  ["Content-Type: application/json"])
        got, _, j = c.answer()
        self.assertEqual((got, j["error"]["code"]), (status, code), j)
        self.assertIn(word, j["error"]["message"])
        # The request was whole: the connection lives.
        self.assertEqual(c.do("GET", "/v1/whoami")[0], 200)

    def test_calls(self):
        self.target = "/v1/calls"
        ok = exec_("true")
        for body, word in (
                (b"", "JSON"), (b"{", "JSON"), (b"[]", "object"),
                (b'"x"', "JSON"), (b"{}", "tool"),
                ({"tool": "exec"}, "args"),
                (dict(ok, bogus=1), "bogus"),
                (dict(ok, expires=5), "expires"),
                (b'{"tool":"a","tool":"b","args":{}}', "twice"),
                (b'{"tool":"exec","args":{"a":1,"a":2}}', "twice"),
                (b'{"tool":"exec","args":{}} x', "JSON"),
                (b'{"tool":"exec","args":{"a":"\xff"}}', "JSON"),
                (b'{"tool":"exec","args":{"a":"\\ud800"}}', "JSON"),
                (dict(ok, tool=1), "tool"), (dict(ok, tool=""), "tool"),
                (dict(ok, tool="a b"), "tool"),
                (dict(ok, tool="a" * 64), "tool"),
                (dict(ok, args=[]), "args"), (dict(ok, cwd=1), "cwd"),
                (dict(ok, env=[]), "env"), (dict(ok, env={"A": 1}), "A"),
                (dict(ok, stdin=1), "stdin"), (dict(ok, stdin={}), "stdin"),
                (dict(ok, stdin={"base64": "a"}), "base64"),
                (dict(ok, stdin={"base64": "aa=="}), None),
                (dict(ok, stdin={"text": "a", "base64": ""}), "stdin"),
                (dict(ok, stdin={"stream": False}), "stdin"),
                (dict(ok, flow="x"), "flow"),
                (dict(ok, timeout_ms=0), "timeout_ms"),
                (dict(ok, timeout_ms="5"), "timeout_ms"),
                (dict(ok, timeout_ms=1.5), "timeout_ms"),
                (dict(ok, timeout_ms=1 << 32), "timeout_ms"),
                (dict(ok, wait_ms=-1), "wait_ms"),
                (dict(ok, wait_ms=50001), "50000"),
                (dict(ok, workspace="x"), "workspace"),
                (dict(ok, owner={"uid": 0, "gid": 1}), "owner.uid"),
                (dict(ok, owner={"uid": 1, "gid": 0}), "owner.gid"),
                (dict(ok, owner={"uid": 1}), "owner"),
                (b'{"tool":"exec","args":{"a":' + b"[" * 40 + b"]" * 40 +
                 b"}}", "levels")):
            with self.subTest(body=body):
                self.refused(body, word if word is not None else "base64")

    def test_sessions(self):
        self.target = "/v1/sessions"
        self.refused({"bogus": 1}, "bogus")
        self.refused({"expires": 0}, "expires")
        self.refused({"tool": "exec"}, "tool")
        self.refused({"neuron": "n-x"}, "neuron")
        deny = {"verdict": "deny", "command": ["git", "push"]}
        for rules, word in (
                ("x", "not a list"), ([7], "rules[0]: not an object"),
                ([deny, dict(deny, verdict="allow")],
                 "rules[1].verdict: a session's rules can deny and ask"),
                ([dict(deny, verdict="maybe")], "rules[0].verdict"),
                ([{"command": "x"}], "rules[0].verdict: missing"),
                ([{"verdict": "deny"}], "without a condition"),
                ([dict(deny, principal="uid:0")], "rules[0].principal"),
                ([dict(deny, effect="loud")], "rules[0].effect"),
                ([dict(deny, mark=["elevated", 1])], "rules[0].mark"),
                ([dict(deny, tool=[])], "rules[0].tool"),
                ([dict(deny, host="[[:x:]]")], "rules[0].host"),
                ([dict(deny, path="x")], "rules[0].path"),
                ([dict(deny, tool=["x"] * 33)], "1 to 32"),
                ([dict(deny, tool="x" * 512)], "511"),
                ([dict(deny, tool=["x" * 500] * 3)], "1023"),
                ([deny] * 33, "the most are 32"),
                ([dict(deny, tool="x" * 300)] * 14, "4096")):
            with self.subTest(rules=rules):
                self.refused({"rules": rules}, word)
        c = self.client()
        status, j = c.do("POST", "/v1/sessions",
                         json.dumps({"rules": [deny]}).encode(),
                         ["Content-Type: application/json"])
        self.assertEqual(status, 201, j)

    def test_many_values(self):
        c = self.client()
        status, j = c.do("POST", "/v1/calls", b"[" + b"1," * 30000 + b"1]",
                         ["Content-Type: application/json"])
        self.assertEqual(status, 400)

    def test_type_and_size(self):
        c = self.client()
        for headers in ([], ["Content-Type: text/plain"],
                        ["Content-Type: application/json; charset=latin1"]):
            c = self.client()
            c.request("POST", "/v1/calls", b"{}", headers)
            self.assertEqual(c.answer()[0], 400)
        c = self.client()
        c.request("POST", "/v1/calls", b"x" * (65 * 1024),
                  ["Content-Type: application/json"])
        status, _, j = c.answer()
        self.assertEqual((status, j["error"]["code"]),
                         (413, "body_too_large"))
        self.assertIn("65536", j["error"]["message"])

    def test_a_slow_sender_reads_why(self):
        """Who is still sending when he is refused gets to the answer."""
        c = self.client()
        c.send(b"POST /v1/calls HTTP/1.1\r\nHost: x\r\n"
               b"Content-Type: application/json\r\n"
               b"Content-Length: 99999999\r\n\r\n")
        for _ in range(16):
            time.sleep(0.25)
            c.send(b"x" * 50000)
        status, _, j = c.answer()
        self.assertEqual((status, j["error"]["code"]),
                         (413, "body_too_large"))

    def test_errors_of_policyd(self):
        c = self.client()
        c.request("POST", "/v1/sessions", {"preset": "poor"})
        status, headers, j = c.answer()
        self.assertEqual((status, j["error"]["code"],
                          headers["retry-after"]),
                         (429, "budget_exhausted", "7"))
        # C9: nothing of what went wrong inside.
        status, j = c.do("POST", "/v1/sessions", {"preset": "broken"})
        self.assertEqual(status, 500)
        self.assertEqual(set(j["error"]), {"code", "request_id"})
        status, j = c.do("POST", "/v1/calls", {"tool": "absent", "args": {}})
        self.assertEqual(status, 404)
        status, j = c.do("POST", "/v1/neurons", {"name": "taken"})
        self.assertEqual((status, j["error"]["code"]), (409, "conflict"))

    def test_neurons(self):
        """What is asked reaches policyd as it was, decoded."""
        c = self.client()
        status, j = c.do("POST", "/v1/neurons", {
            "name": "n1", "labels": {"b": "2", "a": "\u00e9 =1"},
            "idle_expiry": 7})
        self.assertEqual((status, j), (201, {
            "name": "n1", "labels": "a=\u00e9 =1\nb=2\n",
            "idle_expiry": 7}))
        for query, want in (
                ("?label=a=%C3%A9%20%3D1", ("", "a=\u00e9 =1", 0, 100)),
                ("?label=b&cursor=7&limit=3", ("", "b", 7, 3)),
                ("?name=n1", ("n1", "", 0, 100))):
            status, j = c.do("GET", "/v1/neurons" + query)
            self.assertEqual((status, (j["name"], j["label"], j["cursor"],
                                       j["most"])), (200, want), query)
        for query, word in (("?label=%0a", "label"), ("?label=%4", "label"),
                            ("?label=" + "a" * 400, "label"),
                            ("?name=" + "a" * 64, "name"),
                            ("?labels=a", "labels")):
            status, j = c.do("GET", "/v1/neurons" + query)
            self.assertEqual(status, 400, query)
            self.assertIn(word, j["error"]["message"])

    def test_answers_of_policyd(self):
        c = self.client()
        self.assertEqual(c.do("GET", "/healthz")[1]["status"], "ok")
        tools = c.do("GET", "/v1/tools")[1]["tools"]
        self.assertEqual(tools[0]["description"], "Runs a program")
        self.assertEqual(tools[0]["input_schema"], {"type": "object"})
        status, j = c.do("POST", "/v1/sessions", {})
        self.assertEqual(status, 201)
        status, k = c.do("DELETE", "/v1/sessions/" + j["session"])
        self.assertEqual((status, k["state"]), (200, "ended"))


class Away(Base):
    """policyd dies under way."""

    def test_away_and_back(self):
        c = self.client()
        done = c.do("POST", "/v1/calls", exec_("echo", "kept",
                                               wait_ms=50000))[1]
        s = self.client()
        s.request("POST", "/v1/calls", bash("echo a; sleep 300"), STREAM)
        s.head()
        events = s.events()
        while next(events)[0] != "call.output":
            pass
        w = self.client()
        begun = os.path.join(self.fake.dir, "begun")
        w.request("POST", "/v1/calls", bash(
            "echo > %s; sleep 300" % begun, wait_ms=50000))
        wait_for(lambda: os.path.exists(begun), 60)
        self.fake.command("drop")
        rest = list(events)
        self.assertEqual([e[0] for e in rest], ["call.finished"])
        self.assertEqual((rest[0][2]["state"], rest[0][2]["reason"]),
                         ("failed", "interrupted"))
        self.assertEqual(w.answer()[2]["reason"], "interrupted")
        c.request("GET", "/v1/whoami")
        status, headers, j = c.answer()
        self.assertEqual((status, j["error"]["code"],
                          headers["retry-after"]), (503, "unavailable", "1"))
        self.assertEqual(c.do("GET", "/healthz"),
                         (503, {"status": "unavailable"}))
        n = self.client()
        self.assertEqual(n.do("GET", "/v1/whoami")[0], 503)
        self.fake.command("plumb")
        wait_for(lambda: self.client().do("GET", "/v1/whoami")[0] == 200, 30)
        for k in (c, n):
            self.assertEqual(k.do("GET", "/v1/whoami")[0], 200)
        # What was his is his still.
        self.assertEqual(c.do("GET", "/v1/calls/" + done["call"])[1]
                         ["stdout"], "kept\n")
        self.assertEqual(self.run_call(exec_("echo", "b"))["stdout"], "b\n")


class Hostile(Base):
    """A policyd that was taken over: apid closes the channel, and lives."""

    def once(self, fake, path):
        with Client(fake.path) as c:
            return c.do("GET", path)[0]

    def closed(self, fake):
        wait_for(lambda: self.once(fake, "/healthz") == 503, 30)

    def back(self, fake):
        fake.command("plumb")
        wait_for(lambda: self.once(fake, "/v1/whoami") == 200, 30)

    def check(self, fake):
        fds = fake.fds()
        for name in ("unknown", "half", "foreign", "direction", "size", "fd",
                     "wrong-fd", "many-fds", "long-string", "bad-status"):
            fake.command("bad " + name)
            with self.subTest(name):
                self.closed(fake)
                self.back(fake)
        wait_for(lambda: fake.fds() <= fds, 30)

    def test_messages_that_break_the_table(self):
        self.check(self.fake)
        for name in ("bad-id", "bad-verdict"):
            self.fake.command("bad " + name)
            self.closed(self.fake)
            self.back(self.fake)
        self.assertEqual(self.run_call(exec_("echo", "b"))["stdout"], "b\n")

    def test_the_operators_the_same(self):
        fake = Fake(operator=True)
        try:
            self.check(fake)
        finally:
            fake.stop()

    def test_a_flood_of_answers_to_nobody(self):
        self.fake.command("bad nobody")
        self.assertEqual(self.run_call(exec_("echo", "b"))["stdout"], "b\n")


class Verdicts(Base):
    """What policyd answers with instead of a new call."""

    def test_dry_runs(self):
        for tool in ("none", "broken"):
            status, j = self.client().do("POST", "/v1/calls", {
                "tool": tool, "args": {}, "dry_run": True})
            self.assertEqual((status, j), (200, {
                "dry_run": True, "verdict": "allow", "explanation": None}))

    def test_the_same_call(self):
        first = self.run_call(exec_("echo", "b"))
        again = self.run_call(exec_("echo", "c"),
                              idempotency_key=first["call"])
        # its transcript may have been kept since
        del first["transcript"], again["transcript"]
        self.assertEqual(again, first)
        # that is another principal's, or none that apid knows: policyd's say
        status, j = self.client().do("POST", "/v1/calls", dict(
            exec_("echo"), idempotency_key="c-" + "2" * 20))
        self.assertEqual(status, 404, j)

    def test_events_and_secrets(self):
        c = self.client()
        c.request("POST", "/v1/calls", exec_("true"), STREAM)
        self.assertEqual(c.head()[0], 200)
        name, _, judged = next(c.events())
        self.assertEqual((name, judged["class"]),
                         ("call.judged", "mutate-irreversible"))
        self.assertTrue(judged["command"].startswith("ls key="))
        self.assertNotIn("AKIA", judged["command"])


class Caps(Base):
    LIMITS = ("connections=40", "connections-uid=16", "result-kept=3s")

    def test_connections(self):
        clients = [self.client() for _ in range(16)]
        for c in clients:
            self.assertEqual(c.do("GET", "/v1/whoami")[0], 200)
        c = self.client()
        status, j = c.do("GET", "/v1/whoami")
        self.assertEqual((status, j["error"]["code"]), (429, "too_many"))
        self.assertIn("16", j["error"]["message"])
        more = [self.client() for _ in range(60)]
        time.sleep(0.2)
        self.assertLess(self.fake.fds(), 75)
        for x in clients + more:
            x.close()

        def room():
            try:
                return self.client().do("GET", "/v1/whoami")[0] == 200
            except OSError:
                return False
        wait_for(room, 30, 0.1)

    def test_result_is_forgotten(self):
        j = self.run_call(exec_("echo", "a"))
        c = self.client()
        self.assertEqual(c.do("GET", "/v1/calls/" + j["call"])[0], 200)
        wait_for(lambda: c.do("GET", "/v1/calls/" + j["call"])[0] == 404, 60,
                 0.1)

    def test_head_time(self):
        c = self.client()
        c.send(b"GET /v1/whoami HT")
        status, _, j = c.answer()
        self.assertEqual(status, 400)
        self.assertIn("took over 10 s", j["error"]["message"])


class Operator(Base):
    OPERATOR = True

    def test_routes(self):
        c = self.client()
        for target in ("/healthz", "/v1/whoami", "/v1/status",
                       "/v1/sessions?limit=5"):
            self.assertEqual(c.do("GET", target)[0], 200, target)
        self.assertEqual(c.do("GET", "/v1/audit?after=77&limit=5")[1]
                         ["next"], 77)
        for method, target in (("POST", "/v1/calls"),
                               ("POST", "/v1/sessions")):
            self.assertEqual(c.do(method, target)[0], 405, target)
        for target in ("/v1/tools", "/v1/calls/c-" + "0" * 20):
            self.assertEqual(c.do("GET", target)[0], 404, target)


class Drop(Base):
    def test_process(self):
        with open("/proc/%d/status" % self.fake.pid) as f:
            status = dict(l.rstrip("\n").split(":\t", 1) for l in f)
        self.assertEqual(status["Uid"].split(), ["65534"] * 4)
        self.assertEqual(status["Groups"].strip(), "")
        self.assertEqual(int(status["CapEff"], 16), 0)
        self.assertEqual(int(status["CapBnd"], 16), 0)
        self.assertEqual(status["NoNewPrivs"], "1")
        self.assertEqual(status["Seccomp"], "2")


if __name__ == "__main__":
    unittest.main()
