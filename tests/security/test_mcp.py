"""Hostile clients of POST /mcp: each gets the error that is listed for what
it did, and nothing of anybody else's."""
import contextlib
import json
import os
import socket
import threading
import unittest

from harness import Instance, wait_for
from mcp import LEGACY, MODERN, Mcp, meta

CONFIG = """
listen api "%s/api.sock" mode 0666
principal user root { preset standard; workspace "/*"; owner any }
principal user 12345 { preset standard }
principal user 12346 { preset readonly }
operator user root may approve, audit, manage
hourly 10000000
"""
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@contextlib.contextmanager
def case(what):
    """Names the row that failed; the test fails as a whole."""
    try:
        yield
    except AssertionError as e:
        raise AssertionError("%s: %s" % (what, str(e)[:300]))


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(start=False)
        cls.i.configure(CONFIG % cls.i.dir)
        cls.i.start()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def setUp(self):
        self.mcp = Mcp(self.i)
        self.mcp.initialize()

    def refused(self, answer, status, code, ident=None):
        """Exactly this error; the id is the request's or is not there."""
        self.assertEqual(answer[0], status, answer[2])
        self.assertEqual(len(answer[2]), 1, answer[2])
        m = answer[2][0]
        self.assertEqual(m["error"]["code"], code, m)
        self.assertNotIn("result", m)
        self.assertEqual(m.get("id"), ident)
        return m["error"]

    # ---- the envelope ----

    def test_messages_that_two_could_read_differently(self):
        deep = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + \
            b"[" * 60 + b"]" * 60 + b"}}"
        many = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[' + \
            b",".join([b"1"] * 70000) + b"]}}"
        rows = (
            (b"", -32700, None),
            (b"{", -32700, None),
            (b"ping", -32700, None),
            (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700,
             None),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
             -32700, None),
            (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{'
             b'"name":"bash","arguments":{"command":"true",'
             b'"command":"id"}}}', -32700, None),
            (b'{"jsonrpc":"2.0","id":1,"method":"pi\\u0000ng"}', -32700,
             None),
            (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, None),
            (deep, -32700, None),
            (many, -32700, None),
            (b'{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}',
             -32700, None),
            (b"[]", -32600, None),
            (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
            (b'"ping"', -32600, None),
            (b"null", -32600, None),
            (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
            (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
            (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
            (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600, None),
            (json.dumps(dict(PING, id="x" * 300)).encode(), -32600, None),
            (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1),
            (b'{"id":1,"method":"ping"}', -32600, 1),
            (b'{"jsonrpc":"2.0","id":1}', -32600, 1),
            (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600, 1),
            (b'{"jsonrpc":"2.0","id":1,"Method":"ping"}', -32600, 1),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping","Method":"x"}', -32600,
             1),
            ('{"jsonrpc":"2.0","id":1,"method":"ping","param\u017f":{}}'
             .encode(), -32600, 1),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32600,
             1),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":1}}',
             -32602, 1),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', -32600,
             1),
        )
        for body, code, ident in rows:
            with case(body[:80]):
                self.refused(self.mcp.raw(body, self.mcp.legacy_headers()),
                             400, code, ident)

    def test_content_types(self):
        for kind in (None, "text/plain", "application/x-www-form-urlencoded",
                     "text/json", "application/jsonp"):
            with case(kind):
                status, _, m = self.mcp.raw(PING, kind=kind)
                self.assertEqual(status, 415)
                self.assertEqual(m[0]["error"]["code"],
                                 "unsupported_media_type")

    def test_parameters(self):
        legacy = {"tools/call": ({}, {"name": 1}, {"name": ["bash"]},
                                 {"name": "bash", "arguments": "x"},
                                 {"name": "bash", "arguments": [1]},
                                 {"name": "nothing_like_it"},
                                 {"name": "../bash"}, {"name": ""},
                                 {"name": "bash", "arguments": {},
                                  "_meta": {"progressToken": {}}},
                                 {"name": "bash", "arguments": {},
                                  "_meta": {"progressToken": "x" * 300}}),
                  "tools/list": ({"cursor": 1}, {"cursor": "x"},
                                 {"cursor": "MTo="}, {"cursor": "MTph=="},
                                 {"cursor": "A" * 4000})}
        for method, rows in legacy.items():
            for params in rows:
                with case((method, params)):
                    self.refused(self.mcp.legacy(method, params, 3), 200,
                                 -32602, 3)
        self.refused(self.mcp.legacy("tools/run", {}, 4), 200, -32601, 4)
        self.refused(self.mcp.legacy("resources/read", {}, 4), 200, -32601,
                     4)
        self.refused(self.mcp.legacy("initialize", {}, 5), 200, -32602, 5)

    def test_what_headers_ask_for_is_never_dropped(self):
        """A place or preset that can't be had is no call at all."""
        call = {"name": "bash", "arguments": {"command": "echo ran"}}
        for name in ("Myelin-Profile", "Myelin-Preset", "Myelin-Workspace",
                     "Myelin-Read-Only", "Myelin-Session"):
            for value in ("", "\u00ff\u00fe", "no such", "x" * 100, "../x",
                          "/", "s-00000000000000000000", "\""):
                if (name, value) == ("Myelin-Workspace", "/"):
                    continue
                with case((name, value)):
                    m = self.mcp.modern("tools/call", call,
                                        {name: value})[2][-1]
                    self.assertTrue("error" in m or m["result"]["isError"])
                    self.assertNotIn("ran\\n", json.dumps(m))
        for name in ("Myelin-Preset", "Myelin-Session"):
            for value in ("", "no such", "\u00ff"):
                with case(("tools/list", name, value)):
                    self.assertIn("error", self.mcp.modern(
                        "tools/list", headers={name: value})[2][0])
        # more than fits is refused before anything is looked at
        self.assertEqual(self.mcp.modern("tools/call", call, {
            "Myelin-Workspace": "/" + "x" * 600})[0], 400)

    # ---- the modern era's headers ----

    def test_headers_that_are_not_the_bodys(self):
        name = {"name": "bash", "arguments": {"command": "echo ran"}}
        rows = (
            ({"MCP-Protocol-Version": None}, -32020),
            ({"MCP-Protocol-Version": "2025-11-25"}, -32020),
            ({"MCP-Protocol-Version": "2027-01-01"}, -32020),
            ({"Mcp-Method": None}, -32020),
            ({"Mcp-Method": "tools/list"}, -32020),
            ({"Mcp-Method": "TOOLS/CALL"}, -32020),
            ({"Mcp-Method": "tools/call x"}, -32020),
            ({"Mcp-Name": None}, -32020),
            ({"Mcp-Name": "python"}, -32020),
            ({"Mcp-Name": "bash\u00e9"}, -32020),
            ({"Mcp-Name": "=?base64?cHl0aG9u?="}, -32020),
            ({"Mcp-Name": "=?base64?YmFzaA=?="}, -32020),
            ({"Mcp-Name": "=?base64?YmF!aA==?="}, -32020),
            ({"Mcp-Name": "=?base64?YmFzaA==?= "}, None),
            ({"Mcp-Name": "=?base64?YmFzaA==?="}, None),
        )
        for change, code in rows:
            with case(change):
                body, headers = Mcp.modern_message("tools/call", name)
                for k, v in change.items():
                    if v is None:
                        del headers[k]
                    else:
                        headers[k] = v
                answer = self.mcp.raw(body, headers)
                if code is not None:
                    self.refused(answer, 400, code, 1)
                else:
                    self.assertEqual(
                        answer[2][-1]["result"]["content"][0]["text"],
                        "ran\n")
        # a field that comes twice says two things
        c = self.mcp.connect()
        c.putrequest("POST", "/mcp")
        for name in ("tools/list", "tools/call"):
            c.putheader("Mcp-Method", name)
        c.putheader("Content-Length", "0")
        c.endheaders()
        self.assertEqual(c.getresponse().status, 400)
        c.close()

    def test_versions(self):
        body, headers = Mcp.modern_message("tools/list")
        for version in ("2026-07-29", "2099-01-01", "2025-11-25", "1", ""):
            with case(version):
                body["params"]["_meta"] = meta(**{
                    "io.modelcontextprotocol/protocolVersion": version})
                headers["MCP-Protocol-Version"] = version
                error = self.refused(self.mcp.raw(body, headers), 400,
                                     -32022, 1)
                self.assertEqual(error["data"], {
                    "supported": [MODERN], "requested": version})
        for version in ("2025-11-26", "x", "2024-11-05", "2026-07-28 "
                        "2025-11-25"):
            with case(version):
                self.refused(self.mcp.raw(PING, {
                    "MCP-Protocol-Version": version}), 400, -32600, 1)

    def test_what_the_modern_era_has_not(self):
        for method in ("initialize", "ping", "logging/setLevel", "x",
                       "tools/Call"):
            self.refused(self.mcp.modern(method, ident="q"), 404, -32601,
                         "q")
        for method in ("GET", "DELETE", "PUT"):
            status, r, m = self.mcp.raw(
                None, {"MCP-Protocol-Version": MODERN}, method=method,
                kind=None)
            self.assertEqual(status, 405)
            self.assertNotIn("GET", r.getheader("Allow"))

    # ---- names of this host ----

    def host(self, host, origin):
        c = self.mcp.connect()
        c.putrequest("POST", "/mcp", skip_host=True)
        body = json.dumps(dict(PING)).encode()
        for k, v in (("Host", host), ("Origin", origin),
                     ("Content-Type", "application/json"),
                     ("Content-Length", str(len(body)))):
            if v is not None:
                c.putheader(k, v)
        c.endheaders(body)
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        return r.status, text

    def test_names_that_lead_here(self):
        good = (("localhost", None), ("localhost:80", None),
                ("LOCALHOST", None), ("127.0.0.1:3000", None),
                ("127.1.2.3", None), ("[::1]", None), ("[::1]:9", None),
                ("localhost:80", "http://localhost:80"),
                ("[::1]:80", "https://[::1]:80"),
                ("127.0.0.1", "http://127.0.0.1"))
        bad = (("evil.example.com", None), ("evil.example.com:80", None),
               ("localhost.evil.example.com", None), ("localhost.", None),
               ("localhost:", None), ("localhost:0", None),
               ("localhost:99999", None), ("localhost:80:80", None),
               ("localhostx", None), ("127.0.0.1.evil.example.com", None),
               ("127.0.0.01", None), ("127.1", None), ("127.0.0.256", None),
               ("2130706433", None), ("0x7f000001", None), ("0.0.0.0", None),
               ("10.0.0.1", None), ("[::2]", None), ("::1", None),
               ("[::ffff:127.0.0.1]", None), ("[::1].example.com", None),
               ("localhost", "http://evil.example.com"),
               ("evil.example.com", "http://evil.example.com"),
               ("evil.example.com", "http://localhost"),
               ("localhost", "null"), ("localhost", ""),
               ("localhost", "file://"), ("localhost", "localhost"),
               ("localhost", "http://localhost:80"),
               ("localhost:80", "http://localhost"),
               ("localhost:80", "http://localhost:81"),
               ("localhost", "http://localhost/"),
               ("localhost", "http://localhost@evil.example.com"),
               ("localhost", "http://127.0.0.1"),
               ("localhost", "chrome-extension://localhost"))
        for host, origin in good:
            with case((host, origin)):
                self.assertEqual(self.host(host, origin)[0], 200)
        for host, origin in bad:
            with case((host, origin)):
                status, text = self.host(host, origin)
                self.assertEqual(status, 403, text)
                self.assertEqual(json.loads(text)["error"]["code"],
                                 "forbidden")
                self.assertNotIn("tools", text)

    # ---- sessions ----

    def test_forged_sessions(self):
        good = self.mcp.session
        head, mark = good.rsplit(".", 1)
        fields = head.split(".")
        later = ".".join(fields[:3] + [str(int(fields[3]) + 1)])
        flipped = mark[:-1] + ("0" if mark[-1] != "0" else "1")
        rows = [good[:n] for n in range(1, len(good), 7)] + [
            head + "." + flipped, later + "." + mark,
            ".".join(["m1", "a" * 20, fields[2], fields[3], mark]),
            ".".join([fields[0], fields[1], "0" + fields[2], fields[3],
                      mark]),
            good + "0", good.upper(), "m2" + good[2:], "x", "1",
            "../../etc/passwd", good + ";" + good, "a" * 500,
            head + "." + "0" * 64, head + ".", head]
        for session in rows:
            with case(session):
                for body in (PING, dict(PING, method="tools/list"),
                             {"jsonrpc": "2.0",
                              "method": "notifications/initialized"}):
                    self.refused(self.mcp.raw(
                        body, {"Mcp-Session-Id": session}), 404, -32600,
                        body.get("id"))
                self.refused(self.mcp.raw(
                    None, {"Mcp-Session-Id": session}, method="DELETE",
                    kind=None), 404, -32600)
        self.refused(self.mcp.raw(dict(PING, method="tools/list")), 400,
                     -32600, 1)
        self.assertEqual(self.mcp.legacy("ping")[2][0]["result"], {})

    def test_another_principals_session(self):
        """The id alone is worth nothing, and its owner keeps it."""
        self.mcp.call("bash", {"command": "echo mine > f"})
        mine = self.i.get("/v1/sessions")[1]["sessions"][0]["session"]
        other = Mcp(self.i, 12345)
        other.session = self.mcp.session
        other.version = LEGACY
        for method, params in (("ping", {}), ("tools/list", {}),
                               ("tools/call", {"name": "bash", "arguments": {
                                   "command": "cat f"}})):
            self.refused(other.legacy(method, params, 7), 404, -32600, 7)
        self.refused(other.delete(), 404, -32600)
        # nor does a Myelin session's id reach it, in either era
        for result in (
                other.modern_call("bash", {"command": "cat f"},
                                  {"Myelin-Session": mine}),
                self.legacy_in(other, mine)):
            self.assertTrue(result["isError"])
            self.assertNotIn("mine", json.dumps(result["content"]).replace(
                mine, ""))
        self.refused(other.modern("tools/list", headers={
            "Myelin-Session": mine}), 404, -32603, 1)
        self.assertEqual(self.mcp.call("bash", {"command": "cat f"})
                         ["content"][0]["text"], "mine\n")
        self.assertEqual(self.mcp.delete()[0], 200)

    def legacy_in(self, mcp, session):
        mcp.initialize()
        headers = dict(mcp.legacy_headers(), **{"Myelin-Session": session})
        status, _, m = mcp.raw({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "bash", "arguments": {"command": "cat f"}}}, headers)
        self.assertEqual(status, 200)
        return m[-1]["result"]

    def test_an_ended_session_stays_ended(self):
        self.mcp.call("bash", {"command": "true"})
        self.assertEqual(self.mcp.delete()[0], 200)
        for method in ("ping", "tools/list"):
            self.refused(self.mcp.legacy(method, ident=1), 404, -32600, 1)
        self.refused(self.mcp.legacy("tools/call", {
            "name": "bash", "arguments": {"command": "true"}}, 1), 404,
            -32600, 1)
        self.refused(self.mcp.delete(), 404, -32600)

    def test_ids_that_collide(self):
        """Every client counts from 0: answers and cancels stay apart."""
        clients = [Mcp(self.i, uid) for uid in (0, 0, 12345)]
        results = {}

        def run(n, client):
            client.initialize()
            results[n] = [client.legacy("tools/call", {
                "name": "bash", "arguments": {
                    "command": "sleep 0.%d; echo %d.%d" % (k % 3, n, k)}},
                k)[2][-1] for k in range(6)]

        threads = [threading.Thread(target=run, args=(n, c))
                   for n, c in enumerate(clients[:2])]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        run(2, clients[2])
        for n in range(3):
            for k, m in enumerate(results[n]):
                self.assertEqual(m["id"], k)
                self.assertEqual(m["result"]["content"][0]["text"],
                                 "%d.%d\n" % (n, k))

    def test_a_cancel_of_anothers(self):
        """The same id in another session, of this user or another."""
        body = {"jsonrpc": "2.0", "id": 0, "method": "tools/call",
                "params": {"name": "bash", "arguments": {
                    "command": "until [ -e go ]; do sleep 0.1; done; "
                    "echo whole"}}}
        c = self.mcp.send(body, self.mcp.legacy_headers())
        wait_for(lambda: any(s["state"] == "running" for s in
                             self.i.get("/v1/calls")[1]["calls"]), 60)
        for uid in (0, 12345):
            other = Mcp(self.i, uid)
            other.initialize()
            other.notify("notifications/cancelled", {"requestId": 0})
        # and without a session, or with one that is forged
        nobody = Mcp(self.i)
        nobody.notify("notifications/cancelled", {"requestId": 0})
        self.mcp.call("bash", {"command": "touch go"})
        r = json.loads(c.getresponse().read())
        self.assertEqual(r["result"]["content"][0]["text"], "whole\n")
        c.close()

    # ---- presets, and what is denied ----

    def test_a_preset_keeps_tools_back(self):
        other = Mcp(self.i, 12346)
        other.initialize()
        names = {t["name"] for t in
                 other.legacy("tools/list")[2][0]["result"]["tools"]}
        self.assertFalse(names & {"bash", "exec", "python", "write"})
        narrowed = self.mcp.modern("tools/list", headers={
            "Myelin-Preset": "readonly"})[2][0]["result"]["tools"]
        self.assertEqual({t["name"] for t in narrowed}, names)
        # a preset that is wider than one's own widens nothing
        wide = other.modern("tools/list", headers={
            "Myelin-Preset": "standard"})[2][0]["result"]["tools"]
        self.assertEqual({t["name"] for t in wide}, names)
        for result in (other.modern_call("bash", {"command": "echo ran"}, {
                           "Myelin-Preset": "standard"}),
                       other.call("bash", {"command": "echo ran"})):
            self.assertTrue(result["isError"])
            text = json.dumps(result)
            self.assertNotIn("ran\\n", text)
            self.assertIn("readonly", text)

    def test_the_operators_socket_has_none(self):
        for method in ("POST", "DELETE", "GET"):
            status, body = self.i.request(method, "/mcp", PING if method ==
                                          "POST" else None, operator=True)
            self.assertEqual(status, 404, body)

    def test_a_stranger(self):
        c = Mcp(self.i, 777)
        status, _, m = c.raw(PING)
        self.assertEqual((status, m[0]["error"]["code"]), (403, "forbidden"))

    def test_bodies_that_never_end(self):
        """What is announced and does not come holds up nobody."""
        s = socket.socket(socket.AF_UNIX)
        s.connect(self.i.api)
        s.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
                  b"Content-Type: application/json\r\n"
                  b"Content-Length: 1000\r\n\r\n{")
        self.assertEqual(self.mcp.legacy("ping")[2][0]["result"], {})
        s.close()
        status, r, m = self.mcp.raw(b"x" * 100, {
            "Content-Length": str(1 << 40)})
        self.assertEqual(status, 413)

    def test_the_key_is_its_owners(self):
        path = os.path.join(self.i.state, "policy", "mcp.key")
        st = os.stat(path)
        self.assertEqual((st.st_mode & 0o777, st.st_size), (0o600, 32))


if __name__ == "__main__":
    unittest.main()
