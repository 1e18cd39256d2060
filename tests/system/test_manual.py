"""What the manual shows can be done as it stands there: every command, tool
and configuration of the pages is tried here, or listed with the test that
tries it where this one can't."""
import glob
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from harness import BUILD, CTL, TOP, Instance, Workspace, wait_for

MAN = os.path.join(TOP, "man")
MYELIND = os.path.join(BUILD, "supervisord", "myelind")

# Commands that need what a test must not touch, or has not, and who tries
# them: a test, the machine of contrib/check vm, or nobody and why.
ELSEWHERE = {
    "# head -c 32 /dev/urandom | systemd-creds encrypt "
    "--name=myelin-seal - /etc/myelin/seal.cred":
        "contrib/vm/guest/test_package",
    "# systemctl edit myelin": "contrib/vm/guest/test_package",
    "# systemctl stop myelin": "contrib/vm/guest/test_package",
    "# scp myelin.tar other: && scp -r /etc/myelin other:/etc/":
        "test_backup: without a second host",
    "# e2fsck -f -p /var/lib/myelin/neurons/ID/home.img":
        "nobody: e2fsprogs' own, of a home that is damaged",
    "# journalctl MYELIN_CALL=c-7k2mh3v9rq4xw8zt5bnd":
        "test_log: the field; journalctl needs a journal",
    "# journalctl -f MESSAGE_ID=f4dba1df5f604fadad3e99300631d72a":
        "contrib/vm/guest/test_package",
    "# kill -HUP $(pidof myelind); sleep 1; myelinctl status":
        "contrib/vm/guest/test_package",
    "$ claude mcp add myelin -- myelinctl mcp -w ~/src/project":
        "test_mcp_calls: what the client would start",
    "# myelinctl drain && systemctl stop myelin":
        "contrib/vm/guest/test_package",
}


def plain(line):
    """A line of a display as the reader sees it."""
    for code, text in (("\\(dq", '"'), ("\\-", "-"), ("\\e", "\\"),
                       ("\\&", ""), ("\\(aq", "'")):
        line = line.replace(code, text)
    return line


def displays():
    """(page, text) of each display, without its macros."""
    for path in sorted(glob.glob(os.path.join(MAN, "*.[1-8]"))):
        block = None
        with open(path) as f:
            for line in f.read().splitlines():
                if line.startswith(".Bd -literal"):
                    block = []
                elif line == ".Ed" and block is not None:
                    yield os.path.basename(path), "\n".join(block)
                    block = None
                elif block is not None:
                    block.append(plain(line))
                elif line.startswith(".Dl "):
                    yield os.path.basename(path), plain(line[4:])


def commands(text):
    """Lines behind a prompt, each with those that go on with it."""
    found = []
    for line in text.splitlines():
        if line.startswith(("$ ", "# ")):
            found.append(line)
        elif found and (found[-1].endswith("\\") or
                        found[-1].count("'") % 2 == 1):
            found[-1] += "\n" + line
    return [re.sub(r"\s*\\\n\s*", " ", c) for c in found]


