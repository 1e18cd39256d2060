"""Keys: who comes over TCP, what is refused there, and in the same words."""
import contextlib
import glob
import hashlib
import http.client
import io
import json
import os
import pwd
import re
import secrets
import shutil
import socket
import sqlite3
import subprocess
import time
import unittest
import zlib

from approvals import As, ASKS
from harness import BUILD, Instance, MYELIND, rss_kib, wait_for
from mcp import MODERN, meta
from test_apid import Fake

CONFIG = """
listen api "%(dir)s/api.sock" mode 0666
listen api tcp "127.0.0.1" port %(port)d {
	authentication required
	host "myelin.example.org"
}
principal user root { preset standard; workspace "/*"; owner any }
principal key "ci" { preset standard }
principal key "other" { preset readonly }
principal key "owned" {
	preset standard; workspace "/srv/*"; owner "nobody"
}
operator user root may approve, audit, manage
operator user 12345 may approve, audit
hourly 10000000
calls-session 10000000
"""
ID = "0" * 20
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

# Every route of the agent socket, with ids that are nobody's.
ROUTES = [
    ("GET", "/openapi.json"), ("GET", "/v1/whoami"),
    ("GET", "/v1/limits"), ("GET", "/v1/tools"),
    ("GET", "/v1/neurons"), ("POST", "/v1/neurons"),
    ("GET", "/v1/neurons/n-" + ID), ("DELETE", "/v1/neurons/n-" + ID),
    ("GET", "/v1/neurons/n-%s/files/home/agent" % ID),
    ("PUT", "/v1/neurons/n-%s/files/home/agent/x" % ID),
    ("GET", "/v1/sessions"), ("POST", "/v1/sessions"),
    ("GET", "/v1/sessions/s-" + ID), ("DELETE", "/v1/sessions/s-" + ID),
    ("GET", "/v1/sessions/s-%s/events" % ID),
    ("GET", "/v1/sessions/s-%s/calls" % ID),
    ("GET", "/v1/sessions/s-%s/transcript" % ID),
    ("POST", "/v1/sessions/s-%s/calls" % ID),
    ("GET", "/v1/calls"), ("POST", "/v1/calls"), ("GET", "/v1/calls/c-" + ID),
    ("GET", "/v1/calls/c-%s/events" % ID),
    ("POST", "/v1/calls/c-%s/cancel" % ID),
    ("POST", "/v1/calls/c-%s/stdin" % ID),
    ("POST", "/v1/calls/c-%s/signal" % ID),
    ("POST", "/v1/calls/c-%s/resize" % ID),
    ("POST", "/mcp"), ("DELETE", "/mcp"),
    # none of the agent's: it can't be told from those that are
    ("GET", "/v1/status"), ("GET", "/v1/keys"), ("GET", "/v1/audit"),
    ("GET", "/nothing"), ("PATCH", "/v1/calls"), ("POST", "/healthz"),
]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def case(what):
    """Names the row that failed; the test fails as a whole."""
    try:
        yield
    except AssertionError as e:
        raise AssertionError("%s: %s" % (what, str(e)[:400]))


def strangers_token():
    """One that another host might have made: whole, and unknown here."""
    letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    text = "myelin_" + "".join(secrets.choice(letters) for _ in range(43))
    crc = zlib.crc32(text.encode())
    for _ in range(6):
        text += letters[crc % 62]
        crc //= 62
    return text


def routes_of_the_table():
    """(method, path) of what apid/routes.c offers agents."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    with open(os.path.join(top, "apid", "routes.c")) as f:
        text = f.read()
    found = re.findall(r'\{ "([A-Z]+)", "([^"]+)",\s*(ON_\w+)', text)
    return [(m, p) for m, p, on in found if on in ("ON_AGENT", "ON_BOTH")]


class Tcp(unittest.TestCase):
    """An instance with a TCP socket and a key."""

    extra = ""

    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.i = Instance(start=False)
        cls.i.configure(CONFIG % {"dir": cls.i.dir, "port": cls.port} +
                        cls.extra)
        cls.i.start()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def add(self, name, **more):
        status, key = self.i.request("POST", "/v1/keys",
                                     dict(name=name, **more), operator=True)
        self.assertEqual(status, 201, key)
        self.addCleanup(self.i.request, "DELETE", "/v1/keys/" + key["key"],
                        operator=True)
        return key

    def connect(self, timeout=30):
        return http.client.HTTPConnection("127.0.0.1", self.port,
                                          timeout=timeout)

    def ask(self, method, path, token=None, body=None, headers=None,
            conn=None):
        """Status, parsed body and headers."""
        c = conn or self.connect()
        h = dict(headers or {})
        if token is not None:
            h["Authorization"] = "Bearer " + token
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            h.setdefault("Content-Type", "application/json")
        c.request(method, path, body, h)
        r = c.getresponse()
        data = r.read()
        if conn is None:
            c.close()
        if r.getheader("Content-Type", "").startswith("application/json"):
            data = json.loads(data)
        return r.status, data, r.headers

    def raw(self, text):
        """The answer's bytes to bytes of our own."""
        with socket.create_connection(("127.0.0.1", self.port), 30) as s:
            s.sendall(text)
            got = b""
            while True:
                try:
                    more = s.recv(65536)
                except ConnectionResetError:
                    break
                if not more:
                    break
                got += more
        return got

    def muted(self, status, body, headers):
        """The one answer to all that is wrong with a token."""
        self.assertEqual(status, 401, body)
        self.assertEqual(set(body), {"error"})
        self.assertEqual(set(body["error"]), {"code", "request_id"})
        self.assertEqual(body["error"]["code"], "unauthorized")
        self.assertRegex(body["error"]["request_id"], "^r-[0-9a-f]{16}$")
        self.assertEqual(headers["WWW-Authenticate"], "Bearer")

    def audit(self, event):
        """Records of an event so far."""
        path = os.path.join(self.i.state, "policy", "audit.jsonl")
        with open(path) as f:
            return [r for r in map(json.loads, f) if r["event"] == event]


