"""Verdicts: what they say, dry runs, and what a death of judged costs."""
import json
import os
import signal
import threading
import time
import unittest

from harness import Instance, Workspace, wait_for
from mcp import Mcp

MEMBERS = {"verdict", "class", "effect", "marks", "rule", "where", "command",
           "from", "to", "reason", "next"}
WIPE = "cd /tmp && echo ran; rm -rf /"


def audit_of(i, **members):
    """Records of the audit log that have these members, oldest first."""
    found, after = [], 0
    for _ in range(1000):
        page = i.get("/v1/audit?limit=500&after=%d" % after,
                     operator=True)[1]
        found += [json.loads(l) for l in page["lines"]]
        if not page["next"]:
            break
        after = page["next"]
    return [r for r in found if all(r.get(k) == v
                                    for k, v in members.items())]


class Structured(unittest.TestCase):
    """The same verdict in the record, the events, the log and for people."""

    @classmethod
    def setUpClass(cls):
        cls.i = Instance()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def check(self, verdict):
        self.assertGreaterEqual(set(verdict), MEMBERS)
        self.assertEqual(verdict["verdict"], "deny")
        self.assertEqual(verdict["class"], "hard:wipe")
        self.assertEqual(verdict["rule"], "hard:wipe")
        self.assertEqual(verdict["command"], "rm -rf /")
        self.assertEqual(WIPE[verdict["from"]:verdict["to"]], "rm -rf /")
        self.assertEqual(verdict["where"], None)
        self.assertIn("never run", verdict["reason"])
        self.assertTrue(verdict["next"])

    def test_record(self):
        r = self.i.bash(WIPE)
        self.check(r["judged"])
        # v1 only grows
        for name in ("verdict", "class", "effect", "marks", "rule"):
            self.assertEqual(r[name], r["judged"][name])
        self.assertEqual(r["why"], r["judged"]["reason"])
        self.assertEqual(r["denials"], [{
            "layer": "judge", "what": r["judged"]["reason"],
            "rule": "hard:wipe", "next": r["judged"]["next"]}])
        # also where only the disk has it
        again = self.i.get("/v1/calls/" + r["call"], operator=True)[1]
        self.check(again["judged"])

    def test_of_what_runs(self):
        r = self.i.bash("true; ls $X")
        self.assertEqual((r["judged"]["verdict"], r["judged"]["class"],
                          r["judged"]["command"], r["judged"]["to"]),
                         ("allow", "read", None, None))
        r = self.i.call("ls", {})
        self.assertEqual((r["judged"]["command"], r["judged"]["from"]),
                         (None, None))

    def test_event(self):
        events = list(self.i.events("/v1/calls", {
            "tool": "bash", "args": {"command": WIPE}}))
        judged = [d for _, e, d in events if e == "call.judged"]
        self.assertEqual(len(judged), 1)
        self.check(judged[0])
        self.assertEqual(judged[0]["call"], events[-1][2]["call"])

    def test_audit(self):
        r = self.i.bash(WIPE)
        records = audit_of(self.i, call=r["call"], event="call.judged")
        self.assertEqual(len(records), 1)
        self.check(records[0])

    def test_explain(self):
        r = self.i.bash(WIPE)
        text = self.i.ctl("call", "explain", r["call"]).stdout.decode()
        self.assertIn("of the command: rm -rf /\n", text)
        self.assertIn("at bytes %d to %d of" % (
            r["judged"]["from"], r["judged"]["to"]), text)
        self.assertIn("next: ", text)

    def test_mcp(self):
        r = Mcp(self.i).modern_call("bash", {"command": WIPE})
        self.assertTrue(r["isError"])
        text = "\n".join(t.get("text", "") for t in r["content"])
        self.assertIn("Denied by judge: ", text)
        self.assertIn("Rule: hard:wipe", text)
        self.assertIn("Next step: ", text)
        self.check(r["structuredContent"]["judged"])

    def test_secrets_in_a_command(self):
        """Words of a command are as secret as output."""
        secret = "zq9-v3rdict-s3cret-77"
        self.assertEqual(self.i.request("POST", "/v1/secrets", {
            "name": "v", "value": secret}, operator=True)[0] // 100, 2)
        command = "rm -rf / %s" % secret
        r = self.i.bash(command)
        self.assertEqual(r["class"], "hard:wipe")
        self.assertNotIn(secret, str(r["judged"]) + str(r["denials"]))
        for _, _, d in self.i.events("/v1/calls", {
                "tool": "bash", "args": {"command": command}}):
            self.assertNotIn(secret, str(d))
        r = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": command},
            "dry_run": True})[1]
        self.assertIn("rm -rf /", r["judged"]["command"])
        self.assertNotIn(secret, str(r))
        # nor half of one, where a long command is cut; nor on the disk
        for n in (420, 495, 500, 900, 1010, 1500):
            words = "rm -rf / "
            while len(words) < n - 20:
                words += "x" * 19 + " "
            r = self.i.bash(words + "y" * (n - len(words)) + secret + " z")
            self.assertEqual(r["class"], "hard:wipe")
            self.assertNotIn(secret[:6], str(r["judged"]) +
                             str(r["denials"]))
        for base, _, names in os.walk(self.i.state):
            for name in names:
                with open(os.path.join(base, name), "rb") as f:
                    self.assertNotIn(secret.encode()[:12], f.read(), name)


