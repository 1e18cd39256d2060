"""What a neuron with egress asks of the hosts of its rules: names inside TLS,
requests that read two ways, methods and ports.  The attempts are made as those
of test_egress.py, which has the ways there.
"""
import unittest

from egress_attempts import Case, begin


def setUpModule():
    global net, i, w
    net, i, w = begin()


class Tls(Case):
    """51: what is said inside a tunnel is what it was opened for."""

    def test_051_another_name(self):
        # the control: the server answers to that name
        self.assertEqual(net.python(
            "straight('11.1.1.1', 'evil.example.net')")["status"], 200)
        net.forget()
        got = w.probe("""
[https("ok.example.com"), https("ok.example.com", "evil.example.net",
 verify=False), https("ok.example.com", "two.example.com", verify=False),
 https("ok.example.com", "OK.EXAMPLE.COM", verify=False)]""")
        self.assertEqual(got[0]["status"], 200)
        self.assertEqual(got[1]["status"], 0)
        # listed, but not what was asked for
        self.assertEqual(got[2]["status"], 0)
        self.assertEqual(got[3]["status"], 200)
        self.assertEqual({c["sni"].lower() for c in net.connections()
                          if c["sni"]}, {"ok.example.com"})

    def test_051_hellos_by_hand(self):
        got = w.probe("""
ok, evil = b"ok.example.com", b"evil.example.net"
h = hello(sni(ok))
big = hello(sni(ok), pad=9000)
late = hello(extension(21, bytes(14000)), sni(ok))
out = {}
host = "ok.example.com"
out["whole"] = handshake(host, [h])
out["bytes"] = handshake(host, [bytes([b]) for b in h])
out["two"] = handshake(host, [h[:7], h[7:]])
out["records"] = handshake(host, [records(h, 40)])
out["big"] = handshake(host, [big])
out["late"] = handshake(host, [late[:5000], late[5000:]])
out["evil"] = handshake(host, [hello(sni(evil))])
out["evil records"] = handshake(host, [records(hello(sni(evil)), 40)])
out["evil bytes"] = handshake(host, [bytes([b]) for b in hello(sni(evil))])
out["none"] = handshake(host, [hello()])
out["two names"] = handshake(host, [hello(sni(ok, evil))])
out["two extensions"] = handshake(host, [hello(sni(ok), sni(evil))])
out["nul"] = handshake(host, [hello(sni(ok + b"\\0." + evil))])
out["empty"] = handshake(host, [hello(sni(b""))])
out["ech"] = handshake(host, [hello(sni(ok), extension(0xfe0d, b"\\0" +
    bytes(40)))])
out["huge"] = handshake(host, [records(hello(sni(ok), pad=40000), 16000)])
out["not tls"] = handshake(host, [b"GET / HTTP/1.1\\r\\nHost: ok\\r\\n\\r\\n"])
out["ssh"] = handshake(host, [b"SSH-2.0-x\\r\\n"])
out["half"] = handshake(host, [h[:60] + evil, b"x" * 400])
out["early"] = None
s, r = connect(host, first=hello(sni(evil)))
out["early"] = "cut" if s is None else through(s, b"")[0][:1]
out""")
        for what in ("whole", "bytes", "two", "records", "big", "late"):
            self.assertEqual(got[what], "answered", what)
        for what in ("evil", "evil records", "evil bytes", "none",
                     "two names", "two extensions", "nul", "empty", "ech",
                     "huge", "not tls", "ssh", "half"):
            self.assertEqual(got[what], "cut", what)
        self.assertNotEqual(got["early"], "\x16")
        for c in net.connections():
            self.assertIn(c["sni"], ("ok.example.com", None), c)
            # what is refused never leaves: not a byte of it
            self.assertNotIn("evil.example.net", c["raw"])
            self.assertNotEqual(c["kind"], "raw")
            self.assertNotEqual(c["kind"], "http")

    def test_051_a_second_hello(self):
        """A server may ask for one, and goes by the name in that."""
        both = """
ok, evil = b"ok.example.com", b"evil.example.net"
first = hello(sni(ok), share=False)
late = b"\\x14\\x03\\x03\\0\\1\\1"
out = []
for second in (hello(sni(ok)), hello(sni(evil)), hello(),
               records(hello(sni(evil)), 40), late + hello(sni(ok)),
               late + hello(sni(evil))):
    out.append(again(through_to(), second, first))
out"""
        straight = both.replace("through_to()", "socket.create_connection("
                                "('11.1.1.1', 443), timeout=30)")
        # the control: what the server would go by
        self.assertEqual(net.python("import socket\n" + straight)[1],
                         "answered")
        self.assertIn("evil.example.net",
                      [c["sni"] for c in net.connections()])
        net.forget()
        at = """
import socket
at = dns("ok.example.com")["addresses"][0]
"""
        for way in ('connect("ok.example.com")[0]',
                    'socks("ok.example.com", 443)[0]',
                    "socket.create_connection((at, 443), timeout=30)"):
            got = w.probe(at + both.replace("through_to()", way))
            self.assertEqual(got, ["answered", "cut", "cut", "cut",
                                   "answered", "cut"], way)
        self.assertEqual({c["sni"] for c in net.connections()},
                         {"ok.example.com"})
        # one that does not wait to be asked
        got = w.probe("""
ok, evil = b"ok.example.com", b"evil.example.net"
again(connect("ok.example.com")[0], b"", hello(sni(ok), share=False),
      hello(sni(evil)))""")
        self.assertEqual(got, "cut")
        self.assertEqual({c["sni"] for c in net.connections()},
                         {"ok.example.com"})

    def test_051_opaque(self):
        got = w.probe("""
out = []
for host in ("raw.example.com", "ok.example.com"):
    s, r = connect(host)
    out.append(through(s, b"hello there")[0])
out.append(https("raw.example.com", "evil.example.net",
    verify=False)["status"])
out""")
        self.assertEqual((got[0], got[2]), ("hello there", 200))
        self.assertNotIn("hello", got[1])
        self.assertEqual([c["raw"] for c in net.connections(kind="raw")],
                         ["hello there"])

    def test_051_by_the_other_listeners(self):
        """SOCKS and 443 inside: the same name, the same refusals."""
        got = w.probe("""
out = []
for name in ("ok.example.com", "evil.example.net", None):
    s, n = socks("ok.example.com", 443)
    out.append(tls_get(s, name, "ok.example.com", verify=False)["status"])
at = dns("ok.example.com")["addresses"][0]
for name in ("ok.example.com", "two.example.com", "evil.example.net", None):
    out.append(straight(at, name, "ok.example.com", verify=False)["status"])
for data in (b"SSH-2.0-x\\r\\n", hello(), hello(sni(b"evil.example.net")),
        b"GET / HTTP/1.1\\r\\nHost: ok.example.com\\r\\n\\r\\n"):
    out.append("\\x16" in raw(data, to=(at, 443))[0][:1])
out""")
        self.assertEqual(got[:3], [200, 0, 0])
        self.assertEqual(got[3], 200)
        self.assertEqual(got[4:7], [0, 0, 0])
        self.assertEqual(got[7:], [False] * 4)
        self.assertEqual({c["sni"] for c in net.connections() if
                          c["requests"]}, {"ok.example.com"})