class Examples(unittest.TestCase):
    """The commands of the pages, in a shell of a home of their own."""

    @classmethod
    def setUpClass(cls):
        # the rule that the page on the shell of a session names
        rule, = [t for p, t in displays() if p == "myelinctl.1" and
                 t.startswith("allow ")]
        cls.i = Instance(extra=rule + "\n")
        cls.home = Workspace()
        project = os.path.join(cls.home.path, "src", "project")
        os.makedirs(project)
        with open(os.path.join(project, "Makefile"), "w") as f:
            f.write("all:\n\techo made\n")
        cls.home.give()
        cls.bin = tempfile.mkdtemp(dir=os.path.join(BUILD, "tests"))
        os.symlink(CTL, os.path.join(cls.bin, "myelinctl"))
        os.symlink(MYELIND, os.path.join(cls.bin, "myelind"))
        cls.env = {"PATH": cls.bin + ":" + os.environ["PATH"],
                   "HOME": cls.home.path, "TERM": "xterm",
                   "MYELIN_SOCKET": cls.i.api,
                   "MYELIN_OPERATOR_SOCKET": cls.i.operator}
        cls.left = [(p, c) for p, t in displays() for c in commands(t)]

    @classmethod
    def tearDownClass(cls):
        cls.i.stop(check=False)
        cls.home.close()
        shutil.rmtree(cls.bin)

    def take(self, *begins):
        """The commands of the pages that begin so, in their order."""
        found = []
        for begin in begins:
            hit = [c for _, c in self.left if c[2:].startswith(begin)]
            self.assertEqual(len(hit), 1, (begin, hit))
            found.append(hit[0][2:].replace("/run/myelin/api.sock",
                                            self.i.api))
        return found

    def shell(self, text, status=0):
        p = subprocess.run(["/bin/sh", "-c", text], env=self.env, timeout=120,
                           cwd=self.home.path, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(p.returncode, status, (text, p.stderr))
        return p.stdout.decode()

    TRIED = {
        "curl -s --unix-socket /run/myelin/api.sock http://x/v1/calls",
        "curl -sN --unix-socket",
        "curl -s --unix-socket /run/myelin/api.sock http://localhost/mcp",
        "myelinctl run -w", "id=$(myelinctl sessions open",
        "myelinctl call --session", "myelinctl sessions end",
        "myelinctl approvals watch", "myelinctl judge --explain",
        "myelinctl shell --session", "myelind -n",
        "build/supervisord/myelind", "myelinctl backup",
    }

    def test_each_is_tried_or_said_to_be_tried_elsewhere(self):
        unknown = [c for _, c in self.left
                   if c not in ELSEWHERE and
                   not any(c[2:].startswith(t) for t in self.TRIED)]
        self.assertEqual(unknown, [])
        pages = {c for _, c in self.left}
        self.assertEqual([c for c in ELSEWHERE if c not in pages], [])

    def test_calls_over_http(self):
        one, two, three = self.take(
            "curl -s --unix-socket /run/myelin/api.sock http://x/v1/calls",
            "curl -sN --unix-socket",
            "curl -s --unix-socket /run/myelin/api.sock http://localhost/mcp")
        self.assertIn("uid=1000", json.loads(self.shell(one))["stdout"])
        self.assertIn("event: call.finished", self.shell(two))
        self.assertIn("uid=1000", self.shell(three))

    def test_run(self):
        self.assertIn("made", self.shell(self.take("myelinctl run -w")[0]))

    def test_a_session(self):
        steps = self.take("id=$(myelinctl sessions open",
                          "myelinctl call --session",
                          "myelinctl sessions end")
        out = json.loads(self.shell(" && ".join(steps)))
        self.assertIn("made", out["stdout"])

    def test_backup(self):
        # a private instance keeps its state elsewhere
        self.shell(self.take("myelinctl backup")[0] + " " + self.i.state)
        self.assertTrue(os.path.exists(os.path.join(self.home.path,
                                                    "myelin.tar")))

    def test_judge(self):
        out = self.shell(self.take("myelinctl judge --explain")[0].replace(
            "judge ", "judge -L %s/judged " % BUILD))
        self.assertIn("deny", out)

    def terminal(self, text, keys, expect):
        """What a command writes to a terminal until it holds the words."""
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(self.home.path)
            os.execve("/bin/sh", ["sh", "-c", text], self.env)
        seen, end, again = b"", time.monotonic() + 90, 0
        try:
            while expect not in seen and time.monotonic() < end:
                if not select.select([fd], [], [], 0.2)[0]:
                    # what is typed before it reads may be lost to it
                    if keys and seen and time.monotonic() > again:
                        os.write(fd, keys)
                        again = time.monotonic() + 5
                    continue
                try:
                    seen += os.read(fd, 4096)
                except OSError:
                    break
            self.assertIn(expect, seen)
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(fd)

    def test_on_a_terminal(self):
        watch, shell = self.take("myelinctl approvals watch",
                                 "myelinctl shell --session")
        self.terminal(watch, b"", b"Nothing waits")
        id = self.i.session()
        self.terminal("id=%s; %s" % (id, shell), b"echo $((6*7))x\r", b"42x")

    def test_the_supervisor(self):
        check, start = self.take("myelind -n", "build/supervisord/myelind")
        conf = os.path.join(self.bin, "myelin.conf")
        with open(conf, "w") as f:
            f.write('listen api "%s/a.sock"\n' % self.bin)
        os.chmod(conf, 0o600)
        self.assertIn("configuration OK", self.shell(
            "%s -p %s -L %s -f %s" % (check, self.bin, BUILD, conf)))
        os.unlink(conf)
        # as it stands there, but for where the build and the instance are
        place = os.path.join(self.bin, "m")
        os.mkdir(place)
        with open(os.path.join(place, "myelin.conf"), "w") as f:
            f.write("principal user root { preset standard }\n")
        words = start.replace("/tmp/m", place).replace(
            "-L build", "-L " + BUILD).split()
        words[0] = MYELIND
        said = os.path.join(place, "said")
        with open(said, "wb") as log:
            p = subprocess.Popen(words, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=log)

        def ready():
            with open(said) as f:
                return "ready: " in f.read() or p.poll() is not None
        try:
            wait_for(ready, 90)
            self.assertTrue(os.path.exists(os.path.join(place, "api.sock")),
                            p.poll())
        finally:
            p.terminate()
            p.wait(timeout=60)
        self.assertEqual(p.returncode, 0)


class Shown(unittest.TestCase):
    """Tools and configurations that the pages show are what they say."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(dir=os.path.join(BUILD, "tests"))

    def tearDown(self):
        shutil.rmtree(self.dir)

    def check(self, text, status=0):
        path = os.path.join(self.dir, "myelin.conf")
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o600)
        r = subprocess.run([MYELIND, "-n", "-p", self.dir, "-L", BUILD,
                            "-f", path], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=60)
        self.assertEqual(r.returncode, status, r.stdout)

    def of(self, page):
        return [t for p, t in displays() if p == page and not commands(t)]

    def test_configurations(self):
        base = 'listen api "%s/a.sock"\n' % self.dir
        shown = [t for t in self.of("myelin.conf.5") if "\n" in t]
        self.assertGreaterEqual(len(shown), 2)
        for text in shown:
            # a host has none of the groups before the package is there
            text = re.sub(r'"myelin(-operator)?"', '"root"', text)
            text = text.replace("/run/myelin", self.dir)
            # it is still what is wrong that is refused
            self.check(base * ("listen" not in text) + text)
            self.check(base * ("listen" not in text) + text + "nonsense\n",
                       1)

    def test_tools(self):
        shown = [t for t in self.of("myelin-tool.5") if t.startswith("{")]
        self.assertGreaterEqual(len(shown), 2)
        for text in shown:
            path = os.path.join(self.dir, json.loads(text)["name"] + ".json")
            with open(path, "w") as f:
                f.write(text)
            os.chmod(path, 0o644)
        self.check('listen api "%s/a.sock"\ntool "%s"\n' % (self.dir,
                                                            self.dir))


class Pages(unittest.TestCase):
    def test_each_program_has_one(self):
        for name in ("apid", "egressd", "judged", "neurond", "policyd"):
            self.assertTrue(os.path.exists(os.path.join(
                MAN, "myelin-%s.8" % name)), name)
        for name in ("myelind.8", "myelin.conf.5", "myelinctl.1",
                     "myelin-api.7", "myelin-security.7", "myelin-tool.5"):
            self.assertTrue(os.path.exists(os.path.join(MAN, name)), name)

    def test_quotes_do_not_nest(self):
        """Dq quotes to the end of its line, another Dq included."""
        for path in sorted(glob.glob(os.path.join(MAN, "*.[1-8]"))):
            with open(path) as f:
                for line in f:
                    self.assertLess(len(re.findall(r"^\.Dq\b| Dq\b", line))
                                    if line[0] == "." else 0, 2,
                                    (path, line))

    def test_each_is_installed(self):
        listed = set()
        for path in glob.glob(os.path.join(TOP, "*", "local.mk")):
            with open(path) as f:
                listed |= set(re.findall(r"man/([a-z.-]+\.[1-8])", f.read()))
        self.assertEqual(listed, {os.path.basename(p) for p in glob.glob(
            os.path.join(MAN, "*.[1-8]"))})

    def test_references_are_to_pages_that_exist(self):
        """Of Myelin's own."""
        ours = {os.path.basename(p) for p in glob.glob(
            os.path.join(MAN, "*.[1-8]"))}
        for path in sorted(glob.glob(os.path.join(MAN, "*.[1-8]"))):
            with open(path) as f:
                for name, number in re.findall(
                        r"\bXr (myelin[a-z.-]*) ([1-8])", f.read()):
                    self.assertIn("%s.%s" % (name, number), ours, path)


class Readme(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(TOP, "README.md")) as f:
            self.text = f.read()
        self.dirs = {os.path.basename(os.path.dirname(p)) for p in
                     glob.glob(os.path.join(TOP, "*", "local.mk"))}

    def test_each_directory_has_a_row(self):
        rows = re.findall(r"^\| `([a-z]+)` \|", self.text.split(
            "## Where things are\n")[1].split("\n## ")[0], re.M)
        self.assertEqual(sorted(rows), sorted(self.dirs))

    def test_files_that_it_names_are_there(self):
        named = re.findall(r"(?<![\w/])(?:%s|man)/[A-Za-z0-9_./-]*[A-Za-z0-9]" %
                           "|".join(sorted(self.dirs)), self.text)
        self.assertGreater(len(named), 30)
        for path in named:
            self.assertTrue(os.path.exists(os.path.join(TOP, path)), path)


if __name__ == "__main__":
    unittest.main()
