"""myelinctl against a service that is played here: its client alone."""
import base64
import hashlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest

from played_service import CALL, CTL, Client, SESSION, ends


class Run(Client):
    def test_request(self):
        s = self.service(ends())
        with tempfile.TemporaryDirectory() as d:
            os.chown(d, 1234, 1235) if os.geteuid() == 0 else None
            r = self.ctl(s, "run", "-w", d, "-C", "sub", "-e", "A=1", "-e",
                         "B=x=y", "-p", "web", "--timeout", "1.25", "ls", "-l")
            self.assertEqual(r, (0, b"", b""))
            body = self.body(s)
            want = {"tool": "exec", "args": {"argv": ["ls", "-l"]},
                    "cwd": "sub", "env": {"A": "1", "B": "x=y"},
                    "profile": "web", "timeout_ms": 1250, "flow": "block",
                    "workspace": os.path.realpath(d)}
            if os.geteuid() == 0:
                want["owner"] = {"uid": 1234, "gid": 1235}
            self.assertEqual(body, want)
        self.assertEqual(s.requests[0][:2], ("POST", "/v1/calls"))
        self.assertEqual(s.requests[0][2]["accept"], "text/event-stream")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_workspace_of_root(self):
        s = self.service(ends())
        with tempfile.TemporaryDirectory() as d:
            status, _, err = self.ctl(s, "run", "-w", d, "true")
        self.assertEqual(status, 125)
        self.assertIn(b"belongs to root", err)
        self.assertEqual(s.requests, [])

    def test_statuses(self):
        for end, status, words in (
                ({"exit_code": 7}, 7, b""),
                ({"state": "failed", "reason": "signalled",
                  "exit_code": None, "signal": "SEGV"}, 139, b""),
                ({"state": "failed", "reason": "signalled",
                  "exit_code": None, "signal": "KILL"}, 137, b""),
                ({"state": "failed", "reason": "timed_out",
                  "exit_code": None, "signal": "KILL"}, 124, b"timed out"),
                ({"state": "failed", "reason": "oom_killed",
                  "exit_code": None, "signal": "KILL"}, 137, b"memory"),
                ({"state": "failed", "reason": "output_limit",
                  "exit_code": None, "signal": "KILL",
                  "message": "over 1073741824 bytes"}, 137,
                 b"too much output: over 1073741824 bytes"),
                ({"state": "failed", "reason": "exec_failed",
                  "exit_code": 127, "message": "the program is not there"}, 127,
                 b"x: the program is not there"),
                ({"state": "failed", "reason": "exec_failed",
                  "exit_code": 126}, 126, b"x: it can't be executed"),
                ({"state": "failed", "reason": "invalid_arguments",
                  "exit_code": None, "message": "env: bad"}, 125,
                 b"env: bad"),
                ({"state": "failed", "reason": "interrupted",
                  "exit_code": None}, 125, b"interrupted"),
                ({"state": "cancelled", "reason": None,
                  "exit_code": None}, 137, b"cancelled")):
            r = self.ctl(self.service(ends(**end)), "run", "--", "x")
            self.assertEqual(r[0], status, (end, r))
            self.assertIn(words, r[2])
            if status in (7, 139):
                self.assertEqual(r[2], b"")

    def test_output_is_lossless(self):
        pieces = [b"plain\n", bytes(range(256)), b"\0\x1b[2J\"\\\x7f",
                  "\u00e4\U0001f600\ufffe".encode(), b"", os.urandom(100000)]

        def handler(conn, *_):
            conn.begin()
            for piece in pieces:
                conn.output(piece)
                conn.output(piece, "stderr")
            conn.finished()
        r = self.ctl(self.service(handler), "run", "x")
        self.assertEqual(r, (0, b"".join(pieces), b"".join(pieces)))

    def test_pieces_of_any_size(self):
        events = ("id: 1\r\nevent: call.output\r\ndata: {\"stream\": "
                  "\"stdout\", \"data\": \"a\\u00e4\\ud83d\\ude00\"}\r\n\r\n"
                  ": comment\n\nevent: ping\ndata: {}\n\n"
                  "event: call.finished\ndata: {\"call\":\"%s\",\n"
                  "data: \"state\":\"completed\",\"exit_code\":3}\n\n"
                  % CALL).encode()

        def handler(conn, *_):
            head = (b"HTTP/1.1 200 OK\r\ncontent-type: Text/Event-Stream; "
                    b"charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n")
            data = head + b"".join(b"%x;x=y\r\n%c\r\n" % (1, b)
                                   for b in events) + b"0\r\nT: v\r\n\r\n"
            for b in data:
                conn.raw(bytes([b]))
        r = self.ctl(self.service(handler), "run", "x")
        self.assertEqual(r, (3, "a\u00e4\U0001f600".encode(), b""))

    def test_slow_reader_and_signal(self):
        """A full output pipe doesn't keep a signal from being heard."""
        cancelled, begun = threading.Event(), threading.Event()

        def handler(conn, method, target, headers, body):
            if target.endswith("/cancel"):
                cancelled.set()
                conn.json(200, {})
                return
            conn.begin()
            conn.event("call.started", 1)
            begun.set()
            for _ in range(10):
                conn.output(b"x" * 60000)
            cancelled.wait(60)
            conn.finished(state="cancelled", exit_code=None, signal="TERM")
        p = self.start(self.service(handler), "run", "x")
        self.assertTrue(begun.wait(60))
        time.sleep(0.5)
        p.send_signal(signal.SIGTERM)
        self.assertTrue(cancelled.wait(60))
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, 143)

    def test_interrupt(self):
        cancelled = threading.Event()

        def handler(conn, method, target, headers, body):
            if target.endswith("/cancel"):
                cancelled.set()
                conn.json(200, {})
                return
            conn.begin()
            conn.event("call.started", 1)
            conn.output(b"up\n")
            if cancelled.wait(60):
                conn.finished(state="cancelled", exit_code=None,
                              signal="KILL")
        s = self.service(handler)
        p = self.start(s, "run", "x")
        self.assertEqual(p.stdout.readline(), b"up\n")
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, 130)
        # That route takes no body.
        method, target, headers, body = s.requests[1]
        self.assertEqual((method, target, headers.get("content-length")),
                         ("POST", "/v1/calls/%s/cancel" % CALL, None))

    def test_second_interrupt(self):
        heard, over = threading.Event(), threading.Event()
        self.addCleanup(over.set)

        def handler(conn, method, target, headers, body):
            if target.endswith("/cancel"):
                heard.set()
            else:
                conn.begin()
                conn.event("call.started", 1)
                conn.output(b"up\n")
            over.wait()
        p = self.start(self.service(handler), "run", "x")
        self.assertEqual(p.stdout.readline(), b"up\n")
        p.send_signal(signal.SIGINT)
        self.assertTrue(heard.wait(60))
        p.send_signal(signal.SIGINT)
        # though neither request is ever answered
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, 130)

    def test_closed_output(self):
        cancelled = threading.Event()

        def handler(conn, method, target, headers, body):
            if target.endswith("/cancel"):
                cancelled.set()
                conn.json(200, {})
                return
            conn.begin()
            conn.event("call.started", 1)
            while not cancelled.is_set():
                conn.output(b"y\n" * 5000)
            conn.finished(state="cancelled", exit_code=None, signal="KILL")
        p = self.start(self.service(handler), "run", "yes")
        p.stdout.read(10)
        p.stdout.close()
        p.stderr.read()
        self.assertEqual(p.wait(60), 141)
        self.assertTrue(cancelled.is_set())

    def test_refused(self):
        for status, code, extra, words in (
                (403, "forbidden", "", b"whoami"),
                (429, "too_many", "Retry-After: 3\r\n", b"in 3 s"),
                (503, "unavailable", "Retry-After: 1\r\n", b"in 1 s")):
            s = self.service(lambda conn, *_: conn.json(status, {
                "error": {"code": code, "message": "no \x1b[2J way",
                          "request_id": "r1"}}, extra))
            r = self.ctl(s, "run", "x")
            self.assertEqual(r[0], 125)
            self.assertIn(b"no \\x1b[2J way", r[2])
            self.assertIn(words, r[2])
        s = self.service(lambda conn, *_: conn.json(500, {
            "error": {"code": "internal", "request_id": "r1"}}))
        self.assertIn(b"r1", self.ctl(s, "run", "x")[2])

    def test_broken_answers(self):
        for data in (b"", b"HTTP/1.0 200 OK\r\n\r\n", b"\x00" * 100,
                     b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 4000,
                     b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
                     b"Content-Length: 1\r\n\r\nx",
                     b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                     b"\r\nevent: call.finished\ndata: {\n\n",
                     b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                     b"\r\nevent: call.output\ndata: {\"data\":1}\n\n",
                     b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhi"):
            def handler(conn, *_):
                conn.raw(data)
                conn.sock.shutdown(socket.SHUT_WR)
            r = self.ctl(self.service(handler), "run", "x")
            self.assertEqual(r[0], 125, data)
            self.assertIn(b"next:", r[2])


class Stdin(Client):
    def eater(self, want_answer=True, status=200):
        """Takes streamed input; the call ends at its end."""
        got = {"data": b"", "eof": threading.Event(), "order": []}

        def handler(conn, method, target, headers, body):
            if "/stdin" in target:
                got["order"].append("stdin")
                got["data"] += body
                if target.endswith("?eof=1"):
                    got["eof"].set()
                conn.json(status, {"accepted": len(body)})
                return
            conn.begin()
            got["order"].append("started")
            conn.event("call.started", 1)
            if want_answer:
                got["eof"].wait(60)
                conn.output(hashlib.sha256(got["data"]).hexdigest().encode())
            else:
                time.sleep(0.3)
            conn.finished()
        return handler, got

    def test_null(self):
        s = self.service(ends())
        self.ctl(s, "run", "x")
        self.assertNotIn("stdin", self.body(s))

    def test_file(self):
        s = self.service(ends())
        data = os.urandom(5000)
        with tempfile.TemporaryFile() as f:
            f.write(b"skipped" + data)
            f.seek(7)
            f.flush()
            os.lseek(f.fileno(), 7, os.SEEK_SET)
            self.ctl(s, "run", "x", stdin=f)
        self.assertEqual(base64.b64decode(self.body(s)["stdin"]["base64"]),
                         data)

    def test_base64_lengths(self):
        for n in range(5):
            s = self.service(ends())
            with tempfile.TemporaryFile() as f:
                f.write(b"\xfb\xff\xfe!?"[:n])
                f.flush()
                f.seek(0)
                self.ctl(s, "run", "x", stdin=f)
            body = self.body(s)
            self.assertEqual(body.get("stdin"), None if n == 0 else {
                "base64": base64.b64encode(
                    b"\xfb\xff\xfe!?"[:n]).decode()})

    def test_pipe(self):
        handler, got = self.eater()
        s = self.service(handler)
        data = os.urandom(1 << 20)
        r = self.ctl(s, "run", "x", input=data)
        self.assertEqual(r, (0, hashlib.sha256(data).hexdigest().encode(),
                             b""))
        self.assertEqual(self.body(s)["stdin"], {"stream": True})
        self.assertEqual(got["order"][0], "started")

    def test_large_file(self):
        handler, got = self.eater()
        s = self.service(handler)
        with tempfile.TemporaryFile() as f:
            f.truncate(17 << 20)
            r = self.ctl(s, "run", "x", stdin=f)
        self.assertEqual(r[0], 0)
        self.assertEqual(len(got["data"]), 17 << 20)
        self.assertEqual(self.body(s)["stdin"], {"stream": True})

    def test_body_too_large(self):
        handler, got = self.eater()

        def first_refuse(conn, method, target, headers, body):
            if b"base64" in body:
                conn.json(413, {"error": {"code": "body_too_large",
                                          "message": "m"}})
            else:
                handler(conn, method, target, headers, body)
        with tempfile.TemporaryFile() as f:
            f.write(b"abc" * 1000)
            f.flush()
            os.lseek(f.fileno(), 3, os.SEEK_SET)
            r = self.ctl(self.service(first_refuse), "run", "x", stdin=f)
        self.assertEqual((r[0], got["data"]), (0, b"abc" * 999))

    def test_not_read(self):
        """A program that ends without reading doesn't hang run."""
        handler, _ = self.eater(want_answer=False)
        r, w = os.pipe()
        p = self.start(self.service(handler), "run", "x", stdin=r)
        self.assertEqual(p.wait(60), 0)
        p.communicate()
        os.close(r)
        os.close(w)

    def test_closed_by_the_program(self):
        handler, _ = self.eater(want_answer=False, status=409)
        r = self.ctl(self.service(handler), "run", "x", input=b"x" * 1000000)
        self.assertEqual(r, (0, b"", b""))

    def test_no_descriptors(self):
        """Closed 0, 1 and 2 don't become the connection."""
        s = self.service(ends(exit_code=5))
        p = self.start(s, "run", "x", preexec_fn=lambda: os.closerange(0, 3))
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, 5)


