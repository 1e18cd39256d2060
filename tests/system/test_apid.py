"""apid alone, by raw sockets, against a policyd that is played."""
import base64
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.environ.get("MYELIN_BUILD", os.path.join(TOP, "build"))
APID = os.path.join(BUILD, "apid", "apid")
FAKE = os.path.join(BUILD, "tests", "fake_policyd")


class Fake:
    """One apid with its played policyd."""

    def __init__(self, *limits, operator=False, tcp=None):
        self.dir = tempfile.mkdtemp(prefix="apid-")
        os.chmod(self.dir, 0o755)
        self.path = os.path.join(self.dir, "sock")
        argv = [FAKE] + (["-o"] if operator else []) + \
            (["-t", str(tcp)] if tcp else []) + \
            [APID, self.path] + list(limits)
        self.proc = subprocess.Popen(argv, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE)
        self.pid = int(self.proc.stdout.readline().split()[1])

    def command(self, word):
        self.proc.stdin.write(word.encode() + b"\n")
        self.proc.stdin.flush()
        self.proc.stdout.readline()

    def rss(self):
        with open("/proc/%d/status" % self.pid) as f:
            text = f.read()
        # A sanitizer keeps what is freed: no measure of anything.
        if int(re.search(r"VmSize:\s+(\d+)", text).group(1)) > 1 << 30:
            return 0
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) * 1024

    def fds(self):
        return len(os.listdir("/proc/%d/fd" % self.pid))

    def stop(self):
        self.proc.stdin.close()
        self.proc.stdout.close()
        self.proc.wait(10)
        shutil.rmtree(self.dir)


class Client:
    """A connection, read strictly."""

    def __init__(self, path, timeout=30):
        self.s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.s.settimeout(timeout)
        self.s.connect(path)
        self.f = self.s.makefile("rb")

    def close(self):
        self.f.close()
        self.s.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.s.sendall(data)

    def request(self, method, target, body=None, headers=()):
        lines = ["%s %s HTTP/1.1" % (method, target), "Host: x"]
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            lines.append("Content-Type: application/json")
        if body is not None:
            lines.append("Content-Length: %d" % len(body))
        lines += headers
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))

    def head(self):
        line = self.f.readline()
        if not line:
            return None, {}
        status = int(line.split()[1])
        headers = {}
        while True:
            line = self.f.readline()
            if line == b"\r\n":
                break
            name, value = line.decode().rstrip("\r\n").split(": ", 1)
            headers[name.lower()] = value
        if status == 100:
            return self.head()
        return status, headers

    def answer(self):
        status, headers = self.head()
        if status is None:
            return None, {}, None
        body = self.f.read(int(headers["content-length"]))
        return status, headers, json.loads(body)

    def do(self, method, target, body=None, headers=()):
        self.request(method, target, body, headers)
        status, _, j = self.answer()
        return status, j

    def chunks(self):
        """The chunks of a body, to its proper end."""
        while True:
            line = self.f.readline()
            assert re.fullmatch(rb"[0-9a-f]+\r\n", line), line
            size = int(line, 16)
            data = self.f.read(size)
            assert len(data) == size
            assert self.f.read(2) == b"\r\n"
            if size == 0:
                return
            yield data

    def events(self):
        for chunk in self.chunks():
            fields = {}
            for line in chunk.decode().split("\n"):
                if line:
                    name, value = line.split(": ", 1)
                    assert name not in fields
                    fields[name] = value
            yield (fields["event"], int(fields["id"])
                   if "id" in fields else None, json.loads(fields["data"]))


def exec_(*argv, **more):
    return dict({"tool": "exec", "args": {"argv": list(argv)}}, **more)


def bash(text, **more):
    return dict({"tool": "bash", "args": {"command": text}}, **more)


def data_of(event):
    data = event["data"]
    return base64.b64decode(data, validate=True) \
        if event["encoding"] == "base64" else data.encode()


STREAM = ["Accept: text/event-stream"]


