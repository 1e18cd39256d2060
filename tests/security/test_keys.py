"""Keys: who comes over TCP, what is refused there, and in the same words."""
import contextlib
import glob
import hashlib
import http.client
import io
import json
import os
import re
import secrets
import time
import unittest
import zlib

import footprint
from harness import SANITIZED, Instance, wait_for
from keys import ID, Tcp, case
from mcp import MODERN, meta

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
        self.assertEqual(wait_for(over, 60)["reason"], "key_revoked")
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
                                  mine)[1]["state"] == "running", 60)
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


class Wrong(Tcp):
    # of its own: of many refusals not each is in the audit log

    def test_all_that_is_wrong_is_told_alike(self):
        key = self.add("ci")
        good = key["token"]
        gone = self.add("other")
        self.i.request("DELETE", "/v1/keys/" + gone["key"], operator=True)
        late = self.add("owned", expires_s=1)
        wait_for(lambda: self.ask("GET", "/v1/whoami", late["token"])[0] ==
                 401, 60)
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
            r["why"] for r in self.audit("key.refused")}, 60)
        self.assertLessEqual({gone["key"], late["key"]}, {
            r["key"] for r in self.audit("key.refused")})


class Flood(Tcp):
    extra = "auth-failures 6\n"

    def refused(self, token):
        """The answer that it is one too many: some may be allowed by now, one
        for each ten seconds that passed; of a whole new limit it were more."""
        for _ in range(5):
            answer = self.ask("GET", "/v1/whoami", token)
            if answer[0] == 429:
                break
            self.assertEqual(answer[0], 401, answer[1])
        return answer

    def resident(self, name):
        """KiB, counted page by page: the kernel's own sums are rough."""
        # what a sanitizer frees is kept: no measure of anything
        return 0 if SANITIZED else footprint.memory(self.i.pid(name))[0]

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
        before = {n: self.resident(n) for n in ("apid", "policyd")}
        size = os.path.getsize(log)
        statuses = wrong(10000)
        self.assertEqual(self.ask("GET", "/v1/whoami", token)[0], 200)
        self.assertLessEqual(statuses, {401, 429})
        self.assertIn(429, statuses)
        for name, kib in before.items():
            self.assertLess(self.resident(name) - kib, 512, name)
        self.assertLess(os.path.getsize(log) - size, 64 * 1024)
        status, body, headers = self.refused("wrong")
        self.assertEqual((status, body["error"]["code"]), (429, "too_many"))
        self.assertIn('"auth-failures", 6', body["error"]["message"])
        self.assertGreaterEqual(int(headers["Retry-After"]), 1)
        # known and unknown, and none: alike
        gone = self.add("other")
        self.i.request("DELETE", "/v1/keys/" + gone["key"], operator=True)
        self.assertEqual(self.refused(gone["token"])[0], 429)


class Rates(Tcp):
    extra = "requests-minute 40\nauth-failures 5\n"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        time.sleep(1)   # what waiting for it to come up has used

    def over(self, path, token):
        """Asks until it is one too many: some may be allowed by now, one for
        each second and a half that passed; of a whole new limit it were 40."""
        for _ in range(30):
            status = self.ask("GET", path, token)[0]
            if status == 429:
                return True
        return False

    def test_requests_of_a_principal(self):
        """By key and by uid, whatever connection they come by."""
        key = self.add("ci")
        other = self.add("other")
        begin = time.monotonic()
        answers = [self.ask("GET", "/v1/whoami", key["token"])
                   for _ in range(60)]
        allowed = 40 + (time.monotonic() - begin) / 1.5 + 1
        statuses = [a[0] for a in answers]
        self.assertEqual(set(statuses), {200, 429})
        self.assertLessEqual(statuses.count(200), allowed)
        status, body, headers = answers[statuses.index(429)]
        self.assertEqual(body["error"]["code"], "too_many")
        self.assertIn('key:ci is over the limit "requests-minute", 40',
                      body["error"]["message"])
        self.assertIn(int(headers["Retry-After"]), (1, 2))
        # a path that is not there counts as well, and a new token is no new
        # principal
        self.assertTrue(self.over("/nothing", key["token"]))
        new = self.i.request("POST", "/v1/keys/%s/rotate" % key["key"],
                             operator=True)[1]
        self.addCleanup(self.i.request, "DELETE", "/v1/keys/" + new["key"],
                        operator=True)
        self.assertTrue(self.over("/v1/whoami", new["token"]))
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
        i.wait_up = lambda seconds=60: wait_for(up, seconds)
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


if __name__ == "__main__":
    unittest.main()
