"""A call's life in order; and how a session's stream ends."""
import json
import os
import signal
import threading
import time
import unittest

from harness import CONFIG, Instance, Workspace, parse_events, wait_for


def order(text, *words):
    """Fails unless the words come in this order."""
    at = 0
    for w in words:
        found = text.find(w, at)
        assert found >= 0, "%r not behind %r in:\n%s" % (w, text[:at][-40:],
                                                         text)
        at = found + len(w)


class Explain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance(extra='\npreset "few" { cap mutate-irreversible; '
                         'deny tool python }\nresult-kept 2s\n')

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def explain(self, call, *more):
        r = self.i.ctl("call", *more, "explain", call)
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout.decode()

    def test_a_call_that_completed(self):
        i = self.i
        s = i.session()
        r = i.bash("sleep 300 & echo one; echo two >&2; exit 3", session=s)
        text = self.explain(r["call"])
        order(text, r["call"], "asked", "by uid:0: tool bash",
              "in session " + s, "preset standard, profile default",
              "arguments", "sha256 ", "judged", "allow",
              "effect mutate-irreversible", "marks -", "limits",
              "60000 ms, memory 1073741824", "pids 512", "waited", "started",
              "it ran for", "layers", "seccomp", "landlock", "output",
              "stdout 4 bytes, 0 of them dropped, as utf-8",
              "stderr 4 bytes", "ended", "completed", "exit code 3",
              "left over", "1 processes", "used", "in all")
        self.assertEqual(len(r["arguments_sha256"]), 64)
        # the same for an operator, and for programs
        order(self.explain(r["call"], "-o"), "asked", "by uid:0", "judged",
              "ended")
        j = json.loads(i.ctl("call", "--json", "explain", r["call"]).stdout)
        self.assertEqual((j["call"], j["exit_code"], j["preset"]),
                         (r["call"], 3, "standard"))
        for name in ("wait_us", "judge_us", "queue_us", "start_us", "run_us",
                     "end_us", "total_us"):
            self.assertGreaterEqual(j["times"][name], 0)
        self.assertGreater(j["times"]["run_us"], 0)

    def test_other_ends(self):
        i = self.i
        # with a workspace it is made, and none that is ready
        w = Workspace()
        self.addCleanup(w.close)
        r = i.bash("kill -9 $$", **w.fields())
        order(self.explain(r["call"]), "in neuron", "of its own", "neuron",
              "made in", "ended", "failed, signalled",
              "killed by signal KILL")
        r = i.bash("sleep 60", timeout_ms=1000)
        order(self.explain(r["call"]), "limits", "1000 ms", "ended",
              "failed, timed_out", "killed by signal", "because",
              "the call's time of 1000 ms was over")
        r = i.call("bash", {"command": 5})
        order(self.explain(r["call"]), "judged", "invalid", "because",
              "args.command: expected string", "started", "never", "ended",
              "failed, invalid_arguments")
        r = i.bash("head -c 9000000 /dev/zero | tr '\\0' x")
        order(self.explain(r["call"]), "stdout 9000000 bytes, 611392 of them "
              "dropped")

    def test_it_outlives_the_result(self):
        i = self.i
        r = i.bash("echo; printf '\\033[31m'")
        time.sleep(4)       # result-kept is 2 s: only the disk has it
        text = self.explain(r["call"])
        order(text, "asked", "arguments", "sha256", '"command":',
              "judged", "allow", "waited", "output", "stdout 6 bytes",
              "ended", "completed", "transcript", "kept")
        self.assertNotIn("\033", text)
        r = i.ctl("call", "explain", "c-none")
        self.assertNotEqual(r.returncode, 0)
        self.assertIn(b"not the id of a call", r.stderr)

    def test_one_that_runs(self):
        i = self.i
        status, r = i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "sleep 55"}})
        wait_for(lambda: i.get("/v1/calls/" + r["call"], operator=True)[1]
                 ["state"] == "running", 60)
        order(self.explain(r["call"], "-o"), "asked", "judged", "allow",
              "limits", "now", "running")
        i.request("POST", "/v1/calls/%s/cancel" % r["call"])


class SessionOver(unittest.TestCase):
    def stream(self, i, session, found, last=None):
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        for event in i.events("/v1/sessions/%s/events" % session,
                              headers=headers):
            found.append(event)

    def listen(self, i, session):
        """From here on: who reads it is there already."""
        found = []
        c = i.connection()
        c.request("GET", "/v1/sessions/%s/events" % session,
                  headers={"Accept": "text/event-stream"})
        stream = c.getresponse()
        self.addCleanup(c.close)
        self.assertEqual(stream.status, 200)

        def read():
            for event in parse_events(stream):
                found.append(event)
        t = threading.Thread(target=read)
        t.start()
        return t, found

    def check(self, i, t, found, session, reason):
        t.join(60)
        self.assertFalse(t.is_alive(), "the stream goes on")
        self.assertEqual(found[-1][1:], ("session.ended", {
            "session": session, "reason": reason}))
        self.assertEqual([e[1] for e in found].count("session.ended"), 1)
        # who comes back with the last id hears nothing twice
        again = []
        self.stream(i, session, again, found[-1][0])
        self.assertEqual(again, [])

    def test_all_ways_to_end(self):
        with Instance(CONFIG + "\nrestart-window 1s\n") as i:
            # it expires
            s = i.session(expires=10)
            t, found = self.listen(i, s)
            # an operator ends another meanwhile, with a call that runs
            s2 = i.session()
            t2, found2 = self.listen(i, s2)
            status, r = i.request("POST", "/v1/sessions/%s/calls" % s2, {
                "tool": "bash", "args": {"command": "sleep 60"}})
            wait_for(lambda: any(e[1] == "call.started" for e in found2), 60)
            status, _ = i.request("DELETE", "/v1/sessions/" + s2,
                                  operator=True)
            self.assertEqual(status, 200)
            self.check(i, t2, found2, s2, "ended_by_operator")
            names = [e[1] for e in found2]
            self.assertEqual(names[-2:], ["call.finished", "session.ended"])
            self.assertEqual(found2[-2][2]["reason"], "session_ended")
            # its owner ends a third
            s3 = i.session()
            t3, found3 = self.listen(i, s3)
            i.request("DELETE", "/v1/sessions/" + s3)
            self.check(i, t3, found3, s3, "ended")
            # one that has ended is told so at once
            late = []
            self.stream(i, s3, late)
            self.assertEqual([e[1:] for e in late], [
                ("session.ended", {"session": s3, "reason": "ended"})])
            self.check(i, t, found, s, "expired")

    def test_policyd_takes_them_along(self):
        with Instance(CONFIG + "\nrestart-window 1s\n") as i:
            s = i.session()
            t, found = self.listen(i, s)
            pid = i.pid("policyd")
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda: self.up(i, pid), 60, 0.1)
            self.check(i, t, found, s, "interrupted")

    def up(self, i, pid):
        try:
            p = i.processes()
        except (OSError, AssertionError, TypeError):
            return False
        return p["policyd"]["pid"] != pid and all(
            v["state"] == "up" for v in p.values())


if __name__ == "__main__":
    unittest.main()
