"""Hooks: programs that may refuse a call, before anyone is asked."""
import json
import os
import shutil
import subprocess
import threading
import time
import unittest

from harness import BUILD, CONFIG, MYELIND, Instance, Workspace, wait_for
from test_reload import audit, reload

PASS = "#!/bin/sh\ncat >/dev/null\n"
# What it is told, on its standard error, to be found in the reason.
LOOK = """#!/usr/bin/python3
import json, os, sys
call = json.load(sys.stdin)
command = call["arguments"]["args"].get("command", "")
if "forbidden" in command:
    print("no \\x1b[31m%s here\\nnot %s" % (
        call["tool"], call["principal"]), file=sys.stderr)
    sys.exit(3)
if "look" in command:
    print("ignored")
    call.pop("arguments")
    json.dump(call, sys.stderr)
    sys.exit(1)
"""
# What it finds around it: a line each, all of it as the reason.
INSIDE = """#!/usr/bin/python3
import os, socket, sys
if "inside" not in sys.stdin.read():
    sys.exit(0)
fds = [n for n in os.listdir("/proc/self/fd")
       if os.path.exists("/proc/self/fd/" + n)]
s = socket.socket()
try:
    s.connect(("127.0.0.1", 1))
    net = "yes"
except OSError as e:
    net = e.strerror.split()[0]
print("uid=%%d cwd=%%s files=%%d fds=%%s links=%%s net=%%s workspace=%%s "
      "session=%%s." %% (
    os.getuid(), os.getcwd(), len(os.listdir(".")), ",".join(sorted(fds)),
    ",".join(n for _, n in socket.if_nameindex()), net,
    os.path.exists("%s"), os.environ.get("MYELIN_SESSION")), file=sys.stderr)
sys.exit(1)
"""