class Bearer(Tcp):
    def test_every_route_needs_a_token(self):
        known = {re.sub(r"\{\*\}", "home/agent", re.sub(
            r"\{([nsc])\}", r"\1-" + ID, p)) for _, p in routes_of_the_table()}
        listed = {p for _, p in ROUTES} | {"/healthz"}
        listed |= {p.replace("/home/agent/x", "/home/agent") for p in listed}
        self.assertEqual(known - listed, set(), "routes without a row here")
        for method, path in ROUTES:
            body = {} if method in ("POST", "PUT", "PATCH") else None
            for token in (None, "", "myelin_" + "0" * 49):
                with case("%s %s %r" % (method, path, token)):
                    self.muted(*self.ask(method, path, token, body))
        status, body, _ = self.ask("GET", "/healthz")
        self.assertEqual((status, body["status"]), (200, "ok"))

    def test_a_key_is_somebody(self):
        key = self.add("ci")
        self.assertRegex(key["token"], "^myelin_[0-9A-Za-z]{49}$")
        status, who, _ = self.ask("GET", "/v1/whoami", key["token"])
        self.assertEqual(status, 200, who)
        self.assertEqual((who["who"], who["uid"], who["principal"]["kind"],
                          who["principal"]["name"]),
                         ("key:ci", None, "key", "ci"))
        status, result, _ = self.ask(
            "POST", "/v1/calls", key["token"],
            {"tool": "bash", "args": {"command": "id -u"}, "wait_ms": 50000})
        self.assertEqual((status, result["state"], result["exit_code"]),
                         (200, "completed", 0), result)
        self.assertEqual(result["principal"], "key:ci")

    def test_all_that_is_wrong_is_told_alike(self):
        key = self.add("ci")
        good = key["token"]
        gone = self.add("other")
        self.i.request("DELETE", "/v1/keys/" + gone["key"], operator=True)
        late = self.add("owned", expires_s=1)
        time.sleep(1.2)
        head = "GET /v1/whoami%s HTTP/1.1\r\nHost: localhost\r\n" \
            "Connection: close\r\n%s\r\n"
        rows = {
            "none": ("", ""),
            "another host's": ("", "Authorization: Bearer %s\r\n" %
                               strangers_token()),
            "made up": ("", "Authorization: Bearer %s\r\n" % (
                "myelin_" + "a" * 49)),
            "truncated": ("", "Authorization: Bearer %s\r\n" % good[:-1]),
            "mistyped": ("", "Authorization: Bearer %s\r\n" % (
                good[:10] + ("x" if good[10] != "x" else "y") + good[11:])),
            "longer": ("", "Authorization: Bearer %sx\r\n" % good),
            "revoked": ("", "Authorization: Bearer %s\r\n" % gone["token"]),
            "expired": ("", "Authorization: Bearer %s\r\n" % late["token"]),
            "in the query": ("?token=" + good, ""),
            "in the query, by its standard name": (
                "?access_token=" + good, ""),
            "twice": ("", "Authorization: Bearer %s\r\n" % good * 2),
            "twice, one wrong": ("", "Authorization: Bearer x\r\n"
                                 "Authorization: Bearer %s\r\n" % good),
            "two in one": ("", "Authorization: Bearer %s %s\r\n" % (
                good, good)),
            "two with a comma": ("", "Authorization: Bearer %s,%s\r\n" % (
                good, good)),
            "another scheme": ("", "Authorization: Basic %s\r\n" % good),
            "no scheme": ("", "Authorization: %s\r\n" % good),
            "its hash": ("", "Authorization: Bearer %s\r\n" % (
                hashlib.sha256(good.encode()).hexdigest())),
            "its id": ("", "Authorization: Bearer %s\r\n" % key["key"]),
            "another header": ("", "X-Api-Key: %s\r\n" % good),
            "a huge one": ("", "Authorization: Bearer %s\r\n" % (
                good + "x" * 8000)),
            "a head that is too large": ("", "Authorization: Bearer %s\r\n"
                                         "X: %s\r\n" % (good, "x" * 20000)),
        }
        for name, (query, fields) in rows.items():
            with case(name):
                got = self.raw((head % (query, fields)).encode())
                top, _, body = got.partition(b"\r\n\r\n")
                lines = top.decode().split("\r\n")
                self.assertEqual(lines[0], "HTTP/1.1 401 Unauthorized")
                self.muted(401, json.loads(body),
                           http.client.parse_headers(io.BytesIO(
                               top.partition(b"\r\n")[2] + b"\r\n\r\n")))
                # not even their sizes differ
                self.assertEqual(len(got), getattr(self, "size", len(got)))
                self.size = len(got)
        with case("and the right one"):
            got = self.raw((head % (
                "", "Authorization: bearer  %s \r\n" % good)).encode())
            self.assertIn(b" 200 OK\r\n", got)
        with case("tokens are in no log and no record"):
            text = self.i.log()
            for path in glob.glob(os.path.join(self.i.state, "policy", "*")):
                if os.path.isfile(path):
                    with open(path, "rb") as f:
                        text += f.read().decode("latin-1")
            for token in (good, gone["token"], late["token"]):
                self.assertNotIn(token, text)
                self.assertNotIn(token[:40], text)
        wait_for(lambda: {"unknown", "malformed", "revoked", "expired"} <= {
            r["why"] for r in self.audit("key.refused")}, 5)
        self.assertLessEqual({gone["key"], late["key"]}, {
            r["key"] for r in self.audit("key.refused")})

    def test_names_that_lead_here(self):
        token = self.add("ci")["token"]
        port = ":%d" % self.port
        for host in ("localhost", "127.0.0.1" + port, "[::1]" + port,
                     "myelin.example.org", "MYELIN.example.org:443"):
            with case(host):
                self.assertEqual(self.ask(
                    "GET", "/v1/whoami", token, headers={"Host": host})[0],
                    200)
                self.assertEqual(self.ask(
                    "GET", "/v1/whoami", token, headers={
                        "Host": host, "Origin": "https://" + host})[0], 200)
        for host, origin in (
                ("evil.example", None), ("127.0.0.1.evil.example", None),
                ("localhost.evil.example:80", None), ("10.0.0.1", None),
                ("myelin.example.org.evil.example", None),
                ("localhost", "http://evil.example"), ("localhost", "null"),
                ("localhost", "http://myelin.example.org"),
                ("localhost", "file://localhost")):
            headers = {"Host": host}
            if origin is not None:
                headers["Origin"] = origin
            for path in ("/v1/whoami", "/healthz", "/nothing"):
                for given in (token, None, "wrong"):
                    with case("%s %s %s" % (host, origin, path)):
                        status, body, _ = self.ask(
                            "GET", path, given, headers=headers)
                        self.assertEqual(
                            (status, body["error"]["code"]),
                            (403, "forbidden"), body)

    def test_each_request_for_itself(self):
        key = self.add("ci")
        c = self.connect()
        self.assertEqual(self.ask("GET", "/v1/whoami", key["token"],
                                  conn=c)[0], 200)
        # the same connection, without one, with another's
        self.muted(*self.ask("GET", "/v1/whoami", conn=c))
        self.muted(*self.ask("GET", "/v1/whoami", "wrong", conn=c))
        other = self.add("other")
        self.assertEqual(self.ask("GET", "/v1/whoami", other["token"],
                                  conn=c)[1]["who"], "key:other")
        self.assertEqual(self.ask("GET", "/v1/whoami", key["token"],
                                  conn=c)[1]["who"], "key:ci")
        self.i.request("DELETE", "/v1/keys/" + key["key"], operator=True)
        # policyd may have closed it: whichever way, it is good no more
        try:
            self.muted(*self.ask("GET", "/v1/whoami", key["token"], conn=c))
        except (http.client.HTTPException, ConnectionError):
            self.muted(*self.ask("GET", "/v1/whoami", key["token"]))
        c.close()

    def test_a_revoked_key_ends_what_it_began(self):
        key = self.add("ci")
        session = self.ask("POST", "/v1/sessions", key["token"], {})[1]
        c = self.connect()
        c.request("GET", "/v1/sessions/%s/events" % session["session"],
                  headers={"Authorization": "Bearer " + key["token"]})
        stream = c.getresponse()
        self.assertEqual(stream.status, 200)
        _, call, _ = self.ask(
            "POST", "/v1/sessions/%s/calls" % session["session"],
            key["token"], {"tool": "bash", "args": {"command": "sleep 300"}})
        status, told = self.i.request("DELETE", "/v1/keys/" + key["key"],
                                      operator=True)
        self.assertEqual((status, told["state"]), (200, "revoked"))
        # the stream ends, the session is over, the call killed
        with contextlib.suppress(http.client.HTTPException, OSError):
            stream.read()
        c.close()

        def over():
            s = self.i.get("/v1/sessions/" + session["session"], True)[1]
            return s["state"] == "ended" and s
        self.assertEqual(wait_for(over, 10)["reason"], "key_revoked")
        ended = self.i.get("/v1/calls/" + call["call"], True)[1]
        self.assertEqual((ended["state"], ended["reason"]),
                         ("failed", "session_ended"))

    def test_others_things_do_not_exist(self):
        """Every route with another principal's ids: as if they were nobody's."""
        mine = self.add("ci")["token"]
        other = self.add("other")["token"]
        session = self.ask("POST", "/v1/sessions", mine, {})[1]
        call = self.ask(
            "POST", "/v1/sessions/%s/calls" % session["session"], mine,
            {"tool": "bash", "args": {"command": "cat"}, 
             "stdin": {"stream": True}})
        self.assertEqual(call[0], 202, call[1])
        ids = {"n-" + ID: session["neuron"], "s-" + ID: session["session"],
               "c-" + ID: call[1]["call"]}
        bodies = {
            "signal": {"signal": "INT"}, "resize": {"rows": 1, "cols": 1},
            "calls": {"tool": "ls", "args": {}},
        }
        n = 0
        for method, path in ROUTES:
            if ID not in path:
                continue
            theirs = path
            for nobody, somebody in ids.items():
                theirs = theirs.replace(nobody, somebody)
            body = bodies.get(path.rpartition("/")[2]) \
                if method == "POST" else None
            if method == "PUT":
                body = b"x"
            with case("%s %s" % (method, theirs)):
                got = self.ask(method, theirs, other, body)
                want = self.ask(method, path, other, body)
                self.assertEqual(got[0], 404, got[1])
                self.assertEqual(want[0], 404, want[1])
                for status, answer, _ in (got, want):
                    self.assertEqual(answer["error"]["code"], "not_found")
                self.assertEqual(
                    got[1]["error"]["message"].replace(theirs, path),
                    re.sub("|".join(ids), lambda m: ids[m.group(0)],
                           want[1]["error"]["message"]))
                n += 1
        self.assertGreater(n, 12)
        for path, member in (("/v1/sessions", "sessions"),
                             ("/v1/neurons", "neurons"),
                             ("/v1/calls", "calls")):
            listed = self.ask("GET", path, other)[1][member]
            self.assertEqual([x for x in listed if x["principal"] !=
                              "key:other"], [])
        # nor for a uid that is no operator here
        self.assertEqual(self.i.get("/v1/sessions/" + session["session"])[0],
                         404)
        # and it goes on undisturbed
        wait_for(lambda: self.ask("GET", "/v1/calls/" + call[1]["call"],
                                  mine)[1]["state"] == "running", 10)
        self.ask("DELETE", "/v1/sessions/" + session["session"], mine)

    def test_mcp(self):
        token = self.add("ci")["token"]
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list",
                "params": {"_meta": meta()}}
        # host, then who, then what: in this order
        wrong = dict(headers, Host="evil.example")
        self.assertEqual(self.ask("POST", "/mcp", None, b"{", wrong)[0], 403)
        self.muted(*self.ask("POST", "/mcp", None, b"{", {
            "Content-Type": "text/plain"}))
        self.assertEqual(self.ask("POST", "/mcp", token, b"{", {
            "Content-Type": "text/plain"})[0], 415)
        status, answer, _ = self.ask("POST", "/mcp", token, body, headers)
        self.assertEqual(status, 200, answer)
        self.assertIn("bash", [t["name"] for t in answer["result"]["tools"]])
        # a session id of the handshake era names nothing for another key
        status, _, h = self.ask("POST", "/mcp", token, {
            "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"}}})
        self.assertEqual(status, 200)
        sid = {"Mcp-Session-Id": h["Mcp-Session-Id"],
               "MCP-Protocol-Version": "2025-11-25"}
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        self.assertEqual(self.ask("POST", "/mcp", token, listing, sid)[0],
                         200)
        other = self.add("other")["token"]
        self.assertEqual(self.ask("POST", "/mcp", other, listing, sid)[0],
                         404)
        self.muted(*self.ask("POST", "/mcp", None, listing, sid))

    def test_secrets_are_masked_here_too(self):
        """Guarantee C2: what a program prints of a key is masked."""
        token = self.add("ci")["token"]
        _, result, _ = self.ask(
            "POST", "/v1/calls", token,
            {"tool": "bash", "wait_ms": 50000,
             "args": {"command": "printf 'k %s%s\\n' " + token[:20] + " " +
                      token[20:]}})
        self.assertEqual(result["stdout"], "k [redacted:myelin]\n")


