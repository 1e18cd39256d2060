"""What the tests of keys share: an instance with a TCP socket and a key."""
import contextlib
import http.client
import json
import os
import random
import socket
import unittest

from harness import Instance

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


def free_port():
    """One that the kernel gives to nobody who connects meanwhile."""
    for _ in range(1000):
        port = random.randrange(10000, 30000)
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                s.bind(("127.0.0.1", port))
                return port
    raise OSError("no port is free")


@contextlib.contextmanager
def case(what):
    """Names the row that failed; the test fails as a whole."""
    try:
        yield
    except AssertionError as e:
        raise AssertionError("%s: %s" % (what, str(e)[:400]))


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

    def connect(self, timeout=60):
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
        with socket.create_connection(("127.0.0.1", self.port), 60) as s:
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
            # the last may be on its way
            return [r for r in (json.loads(l) for l in f if l.endswith("\n"))
                    if r["event"] == event]
