"""approvals, approve, reject: the commands against a service that is played
here."""
import json
import os
import pwd
import subprocess
import threading
import time
import unittest

import fake_operator
import played_service as client

CTL = client.CTL
HOSTILE = "a\x1b[2J\u202e\u200b\x9b\x07\u0301\u3164b\tc\u00ad\ufe0f"


def run(service, *argv, input=None, env=None, **more):
    clean = dict(os.environ, MYELIN_OPERATOR_SOCKET=service.path,
                 MYELIN_SOCKET=service.path, LC_ALL="C.UTF-8")
    clean.update(env or {})
    if input is None:
        more.setdefault("stdin", subprocess.DEVNULL)
    r = subprocess.run([CTL] + list(argv), input=input, env=clean,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=60, **more)
    return r.returncode, r.stdout.decode(), r.stderr.decode()


class Commands(unittest.TestCase):
    def operator(self, **more):
        o = fake_operator.Operator(**more)
        self.addCleanup(o.stop)
        return o

    def harmless(self, text):
        """Nothing that a terminal would do anything about, or not show."""
        for c in text:
            self.assertTrue(c == "\n" or " " <= c < "\x7f", (c, text))

    # ---- looking ----

    def test_list(self):
        o = self.operator()
        self.assertEqual(run(o, "approvals"),
                         (0, "Nothing waits for a decision.\n", ""))
        a = o.add("rm -rf build", expires=299)
        b = o.add("git push", expires=4019, effect="network")
        o.end(o.add("make"), "allowed", "uid:1001", scope="session")
        status, out, err = run(o, "approvals")
        self.assertEqual((status, err), (0, ""))
        lines = out.splitlines()
        self.assertEqual(lines[0].split(), ["APPROVAL", "LEFT", "PRINCIPAL",
                                            "TOOL", "EFFECT", "WHAT"])
        self.assertRegex(lines[1], "^%s +4:\\d\\d +uid:1000 +bash +"
                         "destructive +rm -rf build$" % a)
        self.assertRegex(lines[2], "^%s +1:0[56]:\\d\\d .* git push$" % b)
        self.assertEqual(len(lines), 3)
        self.assertLess(max(map(len, lines)), 80)
        out = run(o, "approvals", "--all")[1]
        self.assertRegex(out, r"allowed +session +uid:1001 .* make\n")
        self.assertEqual(len(out.splitlines()), 4)
        out = run(o, "approvals", "--remembered")[1]
        self.assertEqual(len(out.splitlines()), 2)
        said = json.loads(run(o, "approvals", "--json")[1])
        self.assertEqual([r["approval"] for r in said["approvals"]], [a, b])

    def test_pages(self):
        o = self.operator()
        for i in range(12):
            o.add("make %d" % i)
        self.assertIn("There are more: -n 50 shows them",
                      run(o, "approvals", "-n", "5")[1])
        self.assertEqual(len(run(o, "approvals")[1].splitlines()), 13)

    def test_show(self):
        o = self.operator()
        a = o.add("set -e\nrm -rf build\n", where="/etc/myelin.conf:12",
                  rule='ask command "rm"', paths=["/srv/app/build"],
                  input={"bytes": 4, "text": "yes\n", "cut": False},
                  commands=[
                      {"words": ["set", "-e"], "from": 0, "to": 6,
                       "class": "", "effect": "read", "marks": [],
                       "why": ""},
                      {"words": ["rm", "-rf", "build"], "from": 7, "to": 19,
                       "class": "delete", "effect": "destructive",
                       "marks": [], "why": "it deletes"}])
        status, out, err = run(o, "approvals", "show", a)
        self.assertEqual((status, err), (0, ""))
        for line in ("approval    " + a, "state       waits for a decision",
                     "asked by    uid:1000", "workspace   /srv/app",
                     "tool        bash", "why         it deletes files",
                     "effect      destructive, marks: elevated",
                     'rule        ask command "rm"',
                     "rule at     /etc/myelin.conf:12",
                     "runs        set -e  [read]",
                     "runs        rm -rf build  [destructive: it deletes]",
                     "path        /srv/app/build", "directory   /srv/app",
                     "environment LANG=C", "what runs   20 bytes in all",
                     "     1| set -e", "     2| rm -rf build",
                     "input       4 bytes", "     1| yes",
                     "digest      " + o.row(a)["digest"]):
            self.assertIn("\n" + line, "\n" + out)
        self.assertEqual(json.loads(run(o, "approvals", "show", "--json",
                                        a)[1])["shown"], "set -e\nrm -rf "
                         "build\n")

    def test_show_arguments(self):
        """Where words end is seen, and what is beside the text."""
        o = self.operator()
        a = o.add("ls a b", tool="exec", arguments={
            "args": {"argv": ["ls", "a b"]}, "cwd": "", "env": {}})
        self.assertIn('arguments   {"argv":["ls","a b"]}\n',
                      run(o, "approvals", "show", a)[1])
        a = o.add("x", arguments={"args": {"command": "x"}, "env": None})
        self.assertNotIn("arguments", run(o, "approvals", "show", a)[1])
        a = o.add("x", input={"bytes": 2, "base64": "/w8=", "cut": True})
        out = run(o, "approvals", "show", a)[1]
        self.assertIn("input       2 bytes, no text, as base64; the end is "
                      "not shown\n     1| /w8=\n", out)

    def test_decided(self):
        o = self.operator()
        me = pwd.getpwuid(0).pw_name
        for end, words in (
                (("allowed", "uid:0", None, "once"),
                 "allowed once by uid:0 (%s) at 2026-01-02T03:05:00.000Z" %
                 me),
                (("allowed", "uid:4242424", "fine", "session"),
                 "allowed for the session by uid:4242424 at "
                 "2026-01-02T03:05:00.000Z: fine"),
                (("rejected", "key:ci", "no\x1b[2J"),
                 "rejected by key:ci at 2026-01-02T03:05:00.000Z: "
                 "no\\x1b[2J"),
                (("expired",), "expired: nobody decided in time at"),
                (("cancelled",), "cancelled by the one who asked"),
                (("policy_changed",), "not run: the policy had become stricter")):
            a = o.add()
            o.end(a, *end)
            self.assertIn("state       " + words,
                          run(o, "approvals", "show", a)[1])
            status, out, err = run(o, "approve", a)
            self.assertEqual((status, out), (3, ""))
            self.assertIn("myelinctl: %s: " % a, err)
            self.assertIn(words, err)
            self.assertEqual(run(o, "reject", "--reason", "x", a)[0], 3)
        self.assertEqual(o.decisions, [])

    def test_hostile_text(self):
        """Whatever the server sends, nothing of it drives a terminal."""
        o = self.operator()
        more = {key: HOSTILE for key in (
            "principal", "tool", "workspace", "class", "effect", "rule",
            "where", "reason", "command", "digest", "created")}
        a = o.add(HOSTILE, marks=[HOSTILE], paths=[HOSTILE],
                  input={"bytes": 1, "text": HOSTILE, "cut": False},
                  arguments={"args": {HOSTILE: HOSTILE, "b": [HOSTILE]},
                             "cwd": HOSTILE, "env": {HOSTILE: HOSTILE}},
                  commands=[{"words": [HOSTILE], "effect": HOSTILE,
                             "why": HOSTILE}] * 2, **more)
        b = o.add(HOSTILE)
        o.end(b, "rejected", HOSTILE, HOSTILE)
        for argv in (("approvals",), ("approvals", "--all"),
                     ("approvals", "show", a), ("approvals", "show", b),
                     ("approvals", "suggest"), ("approve", a),
                     ("approve", b), ("reject", "--reason", "x", b)):
            for locale in ("C.UTF-8", "C"):
                r = run(o, *argv, env={"LC_ALL": locale})
                self.harmless(r[1] + r[2])
        out = run(o, "approvals", "show", a)[1]
        self.assertIn("a\\x1b[2J\\u{202e}\\u{200b}\\u{9b}\\x07\\u{301}", out)

    def test_locale(self):
        o = self.operator()
        a = o.add("echo \u00e4 \u4e2d")
        self.assertIn("| echo \u00e4 \u4e2d\n",
                      run(o, "approvals", "show", a)[1])
        self.assertIn("| echo \\u{e4} \\u{4e2d}\n", run(
            o, "approvals", "show", a, env={"LC_ALL": "C"})[1])

    def test_lines_of_a_call_are_not_ours(self):
        o = self.operator()
        a = o.add("true\ndigest      0000\nstate       allowed")
        for line in run(o, "approvals", "show", a)[1].splitlines():
            self.assertFalse(line.startswith(("digest      0",
                                              "state       allowed")))

    # ---- deciding ----

    def test_approve(self):
        o = self.operator()
        a = o.add("rm -rf build")
        status, out, err = run(o, "approve", a)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("     1| rm -rf build\n", out)
        self.assertIn("%s: allowed once by uid:1001" % a, out)
        self.assertEqual(o.decisions, [(a, {
            "decision": "allow_once", "digest": o.row(a)["digest"]})])
        b = o.add("make")
        status, out, err = run(o, "approve", "--session", "--reason",
                               "as always", "--json", b)
        self.assertEqual(status, 0)
        self.assertEqual(json.loads(out)["scope"], "session")
        self.assertEqual(o.decisions[1], (b, {
            "decision": "allow_session", "digest": o.row(b)["digest"],
            "reason": "as always"}))

    def test_reject(self):
        o = self.operator()
        a = o.add()
        self.assertEqual(run(o, "reject", a)[0], 2)
        self.assertEqual(run(o, "reject", "--reason", "", a)[0], 2)
        status, out, err = run(o, "reject", "--reason", "not now", a)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("rejected by uid:1001", out)
        self.assertEqual(o.decisions, [(a, {
            "decision": "reject_once", "digest": o.row(a)["digest"],
            "reason": "not now"})])

    def test_reason(self):
        o = self.operator()
        a = o.add()
        r = run(o, "reject", "--reason", "x" * 513, a)
        self.assertEqual(r[0], 2)
        self.assertIn("513 bytes; the most are 512", r[2])
        self.assertEqual(run(o, "reject", "--reason", b"\xff", a)[0], 2)
        self.assertEqual(run(o, "reject", "--reason", "x" * 512, a)[0], 0)

    def test_digest(self):
        o = self.operator()
        a = o.add()
        r = run(o, "approve", "--digest", "00" * 32, a)
        self.assertEqual(r[0], 1)
        self.assertIn(o.row(a)["digest"], r[2])
        self.assertEqual(o.decisions, [])
        self.assertEqual(run(o, "approve", "--digest", o.row(a)["digest"],
                             a)[0], 0)

    def test_changed_under_it(self):
        """What is sent is the digest of what was shown."""
        o = self.operator()
        a = o.add()
        one = o.one

        def swap(conn, method, ident, body):
            if method == "POST":
                o.row(a)["digest"] = "11" * 32
            one(conn, method, ident, body)
        o.one = swap
        status, out, err = run(o, "approve", a)
        self.assertEqual(status, 1)
        self.assertIn("it has another digest", err)
        self.assertIn("approvals show", err)
        self.assertNotEqual(o.decisions[0][1]["digest"], "11" * 32)

    def test_somebody_was_first(self):
        o = self.operator()
        a = o.add()
        one = o.one

        def other(conn, method, ident, body):
            if method == "POST":
                o.end(a, "rejected", "uid:4242424", "too late")
            one(conn, method, ident, body)
        o.one = other
        status, out, err = run(o, "approve", a)
        self.assertEqual(status, 3)
        self.assertIn("rejected by uid:4242424 at 2026-01-02T03:05:00.000Z: "
                      "too late", err)

    def test_own_call(self):
        o = self.operator(who="uid:1000")
        a = o.add()
        status, out, err = run(o, "approve", a)
        self.assertEqual(status, 4)
        self.assertIn("nobody approves their own call", err)
        self.assertIn("next: ", err)

    def test_no_operator(self):
        o = self.operator(rights=())
        for argv in (("approvals", "show"), ("approve",),
                     ("reject", "--reason", "x"), ("approvals", "revoke")):
            r = run(o, *argv, fake_operator.make_id("a"))
            self.assertEqual(r[0], 4)
            self.assertIn("no operator line names you", r[2])
        self.assertEqual(run(o, "approvals")[0], 1)

    def test_long(self):
        o = self.operator()
        text = "".join("echo %d\n" % i for i in range(3000))
        a = o.add(text, long=True)
        status, out, err = run(o, "approve", a)
        self.assertEqual(status, 1)
        self.assertIn("has to be read whole", err)
        self.assertEqual(o.decisions, [])
        self.assertIn("| echo 2999\n", out)
        self.assertEqual(run(o, "approve", "--json", a)[0], 1)
        self.assertEqual(run(o, "reject", "--reason", "long", a)[0], 0)
        a = o.add(text, long=True)
        status, out, err = run(o, "approve", "--yes", a)
        self.assertEqual(status, 0, err)
        self.assertIn("| echo 2999\n", out)

    def test_long_on_a_terminal(self):
        o = self.operator()
        for answer, status in ((b"allow\n", 0), (b"yes\n", 1), (b"\x04", 1)):
            a = o.add("x" * 100, long=True)
            master, slave = os.openpty()
            p = subprocess.Popen(
                [CTL, "approve", a], stdin=slave, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(os.environ, MYELIN_OPERATOR_SOCKET=o.path))
            os.close(slave)
            os.write(master, answer)
            p.communicate(timeout=60)
            os.close(master)
            self.assertEqual(p.returncode, status, answer)
            self.assertEqual(o.row(a)["state"], "pending" if status else
                             "allowed")

    def test_revoke(self):
        o = self.operator()
        a = o.add()
        o.end(a, "allowed", "uid:1001", scope="session")
        status, out, err = run(o, "approvals", "revoke", a)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(o.deleted, [a])
        self.assertIn("; revoked", run(o, "approvals", "show", a)[1])

    def test_command_line(self):
        o = self.operator()
        a = fake_operator.make_id("a")
        for argv in (("approve",), ("approve", a, a), ("approve", "c-x"),
                     ("approve", "../whoami"), ("approvals", "show"),
                     ("approvals", "show", "a-" + "A" * 20),
                     ("approvals", "revoke", "x"), ("approvals", "what"),
                     ("approvals", "--all", "show", a),
                     ("approvals", "--exec", "x"),
                     ("approvals", "watch", "x"),
                     ("approvals", "watch", "--exec", ""),
                     ("reject", "--reason", "x", "x")):
            r = run(o, *argv)
            self.assertEqual(r[0], 2, (argv, r))
        self.assertEqual(o.service.requests, [])
        for argv in (("approve",), ("approvals", "show"),
                     ("approvals", "revoke"), ("reject", "--reason", "x")):
            r = run(o, *argv, a)
            self.assertEqual(r[0], 1)
            self.assertIn("there is no such approval", r[2])


