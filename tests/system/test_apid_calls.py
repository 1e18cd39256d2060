"""apid alone: the results, events and input of calls."""
import base64
import os
import socket
import subprocess
import threading
import time
import unittest

from apid_alone import Base, STREAM, bash, data_of, exec_


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
                          timeout_ms=4000)
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
        status, j = c.do("POST", "/v1/calls", bash(
            "read x; echo $x", stdin={"stream": True}))
        self.assertEqual(status, 202)
        self.assertEqual(set(j), {"call", "session", "state", "approval"})
        target = "/v1/calls/" + j["call"]
        # it ends later than any of these waits
        status, j = c.do("GET", target + "?wait_ms=100")
        self.assertEqual(status, 202)
        self.assertEqual(c.do("POST", target + "/stdin?eof=1", b"x\n")[0],
                         200)
        status, j = c.do("GET", target + "?wait_ms=50000")
        self.assertEqual((status, j["stdout"]), (200, "x\n"))
        again = c.do("GET", target)[1]
        # policyd may have said meanwhile that it has the transcript
        self.assertIn(again.pop("transcript"), (None, True))
        del j["transcript"]
        self.assertEqual(again, j)

    def said_something(self, target):
        """Not before that: it runs, and is as far as its first words."""
        with self.client() as c:
            c.request("GET", target + "/events", headers=STREAM)
            c.head()
            self.assertIn("call.output", (e[0] for e in c.events()))

    def test_cancel(self):
        c = self.client()
        j = c.do("POST", "/v1/calls", bash("echo a; sleep 60"))[1]
        target = "/v1/calls/" + j["call"]
        self.said_something(target)
        status, j = c.do("POST", target + "/cancel")
        self.assertEqual(status, 202)
        status, j = c.do("GET", target + "?wait_ms=50000")
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
        self.said_something(target)
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
        status, j = c.do("GET", target + "?wait_ms=50000")
        self.assertEqual((j["exit_code"], j["stdout"]), (4, "a\nint\n"))
        for what, body in (("signal", {"signal": "INT"}),
                           ("resize", {"rows": 1, "cols": 1})):
            status, j = c.do("POST", target + "/" + what, body)
            self.assertEqual((status, j["error"]["code"]), (409, "conflict"))
            status, j = c.do("POST", "/v1/calls/c-22222222222222222222/" +
                             what, body)
            self.assertEqual(status, 404)
        j = c.do("POST", "/v1/calls", dict(
            bash("echo a; sleep 60"), pty={"rows": 5, "cols": 6}))[1]
        target = "/v1/calls/" + j["call"]
        self.said_something(target)
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
        r = self.run_call(exec_("cat", "/dev/zero"))
        self.assertEqual((r["state"], r["reason"]),
                         ("failed", "output_limit"))
        self.assertGreaterEqual(r["bytes"]["stdout"], 8 << 20)

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
        self.assertEqual(other.do("GET", target + "?wait_ms=50000")[0], 200)

    def test_stalled_reader(self):
        """O20: it costs little, and nobody else."""
        before = self.fake.rss()
        c = self.client()
        c.request("POST", "/v1/calls", exec_(
            "head", "-c", str(512 << 20), "/dev/zero"), STREAM)
        most = 0
        done = threading.Event()

        def watch():
            nonlocal most
            while not done.wait(0.02):
                most = max(most, self.fake.rss())
        t = threading.Thread(target=watch)
        t.start()
        self.addCleanup(done.set)
        status, headers = c.head()
        events = c.events()
        first = next(events)
        other = self.client()
        for _ in range(5):
            r = other.do("POST", "/v1/calls", exec_(
                "echo", "hi", wait_ms=50000))[1]
            self.assertEqual(r["stdout"], "hi\n")
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
        r = self.client().do("GET", "/v1/calls/%s?wait_ms=50000" % call)[1]
        self.assertEqual((r["state"], r["stdout"]), ("completed", "on\n"))

    def test_session_stream(self):
        c = self.client()
        s = c.do("POST", "/v1/sessions", {})[1]["session"]
        reader = self.client()
        reader.request("GET", "/v1/sessions/%s/events" % s)
        self.assertEqual(reader.head()[0], 200)
        for text in "ab":
            r = c.do("POST", "/v1/sessions/%s/calls" % s,
                     exec_("echo", text, wait_ms=50000))[1]
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
        r = c.do("GET", call + "?wait_ms=50000")[1]
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
        r = c.do("GET", call + "?wait_ms=50000")[1]
        self.assertEqual(r["stdout"].split()[0],
                         hashlib.sha256(data).hexdigest())

    def test_back_pressure(self):
        go = os.path.join(self.fake.dir, "go")
        c, call = self.start("bash", "-c", "until [ -e %s ]; do sleep 0.05; "
                             "done; wc -c" % go)
        before = self.fake.rss()
        answers = []
        t = threading.Thread(target=lambda: answers.append(c.do(
            "POST", call + "/stdin?eof=1", b"x" * (12 << 20))))
        t.start()
        t.join(0.5)
        # it is not taken before somebody reads it
        self.assertEqual(answers, [])
        with open(go, "w"):
            pass
        t.join(60)
        self.assertEqual(answers, [(200, {"accepted": 12 << 20})])
        self.assertLess(self.fake.rss(), before + (4 << 20))
        r = c.do("GET", call + "?wait_ms=50000")[1]
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
        r = c.do("GET", call + "?wait_ms=50000")[1]
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


if __name__ == "__main__":
    unittest.main()
