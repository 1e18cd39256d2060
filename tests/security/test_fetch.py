"""The tool fetch: it reads, by the neuron's own rules, each hop of a redirect
judged again, and brings no more than it may."""
import json
import unittest

from egress import EgressCase, EgressInstance
from harness import stdout_of, wait_for

WEB = """
	allow host "ok.example.com"; allow host "two.example.com";
	allow host "posts.example.com" method "POST";
	allow host "lo.example.com"; allow host "plain.example.com" port 80;
	deny host "two.example.com" port 443
"""
TOKEN = "ghp_" + "A1b2" * 9


def to(url, base="http://ok.example.com"):
    """A page that redirects there."""
    return "%s/to/%s" % (base, url.encode().hex())


class Fetch(EgressCase):
    maxDiff = 3000

    NAMES = ("ok.example.com", "two.example.com", "posts.example.com",
             "plain.example.com", "evil.example.net")

    @classmethod
    def instance(cls):
        cls.net.names({"lo.example.com": ["127.0.0.1"],
                       "other.example.org": ["11.1.1.1"]})
        return EgressInstance(
            cls.net, {"web": WEB + '; allow host "other.example.org"'},
            without=("no",))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.session = cls.i.session(profile="web")

    def fetch(self, url, **args):
        return self.i.call("fetch", dict(args, url=url), session=self.session)

    def good(self, r):
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0),
                         (r["result"], r["stderr"], r.get("error")))
        self.assertNotIn("error", r["result"])
        return r["result"]

    def bad(self, r, code=None):
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 1),
                         (r["result"], r["stderr"], r.get("error")))
        error = r["result"]["error"]
        self.assertTrue(error["message"])
        self.assertEqual(r["stdout"], "")
        if code is not None:
            self.assertEqual(error["code"], code, r)
        return error

    def test_reads(self):
        for scheme in ("http", "https"):
            url = scheme + "://ok.example.com/ok"
            r = self.fetch(url)
            result = self.good(r)
            self.assertEqual(r["stdout"], "ok from ok.example.com\n")
            self.assertEqual((result["status"], result["bytes"],
                              result["truncated"], result["redirects"]),
                             (200, 23, False, []), result)
            self.assertEqual(result["url"], url)
            self.assertEqual(r["denials"], [])
        result = self.good(self.fetch("https://ok.example.com/big/100000",
                                      method="HEAD"))
        self.assertEqual((result["status"], result["bytes"]), (200, 0))
        # what the host said is the host's: an error of its is no error here
        self.assertEqual(self.good(self.fetch(
            "http://ok.example.com/status/404"))["status"], 404)
        r = self.fetch("http://ok.example.com/chunked/50")
        self.assertEqual(self.good(r)["bytes"], 250)
        self.assertTrue(r["stdout"].startswith("0000\n0001\n"))
        self.assertEqual({(r[1], r[2]) for r in self.net.requests()},
                         {("GET", "ok.example.com"),
                          ("HEAD", "ok.example.com")})

    def test_only_get_and_head(self):
        """Refused by the schema, naming what can be done instead."""
        for method in ("POST", "PUT", "DELETE", "CONNECT", "get", ""):
            r = self.i.call("fetch", {
                "url": "http://posts.example.com/echo", "method": method},
                session=self.session)
            self.assertEqual(r["state"], "failed", r)
            self.assertIn(r["reason"], ("invalid_arguments",
                                        "denied_by_policy"))
            if method == "POST":
                self.assertIn("bash", json.dumps(r))
        self.assertEqual(self.net.connections(), [])

    def test_rules(self):
        for url, code in (
                ("http://evil.example.net/ok", "not_listed"),
                ("https://evil.example.net/ok", "not_listed"),
                ("https://two.example.com/ok", "denied"),
                ("http://ok.example.com:8080/ok", "port"),
                ("http://plain.example.com:443/ok", "port"),
                ("http://lo.example.com/ok", "address"),
                ("http://127.0.0.1/ok", "address_literal"),
                ("http://[::1]/ok", "address_literal"),
                ("http://0x7f.1/ok", None),
                ("http://169.254.169.254/latest/meta-data", None),
                ("http://ok.example.com@evil.example.net/", None),
                ("http://evil.example.net%2eok.example.com/", None)):
            with self.subTest(url=url):
                r = self.fetch(url)
                if r["state"] == "failed":
                    # the judge, or the schema, saw it first
                    self.assertIn(r["reason"], ("invalid_arguments",
                                                "denied_by_policy"), r)
                    self.assertIsNone(code, r)
                    continue
                self.bad(r, code)
                if code in ("not_listed", "denied", "port", "address"):
                    self.assertTrue([d for d in r["denials"]
                                     if d["layer"] == "egress"], r)
        self.assertEqual(self.net.connections(), [])

    def test_schemes_and_nonsense(self):
        for url in ("ftp://ok.example.com/ok", "file:///etc/passwd",
                    "gopher://ok.example.com/", "ok.example.com/ok", "",
                    "http://", "http:///ok", "http://ok.example.com:0/",
                    "http://ok.example.com:99999/", "http://ok.example.com /",
                    "http://ok.example.com/\r\nX: y"):
            with self.subTest(url=url):
                r = self.fetch(url)
                if r["state"] == "completed":
                    self.bad(r)
                else:
                    self.assertIn(r["reason"], ("invalid_arguments",
                                                "denied_by_policy"), r)
        self.assertEqual(self.net.connections(), [])

    def test_each_redirect_is_judged(self):
        # the control: where it may go it goes, and says so
        url = to("https://ok.example.com/ok")
        result = self.good(self.fetch(url))
        self.assertEqual((result["status"], result["url"]),
                         (200, "https://ok.example.com/ok"))
        self.assertEqual(len(result["redirects"]), 1, result)
        self.net.forget()
        for target, code in (
                ("http://evil.example.net/ok", "not_listed"),
                ("https://two.example.com/ok", "denied"),
                ("http://lo.example.com/ok", "address"),
                ("http://127.0.0.1/ok", "address_literal"),
                ("http://169.254.169.254/ok", "address_literal"),
                ("http://ok.example.com:6379/ok", "port"),
                ("file:///etc/passwd", None), ("ftp://ok.example.com/", None),
                # by way of one that is allowed
                (to("http://evil.example.net/ok", "http://two.example.com"),
                 "not_listed")):
            with self.subTest(target=target):
                self.bad(self.fetch(to(target)), code)
        self.assertEqual({r[2] for r in self.net.requests()},
                         {"ok.example.com", "two.example.com"})
        self.assertEqual({(c["to"], c["port"])
                          for c in self.net.connections()},
                         {("11.1.1.1", 80)})

    def test_redirects_end(self):
        self.bad(self.fetch("http://ok.example.com/loop/0"))
        self.assertLessEqual(len(self.net.requests()), 11)

    def test_what_is_kept_from_another_host(self):
        """A header meant for one host goes to no other."""
        self.good(self.fetch(
            to("http://two.example.com/echo"),
            headers={"Authorization": "Bearer abc", "X-Mine": "yes"}))
        first, second = [r for c in self.net.connections()
                         for r in c["requests"]]
        self.assertEqual(first["headers"]["authorization"], "Bearer abc")
        self.assertNotIn("authorization", second["headers"])

    def test_headers_that_are_tricks(self):
        for headers in ({"Host": "evil.example.net"},
                        {"X": "a\r\nHost: evil.example.net"},
                        {"X\r\nY": "z"}, {"Content-Length": "5"},
                        {"Transfer-Encoding": "chunked"}, {"X": "a\x7fb"},
                        {"Connection": "Upgrade"}, {"": "x"}, {"a b": "c"}):
            with self.subTest(headers=headers):
                r = self.fetch("http://ok.example.com/ok", headers=headers)
                if r["state"] == "completed":
                    self.bad(r)
                else:
                    self.assertEqual(r["reason"], "invalid_arguments", r)
        self.assertEqual(self.net.connections(), [])

    def test_capped(self):
        r = self.fetch("http://ok.example.com/big/1000000", max_bytes=1000)
        result = self.good(r)
        self.assertEqual((result["bytes"], result["truncated"]), (1000, True))
        self.assertEqual(len(stdout_of(r)), 1000)
        with EgressInstance(self.net, {"web": WEB},
                            limits={"web": "egress-fetch 4K;"}) as i:
            r = i.call("fetch", {"url": "http://ok.example.com/big/1000000"})
            result = self.good(r)
            self.assertEqual((result["bytes"], result["truncated"]),
                             (4096, True))

    def test_redacted(self):
        r = self.fetch("https://ok.example.com/secret")
        self.good(r)
        self.assertIn("token: ", r["stdout"])
        self.assertNotIn(TOKEN, json.dumps(r))

    def test_certificates(self):
        """Of an authority that the host trusts, for that name."""
        self.bad(self.fetch("https://other.example.org/ok"), "tls")
        for c in self.net.connections():
            self.assertEqual(c["requests"], [])

    def test_a_host_that_fails(self):
        self.net.names({"plain.example.com": {"code": 2}})
        self.bad(self.fetch("http://plain.example.com/ok"), "unresolved")
        self.net.names({"plain.example.com": ["11.9.9.9"]})
        self.bad(self.fetch("http://plain.example.com/ok"), "unreachable")
        self.net.names({"plain.example.com": ["11.1.1.1"]})
        self.bad(self.fetch("http://ok.example.com/twice"), "bad_response")
        self.bad(self.fetch("http://ok.example.com/close"))

    def test_ended(self):
        """Its time limit, and a cancel, end it as any call."""
        r = self.i.call("fetch", {"url": "http://ok.example.com/stall/60"},
                        session=self.session, timeout_ms=1000)
        self.assertEqual((r["state"], r["reason"]), ("failed", "timed_out"),
                         r)
        self.net.settled()
        status, body = self.i.request(
            "POST", "/v1/sessions/%s/calls" % self.session,
            {"tool": "fetch", "args": {
                "url": "http://ok.example.com/stall/60"}})
        self.assertEqual(status, 202, body)
        wait_for(lambda: self.net.tell(do="count")["open"], 60)
        self.i.request("POST", "/v1/calls/%s/cancel" % body["call"])
        r = self.i.get("/v1/calls/%s?wait_ms=20000" % body["call"])[1]
        self.assertEqual(r["state"], "cancelled", r)
        self.net.settled()

    def test_without_egress(self):
        """As any command that needs the network: refused, and what helps."""
        r = self.i.call("fetch", {"url": "http://ok.example.com/ok"},
                        profile="no")
        self.assertEqual((r["state"], r["reason"]), ("failed", "no_egress"),
                         r)

    def test_recorded(self):
        self.good(self.fetch("http://ok.example.com/ok"))
        self.bad(self.fetch("http://evil.example.net/ok"))
        def there():
            text = self.i.ctl("audit", "tail").stdout.decode()
            return all(w in text for w in ("egress.ended", "egress.denied",
                                           "evil.example.net"))
        wait_for(there, 60, 0.1)


if __name__ == "__main__":
    unittest.main()
