"""myelinctl shell, in a real terminal: tmux is the one who sits before it."""
import contextlib
import os
import re
import shlex
import shutil
import signal
import time
import unittest

from harness import (CTL, Instance, Workspace, descendants_of, stat_of,
                     wait_for)
from terminal import HAVE_TMUX, Terminal


@unittest.skipUnless(HAVE_TMUX, "tmux is not installed")
class Shell(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance("""
profile small { pty no }
profile short { timeout 1s; timeout-max 3s }
principal user root { preset standard; profile default, small, short
    workspace "/*"; owner any }
operator user root may approve, audit, manage
allow tool "exec" mark opaque
""")

    @classmethod
    def tearDownClass(cls):
        cls.i.stop()

    def setUp(self):
        t = Terminal(90, 30, MYELIN_SOCKET=self.i.api)
        self.addCleanup(t.close)
        self.tmux, self.screen, self.type, self.see, self.ended = (
            t.tmux, t.screen, t.type, t.see, t.ended)

    # ---- the one at the terminal ----

    def clear(self):
        """Until nothing but a prompt is there: what is looked for next is
        not what stood there before."""
        self.type("clear", "Enter")
        wait_for(lambda: re.fullmatch(r"\S*\$", self.screen().strip()), 60)

    def runs(self, *argv):
        """Waits until a program of these words runs in a neuron: its pid."""
        line = b"".join(a.encode() + b"\0" for a in argv)

        def look():
            for p in descendants_of(self.i.pid("neurond")):
                try:
                    with open("/proc/%d/cmdline" % p, "rb") as f:
                        if f.read() == line:
                            return p
                except OSError:
                    pass
            return None
        return wait_for(look, 60)

    def shell(self, *args):
        self.type(shlex.join([CTL, "shell"] + list(args)), "Enter")

    def open(self, *args):
        self.shell(*args)
        self.see(r"^bash-[0-9.]+\$$")

    # ---- tests ----

    def test_type_and_see(self):
        self.open()
        self.type("echo $((6*7)); tty; echo $TERM", "Enter")
        self.see(r"^42$")
        self.see(r"^/dev/pts/0$")
        self.see(r"^screen|^tmux")
        self.type("exit 7", "Enter")
        self.see(r"local\$$")
        self.ended(7)

    def test_end_of_file(self):
        self.open()
        self.type("", "C-d")
        self.see(r"^local\$$")
        self.ended(0)

    def test_interrupt(self):
        self.open()
        self.type("sleep 100; echo slept=$?", "Enter")
        self.runs("sleep", "100")
        self.type("", "C-c")
        self.type("echo after=$?", "Enter")
        self.see(r"^after=130$")
        self.type("sleep 200", "Enter")
        pid = self.runs("sleep", "200")
        self.type("", "C-z")
        self.see(r"Stopped")
        wait_for(lambda: stat_of(pid)[0] == "T", 60)
        self.type("fg", "Enter")
        wait_for(lambda: stat_of(pid)[0] != "T", 60)
        self.type("", "C-c")
        self.type("exit", "Enter")
        self.see(r"^local\$$")

    def test_resize(self):
        self.open()
        self.type("stty size; trap 'echo winch=$(stty size)' WINCH", "Enter")
        self.see(r"^30 90$")
        for width, height in ((100, 40), (70, 20)):
            self.tmux("resize-window", "-x", str(width), "-y", str(height))
            # it is told at the next line that the shell reads
            for _ in range(60):
                self.type("", "Enter")
                with contextlib.suppress(AssertionError):
                    self.see(r"winch=%d %d$" % (height, width), 1)
                    break
            self.see(r"winch=%d %d$" % (height, width), 1)
        self.type("exit", "Enter")
        self.see(r"^local\$$")
        self.ended(0)

    def test_full_screen_programs(self):
        w = Workspace()
        try:
            w.write("lines", "".join("line %d\n" % n for n in range(500)))
            self.open("-w", w.path)
            self.type("less lines", "Enter")
            self.see(r"^line 0$")
            self.type("G")
            self.see(r"^line 499$")
            self.type("q")
            self.see(r"^bash-[0-9.]+\$$")
            self.clear()
            self.type("vi -u NONE new" if shutil.which("vi") else
                      "cat > new", "Enter")
            if shutil.which("vi"):
                self.see(r"^~$")
                self.type("ihello there")
                self.see(r"^hello there$")
                self.type("", "Escape")
                self.type(":wq", "Enter")
                # what is typed before it ends is its own
                self.see(r"^bash-[0-9.]+\$$")
            else:
                self.type("hello there", "Enter")
                self.type("", "C-d")
            self.type("cat new", "Enter")
            self.see(r"^hello there$")
            self.type("exit", "Enter")
            self.see(r"^local\$$")
            self.ended(0)
            with open(os.path.join(w.path, "new")) as f:
                self.assertEqual(f.read(), "hello there\n")
        finally:
            w.close()

    def test_python(self):
        self.shell("--", "python3", "-q")
        self.see(r"^>>>$")
        self.type("import sys; sys.stdout.isatty(), 6*7", "Enter")
        self.see(r"^\(True, 42\)$")
        # the line editor is there: up brings the line back
        self.type("", "Up", "Home")
        self.type("x = 1; ", "Enter")
        self.see(r"^>>> x = 1; import sys")
        self.type("exit(3)", "Enter")
        self.see(r"^local\$$")
        self.ended(3)

    def test_escape(self):
        self.open()
        self.type("echo a~b", "Enter")
        self.see(r"^a~b$")
        self.type("~?")
        self.see(r"~\. leaves")
        self.type("~~", "Enter")
        self.see(r"~: Is a directory|^bash: /home/agent")
        self.type("sleep 1000", "Enter")
        self.runs("sleep", "1000")
        self.type("~.")
        self.see(r"^local\$$")
        self.ended(129)

    def test_session(self):
        s = self.i.session()
        self.i.bash("echo kept > ~/file", session=s)
        self.open("--session", s)
        self.type("cat ~/file", "Enter")
        self.see(r"^kept$")
        self.type("exit", "Enter")
        self.see(r"^local\$$")
        self.assertEqual(self.i.request("DELETE", "/v1/sessions/" + s)[0],
                         200)

    def test_killed(self):
        """Whatever ends it, the terminal is as it was."""
        for sig, status in ((signal.SIGTERM, 143), (signal.SIGHUP, 129),
                            (signal.SIGQUIT, 131), (signal.SIGINT, 130),
                            (signal.SIGSEGV, 139)):
            self.clear()
            self.open()
            pid = int(self.tmux("display-message", "-p", "#{pane_pid}"))
            with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
                child = int(f.read().split()[0])
            os.kill(child, sig)
            self.see(r"local\$$")
            self.ended(status)
        # what a fault left behind ends with the service, or its own time
        for c in self.i.get("/v1/calls?limit=5")[1]["calls"]:
            if c["state"] == "running":
                self.i.request("POST", "/v1/calls/%s/cancel" % c["call"])

    def test_ends_from_elsewhere(self):
        self.open()
        call = self.i.get("/v1/calls?limit=1")[1]["calls"][0]["call"]
        self.i.request("POST", "/v1/calls/%s/cancel" % call)
        self.see(r"cancelled")
        self.ended(137)
        self.clear()
        self.shell("-p", "short")
        self.see(r"timed out", 60)
        self.ended(124)

    def test_refusals(self):
        self.shell("-p", "small")
        self.see(r"pty no")
        self.ended(125)
        self.clear()
        self.shell("--", "/nonexistent")
        self.see(r"^myelinctl: /nonexistent")
        self.ended(127)

    def test_no_terminal(self):
        r = self.i.ctl("shell")
        self.assertEqual((r.returncode, r.stdout), (125, b""))
        self.assertIn(b"standard input is not a terminal", r.stderr)

    def test_idle_costs_nothing(self):
        self.open()
        time.sleep(0.5)
        pids = [self.i.pid(n) for n in ("apid", "policyd", "neurond")]
        pane = int(self.tmux("display-message", "-p", "#{pane_pid}"))
        with open("/proc/%d/task/%d/children" % (pane, pane)) as f:
            pids.append(int(f.read().split()[0]))
        before = [ticks(p) for p in pids]
        time.sleep(2)
        self.assertLess(sum(ticks(p) for p in pids) - sum(before), 10)
        self.type("exit", "Enter")
        self.see(r"^local\$$")


def ticks(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])