class Flood(Tcp):
    def test_ten_thousand_wrong_ones(self):
        """They cost no memory and no disk, and keep no right one away."""
        token = self.add("ci")["token"]
        log = os.path.join(self.i.state, "policy", "audit.jsonl")

        def wrong(n):
            c = self.connect()
            statuses = set()
            for k in range(n):
                statuses.add(self.ask(
                    "GET", "/v1/whoami", "myelin_%049d" % k, conn=c)[0])
            c.close()
            return statuses
        wrong(500)
        before = {n: rss_kib(self.i.pid(n)) for n in ("apid", "policyd")}
        size = os.path.getsize(log)
        statuses = wrong(10000)
        self.assertEqual(self.ask("GET", "/v1/whoami", token)[0], 200)
        self.assertLessEqual(statuses, {401, 429})
        self.assertIn(429, statuses)
        for name, kib in before.items():
            self.assertLess(rss_kib(self.i.pid(name)) - kib, 512, name)
        self.assertLess(os.path.getsize(log) - size, 64 * 1024)
        status, body, headers = self.ask("GET", "/v1/whoami", "wrong")
        self.assertEqual((status, body["error"]["code"]), (429, "too_many"))
        self.assertIn('"auth-failures", 600', body["error"]["message"])
        self.assertGreaterEqual(int(headers["Retry-After"]), 1)
        # known and unknown, and none: alike
        gone = self.add("other")
        self.i.request("DELETE", "/v1/keys/" + gone["key"], operator=True)
        self.assertEqual(self.ask("GET", "/v1/whoami", gone["token"])[0], 429)