class Call(Client):
    def handler(self, conn, method, target, headers, body):
        if method == "POST":
            conn.begin()
            conn.event("call.started", 1)
            conn.output(b"not shown")
            conn.finished()
        else:
            conn.json(200, {"call": CALL, "state": "completed",
                            "stdout": "\x1b[2J"})

    def test_call(self):
        s = self.service(self.handler)
        r = self.ctl(s, "call", "bash", '{"command": "ls"}', "--timeout", "5")
        self.assertEqual(r[0], 0, r)
        self.assertEqual(json.loads(r[1])["stdout"], "\x1b[2J")
        self.assertNotIn(b"\x1b", r[1])
        self.assertEqual(self.body(s), {"tool": "bash", "timeout_ms": 5000,
                                        "args": {"command": "ls"}})
        self.assertEqual(s.requests[1][1], "/v1/calls/" + CALL)

    def test_session(self):
        s = self.service(self.handler)
        self.assertEqual(self.ctl(s, "call", "--session", SESSION, "bash",
                                  "{}")[0], 0)
        self.assertEqual(s.requests[0][1], "/v1/sessions/%s/calls" % SESSION)

    def test_arguments_from_stdin(self):
        s = self.service(self.handler)
        self.assertEqual(self.ctl(s, "call", "bash", "-",
                                  input=b'{"command":"x"}')[0], 0)
        self.assertEqual(self.body(s)["args"], {"command": "x"})

    def test_show(self):
        r = self.ctl(self.service(self.handler), "call", "show", CALL)
        self.assertEqual(json.loads(r[1])["call"], CALL)

    def test_usage(self):
        s = self.service(self.handler)
        for argv in (["call"], ["call", "bash"], ["call", "bash", "{"],
                     ["call", "bash", "[]"], ["call", "bash", '{"a":1,"a":2}'],
                     ["call", "show", "../x"], ["call", "--session", "x/y",
                                                "bash", "{}"],
                     ["nope"], [], ["calls", "x"], ["sessions", "end", "x"],
                     ["calls", "-n", "0"], ["audit"], ["status", "--nope"]):
            r = self.ctl(s, *argv)
            self.assertEqual(r[0], 2, argv)
        for argv in (["run"], ["run", "--timeout", "x", "a"],
                     ["run", "--timeout", "0", "a"], ["run", "-e", "A", "b"],
                     ["run", "-w", "/nosuchdir", "a"]):
            r = self.ctl(s, *argv)
            self.assertEqual(r[0], 125, argv)
            self.assertIn(b"next:", r[2])
        self.assertEqual(s.requests, [])


