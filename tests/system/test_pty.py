"""Calls with a terminal; resize; signals."""
import json
import os
import threading
import time
import unittest

from harness import (CONFIG, Instance, descendants_of, output_of,
                     parse_events, stdout_of, wait_for)
from test_reload import audit

PTY = {"rows": 24, "cols": 80}
# What will be typed to a shell nobody can judge: by itself it is denied.
TYPED = 'allow tool "exec", "bash" mark opaque\n'


class Terminal:
    """A call on a terminal: its output so far, and what is typed."""

    def __init__(self, i, tool="exec", args=None, session=None, **more):
        self.i = i
        body = dict({"tool": tool, "args": args, "pty": PTY,
                     "stdin": {"stream": True}}, **more)
        self.connection = i.connection(timeout=90)
        self.connection.request(
            "POST", "/v1/sessions/%s/calls" % session if session else
            "/v1/calls", json.dumps(body).encode(),
            {"Accept": "text/event-stream",
             "Content-Type": "application/json"})
        r = self.connection.getresponse()
        assert r.status == 200, (r.status, r.read())
        self.output, self.result, self.call = b"", None, None
        self.streams, self.came = set(), []
        self.started = threading.Event()
        self.keys = i.connection(timeout=90)
        self.thread = threading.Thread(target=self.follow, args=(r,))
        self.thread.start()
        assert self.started.wait(90)

    def follow(self, r):
        for _, event, data in parse_events(r):
            self.call = data.get("call", self.call)
            if event == "call.output":
                self.streams.add(data["stream"])
                self.output += output_of(data)
                self.came.append(time.monotonic())
            elif event == "call.finished":
                self.result = data
            if event in ("call.started", "call.finished"):
                self.started.set()
        self.connection.close()

    def type(self, text, eof=False):
        self.keys.request("POST", "/v1/calls/%s/stdin%s" % (
            self.call, "?eof=1" if eof else ""), text)
        r = self.keys.getresponse()
        return r.status, json.loads(r.read())

    def see(self, text, seconds=90):
        try:
            wait_for(lambda: text in self.output, seconds, 0.002)
        except AssertionError:
            raise AssertionError("%r is not in %r" % (text, self.output))

    def ask(self, what, body):
        return self.i.request("POST", "/v1/calls/%s/%s" % (self.call, what),
                              body)

    def resize(self, rows, cols):
        return self.ask("resize", {"rows": rows, "cols": cols})

    def signal(self, name):
        return self.ask("signal", {"signal": name})

    def end(self, seconds=90):
        self.thread.join(seconds)
        assert self.result is not None, self.output
        self.keys.close()
        return self.result