class Suggest(unittest.TestCase):
    def operator(self, *commands):
        o = fake_operator.Operator()
        self.addCleanup(o.stop)
        for text, state in commands:
            o.end(o.add(text, command=text), state, "uid:1001",
                  scope="once" if state == "allowed" else None)
        return o

    def test_rules(self):
        o = self.operator(
            *[("git push origin main", "allowed")] * 2,
            ("git push origin dev", "allowed"),
            ("make install", "allowed"), ("make install", "allowed"))
        status, out, err = run(o, "approvals", "suggest")
        self.assertEqual((status, err), (0, ""))
        self.assertIn('allow command "git" "push" "origin" {\n'
                      '\tmatch "git push origin main"\n'
                      '\tmatch "git push origin dev"\n}\n', out)
        self.assertIn("# allowed 3 times", out)
        self.assertIn("asked by: uid:1000", out)
        self.assertNotIn("make", out)
        said = json.loads(run(o, "approvals", "suggest", "--json")[1])
        self.assertEqual(said["suggestions"][0]["command"],
                         ["git", "push", "origin"])
        # nothing was changed, and nothing asked but the list
        self.assertEqual({r[0] for r in o.service.requests}, {"GET"})

    def test_what_is_not_suggested(self):
        three = 3
        o = self.operator(
            *[("git pull", "allowed")] * three, ("git pull", "rejected"),
            *[("rm -rf %d" % i, "allowed") for i in range(three)],
            *[("make", "allowed")] * three,
            *[("npm publish", "expired")] * three,
            *[("echo $HOME", "allowed")] * three,
            *[('sh "a" b', "allowed")] * three,
            *[("ls *", "allowed")] * three)
        status, out, err = run(o, "approvals", "suggest")
        self.assertEqual((status, err), (0, ""))
        self.assertNotIn("allow command", out)
        self.assertIn('# no rule for "git" "pull": allowed 3 times, '
                      'rejected 1 times', out)
        self.assertIn('# no rule for "rm" "-rf": allowed 3 times', out)
        self.assertNotIn("npm", out)

    def test_words_that_are_not_known(self):
        """A rule ends before the first word that no rule can name."""
        o = self.operator(*[("cp -r a $X", "allowed")] * 3)
        out = run(o, "approvals", "suggest")[1]
        self.assertIn('allow command "cp" "-r" "a" {\n}\n', out)