class Http(Case):
    """52 and 53: one verdict for each request, and ports are part of it."""

    def test_052_one_verdict_for_each_request(self):
        """On a connection that is kept alive, whichever host comes next."""
        got = w.probe("""
def one(host, path="/ok"):
    return ("GET http://%s%s HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n" % (
        host, path, host)).encode()
s = socket.create_connection(PROXY, timeout=30)
out = []
for host in ("ok.example.com", "two.example.com", "evil.example.net"):
    s.sendall(one(host))
    data = head_of(s).decode("latin-1")
    r = response(data)
    while len(r["body"]) < int(r["headers"].get("content-length", 0)):
        data += s.recv(4096).decode("latin-1")
        r = response(data)
    out.append([r["status"], r["body"] if r["status"] == 200 else r["json"]])
s.close()
# all at once
out.append(raw(one("ok.example.com") + one("evil.example.net") +
    one("two.example.com"), seconds=30)[0])
# and where no proxy was asked
at = dns("ok.example.com")["addresses"][0]
plain = lambda h: ("GET /ok HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n" % h).encode()
out.append(raw(plain("ok.example.com") + plain("evil.example.net"),
    to=(at, 80), seconds=30)[0])
out""")
        self.assertEqual(got[0], [200, "ok from ok.example.com\n"])
        self.assertEqual(got[1], [200, "ok from two.example.com\n"])
        self.assertEqual(got[2][0], 403)
        self.assertEqual(got[2][1]["error"], "not_listed")
        for text in got[3:]:
            self.assertIn("ok from ok.example.com", text)
            self.assertNotIn("ok from evil", text)
        self.assertNotIn("evil.example.net",
                         {r[2] for r in net.requests()})

    def test_052_unknown_framing(self):
        bodies = (
            b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"0\r\n\r\nGET http://evil.example.net/ok HTTP/1.1\r\n\r\n",
            b"Content-Length: 0\r\nContent-Length: 60\r\n\r\n"
            b"GET /smuggled HTTP/1.1\r\nHost: evil.example.net\r\n\r\n",
            b"Content-Length: 0, 5\r\n\r\nabcde",
            b"Content-Length: +5\r\n\r\nabcde",
            b"Content-Length: 0x5\r\n\r\nabcde",
            b"Content-Length : 5\r\n\r\nabcde",
            b"Content-Length: 99999999999999999999\r\n\r\nabcde",
            b"Transfer-Encoding: xchunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n",
            b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
            b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"
            b"\r\n0\r\n\r\n",
            b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
            b"X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"X: y\r\n\tfolded\r\n\r\n",
            b"X: y\nContent-Length: 5\r\n\r\nabcde",
            b"X\0: y\r\n\r\n", b"X: a\0b\r\n\r\n", b"no colon\r\n\r\n")
        got = w.probe("""
out = []
for b in %r:
    out.append(raw(b"POST http://posts.example.com/echo HTTP/1.1\\r\\n"
        b"Host: posts.example.com\\r\\n" + b, seconds=30)[0])
out.append(raw(b"POST http://posts.example.com/echo HTTP/1.1\\r\\n"
    b"Host: posts.example.com\\r\\nConnection: close\\r\\n"
    b"Content-Length: 5\\r\\n\\r\\nabcde")[0])
out.append(raw(b"POST http://posts.example.com/echo HTTP/1.1\\r\\n"
    b"Host: posts.example.com\\r\\nConnection: close\\r\\n"
    b"Transfer-Encoding: chunked\\r\\n\\r\\n5\\r\\nabcde\\r\\n0\\r\\n\\r\\n")[0])
out""" % (bodies,))
        for body, text in zip(bodies, got):
            self.assertRegex(text, r"^HTTP/1\.1 (400|501) ", body)
            # closed after it: nothing that follows is looked at
            self.assertEqual(text.count("HTTP/1.1 "), 1, body)
        for text in got[-2:]:
            self.assertRegex(text, "^HTTP/1.1 200 ")
            self.assertIn('"body": "abcde"', text)
        for sni, method, host, target in net.requests():
            self.assertEqual((host, method), ("posts.example.com", "POST"))
            self.assertNotIn("smuggled", target)

    def test_052_bytes_after_connect(self):
        """Sent before the answer, they are the tunnel's: no other request."""
        got = w.probe("""
out = raw(b"CONNECT ok.example.com:443 HTTP/1.1\\r\\nHost: ok.example.com\\r\\n"
    b"\\r\\nGET http://evil.example.net/ok HTTP/1.1\\r\\n\\r\\n", seconds=5)
s, r = connect("ok.example.com", first=hello(sni(b"ok.example.com")))
s.settimeout(30)
[out[0], (r["body"] + s.recv(1).decode("latin-1"))[:1]]""")
        self.assertNotIn("ok from", got[0])
        self.assertEqual(got[1], "\x16")
        self.assertEqual(net.requests(), [])

    def test_052_host_and_target(self):
        got = w.probe("""
out = []
for target, host in (("http://ok.example.com/ok", "evil.example.net"),
        ("http://evil.example.net/ok", "ok.example.com"),
        ("http://ok.example.com/ok", "ok.example.com:8080")):
    out.append(ask("GET %s HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close"
        "\\r\\n\\r\\n" % (target, host))["status"])
out""")
        self.assertIn(got[0], (400, 403))
        self.assertIn(got[1], (400, 403))
        self.assertIn(got[2], (400, 403))
        self.nothing_came()

    def test_052_upgrades(self):
        """What follows an upgrade would be looked at by nobody."""
        got = w.probe("""
out = []
for what in ("h2c", "websocket", "TLS/1.0"):
    s = socket.create_connection(PROXY, timeout=30)
    s.sendall(("GET http://ok.example.com/upgrade HTTP/1.1\\r\\n"
        "Host: ok.example.com\\r\\nConnection: Upgrade, HTTP2-Settings\\r\\n"
        "Upgrade: %s\\r\\nHTTP2-Settings: AAMAAABkAAQAAP__\\r\\n\\r\\n"
        % what).encode())
    data = head_of(s)
    try:
        s.sendall(b"GET /ok HTTP/1.1\\r\\nHost: evil.example.net\\r\\n\\r\\n")
        data += read_all(s)[0]
    except OSError:
        pass
    out.append(data.decode("latin-1"))
    s.close()
out.append(raw(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n", seconds=30)[0])
out""")
        for text in got:
            self.assertNotIn(" 101 ", text)
            self.assertNotIn("evil", text)
        for c in net.connections():
            self.assertNotIn("upgrade:", c["raw"].lower())
            self.assertNotIn("evil", c["raw"])

    def test_052_redirects_are_the_clients(self):
        """Each is a request of its own: the one to a private host fails."""
        path = "/to/" + b"http://lo.example.com:80/ok".hex()
        got = w.probe("""
first = get("http://ok.example.com%s")
[first["status"], get(first["headers"]["location"])]""" % path)
        self.assertEqual(got[0], 302)
        self.refused(got[1], "address", "lo.example.com")

    def test_052_answers_that_nobody_asked_for(self):
        got = w.probe("""
[raw(b"GET http://ok.example.com/%s HTTP/1.1\\r\\nHost: ok.example.com\\r\\n"
 b"Connection: close\\r\\n\\r\\n" % p, seconds=30)[0] for p in
 (b"extra", b"twice")]""")
        self.assertEqual(got[0].count("HTTP/1.1 200"), 1, got[0])
        self.assertNotIn("two", got[0])
        self.assertRegex(got[1], "^HTTP/1.1 502 ")

    def test_052_methods(self):
        """Plain HTTP reads; what writes needs a rule, or a human."""
        got = w.probe("""
out = {}
for m in ("GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH",
        "TRACE", "PROPFIND"):
    out[m] = get("http://ok.example.com/echo", m,
        "Content-Length: 0\\r\\n" if m not in ("GET", "HEAD") else "")
out["posts"] = [get("http://posts.example.com/echo", m,
    "Content-Length: 0\\r\\n")["status"] for m in ("POST", "PUT")]
out""")
        for m in ("GET", "HEAD", "OPTIONS"):
            self.assertEqual(got[m]["status"], 200, m)
        for m in ("POST", "PUT", "DELETE", "PATCH", "PROPFIND"):
            self.refused(got[m], "method", "ok.example.com")
        self.assertNotEqual(got["TRACE"]["status"], 200)
        self.assertEqual(got["posts"], [200, 403])
        self.assertLessEqual({r[1] for r in net.requests()},
                             {"GET", "HEAD", "OPTIONS", "POST"})
        self.assertEqual({r[2] for r in net.requests() if r[1] == "POST"},
                         {"posts.example.com"})

    def test_053_ports(self):
        got = w.probe("""
out = {}
for host in ("ok.example.com", "ssh.example.com"):
    out[host] = [[p, tunnel(host, p)["status"], socks_number(host, p)]
        for p in (22, 25, 80, 443, 3128, 6379, 8080, 1, 65535)]
    out[host].append([8080, get("http://%s:8080/ok" % host)["status"], 2])
s, r = connect("ssh.example.com", 22)
out["banner"] = s.recv(100).decode()
out""")
        for p, status, socks in got["ok.example.com"]:
            self.assertEqual((status, socks), (200, 0) if p in (80, 443)
                             else (403, 2), p)
        for p, status, socks in got["ssh.example.com"]:
            self.assertEqual((status, socks), (200, 0) if p == 22
                             else (403, 2), p)
        self.assertEqual(got["banner"], "SSH-2.0-there\r\n")
        self.assertLessEqual({c["port"] for c in net.connections()},
                             {22, 80, 443})

    def test_053_deny_wins(self):
        got = w.probe("""
[tunnel("bad.sub.example.com"), tunnel("a.sub.example.com"),
 tunnel("x.bad.sub.example.com")]""")
        self.refused(got[0], "denied", "bad.sub.example.com")
        # which line it was, so that it can be found
        self.assertRegex(got[0]["json"]["rule"], r"myelin\.conf:\d+$")
        self.assertEqual(got[1]["status"], 200)
        self.assertNotEqual(got[2]["status"], 400)


if __name__ == "__main__":
    unittest.main()
