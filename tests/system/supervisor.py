"""What the tests of supervisord alone share: instances with
tests/system/fake_child for every child, private and in a directory of their
own.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import harness

BUILD = os.path.abspath(harness.BUILD)
MYELIND = os.path.join(BUILD, "supervisord", "myelind")
FAKE = os.path.join(BUILD, "tests", "system", "fake_child")
PROGRAMS = ("apid/apid", "judged/judged", "policyd/policyd",
            "egressd/egressd", "neurond/neurond", "neurond/maker",
            "neurond/spawner", "neurond/neuron-tool")
CHILDREN = ("apid", "apid-operator", "policyd", "judged", "egressd",
            "neurond")
CONF = 'principal user root { preset standard; workspace "/*"; owner any }\n'


def status_of(pid):
    with open("/proc/%d/status" % pid) as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f
                    if ":\t" in line)


def alive(pid):
    try:
        return status_of(pid)["State"][0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def connect(path):
    """None, or the name of the error."""
    with socket.socket(socket.AF_UNIX) as s:
        try:
            s.connect(path)
        except OSError as e:
            return e.__class__.__name__
    return None


class Instance:
    """A myelind with fake children, at a directory of its own."""

    def __init__(self, conf=CONF, options=("-d", "-v"), env=None, dir=None):
        self.dir = dir or tempfile.mkdtemp(prefix="myelin-sv.")
        os.chmod(self.dir, 0o755)
        self.api = os.path.join(self.dir, "api.sock")
        self.operator = os.path.join(self.dir, "operator.sock")
        self.tree = os.path.join(self.dir, "tree")
        self.log_path = os.path.join(self.dir, "log")
        self.options = options
        self.env = env
        self.proc = None
        self.make_tree()
        self.configure(conf)

    def make_tree(self):
        if os.path.exists(self.tree):
            return
        for program in PROGRAMS:
            path = os.path.join(self.tree, program)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copy(FAKE, path)
            os.chmod(path, 0o755)
        tools = os.path.join(self.tree, "judged", "tools")
        os.makedirs(tools)
        for tool in ("bash", "exec"):
            with open(os.path.join(tools, tool + ".json"), "w") as f:
                f.write("{}\n")
        subprocess.run(["chmod", "-R", "go-w", self.tree], check=True)

    def configure(self, conf):
        with open(os.path.join(self.dir, "myelin.conf"), "w") as f:
            f.write(conf)
        os.chmod(f.name, 0o600)

    def argv(self, *more):
        return [MYELIND, *self.options, *more, "-p", self.dir, "-L",
                self.tree]

    def start(self, wait=True):
        env = dict(os.environ, SECRET="not for children")
        env.update(self.env or {})
        with open(self.log_path, "ab") as log:
            self.proc = subprocess.Popen(self.argv(), stderr=log, stdout=log,
                                         stdin=subprocess.DEVNULL, env=env)
        if wait:
            self.wait_log(r"myelind: ready: ")
        return self

    def check(self, *more, **kw):
        return subprocess.run(self.argv("-n", *more), capture_output=True,
                              text=True, timeout=90, **kw)

    def log(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def wait_log(self, pattern, seconds=90, count=1):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.findall(pattern, self.log())
            if len(found) >= count:
                return found
            if self.proc.poll() is not None and \
                    len(re.findall(pattern, self.log())) < count:
                break
            time.sleep(0.02)
        raise AssertionError("no %r in the log:\n%s" % (pattern, self.log()))

    def pid(self, name):
        """Of the latest child of that name."""
        return int(re.findall(r"myelind: %s \(pid (\d+)\) is started" % name,
                              self.log())[-1])

    def pids(self):
        return {name: self.pid(name) for name in CHILDREN}

    def wait_up(self, name, pid_before, seconds=90):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pid = self.pid(name)
            if pid != pid_before and re.search(
                    r"myelind: %s \(pid %d\) is up again" % (name, pid),
                    self.log()):
                return pid
            time.sleep(0.02)
        raise AssertionError("%s is not up again:\n%s" % (name, self.log()))

    def stop(self, sig=signal.SIGTERM, seconds=90):
        """Its exit status."""
        if self.proc.poll() is None:
            self.proc.send_signal(sig)
        return self.proc.wait(timeout=seconds)

    def end(self):
        if self.proc is not None:
            if self.proc.poll() is None:
                self.proc.terminate()
                try:
                    self.proc.wait(timeout=90)
                except subprocess.TimeoutExpired:
                    self.proc.kill()
                    self.proc.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class SupervisordTest(unittest.TestCase):
    def instance(self, *args, **kw):
        i = Instance(*args, **kw)
        self.addCleanup(i.end)
        return i

    def assert_gone(self, pids):
        end = time.monotonic() + 60
        while any(alive(p) for p in pids) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual([p for p in pids if alive(p)], [])