class Hooks(unittest.TestCase):
    maxDiff = None

    def instance(self, *programs, extra=""):
        """An instance with these hooks, a text or the path of a program."""
        i = Instance(start=False)
        self.addCleanup(i.stop)
        lines = []
        os.mkdir(os.path.join(i.dir, "hooks"))
        for n, text in enumerate(programs):
            path = os.path.join(i.dir, "hooks", "h%d" % n)
            if text.startswith("/"):
                shutil.copy(text, path)
            else:
                self.write(path, text)
            lines.append('hook "h%d" "%s"\n' % (n, path))
        self.config = CONFIG + "".join(lines) + extra
        i.configure(self.config)
        i.start()
        return i

    def write(self, path, text):
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o755)

    def denied(self, result, words):
        self.assertEqual((result["state"], result["reason"]),
                         ("failed", "denied_by_policy"), result)
        self.assertIn(words, json.dumps(result["denials"]))
        self.assertEqual(result["denials"][0]["layer"], "hook")

    def test_pass_and_deny(self):
        """Exit 0 passes; else standard error is the reason, as characters."""
        i = self.instance(PASS, LOOK)
        self.assertEqual(i.bash("echo fine")["stdout"], "fine\n")
        r = i.bash("echo forbidden")
        self.denied(r, "no  [31mbash here not uid:0")
        self.assertEqual(r["denials"][0]["rule"], 'hook "h1"')
        self.assertIn("ask for something else", r["denials"][0]["next"])
        self.assertEqual(r["stdout"], "")
        events = [(e["event"], e["hook"]) for e in sorted(
            audit(i, "hook.passed") + audit(i, "hook.denied"),
            key=lambda e: e["seq"])]
        self.assertEqual(events, [
            ("hook.passed", "h0"), ("hook.passed", "h1"),
            ("hook.passed", "h0"), ("hook.denied", "h1")])
        # what it is told of the call
        told = json.loads(json.loads(json.dumps(
            i.bash("true look")["denials"][0]["what"])).partition("{")[2]
            .join(["{", ""]))
        self.assertEqual(told["tool"], "bash")
        self.assertEqual(told["principal"], "uid:0")
        self.assertEqual(told["verdict"], "allow")
        self.assertEqual(told["workspace"], None)
        self.assertEqual(told["stdin"], "none")
        self.assertTrue(told["call"].startswith("c-"))
        # nothing of a hook's neuron is left
        wait_for(lambda: i.status()["neurons"]["live"] == 0, 60)

    def test_arguments_are_the_bytes(self):
        i = self.instance("#!/bin/sh\nsha256sum >&2; exit 1\n")
        text = "echo \u00e9 'x' \"$HOME\" " + "y" * 5000
        r = i.bash(text)
        self.denied(r, "  -")
        self.assertEqual(r["state"], "failed")

    def test_in_a_session(self):
        """The call of a session, which goes on; one hook's neuron is not
        the next one's."""
        i = self.instance("#!/bin/sh\ncat > x\n[ $(ls | wc -l) = 1 ]\n")
        session = i.session()
        for n in range(3):
            r = i.bash("echo %d > kept; cat kept; ls" % n, session=session)
            self.assertEqual(r["stdout"], "%d\nkept\n" % n)
        # the last hook's goes when its verdict is known already
        wait_for(lambda: len(i.get("/v1/neurons")[1]["neurons"]) == 1, 60)

    def test_inside(self):
        """A neuron of its own: no workspace, no network, no fds but its own,
        where the call would have had them."""
        w = Workspace()
        self.addCleanup(w.close)
        w.write("secret", "x")
        i = self.instance(INSIDE % w.path)
        out = i.call("bash", {"command": "ls"}, **w.fields())["stdout"]
        self.assertEqual(out, "secret\n")
        r = i.call("bash", {"command": "echo inside"}, **w.fields())
        self.denied(r, "cwd=/home/agent files=0 fds=0,1,2,3 links=lo ")
        # 3 is its program, which an interpreter has to read
        self.denied(r, "workspace=False session=None.")
        self.assertNotIn("net=yes", r["denials"][0]["what"])
        self.assertNotIn("uid=0 ", r["denials"][0]["what"])

    def test_programs_and_not(self):
        """A binary is executed as it is; what can't be executed denies."""
        i = self.instance(shutil.which("true"))
        self.assertEqual(i.bash("echo on")["stdout"], "on\n")
        i = self.instance(shutil.which("false"))
        self.denied(i.bash("echo on"), "exited with code 1")
        i = self.instance("no program\n")
        self.denied(i.bash("echo on"), "could not run")
        i = self.instance("#!/no/such/interpreter\n")
        self.denied(i.bash("echo on"), "could not run")

    def test_limits(self):
        """Its time, what it prints, a signal: each denies."""
        i = self.instance("#!/bin/sh\nread -r c\ncase $c in\n"
                          "*slow*) sleep 600 & wait ;;\n"
                          "*loud*) exec yes 'no and no' >&2 ;;\n"
                          "*much*) exec yes ;;\n"
                          "*dead*) kill -9 $$ ;;\nesac\nexit 0\n",
                          extra="hook-timeout 2s\n")
        # its time is over long before the 600 s that it would take
        self.denied(i.bash("true slow"), "hook-timeout, 2000 ms")
        # the others need none, and are not to be met by it on a slow host
        reload(i, self.config.replace("hook-timeout 2s", "hook-timeout 60s"))
        r = i.bash("true loud")
        self.denied(r, "SIGPIPE")
        self.denied(i.bash("true much"), "SIGPIPE")
        self.denied(i.bash("true dead"), "SIGKILL")
        self.assertEqual(i.bash("echo on")["stdout"], "on\n")
        wait_for(lambda: i.status()["neurons"]["live"] == 0, 60)

    def test_reason_is_cut(self):
        i = self.instance("#!/bin/sh\nfor n in 1 2 3 4 5 6 7 8 9; do\n"
                          "printf '%%0100d\u00e9' $n; done >&2\nexit 1\n"
                          .replace("%%", "%"))
        r = i.bash("true")
        self.denied(r, "0001\u00e9".encode("ascii", "backslashreplace")
                    .decode().replace("\\xe9", "\\u00e9"))
        self.assertLessEqual(len(r["denials"][0]["what"].encode()), 512 + 64)

    def test_before_anyone_is_asked(self):
        """A deny raises no question, and an allow does not skip a hook."""
        i = self.instance("#!/bin/sh\nread -r c\ncase $c in\n"
                          "*ruled*) echo ruled out >&2; exit 1 ;; esac\n")
        ask = "rm -rf .git"
        status, body = i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": ask}})
        self.assertEqual(status, 202, body)
        self.assertEqual(self.judged(i, body["call"])["state"],
                         "awaiting_approval")
        self.assertEqual(len(audit(i, "hook.passed")), 1)
        i.request("POST", "/v1/calls/%s/cancel" % body["call"])
        before = len(audit(i, "approval.requested"))
        self.assertEqual(before, 1)
        self.denied(i.bash(ask + " ruled"), "ruled out")
        self.assertEqual(len(audit(i, "approval.requested")), before)

    def decide(self, i, call, decision):
        status, call = i.get("/v1/calls/" + call)
        path = "/v1/approvals/" + call["approval"]
        status, a = i.get(path, operator=True)
        status, body = i.request("POST", path, {
            "decision": decision, "digest": a["digest"]}, operator=True)
        self.assertEqual(status, 200, body)

    def judged(self, i, call):
        """A call once it has ended or waits for a person."""
        def look():
            body = i.get("/v1/calls/" + call)[1]
            return body if body["state"] not in ("queued", "running") \
                else None
        return wait_for(look, 60)

    def ask(self, i, session):
        status, body = i.request("POST", "/v1/sessions/%s/calls" % session, {
            "tool": "bash", "args": {"command": "rm -rf .git; echo ran"}})
        return self.judged(i, body["call"])

    def test_nothing_remembered_skips_it(self):
        """Allowed for the session, and denied by a hook for all that; allowed
        before there was the hook, and not run."""
        i = self.instance(PASS, extra="self-approval yes\n")
        session = i.session()
        call = self.ask(i, session)
        self.assertEqual(call["state"], "awaiting_approval", call)
        self.decide(i, call["call"], "allow_session")
        status, r = i.get("/v1/calls/%s?wait_ms=50000" % call["call"])
        self.assertEqual((r["state"], r["stdout"]), ("completed", "ran\n"))
        again = self.ask(i, session)
        self.assertEqual((again["state"], again["stdout"]),
                         ("completed", "ran\n"))
        # one that waits while the hook comes
        other = i.session()
        waits = self.ask(i, other)
        self.assertEqual(waits["state"], "awaiting_approval", waits)
        path = os.path.join(i.dir, "hooks", "h0")
        self.write(path, "#!/bin/sh\necho never >&2\nexit 1\n")
        reload(i, self.config)
        self.denied(self.ask(i, session), "never")
        self.decide(i, waits["call"], "allow_once")
        status, r = i.get("/v1/calls/%s?wait_ms=50000" % waits["call"])
        self.assertEqual((r["state"], r["reason"]),
                         ("failed", "policy_changed"))
        self.assertEqual(r["stdout"], "")

    def test_cancel_while_it_looks(self):
        i = self.instance("#!/bin/sh\nsleep 300\n")
        status, body = i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "true"}})
        self.assertEqual(status, 202)
        path = "/v1/calls/" + body["call"]
        wait_for(lambda: i.status()["neurons"]["live"] == 2, 60)
        i.request("POST", path + "/cancel")
        status, body = i.get(path + "?wait_ms=50000")
        self.assertEqual(body["state"], "cancelled")
        wait_for(lambda: i.status()["neurons"]["live"] == 0, 60)

    def test_no_neuron_for_it(self):
        """Where its neuron is over a limit, the call is denied."""
        i = self.instance(PASS, extra="neurons 1\nneuron-wait 300ms\n")
        self.denied(i.bash("echo on"), "the limit neurons is 1")
        wait_for(lambda: i.status()["neurons"]["live"] == 0, 60)

    def test_neurond_dies(self):
        i = self.instance("#!/bin/sh\nsleep 300\n")
        results = []
        t = threading.Thread(target=lambda: results.append(
            i.bash("true")))
        t.start()
        wait_for(lambda: i.status()["neurons"]["live"] == 2, 60)
        time.sleep(0.3)
        os.kill(i.pid("neurond"), 9)
        t.join(60)
        self.assertEqual(results[0]["state"], "failed")
        self.assertEqual(results[0]["stdout"], "")

    def test_reload(self):
        """Other bytes run only after a reload, and none after none is left."""
        i = self.instance(PASS)
        path = os.path.join(i.dir, "hooks", "h0")
        self.write(path, "#!/bin/sh\necho new >&2\nexit 1\n")
        self.assertEqual(i.bash("echo on")["stdout"], "on\n")
        reload(i, self.config)
        self.denied(i.bash("echo on"), "new")
        reload(i, self.config + 'hook "h1" "/no/such"\n', result="refused")
        self.denied(i.bash("echo on"), "new")
        reload(i, CONFIG)
        self.assertEqual(i.bash("echo on")["stdout"], "on\n")

    def test_configuration(self):
        """Who may write a hook may decide: only root may."""
        where = os.path.join(BUILD, "tests", "hook-%d" % os.getpid())
        os.mkdir(where)
        self.addCleanup(shutil.rmtree, where)
        good = os.path.join(where, "good")
        self.write(good, PASS)
        for name, mode, uid, words in (
                ("plain", 0o644, 0, "not executable"),
                ("group", 0o775, 0, "writ"), ("other", 0o757, 0, "writ"),
                ("theirs", 0o755, 12345, "12345")):
            path = os.path.join(where, name)
            self.write(path, PASS)
            os.chmod(path, mode)
            os.chown(path, uid, 0)
            self.refused('hook "x" "%s"\n' % path, words)
        os.symlink(good, os.path.join(where, "link"))
        self.write(os.path.join(where, "empty"), "")
        self.refused('hook "x" "%s/empty"\n' % where, "empty")
        self.refused('hook "x" "%s/gone"\n' % where, "No such file")
        self.refused('hook "x" "relative"\n', "absolute path")
        self.refused('hook "x y" "%s"\n' % good, "x y")
        self.refused('hook "x" "%s"\nhook "x" "%s"\n' % (good, good),
                     "given already")
        self.refused("".join('hook "x%d" "%s"\n' % (n, good)
                             for n in range(17)), "more than 16")
        os.chmod(where, 0o777)
        self.refused('hook "x" "%s"\n' % good, where)
        os.chmod(where, 0o755)
        self.assertEqual(self.check('hook "x" "%s"\n' % good).returncode, 0)

    def check(self, text):
        path = os.path.join(BUILD, "tests", "hook-%d.conf" % os.getpid())
        with open(path, "w") as f:
            f.write(CONFIG + text)
        os.chmod(path, 0o600)
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        return subprocess.run(
            [MYELIND, "-n", "-f", path, "-p", os.path.dirname(path), "-L",
             BUILD], stdin=subprocess.DEVNULL, capture_output=True,
            timeout=60)

    def refused(self, text, words):
        r = self.check(text)
        self.assertNotEqual(r.returncode, 0, text)
        self.assertIn(words, r.stderr.decode(), text)


if __name__ == "__main__":
    unittest.main()
