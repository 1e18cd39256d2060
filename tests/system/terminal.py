"""Somebody at a terminal: tmux, with a server of its own."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

HAVE_TMUX = shutil.which("tmux") is not None


class Terminal:
    def __init__(self, cols=80, rows=24, locale="C.UTF-8", **env):
        # a server of its own, whose socket nobody else's tmux looks at
        self.dir = tempfile.mkdtemp(prefix="tmux-")
        rc = os.path.join(self.dir, "rc")
        with open(rc, "w") as f:
            f.write("PS1='local$ '; HISTFILE=/dev/null\n")
        self.env = dict(os.environ, TMUX_TMPDIR=self.dir, TERM="xterm",
                        LC_ALL=locale, **env)
        self.env.pop("TMUX", None)
        self.tmux("-u", "-f", "/dev/null", "new-session", "-d", "-x",
                  str(cols), "-y", str(rows),
                  "bash --noprofile --rcfile " + rc)
        self.server = int(self.tmux("display-message", "-p", "#{pid}"))
        self.see(r"local\$$")

    def close(self):
        os.kill(self.server, signal.SIGTERM)
        end = time.monotonic() + 60
        while self.lives() and time.monotonic() < end:
            time.sleep(0.02)
        shutil.rmtree(self.dir, ignore_errors=True)

    def lives(self):
        try:
            with open("/proc/%d/stat" % self.server) as f:
                return f.read().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:     # it is gone, or goes while this is read
            return False

    def tmux(self, *args):
        return subprocess.run(["tmux", "-L", "myelin-test"] + list(args),
                              env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60,
                              check=True).stdout.decode()

    def screen(self):
        text = self.tmux("capture-pane", "-p")
        return "\n".join(l.rstrip() for l in text.splitlines()).rstrip()

    def type(self, text, *keys):
        if text:
            self.tmux("send-keys", "-l", text)
        if keys:
            self.tmux("send-keys", *keys)

    def resize(self, cols, rows):
        self.tmux("resize-window", "-x", str(cols), "-y", str(rows))

    def looks(self, pattern):
        return re.search(pattern, self.screen(), re.M)

    def see(self, pattern, seconds=60):
        end = time.monotonic() + seconds
        while True:
            found = self.looks(pattern)
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError("%r is not on the screen:\n%s" % (
                    pattern, self.screen()))
            time.sleep(0.03)

    def not_see(self, pattern, seconds=60):
        end = time.monotonic() + seconds
        while self.looks(pattern):
            if time.monotonic() > end:
                raise AssertionError("%r is on the screen:\n%s" % (
                    pattern, self.screen()))
            time.sleep(0.03)

    def ended(self, status):
        """The shell is back, and its terminal as it was."""
        self.type("echo status=$?", "Enter")
        self.see(r"^status=%d$" % status)
        self.type("stty -a | grep -c -e ' -icanon' -e ' -echo ' -e ' -opost'"
                  " -e ' -ixon'", "Enter")
        self.see(r"^0$")
        self.type("echo flags=$(tmux -L myelin-test display-message -p "
                  "'#{alternate_on}#{cursor_flag}#{wrap_flag}')", "Enter")
        self.see(r"^flags=011$")