class DryRun(unittest.TestCase):
    """The verdict alone."""

    @classmethod
    def setUpClass(cls):
        cls.i = Instance(extra="\ndry-runs 100000\n")
        cls.w = Workspace()

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()
        cls.w.close()

    def dry(self, tool, args, session=None, **more):
        body = {"tool": tool, "args": args, "dry_run": True}
        body.update(more)
        return self.i.request("POST", "/v1/sessions/%s/calls" % session
                              if session else "/v1/calls", body)

    def test_verdicts(self):
        status, r = self.dry("bash", {"command": WIPE})
        self.assertEqual((status, r["verdict"], r["class"], r["call"],
                          r["dry_run"], r["session"], r["tool"]),
                         (200, "deny", "hard:wipe", None, True, None,
                          "bash"))
        self.assertGreaterEqual(set(r["judged"]), MEMBERS)
        self.assertEqual(r["judged"]["command"], "rm -rf /")
        found = r["explanation"]["commands"]
        self.assertEqual([c["words"] for c in found],
                         [["cd", "/tmp"], ["echo", "ran"],
                          ["rm", "-rf", "/"]])
        self.assertEqual(found[2]["class"], "hard:wipe")
        self.assertFalse(r["explanation"]["cut"])
        status, r = self.dry("bash", {"command": "cat notes/a > $X"})
        self.assertEqual(r["explanation"]["paths"],
                         ["/home/agent/notes/a"])
        status, r = self.dry("read", {"path": "b"})
        self.assertEqual((status, r["verdict"], r["class"],
                          r["explanation"]["paths"]),
                         (200, "allow", "read", ["/home/agent/b"]))

    def test_in_a_session_and_a_workspace(self):
        s = self.i.session(**self.w.fields())
        status, r = self.dry("bash", {"command": "rm -rf *"}, session=s)
        self.assertEqual((status, r["class"], r["session"]),
                         (200, "hard:wipe", s))
        status, r = self.dry("bash", {"command": "rm -rf *"},
                             **self.w.fields())
        self.assertEqual((status, r["class"], r["session"]),
                         (200, "hard:wipe", None))
        used = self.i.get("/v1/sessions/" + s)[1]["calls"]
        self.assertEqual(used["used"], 0, used)

    def test_what_is_wrong_is_said(self):
        status, r = self.dry("bash", {"command": 5})
        self.assertEqual((status, r["verdict"]), (200, "invalid"))
        self.assertIn("args.command", r["judged"]["reason"])
        self.assertEqual(r["explanation"], None)
        status, r = self.dry("nope", {})
        self.assertEqual((status, r["error"]["code"]), (404, "not_found"))
        status, r = self.dry("bash", {"command": "ls"}, session="s-" +
                             "a" * 20)
        self.assertEqual(status, 404)
        status, r = self.dry("bash", {"command": "ls"}, timeout_ms=1 << 30)
        self.assertEqual(status, 400)
        status, r = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "ls"}, "dry_run": 1})
        self.assertEqual((status, r["error"]["code"]), (400, "bad_request"))
        # of a tool that the preset keeps back there is no verdict
        status, r = self.dry("bash", {"command": "ls"}, preset="readonly")
        self.assertEqual((status, r["error"]["code"]), (403, "forbidden"))

    def test_nothing_runs(self):
        """No neuron, no call, no budget; in the log it is what it is."""
        made = self.i.status()["neurons"]
        before = self.i.get("/v1/calls")[1]["calls"]
        last = audit_of(self.i)[-1]["seq"]
        with open(os.path.join(self.w.path, "kept"), "w") as f:
            f.write("x")
        status, r = self.dry("bash", {"command": "rm kept"},
                             wait_ms=1000, stdin="x", **self.w.fields())
        self.assertEqual((status, r["verdict"]), (200, "allow"))
        self.assertTrue(os.path.exists(os.path.join(self.w.path, "kept")))
        self.assertEqual(self.i.get("/v1/calls")[1]["calls"], before)
        self.assertEqual(self.i.status()["neurons"]["live"], made["live"])
        records = [r for r in audit_of(self.i) if r["seq"] > last]
        self.assertEqual([(r["event"], r["dry_run"]) for r in records],
                         [("call.asked", True), ("call.judged", True)])
        self.assertEqual(len(records[0]["arguments_sha256"]), 64)
        self.assertEqual(records[0]["call"], records[1]["call"])
        self.assertEqual(self.i.get("/v1/calls/" + records[0]["call"])[0],
                         404)

    def test_streams_are_as_they_would_be(self):
        status, r = self.dry("bash", {"command": "bash"},
                             stdin={"stream": True})
        self.assertEqual((status, r["class"]), (200, "opaque"))
        status, r = self.dry("bash", {"command": "bash"})
        self.assertEqual((status, r["class"]), (200, "read"))

    def test_command_line(self):
        r = self.i.ctl("run", "--dry-run", "--", "rm", "-rf", "/")
        text = r.stdout.decode()
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("deny: class hard:wipe", text)
        self.assertIn("  command  rm -rf /\n", text)
        self.assertIn("  next ", text)
        r = self.i.ctl("run", "--dry-run", "printf", "\033[31m\n")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn(b"allow: class read", r.stdout)
        self.assertNotIn(b"\033", r.stdout)
        r = self.i.ctl("call", "--dry-run", "--json", "bash",
                       '{"command": "ls"}')
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(json.loads(r.stdout)["dry_run"], True)
        r = self.i.ctl("run", "--dry-run", "-p", "none", "ls")
        self.assertEqual(r.returncode, 125)


