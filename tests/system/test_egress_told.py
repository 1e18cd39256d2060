"""Egress as it is told: what was refused to a call, what can be done about it,
what a person's word lets through and takes back, and what operators see."""
import json
import os
import unittest

from egress import EgressCase, EgressInstance, wrapped
from harness import wait_for

WEB = 'allow host "ok.example.com"'
ASKED = "asked.example.com"


class Told(EgressCase):
    NAMES = ("ok.example.com", ASKED, "evil.example.net")

    @classmethod
    def instance(cls):
        return EgressInstance(cls.net, {"web": WEB, "empty": ""},
                              extra="self-approval yes\n", without=("no",))

    def session(self, profile):
        s = self.i.session(profile=profile, **self.w.fields())
        self.addCleanup(self.i.request, "DELETE", "/v1/sessions/" + s)
        return s

    def approvals(self, call):
        a = self.i.get("/v1/approvals", operator=True)[1]["approvals"]
        return [x for x in a if x["call"] == call]

    def begin(self, session, tool, args):
        status, body = self.i.request(
            "POST", "/v1/sessions/%s/calls" % session,
            {"tool": tool, "args": args, "timeout_ms": 40000})
        self.assertEqual(status, 202, body)
        return body["call"]

    def decide(self, call, decision):
        """The approval that it waited for, decided."""
        a = wait_for(lambda: self.approvals(call), 60)[0]
        a = self.i.get("/v1/approvals/" + a["approval"], operator=True)[1]
        status, answer = self.i.request(
            "POST", "/v1/approvals/" + a["approval"],
            {"decision": decision, "digest": a["digest"]}, operator=True)
        self.assertEqual(status, 200, answer)
        return a["approval"]

    def ended(self, call):
        def over():
            r = self.i.get("/v1/calls/%s?wait_ms=50000" % call)[1]
            return r if "stdout" in r else None
        return wait_for(over, 60)

    # ---- what was refused ----

    def test_denials_of_a_call(self):
        r = self.w.call("""
[get("http://evil.example.net/ok")["status"],
 get("http://evil.example.net/ok")["status"],
 get("http://ok.example.com/ok")["status"]]""", profile="web")
        self.assertEqual(json.loads(r["stdout"]), [403, 403, 200], r)
        self.assertEqual([d["layer"] for d in r["denials"]], ["egress"], r)
        denial = r["denials"][0]
        self.assertIn("evil.example.net:80", denial["what"])
        self.assertEqual((denial["rule"], denial["times"]),
                         ("not_listed", 2), r)
        self.assertTrue(denial["next"], r)
        # a person who asks for the call is told the same
        text = self.i.ctl("call", "explain", r["call"]).stdout.decode()
        self.assertIn("by egress: evil.example.net:80", text)
        self.assertIn("2 times", text)
        # and nothing of it to a call that nothing was refused to
        r = self.w.call('get("http://ok.example.com/ok")["status"]',
                        profile="web")
        self.assertEqual(r["denials"], [], r)

    def test_run_says_why(self):
        with open(os.path.join(self.w.path, "fails.py"), "w") as f:
            f.write(wrapped(self.w.path, """
r = get("http://evil.example.net/ok")
sys.exit(r["status"] == 403 and 3)"""))
        r = self.i.ctl("run", "--profile", "web", "-w", self.w.path, "--",
                       "python3", "fails.py")
        self.assertEqual(r.returncode, 3, r)
        self.assertIn(b"denied: evil.example.net:80", r.stderr)

    def test_next_step(self):
        curl = "curl -s https://%s/" % ASKED
        for profile, word in (("empty", "request_egress"),
                              ("no", '"egress" block')):
            for tool, args in (("bash", {"command": curl}),
                               ("fetch", {"url": "http://%s/ok" % ASKED})):
                r = self.i.call(tool, args, profile=profile)
                self.assertEqual((r["state"], r["reason"]),
                                 ("failed", "no_egress"), r)
                self.assertIn(word, r["denials"][0]["next"], r)
        # the same that is refused where nothing is allowed runs with a line
        r = self.i.call("bash", {"command": "true || " + curl},
                        profile="web")
        self.assertEqual(r["state"], "completed", r)
        r = self.i.call("request_egress", {"host": ASKED, "reason": "r"},
                        profile="empty")
        self.assertEqual((r["state"], r["reason"]),
                         ("failed", "denied_by_policy"), r)
        self.assertIn("session", r["denials"][0]["next"])

    # ---- what a person's word does ----

    def test_writes_of_a_call_that_was_allowed(self):
        """Plain HTTP may write while a call runs that a person let write."""
        session = self.session("web")
        post = "curl -s -o /dev/null -w '%%{http_code}' -d x http://%s/echo"
        post %= "ok.example.com"
        r = self.w.call('get("http://ok.example.com/echo", "POST")["status"]',
                        session=session)
        self.assertEqual(json.loads(r["stdout"]), 403, r)
        self.assertEqual(r["denials"][0]["rule"], "method", r)
        call = self.begin(session, "bash", {"command": post})
        self.decide(call, "allow_once")
        r = self.ended(call)
        self.assertEqual((r["state"], r["stdout"]), ("completed", "200"), r)
        # that call alone
        r = self.w.call('get("http://ok.example.com/echo", "POST")["status"]',
                        session=session)
        self.assertEqual(json.loads(r["stdout"]), 403, r)

    def test_revoked(self):
        """What stands on a grant ends with it."""
        session = self.session("empty")
        call = self.begin(session, "request_egress",
                          {"host": ASKED, "port": 80, "reason": "r"})
        approval = self.decide(call, "allow_session")
        r = self.ended(call)
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        status, n = self.i.get("/v1/neurons/" + r["neuron"])
        self.assertEqual([(g["host"], g["port"], g["scope"], g["approval"])
                          for g in n["egress"]["grants"]],
                         [(ASKED, 80, "session", approval)], n)
        self.assertEqual(sorted(n["egress"]["listeners"]),
                         ["dns", "plain", "proxy", "tls"])
        flag = os.path.join(self.w.path, "open")
        call = self.begin(session, "python", {"code": wrapped(
            self.w.path, """
s = connect(%r, 80)[0]
open(%r, "w").close()
s.settimeout(30)
try:
    end = s.recv(1)
except ConnectionResetError:
    end = b""
[len(end), get("http://%s/ok")["status"]]""" % (ASKED, flag, ASKED))})
        wait_for(lambda: os.path.exists(flag), 60)
        os.unlink(flag)
        status, answer = self.i.request(
            "DELETE", "/v1/approvals/" + approval, operator=True)
        self.assertEqual(status, 200, answer)
        r = self.ended(call)
        self.assertEqual(json.loads(r["stdout"]), [0, 403], r)
        status, n = self.i.get("/v1/neurons/" + r["neuron"])
        self.assertEqual(n["egress"]["grants"], [], n)

    # ---- what operators see ----

    def test_status(self):
        session = self.session("web")
        body = self.i.get("/v1/status", operator=True)[1]["egress"]
        self.assertEqual(body["state"], "up")
        self.assertGreaterEqual(body["neurons"], 1)
        r = self.i.ctl("status")
        self.assertIn(b"neurons with egress", r.stdout)
        other = self.session("no")
        for s, there in ((session, True), (other, False)):
            n = self.i.get("/v1/sessions/" + s)[1]["neuron"]
            n = self.i.get("/v1/neurons/" + n)[1]
            self.assertEqual(n["egress"] is not None, there, n)


if __name__ == "__main__":
    unittest.main()