class Managing(Tcp):
    def test_names_lines_and_rights(self):
        status, body = self.i.request("POST", "/v1/keys", {"name": "nobody"},
                                      operator=True)
        self.assertEqual((status, body["error"]["code"]), (409, "conflict"))
        self.assertIn('principal key "nobody" {', body["error"]["message"])
        key = self.add("ci")
        status, body = self.i.request("POST", "/v1/keys", {"name": "ci"},
                                      operator=True)
        self.assertEqual(status, 409)
        self.assertIn(key["key"], body["error"]["message"])
        for bad in ({}, {"name": 1}, {"name": "A"}, {"name": ""},
                    {"name": "x" * 64}, {"name": "ci", "expires_s": "1"},
                    {"name": "ci", "expires_s": 0},
                    {"name": "ci", "expires_s": -1},
                    {"name": "other", "expires_s": 315360001},
                    {"name": "other", "token": "x"}, []):
            with case(bad):
                self.assertEqual(self.i.request(
                    "POST", "/v1/keys", bad, operator=True)[0], 400)
        self.assertEqual(self.i.request(
            "DELETE", "/v1/keys/k-" + ID, operator=True)[0], 404)
        self.assertEqual(self.i.request(
            "POST", "/v1/keys/k-%s/rotate" % ID, operator=True)[0], 404)
        # agents have no such routes, whoever they are
        self.assertEqual(self.i.get("/v1/keys")[0], 404)
        self.assertEqual(self.ask("GET", "/v1/keys", key["token"])[0], 404)

    def test_the_right_manage(self):
        code = """
import http.client, json, socket, sys
class C(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(sys.argv[1])
for method, path, body in (("GET", "/v1/keys", None),
                           ("POST", "/v1/keys", '{"name":"ci"}'),
                           ("DELETE", "/v1/keys/" + sys.argv[2], None),
                           ("POST", "/v1/keys/%s/rotate" % sys.argv[2],
                            "{}")):
    c = C("localhost")
    c.request(method, path, body, {"Content-Type": "application/json"})
    r = c.getresponse()
    print(r.status, json.loads(r.read())["error"]["message"])
"""
        key = self.add("ci")
        os.chmod(self.i.operator, 0o666)
        out = subprocess.run(
            ["setpriv", "--reuid", "12345", "--clear-groups", "python3", "-c",
             code, self.i.operator, key["key"]], stdout=subprocess.PIPE,
            timeout=60).stdout.decode().splitlines()
        self.assertEqual(len(out), 4, out)
        for line in out:
            self.assertTrue(line.startswith("403 "), line)
            self.assertIn('"manage"', line)
        self.assertEqual(self.ask("GET", "/v1/whoami", key["token"])[0], 200)

    def test_shown_once_and_kept_as_a_hash(self):
        key = self.add("ci")
        status, listed = self.i.get("/v1/keys", operator=True)
        row = [k for k in listed["keys"] if k["key"] == key["key"]][0]
        self.assertEqual(
            (row["name"], row["state"], row["principal"], row["expires"],
             row["last_used"]), ("ci", "active", "key:ci", None, None))
        self.assertNotIn("token", row)
        self.ask("GET", "/v1/whoami", key["token"])
        status, listed = self.i.get("/v1/keys", operator=True)
        row = [k for k in listed["keys"] if k["key"] == key["key"]][0]
        self.assertIsNotNone(row["last_used"])
        copy = os.path.join(self.i.dir, "copy")
        shutil.copytree(os.path.join(self.i.state, "policy"), copy)
        db = sqlite3.connect(os.path.join(copy, "state.db"))
        rows = db.execute("SELECT hash FROM keys WHERE id = ?",
                          (key["key"],)).fetchall()
        db.close()
        self.assertEqual(rows, [(hashlib.sha256(
            key["token"].encode()).digest(),)])
        shutil.rmtree(copy)
        added = [r for r in self.audit("key.added")
                 if r["key"] == key["key"]]
        self.assertEqual(len(added), 1)
        self.assertEqual(added[0]["operator"], "uid:0")

    def test_rotating(self):
        key = self.add("ci")
        session = self.ask("POST", "/v1/sessions", key["token"], {})[1]
        status, new = self.i.request(
            "POST", "/v1/keys/%s/rotate" % key["key"], {"overlap_s": 2},
            operator=True)
        self.assertEqual(status, 201, new)
        self.addCleanup(self.i.request, "DELETE", "/v1/keys/" + new["key"],
                        operator=True)
        self.assertNotEqual(new["key"], key["key"])
        status, body = self.i.request(
            "POST", "/v1/keys/%s/rotate" % key["key"], {}, operator=True)
        self.assertEqual(status, 409, body)
        self.assertIn(new["key"], body["error"]["message"])
        # both, and then the new one alone; it is the same principal
        for token in (key["token"], new["token"]):
            self.assertEqual(self.ask(
                "GET", "/v1/sessions/" + session["session"], token)[0], 200)
        wait_for(lambda: self.ask("GET", "/v1/whoami",
                                  key["token"])[0] == 401, 10)
        self.assertEqual(self.ask(
            "GET", "/v1/sessions/" + session["session"], new["token"])[1]
            ["state"], "live")
        status, body = self.i.request(
            "POST", "/v1/keys/%s/rotate" % key["key"], {}, operator=True)
        self.assertEqual(status, 409, body)
        # at once
        status, third = self.i.request(
            "POST", "/v1/keys/%s/rotate" % new["key"], operator=True)
        self.assertEqual(status, 201, third)
        self.addCleanup(self.i.request, "DELETE", "/v1/keys/" + third["key"],
                        operator=True)
        self.assertEqual(self.ask("GET", "/v1/whoami", new["token"])[0], 401)
        self.assertEqual(self.ask(
            "GET", "/v1/sessions/" + session["session"], third["token"])[0],
            200)
        rotated = self.audit("key.rotated")
        self.assertIn((third["key"], new["key"]),
                      [(r["key"], r["replaces"]) for r in rotated])

    def test_command_line(self):
        out = self.i.ctl("keys", "add", "ci", "--expires", "1h")
        token = out.stdout.decode().strip()
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertRegex(token, "^myelin_[0-9A-Za-z]{49}$")
        self.assertEqual(self.ask("GET", "/v1/whoami", token)[0], 200)
        out = self.i.ctl("keys").stdout.decode()
        self.assertIn("ci", out)
        self.assertNotIn(token, out)
        out = self.i.ctl("keys", "rotate", "ci", "--json")
        again = json.loads(out.stdout)
        self.assertEqual(self.ask("GET", "/v1/whoami", token)[0], 401)
        self.assertEqual(self.ask("GET", "/v1/whoami",
                                  again["token"])[0], 200)
        out = self.i.ctl("keys", "revoke", "ci")
        self.assertEqual((out.returncode, out.stdout), (0, b""))
        self.assertEqual(self.ask("GET", "/v1/whoami",
                                  again["token"])[0], 401)
        for args in (("revoke", "ci"), ("add", "nobody"),
                     ("rotate", "k-" + ID)):
            out = self.i.ctl("keys", *args)
            self.assertEqual(out.returncode, 1, args)
            self.assertNotEqual(out.stderr, b"")
        for args in (("add",), ("add", "a/b"), ("x", "y"), ("add", "a", "b")):
            self.assertEqual(self.i.ctl("keys", *args).returncode, 2, args)

    def test_restart_and_reload(self):
        """Keys and numbers of names are kept; a line that goes takes its
        key's use."""
        key = self.add("ci")
        other = self.add("other")
        call = self.ask("POST", "/v1/calls", key["token"], {
            "tool": "bash", "args": {"command": "true"},
            "wait_ms": 50000})[1]
        os.kill(self.i.pid("policyd"), 9)
        wait_for(lambda: self.ask("GET", "/v1/whoami",
                                  key["token"])[0] == 200, 20)
        self.i.wait_up()
        self.assertIn(call["call"], [c["call"] for c in self.ask(
            "GET", "/v1/calls", key["token"])[1]["calls"]])
        self.assertNotIn(call["call"], [c["call"] for c in self.ask(
            "GET", "/v1/calls", other["token"])[1]["calls"]])
        with open(self.i.conf) as f:
            text = f.read()
        self.i.configure(text.replace('principal key "other"',
                                      'principal key "another"'))
        self.i.process.send_signal(1)
        got = wait_for(lambda: (lambda a: a[0] == 403 and a)(self.ask(
            "GET", "/v1/whoami", other["token"])), 20)
        self.assertIn("you are key:other", got[1]["error"]["message"])
        wait_for(lambda: "no_line" in {
            r["why"] for r in self.audit("key.refused")}, 5)
        out = self.i.ctl("keys").stdout.decode()
        self.assertIn("other: no principal line", out)
        self.i.configure(text)
        self.i.process.send_signal(1)
        wait_for(lambda: self.ask("GET", "/v1/whoami",
                                  other["token"])[0] == 200, 20)

    def test_workspaces_have_an_owner(self):
        """A key has no uid: what it writes belongs to its line's owner."""
        owned = self.add("owned")["token"]
        root = "/srv/myelin-keys-%d" % os.getpid()
        os.mkdir(root)
        # placeholders in it may go by themselves meanwhile
        self.addCleanup(shutil.rmtree, root, ignore_errors=True)
        nobody = pwd.getpwnam("nobody")
        os.chown(root, nobody.pw_uid, nobody.pw_gid)
        status, result, _ = self.ask("POST", "/v1/calls", owned, {
            "tool": "bash", "args": {"command": "echo x > f"},
            "workspace": root, "wait_ms": 50000})
        self.assertEqual((status, result.get("exit_code")), (200, 0), result)
        st = os.stat(os.path.join(root, "f"))
        self.assertEqual((st.st_uid, st.st_gid),
                         (nobody.pw_uid, nobody.pw_gid))
        status, body, _ = self.ask("POST", "/v1/calls", self.add("ci")[
            "token"], {"tool": "bash", "args": {"command": "true"},
                       "workspace": root})
        self.assertEqual(status, 403, body)
        status, body, _ = self.ask("POST", "/v1/calls", owned, {
            "tool": "bash", "args": {"command": "true"}, "workspace": root,
            "owner": {"uid": 12345, "gid": 12345}})
        self.assertEqual(status, 403, body)