class Lists(Client):
    def test_pages(self):
        def handler(conn, method, target, headers, body):
            at = int(target.partition("cursor=")[2] or 0)
            conn.json(200, {"calls": [{"call": "c-%d" % n, "tool": "bash",
                                       "state": "completed"}
                                      for n in range(at, at + 2)],
                            "next": str(at + 2) if at < 4 else None})
        s = self.service(handler)
        r = self.ctl(s, "calls")
        self.assertEqual(r[0], 0, r)
        self.assertEqual(r[1].count(b"bash"), 6)
        self.assertEqual(len(s.requests), 3)
        r = self.ctl(s, "calls", "--json", "-n", "3")
        self.assertEqual(len(json.loads(r[1])["calls"]), 4)

    def test_control_characters(self):
        s = self.service(lambda conn, *_: conn.json(200, {
            "sessions": [{"session": SESSION, "workspace": "/a\x1b]0;x\x07\n"
                          "\u202e\u009b", "calls": {"used": 3, "limit": 9}}],
            "next": None}))
        out = self.ctl(s, "sessions")[1]
        self.assertIn(b"/a\\x1b]0;x\\x07\\n\\u{202e}\\u{9b}", out)
        self.assertEqual(len(out.splitlines()), 2)

    def test_empty(self):
        s = self.service(lambda conn, *_: conn.json(200, {
            "neurons": [], "next": None}))
        self.assertEqual(self.ctl(s, "neurons")[1],
                         b"There is no neuron (sandbox).\n")

    def test_status(self):
        s = self.service(lambda conn, *_: conn.json(200, {
            "version": "0.1.0", "processes": [
                {"name": "apid", "pid": 7, "restarts": 0, "state": "up"}]}))
        r = self.ctl(s, "status", "--json")
        self.assertEqual(json.loads(r[1])["processes"][0]["pid"], 7)
        self.assertIn(b"apid", self.ctl(s, "status")[1])

    def test_sessions(self):
        def handler(conn, method, target, headers, body):
            conn.json(201 if method == "POST" else 200, {"session": SESSION})
        s = self.service(handler)
        r = self.ctl(s, "sessions", "open", "-p", "web", "--expires", "60")
        self.assertEqual(r, (0, SESSION.encode() + b"\n", b""))
        self.assertEqual(self.body(s), {"profile": "web", "expires": 60})
        self.assertEqual(self.ctl(s, "sessions", "end", SESSION)[0], 0)
        self.assertEqual(s.requests[1][:2], ("DELETE",
                                             "/v1/sessions/" + SESSION))

    def test_end_all(self):
        other = SESSION[:-1] + ("a" if SESSION[-1] != "a" else "b")

        def handler(conn, method, target, headers, body):
            if method == "GET":
                conn.json(200, {"sessions": [{"session": SESSION},
                                             {"session": "../x"},
                                             {"session": SESSION,
                                              "state": "ended"},
                                             {"session": other}]})
            else:
                conn.json(200 if target.endswith(SESSION) else 404,
                          {"session": SESSION} if target.endswith(SESSION)
                          else {"error": {"code": "not_found",
                                          "message": "gone",
                                          "request_id": "r-1"}})
        s = self.service(handler)
        r = self.ctl(s, "sessions", "end", "all")
        self.assertEqual(r[:2], (1, b"1 ended.\n"))
        self.assertEqual([q[:2] for q in s.requests[1:]],
                         [("DELETE", "/v1/sessions/" + SESSION),
                          ("DELETE", "/v1/sessions/" + other)])

    def test_cancel(self):
        s = self.service(lambda conn, *_: conn.json(200, {"call": CALL}))
        self.assertEqual(self.ctl(s, "call", "cancel", CALL), (0, b"", b""))
        self.assertEqual(s.requests[0][:2],
                         ("POST", "/v1/calls/%s/cancel" % CALL))
        self.assertEqual(self.ctl(s, "call", "cancel", "c-no")[0], 2)

    def test_full_disk(self):
        s = self.service(lambda conn, *_: conn.json(200, {"tools": []}))
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.ctl(s, "tools", stdout=full)[0], 1)