class DryRunBound(unittest.TestCase):
    """So many a minute, whatever connection or session they come by."""

    def test_flood(self):
        with Instance(extra="\ndry-runs 5\n") as i:
            s = i.session()
            # a minute that ends meanwhile begins a new count
            for _ in range(3):
                answers = [i.request("POST", path, {
                    "tool": "bash", "args": {"command": "ls"},
                    "dry_run": True}) for path in (
                        "/v1/calls", "/v1/sessions/%s/calls" % s) * 4]
                if sum(a == 200 for a, _ in answers) == 5:
                    break
            self.assertEqual([a for a, _ in answers], [200] * 5 + [429] * 3)
            error = answers[-1][1]["error"]
            self.assertEqual(error["code"], "too_many")
            self.assertIn("dry-runs is 5 a minute", error["message"])
            # calls go on
            self.assertEqual(i.bash("echo ok", session=s)["stdout"], "ok\n")


class JudgedDies(unittest.TestCase):
    """kill -9 of judged costs a call that it judged nothing but time."""

    @classmethod
    def setUpClass(cls):
        cls.i = Instance(extra="\nrestart-window 1s\n")

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def judging(self, asks):
        """Asks while judged stands still, then kills it: the answers."""
        pid, answers = self.i.pid("judged"), {}

        def ask(n, body):
            answers[n] = self.i.request("POST", "/v1/calls", body)

        os.kill(pid, signal.SIGSTOP)
        threads = [threading.Thread(target=ask, args=(n, b))
                   for n, b in enumerate(asks)]
        try:
            for t in threads:
                t.start()
            time.sleep(0.5)
            self.assertEqual(answers, {})
        finally:
            os.kill(pid, signal.SIGKILL)
        for t in threads:
            t.join(90)
        wait_for(lambda: self.i.processes()["judged"]["state"] == "up" and
                 self.i.pid("judged") != pid, 60)
        return [answers[n] for n in range(len(asks))]

    def test_asked_once_more(self):
        running = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "sleep 5; echo whole"}})[1]
        wait_for(lambda: self.i.get("/v1/calls/" + running["call"])[1]
                 ["state"] == "running", 60)
        a = self.judging([
            {"tool": "bash", "args": {"command": "echo once"},
             "wait_ms": 50000},
            {"tool": "bash", "args": {"command": WIPE}, "wait_ms": 50000},
            {"tool": "bash", "args": {"command": "ls"}, "dry_run": True}])
        self.assertEqual([s for s, _ in a], [200] * 3)
        self.assertEqual((a[0][1]["state"], a[0][1]["stdout"]),
                         ("completed", "once\n"))
        self.assertEqual((a[1][1]["reason"], a[1][1]["class"]),
                         ("denied_by_policy", "hard:wipe"))
        self.assertEqual(a[2][1]["verdict"], "allow")
        # each was judged once, as far as the log knows
        self.assertEqual(len(audit_of(self.i, call=a[0][1]["call"],
                                      event="call.judged")), 1)
        r = wait_for(lambda: (lambda c: c["state"] != "running" and c)(
            self.i.get("/v1/calls/" + running["call"])[1]), 60)
        self.assertEqual((r["state"], r["stdout"]), ("completed", "whole\n"))


if __name__ == "__main__":
    unittest.main()