class Approved(Tcp):
    """Who owns a key has asked for what comes with it."""

    extra = "operator user nobody may approve\n"

    def decide(self, uid, approval, digest):
        c = self.i.connection(True)
        with As(uid):
            c.connect()
        try:
            c.request("POST", "/v1/approvals/" + approval, json.dumps(
                {"decision": "allow_once", "digest": digest}),
                {"Content-Type": "application/json"})
            r = c.getresponse()
            return r.status, json.loads(r.read())
        finally:
            c.close()

    def test_not_by_its_owner(self):
        os.chmod(self.i.operator, 0o666)
        nobody = pwd.getpwnam("nobody").pw_uid
        for name, status in (("ci", 200), ("owned", 403)):
            token = self.add(name)["token"]
            code, call, _ = self.ask("POST", "/v1/calls", token, {
                "tool": "bash", "args": {"command": ASKS}, "wait_ms": 0})
            self.assertEqual(code, 202, call)
            approval = wait_for(lambda: self.ask(
                "GET", "/v1/calls/" + call["call"], token)[1].get("approval"),
                10)
            _, shown = self.i.get("/v1/approvals/" + approval, operator=True)
            self.assertEqual(shown["principal"], "key:" + name)
            code, body = self.decide(nobody, approval, shown["digest"])
            self.assertEqual(code, status, body)
            if status == 403:
                self.assertIn("self-approval", body["error"]["message"])
                code, body = self.decide(0, approval, shown["digest"])
                self.assertEqual(code, 200, body)