class Sockets(Client):
    def fails(self, path, words, status=1, **more):
        p = subprocess.run([CTL, "-s", path, "tools"], capture_output=True,
                           timeout=60, **more)
        self.assertEqual(p.returncode, status)
        self.assertIn(words, p.stderr)
        self.assertIn(b"next:", p.stderr)

    def test_missing(self):
        self.fails("/nosuch/api.sock", b"no such socket")

    def test_not_a_socket(self):
        self.fails("/etc/passwd", b"not a socket")

    def test_nobody_listens(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "s")
            sock = socket.socket(socket.AF_UNIX)
            sock.bind(path)
            sock.close()
            self.fails(path, b"nobody listens")

    def test_long_path(self):
        self.fails("/" + "x" * 107, b"107")
        self.fails("/" + "x" * 106, b"no such socket")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_permission(self):
        s = self.service(ends(), mode=0o660)
        os.chmod(s.dir, 0o755)
        os.chown(s.path, 0, 4)      # adm
        self.fails(s.path, b'not in the group "adm"',
                   user=65534, group=65534, extra_groups=[])


def chain(records):
    lines, prev = [], "0" * 64
    for n, record in enumerate(records, 1):
        text = json.dumps({"seq": n, "time": "2026-01-02T03:04:05.678Z",
                           "event": record, "prev": prev},
                          separators=(",", ":"))[:-1]
        prev = hashlib.sha256(text.encode()).hexdigest()
        lines.append(text + ',"hash":"%s"}' % prev)
    return lines, prev


