"""Names of a workspace that programs outside of the neuron trust: they can't
be changed, replaced, made or moved away from inside, git works nevertheless,
and nothing of it stays on the host."""
import os
import re
import shutil
import signal
import subprocess
import unittest

from harness import TOP, Instance, Workspace, wait_for

GIT = ["git", "-c", "safe.directory=*", "-c", "user.name=A",
       "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]


def table():
    """(path, 1 if only git reads it, what stands for it) of the code."""
    with open(os.path.join(TOP, "neurond", "protected.c")) as f:
        rows = re.findall(r'^\t\{ "([^"]+)",\s*(NULL|"[^"]*"),\s*([01]) \}',
                          f.read(), re.M)
    return [(path, git == "1", None if text == "NULL" else
             text.strip('"').replace("\\n", "\n")) for path, text, git in rows]


NAMES = [row[0] for row in table()]

# Every way to change, make, replace or take away a name or what is above it.
# Prints the ways that worked, by name.
ATTACK = r"""
import os, sys
def tries(name, way, what):
    try: what()
    except OSError as e: print('denied', name, way, e.errno)
    else: print('WORKED', name, way)
def write(p):
    with open(p, 'a') as f: f.write('x')
def over(p):
    with open('/tmp/evil', 'w') as f: f.write('x')
    with open('evil', 'w') as f: f.write('x')
    try: os.rename('evil', p)
    finally: os.path.exists('evil') and os.unlink('evil')
def replace_dir(p):
    os.makedirs('evild', exist_ok=True)
    try: os.rename('evild', p)
    finally: os.path.exists('evild') and os.rmdir('evild')
def exchange(p):
    import ctypes
    os.makedirs('evild', exist_ok=True)
    c = ctypes.CDLL(None, use_errno=True)
    r = c.renameat2(-100, b'evild', -100, p.encode(), 2)
    e = ctypes.get_errno()
    os.path.isdir('evild') and not os.listdir('evild') and os.rmdir('evild')
    if r: raise OSError(e, 'exchange')
def hard(p):
    os.link(p, 'hard'); write('hard')
for name in sys.argv[1:]:
    above = name.split('/')[0]
    for spelling in (name, './' + name, name.replace('/', '//')):
        tries(name, 'write ' + spelling, lambda: write(spelling))
    tries(name, 'replace', lambda: over(name))
    tries(name, 'replace by a directory', lambda: replace_dir(name))
    tries(name, 'exchange', lambda: exchange(name))
    tries(name, 'unlink', lambda: os.unlink(name))
    tries(name, 'rmdir', lambda: os.rmdir(name))
    tries(name, 'make below', lambda: write(name + '/x'))
    tries(name, 'make a directory below', lambda: os.mkdir(name + '/d'))
    tries(name, 'link over', lambda: os.symlink('/tmp/evil', name))
    tries(name, 'hard link', lambda: hard(name))
    tries(name, 'rename', lambda: os.rename(name, 'away'))
    if os.path.exists(name):
        tries(name, 'mode', lambda: os.chmod(name, 0o777))
    if above != name:
        tries(name, 'rename above', lambda: os.rename(above, 'g2'))
        tries(name, 'exchange above', lambda: exchange(above))
    if above != name and not os.path.exists(above + '/x'):
        tries(name, 'remove above', lambda: os.rmdir(above))
"""


def ways(text, word):
    return sorted({l.split(" ", 1)[1] for l in text.splitlines()
                   if l.startswith(word + " ")})


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Instance()
        # what a workspace whose .git is broken lies in is nobody's to change
        cls.ceiling = os.environ.get("GIT_CEILING_DIRECTORIES")

    @classmethod
    def tearDownClass(cls):
        os.environ.pop("GIT_CEILING_DIRECTORIES", None)
        if cls.ceiling is not None:
            os.environ["GIT_CEILING_DIRECTORIES"] = cls.ceiling
        cls.i.stop()

    def workspace(self, git=True):
        w = Workspace()
        self.addCleanup(w.close)
        os.environ["GIT_CEILING_DIRECTORIES"] = w.top
        if git:
            subprocess.run(GIT + ["init", "-q", w.path], check=True)
            w.write("f", "one\n")
            subprocess.run(GIT + ["-C", w.path, "add", "f"], check=True)
            subprocess.run(GIT + ["-C", w.path, "commit", "-qm", "one"],
                           check=True)
            w.give()
        return w

    def attack(self, w, names):
        r = self.i.call("python", {"code": "import sys\nsys.argv[1:] = %r\n%s"
                                   % (names, ATTACK)}, **w.fields())
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        return r["stdout"]

    def gone(self, w, left):
        """Nothing stands there any more but that."""
        wait_for(lambda: not set(os.listdir(w.path)) - set(left), 60)
        self.assertEqual(set(os.listdir(w.path)), set(left))

    def records(self):
        """Of what neurond made and has to take away again."""
        return os.listdir(os.path.join(self.i.state, "neurons"))


class Protected(Base):
    def test_008_009_010_absent(self):
        """A repository that was just made, without any settings of agents."""
        w = self.workspace()
        before = self.tree(w)
        said = self.attack(w, NAMES)
        self.assertEqual(ways(said, "WORKED"), [])
        self.assertGreater(len(ways(said, "denied")), 10 * len(NAMES))
        wait_for(lambda: self.tree(w) == before, 60)

    def test_008_009_010_present(self):
        w = self.workspace()
        for name, _, text in table():
            path = os.path.join(w.path, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if name in (".git/hooks", ".claude/hooks", ".claude/commands",
                        ".claude/agents"):
                os.makedirs(path, exist_ok=True)
                with open(path + "/post-checkout", "w") as f:
                    f.write("#!/bin/sh\n")
            elif not os.path.exists(path):
                with open(path, "w") as f:
                    f.write(text or "")
        w.give()
        before = self.tree(w)
        said = self.attack(w, NAMES + [".git/hooks/post-checkout"])
        self.assertEqual(ways(said, "WORKED"), [])
        wait_for(lambda: self.tree(w) == before, 60)

    def test_010_control(self):
        """The same in an ordinary directory, as its owner: all works."""
        w = self.workspace()
        r = subprocess.run(
            ["setpriv", "--reuid", str(w.uid), "--regid", str(w.gid),
             "--clear-groups", "python3", "-c", ATTACK, ".envrc",
             ".git/config", ".claude/settings.json"], cwd=w.path,
            env={"PATH": os.environ["PATH"]},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(r.returncode, 0, r.stdout)
        worked = ways(r.stdout, "WORKED")
        for what in (".envrc write .envrc", ".envrc replace",
                     ".envrc link over", ".envrc exchange",
                     ".git/config write .git/config",
                     ".git/config replace", ".git/config unlink",
                     ".git/config rename above"):
            self.assertIn(what, worked)

    def test_008_a_worktrees_file(self):
        """.git as a file names another directory: it can't be changed."""
        w = self.workspace(git=False)
        w.write(".git", "gitdir: /nowhere\n")
        said = self.attack(w, [".git", ".git/config", ".gitmodules"])
        self.assertEqual(ways(said, "WORKED"), [])
        with open(os.path.join(w.path, ".git")) as f:
            self.assertEqual(f.read(), "gitdir: /nowhere\n")

    def test_008_nothing_that_git_would_run(self):
        """What the host's git runs afterwards: hooks and configuration."""
        w = self.workspace()
        marker = os.path.join(w.top, "ran")
        r = self.i.call("python", {"code": r"""
import os, shutil
def tries(what):
    try: what()
    except (OSError, shutil.Error): pass
def put(path, text):
    def it():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as f: f.write(text)
        os.chmod(path, 0o755)
    tries(it)
run = '#!/bin/sh\ntouch %s\n'
conf = '[core]\n\tfsmonitor = touch %s; false\n\thooksPath = evil/hooks\n'
put('.git/hooks/post-checkout', run)
put('.git/hooks/pre-commit', run)
put('.git/config', conf)
put('evil/config', conf)
put('evil/hooks/pre-commit', run)
tries(lambda: os.makedirs('evil/objects'))
tries(lambda: os.makedirs('evil/refs'))
put('.git/commondir', '../evil\n')
tries(lambda: os.rename('.git', 'g2'))
tries(lambda: shutil.copytree('.git', '.git3'))
tries(lambda: os.rename('.git3', '.git'))
""" % (marker, marker)}, **w.fields())
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        wait_for(lambda: self.records() == [], 60)
        for command in (["status"], ["checkout", "-q", "-b", "x"],
                        ["commit", "-q", "--allow-empty", "-m", "two"]):
            r = subprocess.run(GIT + ["-C", w.path] + command,
                               stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
            self.assertEqual(r.returncode, 0, r.stdout)
            self.assertFalse(os.path.exists(marker), command)
        # the control: it does run what is there
        with open(w.path + "/.git/hooks/pre-commit", "w") as f:
            f.write("#!/bin/sh\ntouch %s\n" % marker)
        os.chmod(w.path + "/.git/hooks/pre-commit", 0o755)
        subprocess.run(GIT + ["-C", w.path, "commit", "-q", "--allow-empty",
                              "-m", "three"], check=True)
        self.assertTrue(os.path.exists(marker))

    def test_git_works(self):
        w = self.workspace()
        # a script, which the judge does not follow: it asks about some
        w.write(".git/all.sh", """set -e
git() { command git -c user.name=A -c user.email=a@example.org "$@"; }
git status --porcelain
echo two >>f
git commit -qam two
git checkout -q -b side
echo x >g
git add -A
git commit -qm side
git checkout -q main
git merge -q side
git stash list
git gc -q
git worktree add -q tree
git -C tree status --porcelain
git worktree remove tree
git tag t
git rebase -q side
git reset -q --hard side
git ls-files
git fsck
""")
        r = self.i.call("exec", {"argv": ["bash", ".git/all.sh"]},
                        **w.fields())
        self.assertEqual((r["state"], r["exit_code"]), ("completed", 0), r)
        self.assertEqual(r["stdout"], "f\ng\n", r)
        out = subprocess.run(GIT + ["-C", w.path, "log", "--format=%s"],
                             check=True, stdout=subprocess.PIPE).stdout
        self.assertEqual(out, b"side\ntwo\none\n")
        out = subprocess.run(GIT + ["-C", w.path, "status", "--porcelain"],
                             check=True, stdout=subprocess.PIPE).stdout
        self.assertEqual(out, b"")

    def test_a_new_repository(self):
        """Where there is none, one may be made."""
        w = self.workspace(git=False)
        r = self.i.bash("git init -q -b main && git config x.y z && echo >f "
                        "&& git add f && git -c user.name=A -c "
                        "user.email=a@example.org commit -qm one && "
                        "git log --format=%s", **w.fields())
        self.assertEqual(r["stdout"], "one\n", r)
        self.gone(w, [".git", "f"])

    def test_links_are_refused(self):
        for name in (".claude", ".envrc", ".git", ".git/hooks"):
            w = self.workspace(git=name != ".git")
            path = os.path.join(w.path, name)
            if os.path.isdir(path):
                shutil.rmtree(path)
            os.makedirs(w.top + "/elsewhere")
            os.symlink(w.top + "/elsewhere", path)
            before = set(os.listdir(w.path))
            status, body = self.i.request("POST", "/v1/sessions", w.fields())
            self.assertEqual(status, 403, body)
            self.assertIn("has a symbolic link at %s" % name,
                          body["error"]["message"])
            self.gone(w, before)
            self.assertEqual(os.listdir(w.top + "/elsewhere"), [])

    def test_a_directory_that_is_not_the_owners(self):
        """Where the owner can make nothing, the neuron can't either."""
        w = self.workspace()
        os.mkdir(w.path + "/.claude", 0o755)
        os.chmod(w.path + "/.claude", 0o755)
        said = self.attack(w, [".claude/settings.json"])
        self.assertEqual(ways(said, "WORKED"), [])
        self.assertEqual(os.listdir(w.path + "/.claude"), [])

    @staticmethod
    def tree(w):
        found = {}
        for root, dirs, files in os.walk(w.path):
            for name in dirs + files:
                path = os.path.join(root, name)
                text = b""
                try:
                    st = os.lstat(path)
                    if name in files:
                        with open(path, "rb") as f:
                            text = f.read()
                except FileNotFoundError:
                    continue    # a placeholder that goes
                found[path] = (st.st_mode, st.st_ino, text)
        return found


class Placeholders(Base):
    def names(self, w):
        return set(os.listdir(w.path)) & w.PLACEHOLDERS

    def test_009_none_is_left(self):
        w = self.workspace(git=False)
        s = self.i.session(**w.fields())
        self.assertEqual(self.names(w), w.PLACEHOLDERS - {".gitmodules"})
        for name in self.names(w):
            st = os.lstat(os.path.join(w.path, name))
            self.assertEqual((st.st_uid, st.st_gid), (w.uid, w.gid))
        self.i.request("DELETE", "/v1/sessions/" + s)
        self.gone(w, [])
        wait_for(lambda: self.records() == [], 60)

    def test_one_stays_for_another_neuron(self):
        w = self.workspace(git=False)
        a, b = (self.i.session(**w.fields()) for _ in range(2))
        self.i.request("DELETE", "/v1/sessions/" + a)
        wait_for(lambda: self.i.status()["neurons"]["live"] == 1, 60)
        r = self.i.call("python", {"code": "open('.envrc', 'w')"}, session=b)
        self.assertEqual(r["exit_code"], 1, r)
        self.assertEqual(self.names(w), w.PLACEHOLDERS - {".gitmodules"})
        self.i.request("DELETE", "/v1/sessions/" + b)
        self.gone(w, [])

    def protected(self, w, **more):
        """A session whose workspace has them, and they are protected."""
        s = self.i.session(**dict(w.fields(), **more))
        self.assertEqual(self.names(w), w.PLACEHOLDERS - {".gitmodules"})
        r = self.i.call("python", {"code": "open('.envrc/x', 'w')"}, session=s)
        self.assertEqual((r["exit_code"], "Error" in r["stderr"]), (1, True), r)
        # what it writes there is its owner's, and nobody else's
        owner = more.get("owner", w.fields()["owner"])
        self.i.bash("echo >made", session=s)
        st = os.lstat(w.path + "/made")
        self.assertEqual({"uid": st.st_uid, "gid": st.st_gid}, owner)
        os.unlink(w.path + "/made")
        return s

    def test_known_again(self):
        """The next neuron of a path whose placeholders are there: what the
        host took away is made, for that directory and that owner."""
        w = self.workspace(git=False)
        sessions = [self.protected(w)]
        os.rmdir(w.path + "/.envrc")
        sessions.append(self.protected(w))
        # another group: its record says who makes them
        os.rmdir(w.path + "/.envrc")
        sessions.append(self.protected(w, owner={"uid": w.uid,
                                                 "gid": w.gid + 1}))
        self.assertEqual(os.lstat(w.path + "/.envrc").st_gid, w.gid)
        # another directory of that name
        old = os.path.join(w.top, "old")
        os.rename(w.path, old)
        os.mkdir(w.path)
        w.give()
        sessions.append(self.protected(w))
        for s in sessions:
            self.i.request("DELETE", "/v1/sessions/" + s)
        self.gone(w, [])
        wait_for(lambda: os.listdir(old) == [], 60)
        wait_for(lambda: self.records() == [], 60)

    def test_work_is_kept(self):
        """What was put there meanwhile, from outside or from inside."""
        w = self.workspace()
        s = self.i.session(**w.fields())
        r = self.i.bash("echo x >.claude/CLAUDE.md", session=s)
        self.assertEqual(r["exit_code"], 0, r)
        with open(w.path + "/.envrc/mine", "w") as f:
            f.write("x")
        with open(w.path + "/.git/info/attributes", "a") as f:
            f.write("* text\n")
        self.i.request("DELETE", "/v1/sessions/" + s)
        self.gone(w, [".git", "f", ".claude", ".envrc"])
        self.assertEqual(os.listdir(w.path + "/.claude"), ["CLAUDE.md"])
        self.assertEqual(os.listdir(w.path + "/.envrc"), ["mine"])
        with open(w.path + "/.git/info/attributes") as f:
            self.assertEqual(f.read(), "* text\n")

    def test_killed(self):
        """neurond, its maker; and all of it, started again."""
        w = self.workspace(git=False)
        for name in ("neurond", "maker"):
            s = self.i.session(**w.fields())
            pid = self.i.pid(name)
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda: self.i.processes()[name]["state"] == "up" and
                     self.i.pid(name) != pid, 60)
            self.i.request("DELETE", "/v1/sessions/" + s)
            self.gone(w, [])
        self.i.session(**w.fields())
        self.assertNotEqual(self.names(w), set())
        pids = [self.i.process.pid, self.i.pid("neurond")]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.i.process.wait()
        wait_for(lambda: not os.path.exists("/proc/%d" % pids[1]), 60)
        self.assertNotEqual(self.names(w), set())
        self.i.start()
        self.gone(w, [])
        wait_for(lambda: self.records() == [], 60)

    def test_a_stop_takes_them_along(self):
        w = self.workspace(git=False)
        with Instance() as i:
            i.session(**w.fields())
            self.assertNotEqual(self.names(w), set())
        self.assertEqual(os.listdir(w.path), [])


class Pages(unittest.TestCase):
    def test_the_manual_has_the_table(self):
        with open(os.path.join(TOP, "man", "myelind.8")) as f:
            section = re.split(r"^\.S[hs] ", f.read(), flags=re.M)
        section = [s for s in section if s.startswith("Protected names\n")][0]
        self.assertEqual(re.findall(r"^\.It Pa (\S+)$", section, re.M), NAMES)

    def test_security_md_has_the_table(self):
        with open(os.path.join(TOP, "SECURITY.md")) as f:
            text = f.read().split("## Protected names\n")[1].split("\n## ")[0]
        self.assertEqual(re.findall(r"^- `([^`]+)`", text, re.M), NAMES)


if __name__ == "__main__":
    unittest.main()
