"""Draining: no new calls, the running ones end, and then it is said."""
import json
import threading
import time
import unittest

from harness import CONFIG, Instance, wait_for
from test_reload import audit, reload


class Drain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def setUp(self):
        self.i.request("DELETE", "/v1/drain", operator=True)

    def tearDown(self):
        self.i.request("DELETE", "/v1/drain", operator=True)
        self.assertEqual(self.i.bash("echo ok")["stdout"], "ok\n")

    def post(self, body=None):
        return self.i.request("POST", "/v1/drain", body, operator=True)

    def start(self, command="read x; echo got $x", session=None):
        """A call that runs until it is told."""
        path = "/v1/sessions/%s/calls" % session if session else "/v1/calls"
        status, c = self.i.request("POST", path, {
            "tool": "bash", "args": {"command": command},
            "stdin": {"stream": True}})
        self.assertEqual(status, 202, c)
        wait_for(lambda: self.i.get("/v1/calls/" + c["call"])[1]["state"] ==
                 "running", 60)
        return c["call"]

    def tell(self, call):
        self.i.request("POST", "/v1/calls/%s/stdin?eof=1" % call, b"it\n")

    def result(self, call):
        return self.i.request("GET", "/v1/calls/%s?wait_ms=50000" % call)[1]

    def test_nothing_runs(self):
        status, body = self.post()
        self.assertEqual((status, body), (200, {
            "draining": True, "calls": {"running": 0},
            "sessions": {"live": 0}}))
        self.assertTrue(self.i.status()["draining"])
        status, body = self.i.request("DELETE", "/v1/drain", operator=True)
        self.assertEqual((status, body["draining"]), (200, False))
        self.assertFalse(self.i.status()["draining"])

    def test_new_ones_are_refused(self):
        session = self.i.session()
        self.post()
        ask = {"tool": "exec", "args": {"argv": ["true"]}}
        for path, body in (("/v1/calls", ask), ("/v1/sessions", {}),
                           ("/v1/sessions/%s/calls" % session, ask)):
            c = self.i.connection()
            c.request("POST", path, json.dumps(body),
                      {"Content-Type": "application/json"})
            r = c.getresponse()
            error = json.loads(r.read())["error"]
            c.close()
            self.assertEqual((r.status, error["code"]),
                             (503, "unavailable"), path)
            self.assertGreater(int(r.getheader("Retry-After")), 0)
            self.assertIn("draining", error["message"])
        # looking and ending go on
        self.assertEqual(self.i.get("/v1/whoami")[0], 200)
        self.assertEqual(self.i.get("/healthz")[0], 200)
        self.assertEqual(self.i.request("DELETE", "/v1/sessions/" +
                                        session)[0], 200)

    def test_waits_for_the_running_ones(self):
        session = self.i.session()
        calls = [self.start(), self.start(session=session),
                 self.start(session=session)]
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(
            self.post({"timeout_ms": 50000}))) for _ in range(3)]
        for t in threads:
            t.start()
        wait_for(lambda: self.i.status()["draining"], 60)
        status, body = self.post({"timeout_ms": 100})
        self.assertEqual((status, body["calls"]), (202, {"running": 3}))
        for call in calls[:2]:
            self.tell(call)
            self.assertEqual(self.result(call)["stdout"], "got it\n")
        time.sleep(0.3)
        self.assertEqual(answers, [])
        self.tell(calls[2])
        self.assertEqual(self.result(calls[2])["stdout"], "got it\n")
        for t in threads:
            t.join(60)
        self.assertEqual(answers, [(200, {
            "draining": True, "calls": {"running": 0},
            "sessions": {"live": 1}})] * 3)
        self.i.request("DELETE", "/v1/drain", operator=True)
        # the session has lived through it
        self.assertEqual(self.i.bash("echo on", session=session)["stdout"],
                         "on\n")
        self.i.request("DELETE", "/v1/sessions/" + session)

    def test_ended_while_somebody_waits(self):
        call = self.start()
        answers = []
        t = threading.Thread(target=lambda: answers.append(
            self.post({"timeout_ms": 50000})))
        t.start()
        wait_for(lambda: self.i.status()["draining"], 60)
        self.i.request("DELETE", "/v1/drain", operator=True)
        t.join(60)
        self.assertEqual((answers[0][0], answers[0][1]["error"]["code"]),
                         (409, "conflict"))
        self.assertEqual(self.i.bash("echo again")["stdout"], "again\n")
        self.tell(call)
        self.assertEqual(self.result(call)["state"], "completed")

    def test_one_who_waits_goes_away(self):
        call = self.start()
        c = self.i.connection(operator=True)
        c.request("POST", "/v1/drain", b"{}",
                  {"Content-Type": "application/json"})
        wait_for(lambda: self.i.status()["draining"], 60)
        c.close()
        self.tell(call)
        self.assertEqual(self.post({"timeout_ms": 50000})[0], 200)

    def test_bodies(self):
        for body, word in (({"timeout_ms": 60001}, "60000"),
                           ({"timeout_ms": -1}, "timeout_ms"),
                           ({"timeout_ms": "1"}, "timeout_ms"),
                           ({"nosuch": 1}, "nosuch")):
            status, answer = self.post(body)
            self.assertEqual((status, answer["error"]["code"]),
                             (400, "bad_request"), body)
            self.assertIn(word, answer["error"]["message"])
        self.assertFalse(self.i.status()["draining"])

    def test_agents_have_no_such_route(self):
        self.assertEqual(self.i.request("POST", "/v1/drain")[0], 404)
        self.assertEqual(self.i.request("DELETE", "/v1/drain")[0], 404)

    def test_lasts_through_a_reload(self):
        self.post()
        reload(self.i, CONFIG)
        self.assertTrue(self.i.status()["draining"])
        self.assertEqual(self.i.request("POST", "/v1/sessions", {})[0], 503)

    def test_records(self):
        before = {e: len(audit(self.i, e)) for e in (
            "drain.started", "drain.done", "drain.ended")}
        call = self.start()
        self.post({"timeout_ms": 0})
        self.post({"timeout_ms": 0})
        self.tell(call)
        self.assertEqual(self.post()[0], 200)
        self.i.request("DELETE", "/v1/drain", operator=True)
        self.i.request("DELETE", "/v1/drain", operator=True)
        for event, n in before.items():
            records = audit(self.i, event)
            self.assertEqual(len(records), n + 1, event)
        self.assertEqual(audit(self.i, "drain.started")[-1]["operator"],
                         "uid:0")
        self.assertEqual(audit(self.i, "drain.started")[-1]["calls"], 1)

    # ---- the command ----

    def test_command(self):
        r = self.i.ctl("drain")
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, b"", b""))
        self.assertRegex(self.i.ctl("status").stdout, rb"draining +yes")
        r = self.i.ctl("run", "--", "true")
        self.assertEqual(r.returncode, 125)
        self.assertIn(b"draining", r.stderr)
        r = self.i.ctl("drain", "--stop", "--json")
        self.assertEqual(json.loads(r.stdout)["draining"], False)
        self.assertEqual(self.i.ctl("run", "--", "true").returncode, 0)

    def test_command_runs_out_of_time(self):
        call = self.start()
        begin = time.monotonic()
        r = self.i.ctl("drain", "--timeout", "0.5")
        self.assertEqual(r.returncode, 1)
        self.assertIn(b"1 call still runs", r.stderr)
        self.assertGreaterEqual(time.monotonic() - begin, 0.5)
        self.tell(call)
        self.assertEqual(self.i.ctl("drain", "--timeout", "50").returncode, 0)

    def test_command_line(self):
        for args in (["x"], ["--stop", "--timeout", "1"], ["--timeout", "x"]):
            self.assertEqual(self.i.ctl("drain", *args).returncode, 2, args)
        self.assertFalse(self.i.status()["draining"])