class Audit(Client):
    def handler(self, lines, head):
        def handler(conn, method, target, headers, body):
            query = dict(p.split("=") for p in
                         target.partition("?")[2].split("&"))
            after, limit = int(query["after"]), min(int(query["limit"]), 7)
            part = lines[after:after + limit]
            more = after + len(part) < len(lines)
            conn.json(200, {"lines": part,
                            "next": after + len(part) if more else None,
                            "head": head})
        return handler

    def verify(self, lines, sequence, sha):
        s = self.service(self.handler(lines, {"sequence": sequence,
                                              "hash": sha}))
        status, out, err = self.ctl(s, "audit", "verify")
        again = self.ctl(s, "audit", "verify", "--json")
        self.assertEqual(again[0], status)
        self.assertEqual(json.loads(again[1])["ok"], status == 0)
        with tempfile.TemporaryDirectory() as d:
            os.mkdir(d + "/policy")
            with open(d + "/policy/audit.jsonl", "w") as f:
                f.write("".join(l + "\n" for l in lines))
            db = sqlite3.connect(d + "/policy/state.db")
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("CREATE TABLE mark (sequence INTEGER, hash TEXT)")
            db.execute("INSERT INTO mark VALUES (?, ?)", (sequence, sha))
            db.commit()
            db.close()
            names = sorted(os.listdir(d + "/policy"))
            stopped = self.ctl(s, "audit", "verify", d)
            self.assertEqual(sorted(os.listdir(d + "/policy")), names)
        self.assertEqual(stopped[0], status, stopped)
        return status, err + stopped[2]

    def test_whole(self):
        lines, last = chain(["e%d" % n for n in range(20)])
        self.assertEqual(self.verify(lines, 20, last)[0], 0)
        self.assertEqual(self.verify(lines, 10, json.loads(
            lines[9])["hash"])[0], 0)
        self.assertEqual(self.verify([], 0, "0" * 64)[0], 0)

    def test_changed(self):
        lines, last = chain(["e%d" % n for n in range(20)])
        lines[11] = lines[11].replace('"e11"', '"e12"')
        status, err = self.verify(lines, 20, last)
        self.assertEqual(status, 1)
        self.assertIn(b"record 12", err)

    def test_removed(self):
        lines, last = chain(["e%d" % n for n in range(20)])
        del lines[4]
        status, err = self.verify(lines, 20, last)
        self.assertEqual(status, 1)
        self.assertIn(b"record 5 is missing", err)

    def test_reordered(self):
        lines, last = chain(["e%d" % n for n in range(20)])
        lines[3], lines[4] = lines[4], lines[3]
        self.assertEqual(self.verify(lines, 20, last)[0], 1)

    def test_cut(self):
        lines, last = chain(["e%d" % n for n in range(20)])
        status, err = self.verify(lines[:-1], 20, last)
        self.assertEqual(status, 1)
        self.assertIn(b"cut off", err)
        lines[-1] = lines[-1][:30]
        self.assertEqual(self.verify(lines, 20, last)[0], 1)

    def test_written_anew(self):
        lines, _ = chain(["x%d" % n for n in range(20)])
        _, last = chain(["e%d" % n for n in range(20)])
        status, err = self.verify(lines, 20, last)
        self.assertEqual(status, 1)
        self.assertIn(b"written anew", err)

    def test_running_instance(self):
        lines, last = chain(["a"])
        with tempfile.TemporaryDirectory() as d:
            os.mkdir(d + "/policy")
            with open(d + "/policy/audit.jsonl", "w") as f:
                f.write(lines[0] + "\n")
            db = sqlite3.connect(d + "/policy/state.db")
            db.execute("PRAGMA locking_mode=EXCLUSIVE")
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("CREATE TABLE mark (sequence INTEGER, hash TEXT)")
            db.execute("INSERT INTO mark VALUES (1, ?)", (last,))
            db.commit()
            p = subprocess.run([CTL, "audit", "verify", d],
                               capture_output=True, timeout=60)
            db.close()
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"is running", p.stderr)

    def test_tail(self):
        lines, last = chain(["e%d" % n for n in range(30)])
        s = self.service(self.handler(lines, {"sequence": 30, "hash": last}))
        status, out, _ = self.ctl(s, "audit", "tail", "-n", "3")
        self.assertEqual(status, 0)
        self.assertEqual([l.split()[2] for l in out.splitlines()],
                         [b"e27", b"e28", b"e29"])
        out = self.ctl(s, "audit", "tail", "--json")[1].decode()
        self.assertEqual(out.splitlines(), lines[10:])


if __name__ == "__main__":
    unittest.main()