class Rates(Tcp):
    extra = "requests-minute 40\nauth-failures 5\n"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        time.sleep(1)   # what waiting for it to come up has used

    def test_requests_of_a_principal(self):
        """By key and by uid, whatever connection they come by."""
        key = self.add("ci")
        other = self.add("other")
        answers = [self.ask("GET", "/v1/whoami", key["token"])
                   for _ in range(60)]
        statuses = [a[0] for a in answers]
        self.assertEqual(set(statuses), {200, 429})
        self.assertLess(statuses.count(200), 50)
        status, body, headers = answers[statuses.index(429)]
        self.assertEqual(body["error"]["code"], "too_many")
        self.assertIn('key:ci is over the limit "requests-minute", 40',
                      body["error"]["message"])
        self.assertIn(int(headers["Retry-After"]), (1, 2))
        # a path that is not there counts as well, and a new token is no new
        # principal
        self.assertEqual(self.ask("GET", "/nothing", key["token"])[0], 429)
        new = self.i.request("POST", "/v1/keys/%s/rotate" % key["key"],
                             operator=True)[1]
        self.addCleanup(self.i.request, "DELETE", "/v1/keys/" + new["key"],
                        operator=True)
        self.assertEqual(self.ask("GET", "/v1/whoami", new["token"])[0], 429)
        # another principal's is another bucket
        self.assertEqual(self.ask("GET", "/v1/whoami", other["token"])[0],
                         200)
        statuses = [self.i.get("/v1/whoami")[0] for _ in range(60)]
        self.assertIn(429, statuses)
        self.assertEqual(self.ask("GET", "/v1/whoami", other["token"])[0],
                         200)
        # and it comes back
        time.sleep(2.1)
        self.assertEqual(self.ask("GET", "/v1/whoami", new["token"])[0], 200)