class Operators(unittest.TestCase):
    """What operators see of single things, and the kill switch."""

    @classmethod
    def setUpClass(cls):
        cls.i = Instance()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def get(self, path):
        return self.i.get(path, operator=True)

    def test_single_ones(self):
        session = self.i.session()
        status, s = self.get("/v1/sessions/" + session)
        self.assertEqual((status, s["session"], s["principal"]),
                         (200, session, "uid:0"))
        self.assertEqual(self.get("/v1/neurons/" + s["neuron"])[1]["state"],
                         "up")
        call = self.i.bash("echo secret", session=session)
        status, c = self.get("/v1/calls/" + call["call"])
        self.assertEqual((status, c["state"], c["exit_code"]),
                         (200, "completed", 0))
        # the output is the agent's, and the auditors': by its transcript
        for key in ("stdout", "stderr"):
            self.assertIn(c.get(key), (None, "secret\n", ""))
        listed = self.get("/v1/sessions/%s/calls" % session)[1]["calls"]
        self.assertEqual([x["call"] for x in listed], [call["call"]])
        self.assertEqual(json.loads(self.i.ctl("call", "show", "-o", call[
            "call"]).stdout)["call"], call["call"])
        for path in ("/v1/calls/c-", "/v1/sessions/s-", "/v1/neurons/n-"):
            self.assertEqual(self.get(path + "0" * 20)[0], 404)
        self.assertEqual(self.get("/v1/calls/%s?wait_ms=1" %
                                  call["call"])[0], 400)
        self.assertEqual(self.i.ctl("call", "-o", "bash",
                                    "{}").returncode, 2)
        self.i.request("DELETE", "/v1/sessions/" + session)

    def test_kill_switch(self):
        session = self.i.session()
        call = self.i.request("POST", "/v1/sessions/%s/calls" % session, {
            "tool": "bash", "args": {"command": "sleep 60"}})[1]["call"]
        wait_for(lambda: self.get("/v1/calls/" + call)[1]["state"] ==
                 "running", 60)
        r = self.i.ctl("sessions", "end", "-o", session)
        self.assertEqual(r.returncode, 0, r.stderr)
        r = self.i.request("GET", "/v1/calls/%s?wait_ms=50000" % call)[1]
        self.assertEqual((r["state"], r["reason"]),
                         ("failed", "session_ended"))
        s = self.i.get("/v1/sessions/" + session)[1]
        self.assertEqual((s["state"], s["reason"]),
                         ("ended", "ended_by_operator"))
        self.assertEqual(audit(self.i, "session.killed")[-1]["operator"],
                         "uid:0")
        self.assertEqual(self.i.request("DELETE", "/v1/sessions/" + session,
                                        operator=True)[0], 404)

    def test_only_with_the_right(self):
        reload(self.i, CONFIG.replace("may approve, audit, manage",
                                      "may approve, audit"))
        try:
            session = self.i.session()
            status, body = self.i.request("DELETE", "/v1/sessions/" + session,
                                          operator=True)
            self.assertEqual(status, 403)
            self.assertIn('"manage"', body["error"]["message"])
            self.assertEqual(self.get("/v1/sessions/" + session)[1]["state"],
                             "live")
            r = self.i.ctl("drain")
            self.assertEqual(r.returncode, 1)
            self.assertIn(b"manage", r.stderr)
        finally:
            reload(self.i, CONFIG)


if __name__ == "__main__":
    unittest.main()