class Pty(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance("""
profile bare { pty no }
profile few { nofile 32; running-calls 16 }
principal user root { preset standard; profile default, bare, few
    workspace "/*"; owner any }
operator user root may approve, audit, manage
hourly 10000000
calls-session 10000000
allow tool "bash" command "kill"
""" + TYPED)

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def bash(self, command, **more):
        return self.i.bash(command, pty=PTY, **more)

    def ready(self, call, word=b"ready"):
        """Waits until a call has printed the word, and policyd, which takes
        signals for what runs, has heard of that as well."""
        seen = b""
        for _, event, data in self.i.events("/v1/calls/%s/events" % call):
            if event == "call.output":
                seen += output_of(data)
            if word in seen:
                break
        else:
            self.fail("%r" % seen)
        wait_for(lambda: self.i.get("/v1/calls/" + call, True)[1]["state"] ==
                 "running", 60)

    def runs(self, *argv):
        """Waits until a program of these words runs in some neuron."""
        line = "".join(a + "\0" for a in argv)
        wait_for(lambda: line in [cmdline(p) for p in descendants_of(
            self.i.pid("neurond"))], 60)

    def shell(self, **more):
        t = Terminal(self.i, args={"argv": ["/bin/bash", "--norc"]}, **more)
        t.see(b"$ ")
        return t

    # ---- what the program meets ----

    def test_terminal(self):
        r = self.bash("tty; stty size; for f in 0 1 2; do test -t $f || echo "
                      "no $f; done; ps -o tty= -p $$; echo x >/dev/tty; "
                      "echo $TERM; echo e >&2")
        self.assertEqual((r["state"], r["stdout"], r["stderr"]), (
            "completed", "/dev/pts/0\r\n24 80\r\npts/0\r\nx\r\nxterm\r\n"
            "e\r\n", ""))
        self.assertIn("own-terminals", r["layers"])

    def test_leader(self):
        """A session, a group in the foreground, and nothing else open."""
        r = self.i.call("python", {"code":
            "import os\n"
            "p = os.getpid()\n"
            "print(os.getsid(0) == p, os.getpgrp() == p, os.tcgetpgrp(0) == p)"
            "\n"
            "print(sorted(os.listdir('/proc/self/fd')))\n"
            "print({os.readlink('/proc/self/fd/%d' % f) for f in (0, 1, 2)})"},
            pty=PTY)
        self.assertEqual(r["stdout"].split("\r\n")[0], "True True True")
        # the fourth is the directory that is listed
        self.assertIn("['0', '1', '2', '3']", r["stdout"])
        self.assertIn("{'/dev/pts/0'}", r["stdout"])

    def test_type_of_terminal(self):
        for pty, env, want in (({"term": "vt220"}, {}, "vt220"),
                               ({}, {"TERM": "dumb"}, "dumb"),
                               ({"term": "vt220"}, {"TERM": "dumb"}, "dumb")):
            r = self.i.bash("echo $TERM", pty=dict(PTY, **pty), env=env)
            self.assertEqual(r["stdout"], want + "\r\n")

    def test_utf8_is_erased_whole(self):
        t = Terminal(self.i, "bash", {"command": "cat"})
        t.type("aéx\x7f\x7fb\n".encode())
        t.type(b"", eof=True)
        self.assertEqual(t.end()["exit_code"], 0)
        self.assertTrue(t.output.endswith(b"\r\nab\r\n"), t.output)

    def test_without_one(self):
        r = self.i.bash("tty; cat /dev/tty; ls /dev/pts")
        self.assertEqual(r["stdout"], "not a tty\nptmx\n")
        self.assertIn("No such device or address", r["stderr"])

    # ---- what is refused ----

    def test_refused(self):
        for pty, word in (([], "object"), ({}, "pty.rows"),
                          ({"rows": 24}, "pty.cols"),
                          (dict(PTY, rows=0), "4096"),
                          (dict(PTY, cols=4097), "4096"),
                          (dict(PTY, rows="24"), "pty.rows"),
                          (dict(PTY, rows=2.5), "pty.rows"),
                          (dict(PTY, term=7), "pty.term"),
                          (dict(PTY, term="x" * 64), "63"),
                          (dict(PTY, size=1), "pty.size")):
            status, body = self.i.request("POST", "/v1/calls", {
                "tool": "bash", "args": {"command": "true"}, "pty": pty})
            self.assertEqual(status, 400, body)
            self.assertIn(word, body["error"]["message"])
        for term in ("../x", "", "a b", "x\n"):
            r = self.i.bash("true", pty=dict(PTY, term=term))
            self.assertEqual(r["reason"], "invalid_arguments", r)
            self.assertIn("pty.term", r["error"]["message"])
        status, body = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command": "true"}, "pty": PTY,
            "profile": "bare"})
        self.assertEqual((status, body["error"]["code"]), (403, "forbidden"))
        self.assertIn("pty no", body["error"]["message"])

    def test_profile_without(self):
        """No devpts at all, and everything else as ever."""
        r = self.i.bash("ls -A /dev/pts; cat /dev/ptmx; grep -c devpts "
                        "/proc/self/mountinfo; echo fine", profile="bare")
        self.assertEqual(r["stdout"], "0\nfine\n", r)
        self.assertNotIn("own-terminals", r["layers"])

    # ---- input ----

    def test_input_and_its_end(self):
        for text, want in (("", "''"), ("a\n", "'a\\n'"), ("a", "'a'"),
                           ("a\nb", "'a\\nb'")):
            r = self.i.call("python", {"code": "import sys; print(repr("
                                       "sys.stdin.read()))"},
                            pty=PTY, stdin=text, timeout_ms=60000)
            self.assertEqual((r["state"], r["stdout"].split("\r\n")[-2]
                              .lstrip("ab")), ("completed", want), r)

    def test_no_input(self):
        for argv in (["cat"], ["/bin/bash", "--norc"], ["python3", "-q"]):
            r = self.i.call("exec", {"argv": argv}, pty=PTY, timeout_ms=60000)
            self.assertEqual((r["state"], r["exit_code"]), ("completed", 0),
                             r)

    def test_a_shell_reads_to_the_end(self):
        r = self.i.call("exec", {"argv": ["/bin/bash", "--norc"]}, pty=PTY,
                        stdin="echo $((40+2))\nsleep 0.4\n", timeout_ms=60000)
        self.assertEqual(r["state"], "completed", r)
        self.assertIn("\r42\r\n", r["stdout"])

    def test_more_input_than_a_terminal_holds(self):
        """Who does not read holds up the feeder; nothing is lost."""
        lines = b"".join(b"%07d\n" % n for n in range(40000))
        t = Terminal(self.i, "bash", {"command": "stty -echo; echo ready; "
                                      "sleep 0.5; sha256sum | cut -c1-64"})
        t.see(b"ready")
        for at in range(0, len(lines), 60000):
            status, body = t.type(lines[at:at + 60000])
            self.assertEqual(status, 200, body)
        t.type(b"", eof=True)
        self.assertEqual(t.end(60)["exit_code"], 0)
        import hashlib
        self.assertIn(hashlib.sha256(lines).hexdigest().encode(), t.output)

    # ---- output ----

    def test_everything_that_was_written(self):
        """Whatever the program wrote before it ended arrives."""
        for _ in range(10):
            r = self.bash("stty -opost; head -c 300000 /dev/zero | tr '\\0' x;"
                          " echo END", timeout_ms=30000)
            self.assertEqual(len(r["stdout"]), 300004)
            self.assertTrue(r["stdout"].endswith("xEND\n"))

    def test_a_slow_reader_loses_nothing(self):
        c = self.i.connection()
        c.request("POST", "/v1/calls", json.dumps({
            "tool": "bash", "args": {"command": "stty -opost; seq 400000"},
            "pty": PTY, "flow": "block"}).encode(),
            {"Accept": "text/event-stream",
             "Content-Type": "application/json"})
        r = c.getresponse()
        time.sleep(1.5)
        got, result = b"", None
        for _, event, data in parse_events(r):
            if event == "call.output":
                got += output_of(data)
            elif event == "call.finished":
                result = data
        c.close()
        self.assertEqual(result["exit_code"], 0)
        self.assertEqual(got, b"".join(b"%d\n" % n
                                       for n in range(1, 400001)))

    def test_binary_output(self):
        # the end of input is not echoed into it
        r = self.bash("stty raw; printf 'a\\377\\000\\033b'; sleep 0.3")
        self.assertEqual(stdout_of(r), b"a\xff\x00\x1bb")

    def test_output_limit(self):
        r = self.i.bash("ulimit -f unlimited; yes", pty=PTY, timeout_ms=5000)
        self.assertEqual(r["reason"], "timed_out")
        self.assertGreater(r["bytes"]["stdout"], 100000)

    # ---- ends ----

    def test_leftovers_do_not_hold_it(self):
        """The call ends with its leader, whoever holds the terminal."""
        start = time.monotonic()
        r = self.bash("(trap '' HUP; exec sleep 300) & (trap '' HUP; exec "
                      "setsid sleep 300 </dev/null >/dev/null 2>&1) & "
                      "(trap '' HUP; while :; do echo noise; done) & "
                      "sleep 0.1; exit 4")
        self.assertLess(time.monotonic() - start, 150)
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 4))
        self.assertGreaterEqual(r["leftover_processes"], 2)

    def test_hang_up(self):
        """What the leader leaves in the foreground hears that it is over."""
        s = self.i.session()
        self.bash("(trap 'echo hup >~/told; exit' HUP; while :; do sleep 0.05;"
                  " done) & sleep 0.3; exit 0", session=s)
        # killed with its leaf soon after, so it may not have come to it
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_the_leader_closes_its_terminal(self):
        """No descriptor of it is open: that is no end, and it may come back"""
        r = self.i.call("python", {"code":
            "import os, time\n"
            "for f in (0, 1, 2): os.close(f)\n"
            "time.sleep(0.5)\n"
            "f = os.open('/dev/tty', os.O_RDWR)\n"
            "os.write(f, b'back\\n')\n"}, pty=PTY)
        self.assertEqual((r["exit_code"], r["stdout"]), (0, "back\r\n"))

    def test_timeout_and_cancel(self):
        r = self.i.bash("sleep 600 & sleep 601", pty=PTY, timeout_ms=1000)
        self.assertEqual(r["reason"], "timed_out")
        # when the answer comes nothing of it is left
        self.assertEqual([], [p for p in descendants_of(self.i.pid("neurond"))
                              if "sleep" in cmdline(p)])
        t = self.shell()
        t.type(b"trap '' TERM HUP INT; sleep 1000\n")
        self.runs("sleep", "1000")
        self.i.request("POST", "/v1/calls/%s/cancel" % t.call)
        self.assertEqual(t.end()["state"], "cancelled")
        self.assertEqual([], [p for p in descendants_of(self.i.pid("neurond"))
                              if "sleep" in cmdline(p)])

    def test_exec_failure(self):
        r = self.i.call("exec", {"argv": ["/nonexistent"]}, pty=PTY)
        self.assertEqual((r["reason"], r["exit_code"], r["stdout"],
                          r["leftover_processes"]), ("exec_failed", 127, "",
                                                     0))

    def test_many_at_once(self):
        s = self.i.session()
        shells = [self.shell(session=s) for _ in range(4)]
        for n, t in enumerate(shells):
            t.type(b"tty; sleep 0.%d; echo mine$((%d+1)); exit %d\n" % (
                n, n, n))
        for n, t in enumerate(shells):
            self.assertEqual(t.end()["exit_code"], n)
            self.assertIn(b"/dev/pts/%d\r\n" % n, t.output)
            self.assertIn(b"\nmine%d\r\n" % (n + 1), t.output)
        # their numbers are free again, and nothing of them is left
        self.assertEqual(self.i.bash("ls /dev/pts; set -- /proc/[0-9]*; "
                                     "echo $#", session=s)["stdout"],
                         "ptmx\n1\n")
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_as_many_as_may_run(self):
        """With the fewest open files that a neuron can have."""
        s = self.i.session(profile="few")
        calls = []
        for n in range(16):
            status, body = self.i.request("POST", "/v1/sessions/%s/calls" % s,
                                          {"tool": "bash", "pty": PTY,
                                           "args": {"command":
                                                    "trap 'stty size; exit %d'"
                                                    " WINCH; echo ready; "
                                                    "while :; do sleep 0.1; "
                                                    "done" % n}})
            self.assertEqual(status, 202, body)
            calls.append(body["call"])
        for call in calls:
            for _, event, data in self.i.events("/v1/calls/%s/events" % call):
                if event == "call.output":
                    break
        for n, call in reversed(list(enumerate(calls))):
            self.assertEqual(self.i.request(
                "POST", "/v1/calls/%s/resize" % call,
                {"rows": n + 1, "cols": 7})[0], 200)
        for n, call in enumerate(calls):
            r = self.i.get("/v1/calls/%s?wait_ms=50000" % call)[1]
            self.assertEqual((r.get("exit_code"), r.get("stdout")),
                             (n, "ready\r\n%d 7\r\n" % (n + 1)), r)
        self.i.request("DELETE", "/v1/sessions/" + s)

    def test_the_relay_is_out_of_reach(self):
        """Who kills all that he can has his terminal still."""
        r = self.bash("cat /proc/[0-9]*/comm; kill -9 -1; echo alive")
        self.assertNotIn("neuron-pty", r["stdout"])
        if "landlock-scopes" in r["layers"]:
            self.assertEqual((r["state"], r["stdout"][-7:]),
                             ("completed", "alive\r\n"), r)

    def test_terminals_are_bounded(self):
        r = self.i.call("python", {"code":
            "import os\n"
            "n = 0\n"
            "try:\n"
            "    while n < 100:\n"
            "        os.openpty(); n += 1\n"
            "except OSError as e: print(n, e.errno)"})
        self.assertEqual(r["stdout"], "32 28\n", r)

    # ---- resize ----

    def test_resize(self):
        t = self.shell()
        self.assertEqual(t.resize(40, 132), (200, {
            "call": t.call, "rows": 40, "cols": 132}))
        # what is typed may be there first
        t.type(b"until stty size | grep 132; do sleep 0.05; done\n")
        t.see(b"40 132\r\n")
        # a group of its own is in the foreground, and hears of it
        t.type(b"bash -c 'trap \"stty size; exit 9\" WINCH; echo there; "
               b"while :; do sleep 0.05; done'; exit $?\n")
        t.see(b"there\r\n")
        t.resize(10, 20)
        t.see(b"10 20\r\n")
        self.assertEqual(t.end()["exit_code"], 9)
        self.assertEqual(t.resize(1, 1)[0], 409)

    def test_resize_refused(self):
        t = self.shell()
        for body in ({}, {"rows": 1}, {"rows": 1, "cols": 0}, [1, 2],
                     {"rows": 1, "cols": 4097}, {"rows": "1", "cols": 1},
                     {"rows": 1, "cols": 1, "x": 1}):
            self.assertEqual(t.ask("resize", body)[0], 400, body)
        t.type(b"exit\n")
        t.end()
        s = self.i.session()
        status, body = self.i.request("POST", "/v1/sessions/%s/calls" % s, {
            "tool": "bash", "args": {"command": "sleep 100"}})
        call = body["call"]
        wait_for(lambda: self.i.get("/v1/calls/" + call)[1]["state"] ==
                 "running", 60)
        status, body = self.i.request("POST", "/v1/calls/%s/resize" % call,
                                      PTY)
        self.assertEqual(status, 409)
        self.assertIn("no terminal", body["error"]["message"])
        self.i.request("DELETE", "/v1/sessions/" + s)
        self.assertEqual(self.i.request(
            "POST", "/v1/calls/c-22222222222222222222/resize", PTY)[0], 404)

    # ---- signals ----

    def test_signal_without_a_terminal(self):
        for name, want in (("USR1", "got USR1\n"), ("TERM", "got TERM\n")):
            status, body = self.i.request("POST", "/v1/calls", {
                "tool": "bash", "args": {"command":
                    "trap 'echo got USR1; exit' USR1; trap 'echo got TERM; "
                    "exit' TERM; echo ready; while :; do sleep 0.05; done"}})
            call = body["call"]
            self.ready(call)
            self.assertEqual(self.i.request(
                "POST", "/v1/calls/%s/signal" % call, {"signal": name}),
                (200, {"call": call, "signal": name}))
            r = self.i.get("/v1/calls/%s?wait_ms=50000" % call)[1]
            self.assertEqual(r["stdout"], "ready\n" + want)

    def test_signal_to_the_group(self):
        """All of it hears, and what it ends is told as it was."""
        status, body = self.i.request("POST", "/v1/calls", {
            "tool": "bash", "args": {"command":
                "(trap 'echo child; exit' TERM; touch ~/heard; while :; do "
                "sleep 0.05; done) & trap 'wait; echo parent; kill -9 $$' "
                "TERM; until [ -e ~/heard ]; do sleep 0.05; done; "
                "echo ready; wait"}})
        call = body["call"]
        self.ready(call)
        self.i.request("POST", "/v1/calls/%s/signal" % call,
                       {"signal": "TERM"})
        r = self.i.get("/v1/calls/%s?wait_ms=50000" % call)[1]
        self.assertEqual((r["state"], r["reason"], r["signal"], r["stdout"]),
                         ("failed", "signalled", "KILL",
                          "ready\nchild\nparent\n"))

    def test_signal_to_the_foreground(self):
        t = self.shell()
        t.type(b"sleep 1000; echo rc=$?\n")
        self.runs("sleep", "1000")
        self.assertEqual(t.signal("TERM")[0], 200)
        t.see(b"rc=143\r\n")
        t.type(b"sleep 1000; echo rc=$?\n")
        self.runs("sleep", "1000")
        t.type(b"\x03")
        t.see(b"^C")
        t.type(b"echo after=$?\n")
        t.see(b"after=130\r\n")
        t.type(b"exit 6\n")
        self.assertEqual(t.end()["exit_code"], 6)
        self.assertIn((t.call, "TERM"), [
            (r["call"], r["signal"]) for r in audit(self.i, "call.signal")])

    def test_stop_and_continue(self):
        s = self.i.session()
        status, body = self.i.request("POST", "/v1/sessions/%s/calls" % s, {
            "tool": "bash", "args": {"command": "echo ready; until [ -e go ]; "
                                     "do sleep 0.1; done; echo done"}})
        call = body["call"]
        self.ready(call)
        signal = "/v1/calls/%s/signal" % call
        status, body = self.i.request("POST", signal, {"signal": "STOP"})
        self.assertEqual(status, 200, body)
        self.i.bash("touch go", session=s)
        time.sleep(1)
        self.assertEqual(self.i.get("/v1/calls/" + call)[1]["state"],
                         "running")
        self.i.request("POST", signal, {"signal": "CONT"})
        r = self.i.get("/v1/calls/%s?wait_ms=50000" % call)[1]
        self.assertEqual((r["state"], r["stdout"]),
                         ("completed", "ready\ndone\n"))
        self.i.request("DELETE", "/v1/sessions/" + s)
        self.assertEqual(self.i.request("POST", signal,
                                        {"signal": "TERM"})[0], 409)

    def test_signal_refused(self):
        t = self.shell()
        for body in ({}, {"signal": 15}, {"signal": "SIGTERM"},
                     {"signal": "SEGV"}, {"signal": "TERM", "x": 1},
                     {"signal": "term"}, {"signal": ""}, ["TERM"]):
            status, answer = t.ask("signal", body)
            self.assertEqual(status, 400, answer)
        status, answer = t.ask("signal", {"signal": "NOPE"})
        self.assertIn("HUP, INT, QUIT", answer["error"]["message"])
        t.type(b"exit\n")
        t.end()
        self.assertEqual(self.i.request(
            "POST", "/v1/calls/c-22222222222222222222/signal",
            {"signal": "TERM"})[0], 404)
        self.assertEqual(self.i.request(
            "GET", "/v1/calls/%s/signal" % t.call)[0], 405)

    # ---- speed ----

    def test_a_key_comes_back_soon(self):
        t = Terminal(self.i, "bash", {"command": "stty raw -echo; "
                                      "echo ready; cat"})
        t.see(b"ready\n")
        times = []
        for n in range(60):
            before = len(t.output)
            start = time.monotonic()
            t.type(b"k")
            wait_for(lambda: len(t.output) > before, 60, 0.0005)
            times.append(t.came[-1] - start)
        times.sort()
        print("key to echo: median %.1f ms, 90 %% %.1f ms" % (
            times[30] * 1000, times[54] * 1000))
        # a host with much to do holds up some, but nothing waits for a clock
        self.assertLess(times[6], 0.05)
        t.ask("cancel", {})
        t.end()