class OnAPath(unittest.TestCase):
    def test_require_token(self):
        """A Unix socket that asks for tokens takes no uid for one."""
        config = """
listen api "%s/api.sock" mode 0666 require token
principal user root { preset standard }
principal key "ci" { preset standard }
operator user root may manage
"""
        i = Instance(start=False)
        i.configure(config % i.dir)

        def up():
            try:
                return i.get("/v1/status", True)[0] == 200
            except (OSError, http.client.HTTPException):
                return False
        i.wait_up = lambda seconds=20: wait_for(up, seconds)
        i.start()
        try:
            status, body = i.get("/v1/whoami")
            self.assertEqual((status, set(body["error"])),
                             (401, {"code", "request_id"}))
            self.assertEqual(i.get("/healthz")[0], 200)
            status, key = i.request("POST", "/v1/keys", {"name": "ci"},
                                    operator=True)
            self.assertEqual(status, 201, key)
            status, body = i.request("GET", "/v1/whoami", headers={
                "Authorization": "Bearer " + key["token"]})
            self.assertEqual((status, body["who"]), (200, "key:ci"))
            self.assertEqual(i.request("GET", "/v1/whoami", headers={
                "Authorization": "Bearer " + key["token"][:-1]})[0], 401)
        finally:
            i.stop()

    def test_ignored_where_it_is_not_asked_for(self):
        i = Instance()
        try:
            status, body = i.request("GET", "/v1/whoami", headers={
                "Authorization": "Bearer wrong"})
            self.assertEqual((status, body["who"]), (200, "uid:0"))
        finally:
            i.stop()


