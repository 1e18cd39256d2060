"""What egress is for: what is allowed arrives, whole, by either family, while
names fail, and as the configuration is now; and what went is on record."""
import json
import unittest

from egress import EgressCase, EgressInstance
from harness import wait_for
from test_reload import reload

WEB = """
	allow host "ok.example.com"; allow host "raw.example.com" opaque;
	allow host "six.example.com"; allow host "first.example.com";
	allow host "second.example.com"; allow host "silent.example.com";
	allow host "nobody.example.com"; allow host "broken.example.com"
"""


class Works(EgressCase):
    NAMES = ("ok.example.com", "raw.example.com", "more.example.com")

    @classmethod
    def instance(cls):
        cls.net.names({
            "six.example.com": ["2600:1234::1"],
            # the first of two addresses is nowhere
            "first.example.com": ["11.9.9.9", "11.1.1.1"],
            "second.example.com": ["2600:9999::1", "11.1.1.1"],
            "silent.example.com": {"silent": True},
            "broken.example.com": {"code": 2}})
        return EgressInstance(cls.net, {"web": WEB},
                              limits={"web": "egress-connect 3s;"})

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(cls.i.conf) as f:
            cls.config = f.read()

    def audit(self, kind, match):
        def look():
            found = []
            for line in self.i.ctl("audit", "tail",
                                   "--json").stdout.decode().splitlines():
                r = json.loads(line)
                if r.get("event", r.get("kind")) == kind and all(
                        r.get("data", r).get(k) == v
                        for k, v in match.items()):
                    found.append(r.get("data", r))
            return found
        return wait_for(look, 60, 0.1)

    def test_either_family(self):
        got = self.w.probe("""
[[https(h)["status"], get("http://%s/ok" % h)["status"]] for h in
 ("ok.example.com", "six.example.com", "first.example.com",
  "second.example.com")]""")
        self.assertEqual(got, [[200, 200]] * 4)
        self.assertEqual({c["to"] for c in self.net.connections()},
                         {"11.1.1.1", "2600:1234::1"})

    def test_names_that_fail(self):
        """Told as what it is, within the time that it may take."""
        got = self.w.probe("""
[[h, tunnel(h + ".example.com"), socks_number(h + ".example.com")]
 for h in ("silent", "nobody", "broken")]""")
        for host, r, socks in got:
            self.assertEqual(
                (r["status"], r["json"]["error"]),
                (504, "timeout") if host == "silent" else
                (502, "unresolved"), (host, r))
            self.assertEqual(r["json"]["host"], host + ".example.com")
            self.assertIn(socks, (4, 6))

    def test_bytes_are_whole(self):
        """Both ways at once, more than fits anywhere on the way."""
        got = self.w.probe("""
import hashlib, threading
out = []
def echo(size):
    s, r = connect("raw.example.com", seconds=30)
    data = os.urandom(size)
    def send():
        s.sendall(b"\\0" + data)
        s.shutdown(socket.SHUT_WR)
    t = threading.Thread(target=send)
    t.start()
    back = b"".join(iter(lambda: s.recv(1 << 18), b""))
    t.join()
    out.append(hashlib.sha256(back[1:]).digest() ==
               hashlib.sha256(data).digest())
threads = [threading.Thread(target=echo, args=(n,))
           for n in (1, 100, 65536, 1 << 20, 5000011, 12 << 20)]
for t in threads: t.start()
for t in threads: t.join()
body = get("http://ok.example.com/big/9000000")["body"].encode("latin-1")
out.append(body == bytes(range(256)) * 35156 + bytes(range(64)))
body = get("http://ok.example.com/chunked/5000")["body"]
out.append(body.count("\\n") >= 5000 and "4999" in body)
r = https("ok.example.com", path="/big/900000")
out.append(len(r["body"]) == 900000)
out""")
        self.assertEqual(got, [True] * 9)

    def test_a_reload_is_for_those_that_run(self):
        s = self.i.session(profile="web", **self.w.fields())
        code = """
[get("http://%s.example.com/ok" % h)["status"] for h in ("ok", "more")]"""
        try:
            self.assertEqual(self.w.probe(code, session=s), [200, 403])
            reload(self.i, self.config.replace(
                "egress {", 'egress { deny host "ok.example.com"; '
                'allow host "more.example.com"; '))
            self.assertEqual(self.w.probe(code, session=s), [403, 200])
            # what is wrong is refused, and changes nothing
            reload(self.i, self.config.replace(
                "egress {", 'egress { allow host "*"; '), "refused")
            self.assertEqual(self.w.probe(code, session=s), [403, 200])
        finally:
            reload(self.i, self.config)
            self.i.request("DELETE", "/v1/sessions/" + s)

    def test_recorded(self):
        """Who, where, by which line, how much both ways, and why it ended."""
        r = self.w.call("""
get("http://ok.example.com/big/50000")["status"]""")
        ended = self.audit("egress.ended", {"neuron": r["neuron"]})[0]
        self.assertEqual(
            (ended["host"], ended["port"], ended["address"], ended["via"],
             ended["end"]),
            ("ok.example.com", 80, "11.1.1.1", "http", "closed"), ended)
        self.assertRegex(ended["rule"], r"myelin\.conf:\d+$")
        self.assertGreaterEqual(ended["down"], 50000)
        self.assertLess(ended["down"], 60000)
        self.assertGreater(ended["up"], 20)
        r = self.w.call("tunnel('evil.example.net')['status']")
        denied = self.audit("egress.denied", {"neuron": r["neuron"]})[0]
        self.assertEqual((denied["host"], denied["port"], denied["rule"],
                          denied["via"], denied["calls"]),
                         ("evil.example.net", 443, "not_listed", "connect",
                          [r["call"]]), denied)


if __name__ == "__main__":
    unittest.main()