class Waiting(unittest.TestCase):
    """run and call, while somebody is asked."""

    A = "a-" + "c" * 20

    def service(self, handler):
        s = client.Service(handler)
        self.addCleanup(s.stop)
        return s

    def asked(self, conn, **more):
        conn.begin()
        conn.event("approval.requested", 1, approval=self.A, **more)

    def test_allowed(self):
        def handler(conn, *_):
            self.asked(conn)
            conn.event("approval.requested", 1, approval=self.A)
            time.sleep(0.3)
            conn.event("approval.resolved", 2, approval=self.A,
                       decision="allow_once")
            conn.event("call.started", 3)
            conn.output(b"ran\n")
            conn.finished(exit_code=5)
        status, out, err = run(self.service(handler), "run", "x")
        self.assertEqual((status, out), (5, "ran\n"))
        self.assertEqual(err.count(self.A), 2)
        self.assertIn("myelinctl approve %s\n" % self.A, err)
        self.assertEqual(len(err.splitlines()), 2)

    def test_not_allowed(self):
        for reason, message, status, words in (
                ("approval_rejected", "denied: too wide", 123,
                 "an operator rejected the call: too wide"),
                ("approval_expired", "denied: nobody decided within 10 s", 123,
                 "no operator allowed it: nobody decided within 10 s"),
                ("policy_changed", "denied: the policy has changed", 125,
                 "myelinctl: denied: the policy has changed\n")):
            def handler(conn, *_):
                self.asked(conn)
                conn.finished(state="failed", reason=reason, exit_code=None,
                              message=message)
            r = run(self.service(handler), "run", "x")
            self.assertEqual(r[0], status)
            self.assertIn(words, r[2])
            self.assertIn("next: ", r[2])

    def test_interrupt(self):
        cancelled = threading.Event()

        def handler(conn, method, target, headers, body):
            if target.endswith("/cancel"):
                cancelled.set()
                conn.json(200, {})
                return
            self.asked(conn)
            if cancelled.wait(60):
                conn.finished(state="cancelled", exit_code=None)
        s = self.service(handler)
        p = subprocess.Popen([CTL, "run", "x"], stdin=subprocess.DEVNULL,
                             stderr=subprocess.PIPE,
                             env=dict(os.environ, MYELIN_SOCKET=s.path))
        self.assertIn(self.A.encode(), p.stderr.readline())
        p.send_signal(2)
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, 130)
        self.assertTrue(cancelled.is_set())
        self.assertEqual(s.requests[1][:2], (
            "POST", "/v1/calls/%s/cancel" % client.CALL))

    def test_call(self):
        def handler(conn, method, target, headers, body):
            if method == "GET":
                conn.json(200, {"state": "failed",
                                "reason": "approval_rejected"})
                return
            self.asked(conn)
            conn.finished(state="failed", reason="approval_rejected",
                          exit_code=None)
        r = run(self.service(handler), "call", "bash", "{}")
        self.assertEqual(r[0], 1)
        self.assertIn("myelinctl approve " + self.A, r[2])

    def test_status_and_doctor(self):
        def handler(conn, method, target, headers, body):
            if target == "/v1/status":
                conn.json(200, {"approvals": {"pending": 2, "oldest_s": 77},
                                "self_approval": True, "processes": []})
            else:
                conn.json(200, {})
        s = self.service(handler)
        out = run(s, "status")[1]
        self.assertRegex(out, r"approvals waiting +2\n")
        self.assertRegex(out, r"the oldest \(s\) +77\n")
        facts = {f["name"]: f for f in json.loads(
            run(s, "doctor", "--json")[1])["host"]}
        self.assertEqual(facts["self-approval"]["state"], "warning")
        self.assertIn("self-approval no", facts["self-approval"]["remedy"])


if __name__ == "__main__":
    unittest.main()