class Base(unittest.TestCase):
    LIMITS = ()
    OPERATOR = False

    @classmethod
    def setUpClass(cls):
        cls.fake = Fake(*cls.LIMITS, operator=cls.OPERATOR)

    @classmethod
    def tearDownClass(cls):
        cls.fake.stop()

    def client(self, timeout=30):
        c = Client(self.fake.path, timeout)
        self.addCleanup(c.close)
        return c

    def run_call(self, body, **more):
        status, j = self.client().do(
            "POST", "/v1/calls", dict(body, wait_ms=20000, **more))
        self.assertEqual(status, 200, j)
        return j


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
        body = json.dumps(bash("sleep 0.3; echo a", wait_ms=5000)).encode()
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
        body = json.dumps(exec_("echo", "hi", wait_ms=5000)).encode()
        c = self.client()
        for b in (b"POST /v1/calls HTTP/1.1\r\nHost: x\r\nContent-Type: "
                  b"application/json; charset=UTF-8\r\nContent-Length: %d"
                  b"\r\n\r\n" % len(body) + body):
            c.send(bytes([b]))
        self.assertEqual(c.answer()[2]["stdout"], "hi\n")

    def test_continue(self):
        c = self.client()
        body = json.dumps(exec_("echo", "hi", wait_ms=5000)).encode()
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
        for c in clients:
            self.assertEqual(c.do("GET", "/v1/whoami")[0], 200)
            # Busy from now on: nothing is read any more.
            c.request("POST", "/v1/calls", exec_("sleep", "5",
                                                 wait_ms=50000))
        time.sleep(0.3)
        for c in clients[:5]:
            c.close()
        for c in clients[5:]:
            c.s.shutdown(socket.SHUT_WR)
        end = time.monotonic() + 2
        # A connection each; two pipes a call stay.
        while self.fake.fds() > before + 20 and time.monotonic() < end:
            time.sleep(0.02)
        self.assertLessEqual(self.fake.fds(), before + 20)
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
        for _ in range(8):
            time.sleep(0.5)
            c.send(b"x" * 100000)
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


