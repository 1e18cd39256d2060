"""request_egress: an agent asks for a host, a person says for how long, and
the neuron that runs has it at once, and no other."""
import json
import os
import signal
import unittest

from egress import EgressCase, EgressInstance, wrapped
from harness import wait_for

WEB = """
	allow host "ok.example.com";
	deny host "denied.example.com"; deny host "*.denied.example.com"
"""
ASKED = "asked.example.com"


class Grants(EgressCase):
    NAMES = ("ok.example.com", ASKED, "once.example.com",
             "denied.example.com", "evil.example.net",
             "xn--bcher-kva.example.com")

    @classmethod
    def instance(cls):
        cls.net.names({"lo.example.com": ["127.0.0.1"]})
        return EgressInstance(
            cls.net, {"web": WEB, "empty": ""}, without=("no",),
            extra="self-approval yes\nrestart-window 1s\n")

    def setUp(self):
        super().setUp()
        self.session = self.i.session(profile="empty", **self.w.fields())

    def tearDown(self):
        self.i.request("DELETE", "/v1/sessions/" + self.session)

    def ask(self, decision, session=None, **args):
        """A request, decided: the result of its call."""
        args.setdefault("reason", "the build needs it")
        status, body = self.i.request(
            "POST", "/v1/sessions/%s/calls" % (session or self.session),
            {"tool": "request_egress", "args": args})
        self.assertEqual(status, 202, body)

        def state():
            r = self.i.get("/v1/calls/" + body["call"])[1]
            return r if r["state"] != "queued" else None
        r = wait_for(state, 60)
        if r["state"] == "awaiting_approval":
            a = self.i.get("/v1/approvals/" + r["approval"],
                           operator=True)[1]
            # whoever decides sees the host and what it is for
            self.assertEqual(json.loads(a["shown"])["reason"],
                             args["reason"])
            status, answer = self.i.request(
                "POST", "/v1/approvals/" + r["approval"],
                {"decision": decision, "digest": a["digest"]}, operator=True)
            self.assertEqual(status, 200, answer)
        return wait_for(lambda: [r for r in [self.i.get(
            "/v1/calls/%s?wait_ms=50000" % body["call"])[1]]
            if "stdout" in r], 60)[0]

    def status(self, url="http://%s/ok" % ASKED, session=None, method="GET",
               more=""):
        return self.w.probe("get(%r, %r, %r)" % (url, method, more),
                            session=session or self.session)["status"]

    def granted(self, r, host, port, scope):
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        self.assertEqual({k: r["result"][k] for k in
                          ("host", "port", "scope")},
                         {"host": host, "port": port, "scope": scope}, r)

    def test_for_the_session(self):
        other = self.i.session(profile="empty", **self.w.fields())
        self.assertEqual(self.status(), 403)
        self.granted(self.ask("allow_session", host=ASKED, port=80), ASKED,
                     80, "session")
        for _ in range(3):
            self.assertEqual(self.status(), 200)
        # that port, that host and that neuron alone
        self.assertEqual(self.status("http://%s:8080/ok" % ASKED), 403)
        self.assertEqual(self.status("http://ok.example.com/ok"), 403)
        self.assertEqual(self.status(session=other), 403)
        self.i.request("DELETE", "/v1/sessions/" + other)

    def test_once(self):
        self.granted(self.ask("allow_once", host=ASKED, port=80), ASKED, 80,
                     "once")
        self.assertEqual(self.status(), 200)
        self.assertEqual(self.status(), 403)

    def test_a_call_that_runs_sees_it(self):
        """The rules of a neuron change under what runs in it."""
        flag = os.path.join(self.w.path, "granted")
        status, body = self.i.request(
            "POST", "/v1/sessions/%s/calls" % self.session,
            {"tool": "python", "timeout_ms": 40000, "args": {
                "code": wrapped(self.w.path, """
url = "http://%s/ok"
first = get(url)["status"]
print("first", flush=True)
while not os.path.exists(%r):
    time.sleep(0.02)
[first, get(url)["status"]]""" % (ASKED, flag))}})
        self.assertEqual(status, 202, body)
        self.granted(self.ask("allow_session", host=ASKED, port=80), ASKED,
                     80, "session")
        # not before the first was answered: its refusal is in the audit
        self.w.write("granted", "")
        r = wait_for(lambda: [r for r in [self.i.get(
            "/v1/calls/%s?wait_ms=50000" % body["call"])[1]]
            if "stdout" in r], 60)[0]
        os.unlink(flag)
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        self.assertEqual(json.loads(r["stdout"].split("\n")[1])[1], 200)

    def test_rejected(self):
        r = self.ask("reject_once", host=ASKED, port=80)
        self.assertEqual((r["state"], r["reason"]),
                         ("failed", "approval_rejected"), r)
        self.assertEqual(self.status(), 403)
        self.assertEqual(self.net.connections(), [])

    def test_to_write(self):
        length = "Content-Length: 0\r\n"
        url = "http://%s/echo" % ASKED
        self.granted(self.ask("allow_session", host=ASKED, port=80), ASKED,
                     80, "session")
        self.assertEqual(self.status(url, method="POST", more=length), 403)
        self.granted(self.ask("allow_session", host=ASKED, port=80,
                              write=True), ASKED, 80, "session")
        self.assertEqual(self.status(url, method="POST", more=length), 200)

    def test_names_are_canonical(self):
        self.granted(self.ask("allow_session", host="ASKED.Example.com.",
                              port=80), ASKED, 80, "session")
        self.assertEqual(self.status(), 200)
        r = self.ask("allow_session", host="b\u00fccher.example.com",
                     port=80)
        self.granted(r, "xn--bcher-kva.example.com", 80, "session")
        for host in ("a b.example.com", "127.1", "x@y.example.com",
                     "a..example.com", "http://asked.example.com"):
            with self.subTest(host=host):
                r = self.ask("allow_session", host=host, port=80)
                self.assertTrue(
                    r["state"] == "failed" or
                    (r["exit_code"], "error" in r["result"]) == (1, True), r)

    def test_what_no_grant_lifts(self):
        """A line that denies, and what no address may be."""
        session = self.i.session(profile="web", **self.w.fields())
        try:
            for host in ("denied.example.com", "lo.example.com",
                         "169.254.169.254", "127.0.0.1"):
                with self.subTest(host=host):
                    self.ask("allow_session", session=session, host=host,
                             port=80)
                    self.assertEqual(self.status("http://%s/ok" % host,
                                                 session=session), 403)
            self.assertEqual(self.net.connections(), [])
        finally:
            self.i.request("DELETE", "/v1/sessions/" + session)

    def test_a_profile_without_egress(self):
        session = self.i.session(profile="no")
        try:
            status, body = self.i.request(
                "POST", "/v1/sessions/%s/calls" % session,
                {"tool": "request_egress", "wait_ms": 50000, "args": {
                    "host": ASKED, "reason": "x"}})
            self.assertEqual(body["state"], "failed", body)
            self.assertIn("egress", json.dumps(body["denials"]))
        finally:
            self.i.request("DELETE", "/v1/sessions/" + session)

    def test_survives_egressd(self):
        self.granted(self.ask("allow_session", host=ASKED, port=80), ASKED,
                     80, "session")
        old = self.i.pid("egressd")
        os.kill(old, signal.SIGKILL)
        wait_for(lambda: self.i.processes()["egressd"]["state"] == "up" and
                 self.i.pid("egressd") != old, 60)
        wait_for(lambda: self.status() == 200, 60)
        self.assertEqual(self.status("http://ok.example.com/ok"), 403)

    def test_recorded(self):
        self.granted(self.ask("allow_session", host=ASKED, port=80), ASKED,
                     80, "session")
        self.assertEqual(self.status(), 200)
        self.assertEqual(self.status("http://evil.example.net/ok"), 403)

        def there():
            text = self.i.ctl("audit", "tail").stdout.decode()
            return all(w in text for w in (
                "egress.granted", "egress.ended", "egress.denied", ASKED,
                "evil.example.net"))
        wait_for(there, 60, 0.1)


if __name__ == "__main__":
    unittest.main()