def cmdline(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return f.read().decode(errors="replace")
    except OSError:
        return ""


class Others(unittest.TestCase):
    """A call, its terminal and its neuron are one principal's alone."""

    def test_not_found(self):
        with Instance(CONFIG + TYPED + """
principal user 4711 { preset standard }
""") as i:
            os.chmod(i.api, 0o666)
            t = Terminal(i, args={"argv": ["/bin/bash", "--norc"]})
            t.see(b"$ ")
            for what, body in (("signal", '{"signal":"KILL"}'),
                               ("resize", '{"rows":1,"cols":1}')):
                status = as_user(4711, i.api, "/v1/calls/%s/%s" % (
                    t.call, what), body)
                self.assertEqual(status, 404)
            t.type(b"stty size; exit 3\n")
            t.see(b"24 80\r\n")
            self.assertEqual(t.end()["exit_code"], 3)

    def test_terminals_of_others_are_not_seen(self):
        """Another neuron's are not, nor the host's: not by name or number."""
        look = ("import os, termios\n"
                "print(sorted(os.listdir('/dev/pts')))\n"
                "for n in range(40):\n"
                "    try:\n"
                "        os.write(os.open('/dev/pts/%d' % n, os.O_RDWR |\n"
                "            os.O_NOCTTY), b'INTRUDER')\n"
                "        print('opened', n)\n"
                "    except OSError: pass")
        with Instance(CONFIG + TYPED) as i:
            t = Terminal(i, args={"argv": ["/bin/bash", "--norc"]})
            t.see(b"$ ")
            master, slave = os.openpty()    # the host has one too
            try:
                r = i.call("python", {"code": look})
                self.assertEqual(r["stdout"], "['ptmx']\n", r)
                r = i.call("python", {"code": look}, pty=PTY)
                # its own, and no other
                self.assertIn("['0', 'ptmx']\r\n", r["stdout"])
                self.assertIn("opened 0\r\n", r["stdout"])
                self.assertEqual(r["stdout"].count("opened"), 1)
            finally:
                os.close(master)
                os.close(slave)
            t.type(b"echo still; exit\n")
            t.end()
            self.assertNotIn(b"INTRUDER", t.output)


def as_user(uid, path, target, body):
    """The status of a POST by another user."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 0
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            from harness import UnixConnection
            c = UnixConnection(path)
            c.request("POST", target, body,
                      {"Content-Type": "application/json"})
            status = c.getresponse().status
        finally:
            os.write(w, b"%d" % status)
            os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        text = f.read()
    os.waitpid(pid, 0)
    return int(text)
