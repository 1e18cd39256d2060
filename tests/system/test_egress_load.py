"""A neuron that floods its listeners (attempt 54) meets its own limits, and
another one does not notice."""
import json
import os
import unittest

from egress import EgressCase, EgressInstance, wrapped
from harness import rss_kib, wait_for

WEB = 'allow host "ok.example.com"; allow host "raw.example.com" opaque'
LIMITS = {
    "few": "egress-connections 16;",
    "call": "egress-call 8M;",
    "session": "egress-session 8M;",
    "idle": "egress-idle 3s;",
    "total": "egress-total 4s;",
    "slow": "egress-bandwidth 256K;"}


class Load(EgressCase):
    NAMES = ("ok.example.com", "raw.example.com")

    @classmethod
    def instance(cls):
        return EgressInstance(
            cls.net, dict([("web", WEB)] + [(n, WEB) for n in LIMITS]),
            limits=LIMITS)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.other = cls.i.session(profile="web", **cls.w.fields())

    def tearDown(self):
        self.net.settled()

    def probe(self, code, profile="web"):
        return self.w.probe(code, profile=profile)

    def quiet(self):
        """The other neuron has what it always has."""
        r = self.w.probe("https('ok.example.com')", session=self.other)
        self.assertEqual(r["status"], 200, r)

    def hostile(self, code, profile="web", ready=None):
        """Runs it and, once it prints "ready", looks at the other neuron."""
        status, body = self.i.request("POST", "/v1/calls", {
            "tool": "python", "args": {"code": wrapped(self.w.path, code)},
            "timeout_ms": 120000, "profile": profile, **self.w.fields()})
        self.assertEqual(status, 202, body)
        seen = 0
        for _, event, data in self.i.events(
                "/v1/calls/%s/events" % body["call"]):
            if event == "call.output" and "ready" in data["data"]:
                self.quiet()
                if ready is not None:
                    ready()
                seen += 1
                self.w.write("go", "")
        r = self.i.get("/v1/calls/" + body["call"])[1]
        os.unlink(os.path.join(self.w.path, "go"))
        self.assertEqual((r["state"], r["exit_code"], seen),
                         ("completed", 0, 1), r)
        return json.loads(r["stdout"].split("ready\n")[1])

    HOLD = """
print("ready", flush=True)
end = time.monotonic() + 80
while not os.path.exists("go") and time.monotonic() < end:
    time.sleep(0.02)
"""

    def test_connections(self):
        """As many as it may have; the next are told so, until one ends."""
        got = self.hostile("""
held, answers = [], []
for n in range(20):
    s, r = connect("ok.example.com", 80)
    answers.append(r["status"] if s is None else 200)
    if s is None:
        answers[-1] = [r["status"], r["json"] and r["json"]["error"]]
    else:
        held.append(s)
""" + self.HOLD + """
for s in held:
    s.close()
end = time.monotonic() + 30
while (r := tunnel("ok.example.com", 80)["status"]) != 200 and \\
        time.monotonic() < end:
    time.sleep(0.05)
[answers, r]""", "few")
        answers, after = got
        self.assertEqual(answers[:16], [200] * 16)
        for a in answers[16:]:
            self.assertEqual(a, [429, "connections"])
        self.assertEqual(after, 200)

    def test_thousands_that_say_nothing(self):
        """Opened and left: neither memory nor the others' answers go."""
        before = rss_kib(self.i.pid("egressd"))
        got = self.hostile("""
import subprocess, sys
code = '''
import socket, sys, time
held = []
for n in range(900):
    try:
        s = socket.socket()
        s.settimeout(2)
        s.connect(("127.0.0.1", 3128))
        held.append(s)
    except OSError:
        break
print(len(held), flush=True)
sys.stdin.read()
'''
kids = [subprocess.Popen([sys.executable, "-I", "-c", code],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(6)]
counts = [int(k.stdout.readline()) for k in kids]
""" + self.HOLD + """
for k in kids:
    k.stdin.close()
    k.wait()
end = time.monotonic() + 30
while (r := https("ok.example.com")["status"]) != 200 and \\
        time.monotonic() < end:
    time.sleep(0.05)
[sum(counts), r]""", ready=lambda: self.assertLess(
            rss_kib(self.i.pid("egressd")), before + 32 * 1024))
        self.assertGreater(got[0], 128)
        self.assertEqual(got[1], 200)

    def test_slow_ones(self):
        """Heads that come a byte at a time, on every connection it has."""
        self.hostile("""
held = []
for n in range(100):
    s = socket.create_connection(PROXY)
    s.sendall(b"G")
    held.append(s)
for b in b"ET http://ok.example.com/ok HT":
    for s in held:
        try:
            s.sendall(bytes([b]))
        except OSError:
            pass
""" + self.HOLD + "1")

    def test_heads_that_are_too_large(self):
        got = self.probe("""
out = []
for more in ("X: " + "y" * 70000 + "\\r\\n", "X: y\\r\\n" * 5000,
        "X" * 70000 + ": y\\r\\n"):
    out.append(get("http://ok.example.com/ok", more=more)["status"])
out.append(ask("GET http://ok.example.com/" + "a" * 70000 +
    " HTTP/1.1\\r\\nHost: ok.example.com\\r\\n\\r\\n")["status"])
s = socket.create_connection(PROXY, timeout=10)
sent = 0
try:
    while sent < 1 << 24:
        s.sendall(b"A" * 65536)
        sent += 65536
except OSError:
    pass
out.append(sent)
out.append(get("http://ok.example.com/headers/300")["status"])
out""")
        for status in got[:4]:
            self.assertIn(status, (400, 431))
        self.assertLess(got[4], 1 << 24)
        self.assertEqual(got[5], 502)
        self.quiet()

    UPLOAD = """
s, r = connect("raw.example.com")
sent, block = 0, bytes(1 << 20)
s.settimeout(10)
def drain():
    try:
        while s.recv(1 << 20):
            pass
    except OSError:
        pass
import threading
threading.Thread(target=drain, daemon=True).start()
try:
    while sent < 1 << 30:
        s.sendall(block)
        sent += len(block)
except OSError:
    pass
"""

    def test_uploads_without_end(self):
        """A gigabyte, of which its limit lets eight megabytes through."""
        for profile in ("call", "session"):
            with self.subTest(profile=profile):
                before = rss_kib(self.i.pid("egressd"))
                self.net.forget()
                sent, after = self.probe(
                    self.UPLOAD + "[sent, get('http://ok.example.com/ok')]",
                    profile)
                self.assertLess(sent, 64 << 20)
                self.assertEqual(
                    (after["status"], after["json"]["error"]),
                    (403, "bytes"), after)
                came = self.net.connections()[0]["bytes"]
                self.assertLessEqual(came, 9 << 20)
                self.assertGreater(came, 1 << 20)
                self.assertLess(rss_kib(self.i.pid("egressd")),
                                before + 16 * 1024)
                self.quiet()

    def test_a_call_has_its_bytes_for_itself(self):
        """The next call in the same neuron begins anew."""
        session = self.i.session(profile="call", **self.w.fields())
        try:
            self.w.probe(self.UPLOAD + "sent", session=session)
            r = self.w.probe("https('ok.example.com')", session=session)
            self.assertEqual(r["status"], 200, r)
        finally:
            self.i.request("DELETE", "/v1/sessions/" + session)

    def test_idle_and_total(self):
        for profile in ("idle", "total"):
            with self.subTest(profile=profile):
                got = self.probe("""
s, r = connect("raw.example.com")
s.settimeout(25)
s.sendall(b"x")
s.recv(1)
begin = time.monotonic()
try:
    while time.monotonic() < begin + 25:
        if %r == "total":
            s.sendall(b"x")
        if not s.recv(10):
            break
        time.sleep(0.1)
    end = "ended"
except OSError as e:
    end = word(e)
end""" % profile, profile)
                self.assertIn(got, ("ended", "ECONNRESET", "EPIPE"))

    def test_bandwidth(self):
        """Bytes a second, by its own measure; the other's are not less."""
        code = """
begin = time.monotonic()
r = get("http://ok.example.com/big/1000000")
[len(r["body"]), time.monotonic() - begin]"""
        size, seconds = self.probe(code, "slow")
        self.assertEqual(size, 1000000)
        # a megabyte at 256K a second, but for what may come at once
        self.assertGreater(seconds, 1)
        self.assertEqual(self.probe(code)[0], 1000000)

    def test_many_at_once(self):
        """Requests of many threads, each with its own answer."""
        got = self.probe("""
import threading
out, lock = [], threading.Lock()
def one(n):
    for k in range(10):
        r = get("http://ok.example.com/big/%d" % (n * 100 + k))
        with lock:
            out.append(r["status"] == 200 and len(r["body"]) == n * 100 + k)
threads = [threading.Thread(target=one, args=(n,)) for n in range(30)]
for t in threads: t.start()
for t in threads: t.join()
[len(out), all(out)]""")
        self.assertEqual(got, [300, True])

    def test_nothing_is_left(self):
        """After all that egressd has the descriptors that it had."""
        pid = self.i.pid("egressd")

        def count():
            return len(os.listdir("/proc/%d/fd" % pid))
        self.quiet()
        self.net.settled()
        before = count()
        self.probe("[get('http://ok.example.com/ok')['status'] "
                   "for _ in range(50)]")
        self.probe("""
held = [connect("ok.example.com")[0] for _ in range(30)]
for s in held:
    s.sendall(b"half")
1""")
        wait_for(lambda: count() <= before, 60)


if __name__ == "__main__":
    unittest.main()
