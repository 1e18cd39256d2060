"""An instance some of whose processes are takeover builds.

The programs of tests/takeover stand in a build tree of their own; what each is
to do is written to the tree's directory takeover, and what came of it is read
from there.
"""
import os
import shutil
import signal
import tempfile
import time

from harness import BUILD, CONFIG, HELPERS, NAMES, Instance, wait_for

PROGRAMS = {"apid": "apid", "apid-operator": "apid", "judged": "judged",
            "policyd": "policyd", "egressd": "egressd",
            "maker": "neurond", "spawner": "neurond"}
# Deaths are what these tests are made of.
FAST = "\nrestart-window 1s\n"


def make_tree(parent, taken):
    """A tree whose processes named by taken are takeover builds."""
    tree = os.path.join(parent, "tree")
    for d in ("apid", "judged", "policyd", "egressd", "neurond"):
        os.makedirs(os.path.join(tree, d))
    os.mkdir(os.path.join(tree, "takeover"), 0o700)
    for program, d in (("apid", "apid"), ("judged", "judged"),
                       ("policyd", "policyd"), ("egressd", "egressd"),
                       ("neurond", "neurond"),
                       ("maker", "neurond"), ("spawner", "neurond"),
                       ("neuron-tool", "neurond")):
        source = os.path.join(BUILD, d, program)
        if any(t.split("-")[0] == program for t in taken):
            source = os.path.join(BUILD, "tests", "takeover", program)
        shutil.copy(source, os.path.join(tree, d, program))
    shutil.copytree(os.path.join(BUILD, "judged", "tools"),
                    os.path.join(tree, "judged", "tools"))
    os.makedirs(os.path.join(tree, "supervisord"))
    shutil.copy(os.path.join(BUILD, "supervisord", "myelind"),
                os.path.join(tree, "supervisord"))
    return tree


class Takeover(Instance):
    def __init__(self, *taken, extra="", config=CONFIG):
        self.parent = tempfile.mkdtemp(prefix="t-", dir=os.path.join(
            BUILD, "tests"))
        os.chmod(self.parent, 0o755)
        try:
            self.tree = make_tree(self.parent, taken)
            super().__init__(config=config, extra=FAST + extra,
                             build=self.tree)
        except BaseException:
            shutil.rmtree(self.parent, ignore_errors=True)
            raise

    def stop(self, check=True):
        try:
            super().stop(check)
        finally:
            if self.process is None:
                shutil.rmtree(self.parent, ignore_errors=True)

    def path(self, name, suffix=""):
        return os.path.join(self.tree, "takeover", name + suffix)

    def script(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)

    def forget(self, name):
        for suffix in ("", ".out"):
            try:
                os.unlink(self.path(name, suffix))
            except FileNotFoundError:
                pass

    def said(self, name):
        try:
            with open(self.path(name, ".out"), "rb") as f:
                return f.read().rstrip(b"\0").decode().splitlines()
        except FileNotFoundError:
            return []

    def usable(self):
        try:
            return self.bash("echo ok", wait=20000)["stdout"] == "ok\n"
        except Exception:
            return False

    def all_up(self):
        try:
            p = self.processes()
        except Exception:
            return None
        if all(q["state"] == "up" for q in p.values()) and \
                len(p) == len(NAMES + HELPERS):
            return p
        return None

    def reborn(self, before, names):
        """All up, those with other pids than before."""
        p = self.all_up()
        return p and all(p[n]["pid"] != before[n]["pid"] for n in names)

    def settle(self):
        """All up, for long enough that earlier deaths do not count."""
        p = None
        for _ in range(30):
            q = wait_for(self.all_up, 60)
            if q == p:
                return q
            p = q
            time.sleep(1.1)
        raise AssertionError("processes keep dying: %s" % p)

    def take(self, name, script, seconds=60):
        """A new life of that process does what script says; the one after
        it is an honest one."""
        before = self.settle()
        self.forget(name)
        self.script(name, script)
        os.kill(before[name]["pid"], signal.SIGKILL)
        wait_for(lambda: self.said(name), seconds)
        return before

    def take_quietly(self, name, script):
        """The same for a script that says nothing by itself."""
        before = self.settle()
        self.forget(name)
        self.script(name, script)
        os.kill(before[name]["pid"], signal.SIGKILL)
        wait_for(lambda: self.reborn(before, [name]), 60)