class Results(Base):
    def test_kinds(self):
        r = self.run_call(bash("echo out; echo err >&2; exit 7"))
        self.assertEqual((r["state"], r["exit_code"], r["stdout"],
                          r["stderr"]), ("completed", 7, "out\n", "err\n"))
        self.assertEqual(r["bytes"], {"stdout": 4, "stderr": 4})
        self.assertEqual(r["dropped"], {"stdout": 0, "stderr": 0})
        self.assertEqual(r["cut"], {"stdout": None, "stderr": None})
        r = self.run_call(bash("kill -9 $$"))
        self.assertEqual((r["reason"], r["signal"]), ("signalled", "KILL"))
        r = self.run_call({"tool": "denied", "args": {}})
        self.assertEqual(r["reason"], "denied_by_policy")

    def test_not_utf8(self):
        r = self.run_call(bash("printf 'a\\377\\376b\\n'; exit 3"))
        self.assertEqual(r["encoding"], {"stdout": "base64",
                                         "stderr": "utf-8"})
        self.assertEqual(base64.b64decode(r["stdout"]), b"a\xff\xfeb\n")
        self.assertEqual(r["exit_code"], 3)

    def test_utf8_cut_by_writes(self):
        text = "a€𝄞é" * 50
        r = self.run_call(exec_(
            "python3", "-c", "import os,time\nfor b in %r.encode():\n"
            " os.write(1, bytes([b])); time.sleep(0.0005)" % text))
        self.assertEqual(r["stdout"], text)
        r = self.run_call(bash("printf '\\342\\202'"))
        self.assertEqual((r["encoding"]["stdout"], r["stdout"]),
                         ("base64", base64.b64encode(b"\xe2\x82").decode()))

    def test_all_bytes(self):
        code = "import sys; sys.stdout.buffer.write(bytes(range(128))*999)"
        r = self.run_call(exec_("python3", "-c", code))
        self.assertEqual(r["stdout"].encode(), bytes(range(128)) * 999)
        code = code.replace("128", "256")
        for n in (0, 1, 2):
            r = self.run_call(exec_("python3", "-c", code + "\nsys.stdout"
                                    ".buffer.write(b'x'*%d)" % n))
            self.assertEqual(base64.b64decode(r["stdout"], validate=True),
                             bytes(range(256)) * 999 + b"x" * n)

    def test_before_timeout(self):
        r = self.run_call(exec_("python3", "-u", "-c", "print('one')\n"
                                "import time; time.sleep(60)"),
                          timeout_ms=500)
        self.assertEqual((r["state"], r["reason"], r["stdout"]),
                         ("failed", "timed_out", "one\n"))

    def test_stdin(self):
        self.assertEqual(self.run_call(bash("cat; echo rc=$?"))["stdout"],
                         "rc=0\n")
        for stdin in ("hé\n", {"text": "hé\n"},
                      {"base64": base64.b64encode("hé\n".encode())
                       .decode()}):
            self.assertEqual(self.run_call(exec_("cat"), stdin=stdin)
                             ["stdout"], "hé\n")

    def test_wait(self):
        c = self.client()
        status, j = c.do("POST", "/v1/calls", bash("sleep 0.5; echo x"))
        self.assertEqual(status, 202)
        self.assertEqual(set(j), {"call", "session", "state", "approval"})
        target = "/v1/calls/" + j["call"]
        start = time.monotonic()
        status, j = c.do("GET", target + "?wait_ms=100")
        self.assertEqual(status, 202)
        self.assertLess(time.monotonic() - start, 0.4)
        status, j = c.do("GET", target + "?wait_ms=5000")
        self.assertEqual((status, j["stdout"]), (200, "x\n"))
        again = c.do("GET", target)[1]
        # policyd may have said meanwhile that it has the transcript
        self.assertIn(again.pop("transcript"), (None, True))
        del j["transcript"]
        self.assertEqual(again, j)

    def test_cancel(self):
        c = self.client()
        j = c.do("POST", "/v1/calls", bash("echo a; sleep 60"))[1]
        target = "/v1/calls/" + j["call"]
        # not before it said something
        events = self.client()
        events.request("GET", target + "/events", headers=STREAM)
        events.head()
        self.assertIn("call.output", (e[0] for e in events.events()))
        status, j = c.do("POST", target + "/cancel")
        self.assertEqual(status, 202)
        status, j = c.do("GET", target + "?wait_ms=5000")
        self.assertEqual((j["state"], j["reason"], j["stdout"]),
                         ("cancelled", None, "a\n"))
        status, j = c.do("POST", target + "/cancel")
        self.assertEqual((status, j["state"]), (200, "cancelled"))
        status, j = c.do("POST", target + "/cancel", {})
        self.assertEqual((status, j["state"]), (200, "cancelled"))
        status, j = c.do("POST", target + "/cancel", {"why": "x"})
        self.assertEqual((status, j["error"]["code"]), (400, "bad_request"))

    def test_signal_and_resize(self):
        c = self.client()
        j = c.do("POST", "/v1/calls", bash("trap 'echo int; exit 4' INT; "
                                           "echo a; while :; do sleep 0.05; "
                                           "done"))[1]
        target = "/v1/calls/" + j["call"]
        time.sleep(0.3)
        status, j = c.do("POST", target + "/resize", {"rows": 1, "cols": 1})
        self.assertEqual((status, j["error"]["code"]), (409, "conflict"))
        for what, body in (("signal", {"signal": "SEGV"}), ("signal", {}),
                           ("resize", {"rows": 0, "cols": 1}),
                           ("resize", {"rows": 1})):
            status, j = c.do("POST", target + "/" + what, body)
            self.assertEqual((status, j["error"]["code"]),
                             (400, "bad_request"))
        self.assertEqual(c.do("POST", target + "/signal",
                              {"signal": "INT"})[0], 200)
        status, j = c.do("GET", target + "?wait_ms=5000")
        self.assertEqual((j["exit_code"], j["stdout"]), (4, "a\nint\n"))
        for what, body in (("signal", {"signal": "INT"}),
                           ("resize", {"rows": 1, "cols": 1})):
            status, j = c.do("POST", target + "/" + what, body)
            self.assertEqual((status, j["error"]["code"]), (409, "conflict"))
            status, j = c.do("POST", "/v1/calls/c-22222222222222222222/" +
                             what, body)
            self.assertEqual(status, 404)
        j = c.do("POST", "/v1/calls", dict(bash("sleep 60"), pty={
            "rows": 5, "cols": 6}))[1]
        target = "/v1/calls/" + j["call"]
        time.sleep(0.1)
        self.assertEqual(c.do("POST", target + "/resize", {
            "rows": 7, "cols": 8})[1]["rows"], 7)
        c.do("POST", target + "/cancel")

    def test_others(self):
        """Of another principal's call nothing is to be had."""
        j = self.run_call(exec_("echo", "mine"))
        call = "/v1/calls/" + j["call"]
        code = ("import socket,sys\ns=socket.socket(socket.AF_UNIX)\n"
                "s.connect(%r)\ns.sendall(b'%s %s HTTP/1.1\\r\\nHost: x\\r\\n"
                "Connection: close\\r\\n%s\\r\\n')\nprint(s.recv(65536))")
        os.chmod(self.fake.path, 0o777)
        for method, target, length in (
                ("GET", call, ""), ("GET", call + "/events", ""),
                ("POST", call + "/cancel", ""),
                ("POST", call + "/stdin", "Content-Length: 0\\r\\n")):
            out = subprocess.run(
                ["python3", "-I", "-c", code % (self.fake.path, method,
                                                target, length)],
                user=1234, group=1234, extra_groups=[],
                capture_output=True).stdout
            self.assertIn(b"404 Not Found", out)
            self.assertNotIn(b"mine", out)
        out = subprocess.run(
            ["python3", "-I", "-c", code % (self.fake.path, "GET",
                                            "/v1/calls", "")],
            user=65533, group=65533, extra_groups=[],
            capture_output=True).stdout
        self.assertIn(b"403 Forbidden", out)
        self.assertIn(b"uid:65533", out)


