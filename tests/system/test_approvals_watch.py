"""approvals watch, in a real terminal: tmux is the one who sits before it."""
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import fake_operator
import played_service as client
from harness import wait_for
from terminal import HAVE_TMUX, Terminal

CTL = client.CTL
HOSTILE = "a\x1b[2J\x1b]0;t\x07\u202e\u200b\u009bb\tc"
GUARD = 0.9     # seconds until a key counts for what was just displayed


class Played(unittest.TestCase):
    def operator(self, **more):
        o = fake_operator.Operator(**more)
        self.addCleanup(o.stop)
        return o


@unittest.skipUnless(HAVE_TMUX, "tmux is not installed")
class Watch(Played):
    def watch(self, o, *args, **more):
        t = Terminal(MYELIN_OPERATOR_SOCKET=o.path, **more)
        self.addCleanup(t.close)
        t.type(shlex.join([CTL, "approvals", "watch"] + list(args)), "Enter")
        t.see(r"^myelin approvals: ")
        return t

    def settle(self, t, pattern):
        """What is looked for is there, for so long that a key counts."""
        t.see(pattern)
        time.sleep(GUARD)

    def test_empty_then_one(self):
        o = self.operator()
        t = self.watch(o)
        t.see(r"^Nothing waits for a decision\.$")
        t.see(r"\(live\)$")
        a = o.add("git push origin main")
        t.see(r"^> %s +\d:\d\d uid:1000 destructive git push" % a)
        t.see(r"^ +1\| git push origin main$")
        t.see(r"^myelin approvals: 1 waiting, the first for another ")
        t.type("q")
        t.see(r"local\$$")
        t.ended(0)
        self.assertEqual(o.decisions, [])

    def test_allow_once(self):
        o = self.operator()
        a, b = o.add("make a"), o.add("make b")
        t = self.watch(o)
        self.settle(t, r"1\| make a$")
        t.type("a")
        t.see(r"^%s: allowed once by uid:1001" % a)
        self.assertEqual(o.decisions, [(a, {
            "decision": "allow_once", "digest": o.row(a)["digest"]})])
        # the next one is there, and only its own key decides on it
        self.settle(t, r"1\| make b$")
        self.assertEqual(o.row(b)["state"], "pending")
        t.type("s")
        t.see(r"^%s: allowed for the session" % b)
        self.assertEqual(o.decisions[1][1]["decision"], "allow_session")
        t.see(r"^Nothing waits")

    def test_reject_with_a_reason(self):
        o = self.operator()
        a = o.add("make a")
        t = self.watch(o)
        self.settle(t, r"1\| make a$")
        t.type("r")
        t.see(r"^reason: _$")
        t.type("nott", "BSpace")
        t.type(" \u00e4 now")
        t.see("^reason: not \u00e4 now_$")
        t.type("", "Enter")
        t.see(r"^%s: rejected by uid:1001" % a)
        self.assertEqual(o.decisions, [(a, {
            "decision": "reject_once", "digest": o.row(a)["digest"],
            "reason": "not \u00e4 now"})])

    def test_reason_given_up(self):
        o = self.operator()
        o.add("make a")
        t = self.watch(o)
        for keys in (("r", "Escape"), ("r", "Enter"), ("r", "C-g")):
            self.settle(t, r"1\| make a$")
            t.type(keys[0])
            t.see(r"^reason: _$")
            t.type("", keys[1])
            t.see(r"^not rejected")
        # letters are a reason's, and decide nothing
        t.type("r")
        t.type("asaq")
        t.see(r"^reason: asaq_$")
        t.type("", "C-u")
        t.see(r"^reason: _$")
        t.type("x" * 600)
        t.see(r"^reason: x+_$")
        t.type("", "Enter")
        t.see(r"rejected by")
        self.assertEqual([d[1].get("reason") for d in o.decisions],
                         ["x" * 512])

    def test_moving(self):
        o = self.operator()
        ids = [o.add("make %d" % i, expires=100 + i) for i in range(9)]
        t = self.watch(o)
        t.see(r"^> %s" % ids[0])
        t.type("n")
        t.see(r"^> %s" % ids[1])
        t.see(r"1\| make 1$")
        t.type("", "Down")
        t.see(r"^> %s" % ids[2])
        t.type("", "Up")
        t.type("p")
        t.see(r"^> %s" % ids[0])
        t.type("k")
        t.see(r"^> %s" % ids[8])
        t.type("j")
        t.see(r"^> %s" % ids[0])
        t.type("x")
        t.see(r"^x is no key here$")
        for line in t.screen().splitlines():
            self.assertLessEqual(len(line), 80)

    def test_a_long_one_is_read_first(self):
        o = self.operator()
        text = "\n".join("echo line %d" % i for i in range(100))
        a = o.add(text)
        t = self.watch(o)
        self.settle(t, r"^--- \d+ more lines: l looks at all of it$")
        t.type("a")
        t.see(r"does not fit: l looks at it")
        t.type("l")
        self.settle(t, r"^%s +\d:\d\d +lines 1 to 20 of \d+$" % a)
        t.type("a")
        t.see(r"does not fit")
        # the end alone is not all of it
        t.type("G")
        t.see(r"100\| echo line 99$")
        time.sleep(GUARD)
        t.type("a")
        t.see(r"does not fit")
        t.type("g")
        page, n = map(int, t.see(r"lines 1 to (\d+) of (\d+)").groups())
        # what two keys skip at once was not displayed: one at a time
        top = 0
        while top < n - page:
            top = min(top + page, n - page)
            t.type("", "Space")
            t.see(r"lines %d to " % (top + 1))
        t.see(r"100\| echo line 99$")
        self.assertEqual(o.decisions, [])
        t.type("a")
        t.see(r"allowed once by")
        self.assertEqual(o.decisions[0][0], a)

    def test_look_and_back(self):
        o = self.operator()
        a, b = o.add("make a", expires=90), o.add("make b", expires=95)
        t = self.watch(o)
        t.see(r"1\| make a$")
        t.type("", "Enter")
        t.see(r"^%s +\d:\d\d +lines 1 to" % a)
        t.type("n")
        t.see(r"^%s +\d:\d\d +lines 1 to" % b)
        t.type("q")
        t.see(r"^> %s" % b)
        t.type("l")
        self.settle(t, r"^%s " % b)
        t.type("r")
        t.see(r"^reason: _$")
        t.type("no", "Enter")
        t.see(r"^%s: rejected" % b)
        t.see(r"^> %s" % a)

    def test_decided_elsewhere(self):
        """The one that is looked at stays, says so, and takes no key."""
        o = self.operator()
        a, b = o.add("make a", expires=90), o.add("make b", expires=95)
        t = self.watch(o)
        self.settle(t, r"1\| make a$")
        o.end(a, "allowed", "uid:4242424", scope="once")
        t.see(r"^it waits no longer: allowed once by uid:4242424")
        t.see(r"^> %s +gone" % a)
        t.see(r"1\| make a$")
        t.type("a")
        t.see(r"^%s waits no longer" % a)
        t.type("n")
        self.settle(t, r"1\| make b$")
        t.not_see(a + " +gone")
        self.assertEqual(o.decisions, [])
        # one that expires while its reason is typed
        t.type("r")
        t.see(r"^reason: _$")
        t.type("because")
        o.end(b, "expired")
        t.see(r"^> %s +gone" % b)
        t.type("", "Enter")
        t.see(r"^not rejected: it waits no longer$")
        self.assertEqual(o.decisions, [])

    def test_decided_at_the_same_time(self):
        """The service is who says that another was first."""
        o = self.operator()
        a = o.add("make a")
        t = self.watch(o)
        self.settle(t, r"1\| make a$")
        o.end(a, "rejected", "uid:4242424", tell=False)
        t.type("a")
        t.see(r"^%s: not done: rejected by uid:4242424" % a)
        t.see(r"^> %s +gone" % a)

    def test_digest_of_what_is_displayed(self):
        o = self.operator()
        a = o.add("make a")
        t = self.watch(o)
        self.settle(t, r"1\| make a$")
        was = o.row(a)["digest"]
        o.row(a)["digest"] = "22" * 32
        o.tell("approval.requested")
        time.sleep(0.5)
        t.type("a")
        t.see(r"not done: it has another digest")
        self.assertEqual(o.decisions[0][1]["digest"], was)

    def test_keys_that_came_too_early(self):
        """What was typed ahead is nobody's decision."""
        o = self.operator()
        o.add("make a", expires=90)
        o.add("make b", expires=95)
        t = self.watch(o)
        self.settle(t, r"1\| make a$")
        t.type("na")
        t.see(r"was only just displayed")
        self.settle(t, r"1\| make b$")
        t.type("aaaa")
        t.see(r"was only just displayed")
        self.assertEqual(o.decisions, [])
        for n in range(20):
            o.add("make more %d" % n, expires=200 + n)
            time.sleep(GUARD)
            before = len(o.decisions)
            first = t.see(r"^> (a-\w+)").group(1)
            begin = time.monotonic()
            t.type("a")
            t.see(r"^%s: allowed once" % first)
            t.type("a")     # the other one has just come up
            wait_for(lambda: t.looks(r"was only just displayed") or
                     len(o.decisions) > before + 1, 60)
            took = time.monotonic() - begin
            if len(o.decisions) == before + 1:
                break
            # unless the key came after all that time: another one, then
            self.assertGreater(took, 0.5)
        else:
            self.fail("this machine is too slow for a key in time")

    def test_refusals(self):
        o = self.operator(who="uid:1000")
        o.add("make a", rememberable=False)
        t = self.watch(o)
        self.settle(t, r"1\| make a$")
        t.type("s")
        t.see(r"can't be allowed for the session")
        t.type("a")
        t.see(r"not done: nobody approves their own call")
        self.assertEqual(len(o.decisions), 1)

    def test_without_events(self):
        o = self.operator(events=False)
        t = self.watch(o)
        t.see(r"\(each second\)$")
        a = o.add("make a")
        t.see(r"^> " + a)
        o.end(a, "expired")
        t.see(r"waits no longer")

    def test_service_goes_away(self):
        o = self.operator()
        a = o.add("make a")
        t = self.watch(o)
        self.settle(t, r"1\| make a$")
        o.down = True
        for q in o.followers:
            q.put(None)
        t.see(r"\(no answer\)$")
        t.type("a")
        t.see(r"not done: ")
        o.down = False
        t.see(r"\((live|each second)\)$")
        self.settle(t, r"1\| make a$")
        t.type("a")
        t.see(r"^%s: allowed once" % a)

    def test_resize(self):
        o = self.operator()
        a = o.add("echo " + "x" * 150)
        t = self.watch(o)
        t.see(r"^ +1\| echo x{67}$")
        t.see(r"^ +\+ x{72}$")
        t.resize(120, 40)
        t.see(r"^ +1\| echo x{107}$")
        t.resize(60, 16)
        t.see(r"^myelin approvals: 1 waiting")
        for line in t.screen().splitlines():
            self.assertLessEqual(len(line), 60)
        t.resize(30, 5)
        t.see(r"^at least 40 columns x 10 row")
        time.sleep(GUARD)
        t.type("a")
        t.resize(80, 24)
        t.see(r"^> " + a)
        self.assertEqual(o.decisions, [])

    def test_hostile_text(self):
        o = self.operator()
        more = {key: HOSTILE for key in (
            "principal", "tool", "workspace", "class", "effect", "rule",
            "where", "reason", "command", "created")}
        a = o.add(HOSTILE, marks=[HOSTILE], paths=[HOSTILE], **more)
        t = self.watch(o)
        t.see(r"^> %s .*a\\x1b\[2J" % a)
        t.type("l")
        t.see(r"a\\x1b\[2J\\x1b\]0;t\\x07\\u\{202e\}\\u\{200b\}")
        o.end(a, "rejected", HOSTILE, HOSTILE)
        t.see(r"rejected by a\\x1b")
        self.assertEqual(t.tmux("display-message", "-p", "#{pane_title}"),
                         t.tmux("display-message", "-p", "#{host}"))

    def test_ascii(self):
        o = self.operator()
        o.add("echo \u00e4\u4e2d")
        t = self.watch(o, locale="C")
        t.see(r"1\| echo \\u\{e4\}\\u\{4e2d\}$")

    def test_wide_characters(self):
        """They are never wider than was counted: no end of a line is lost."""
        o = self.operator()
        o.add("echo " + "\u4e2d" * 60 + " end")
        t = self.watch(o)
        t.see(r" end$")
        shown = t.screen().split("what runs")[1]
        self.assertEqual(shown.count("\u4e2d"), 60)

    def test_signals(self):
        o = self.operator()
        o.add("make a")
        for sig, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143),
                            (signal.SIGHUP, 129), (signal.SIGQUIT, 131),
                            (signal.SIGSEGV, 139)):
            t = self.watch(o)
            t.see(r"1\| make a$")
            pid = int(subprocess.run(
                ["pgrep", "-P", t.tmux("display-message", "-p",
                                       "#{pane_pid}").strip()],
                stdout=subprocess.PIPE, check=True).stdout)
            os.kill(pid, sig)
            t.see(r"local\$$")
            t.ended(status)

    def test_stop_and_go_on(self):
        o = self.operator()
        o.add("make a")
        t = self.watch(o)
        self.settle(t, r"1\| make a$")
        t.type("", "C-z")
        t.see(r"Stopped")
        t.type("stty -a | grep -c -e ' -icanon'", "Enter")
        t.see(r"^0$")
        t.type("fg", "Enter")
        self.settle(t, r"1\| make a$")
        t.type("a")
        t.see(r"allowed once")
        t.type("", "C-c")
        t.see(r"local\$$")
        t.ended(130)

    def test_slow_terminal(self):
        """One who stopped the output does not hold up the notifier."""
        o = self.operator()
        got = tempfile.NamedTemporaryFile()
        script = self.notifier('cat >>"$1"', got.name)
        t = self.watch(o, "--exec", script, got.name)
        t.see("Nothing waits")
        t.tmux("copy-mode")
        for i in range(5):
            o.add("make %d" % i)
        wait_for(lambda: open(got.name).read().count('"a-') == 5, 60)

    def notifier(self, text, *_):
        d = tempfile.mkdtemp(prefix="notify-")
        path = os.path.join(d, "notify")
        with open(path, "w") as f:
            f.write("#!/bin/sh\n" + text + "\n")
        os.chmod(path, 0o755)
        self.addCleanup(lambda: (os.unlink(path), os.rmdir(d)))
        return path

    def test_exec(self):
        """Each new one, once, as JSON; what it says or does harms nothing."""
        o = self.operator()
        d = tempfile.mkdtemp(prefix="notify-")
        self.addCleanup(lambda: [os.unlink(os.path.join(d, f))
                                 for f in os.listdir(d)] + [os.rmdir(d)])
        script = self.notifier(
            'echo out; echo err >&2; printf "\\033[2J"\n'
            'cat >"$1/$$.new"; mv "$1/$$.new" "$1/$$.json"; '
            'echo "$#$2" >"$1/args"; exit 3')
        a = o.add("make a; $(touch /tmp/never)")
        t = self.watch(o, "--exec", script, "--", d, "--x y")
        b = o.add("make b")

        def got():
            return [json.load(open(os.path.join(d, f)))
                    for f in os.listdir(d) if f.endswith(".json")]
        wait_for(lambda: len(got()) == 2, 60)
        self.assertEqual({g["approval"] for g in got()}, {a, b})
        self.assertEqual({g["command"] for g in got()}, {
            "make a; $(touch /tmp/never)", "make b"})
        # each writes it anew, behind what was waited for
        wait_for(lambda: [n for n in os.listdir(d) if n == "args"] and
                 open(os.path.join(d, "args")).read() == "2--x y\n", 60)
        t.see(r"^--exec: .*failed: exit status 3$")
        self.assertFalse(t.looks("^(out|err)$"))
        time.sleep(1.5)
        self.assertEqual(len(got()), 2)

    def test_exec_that_is_not_there(self):
        o = self.operator()
        o.add("make a")
        t = self.watch(o, "--exec", "/nonexistent/notify")
        t.see(r"^--exec: /nonexistent/notify can't be run$")

    @staticmethod
    def end_groups(path):
        """The watch ends what is too slow while it runs itself."""
        with open(path) as f:
            for pid in f.read().split():
                try:
                    os.killpg(int(pid), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        shutil.rmtree(os.path.dirname(path))

    def test_exec_that_hangs(self):
        """The watch goes on, and the notifier is ended, with its group."""
        o = self.operator()
        groups = os.path.join(tempfile.mkdtemp(), "groups")
        self.addCleanup(self.end_groups, groups)
        script = self.notifier("echo $$ >>%s\n"
                               "sleep 1000 & exec sleep 1000" % groups)
        a = o.add("make a")
        t = self.watch(o, "--exec", script)
        self.settle(t, r"1\| make a$")
        t.type("a")
        t.see(r"^%s: allowed once" % a)
        for i in range(10):
            o.add("make %d" % i)
        t.see(r"^myelin approvals: 10 waiting")
        t.see(r"was ended by signal 9", 90)


class Lines(Played):
    """Where there is no terminal, or a dumb one."""

    def start(self, o, *argv, **more):
        env = dict(os.environ, MYELIN_OPERATOR_SOCKET=o.path,
                   LC_ALL="C.UTF-8")
        env.update(more.pop("env", {}))
        p = subprocess.Popen([CTL, "approvals", "watch"] + list(argv),
                             env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             **more)

        def end():
            if p.poll() is None:
                p.kill()
            p.communicate()
        self.addCleanup(end)
        return p

    def line(self, stream):
        """The next line, if it comes in time."""
        self.assertTrue(select.select([stream], [], [], 60)[0])
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(stream.fileno(), 1)
            self.assertTrue(byte, line)
            line += byte
        return line

    def test_lines(self):
        o = self.operator()
        a = o.add("make a")
        p = self.start(o)
        self.assertRegex(self.line(p.stdout).decode(), "^%s  \\d:\\d\\d  "
                         "uid:1000.*  destructive  make a\n$" % a)
        b = o.add(HOSTILE, command=HOSTILE)
        line = self.line(p.stdout).decode()
        self.assertIn(b, line)
        self.assertIn("a\\x1b[2J", line)
        o.end(a, "expired")
        self.assertEqual(self.line(p.stdout).decode(),
                         a + "  waits no longer\n")
        p.send_signal(signal.SIGTERM)
        self.assertEqual(p.wait(60), 143)

    def test_json(self):
        o = self.operator()
        p = self.start(o, "--json")
        a = o.add("make a")
        self.assertEqual(json.loads(self.line(p.stdout))["approval"], a)

    def test_exec(self):
        """What the units of the examples do."""
        o = self.operator()
        p = self.start(o, "--exec", "cat")
        a = o.add("make a")
        said = self.line(p.stdout) + self.line(p.stdout)
        self.assertEqual(said.count(a.encode()), 2)
        self.assertIn(b'{"approval":"' + a.encode(), said)

    def test_service_goes_away(self):
        o = self.operator()
        p = self.start(o)
        wait_for(lambda: o.followers, 60)
        o.down = True
        for q in o.followers:
            q.put(None)
        self.assertIn(b"the list can't be had", self.line(p.stderr))
        a = o.add("make a")
        o.down = False
        self.assertIn(a.encode(), self.line(p.stdout))

    def test_no_service_no_right(self):
        o = self.operator(rights=())
        p = self.start(o)
        self.assertIn(b"no operator line names you", p.communicate(
            timeout=60)[1])
        self.assertEqual(p.returncode, 1)
        p = self.start(o, env={"MYELIN_OPERATOR_SOCKET": "/nonexistent/s"})
        self.assertIn(b"no such socket", p.communicate(timeout=60)[1])
        self.assertEqual(p.returncode, 1)

    def test_closed_output(self):
        o = self.operator()
        p = self.start(o)
        wait_for(lambda: o.followers, 60)
        p.stdout.close()
        o.add("make a")
        self.assertEqual(p.wait(60), 1)


class Bytes(Played):
    """What goes to a terminal, byte by byte: ours, and text that is safe."""

    OURS = re.compile(rb"\x1b\[(\?1049[hl]|\?25[hl]|\?7[hl]|H|2J|K|"
                      rb"[0-9]+;1H)")

    def look(self, locale, keys=b"", no_color=None):
        o = self.operator()
        more = {key: HOSTILE for key in (
            "principal", "tool", "workspace", "class", "effect", "rule",
            "where", "reason", "command", "created")}
        o.add(HOSTILE, marks=[HOSTILE], paths=[HOSTILE], **more)
        pid, fd = pty.fork()
        if pid == 0:
            os.environ.update(MYELIN_OPERATOR_SOCKET=o.path, TERM="xterm",
                              LC_ALL=locale)
            os.execv(CTL, [CTL, "approvals", "watch"])
        out = b""

        def read(seconds, until=None):
            """What comes in so many seconds, to the text or its end."""
            nonlocal out
            end = time.monotonic() + seconds
            while time.monotonic() < end and (
                    until is None or until not in out):
                if select.select([fd], [], [], 0.1)[0]:
                    try:
                        out += os.read(fd, 65536)
                    except OSError:
                        return
        read(60, b"a\\x1b[2J")
        read(0.7)
        for n in range(len(keys)):
            os.write(fd, keys[n:n + 1])
            read(0.7)
        os.kill(pid, signal.SIGTERM)
        read(60)
        os.close(fd)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]),
                         143)
        return out

    def test_only_ours(self):
        for locale in ("C.UTF-8", "C"):
            out = self.look(locale, b"lg ")
            self.assertIn(b"a\\x1b[2J", out)
            for c in self.OURS.sub(b"", out):
                self.assertTrue(0x20 <= c < 0x7f, (c, out))


if __name__ == "__main__":
    unittest.main()