class Played(Tcp):
    """apid alone: what policyd would not say, or not at that time."""

    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.fake = Fake(tcp=cls.port)

    @classmethod
    def tearDownClass(cls):
        cls.fake.stop()

    def test_errors_hide_their_causes(self):
        """Guarantee C9, over TCP: a 500 says no more than its code."""
        status, body, _ = self.ask("POST", "/v1/sessions", "good",
                                   {"preset": "broken"})
        self.assertEqual(status, 500)
        self.assertEqual(set(body["error"]), {"code", "request_id"})
        self.assertEqual(body["error"]["code"], "internal")
        status, answer, _ = self.ask(
            "POST", "/mcp", "good",
            {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params":
             {"_meta": meta()}}, {"MCP-Protocol-Version": MODERN,
                                  "Mcp-Method": "tools/list",
                                  "Myelin-Preset": "broken"})
        self.assertNotIn("secret", json.dumps(answer))

    def test_a_late_answer_is_nobodys(self):
        """One to a request before, on the same connection, lets nobody in."""
        c = self.connect()
        self.muted(*self.ask("GET", "/v1/whoami", "late", conn=c))
        self.muted(*self.ask("GET", "/v1/whoami", "wrong", conn=c))
        self.assertEqual(self.ask("GET", "/v1/tools", "good", conn=c)[0],
                         200)
        c.close()

    def test_policyd_away(self):
        self.fake.command("drop")
        for token in ("good", "wrong", None):
            status, body, headers = self.ask("GET", "/v1/whoami", token)
            self.assertEqual((status, body["error"]["code"]),
                             (503, "unavailable"))
            self.assertEqual(headers["Retry-After"], "1")
        self.fake.command("plumb")
        self.assertEqual(self.ask("GET", "/v1/tools", "good")[0], 200)
        self.muted(*self.ask("GET", "/v1/limits", "wrong"))


class Configured(unittest.TestCase):
    """Guarantee C8: what a network reaches needs authentication."""

    PLAIN = 'listen api "/run/x/api.sock"\nprincipal user root ' \
        '{ preset standard }\n'

    def check(self, line):
        path = os.path.join(BUILD, "tests", "c8-%d.conf" % os.getpid())
        with open(path, "w") as f:
            f.write(self.PLAIN + line + "\n")
        os.chmod(path, 0o600)
        try:
            p = subprocess.run([MYELIND, "-n", "-f", path, "-L", BUILD],
                               stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=60)
        finally:
            os.unlink(path)
        return p.returncode, p.stdout.decode()

    def test_what_is_refused(self):
        needs = 'TCP needs "authentication required"'
        clear = "pass in the clear"
        rows = (
            ('listen api tcp "127.0.0.1" port 8080 { }', needs),
            ('listen api tcp "127.0.0.1" port 8080 { cleartext }', needs),
            ('listen api tcp "0.0.0.0" port 8080 { cleartext }', needs),
            ('listen api tcp "0.0.0.0" port 8080 { authentication required }',
             clear),
            ('listen api tcp "192.0.2.1" port 80 { authentication required }',
             clear),
            ('listen api tcp "::" port 80 { authentication required }', clear),
            ('listen api tcp "2001:db8::1" port 80 '
             '{ authentication required }', clear),
            ('listen api tcp "::ffff:127.0.0.1" port 80 '
             '{ authentication required }', "numeric"),
            ('listen api tcp "localhost" port 80 '
             '{ authentication required }', "numeric"),
            ('listen api tcp "127.0.0.1" port 0 { authentication required }',
             "port"),
            ('listen api tcp "127.0.0.1" port 65536 '
             '{ authentication required }', "port"),
            ('listen operator tcp "127.0.0.1" port 80 '
             '{ authentication required }', "operators are users"),
            ('listen operator "/run/x/op.sock" require token',
             "keys have no rights"),
            ('listen api "127.0.0.1:80"', "tcp"),
            ('principal key "ci" { preset standard; workspace "/srv/*" }',
             "owner NAME"),
            ('principal key "ci" { preset standard; owner any }', "owner any"),
            ('principal key "C I" { preset standard }', "a name is of"),
        )
        for line, words in rows:
            with case(line):
                status, out = self.check(line)
                self.assertNotEqual(status, 0)
                self.assertIn(words, out)

    def test_what_is_taken(self):
        for line in (
                'listen api tcp "127.0.0.1" port 8080 '
                '{ authentication required }',
                'listen api tcp "::1" port 8080 { authentication required; '
                'host "myelin.example.org", "m" }',
                'listen api tcp "0.0.0.0" port 8080 { cleartext\n'
                'authentication required }',
                'principal key "ci" { preset standard; workspace "/srv/*"; '
                'owner "nobody" }'):
            with case(line):
                status, out = self.check(line)
                self.assertEqual(status, 0, out)


if __name__ == "__main__":
    unittest.main()