class Kept(Base):
    LIMITS = ("output-kept=64K", "output-killed=8M", "output-kept-all=1M")

    def test_head_and_tail(self):
        text = "".join("é%07d\n" % i for i in range(20000))
        r = self.run_call(exec_("python3", "-c", "import sys\n"
                                "for i in range(20000):\n"
                                " sys.stdout.write('é%07d\\n' % i)"))
        raw = text.encode()
        self.assertEqual(r["encoding"]["stdout"], "utf-8")
        self.assertEqual(r["bytes"]["stdout"], len(raw))
        kept = r["stdout"].encode()
        self.assertEqual(r["dropped"]["stdout"], len(raw) - len(kept))
        self.assertGreater(len(kept), 64 * 1024 - 8)
        cut = r["cut"]["stdout"]
        self.assertTrue(raw.startswith(kept[:cut]))
        self.assertTrue(raw.endswith(kept[cut:]))

    def test_few_lines_survive_a_flood(self):
        r = self.run_call(bash("head -c 200000 /dev/zero | tr '\\0' a; "
                               "echo warning >&2; "
                               "head -c 2000000 /dev/zero | tr '\\0' b"))
        self.assertEqual(r["stderr"], "warning\n")
        self.assertTrue(r["stdout"].endswith("b"))
        self.assertEqual(r["dropped"]["stdout"], 2200000 -
                         len(r["stdout"]))

    def test_killed(self):
        start = time.monotonic()
        r = self.run_call(exec_("cat", "/dev/zero"))
        self.assertEqual((r["state"], r["reason"]),
                         ("failed", "output_limit"))
        self.assertGreaterEqual(r["bytes"]["stdout"], 8 << 20)
        self.assertLess(time.monotonic() - start, 5)

    def test_all_calls_share(self):
        before = self.fake.rss()
        for _ in range(100):
            self.run_call(bash("head -c 70000 /dev/urandom"))
        self.assertLess(self.fake.rss(), before + (8 << 20))


