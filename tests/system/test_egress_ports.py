"""Ports that a line names: what is spoken there is seen, so that a tunnel is
no way around names and methods; and tunnels whose line is gone are cut."""
import json
import os
import unittest

from egress import EgressCase, EgressInstance, wrapped
from harness import wait_for
from test_reload import reload

PORTS = 'allow host "%s.example.com" port 25, 8080, 8443%s;'
WEB = PORTS % ("ok", "") + PORTS % ("writes", ' method "POST"') + \
    PORTS % ("raw", " opaque")
GONE = 'allow host "gone.example.com" opaque;'
KEPT = 'allow host "kept.example.com" opaque;'


class Ports(EgressCase):
    NAMES = ["%s.example.com" % n for n in (
        "ok", "writes", "raw", "gone", "kept")]

    @classmethod
    def instance(cls):
        return EgressInstance(cls.net, {"web": WEB, "reload": GONE + KEPT})

    def probe(self, code):
        return self.w.probe(code, profile="web")

    SPEAK = """
def speak(host, method, port=8080, name=None, before=b"", more=""):
    s, r = connect(host, port)
    s.settimeout(5)
    s.sendall(before + ("%s /ok HTTP/1.1\\r\\nHost: %s:%d\\r\\n"
        "Content-Length: 0\\r\\nConnection: close\\r\\n%s\\r\\n" % (
        method, name or host, port, more)).encode())
    return response(read_all(s)[0].decode("latin-1"))
"""

    def test_methods(self):
        got = self.probe(self.SPEAK + """
out = {}
for method in ("GET", "POST", "DELETE"):
    out["ok " + method] = speak("ok.example.com", method)["status"]
out["line"] = speak("writes.example.com", "POST")["status"]
out["opaque"] = speak("raw.example.com", "POST")["status"]
out["blank lines"] = speak("ok.example.com", "POST",
    before=b"\\r\\n\\r\\n")["status"]
out["lower case"] = speak("ok.example.com", "post")["status"]
out["own method"] = speak("ok.example.com", "FROB")["status"]
r = speak("ok.example.com", "POST")
out["why"] = r["json"]["error"]
out""")
        self.assertEqual(got, {
            "ok GET": 200, "ok POST": 403, "ok DELETE": 403, "line": 200,
            "opaque": 200, "blank lines": 403, "lower case": 403,
            "own method": 403, "why": "method"})
        self.assertEqual({(r[1], r[2]) for r in self.net.requests()},
                         {("GET", "ok.example.com:8080"),
                          ("POST", "writes.example.com:8080"),
                          ("POST", "raw.example.com:8080")})

    def test_each_request(self):
        """A kept connection, and bytes that come one by one."""
        got = self.probe("""
out = []
s, r = connect("ok.example.com", 8080)
s.settimeout(5)
for method in ("GET", "HEAD", "POST"):
    for b in ("%s /ok HTTP/1.1\\r\\nHost: ok.example.com:8080\\r\\n\\r\\n"
              % method).encode():
        s.sendall(bytes([b]))
    data = head_of(s)
    r = response(data.decode("latin-1"))
    if method == "GET":
        s.recv(int(r["headers"]["content-length"]))
    out.append(r["status"])
s, r = connect("ok.example.com", 8080)
s.settimeout(5)
s.sendall(b"GET /ok HTTP/1.1\\r\\nHost: evil.example.net:8080\\r\\n\\r\\n")
out.append(response(head_of(s).decode("latin-1"))["status"])
out""")
        self.assertEqual(got, [200, 200, 403, 400])
        self.assertEqual([r[1] for r in self.net.requests()],
                         ["GET", "HEAD"])
        # the same connection to the host carried both
        self.assertEqual(len(self.net.connections(kind="http")), 1)

    def test_tls_names_the_host(self):
        got = self.probe("""
[https("ok.example.com", port=8443)["status"],
 https("ok.example.com", "evil.example.net", port=8443,
       verify=False)["status"],
 https("raw.example.com", "evil.example.net", port=8443,
       verify=False)["status"]]""")
        self.assertEqual(got, [200, 0, 200])
        self.assertEqual(sorted(c["sni"] for c in self.net.connections()
                                if c["sni"]),
                         ["evil.example.net", "ok.example.com"])

    def test_all_else_goes_on(self):
        """Also where the host speaks first, and where a word comes alone."""
        got = self.probe("""
out = [through(connect("ok.example.com", 8080)[0], d)[0] for d in (
    b"SSH-2.0-here\\r\\n", b"\\0\\1\\2", b"PING\\r\\n", b"WORD and more\\r\\n")]
s, r = connect("ok.example.com", 25)
s.settimeout(5)
first = s.recv(100).decode()
out + [first, through(s, b"EHLO here\\r\\n")[0]]""")
        self.assertEqual(got, [
            "SSH-2.0-here\r\n", "\0\1\2", "PING\r\n", "WORD and more\r\n",
            "220 there\r\n", "EHLO here\r\n"])

    def test_a_line_that_is_gone(self):
        """Its tunnels end with it, and others do not."""
        with open(self.i.conf) as f:
            text = f.read()
        there, go = (os.path.join(self.w.path, n) for n in ("there", "go"))
        status, body = self.i.request("POST", "/v1/calls", {
            "tool": "python", "timeout_ms": 60000, "profile": "reload",
            "args": {"code": wrapped(self.w.path, """
ends = [connect(h + ".example.com")[0] for h in ("gone", "kept")]
for s in ends:
    s.settimeout(20)
    s.sendall(b"one")
    s.recv(3)
open(%r, "w").close()
while not os.path.exists(%r):
    time.sleep(0.02)
try:
    out = [len(ends[0].recv(3))]
except ConnectionResetError:
    out = [0]
ends[1].sendall(b"two")
out + [ends[1].recv(3).decode(), tunnel("gone.example.com")["status"]]
""" % (there, go))}, **self.w.fields()})
        self.assertEqual(status, 202, body)
        try:
            wait_for(lambda: os.path.exists(there), 60)
            reload(self.i, text.replace(GONE, ""))
            self.w.write("go", "")
            r = wait_for(lambda: [r for r in [self.i.get(
                "/v1/calls/%s?wait_ms=50000" % body["call"])[1]]
                if "stdout" in r], 60)[0]
            self.assertEqual(json.loads(r["stdout"]), [0, "two", 403], r)
        finally:
            reload(self.i, text)


if __name__ == "__main__":
    unittest.main()