class Events(Base):
    LIMITS = ("output-killed=1000G",)

    def stream(self, body, c=None):
        c = c or self.client()
        c.request("POST", "/v1/calls", body, STREAM)
        status, headers = c.head()
        self.assertEqual((status, headers["content-type"],
                          headers["transfer-encoding"]),
                         (200, "text/event-stream", "chunked"))
        return c

    def test_order_and_end(self):
        c = self.stream(bash("echo a; echo b >&2; exit 4"))
        events = list(c.events())
        names = [e[0] for e in events]
        self.assertEqual(names[:2], ["call.judged", "call.started"])
        self.assertEqual(names[-1], "call.finished")
        self.assertEqual(names.count("call.finished"), 1)
        self.assertEqual([e[1] for e in events],
                         list(range(1, len(events) + 1)))
        self.assertEqual(len({e[2]["call"] for e in events}), 1)
        self.assertEqual(events[0][2]["marks"], ["opaque"])
        self.assertEqual(events[-1][2]["exit_code"], 4)
        self.assertEqual(events[-1][2]["bytes"], {"stdout": 2, "stderr": 2})
        self.assertNotIn("stdout", events[-1][2])
        # The body ended cleanly: the connection goes on.
        self.assertEqual(c.do("GET", "/v1/whoami")[0], 200)

    def test_http_client(self):
        import http.client
        c = http.client.HTTPConnection("x")
        c.sock = socket.socket(socket.AF_UNIX)
        c.sock.connect(self.fake.path)
        j = self.run_call(exec_("seq", "3"))
        c.request("GET", "/v1/calls/%s/events" % j["call"])
        text = c.getresponse().read().decode()
        self.assertEqual(text.count("event: call.finished"), 1)
        self.assertIn("1\\n2\\n3\\n", text)
        c.close()

    def test_resume(self):
        c = self.stream(bash("for i in 1 2 3 4 5 6; do echo $i; sleep .15; "
                             "done"))
        got, last = [], 0
        for name, number, data in c.events():
            got.append((number, name))
            last = number
            if name == "call.output":
                call = data["call"]
                break
        c.close()
        for _ in range(3):
            time.sleep(0.2)
            c = self.client()
            c.request("GET", "/v1/calls/%s/events" % call,
                      headers=["Last-Event-ID: %d" % last])
            self.assertEqual(c.head()[0], 200)
            for name, number, data in c.events():
                got.append((number, name))
                last = number
                if name == "call.output":
                    break
            c.close()
        c = self.client()
        c.request("GET", "/v1/calls/%s/events" % call,
                  headers=["Last-Event-ID: %d" % last])
        c.head()
        got += [(e[1], e[0]) for e in c.events()]
        self.assertEqual([g[0] for g in got], list(range(1, len(got) + 1)))
        self.assertEqual(got[-1][1], "call.finished")
        # From the start again; beyond the end.
        c.request("GET", "/v1/calls/%s/events" % call)
        c.head()
        self.assertEqual([(e[1], e[0]) for e in c.events()], got)
        c.request("GET", "/v1/calls/%s/events" % call,
                  headers=["Last-Event-ID: 999"])
        self.assertEqual(c.answer()[0], 400)

    def test_gap(self):
        j = self.run_call(exec_("head", "-c", "6000000", "/dev/zero"))
        c = self.client()
        c.request("GET", "/v1/calls/%s/events" % j["call"])
        c.head()
        events = list(c.events())
        names = [e[0] for e in events]
        self.assertEqual(names[:3], ["call.judged", "call.started",
                                     "call.gap"])
        gap = events[2]
        self.assertEqual((gap[2]["from"], gap[1]), (3, gap[2]["to"]))
        self.assertEqual(events[3][1], gap[2]["to"] + 1)
        size = sum(len(data_of(e[2])) for e in events
                   if e[0] == "call.output")
        self.assertEqual(events[3][2]["seq"] + size, 6000000)
        self.assertGreater(size, 800 << 10)

    def test_block_is_lossless(self):
        n = 50 << 20
        # not random: what looks like a secret would come out masked
        c = self.stream(exec_("head", "-c", str(n), "/dev/zero",
                              flow="block"))
        got = 0
        for name, _, data in c.events():
            self.assertNotEqual(name, "call.gap")
            if name == "call.output":
                self.assertEqual(data["seq"], got)
                got += len(data_of(data))
                if got < (4 << 20):
                    time.sleep(0.01)
        self.assertEqual(name, "call.finished")
        self.assertEqual(got, n)

    def test_block_content(self):
        code = ("import sys,hashlib,random\nr=random.Random(1)\n"
                "h=hashlib.sha256()\nfor i in range(200):\n"
                " b=r.randbytes(r.randrange(1,200000))\n h.update(b)\n"
                " sys.stdout.buffer.write(b)\n"
                "sys.stderr.write(h.hexdigest())")
        import hashlib
        h = hashlib.sha256()
        err = ""
        c = self.stream(exec_("python3", "-c", code, flow="block"))
        for name, _, data in c.events():
            if name == "call.output" and data["stream"] == "stdout":
                h.update(data_of(data))
            elif name == "call.output":
                err += data["data"]
        self.assertEqual(h.hexdigest(), err)

    def test_block_waits_then_lets_go(self):
        c = self.stream(exec_("head", "-c", "8000000", "/dev/zero",
                              flow="block"))
        for name, _, data in c.events():
            if name == "call.output":
                break
        time.sleep(0.5)
        other = self.client()
        target = "/v1/calls/" + data["call"]
        self.assertEqual(other.do("GET", target)[1]["state"], "running")
        c.close()
        self.assertEqual(other.do("GET", target + "?wait_ms=5000")[0], 200)

    def test_stalled_reader(self):
        """O20: it costs little, and nobody else."""
        before = self.fake.rss()
        c = self.client()
        c.request("POST", "/v1/calls", exec_(
            "head", "-c", str(512 << 20), "/dev/zero"), STREAM)
        most, start = 0, time.monotonic()
        done = threading.Event()

        def watch():
            nonlocal most
            while not done.wait(0.02):
                most = max(most, self.fake.rss())
        t = threading.Thread(target=watch)
        t.start()
        status, headers = c.head()
        events = c.events()
        first = next(events)
        other = self.client()
        for _ in range(5):
            begin = time.monotonic()
            r = other.do("POST", "/v1/calls", exec_(
                "echo", "hi", wait_ms=20000))[1]
            self.assertEqual(r["stdout"], "hi\n")
            self.assertLess(time.monotonic() - begin, 2)
        call = first[2]["call"]
        status, j = other.do("GET", "/v1/calls/%s?wait_ms=50000" % call)
        self.assertEqual(j["bytes"]["stdout"], 512 << 20)
        done.set()
        t.join()
        self.assertLess(most - before, 64 << 20)
        names = [e[0] for e in events]
        self.assertIn("call.gap", names)
        self.assertEqual(names[-1], "call.finished")

    def test_result_never_read(self):
        j = self.run_call(exec_("head", "-c", "8000000", "/dev/zero"))
        before = self.fake.rss()
        clients = [self.client() for _ in range(20)]
        for c in clients:
            c.request("GET", "/v1/calls/" + j["call"])
            c.send(b"GET /v1/whoami HTTP/1.1\r\nHost: x\r\n\r\n" * 5)
        time.sleep(0.3)
        self.assertLess(self.fake.rss(), before + (30 << 20))
        status, _, k = clients[7].answer()
        self.assertEqual(k["stdout"], "\0" * 8000000)
        self.assertEqual(clients[7].answer()[2]["who"], "uid:0")

    def test_left_call_goes_on(self):
        c = self.stream(bash("sleep 0.4; echo on"))
        call = next(c.events())[2]["call"]
        c.close()
        r = self.client().do("GET", "/v1/calls/%s?wait_ms=5000" % call)[1]
        self.assertEqual((r["state"], r["stdout"]), ("completed", "on\n"))

    def test_session_stream(self):
        c = self.client()
        s = c.do("POST", "/v1/sessions", {})[1]["session"]
        reader = self.client()
        reader.request("GET", "/v1/sessions/%s/events" % s)
        self.assertEqual(reader.head()[0], 200)
        for text in "ab":
            r = c.do("POST", "/v1/sessions/%s/calls" % s,
                     exec_("echo", text, wait_ms=5000))[1]
            self.assertEqual((r["session"], r["stdout"]), (s, text + "\n"))
        events = reader.events()
        seen = [next(events) for _ in range(8)]
        self.assertEqual([e[1] for e in seen], list(range(1, 9)))
        self.assertEqual([e[0] for e in seen].count("call.finished"), 2)
        self.assertEqual(len({e[2]["call"] for e in seen}), 2)
        again = self.client()
        again.request("GET", "/v1/sessions/%s/events" % s,
                      headers=["Last-Event-ID: 5"])
        again.head()
        more = again.events()
        self.assertEqual([next(more)[1] for _ in range(3)], [6, 7, 8])
        self.assertEqual(c.do("DELETE", "/v1/sessions/" + s)[0], 200)
        end = ("session.ended", 9, {"session": s, "reason": "ended"})
        self.assertEqual(list(events), [end])
        self.assertEqual(list(more), [end])


class Feeding(Base):
    def start(self, *argv, **more):
        c = self.client()
        j = c.do("POST", "/v1/calls", exec_(*argv, stdin={"stream": True},
                                            **more))[1]
        return c, "/v1/calls/" + j["call"]

    def test_stream(self):
        c, call = self.start("cat")
        for part in (b"one\n", b"", b"two\n"):
            status, j = c.do("POST", call + "/stdin", part)
            self.assertEqual((status, j), (200, {"accepted": len(part)}))
        status, j = c.do("POST", call + "/stdin?eof=1", b"three\n")
        self.assertEqual(status, 200)
        r = c.do("GET", call + "?wait_ms=5000")[1]
        self.assertEqual((r["state"], r["stdout"]),
                         ("completed", "one\ntwo\nthree\n"))
        status, j = c.do("POST", call + "/stdin", b"")
        self.assertEqual((status, j["error"]["code"]), (409, "conflict"))

    def test_large(self):
        c, call = self.start("sha256sum")
        import hashlib
        data = os.urandom(15 << 20)
        status, j = c.do("POST", call + "/stdin", data)
        self.assertEqual(j, {"accepted": len(data)})
        self.assertEqual(c.do("POST", call + "/stdin?eof=1", b"")[0], 200)
        r = c.do("GET", call + "?wait_ms=5000")[1]
        self.assertEqual(r["stdout"].split()[0],
                         hashlib.sha256(data).hexdigest())

    def test_back_pressure(self):
        c, call = self.start("bash", "-c", "sleep 0.7; wc -c")
        before = self.fake.rss()
        begin = time.monotonic()
        status, j = c.do("POST", call + "/stdin?eof=1", b"x" * (12 << 20))
        self.assertEqual(j["accepted"], 12 << 20)
        self.assertGreater(time.monotonic() - begin, 0.4)
        self.assertLess(self.fake.rss(), before + (4 << 20))
        r = c.do("GET", call + "?wait_ms=5000")[1]
        self.assertEqual(int(r["stdout"]), 12 << 20)

    def test_two_feeders(self):
        c, call = self.start("wc", "-c")
        # Half a body holds the place.
        c.send(("POST %s/stdin HTTP/1.1\r\nHost: x\r\n"
                "Content-Length: 10\r\n\r\n" % call).encode() + b"x" * 5)
        time.sleep(0.1)
        # Refused, its body unread: this connection ends.
        other = self.client()
        status, j = other.do("POST", call + "/stdin", b"y")
        self.assertEqual((status, other.f.read()), (409, b""))
        c.send(b"x" * 5)
        self.assertEqual(c.answer()[2], {"accepted": 10})
        # A feeder that leaves in the middle makes way as well.
        c.send(("POST %s/stdin HTTP/1.1\r\nHost: x\r\n"
                "Content-Length: 10\r\n\r\n" % call).encode() + b"x" * 5)
        time.sleep(0.1)
        c.close()
        time.sleep(0.1)
        c = self.client()
        self.assertEqual(c.do("POST", call + "/stdin?eof=1", b"")[0], 200)
        r = c.do("GET", call + "?wait_ms=5000")[1]
        self.assertEqual(r["stdout"], "15\n")

    def test_closed_stdin(self):
        c, call = self.start("bash", "-c", "exec <&-; sleep 1")
        time.sleep(0.2)
        status, j = c.do("POST", call + "/stdin", b"x" * (4 << 20))
        self.assertEqual((status, j["error"]["code"]), (409, "conflict"))

    def test_ends_meanwhile(self):
        c, call = self.start("sleep", "0.3")
        status, j = c.do("POST", call + "/stdin", b"x" * (4 << 20))
        self.assertEqual((status, j["error"]["code"]), (409, "conflict"))

    def test_no_stream(self):
        c = self.client()
        j = c.do("POST", "/v1/calls", exec_("sleep", "1"))[1]
        status, k = c.do("POST", "/v1/calls/%s/stdin" % j["call"], b"x")
        self.assertEqual(status, 409)


class Away(Base):
    """policyd dies under way."""

    def test_away_and_back(self):
        c = self.client()
        done = c.do("POST", "/v1/calls", exec_("echo", "kept",
                                               wait_ms=5000))[1]
        s = self.client()
        s.request("POST", "/v1/calls", bash("echo a; sleep 30"), STREAM)
        s.head()
        events = s.events()
        while next(events)[0] != "call.output":
            pass
        w = self.client()
        w.request("POST", "/v1/calls", bash("sleep 30", wait_ms=40000))
        time.sleep(0.2)
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

    def check(self, fake):
        fds = fake.fds()
        for name in ("unknown", "half", "foreign", "direction", "size", "fd",
                     "wrong-fd", "many-fds", "long-string", "bad-status"):
            fake.command("bad " + name)
            end = time.monotonic() + 10
            while self.once(fake, "/healthz") != 503:
                self.assertLess(time.monotonic(), end, name)
                time.sleep(0.01)
            fake.command("plumb")
            end = time.monotonic() + 10
            while self.once(fake, "/v1/whoami") != 200:
                self.assertLess(time.monotonic(), end, name)
                time.sleep(0.01)
        end = time.monotonic() + 10
        while fake.fds() > fds:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_messages_that_break_the_table(self):
        self.check(self.fake)
        for name in ("bad-id", "bad-verdict"):
            self.fake.command("bad " + name)
            time.sleep(0.1)
            self.assertEqual(self.client().do("GET", "/healthz")[0], 503)
            self.fake.command("plumb")
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
    LIMITS = ("connections=40", "connections-uid=16", "result-kept=1s")

    def test_connections(self):
        clients = [self.client() for _ in range(16)]
        for c in clients:
            self.assertEqual(c.do("GET", "/v1/whoami")[0], 200)
        c = self.client()
        status, j = c.do("GET", "/v1/whoami")
        self.assertEqual((status, j["error"]["code"]), (429, "too_many"))
        self.assertIn("16", j["error"]["message"])
        more = [self.client(5) for _ in range(60)]
        time.sleep(0.2)
        self.assertLess(self.fake.fds(), 75)
        for x in clients + more:
            x.close()
        time.sleep(0.2)
        self.assertEqual(self.client().do("GET", "/v1/whoami")[0], 200)

    def test_result_is_forgotten(self):
        j = self.run_call(exec_("echo", "a"))
        c = self.client()
        self.assertEqual(c.do("GET", "/v1/calls/" + j["call"])[0], 200)
        time.sleep(2.5)
        self.assertEqual(c.do("GET", "/v1/calls/" + j["call"])[0], 404)

    def test_head_time(self):
        c = self.client()
        c.send(b"GET /v1/whoami HT")
        begin = time.monotonic()
        status, _, j = c.answer()
        self.assertEqual(status, 400)
        self.assertLess(time.monotonic() - begin, 12)


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
